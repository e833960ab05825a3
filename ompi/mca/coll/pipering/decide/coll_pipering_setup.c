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
 * Setup of a communicator: its ranks compare the cards of all of them.
 *
 *     missing          a card, or this component on it: no call is served, which a sentence says
 *     data             representations differ: likewise
 *     variables        differ: likewise; rank 0 names them, and the ranks
 *     machine          files differ: likewise; equal ones, or none: the machine of the file, or the
 *                      usual one for the slowest links of all ranks
 *     mesh             files differ: there is none
 *     modules below    what decides on them differs: any may be below
 *
 * Which adapters carry messages, the PML says, which ranks have alike; which modules are below,
 * this rank's own communicator, where all that decides on them is equal.
 */

#include "coll_pipering_setup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll_pipering_adapters.h"
#include "coll_pipering_decide.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_switches.h"
#include "ompi/mca/coll/pipering/pulls/coll_pipering_pulls.h"
#include "ompi/mca/common/colltools/common_colltools_file.h"
#include "ompi/mca/common/colltools/common_colltools_help.h"
#include "opal/util/output.h"

typedef mca_common_colltools_facts_t facts_t;

/* ---- what this process says of itself ---- */

static void refuse(const char *path, const char *said)
{
    mca_common_colltools_show_help("help-coll-pipering.txt", "machine", path, said);
}

static uint32_t find_leaf(const char *switches)
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
    free(text);
    return leaf;
}

/* The machine of a file, for a transport; false: `said` holds what is wrong. */
static bool read_machine(const char *text, mca_coll_pipering_transport_t transport,
                         mca_coll_pipering_machine_t *machine, bool *empty,
                         char said[MCA_COLL_PIPERING_MACHINE_SAID])
{
    *machine = mca_coll_pipering_machine_usual(transport, 0, 0);
    machine->value[MCA_COLL_PIPERING_NET_ALPHA] = machine->value[MCA_COLL_PIPERING_NET_COPY] = 0;
    const uint32_t unread = mca_coll_pipering_machine_hash(machine);
    if (!mca_coll_pipering_machine_read(machine, text, said)) {
        return false;
    }
    *empty = unread == mca_coll_pipering_machine_hash(machine);
    if (0 == machine->value[MCA_COLL_PIPERING_NET_ALPHA]
        || 0 == machine->value[MCA_COLL_PIPERING_NET_BETA]) {
        (void) strcpy(said, "net_alpha and net_beta must be there, above 0");
        return false;
    }
    return true;
}

/* Reads the file that describes the machine; its hash, 0: it says nothing that can be used. */
static uint32_t read_machines(mca_coll_pipering_process_t *process)
{
    const char *path = process->machine, *why;
    char said[MCA_COLL_PIPERING_MACHINE_SAID];
    bool good = true, empty = false;

    if (NULL == path || '\0' == *path) {
        return 0;
    }
    char *text = mca_common_colltools_read_text(path, &why);
    if (NULL == text) {
        refuse(path, why);
        return 0;
    }
    for (int i = 0; good && i < MCA_COLL_PIPERING_TRANSPORTS; ++i) {
        good = read_machine(text, (mca_coll_pipering_transport_t) i, &process->given[i], &empty,
                            said);
    }
    free(text);
    if (!good && !(empty && 0 == strcmp(MCA_COLL_PIPERING_SITE_MACHINE, path))) {
        refuse(path, said);
    }
    return good ? mca_coll_pipering_machine_hash(&process->given[0]) : 0;
}

/*
 * A hash of the file that describes the mesh; 0: there is none. What is wrong with it is said
 * later.
 */
static uint32_t read_mesh(const char *mesh)
{
    const char *why;
    char *text = NULL != mesh && '@' == mesh[0] ? mca_common_colltools_read_text(mesh + 1, &why)
                                                : NULL;
    const uint32_t hash
        = NULL == text ? 0
                       : mca_common_colltools_hash(MCA_COMMON_COLLTOOLS_HASH, text, strlen(text))
                             | 1;

    free(text);
    return hash;
}

