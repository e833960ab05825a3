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
 * Plans of the pipelined ring: the order of ranks in the ring, the blocks into
 * which contributions are cut, the blocks that each rank receives and sends, and
 * the modelled cost. Pure C: no MPI, no Open MPI, no hidden allocation, so unit
 * tests and the schedule simulator compile exactly these files.
 *
 * Notation: p ranks contribute m_i bytes each, m in all. A contribution is cut
 * into b_i = ceil(m_i / B) blocks of at most B bytes of the packed signature;
 * b' is the sum of the b_i, z the number of empty contributions. Ranks have
 * ring positions 0..p-1; position x sends to x + 1. The ranks of a node have
 * adjacent positions; node J is the J-th node along the ring.
 *
 * Papers: Traeff, Ripke, Siebert, Balaji, Thakur, Gropp, "A Pipelined Algorithm
 * for Large, Irregular All-gather Problems", sections 2.2 to 2.4; Balaji, Buntinas,
 * Balay, Smith, Thakur, Gropp, "Nonuniformly Communicating Noncontiguous Data", 4.2.1.
 */

#ifndef MCA_COLL_PIPERING_PLAN_H
#define MCA_COLL_PIPERING_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/mca/common/irregular/common_irregular_exchange.h"

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/** How a contribution is cut into its b_i blocks (paper 2.3). */
typedef enum {
    MCA_COLL_PIPERING_SPLIT_EVEN, /**< sizes differ by at most one byte */
    MCA_COLL_PIPERING_SPLIT_FULL  /**< blocks of B bytes; the last one is the remainder */
} mca_coll_pipering_split_t;

/** How B is chosen (paper 2.4). */
typedef enum {
    MCA_COLL_PIPERING_MODEL_SEARCH,            /**< least modelled time over candidate sizes */
    MCA_COLL_PIPERING_MODEL_EQUATION2,         /**< equation (2), corrected */
    MCA_COLL_PIPERING_MODEL_EQUATION2_PRINTED, /**< equation (2) as printed */
    MCA_COLL_PIPERING_MODEL_FIXED              /**< the size given by the user */
} mca_coll_pipering_block_model_t;

/** The ring. All arrays belong to the caller (mca_coll_pipering_ring_bind). */
typedef struct mca_coll_pipering_ring_t {
    int size;      /**< p */
    int nodes;     /**< N */
    int *rank;     /**< [size] the rank at a position */
    int *position; /**< [size] the position of a rank */
    int *node;     /**< [size] the node (0..nodes-1, along the ring) of a position */
    int *first;    /**< [size + 1] the first position of a node; first[nodes] is size */
} mca_coll_pipering_ring_t;

/** How contributions are cut into blocks. */
typedef struct mca_coll_pipering_cut_t {
    size_t block_size; /**< B, at least 1 */
    mca_coll_pipering_split_t split;
} mca_coll_pipering_cut_t;

/** One block: bytes [offset, offset + length) of the contribution of rank. */
typedef struct mca_coll_pipering_block_t {
    int rank;
    size_t offset;
    size_t length;
} mca_coll_pipering_block_t;

/**
 * A stream of blocks: the contributions of `origins` ranks, from ring position
 * `position` backwards, each from its first block to its last; empty contributions
 * are skipped. Blocks pass every link of the ring in this order: first the sender's
 * own blocks, then those of its predecessor, then those of the rank before that.
 */
typedef struct mca_coll_pipering_stream_t {
    int position;
    int origins;
    int part, parts;
} mca_coll_pipering_stream_t;

/** An iterator over the blocks of a stream. */
typedef struct mca_coll_pipering_walk_t {
    const mca_coll_pipering_ring_t *ring;
    const size_t *bytes; /**< [p] contributions by rank */
    mca_coll_pipering_cut_t cut;
    mca_coll_pipering_stream_t rest; /**< from the current origin on */
    uint64_t next;                   /**< next block of the current origin */
    uint64_t end;                    /**< behind the last one of it that the stream carries */
} mca_coll_pipering_walk_t;

