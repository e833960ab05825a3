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
 * Costs: the time of blocks on a link, from its handling, its bytes and its handshakes.
 *
 *     block   |-- handling: alpha --|
 *                 |-- sending: beta x (bytes + headers) --|
 *     link    |---------------- time ----------------|       sum, or less where both overlap
 *
 * Cost: O(1). Limits: blocks of about equal size; a link has no memory of what it sent before.
 *
 * Paper: the linear model of Traeff et al. 2.4, without overlap; headers, packets, overlap and
 * handshakes are additions.
 */

#include <math.h>

#include "coll_pipering_plan_cost.h"

/*
 * (1 + ratio^(3/2))^(2/3) for a ratio up to 1. A plan asks for thousands of these, so the third
 * root is a parabola and one step of Halley's method, which is exact to 1e-9.
 */
static double norm(double ratio)
{
    const double t = ratio * sqrt(ratio), square = (1 + t) * (1 + t);
    const double near = 1 + t * (0.654079 - 0.066678 * t), cube = near * near * near;

    return near * (cube + 2 * square) / (2 * cube + square);
}

/*
 * Overlapping handling and sending take a norm (exponent 3/2) between their sum and the longer of
 * them: even where a call waits for the wire, handling costs a part of its time, since processors
 * have other blocks to handle.
 */
double mca_coll_pipering_link_time(const mca_coll_pipering_link_cost_t *link, double handled,
                                   double sent)
{
    const double more = handled > sent ? handled : sent, less = handled + sent - more;

    return link->overlap && 0 < less ? more * norm(less / more) : handled + sent;
}

double mca_coll_pipering_work_time(const mca_coll_pipering_cost_t *cost,
                                   const mca_coll_pipering_work_t *work)
{
    return work->messages * cost->net.alpha + work->bytes * cost->net.copy
           + work->local_messages * cost->local.alpha + work->local_bytes * cost->local.beta
           + work->combining;
}

double mca_coll_pipering_links_work(const mca_coll_pipering_cost_t *cost, double across,
                                    double inside, double blocks, double bytes, double combining)
{
    const mca_coll_pipering_work_t work = {across * blocks, across * bytes, inside * blocks,
                                           inside * bytes, combining};

    return mca_coll_pipering_work_time(cost, &work);
}

/*
 * A pipeline keeps all ranks at work, a tree only some at a time: so what counts where ranks share
 * processors is what all of them do together.
 */
double mca_coll_pipering_crowded_time(const mca_coll_pipering_cost_t *cost, double time,
                                      double work, int ranks)
{
    const double shared = cost->crowd * work / ranks;
    const double more = time > shared ? time : shared, less = time + shared - more;

    return 1 < cost->crowd && 0 < less ? more * norm(less / more) : time;
}

double mca_coll_pipering_stream_time(const mca_coll_pipering_link_cost_t *link, double blocks,
                                     double bytes)
{
    const bool asked = 0 < link->eager && bytes > blocks * link->eager;
    const double handled = blocks * link->alpha + bytes * link->copy;
    const double sent = mca_coll_pipering_wire_bytes(link, blocks, bytes) * link->beta;

    return mca_coll_pipering_link_time(link, handled, sent)
           + (asked ? blocks * link->handshake : 0);
}

double mca_coll_pipering_burst_time(const mca_coll_pipering_link_cost_t *link, double messages,
                                    double bytes, bool asked)
{
    const double handled = (messages - 1) * link->gap + bytes * link->copy;
    const double both = asked ? fmax(1, link->both) : 1;
    const double sent = (bytes + messages * link->envelope) * link->beta * both;

    if (0 == messages) {
        return 0;
    }
    /* nothing is sent while the first message is handled */
    return link->alpha + mca_coll_pipering_link_time(link, handled, sent) + link->latency
           + (asked ? 2 * link->latency : 0);
}
