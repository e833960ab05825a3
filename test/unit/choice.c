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
 * The choice, on random machines, whose links may be slower than they seem, and for random calls of
 * all collectives: what is weighed is what forced algorithms take, at both ends of the range; the
 * row of the least share of the module below's time is chosen, and taken where that is less by a
 * margin at both ends; it is made as it was weighed. Where the rate is known that is the fastest
 * row, or nearly. No rank decides otherwise.
 */

#include <math.h>
#include <string.h>

#include "coll_pipering_plan_grid.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_choice.h"
#include "tap.h"

#define MOST 256 /* ranks */

typedef mca_coll_pipering_plan_t plan_t;

/** A call on a machine; its situation and its key borrow the rest. */
typedef struct call_t {
    int node_of[MOST], counts[MOST];
    mca_coll_pipering_machine_t machine;
    mca_coll_pipering_situation_t at;
    mca_coll_pipering_key_t key;
} call_t;

/* ---- random calls ---- */

/* Links of 8 Mbit/s to 800 Gbit/s, which may be up to 100 times as slow as they seem. */
static mca_coll_pipering_machine_t random_machine(void)
{
    const uint32_t beta = (uint32_t) tap_between(10, 1000) << tap_below(11);
    const uint32_t most = tap_once_in(3) ? beta : beta * (uint32_t) tap_between(2, 100);
    mca_coll_pipering_machine_t machine = mca_coll_pipering_machine_usual(
        (mca_coll_pipering_transport_t) tap_below(MCA_COLL_PIPERING_TRANSPORTS), beta, most);
    double *value = machine.value;

    if (tap_once_in(2)) {
        value[MCA_COLL_PIPERING_NET_ALPHA] = tap_between(1, 60);
        value[MCA_COLL_PIPERING_NET_GAP] = value[MCA_COLL_PIPERING_NET_ALPHA] / 2;
        value[MCA_COLL_PIPERING_NET_LATENCY] = tap_between(0, 60);
        value[MCA_COLL_PIPERING_NET_OVERLAP] = (double) tap_below(2);
        value[MCA_COLL_PIPERING_NET_EAGER] = tap_once_in(3) ? 0 : 1024 << tap_below(8);
        value[MCA_COLL_PIPERING_NET_HANDSHAKE] = tap_between(0, 400);
        value[MCA_COLL_PIPERING_COMBINE] = tap_between(0, 2000) / 1000.0;
        value[MCA_COLL_PIPERING_LOCAL_ALPHA] = tap_between(1, 30) / 10.0;
    }
    return machine;
}

/* Nodes of so many ranks; the last one may have less, or ranks are dealt out in turn. */
static void place_ranks(call_t *call, int ranks, int per_node)
{
    const int nodes = (ranks + per_node - 1) / per_node;
    const bool in_turn = 0 == ranks % per_node && tap_once_in(3);

    for (int r = 0; r < ranks; r++) {
        call->node_of[r] = in_turn ? r % nodes : r / per_node * per_node;
    }
    call->at = (mca_coll_pipering_situation_t){
        .ranks = ranks,
        .nodes = nodes,
        .me = (int) tap_below((uint64_t) ranks),
        .ppn = ranks < per_node ? ranks : per_node,
        .node_of = call->node_of,
        .load = tap_once_in(2) ? 1 : tap_between(1, 8) / 2.0,
        .pulls = tap_once_in(2),
        .below = (mca_coll_pipering_below_t) tap_below(MCA_COLL_PIPERING_BELOW_HAN_6 + 1),
        .machine = &call->machine};
}

static void fill_counts(call_t *call, size_t bytes)
{
    const int ranks = call->at.ranks, shape = (int) tap_below(4);

    for (int r = 0; r < ranks; r++) {
        call->counts[r] = 0 == shape   ? (int) (bytes / (size_t) ranks)
                          : 1 == shape ? (int) tap_below(1 + 2 * bytes / (size_t) ranks)
                          : 2 == shape ? (tap_once_in(4) ? (int) (bytes / (size_t) ranks) : 0)
                                       : 8;
    }
    call->counts[tap_below((uint64_t) ranks)] += 3 == shape ? (int) bytes : 1;
}

