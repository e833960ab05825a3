/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/**
 * @file
 * What random calls have been: for each two of call, form, type, operation, algorithm and placement
 * how often the pair came, and which pairs there can be. Programs add to a file, which the script
 * fuzz makes a table of.
 */

#ifndef TEST_MPI_DRAWN_H
#define TEST_MPI_DRAWN_H

#include <stdint.h>

typedef enum {
    DRAWN_CALL, /**< fold_call_t, then the calls below */
    DRAWN_FORM, /**< form_t */
    DRAWN_TYPE,
    DRAWN_OP,
    DRAWN_ALGORITHM,
    DRAWN_PLACE,
    DRAWN_PARTS
} drawn_part_t;

enum {
    DRAWN_ALLGATHER = 7,
    DRAWN_ALLGATHERV,
    DRAWN_ALLTOALL, /**< swap_kind_t, from here on */
    DRAWN_NEIGHBORS = DRAWN_ALLTOALL + 3
};

/** Classes of types; one may be of several. */
typedef enum {
    DRAWN_CONTIGUOUS,
    DRAWN_GAPS,
    DRAWN_INTERLEAVED, /**< an element lies between the parts of another one */
    DRAWN_BOUND,       /**< the lower bound is above 0 */
    DRAWN_NEGATIVE_BOUND,
    DRAWN_NEGATIVE_EXTENT,
    DRAWN_NOTHING,     /**< no bytes */
    DRAWN_UNLIKE,      /**< not that of other ranks, or of the other buffer */
    DRAWN_ABSOLUTE,    /**< with MPI_BOTTOM */
    DRAWN_TYPES
} drawn_type_t;

typedef enum {
    DRAWN_NO_OP,
    DRAWN_EXACT,
    DRAWN_FLOATING,
    DRAWN_PAIRS,
    DRAWN_USER_BASIC,
    DRAWN_USER_BASIC_ORDERED, /**< it does not commute */
    DRAWN_USER_DERIVED,
    DRAWN_USER_DERIVED_ORDERED,
    DRAWN_OPS
} drawn_op_t;

#define DRAWN(value) (UINT32_C(1) << (value))

/** A call: a set of values of each part, none where it is not known. */
typedef struct drawn_t {
    uint32_t of[DRAWN_PARTS];
} drawn_t;

/**
 * The algorithm that a text of coll_pipering_verdict names, as a set; NULL: nobody of ours has
 * served the call. So where the algorithm is none of the call's: the module below has made another
 * call.
 */
uint32_t drawn_algorithm(const drawn_t *drawn, const char *verdict);
#define DRAWN_BY_LEADERS "leaders"
#define DRAWN_WITHOUT_DATA "no data"

/** Where ranks are, from the number of the node of each in a communicator, as a set. */
uint32_t drawn_place(const int *node, int ranks);

/** Adds a call of this rank. */
void drawn_add(const drawn_t *drawn);

/**
 * Collective over MPI_COMM_WORLD: all pairs that there can be, a line "count <tab> pair" each, at
 * the end of the file that DRAWN names in the environment.
 */
void drawn_write(void);

#endif