/** Blocks and bytes that pass a link. */
typedef struct mca_coll_pipering_volume_t {
    uint64_t blocks;
    uint64_t bytes;
} mca_coll_pipering_volume_t;

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
    int gate;     /**< pipeline of the call whose last results are the own blocks, -1: none is */
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

/** Classes of block sizes, an octave each, from about 1 KiB on. */
#define MCA_COLL_PIPERING_RATES 12

/** Measurements of whole calls, by the class of their block size; 0: not measured. */
typedef struct mca_coll_pipering_factors_t {
    float of[MCA_COLL_PIPERING_RATES];      /**< measured time over modelled time */
    float took[MCA_COLL_PIPERING_RATES];    /**< measured seconds a byte */
    float below;                            /**< seconds a byte of the module below */
    uint8_t times[MCA_COLL_PIPERING_RATES]; /**< measured calls: 0, 1, or 2 for more */
} mca_coll_pipering_factors_t;

/** The modelled times of a call. */
typedef struct mca_coll_pipering_forecast_t {
    double bytes;      /**< in all */
    double block_size; /**< bytes */
    double time;       /**< seconds with such blocks */
    double rival_time; /**< seconds of the module below */
} mca_coll_pipering_forecast_t;

/**
 * The cost of a link. In a stream a block takes `alpha` seconds of handling and
 * `beta` seconds a byte on the wire: their sum, as in the paper's model, or, with
 * `overlap`, about the longer of the two. Small blocks can follow each other after
 * `gap` seconds. On the wire a block has `envelope` bytes of headers more; `beta` includes
 * the frames of packets full with `packet` bytes (0: unknown), and a last packet that is
 * not full adds the rest of its frame of `frame` bytes. A block can be forwarded `latency`
 * seconds after its time on the link. A block of more than `eager` bytes (0: no bound)
 * needs a rendezvous first, which takes `handshake` seconds more; `guessed`: this time has
 * not been measured yet. `factors` weigh the times of whole calls (NULL: none; borrowed).
 */
typedef struct mca_coll_pipering_link_cost_t {
    double alpha;
    double beta;
    double latency;
    double envelope;
    double packet;
    double frame;
    double handshake;
    double eager;
    bool overlap;
    bool guessed;
    double gap;
    const mca_coll_pipering_factors_t *factors;
} mca_coll_pipering_link_cost_t;

typedef struct mca_coll_pipering_cost_t {
    mca_coll_pipering_link_cost_t net;   /**< of a link between nodes */
    mca_coll_pipering_link_cost_t local; /**< of a link inside a node */
} mca_coll_pipering_cost_t;

/* ---- blocks (coll_pipering_plan_blocks.c) ---- */

/** b_i = ceil(bytes / B); 0 for an empty contribution. */
static inline uint64_t mca_coll_pipering_blocks(size_t bytes, size_t block_size)
{
    return bytes / block_size + (0 != bytes % block_size);
}

/** Offset and length, in bytes, of block k of a contribution of `bytes` bytes; k < b_i. */
void mca_coll_pipering_cut_block(size_t bytes, mca_coll_pipering_cut_t cut, size_t k,
                                 size_t *offset, size_t *length);

/** Starts a walk over a stream; `bytes` [p] by rank is borrowed. */
void mca_coll_pipering_walk_init(mca_coll_pipering_walk_t *walk,
                                 const mca_coll_pipering_ring_t *ring, const size_t *bytes,
                                 mca_coll_pipering_cut_t cut, mca_coll_pipering_stream_t stream);

/** The next block of the stream; at its end false, and `block` is left as it is. */
bool mca_coll_pipering_walk_next(mca_coll_pipering_walk_t *walk, mca_coll_pipering_block_t *block);

/**
 * The same stream without the empty contributions at its beginning and its end, which a walk
 * over it would have to step over each time. O(origins).
 */
mca_coll_pipering_stream_t mca_coll_pipering_stream_trim(const mca_coll_pipering_ring_t *ring,
                                                         const size_t *bytes,
                                                         mca_coll_pipering_stream_t stream);

/** Blocks and bytes of a whole stream. O(origins). */
mca_coll_pipering_volume_t mca_coll_pipering_stream_volume(const mca_coll_pipering_ring_t *ring,
                                                           const size_t *bytes,
                                                           mca_coll_pipering_cut_t cut,
                                                           mca_coll_pipering_stream_t stream);

