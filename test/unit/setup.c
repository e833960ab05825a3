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
 * Setups, with several ranks in one process (posing_pml.h): in any order of events ranks agree on
 * one machine, whatever each of them knows by a file and by its adapters; on the modules below; on what differs. Nodes and adapters are posed.
 */

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "ompi/mca/coll/pipering/decide/coll_pipering_setup.h"
#include "ompi/mca/common/colltools/common_colltools_nodes.h"
#include "posing_pml.h"
#include "tap.h"

#define MOST 70 /* ranks */
#define FOLDER "/tmp/pipering-setup-XXXXXX"

typedef mca_coll_pipering_machine_t machine_t;

typedef struct rank_t {
    mca_coll_pipering_context_t context;
    mca_coll_pipering_process_t process;
    mca_coll_pipering_word_t word;
    bool knows; /* the nodes of all ranks */
    int noted;  /* nodes that it has been told */
    double load;
    uint32_t variables;
    uint32_t leaf; /* of its switch */
} rank_t;

static rank_t ranks[MOST];
static rank_t *running;
static int compared; /* reports about variables */

/* ---- what is posed ---- */

uint32_t opal_local_arch = 1;

int ompi_coll_base_nbc_reserve_tags(ompi_communicator_t *comm, int count)
{
    (void) comm;
    (void) count;
    return 17;
}

uint32_t mca_common_colltools_equal_hash(const mca_common_colltools_equal_t *equal, int i)
{
    (void) equal;
    (void) i;
    return running->variables;
}

void mca_common_colltools_equal_report(const mca_common_colltools_equal_t *equal, const char *owner,
                                       const char *comm_name, const uint32_t *hashes, int count)
{
    (void) equal;
    (void) owner;
    (void) comm_name;
    (void) hashes;
    (void) count;
    compared++;
}

mca_coll_pipering_ways_t *mca_coll_pipering_ways_find(mca_coll_pipering_context_t *context)
{
    (void) context;
    return NULL;
}

uint32_t mca_coll_pipering_ways_hash(const mca_coll_pipering_ways_t *ways)
{
    (void) ways;
    return 0;
}

void mca_coll_pipering_ways_free(mca_coll_pipering_ways_t *ways)
{
    (void) ways;
}

bool mca_common_colltools_nodes_find(ompi_communicator_t *comm)
{
    return ranks[comm->rank].knows;
}

mca_common_colltools_nodes_t
mca_common_colltools_nodes_count(ompi_communicator_t *comm,
                                 const mca_common_colltools_node_key_t *keys)
{
    (void) keys;
    return (mca_common_colltools_nodes_t){.count = comm->size,
                                          .ppn = 1,
                                          .load = ranks[comm->rank].load,
                                          .hash = 5};
}

mca_common_colltools_node_key_t mca_common_colltools_nodes_mine(void)
{
    return (mca_common_colltools_node_key_t){.name = (uint64_t) (running - ranks) + 100,
                                             .leaf = running->leaf};
}

void mca_common_colltools_nodes_set_leaf(uint32_t leaf)
{
    (void) leaf;
}

int mca_common_colltools_nodes_note(ompi_communicator_t *comm, int rank,
                                    const mca_common_colltools_node_key_t *key)
{
    ranks[comm->rank].noted += (uint64_t) rank + 100 == key->name && ranks[rank].leaf == key->leaf;
    return OMPI_SUCCESS;
}

mca_coll_pipering_word_t mca_coll_pipering_adapters_word(void)
{
    return running->word;
}

/* As the real ones do: the slowest link counts, a bound of one rank is one of all. */
void mca_coll_pipering_word_merge(mca_coll_pipering_word_t *word,
                                  const mca_coll_pipering_word_t *other)
{
    word->beta = other->beta > word->beta ? other->beta : word->beta;
    word->bound |= other->bound;
}

machine_t mca_coll_pipering_word_machine(const mca_coll_pipering_word_t *word)
{
    return mca_coll_pipering_machine_usual(MCA_COLL_PIPERING_TRANSPORT_TCP, word->beta,
                                           word->bound ? 80000 : word->beta);
}

/* ---- runs ---- */

static void open_ranks(ompi_communicator_t *comm)
{
    for (int r = 0; r < comm->size; r++) {
        memset(&ranks[r], 0, sizeof(ranks[r]));
        ranks[r].context.comm = &comm[r];
        ranks[r].context.process = &ranks[r].process;
        ranks[r].context.below = MCA_COLL_PIPERING_BELOW_TUNED;
        ranks[r].word = (mca_coll_pipering_word_t){.beta = 800, .bound = 1};
        ranks[r].process.equal.count = 3;
        ranks[r].knows = true;
        ranks[r].load = 1;
    }
}

/* A rank sets up when its turn comes; what cannot start has no end. */
static bool set_up(int r)
{
    running = &ranks[r];
    mca_coll_pipering_context_t *context = &running->context;

    if (NULL == context->setup) {
        (void) mca_coll_pipering_setup_start(context);
    } else if (!mca_coll_pipering_setup_ready(context->setup)) {
        (void) mca_coll_pipering_setup_progress(context->setup);
    }
    return NULL != context->setup && mca_coll_pipering_setup_ready(context->setup);
}

static void close_ranks(ompi_communicator_t *comm)
{
    for (int r = 0; r < comm->size; r++) {
        mca_coll_pipering_setup_free(ranks[r].context.setup);
    }
    (void) posing_close(comm);
}

