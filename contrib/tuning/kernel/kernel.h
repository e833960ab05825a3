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
 * kernel: times cells (kernel_cell.h) that it reads from stdin, one job for all of them, and
 * writes a line about each. ../pipering_tuning/kernel.py says what lines.
 *
 *   kernel_main.c    begin, end, groups of cells
 *   kernel_cell.c    parsing a cell (no MPI)
 *   kernel_race.c    the cells of a group take turns
 *   kernel_turn.c    one repetition
 *   kernel_calls.c   collective calls, with the data of the benchmarks
 *   kernel_tasks.c   tasks: streams, echoes, combining
 *
 * Worlds, variables and data are those of test/bench.
 */

#ifndef KERNEL_H
#define KERNEL_H

#include "bench.h"
#include "kernel_cell.h"

/* ---- what is timed */

typedef struct kernel_work_t kernel_work_t;

/** A kind of work. Each function is called by all ranks of the world alike. */
typedef struct kernel_kind_t {
    const char *name; /**< of the collective or task; NULL ends a list */
    int which;        /**< the kind's own distinction */
    /** Makes the data. False and a sentence in `error`: it cannot be done; nothing is left. */
    bool (*create)(kernel_work_t *work, char error[KERNEL_NOTE]);
    void (*destroy)(kernel_work_t *work);
    /** New values for the repetition of this number. NULL, as `verify`, of tasks: what they move is
     *  not looked at. */
    void (*fill)(kernel_work_t *work, uint64_t sample);
    /** One repetition. *seconds comes in negative and stays so where the time from
     *  start to end is the result; a task sets it to its own, 0 on ranks that do not time. */
    void (*run)(kernel_work_t *work, MPI_Comm comm, double *seconds);
    /** False and a sentence in `error`: the result is wrong on this rank. */
    bool (*verify)(kernel_work_t *work, uint64_t sample, char error[KERNEL_NOTE]);
} kernel_kind_t;

struct kernel_work_t {
    const kernel_kind_t *kind;
    const bench_world_t *world;
    kernel_problem_t problem;
    void *data; /**< the kind's */
};

/** The kinds of kernel_calls.c and kernel_tasks.c. */
extern const kernel_kind_t kernel_calls[], kernel_tasks[];

/* ---- turns (kernel_turn.c) */

/** One repetition, equal on all ranks. */
typedef struct kernel_sample_t {
    double seconds; /**< of the slowest rank; or the task's own */
    double elapsed; /**< seconds since `begun` */
    bool right;     /**< the result */
} kernel_sample_t;

/**
 * Runs the work once, when all ranks have met. `begun` is a time of this rank's MPI_Wtime. A
 * sentence about a wrong result goes to `note` on all ranks.
 */
kernel_sample_t kernel_turn(kernel_work_t *work, MPI_Comm comm, double begun, uint64_t number,
                            char note[KERNEL_NOTE]);

/* ---- memory (kernel_turn.c) */

/** Zeroed memory, which free ends; without any the job ends. */
void *kernel_alloc(size_t count, size_t size);

/* ---- races (kernel_race.c) */

/** Times the cells of a group, whose lines go to stdout on rank 0. */
void kernel_race(const kernel_cell_t *cells, int count, const bench_world_t *world);

/** Prints `, "key": "text"`, of JSON. */
void kernel_print(const char *key, const char *text);

/** One line of the protocol: a cell that is not timed, and why. On rank 0. */
void kernel_refuse(const char *id, const char *note);

#endif
