/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Collective calls, with the data and checks of the benchmarks. */

#include "kernel.h"

#include "agv.h"
#include "fold.h"
#include "swaps.h"

#include <stdlib.h>
#include <string.h>

/* The place of the cell's type among names; -1 and a sentence: it is none of them. */
static int find_type(const kernel_work_t *work, const char *const *names, int count, char *error)
{
    const char *type = work->problem.type;
    const int found = 0 == strcmp(type, "auto") ? 0 : bench_find(names, count, type);

    if (0 > found) {
        snprintf(error, KERNEL_NOTE, "type=%s: %s does not have it", type, work->problem.name);
    }
    return found;
}

/* ---- MPI_Allgatherv */

typedef struct {
    agv_problem_t problem;
    agv_data_t data;
} agv_work_t;

static bool agv_create(kernel_work_t *work, char *error)
{
    static const char *const types[AGV_TYPES] = {"int", "byte", "list"};
    const char *dist = '\0' == *work->problem.dist ? "regular" : work->problem.dist;
    const int type = find_type(work, types, AGV_TYPES, error);
    agv_work_t *agv;

    if (0 > type) {
        return false;
    }
    agv = work->data = kernel_alloc(1, sizeof(*agv));
    if (!agv_problem_create(&agv->problem, dist, work->problem.bytes, (agv_type_t) type,
                            work->world)) {
        snprintf(error, KERNEL_NOTE, "dist=%s: there is no such distribution", dist);
        free(agv);
        return false;
    }
    if (!agv_data_create(&agv->data, &agv->problem, (agv_type_t) type, work->world->rank)) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return true;
}

static void agv_destroy(kernel_work_t *work)
{
    agv_work_t *agv = work->data;

    agv_data_free(&agv->data);
    agv_problem_free(&agv->problem);
    free(agv);
}

static void agv_fill(kernel_work_t *work, uint64_t sample)
{
    agv_work_t *agv = work->data;

    agv_data_fill(&agv->data, &agv->problem, work->world->rank, sample);
}

static void agv_run(kernel_work_t *work, MPI_Comm comm, double *seconds)
{
    agv_work_t *agv = work->data;

    (void) seconds;
    (void) agv_call(AGV_BLOCKING, &agv->problem, &agv->data, comm);
}

static bool agv_verify(kernel_work_t *work, uint64_t sample, char *error)
{
    agv_work_t *agv = work->data;

    return agv_data_verify(&agv->data, &agv->problem, work->world->size, sample, error);
}

/* ---- a vector of each rank: broadcast, reductions, scans, MPI_Allgather */

static bool fold_create(kernel_work_t *work, char *error)
{
    static const char *const types[] = {"double"};
    const fold_coll_t coll = (fold_coll_t) work->kind->which;
    fold_data_t *data;

    if (0 > find_type(work, types, 1, error)) {
        return false;
    }
    fold_problem_t problem = {coll, work->problem.bytes, FOLD_DOUBLE, 0, NULL};
    const size_t unit = fold_unit(coll, problem.value);

    problem.total /= FOLD_ALLGATHER == coll ? (size_t) work->world->size : 1;
    problem.total -= problem.total % unit;
    if (0 == problem.total) {
        snprintf(error, KERNEL_NOTE, "total=%zu: expected an element of %zu bytes at least",
                 work->problem.bytes, unit);
        return false;
    }
    data = work->data = kernel_alloc(1, sizeof(*data));
    if (!fold_data_create(data, &problem, work->world)) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return true;
}

static void fold_destroy(kernel_work_t *work)
{
    fold_data_free(work->data);
    free(work->data);
}

static void fold_fill(kernel_work_t *work, uint64_t sample)
{
    fold_data_fill(work->data, sample);
}

static void fold_run(kernel_work_t *work, MPI_Comm comm, double *seconds)
{
    (void) seconds;
    (void) fold_data_call(work->data, comm);
}

static bool fold_verify(kernel_work_t *work, uint64_t sample, char *error)
{
    (void) sample;
    return fold_data_verify(work->data, error);
}

/* ---- exchanges of all with all */

static bool swaps_create(kernel_work_t *work, char *error)
{
    static const char *const names[] = {"ring", "dense", "mixed"};
    static const swaps_pattern_t patterns[] = {SWAPS_RING, SWAPS_DENSE, SWAPS_MIXED};
    const swaps_call_t call = (swaps_call_t) work->kind->which;
    const char *dist = '\0' == *work->problem.dist ? "dense" : work->problem.dist;
    const int place = bench_find(names, 3, dist);
    swaps_data_t *data;

    if (0 > place || (SWAPS_V == call && SWAPS_RING == patterns[place])
        || work->problem.bytes < sizeof(double)) {
        snprintf(error, KERNEL_NOTE, "dist=%s total=%zu: expected ring, dense or mixed (of "
                 "alltoallv: dense or mixed), and 8 bytes at least", dist, work->problem.bytes);
        return false;
    }
    /* On two ranks each would be the other's neighbour on both sides, with one message alone. */
    if (SWAPS_RING == patterns[place] && 3 > work->world->size) {
        snprintf(error, KERNEL_NOTE, "dist=%s: a ring needs at least 3 ranks", dist);
        return false;
    }
    data = work->data = kernel_alloc(1, sizeof(*data));
    swaps_data_create(data, call, patterns[place], work->problem.bytes, work->world);
    return true;
}

static void swaps_destroy(kernel_work_t *work)
{
    swaps_data_free(work->data);
    free(work->data);
}

static void swaps_fill(kernel_work_t *work, uint64_t sample)
{
    swaps_data_fill(work->data, sample);
}

static void swaps_run(kernel_work_t *work, MPI_Comm comm, double *seconds)
{
    (void) seconds;
    (void) swaps_data_call(work->data, comm);
}

static bool swaps_verify(kernel_work_t *work, uint64_t sample, char *error)
{
    snprintf(error, KERNEL_NOTE, "wrong data");
    return swaps_data_right(work->data, sample);
}

/* ---- */

#define FOLD(name, which) \
    {name, which, fold_create, fold_destroy, fold_fill, fold_run, fold_verify}
#define SWAPS(name, which) \
    {name, which, swaps_create, swaps_destroy, swaps_fill, swaps_run, swaps_verify}

const kernel_kind_t kernel_calls[]
    = {{"allgatherv", 0, agv_create, agv_destroy, agv_fill, agv_run, agv_verify},
       FOLD("allgather", FOLD_ALLGATHER),
       FOLD("bcast", FOLD_BCAST),
       FOLD("reduce", FOLD_REDUCE),
       FOLD("allreduce", FOLD_ALLREDUCE),
       FOLD("scan", FOLD_SCAN),
       FOLD("exscan", FOLD_EXSCAN),
       SWAPS("alltoallw", SWAPS_W),
       SWAPS("alltoallv", SWAPS_V),
       {NULL, 0, NULL, NULL, NULL, NULL, NULL}};
