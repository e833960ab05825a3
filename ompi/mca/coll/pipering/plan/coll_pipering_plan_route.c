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
 * Routes: what one rank receives, keeps and passes on.
 *
 *         node J                    node J+1
 *     +--------------+          +--------------+
 *  -->| f -> . -> l  |--------->| f -> . -> l  |-->     ring links
 *     | ^         |  |          | ^         |  |
 *     | +---------+  |          | +---------+  |        node links: own blocks of a node
 *     +--------------+          +--------------+
 *
 * A block goes along the ring links until it reaches the last rank of the node before its own
 * node. The ranks of its own node that stand before its rank get it over the node links. So
 * node J, which contributes M_J bytes, receives m - M_J bytes; in a ring without node links only
 * the contribution of its first rank would not come in. Both links carry contributions
 * backwards along the ring, so the receiver knows which block comes next. On a single node
 * there are no node links: its ring links are a closed ring.
 *
 * On a node of three ranks or more a ring link and a node link may join the same two ranks in the
 * same direction; then each link has a tag of its own.
 *
 * Along a line, the contributions to a reduce-scatter go to their rank from both ends. Over the
 * link from one rank to the next go those of all ranks behind it, farthest first:
 *
 *     0 --3 2 1--> 1 --3 2--> 2 --3--> 3        lower ranks
 *     0 <----0---- 1 <--0 1-- 2 <-0 1 2- 3      higher ranks
 *
 * In a tree a rank has one link to its parent and one to each child. A broadcast forwards what
 * comes from the parent to all children (spread); a reduction combines what comes from the
 * children and sends it to the parent (collect).
 *
 * Paper 2.2 and Figure 1; the node links are an addition.
 */

#include <string.h>

#include "coll_pipering_plan_route.h"

/* ---- memory ---- */

size_t mca_coll_pipering_routes_size(int count, int ins, int outs)
{
    return (size_t) count
           * (sizeof(mca_coll_pipering_route_t) + (size_t) ins * sizeof(mca_coll_pipering_in_t)
              + (size_t) outs * sizeof(mca_coll_pipering_out_t));
}

mca_coll_pipering_route_t *mca_coll_pipering_routes_bind(void *memory, int count, int ins,
                                                         int outs)
{
    mca_coll_pipering_route_t *routes = memory;
    mca_coll_pipering_in_t *in = (mca_coll_pipering_in_t *) (routes + count);
    mca_coll_pipering_out_t *out = (mca_coll_pipering_out_t *) (in + count * ins);

    memset(routes, 0, (size_t) count * sizeof(*routes));
    for (int i = 0; i < count; ++i) {
        routes[i].in = in + i * ins;
        routes[i].out = out + i * outs;
    }
    return routes;
}

/* A route without links, whose memory stays. */
static void clear_route(mca_coll_pipering_route_t *route, const mca_coll_pipering_ring_t *ring,
                        mca_coll_pipering_stream_t own)
{
    route->ring = ring;
    route->own = own;
    route->own_volume = (mca_coll_pipering_volume_t){0, 0};
    route->ins = route->outs = route->below = 0;
    route->reduces = false;
    route->gate = -1;
    route->tags = 1;
}

static void add_in(mca_coll_pipering_route_t *route, int peer, mca_coll_pipering_stream_t stream)
{
    route->in[route->ins++] = (mca_coll_pipering_in_t){.peer = peer, .stream = stream};
}

/* A link out; what it sends is to be filled in. */
static mca_coll_pipering_out_t *add_out(mca_coll_pipering_route_t *route, int peer)
{
    mca_coll_pipering_out_t *out = &route->out[route->outs++];

    *out = (mca_coll_pipering_out_t){.peer = peer};
    return out;
}

/* ---- the ring ---- */

/* Where a rank stands: position x, at place q of the k positions f..f + k - 1 of its node. */
typedef struct {
    int x, q, k, f;
    int next_k; /* ranks of the next node */
} place_t;

static place_t find_place(const mca_coll_pipering_ring_t *ring, int me)
{
    const int x = ring->position[me];
    place_t place = {.x = x, .q = 0, .k = 1, .f = x, .next_k = 1};

    if (1 < ring->nodes) {
        const int node = ring->node[x], next = (node + 1) % ring->nodes;
        place.f = ring->first[node];
        place.q = x - place.f;
        place.k = ring->first[node + 1] - place.f;
        place.next_k = ring->first[next + 1] - ring->first[next];
    }
    return place;
}

