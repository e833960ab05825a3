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
 * What is seen of a request that is over: the verbose line and the performance variables.
 */

#include "coll_pipering_calls.h"
#include "coll_pipering_request.h"

#include "ompi/mca/coll/pipering/decide/coll_pipering_setup.h"

#include <inttypes.h>
#include <stdio.h>

#include "opal/util/output.h"

/* Of all pipelines, or of the schedule. */
static mca_coll_pipering_traffic_t traffic_of(const mca_coll_pipering_request_t *request)
{
    mca_coll_pipering_traffic_t sum = {0, 0, 0, 0, 0, 0};

    if (NULL != request->scheduled) {
        return request->scheduled->traffic;
    }
    for (const mca_coll_pipering_pipe_t *pipe = request->first; NULL != pipe; pipe = pipe->next) {
        mca_coll_pipering_traffic_add(&sum, &pipe->traffic);
    }
    return sum;
}

static uint64_t counted_rounds(const mca_coll_pipering_traffic_t *traffic)
{
    return traffic->blocks_in > traffic->blocks_out ? traffic->blocks_in : traffic->blocks_out;
}

static void print_line(const mca_coll_pipering_request_t *request,
                       const mca_coll_pipering_traffic_t *traffic)
{
    const mca_coll_pipering_plan_t *plan = request->plan;
    const int me = ompi_comm_rank(request->super.comm);
    char order[64];

    if (!mca_coll_pipering_is_verbose(request->call.context->process, request->super.comm)) {
        return;
    }
    if (mca_coll_pipering_in_rounds(plan->row) && 0 < plan->grid.groups) {
        snprintf(order, sizeof(order), "position %d, %d groups", plan->ring.position[me],
                 plan->grid.groups);
    } else if (plan->ring.size == ompi_comm_size(request->super.comm)) {
        snprintf(order, sizeof(order), "position %d", plan->ring.position[me]);
    } else {
        snprintf(order, sizeof(order), "root %d", plan->key.root);
    }
    opal_output(request->call.context->process->output,
                "coll/pipering: %s on %s: %s, %zu bytes, %d ranks on %d nodes, B %zu "
                "(equation 2: %zu), window %u, %" PRIu64 " rounds between members predicted, "
                "%.6f s (below %.6f s); this rank: %s, %" PRIu64 " blocks in (plan "
                "%" PRIu64 "), %" PRIu64 " out (plan %" PRIu64 "), %" PRIu64 " rounds counted, "
                "%" PRIu64 " bytes copied; call %" PRIu64 ", plan %u",
                request->caller.name, request->super.comm->c_name, plan->row->text, plan->total,
                ompi_comm_size(request->super.comm),
                request->call.context->setup->at.nodes,
                plan->block_size * plan->key.sizes.unit, plan->equation2, plan->window,
                plan->rounds, plan->time, plan->below.at[0], order, traffic->blocks_in,
                plan->in, traffic->blocks_out, plan->out, counted_rounds(traffic),
                traffic->bytes_copied, request->number, plan->number);
}

static void count(const mca_coll_pipering_request_t *request,
                  const mca_coll_pipering_traffic_t *traffic)
{
    mca_coll_pipering_counters_t *counters = &request->call.context->process->counters;

    mca_common_colltools_count(&counters->calls, 1);
    mca_common_colltools_count(&counters->blocks_received, traffic->blocks_in);
    mca_common_colltools_count(&counters->blocks_sent, traffic->blocks_out);
    mca_common_colltools_count(&counters->bytes_received, traffic->bytes_in);
    mca_common_colltools_count(&counters->bytes_sent, traffic->bytes_out);
    mca_common_colltools_count(&counters->bytes_shared, traffic->bytes_shared);
    mca_common_colltools_count(&counters->bytes_copied, traffic->bytes_copied);
    mca_common_colltools_count(&counters->bytes_from_network, request->plan->in_from_network);
    mca_common_colltools_count(&counters->rounds, counted_rounds(traffic));
    counters->algorithm_used = (int64_t) request->plan->row->algorithm;
    counters->block_size_used =
        (int64_t) (request->plan->block_size * request->plan->key.sizes.unit);
    counters->predicted_rounds = (int64_t) request->plan->rounds;
    counters->predicted_time = (int64_t) (1e9 * request->plan->time);
}

void mca_coll_pipering_request_report(const mca_coll_pipering_request_t *request)
{
    const mca_coll_pipering_traffic_t traffic = traffic_of(request);

    count(request, &traffic);
    print_line(request, &traffic);
}

/* ---- calls that are left ---- */

int mca_coll_pipering_decline(mca_coll_pipering_context_t *context, const char *name,
                              size_t total, mca_coll_pipering_reason_t reason, unsigned plan)
{
    mca_coll_pipering_process_t *process = context->process;
    char bytes[32] = "", its[32] = "";

    mca_common_colltools_count(&process->counters.fallback[reason], 1);
    mca_coll_pipering_note_left(context, reason);
    if (mca_coll_pipering_is_verbose(process, context->comm)) {
        if (MCA_COLL_PIPERING_NO_TOTAL != total) {
            snprintf(bytes, sizeof(bytes), "%zu bytes, ", total);
        }
        if (0 < plan) {
            snprintf(its, sizeof(its), ", plan %u", plan);
        }
        opal_output(process->output,
                    "coll/pipering: %s on %s: %sleft to the module below: %s; call %" PRIu64 "%s",
                    name, context->comm->c_name, bytes, mca_coll_pipering_reasons[reason].text,
                    context->verdict.heard, its);
    }
    return OMPI_ERR_NOT_SUPPORTED;
}