void mca_coll_pipering_setup_open(mca_coll_pipering_process_t *process, facts_t *own)
{
    mca_coll_pipering_adapters_ask(own);
    own->leaf = find_leaf(process->switches);
    own->machine = read_machines(process);
    own->mesh = read_mesh(process->mesh);
    own->pulls = mca_coll_pipering_pulls_joined();
    if (0 < process->processors) {
        const double processors = process->processors * (double) MCA_COMMON_COLLTOOLS_PROCESSOR;
        own->processors = 1 > processors ? 1 : (uint64_t) processors;
    }
}

/* ---- what ranks say ---- */

/* Where ranks differ, and the slowest links of all. */
typedef struct {
    bool machine, mesh, below, leaf;
    uint32_t pulls; /* what ranks of all nodes can read of memory of others there */
    mca_common_colltools_links_t tcp, rdma;
    uint32_t eager;
} found_t;

static void add_facts(found_t *found, const facts_t *first, const facts_t *its)
{
    found->machine |= first->machine != its->machine;
    found->mesh |= first->mesh != its->mesh;
    found->below |= first->below != its->below;
    found->leaf |= first->leaf != its->leaf;
    found->pulls = found->pulls < its->pulls ? found->pulls : its->pulls;
    found->eager = found->eager < its->eager ? found->eager : its->eager;
    mca_coll_pipering_links_merge(&found->tcp, &its->tcp);
    mca_coll_pipering_links_merge(&found->rdma, &its->rdma);
}

static found_t find_all(const facts_t *const *of, int p)
{
    found_t found = {.pulls = of[0]->pulls,
                     .tcp = of[0]->tcp,
                     .rdma = of[0]->rdma,
                     .eager = of[0]->eager};

    for (int r = 1; r < p; ++r) {
        if (of[r] != of[r - 1]) {
            add_facts(&found, of[0], of[r]);
        }
    }
    return found;
}

/* Tells users, once a job, that something differs between ranks, and what becomes of it. */
static void complain(const mca_coll_pipering_context_t *context, const char *topic)
{
    if (0 == ompi_comm_rank(context->comm)) {
        mca_common_colltools_show_help("help-coll-pipering.txt", topic, context->comm->c_name);
    }
}

static const mca_coll_pipering_reason_t reasons[]
    = {[MCA_COMMON_COLLTOOLS_ALIKE] = MCA_COLL_PIPERING_TAKEN,
       [MCA_COMMON_COLLTOOLS_MISSING] = MCA_COLL_PIPERING_FALLBACK_MISSING,
       [MCA_COMMON_COLLTOOLS_UNLIKE] = MCA_COLL_PIPERING_FALLBACK_UNLIKE,
       [MCA_COMMON_COLLTOOLS_UNEQUAL] = MCA_COLL_PIPERING_FALLBACK_UNEQUAL};

/* ---- the machine ---- */

static const char *const below_names[] = {[MCA_COLL_PIPERING_BELOW_ANY] = "unknown",
                                          [MCA_COLL_PIPERING_BELOW_TUNED] = "tuned",
                                          [MCA_COLL_PIPERING_BELOW_HAN] = "han",
                                          [MCA_COLL_PIPERING_BELOW_TUNED_6] = "tuned-6.0",
                                          [MCA_COLL_PIPERING_BELOW_HAN_6] = "han-6.0"};

/* Prints the machine as a line that can be pasted into a file, if a verbose line is wanted. */
static void report_machine(const mca_coll_pipering_context_t *context,
                           const mca_coll_pipering_setup_t *setup, const char *source)
{
    char text[2048];

    if (mca_coll_pipering_is_verbose(context->process, context->comm)) {
        mca_coll_pipering_machine_write(&setup->machine, text, sizeof(text));
        opal_output(context->process->output, "coll/pipering: machine of %s: %s # by %s; Open MPI "
                    MCA_COMMON_COLLTOOLS_RELEASE ", modules below: %s", context->comm->c_name, text,
                    source, below_names[setup->at.below]);
    }
}

