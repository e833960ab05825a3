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
 * Plans of the pipelined ring: who stands where in the ring, into which blocks
 * the contributions are cut, what each rank receives and sends, and what that
 * costs. Pure C: no MPI, no Open MPI, no memory taken behind the caller's back,
 * so unit tests and the schedule simulator compile exactly these files.
 *
 * Words: p ranks contribute m_i bytes each, m in all. A contribution is cut
 * into b_i = ceil(m_i / B) blocks of at most B bytes of the packed signature;
 * b' is the sum of the b_i, z the number of empty contributions. Ranks stand
 * at ring positions 0..p-1, position x sends to x + 1. The ranks of a node
 * stand together; node J is the J-th node along the ring.
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
    MCA_COLL_PIPERING_SPLIT_FULL  /**< blocks of B bytes, then the rest */
} mca_coll_pipering_split_t;

/** How B is chosen (paper 2.4). */
typedef enum {
    MCA_COLL_PIPERING_MODEL_SEARCH,            /**< least modelled time over candidate sizes */
    MCA_COLL_PIPERING_MODEL_EQUATION2,         /**< equation (2), corrected */
    MCA_COLL_PIPERING_MODEL_EQUATION2_PRINTED, /**< equation (2) as printed */
    MCA_COLL_PIPERING_MODEL_FIXED              /**< the size that the user gave */
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

/** A contribution, cut. */
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
 * A stream of blocks: the contributions of `origins` ranks from ring position
 * `position` backwards, each from its first block to its last, the empty ones
 * skipped. This is the order in which blocks pass every link of the ring: own
 * blocks first, then those of the rank before, then of the one before that.
 * Where `parts` streams share the contributions between them, each carries part
 * `part` (from 0) of every contribution: blocks that follow each other, as many
 * as the others do or one more. `parts` 0 or 1: the stream carries all blocks.
 */
typedef struct mca_coll_pipering_stream_t {
    int position;
    int origins;
    int part, parts;
} mca_coll_pipering_stream_t;

/** A place in a stream. */
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

/** What was measured of whole calls, by the class of their block size; 0: nothing was. */
typedef struct mca_coll_pipering_factors_t {
    float of[MCA_COLL_PIPERING_RATES];   /**< measured over modelled time */
    float took[MCA_COLL_PIPERING_RATES]; /**< seconds a byte */
    float below;                         /**< seconds a byte that the module below took */
    uint8_t times[MCA_COLL_PIPERING_RATES]; /**< that a class was measured, 0, 1, or more */
} mca_coll_pipering_factors_t;

/** What the model says of a call, in seconds. */
typedef struct mca_coll_pipering_forecast_t {
    double bytes;      /**< in all */
    double block_size; /**< bytes */
    double time;       /**< with such blocks */
    double rival_time; /**< of the module below */
} mca_coll_pipering_forecast_t;

/**
 * What a link costs. In a stream a block takes `alpha` seconds of handling and
 * `beta` seconds a byte on the wire; one after the other, the paper's model, or
 * with `overlap` at the same time, the longer of both mostly; small ones may follow each
 * other after `gap` seconds. On the wire it is
 * `envelope` bytes longer, and those of a frame around the last packet that it does
 * not fill: a packet carries `packet` bytes (0: no such thing is known) in a frame
 * of `frame`. It can be passed on `latency` seconds after that. A block of more
 * than `eager` bytes (0: there is no such bound) has to be asked for first,
 * `handshake` seconds more, which are `guessed` as long as nobody has seen them.
 * Times of whole calls are weighed by `factors` (NULL: none; borrowed).
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
    mca_coll_pipering_link_cost_t net;   /**< between nodes */
    mca_coll_pipering_link_cost_t local; /**< inside a node */
} mca_coll_pipering_cost_t;

/* ---- blocks (coll_pipering_plan_blocks.c) ---- */

/** b_i = ceil(bytes / B); 0 for an empty contribution. */
static inline uint64_t mca_coll_pipering_blocks(size_t bytes, size_t block_size)
{
    return bytes / block_size + (0 != bytes % block_size);
}

