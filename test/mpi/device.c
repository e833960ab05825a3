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
 * The memory is that of accelerator_fake.c: whoever touches it directly dies. Types may have their
 * bytes there while the address that MPI is given is the host's. Or (COPIES=1) how often gathers
 * and broadcasts copy between device and host, by all algorithms.
 */

#include "call.h"
#include "cases.h"
#include "knob.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "opal/constants.h"
#include "opal/mca/accelerator/accelerator.h"

static uint64_t on_device;

/* Types have their bytes so far from the address that MPI is given. */
#define AROUND ((size_t) 1 << 24)

/* Three of four buffers are on the device, some with what is around them. */
static void *take(size_t bytes)
{
    const size_t around = image_memory.around ? AROUND : 0;
    char *memory;

    if (image_memory.hosted || 0 == rand() % 4) {
        return tap_memory(bytes);
    }
    if (OPAL_SUCCESS
        != opal_accelerator.mem_alloc(0, (void **) &memory, bytes + 2 * around)) {
        tap_bail("no device memory for %zu bytes", bytes);
    }
    on_device++;
    return memory + around;
}

static void give(void *memory)
{
    uint64_t flags;
    int id;

    if (0 < opal_accelerator.check_addr(memory, &id, &flags)) {
        void *begin;
        size_t bytes;
        opal_accelerator.get_address_range(0, memory, &begin, &bytes);
        opal_accelerator.mem_release(0, begin);
    } else {
        free(memory);
    }
}

static void copy(void *to, const void *from, size_t bytes)
{
    opal_accelerator.mem_copy(MCA_ACCELERATOR_NO_DEVICE_ID, MCA_ACCELERATOR_NO_DEVICE_ID, to, from,
                              bytes, MCA_ACCELERATOR_TRANSFER_UNSPEC);
}

/* ---- copies ---- */

#define PART ((size_t) 1 << 20) /* of each rank */

static uint64_t copies(void)
{
    opal_accelerator_buffer_id_t count;

    opal_accelerator.get_buffer_id(0, NULL, &count);
    return (uint64_t) count;
}

static void fill(char *device, int value, size_t bytes)
{
    char *host = tap_memory(bytes);

    memset(host, value, bytes);
    copy(device, host, bytes);
    free(host);
}

static bool has(const char *device, int value, size_t bytes)
{
    char *host = tap_memory(bytes);
    size_t i = 0;

    copy(host, device, bytes);
    while (i < bytes && (char) value == host[i]) {
        ++i;
    }
    free(host);
    return i == bytes;
}

/* A call by an algorithm: its copies, two and one a MiB for each buffer, and its bytes. */
static void count_copies(bool gather, int algorithm)
{
    const size_t all = (size_t) tap_size * PART;
    void *send, *recv;

    if (OPAL_SUCCESS != opal_accelerator.mem_alloc(0, &send, PART)
        || OPAL_SUCCESS != opal_accelerator.mem_alloc(0, &recv, all)) {
        tap_bail("no device memory");
    }
    knob_set(gather ? "coll_pipering_allgather_algorithm" : "coll_pipering_bcast_algorithm",
             algorithm);
    fill(send, 1 + tap_rank, PART);
    fill(recv, 0 == tap_rank && !gather ? 99 : 0, all);
    const uint64_t before = copies(), served = knob_counter("coll_pipering_calls");
    const uint64_t messages = knob_counters("coll_pipering_blocks_");
    if (gather) {
        TAP_MPI(MPI_Allgather(send, (int) PART, MPI_BYTE, recv, (int) PART, MPI_BYTE,
                              MPI_COMM_WORLD));
    } else {
        TAP_MPI(MPI_Bcast(recv, (int) all, MPI_BYTE, 0, MPI_COMM_WORLD));
    }
    const uint64_t made = copies() - before;
    const bool pulled = KNOB_PULLS == algorithm && 0 != tap_number("ONE_NODE", 0);
    const bool ours = served < knob_counter("coll_pipering_calls")
                      && (!pulled || messages == knob_counters("coll_pipering_blocks_"));
    bool right = true;
    for (int r = 0; r < tap_size; r++) {
        right = right && has((char *) recv + (size_t) r * PART, gather ? 1 + r : 99, PART);
    }
    tap_note("%s, algorithm %d: %llu copies", gather ? "gather" : "bcast", algorithm,
             (unsigned long long) made);
    tap_check(ours && right && made <= (gather ? 2 + PART / PART : 0) + 2 + all / PART,
              "too many copies, or messages, or wrong bytes", "copies of %s, algorithm %d",
              gather ? "MPI_Allgather" : "MPI_Bcast", algorithm);
    opal_accelerator.mem_release(0, recv);
    opal_accelerator.mem_release(0, send);
}

static int count_all(int *argc, char ***argv)
{
    static const int gathers[] = {KNOB_RING, KNOB_ROUNDS, KNOB_NODE_LEADERS, KNOB_PULLS};
    static const int bcasts[] = {KNOB_PIPELINE, KNOB_ROUNDS, KNOB_NODE_LEADERS, KNOB_PULLS};

    tap_begin(argc, argv, MPI_THREAD_SINGLE);
    knob_begin();
    knob_set("coll_mleader_allgather_algorithm", KNOB_LEADERS_OFF);
    for (int i = 0; i < 4; i++) {
        count_copies(true, gathers[i]);
        count_copies(false, bcasts[i]);
    }
    knob_end();
    return tap_end();
}

int main(int argc, char **argv)
{
    if (0 != tap_number("COPIES", 0)) {
        return count_all(&argc, &argv);
    }
    cases_begin(&argc, &argv);
    srand((unsigned) tap_rank + 1);
    image_memory = (memory_t){.take = take, .give = give, .copy = copy};
    cases_loop(cases_all);
    tap_check(0 < on_device, "none", "buffers were on the device");
    return cases_end();
}
