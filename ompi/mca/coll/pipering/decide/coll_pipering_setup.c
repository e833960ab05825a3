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
 * Setup of a communicator: its ranks agree on all facts that their plans of a call depend on.
 *
 *     join      ranks agree on whether their data representation and their variables are equal,
 *               on the machine, and on whether they see the same nodes and the same mesh
 *     place     if a rank does not know the node of another one, or sees other nodes, or if some are
 *               on different leaf switches, all report their nodes and switches
 *     compare   if variables differ, all report theirs, and rank 0 names the differences
 *
 * The machine is that of a file, if all ranks have the same, or what adapters say.
 *
 * The setup does not block: a nonblocking call progresses it, and later calls on the
 * communicator wait for it. It measures nothing.
 *
 * Cost: ceil(log2 p) messages of some hundred bytes; where PMIx does not know the nodes of all
 * ranks, once in a job as many with 16 p bytes in all. A communicator keeps no memory that grows
 * with p.
 */

#include "coll_pipering_setup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_switches.h"
#include "ompi/mca/common/colltools/common_colltools_file.h"
#include "ompi/mca/common/colltools/common_colltools_nodes.h"
#include "ompi/mca/common/colltools/common_colltools_agree.h"
#include "opal/util/arch.h"
#include "opal/util/output.h"
#include "ompi/mca/common/colltools/common_colltools_help.h"

typedef enum { JOIN, PLACE, COMPARE, READY } stage_t;

/* Ranks of a job up to which looking for all of them takes no time that its start would show. */
#define PREPARED_MOST 4096

/* The least and the most of a value that should be equal. */
typedef struct {
    uint32_t least, most;
} both_t;

/* The value of the join's agreement. */
typedef struct {
    both_t arch, variables, mesh, nodes, given, below, leaf;
    uint32_t lacks; /* 1: some rank does not know all nodes */
    float load;     /* most ranks a processor on a node */
    mca_coll_pipering_word_t word;
} join_t;

struct mca_coll_pipering_setup_t {
    mca_coll_pipering_context_t *context;
    int error; /* OMPI_SUCCESS, or the first error */
    stage_t stage;
    bool alike, equal;
    mca_coll_pipering_known_t known;
    mca_common_colltools_agreement_t agreement;
    join_t *join; /* NULL once the setup is ready */
    void *values; /* [p] values of a collection */
};

/* ---- what this process knows of the machine ---- */

static void refuse(const char *path, const char *said)
{
    mca_common_colltools_show_help("help-coll-pipering.txt", "machine", path, said);
}

void mca_coll_pipering_setup_switches(const char *switches)
{
    char said[MCA_COLL_PIPERING_SWITCHES_SAID], host[256] = "", *text = NULL;
    const char *why;
    uint32_t leaf = mca_coll_pipering_switches_address(getenv("SLURM_TOPOLOGY_ADDR"),
                                                       getenv("SLURM_TOPOLOGY_ADDR_PATTERN"));

    (void) gethostname(host, sizeof(host) - 1);
    if ('@' == switches[0]) {
        text = mca_common_colltools_read_text(switches + 1, &why);
        if (NULL == text) {
            mca_common_colltools_show_help("help-coll-pipering.txt", "switches", switches, why);
        }
    }
    const char *lines = '@' == switches[0] ? text : switches;
    if (NULL != lines && '\0' != *lines
        && !mca_coll_pipering_switches_find(lines, host, &leaf, said)) {
        mca_common_colltools_show_help("help-coll-pipering.txt", "switches", switches, said);
    }
    mca_common_colltools_nodes_set_leaf(leaf);
    free(text);
}

/* The machine of a file; false: it says nothing, or nothing that can be used. */
static bool read_machine(const char *path, const mca_coll_pipering_word_t *word,
                         mca_coll_pipering_machine_t *machine)
{
    char said[MCA_COLL_PIPERING_MACHINE_SAID];
    const char *why;

    if (NULL == path || '\0' == *path) {
        return false;
    }
    char *text = mca_common_colltools_read_text(path, &why);
    if (NULL == text) {
        refuse(path, why);
        return false;
    }
    *machine = mca_coll_pipering_machine_usual((mca_coll_pipering_transport_t) word->transport, 0,
                                               0);
    machine->value[MCA_COLL_PIPERING_NET_ALPHA] = machine->value[MCA_COLL_PIPERING_NET_COPY] = 0;
    const uint32_t unread = mca_coll_pipering_machine_hash(machine);
    const bool good = mca_coll_pipering_machine_read(machine, text, said);
    free(text);
    if (!good) {
        refuse(path, said);
        return false;
    }
    if (unread == mca_coll_pipering_machine_hash(machine)
        && 0 == strcmp(MCA_COLL_PIPERING_SITE_MACHINE, path)) {
        return false;
    }
    if (0 == machine->value[MCA_COLL_PIPERING_NET_ALPHA]
        || 0 == machine->value[MCA_COLL_PIPERING_NET_BETA]) {
        refuse(path, "net_alpha and net_beta must be there, above 0");
        return false;
    }
    return true;
}

