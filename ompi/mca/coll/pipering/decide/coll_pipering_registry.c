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
 * The tables of coll_pipering_registry.h.
 */

#include "coll_pipering_registry.h"

#include "coll_pipering_draft.h"
#include "ompi/mca/coll/pipering/mesh/coll_pipering_mesh.h"

#define NAMES(name) {#name, "i" #name, #name "_init"}

/*
 * `fills`: on one node blocks that stay in a cache on their way replace vectors that do not, which
 * saves a third of the time and more; a chain that fills in less than a quarter of it gains. A
 * broadcast gains less, since the kernel copies once where ring buffers copy twice, and still less
 * where processors are short; MPI_Exscan too, whose last rank has nothing to combine. In a gather
 * what is copied in and out at every hop gains nothing over what is copied once.
 */
static const mca_coll_pipering_collective_row_t collectives[MCA_COLL_PIPERING_COLLECTIVES] = {
    [MCA_COLL_PIPERING_ALLGATHERV] = {NAMES(allgatherv), .gathers = true},
    [MCA_COLL_PIPERING_ALLGATHER] = {NAMES(allgather), .gathers = true},
    [MCA_COLL_PIPERING_BCAST] = {NAMES(bcast), .fills = 8, .fills_loaded = 16},
    [MCA_COLL_PIPERING_REDUCE] = {NAMES(reduce), .fills = 4, .fills_loaded = 4},
    [MCA_COLL_PIPERING_SCAN] = {NAMES(scan), .fills = 4, .fills_loaded = 4},
    [MCA_COLL_PIPERING_EXSCAN] = {NAMES(exscan), .fills = 8, .fills_loaded = 8},
    [MCA_COLL_PIPERING_ALLREDUCE] = {NAMES(allreduce), .fills = 4, .fills_loaded = 4},
    [MCA_COLL_PIPERING_REDUCE_SCATTER] = {NAMES(reduce_scatter)},
    [MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK] = {NAMES(reduce_scatter_block)}};

#define RING                                                                \
    .algorithm = MCA_COLL_PIPERING_RING, .value = "ring",                   \
    .pipes = 1, .links = 2, .text = "pipelined ring",                       \
    .decide = mca_coll_pipering_decide_ring, .route = mca_coll_pipering_route_ring, \
    .least = mca_coll_pipering_least_ring
#define GATHER RING, .help = "pipelined ring, whatever the size"

#define ROUNDS                                                              \
    .algorithm = MCA_COLL_PIPERING_ROUNDS, .value = "rounds",               \
    .text = "rounds",                                                       \
    .decide = mca_coll_pipering_decide_rounds,                                  \
    .volumes = mca_coll_pipering_count_rounds,                              \
    .can = mca_coll_pipering_can_round
#define FORWARDS ROUNDS,                                                    \
    .help = "evened out inside groups of ranks, then in log2 rounds"
#define BACKWARDS ROUNDS,                                                   \
    .help = "in log2 rounds, backwards, then from groups of ranks to those whose it is; with an " \
            "operation that does not commute: pipeline"

/* Of a scan. */
#define SCAN_ROUNDS                                                         \
    .algorithm = MCA_COLL_PIPERING_ROUNDS, .value = "rounds",               \
    .text = "rounds", .instead = MCA_COLL_PIPERING_PIPELINE,                \
    .help = "in log2 rounds, all bytes in each",                            \
    .decide = mca_coll_pipering_decide_scan,                                    \
    .volumes = mca_coll_pipering_count_scan,                                \
    .can = mca_coll_pipering_can_scan

#define PIPELINE                                                            \
    .algorithm = MCA_COLL_PIPERING_PIPELINE, .value = "pipeline",           \
    .pipes = 1, .links = 2,                                                 \
    .help = "along a chain of nodes, whatever the size", .text = "pipeline", \
    .decide = mca_coll_pipering_decide_chain, .route = mca_coll_pipering_route_chain

/* On one node. */
#define PULLS                                                               \
    .algorithm = MCA_COLL_PIPERING_PULLS, .value = "pulls",                 \
    .text = "pulls",                                                        \
    .help = "on one node: each rank reads what it wants from the memory of the others",  \
    .decide = mca_coll_pipering_decide_pulls,                               \
    .volumes = mca_coll_pipering_count_pulls,                               \
    .can = mca_coll_pipering_can_pull

