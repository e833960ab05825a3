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
 * Control and performance variables of the components through MPI_T. Without
 * coll/pipering (Open MPI as it is) there are none, and programs then run
 * their calls once with nothing to set.
 */

#ifndef TEST_MPI_KNOB_H
#define TEST_MPI_KNOB_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Starts MPI_T; true if the component is there. */
bool knob_begin(void);
void knob_end(void);

/**
 * Sets a control variable whatever its type; nothing without its component. Ends the job
 * if there is no such variable, or it does not take the value.
 */
void knob_set(const char *name, double value);

/** The value of a control variable; `otherwise` if there is none. */
double knob_get(const char *name, double otherwise);

/**
 * The value of a performance variable since knob_begin; 0 without its component. Ends the
 * job if the component has no such variable.
 */
uint64_t knob_counter(const char *name);

/** The calls of a communicator that come to coll/pipering, and what it says of the last one. */
typedef struct knob_watch_t {
    MPI_T_pvar_handle heard, verdict;
    uint64_t seen;
} knob_watch_t;

/** Begins to watch, to be ended before the communicator is freed; nothing without the component. */
void knob_watch(MPI_Comm comm, knob_watch_t *watch);
void knob_unwatch(knob_watch_t *watch);

/**
 * What coll_pipering_verdict says of the last call, good as long as MPI_T is; NULL: no call has
 * come since this was last asked.
 */
const char *knob_verdict(knob_watch_t *watch);

/** The sum over all performance variables whose name starts so; the same for none of them. */
uint64_t knob_counters(const char *start);

/** Values of coll_pipering_*_algorithm and of coll_pipering_block_model. */
enum {
    KNOB_AUTO = 0,
    KNOB_RING = 1,
    KNOB_OFF = 3,
    KNOB_PIPELINE = 4,
    KNOB_MERGED = 5,
    KNOB_MESH_TREES = 10,
    KNOB_MESH_PATH = 11,
    KNOB_MESH_CYCLES = 12,
    KNOB_MESH_LINES = 13,
    KNOB_ROUNDS = 14,
    KNOB_PULLS = 15,
    KNOB_NODE_LEADERS = 16
};
enum { KNOB_SEARCH = 0, KNOB_EQUATION2 = 1 };

/** Values of coll_mleader_allgather_algorithm: whatever the size; never. */
enum { KNOB_LEADERS = 1, KNOB_LEADERS_OFF = 2 };

/** One way to run a call. */
typedef struct knob_setting_t {
    const char *name;
    int algorithm;
    int model;
    size_t block_size; /**< 0: as the model says */
    int window;        /**< 0: as it is by default */
    bool alone;        /**< in exchanges in rounds each contribution goes alone */
} knob_setting_t;

/** Bytes of contributions that go together where they do not go alone. */
#define KNOB_PACKED 1000

/**
 * Sets how gathers go; nothing without the component. With ALONG_MESH in the environment, rings
 * are cycles of a mesh, here and below, and folds go along its trees, paths and cycles.
 */
void knob_ring(int algorithm);

/** Sets all of it (equal on all ranks); nothing without the component. */
void knob_apply(const knob_setting_t *setting);

/**
 * Sets how broadcasts, reductions and scans go; and allreduces, with reduce-scatters, which go
 * along the line for KNOB_MERGED; nothing without the component.
 */
void knob_folds(int line, int allreduce);

/** Ways that every correctness test goes through; only the first without the component. */
extern const knob_setting_t knob_settings[];
int knob_settings_count(void);

#endif