static void open_call(call_t *call, mca_coll_pipering_collective_t collective)
{
    const int per_node = tap_once_in(2) ? 1 : tap_between(1, 8);
    const size_t bytes = (size_t) tap_between(8192, 65536) << tap_below(8);
    const bool reduces = MCA_COLL_PIPERING_REDUCE <= collective;
    const size_t unit = reduces ? (size_t) 1 << tap_below(4) : 1;

    call->machine = random_machine();
    place_ranks(call, tap_once_in(10) ? tap_between(65, MOST) : tap_between(2, 64), per_node);
    call->key = (mca_coll_pipering_key_t){.collective = collective,
                                          .params = mca_coll_pipering_params_preset(),
                                          .ordered = reduces && tap_once_in(4),
                                          .order_matters = reduces && tap_once_in(3),
                                          .sizes = {.scale = 1, .unit = unit, .parts = 1}};
    if (MCA_COLL_PIPERING_BCAST == collective || MCA_COLL_PIPERING_REDUCE == collective) {
        call->key.root = (int) tap_below((uint64_t) call->at.ranks);
    }
    call->key.sizes.count = bytes / unit;
    if (MCA_COLL_PIPERING_ALLGATHERV == collective
        || MCA_COLL_PIPERING_REDUCE_SCATTER == collective) {
        fill_counts(call, bytes / unit);
        call->key.sizes.counts.at = call->counts;
        call->key.sizes.parts = call->at.ranks;
    } else if (MCA_COLL_PIPERING_ALLGATHER == collective
               || MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK == collective) {
        call->key.sizes.count = 1 + bytes / unit / (size_t) call->at.ranks;
        call->key.sizes.parts = call->at.ranks;
    }
}

static plan_t *make(const call_t *call)
{
    plan_t *plan = mca_coll_pipering_plan_new(&call->key, &call->at);

    if (NULL == plan) {
        tap_bail("no plan");
    }
    return plan;
}

/* Whose links take just so much. */
static call_t at_rate(const call_t *call, double beta)
{
    call_t known = *call;

    known.machine.value[MCA_COLL_PIPERING_NET_BETA] = beta;
    known.machine.value[MCA_COLL_PIPERING_NET_BETA_MOST] = beta;
    return known;
}

/* The plan of what is known, after its situation has come to where it is. */
static plan_t *make_known(call_t *known, const call_t *call)
{
    known->at.machine = &known->machine;
    known->at.node_of = known->node_of;
    if (NULL != call->key.sizes.counts.at) {
        known->key.sizes.counts.at = known->counts;
    }
    return make(known);
}

/* The ends of the range that a call is decided on. */
static double end_of(const call_t *call, int end)
{
    const double *value = call->machine.value;
    const bool known = 2 > call->at.nodes;

    return value[0 == end || known ? MCA_COLL_PIPERING_NET_BETA : MCA_COLL_PIPERING_NET_BETA_MOST];
}

static const char *show(const call_t *call)
{
    static char text[200];

    (void) snprintf(text, sizeof(text),
                    "%s%s, %d ranks on %d nodes, load %g, modules below %d, beta %g to %g ns",
                    mca_coll_pipering_collective_row(call->key.collective)->name[0],
                    call->key.order_matters ? " in order" : "", call->at.ranks,
                    call->at.nodes, call->at.load, (int) call->at.below, end_of(call, 0),
                    end_of(call, 1));
    return text;
}

/* ---- what is weighed ---- */

/* Seconds of an algorithm with these blocks where links take `beta`. */
static double forced_time(const call_t *call, const mca_coll_pipering_row_t *row, size_t block,
                          double beta)
{
    call_t known = at_rate(call, beta);

    known.key.params.algorithm = (int) row->algorithm;
    known.key.params.block_size = block;
    plan_t *plan = make_known(&known, call);
    const double time = row == plan->row ? plan->time : NAN;
    mca_coll_pipering_plan_release(plan);
    return time;
}

/* A rank waits for a processor before it sees a message of its node. */
static mca_coll_pipering_cost_t cost_of(const call_t *call, double beta)
{
    mca_coll_pipering_cost_t cost = mca_coll_pipering_machine_cost(&call->machine, beta,
                                                                   call->at.load);

    cost.local.latency *= 1 < cost.crowd ? cost.crowd : 1;
    return cost;
}

