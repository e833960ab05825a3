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
 * A call of MPI_Allgather that leaders serve, and how it is decided.
 */

#ifndef MCA_COLL_MLEADER_CALL_H
#define MCA_COLL_MLEADER_CALL_H

#include "coll_mleader_params.h"
#include "coll_mleader_topology.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/common/colltools/common_colltools_schedule.h"

BEGIN_C_DECLS

/**
 * The entries of a slice's schedule in one half of the memory. A later slice of the same length,
 * with its area at the same address, uses them again.
 */
typedef struct mca_coll_mleader_listing_t {
    size_t length; /**< of the slice; 0: nothing is listed */
    const char *area;
    mca_common_colltools_needs_t entries; /**< number in each list */
    uint64_t messages[2], bytes[2];       /**< sent [0]: to other nodes, [1]: within the node */
} mca_coll_mleader_listing_t;

/** Memory for the schedules of slices. Calls with the same parameters use its entries again. */
typedef struct mca_coll_mleader_schedules_t {
    char *memory; /**< [size] */
    size_t size;
    const mca_coll_mleader_grouping_t *grouping; /**< parameters: of the last call ... */
    mca_coll_mleader_variant_t variant;          /**< ... that used them */
    size_t slice_size, message_size;
    mca_common_colltools_needs_t most;     /**< entries that fit into each list */
    mca_coll_mleader_listing_t listing[2]; /**< by the half (coll_mleader_segment.h) */
} mca_coll_mleader_schedules_t;

/** Most messages of a round of the leaders' ring; at least MCA_COMMON_COLLTOOLS_PIECES. */
#define MCA_COLL_MLEADER_MESSAGES 8

/** The state of a call. */
typedef enum {
    MCA_COLL_MLEADER_WAITING, /**< until the calls before it have ended */
    MCA_COLL_MLEADER_MOVING,
    MCA_COLL_MLEADER_OVER
} mca_coll_mleader_state_t;

/** A delivery: a step that copies contributions from an area to the user's buffer. */
typedef struct mca_coll_mleader_delivery_t {
    mca_coll_mleader_counter_t *counter; /**< the step sets it, or waits for it; NULL: none */
    int rounds;                          /**< value of the counter: rounds that are over */
    const char *area;
    mca_common_colltools_range_t piece[MCA_COMMON_COLLTOOLS_PIECES]; /**< positions */
} mca_coll_mleader_delivery_t;

/** A call of MPI_Allgather, and the slice of it that is being moved. */
typedef struct mca_coll_mleader_call_t {
    ompi_communicator_t *comm;
    mca_common_colltools_caller_t caller; /**< for error messages */
    mca_coll_mleader_topology_t *topology;
    mca_coll_mleader_shared_t *memory;
    const mca_coll_mleader_grouping_t *grouping; /**< of the topology */
    mca_coll_mleader_variant_t variant;
    const void *sbuf; /**< the contribution; in place: in rbuf */
    size_t scount;
    ompi_datatype_t *stype;
    char *rbuf;
    size_t rcount;
    ompi_datatype_t *rtype;
    ptrdiff_t stride;  /**< bytes from a contribution to the next in rbuf */
    ptrdiff_t true_lb; /**< of rtype */
    bool in_place;
    bool sdense, rdense;   /**< the contribution is contiguous; each one in rbuf is */
    bool on_device;        /**< a buffer of the user is in memory of a device */
    bool waits;            /**< blocking */
    int tag;
    size_t bytes;          /**< of a contribution */
    size_t slice_size;     /**< most bytes of a contribution in a slice */
    size_t message_size;   /**< most bytes of a message; a contribution's slice fits */
    char *scratch;         /**< private area, or NULL */
    char *packed;          /**< the whole contribution, packed for several slices, or NULL */
    bool pending;          /**< the call failed, and a message may still access its memory */
    mca_coll_mleader_state_t state;
    int error;             /**< once the call is over */
    uint64_t turn;         /**< as mca_coll_mleader_shared_take has it */
    uint64_t slice, end;   /**< number of the slice; number behind the call's last slice */
    size_t offset, length; /**< bytes of each contribution that the slice holds */
    char *area;            /**< where this rank sends from, and receives */
    char *shared;          /**< area in the segment that this rank's group uses, or NULL */
    int gathered;          /**< leader: ranks of its group found to have written, in order */
    mca_common_colltools_schedule_t schedule; /**< of the slice */
    mca_coll_mleader_delivery_t *delivery;    /**< of the steps of the schedule, in `schedules` */
    mca_coll_mleader_schedules_t *schedules;  /**< borrowed */
} mca_coll_mleader_call_t;

/** The number of slices of a call whose variant is chosen. */
static inline uint64_t mca_coll_mleader_slices(const mca_coll_mleader_call_t *call)
{
    return (call->bytes + call->slice_size - 1) / call->slice_size;
}

/** Runs a blocking call with its variant chosen; returns its error. */
int mca_coll_mleader_call_run(mca_coll_mleader_call_t *call);

/** Allocates, and frees, the memory of a call that does not wait, for any number of runs. */
int mca_coll_mleader_call_init(mca_coll_mleader_call_t *call);
void mca_coll_mleader_call_fini(mca_coll_mleader_call_t *call);

/** Begins a run: takes its slices. All ranks begin calls that share memory in the same order. */
void mca_coll_mleader_call_begin(mca_coll_mleader_call_t *call);

/** Moves a run on without waiting; adds to *progress. True: it is over, with call->error. */
bool mca_coll_mleader_call_move(mca_coll_mleader_call_t *call, int *progress);

/* ---- the decision (coll_mleader_decide.c) ---- */

/**
 * Judges a call with contributions of `bytes`, on a communicator of which `known` is known. If the
 * algorithm is not auto, leaders serve calls on all communicators on which they can.
 */
mca_coll_mleader_reason_t mca_coll_mleader_judge_call(const mca_coll_mleader_params_t *params,
                                                      size_t bytes,
                                                      mca_coll_mleader_reason_t known);

/** Whether leaders serve calls on a communicator with this topology. */
mca_coll_mleader_reason_t
mca_coll_mleader_judge_topology(const mca_coll_mleader_params_t *params,
                                const mca_coll_mleader_topology_t *topology);

/**
 * Chooses grouping, variant, slice_size and message_size of a call, if a segment has halves of
 * `half_size` bytes; 0: there is no segment.
 */
void mca_coll_mleader_decide(mca_coll_mleader_call_t *call,
                             const mca_coll_mleader_params_t *params, size_t half_size);

/** Bytes of a half that the largest slice of a call needs; 0: its variant uses no segment. */
size_t mca_coll_mleader_half_wanted(const mca_coll_mleader_call_t *call);

/** Writes the verbose line about a call, if one is wanted. */
void mca_coll_mleader_report(const mca_coll_mleader_call_t *call);

END_C_DECLS

#endif
