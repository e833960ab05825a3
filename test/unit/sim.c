/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "sim.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

const mca_coll_pipering_cost_t sim_rounds_cost = {.net = {.alpha = 1}, .local = {.alpha = 1}};
char sim_error[200];

/* A link is an entry of its receiver's route. */
typedef struct link_t {
    int pipe, from, to;
    const mca_coll_pipering_out_t *out; /* its other end, NULL: it is not found yet */
    bool local;
    double wire;                /* when the wire between its ranks is free */
    double *out_port, *in_port; /* likewise: what its messages pass; NULL: nothing */
    mca_coll_pipering_walk_t walk; /* what it has yet to bring */
    uint64_t own, count, sent;     /* blocks: the sender's own, all, and those that have left */
    double free;                   /* end of the last message */
    double begins, since;          /* when the next one can begin, and waits for ports alone */
    bool listed;
    double *arrived; /* [count] when a block can be passed on, infinite: it has not come */
} link_t;

/* A pipe at a rank. */
typedef struct flow_t {
    const mca_coll_pipering_route_t *route;
    link_t *in;       /* [ins] */
    link_t **out;     /* [outs] */
    uint64_t results; /* of a flow that reduces */
    uint64_t made;    /* of them */
    double *made_at;  /* [results] infinite: not yet */
} flow_t;

typedef struct sim_t {
    const sim_call_t *call;
    flow_t *flow; /* [pipes * ranks] */
    link_t *link;
    link_t **heap; /* links that can send, the one that begins first on top */
    int links, listed;
    double *node_out, *node_in, *rank_in, *processor; /* [ranks] when they are free */
    double finish;
} sim_t;

__attribute__((format(printf, 1, 2))) static bool fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void) vsnprintf(sim_error, sizeof(sim_error), format, arguments);
    va_end(arguments);
    return false;
}

static flow_t *flow_of(const sim_t *sim, int pipe, int rank)
{
    return &sim->flow[pipe * sim->call->ranks + rank];
}

/* ---- plans: both ends of a link, and what passes it ---- */

static mca_coll_pipering_walk_t walk_of(const sim_t *sim, const mca_coll_pipering_route_t *route,
                                        mca_coll_pipering_stream_t stream)
{
    mca_coll_pipering_walk_t walk;

    mca_coll_pipering_walk_init(&walk, route->ring, sim->call->bytes, sim->call->block_size, stream);
    return walk;
}

/* Whether a walk goes on with this block. */
static bool goes_on(mca_coll_pipering_walk_t *walk, const mca_coll_pipering_block_t *block)
{
    mca_coll_pipering_block_t next;

    return mca_coll_pipering_walk_next(walk, &next) && next.rank == block->rank
           && next.offset == block->offset && next.length == block->length;
}

/* Whether the blocks of one walk are the next ones of two others, which may be one; how many. */
static bool is_beginning(mca_coll_pipering_walk_t walk, mca_coll_pipering_walk_t *a,
                         mca_coll_pipering_walk_t *b, uint64_t *count)
{
    mca_coll_pipering_block_t block;

    for (; mca_coll_pipering_walk_next(&walk, &block); ++*count) {
        if (!goes_on(a, &block) || (NULL != b && !goes_on(b, &block))) {
            return false;
        }
    }
    return true;
}

