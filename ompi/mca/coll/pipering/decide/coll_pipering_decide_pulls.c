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
 * Plans of calls by pulls (coll_pipering_pulls.h): who contributes what, no message, and the time.
 */

#include "coll_pipering_draft.h"

/* A short message takes less than a read. */
bool mca_coll_pipering_can_pull(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;

    return draft->at.pulls && !plan->key.gaps
           && (MCA_COLL_PIPERING_SMALL <= plan->total
               || MCA_COLL_PIPERING_AUTO != plan->key.params.algorithm);
}

/* Ranks that contribute to a gather. */
static int count_contributors(const mca_coll_pipering_plan_t *plan, int ranks)
{
    int count = 0;

    for (int r = 0; r < ranks; ++r) {
        count += 0 < plan->bytes[r];
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
    double reads, bytes, all; /* of a rank; bytes of all ranks */
    int waits = 2;

    if (!mca_coll_pipering_draft_combines(draft)) {
        const int contributors = count_contributors(plan, ranks);
        reads = (contributors < ranks ? contributors : others)
                + plan->splits.count * (others - 1);
        bytes = contributors < ranks && !plan->splits.pushed ? total : share;
        all = total * others;
    } else {
        const bool spreads = MCA_COLL_PIPERING_ALLREDUCE == plan->key.collective;
        const bool scatters = mca_coll_pipering_scatters_result(plan->key.collective);
        waits = scatters ? 2 : 3;
        reads = scatters ? others : 2 * others;
        bytes = scatters ? share : 2 * share;
        all = total * others + (spreads ? total * others : scatters ? 0 : share);
    }
    const double combining = mca_coll_pipering_draft_combines(draft) ? share * draft->combine : 0;
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

    mca_coll_pipering_place_parts(plan, draft->at.ranks);
    plan->block_size = plan->largest;
    plan->grid.groups = 0;
    plan->splits = find_splits(draft);
    plan->time = time_of(draft);
}

/* No message is sent. */
void mca_coll_pipering_count_pulls(mca_coll_pipering_draft_t *draft)
{
    (void) draft;
}