/* ---- rounds (coll_pipering_plan_rounds.c) ---- */

/**
 * M of the number of rounds: the largest sum of (1 - b_i) over the non-empty cyclic
 * arcs that leave out at least one block. `blocks` [p] is in ring order. 0 without
 * blocks. O(p).
 */
int64_t mca_coll_pipering_excess(const uint64_t *blocks, int p);

/**
 * The same for blocks of unequal size that each rank forwards after a delay: the
 * largest sum of (1 + lag_i - weight_i) over the same arcs. `weight` [p] is the time
 * that a link takes for a rank's blocks and `lag` [p] the delay, both in units of the
 * largest block's time; NULL stands for the number of blocks and for no delay. O(p).
 */
double mca_coll_pipering_delay(const uint64_t *blocks, const double *weight, const double *lag,
                               int p);

/**
 * Number of rounds of the pipelined ring in the given order, where a rank receives and
 * sends at most one block a round: b' - 1 + M. 0 without blocks or with p < 2. O(p).
 */
uint64_t mca_coll_pipering_rounds(const uint64_t *blocks, int p);

/**
 * The least M over all orders of the given contributions, as an optimal placement of
 * the empty ones reaches it; `blocks` is in any order. O(p log p).
 */
int64_t mca_coll_pipering_least_excess(const uint64_t *blocks, int p);

/* ---- order (coll_pipering_plan_order.c) ---- */

#define MCA_COLL_PIPERING_ORDER_NODES 1u   /**< keep the ranks of a node together */
#define MCA_COLL_PIPERING_ORDER_EMPTIES 2u /**< place the empty contributions optimally */

/** Bytes of memory for the arrays of a ring of p ranks (mca_coll_pipering_ring_bind). */
size_t mca_coll_pipering_ring_size(int p);

/** Lays the arrays of `ring` into `memory` of mca_coll_pipering_ring_size(p) bytes. */
void mca_coll_pipering_ring_bind(mca_coll_pipering_ring_t *ring, int p, void *memory);

/** Bytes of scratch memory for mca_coll_pipering_order. */
size_t mca_coll_pipering_order_scratch(int p);

/**
 * Fills a bound ring. `node_of` [p] identifies the node of each rank (any integers
 * in 0..p-1, equal for ranks of one node), `blocks` [p] is by rank.
 * Without ORDER_NODES every rank counts as a node of its own. Without
 * ORDER_EMPTIES nodes are in the order of their lowest ranks, and the ranks of a node
 * in rank order. With ORDER_EMPTIES M is the least possible with the ranks of a node
 * together, found exactly for small rings and by a bounded search otherwise; and the
 * last rank of a node with data is non-empty where that costs no round.
 * The result depends on the arguments only, so all ranks find the same ring.
 */
void mca_coll_pipering_order(mca_coll_pipering_ring_t *ring, const int *node_of,
                             const uint64_t *blocks, unsigned flags, void *scratch);

/* ---- routes (coll_pipering_plan_route.c) ---- */

/** Bytes of memory for `count` routes with at most so many links in and out each. */
size_t mca_coll_pipering_routes_size(int count, int ins, int outs);

/**
 * Lays so many routes into `memory` of mca_coll_pipering_routes_size bytes. They have no links
 * yet: the functions below fill them, and must not need more links than there is room for.
 */
mca_coll_pipering_route_t *mca_coll_pipering_routes_bind(void *memory, int count, int ins,
                                                         int outs);

/**
 * The most tags that a route of `ranks` ranks can need, on any nodes: two streams from one
 * rank to another need a tag each, since nothing orders the one after the other.
 */
int mca_coll_pipering_most_tags(int ranks);

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
                                     mca_coll_pipering_cut_t cut, const int *node_of, int me);

/* ---- chains (coll_pipering_plan_chain.c) ---- */

/** Neighbours of a rank in a chain of nodes, of which each has a chain of its ranks. */
typedef struct mca_coll_pipering_chain_t {
    int up;    /**< rank towards the root, -1: this is the root */
    int lower; /**< rank away from the root, on the same node, -1: none; in a chain whose order
                    counts, the one that brings values of lower ranks */
    int upper; /**< likewise, on the next node; or that brings values of higher ranks */
} mca_coll_pipering_chain_t;