/** The k-th of the blocks of `bytes` bytes: offset and length; k < b_i. */
void mca_coll_pipering_cut_block(size_t bytes, mca_coll_pipering_cut_t cut, size_t k,
                                 size_t *offset, size_t *length);

/** Starts a walk over a stream; `bytes` [p] by rank is borrowed. */
void mca_coll_pipering_walk_init(mca_coll_pipering_walk_t *walk,
                                 const mca_coll_pipering_ring_t *ring, const size_t *bytes,
                                 mca_coll_pipering_cut_t cut, mca_coll_pipering_stream_t stream);

/** The next block of the stream; false at its end, and then `block` is untouched. */
bool mca_coll_pipering_walk_next(mca_coll_pipering_walk_t *walk, mca_coll_pipering_block_t *block);

/** Blocks and bytes of a whole stream. O(origins). */
mca_coll_pipering_volume_t mca_coll_pipering_stream_volume(const mca_coll_pipering_ring_t *ring,
                                                           const size_t *bytes,
                                                           mca_coll_pipering_cut_t cut,
                                                           mca_coll_pipering_stream_t stream);

/* ---- rounds (coll_pipering_plan_rounds.c) ---- */

/**
 * M of the round count: the largest sum of (1 - b_i) over the non-empty cyclic
 * arcs that leave out at least one block. `blocks` [p] in ring order. 0 where
 * there is no block. O(p).
 */
int64_t mca_coll_pipering_excess(const uint64_t *blocks, int p);

/**
 * The same for blocks of unequal size that lie some time at each rank before
 * they are passed on: the largest sum of (1 + lag_i - weight_i) over the same
 * arcs. `weight` [p] is the time of a rank's blocks and `lag` [p] the time a
 * block lies, both in units of the largest block's time; NULL stands for the
 * number of blocks and for no lag. O(p).
 */
double mca_coll_pipering_delay(const uint64_t *blocks, const double *weight, const double *lag,
                               int p);

/**
 * Rounds of the pipelined ring in the given order, one block received and one
 * sent a round: b' - 1 + M. 0 without blocks or with p < 2. O(p).
 */
uint64_t mca_coll_pipering_rounds(const uint64_t *blocks, int p);

/**
 * The least M over all orders of the given contributions (any order of
 * `blocks`): what optimal placement of the empties reaches. O(p log p).
 */
int64_t mca_coll_pipering_least_excess(const uint64_t *blocks, int p);

/* ---- order (coll_pipering_plan_order.c) ---- */

#define MCA_COLL_PIPERING_ORDER_NODES 1u   /**< keep the ranks of a node together */
#define MCA_COLL_PIPERING_ORDER_EMPTIES 2u /**< place the empty contributions optimally */

/** Bytes of memory that a ring of p ranks needs (mca_coll_pipering_ring_bind). */
size_t mca_coll_pipering_ring_size(int p);

/** Lays the arrays of `ring` into `memory` of mca_coll_pipering_ring_size(p) bytes. */
void mca_coll_pipering_ring_bind(mca_coll_pipering_ring_t *ring, int p, void *memory);

/** Bytes of scratch memory that mca_coll_pipering_order wants. */
size_t mca_coll_pipering_order_scratch(int p);

/**
 * Fills a bound ring. `node_of` [p] names the node of each rank (any integers
 * in 0..p-1, equal for ranks of one node), `blocks` [p] is by rank.
 * Without ORDER_NODES every rank counts as a node of its own. Without
 * ORDER_EMPTIES ranks stand in rank order (of a node's lowest rank, then of
 * ranks). With it M is the least that the order of nodes allows, found exactly
 * for small rings and by a bounded search otherwise, and a node's last rank is
 * non-empty where that costs no round (and the node has anything to send).
 * Depends on nothing but its arguments, so all ranks find the same ring.
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
 * Tags that routes of `ranks` ranks can have, whatever their nodes: two streams from one
 * rank to another need a tag each, as they are in no order to each other.
 */
int mca_coll_pipering_most_tags(int ranks);

/**
 * What rank `me` receives and sends, in at most MCA_COLL_PIPERING_ROUTE_LINKS links. Each byte
 * enters a node once: a block ends at the node before its own, and the node links carry it to
 * the ranks of its own node that stand before it.
 */
