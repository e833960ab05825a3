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
 * Costs: of a link (plan_cost), of a pipeline of stages (plan_stages), and the block size of
 * least modelled time (plan_search).
 */

#ifndef MCA_COLL_PIPERING_PLAN_COST_H
#define MCA_COLL_PIPERING_PLAN_COST_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The cost of a link. In a stream a block takes `alpha` seconds of handling and
 * `beta` seconds a byte on the wire: their sum, as in the paper's model, or, with
 * `overlap`, about the longer of the two. Small blocks can follow each other after
 * `gap` seconds. On the wire a block has `envelope` bytes of headers more; `beta` includes
 * the frames of packets full with `packet` bytes (0: unknown), and a last packet that is
 * not full adds the rest of its frame of `frame` bytes. A block can be forwarded `latency`
 * seconds after its time on the link. A block of more than `eager` bytes (0: no bound)
 * needs a rendezvous first, which takes `handshake` seconds more. Besides `alpha`, handling takes
 * `copy` seconds a byte of the processor, which counts where that is slower than the wire. Where
 * long messages go both ways at once, each byte of those above `eager` takes `both` times as long
 * (less than 1: as long).
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
    double gap;
    double copy;
    double both;
} mca_coll_pipering_link_cost_t;

typedef struct mca_coll_pipering_cost_t {
    mca_coll_pipering_link_cost_t net;   /**< of a link between nodes */
    mca_coll_pipering_link_cost_t local; /**< of a link inside a node */
    double far;     /**< the latency of a link between nodes of different leaf switches */
    double uplinks; /**< of such a switch, together as fast as so many links of nodes; 0: as all of
                         its nodes' */
    double crowd; /**< ranks that share a processor, where all are at work; up to 1: none do */
} mca_coll_pipering_cost_t;

/** What all ranks of a call send, and combine, together. */
typedef struct mca_coll_pipering_work_t {
    double messages, bytes;             /**< between nodes */
    double local_messages, local_bytes; /**< inside nodes */
    double combining;                   /**< seconds */
} mca_coll_pipering_work_t;

/** The larger one, without the call that the C library's needs because of numbers that are none. */
static inline double mca_coll_pipering_larger(double a, double b)
{
    return a > b ? a : b;
}

/**
 * Seconds from the start of so many messages, of so many bytes together, to their arrival; the
 * bytes are those of the rank or node that sends most. `asked`: they need a rendezvous.
 */
double mca_coll_pipering_burst_time(const mca_coll_pipering_link_cost_t *link, double messages,
                                    double bytes, bool asked);

/** Seconds of the processors for that. */
double mca_coll_pipering_work_time(const mca_coll_pipering_cost_t *cost,
                                   const mca_coll_pipering_work_t *work);

/**
 * The same where so many blocks, with `bytes` bytes in all, pass links between nodes and inside.
 */
double mca_coll_pipering_links_work(const mca_coll_pipering_cost_t *cost, double across,
                                    double inside, double blocks, double bytes, double combining);

/**
 * Seconds of a call of so many ranks that takes `time` where each has a processor, and `work`
 * seconds of all processors.
 */
double mca_coll_pipering_crowded_time(const mca_coll_pipering_cost_t *cost, double time,
                                      double work, int ranks);

/* ---- links (coll_pipering_plan_cost.c) ---- */

/** Seconds of a link for `handled` seconds of handling and `sent` of sending; these may overlap. */
double mca_coll_pipering_link_time(const mca_coll_pipering_link_cost_t *link, double handled,
                                   double sent);

/** Seconds of a link for a stream of blocks of about equal size, `bytes` in all. */
double mca_coll_pipering_stream_time(const mca_coll_pipering_link_cost_t *link, double blocks,
                                     double bytes);

/**
 * Bytes on the wire of so many blocks with `bytes` bytes in all. `beta` includes the frames of full
 * packets, so a last packet that is not full adds the missing part of its frame.
 */
static inline double mca_coll_pipering_wire_bytes(const mca_coll_pipering_link_cost_t *link,
                                                  double blocks, double bytes)
{
    double around = link->envelope;

    if (0 < link->packet && 0 < blocks) {
        const double packets = (bytes / blocks + link->envelope) / link->packet;
        around += (ceil(packets) - packets) * link->frame;
    }
    return bytes + blocks * around;
}

/** How many times as long a byte takes in a round where messages of so many bytes go both ways. */
static inline double mca_coll_pipering_both_ways(const mca_coll_pipering_link_cost_t *link,
                                                 double bytes)
{
    return 1 < link->both && 0 < link->eager && bytes > link->eager ? link->both : 1;
}

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

/* ---- search (coll_pipering_plan_search.c) ---- */

/** Bytes from which contributions are cut even where whole ones are modelled a little faster. */
#define MCA_COLL_PIPERING_LARGE ((double) 65536)

/** Modelled seconds of a problem with blocks of at most B bytes. */
typedef double mca_coll_pipering_time_fn_t(const void *problem, size_t block_size);

/**
 * The block size of least modelled time among these: a geometric grid around `middle`,
 * `largest` / k, sizes that fill the packets of the busy link, its eager bound, and that of other
 * links that blocks pass (`eager`, 0: none). At least 1, at most `largest`, which is at least 1.
 * The time is asked for about 20 times.
 */
size_t mca_coll_pipering_search_size(mca_coll_pipering_time_fn_t *time_of, const void *problem,
                                     const mca_coll_pipering_link_cost_t *link, double eager,
                                     size_t largest, double middle);

#endif
