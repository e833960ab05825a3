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
 * Layouts of memory for the experiments with the datatype engine (test/bench/datatypes/datatypes):
 * each an MPI datatype and, apart from it, a description that a loop by hand packs and
 * unpacks by. The loop is a rival of the datatype, and the check of what it has moved.
 *
 *   ddt_layout.c     the loops, and names
 *   ddt_synthetic.c  transposes, irregular and contiguous layouts
 *   ddt_apps.c       layouts of applications
 *   ddt_convertor.c  one convertor, fragment by fragment
 *   ddt_main.c       the program ddt: the command line, messages between two ranks
 */

#ifndef DDT_H
#define DDT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DDT_DIMS 4
#define DDT_MAX_PARTS 16
#define DDT_MAX_LAYOUTS 64

/**
 * Blocks that follow each other in the packed data: those of a box, innermost dimension
 * last, or those of a list, in units. A dimension that is not used has count 1.
 */
typedef struct ddt_part_t {
    ptrdiff_t offset; /**< of the first, bytes from the begin of memory */
    size_t length;    /**< bytes of a block */
    size_t count[DDT_DIMS];
    ptrdiff_t stride[DDT_DIMS]; /**< bytes */
    const int *displs;          /**< NULL: a box */
    const int *lengths;         /**< NULL: all of `length` bytes */
    size_t blocks;              /**< of a list */
    size_t unit;                /**< bytes */
} ddt_part_t;

typedef struct ddt_layout_t {
    const char *name;
    MPI_Datatype type; /**< committed; one element is all of it */
    size_t bytes;      /**< of data */
    size_t span;       /**< of memory */
    ddt_part_t parts[DDT_MAX_PARTS];
    int part_count;
    int *displs; /**< what lists of this layout point to */
    int *lengths;
} ddt_layout_t;

/** Makes the layout of a name like indexed:4M; false: there is none, or no memory. */
typedef bool ddt_maker_t(ddt_layout_t *layout, size_t size);
typedef struct ddt_kind_t {
    const char *name;
    ddt_maker_t *make;
    const char *size; /**< what the number after the colon means, NULL: it takes none */
    size_t variant;   /**< in place of it */
} ddt_kind_t;

extern const ddt_kind_t ddt_synthetic[]; /**< end with a name of NULL */
extern const ddt_kind_t ddt_apps[];

/* ddt_layout.c */
/** `name` must live as long as the layout. */
bool ddt_layout_create(ddt_layout_t *layout, const char *name);
void ddt_layout_free(ddt_layout_t *layout);
void ddt_layout_names(FILE *out);
/** Adds a box of blocks; counts of 0 stand for 1, and strides are in bytes. */
void ddt_add_box(ddt_layout_t *layout, ptrdiff_t offset, size_t length, const size_t *count,
                 const ptrdiff_t *stride);
/** Adds a list of blocks, the layout's displs and lengths or others that live as long. */
void ddt_add_list(ddt_layout_t *layout, ptrdiff_t offset, size_t unit, const int *displs,
                  const int *lengths, size_t length, size_t blocks);
void ddt_pack(const ddt_layout_t *layout, const unsigned char *memory, unsigned char *packed);
void ddt_unpack(const ddt_layout_t *layout, unsigned char *memory, const unsigned char *packed);

/** Data that no other seed gives: `bytes` of it, in room for a multiple of 8. */
void ddt_fill(unsigned char *packed, size_t bytes, uint64_t seed);
/** What lies around the blocks, before and after. */
#define DDT_POISON 0xa5
/**
 * Does memory hold the data of a seed, and poison everywhere else? Fills all of it with
 * poison. `scratch` has room for two times the data.
 */
bool ddt_check(const ddt_layout_t *layout, unsigned char *memory, unsigned char *scratch,
               uint64_t seed);
/** Seconds that the fragments of a message have cost. */
typedef struct ddt_cost_t {
    double search;
    double move;
} ddt_cost_t;
/** Packs all data, or unpacks it, by one convertor in fragments of so many bytes. */
ddt_cost_t ddt_convert(const ddt_layout_t *layout, bool send, unsigned char *memory,
                       unsigned char *packed, size_t fragment);
/** Numbers that look random, the same everywhere. */
uint32_t ddt_random(uint32_t *state);

#endif