static void set_machine(const mca_coll_pipering_context_t *context,
                        mca_coll_pipering_setup_t *setup, const found_t *found, bool given)
{
    const bool rdma = 0 < found->rdma.beta && mca_coll_pipering_adapters_are_used();
    const mca_coll_pipering_transport_t transport
        = rdma                     ? MCA_COLL_PIPERING_TRANSPORT_RDMA
          : 1 < setup->at.load ? MCA_COLL_PIPERING_TRANSPORT_TCP_SHARED
                                   : MCA_COLL_PIPERING_TRANSPORT_TCP;
    const uint32_t eager = !rdma && mca_coll_pipering_adapters_are_btls() ? found->eager : 0;

    setup->machine = given ? context->process->given[transport]
                           : mca_coll_pipering_links_machine(rdma ? &found->rdma : &found->tcp,
                                                             transport, eager);
    report_machine(context, setup, given ? "coll_pipering_machine" : "what adapters say");
}

/* ---- setting up ---- */

static int fill(mca_coll_pipering_context_t *context, mca_coll_pipering_setup_t *setup,
                const facts_t **of)
{
    const int ranks = ompi_comm_size(context->comm);
    int rc = mca_common_colltools_nodes_find(context->comm, "pipering", of);

    if (OMPI_SUCCESS != rc) {
        return OMPI_ERR_OUT_OF_RESOURCE == rc ? rc : OMPI_ERROR;
    }
    setup->reason = reasons[mca_common_colltools_nodes_compare(
        context->comm, MCA_COMMON_COLLTOOLS_PIPERING, of)];
    if (MCA_COLL_PIPERING_TAKEN != setup->reason) {
        return OMPI_SUCCESS;
    }
    const found_t found = find_all(of, ranks);
    if (found.machine) {
        complain(context, "machine-unlike");
        setup->reason = MCA_COLL_PIPERING_FALLBACK_UNEQUAL;
        return OMPI_SUCCESS;
    }
    setup->places = malloc((found.leaf ? 2 : 1) * (size_t) ranks * sizeof(int));
    if (NULL == setup->places) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    int *leaf_of = found.leaf ? setup->places + ranks : NULL;
    const mca_common_colltools_nodes_t nodes = mca_common_colltools_nodes_count(context->comm);
    mca_common_colltools_nodes_fill(context->comm, setup->places, leaf_of);
    const bool one_job = mca_common_colltools_is_one_job(context->comm);
    /* other PMLs take memory of a device as it is */
    const uint32_t least = mca_coll_pipering_adapters_are_btls()
                               ? MCA_COMMON_COLLTOOLS_PULLS_STAGED
                               : MCA_COMMON_COLLTOOLS_PULLS_ANY;
    const bool reads = one_job
                       && mca_coll_pipering_pulls_ready(context->comm, setup->places, least);
    setup->at = (mca_coll_pipering_situation_t){
        .ranks = ranks,
        .me = ompi_comm_rank(context->comm),
        .nodes = nodes.count,
        .ppn = nodes.ppn,
        .load = nodes.load,
        .node_of = setup->places,
        .leaf_of = leaf_of,
        .pulls = 1 == nodes.count ? reads : one_job && least <= found.pulls,
        .reads = reads,
        .below = found.below ? MCA_COLL_PIPERING_BELOW_ANY : context->below,
        .machine = &setup->machine};
    set_machine(context, setup, &found, 0 < of[0]->machine);
    if (found.mesh) {
        complain(context, "mesh-unlike");
    } else {
        rc = mca_coll_pipering_ways_find(context, &setup->ways);
        setup->at.ways = setup->ways;
    }
    return rc;
}

static bool same_ranks(const int *a, const int *b, int ranks)
{
    return NULL == a || NULL == b ? a == b : 0 == memcmp(a, b, (size_t) ranks * sizeof(int));
}