void mca_coll_pipering_route(mca_coll_pipering_route_t *route,
                             const mca_coll_pipering_ring_t *ring, int me);

/**
 * What rank `me` receives and sends in a reduce-scatter along the ring: contribution
 * x starts at position x + 1, is combined at every position, and ends at x.
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

/** Neighbours of a rank in a chain of nodes, each with a chain of its ranks; see there. */
typedef struct mca_coll_pipering_chain_t {
    int up;    /**< rank towards the root, -1: this is the root */
    int lower; /**< rank away from the root, on the same node, -1: none; in a chain whose order
                    counts, the one that brings values of lower ranks */
    int upper; /**< likewise, on the next node; or that brings values of higher ranks */
} mca_coll_pipering_chain_t;

/** How long a chain is and what it loads. */
typedef struct mca_coll_pipering_shape_t {
    int across; /**< hops between nodes on the longest way from the root to an end */
    int inside; /**< hops inside nodes on it */
    int load;   /**< times that all bytes enter the same node, or rank if there is one node */
} mca_coll_pipering_shape_t;

/**
 * The chain for data that may pass ranks in any order. `node_of` [p] is the lowest
 * rank on the node of each rank. O(p).
 */
void mca_coll_pipering_chain(mca_coll_pipering_chain_t *chain, const int *node_of, int p, int root,
                             int me);
/** Its shape; `scratch` [p]. */
mca_coll_pipering_shape_t mca_coll_pipering_chain_shape(const int *node_of, int p, int *scratch);

/**
 * The chains for a reduction whose order counts: ranks above the root come down to
 * it (its upper link), those below too and then from rank 0 to the root (its lower link).
 */
void mca_coll_pipering_chain_ordered(mca_coll_pipering_chain_t *chain, int p, int root, int me);
mca_coll_pipering_shape_t mca_coll_pipering_chain_ordered_shape(const int *node_of, int p, int root,
                                                                int *scratch);

/** The line of a scan: from rank 0 up to the root, the last rank. */
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

/** A chain as the model sees it. All pointers are borrowed. */
typedef struct mca_coll_pipering_line_problem_t {
    mca_coll_pipering_shape_t shape;
    size_t bytes;
    int passes;     /**< 1, or 2: there and back at the same time */
    double combine; /**< seconds a byte that is combined, 0: none is */
    mca_coll_pipering_cost_t cost;
} mca_coll_pipering_line_problem_t;

/** Modelled seconds (mca_coll_pipering_time_fn_t), and the best block size in bytes. */
double mca_coll_pipering_line_time(const void *problem, size_t block_size);
size_t mca_coll_pipering_line_search(const mca_coll_pipering_line_problem_t *problem);

/** A reduce-scatter and an allgather along a ring as the model sees it. */
typedef struct mca_coll_pipering_circle_problem_t {
    int ranks;
    int nodes;
    size_t bytes; /**< of the largest chunk */
    double combine;
    mca_coll_pipering_cost_t cost;
} mca_coll_pipering_circle_problem_t;

double mca_coll_pipering_circle_time(const void *problem, size_t block_size);
size_t mca_coll_pipering_circle_search(const mca_coll_pipering_circle_problem_t *problem);

/* ---- stages (coll_pipering_plan_stages.c) ---- */

/** `count` equal stages of a pipeline, one behind the other. */
typedef struct mca_coll_pipering_stage_t {
    int count;
    double pass; /**< seconds until a block is at the next stage */
    double hold; /**< seconds until the next block can follow it */
} mca_coll_pipering_stage_t;

/** Stages that a pipeline of so many hops works through, equation (1): hops + blocks - 1. */
uint64_t mca_coll_pipering_stages(uint64_t hops, uint64_t blocks);

/** Seconds of a pipeline whose stages are of so many kinds. 0 without blocks. O(kinds). */
double mca_coll_pipering_stages_time(const mca_coll_pipering_stage_t *stages, int kinds,
                                     uint64_t blocks);

