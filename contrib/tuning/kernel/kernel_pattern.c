/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Bytes that show from which rank and repetition they come. */

#include "kernel.h"

#include <string.h>

static uint64_t word_of(int rank, uint64_t sample, size_t at)
{
    uint64_t x = ((uint64_t) rank + 1) * UINT64_C(0xd6e8feb86659fd93)
                 + sample * UINT64_C(0xa0761d6478bd642f) + at * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 31)) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

void kernel_pattern(unsigned char *bytes, size_t count, int rank, uint64_t sample)
{
    for (size_t i = 0; i < count; i += sizeof(uint64_t)) {
        const uint64_t word = word_of(rank, sample, i);

        memcpy(bytes + i, &word, count - i < sizeof(word) ? count - i : sizeof(word));
    }
}

bool kernel_pattern_right(const unsigned char *bytes, size_t count, int rank, uint64_t sample)
{
    for (size_t i = 0; i < count; i += sizeof(uint64_t)) {
        const uint64_t word = word_of(rank, sample, i);

        if (0 != memcmp(bytes + i, &word, count - i < sizeof(word) ? count - i : sizeof(word))) {
            return false;
        }
    }
    return true;
}
