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
 * One convertor packs or unpacks the fragments of a message in order, as a PML does, and what that
 * costs is told apart: the search for places and moving data. A receiver searches in
 * opal_convertor_set_position(). A sender looks ahead before each fragment as btl/tcp does, if the
 * engine has a look-ahead: that is search, too. Segments that it would send as they are cost no
 * packing.
 */

#include "opal_config.h"

#include <string.h>

#include "ompi/datatype/ompi_datatype.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/datatype/opal_datatype_internal.h"

#if __has_include("opal/datatype/opal_convertor_lookahead.h")
#    include "opal/datatype/opal_convertor_lookahead.h"
#else
#    define opal_convertor_take_segments(convertor, iov, count, most, bytes) \
        ((void) (iov), (void) (most), false)
#endif

#include "ddt.h"

#define SEGMENTS 15 /* of a BTL's descriptor, besides the header */

/* Packs or unpacks a fragment; its bytes. */
static size_t move_fragment(opal_convertor_t *convertor, bool send, unsigned char *packed,
                            size_t bytes)
{
    struct iovec iov = {.iov_base = packed, .iov_len = bytes};
    uint32_t count = 1;

    if (send) {
        opal_convertor_pack(convertor, &iov, &count, &bytes);
    } else {
        opal_convertor_unpack(convertor, &iov, &count, &bytes);
    }
    return bytes;
}

/* Segments to be sent as they are; 0 bytes: to be packed. */
static size_t look_ahead(opal_convertor_t *convertor, size_t most, struct iovec *iov,
                         uint32_t *count)
{
    size_t bytes = 0;

    *count = SEGMENTS;
    if (0 == opal_convertor_need_buffers(convertor)
        || !opal_convertor_take_segments(convertor, iov, count, most, &bytes)) {
        return 0;
    }
    return bytes;
}

/* As the network would take them; for the check. */
static void copy_segments(unsigned char *packed, const struct iovec *iov, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        memcpy(packed, iov[i].iov_base, iov[i].iov_len);
        packed += iov[i].iov_len;
    }
}

/* A fragment at a place; its bytes. */
static size_t handle_fragment(opal_convertor_t *convertor, bool send, unsigned char *packed,
                              size_t position, size_t most, ddt_cost_t *cost)
{
    struct iovec iov[SEGMENTS];
    const double start = MPI_Wtime();
    uint32_t count = 0;
    size_t bytes = 0;

    if (send) {
        bytes = look_ahead(convertor, most, iov, &count);
    } else {
        opal_convertor_set_position(convertor, &position);
    }
    const double found = MPI_Wtime();
    cost->search += found - start;
    if (0 < bytes) {
        copy_segments(packed, iov, count);
    } else {
        bytes = move_fragment(convertor, send, packed, most);
        cost->move += MPI_Wtime() - found;
    }
    return bytes;
}

ddt_cost_t ddt_convert(const ddt_layout_t *layout, bool send, unsigned char *memory,
                       unsigned char *packed, size_t fragment)
{
    const opal_datatype_t *type = &((ompi_datatype_t *) layout->type)->super;
    ddt_cost_t cost = {0.0, 0.0};
    opal_convertor_t convertor;
    size_t bytes = 1;

    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    if (send) {
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, type, 1, memory, 0,
                                                 &convertor);
    } else {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, type, 1, memory, 0,
                                                 &convertor);
    }
    /* No bytes at all: the check will tell. */
    for (size_t position = 0; position < layout->bytes && 0 < bytes; position += bytes) {
        const size_t left = layout->bytes - position;

        bytes = handle_fragment(&convertor, send, packed + position, position,
                                left < fragment ? left : fragment, &cost);
    }
    opal_convertor_cleanup(&convertor);
    OBJ_DESTRUCT(&convertor);
    return cost;
}
