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
 * Setups of communicators by the cards of their ranks, which are posed: each rank comes to the same
 * machine, nodes and modules below, whatever file and adapters ranks have; where ranks differ, or
 * some lack the component or cannot be read, no rank takes calls, and one sentence says so.
 */

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "ompi/mca/coll/pipering/decide/coll_pipering_adapters.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_decide.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_setup.h"
#include "ompi/mca/common/colltools/common_colltools_nodes.h"
#include "posing_pml.h"
#include "tap.h"

#define MOST 70 /* ranks */
#define FOLDER "/tmp/pipering-setup-XXXXXX"

typedef mca_coll_pipering_machine_t machine_t;
typedef mca_common_colltools_facts_t facts_t;

typedef struct rank_t {
    mca_coll_pipering_context_t context;
    mca_coll_pipering_process_t process;
    facts_t facts;
    bool has_card;
} rank_t;

static rank_t ranks[MOST];
static int found;            /* what comes of looking for cards */
static bool rdma;            /* adapters that move bytes by themselves are used */
static bool wired;           /* there is a mesh */
static bool together;        /* all ranks are on one node, ... */
static uint32_t boarded;     /* ... what its board says, ... */
static bool several;         /* ... and of several jobs */
static int freed;            /* what was known of communicators, with its plans */

/* ---- what is posed ---- */

mca_common_colltools_difference_t
mca_common_colltools_nodes_compare(ompi_communicator_t *comm, mca_common_colltools_owner_t owner,
                                   const facts_t *const *of)
{
    bool arch = false, variables = false;

    for (int r = 0; r < comm->size; r++) {
        if (NULL == of[r] || 0 == of[r]->variables[owner]) {
            return MCA_COMMON_COLLTOOLS_MISSING;
        }
        arch |= of[r]->arch != of[0]->arch;
        variables |= of[r]->variables[owner] != of[0]->variables[owner];
    }
    return arch        ? MCA_COMMON_COLLTOOLS_UNLIKE
           : variables ? MCA_COMMON_COLLTOOLS_UNEQUAL
                       : MCA_COMMON_COLLTOOLS_ALIKE;
}

int mca_coll_pipering_ways_find(mca_coll_pipering_context_t *context,
                                mca_coll_pipering_ways_t **ways)
{
    (void) context;
    *ways = wired ? tap_memory(1) : NULL;
    return OMPI_SUCCESS;
}

void mca_coll_pipering_ways_free(mca_coll_pipering_ways_t *ways)
{
    free(ways);
}

void mca_coll_pipering_plans_drop(mca_coll_pipering_setup_t *setup)
{
    freed += NULL == setup->plan[0];
}

/* Two ranks a node; a leaf switch for each. */
void mca_common_colltools_nodes_fill(ompi_communicator_t *comm, int *node_of, int *leaf_of)
{
    for (int r = 0; r < comm->size; r++) {
        node_of[r] = r / 2 * 2;
        if (NULL != leaf_of) {
            leaf_of[r] = node_of[r];
        }
    }
}

/* Ranks of one kind share what is kept of them. */
int mca_common_colltools_nodes_find(ompi_communicator_t *comm, const char *owner, const facts_t **of)
{
    (void) owner;
    for (int r = 0; r < comm->size; r++) {
        const bool same = 0 < r && ranks[r].has_card && ranks[r - 1].has_card
                          && 0 == memcmp(&ranks[r].facts, &ranks[r - 1].facts, sizeof(facts_t));
        of[r] = !ranks[r].has_card ? NULL : same ? of[r - 1] : &ranks[r].facts;
    }
    return found;
}

mca_common_colltools_nodes_t mca_common_colltools_nodes_count(ompi_communicator_t *comm)
{
    return (mca_common_colltools_nodes_t){.count = together ? 1 : comm->size, .ppn = 1, .load = 3};
}

bool mca_coll_pipering_pulls_ready(ompi_communicator_t *comm, const int *node_of, uint32_t least)
{
    (void) comm, (void) node_of;
    return least <= boarded;
}

