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
 * Declarations that coll_pipering_alltoall_make.c and coll_pipering_alltoall_permuted.c share: the
 * draft of an exchange, and the messages of a side.
 */

#ifndef MCA_COLL_PIPERING_ALLTOALL_MAKE_H
#define MCA_COLL_PIPERING_ALLTOALL_MAKE_H

#include "coll_pipering_alltoall.h"
#include "coll_pipering_alltoall_side.h"

BEGIN_C_DECLS

/** The number of messages whose arrays fit into mca_coll_pipering_exchange_draft_t.few. */
#define MCA_COLL_PIPERING_EXCHANGE_FEW 64

/** The ways in which the messages of an exchange start (coll_pipering_alltoall_make.c). */
typedef enum {
    MCA_COLL_PIPERING_WAY_TOGETHER,
    MCA_COLL_PIPERING_WAY_PAIRS,
    MCA_COLL_PIPERING_WAY_PERMUTED
} mca_coll_pipering_way_t;

/** The order and number of messages, found before the exchange has memory for its lists. */
typedef struct mca_coll_pipering_exchange_draft_t {
    const mca_coll_pipering_exchange_plan_t *plan; /**< borrowed */
    int ranks, me;
    mca_coll_pipering_way_t way;
    const mca_coll_pipering_side_t *send; /**< &plan->send; in place: &plan->recv */
    bool sparse;       /**< few of many messages have elements; message i has the peer i */
    size_t sends;      /**< messages of `send`; sparse: those that have elements ... */
    int *listed;       /**< ... and their numbers, [sends] */
    size_t *bytes;     /**< [sends], sparse: of those listed */
    uint64_t *scratch; /**< for the plan */
    size_t *in, *out;  /**< [ins], [outs] messages in the order in which they start. Permuted: in[i]
                            is the number of bytes from rank i, out[i] the offset in `copies` of
                            the message to, then of the one from, rank i */
    size_t ins, outs;  /**< receives and sends ... */
    size_t in_window, out_window; /**< ... of which so many are under way */
    bool synchronous;  /**< sends end when their packets are received; ranks may differ */
    mca_coll_pipering_bins_t bins;
    size_t steps;  /**< in place: messages to be packed; else copies inside the process */
    size_t copies; /**< bytes of memory for packed messages */
    void *memory;  /**< of the arrays, NULL: they fit into `few` */
    uint64_t few[5 * MCA_COLL_PIPERING_EXCHANGE_FEW];
} mca_coll_pipering_exchange_draft_t;

/* ---- exchanges in packets (coll_pipering_alltoall_permuted.c) ---- */

/** Counts packets and copies: fills in ins, outs, windows, bins, steps and copies of the draft. */
void mca_coll_pipering_permuted_order(mca_coll_pipering_exchange_draft_t *draft);

/** Adds packets and copies to the schedule, whose lists have room for all. */
void mca_coll_pipering_permuted_list(mca_coll_pipering_exchange_t *exchange,
                                     mca_coll_pipering_exchange_draft_t *draft);

END_C_DECLS

#endif
