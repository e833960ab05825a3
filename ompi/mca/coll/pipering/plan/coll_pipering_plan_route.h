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
 * Routes: what a rank receives and sends, along a ring or a tree (plan_route).
 */

#ifndef MCA_COLL_PIPERING_PLAN_ROUTE_H
#define MCA_COLL_PIPERING_PLAN_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "coll_pipering_plan_blocks.h"

/** A link into a rank. */
typedef struct mca_coll_pipering_in_t {
    int peer;   /**< rank that sends */
    int tag;    /**< of its messages, counted from 0 in a call, equal at both ends */
    bool local; /**< both ends are on one node */
    mca_coll_pipering_stream_t stream;
    mca_coll_pipering_volume_t volume; /**< of the stream */
} mca_coll_pipering_in_t;

/** A link out of a rank. */
typedef struct mca_coll_pipering_out_t {
    int peer;                           /**< rank that receives */
    int tag;
    bool local;
    bool own;                           /**< own blocks first */
    int source;                         /**< then what comes in over this link in ... */
    mca_coll_pipering_stream_t forward; /**< ... but of it only these, its beginning */
    mca_coll_pipering_volume_t volume;  /**< of both */
} mca_coll_pipering_out_t;

/**
 * What one rank receives and sends: any number of links in, each with a stream of its own, and
 * any number of links out; several of these may forward the same stream. No two links from one
 * rank to another have the same tag. The arrays are the caller's.
 */
typedef struct mca_coll_pipering_route_t {
    const mca_coll_pipering_ring_t *ring; /**< that its streams run along; borrowed */
    mca_coll_pipering_stream_t own;
    mca_coll_pipering_volume_t own_volume;
    int ins, outs;
    bool reduces; /**< what comes in is combined with own values, and results leave */
    int below;    /**< then: links in that bring values of lower ranks; these come first, and all
                       are in the order of the ranks whose values they bring */
    int gate;     /**< pipeline of the call whose last results are the own blocks, or, in one that
                       reduces, own values; -1: none is */
    int tags;     /**< more than any tag of the route; equal on all ranks */
    mca_coll_pipering_in_t *in;   /**< [ins] */
    mca_coll_pipering_out_t *out; /**< [outs] */
} mca_coll_pipering_route_t;

/** Links in, and links out, that routes along a ring or a chain have at most, ... */
#define MCA_COLL_PIPERING_ROUTE_LINKS 2

/** ... and the places of these links in a route along the ring. */
enum {
    MCA_COLL_PIPERING_RING_LINK, /**< of the ring over all nodes */
    MCA_COLL_PIPERING_NODE_LINK  /**< of the ring inside a node, for blocks of its own ranks */
};

/** Bytes of memory for `count` routes with at most so many links in and out each. */
size_t mca_coll_pipering_routes_size(int count, int ins, int outs);

/**
 * Lays so many routes into `memory` of mca_coll_pipering_routes_size bytes. They have no links
 * yet: the functions below fill them, and must not need more links than there is room for.
 */
mca_coll_pipering_route_t *mca_coll_pipering_routes_bind(void *memory, int count, int ins,
                                                         int outs);

/**
 * The route of rank `me`: what it receives and sends. Each byte enters a node once: a
 * block stops at the last node before its own, and the node links carry it to those
 * ranks of its own node that precede it in the ring.
 */
void mca_coll_pipering_route(mca_coll_pipering_route_t *route,
                             const mca_coll_pipering_ring_t *ring, int me);

/**
 * The route of rank `me` in a reduce-scatter along the ring: contribution x starts at
 * position x + 1, is combined at every position, and ends at position x.
 */
void mca_coll_pipering_route_scatter(mca_coll_pipering_route_t *route,
                                     const mca_coll_pipering_ring_t *ring, int me);

/**
 * The route of rank `me` in one of both directions of a reduce-scatter along a line: contribution x
 * comes from the last position to position x, combined at each on the way. In the second direction
 * (`gate`: the pipeline of the first one), along a ring of the opposite order, what the first one
 * has made of own values takes their place at position x.
 */
void mca_coll_pipering_route_line(mca_coll_pipering_route_t *route,
                                  const mca_coll_pipering_ring_t *line, int me, int gate);

/**
 * What a rank of a tree receives and sends: all of `root`, a ring of the root alone, from its
 * parent `up` (-1: it is the root) to its `downs` children `down`, in this order; ...
 */
void mca_coll_pipering_route_spread(mca_coll_pipering_route_t *route,
                                    const mca_coll_pipering_ring_t *root, int up, const int *down,
                                    int downs);

/**
 * ... or from them to its parent, combined on the way. The first `below` children bring values
 * of lower ranks, the others of higher ones, all in the order of ranks.
 */
void mca_coll_pipering_route_collect(mca_coll_pipering_route_t *route,
                                     const mca_coll_pipering_ring_t *root, int up,
                                     const int *down, int downs, int below);

/** Makes the streams of a route carry one of several parts of all contributions. */
void mca_coll_pipering_route_part(mca_coll_pipering_route_t *route, int part, int parts);

/** Moves the tags of a route behind `tags` others, so that it can share links with those. */
void mca_coll_pipering_route_shift_tags(mca_coll_pipering_route_t *route, int tags);

/**
 * Notes which links of a route of rank `me` are inside a node, by `node_of` [p], and what passes
 * each. O(all origins).
 */
void mca_coll_pipering_route_measure(mca_coll_pipering_route_t *route, const size_t *bytes,
                                     size_t block_size, const int *node_of, int me);

#endif