uint32_t mca_coll_pipering_pulls_joined(void)
{
    return boarded;
}

bool mca_common_colltools_is_one_job(ompi_communicator_t *comm)
{
    (void) comm;
    return !several;
}

void mca_coll_pipering_adapters_ask(facts_t *facts)
{
    facts->tcp = (mca_common_colltools_links_t){.beta = 800, .bound = 1};
}

bool mca_coll_pipering_adapters_are_used(void)
{
    return rdma;
}

bool mca_coll_pipering_adapters_are_btls(void)
{
    return !rdma;
}

/*
 * As the real ones do: the slowest link counts, none is slowest, a bound of one rank is one of all.
 */
void mca_coll_pipering_links_merge(mca_common_colltools_links_t *links,
                                   const mca_common_colltools_links_t *other)
{
    links->beta = 0 == links->beta || 0 == other->beta ? 0
                  : other->beta > links->beta          ? other->beta
                                                       : links->beta;
    links->bound |= other->bound;
}

machine_t mca_coll_pipering_links_machine(const mca_common_colltools_links_t *links,
                                          mca_coll_pipering_transport_t transport, uint32_t eager)
{
    machine_t machine = mca_coll_pipering_machine_usual(transport, links->beta,
                                                        links->bound ? 80000 : links->beta);

    machine.value[MCA_COLL_PIPERING_NET_EAGER] = eager;
    return machine;
}

/* ---- runs ---- */

static void open_ranks(ompi_communicator_t *comm)
{
    for (int r = 0; r < comm->size; r++) {
        memset(&ranks[r], 0, sizeof(ranks[r]));
        ranks[r].context.comm = &comm[r];
        ranks[r].context.process = &ranks[r].process;
        ranks[r].context.below = MCA_COLL_PIPERING_BELOW_TUNED;
        ranks[r].facts = (facts_t){.tcp = {.beta = 800, .bound = 1},
                                   .processors = MCA_COMMON_COLLTOOLS_PROCESSOR,
                                   .variables = {1}};
        ranks[r].has_card = true;
    }
    posing_told = 0;
    found = OMPI_SUCCESS;
}

/* All ranks set up, in an order of their own; whether all could. */
static bool set_up(ompi_communicator_t *comm)
{
    const int first = tap_between(0, comm->size - 1);
    bool good = true;

    for (int i = 0; i < comm->size; i++) {
        good &= OMPI_SUCCESS == mca_coll_pipering_set_up(&ranks[(first + i) % comm->size].context);
    }
    return good;
}

static void close_ranks(ompi_communicator_t *comm)
{
    for (int r = 0; r < comm->size; r++) {
        mca_coll_pipering_setup_release(ranks[r].context.setup);
        mca_coll_pipering_setup_close(&ranks[r].process);
    }
    (void) posing_close(comm);
}

static bool is_same(const machine_t *a, const machine_t *b)
{
    return 0 == memcmp(a, b, sizeof(*a));
}

/* ---- files ---- */

static char folder[] = FOLDER, file[3][sizeof(FOLDER) + 12];
static const char *const texts[3] = {"net_alpha = 3\nnet_beta = 0.5 # of the fabric\n",
                                     "net_alpha=3 net_beta=0.6 net_beta_most=9",
                                     "net_alpha=3 net_betta=0.6"};
enum { GOOD, OTHER, BAD };

static void write_files(void)
{
    if (NULL == mkdtemp(folder)) {
        tap_bail("no folder for files");
    }
    for (int i = 0; i < 3; i++) {
        (void) snprintf(file[i], sizeof(file[i]), "%s/%d", folder, i);
        FILE *out = fopen(file[i], "w");
        if (NULL == out || EOF == fputs(texts[i], out) || 0 != fclose(out)) {
            tap_bail("%s cannot be written", file[i]);
        }
    }
}

static void remove_files(void)
{
    for (int i = 0; i < 3; i++) {
        (void) unlink(file[i]);
    }
    (void) rmdir(folder);
}

/* ---- what becomes of it ---- */

