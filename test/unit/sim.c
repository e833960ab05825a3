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

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN (-1) /* a block came over no link */

const mca_coll_pipering_cost_t sim_rounds_cost = {.net = {.alpha = 1}, .local = {.alpha = 1}};

/* A reader of a stream: (rank, k) pairs, written without the plans' walk. */
typedef struct cursor_t {
    int position;
    int origins;
    uint64_t k;
} cursor_t;

typedef struct channel_t {
    int from; /* rank */
    int to;
    const mca_coll_pipering_out_t *out; /* as its sender has it */
    cursor_t own;
    cursor_t forward;
    cursor_t expected;
    double free_at;
    uint64_t held; /* blocks that the receiver has yet to forward, if slots count */
} channel_t;

typedef struct sim_t {
    const sim_problem_t *problem;
    sim_result_t *result;
    int p;
    int links;        /* the most into a rank */
    uint64_t *blocks; /* [p] by rank */
    uint64_t *base;   /* [p + 1] number of the first block of a rank */
    double *ready;    /* [p * b'] when a rank can send a block on */
    int8_t *via;      /* [p * b'] the link over which it came */
    uint8_t *uses;    /* [p * b'] links over which it has yet to leave */
    channel_t *in;    /* [p * links] by receiver */
} sim_t;

__attribute__((format(printf, 2, 3))) static bool fail(sim_t *sim, const char *format, ...)
{
    va_list arguments;

    if ('\0' == sim->result->error[0]) {
        va_start(arguments, format);
        vsnprintf(sim->result->error, sizeof(sim->result->error), format, arguments);
        va_end(arguments);
    }
    return false;
}

static cursor_t cursor_open(mca_coll_pipering_stream_t stream)
{
    return (cursor_t){stream.position, stream.origins, 0};
}

/* Skips what is empty; the origin of the next block, or -1 at the end. */
static int cursor_rank(const sim_t *sim, cursor_t *cursor)
{
    while (0 < cursor->origins) {
        int rank = sim->problem->ring->rank[cursor->position];

        if (cursor->k < sim->blocks[rank]) {
            return rank;
        }
        cursor->position = (0 == cursor->position ? sim->p : cursor->position) - 1;
        cursor->origins--;
        cursor->k = 0;
    }
    return -1;
}

static bool stream_has(const sim_t *sim, mca_coll_pipering_stream_t stream, int rank)
{
    int back = stream.position - sim->problem->ring->position[rank];

    return (back < 0 ? back + sim->p : back) < stream.origins;
}

static uint64_t cell(const sim_t *sim, int rank, uint64_t block)
{
    return (uint64_t) rank * sim->base[sim->p] + block;
}

static channel_t *channel(const sim_t *sim, int receiver, int link)
{
    return &sim->in[receiver * sim->links + link];
}

/* ---- set up ---- */

/* Links out of a route to a rank with a tag; the last of them in *found. */
static int count_outs(const mca_coll_pipering_route_t *route, int to, int tag,
                      const mca_coll_pipering_out_t **found)
{
    int count = 0;

    for (int o = 0; o < route->outs; o++) {
        if (to == route->out[o].peer && tag == route->out[o].tag) {
            *found = &route->out[o];
            count++;
        }
    }
    return count;
}

static int count_ins(const mca_coll_pipering_route_t *route, int from, int tag)
{
    int count = 0;

    for (int i = 0; i < route->ins; i++) {
        count += from == route->in[i].peer && tag == route->in[i].tag;
    }
    return count;
}

static bool open_channel(sim_t *sim, int receiver, int link)
{
    const mca_coll_pipering_route_t *routes = sim->problem->routes;
    const mca_coll_pipering_in_t *in = &routes[receiver].in[link];
    channel_t *c = channel(sim, receiver, link);

    if (in->peer < 0 || in->peer >= sim->p
        || 1 != count_outs(&routes[in->peer], receiver, in->tag, &c->out)) {
        return fail(sim, "rank %d receives over link %d from %d, which does not send that",
                    receiver, link, in->peer);
    }
    c->from = in->peer;
    c->to = receiver;
    c->expected = cursor_open(in->stream);
    c->forward = cursor_open(c->out->forward);
    if (c->out->own) {
        c->own = cursor_open(routes[in->peer].own);
    }
    return true;
}

