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
 * Sightings, with several ranks in one process (posing_pml.h): which calls show the rate of links
 * that are doubted, what a rank keeps of them, and what ranks agree on, in any order of events: one
 * machine, whose rate is that which most of them saw, with plans dropped and the process told.
 */

#include <math.h>
#include <string.h>

#include "ompi/mca/coll/pipering/decide/coll_pipering_decide.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_setup.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_streams.h"
#include "posing_pml.h"
#include "tap.h"

#define MOST POSING_MOST /* ranks */
#define TAG 17

/* What ranks have agreed on before; here all of it is posed. */
struct mca_coll_pipering_setup_t {
    mca_coll_pipering_known_t known;
};

typedef struct rank_t {
    mca_coll_pipering_context_t context;
    mca_coll_pipering_process_t process;
    struct mca_coll_pipering_setup_t setup;
    mca_coll_pipering_sighting_t *sighting;
    int drops; /* of all plans */
    bool begun;
    int error;
} rank_t;

static rank_t ranks[MOST];

const mca_coll_pipering_known_t *
mca_coll_pipering_setup_known(const mca_coll_pipering_setup_t *setup)
{
    return &setup->known;
}

void mca_coll_pipering_machine_report(const mca_coll_pipering_context_t *context,
                                      const mca_coll_pipering_machine_t *machine,
                                      const char *source)
{
    (void) context;
    (void) machine;
    (void) source;
}

void mca_coll_pipering_plans_drop(mca_coll_pipering_context_t *context)
{
    for (int r = 0; r < MOST; r++) {
        ranks[r].drops += context == &ranks[r].context;
    }
}

static void open_ranks(ompi_communicator_t *comm, const mca_coll_pipering_machine_t *machine,
                       int nodes)
{
    for (int r = 0; r < comm->size; r++) {
        memset(&ranks[r], 0, sizeof(ranks[r]));
        ranks[r].setup = (struct mca_coll_pipering_setup_t){
            {.machine = *machine, .nodes = {.count = nodes, .load = 1}, .tag = TAG}};
        ranks[r].context.comm = &comm[r];
        ranks[r].context.process = &ranks[r].process;
        ranks[r].context.setup = &ranks[r].setup;
    }
}

/* ---- calls that show it ---- */

typedef struct call_t {
    mca_coll_pipering_collective_t collective;
    int algorithm, nodes;
    size_t bytes, block;
    bool order_matters, known, streamed;
} call_t;

static mca_coll_pipering_plan_t *plan_call(const call_t *call, const rank_t *rank)
{
    static int node_of[MOST];
    const int p = rank->context.comm->size;
    const mca_coll_pipering_key_t key = {
        .collective = call->collective,
        .params = {.algorithm = call->algorithm,
                   .block_size = call->block,
                   .rounds_max_total = mca_coll_pipering_params_preset().rounds_max_total},
        .order_matters = call->order_matters,
        .sizes = {.count = call->bytes, .scale = 1, .unit = 1, .parts = 1}};
    mca_coll_pipering_key_t gather = key;

    for (int r = 0; r < p; r++) {
        node_of[r] = 1 == call->nodes ? 0 : r;
    }
    if (mca_coll_pipering_collective_row(call->collective)->gathers) {
        gather.sizes.parts = p;
        gather.sizes.count = call->bytes / (size_t) p;
    }
    const mca_coll_pipering_facts_t facts = {.ranks = p,
                                             .nodes = 1 == call->nodes ? 1 : p,
                                             .me = rank->context.comm->rank,
                                             .ppn = 1 == call->nodes ? p : 1,
                                             .node_of = node_of,
                                             .load = 1,
                                             .machine = &rank->setup.known.machine};
    mca_coll_pipering_plan_t *plan = mca_coll_pipering_plan_new(&gather, &facts);
    if (NULL == plan) {
        tap_bail("no plan");
    }
    return plan;
}

/* How many of four such calls show it, and after which one ranks agree; 100: ranks differ. */
static int count_shows(const call_t *call, int *after)
{
    const int p = 8;
    ompi_communicator_t *comm = posing_open(p, 1);
    const mca_coll_pipering_machine_t machine = mca_coll_pipering_machine_usual(
        MCA_COLL_PIPERING_TRANSPORT_TCP, 800, call->known ? 800 : 80000);
    int shows[8] = {0}, agrees[8] = {0};

    open_ranks(comm, &machine, 1 == call->nodes ? 1 : p);
    for (int r = 0; r < p; r++) {
        mca_coll_pipering_plan_t *plan = plan_call(call, &ranks[r]);
        ranks[r].context.streamed = call->streamed;
        for (int i = 1; i <= 4; i++) {
            bool agree;
            shows[r] += mca_coll_pipering_stream_shows(&ranks[r].context, plan, &agree);
            agrees[r] = agree ? 10 * agrees[r] + i : agrees[r];
        }
        mca_coll_pipering_plan_release(plan);
    }
    (void) posing_close(comm);
    for (int r = 1; r < p; r++) {
        shows[0] = shows[r] == shows[0] && agrees[r] == agrees[0] ? shows[0] : 100;
    }
    *after = agrees[0];
    return shows[0];
}

