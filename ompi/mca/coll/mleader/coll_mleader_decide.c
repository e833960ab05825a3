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
 * Decides whether leaders serve an MPI_Allgather, by which variant, and in which slices.
 *
 *     result               < 256 KiB               >= 256 KiB         any
 *     contribution         < 64 KiB                < 64 KiB           >= 64 KiB
 *     aggregation          segment                 segment
 *     leaders exchange     by recursive doubling   in a ring          module below
 *                          (Bruck)
 *     distribution         segment                 segment
 *
 * These are the defaults; aggregation and exchange are variables. All ranks decide alike, by values
 * that are equal on all of them: bytes of a contribution, groups and variables.
 *
 * Kandalla et al., section 4.3.2 and table 1. There small contributions go by messages inside a
 * node, too, and large ones in a ring of all ranks, without leaders.
 */

#include "coll_mleader.h"

#include "opal/util/output.h"

/* Contributions of so many bytes are left to the module below, unless the algorithm is forced. */
#define LARGE ((size_t) 64 * 1024)

/* Bytes of a result from which leaders exchange in a ring. */
#define RING_FROM ((size_t) 256 * 1024)

/*
 * Bytes that take a leader as long as a message between nodes does besides its bytes. They decide
 * between one leader a node and one a socket.
 */
#define MESSAGE_COST ((size_t) 20 * 1024)

/* Most bytes of private memory for a slice without a segment. */
#define SCRATCH ((size_t) 1 << 20)

/* Most bytes of a message in a ring: below usual eager limits, so that it needs no handshake. */
#define RING_MESSAGE ((size_t) 32 * 1024)

/* Fewest bytes of a contribution in a slice, unless it has fewer or a small segment demands it. */
#define LEAST_SLICE 64

mca_coll_mleader_reason_t mca_coll_mleader_judge_call(const mca_coll_mleader_params_t *params,
                                                      size_t bytes,
                                                      mca_coll_mleader_reason_t known)
{
    if (MCA_COLL_MLEADER_OFF == params->algorithm) {
        return MCA_COLL_MLEADER_FALLBACK_OFF;
    }
    if (MCA_COLL_MLEADER_AUTO == params->algorithm) {
        return LARGE <= bytes ? MCA_COLL_MLEADER_FALLBACK_LARGE : known;
    }
    return MCA_COLL_MLEADER_FALLBACK_UNLIKE <= known ? known
                                                     : MCA_COLL_MLEADER_TAKEN;
}

mca_coll_mleader_reason_t
mca_coll_mleader_judge_topology(const mca_coll_mleader_params_t *params,
                                const mca_coll_mleader_topology_t *topology)
{
    if (MCA_COLL_MLEADER_TAKEN != topology->unlike) {
        return topology->unlike;
    }
    if (MCA_COLL_MLEADER_AUTO != params->algorithm) {
        return MCA_COLL_MLEADER_TAKEN;
    }
    if (2 > topology->nodes) {
        return MCA_COLL_MLEADER_FALLBACK_LOCAL;
    }
    return 2 > topology->most_here ? MCA_COLL_MLEADER_FALLBACK_ALONE : MCA_COLL_MLEADER_TAKEN;
}

static bool uses_segment(const mca_coll_mleader_variant_t *variant)
{
    return mca_coll_mleader_is_shared(variant) || variant->lanes;
}

/*
 * Chooses the grouping of least cost. Only in lanes do the leaders of a node share the bytes that
 * it receives. The node with the fewest processors for each rank stands for all.
 */
static const mca_coll_mleader_grouping_t *choose_grouping(const mca_coll_mleader_call_t *call,
                                                          bool lanes)
{
    const mca_coll_mleader_topology_t *topology = call->topology;
    const mca_coll_mleader_load_t load
        = {.nodes = topology->nodes,
           .crowd = topology->crowd,
           .bytes = call->bytes * (size_t) (topology->ranks - topology->ranks / topology->nodes),
           .message = MESSAGE_COST};
    int best = 0;

    for (int i = 1; lanes && i < topology->groupings; ++i) {
        const int leaders = topology->grouping[i].groups.lanes;
        if (mca_coll_mleader_leading_cost(&load, leaders)
            < mca_coll_mleader_leading_cost(&load, topology->grouping[best].groups.lanes)) {
            best = i;
        }
    }
    return &topology->grouping[best];
}