/** Pipelines of the paper, along a line of P ranks. */
typedef enum {
    MCA_COLL_PIPERING_PROTOCOL_PCAST,  /**< broadcast, equation (2) */
    MCA_COLL_PIPERING_PROTOCOL_RPIPE,  /**< reduce, equation (3) */
    MCA_COLL_PIPERING_PROTOCOL_SCAN,   /**< scan, equation (4) */
    MCA_COLL_PIPERING_PROTOCOL_SERIAL, /**< allreduce: rpipe, and then pcast */
    MCA_COLL_PIPERING_PROTOCOL_MERGED  /**< allreduce: there and back at the same time */
} mca_coll_pipering_protocol_t;

/** What a block costs where. */
typedef struct mca_coll_pipering_machine_t {
    mca_coll_pipering_link_cost_t first;   /**< to send it from the user's memory, l_PIO */
    mca_coll_pipering_link_cost_t forward; /**< to send on what came in, l_DMA */
    double copy;                           /**< seconds a byte that is copied, l_cpy */
    double combine;                        /**< seconds a byte that is combined, l_cmb */
    double flow; /**< seconds to tell the neighbour of it: t_fc = l_PIO(4) + l_sb */
} mca_coll_pipering_machine_t;

typedef struct mca_coll_pipering_staged_problem_t {
    mca_coll_pipering_protocol_t protocol;
    int ranks; /**< P, at least 2 */
    size_t bytes;
    mca_coll_pipering_machine_t machine;
} mca_coll_pipering_staged_problem_t;

/** Stages that the problem takes, modelled seconds, and the best block size in bytes. */
uint64_t mca_coll_pipering_staged_count(const mca_coll_pipering_staged_problem_t *problem,
                                        size_t block_size);
double mca_coll_pipering_staged_time(const void *problem, size_t block_size);
size_t mca_coll_pipering_staged_search(const mca_coll_pipering_staged_problem_t *problem);

/* ---- model (coll_pipering_plan_model.c) ---- */

/**
 * The problem as the model sees it. The members of its ring are the nodes, or
 * the ranks if there is only one node. All pointers are borrowed.
 */
typedef struct mca_coll_pipering_problem_t {
    const mca_coll_pipering_ring_t *ring;
    const size_t *bytes; /**< [p] by rank */
    mca_coll_pipering_cost_t cost;
    void *scratch; /**< mca_coll_pipering_model_scratch(p) bytes */
} mca_coll_pipering_problem_t;

/** Bytes of scratch memory that the functions below want. */
size_t mca_coll_pipering_model_scratch(int p);

/** Modelled seconds of the pipelined ring with blocks of at most B bytes. O(p). */
double mca_coll_pipering_time(const mca_coll_pipering_problem_t *problem, size_t block_size);

/** Rounds of the ring of members, exact for the order at hand. O(p). */
uint64_t mca_coll_pipering_model_rounds(const mca_coll_pipering_problem_t *problem,
                                        size_t block_size);

/**
 * Equation (2), corrected or as printed; at least 1, at most the largest
 * contribution, which is what it gives for a regular problem.
 */
size_t mca_coll_pipering_equation2(const mca_coll_pipering_problem_t *problem, bool printed);

/** Seconds that so much handling and sending take, which the link may do at the same time. */
double mca_coll_pipering_link_time(const mca_coll_pipering_link_cost_t *link, double handled,
                                   double sent);

/** Time of so many blocks of so many bytes in all, which are of about one size. */
double mca_coll_pipering_stream_time(const mca_coll_pipering_link_cost_t *link, double blocks,
                                     double bytes);

/** Bytes of a block whose handling hardly shows beside its sending: larger ones gain nothing. */
double mca_coll_pipering_hidden_size(const mca_coll_pipering_link_cost_t *link);

/** Modelled seconds of a problem with blocks of at most B bytes. */
typedef double mca_coll_pipering_time_fn_t(const void *problem, size_t block_size);

/**
 * The block size of least modelled time: among a geometric grid around `middle`,
 * `largest` / k, what fills the packets of the link, and its eager bound; at least
 * 1, at most `largest` (at least 1).
 */