/** The length of a chain and the load of its busiest node. */
typedef struct mca_coll_pipering_shape_t {
    int across; /**< hops between nodes on the longest path from the root */
    int inside; /**< hops inside nodes on this path */
    int load;   /**< times that all bytes enter the busiest node, or rank if there is one node */
} mca_coll_pipering_shape_t;

/**
 * The chain of rank `me` for data that may pass the ranks in any order. `node_of` [p] is
 * the lowest rank on the node of each rank. O(p).
 */
void mca_coll_pipering_chain(mca_coll_pipering_chain_t *chain, const int *node_of, int p, int root,
                             int me);
/** The shape of this chain; `scratch` [p]. */
mca_coll_pipering_shape_t mca_coll_pipering_chain_shape(const int *node_of, int p, int *scratch);

/**
 * The chains for a reduction whose operation does not commute: contributions of the ranks
 * above the root go down to it over its upper link; those of the ranks below it go down to
 * rank 0, and their result from rank 0 to the root over its lower link.
 */
void mca_coll_pipering_chain_ordered(mca_coll_pipering_chain_t *chain, int p, int root, int me);
mca_coll_pipering_shape_t mca_coll_pipering_chain_ordered_shape(const int *node_of, int p, int root,
                                                                int *scratch);

/** The chain of a scan: from rank 0 up to the last rank, the root. */
void mca_coll_pipering_chain_line(mca_coll_pipering_chain_t *chain, int p, int me);
mca_coll_pipering_shape_t mca_coll_pipering_chain_line_shape(const int *node_of, int p,
                                                             int *scratch);

/** Routes along a chain, for a ring of the root alone: away from it, and towards it. */
void mca_coll_pipering_chain_spread(mca_coll_pipering_route_t *route,
                                    const mca_coll_pipering_ring_t *root,
                                    const mca_coll_pipering_chain_t *chain);
void mca_coll_pipering_chain_collect(mca_coll_pipering_route_t *route,
                                     const mca_coll_pipering_ring_t *root,
                                     const mca_coll_pipering_chain_t *chain);

/** A chain, for the model. All pointers are borrowed. */
typedef struct mca_coll_pipering_line_problem_t {
    mca_coll_pipering_shape_t shape;
    size_t bytes;
    int passes;     /**< 1, or 2: to the root and back at the same time */
    double combine; /**< seconds a byte that is combined, 0: none is */
    mca_coll_pipering_cost_t cost;
} mca_coll_pipering_line_problem_t;

/** Modelled seconds (mca_coll_pipering_time_fn_t), and the best block size in bytes. */
double mca_coll_pipering_line_time(const void *problem, size_t block_size);
size_t mca_coll_pipering_line_search(const mca_coll_pipering_line_problem_t *problem);

/** An allreduce as a reduce-scatter and an allgather along the ring. */
typedef struct mca_coll_pipering_ring_allreduce_problem_t {
    int ranks;
    int nodes;
    size_t bytes;   /**< of the largest chunk */
    double combine; /**< seconds a byte that is combined, 0: none is */
    mca_coll_pipering_cost_t cost;
} mca_coll_pipering_ring_allreduce_problem_t;

double mca_coll_pipering_ring_allreduce_time(const void *problem, size_t block_size);
size_t
mca_coll_pipering_ring_allreduce_search(const mca_coll_pipering_ring_allreduce_problem_t *problem);

/* ---- two trees (coll_pipering_plan_two_trees.c) ---- */

/** Neighbours of a rank in one of two trees: two nodes at most, and the next rank of its own. */
#define MCA_COLL_PIPERING_TREE_DOWNS 3
typedef struct mca_coll_pipering_tree_t {
    int up; /**< rank towards the root, -1: this is the root */
    int down[MCA_COLL_PIPERING_TREE_DOWNS]; /**< ranks away from the root */
    int downs;
} mca_coll_pipering_tree_t;

/**
 * Tree `which`, 0 or 1, of a broadcast. `node_of` [p] is the lowest rank on the node of each
 * rank. O(p).
 */