static void test_links(void)
{
    tap_tally_t links = {0, 0}, rest = {0, 0};

    for (int i = 0; i < 400; i++) {
        const int p = tap_between(1, MOST);
        const bool bound = tap_once_in(2), han = tap_once_in(2), odd = tap_once_in(2);
        const bool switches = tap_once_in(4), all = tap_once_in(2);
        ompi_communicator_t *comm = posing_open(p, tap_random());
        bool far = false, devices = true;

        open_ranks(comm);
        rdma = tap_once_in(2);
        uint32_t eager = UINT32_MAX, slowest = 0, device = 0, doubt = 0;
        for (int r = 0; r < p; r++) {
            facts_t *facts = &ranks[r].facts;
            facts->tcp.beta = 80 * (uint32_t) tap_between(1, 100);
            facts->tcp.bound = bound && (0 == r || tap_once_in(2));
            facts->rdma.beta = all || tap_once_in(p) ? 4 * (uint32_t) tap_between(1, 100) : 0;
            facts->eager = 16 * (uint32_t) tap_between(1, 99);
            facts->leaf = switches ? (uint32_t) tap_between(0, 2) : 7;
            facts->below = odd && p - 1 == r;
            ranks[r].context.below = han ? MCA_COLL_PIPERING_BELOW_HAN
                                         : MCA_COLL_PIPERING_BELOW_TUNED;
            far |= ranks[0].facts.leaf != facts->leaf;
            devices &= 0 < facts->rdma.beta;
            eager = facts->eager < eager ? facts->eager : eager;
            slowest = facts->tcp.beta > slowest ? facts->tcp.beta : slowest;
            device = facts->rdma.beta > device ? facts->rdma.beta : device;
            doubt |= facts->tcp.bound;
        }
        const mca_common_colltools_links_t tcp = {slowest, doubt}, fast = {device, 0};
        const machine_t machine
            = devices && rdma
                  ? mca_coll_pipering_links_machine(&fast, MCA_COLL_PIPERING_TRANSPORT_RDMA, 0)
                  : mca_coll_pipering_links_machine(&tcp, MCA_COLL_PIPERING_TRANSPORT_TCP_SHARED,
                                                    rdma ? 0 : eager);
        const mca_coll_pipering_below_t below = odd && 1 < p ? MCA_COLL_PIPERING_BELOW_ANY
                                                : han        ? MCA_COLL_PIPERING_BELOW_HAN
                                                             : MCA_COLL_PIPERING_BELOW_TUNED;
        const bool good = set_up(comm);
        for (int r = 0; good && r < p; r++) {
            const mca_coll_pipering_setup_t *setup = ranks[r].context.setup;
            tap_try(&links,
                    is_same(&machine, &setup->machine) && MCA_COLL_PIPERING_TAKEN == setup->reason,
                    "rank %d of %d: %g to %g", r, p, setup->machine.value[1],
                    setup->machine.value[2]);
            tap_try(&rest,
                    below == setup->at.below && p == setup->at.nodes && far == (NULL != setup->at.leaf_of)
                        && 3 == setup->at.load,
                    "rank %d of %d: below %d", r, p, (int) setup->at.below);
        }
        tap_try(&links, good, "%d ranks: not set up", p);
        close_ranks(comm);
    }
    tally_ok(&links, 5000, "the slowest links of all count, of adapters that all have and use");
    tally_ok(&rest, 5000, "ranks agree on the modules below, on nodes, and on switches");
}

/* The machine of a rank, all of which have this file. */
static bool is_right(int r, int which)
{
    const machine_t *machine = &ranks[r].context.setup->machine;

    if (BAD == which) {
        return 0.8 == machine->value[MCA_COLL_PIPERING_NET_BETA];
    }
    return 3 == machine->value[MCA_COLL_PIPERING_NET_ALPHA]
           && (GOOD == which ? 0.5 : 0.6) == machine->value[MCA_COLL_PIPERING_NET_BETA]
           && (OTHER == which) == mca_coll_pipering_machine_doubted(machine);
}