/* Once a process: the PML must have been selected. */
static void ask(mca_coll_pipering_process_t *process)
{
    if (!process->asked) {
        process->word = mca_coll_pipering_adapters_word();
        process->given_hash = read_machine(process->machine, &process->word, &process->given)
                                  ? mca_coll_pipering_machine_hash(&process->given)
                                  : 0;
        process->asked = true;
    }
}

/* ---- join ---- */

static both_t both(uint32_t value)
{
    return (both_t){value, value};
}

static void widen(both_t *both, both_t its)
{
    both->least = its.least < both->least ? its.least : both->least;
    both->most = its.most > both->most ? its.most : both->most;
}

static bool are_equal(both_t both)
{
    return both.least == both.most;
}

static void merge_join(void *value, const void *other)
{
    join_t *mine = value;
    const join_t *its = other;

    widen(&mine->arch, its->arch);
    widen(&mine->variables, its->variables);
    widen(&mine->mesh, its->mesh);
    widen(&mine->nodes, its->nodes);
    widen(&mine->given, its->given);
    widen(&mine->below, its->below);
    widen(&mine->leaf, its->leaf);
    mine->lacks |= its->lacks;
    mine->load = fmaxf(mine->load, its->load);
    mca_coll_pipering_word_merge(&mine->word, &its->word);
}

/* Prepares an agreement on values of `size` bytes; false: no memory. */
static bool new_agreement(mca_coll_pipering_setup_t *setup, size_t size)
{
    const mca_common_colltools_caller_t caller = {.owner = "pipering",
                                                  .name = "setup",
                                                  .comm = setup->context->comm};
    const int rc = mca_common_colltools_agreement_init(&setup->agreement, &caller, setup->known.tag,
                                                       size);

    mca_coll_pipering_setup_fail(setup, rc);
    return OMPI_SUCCESS == rc;
}

static void begin_join(mca_coll_pipering_setup_t *setup)
{
    mca_coll_pipering_process_t *process = setup->context->process;
    const bool known = mca_common_colltools_nodes_find(setup->context->comm);

    if (known) {
        setup->known.nodes = mca_common_colltools_nodes_count(setup->context->comm, NULL);
    }
    *setup->join = (join_t){.arch = both(opal_local_arch),
                            .variables = both(mca_common_colltools_equal_hash(
                                &process->equal, process->equal.count)),
                            .mesh = both(mca_coll_pipering_ways_hash(setup->known.ways)),
                            .nodes = both(setup->known.nodes.hash),
                            .below = both((uint32_t) setup->context->below),
                            .leaf = both(mca_common_colltools_nodes_mine().leaf),
                            .lacks = !known,
                            .load = (float) setup->known.nodes.load};
    OPAL_THREAD_LOCK(&process->lock);
    ask(process);
    setup->join->given = both(process->given_hash);
    setup->join->word = process->word;
    OPAL_THREAD_UNLOCK(&process->lock);
    setup->stage = JOIN;
    if (new_agreement(setup, sizeof(join_t))) {
        mca_common_colltools_agreement_prepare(&setup->agreement, merge_join, setup->join);
    }
}

/* The release pairs with the acquire of setup_ready: threads that see READY see all results. */
static void be_ready(mca_coll_pipering_setup_t *setup)
{
    free(setup->join);
    setup->join = NULL;
    __atomic_store_n(&setup->stage, READY, __ATOMIC_RELEASE);
}

/* Begins to collect `size` bytes of each rank; returns this rank's place, NULL: no memory. */
static void *begin_collection(mca_coll_pipering_setup_t *setup, stage_t stage, size_t size)
{
    setup->values = malloc((size_t) ompi_comm_size(setup->context->comm) * size);
    if (NULL == setup->values) {
        mca_coll_pipering_setup_fail(setup, OMPI_ERR_OUT_OF_RESOURCE);
        return NULL;
    }
    if (!new_agreement(setup, size)) {
        return NULL;
    }
    mca_common_colltools_agreement_prepare(&setup->agreement, NULL, setup->values);
    setup->stage = stage;
    return setup->values;
}