void mca_coll_pipering_two_trees(mca_coll_pipering_tree_t *tree, int which, const int *node_of,
                                 int p, int root, int me);

/** Two trees as the model sees them. */
typedef struct mca_coll_pipering_two_trees_problem_t {
    int nodes;
    int inside; /**< hops inside the node of most ranks */
    size_t bytes;
    mca_coll_pipering_cost_t cost;
} mca_coll_pipering_two_trees_problem_t;

/** Modelled seconds (mca_coll_pipering_time_fn_t), and the best block size in bytes. */
double mca_coll_pipering_two_trees_time(const void *problem, size_t block_size);
size_t mca_coll_pipering_two_trees_search(const mca_coll_pipering_two_trees_problem_t *trees);

/* ---- stages (coll_pipering_plan_stages.c) ---- */

/** `count` equal stages of a pipeline, one after the other. */
typedef struct mca_coll_pipering_stage_t {
    int count;
    double pass; /**< seconds from a block's arrival to its arrival at the next stage */
    double hold; /**< seconds from a block's start to the start of the next block */
} mca_coll_pipering_stage_t;

/** Number of steps of a pipeline of so many hops, equation (1): hops + blocks - 1. */
uint64_t mca_coll_pipering_stages(uint64_t hops, uint64_t blocks);

/** Seconds of a pipeline of stages of `kinds` kinds. 0 without blocks. O(kinds). */
double mca_coll_pipering_stages_time(const mca_coll_pipering_stage_t *stages, int kinds,
                                     uint64_t blocks);

/* ---- model (coll_pipering_plan_model.c) ---- */

/**
 * A call along the ring, for the model. The members of the modelled ring are the nodes,
 * or the ranks if there is only one node. All pointers are borrowed.
 */
typedef struct mca_coll_pipering_problem_t {
    const mca_coll_pipering_ring_t *ring;
    const size_t *bytes; /**< [p] by rank */
    mca_coll_pipering_cost_t cost;
    void *scratch; /**< mca_coll_pipering_model_scratch(p) bytes */
} mca_coll_pipering_problem_t;

/** Bytes of scratch memory for the functions below. */
size_t mca_coll_pipering_model_scratch(int p);

/** Modelled seconds of the pipelined ring with blocks of at most B bytes. O(p). */
double mca_coll_pipering_time(const mca_coll_pipering_problem_t *problem, size_t block_size);

/** Number of rounds of the ring of members, exact for the order of the ring. O(p). */
uint64_t mca_coll_pipering_model_rounds(const mca_coll_pipering_problem_t *problem,
                                        size_t block_size);

/**
 * B in bytes by equation (2), corrected or as printed; at least 1, at most the largest
 * contribution, which is the result for a regular problem.
 */
size_t mca_coll_pipering_equation2(const mca_coll_pipering_problem_t *problem, bool printed);

/** Seconds of a link for `handled` seconds of handling and `sent` of sending; these may overlap. */
double mca_coll_pipering_link_time(const mca_coll_pipering_link_cost_t *link, double handled,
                                   double sent);

/** Seconds of a link for a stream of blocks of about equal size, `bytes` in all. */
double mca_coll_pipering_stream_time(const mca_coll_pipering_link_cost_t *link, double blocks,
                                     double bytes);

/** Bytes of a block whose sending hides its handling: larger blocks gain nothing. */
double mca_coll_pipering_hidden_size(const mca_coll_pipering_link_cost_t *link);

/** Modelled seconds of a problem with blocks of at most B bytes. */
typedef double mca_coll_pipering_time_fn_t(const void *problem, size_t block_size);

/**
 * The block size of least modelled time among these: a geometric grid around `middle`,
 * `largest` / k, sizes that fill the packets of the link, and its eager bound. At least
 * 1, at most `largest`, which is at least 1.
 */
size_t mca_coll_pipering_search_size(mca_coll_pipering_time_fn_t *time_of, const void *problem,
                                     const mca_coll_pipering_link_cost_t *link, size_t largest,
                                     double middle);

