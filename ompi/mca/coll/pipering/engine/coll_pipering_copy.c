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

#include <stdbool.h>
#include <stdint.h>

#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/datatype/opal_convertor.h"

#define PIECE ((size_t) 16 * 1024)

static int unpack(opal_convertor_t *unpacker, void *packed, size_t bytes)
{
    struct iovec iov = {.iov_base = packed, .iov_len = bytes};
    uint32_t iovs = 1;
    size_t unpacked = bytes;

    const int rc = opal_convertor_unpack(unpacker, &iov, &iovs, &unpacked);
    return 0 <= rc && bytes == unpacked ? OMPI_SUCCESS : OMPI_ERROR;
}

/* Packs up to `bytes`; NULL memory: where data is contiguous its place is set. */
static int pack(opal_convertor_t *packer, void **memory, size_t *bytes)
{
    struct iovec iov = {.iov_base = *memory, .iov_len = *bytes};
    uint32_t iovs = 1;

    const int rc = opal_convertor_pack(packer, &iov, &iovs, bytes);
    *memory = iov.iov_base;
    return 0 <= rc && 0 < *bytes ? OMPI_SUCCESS : OMPI_ERROR;
}

static int copy_pieces(opal_convertor_t *packer, opal_convertor_t *unpacker, size_t bytes,
                       bool contiguous)
{
    char room[PIECE];
    int rc = OMPI_SUCCESS;

    while (0 < bytes && OMPI_SUCCESS == rc) {
        void *packed = contiguous ? NULL : room;
        size_t piece = contiguous || bytes < PIECE ? bytes : PIECE;

        rc = pack(packer, &packed, &piece);
        if (OMPI_SUCCESS == rc) {
            rc = unpack(unpacker, packed, piece);
            bytes -= piece;
        }
    }
    return rc;
}

/* A convertor knows of its own side whether it is memory of a device. */
static int copy_bytes(opal_convertor_t *packer, opal_convertor_t *unpacker, size_t bytes)
{
    const bool direct = 0 == ((packer->flags | unpacker->flags) & MCA_COMMON_COLLTOOLS_ON_DEVICE);
    size_t packed = bytes;
    void *memory;

    if (!direct || opal_convertor_need_buffers(unpacker)) {
        return copy_pieces(packer, unpacker, bytes,
                           direct && !opal_convertor_need_buffers(packer));
    }
    opal_convertor_get_current_pointer(unpacker, &memory);
    const int rc = pack(packer, &memory, &packed);
    return OMPI_SUCCESS == rc && packed != bytes ? OMPI_ERROR : rc;
}

static int copy_unlike(const mca_coll_pipering_place_t *from, const mca_coll_pipering_place_t *to,
                       size_t bytes)
{
    opal_convertor_t packer, unpacker;

    OBJ_CONSTRUCT(&packer, opal_convertor_t);
    OBJ_CONSTRUCT(&unpacker, opal_convertor_t);
    int rc = opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor,
                                                      &from->type->super, from->count,
                                                      from->buffer, 0, &packer);
    if (OPAL_SUCCESS == rc) {
        rc = opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor,
                                                      &to->type->super, to->count, to->buffer, 0,
                                                      &unpacker);
    }
    if (OPAL_SUCCESS == rc) {
        rc = copy_bytes(&packer, &unpacker, bytes);
    }
    OBJ_DESTRUCT(&unpacker);
    OBJ_DESTRUCT(&packer);
    return rc;
}

int mca_coll_pipering_copy(const mca_coll_pipering_place_t *from,
                           const mca_coll_pipering_place_t *to)
{
    size_t bytes, room;

    ompi_datatype_type_size(from->type, &bytes);
    ompi_datatype_type_size(to->type, &room);
    bytes *= from->count;
    if (bytes > room * to->count) {
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
