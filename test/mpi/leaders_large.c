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
 * A result of more than 2^31 bytes through coll/mleader, in place, so that a rank needs
 * no more memory than that.
 */

#include "knob.h"
#include "leading.h"
#include "tap.h"

#include <string.h>
#include <sys/mman.h>

#define CHUNK ((size_t) 1 << 20)
#define TOTAL ((size_t) 2200 << 20)

static unsigned char noise[2 * CHUNK];

/** Writes or judges the contribution of a rank: pieces of noise, each from elsewhere. */
static bool pattern(unsigned char *at, size_t bytes, int rank, bool judge)
{
    bool right = true;

    for (size_t k = 0; k < bytes && right; k += CHUNK) {
        const size_t length = bytes - k < CHUNK ? bytes - k : CHUNK;
        const unsigned char *wanted = noise + (k / CHUNK * 24 + 8 * (size_t) rank) % CHUNK;

        if (judge) {
            right = 0 == memcmp(wanted, at + k, length);
        } else {
            memcpy(at + k, wanted, length);
        }
    }
    return right;
}

int main(int argc, char **argv)
{
    const leading_variant_t variant = {.aggregation = -1, .exchange = -1,
                                       .scope = -1};
    unsigned char *memory;
    size_t bytes;
    bool right = true;

    leading_begin(&argc, &argv, MPI_THREAD_SINGLE);
    bytes = TOTAL / (size_t) tap_size - 1;
    memory = mmap(NULL, TOTAL, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (MAP_FAILED == memory) {
        tap_bail("no %zu bytes of address space", TOTAL);
    }
    leading_use(variant);
    exchange_pattern(78, 0, 0, noise, sizeof(noise));
    pattern(memory + (size_t) tap_rank * bytes, bytes, tap_rank, false);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, memory, (int) bytes, MPI_BYTE,
                  MPI_COMM_WORLD);
    for (int i = 0; i < tap_size; i++) {
        right &= pattern(memory + (size_t) i * bytes, bytes, i, true);
    }
    right &= 0 == memory[(size_t) tap_size * bytes] && 0 < knob_counters("coll_mleader_calls_");
    tap_check(right, "wrong data", "%.1f GB in all", (double) TOTAL / 1e9);
    munmap(memory, TOTAL);
    return leading_end();
}