static void end_collection(mca_coll_pipering_setup_t *setup)
{
    free(setup->values);
    setup->values = NULL;
}

/* ---- place ---- */

static void begin_place(mca_coll_pipering_setup_t *setup)
{
    mca_common_colltools_node_key_t *key = begin_collection(setup, PLACE, sizeof(*key));

    if (NULL != key) {
        *key = mca_common_colltools_nodes_mine();
    }
}

static void end_place(mca_coll_pipering_setup_t *setup)
{
    const int p = ompi_comm_size(setup->context->comm), me = ompi_comm_rank(setup->context->comm);
    const mca_common_colltools_node_key_t *keys = setup->values;

    for (int i = 0; i < p; ++i) {
        mca_coll_pipering_setup_fail(setup, mca_common_colltools_nodes_note(setup->context->comm,
                                                                            (me + i) % p,
                                                                            &keys[i]));
    }
    if (OMPI_SUCCESS == setup->error) {
        setup->known.nodes = mca_common_colltools_nodes_count(setup->context->comm, keys);
    }
    end_collection(setup);
    if (OMPI_SUCCESS == setup->error) {
        be_ready(setup);
    }
}

/* ---- compare ---- */

static void begin_compare(mca_coll_pipering_setup_t *setup)
{
    const int count = setup->context->process->equal.count;
    uint32_t *hashes = begin_collection(setup, COMPARE, (size_t) count * sizeof(uint32_t));

    for (int i = 0; NULL != hashes && i < count; ++i) {
        hashes[i] = mca_common_colltools_equal_hash(&setup->context->process->equal, i);
    }
}

static void end_compare(mca_coll_pipering_setup_t *setup)
{
    if (0 == ompi_comm_rank(setup->context->comm)) {
        mca_common_colltools_equal_report(&setup->context->process->equal, "pipering",
                                          setup->context->comm->c_name, setup->values,
                                          ompi_comm_size(setup->context->comm));
    }
    end_collection(setup);
    be_ready(setup);
}

/* ---- the stages ---- */

/* Tells users, once a job, that something differs between ranks, and what becomes of it. */
static void complain(const mca_coll_pipering_setup_t *setup, const char *topic)
{
    if (setup->equal && 0 == ompi_comm_rank(setup->context->comm)) {
        mca_common_colltools_show_help("help-coll-pipering.txt", topic,
                                       setup->context->comm->c_name);
    }
}

/* A mesh that some ranks see otherwise is none. */
static void drop_mesh(mca_coll_pipering_setup_t *setup)
{
    mca_coll_pipering_ways_free(setup->known.ways);
    setup->known.ways = NULL;
    complain(setup, "mesh-unlike");
}

static void set_machine(mca_coll_pipering_setup_t *setup, const join_t *join)
{
    const bool given = 0 < join->given.most && are_equal(join->given);

    setup->known.machine = given ? setup->context->process->given
                                 : mca_coll_pipering_word_machine(&join->word);
    mca_coll_pipering_machine_report(setup->context, &setup->known.machine,
                                     given ? "coll_pipering_machine" : "what adapters say");
}

static void end_join(mca_coll_pipering_setup_t *setup)
{
    const join_t join = *setup->join;

    setup->alike = are_equal(join.arch);
    setup->equal = are_equal(join.variables);
    setup->known.far = !are_equal(join.leaf);
    if (setup->equal && !are_equal(join.given)) {
        complain(setup, "machine-unlike");
        setup->equal = false;
        be_ready(setup);
        return;
    }
    setup->known.below = are_equal(join.below) ? (mca_coll_pipering_below_t) join.below.most
                                               : MCA_COLL_PIPERING_BELOW_ANY;
    setup->known.nodes.load = join.load;
    set_machine(setup, &join);
    if (!are_equal(join.mesh)) {
        drop_mesh(setup);
    }
    if (!setup->alike) {
        be_ready(setup);
    } else if (!setup->equal) {
        begin_compare(setup);
    } else if (0 != join.lacks || !are_equal(join.nodes) || setup->known.far) {
        begin_place(setup);
    } else {
        be_ready(setup);
    }
}