/** The block size of least modelled time for a call along the ring, in bytes. */
size_t mca_coll_pipering_search(const mca_coll_pipering_problem_t *problem);

/**
 * A lower bound, in modelled seconds, for the other algorithms of an MPI library: the
 * least of gather and broadcast, Bruck's algorithm and the linear ring, none of which
 * cuts contributions into blocks. O(p log p).
 */
double mca_coll_pipering_rival_time(const mca_coll_pipering_problem_t *problem);

/* ---- rates (coll_pipering_plan_rates.c) ---- */

/** The measured rate of streams of blocks of one class. */
typedef struct mca_coll_pipering_rate_t {
    float seconds; /**< a byte */
    float bytes;   /**< of the measured stream, 0: no stream has been measured */
    float length;  /**< mean block length; of equally good rates, the largest */
} mca_coll_pipering_rate_t;

/** The measured rates of the links between nodes, by class; zeros: none. */
typedef struct mca_coll_pipering_rates_t {
    mca_coll_pipering_rate_t of[MCA_COLL_PIPERING_RATES];
} mca_coll_pipering_rates_t;

/** The class of blocks of `block_size` bytes. */
int mca_coll_pipering_rate_class(size_t block_size);

/**
 * Adds the rate of a stream, in seconds a byte, of `bytes` bytes in blocks of about `length`
 * bytes. A stream of much fewer bytes than the known one does not count. Of streams of about
 * as many bytes the least rate counts, since noise only adds to it, unless later ones are
 * far above it.
 */
void mca_coll_pipering_rates_add(mca_coll_pipering_rates_t *rates, double length, double seconds,
                                 double bytes);

/** Keeps the rate that was measured with more bytes; idempotent and commutative. */
void mca_coll_pipering_rate_merge(mca_coll_pipering_rate_t *rate,
                                  const mca_coll_pipering_rate_t *other);

/** Merges the rates of another rank, class by class; likewise. */
void mca_coll_pipering_rates_merge(mca_coll_pipering_rates_t *rates,
                                   const mca_coll_pipering_rates_t *others);

/** Whether the rate of any class has been measured. */
bool mca_coll_pipering_rates_known(const mca_coll_pipering_rates_t *rates);

/**
 * The cost of a link between nodes with `load` ranks a processor; defaults where no rate is
 * known.
 */
mca_coll_pipering_link_cost_t mca_coll_pipering_rates_cost(const mca_coll_pipering_rates_t *rates,
                                                           double load);

/**
 * The block size for a lesson, a call of `total` bytes for which `block_size` is best and
 * makes blocks of `length` bytes on average: this size, or one of a class nearby without a
 * known rate; smaller where the call would have too few blocks to show a rate. `lesson`
 * counts these calls, so that they try one class after the other.
 */
size_t mca_coll_pipering_rates_vary(const mca_coll_pipering_rates_t *rates, size_t block_size,
                                    size_t length, size_t total, unsigned lesson);

/* ---- factors (coll_pipering_plan_factors.c) ---- */

/** Adds a call that took `measured` seconds; of several calls the shorter ones count most. */
void mca_coll_pipering_factors_add(mca_coll_pipering_factors_t *factors,
                                   const mca_coll_pipering_forecast_t *forecast, double measured);

/** Adds a call of `bytes` bytes that the module below served in `measured` seconds; likewise. */
void mca_coll_pipering_factors_add_below(mca_coll_pipering_factors_t *factors, double bytes,
                                         double measured);

/** `time`, the modelled seconds with such blocks, weighed by `factors` (NULL: not weighed). */
double mca_coll_pipering_factors_time(const mca_coll_pipering_factors_t *factors, double block_size,
                                      double time);

/**
 * Whether this component should serve a call, and not the module below: by the measured times
 * of both where the module below was measured; else if the forecast is at most `slack` times
 * the modelled rival time, or a little more where this component served such calls before.
 * Without factors (NULL) the model decides.
 */
bool mca_coll_pipering_factors_pay(const mca_coll_pipering_factors_t *factors,
                                   const mca_coll_pipering_forecast_t *forecast, double slack);

/**
 * Whether a lesson should let the other of the two modules serve such a call: the model may be
 * wrong, or the measured times of both are close. `lesson` counts the lessons.
 */
