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
 * The pipelines of Worringer's paper as stages (coll_pipering_plan_stages.c).
 *
 *     rank 0         rank 1                     rank 2               (broadcast)
 *     +------+ first +------------+   forward   +------------+
 *     | user |------>| o o o ring |------------>| o o o ring |
 *     +------+ flow  +------------+    flow     +------------+
 *                      | copy                     | copy
 *                      v                          v
 *                     user                       user
 *
 * A rank receives blocks into a ring buffer. Its processor copies and combines a block
 * while the adapter forwards the one before, so a stage takes the longer of both times,
 * and then the time to notify its neighbours (`flow`). The first block finds every stage
 * idle, the others follow at the pace of the slowest stage:
 *
 *     T = sum of pass + (n - 1) max of hold,    n = ceil(m / B)
 *
 *                 stages       pass                               hold, without flow
 *     pcast       first        first + flow                       first
 *                 P - 2        forward + flow                     max(forward, copy)
 *                 last         copy                               copy
 *     rpipe       P - 2        combine + forward + flow           max(forward, combine)
 *                 last         combine + copy                     combine + copy
 *     scan        P - 2        combine + forward + flow           max(forward, combine + copy)
 *
 * Differences from the printed equations. (1) counts a stage too many (plan_stages), so (2) is
 * (P - 1) + D_v/D_b - 1 transfers and the last rank's copy, which the paper leaves out.
 * (3) and (4) do not define l_rw. They have it where (2) has l_sb, after the l_PIO(4) that
 * writes a position in the ring buffer, so l_rw is the barrier after that write. Both
 * terms occur for every block and belong inside the bracket. (4) adds the copy to the
 * transfer in max(l_cmb, l_DMA + l_cpy); but the processor copies, and l_DMA does not
 * wait for it. The stages at both ends limit the pace as well (the paper's footnote 2):
 * the root of a broadcast sends from the user's memory, and the root of a reduction
 * combines and stores every block.
 *
 * Allreduce is a reduction and then a broadcast, or (4.4) both at the same time: the result
 * goes back along the chain while later blocks still come. Then the adapter and processor
 * of an inner rank do the work of both. The model is exact but for this last case: it is
 * too high by at most a stage each way where sending sets the pace, and up to 1.45 times
 * too low where the processor does, since blocks of both directions wait for each other.
 *
 * Cost: O(1) a block size. Limits: one rank a node, P >= 2, and room for 3 blocks in a
 * ring buffer: one that is received, one that is combined, one that is sent.
 *
 * The chains of plan_chain have other stages, since their nodes have several ranks and
 * the transport limits the blocks in flight by a window instead of a notification for each
 * block. They are the same kind of pipeline, and the same function computes their time.
 *
 * Paper: Worringer, "Pipelining and Overlapping for MPI Collective Operations", sections
 * 4 to 4.4, equations (1) to (4).
 */

#include "staged.h"

#include <math.h>

/* Seconds a byte of so many MB/s. */
#define MB(rate) (1e-6 / (rate))

staged_machine_t staged_cluster(bool figure)
{
    staged_machine_t machine = {.first = {.alpha = 0.33e-6, .beta = MB(170)},
                                .forward = {.alpha = 30e-6, .beta = MB(250)},
                                .copy = MB(400),
                                .combine = MB(170),
                                .flow = 5e-6};

    if (figure) {
        machine.forward.alpha = 14e-6;
        machine.forward.beta = MB(193);
    }
    return machine;
}

/* The costs of one block, in seconds. */
typedef struct {
    double first, forward;                 /* until the next block can be sent */
    double first_latency, forward_latency; /* from then until the block has arrived */
    double copy, combine, flow;
} block_cost_t;

static block_cost_t cost_of(const staged_machine_t *machine, double size)
{
    return (block_cost_t){.first = mca_coll_pipering_stream_time(&machine->first, 1, size),
                          .forward = mca_coll_pipering_stream_time(&machine->forward, 1, size),
                          .first_latency = machine->first.latency,
                          .forward_latency = machine->forward.latency,
                          .copy = size * machine->copy,
                          .combine = size * machine->combine,
                          .flow = machine->flow};
}

/* The first rank of the pipeline. */
static mca_coll_pipering_stage_t first_stage(const block_cost_t *cost)
{
    return (mca_coll_pipering_stage_t){.count = 1,
                                       .pass = cost->first + cost->first_latency + cost->flow,
                                       .hold = cost->first + cost->flow};
}

/*
 * Ranks that forward blocks: `work` is the processor's work on a block, `before` the part of it
 * that must be done before the block is sent.
 */
static mca_coll_pipering_stage_t inner_stage(const block_cost_t *cost, int count, double before,
                                             double work)
{
    const double sent = cost->forward + cost->forward_latency + cost->flow;

    return (mca_coll_pipering_stage_t){
        .count = count, .pass = before + sent, .hold = fmax(cost->forward, work) + cost->flow};
}

/* The last rank of the pipeline. */
static mca_coll_pipering_stage_t last_stage(const block_cost_t *cost, double work)
{
    return (mca_coll_pipering_stage_t){.count = 1, .pass = work, .hold = work + cost->flow};
}

/* Broadcast, reduction or scan. */
static double single_time(staged_protocol_t protocol, const block_cost_t *cost, int ranks,
                          uint64_t blocks)
{
    const double both = cost->combine + cost->copy;
    mca_coll_pipering_stage_t stages[] = {
        first_stage(cost), inner_stage(cost, ranks - 2, cost->combine, cost->combine),
        last_stage(cost, both)};

    if (STAGED_PCAST == protocol) {
        stages[1] = inner_stage(cost, ranks - 2, 0, cost->copy);
        stages[2] = last_stage(cost, cost->copy);
    } else if (STAGED_SCAN == protocol) {
        stages[1] = inner_stage(cost, ranks - 2, cost->combine, both);
    }
    return mca_coll_pipering_stages_time(stages, 3, blocks);
}

/*
 * A merged allreduce: from the end of the chain to the root, which forwards the result like an
 * inner rank of a scan, and back to the end. Inner ranks do the work of both directions.
 */
static double merged_time(const block_cost_t *cost, int ranks, uint64_t blocks)
{
    const double both = cost->combine + cost->copy;
    mca_coll_pipering_stage_t stages[] = {
        first_stage(cost), inner_stage(cost, ranks - 2, cost->combine, both),
        inner_stage(cost, 1, cost->combine, both), inner_stage(cost, ranks - 2, 0, cost->copy),
        last_stage(cost, cost->copy)};

    stages[1].hold = fmax(2 * cost->forward, both) + 2 * cost->flow;
    return mca_coll_pipering_stages_time(stages, 5, blocks);
}

uint64_t staged_count(const staged_problem_t *problem, size_t block_size)
{
    const uint64_t blocks = mca_coll_pipering_blocks(problem->bytes, block_size);
    const uint64_t hops = (uint64_t) problem->ranks - 1;

    if (STAGED_SERIAL == problem->protocol) {
        return 2 * mca_coll_pipering_stages(hops, blocks);
    }
    return mca_coll_pipering_stages(STAGED_MERGED == problem->protocol ? 2 * hops : hops, blocks);
}

double staged_time(const void *problem, size_t block_size)
{
    const staged_problem_t *staged = problem;
    const uint64_t blocks = mca_coll_pipering_blocks(staged->bytes, block_size);

    if (0 == blocks) {
        return 0;
    }
    const block_cost_t cost = cost_of(&staged->machine, (double) staged->bytes / (double) blocks);
    switch (staged->protocol) {
    case STAGED_SERIAL:
        return single_time(STAGED_RPIPE, &cost, staged->ranks, blocks)
               + single_time(STAGED_PCAST, &cost, staged->ranks, blocks);
    case STAGED_MERGED:
        return merged_time(&cost, staged->ranks, blocks);
    default:
        return single_time(staged->protocol, &cost, staged->ranks, blocks);
    }
}

size_t staged_search(const staged_problem_t *problem)
{
    const mca_coll_pipering_link_cost_t *link = &problem->machine.forward;
    const double start = link->alpha + problem->machine.flow;

    return mca_coll_pipering_search_size(
        staged_time, problem, link, 0, problem->bytes,
        sqrt((double) problem->bytes * start / link->beta / (problem->ranks - 1)));
}
