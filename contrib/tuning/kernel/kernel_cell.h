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
 * A cell: one thing to time in one way, a line of the kernel's input. Pure C.
 *
 *     cell=12 kind=call collective=allgatherv dist=spike total=1M reps=7 set=NAME:VALUE
 *     cell=13 kind=task task=stream scope=inter direction=all bytes=64K reps=7 budget=0.5
 *
 *   cell            its name
 *   kind            call or task
 *   collective      allgatherv, allgather, bcast, reduce, allreduce, scan, exscan, alltoallw,
 *                   alltoallv
 *   dist            of allgatherv: who contributes how much, a name of agv_dist.h; of all-to-alls:
 *                   the pattern ring, dense or mixed
 *   total           bytes: of all contributions together, of a vector, of an all-to-all's message
 *   type            of allgatherv auto, byte, list; of others auto
 *   task            stream with scope=inter or intra and direction=one or all; echo with such a
 *                   scope; combine; each with bytes
 *   set             variables
 *   reps, budget    so many repetitions; for so many seconds, but one in any case
 *   warmup          repetitions before
 */

#ifndef KERNEL_CELL_H
#define KERNEL_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_WORD 128
#define KERNEL_LINE 4096
#define KERNEL_NOTE 512

typedef enum { KERNEL_CALL, KERNEL_TASK, KERNEL_KINDS } kernel_cell_kind_t;

/** Between nodes, between ranks of a node, or within a rank. */
typedef enum { KERNEL_INTER, KERNEL_INTRA, KERNEL_RANK, KERNEL_SCOPES } kernel_scope_t;

/** One pair alone; all links (or ranks) at once. */
typedef enum { KERNEL_ONE, KERNEL_ALL, KERNEL_DIRECTIONS } kernel_direction_t;

/** What is timed. Cells of a group have equal ones, byte by byte. */
typedef struct kernel_problem_t {
    int kind;               /**< kernel_cell_kind_t */
    char name[KERNEL_WORD]; /**< of the collective or task */
    char dist[KERNEL_WORD]; /**< who contributes how much, or the pattern; as agv_dist_fill */
    char type[KERNEL_WORD];
    int scope;     /**< kernel_scope_t */
    int direction; /**< kernel_direction_t */
    size_t bytes;
} kernel_problem_t;

typedef struct kernel_cell_t {
    char id[KERNEL_WORD];
    kernel_problem_t problem;
    char settings[KERNEL_LINE]; /**< VARIABLE:VALUE, separated by commas; + stands for a comma */
    int reps, warmup;
    double budget; /**< seconds for repetitions; 0: no bound */
} kernel_cell_t;

/**
 * Parses a line. False and a sentence in `error` if it cannot be used; cell->id is what has been
 * read of it so far, else empty.
 */
bool kernel_cell_parse(kernel_cell_t *cell, const char *line, char error[KERNEL_NOTE]);

/**
 * Which arm of `count` is the one at this place of a turn: turns begin with each arm as often, and
 * no arm always follows the same other one.
 */
int kernel_order(int turn, int place, int count);

#endif
