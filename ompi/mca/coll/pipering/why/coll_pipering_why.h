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
 * Which collective calls a program makes, who serves them and why (coll_pipering_why). A room on
 * the floor of calls.
 *
 *     calls     why_calls: a function for each that MPI calls; measures it and asks who served it
 *     module    why_module: a second component of this object, above all others, so that it sees
 *               calls that other components serve, too
 *     file      why_file: the table of the process, mapped from a file
 *     table     why_table: pure C
 *
 * Where the variable is not set, no communicator has such a module. Where it is, coll/pipering
 * leaves a verdict on each call at its communicator's context.
 */

#ifndef MCA_COLL_PIPERING_WHY_H
#define MCA_COLL_PIPERING_WHY_H

#include "ompi/mca/coll/pipering/call/coll_pipering.h"

#include "coll_pipering_why_table.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_decide.h"

BEGIN_C_DECLS

/* ---- what coll/pipering says of a call ---- */

/** Of the call that is being made on a communicator; MPI allows one at a time to start. */
typedef struct mca_coll_pipering_verdict_t {
    bool heard;                        /**< the call has come to coll/pipering, */
    mca_coll_pipering_reason_t reason; /**< which serves it (TAKEN), or leaves it for this reason */
    const char *algorithm;             /**< that serves it */
    bool fixed_point;            /**< by a sum that has the same bits in any order */
    bool foreseeable;            /**< the model can be asked what the call would take ... */
    mca_coll_pipering_key_t key; /**< ... by this key; its counts are the caller's */
} mca_coll_pipering_verdict_t;

/** Says that coll/pipering serves the call; where none is recorded nothing is kept. */
static inline void mca_coll_pipering_why_taken(const mca_coll_pipering_context_t *context,
                                               const char *algorithm)
{
    mca_coll_pipering_verdict_t *verdict = context->verdict;

    if (OPAL_UNLIKELY(NULL != verdict)) {
        verdict->heard = true;
        verdict->reason = MCA_COLL_PIPERING_TAKEN;
        verdict->algorithm = algorithm;
    }
}

/**
 * Says that coll/pipering serves the call by a sum in fixed point: by several other calls, of which
 * the model is not asked.
 */
static inline void mca_coll_pipering_why_fixed_point(const mca_coll_pipering_context_t *context)
{
    mca_coll_pipering_why_taken(context, "fixed-point sum");
    if (OPAL_UNLIKELY(NULL != context->verdict)) {
        context->verdict->fixed_point = true;
        context->verdict->foreseeable = false;
    }
}

/** Says why coll/pipering leaves the call to the module below. */
static inline void mca_coll_pipering_why_left(const mca_coll_pipering_context_t *context,
                                              mca_coll_pipering_reason_t reason)
{
    mca_coll_pipering_verdict_t *verdict = context->verdict;

    if (OPAL_UNLIKELY(NULL != verdict)) {
        verdict->heard = true;
        verdict->reason = reason;
    }
}

/* ---- recording (coll_pipering_why_module.c) ---- */

typedef struct mca_coll_pipering_why_module_t {
    mca_coll_base_module_t super;
    mca_coll_pipering_previous_t previous; /**< whoever serves calls */
    mca_coll_pipering_module_t *pipering;  /**< of the same communicator, or NULL; held */
    mca_coll_pipering_verdict_t verdict;   /**< on the call that is being made, while that lasts
                                                at the context of `pipering` */
} mca_coll_pipering_why_module_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_why_module_t);

/**
 * Opens the file of this process in the directory that the variable names, and has calls recorded
 * on all communicators to come; when the component is initialized. Without the variable, or if
 * there can be no file, which is reported, nothing is recorded: false.
 */
bool mca_coll_pipering_why_open(const char *directory);

/** Closes the file, when the component is. */
void mca_coll_pipering_why_close(void);

/** A call that is being made. */
typedef struct mca_coll_pipering_why_call_t {
    mca_coll_pipering_why_module_t *module;
    mca_coll_pipering_verdict_t *around; /**< on the call that this one is a part of, or NULL */
    double began, ended;                 /**< seconds */
} mca_coll_pipering_why_call_t;

mca_coll_pipering_why_call_t mca_coll_pipering_why_begin(mca_coll_base_module_t *base);

/** Takes the time at which a call has ended; what follows is not part of it. */
void mca_coll_pipering_why_end(mca_coll_pipering_why_call_t *call);

/**
 * Records a call that has ended. It is called `name`; `above` and `below` are the modules that
 * MPI and that coll/pipering, if there is one, hand it to.
 */
void mca_coll_pipering_why_record(const mca_coll_pipering_why_call_t *call, const char *name,
                                  ompi_communicator_t *comm, const mca_coll_base_module_t *above,
                                  const mca_coll_base_module_t *below,
                                  const mca_coll_pipering_why_shape_t *shape);

/** Sets the functions of a module (coll_pipering_why_calls.c). */
void mca_coll_pipering_why_set_functions(mca_coll_base_module_t *module);

/* ---- the table (coll_pipering_why_file.c) ---- */

/** Maps a new file in a directory, which is made if it is not there; NULL: that is reported. */
mca_coll_pipering_why_table_t *mca_coll_pipering_why_map(const char *directory);
void mca_coll_pipering_why_unmap(mca_coll_pipering_why_table_t *table);

END_C_DECLS

#endif
