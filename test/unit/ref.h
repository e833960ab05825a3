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
 * Independent references for the plans: definitions and brute force, written
 * from the text of the paper and from nothing in the plans. Slow on purpose.
 */

#ifndef PIPERING_TEST_REF_H
#define PIPERING_TEST_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REF_MOST_RANKS 9 /* of the brute force over orders */

/** The sum of the blocks, and the number of empty contributions. */
uint64_t ref_sum(const uint64_t *blocks, int p);
int ref_empties(const uint64_t *blocks, int p);
uint64_t ref_least(const uint64_t *blocks, int p);
uint64_t ref_most(const uint64_t *blocks, int p);

/** M by its definition: every cyclic arc that leaves out a block. O(p^2). */
int64_t ref_excess(const uint64_t *blocks, int p);

/**
 * Rounds of the ring by doing it: in each round every rank that holds a block
 * to pass on sends one, its own first, then what it received in order of
 * arrival; a block stops at the rank before its origin.
 */
uint64_t ref_rounds(const uint64_t *blocks, int p);

/** What all orders of at most REF_MOST_RANKS ranks reach. */
typedef struct ref_best_t {
    int64_t excess;  /**< the least M */
    int senders;     /**< nodes with anything to send */
    int lasts;       /**< most of them with a non-empty last rank in an order of least M */
    uint64_t orders; /**< orders looked at */
} ref_best_t;

/** Brute force over the orders that keep the ranks of a node together. */
ref_best_t ref_best(const int *node_of, const uint64_t *blocks, int p);

/** Nodes with anything to send whose last rank in the given order is not empty. */
int ref_lasts(const int *order, const int *node_of, const uint64_t *blocks, int p);

/** The next way to divide 0 .. p - 1, each named by its lowest; false after the last one. */
bool ref_next_division(int *lowest, int p);

/** The numbers as text, for messages; a few buffers take turns. */
const char *ref_show(const uint64_t *numbers, int p);
const char *ref_show_int(const int *numbers, int p);

#endif
