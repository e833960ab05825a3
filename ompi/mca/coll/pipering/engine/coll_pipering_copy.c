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
 * mca_coll_pipering_copy(): from buffer to buffer by way of a few packed KiB.
 *
 *     from  |a.b..c.d|  ->  abcd  ->  |ab..cd..|  to
 *                         on the stack
 *
 * Where one of the two is contiguous, it takes the place of the stack. Between equal
 * types Open MPI copies block by block.
 *
 * Cost: two passes over the data, the second one in the first level's cache.
 * (ompi_datatype_sndrcv loses bytes where packing stops short of its buffer's end,
 * which happens behind the first 64 KiB.)
 */

#include "coll_pipering_copy.h"
#include "ompi/mca/common/colltools/common_colltools_compat.h"
#include "ompi/mca/common/colltools/common_colltools_copy.h"

#include "ompi/constants.h"
#include "opal/datatype/opal_convertor.h"

#define PIECE ((size_t) 16 * 1024)

/* A convertor knows of its own side whether it is memory of a device. */
static int copy_bytes(opal_convertor_t *packer, opal_convertor_t *unpacker, size_t bytes)
{
    const bool direct = 0 == ((packer->flags | unpacker->flags) & MCA_COMMON_COLLTOOLS_ON_DEVICE);
    char piece[PIECE];
    void *place;
    size_t done = 0;

    if (direct && !opal_convertor_need_buffers(unpacker)) {
        opal_convertor_get_current_pointer(unpacker, &place);
        done = mca_common_colltools_pack(packer, place, bytes);
    } else if (direct && !opal_convertor_need_buffers(packer)) {
        opal_convertor_get_current_pointer(packer, &place);
        done = mca_common_colltools_unpack(unpacker, place, bytes, false);
    } else {
        size_t in = 1, out = 1;
        for (; 0 < in && in == out && done < bytes; done += out) {
            in = mca_common_colltools_pack(packer, piece,
                                           bytes - done < PIECE ? bytes - done : PIECE);
            out = mca_common_colltools_unpack(unpacker, piece, in, false);
        }
    }
    return done == bytes ? OMPI_SUCCESS : OMPI_ERROR;
}

static int copy_unlike(const mca_coll_pipering_place_t *from, const mca_coll_pipering_place_t *to,
                       size_t bytes)
{
    opal_convertor_t packer, unpacker;

    OBJ_CONSTRUCT(&packer, opal_convertor_t);
    OBJ_CONSTRUCT(&unpacker, opal_convertor_t);
    mca_common_colltools_packer(&packer, from->type, from->count, from->buffer);
    mca_common_colltools_unpacker(&unpacker, to->type, to->count, to->buffer);
    const int rc = copy_bytes(&packer, &unpacker, bytes);
    OBJ_DESTRUCT(&unpacker);
    OBJ_DESTRUCT(&packer);
    return rc;
}

int mca_coll_pipering_copy(const mca_coll_pipering_place_t *from,
                           const mca_coll_pipering_place_t *to)
{
    size_t bytes, size;

    ompi_datatype_type_size(from->type, &bytes);
    ompi_datatype_type_size(to->type, &size);
    bytes *= from->count;
    if (bytes > size * to->count) {
        return MPI_ERR_TRUNCATE;
    }
    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    return from->type == to->type
               ? ompi_datatype_copy_content_same_ddt(from->type, from->count, to->buffer,
                                                     from->buffer)
               : copy_unlike(from, to, bytes);
}