size_t mca_coll_pipering_search_size(mca_coll_pipering_time_fn_t *time_of, const void *problem,
                                     const mca_coll_pipering_link_cost_t *link, size_t largest,
                                     double middle);

/** The B of least modelled time among a geometric grid, m_max / k and the eager bound. */
size_t mca_coll_pipering_search(const mca_coll_pipering_problem_t *problem);

/**
 * Modelled seconds, from below, of what else an MPI library does with such a
 * problem: the best of gathering at a root and broadcasting, Bruck's algorithm
 * and the linear ring, none of which cuts contributions into blocks. O(p log p).
 */
double mca_coll_pipering_rival_time(const mca_coll_pipering_problem_t *problem);

/* ---- rates (coll_pipering_plan_rates.c) ---- */

/** What a byte takes in streams of blocks of a class. */
typedef struct mca_coll_pipering_rate_t {
    float seconds;
    float bytes;  /**< of the stream that showed it, 0: none has */
    float length; /**< of its blocks on average, the largest that showed no more */
} mca_coll_pipering_rate_t;

/** What is known of the links between nodes; zeros: nothing. */
typedef struct mca_coll_pipering_rates_t {
    mca_coll_pipering_rate_t of[MCA_COLL_PIPERING_RATES];
} mca_coll_pipering_rates_t;

/** The class of blocks of so many bytes. */
int mca_coll_pipering_rate_class(size_t block_size);

/**
 * Adds what a stream of `bytes` bytes in blocks of about `length` showed, so many seconds a
 * byte. What much fewer bytes showed does not count; of what about as many did the least
 * does, as noise adds, unless it is far less than what came after it.
 */
void mca_coll_pipering_rates_add(mca_coll_pipering_rates_t *rates, double length, double seconds,
                                 double bytes);

/** Keeps the better founded of two; order and repetitions do not matter. */
void mca_coll_pipering_rate_merge(mca_coll_pipering_rate_t *rate,
                                  const mca_coll_pipering_rate_t *other);

/** Adds what another rank knows; order and repetitions do not matter. */
void mca_coll_pipering_rates_merge(mca_coll_pipering_rates_t *rates,
                                   const mca_coll_pipering_rates_t *others);

bool mca_coll_pipering_rates_known(const mca_coll_pipering_rates_t *rates);

/**
 * The cost of a link between nodes whose processors have `load` ranks each; defaults where nothing
 * is known.
 */
mca_coll_pipering_link_cost_t mca_coll_pipering_rates_cost(const mca_coll_pipering_rates_t *rates,
                                                           double load);

/**
 * The block size that a call about `total` bytes is to try that would take `block_size`, which
 * makes blocks of `length` bytes on average: it, or another one of a class nearby of which
 * nothing is known, and smaller where few blocks would show nothing. `lesson` counts such
 * calls, so that one after the other is tried.
 */
size_t mca_coll_pipering_rates_vary(const mca_coll_pipering_rates_t *rates, size_t block_size,
                                    size_t length, size_t total, unsigned lesson);

/* ---- factors (coll_pipering_plan_factors.c) ---- */

/** Adds a call that took `measured` seconds; of several, the shorter ones count most. */
void mca_coll_pipering_factors_add(mca_coll_pipering_factors_t *factors,
                                   const mca_coll_pipering_forecast_t *forecast, double measured);

/** Adds a call about so many bytes that the module below served, likewise. */
void mca_coll_pipering_factors_add_below(mca_coll_pipering_factors_t *factors, double bytes,
                                         double measured);

/** Modelled seconds with blocks of this size, weighed by what was measured (NULL: nothing). */
double mca_coll_pipering_factors_time(const mca_coll_pipering_factors_t *factors, double block_size,
                                      double time);

/**
 * Whether a call should not be left to the module below: by what was measured of both, else if
 * it is not slower than `slack` times the modelled rivals, or a little more where such calls
 * were not left so far. Without factors (NULL) the model decides.
 */
bool mca_coll_pipering_factors_pay(const mca_coll_pipering_factors_t *factors,
                                   const mca_coll_pipering_forecast_t *forecast, double slack);

