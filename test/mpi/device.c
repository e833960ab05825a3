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
 * The fuzzer's cases, with buffers that are a device's on some ranks, or on one side of the call.
 * The memory is that of accelerator_fake.c: whoever touches it directly dies.
 */

#include "call.h"
#include "cases.h"
#include "tap.h"

#include <stdlib.h>

#include "opal/constants.h"
#include "opal/mca/accelerator/accelerator.h"

static uint64_t on_device;

/** Three of four buffers are on the device. */
static void *take(size_t bytes)
{
    void *memory;

    if (image_memory.hosted || 0 == rand() % 4) {
        return tap_memory(bytes);
    }
    if (OPAL_SUCCESS != opal_accelerator.mem_alloc(0, &memory, bytes)) {
        tap_bail("no device memory for %zu bytes", bytes);
    }
    on_device++;
    return memory;
}

static void give(void *memory)
{
    uint64_t flags;
    int id;

    if (0 < opal_accelerator.check_addr(memory, &id, &flags)) {
        opal_accelerator.mem_release(0, memory);
    } else {
        free(memory);
    }
}

static void copy(void *to, const void *from, size_t bytes)
{
    opal_accelerator.mem_copy(MCA_ACCELERATOR_NO_DEVICE_ID, MCA_ACCELERATOR_NO_DEVICE_ID, to, from,
                              bytes, MCA_ACCELERATOR_TRANSFER_UNSPEC);
}

int main(int argc, char **argv)
{
    cases_begin(&argc, &argv);
    srand((unsigned) tap_rank + 1);
    image_memory = (memory_t){.take = take, .give = give, .copy = copy};
    cases_loop(cases_all);
    tap_check(0 < on_device, "none", "buffers were on the device");
    return cases_end();
}
