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

/**
 * A module that chooses; the class of other modules that do is derived from this one's.
 *
 * `choose`: whether an MPI_Allgather of `count` elements of `size` bytes a rank is faster by
 * *others than by leaders, as far as the ranks know alike. An error of the communicator's setup, or
 * OMPI_SUCCESS.
 */
typedef struct mca_common_colltools_module_t {
    mca_coll_base_module_t super;
    int (*choose)(struct mca_common_colltools_module_t *module, size_t count, size_t size,
                  bool *others);
} mca_common_colltools_module_t;

OBJ_CLASS_DECLARATION(mca_common_colltools_module_t);

/** The module, if it is one that chooses; else NULL. */
mca_common_colltools_module_t *mca_common_colltools_chooser(mca_coll_base_module_t *module);

END_C_DECLS

#endif
