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
 * Rounds: the exact number of rounds of the pipelined ring.
 *
 * The k-th block on the link out of position j is sent in round D(j, k), with
 * D(j, k) = k for own blocks and D(j, k) = max(D(j, k-1), D(j-1, k-b_j)) + 1
 * for the others, so D(j, k) = k + max_s sum_{t < s} (1 - b_{j-t}), and
 *
 *     rounds = b' - 1 + M,   M = max over the non-empty cyclic arcs A that
 *                                leave out a block of sum_{i in A} (1 - b_i)
 *
 *     b:   3  0  0  2  0       arcs {0 0} and {0 0 2 0}: M = 2 and 1,
 *     1-b: -2 1  1 -1  1       rounds = 5 - 1 + 2
 *
 * This corrects paper 2.3, whose closed form b' - 1 + floor(z / (p - z)) is below the b'
 * rounds that an empty rank needs at least. It holds for every placement of the empty
 * contributions; equation (1) is the case without them, b' - min b_i.
 */

#include <math.h>
#include <stdbool.h>

#include "coll_pipering_plan_ring.h"

/* The terms that the positions of a ring add to the sum of an arc: (1 + lag_i - weight_i). */
typedef struct {
    const uint64_t *blocks;
    const double *weight; /* NULL: the number of blocks */
    const double *lag;    /* NULL: 0 */
    int p;
} gains_t;

static double gain(const gains_t *gains, int i)
{
    return 1.0 + (NULL == gains->lag ? 0.0 : gains->lag[i])
           - (NULL == gains->weight ? (double) gains->blocks[i] : gains->weight[i]);
}

/*
 * The largest sum over the non-empty arcs that leave out position `cut`: those of the p - 1
 * positions after it.
 */
static double best_arc_without(const gains_t *gains, int cut)
{
    double best = -HUGE_VAL, running = 0;

    for (int i = 1; i < gains->p; ++i) {
        running = (running > 0 ? running : 0) + gain(gains, (cut + i) % gains->p);
        best = running > best ? running : best;
    }
    return best;
}

/*
 * The largest sum over the arcs with position `cut`. The complement of such an arc has a block
 * and leaves out `cut`. So this is the sum of the whole ring less the least sum over the arcs
 * that have a block and leave out `cut`.
 */
static double best_arc_around(const gains_t *gains, int cut, double whole)
{
    double least = HUGE_VAL; /* over arcs that have a block */
    double running = 0;      /* least sum of those that end here */

    for (int i = 1; i < gains->p; ++i) {
        const int at = (cut + i) % gains->p;
        const double g = gain(gains, at);
        if (0 != gains->blocks[at]) {
            running = (running < 0 ? running : 0) + g;
            least = running < least ? running : least;
        } else {
            running += g; /* empties only make an arc larger */
        }
    }
    return whole - least;
}

double mca_coll_pipering_delay(const uint64_t *blocks, const double *weight, const double *lag,
                               int p)
{
    const gains_t gains = {blocks, weight, lag, p};
    double whole = 0;
    int cut = 0;

    for (int i = 0; i < p; ++i) {
        whole += gain(&gains, i);
        cut = blocks[i] > blocks[cut] ? i : cut;
    }
    if (p < 2 || 0 == blocks[cut]) {
        return 0;
    }

    const double outside = best_arc_without(&gains, cut);
    const double around = best_arc_around(&gains, cut, whole);

    return outside > around ? outside : around;
}

int64_t mca_coll_pipering_excess(const uint64_t *blocks, int p)
{
    return (int64_t) mca_coll_pipering_delay(blocks, NULL, NULL, p);
}

uint64_t mca_coll_pipering_rounds(const uint64_t *blocks, int p)
{
    uint64_t sum = 0;

    for (int i = 0; i < p; ++i) {
        sum += blocks[i];
    }
    if (p < 2 || 0 == sum) {
        return 0;
    }
    return (uint64_t) ((int64_t) sum - 1 + mca_coll_pipering_excess(blocks, p));
}

/*
 * Whether a ring has room for z empty ranks without an arc above M. In front of a rank of b_i
 * blocks there is room for min(M, b_i - 1) of them; and if M is above every b_i - 1, in one
 * place for as many more as M is above the largest.
 */
static bool takes_empties(const uint64_t *blocks, int p, uint64_t m, uint64_t largest, uint64_t z)
{
    uint64_t room = m > largest - 1 ? m - (largest - 1) : 0;

    for (int i = 0; i < p && room < z; ++i) {
        if (0 != blocks[i]) {
            room += blocks[i] - 1 < m ? blocks[i] - 1 : m;
        }
    }
    return room >= z;
}

int64_t mca_coll_pipering_least_excess(const uint64_t *blocks, int p)
{
    uint64_t z = 0, largest = 0, smallest = UINT64_MAX;

    for (int i = 0; i < p; ++i) {
        z += 0 == blocks[i];
        largest = blocks[i] > largest ? blocks[i] : largest;
        smallest = blocks[i] < smallest ? blocks[i] : smallest;
    }
    if (p < 2 || 0 == largest) {
        return 0;
    }
    if (0 == z) {
        return 1 - (int64_t) smallest;
    }

    uint64_t low = 1, high = z;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (takes_empties(blocks, p, middle, largest, z)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return (int64_t) low;
}
