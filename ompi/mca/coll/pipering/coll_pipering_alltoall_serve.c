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
 * The way of an exchange from a call to a request, or to the module below; counters and
 * the verbose line.
 *
 * The choice rests on parameters and on MPI_IN_PLACE, which MPI makes equal on all
 * ranks. There is no setup, and so nobody to wait for who has no part in the exchange.
 */

#include "coll_pipering_alltoall.h"

#include <inttypes.h>

#include "opal/util/output.h"

static int step_aside(const mca_coll_pipering_exchange_plan_t *plan, ompi_communicator_t *comm,
                      mca_coll_pipering_reason_t reason)
{
    mca_coll_pipering_component_t *component = &mca_coll_pipering_component;

    mca_common_irregular_count(&component->counters.fallback[reason], 1);
    if (mca_coll_pipering_is_talkative(comm)) {
        opal_output(component->output, "coll/pipering: %s on %s: left to the module below: %s",
                    plan->name, comm->c_name, mca_coll_pipering_reason_text(reason));
    }
    return OMPI_ERR_NOT_SUPPORTED;
}

/* Copies are packed in this rank's representation. */
static mca_coll_pipering_reason_t judge(const mca_coll_pipering_exchange_plan_t *plan)
{
    if (MCA_COLL_PIPERING_EXCHANGE_OFF == plan->params.algorithm) {
        return MCA_COLL_PIPERING_FALLBACK_OFF;
    }
    if (MCA_COLL_PIPERING_HETEROGENEOUS && MPI_IN_PLACE == plan->send.buffer) {
        return MCA_COLL_PIPERING_FALLBACK_UNLIKE;
    }
    return MCA_COLL_PIPERING_TAKEN;
}

/* A tag of their own, as others may be under way on the communicator. */
static int make(mca_coll_pipering_exchange_job_t *job, ompi_communicator_t *comm,
                mca_coll_pipering_exchange_t **exchange)
{
    job->plan.params = mca_coll_pipering_exchange_params_now(job->call);
    const mca_coll_pipering_reason_t reason = judge(&job->plan);
    if (MCA_COLL_PIPERING_TAKEN != reason) {
        return step_aside(&job->plan, comm, reason);
    }

    const int tag = ompi_coll_base_nbc_reserve_tags(comm, 1);
    return mca_coll_pipering_exchange_new(&job->plan, comm, tag, exchange);
}

int mca_coll_pipering_exchange(mca_coll_pipering_exchange_job_t *job, ompi_communicator_t *comm,
                               mca_coll_pipering_module_t *module)
{
    mca_coll_pipering_exchange_t *exchange;

    if (module->out_of_memory) {
        return MPI_ERR_NO_MEM;
    }
    int rc = make(job, comm, &exchange);
    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_pipering_task_start(&exchange->super);
    }
    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_pipering_task_wait(&exchange->super);
    }
    return mca_coll_pipering_mpi_error(rc);
}

int mca_coll_pipering_iexchange(mca_coll_pipering_exchange_job_t *job, ompi_communicator_t *comm,
                                mca_coll_pipering_module_t *module, ompi_request_t **request)
{
    mca_coll_pipering_exchange_t *exchange;

    if (module->out_of_memory) {
        return MPI_ERR_NO_MEM;
    }
    job->plan.nonblocking = true;
    int rc = make(job, comm, &exchange);
    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_pipering_task_start(&exchange->super);
    }
    if (OMPI_SUCCESS == rc) {
        *request = &exchange->super.super.super;
    }
    return mca_coll_pipering_mpi_error(rc);
}

int mca_coll_pipering_exchange_later(mca_coll_pipering_exchange_job_t *job,
                                     ompi_communicator_t *comm,
                                     mca_coll_pipering_module_t *module, ompi_request_t **request)
{
    mca_coll_pipering_exchange_t *exchange;

    if (module->out_of_memory) {
        return MPI_ERR_NO_MEM;
    }
    job->plan.nonblocking = job->plan.persistent = true;
    const int rc = make(job, comm, &exchange);
    if (OMPI_SUCCESS == rc) {
        *request = &exchange->super.super.super;
    }
    return mca_coll_pipering_mpi_error(rc);
}

/* ---- what has been moved ---- */

static uint64_t bytes_of(const mca_coll_pipering_message_t *messages, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; ++i) {
        bytes += messages[i].bytes;
    }
    return bytes;
}

static void talk(const mca_coll_pipering_exchange_t *exchange, uint64_t in, uint64_t out)
{
    const mca_coll_pipering_task_t *task = &exchange->super;

    opal_output(mca_coll_pipering_component.output,
                "coll/pipering: %s%s on %s: %s%s; this rank: %zu messages in (%" PRIu64
                " bytes), %zu small and %zu large out (%" PRIu64 " bytes), %zu zero left out, "
                "at most %zu under way",
                task->nonblocking && !task->super.super.req_persistent ? "i" : "",
                exchange->name, task->comm->c_name,
                mca_coll_pipering_exchange_algorithm_text(exchange->algorithm),
                MCA_COLL_PIPERING_PAIRS == exchange->way ? ", in place" : "",
                MCA_COLL_PIPERING_PAIRS == exchange->way ? exchange->outs : exchange->ins, in,
                exchange->bins.small, exchange->bins.large, out, exchange->bins.zero,
                exchange->window);
}

void mca_coll_pipering_exchange_report(const mca_coll_pipering_exchange_t *exchange)
{
    mca_coll_pipering_exchange_counters_t *counters = &mca_coll_pipering_exchange_counters;
    const bool pairs = MCA_COLL_PIPERING_PAIRS == exchange->way;
    const uint64_t out = bytes_of(exchange->out, exchange->outs);
    const uint64_t in = pairs ? out : bytes_of(exchange->in, exchange->ins);

    mca_common_irregular_count(&counters->calls, 1);
    mca_common_irregular_count(&counters->messages_sent, exchange->outs);
    mca_common_irregular_count(&counters->messages_received,
                               pairs ? exchange->outs : exchange->ins);
    mca_common_irregular_count(&counters->bytes_sent, out);
    mca_common_irregular_count(&counters->bytes_received, in);
    mca_common_irregular_count(&counters->zeros_skipped, exchange->bins.zero);
    mca_common_irregular_count(&counters->small_sent, exchange->bins.small);
    if (mca_coll_pipering_is_talkative(exchange->super.comm)) {
        talk(exchange, in, out);
    }
}
