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
 * Plans of calls by pulls (coll_pipering_pulls.h): who contributes what, no message, and the time;
 * and of calls between nodes by leaders, which are pulls inside nodes and a plan of its own for
 * each lane of leaders, to which nodes are ranks.
 */

#include "coll_pipering_draft.h"

#include <math.h>
#include <stdlib.h>

/* A short message takes less than a read. */
bool mca_coll_pipering_can_pull(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;

    return draft->at.pulls && 2 > draft->at.nodes && !plan->key.gaps
           && (MCA_COLL_PIPERING_SMALL <= plan->total
               || MCA_COLL_PIPERING_AUTO != plan->key.params.algorithm);
}

/* Ranks that contribute more than so many bytes to a gather. */
static int count_contributors(const mca_coll_pipering_plan_t *plan, int ranks, size_t least)
{
    int count = 0;

    for (int r = 0; r < ranks; ++r) {
        count += least < plan->bytes[r];
    }
    return count;
}

/* Of what a message takes, which in shared memory is a read, too, and two short messages. */
#define READ 0.5

/*
 * A rank puts up its notice, waits for others', reads what it wants, a system call for each of it,
 * and waits for the last one that reads its own. Of a reduction it reads its range of each vector,
 * combines it, and reads results.
 */
static double time_of(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_link_cost_t *link = &draft->cost.local;
    const int ranks = draft->at.ranks;
    const double total = (double) plan->total, others = ranks - 1;
    const double share = total * others / ranks;
    double reads, bytes, all, combining = 0; /* of a rank; bytes of all ranks */
    int waits = 2;

    if (!mca_coll_pipering_draft_combines(draft)) {
        const int contributors = count_contributors(plan, ranks, 0);
        reads = fmin(count_contributors(plan, ranks, MCA_COLL_PIPERING_PULLS_SMALL), others)
                + plan->splits.count * (others - 1);
        bytes = contributors < ranks && !plan->splits.pushed ? total : share;
        all = total * others;
    } else {
        const bool spreads = mca_coll_pipering_draft_spreads(draft);
        const bool scatters = mca_coll_pipering_scatters_result(plan->key.collective);
        waits = scatters ? 2 : 3;
        reads = scatters ? others : 2 * others;
        bytes = scatters ? share : 2 * share;
        all = total * others + (spreads ? total * others : scatters ? 0 : share);
        combining = share * draft->combine;
    }
    const double handled = (1 + reads * READ) * link->alpha + combining;
    const double time = waits * link->latency + handled + bytes * link->beta;
    const double work = ranks * handled + all * link->beta;
    return mca_coll_pipering_crowded_time(&draft->cost, time, work, ranks);
}

/*
 * Where ranks share processors, contributions are not split: a rank that has nothing to do leaves
 * its processor to others, and one that waits for parts of all others waits for all to run. The
 * owner of one copies it to its receive buffer, while others read it, but not in a broadcast.
 */
static mca_coll_pipering_splits_t find_splits(const mca_coll_pipering_draft_t *draft)
{
    const bool pushed = MCA_COLL_PIPERING_BCAST == draft->plan->key.collective;
    mca_coll_pipering_splits_t splits = {.count = 0};

    if (!mca_coll_pipering_draft_combines(draft) && 1 >= draft->at.load
        && (pushed || 2 < draft->at.ranks)) {
        splits = mca_coll_pipering_splits_find(draft->plan->bytes, draft->at.ranks);
        splits.pushed = pushed;
    }
    return splits;
}

void mca_coll_pipering_decide_pulls(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    if (mca_coll_pipering_draft_combines(draft)) {
        mca_coll_pipering_group_nodes(draft, true);
    } else {
        mca_coll_pipering_place_parts(plan, draft->at.ranks);
    }
    plan->block_size = plan->largest;
    plan->splits = find_splits(draft);
    plan->time = time_of(draft);
}

/* No message is sent. */
void mca_coll_pipering_count_pulls(mca_coll_pipering_draft_t *draft)
{
    (void) draft;
}