static void test_calls(void)
{
    const call_t good = {.collective = MCA_COLL_PIPERING_BCAST,
                         .algorithm = MCA_COLL_PIPERING_PIPELINE,
                         .bytes = 1 << 20,
                         .block = 8192};
    call_t call = good;
    int after = 0;

    const int shows = count_shows(&call, &after);
    ok(2 <= shows && 4 >= shows && 2 == after, "two calls show it, then ranks agree, once");
    call.collective = MCA_COLL_PIPERING_ALLGATHER;
    call.algorithm = MCA_COLL_PIPERING_RING;
    (void) count_shows(&call, &after);
    is(after, 2, "so do two gathers along a ring");
#define NEVER(member, value, why)                                             \
    do {                                                                      \
        call = good;                                                          \
        call.member = value;                                                  \
        const int count = count_shows(&call, &after);                         \
        ok(0 == count && 0 == after, "no call does %s", why);                 \
    } while (0)
    NEVER(known, true, "where the rate is known");
    NEVER(streamed, true, "where it has been shown");
    NEVER(nodes, 1, "on one node");
    NEVER(bytes, 32768, "of few bytes");
    NEVER(block, 1 << 18, "of few blocks");
    call = good;
    call.collective = MCA_COLL_PIPERING_ALLGATHER;
    call.algorithm = MCA_COLL_PIPERING_ROUNDS;
    is(count_shows(&call, &after), 0, "no call does in rounds");
    call = good;
    call.collective = MCA_COLL_PIPERING_REDUCE;
    call.order_matters = true;
    is(count_shows(&call, &after), 0, "no call does whose order matters");
}

/* ---- what a rank keeps ---- */

static double time_of(const rank_t *rank, double beta, double bytes)
{
    const mca_coll_pipering_known_t *known = &rank->setup.known;
    const mca_coll_pipering_cost_t cost = mca_coll_pipering_machine_cost(&known->machine, beta,
                                                                         known->nodes.load);

    return mca_coll_pipering_stream_time(&cost.net, 1, bytes);
}

static void test_notes(void)
{
    ompi_communicator_t *comm = posing_open(1, 1);
    const mca_coll_pipering_machine_t machine
        = mca_coll_pipering_machine_usual(MCA_COLL_PIPERING_TRANSPORT_TCP, 800, 80000);
    rank_t *rank = ranks;

    open_ranks(comm, &machine, 2);
    mca_coll_pipering_stream_note(&rank->context, 0, 65536);
    is(rank->context.seen, 0, "a rank that saw nothing keeps nothing");
    mca_coll_pipering_stream_note(&rank->context, time_of(rank, 80, 65536), 65536);
    is(rank->context.seen, 80000, "the rate that explains what it saw");
    mca_coll_pipering_stream_note(&rank->context, time_of(rank, 8, 65536), 65536);
    is(rank->context.seen, 8000, "in the next call a faster one");
    mca_coll_pipering_stream_note(&rank->context, time_of(rank, 40, 65536), 65536);
    mca_coll_pipering_stream_note(&rank->context, 0, 65536);
    is(rank->context.seen, 8000, "lateness only lengthens");
    mca_coll_pipering_stream_note(&rank->context, time_of(rank, 0.8, 65536), 65536);
    is(rank->context.seen, 800, "the bound, if that explains it");
    (void) posing_close(comm);
}

/* ---- what ranks agree on ---- */

static size_t agreed_bytes;

/* A rank begins when its first turn comes. */
static bool agree(int r)
{
    rank_t *rank = &ranks[r];

    if (!rank->begun) {
        mca_coll_pipering_sighting_begin(rank->sighting, &rank->context);
        rank->begun = true;
    }
    return mca_coll_pipering_sighting_end(&rank->context, rank->sighting, agreed_bytes,
                                          &rank->error);
}

static bool agree_all(ompi_communicator_t *comm, size_t bytes)
{
    agreed_bytes = bytes;
    for (int r = 0; r < comm->size; r++) {
        ranks[r].sighting = mca_coll_pipering_sighting_new(&ranks[r].context);
        if (NULL == ranks[r].sighting) {
            return false;
        }
    }
    const bool over = posing_play(comm, agree);
    for (int r = 0; r < comm->size; r++) {
        mca_coll_pipering_sighting_free(ranks[r].sighting);
    }
    return over;
}

