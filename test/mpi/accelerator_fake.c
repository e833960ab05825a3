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
 * accelerator/fake: a device for tests on machines without one. Its memory is mapped twice:
 * where MPI is told that it is nothing may be read or written, so that whoever takes it
 * for memory of the host dies there and then; copies go by the other mapping.
 *
 *     device   |  no access   |  <- addresses that mem_alloc gives out
 *     host     |  read, write |  <- what mem_copy uses in their place
 *
 * As with CUDA an address beside all allocations is not the device's, though a type may have its
 * data in one of them, a copy that leaves its allocation is an error, and so is one by a thread
 * that has neither allocated nor asked whether an address is the device's: it has no context yet.
 */

#define _GNU_SOURCE

#include "opal_config.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "opal/constants.h"
#include "opal/mca/accelerator/accelerator.h"

#define SIZE ((size_t) 1 << 36) /* memory is taken where it is written to */
#define ALIGNMENT ((size_t) 4096)
#define MOST 4096 /* allocations at a time */

static char *device, *host;
static size_t used = ALIGNMENT;
static uint64_t copies; /* between device and host */
static struct {
    size_t begin, end;
} allocated[MOST];
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool has_context;

static size_t place_of(const void *address)
{
    return (size_t) ((uintptr_t) address - (uintptr_t) device);
}