static void add_ring_links(mca_coll_pipering_route_t *route, const mca_coll_pipering_ring_t *ring,
                           place_t at)
{
    const int before = (at.x + ring->size - 1) % ring->size;
    const mca_coll_pipering_stream_t stream = {.position = before,
                                               .origins = at.q + ring->size - at.k};

    add_in(route, ring->rank[before], stream);
    mca_coll_pipering_out_t *out = add_out(route, ring->rank[(at.x + 1) % ring->size]);
    out->own = true;
    out->source = MCA_COLL_PIPERING_RING_LINK;
    out->forward = stream;
    if (at.q == at.k - 1) {
        out->forward.origins -= at.next_k;
    }
}

static void add_node_links(mca_coll_pipering_route_t *route, const mca_coll_pipering_ring_t *ring,
                           place_t at, int tag)
{
    const int last = at.f + at.k - 1;

    if (at.x < last) {
        add_in(route, ring->rank[0 == at.q ? last : at.x - 1],
               (mca_coll_pipering_stream_t){.position = last, .origins = last - at.x});
        route->in[MCA_COLL_PIPERING_NODE_LINK].tag = tag;
    }
    if (at.x == last && 1 < at.k) {
        mca_coll_pipering_out_t *out = add_out(route, ring->rank[at.f]);
        out->tag = tag;
        out->own = true;
        out->source = MCA_COLL_PIPERING_RING_LINK;
        out->forward.position = at.x - 1;
        out->forward.origins = at.k - 2;
    } else if (at.x < last - 1) {
        mca_coll_pipering_out_t *out = add_out(route, ring->rank[at.x + 1]);
        out->tag = tag;
        out->source = MCA_COLL_PIPERING_NODE_LINK;
        out->forward.position = last;
        out->forward.origins = last - at.x - 1;
    }
}

/* Ranks of a node that are joined by a ring link and a node link in the same direction. */
#define DOUBLY_JOINED 3

static int count_tags(const mca_coll_pipering_ring_t *ring)
{
    int tags = 1;

    for (int j = 0; j < ring->nodes && 1 < ring->nodes; ++j) {
        tags = DOUBLY_JOINED <= ring->first[j + 1] - ring->first[j] ? 2 : tags;
    }
    return tags;
}

void mca_coll_pipering_route(mca_coll_pipering_route_t *route,
                             const mca_coll_pipering_ring_t *ring, int me)
{
    const place_t at = find_place(ring, me);

    clear_route(route, ring, (mca_coll_pipering_stream_t){.position = at.x, .origins = 1});
    route->tags = count_tags(ring);
    if (1 < ring->size) {
        add_ring_links(route, ring, at);
        add_node_links(route, ring, at, route->tags - 1);
    }
}

/* A position before another one. */
static int before(const mca_coll_pipering_ring_t *ring, int position, int steps)
{
    return ((position - steps) % ring->size + ring->size) % ring->size;
}

void mca_coll_pipering_route_scatter(mca_coll_pipering_route_t *route,
                                     const mca_coll_pipering_ring_t *ring, int me)
{
    const int x = ring->position[me], p = ring->size;
    const mca_coll_pipering_stream_t own = {.position = before(ring, x, 1), .origins = 1};
    const mca_coll_pipering_stream_t stream = {.position = before(ring, x, 2), .origins = p - 1};

    clear_route(route, ring, own);
    route->reduces = true;
    add_in(route, ring->rank[before(ring, x, 1)], stream);
    mca_coll_pipering_out_t *out = add_out(route, ring->rank[(x + 1) % p]);
    out->own = true;
    out->source = MCA_COLL_PIPERING_RING_LINK;
    out->forward = stream;
    out->forward.origins = p - 2;
}

static const mca_coll_pipering_stream_t none = {.position = 0, .origins = 0};