static double below_time(const call_t *call, const plan_t *plan, double beta)
{
    size_t bytes[MOST];
    const mca_coll_pipering_sizes_t *sizes = &call->key.sizes;
    const double load = call->at.load;
    const mca_coll_pipering_cost_t cost = cost_of(call, beta);
    mca_coll_pipering_below_call_t below = {
        .modules = call->at.below,
        .collective = call->key.collective,
        .ordered = call->key.ordered,
        .ranks = call->at.ranks,
        .nodes = call->at.nodes,
        .ppn = call->at.ppn,
        .equal = call->at.ppn * call->at.nodes == call->at.ranks,
        .root = call->key.root,
        .total = plan->total,
        .unit = sizes->unit,
        .node_of = call->node_of,
        .cost = &cost,
        .combine = mca_coll_pipering_machine_combine(&call->machine, load),
        .scratch = tap_memory(mca_coll_pipering_below_scratch(call->at.ranks))};

    if (1 < sizes->parts) {
        for (int r = 0; r < call->at.ranks; r++) {
            bytes[r] = mca_coll_pipering_size_of(sizes, r);
        }
        below.bytes = bytes;
    }
    const double time = mca_coll_pipering_below_time(&below).time;
    free(below.scratch);
    return time;
}

/*
 * What a search may leave by the model: shapes, and rows, that cannot gain more are not looked at.
 */
#define LEFT 1.05

/* A forced gather in rounds may go in other lanes at an end, where these are faster. */
static bool is_time(const mca_coll_pipering_row_t *row, double time, double forced)
{
    return tap_near(time, forced) || (mca_coll_pipering_in_rounds(row) && time * LEFT > forced);
}

/* The rows that may serve a call without being forced, and what is said of them. */
static void try_weighed(tap_tally_t *right, const call_t *call, const plan_t *plan)
{
    bool good = 0 < plan->weighed_count;

    for (int end = 0; end < 2; end++) {
        const double beta = end_of(call, end);
        good = good && tap_near(plan->below.at[end], below_time(call, plan, beta));
        for (int i = 0; i < plan->weighed_count; i++) {
            const mca_coll_pipering_weighed_t *weighed = &plan->weighed[i];
            good = good && !weighed->row->forced && 0 < weighed->block
                   && is_time(weighed->row, weighed->time.at[end],
                              forced_time(call, weighed->row, weighed->block, beta));
        }
    }
    tap_try(right, good, "%s: %d rows, %s B %zu %g to %g, below %g to %g", show(call),
            plan->weighed_count, plan->weighed[0].row->value, plan->weighed[0].block,
            plan->weighed[0].time.at[0], plan->weighed[0].time.at[1], plan->below.at[0],
            plan->below.at[1]);
}

/* ---- who is chosen ---- */

typedef struct shares_t {
    double row[MCA_COLL_PIPERING_WEIGHED], best;
} shares_t;

/* Of the time of the module below, at the worse end. */
static shares_t find_shares(const plan_t *plan)
{
    shares_t shares = {.best = HUGE_VAL};

    for (int i = 0; i < plan->weighed_count; i++) {
        for (int end = 0; end < 2; end++) {
            shares.row[i] = fmax(shares.row[i],
                                 plan->weighed[i].time.at[end] / plan->below.at[end]);
        }
        shares.best = fmin(shares.best, shares.row[i]);
    }
    return shares;
}

static int find_weighed(const plan_t *plan)
{
    int i = 0;

    while (i < plan->weighed_count && plan->row != plan->weighed[i].row) {
        i++;
    }
    return i;
}

/*
 * coll/mleader's leaders are to serve where they are worse at neither end than whoever else does.
 */
static void try_leaders(tap_tally_t *tally, const call_t *call, const plan_t *plan, int *pays)
{
    const bool some = MCA_COLL_PIPERING_ALLGATHER == call->key.collective
                      && 1 < call->at.nodes && 1 < call->at.ppn;
    const mca_coll_pipering_times_t *other
        = MCA_COLL_PIPERING_TAKEN == plan->reason && find_weighed(plan) < plan->weighed_count
              ? &plan->weighed[find_weighed(plan)].time
              : &plan->below;
    const bool good = some ? 0 < plan->leaders.at[0] && 0 < plan->leaders.at[1]
                                 && plan->leaders_pay
                                        == (plan->leaders.at[0] <= other->at[0]
                                            && plan->leaders.at[1] <= other->at[1])
                           : !plan->leaders_pay && 0 == plan->leaders.at[0];

    tap_try(tally, good, "%s: leaders %g to %g, else %g to %g: %d", show(call),
            plan->leaders.at[0], plan->leaders.at[1], other->at[0], other->at[1],
            plan->leaders_pay);
    *pays += some && plan->leaders_pay;
}