bool mca_coll_pipering_factors_doubt(const mca_coll_pipering_factors_t *factors,
                                     const mca_coll_pipering_forecast_t *forecast,
                                     unsigned lesson);

/* ---- outliers (coll_pipering_plan_outliers.c) ---- */

/**
 * The k-th of `count` values in ascending order, 0 <= k < count. Permutes `values`.
 * *comparisons becomes the number of comparisons (NULL: not wanted).
 */
size_t mca_coll_pipering_select(size_t *values, size_t count, size_t k, uint64_t *comparisons);

/**
 * The largest contribution over the largest of the bulk, where at most `fraction` of the
 * processes (0 to 1) are outliers: infinite if the bulk has no data, 1 if no process has.
 * `scratch` [p]. O(p).
 */
double mca_coll_pipering_outlier_ratio(const size_t *bytes, int p, double fraction,
                                       size_t *scratch);

/* ---- exchanges in few rounds (coll_pipering_plan_grid.c) ---- */

/** The partners of an exchange in rounds. */
typedef struct mca_coll_pipering_grid_t {
    const mca_coll_pipering_ring_t *ring; /**< ranks in the order of nodes */
    int lanes;          /**< 1, or the ranks of a node; the i-th ranks of all nodes are a lane */
    bool dissemination; /**< also where recursive doubling is possible */
} mca_coll_pipering_grid_t;

/** Slots [first, first + count). */
typedef struct mca_coll_pipering_span_t {
    int first, count;
} mca_coll_pipering_span_t;

/** One round of one rank. */
typedef struct mca_coll_pipering_grid_round_t {
    int to, from;                        /**< ranks */
    mca_coll_pipering_span_t send, recv; /**< slots of this rank */
} mca_coll_pipering_grid_round_t;

/** Whether all nodes have the same number of ranks, as lanes need it. */
bool mca_coll_pipering_grid_fits(const mca_coll_pipering_ring_t *ring);

/** Number of rounds of the exchange. */
int mca_coll_pipering_grid_rounds(const mca_coll_pipering_grid_t *grid);

/**
 * Round k of rank `me`. It holds the contributions that it sends before the round, and the
 * receiver expects the contributions of the same ranks in the same order.
 */
mca_coll_pipering_grid_round_t mca_coll_pipering_grid_round(const mca_coll_pipering_grid_t *grid,
                                                            int me, int k);

/** The rank whose contribution is in slot `slot` of rank `me`. */
int mca_coll_pipering_grid_rank(const mca_coll_pipering_grid_t *grid, int me, int slot);

/**
 * Number of messages (as blocks) and of bytes of a span: one message for all non-empty
 * contributions of up to `packed` bytes together, and one for each larger one. O(span).
 */
mca_coll_pipering_volume_t mca_coll_pipering_grid_volume(const mca_coll_pipering_grid_t *grid,
                                                         int me, const size_t *bytes,
                                                         size_t packed,
                                                         mca_coll_pipering_span_t span);

/** An exchange in rounds, for the model. All pointers are borrowed. */
typedef struct mca_coll_pipering_grid_problem_t {
    const mca_coll_pipering_grid_t *grid;
    const size_t *bytes; /**< [p] by rank */
    size_t packed;       /**< bytes above which a contribution is a message of its own */
    double copy;         /**< seconds to pack or unpack a byte */
    mca_coll_pipering_cost_t cost;
    void *scratch; /**< mca_coll_pipering_model_scratch(p) bytes */
} mca_coll_pipering_grid_problem_t;

/**
 * Modelled seconds, the sum over rounds: a round between nodes costs the bytes of the
 * busiest node, a round inside nodes those of the busiest rank. O(p log p).
 */
double mca_coll_pipering_grid_time(const mca_coll_pipering_grid_problem_t *problem);

/**
 * A lower bound, in modelled seconds, for the other algorithms of an MPI library: gather and
 * broadcast, Bruck's algorithm, the linear ring. It includes their time inside nodes, which
 * mca_coll_pipering_rival_time leaves out.
 */
double mca_coll_pipering_grid_rival_time(const mca_coll_pipering_grid_problem_t *problem);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
