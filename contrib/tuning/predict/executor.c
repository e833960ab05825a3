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
 * Runs the messages of a call, each when it can begin: links that can send stand in a heap.
 */

#include "executor_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static executor_flow_t *flow_of(const executor_t *run, int pipe, int rank)
{
    return &run->flow[pipe * run->problem->ranks + rank];
}

static executor_flow_t *sender_of(const executor_t *run, const executor_link_t *link)
{
    return flow_of(run, link->pipe, link->from);
}

/* ---- when a message can begin ---- */

/* The port that a message leaves by; NULL: only the link itself counts. */
static double *port_out(const executor_t *run, const executor_link_t *link)
{
    const int node = run->problem->node_of[link->from];

    switch (run->problem->machine.wiring) {
    case EXECUTOR_WIRES:
        return link->local ? NULL : &run->wire[link->wire];
    case EXECUTOR_FREE:
        return NULL;
    default:
        return link->local ? NULL : &run->out_port[node];
    }
}

/* The port that it comes in by, likewise. */
static double *port_in(const executor_t *run, const executor_link_t *link)
{
    const int node = run->problem->node_of[link->to];

    switch (run->problem->machine.wiring) {
    case EXECUTOR_FREE:
        return NULL;
    case EXECUTOR_WIRES:
        return link->local ? &run->local_port[link->to] : NULL;
    case EXECUTOR_HALF:
        return link->local ? &run->local_port[link->to] : &run->out_port[node];
    default:
        return link->local ? &run->local_port[link->to] : &run->in_port[node];
    }
}

/* When a port can begin to carry a message: earlier than it is free by its token bucket. */
static double port_from(const executor_t *run, const executor_link_t *link, const double *port)
{
    return *port - (link->local ? 0 : run->problem->machine.bucket);
}

/* When all that a message needs to leave is free. */
static double free_from(const executor_t *run, const executor_link_t *link)
{
    const double *port = port_out(run, link);
    double time = fmax(link->free, link->least);

    if (0 < run->problem->machine.handling) {
        time = fmax(time, run->processor[link->from]);
    }
    if (EXECUTOR_HALF == run->problem->machine.wiring && !link->local) {
        time = fmax(time, port_from(run, link, port_in(run, link)));
    }
    return NULL == port ? time : fmax(time, port_from(run, link, port));
}

/* Takes a port for a message that begins; when the message is through it. */
static double take_port(const executor_t *run, const executor_link_t *link, double *port,
                        double begins)
{
    const mca_coll_pipering_cost_t *cost = &run->problem->machine.cost;

    *port = fmax(begins, *port) + link->time;
    return fmax(begins + (link->local ? cost->local : cost->net).alpha,
                port_from(run, link, port));
}

/* Takes both ports; when the message is through the second one. */
static double pass(executor_t *run, executor_link_t *link, double begins)
{
    double *out = port_out(run, link), *in = port_in(run, link);

    link->free = NULL == out ? begins + link->time : take_port(run, link, out, begins);
    if (!link->local) {
        run->carried[run->problem->node_of[link->from]] += link->time;
    }
    return NULL == in ? link->free : fmax(link->free, take_port(run, link, in, begins));
}

/* The time when the next block of a link is there; infinite: it is not known yet. */
static double find_ready(const executor_t *run, const executor_link_t *link)
{
    const executor_flow_t *flow = sender_of(run, link);

    if (!link->owns.more) {
        const executor_queue_t *queue = &flow->queue[link->source];
        return link->read < queue->count ? queue->entry[link->read % queue->room].time : HUGE_VAL;
    }
    if (0 > flow->route->gate) {
        return 0;
    }
    const executor_flow_t *made = flow_of(run, flow->route->gate, link->from);
    const executor_queue_t *results = &made->queue[made->route->ins];
    const uint64_t k = flow->others + link->own;
    return k < results->count ? results->entry[k % results->room].time : HUGE_VAL;
}

/* Blocks of a queue, from the first on, that nobody wants any more. */
static uint64_t count_done(const executor_t *run, const executor_flow_t *flow, int source)
{
    const bool combined = flow->route->reduces && source < flow->route->ins;
    uint64_t done = combined ? flow->combined : flow->queue[source].count;

    for (int o = 0; o < flow->route->outs && !combined; ++o) {
        const executor_link_t *link = &run->link[flow->out[o]];
        if (source == link->source && link->forwards.more && link->read < done) {
            done = link->read;
        }
    }
    return done;
}

/* Whether the receiver has a slot for another block. */
static bool has_slot(const executor_t *run, const executor_link_t *link)
{
    const executor_flow_t *flow = flow_of(run, link->pipe, link->to);

    return 0 == run->problem->slots
           || flow->queue[link->link].count - count_done(run, flow, link->link)
                  < run->problem->slots;
}

