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
 * Modules that choose: how coll/mleader, which stands above coll/pipering, asks it who shall serve
 * a call (common_colltools_component.c).
 */

#ifndef MCA_COMMON_COLLTOOLS_CHOOSER_H
#define MCA_COMMON_COLLTOOLS_CHOOSER_H

#include "common_colltools.h"

BEGIN_C_DECLS

/** An MPI_Allgather with contributions of one size, as coll/mleader asks about it. */
typedef struct mca_common_colltools_question_t {
    size_t count, size; /**< elements of a contribution, and bytes of one by the signature */
    bool waits;         /**< the call may wait for other ranks, all of which ask in it */
} mca_common_colltools_question_t;

/** What the ranks know alike. */
typedef enum {
    MCA_COMMON_COLLTOOLS_UNKNOWN, /**< the machine, or where ranks are, is not known (yet) */
    MCA_COMMON_COLLTOOLS_LEADERS, /**< leaders are faster by the model */
    MCA_COMMON_COLLTOOLS_OTHERS   /**< they are not */
} mca_common_colltools_answer_t;

/**
 * A module that chooses; the class of other modules that do is derived from this one's. `choose`:
 * an error of the communicator's setup, or OMPI_SUCCESS with an answer.
 */
typedef struct mca_common_colltools_module_t {
    mca_coll_base_module_t super;
    int (*choose)(struct mca_common_colltools_module_t *module,
                  const mca_common_colltools_question_t *question,
                  mca_common_colltools_answer_t *answer);
} mca_common_colltools_module_t;

OBJ_CLASS_DECLARATION(mca_common_colltools_module_t);

/** The module, if it is one that chooses; else NULL. */
mca_common_colltools_module_t *mca_common_colltools_chooser(mca_coll_base_module_t *module);

END_C_DECLS

#endif