/* Between nodes. */
#define LEADERS                                                             \
    .algorithm = MCA_COLL_PIPERING_LEADERS, .value = "leaders",             \
    .text = "leaders of nodes",                                             \
    .help = "leaders of each node read, or combine, what its ranks have, and exchange it; these " \
            "read it from them",                                            \
    .decide = mca_coll_pipering_decide_leaders,                             \
    .route = mca_coll_pipering_route_leaders,                               \
    .volumes = mca_coll_pipering_count_leaders,                             \
    .can = mca_coll_pipering_can_lead

/* Of a reduce-scatter. */
#define LINE                                                                \
    .algorithm = MCA_COLL_PIPERING_PIPELINE, .value = "pipeline",           \
    .pipes = 2, .links = 1, .text = "pipeline",                             \
    .help = "along the line of ranks from both ends, in their order, whatever the size", \
    .decide = mca_coll_pipering_decide_line, .route = mca_coll_pipering_route_line_both
#define SCATTER RING,                                                       \
    .help = "around the ring; with an operation that does not commute: pipeline", \
    .instead = MCA_COLL_PIPERING_PIPELINE, .can = mca_coll_pipering_can_reorder

static const mca_coll_pipering_row_t rows[] = {
    {.collective = MCA_COLL_PIPERING_ALLGATHERV, GATHER},
    {.collective = MCA_COLL_PIPERING_ALLGATHERV, FORWARDS, .instead = MCA_COLL_PIPERING_RING},
    {.collective = MCA_COLL_PIPERING_ALLGATHERV, PULLS, .instead = MCA_COLL_PIPERING_RING},
    {.collective = MCA_COLL_PIPERING_ALLGATHERV, LEADERS, .instead = MCA_COLL_PIPERING_RING},
    {.collective = MCA_COLL_PIPERING_ALLGATHER, GATHER},
    {.collective = MCA_COLL_PIPERING_ALLGATHER, FORWARDS, .instead = MCA_COLL_PIPERING_RING},
    {.collective = MCA_COLL_PIPERING_ALLGATHER, PULLS, .instead = MCA_COLL_PIPERING_RING},
    {.collective = MCA_COLL_PIPERING_ALLGATHER, LEADERS, .instead = MCA_COLL_PIPERING_RING},
    {.collective = MCA_COLL_PIPERING_BCAST, PIPELINE},
    {.collective = MCA_COLL_PIPERING_BCAST, FORWARDS, .instead = MCA_COLL_PIPERING_PIPELINE},
    {.collective = MCA_COLL_PIPERING_BCAST, PULLS, .instead = MCA_COLL_PIPERING_PIPELINE},
    {.collective = MCA_COLL_PIPERING_BCAST, LEADERS, .instead = MCA_COLL_PIPERING_PIPELINE},
    {.collective = MCA_COLL_PIPERING_REDUCE, PIPELINE},
    {.collective = MCA_COLL_PIPERING_REDUCE, BACKWARDS, .instead = MCA_COLL_PIPERING_PIPELINE},
    {.collective = MCA_COLL_PIPERING_REDUCE, PULLS, .instead = MCA_COLL_PIPERING_PIPELINE},
    {.collective = MCA_COLL_PIPERING_REDUCE, LEADERS, .instead = MCA_COLL_PIPERING_PIPELINE},
    {.collective = MCA_COLL_PIPERING_SCAN, PIPELINE},
    {.collective = MCA_COLL_PIPERING_SCAN, SCAN_ROUNDS},
    {.collective = MCA_COLL_PIPERING_EXSCAN, PIPELINE},
    {.collective = MCA_COLL_PIPERING_EXSCAN, SCAN_ROUNDS},
    {.collective = MCA_COLL_PIPERING_ALLREDUCE,
     .algorithm = MCA_COLL_PIPERING_MERGED,
     .value = "merged",
     .help = "reduction to a root and broadcast from it at the same time",
     .text = "merged pipelines",
     .pipes = 2,
     .links = 2,
     .decide = mca_coll_pipering_decide_chain,
     .route = mca_coll_pipering_route_chain},
    {.collective = MCA_COLL_PIPERING_ALLREDUCE,
     .algorithm = MCA_COLL_PIPERING_RING,
     .value = "ring",
     .help = "reduce-scatter, then allgather along a ring; with an operation that does not "
             "commute: merged",
     .text = "pipelined ring",
     .instead = MCA_COLL_PIPERING_MERGED,
     .pipes = 2,
     .links = 2,
     .scatters = true,
     .decide = mca_coll_pipering_decide_scatter,
     .route = mca_coll_pipering_route_around,
     .can = mca_coll_pipering_can_scatter},
    {.collective = MCA_COLL_PIPERING_ALLREDUCE,
     ROUNDS,
     .help = "reduce-scatter, then allgather in log2 rounds each; with an operation that does not "
             "commute: merged",
     .instead = MCA_COLL_PIPERING_MERGED},
    {.collective = MCA_COLL_PIPERING_ALLREDUCE, PULLS, .instead = MCA_COLL_PIPERING_MERGED},
    {.collective = MCA_COLL_PIPERING_ALLREDUCE, LEADERS, .instead = MCA_COLL_PIPERING_MERGED},
    {.collective = MCA_COLL_PIPERING_REDUCE_SCATTER, LINE},
    {.collective = MCA_COLL_PIPERING_REDUCE_SCATTER, SCATTER},
    {.collective = MCA_COLL_PIPERING_REDUCE_SCATTER, BACKWARDS,
     .instead = MCA_COLL_PIPERING_PIPELINE},
    {.collective = MCA_COLL_PIPERING_REDUCE_SCATTER, PULLS, .instead = MCA_COLL_PIPERING_PIPELINE},
    {.collective = MCA_COLL_PIPERING_REDUCE_SCATTER, LEADERS,
     .instead = MCA_COLL_PIPERING_PIPELINE},
    {.collective = MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK, LINE},
    {.collective = MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK, SCATTER},
    {.collective = MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK, BACKWARDS,
     .instead = MCA_COLL_PIPERING_PIPELINE},
    {.collective = MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK, PULLS,
     .instead = MCA_COLL_PIPERING_PIPELINE},
    {.collective = MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK, LEADERS,
     .instead = MCA_COLL_PIPERING_PIPELINE},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

const mca_coll_pipering_collective_row_t *
mca_coll_pipering_collective_row(mca_coll_pipering_collective_t collective)
{
    return &collectives[collective];
}

/* All rows, those along a mesh last. */
static const mca_coll_pipering_row_t *row_behind(const mca_coll_pipering_row_t *row)
{
    const mca_coll_pipering_row_t *mesh = mca_coll_pipering_mesh_rows;

    if (NULL == row) {
        return rows;
    }
    if (rows + ROWS - 1 == row) {
        return mesh;
    }
    return mesh + MCA_COLL_PIPERING_MESH_ROWS - 1 == row ? NULL : row + 1;
}

const mca_coll_pipering_row_t *mca_coll_pipering_next_row(mca_coll_pipering_collective_t collective,
                                                          const mca_coll_pipering_row_t *row)
{
    do {
        row = row_behind(row);
    } while (NULL != row && collective != row->collective);
    return row;
}

const mca_coll_pipering_row_t *mca_coll_pipering_find_row(mca_coll_pipering_collective_t collective,
                                                          int algorithm)
{
    const mca_coll_pipering_row_t *row = mca_coll_pipering_next_row(collective, NULL);

    while (NULL != row && algorithm != (int) row->algorithm) {
        row = mca_coll_pipering_next_row(collective, row);
    }
    return row;
}

/* ---- reasons ---- */

const mca_common_colltools_reason_t mca_coll_pipering_reasons[MCA_COLL_PIPERING_REASONS]
    = {[MCA_COLL_PIPERING_TAKEN] = {NULL, "taken"},
       [MCA_COLL_PIPERING_FALLBACK_OFF] = {"off", "switched off"},
       [MCA_COLL_PIPERING_FALLBACK_SMALL] = {"small", "too few bytes"},
       [MCA_COLL_PIPERING_FALLBACK_LOCAL] = {"local", "all ranks are on one node"},
       [MCA_COLL_PIPERING_FALLBACK_MODEL] = {"model", "by the model a pipeline does not pay"},
       [MCA_COLL_PIPERING_FALLBACK_UNLIKE] = {"unlike", "ranks differ in data representation"},
       [MCA_COLL_PIPERING_FALLBACK_UNEQUAL] = {"unequal", "ranks differ in their variables"},
       [MCA_COLL_PIPERING_FALLBACK_MISSING] = {"missing", "some ranks do not have the component"},
       [MCA_COLL_PIPERING_FALLBACK_UNCHOSEN] = {"unchosen",
                                                "served only where an algorithm is chosen"},
       [MCA_COLL_PIPERING_FALLBACK_MESHLESS] = {"meshless", "no mesh serves the communicator"}};