/* A file on each rank; of rank `at` another one, or none (-1). */
static void try_files(tap_tally_t *tally, int p, int usual, int at, int other, bool serves)
{
    ompi_communicator_t *comm = posing_open(p, tap_random());

    open_ranks(comm);
    for (int r = 0; r < p; r++) {
        const int which = at == r ? other : usual;
        ranks[r].process.machine = 0 > which ? "" : file[which];
        ranks[r].process.switches = "";
        mca_coll_pipering_setup_open(&ranks[r].process, &ranks[r].facts);
    }
    const bool good = set_up(comm);
    for (int r = 0; r < p; r++) {
        tap_try(tally,
                good
                    && (serves ? MCA_COLL_PIPERING_TAKEN : MCA_COLL_PIPERING_FALLBACK_UNEQUAL)
                           == ranks[r].context.setup->reason
                    && (!serves || is_right(r, usual))
                    && (!serves || BAD == usual) == (0 < posing_told),
                "rank %d of %d, files %d, and %d on rank %d: told %d times", r, p, usual, other, at,
                posing_told);
    }
    close_ranks(comm);
}

static void test_files(void)
{
    tap_tally_t same = {0, 0}, unlike = {0, 0}, bad = {0, 0};

    for (int p = 2; p <= 40; p++) {
        const int at = tap_between(0, p - 1);
        try_files(&same, p, GOOD, at, GOOD, true);
        try_files(&same, p, OTHER, at, OTHER, true);
        try_files(&unlike, p, GOOD, at, OTHER, false);
        try_files(&unlike, p, GOOD, at, -1, false);
        try_files(&unlike, p, -1, at, GOOD, false);
        try_files(&unlike, p, GOOD, at, BAD, false);
        try_files(&bad, p, BAD, at, BAD, true);
    }
    tally_ok(&same, 500, "a file that all ranks have is the machine");
    tally_ok(&unlike, 2000, "where files differ no rank takes calls, and one sentence says so");
    tally_ok(&bad, 500, "where no rank can use its file adapters count, which is said too");
}

/* Ranks of which one is odd: with other variables, data, none of the component, or no card. */
static void test_unlike(void)
{
    static const mca_coll_pipering_reason_t reasons[]
        = {MCA_COLL_PIPERING_FALLBACK_UNEQUAL, MCA_COLL_PIPERING_FALLBACK_UNLIKE,
           MCA_COLL_PIPERING_FALLBACK_MISSING, MCA_COLL_PIPERING_FALLBACK_MISSING};
    tap_tally_t tally = {0, 0}, errors = {0, 0};

    for (int i = 0; i < 160; i++) {
        const int p = tap_between(2, 40);
        ompi_communicator_t *comm = posing_open(p, tap_random());
        open_ranks(comm);
        rank_t *odd = &ranks[tap_below((uint64_t) p)];
        odd->facts.variables[0] = 0 == i % 4 ? 7 : 2 == i % 4 ? 0 : 1;
        odd->facts.arch = 1 == i % 4;
        odd->has_card = 3 != i % 4;
        const bool good = set_up(comm);
        for (int r = 0; r < p; r++) {
            tap_try(&tally,
                    good && reasons[i % 4] == ranks[r].context.setup->reason,
                    "case %d, rank %d of %d", i % 4, r, p);
        }
        close_ranks(comm);

        comm = posing_open(p, tap_random());
        open_ranks(comm);
        found = tap_once_in(2) ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_ERR_NOT_FOUND;
        for (int r = 0; r < p; r++) {
            const int rc = mca_coll_pipering_set_up(&ranks[r].context);
            tap_try(&errors,
                    (OMPI_ERR_OUT_OF_RESOURCE == found ? found : OMPI_ERROR) == rc
                        && NULL == ranks[r].context.setup,
                    "rank %d of %d", r, p);
        }
        close_ranks(comm);
    }
    tally_ok(&tally, 2000, "where one rank differs, or lacks the component, no rank takes calls");
    tally_ok(&errors, 2000, "what cannot be read is an error of the call");
}