static bool open_rank(sim_t *sim, int rank)
{
    const mca_coll_pipering_route_t *route = &sim->problem->routes[rank];
    bool good = true;

    for (uint64_t k = 0; k < sim->blocks[rank]; k++) {
        sim->ready[cell(sim, rank, sim->base[rank] + k)] = 0;
        sim->via[cell(sim, rank, sim->base[rank] + k)] = OWN;
    }
    for (int link = 0; link < route->ins; link++) {
        good = good && open_channel(sim, rank, link);
    }
    for (int o = 0; o < route->outs; o++) {
        const int to = route->out[o].peer;

        if (to < 0 || to >= sim->p
            || 1 != count_ins(&sim->problem->routes[to], rank, route->out[o].tag)) {
            good = fail(sim, "rank %d sends over link %d to %d, which does not listen", rank, o,
                        to);
        }
    }
    return good;
}

static void sim_allocate(sim_t *sim)
{
    size_t p = (size_t) sim->p;
    uint64_t cells;

    for (int r = 0; r < sim->p; r++) {
        const int ins = sim->problem->routes[r].ins;

        sim->links = ins > sim->links ? ins : sim->links;
    }
    sim->result->links = sim->links;
    sim->blocks = calloc(p, sizeof(*sim->blocks));
    sim->base = calloc(p + 1, sizeof(*sim->base));
    sim->in = calloc(p * (size_t) sim->links + 1, sizeof(*sim->in));
    sim->result->done = calloc(p, sizeof(*sim->result->done));
    sim->result->in = calloc(p * (size_t) sim->links + 1, sizeof(*sim->result->in));
    assert(sim->blocks && sim->base && sim->in && sim->result->done && sim->result->in);
    for (int r = 0; r < sim->p; r++) {
        size_t bytes = sim->problem->bytes[r], size = sim->problem->cut.block_size;

        sim->blocks[r] = bytes / size + (0 != bytes % size);
        sim->base[r + 1] = sim->base[r] + sim->blocks[r];
    }
    cells = p * sim->base[p] + 1;
    sim->ready = malloc(cells * sizeof(*sim->ready));
    sim->via = calloc(cells, sizeof(*sim->via));
    sim->uses = calloc(cells, sizeof(*sim->uses));
    assert(sim->ready && sim->via && sim->uses);
    for (uint64_t i = 0; i < cells; i++) {
        sim->ready[i] = INFINITY;
    }
}

/* ---- run ---- */

/* A block that came in over `link` is to leave over so many links. */
static uint8_t count_uses(const sim_t *sim, int rank, int link, int origin)
{
    const mca_coll_pipering_route_t *route = &sim->problem->routes[rank];
    uint8_t uses = 0;

    for (int o = 0; o < route->outs; o++) {
        uses += link == route->out[o].source && stream_has(sim, route->out[o].forward, origin);
    }
    return uses;
}

static bool receive(sim_t *sim, channel_t *c, int link, int origin, uint64_t k, double time)
{
    int expected = cursor_rank(sim, &c->expected);
    uint64_t at = cell(sim, c->to, sim->base[origin] + k);

    if (expected != origin || c->expected.k != k) {
        return fail(sim, "link %d %d->%d brings block %" PRIu64 " of %d, expected is %" PRIu64
                         " of %d", link, c->from, c->to, k, origin, c->expected.k, expected);
    }
    if (!isinf(sim->ready[at])) {
        return fail(sim, "rank %d gets block %" PRIu64 " of %d again", c->to, k, origin);
    }
    c->expected.k++;
    sim->ready[at] = time;
    sim->via[at] = (int8_t) link;
    sim->uses[at] = count_uses(sim, c->to, link, origin);
    c->held += 0 != sim->uses[at];
    sim->result->arrived++;
    sim->result->done[c->to] = fmax(sim->result->done[c->to], time);
    return true;
}

/* A block that has left over a link may free its slot. */
static void release(sim_t *sim, int rank, uint64_t at)
{
    if (OWN != sim->via[at] && 0 != sim->uses[at] && 0 == --sim->uses[at]) {
        channel(sim, rank, sim->via[at])->held--;
    }
}

/* Bytes of a block on the wire, packet by packet; beta has full packets' frames in it. */
static double on_wire(const mca_coll_pipering_link_cost_t *cost, double length)
{
    double left = length + cost->envelope, frames = 0;

    for (; 0 < cost->packet && 0 < left; left -= cost->packet) {
        frames += left < cost->packet ? cost->frame * (1 - left / cost->packet) : 0;
    }
    return length + cost->envelope + frames;
}