static double block_of(const plan_t *plan)
{
    return (double) plan->block_size * (double) plan->key.sizes.unit;
}

/* By how many times the module below must be worse: between what is left to it and what is not. */
typedef struct margin_t {
    double left, taken;
} margin_t;

static void note_margin(margin_t *margin, const plan_t *plan, double ratio)
{
    if (MCA_COLL_PIPERING_TAKEN == plan->reason) {
        margin->taken = fmin(margin->taken, ratio);
    } else {
        margin->left = fmax(margin->left, ratio);
    }
}

/* What is made takes at the ends what was weighed, also in groups; elements are not looked at. */
static bool is_made(const call_t *call, const plan_t *plan, const mca_coll_pipering_weighed_t *as)
{
    double scratch[3 * (MOST + 1)];
    bool good = block_of(plan) == (double) as->block;

    if (MCA_COLL_PIPERING_LEADERS == plan->row->algorithm) {
        return good && plan->lanes == as->groups;
    }
    if (!mca_coll_pipering_in_rounds(plan->row)
        || mca_coll_pipering_combines(call->key.collective)) {
        return good;
    }
    for (int end = 0; end < 2; end++) {
        const mca_coll_pipering_grid_problem_t problem = {
            .grid = &plan->grid,
            .copy = mca_coll_pipering_machine_combine(&call->machine, call->at.load),
            .cost = cost_of(call, end_of(call, end)),
            .scratch = scratch};
        good = good && tap_near(as->time.at[end], mca_coll_pipering_grid_time(&problem));
    }
    return good;
}

/* At rates within the range a row that serves is not much worse than at its ends. */
static bool is_bounded(const call_t *call, const plan_t *plan)
{
    const mca_coll_pipering_weighed_t *chosen = &plan->weighed[find_weighed(plan)];
    const double least = end_of(call, 0), most = end_of(call, 1);

    for (double beta = least; beta <= most; beta *= 2) {
        if (forced_time(call, chosen->row, chosen->block, beta)
            > 1.25 * below_time(call, plan, beta)) {
            return false;
        }
    }
    return true;
}

/* ---- decisions that must be equal ---- */

static bool is_same_choice(const plan_t *a, const plan_t *b)
{
    bool same = a->row == b->row && a->reason == b->reason && a->block_size == b->block_size
                && a->time == b->time && a->pipes == b->pipes && a->window == b->window
                && a->shared == b->shared && a->rounds == b->rounds
                && a->grid.lanes == b->grid.lanes && a->below.at[0] == b->below.at[0]
                && a->below.at[1] == b->below.at[1] && a->weighed_count == b->weighed_count;

    for (int i = 0; same && i < a->weighed_count; i++) {
        same = a->weighed[i].row == b->weighed[i].row && a->weighed[i].block == b->weighed[i].block
               && a->weighed[i].time.at[0] == b->weighed[i].time.at[0]
               && a->weighed[i].time.at[1] == b->weighed[i].time.at[1];
    }
    return same;
}

static void try_ranks(tap_tally_t *tally, const call_t *call, const plan_t *plan)
{
    call_t other = *call;

    other.at.me = (int) tap_below((uint64_t) call->at.ranks);
    plan_t *its = make_known(&other, call);
    tap_try(tally, is_same_choice(plan, its), "%s: ranks %d and %d", show(call), call->at.me,
            other.at.me);
    mca_coll_pipering_plan_release(its);
}

static void try_forced(tap_tally_t *tally, const call_t *call)
{
    const mca_coll_pipering_row_t *row = NULL;
    call_t forced = *call;

    while (NULL != (row = mca_coll_pipering_next_row(call->key.collective, row))) {
        forced.key.params.algorithm = (int) row->algorithm;
        plan_t *plan = make_known(&forced, call);
        const mca_coll_pipering_row_t *serves = row;
        while (NULL != serves && serves != plan->row) {
            serves = mca_coll_pipering_find_row(call->key.collective, (int) serves->instead);
        }
        tap_try(tally, MCA_COLL_PIPERING_TAKEN == plan->reason && NULL != serves, "%s: %s is %s",
                show(call), row->value, plan->row->value);
        mca_coll_pipering_plan_release(plan);
    }
}

