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
 * Copies of users' data, which may be memory of a device: by framework accelerator in Open
 * MPI 5.0, by the CUDA support of 4.1 if it was built with it. Convertors are told of memory of a
 * device on the unpacked side; ompi_datatype_copy_content_same_ddt recognizes it on both sides.
 *
 * Cost: without devices one call of component accelerator/null for each buffer.
 */

#include "common_colltools.h"

#include "ompi/constants.h"

/* Places of elements are multiples of one more, as those of memory are that malloc gives. */
#define ALIGNED ((ptrdiff_t) 15)

size_t mca_common_colltools_span(const ompi_datatype_t *type, size_t count, ptrdiff_t *gap)
{
    const opal_datatype_t *layout = &type->super;

    *gap = 0;
    if (0 == count || 0 == layout->size) {
        return 0;
    }
    const ptrdiff_t last = (ptrdiff_t) (count - 1) * (layout->ub - layout->lb);
    const ptrdiff_t begin = layout->true_lb + (0 > last ? last : 0);
    const ptrdiff_t end = layout->true_ub + (0 > last ? 0 : last);

    *gap = begin & ~ALIGNED;
    return (size_t) ((end - *gap + ALIGNED) & ~ALIGNED);
}

bool mca_common_colltools_interleaves(const ompi_datatype_t *type)
{
    const opal_datatype_t *layout = &type->super;
    const ptrdiff_t extent = layout->ub - layout->lb;

    return layout->true_ub - layout->true_lb > (0 > extent ? -extent : extent);
}

bool mca_common_colltools_is_dense(const ompi_datatype_t *type)
{
    const opal_datatype_t *layout = &type->super;

    return 0 == layout->true_lb && opal_datatype_is_contiguous_memory_layout(layout, 2)
           && (ptrdiff_t) layout->size == layout->ub - layout->lb;
}

#if MCA_COMMON_COLLTOOLS_HAS_ACCELERATOR

#    include "opal/mca/accelerator/accelerator.h"
#    include "opal/mca/accelerator/base/base.h"

bool mca_common_colltools_has_device(void)
{
    return 0 != strcmp("null",
                       opal_accelerator_base_selected_component.base_version.mca_component_name);
}

static bool is_on_device(const char *address)
{
    uint64_t flags;
    int device;

    return 0 < opal_accelerator.check_addr(address, &device, &flags);
}

int mca_common_colltools_copy_by_device(void *to, const void *from, size_t bytes)
{
    /* what asks of an address also makes its device that of this thread, which may have none yet */
    if (!is_on_device(to)) {
        (void) is_on_device(from);
    }
    const int rc = opal_accelerator.mem_copy(MCA_ACCELERATOR_NO_DEVICE_ID,
                                             MCA_ACCELERATOR_NO_DEVICE_ID, to, from, bytes,
                                             MCA_ACCELERATOR_TRANSFER_UNSPEC);
    return OPAL_SUCCESS == rc ? OMPI_SUCCESS : OMPI_ERROR;
}

#elif OPAL_CUDA_SUPPORT

#    include "opal/datatype/opal_datatype_cuda.h"

bool mca_common_colltools_has_device(void)
{
    return true;
}

static bool is_on_device(const char *address)
{
    return opal_cuda_check_bufs((char *) address, (char *) address);
}

/* opal_cuda_memcpy_sync ends the job itself if it fails. */
int mca_common_colltools_copy_by_device(void *to, const void *from, size_t bytes)
{
    (void) opal_cuda_memcpy_sync(to, from, bytes);
    return OMPI_SUCCESS;
}

#else

bool mca_common_colltools_has_device(void)
{
    return false;
}

static bool is_on_device(const char *address)
{
    (void) address;
    return false;
}

int mca_common_colltools_copy_by_device(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return OMPI_SUCCESS;
}

#endif

bool mca_common_colltools_on_device(const ompi_datatype_t *type, const void *elements)
{
    return is_on_device((const char *) elements + type->super.true_lb);
}

/* ---- convertors ---- */

/* The flag of a convertor whose unpacked side is a device's, where Open MPI asks another address. */
static int32_t flag(const ompi_datatype_t *type, const void *elements)
{
    return 0 != type->super.true_lb && mca_common_colltools_on_device(type, elements)
               ? MCA_COMMON_COLLTOOLS_ON_DEVICE
               : 0;
}

void mca_common_colltools_packer(opal_convertor_t *packer, const ompi_datatype_t *type,
                                 size_t count, const void *elements)
{
    (void) opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &type->super, count,
                                                    elements, flag(type, elements), packer);
}

void mca_common_colltools_unpacker(opal_convertor_t *unpacker, const ompi_datatype_t *type,
                                   size_t count, const void *elements)
{
    (void) opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &type->super, count,
                                                    elements, flag(type, elements), unpacker);
}

#define PIECE ((size_t) 16 * 1024)

size_t mca_common_colltools_pack(opal_convertor_t *packer, char *packed, size_t bytes)
{
    struct iovec iov = {.iov_base = packed, .iov_len = bytes};
    uint32_t count = 1;

    return 0 <= opal_convertor_pack(packer, &iov, &count, &bytes) ? bytes : 0;
}

static size_t unpack(opal_convertor_t *unpacker, const char *packed, size_t bytes)
{
    struct iovec iov = {.iov_base = (char *) packed, .iov_len = bytes};
    uint32_t count = 1;

    return 0 <= opal_convertor_unpack(unpacker, &iov, &count, &bytes) ? bytes : 0;
}

size_t mca_common_colltools_unpack(opal_convertor_t *unpacker, const char *packed, size_t bytes,
                                   bool on_device)
{
    char piece[PIECE];

    if (!on_device) {
        return unpack(unpacker, packed, bytes);
    }
    bytes = bytes < PIECE ? bytes : PIECE;
    return OMPI_SUCCESS == mca_common_colltools_copy_by_device(piece, packed, bytes)
               ? unpack(unpacker, piece, bytes)
               : 0;
}
