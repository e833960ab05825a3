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
 * The engine of coll/pipering (ranks.h) on links that take a moment for each block, with streams
 * in both directions: answers to the blocks of one wait behind the blocks of the other, and must
 * not keep a link idle.
 *
 *     0 <- 1 <- 2 <- 3        half of the blocks each, to root 0: rank 1 begins the second path and
 *     1 -> 2 -> 3 -> 0        fills the link to 2, so that answers of the first path wait there
 */

#include "ranks.h"
#include "tap.h"

#define PATIENCE 300 /* seconds */

#define BLOCK 12

/* Which way along the cycle of all ranks a path goes from rank 0, and what for. */
typedef struct path_t {
    bool upwards, collects;
    int part, parts, gate;
} path_t;

static void add_path(ranks_problem_t *problem, path_t path)
{
    const int pipe = ranks_add_pipe(problem), p = problem->p;

    for (int r = 0; r < p; r++) {
        mca_coll_pipering_route_t *route = &problem->route[pipe][r];
        const int above = (r + 1) % p, below = (r + p - 1) % p;
        const int up = 0 == r ? -1 : path.upwards ? below : above;
        const int down = path.upwards ? above : below;

        if (path.collects) {
            mca_coll_pipering_route_collect(route, &problem->ring, up, &down, 0 != down, 0);
        } else {
            mca_coll_pipering_route_spread(route, &problem->ring, up, &down, 0 != down);
        }
        mca_coll_pipering_route_part(route, path.part, path.parts);
        route->gate = path.gate;
    }
}

static void add_paths(ranks_problem_t *problem)
{
    if (RANKS_ALLREDUCE == problem->operation) {
        add_path(problem, (path_t){.collects = true, .parts = 1, .gate = -1});
        add_path(problem, (path_t){.parts = 1});
        return;
    }
    for (int i = 0; i < 2; i++) {
        add_path(problem, (path_t){.upwards = 0 < i, .collects = RANKS_REDUCE == problem->operation,
                                   .part = i, .parts = 2, .gate = -1});
    }
}

static void open_problem(ranks_problem_t *problem, ranks_operation_t operation, int p,
                         unsigned window, uint64_t *moments)
{
    ranks_open(problem, operation, p, p);
    problem->block_size = BLOCK;
    problem->window = window;
    problem->commutes = true;
    problem->moments = moments;
    for (int r = 0; r < p; r++) {
        problem->node_of[r] = r;
    }
}

/* Along a cycle and against it, so many blocks of each rank in each direction. */
static void add_ring(ranks_problem_t *problem, int part, int parts)
{
    const int pipe = ranks_add_pipe(problem), p = problem->p;
    mca_coll_pipering_ring_t *ring = &problem->other[part];

    ring->size = ring->nodes = ring->first[p] = p;
    for (int x = 0; x < p; x++) {
        ring->rank[x] = 0 == part ? x : p - 1 - x;
        ring->position[ring->rank[x]] = ring->node[x] = ring->first[x] = x;
    }
    for (int r = 0; r < p; r++) {
        mca_coll_pipering_route_t *route = &problem->route[pipe][r];

        mca_coll_pipering_route(route, ring, r);
        mca_coll_pipering_route_part(route, part, parts);
    }
}

/* A problem of a kind: `rings` 0: along paths, else so many ways around. */
static void make(ranks_problem_t *problem, int rings, size_t blocks)
{
    if (0 == rings) {
        add_paths(problem);
        problem->bytes[0] = (RANKS_ALLREDUCE == problem->operation ? 1 : 2) * blocks * BLOCK;
        return;
    }
    for (int i = 0; i < rings; i++) {
        add_ring(problem, i, rings);
    }
    for (int r = 0; r < problem->p; r++) {
        problem->bytes[r] = (size_t) rings * blocks * BLOCK;
    }
}

/* So many blocks over each link, or of each rank over it: the moments that takes are the least. */
static void try_pace(tap_tally_t *tally, ranks_operation_t operation, int rings, int p,
                     unsigned window, size_t blocks)
{
    const int passes = RANKS_ALLREDUCE == operation ? 2 : 1;
    const uint64_t least = 0 == rings ? blocks + (uint64_t) (passes * (p - 1))
                                      : 1 + (uint64_t) (p - 1) * blocks;
    ranks_problem_t problem;
    uint64_t moments = 0;

    open_problem(&problem, operation, p, window, &moments);
    make(&problem, rings, blocks);
    const char *fault = ranks_run(&problem, 0);
    ranks_close(&problem);
    tap_try(tally, NULL == fault && least == moments,
            "%s: %d ranks, window %u, %zu blocks: %llu moments, not %llu",
            NULL == fault ? "late" : fault, p, window, blocks, (unsigned long long) moments,
            (unsigned long long) least);
}

static void test_pace(ranks_operation_t operation, int rings, const char *name)
{
    static const unsigned window[] = {4, 8, 9, 16, 33, 64};
    tap_tally_t tally = {0, 0};

    for (int p = 3; p <= 9; p += 0 < rings ? 2 : 1) {
        for (size_t w = 0 < rings ? 0 : 1; w < sizeof(window) / sizeof(*window); w++) {
            const size_t most = 0 < rings ? 81 : 5 * window[w];

            for (size_t blocks = 1; blocks <= most; blocks += 0 < rings ? 2 * blocks
                                                                        : 1 + blocks / 2) {
                try_pace(&tally, operation, rings, p, window[w], blocks);
            }
        }
    }
    tally_ok(&tally, 100, "%s keeps every link busy", name);
}

int main(void)
{
    tap_start();
    alarm(PATIENCE);
    test_pace(RANKS_BCAST, 0, "a broadcast both ways along a cycle");
    test_pace(RANKS_REDUCE, 0, "a reduction both ways along a cycle");
    test_pace(RANKS_ALLREDUCE, 0, "an allreduce along a path and back");
    test_pace(RANKS_GATHER, 1, "a gather along a ring");
    test_pace(RANKS_GATHER, 2, "a gather along a cycle and against it");
    return tap_end();
}