/* ---- links whose rate is known ---- */

static bool is_same(const plan_t *a, const plan_t *b)
{
    return a->row == b->row && a->time == b->time && a->pipes == b->pipes
           && a->block_size == b->block_size && a->out == b->out
           && a->in == b->in;
}

/*
 * The plan of a vector is that of the fastest algorithm, or of one that takes nearly the same time,
 * if that is faster than the module below.
 */
static void try_known(tap_tally_t *tally, const call_t *call, const plan_t *plan)
{
    const mca_coll_pipering_row_t *row = NULL;
    bool found = false, beaten = false;

    while (NULL != (row = mca_coll_pipering_next_row(call->key.collective, row))) {
        call_t forced = *call;
        forced.key.params.algorithm = (int) row->algorithm;
        plan_t *its = make_known(&forced, call);
        if (!row->forced && row == its->row) {
            found = found || MCA_COLL_PIPERING_TAKEN != plan->reason || is_same(plan, its);
            beaten = beaten || its->time * LEFT < fmin(plan->time, plan->below.at[0]);
        }
        mca_coll_pipering_plan_release(its);
    }
    tap_try(tally, found && !beaten, "%s: %s, %g s", show(call), plan->row->value, plan->time);
}

/* ---- all of it ---- */

/*
 * On one node pulls serve where they take no more than the module below, unless another row takes
 * less; where there are none, gathers are left.
 */
static void try_local(tap_tally_t *tally, const call_t *call, const plan_t *plan)
{
    const shares_t shares = find_shares(plan);
    const bool taken = MCA_COLL_PIPERING_TAKEN == plan->reason;
    double share = NAN;

    for (int i = 0; i < plan->weighed_count; i++) {
        share = MCA_COLL_PIPERING_PULLS == plan->weighed[i].row->algorithm ? shares.row[i] : share;
    }
    const bool pulls = MCA_COLL_PIPERING_PULLS == plan->row->algorithm;
    const bool gathers = mca_coll_pipering_collective_row(call->key.collective)->gathers;
    const bool can = call->at.pulls && !mca_coll_pipering_scans(call->key.collective)
                     && MCA_COLL_PIPERING_SMALL <= plan->total
                     && (gathers || 1 >= call->at.load);
    tap_try(tally,
            (taken || MCA_COLL_PIPERING_FALLBACK_LOCAL == plan->reason)
                && (taken || !(share < (gathers ? 1 : 0.83))) && (!pulls || !taken || share < (1 < call->at.load ? 1.11 : 1.02))
                && can != isnan(share) && !(gathers && !can && taken),
            "%s: %s, share %g, reason %d", show(call), plan->row->value, share,
            (int) plan->reason);
}

typedef struct findings_t {
    tap_tally_t weighed, least, made, bounded, ranks, forced, known, local, leaders;
    margin_t alone, crowded;
    int wins[MCA_COLL_PIPERING_LEADERS + 1], left, doubted, led;
} findings_t;