/* ---- leaders ---- */

bool mca_coll_pipering_can_lead(const mca_coll_pipering_draft_t *draft)
{
    return draft->at.pulls && 1 < draft->at.nodes && 1 < draft->at.ppn && !draft->plan->key.gaps
           && mca_coll_pipering_can_round(draft);
}

/* What leaders do with vectors of nodes, or shares of what these have. */
static mca_coll_pipering_collective_t collective_across(const mca_coll_pipering_draft_t *draft)
{
    return !mca_coll_pipering_draft_combines(draft)  ? MCA_COLL_PIPERING_ALLGATHERV
           : mca_coll_pipering_draft_spreads(draft) ? MCA_COLL_PIPERING_ALLREDUCE
                                                     : MCA_COLL_PIPERING_REDUCE_SCATTER;
}

/*
 * The plan of a lane's exchange for the leader of a node, at a rate of links, or, 0, in the middle
 * of what is known of them. NULL: the lane has no bytes, or there is no memory.
 */
static mca_coll_pipering_plan_t *plan_across(mca_coll_pipering_draft_t *draft, int lane, int me,
                                             double beta)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_ring_t *ring = &plan->by_node;
    const int nodes = ring->nodes;
    ptrdiff_t *bytes = malloc((size_t) nodes * (sizeof(*bytes) + 2 * sizeof(int)));
    mca_coll_pipering_machine_t machine = *draft->at.machine;
    mca_coll_pipering_plan_t *across = NULL;
    size_t total = 0;

    if (NULL == bytes) {
        draft->no_memory = true;
        return NULL;
    }
    int *node_of = (int *) (bytes + nodes), *leaf_of = node_of + nodes;
    for (int i = 0; i < nodes; ++i) {
        const int *leaves = draft->at.leaf_of;
        node_of[i] = i;
        const int first = ring->rank[ring->first[i]];
        leaf_of[i] = NULL == leaves ? 0 : ring->node[ring->position[leaves[first]]];
        bytes[i] = (ptrdiff_t) mca_coll_pipering_grid_share(&plan->grid, i, lane);
        total += (size_t) bytes[i];
    }
    mca_coll_pipering_key_t key = {.collective = collective_across(draft),
                                   .params = plan->key.params,
                                   .order_matters = plan->key.order_matters,
                                   .sizes = {.counts = {bytes, true},
                                             .scale = 1,
                                             .unit = plan->key.sizes.unit,
                                             .parts = nodes}};
    if (MCA_COLL_PIPERING_ALLREDUCE == key.collective) {
        key.sizes.counts.at = NULL;
        key.sizes.count = total;
        key.sizes.parts = 1;
    }
    key.params.algorithm = MCA_COLL_PIPERING_ROUNDS;
    key.params.block_size = mca_coll_pipering_given_block(draft);
    if (0 < beta) {
        machine.value[MCA_COLL_PIPERING_NET_BETA] = 1e9 * beta;
        machine.value[MCA_COLL_PIPERING_NET_BETA_MOST] = 1e9 * beta;
    }
    machine.value[MCA_COLL_PIPERING_NET_BETA] *= plan->grid.lanes; /* they share the node's link */
    machine.value[MCA_COLL_PIPERING_NET_BETA_MOST] *= plan->grid.lanes;
    const mca_coll_pipering_situation_t at
        = {.ranks = nodes,
           .nodes = nodes,
           .me = me,
           .ppn = 1,
           .node_of = node_of,
           .leaf_of = NULL == draft->at.leaf_of ? NULL : leaf_of,
           .load = fmax(1, draft->at.load * plan->grid.lanes / draft->at.ppn),
           .below = MCA_COLL_PIPERING_BELOW_TUNED,
           .machine = &machine};
    across = 0 == total ? NULL : draft->plan_part(&key, &at);
    draft->no_memory |= 0 < total && NULL == across;
    free(bytes);
    return across;
}

/* Of a contribution that is read where it goes, not along with others. */
#define APART MCA_COLL_PIPERING_LEADERS_APART