/* How many of the ranks that saw anything saw less than a rate, and no more. */
static void count_seen(int p, uint32_t beta, int *saw, int *less, int *up_to)
{
    *saw = *less = *up_to = 0;
    for (int r = 0; r < p; r++) {
        const uint32_t seen = ranks[r].context.seen;
        *saw += 0 < seen;
        *less += 0 < seen && seen < beta;
        *up_to += 0 < seen && seen <= beta;
    }
}

static bool is_frozen(const rank_t *rank, const mca_coll_pipering_machine_t *before, uint32_t beta)
{
    mca_coll_pipering_machine_t wanted = *before;

    wanted.value[MCA_COLL_PIPERING_NET_BETA] = beta / 1000.0;
    wanted.value[MCA_COLL_PIPERING_NET_BETA_MOST] = beta / 1000.0;
    return rank->context.streamed && 1 == rank->drops
           && 0 == memcmp(&wanted, &rank->context.machine, sizeof(wanted))
           && mca_coll_pipering_machine_hash(&wanted)
                  == mca_coll_pipering_machine_hash(&rank->context.machine)
           && 0 == memcmp(before, &rank->setup.known.machine, sizeof(wanted))
           && !mca_coll_pipering_machine_doubted(&rank->context.machine);
}

/* What the process knew of larger calls stays. */
static bool is_told(const rank_t *rank, size_t before, uint32_t beta, size_t bytes)
{
    const mca_coll_pipering_frozen_t *frozen = &rank->process.frozen;

    return before > bytes ? before == frozen->bytes && 1 == frozen->beta
                          : bytes == frozen->bytes && beta == frozen->beta;
}

typedef struct findings_t {
    tap_tally_t same, median, told, nothing;
} findings_t;

static void try_agreement(findings_t *found, int p, int blind)
{
    static const double rates[] = {0.8, 1.6, 3.2, 4, 8, 16, 20, 32, 40, 80};
    const double bytes = 65536, beta = rates[tap_below(10)];
    const size_t total = (size_t) tap_between(65536, 1 << 20);
    const size_t before = tap_once_in(2) ? 0 : (size_t) tap_between(65536, 1 << 20);
    ompi_communicator_t *comm = posing_open(p, tap_random());
    const mca_coll_pipering_machine_t machine
        = mca_coll_pipering_machine_usual(MCA_COLL_PIPERING_TRANSPORT_TCP, 800, 80000);
    int saw, less, up_to;

    open_ranks(comm, &machine, p);
    for (int r = 0; r < p; r++) {
        ranks[r].process.frozen = (mca_coll_pipering_frozen_t){.bytes = before, .beta = 1};
        for (int i = 0; i < 2 && (int) tap_below(100) >= blind; i++) {
            mca_coll_pipering_stream_note(&ranks[r].context,
                                          time_of(&ranks[r], beta, bytes)
                                              * (tap_once_in(3) ? tap_between(1, 20) : 1),
                                          bytes);
        }
    }
    const bool over = agree_all(comm, total);
    const uint32_t frozen = (uint32_t) (1000 * ranks[0].context.machine.value[1] + 0.5);
    count_seen(p, frozen, &saw, &less, &up_to);
    for (int r = 0; r < p; r++) {
        const rank_t *rank = &ranks[r];
        if (0 == saw) {
            tap_try(&found->nothing,
                    over && OMPI_SUCCESS == rank->error && !rank->context.streamed
                        && 0 == rank->drops && before == rank->process.frozen.bytes,
                    "%d ranks", p);
            continue;
        }
        tap_try(&found->same,
                over && OMPI_SUCCESS == rank->error && is_frozen(rank, &machine, frozen),
                "rank %d of %d, %d saw it: %u ps", r, p, saw, frozen);
        tap_try(&found->told, is_told(rank, before, frozen, total), "rank %d of %d: %zu bytes", r,
                p, (size_t) rank->process.frozen.bytes);
    }
    if (0 < saw && 64 >= p) {
        tap_try(&found->median, 2 * less <= saw && saw <= 2 * up_to && less < up_to,
                "%d ranks, %d saw it, %d less than %u ps, %d so much or less", p, saw, less, frozen,
                up_to);
    }
    (void) posing_close(comm);
}

static void test_agreements(void)
{
    findings_t found = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};

    for (int i = 0; i < 600; i++) {
        try_agreement(&found, tap_once_in(10) ? tap_between(65, MOST) : tap_between(1, 64),
                      0 == i % 4 ? 90 : 10);
        try_agreement(&found, tap_between(1, 8), 100);
    }
    tally_ok(&found.same, 5000, "all ranks freeze the same machine, and drop their plans once");
    tally_ok(&found.median, 400, "half of those who saw it saw no more, and half no less");
    tally_ok(&found.told, 5000, "the process knows it, if it knows of no larger call");
    tally_ok(&found.nothing, 1000, "where nobody saw anything nothing changes");
}

int main(void)
{
    tap_start();
    alarm(300);
    test_calls();
    test_notes();
    test_agreements();
    return tap_end();
}