static void try_call(findings_t *found, const call_t *call, bool all)
{
    plan_t *plan = make(call);

    try_ranks(&found->ranks, call, plan);
    try_leaders(&found->leaders, call, plan, &found->led);
    if (all) {
        try_weighed(&found->weighed, call, plan);
        try_forced(&found->forced, call);
    }
    if (1 < call->at.nodes && end_of(call, 0) == end_of(call, 1)
        && MCA_COLL_PIPERING_BCAST <= call->key.collective) {
        try_known(&found->known, call, plan);
    }
    if (2 > call->at.nodes) {
        try_local(&found->local, call, plan);
        found->wins[plan->row->algorithm] += MCA_COLL_PIPERING_TAKEN == plan->reason;
    } else {
        const shares_t shares = find_shares(plan);
        const int chosen = find_weighed(plan);
        const bool found_it = chosen < plan->weighed_count;
        tap_try(&found->least,
                found_it && tap_near(shares.row[chosen], shares.best)
                    && (MCA_COLL_PIPERING_TAKEN == plan->reason
                        || MCA_COLL_PIPERING_FALLBACK_MODEL == plan->reason),
                "%s: %s has share %g, not %g", show(call), plan->row->value,
                found_it ? shares.row[chosen] : NAN, shares.best);
        tap_try(&found->made, found_it && is_made(call, plan, &plan->weighed[chosen]),
                "%s: %s of blocks of %zu bytes, lanes %d", show(call), plan->row->value,
                plan->block_size, plan->grid.lanes);
        if (MCA_COLL_PIPERING_SMALL <= plan->total) {
            const bool waits = 1 < call->at.load
                               && MCA_COLL_PIPERING_LEADERS != plan->row->algorithm;
            note_margin(waits ? &found->crowded : &found->alone, plan, 1 / shares.best);
        }
        if (all && MCA_COLL_PIPERING_TAKEN == plan->reason) {
            tap_try(&found->bounded, is_bounded(call, plan), "%s: %s", show(call),
                    plan->row->value);
        }
        found->wins[plan->row->algorithm]++;
        found->left += MCA_COLL_PIPERING_TAKEN != plan->reason;
        found->doubted += end_of(call, 0) < end_of(call, 1);
    }
    mca_coll_pipering_plan_release(plan);
}

static void report(const findings_t *found, int calls)
{
    const unsigned long most = (unsigned long) calls * 3 / 4;

    tally_ok(&found->weighed, (unsigned long) calls / 4,
             "rows are weighed as they take when forced, and the modules below, at both ends");
    tally_ok(&found->least, most, "the row of the least share of the module below's time is chosen");
    tally_ok(&found->made, most, "and made as it was weighed");
    ok(1 <= found->alone.left && found->alone.left <= found->alone.taken
           && found->alone.taken < 1.5,
       "a row is taken where the module below takes %g times its time, left to it up to %g",
       found->alone.taken, found->alone.left);
    ok(found->alone.left <= found->crowded.left && found->crowded.left <= found->crowded.taken
           && found->crowded.taken < 2,
       "where ranks share processors %g times, up to %g", found->crowded.taken,
       found->crowded.left);
    tally_ok(&found->bounded, (unsigned long) calls / 40,
             "at no rate in the range a row that serves is much slower than the module below");
    tally_ok(&found->ranks, (unsigned long) calls, "each rank decides the same");
    tally_ok(&found->forced, (unsigned long) calls * 3 / 4, "what is forced is taken");
    tally_ok(&found->known, (unsigned long) calls / 6,
             "where the rate is known the plan of a vector is nearly that of the fastest algorithm");
    tally_ok(&found->local, 20, "on one node pulls serve where they take no more");
    tally_ok(&found->leaders, (unsigned long) calls,
             "leaders are to serve where they are no worse than who else would");
    ok(0 < found->led && found->led < calls / MCA_COLL_PIPERING_COLLECTIVES,
       "which they are in %d calls", found->led);
    ok(0 < found->left && found->left < calls && calls / 4 < found->doubted,
       "of %d calls %d are left to the module below, %d on links that are doubted", calls,
       found->left, found->doubted);
}

#define CALLS 4000

static void test_calls(void)
{
    static const int algorithms[] = {MCA_COLL_PIPERING_RING, MCA_COLL_PIPERING_PIPELINE,
                                     MCA_COLL_PIPERING_MERGED, MCA_COLL_PIPERING_ROUNDS};
    findings_t found = {.alone = {1, HUGE_VAL}, .crowded = {1, HUGE_VAL}};
    static call_t call;

    for (int i = 0; i < CALLS; i++) {
        open_call(&call, (mca_coll_pipering_collective_t) (i % MCA_COLL_PIPERING_COLLECTIVES));
        try_call(&found, &call, 0 == i / MCA_COLL_PIPERING_COLLECTIVES % 4);
    }
    report(&found, CALLS);
    for (size_t i = 0; i < sizeof(algorithms) / sizeof(*algorithms); i++) {
        ok(0 < found.wins[algorithms[i]], "algorithm %d is chosen %d times", algorithms[i],
           found.wins[algorithms[i]]);
    }
}

/* ---- small calls ---- */

/* A gather of so many bytes of one rank, or as many of each, or a broadcast. */
static plan_t *make_small(call_t *call, size_t total, bool one)
{
    const size_t p = (size_t) call->key.sizes.parts;

    memset(call->counts, 0, sizeof(call->counts));
    call->counts[0] = (int) total;
    call->key.sizes.counts.at = one ? call->counts : NULL;
    call->key.sizes.count = total < p ? 1 : total / p;
    return make(call);
}