/* What leaves is what is expected, and what is passed on is the beginning of what is there. */
static bool check_blocks(const sim_t *sim, link_t *link)
{
    const flow_t *flow = flow_of(sim, link->pipe, link->from), *to = flow_of(sim, link->pipe,
                                                                             link->to);
    const mca_coll_pipering_route_t *route = flow->route;
    const mca_coll_pipering_out_t *out = link->out;
    const int source = route->reduces ? 0 : out->source;
    mca_coll_pipering_walk_t expected = link->walk, held, combined;
    mca_coll_pipering_block_t block;
    uint64_t forwarded = 0, same = 0;

    if (0 < out->forward.origins && (0 > source || route->ins <= source)) {
        return fail("rank %d passes on what comes in over link %d, which it does not have",
                    link->from, source);
    }
    if (out->own && !is_beginning(walk_of(sim, route, route->own), &expected, NULL, &link->own)) {
        return fail("rank %d sends other own blocks than rank %d expects", link->from, link->to);
    }
    if (0 < out->forward.origins) {
        held = walk_of(sim, route, route->in[source].stream);
        if (!is_beginning(walk_of(sim, route, out->forward), &expected, &held, &forwarded)) {
            return fail("rank %d passes on to rank %d what it does not hold at this place, or what "
                        "is not expected", link->from, link->to);
        }
    }
    if (mca_coll_pipering_walk_next(&expected, &block)) {
        return fail("rank %d gets too few blocks from rank %d", link->to, link->from);
    }
    link->count = link->own + forwarded;
    combined = walk_of(sim, to->route, to->route->in[0].stream);
    return !to->route->reduces
           || (is_beginning(link->walk, &combined, NULL, &same)
               && !mca_coll_pipering_walk_next(&combined, &block))
           || fail("rank %d combines different blocks", link->to);
}

/* Joins a link into a flow with the one link out of the sender that has its receiver and tag. */
static bool join(const sim_t *sim, link_t *link, const mca_coll_pipering_in_t *in)
{
    if (0 > in->peer || in->peer >= sim->call->ranks || link->to == in->peer) {
        return fail("rank %d receives from %d, which is no other rank", link->to, in->peer);
    }
    const flow_t *sender = flow_of(sim, link->pipe, in->peer);
    int found = 0;

    for (int o = 0; o < sender->route->outs; o++) {
        if (link->to == sender->route->out[o].peer && in->tag == sender->route->out[o].tag) {
            link->out = &sender->route->out[o];
            found += NULL == sender->out[o] ? 1 : 2;
            sender->out[o] = link;
        }
    }
    link->from = in->peer;
    return 1 == found || fail("rank %d receives from %d, which does not send that, or twice",
                              link->to, in->peer);
}

/* What a link shares with others; the first one between two ranks has their wire. */
static void find_ports(const sim_t *sim, link_t *link)
{
    const int from = sim->call->node_of[link->from], to = sim->call->node_of[link->to];

    link->local = from == to;
    if (sim->call->ports) {
        link->out_port = link->local ? NULL : &sim->node_out[from];
        link->in_port = link->local ? &sim->rank_in[link->to] : &sim->node_in[to];
        return;
    }
    for (int pipe = 0; pipe <= link->pipe && NULL == link->out_port && !link->local; pipe++) {
        const flow_t *flow = flow_of(sim, pipe, link->to);
        for (int i = 0; i < flow->route->ins && NULL == link->out_port; i++) {
            link->out_port = link->from == flow->in[i].from ? &flow->in[i].wire : NULL;
        }
    }
}

static double *new_times(uint64_t count)
{
    double *times = tap_memory((count + 1) * sizeof(*times));

    for (uint64_t k = 0; k < count; k++) {
        times[k] = HUGE_VAL;
    }
    return times;
}

/* All links of the flows, joined at both ends. */
static bool open_links(sim_t *sim)
{
    const int flows = sim->call->pipes * sim->call->ranks;

    for (int i = 0, next = 0; i < flows; i++) {
        flow_t *flow = &sim->flow[i];
        flow->in = &sim->link[next];
        for (int k = 0; k < flow->route->ins; k++) {
            sim->link[next++] = (link_t){.pipe = i / sim->call->ranks, .to = i % sim->call->ranks,
                                         .walk = walk_of(sim, flow->route,
                                                         flow->route->in[k].stream)};
        }
    }
    for (int i = 0; i < sim->links; i++) {
        link_t *link = &sim->link[i];
        const flow_t *to = flow_of(sim, link->pipe, link->to);
        if (!join(sim, link, &to->route->in[link - to->in]) || !check_blocks(sim, link)) {
            return false;
        }
        find_ports(sim, link);
        link->arrived = new_times(link->count);
    }
    for (int i = 0; i < flows; i++) {
        flow_t *flow = &sim->flow[i];
        for (int o = 0; o < flow->route->outs; o++) {
            if (NULL == flow->out[o]) {
                return fail("rank %d sends to %d, which does not listen", i % sim->call->ranks,
                            flow->route->out[o].peer);
            }
        }
        if (flow->route->reduces && 0 < flow->route->ins) {
            flow->results = flow->in[0].count;
            flow->made_at = new_times(flow->results);
        }
    }
    return true;
}

