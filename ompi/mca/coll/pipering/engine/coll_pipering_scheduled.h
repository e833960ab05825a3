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
 * Calls by the schedule engine (common_colltools_schedule.h) in place of pipelines: what each of
 * them has, so that requests begin, move and end all of them alike; and those that go in rounds.
 */

#ifndef MCA_COLL_PIPERING_SCHEDULED_H
#define MCA_COLL_PIPERING_SCHEDULED_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_engine.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_grid.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_pulls.h"
#include "ompi/mca/common/colltools/common_colltools_schedule.h"
#include "ompi/op/op.h"

BEGIN_C_DECLS

/**
 * The first member of a call by the schedule engine. Its messages and steps are listed, so that
 * mca_common_colltools_schedule_begin and _move serve it; its error is schedule.error.
 */
typedef struct mca_coll_pipering_scheduled_t {
    mca_common_colltools_schedule_t schedule;
    mca_coll_pipering_traffic_t traffic; /**< all that the schedule lists */
    void *memory;                        /**< of values, freed with it; or NULL */
    opal_convertor_t *unpacker;          /**< of what is delivered, likewise */
    struct mca_coll_pipering_scheduled_t *inner; /**< that it moves, freed with it; or NULL */
    int unpacking;                       /**< contribution that it is at, -1: none ... */
    size_t unpacked;                     /**< ... and bytes of that before */
} mca_coll_pipering_scheduled_t;

/**
 * A call of `size` bytes, zeroed but for its schedule, which has lists of so many entries; `more`
 * bytes follow in the same memory, at *behind. The caller of messages is borrowed. NULL: no memory.
 */
void *mca_coll_pipering_scheduled_new(const mca_common_colltools_caller_t *caller, int tag,
                                      size_t size, mca_common_colltools_needs_t most, size_t more,
                                      void **behind);

/** All is listed: opens the windows, and counts the traffic. */
void mca_coll_pipering_scheduled_listed(mca_coll_pipering_scheduled_t *scheduled);

/** Packs the contribution of a rank, of so many bytes; OMPI_ERROR, or the error of the copy. */
int mca_coll_pipering_scheduled_pack(mca_coll_pipering_scheduled_t *scheduled,
                                     const mca_coll_pipering_layout_t *layout, int rank,
                                     char *packed, size_t bytes);

/**
 * Brings up to `bytes` packed bytes of a contribution, from byte `begin` on, to their place; the
 * bytes that have been brought, 0: an error. Elements that are not dense want the unpacker.
 * `on_device`: either may be memory of a device.
 */
size_t mca_coll_pipering_scheduled_deliver(mca_coll_pipering_scheduled_t *scheduled,
                                           const mca_coll_pipering_layout_t *layout, int rank,
                                           const char *packed, size_t begin, size_t bytes,
                                           bool on_device);

/** Frees all but the memory into which a message may still come; true if there is any. */
bool mca_coll_pipering_scheduled_free(mca_coll_pipering_scheduled_t *scheduled);

/* ---- rounds ---- */

/**
 * Rounds of blocks that are under way, so that a rank that is late does not delay others at once.
 * Sends of blocks are synchronous: one that is over when it is buffered would let a rank run ahead,
 * and its blocks for several others share the link, each of them late.
 */
#define MCA_COLL_PIPERING_ROUNDS_AHEAD 3

/** A call in rounds; all it points at is borrowed until the call is freed. */
typedef struct mca_coll_pipering_rounds_args_t {
    const mca_common_colltools_caller_t *caller; /**< for complaints about messages */
    int tag;
    bool synchronous; /**< sends wait for their receives, so that no rank runs ahead */
    int me;           /**< this rank, as one of those that have bytes below */
    bool in_place;    /**< of a gather: what this rank contributes lies where `recv` has it */
    const mca_coll_pipering_layout_t *send, *recv;
    const mca_coll_pipering_grid_t *grid;   /**< in bytes, or elements; not of a scan */
    const mca_coll_pipering_slots_t *slots; /**< of this rank */
    uint64_t in, out;     /**< messages of this rank */
    const mca_coll_pipering_splits_t *splits; /**< of a gather by pulls */
    const struct mca_coll_pipering_rounds_args_t *across; /**< of a call by leaders: their exchange,
                                                               not kept; NULL: this is no leader */
    bool reads; /**< by pulls or leaders: all ranks of this node can read each other's memory */
    const size_t *bytes;  /**< [p] of a gather */
    int contributor;      /**< the first rank that contributes any */
    const size_t *starts; /**< [p] elements of the vector before the part of each rank */
    ompi_op_t *op;        /**< NULL: a gather, or a barrier */
    mca_coll_pipering_unit_t unit; /**< of what is combined */
    size_t count;         /**< elements of the vector of a scan, or along lines of a mesh */
    bool exclusive;       /**< it is MPI_Exscan */
    bool spreads;         /**< an allreduce; else each rank gets its part */
} mca_coll_pipering_rounds_args_t;

/** Of a gather: the user's buffer that has this rank's contribution. */
static inline const mca_coll_pipering_layout_t *
mca_coll_pipering_rounds_source(const mca_coll_pipering_rounds_args_t *args)
{
    return args->in_place ? args->recv : args->send;
}

/** Likewise: whether one of the user's buffers is memory of a device. */
bool mca_coll_pipering_rounds_on_device(const mca_coll_pipering_rounds_args_t *args);

/**
 * Makes a gather in rounds and takes all memory it will ever want; own values are copied, nothing
 * is sent or received yet. OMPI_ERR_OUT_OF_RESOURCE, or the error of a copy; *made is to be freed
 * also then, if it is not NULL.
 */
int mca_coll_pipering_gather_rounds_new(const mca_coll_pipering_rounds_args_t *args,
                                        mca_coll_pipering_scheduled_t **made);

/* ---- values of reductions and scans (coll_pipering_reduce_rounds.c) ---- */

/** A reduction, or a scan, likewise. */
int mca_coll_pipering_reduce_rounds_new(const mca_coll_pipering_rounds_args_t *args,
                                        mca_coll_pipering_scheduled_t **made);
int mca_coll_pipering_scan_rounds_new(const mca_coll_pipering_rounds_args_t *args,
                                      mca_coll_pipering_scheduled_t **made);

/** Copies elements, if they are not there already. */
int mca_coll_pipering_rounds_copy(mca_coll_pipering_scheduled_t *scheduled,
                                  const mca_coll_pipering_unit_t *unit, char *to, char *from,
                                  size_t count);

/**
 * Combines elements of `front` in front of those of `vector`, from *done on, at most so many that
 * links are looked at again soon: OMPI_ERR_WOULD_BLOCK if some are left; else *done is 0 again.
 */
int mca_coll_pipering_rounds_combine(const mca_coll_pipering_rounds_args_t *args, char *front,
                                     char *vector, size_t count, size_t *done);

END_C_DECLS

#endif
