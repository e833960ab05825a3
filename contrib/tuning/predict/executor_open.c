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
 * Opens the links of an execution: who sends what to whom, as both ends say.
 */

#include "executor_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool executor_fail(executor_result_t *result, const char *format, ...)
{
    va_list arguments;

    if ('\0' == result->error[0]) {
        va_start(arguments, format);
        (void) vsnprintf(result->error, sizeof(result->error), format, arguments);
        va_end(arguments);
    }
    return false;
}

void executor_step(executor_stream_t *stream)
{
    stream->more = mca_coll_pipering_walk_next(&stream->walk, &stream->next);
}

static void open_stream(const executor_problem_t *problem, executor_stream_t *stream,
                        const mca_coll_pipering_route_t *route, mca_coll_pipering_stream_t what)
{
    mca_coll_pipering_walk_init(&stream->walk, route->ring, problem->bytes, problem->block_size,
                                what);
    executor_step(stream);
}

static executor_flow_t *flow_of(const executor_t *run, int pipe, int rank)
{
    return &run->flow[pipe * run->problem->ranks + rank];
}

/* ---- memory ---- */

/* Links of all routes, and ends of links out. */
static void count_links(executor_t *run, size_t *ins, size_t *outs)
{
    const executor_problem_t *problem = run->problem;

    *ins = *outs = 0;
    for (int i = 0; i < problem->pipes * problem->ranks; ++i) {
        *ins += (size_t) problem->routes[i].ins;
        *outs += (size_t) problem->routes[i].outs;
    }
}

static bool take_memory(executor_t *run)
{
    const size_t ranks = (size_t) run->problem->ranks;
    const size_t flows = ranks * (size_t) run->problem->pipes;
    size_t ins, outs;

    count_links(run, &ins, &outs);
    run->links = (int) ins;
    run->flow = calloc(flows, sizeof(*run->flow));
    run->link = calloc(ins + 1, sizeof(*run->link));
    run->heap = calloc(ins + 1, sizeof(*run->heap));
    run->wire = calloc(ins + 1, sizeof(*run->wire));
    run->queues = calloc(ins + flows, sizeof(*run->queues));
    run->outs = malloc((outs + 1) * sizeof(*run->outs));
    run->in_port = calloc(5 * ranks, sizeof(*run->in_port));
    run->result->done = calloc(ranks, sizeof(*run->result->done));
    if (NULL == run->flow || NULL == run->link || NULL == run->heap || NULL == run->wire
        || NULL == run->queues || NULL == run->outs || NULL == run->in_port
        || NULL == run->result->done) {
        return executor_fail(run->result, "there is no memory for %zu links", ins);
    }
    run->out_port = run->in_port + ranks;
    run->local_port = run->out_port + ranks;
    run->processor = run->local_port + ranks;
    run->carried = run->processor + ranks;
    return true;
}

void executor_close(executor_t *run)
{
    const int queues = run->links + run->problem->pipes * run->problem->ranks;

    for (int i = 0; i < queues && NULL != run->queues; ++i) {
        free(run->queues[i].entry);
    }
    free(run->flow);
    free(run->link);
    free(run->heap);
    free(run->wire);
    free(run->queues);
    free(run->outs);
    free(run->in_port);
}

/* ---- flows ---- */

static uint64_t count_blocks(const executor_problem_t *problem,
                             const mca_coll_pipering_route_t *route,
                             mca_coll_pipering_stream_t stream)
{
    return mca_coll_pipering_stream_volume(route->ring, problem->bytes, problem->block_size, stream)
        .blocks;
}

/* Where the flows have their queues and their links. */
static void open_flows(executor_t *run)
{
    const executor_problem_t *problem = run->problem;
    int in = 0, out = 0;

    for (int i = 0; i < problem->pipes * problem->ranks; ++i) {
        executor_flow_t *flow = &run->flow[i];
        flow->route = &problem->routes[i];
        flow->queue = &run->queues[in + i];
        flow->in = in;
        flow->out = &run->outs[out];
        if (flow->route->reduces && 0 < flow->route->ins) {
            flow->results = count_blocks(problem, flow->route, flow->route->in[0].stream);
        }
        for (int o = 0; o < flow->route->outs; ++o) {
            flow->out[o] = -1;
        }
        in += flow->route->ins;
        out += flow->route->outs;
    }
}

/* Own blocks of a flow with a gate are the last results of that pipe. */
static void open_gates(executor_t *run)
{
    const executor_problem_t *problem = run->problem;

    for (int i = 0; i < problem->pipes * problem->ranks; ++i) {
        executor_flow_t *flow = &run->flow[i];
        const int gate = flow->route->gate;
        if (0 <= gate) {
            const uint64_t own = count_blocks(problem, flow->route, flow->route->own);
            const uint64_t made = flow_of(run, gate, i % problem->ranks)->results;
            flow->others = made > own ? made - own : 0;
        }
    }
}