/* Those that go farthest come first, so that a rank passes on the beginning of what comes in. */
void mca_coll_pipering_route_line(mca_coll_pipering_route_t *route,
                                  const mca_coll_pipering_ring_t *line, int me, int gate)
{
    const int x = line->position[me], last = line->size - 1;
    const bool gated = 0 <= gate && 0 < x && x < last;
    const mca_coll_pipering_stream_t others = {.position = last, .origins = last - x};
    const mca_coll_pipering_stream_t mine = {.position = x, .origins = 1};

    clear_route(route, line, 0 == x ? others : gated ? mine : none);
    route->reduces = true;
    route->below = 0 > gate && 0 < x ? 1 : 0;
    route->gate = gated ? gate : -1;
    if (0 < x) {
        add_in(route, line->rank[x - 1],
               (mca_coll_pipering_stream_t){.position = last, .origins = last - x + 1});
    }
    if (x < last) {
        mca_coll_pipering_out_t *out = add_out(route, line->rank[x + 1]);
        out->own = 0 == x;
        out->forward = 0 == x ? none : others;
    }
}

/* ---- trees ---- */

static const mca_coll_pipering_stream_t all = {.position = 0, .origins = 1};

/* A link out that sends all there is: own blocks where data begins, else what comes in. */
static void add_out_of_all(mca_coll_pipering_route_t *route, int peer, bool begins)
{
    mca_coll_pipering_out_t *out = add_out(route, peer);

    out->own = begins;
    out->forward = begins ? none : all;
}

void mca_coll_pipering_route_spread(mca_coll_pipering_route_t *route,
                                    const mca_coll_pipering_ring_t *root, int up, const int *down,
                                    int downs)
{
    const bool begins = 0 > up;

    clear_route(route, root, begins ? all : none);
    if (!begins) {
        add_in(route, up, all);
    }
    for (int i = 0; i < downs; ++i) {
        add_out_of_all(route, down[i], begins);
    }
}

void mca_coll_pipering_route_collect(mca_coll_pipering_route_t *route,
                                     const mca_coll_pipering_ring_t *root, int up,
                                     const int *down, int downs, int below)
{
    const bool begins = 0 == downs;

    clear_route(route, root, begins ? all : none);
    for (int i = 0; i < downs; ++i) {
        add_in(route, down[i], all);
    }
    route->reduces = true;
    route->below = below;
    if (0 <= up) {
        add_out_of_all(route, up, begins);
    }
}

/* ---- all routes ---- */

static void take_part(mca_coll_pipering_stream_t *stream, int part, int parts)
{
    stream->part = part;
    stream->parts = parts;
}

void mca_coll_pipering_route_part(mca_coll_pipering_route_t *route, int part, int parts)
{
    take_part(&route->own, part, parts);
    for (int i = 0; i < route->ins; ++i) {
        take_part(&route->in[i].stream, part, parts);
    }
    for (int i = 0; i < route->outs; ++i) {
        take_part(&route->out[i].forward, part, parts);
    }
}

void mca_coll_pipering_route_shift_tags(mca_coll_pipering_route_t *route, int tags)
{
    route->tags += tags;
    for (int i = 0; i < route->ins; ++i) {
        route->in[i].tag += tags;
    }
    for (int i = 0; i < route->outs; ++i) {
        route->out[i].tag += tags;
    }
}

void mca_coll_pipering_route_measure(mca_coll_pipering_route_t *route, const size_t *bytes,
                                     size_t block_size, const int *node_of, int me)
{
    const mca_coll_pipering_ring_t *ring = route->ring;

    route->own_volume = mca_coll_pipering_stream_volume(ring, bytes, block_size, route->own);
    for (int i = 0; i < route->ins; ++i) {
        mca_coll_pipering_in_t *in = &route->in[i];
        in->local = node_of[in->peer] == node_of[me];
        in->volume = mca_coll_pipering_stream_volume(ring, bytes, block_size, in->stream);
    }
    for (int i = 0; i < route->outs; ++i) {
        mca_coll_pipering_out_t *out = &route->out[i];
        out->local = node_of[out->peer] == node_of[me];
        out->volume = mca_coll_pipering_stream_volume(ring, bytes, block_size, out->forward);
        if (out->own) {
            out->volume.blocks += route->own_volume.blocks;
            out->volume.bytes += route->own_volume.bytes;
        }
    }
}