int mca_coll_pipering_setup_progress(mca_coll_pipering_setup_t *setup)
{
    const stage_t stage = setup->stage;
    int progress = 0;

    if (READY == stage || OMPI_SUCCESS != setup->error
        || !mca_common_colltools_agreement_move(&setup->agreement, &progress)) {
        return progress;
    }
    mca_coll_pipering_setup_fail(setup, setup->agreement.schedule.error);
    if (OMPI_SUCCESS != setup->error) {
        return progress;
    }
    (void) mca_common_colltools_agreement_fini(&setup->agreement);
    if (JOIN == stage) {
        end_join(setup);
    } else if (PLACE == stage) {
        end_place(setup);
    } else {
        end_compare(setup);
    }
    return 1;
}

void mca_coll_pipering_setup_prepare(mca_coll_pipering_context_t *context)
{
    mca_coll_pipering_process_t *process = context->process;

    OPAL_THREAD_LOCK(&process->lock);
    ask(process);
    OPAL_THREAD_UNLOCK(&process->lock);
    if (PREPARED_MOST >= ompi_comm_size(context->comm)) {
        (void) mca_common_colltools_nodes_find(context->comm);
    }
}

int mca_coll_pipering_setup_start(mca_coll_pipering_context_t *context)
{
    mca_coll_pipering_setup_t *setup = calloc(1, sizeof(*setup));
    join_t *join = malloc(sizeof(join_t));

    if (NULL == setup || NULL == join) {
        free(join);
        free(setup);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    setup->join = join;
    setup->context = context;
    /* once for a communicator; nonblocking calls set it up beside others */
    setup->known.tag = ompi_coll_base_nbc_reserve_tags(context->comm, 1);
    setup->known.ways = mca_coll_pipering_ways_find(context);
    begin_join(setup);
    if (OMPI_SUCCESS != setup->error) {
        const int rc = setup->error;
        mca_coll_pipering_ways_free(setup->known.ways);
        free(join);
        free(setup);
        return rc;
    }
    context->setup = setup;
    return OMPI_SUCCESS;
}

bool mca_coll_pipering_setup_ready(const mca_coll_pipering_setup_t *setup)
{
    return READY == __atomic_load_n(&setup->stage, __ATOMIC_ACQUIRE);
}

void mca_coll_pipering_setup_fail(mca_coll_pipering_setup_t *setup, int rc)
{
    if (OMPI_SUCCESS == setup->error) {
        setup->error = rc;
    }
}

int mca_coll_pipering_setup_error(const mca_coll_pipering_setup_t *setup)
{
    return setup->error;
}

mca_coll_pipering_reason_t mca_coll_pipering_setup_judge(const mca_coll_pipering_setup_t *setup)
{
    return !setup->alike   ? MCA_COLL_PIPERING_FALLBACK_UNLIKE
           : !setup->equal ? MCA_COLL_PIPERING_FALLBACK_UNEQUAL
                           : MCA_COLL_PIPERING_TAKEN;
}

const mca_coll_pipering_known_t *
mca_coll_pipering_setup_known(const mca_coll_pipering_setup_t *setup)
{
    return &setup->known;
}

/* After a failure messages may still arrive: then their memory is never freed. */
void mca_coll_pipering_setup_free(mca_coll_pipering_setup_t *setup)
{
    if (NULL == setup || mca_common_colltools_agreement_fini(&setup->agreement)) {
        return;
    }
    mca_coll_pipering_ways_free(setup->known.ways);
    free(setup->join);
    free(setup->values);
    free(setup);
}

static const char *const below_names[] = {[MCA_COLL_PIPERING_BELOW_ANY] = "unknown",
                                          [MCA_COLL_PIPERING_BELOW_TUNED] = "tuned",
                                          [MCA_COLL_PIPERING_BELOW_HAN] = "han",
                                          [MCA_COLL_PIPERING_BELOW_TUNED_6] = "tuned-6.0",
                                          [MCA_COLL_PIPERING_BELOW_HAN_6] = "han-6.0"};

void mca_coll_pipering_machine_report(const mca_coll_pipering_context_t *context,
                                      const mca_coll_pipering_machine_t *machine,
                                      const char *source)
{
    char text[2048];

    if (mca_coll_pipering_is_verbose(context->process, context->comm)) {
        mca_coll_pipering_machine_write(machine, text, sizeof(text));
        opal_output(context->process->output, "coll/pipering: machine of %s: %s # by %s; Open MPI "
                    MCA_COMMON_COLLTOOLS_RELEASE ", modules below: %s", context->comm->c_name, text,
                    source, below_names[context->setup->known.below]);
    }
}
