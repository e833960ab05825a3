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
 * Short calls along the lines of a mesh: a plan of the schedule engine (lines:
 * coll_pipering_plan_mesh_lines.c).
 *
 *     value ---> sends of phase 0      value ---> sends of phase 1
 *       |                               ^ |
 *       '--> combined with receives ----' '--> combined ...       the last one: the result
 *
 * Values of all phases have memory of their own, so all receives are posted at once. All ranks
 * combine the parts of a phase from the last one on, so their results have the same bits.
 *
 * Without an operation messages have no bytes: a barrier. No rank is through before it has heard of
 * all others, by way of the others.
 */

#ifndef MCA_COLL_PIPERING_LINES_H
#define MCA_COLL_PIPERING_LINES_H

#include "ompi/mca/common/irregular/common_irregular_compat.h"

#include "coll_pipering_engine.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_mesh_lines.h"
#include "ompi/mca/common/irregular/common_irregular_schedule.h"
#include "ompi/op/op.h"

BEGIN_C_DECLS

/** The arguments of a call along lines, borrowed until mca_coll_pipering_along_lines_fini. */
typedef struct mca_coll_pipering_along_lines_plan_t {
    const mca_common_irregular_caller_t *caller; /**< for complaints about messages */
    mca_coll_pipering_lines_t lines;
    ompi_op_t *op;         /**< one that commutes; NULL: a barrier, with nothing below but tag */
    ompi_datatype_t *type;
    size_t count, bytes;   /**< of the vector: elements of the type, and bytes of the signature */
    const char *send;      /**< NULL: this rank's value is in `recv` */
    char *recv;
    int tag;
} mca_coll_pipering_along_lines_plan_t;

/** A phase that is under way. */
typedef struct mca_coll_pipering_along_lines_phase_t {
    mca_coll_pipering_lines_phase_t plan;
    char **part; /**< [plan.parts] values; the last one becomes the result */
} mca_coll_pipering_along_lines_phase_t;

/** A call along lines that is under way. */
typedef struct mca_coll_pipering_along_lines_t {
    mca_coll_pipering_along_lines_plan_t plan;
    mca_common_irregular_schedule_t schedule;
    mca_coll_pipering_along_lines_phase_t phase[MCA_COLL_PIPERING_LINES_PHASES];
    int phases;
    void *memory; /**< of lists */
    char *values; /**< received ones */
    mca_coll_pipering_traffic_t traffic;
} mca_coll_pipering_along_lines_t;

/** Takes all memory and lists messages; nothing is sent yet. OMPI_ERR_OUT_OF_RESOURCE: none. */
int mca_coll_pipering_along_lines_init(mca_coll_pipering_along_lines_t *along,
                                       const mca_coll_pipering_along_lines_plan_t *plan);

/** Begins, also again after the end. */
void mca_coll_pipering_along_lines_begin(mca_coll_pipering_along_lines_t *along);

/** Moves on without waiting; true: it is over, along->schedule.error is its error. */
bool mca_coll_pipering_along_lines_move(mca_coll_pipering_along_lines_t *along, int *progress);

/** Frees all but the memory into which a message may still come; true if there is any. */
bool mca_coll_pipering_along_lines_fini(mca_coll_pipering_along_lines_t *along);

END_C_DECLS

#endif