/* Plans of both are the same. */
static bool is_alike(const mca_coll_pipering_situation_t *a, const mca_coll_pipering_situation_t *b)
{
    return a->ranks == b->ranks && a->me == b->me && a->below == b->below && a->nodes == b->nodes
           && a->ppn == b->ppn && a->load == b->load && a->pulls == b->pulls
           && a->reads == b->reads
           && 0 == memcmp(a->machine, b->machine, sizeof(*a->machine))
           && same_ranks(a->node_of, b->node_of, a->ranks)
           && same_ranks(a->leaf_of, b->leaf_of, a->ranks);
}

/* What is kept already of other communicators, in place of the same; else it is kept. */
static mca_coll_pipering_setup_t *keep(mca_coll_pipering_process_t *process,
                                       mca_coll_pipering_setup_t *setup)
{
    mca_coll_pipering_setup_t *same = NULL, *other = NULL;

    if (MCA_COLL_PIPERING_TAKEN != setup->reason || NULL != setup->ways) {
        return setup;
    }
    OPAL_THREAD_LOCK(&process->lock);
    for (int i = 0; i < MCA_COLL_PIPERING_KEPT && NULL == same; ++i) {
        same = NULL != process->kept[i] && is_alike(&process->kept[i]->at, &setup->at)
                   ? process->kept[i]
                   : NULL;
    }
    if (NULL != same) {
        (void) __atomic_add_fetch(&same->users, 1, __ATOMIC_RELAXED);
        other = setup;
    } else {
        other = process->kept[process->oldest];
        process->kept[process->oldest] = same = setup;
        process->oldest = (process->oldest + 1) % MCA_COLL_PIPERING_KEPT;
        ++setup->users;
    }
    OPAL_THREAD_UNLOCK(&process->lock);
    mca_coll_pipering_setup_release(other);
    return same;
}

static mca_coll_pipering_setup_t *setup_new(void)
{
    mca_coll_pipering_setup_t *setup = calloc(1, sizeof(*setup));

    if (NULL != setup) {
        setup->users = 1;
        OBJ_CONSTRUCT(&setup->lock, opal_mutex_t);
    }
    return setup;
}

static int make(mca_coll_pipering_context_t *context)
{
    mca_coll_pipering_setup_t *setup = setup_new();
    const facts_t **of = malloc((size_t) ompi_comm_size(context->comm) * sizeof(*of));
    const int rc = NULL == setup || NULL == of ? OMPI_ERR_OUT_OF_RESOURCE
                                               : fill(context, setup, of);

    free(of);
    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_setup_release(setup);
    } else {
        /* pairs with the acquire below: threads that see it see all of it */
        __atomic_store_n(&context->setup, keep(context->process, setup), __ATOMIC_RELEASE);
    }
    return rc;
}

int mca_coll_pipering_set_up(mca_coll_pipering_context_t *context)
{
    int rc = OMPI_SUCCESS;

    if (NULL != __atomic_load_n(&context->setup, __ATOMIC_ACQUIRE)) {
        return OMPI_SUCCESS;
    }
    OPAL_THREAD_LOCK(&context->lock);
    if (NULL == context->setup) {
        rc = make(context);
    }
    OPAL_THREAD_UNLOCK(&context->lock);
    return rc;
}

void mca_coll_pipering_setup_release(mca_coll_pipering_setup_t *setup)
{
    if (NULL != setup && 0 == __atomic_sub_fetch(&setup->users, 1, __ATOMIC_ACQ_REL)) {
        mca_coll_pipering_plans_drop(setup);
        mca_coll_pipering_ways_free(setup->ways);
        OBJ_DESTRUCT(&setup->lock);
        free(setup->places);
        free(setup);
    }
}

void mca_coll_pipering_setup_close(mca_coll_pipering_process_t *process)
{
    for (int i = 0; i < MCA_COLL_PIPERING_KEPT; ++i) {
        mca_coll_pipering_setup_release(process->kept[i]);
        process->kept[i] = NULL;
    }
}
