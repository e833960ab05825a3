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
 * Contributions that are split: the largest ones above the mean, by sorting all of them, and parts
 * that make up the whole, as even as lines of a cache allow.
 */

#include <stdlib.h>
#include <string.h>

#include "coll_pipering_plan_pulls.h"
#include "tap.h"

#define MOST 300
#define LEAST 65536 /* bytes of one that is split */
#define LINE 64

static size_t bytes[MOST];

static int by_size(const void *a, const void *b)
{
    const size_t x = bytes[*(const int *) a], y = bytes[*(const int *) b];

    return x != y ? (x < y ? 1 : -1) : *(const int *) a - *(const int *) b;
}

static void draw(int ranks)
{
    const int kind = (int) tap_below(4);

    for (int r = 0; r < ranks; r++) {
        bytes[r] = 0 == kind   ? 1 << 20
                   : 1 == kind ? (tap_once_in(8) ? tap_below(1 << 22) : 0)
                   : 2 == kind ? tap_below(1 << 18)
                               : LEAST - 2 + tap_below(4);
    }
}

static bool are_right(int ranks)
{
    const mca_coll_pipering_splits_t splits = mca_coll_pipering_splits_find(bytes, ranks);
    int order[MOST], wanted = 0;
    size_t total = 0;

    for (int r = 0; r < ranks; r++) {
        order[r] = r;
        total += bytes[r];
    }
    qsort(order, (size_t) ranks, sizeof(int), by_size);
    while (wanted < ranks && wanted < MCA_COLL_PIPERING_SPLITS && LEAST <= bytes[order[wanted]]
           && bytes[order[wanted]] > total / (size_t) ranks) {
        wanted++;
    }
    bool right = wanted == splits.count;
    for (int i = 0; right && i < wanted; i++) {
        right = order[i] == splits.rank[i]
                && i == mca_coll_pipering_split_of(&splits, order[i]);
    }
    for (int i = wanted; right && i < ranks; i++) {
        right = 0 > mca_coll_pipering_split_of(&splits, order[i]);
    }
    return right;
}

static bool parts_are_right(size_t size, int ranks)
{
    size_t begin = 0, most = 0, least = SIZE_MAX;

    for (int r = 0; r < ranks; r++) {
        const size_t end = mca_coll_pipering_part_begin(size, ranks, r + 1);

        if (begin != mca_coll_pipering_part_begin(size, ranks, r) || end < begin
            || (end != size && 0 != end % LINE)) {
            return false;
        }
        most = end - begin > most ? end - begin : most;
        least = end - begin < least ? end - begin : least;
        begin = end;
    }
    return size == begin && most - least <= LINE * 2;
}

int main(void)
{
    tap_tally_t splits = {0, 0}, parts = {0, 0};

    tap_start();
    for (int i = 0; i < 20000; i++) {
        const int ranks = 1 + (int) tap_below(MOST);

        draw(ranks);
        tap_try(&splits, are_right(ranks), "case %d, %d ranks", i, ranks);
    }
    for (int ranks = 1; ranks <= 64; ranks++) {
        for (size_t size = 0; size < 9000; size += 1 + size / 50) {
            tap_try(&parts, parts_are_right(size, ranks), "%zu bytes, %d ranks", size, ranks);
        }
        tap_try(&parts, parts_are_right(((size_t) 1 << 40) + 77, ranks), "2^40, %d ranks", ranks);
    }
    tally_ok(&splits, 20000, "the largest above the mean are split");
    tally_ok(&parts, 64, "parts make up the whole, evenly");
    return tap_end();
}
