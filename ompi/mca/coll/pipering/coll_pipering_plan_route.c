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
 *  -->| f -> . -> l  |--------->| f -> . -> l  |-->     through: the ring
 *     | ^         |  |          | ^         |  |
 *     | +---------+  |          | +---------+  |        closing: own blocks of a node
 *     +--------------+          +--------------+
 *
 * A block travels from its rank to the last rank of the node before its own.
 * The ranks of its own node that stand before it get it over the closing link,
 * so that m - M_J bytes enter node J, M_J being what the node contributes; a flat
 * ring would let all but the contribution of the node's first rank come in.
 * Both links carry contributions in ring order backwards, so the receiver knows
 * each block without being told. With all ranks on one node there is no link to
 * save, and the ring closes as the flat one does.
 *
 * Both links join two ranks in the same direction where a node has three of them: only
 * then they need a tag each.
 *
 * Paper 2.2 and Figure 1; the closing links are an addition.
 */

#include "coll_pipering_plan.h"

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

static void route_through(mca_coll_pipering_route_t *route, const mca_coll_pipering_ring_t *ring,
                          place_t at)
{
    mca_coll_pipering_in_t *in = &route->in[MCA_COLL_PIPERING_THROUGH];
    mca_coll_pipering_out_t *out = &route->out[MCA_COLL_PIPERING_THROUGH];
    const int before = (at.x + ring->size - 1) % ring->size;

    in->peer = ring->rank[before];
    in->stream.position = before;
    in->stream.origins = at.q + ring->size - at.k;

    out->peer = ring->rank[(at.x + 1) % ring->size];
    out->own = true;
    out->source = MCA_COLL_PIPERING_THROUGH;
    out->forward = in->stream;
    if (at.q == at.k - 1) {
        out->forward.origins -= at.next_k;
    }
}

static void route_closing(mca_coll_pipering_route_t *route, const mca_coll_pipering_ring_t *ring,
                          place_t at)
{
    mca_coll_pipering_in_t *in = &route->in[MCA_COLL_PIPERING_CLOSING];
    mca_coll_pipering_out_t *out = &route->out[MCA_COLL_PIPERING_CLOSING];
    const int last = at.f + at.k - 1;

    if (at.x < last) {
        in->peer = ring->rank[0 == at.q ? last : at.x - 1];
        in->stream.position = last;
        in->stream.origins = last - at.x;
    }
    if (at.x == last && 1 < at.k) {
        out->peer = ring->rank[at.f];
        out->own = true;
        out->source = MCA_COLL_PIPERING_THROUGH;
        out->forward.position = at.x - 1;
        out->forward.origins = at.k - 2;
    } else if (at.x < last - 1) {
        out->peer = ring->rank[at.x + 1];
        out->source = MCA_COLL_PIPERING_CLOSING;
        out->forward.position = last;
        out->forward.origins = last - at.x - 1;
    }
}

/* Ranks of a node that are joined by both links. */
#define DOUBLY_JOINED 3

int mca_coll_pipering_most_tags(int ranks)
{
    return ranks > DOUBLY_JOINED ? 2 : 1;
}

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

    route->own.position = at.x;
    route->own.origins = 1;
    route->tags = count_tags(ring);
    route->tag[MCA_COLL_PIPERING_THROUGH] = 0;
    route->tag[MCA_COLL_PIPERING_CLOSING] = route->tags - 1;
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        route->in[i] = (mca_coll_pipering_in_t){.peer = -1};
        route->out[i] = (mca_coll_pipering_out_t){.peer = -1};
    }
    if (1 < ring->size) {
        route_through(route, ring, at);
        route_closing(route, ring, at);
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

    *route = (mca_coll_pipering_route_t){.own = {.position = before(ring, x, 1), .origins = 1},
                                         .tags = 1};
    route->in[MCA_COLL_PIPERING_THROUGH] = (mca_coll_pipering_in_t){
        .peer = ring->rank[before(ring, x, 1)],
        .stream = {.position = before(ring, x, 2), .origins = p - 1}};
    route->out[MCA_COLL_PIPERING_THROUGH] = (mca_coll_pipering_out_t){
        .peer = ring->rank[(x + 1) % p],
        .own = true,
        .source = MCA_COLL_PIPERING_THROUGH,
        .forward = {.position = before(ring, x, 2), .origins = p - 2}};
    route->in[MCA_COLL_PIPERING_CLOSING].peer = -1;
    route->out[MCA_COLL_PIPERING_CLOSING].peer = -1;
}