/* Lists a link if it can send its next block. */
static void list(executor_t *run, int i)
{
    executor_link_t *link = &run->link[i];

    if (EXECUTOR_WAITS != link->state) {
        return;
    }
    const double ready = find_ready(run, link);
    if (HUGE_VAL == ready) {
        return;
    }
    link->stalls = !has_slot(run, link);
    if (!link->stalls) {
        link->ready = fmax(ready, link->free);
        link->begins = fmax(ready, free_from(run, link));
        link->state = EXECUTOR_LISTED;
        executor_heap_add(run, i);
    }
}

static void list_outs(executor_t *run, const executor_flow_t *flow)
{
    for (int o = 0; o < flow->route->outs; ++o) {
        list(run, flow->out[o]);
    }
}

static void close_link(executor_link_t *link)
{
    if (!link->owns.more && !link->forwards.more) {
        link->state = EXECUTOR_OVER;
    }
}

/* ---- what a message brings ---- */

static bool is_same(const mca_coll_pipering_block_t *a, const mca_coll_pipering_block_t *b)
{
    return a->rank == b->rank && a->offset == b->offset && a->length == b->length;
}

/* Links into a flow that have waited for a slot may send. */
static void give_slots(executor_t *run, const executor_flow_t *flow, double time)
{
    for (int i = 0; i < flow->route->ins && 0 < run->problem->slots; ++i) {
        executor_link_t *link = &run->link[flow->in + i];
        if (link->stalls) {
            link->least = fmax(link->least, time);
            list(run, flow->in + i);
        }
    }
}

/* Flows at a rank whose own blocks are results of this one. */
static bool is_gate(const executor_t *run, int pipe, const executor_flow_t *flow, int rank)
{
    const int gate = flow_of(run, pipe, rank)->route->gate;

    return 0 <= gate && flow == flow_of(run, gate, rank);
}

static void list_gated(executor_t *run, const executor_flow_t *flow, int rank)
{
    for (int pipe = 0; pipe < run->problem->pipes; ++pipe) {
        if (is_gate(run, pipe, flow, rank)) {
            list_outs(run, flow_of(run, pipe, rank));
        }
    }
}

/* Results of a gate stay: the pipe behind it may read them late. */
static bool keeps_results(const executor_t *run, const executor_flow_t *flow, int rank)
{
    bool keeps = false;

    for (int pipe = 0; pipe < run->problem->pipes; ++pipe) {
        keeps |= is_gate(run, pipe, flow, rank);
    }
    return keeps;
}

/* The next block of all links in becomes a result. */
static bool combine(executor_t *run, executor_flow_t *flow, int rank)
{
    const uint64_t k = flow->combined;
    double time = run->processor[rank];
    const mca_coll_pipering_block_t *block = NULL;

    for (int i = 0; i < flow->route->ins; ++i) {
        const executor_queue_t *queue = &flow->queue[i];
        if (k >= queue->count) {
            return true;
        }
        if (NULL != block && !is_same(block, &queue->entry[k % queue->room].block)) {
            return executor_fail(run->result, "rank %d combines different blocks of rank %d", rank,
                                 block->rank);
        }
        block = &queue->entry[k % queue->room].block;
        time = fmax(time, queue->entry[k % queue->room].time);
    }
    time += flow->route->ins * run->problem->machine.combine
            * (double) (block->length * run->problem->unit);
    run->processor[rank] = time;
    ++flow->combined;
    run->result->done[rank] = fmax(run->result->done[rank], time);
    executor_queue_t *results = &flow->queue[flow->route->ins];
    if (!keeps_results(run, flow, rank) && results->count - results->first == results->room) {
        results->first = count_done(run, flow, flow->route->ins);
    }
    if (!executor_put(results, time, block)) {
        return executor_fail(run->result, "there is no memory for blocks that wait");
    }
    give_slots(run, flow, time);
    return true;
}

static bool receive(executor_t *run, executor_link_t *link,
                    const mca_coll_pipering_block_t *block, double time)
{
    executor_flow_t *flow = flow_of(run, link->pipe, link->to);

    if (!link->expects.more || !is_same(block, &link->expects.next)) {
        return executor_fail(run->result,
                             "link %d->%d of pipe %d brings bytes %zu.. of rank %d, expected are "
                             "%zu.. of %d", link->from, link->to, link->pipe, block->offset,
                             block->rank, link->expects.next.offset,
                             link->expects.more ? link->expects.next.rank : -1);
    }
    executor_step(&link->expects);
    run->result->done[link->to] = fmax(run->result->done[link->to], time);
    executor_queue_t *queue = &flow->queue[link->link];
    if (queue->count - queue->first == queue->room) {
        queue->first = count_done(run, flow, link->link);
    }
    if (!executor_put(queue, time, block)) {
        return executor_fail(run->result, "there is no memory for blocks that wait");
    }
    if (flow->route->reduces && !combine(run, flow, link->to)) {
        return false;
    }
    list_outs(run, flow);
    if (flow->route->reduces) {
        list_gated(run, flow, link->to);
    }
    return true;
}

