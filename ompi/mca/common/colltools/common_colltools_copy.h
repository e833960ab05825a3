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
 * Copies of memory, which may be that of a device.
 */

#ifndef MCA_COMMON_COLLTOOLS_COPY_H
#define MCA_COMMON_COLLTOOLS_COPY_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include "ompi/datatype/ompi_datatype.h"
#include "opal/datatype/opal_convertor.h"

BEGIN_C_DECLS

/**
 * The bytes of memory that `count` elements of a type lie in, and in *gap how far behind the
 * address of the elements these bytes begin. Both are multiples of 16, so that the address is
 * aligned as the memory is, and other elements can follow. These want a span of their own: where
 * elements interleave, the first one of a span lies inside of the last one before it.
 * opal_datatype_span gives the bytes too, but not where the extent is negative, so that each
 * element lies before the last.
 */
size_t mca_common_colltools_span(const ompi_datatype_t *type, size_t count, ptrdiff_t *gap);

/** Whether an element may lie between the parts of another one, as columns of a matrix do. */
bool mca_common_colltools_interleaves(const ompi_datatype_t *type);

/** Whether elements in a row are their bytes alone, from the address of the first one on. */
bool mca_common_colltools_is_dense(const ompi_datatype_t *type);

/** Whether there may be memory of a device. */
bool mca_common_colltools_has_device(void);

/**
 * Whether the bytes of the first element at an address are memory of a device, which the host must
 * neither read nor write; a type may have them beside the address. Ranks may differ in this, so it
 * must not decide anything that ranks have to agree on.
 */
bool mca_common_colltools_on_device(const ompi_datatype_t *type, const void *elements);

/** As mca_common_colltools_copy, by Open MPI's own function for memory of devices. */
int mca_common_colltools_copy_by_device(void *to, const void *from, size_t bytes);

/**
 * Copies bytes between areas that do not overlap. `on_device`: either may be memory of a
 * device. OMPI_ERROR if the device cannot copy.
 */
static inline int mca_common_colltools_copy(void *to, const void *from, size_t bytes,
                                            bool on_device)
{
    if (on_device) {
        return mca_common_colltools_copy_by_device(to, from, bytes);
    }
    memcpy(to, from, bytes);
    return OMPI_SUCCESS;
}

/**
 * Makes a constructed convertor one that packs, or unpacks, elements of a buffer of the user. Open
 * MPI only asks whether the address of the elements is memory of a device, not where they have
 * their bytes.
 */
void mca_common_colltools_packer(opal_convertor_t *packer, const ompi_datatype_t *type,
                                 size_t count, const void *elements);
void mca_common_colltools_unpacker(opal_convertor_t *unpacker, const ompi_datatype_t *type,
                                   size_t count, const void *elements);

/*
 * opal_convertor_pack and opal_convertor_unpack with one piece of packed memory. A convertor
 * knows only of the unpacked side whether it is memory of a device; `on_device`: the packed side
 * may be. Returns the bytes packed or unpacked, up to `bytes`; 0: no more are possible.
 */
size_t mca_common_colltools_pack(opal_convertor_t *packer, char *packed, size_t bytes);
size_t mca_common_colltools_unpack(opal_convertor_t *unpacker, const char *packed, size_t bytes,
                                   bool on_device);

END_C_DECLS

#endif