/* The allocation that an address is in; false: it is not the device's. */
static bool find(const void *address, size_t *begin, size_t *end)
{
    const size_t at = place_of(address);
    bool found = false;

    pthread_mutex_lock(&lock);
    for (int i = 0; SIZE > at && !found && i < count; ++i) {
        *begin = allocated[i].begin;
        *end = allocated[i].end;
        found = *begin <= at && at < *end;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Where the host reads and writes an address; NULL: a copy would leave the allocation. */
static void *seen_by_host(const void *address, size_t size)
{
    size_t begin, end;

    if (SIZE <= place_of(address)) {
        return (void *) address;
    }
    return find(address, &begin, &end) && size <= end - place_of(address)
               ? host + place_of(address)
               : NULL;
}

/* ---- memory ---- */

static int check_addr(const void *address, int *id, uint64_t *flags)
{
    size_t begin, end;
    const bool is_on_device = find(address, &begin, &end);

    has_context |= is_on_device;
    *flags = 0;
    *id = is_on_device ? 0 : MCA_ACCELERATOR_NO_DEVICE_ID;
    return is_on_device;
}

static int move(int to_id, int from_id, void *to, const void *from, size_t size,
                opal_accelerator_transfer_type_t type)
{
    (void) to_id;
    (void) from_id;
    (void) type;
    void *seen_to = seen_by_host(to, size), *seen_from = seen_by_host(from, size);

    if (0 == size) {
        return OPAL_SUCCESS;
    }
    if (NULL == seen_to || NULL == seen_from || !has_context) {
        return OPAL_ERR_BAD_PARAM;
    }
    if ((to == seen_to) != (from == seen_from)) {
        __atomic_add_fetch(&copies, 1, __ATOMIC_RELAXED);
    }
    memmove(seen_to, seen_from, size);
    return OPAL_SUCCESS;
}

static int copy_async(int to_id, int from_id, void *to, const void *from, size_t size,
                      opal_accelerator_stream_t *stream, opal_accelerator_transfer_type_t type)
{
    (void) stream;
    return move(to_id, from_id, to, from, size, type);
}

static int allocate(int id, void **address, size_t size)
{
    int rc = OPAL_ERR_OUT_OF_RESOURCE;

    (void) id;
    has_context = true;
    pthread_mutex_lock(&lock);
    if (size <= SIZE - used && MOST > count) {
        *address = device + used;
        allocated[count].begin = used;
        allocated[count++].end = used + size;
        used += (size / ALIGNMENT + 2) * ALIGNMENT; /* they do not adjoin */
        used = used < SIZE ? used : SIZE;
        rc = OPAL_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

/* All of it can be given out again when nothing of it is in use. */
static int release(int id, void *address)
{
    (void) id;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; ++i) {
        if (device + allocated[i].begin == address) {
            allocated[i] = allocated[--count];
            break;
        }
    }
    used = 0 == count ? ALIGNMENT : used;
    pthread_mutex_unlock(&lock);
    return OPAL_SUCCESS;
}

static int get_address_range(int id, const void *address, void **base, size_t *size)
{
    size_t begin, end;

    (void) id;
    if (!find(address, &begin, &end)) {
        return OPAL_ERR_NOT_FOUND;
    }
    *base = device + begin;
    *size = end - begin;
    return OPAL_SUCCESS;
}

/* ---- what needs no more than to be there ---- */

static int create_stream(int id, opal_accelerator_stream_t **stream)
{
    (void) id;
    *stream = OBJ_NEW(opal_accelerator_stream_t);
    return OPAL_SUCCESS;
}

#if OMPI_MAJOR_VERSION >= 6
static int create_event(int id, opal_accelerator_event_t **event, bool enable_ipc)
#else
static int create_event(int id, opal_accelerator_event_t **event)
#endif
{
#if OMPI_MAJOR_VERSION >= 6
    (void) enable_ipc;
#endif
    (void) id;
    *event = OBJ_NEW(opal_accelerator_event_t);
    return OPAL_SUCCESS;
}

static int record_event(int id, opal_accelerator_event_t *event, opal_accelerator_stream_t *stream)
{
    (void) id;
    (void) event;
    (void) stream;
    return OPAL_SUCCESS;
}

static int query_event(int id, opal_accelerator_event_t *event)
{
    (void) id;
    (void) event;
    return OPAL_SUCCESS;
}

static int host_register(int id, void *address, size_t size)
{
    (void) id;
    (void) address;
    (void) size;
    return OPAL_SUCCESS;
}

static int host_unregister(int id, void *address)
{
    (void) id;
    (void) address;
    return OPAL_SUCCESS;
}

static int get_device(int *id)
{
    *id = 0;
    return OPAL_SUCCESS;
}

static int get_device_pci_attr(int id, opal_accelerator_pci_attr_t *attributes)
{
    (void) id;
    (void) attributes;
    return OPAL_ERR_NOT_IMPLEMENTED;
}

static int device_can_access_peer(int *access, int one, int other)
{
    *access = one == other;
    return OPAL_SUCCESS;
}

static int get_buffer_id(int id, const void *address, opal_accelerator_buffer_id_t *buffer)
{
    (void) id;
    (void) address;
    *buffer = __atomic_load_n(&copies, __ATOMIC_RELAXED); /* tests ask for these */
    return OPAL_SUCCESS;
}

/* ---- the component ---- */

static opal_accelerator_base_module_t module = {.check_addr = check_addr,
                                                .create_stream = create_stream,
                                                .create_event = create_event,
                                                .record_event = record_event,
                                                .query_event = query_event,
                                                .mem_copy_async = copy_async,
                                                .mem_copy = move,
                                                .mem_move = move,
                                                .mem_alloc = allocate,
                                                .mem_release = release,
                                                .get_address_range = get_address_range,
                                                .host_register = host_register,
                                                .host_unregister = host_unregister,
                                                .get_device = get_device,
                                                .get_device_pci_attr = get_device_pci_attr,
                                                .device_can_access_peer = device_can_access_peer,
                                                .get_buffer_id = get_buffer_id};

static opal_accelerator_base_module_t *init(void)
{
    const int file = memfd_create("accelerator_fake", 0);

    if (0 > file || 0 != ftruncate(file, (off_t) SIZE)) {
        return NULL;
    }
    device = mmap(NULL, SIZE, PROT_NONE, MAP_SHARED, file, 0);
    host = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return MAP_FAILED == device || MAP_FAILED == host ? NULL : &module;
}

static void finalize(opal_accelerator_base_module_t *unused)
{
    (void) unused;
}

opal_accelerator_base_component_t mca_accelerator_fake_component = {
    .base_version = {
        OPAL_ACCELERATOR_BASE_VERSION_1_0_0,
        .mca_component_name = "fake",
        MCA_BASE_MAKE_VERSION(component, OPAL_MAJOR_VERSION, OPAL_MINOR_VERSION,
                              OPAL_RELEASE_VERSION),
    },
    .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .accelerator_init = init,
    .accelerator_finalize = finalize,
};
