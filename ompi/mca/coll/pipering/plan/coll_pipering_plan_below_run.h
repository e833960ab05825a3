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
 * The algorithms of the modules below, played message by message (for plan_below alone).
 */

#ifndef MCA_COLL_PIPERING_PLAN_BELOW_RUN_H
#define MCA_COLL_PIPERING_PLAN_BELOW_RUN_H

#include "coll_pipering_plan_below.h"

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/** What a phase takes: seconds along its longest path, and of all processors together. */
typedef struct mca_coll_pipering_below_tally_t {
    double time, messages, bytes, work;
} mca_coll_pipering_below_tally_t;

/** Who takes part. */
typedef enum {
    MCA_COLL_PIPERING_BELOW_ALL,
    MCA_COLL_PIPERING_BELOW_ACROSS, /**< a rank of each node */
    MCA_COLL_PIPERING_BELOW_INSIDE  /**< the ranks of the largest node */
} mca_coll_pipering_below_group_t;

/** A phase that is being played. A port is the link of a node, or of a rank inside its node. */
typedef struct mca_coll_pipering_below_run_t {
    int ranks;
    const int *node_of; /**< NULL: there are no other links than `net` */
    const mca_coll_pipering_link_cost_t *net, *local;
    double combine;             /**< seconds a byte */
    const size_t *bytes;        /**< contributions; NULL: all are of `block` bytes */
    double block;
    double *now, *then, *spare; /**< [ranks] seconds; then is now outside of rounds */
    double *out, *in;           /**< [2 ranks] when ports are free: those of nodes, of ranks */
    double *sums;               /**< [ranks + 1] */
    mca_coll_pipering_below_tally_t tally;
} mca_coll_pipering_below_run_t;

/** Trees of coll/base; the ordered one has its root at the last rank. */
typedef enum {
    MCA_COLL_PIPERING_BELOW_LINEAR,
    MCA_COLL_PIPERING_BELOW_CHAIN,
    MCA_COLL_PIPERING_BELOW_BINARY,
    MCA_COLL_PIPERING_BELOW_BINOMIAL,
    MCA_COLL_PIPERING_BELOW_NEAR_BINOMIAL, /**< "in-order": subtrees of ranks in a row */
    MCA_COLL_PIPERING_BELOW_KNOMIAL,       /**< radix 4 */
    MCA_COLL_PIPERING_BELOW_ORDERED_BINARY
} mca_coll_pipering_below_tree_t;

/** A run in the call's scratch memory, which has place for one. */
mca_coll_pipering_below_run_t mca_coll_pipering_below_open(
    const mca_coll_pipering_below_call_t *call, mca_coll_pipering_below_group_t group);

/** What all that was played in it took. */
mca_coll_pipering_below_tally_t
mca_coll_pipering_below_close(const mca_coll_pipering_below_run_t *run);

/* ---- messages (coll_pipering_plan_below_run.c) ---- */

/** Between these, each rank sends from where it stood when the round was opened. */
void mca_coll_pipering_below_open_round(mca_coll_pipering_below_run_t *run);
void mca_coll_pipering_below_close_round(mca_coll_pipering_below_run_t *run);

/** A message; its receiver combines it. */
void mca_coll_pipering_below_send(mca_coll_pipering_below_run_t *run, int from, int to,
                                  double bytes, bool combines);

/** From the root, so many bytes to the even and the odd positions of the tree. */
void mca_coll_pipering_below_spread(mca_coll_pipering_below_run_t *run,
                                    mca_coll_pipering_below_tree_t tree, int root, double even,
                                    double odd);

/** To the root: a vector, or up a near binomial tree, if not combined, a block of each rank. */
void mca_coll_pipering_below_collect(mca_coll_pipering_below_run_t *run,
                                     mca_coll_pipering_below_tree_t tree, int root, double bytes,
                                     bool combines);

/** Counts messages that are not played, of so many bytes together. */
void mca_coll_pipering_below_count(mca_coll_pipering_below_run_t *run,
                                   const mca_coll_pipering_link_cost_t *link, double messages,
                                   double bytes, bool combines);

/** Seconds of a message of so many bytes besides those on the wire. */
double mca_coll_pipering_below_start(const mca_coll_pipering_link_cost_t *link, double bytes);

bool mca_coll_pipering_below_inside(const mca_coll_pipering_below_run_t *run, int from, int to);

/** Index of a rank's port. */
int mca_coll_pipering_below_port(const mca_coll_pipering_below_run_t *run, int rank, bool inside);

/* ---- gathers (coll_pipering_plan_below_blocks.c) ---- */

/** Algorithms of an allgather(v) by coll/tuned's numbers, but for those that call a broadcast. */
void mca_coll_pipering_below_play_blocks(mca_coll_pipering_below_run_t *run,
                                         mca_coll_pipering_collective_t collective,
                                         int algorithm);

/** All blocks to all ranks, one a round to the next rank. */
void mca_coll_pipering_below_ring(mca_coll_pipering_below_run_t *run, bool combines);

/** A gather to rank 0 by coll/tuned's algorithm of this number; 0: coll/basic's gatherv. */
void mca_coll_pipering_below_play_gather(mca_coll_pipering_below_run_t *run, int algorithm);

/* ---- vectors (coll_pipering_plan_below_vector.c) ---- */

/** The largest power of two up to so many ranks. */
int mca_coll_pipering_below_power(int ranks);

/**
 * Algorithms by coll/tuned's numbers, and coll/basic's scans, of a vector of so many bytes in
 * elements of `unit`; not an allreduce by coll_reduce and coll_bcast.
 */
void mca_coll_pipering_below_play(mca_coll_pipering_below_run_t *run,
                                  mca_coll_pipering_collective_t collective, int algorithm,
                                  int root, double bytes, double unit);

/** coll/libnbc's broadcast or reduction. */
void mca_coll_pipering_below_play_nbc(mca_coll_pipering_below_run_t *run,
                                      mca_coll_pipering_collective_t collective, int root,
                                      double bytes, double unit);

/* ---- others (coll_pipering_plan_below_any.c) ---- */

/** The least that an algorithm of other modules needs; of several ones the least of each. */
mca_coll_pipering_below_tally_t
mca_coll_pipering_below_least(const mca_coll_pipering_below_call_t *call);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