/* Chooses grouping and variant. Without a segment all phases use messages, and no lanes. */
static void choose(mca_coll_mleader_call_t *call, const mca_coll_mleader_params_t *params,
                   bool shared)
{
    const bool large = call->bytes * (size_t) call->topology->ranks >= RING_FROM;
    mca_coll_mleader_variant_t variant
        = {.aggregation = (mca_coll_mleader_inside_t) params->aggregation,
           .exchange = 0 <= params->exchange ? (mca_common_colltools_algorithm_t) params->exchange
                       : large               ? MCA_COMMON_COLLTOOLS_RING
                                             : MCA_COMMON_COLLTOOLS_DOUBLING};

    if (!shared && MCA_COLL_MLEADER_SHM == variant.aggregation) {
        variant.aggregation = MCA_COLL_MLEADER_GROUP_DOUBLING;
    }
    const bool wanted = 0 > params->lanes ? uses_segment(&variant) : 0 < params->lanes;
    call->grouping = choose_grouping(call, shared && wanted);
    variant.lanes = shared && wanted && 1 < call->grouping->groups.lanes;
    call->variant = variant;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Fewest contributions in a message of a ring if a round of it has MCA_COLL_MLEADER_MESSAGES. */
static size_t least_in_message(const mca_coll_mleader_grouping_t *grouping)
{
    return ((size_t) grouping->largest + MCA_COLL_MLEADER_MESSAGES - 1)
           / MCA_COLL_MLEADER_MESSAGES;
}

/* Most bytes of a contribution in a slice that goes around a ring. */
static size_t ring_slice(const mca_coll_mleader_grouping_t *grouping)
{
    const size_t slice = RING_MESSAGE / least_in_message(grouping);
    return LEAST_SLICE < slice ? slice : LEAST_SLICE;
}

/* Areas of a slice in a half of the segment: one for each leader or, in lanes, one for all. */
static size_t count_areas(const mca_coll_mleader_call_t *call)
{
    return call->variant.lanes ? 1 : (size_t) call->grouping->groups.lanes;
}

/* Bytes of a contribution in a slice; 0: the segment has too little room for one byte of each. */
static size_t find_slice(const mca_coll_mleader_call_t *call, size_t half_size)
{
    const mca_coll_mleader_variant_t *variant = &call->variant;
    const size_t ranks = (size_t) call->topology->ranks;
    size_t bytes = call->bytes;

    if (MCA_COMMON_COLLTOOLS_RING == variant->exchange) {
        bytes = least(bytes, ring_slice(call->grouping));
    }
    if (uses_segment(variant)) {
        return least(bytes, half_size / count_areas(call) / ranks);
    }
    const size_t most = SCRATCH / ranks;
    return least(bytes, LEAST_SLICE < most ? most : LEAST_SLICE);
}

void mca_coll_mleader_decide(mca_coll_mleader_call_t *call,
                             const mca_coll_mleader_params_t *params, size_t half_size)
{
    choose(call, params, 0 < half_size);
    call->slice_size = find_slice(call, half_size);
    if (0 == call->slice_size) {
        choose(call, params, false);
        call->slice_size = find_slice(call, half_size);
    }
    const size_t least_message = least_in_message(call->grouping) * call->slice_size;
    call->message_size = MCA_COMMON_COLLTOOLS_RING != call->variant.exchange ? SIZE_MAX
                         : RING_MESSAGE < least_message                  ? least_message
                                                                         : RING_MESSAGE;
}

size_t mca_coll_mleader_half_wanted(const mca_coll_mleader_call_t *call)
{
    const size_t bytes = count_areas(call) * (size_t) call->topology->ranks * call->slice_size;
    const size_t lines = (bytes + MCA_COLL_MLEADER_LINE - 1) / MCA_COLL_MLEADER_LINE;

    return uses_segment(&call->variant) ? lines * MCA_COLL_MLEADER_LINE : 0;
}

void mca_coll_mleader_report(const mca_coll_mleader_call_t *call)
{
    static const char *const inside[]
        = {[MCA_COLL_MLEADER_SHM] = "shared memory",
           [MCA_COLL_MLEADER_GATHER] = "gather",
           [MCA_COLL_MLEADER_GROUP_DOUBLING] = "recursive doubling",
           [MCA_COLL_MLEADER_GROUP_RING] = "ring"};
    static const char *const exchange[] = {[MCA_COMMON_COLLTOOLS_DOUBLING] = "recursive doubling",
                                           [MCA_COMMON_COLLTOOLS_BRUCK] = "Bruck",
                                           [MCA_COMMON_COLLTOOLS_RING] = "ring"};
    const mca_coll_mleader_grouping_t *grouping = call->grouping;

    if (mca_coll_mleader_is_verbose(call->comm)) {
        opal_output(mca_coll_mleader.output,
                    "coll/mleader: %s on %s: %zu bytes a rank, %d ranks in %d groups on %d "
                    "nodes; in: %s, between leaders: %s%s, out: %s, slices of %zu bytes; this "
                    "rank: group %d%s",
                    call->caller.name, call->comm->c_name, call->bytes,
                    grouping->groups.ranks, grouping->groups.groups, grouping->groups.nodes,
                    inside[call->variant.aggregation], exchange[call->variant.exchange],
                    call->variant.lanes ? " in lanes" : "",
                    mca_coll_mleader_is_shared(&call->variant) ? "shared memory" : "messages",
                    call->slice_size, grouping->group, grouping->leader ? ", leader" : "");
    }
}