/* ---- links ---- */

/* The one link out of a flow that has this peer and tag; -1: there is none, or several. */
static int find_out(const mca_coll_pipering_route_t *route, int peer, int tag)
{
    int found = -1;

    for (int o = 0; o < route->outs; ++o) {
        if (peer == route->out[o].peer && tag == route->out[o].tag) {
            if (0 <= found) {
                return -1;
            }
            found = o;
        }
    }
    return found;
}

static bool open_link(executor_t *run, int pipe, int to, int i)
{
    const executor_problem_t *problem = run->problem;
    executor_flow_t *receiver = flow_of(run, pipe, to);
    const mca_coll_pipering_in_t *in = &receiver->route->in[i];
    executor_link_t *link = &run->link[receiver->in + i];

    if (0 > in->peer || in->peer >= problem->ranks || to == in->peer) {
        return executor_fail(run->result, "rank %d receives from %d, which is no other rank", to,
                             in->peer);
    }
    executor_flow_t *sender = flow_of(run, pipe, in->peer);
    const int o = find_out(sender->route, to, in->tag);
    if (0 > o || 0 <= sender->out[o]) {
        return executor_fail(run->result,
                             "rank %d receives over link %d of pipe %d from %d, which does not "
                             "send that", to, i, pipe, in->peer);
    }
    const mca_coll_pipering_out_t *out = &sender->route->out[o];
    sender->out[o] = receiver->in + i;
    *link = (executor_link_t){.pipe = pipe, .from = in->peer, .to = to, .link = i,
                              .local = problem->node_of[to] == problem->node_of[in->peer]};
    link->source = sender->route->reduces ? sender->route->ins : out->source;
    if (out->own) {
        open_stream(problem, &link->owns, sender->route, sender->route->own);
    }
    open_stream(problem, &link->forwards, sender->route, out->forward);
    open_stream(problem, &link->expects, receiver->route, in->stream);
    if (link->forwards.more && link->source >= sender->route->ins + sender->route->reduces) {
        return executor_fail(run->result, "rank %d passes on what comes in over link %d, which it "
                                          "does not have", in->peer, link->source);
    }
    return true;
}

static bool open_links(executor_t *run, int pipe)
{
    const executor_problem_t *problem = run->problem;

    for (int r = 0; r < problem->ranks; ++r) {
        for (int i = 0; i < flow_of(run, pipe, r)->route->ins; ++i) {
            if (!open_link(run, pipe, r, i)) {
                return false;
            }
        }
    }
    for (int r = 0; r < problem->ranks; ++r) {
        const executor_flow_t *flow = flow_of(run, pipe, r);
        for (int o = 0; o < flow->route->outs; ++o) {
            if (0 > flow->out[o]) {
                return executor_fail(run->result,
                                     "rank %d sends over link %d of pipe %d to %d, which does not "
                                     "listen", r, o, pipe, flow->route->out[o].peer);
            }
        }
    }
    return true;
}

/* ---- wires ---- */

typedef struct {
    int from, to, link;
} way_t;

static int compare_ways(const void *a, const void *b)
{
    const way_t *x = a, *y = b;

    return x->from != y->from ? x->from - y->from : x->to != y->to ? x->to - y->to : 0;
}

/* Links between the same two nodes have the same wire. */
static bool lay_wires(executor_t *run)
{
    const int *node_of = run->problem->node_of;
    way_t *ways = malloc(((size_t) run->links + 1) * sizeof(*ways));

    if (NULL == ways) {
        return executor_fail(run->result, "there is no memory for %d wires", run->links);
    }
    for (int i = 0; i < run->links; ++i) {
        ways[i] = (way_t){node_of[run->link[i].from], node_of[run->link[i].to], i};
    }
    qsort(ways, (size_t) run->links, sizeof(*ways), compare_ways);
    for (int i = 0; i < run->links; ++i) {
        const bool same = 0 < i && 0 == compare_ways(&ways[i - 1], &ways[i]);
        run->link[ways[i].link].wire = same ? run->link[ways[i - 1].link].wire : i;
    }
    free(ways);
    return true;
}

bool executor_open(executor_t *run)
{
    if (!take_memory(run)) {
        return false;
    }
    open_flows(run);
    open_gates(run);
    for (int pipe = 0; pipe < run->problem->pipes; ++pipe) {
        if (!open_links(run, pipe)) {
            return false;
        }
    }
    return EXECUTOR_WIRES != run->problem->machine.wiring || lay_wires(run);
}
