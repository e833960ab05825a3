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
 * A copy inside of a process between any two datatypes.
 */

#ifndef MCA_COLL_PIPERING_COPY_H
#define MCA_COLL_PIPERING_COPY_H

#include "ompi_config.h"

#include <stddef.h>

#include "ompi/datatype/ompi_datatype.h"

BEGIN_C_DECLS

/** Elements in a buffer of the user. */
typedef struct mca_coll_pipering_place_t {
    char *buffer;
    size_t count;
    ompi_datatype_t *type;
} mca_coll_pipering_place_t;

/**
 * Copies all of `from` to the beginning of `to`, what a message of a process to itself
 * does. MPI_ERR_TRUNCATE if there is more than fits, and nothing is copied.
 */
int mca_coll_pipering_copy(const mca_coll_pipering_place_t *from,
                           const mca_coll_pipering_place_t *to);

END_C_DECLS

#endif