/*
 * Ranks pull where all of them are of one job, and on one node with a board; on several, where none
 * says that it cannot read memory there; over other PMLs than ob1 any memory.
 */
static void test_pulls(void)
{
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 400; i++) {
        const int p = tap_between(2, 40);
        ompi_communicator_t *comm = posing_open(p, tap_random());

        open_ranks(comm);
        together = !tap_once_in(4);
        boarded = (uint32_t) tap_below(3);
        several = tap_once_in(4);
        const uint32_t most = (uint32_t) tap_between(1, 2), least = rdma ? 2 : 1;
        const uint32_t lowest = (uint32_t) tap_below(most + 1);
        for (int r = 0; r < p; r++) {
            ranks[r].facts.pulls = most;
        }
        ranks[tap_below((uint64_t) p)].facts.pulls = lowest;
        const bool good = set_up(comm);
        const bool pulls = !several && least <= (together ? boarded : lowest);
        for (int r = 0; r < p; r++) {
            const mca_coll_pipering_situation_t *at = &ranks[r].context.setup->at;
            tap_try(&tally, good && pulls == at->pulls
                                && at->reads == (least <= boarded && !several),
                    "rank %d of %d", r, p);
        }
        close_ranks(comm);
    }
    together = several = false;
    boarded = 0;
    tally_ok(&tally, 2000, "ranks pull where all are of one job, and their nodes have boards");
}

/* ---- what communicators share ---- */

/* A communicator of this process, which is rank `me` of it. */
static mca_coll_pipering_setup_t *known_of(ompi_communicator_t *comm, int me,
                                           mca_coll_pipering_below_t below)
{
    mca_coll_pipering_context_t context = {
        .comm = &comm[me], .process = &ranks[0].process, .below = below};

    return OMPI_SUCCESS == mca_coll_pipering_set_up(&context) ? context.setup : NULL;
}

static void test_shared(void)
{
    ompi_communicator_t *comm = posing_open(6, 1);
    const mca_coll_pipering_below_t han = MCA_COLL_PIPERING_BELOW_HAN;

    open_ranks(comm);
    mca_coll_pipering_setup_t *first = known_of(comm, 1, han), *again = known_of(comm, 1, han);
    ok(NULL != first && first == again, "what is known serves another communicator of the same ranks");
    freed = 0;
    mca_coll_pipering_setup_release(first);
    mca_coll_pipering_setup_release(again);
    again = known_of(comm, 1, han);
    ok(1 == freed && first == again, "and one behind them, whose own goes");
    freed = 0;

    mca_coll_pipering_setup_t *rank = known_of(comm, 2, han);
    mca_coll_pipering_setup_t *below = known_of(comm, 1, MCA_COLL_PIPERING_BELOW_TUNED);
    ok(first != rank && first != below, "not another rank, nor where other modules are below");
    wired = true;
    mca_coll_pipering_setup_t *mesh = known_of(comm, 1, han), *other = known_of(comm, 1, han);
    wired = false;
    ok(mesh != first && mesh != other, "a mesh is each communicator's own");
    mca_coll_pipering_setup_release(rank);
    mca_coll_pipering_setup_release(below);
    mca_coll_pipering_setup_release(mesh);
    mca_coll_pipering_setup_release(other);
    ok(2 == freed, "which goes with it");

    freed = 0;
    for (int i = 0; i < MCA_COLL_PIPERING_KEPT; i++) {
        mca_coll_pipering_setup_release(known_of(comm, 3, (mca_coll_pipering_below_t) i));
    }
    ok(2 == freed, "the oldest are no longer kept, but for what a communicator uses");
    mca_coll_pipering_setup_release(first);
    ok(3 == freed, "that goes with the last of these");
    mca_coll_pipering_setup_close(&ranks[0].process);
    ok(3 + MCA_COLL_PIPERING_KEPT == freed, "the process lets go of what it keeps");
    (void) posing_close(comm);
}

int main(void)
{
    tap_start();
    alarm(300);
    test_shared();
    write_files();
    test_links();
    test_files();
    test_unlike();
    test_pulls();
    remove_files();
    return tap_end();
}