/* ---- messages ---- */

/* The time of a message on the link. */
static void find_time(const executor_t *run, executor_link_t *link, size_t length)
{
    const executor_machine_t *machine = &run->problem->machine;

    if (length != link->length) {
        link->length = length;
        link->time = mca_coll_pipering_stream_time(
            link->local ? &machine->cost.local : &machine->cost.net, 1,
            (double) (length * run->problem->unit));
        link->time *= link->local || NULL == machine->slower ? 1 : machine->slower[link->from];
    }
}

/* The block that a link sends next; false: it is not the one that the sender holds. */
static bool take_block(executor_t *run, executor_link_t *link, mca_coll_pipering_block_t *block)
{
    const executor_flow_t *flow = sender_of(run, link);

    if (link->owns.more) {
        *block = link->owns.next;
        executor_step(&link->owns);
        ++link->own;
        return true;
    }
    const executor_queue_t *queue = &flow->queue[link->source];
    *block = link->forwards.next;
    if (!is_same(block, &queue->entry[link->read % queue->room].block)) {
        return executor_fail(run->result, "rank %d sends bytes %zu.. of rank %d, which it does not "
                                          "hold at this place", link->from, block->offset,
                             block->rank);
    }
    executor_step(&link->forwards);
    ++link->read;
    return true;
}

/* The processors at both ends handle a message before and after its time on the link. */
static double handle(double *processor, double time, double handling)
{
    if (0 < handling) {
        time = fmax(time, *processor) + handling;
        *processor = time;
    }
    return time;
}

static bool send(executor_t *run, int i)
{
    const executor_machine_t *machine = &run->problem->machine;
    executor_link_t *link = &run->link[i];
    executor_message_t message = {.pipe = link->pipe, .from = link->from, .to = link->to,
                                  .link = link->link};

    if (!take_block(run, link, &message.block)) {
        return false;
    }
    message.begins = handle(&run->processor[link->from], link->begins, machine->handling);
    find_time(run, link, message.block.length);
    message.ends = pass(run, link, message.begins);
    message.arrives = handle(&run->processor[link->to],
                             message.ends
                                 + (link->local ? machine->cost.local : machine->cost.net).latency,
                             machine->handling);
    ++run->result->messages;
    if (NULL != run->problem->seen) {
        run->problem->seen(run->problem->context, &message);
    }
    if (!receive(run, link, &message.block, message.arrives)) {
        return false;
    }
    close_link(link);
    give_slots(run, sender_of(run, link), link->free);
    list(run, i);
    return true;
}

static bool check_end(executor_t *run)
{
    for (int i = 0; i < run->links; ++i) {
        const executor_link_t *link = &run->link[i];
        if (EXECUTOR_OVER != link->state || link->expects.more) {
            return executor_fail(run->result, "stuck: link %d->%d of pipe %d has blocks left",
                                 link->from, link->to, link->pipe);
        }
    }
    for (int r = 0; r < run->problem->ranks; ++r) {
        run->result->finish = fmax(run->result->finish, run->result->done[r]);
        run->result->busiest = fmax(run->result->busiest, run->carried[r]);
    }
    return true;
}

static void begin(executor_t *run)
{
    for (int i = 0; i < run->links; ++i) {
        close_link(&run->link[i]);
    }
    for (int i = 0; i < run->links; ++i) {
        list(run, i);
    }
}

/* A link on top whose ports have been taken meanwhile goes down the heap. */
static bool move(executor_t *run)
{
    while (0 < run->listed) {
        executor_link_t *link = &run->link[run->heap[0]];
        const int i = run->heap[0];
        const double begins = fmax(link->ready, free_from(run, link));
        if (begins > link->begins) {
            link->begins = begins;
            executor_heap_sink(run);
            continue;
        }
        executor_heap_take(run);
        link->state = EXECUTOR_WAITS;
        if (!send(run, i)) {
            return false;
        }
    }
    return check_end(run);
}

bool executor_run(const executor_problem_t *problem, executor_result_t *result)
{
    executor_t run = {.problem = problem, .result = result};

    memset(result, 0, sizeof(*result));
    const bool good = executor_open(&run) && (begin(&run), move(&run));
    executor_close(&run);
    return good;
}

void executor_free(executor_result_t *result)
{
    free(result->done);
    memset(result, 0, sizeof(*result));
}