/*
 * Leaders read, block by block, the elements of their lane in all vectors of their node, combine
 * and exchange them; then ranks read what they want of the result.
 */
static double time_combining(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_link_cost_t *link = &draft->cost.local;
    const int ranks = draft->at.ranks, lanes = plan->grid.lanes;
    const bool spreads = mca_coll_pipering_draft_spreads(draft);
    const double total = (double) plan->total, lane = total / lanes;
    const double wanted = spreads ? total : (double) (plan->largest * plan->key.sizes.unit);
    const double others = draft->at.ppn - 1;
    const double blocks = ceil(lane / (double) MCA_COLL_PIPERING_PULLS_BLOCK);
    const double led = others
                       * (blocks * READ * link->alpha + lane * (link->beta + draft->combine));
    const double handled = (1 + lanes * READ) * link->alpha;
    const double time = 3 * link->latency + led + handled + wanted * link->beta;
    const double work = ranks * handled + draft->at.nodes * lanes * led
                        + (spreads ? ranks : 1) * total * link->beta;

    return mca_coll_pipering_crowded_time(&draft->cost, time, work, ranks);
}

/*
 * Leaders read what ranks of their node have, and exchange it; then all read all of it. Reads are
 * those of whole contributions, or of as many bytes of smaller ones.
 */
static double time_inside(const mca_coll_pipering_draft_t *draft)
{
    if (mca_coll_pipering_draft_combines(draft)) {
        return time_combining(draft);
    }
    const mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_link_cost_t *link = &draft->cost.local;
    const int ranks = draft->at.ranks, lanes = plan->grid.lanes;
    const double total = (double) plan->total;
    const double reads = lanes + fmin(count_contributors(plan, ranks, 0), total / (double) APART);
    const double taken = (double) mca_coll_pipering_grid_largest(&plan->grid);
    const double led = (draft->at.ppn - 1) * READ * link->alpha;
    const double handled = (1 + reads * READ) * link->alpha;
    const double time = 3 * link->latency + led + handled + (taken + total) * link->beta;
    const double work = ranks * handled + draft->at.nodes * lanes * led
                        + (ranks + 1) * total * link->beta;

    return mca_coll_pipering_crowded_time(&draft->cost, time, work, ranks);
}

/* One leader a node, or as many as the smallest one has ranks. */
void mca_coll_pipering_decide_leaders(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    mca_coll_pipering_group_nodes(draft, true);
    plan->block_size = plan->largest;
    plan->time = HUGE_VAL;
    const int most = plan->grid.lanes, given = draft->fixed_groups;
    plan->lanes = 0 < given ? given : most;
    const int tried[] = {1, most};
    for (int i = 0; i < (1 < most ? 2 : 1); ++i) {
        if (0 < given && given != tried[i]) {
            continue;
        }
        plan->grid.lanes = tried[i];
        mca_coll_pipering_plan_t *across = plan_across(draft, 0, 0, draft->cost.net.beta);
        const double time = NULL == across ? HUGE_VAL : across->time + time_inside(draft);
        if (time < plan->time) {
            plan->time = time;
            plan->lanes = tried[i];
            plan->rounds = across->rounds;
            plan->block_size = across->block_size;
        }
        if (NULL != across) {
            mca_coll_pipering_plan_release(across);
        }
    }
    plan->grid.lanes = plan->lanes;
}

void mca_coll_pipering_route_leaders(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_ring_t *ring = &plan->by_node;
    const int position = ring->position[draft->at.me], node = ring->node[position];
    const int lane = position - ring->first[node];

    if (NULL != plan->across) {
        mca_coll_pipering_plan_release(plan->across);
    }
    plan->across = lane < plan->lanes ? plan_across(draft, lane, node, 0) : NULL;
}

void mca_coll_pipering_count_leaders(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    if (NULL != plan->across) {
        plan->in = plan->across->in;
        plan->out = plan->across->out;
        plan->in_from_network = plan->across->in_from_network;
    }
}