/* ---- links that can send ---- */

static bool is_before(const link_t *a, const link_t *b)
{
    return a->begins != b->begins ? a->begins < b->begins
           : a->since != b->since ? a->since < b->since
                                  : a < b;
}

static void add_to_heap(sim_t *sim, link_t *link)
{
    int at = sim->listed++;

    for (; 0 < at && is_before(link, sim->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        sim->heap[at] = sim->heap[(at - 1) / 2];
    }
    sim->heap[at] = link;
}

static link_t *take_from_heap(sim_t *sim)
{
    link_t *top = sim->heap[0], *moved = sim->heap[--sim->listed];
    int at = 0;

    for (int child = 1; child < sim->listed; child = 2 * at + 1) {
        child += child + 1 < sim->listed && is_before(sim->heap[child + 1], sim->heap[child]);
        if (!is_before(sim->heap[child], moved)) {
            break;
        }
        sim->heap[at] = sim->heap[child];
        at = child;
    }
    sim->heap[at] = moved;
    return top;
}

/* When the next block of a link is at its sender; infinite: it is not known yet. */
static double ready_at(const sim_t *sim, const link_t *link)
{
    const flow_t *flow = flow_of(sim, link->pipe, link->from);
    uint64_t k = link->sent;

    if (k >= link->own) {
        k -= link->own;
        return flow->route->reduces ? flow->made_at[k] : flow->in[link->out->source].arrived[k];
    }
    if (0 > flow->route->gate) {
        return 0;
    }
    const flow_t *gate = flow_of(sim, flow->route->gate, link->from);
    return gate->made_at[gate->results - link->own + k];
}

/* Blocks that the receiver has yet to pass on. */
static uint64_t held(const sim_t *sim, const link_t *link)
{
    const flow_t *flow = flow_of(sim, link->pipe, link->to);
    uint64_t passed = link->sent;

    for (int o = 0; o < flow->route->outs; o++) {
        const link_t *out = flow->out[o];
        if (link == &flow->in[out->out->source] && out->sent < out->count) {
            const uint64_t done = out->sent < out->own ? 0 : out->sent - out->own;
            passed = done < passed ? done : passed;
        }
    }
    return link->sent - passed;
}

/* When all is free that a message needs to leave. */
static double begins_at(const link_t *link)
{
    return NULL == link->out_port ? link->since : fmax(link->since, *link->out_port);
}

/* Lists a link if it can send its next block. */
static void list(sim_t *sim, link_t *link)
{
    const sim_call_t *call = sim->call;

    if (link->listed || link->sent == link->count
        || (0 < call->slots && call->slots <= held(sim, link))) {
        return;
    }
    link->since = fmax(ready_at(sim, link), link->free);
    if (HUGE_VAL != link->since) {
        link->begins = begins_at(link);
        link->listed = true;
        add_to_heap(sim, link);
    }
}

static void list_outs(sim_t *sim, const flow_t *flow)
{
    for (int o = 0; o < flow->route->outs; o++) {
        list(sim, flow->out[o]);
    }
}

/* ---- messages ---- */

/* Combines the next block of all links into a rank, once it is there. */
static void combine(sim_t *sim, flow_t *flow, int rank, size_t length)
{
    const uint64_t k = flow->made;
    double time = sim->processor[rank];

    for (int i = 0; i < flow->route->ins; i++) {
        time = fmax(time, flow->in[i].arrived[k]);
    }
    if (HUGE_VAL == time) {
        return;
    }
    time += flow->route->ins * sim->call->combine * (double) (length * sim->call->unit);
    flow->made_at[flow->made++] = sim->processor[rank] = time;
    sim->finish = fmax(sim->finish, time);
    for (int pipe = 0; pipe < sim->call->pipes; pipe++) {
        const int gate = flow_of(sim, pipe, rank)->route->gate;
        if (0 <= gate && flow == flow_of(sim, gate, rank)) {
            list_outs(sim, flow_of(sim, pipe, rank));
        }
    }
}

/* Takes a port, if there is one, for a message; when the message is through it. */
static double take_port(double *port, double begins, double time)
{
    if (NULL == port) {
        return begins + time;
    }
    *port = fmax(begins, *port) + time;
    return *port;
}

static void send(sim_t *sim, link_t *link)
{
    const sim_call_t *call = sim->call;
    const mca_coll_pipering_link_cost_t *cost = link->local ? &call->cost.local : &call->cost.net;
    flow_t *to = flow_of(sim, link->pipe, link->to), *from = flow_of(sim, link->pipe, link->from);
    mca_coll_pipering_block_t block;

    (void) mca_coll_pipering_walk_next(&link->walk, &block);
    const double time = mca_coll_pipering_stream_time(cost, 1,
                                                      (double) (block.length * call->unit));
    link->free = take_port(link->out_port, link->begins, time);
    const double through = fmax(link->free, take_port(link->in_port, link->begins, time));
    link->arrived[link->sent++] = through + cost->latency;
    sim->finish = fmax(sim->finish, through + cost->latency);
    if (to->route->reduces) {
        combine(sim, to, link->to, block.length);
    }
    list_outs(sim, to);
    list(sim, link);
    for (int i = 0; i < from->route->ins && 0 < call->slots; i++) {
        list(sim, &from->in[i]);
    }
}

static bool move(sim_t *sim)
{
    for (int i = 0; i < sim->links; i++) {
        list(sim, &sim->link[i]);
    }
    while (0 < sim->listed) {
        link_t *link = take_from_heap(sim);
        const double begins = begins_at(link);
        if (begins > link->begins) { /* the port has been taken meanwhile */
            link->begins = begins;
            add_to_heap(sim, link);
        } else {
            link->listed = false;
            send(sim, link);
        }
    }
    for (int i = 0; i < sim->links; i++) {
        const link_t *link = &sim->link[i];
        if (link->sent < link->count) {
            return fail("stuck: link %d->%d of pipe %d has blocks left", link->from, link->to,
                        link->pipe);
        }
    }
    return true;
}

double sim_run(const sim_call_t *call)
{
    const size_t flows = (size_t) (call->pipes * call->ranks);
    sim_t sim = {.call = call, .flow = calloc(flows, sizeof(*sim.flow))};
    int outs = 0;

    for (size_t i = 0; i < flows; i++) {
        sim.links += call->routes[i].ins;
        outs += call->routes[i].outs;
    }
    link_t **ends = calloc((size_t) outs + 1, sizeof(*ends)), **next = ends;
    sim.link = calloc((size_t) sim.links + 1, sizeof(*sim.link));
    sim.heap = calloc((size_t) sim.links + 1, sizeof(*sim.heap));
    sim.node_out = calloc(4 * (size_t) call->ranks, sizeof(*sim.node_out));
    sim.node_in = sim.node_out + call->ranks;
    sim.rank_in = sim.node_in + call->ranks;
    sim.processor = sim.rank_in + call->ranks;
    for (size_t i = 0; i < flows; next += call->routes[i++].outs) {
        sim.flow[i] = (flow_t){.route = &call->routes[i], .out = next};
    }
    sim_error[0] = '\0';
    const bool good = open_links(&sim) && move(&sim);
    for (size_t i = 0; i < flows; i++) {
        free(sim.flow[i].made_at);
    }
    for (int i = 0; i < sim.links; i++) {
        free(sim.link[i].arrived);
    }
    free(sim.flow);
    free(sim.link);
    free(sim.heap);
    free(sim.node_out);
    free(ends);
    return good ? sim.finish : NAN;
}

/* ---- gathers ---- */

mca_coll_pipering_route_t *sim_routes(int p)
{
    const int links = MCA_COLL_PIPERING_ROUTE_LINKS;

    return mca_coll_pipering_routes_bind(tap_memory(mca_coll_pipering_routes_size(p, links, links)),
                                         p, links, links);
}

void sim_plan(sim_plan_t *plan, int p, const int *node_of, const uint64_t *blocks, unsigned flags)
{
    void *scratch = tap_memory(mca_coll_pipering_order_scratch(p));

    plan->memory = tap_memory(mca_coll_pipering_ring_size(p));
    plan->routes = sim_routes(p);
    mca_coll_pipering_ring_bind(&plan->ring, p, plan->memory);
    mca_coll_pipering_order(&plan->ring, node_of, blocks, flags, scratch);
    for (int r = 0; r < p; r++) {
        mca_coll_pipering_route(&plan->routes[r], &plan->ring, r);
    }
    free(scratch);
}

void sim_plan_free(sim_plan_t *plan)
{
    free(plan->routes);
    free(plan->memory);
}

/* Every rank gets each byte of the others once: as many bytes as these have, none of them twice. */
static bool gathers_all(const sim_plan_t *plan, const size_t *bytes, size_t block_size)
{
    const int p = plan->ring.size;
    uint64_t *first = tap_memory(((size_t) p + 1) * sizeof(*first));
    bool good = true;

    first[0] = 0;
    for (int r = 0; r < p; r++) {
        first[r + 1] = first[r] + mca_coll_pipering_blocks(bytes[r], block_size);
    }
    bool *has = tap_memory(first[p] + 1);
    for (int r = 0; r < p && good; r++) {
        uint64_t lacks = first[p] - (first[r + 1] - first[r]);
        memset(has, false, first[p]);
        memset(&has[first[r]], true, first[r + 1] - first[r]);
        for (int i = 0; i < plan->routes[r].ins && good; i++) {
            mca_coll_pipering_walk_t walk;
            mca_coll_pipering_block_t block;
            mca_coll_pipering_walk_init(&walk, &plan->ring, bytes, block_size,
                                        plan->routes[r].in[i].stream);
            while (good && mca_coll_pipering_walk_next(&walk, &block)) {
                /* block k begins behind k - 1 sizes, and not behind k of them */
                bool *one = &has[first[block.rank]
                                 + mca_coll_pipering_blocks(block.offset, block_size)];
                good = !*one || fail("rank %d gets bytes %zu.. of rank %d again", r, block.offset,
                                     block.rank);
                *one = true;
                --lacks;
            }
        }
        good = good && (0 == lacks || fail("rank %d lacks %llu blocks", r,
                                           (unsigned long long) lacks));
    }
    free(first);
    free(has);
    return good;
}

double sim_gather(const sim_plan_t *plan, const size_t *bytes, size_t block_size,
                  mca_coll_pipering_cost_t cost, uint64_t slots)
{
    const mca_coll_pipering_ring_t *ring = &plan->ring;
    int *node_of = tap_memory((size_t) ring->size * sizeof(*node_of));

    for (int x = 0; x < ring->size; x++) {
        node_of[ring->rank[x]] = ring->node[x];
    }
    const double finish = sim_run(&(sim_call_t){.ranks = ring->size, .pipes = 1,
                                                .routes = plan->routes, .bytes = bytes,
                                                .block_size = block_size, .unit = 1,
                                                .node_of = node_of, .cost = cost, .slots = slots});
    free(node_of);
    return isnan(finish) || gathers_all(plan, bytes, block_size) ? finish : NAN;
}
