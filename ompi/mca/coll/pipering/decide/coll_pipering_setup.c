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
 *               whether all nodes are known, on the known rates of links, and on whether they see
 *               the same mesh
 *     place     if a rank does not know the node of another one, all report their nodes
 *     compare   if variables differ, all report theirs, and rank 0 names the differences
 *
 * The setup does not block: a nonblocking call progresses it, and later calls on the
 * communicator wait for it. It measures no links; lessons do (coll_pipering_lessons.c).
 *
 * Cost: ceil(log2 p) messages of some hundred bytes; once in a job as many with 16 p bytes
 * in all. A communicator keeps no memory that grows with p.
 */

#include "coll_pipering_setup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coll_pipering_mesh.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_clock.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_nodes.h"
#include "ompi/mca/common/irregular/common_irregular_agree.h"
#include "opal/util/arch.h"
#include "opal/util/output.h"
#include "opal/util/show_help.h"

typedef enum { JOIN, PLACE, COMPARE, READY } stage_t;

/* The value of the join's agreement: least and most of the values that must be equal. */
typedef struct {
    uint32_t arch_least, arch_most;
    uint32_t variables_least, variables_most;
    uint32_t mesh_least, mesh_most;
    uint32_t lacks; /* 1: some rank does not know all nodes */
    float combine;  /* least seconds a byte that is combined */
    mca_coll_pipering_rates_t rates;
} join_t;

struct mca_coll_pipering_setup_t {
    ompi_communicator_t *comm;
    mca_coll_pipering_process_t *process;
    int tag;   /* of its messages, and of lessons */
    int error; /* OMPI_SUCCESS, or the first error */
    stage_t stage;
    bool alike, equal;
    mca_coll_pipering_nodes_t nodes;
    double combine;                  /* seconds a byte that is combined */
    mca_coll_pipering_rates_t rates; /* known before the first lesson on the communicator */
    mca_coll_pipering_ways_t *ways;  /* NULL: the communicator has no mesh */
    mca_common_irregular_agreement_t agreement;
    join_t *join; /* NULL once the setup is ready */
    void *values; /* [p] values of a collection */
};

/* ---- join ---- */

/* Widens a range by another one. */
static void widen(uint32_t *least, uint32_t *most, uint32_t its_least, uint32_t its_most)
{
    *least = its_least < *least ? its_least : *least;
    *most = its_most > *most ? its_most : *most;
}

static void merge_join(void *value, const void *other)
{
    join_t *mine = value;
    const join_t *its = other;

    widen(&mine->arch_least, &mine->arch_most, its->arch_least, its->arch_most);
    widen(&mine->variables_least, &mine->variables_most, its->variables_least,
          its->variables_most);
    widen(&mine->mesh_least, &mine->mesh_most, its->mesh_least, its->mesh_most);
    mine->lacks |= its->lacks;
    mine->combine = its->combine < mine->combine ? its->combine : mine->combine;
    mca_coll_pipering_rates_merge(&mine->rates, &its->rates);
}

static uint32_t hash_of(const mca_coll_pipering_setup_t *setup, int variable)
{
    return mca_common_irregular_equal_hash(&setup->process->equal, variable);
}

/* Prepares an agreement on values of `size` bytes; false: no memory. */
static bool new_agreement(mca_coll_pipering_setup_t *setup, size_t size)
{
    const mca_common_irregular_caller_t caller = {.owner = "pipering",
                                                  .name = "setup",
                                                  .comm = setup->comm};
    const int rc = mca_common_irregular_agreement_init(&setup->agreement, &caller, setup->tag,
                                                       size);

    mca_coll_pipering_setup_fail(setup, rc);
    return OMPI_SUCCESS == rc;
}

