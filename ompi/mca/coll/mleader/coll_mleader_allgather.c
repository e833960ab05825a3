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
 * MPI_Allgather: whether it is served with leaders, and by which variant.
 *
 * The choice rests on what is equal on all ranks: bytes of a contribution, groups,
 * variables. Table 1 of the paper (recursive doubling up to some size, a ring of all
 * ranks for large messages) is the default, its bounds are variables; what is large goes
 * to the module below.
 */

#include "coll_mleader.h"

#include "opal/util/output.h"

/* Calls on a communicator that are left to the module below, whatever they are. */
#define FIRST_CALLS 2

/* Bytes of a message in a ring, which goes without a handshake: below eager limits. */
#define RING_MESSAGE ((size_t) 32 * 1024)

/* Bytes of a contribution that are worth moving. */
#define LEAST_SLICE 64

static int step_aside(ompi_communicator_t *comm, size_t bytes, mca_coll_mleader_reason_t reason)
{
    mca_coll_mleader_component_t *component = &mca_coll_mleader_component;

    mca_common_irregular_count(&component->counters.fallback[reason], 1);
    if (1 < component->verbose || (1 == component->verbose && 0 == ompi_comm_rank(comm))) {
        opal_output(component->output,
                    "coll/mleader: allgather on %s: %zu bytes a rank, left to the module below: %s",
                    comm->c_name, bytes, mca_coll_mleader_reason_text(reason));
    }
    return OMPI_ERR_NOT_SUPPORTED;
}

static mca_coll_mleader_reason_t judge_size(const mca_coll_mleader_params_t *params, size_t bytes)
{
    if (MCA_COLL_MLEADER_OFF == params->algorithm) {
        return MCA_COLL_MLEADER_FALLBACK_OFF;
    }
    if (MCA_COLL_MLEADER_AUTO == params->algorithm && bytes >= params->large) {
        return MCA_COLL_MLEADER_FALLBACK_LARGE;
    }
    return MCA_COLL_MLEADER_TAKEN;
}

/*
 * Many communicators see an Allgather or two, of Open MPI's own when others are made from
 * them: these do not pay for a topology and a segment.
 */
static mca_coll_mleader_reason_t judge_module(const mca_coll_mleader_params_t *params,
                                              mca_coll_mleader_module_t *module)
{
    const bool automatic = MCA_COLL_MLEADER_AUTO == params->algorithm;

    if (MCA_COLL_MLEADER_TAKEN != module->reason
        && (automatic || MCA_COLL_MLEADER_FALLBACK_UNLIKE == module->reason)) {
        return module->reason;
    }
    return NULL != module->topology || !automatic || FIRST_CALLS < ++module->calls
               ? MCA_COLL_MLEADER_TAKEN
               : MCA_COLL_MLEADER_FALLBACK_NEW;
}