static bool send_block(sim_t *sim, channel_t *c, int link, cursor_t *cursor, int origin)
{
    const mca_coll_pipering_ring_t *ring = sim->problem->ring;
    bool local = ring->node[ring->position[c->from]] == ring->node[ring->position[c->to]];
    const mca_coll_pipering_link_cost_t *cost = local ? &sim->problem->cost.local
                                                      : &sim->problem->cost.net;
    mca_coll_pipering_volume_t *volume = &sim->result->in[c->to * sim->links + link];
    uint64_t k = cursor->k++, at = cell(sim, c->from, sim->base[origin] + k);
    size_t offset, length;

    mca_coll_pipering_cut_block(sim->problem->bytes[origin], sim->problem->cut, k, &offset,
                                &length);
    c->free_at = fmax(c->free_at, sim->ready[at]) + cost->alpha
                 + cost->beta * on_wire(cost, (double) length);
    volume->blocks++;
    volume->bytes += length;
    release(sim, c->from, at);
    return receive(sim, c, link, origin, k, c->free_at + cost->latency);
}

/* Sends what can be sent over a channel; the number of blocks. */
static uint64_t advance(sim_t *sim, int receiver, int link)
{
    channel_t *c = channel(sim, receiver, link);
    uint64_t sent = 0;

    while (0 == sim->problem->slots || c->held < sim->problem->slots) {
        int own = cursor_rank(sim, &c->own);
        cursor_t *cursor = 0 <= own ? &c->own : &c->forward;
        int origin = cursor_rank(sim, cursor);
        int source = 0 <= own ? OWN : c->out->source;
        uint64_t at = origin < 0 ? 0 : cell(sim, c->from, sim->base[origin] + cursor->k);

        if (origin < 0 || isinf(sim->ready[at])) {
            break; /* done, or to wait */
        }
        if (source != sim->via[at]) {
            fail(sim, "rank %d sends to %d of %d as from link %d, it came over %d", c->from, c->to,
                 origin, source, sim->via[at]);
            break;
        }
        sent++;
        if (!send_block(sim, c, link, cursor, origin)) {
            break;
        }
    }
    return sent;
}

static bool check_end(sim_t *sim)
{
    for (int r = 0; r < sim->p; r++) {
        uint64_t got = 0;

        for (int link = 0; link < sim->problem->routes[r].ins; link++) {
            channel_t *c = channel(sim, r, link);

            got += sim->result->in[r * sim->links + link].blocks;
            if (0 <= cursor_rank(sim, &c->own) || 0 <= cursor_rank(sim, &c->forward)
                || 0 <= cursor_rank(sim, &c->expected)) {
                return fail(sim, "stuck: link %d %d->%d has blocks left", link, c->from, c->to);
            }
        }
        if (got != sim->base[sim->p] - sim->blocks[r]) {
            return fail(sim, "rank %d got %" PRIu64 " blocks of %" PRIu64, r, got,
                        sim->base[sim->p] - sim->blocks[r]);
        }
        sim->result->finish = fmax(sim->result->finish, sim->result->done[r]);
    }
    return true;
}

static bool run(sim_t *sim)
{
    uint64_t sent = 1;

    for (int r = 0; r < sim->p; r++) {
        if (!open_rank(sim, r)) {
            return false;
        }
    }
    while (0 != sent && '\0' == sim->result->error[0]) {
        sent = 0;
        for (int x = 0; x < sim->p; x++) {
            const int receiver = sim->problem->ring->rank[x];

            for (int link = 0; link < sim->problem->routes[receiver].ins; link++) {
                sent += advance(sim, receiver, link);
            }
        }
    }
    return '\0' == sim->result->error[0] && check_end(sim);
}

bool sim_run(const sim_problem_t *problem, sim_result_t *result)
{
    sim_t sim = {.problem = problem, .result = result, .p = problem->ring->size};
    bool good;

    memset(result, 0, sizeof(*result));
    sim_allocate(&sim);
    good = run(&sim);
    free(sim.blocks);
    free(sim.base);
    free(sim.in);
    free(sim.ready);
    free(sim.via);
    free(sim.uses);
    return good;
}

void sim_free(sim_result_t *result)
{
    free(result->done);
    free(result->in);
    memset(result, 0, sizeof(*result));
}

/* ---- plans ---- */

mca_coll_pipering_route_t *sim_routes(int p)
{
    const int links = MCA_COLL_PIPERING_ROUTE_LINKS;
    void *memory = malloc(mca_coll_pipering_routes_size(p, links, links));

    assert(memory);
    return mca_coll_pipering_routes_bind(memory, p, links, links);
}

void sim_plan(sim_plan_t *plan, int p, const int *node_of, const uint64_t *blocks, unsigned flags)
{
    void *scratch = malloc(mca_coll_pipering_order_scratch(p));

    plan->memory = malloc(mca_coll_pipering_ring_size(p));
    plan->routes = sim_routes(p);
    assert(scratch && plan->memory);
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