static void begin_join(mca_coll_pipering_setup_t *setup)
{
    const uint32_t variables = hash_of(setup, setup->process->equal.count);
    const uint32_t arch = opal_local_arch, mesh = mca_coll_pipering_ways_hash(setup->ways);

    *setup->join = (join_t){.arch_least = arch,
                            .arch_most = arch,
                            .variables_least = variables,
                            .variables_most = variables,
                            .mesh_least = mesh,
                            .mesh_most = mesh,
                            .lacks = !mca_coll_pipering_nodes_known(setup->comm),
                            .combine = (float) mca_coll_pipering_combine_cost()};
    OPAL_THREAD_LOCK(&setup->process->lock);
    setup->join->rates = setup->process->rates;
    OPAL_THREAD_UNLOCK(&setup->process->lock);
    setup->stage = JOIN;
    if (new_agreement(setup, sizeof(join_t))) {
        mca_common_irregular_combine(&setup->agreement, merge_join, setup->join);
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
    setup->values = malloc((size_t) ompi_comm_size(setup->comm) * size);
    if (NULL == setup->values) {
        mca_coll_pipering_setup_fail(setup, OMPI_ERR_OUT_OF_RESOURCE);
        return NULL;
    }
    if (!new_agreement(setup, size)) {
        return NULL;
    }
    mca_common_irregular_collect(&setup->agreement, setup->values);
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
    mca_coll_pipering_node_key_t *key = begin_collection(setup, PLACE, sizeof(*key));

    if (NULL != key) {
        *key = mca_coll_pipering_nodes_mine();
    }
}

static void count_nodes(mca_coll_pipering_setup_t *setup)
{
    setup->nodes = mca_coll_pipering_nodes_count(setup->comm);
    be_ready(setup);
}

static void end_place(mca_coll_pipering_setup_t *setup)
{
    const int p = ompi_comm_size(setup->comm), me = ompi_comm_rank(setup->comm);
    const mca_coll_pipering_node_key_t *keys = setup->values;

    for (int i = 0; i < p; ++i) {
        mca_coll_pipering_setup_fail(setup, mca_coll_pipering_nodes_note(setup->comm,
                                                                         (me + i) % p, &keys[i]));
    }
    end_collection(setup);
    if (OMPI_SUCCESS == setup->error) {
        count_nodes(setup);
    }
}

/* ---- compare ---- */

static void begin_compare(mca_coll_pipering_setup_t *setup)
{
    const int count = setup->process->equal.count;
    uint32_t *hashes = begin_collection(setup, COMPARE, (size_t) count * sizeof(uint32_t));

    for (int i = 0; NULL != hashes && i < count; ++i) {
        hashes[i] = hash_of(setup, i);
    }
}

static void end_compare(mca_coll_pipering_setup_t *setup)
{
    if (0 == ompi_comm_rank(setup->comm)) {
        mca_common_irregular_equal_report(&setup->process->equal, "pipering", setup->comm->c_name,
                                          setup->values, ompi_comm_size(setup->comm));
    }
    end_collection(setup);
    be_ready(setup);
}

/* ---- the stages ---- */

/* A mesh that some ranks see otherwise is none. */
static void drop_mesh(mca_coll_pipering_setup_t *setup)
{
    mca_coll_pipering_ways_free(setup->ways);
    setup->ways = NULL;
    if (setup->equal && 0 == ompi_comm_rank(setup->comm)) {
        opal_show_help("help-coll-pipering.txt", "mesh-unlike", true, setup->comm->c_name);
    }
}

static void end_join(mca_coll_pipering_setup_t *setup)
{
    const join_t join = *setup->join;

    setup->alike = join.arch_least == join.arch_most;
    setup->equal = join.variables_least == join.variables_most;
    setup->combine = join.combine;
    setup->rates = join.rates;
    if (join.mesh_least != join.mesh_most) {
        drop_mesh(setup);
    }
    if (!setup->alike) {
        be_ready(setup);
    } else if (!setup->equal) {
        begin_compare(setup);
    } else if (0 != join.lacks) {
        begin_place(setup);
    } else {
        count_nodes(setup);
    }
}

int mca_coll_pipering_setup_progress(mca_coll_pipering_setup_t *setup)
{
    const stage_t stage = setup->stage;
    int progress = 0;

    if (READY == stage || OMPI_SUCCESS != setup->error
        || !mca_common_irregular_agreement_move(&setup->agreement, &progress)) {
        return progress;
    }
    mca_coll_pipering_setup_fail(setup, setup->agreement.schedule.error);
    if (OMPI_SUCCESS != setup->error) {
        return progress;
    }
    (void) mca_common_irregular_agreement_fini(&setup->agreement);
    if (JOIN == stage) {
        end_join(setup);
    } else if (PLACE == stage) {
        end_place(setup);
    } else {
        end_compare(setup);
    }
    return 1;
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
    setup->comm = context->comm;
    setup->process = context->process;
    /* once for a communicator; nonblocking calls set it up beside others */
    setup->tag = ompi_coll_base_nbc_reserve_tags(context->comm, 1);
    setup->error = OMPI_SUCCESS;
    setup->ways = mca_coll_pipering_ways_find(context);
    begin_join(setup);
    if (OMPI_SUCCESS != setup->error) {
        const int rc = setup->error;
        mca_coll_pipering_ways_free(setup->ways);
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

int mca_coll_pipering_setup_nodes(const mca_coll_pipering_setup_t *setup)
{
    return setup->nodes.count;
}

mca_coll_pipering_ways_t *mca_coll_pipering_setup_ways(const mca_coll_pipering_setup_t *setup)
{
    return setup->ways;
}

const mca_coll_pipering_mesh_t *mca_coll_pipering_setup_mesh(const mca_coll_pipering_setup_t *setup)
{
    return NULL == setup->ways ? NULL : &setup->ways->mesh;
}

double mca_coll_pipering_setup_combine(const mca_coll_pipering_setup_t *setup)
{
    return setup->combine * fmax(1, setup->nodes.load);
}

double mca_coll_pipering_setup_load(const mca_coll_pipering_setup_t *setup)
{
    return setup->nodes.load;
}

/* After a failure messages may still arrive: then their memory is never freed. */
void mca_coll_pipering_setup_free(mca_coll_pipering_setup_t *setup)
{
    if (NULL == setup || mca_common_irregular_agreement_fini(&setup->agreement)) {
        return;
    }
    mca_coll_pipering_ways_free(setup->ways);
    free(setup->join);
    free(setup->values);
    free(setup);
}

const mca_coll_pipering_rates_t *mca_coll_pipering_setup_rates(
    const mca_coll_pipering_setup_t *setup)
{
    return &setup->rates;
}

int mca_coll_pipering_setup_tag(const mca_coll_pipering_setup_t *setup)
{
    return setup->tag;
}