static mca_coll_mleader_reason_t judge_topology(const mca_coll_mleader_params_t *params,
                                                const mca_coll_mleader_topology_t *topology)
{
    if (!topology->alike) {
        return MCA_COLL_MLEADER_FALLBACK_UNLIKE;
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
    return MCA_COLL_MLEADER_SHM == variant->aggregation || variant->shm_out || variant->lanes;
}

/*
 * More leaders pay where they share what comes into a node, in lanes. The fullest node
 * has the fewest processors to spare.
 */
static const mca_coll_mleader_grouping_t *choose_grouping(const mca_coll_mleader_params_t *params,
                                                          const mca_coll_mleader_call_t *call,
                                                          bool lanes)
{
    const mca_coll_mleader_topology_t *topology = call->topology;
    const mca_coll_mleader_load_t load
        = {.nodes = topology->nodes,
           .ranks = topology->crowd,
           .processors = topology->processors,
           .bytes = call->bytes * (size_t) (topology->ranks - topology->ranks / topology->nodes),
           .message = params->message};
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

/* Without shared memory messages do everything, and lanes are not possible. */
static void choose(mca_coll_mleader_call_t *call, const mca_coll_mleader_params_t *params,
                   bool shared)
{
    const bool large = call->bytes * (size_t) call->topology->ranks >= params->ring_from;
    mca_coll_mleader_variant_t variant
        = {.aggregation = (mca_coll_mleader_inside_t) params->aggregation,
           .shm_out = shared && params->shm_out,
           .exchange = 0 <= params->exchange ? (mca_common_irregular_algorithm_t) params->exchange
                       : large               ? MCA_COMMON_IRREGULAR_RING
                                             : MCA_COMMON_IRREGULAR_DOUBLING};

    if (!shared && MCA_COLL_MLEADER_SHM == variant.aggregation) {
        variant.aggregation = MCA_COLL_MLEADER_GROUP_DOUBLING;
    }
    const bool wanted = 0 > params->lanes ? uses_segment(&variant) : 0 < params->lanes;
    call->grouping = choose_grouping(params, call, shared && wanted);
    variant.lanes = shared && wanted && 1 < call->grouping->groups.lanes;
    call->variant = variant;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Contributions in a message of a ring, so that those of a group fit into a round. */
static size_t least_in_message(const mca_coll_mleader_grouping_t *grouping)
{
    return ((size_t) grouping->largest + MCA_COLL_MLEADER_MESSAGES - 1)
           / MCA_COLL_MLEADER_MESSAGES;
}

static size_t ring_slice(const mca_coll_mleader_grouping_t *grouping)
{
    const size_t slice = RING_MESSAGE / least_in_message(grouping);
    return LEAST_SLICE < slice ? slice : LEAST_SLICE;
}

/* Bytes of a contribution that are moved at once, 0: the segment is too small for any. */
static size_t find_slice(const mca_coll_mleader_call_t *call,
                         const mca_coll_mleader_params_t *params)
{
    const mca_coll_mleader_variant_t *variant = &call->variant;
    const size_t ranks = (size_t) call->topology->ranks;
    const size_t areas = variant->lanes ? 1 : (size_t) call->grouping->groups.lanes;
    size_t bytes = call->bytes;

    if (MCA_COMMON_IRREGULAR_RING == variant->exchange) {
        bytes = least(bytes, ring_slice(call->grouping));
    }
    if (uses_segment(variant)) {
        return least(bytes, call->topology->half_size / areas / ranks);
    }
    const size_t most = params->scratch / ranks;
    return least(bytes, LEAST_SLICE < most ? most : LEAST_SLICE);
}

static void decide(mca_coll_mleader_call_t *call, const mca_coll_mleader_params_t *params)
{
    choose(call, params, call->topology->shared);
    call->slice_size = find_slice(call, params);
    if (0 == call->slice_size) {
        choose(call, params, false);
        call->slice_size = find_slice(call, params);
    }
    const size_t least_message = least_in_message(call->grouping) * call->slice_size;
    call->message_size = MCA_COMMON_IRREGULAR_RING != call->variant.exchange ? SIZE_MAX
                         : RING_MESSAGE < least_message                  ? least_message
                                                                         : RING_MESSAGE;
}

static bool is_dense(ompi_datatype_t *type, size_t count)
{
    return opal_datatype_is_contiguous_memory_layout(&type->super, 1 < count ? 2 : 1);
}

static bool is_on_device(const mca_coll_mleader_call_t *call)
{
    ptrdiff_t true_lb, extent;

    ompi_datatype_get_true_extent(call->stype, &true_lb, &extent);
    return mca_common_irregular_on_device(call->rbuf + call->true_lb)
           || (!call->in_place
               && mca_common_irregular_on_device((const char *) call->sbuf + true_lb));
}

static void report(const mca_coll_mleader_call_t *call)
{
    static const char *const inside[]
        = {[MCA_COLL_MLEADER_SHM] = "shared memory",
           [MCA_COLL_MLEADER_GATHER] = "gather",
           [MCA_COLL_MLEADER_GROUP_DOUBLING] = "recursive doubling",
           [MCA_COLL_MLEADER_GROUP_RING] = "ring"};
    static const char *const exchange[] = {[MCA_COMMON_IRREGULAR_DOUBLING] = "recursive doubling",
                                           [MCA_COMMON_IRREGULAR_BRUCK] = "Bruck",
                                           [MCA_COMMON_IRREGULAR_RING] = "ring"};
    const mca_coll_mleader_component_t *component = &mca_coll_mleader_component;
    const mca_coll_mleader_grouping_t *grouping = call->grouping;

    if (1 < component->verbose || (1 == component->verbose && 0 == ompi_comm_rank(call->comm))) {
        opal_output(component->output,
                    "coll/mleader: allgather on %s: %zu bytes a rank, %d ranks in %d groups on %d "
                    "nodes; in: %s, between leaders: %s%s, out: %s, slices of %zu bytes; this "
                    "rank: group %d%s",
                    call->comm->c_name, call->bytes, grouping->groups.ranks,
                    grouping->groups.groups, grouping->groups.nodes,
                    inside[call->variant.aggregation], exchange[call->variant.exchange],
                    call->variant.lanes ? " in lanes" : "",
                    call->variant.shm_out ? "shared memory" : "messages", call->slice_size,
                    grouping->group, grouping->leader ? ", leader" : "");
    }
}

static void count(const mca_coll_mleader_variant_t *variant)
{
    mca_coll_mleader_counters_t *counters = &mca_coll_mleader_component.counters;
    const bool in = MCA_COLL_MLEADER_SHM == variant->aggregation, out = variant->shm_out;

    mca_common_irregular_count(in && out     ? &counters->calls_shared
                               : !in && !out ? &counters->calls_messages
                                             : &counters->calls_mixed,
                               1);
}

static int run(mca_coll_mleader_call_t *call, const mca_coll_mleader_params_t *params)
{
    ptrdiff_t extent;

    decide(call, params);
    ompi_datatype_type_extent(call->rtype, &extent);
    call->stride = extent * (ptrdiff_t) call->rcount;
    ompi_datatype_get_true_extent(call->rtype, &call->true_lb, &extent);
    call->rdense = is_dense(call->rtype, call->rcount);
    if (call->in_place) {
        call->sbuf = call->rbuf + ompi_comm_rank(call->comm) * call->stride;
        call->scount = call->rcount;
        call->stype = call->rtype;
    }
    call->sdense = is_dense(call->stype, call->scount);
    call->on_device = is_on_device(call);
    count(&call->variant);
    report(call);
    return mca_coll_mleader_run(call);
}

/*
 * Sets the topology up, and looks whether leaders are of any use in it. Without it nothing
 * is kept of the topology but the reason.
 */
static int set_up(const mca_coll_mleader_params_t *params, mca_coll_mleader_module_t *module,
                  ompi_communicator_t *comm)
{
    int rc = OMPI_SUCCESS;

    if (NULL == module->topology) {
        rc = mca_coll_mleader_topology_make(module, comm);
    }
    if (OMPI_SUCCESS == rc) {
        module->reason = judge_topology(params, module->topology);
    }
    if (OMPI_SUCCESS == rc && MCA_COLL_MLEADER_TAKEN == module->reason) {
        rc = mca_coll_mleader_topology_join(module, comm);
    } else if (OMPI_SUCCESS == rc && !module->topology->joined) {
        mca_coll_mleader_topology_free(module->topology);
        module->topology = NULL;
    }
    /* others have a topology: this rank must not ask them for another in a later call */
    module->out_of_memory = OMPI_ERR_OUT_OF_RESOURCE == rc;
    return module->out_of_memory ? MPI_ERR_NO_MEM : rc;
}

static int serve(mca_coll_mleader_call_t *call, mca_coll_mleader_module_t *module)
{
    const mca_coll_mleader_params_t params = mca_coll_mleader_params_now();
    mca_coll_mleader_reason_t reason = judge_size(&params, call->bytes);

    if (0 == call->bytes) {
        return OMPI_SUCCESS;
    }
    if (MCA_COLL_MLEADER_TAKEN == reason) {
        reason = judge_module(&params, module);
    }
    if (MCA_COLL_MLEADER_TAKEN == reason) {
        const int rc = set_up(&params, module, call->comm);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        reason = module->reason;
    }
    if (MCA_COLL_MLEADER_TAKEN != reason) {
        return step_aside(call->comm, call->bytes, reason);
    }
    call->topology = module->topology;
    return run(call, &params);
}

/* Not a part of mca_coll_mleader_allgather: what it needs of the stack would be set up there. */
static __opal_attribute_noinline__ int
allgather(const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf, int rcount,
          struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
          mca_coll_base_module_t *base)
{
    mca_coll_mleader_module_t *module = (mca_coll_mleader_module_t *) base;
    mca_coll_mleader_call_t call = {.comm = comm,
                                    .caller = {.owner = "mleader",
                                               .name = "allgather",
                                               .comm = comm},
                                    .sbuf = sbuf,
                                    .scount = (size_t) scount,
                                    .stype = sdtype,
                                    .rbuf = rbuf,
                                    .rcount = (size_t) rcount,
                                    .rtype = rdtype,
                                    .in_place = MPI_IN_PLACE == sbuf};

    ompi_datatype_type_size(rdtype, &call.bytes);
    call.bytes *= call.rcount;
    int rc = module->out_of_memory ? MPI_ERR_NO_MEM : serve(&call, module);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    MCA_COMMON_IRREGULAR_BELOW(rc, comm, allgather, module->previous_allgather,
                               module->previous_allgather_module,
                               (sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, module_below));
    return rc;
}

/*
 * Where a communicator has turned out to have no use for leaders, a call passes through in
 * a few instructions. By then the module below has settled in the first calls
 * (MCA_COMMON_IRREGULAR_BELOW).
 */
int mca_coll_mleader_allgather(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                               void *rbuf, int rcount, struct ompi_datatype_t *rdtype,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_mleader_module_t *module = (mca_coll_mleader_module_t *) base;

    if (MCA_COLL_MLEADER_TAKEN == module->reason || !mca_coll_mleader_is_left_alone()) {
        return allgather(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, base);
    }
    mca_common_irregular_count(&mca_coll_mleader_component.counters.fallback[module->reason], 1);
    return module->previous_allgather(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm,
                                      module->previous_allgather_module);
}