static const machine_t *machine_of(int r)
{
    return &mca_coll_pipering_setup_known(ranks[r].context.setup)->machine;
}

static mca_coll_pipering_reason_t judged(int r)
{
    return mca_coll_pipering_setup_judge(ranks[r].context.setup);
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

static void test_words(void)
{
    tap_tally_t word = {0, 0}, rest = {0, 0};

    for (int i = 0; i < 400; i++) {
        const int p = tap_between(1, MOST);
        const bool bound = tap_once_in(2), places = tap_once_in(4);
        ompi_communicator_t *comm = posing_open(p, tap_random());
        mca_coll_pipering_word_t slowest = {.beta = 0, .bound = 0};
        double load = 0;

        open_ranks(comm);
        const bool han = tap_once_in(2), odd = tap_once_in(2), switches = tap_once_in(4);
        bool far = false;
        for (int r = 0; r < p; r++) {
            ranks[r].word.beta = 80 * (uint32_t) tap_between(1, 100);
            ranks[r].word.bound = bound && (0 == r || tap_once_in(2));
            ranks[r].load = tap_between(1, 9) / 2.0;
            ranks[r].leaf = switches ? (uint32_t) tap_between(0, 2) : 7;
            far |= ranks[0].leaf != ranks[r].leaf;
            ranks[r].knows = !places || (p - 1 != r && tap_once_in(2));
            ranks[r].context.below = han && !(odd && p - 1 == r) ? MCA_COLL_PIPERING_BELOW_HAN
                                                                 : MCA_COLL_PIPERING_BELOW_TUNED;
            mca_coll_pipering_word_merge(&slowest, &ranks[r].word);
            load = places ? 0 : fmax(load, ranks[r].load);
        }
        const machine_t machine = mca_coll_pipering_word_machine(&slowest);
        const bool over = posing_play(comm, set_up);
        const mca_coll_pipering_below_t below = han && odd && 1 < p ? MCA_COLL_PIPERING_BELOW_ANY
                                                : han && !odd       ? MCA_COLL_PIPERING_BELOW_HAN
                                                : MCA_COLL_PIPERING_BELOW_TUNED;
        for (int r = 0; over && r < p; r++) {
            const mca_coll_pipering_known_t *known
                = mca_coll_pipering_setup_known(ranks[r].context.setup);
            tap_try(&word, is_same(&machine, machine_of(r)) && MCA_COLL_PIPERING_TAKEN == judged(r),
                    "rank %d of %d: %g to %g", r, p, machine_of(r)->value[1],
                    machine_of(r)->value[2]);
            tap_try(&rest,
                    below == known->below && p == known->nodes.count && far == known->far
                        && (places || far ? p == ranks[r].noted : load == known->nodes.load),
                    "rank %d of %d: below %d, load %g", r, p, (int) known->below,
                    known->nodes.load);
        }
        tap_try(&word, over, "%d ranks: no end", p);
        close_ranks(comm);
    }
    tally_ok(&word, 5000, "the slowest word of all is what adapters say");
    tally_ok(&rest, 5000,
             "ranks agree on the modules below, on nodes that some do not know, and on switches");
}

/* The machine of a rank, all of which have this file. */
static bool is_right(int r, int which)
{
    const double *value = machine_of(r)->value;

    if (BAD == which) {
        return 0.8 == value[MCA_COLL_PIPERING_NET_BETA];
    }
    return 3 == value[MCA_COLL_PIPERING_NET_ALPHA]
           && (GOOD == which ? 0.5 : 0.6) == value[MCA_COLL_PIPERING_NET_BETA]
           && (OTHER == which) == mca_coll_pipering_machine_doubted(machine_of(r));
}

/* A file on each rank; of rank `at` another one, or none (-1). */
static void try_files(tap_tally_t *tally, int p, int usual, int at, int other, bool serves)
{
    ompi_communicator_t *comm = posing_open(p, tap_random());

    open_ranks(comm);
    posing_told = 0;
    for (int r = 0; r < p; r++) {
        const int which = at == r ? other : usual;
        ranks[r].process.machine = 0 > which ? "" : file[which];
    }
    const bool over = posing_play(comm, set_up);
    for (int r = 0; r < p; r++) {
        tap_try(tally,
                over
                    && (serves ? MCA_COLL_PIPERING_TAKEN : MCA_COLL_PIPERING_FALLBACK_UNEQUAL)
                           == judged(r)
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

static void test_variables(void)
{
    tap_tally_t unequal = {0, 0};

    for (int p = 2; p <= 40; p++) {
        ompi_communicator_t *comm = posing_open(p, tap_random());
        open_ranks(comm);
        ranks[tap_below((uint64_t) p)].variables = 7;
        compared = 0;
        const bool over = posing_play(comm, set_up);
        for (int r = 0; r < p; r++) {
            tap_try(&unequal,
                    over && MCA_COLL_PIPERING_FALLBACK_UNEQUAL == judged(r) && 1 == compared,
                    "rank %d of %d", r, p);
        }
        close_ranks(comm);
    }
    tally_ok(&unequal, 500, "where variables differ no rank takes calls, and rank 0 compares them");
}

int main(void)
{
    tap_start();
    alarm(300);
    write_files();
    test_words();
    test_files();
    test_variables();
    remove_files();
    return tap_end();
}
