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
 * Large numbers: more than 2^31 bytes in all, and displacements of more than
 * 2^31 bytes with little data.
 */

#include "call.h"
#include "knob.h"
#include "layout.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK ((size_t) 1 << 20)

static unsigned char *reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (MAP_FAILED == memory) {
        tap_bail("no %zu bytes of address space", bytes);
    }
    return memory;
}

/** Writes or judges the contribution of a rank, a chunk at a time. */
static bool pattern(unsigned char *at, size_t bytes, int rank, bool judge)
{
    unsigned char *chunk = tap_memory(CHUNK);
    bool right = true;

    for (size_t k = 0; k < bytes && right; k += CHUNK) {
        size_t length = bytes - k < CHUNK ? bytes - k : CHUNK;

        call_pattern(77, rank, k, judge ? chunk : at + k, length);
        right = !judge || 0 == memcmp(chunk, at + k, length);
    }
    free(chunk);
    return right;
}

/** In place, so that a rank needs no more than the result. */
static void try_total(size_t total, const knob_setting_t *setting)
{
    const bool leaders = 0 != tap_number("LEADERS", 0); /* by MPI_Allgather */
    int *count = tap_memory((size_t) tap_size * sizeof(int));
    int *displ = tap_memory((size_t) tap_size * sizeof(int));
    size_t at = 0;
    unsigned char *memory = reserve(total + 4096);
    bool right = true;

    knob_apply(setting);
    if (leaders) {
        knob_set("coll_mleader_allgather_algorithm", KNOB_LEADERS);
    }
    for (int i = 0; i < tap_size; i++) {
        count[i] = (int) (total / (size_t) tap_size) - (leaders ? 0 : 1000 * i);
        displ[i] = (int) at; /* fits: counts are at most 2^31 - 1 before the last block */
        at += (size_t) count[i];
    }
    pattern(memory + displ[tap_rank], (size_t) count[tap_rank], tap_rank, false);
    if (leaders) {
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_CHAR, memory, count[0], MPI_CHAR, MPI_COMM_WORLD);
    } else {
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_CHAR, memory, count, displ, MPI_CHAR, MPI_COMM_WORLD);
    }
    for (int i = 0; i < tap_size; i++) {
        right &= pattern(memory + displ[i], (size_t) count[i], i, true);
    }
    right &= 0 == memory[at] && (!leaders || 0 < knob_counters("coll_mleader_calls_"));
    tap_check(right, "wrong data", "%.1f GB in all, %s", (double) total / 1e9, setting->name);
    munmap(memory, total + 4096);
    free(count);
    free(displ);
}

/** Blocks of 3 elements, each element 256 MiB from the next. */
static void try_far(bool nonblocking, const knob_setting_t *setting)
{
    const MPI_Aint extent = (MPI_Aint) 1 << 28;
    const int blocks = 3 * tap_size;
    int *count = tap_memory((size_t) tap_size * sizeof(int));
    int *displ = tap_memory((size_t) tap_size * sizeof(int));
    unsigned char *memory = reserve((size_t) extent * (size_t) blocks);
    unsigned char want[64];
    MPI_Request request = MPI_REQUEST_NULL;
    bool right = true;
    layout_t *layout = layout_resized(0, extent, layout_contiguous(64, layout_unit(0, 0)));

    knob_apply(setting);
    for (int i = 0; i < tap_size; i++) {
        count[i] = 3;
        displ[i] = 3 * (tap_size - 1 - i);
    }
    for (int k = 0; k < 3; k++) {
        call_pattern(9, tap_rank, (size_t) k * 64, memory + (displ[tap_rank] + k) * extent, 64);
    }
    if (nonblocking) {
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, memory, count, displ, layout->type,
                        MPI_COMM_WORLD, &request);
    } else {
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, memory, count, displ, layout->type,
                       MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int n = 0; n < blocks; n++) {
        call_pattern(9, tap_size - 1 - n / 3, (size_t) (n % 3) * 64, want, 64);
        right &= 0 == memcmp(want, memory + n * extent, 64);
    }
    tap_check(right, "wrong data", "displacements up to %.1f GB, %s%s",
              (double) extent * (blocks - 1) / 1e9, setting->name,
              nonblocking ? ", nonblocking" : "");
    munmap(memory, (size_t) extent * (size_t) blocks);
    layout_free(layout);
    free(count);
    free(displ);
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    for (int i = 0; 0 == tap_number("LEADERS", 0) && i < knob_settings_count(); i++) {
        try_far(false, &knob_settings[i]);
        try_far(true, &knob_settings[i]);
    }
    if (0 != tap_number("LEADERS", 0)) {
        try_total((size_t) 2200 << 20, &knob_settings[0]);
    } else if (0 != tap_number("TEST_TOTAL", 1)) {
        try_total((size_t) 2400 << 20, &knob_settings[1 < knob_settings_count()]);
        if (1 < knob_settings_count()) {
            /* more than an exchange in rounds may be about: the ring */
            try_total((size_t) 2400 << 20, &knob_settings[knob_settings_count() - 1]);
        }
    }
    knob_end();
    return tap_end();
}