/* Whether all bytes take longer than an empty message, where the rate of links is known. */
static bool fill_links(const call_t *call, const plan_t *plan)
{
    const mca_coll_pipering_cost_t cost
        = mca_coll_pipering_machine_cost(&call->machine, end_of(call, 0), call->at.load);

    return (double) plan->total >= (cost.net.alpha + cost.net.latency) / cost.net.beta;
}

/* Whether any such call is served; those that are have the larger margin. */
static bool any_served(call_t *call, size_t total, margin_t *margin, tap_tally_t *filled)
{
    bool served = false;

    for (int one = 0; one < (MCA_COLL_PIPERING_ALLGATHERV == call->key.collective ? 2 : 1); one++) {
        plan_t *plan = make_small(call, total, one);
        const bool fills = 1 >= call->at.load || fill_links(call, plan);
        if (MCA_COLL_PIPERING_TAKEN == plan->reason) {
            tap_try(filled, fills, "%s", show(call));
            served = true;
        }
        if (fills && 1 < call->at.nodes) {
            const shares_t shares = find_shares(plan);
            note_margin(margin, plan, 1 / shares.best);
        }
        mca_coll_pipering_plan_release(plan);
    }
    return served;
}

static void test_small(void)
{
    static const mca_coll_pipering_collective_t moves[]
        = {MCA_COLL_PIPERING_ALLGATHERV, MCA_COLL_PIPERING_ALLGATHER, MCA_COLL_PIPERING_BCAST,
           MCA_COLL_PIPERING_SCAN, MCA_COLL_PIPERING_EXSCAN};
    tap_tally_t classes = {0, 0}, sums = {0, 0}, filled = {0, 0};
    margin_t margin = {1, HUGE_VAL};
    unsigned long served = 0;
    static call_t call, known;
    bool memory;

    for (int i = 0; i < 4000; i++) {
        const int least = 3 > i % 5 ? 4 : 2, class = tap_between(0, 12);
        open_call(&call, moves[i % 5]);
        known = at_rate(&call, call.machine.value[MCA_COLL_PIPERING_NET_BETA]);
        known.at.machine = &known.machine;
        known.at.node_of = known.node_of;
        known.key.root = 0; /* a class is judged by those of root 0, and by exact sums of bytes */
        known.key.sizes.unit = 1;
        known.key.order_matters = known.key.ordered = false;
        const bool below = mca_coll_pipering_small_is_below(&known.key, &known.at, class,
                                                            &memory);
        const bool right = below
                           == (class < least
                               || !any_served(&known, (size_t) 1 << class, &margin, &filled));
        const size_t total = ((size_t) 1 << class) + tap_below((uint64_t) 1 << class);
        tap_try(&classes,
                memory && right
                    && below == mca_coll_pipering_is_below(&known.key, &known.at, total),
                "%s: class %d", show(&known), class);
        served += !below;
        known.key.order_matters = true;
        tap_try(&sums, mca_coll_pipering_is_below(&known.key, &known.at, total), "%s", show(&known));
        known.key.order_matters = false;
        known.key.collective
            = tap_once_in(3) ? MCA_COLL_PIPERING_REDUCE
                             : (mca_coll_pipering_collective_t)
                                   tap_between(MCA_COLL_PIPERING_ALLREDUCE,
                                               MCA_COLL_PIPERING_COLLECTIVES - 1);
        tap_try(&sums, mca_coll_pipering_is_below(&known.key, &known.at, total), "%s", show(&known));
    }
    tally_ok(&classes, 4000, "small calls are served as those of their class are");
    ok(60 < served, "in %lu cases they are", served);
    tally_ok(&sums, 8000, "small sums that are no scans, or whose order matters, are not");
    tally_ok(&filled, 60, "where ranks share processors only calls that fill links are");
    ok(margin.left <= 1.2 + 1e-9 && 1.2 - 1e-9 <= margin.taken,
       "a small call is taken where the module below takes %g times its time, left to it up to %g",
       margin.taken, margin.left);
}

int main(void)
{
    tap_start();
    test_calls();
    test_small();
    return tap_end();
}