/**
 * Whether a lesson about such a call, `lesson` counts them, is to take the other of the two:
 * the model is wrong, or what was measured of both is about the same.
 */
bool mca_coll_pipering_factors_doubt(const mca_coll_pipering_factors_t *factors,
                                     const mca_coll_pipering_forecast_t *forecast,
                                     unsigned lesson);

/* ---- outliers (coll_pipering_plan_outliers.c) ---- */

/**
 * The k-th of `count` values in order of size, 0 <= k < count, which are brought in
 * another order. Comparisons are counted in `comparisons` unless it is NULL.
 */
size_t mca_coll_pipering_select(size_t *values, size_t count, size_t k, uint64_t *comparisons);

/**
 * The largest contribution over the largest of the bulk, if at most `fraction` of the
 * processes (0 to 1) are outliers: infinite if the bulk is empty, 1 if all are.
 * `scratch` [p]. O(p).
 */
double mca_coll_pipering_outlier_ratio(const size_t *bytes, int p, double fraction,
                                       size_t *scratch);

/* ---- exchanges in few rounds (coll_pipering_plan_grid.c) ---- */

/** Who exchanges with whom. */
typedef struct mca_coll_pipering_grid_t {
    const mca_coll_pipering_ring_t *ring; /**< ranks in the order of nodes */
    int lanes;          /**< 1, or ranks of each node: those of all nodes exchange in lanes first */
    bool dissemination; /**< even where recursive doubling is possible */
} mca_coll_pipering_grid_t;

/** Shelves [first, first + count). */
typedef struct mca_coll_pipering_span_t {
    int first, count;
} mca_coll_pipering_span_t;

/** A round of a rank. */
typedef struct mca_coll_pipering_grid_round_t {
    int to, from;                        /**< ranks */
    mca_coll_pipering_span_t send, recv; /**< shelves of this rank */
} mca_coll_pipering_grid_round_t;

/** Nodes have the same number of ranks, so that these can exchange in lanes. */
bool mca_coll_pipering_grid_fits(const mca_coll_pipering_ring_t *ring);

int mca_coll_pipering_grid_rounds(const mca_coll_pipering_grid_t *grid);

/**
 * Round k of a rank. What it sends it had before the round, and who receives it expects
 * the contributions of the same ranks in the same order.
 */
mca_coll_pipering_grid_round_t mca_coll_pipering_grid_round(const mca_coll_pipering_grid_t *grid,
                                                            int me, int k);

/** Whose contribution stands on a shelf of rank `me`. */
int mca_coll_pipering_grid_rank(const mca_coll_pipering_grid_t *grid, int me, int shelf);

/**
 * Messages (as blocks) and bytes of a span: one for all contributions of up to `packed`
 * bytes that are not empty, and one for each larger one. O(span).
 */
mca_coll_pipering_volume_t mca_coll_pipering_grid_volume(const mca_coll_pipering_grid_t *grid,
                                                         int me, const size_t *bytes,
                                                         size_t packed,
                                                         mca_coll_pipering_span_t span);

/** An exchange as the model sees it. All pointers are borrowed. */
typedef struct mca_coll_pipering_grid_problem_t {
    const mca_coll_pipering_grid_t *grid;
    const size_t *bytes; /**< [p] by rank */
    size_t packed;       /**< larger contributions go alone */
    double copy;         /**< seconds a byte that is packed or unpacked */
    mca_coll_pipering_cost_t cost;
    void *scratch; /**< mca_coll_pipering_model_scratch(p) bytes */
} mca_coll_pipering_grid_problem_t;

/**
 * Modelled seconds, round by round: with the bytes of the busiest node where a round
 * is between nodes, else of the busiest rank. O(p log p).
 */
double mca_coll_pipering_grid_time(const mca_coll_pipering_grid_problem_t *problem);

/**
 * Modelled seconds, from below, of what else an MPI library does with ranks that it takes
 * for equal: gathering at a root and broadcasting, Bruck's algorithm, the linear ring.
 * (mca_coll_pipering_rival_time leaves out what they take inside nodes.)
 */
double mca_coll_pipering_grid_rival_time(const mca_coll_pipering_grid_problem_t *problem);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
