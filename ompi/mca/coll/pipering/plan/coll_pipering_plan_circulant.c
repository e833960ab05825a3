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
 * The circulant schedule: n blocks from one root to p members in n - 1 + q rounds, q = ceil(log2
 * p), the fewest that there can be, each of one block in and one out.
 *
 *     p = 5, skips 1 2 3, root 0, n = 4; from > to (block)
 *     to r + 1    0>1 (0)
 *     to r + 2    0>2 (1)
 *     to r + 3    0>3 (2)  1>4 (0)
 *     to r + 1    0>1 (3)  1>2 (0)  2>3 (1)  3>4 (2)
 *     to r + 2    0>2 (3)  1>3 (0)  2>4 (1)  4>1 (2)
 *     to r + 3    0>3 (3)  1>4 (3)  3>1 (1)  4>2 (2)
 *
 * Skips halve from p downwards, rounded up. In round k of a phase of q rounds each member sends to
 * the one s[k] places on. A member first gets a block by the greedy way from the root, along its
 * largest skip first; the block number of such a way is its smallest skip, the base block. In each
 * phase a member receives its own base block of this phase, and the q - 1 others of the phase
 * before. The member that brings it block k is between s[k] and s[k + 1] places before, and must be
 * another base block each time: a search over sums of distinct skips, largest first, finds them.
 *
 * The schedule fulfils, for members that are not the root: a phase brings each base block once; a
 * member sends only what it received in a round before, or its base block of the phase before.
 * test/unit/circulant.c verifies this for all p up to 4,096.
 *
 * Where each of the members is a root, of n_r blocks, the rounds of all roots end together: one
 * with fewer blocks begins later. A share of one block then goes as in dissemination.
 *
 * Cost: a rank keeps two entries a round of a phase for each root, found in O(log^3 p).
 *
 * Traeff, Round-optimal n-block broadcast schedules in logarithmic time (arXiv 2312.11236), and
 * (Poly)logarithmic time construction of round-optimal n-block broadcast schedules for broadcast
 * and irregular allgather in MPI (arXiv 2205.10072).
 */

#include "coll_pipering_plan_circulant.h"

#include <stdbool.h>

#define MOST_ROUNDS 31
#define END (-1)

/* Of one member, which is `goal` places behind the root, one turn further on. */
typedef struct {
    int rounds, goal;
    int skip[MOST_ROUNDS + 1];
    int nearest;                  /* the sum that was taken last; the next one is below it */
    int found;                    /* rounds whose block is known */
    signed char *block;           /* of these rounds: the last skip of a sum */
    signed char largest;          /* skip that is not taken yet ... */
    signed char next[MOST_ROUNDS + 1], before[MOST_ROUNDS + 1]; /* ... smaller and larger ones */
} search_t;

int mca_coll_pipering_circulant_rounds(int count)
{
    int rounds = 0;

    while (1LL << rounds < count) {
        ++rounds;
    }
    return rounds;
}

int mca_coll_pipering_circulant_skip(int count, int k)
{
    const int halvings = mca_coll_pipering_circulant_rounds(count) - k;

    return (int) ((count + (1LL << halvings) - 1) >> halvings);
}

/* The smallest skip of the greedy way from the root; the root: the number of rounds. */
static int base_block(int count, int place)
{
    int k = mca_coll_pipering_circulant_rounds(count);

    while (0 < place) {
        const int skip = mca_coll_pipering_circulant_skip(count, --k);
        place -= skip <= place ? skip : 0;
    }
    return k;
}

static void drop(search_t *search, int skip)
{
    const int next = search->next[skip], before = search->before[skip];

    if (END == before) {
        search->largest = (signed char) next;
    } else {
        search->next[before] = (signed char) next;
    }
    if (END != next) {
        search->before[next] = (signed char) before;
    }
}

static search_t search_new(int count, int place, int base, signed char *block)
{
    const int rounds = mca_coll_pipering_circulant_rounds(count);
    search_t search = {.rounds = rounds,
                       .goal = count + place,
                       .nearest = 2 * count,
                       .block = block,
                       .largest = (signed char) rounds};

    for (int k = 0; k <= rounds; ++k) {
        search.skip[k] = mca_coll_pipering_circulant_skip(count, k);
        search.next[k] = (signed char) (k - 1);
        search.before[k] = (signed char) (k < rounds ? k + 1 : END);
    }
    drop(&search, base);
    return search;
}

/* Whether a sum is so many places before the member that round k or a later one can bring it. */
static bool is_before(const search_t *search, int sum, int k)
{
    return sum <= search->goal - search->skip[k];
}

/* Takes sums of `sum` and further skips from `skip` downwards, the farthest first. */
static void extend(search_t *search, int sum, int skip)
{
    for (; END != skip && search->found < search->rounds; skip = search->next[skip]) {
        const int longer = sum + search->skip[skip];
        if (!is_before(search, longer, search->found) || longer >= search->nearest) {
            continue;
        }
        if (is_before(search, longer, search->found + 1)) {
            extend(search, longer, skip);
        }
        if (search->found == search->rounds || !is_before(search, sum, search->found + 1)) {
            return;
        }
        search->nearest = longer < search->nearest ? longer : search->nearest;
        search->block[search->found++] = (signed char) skip;
        drop(search, skip);
    }
}

void mca_coll_pipering_circulant_receives(int count, int place, signed char *receives)
{
    const int rounds = mca_coll_pipering_circulant_rounds(count), base = base_block(count, place);
    search_t search = search_new(count, place, base, receives);

    if (0 < place) {
        extend(&search, 0, search.largest);
    }
    for (int k = 0; k < rounds; ++k) {
        receives[k] = (signed char) (0 == place             ? MCA_COLL_PIPERING_CIRCULANT_NONE
                                     : rounds == receives[k] ? base
                                                             : receives[k] - rounds);
    }
}

void mca_coll_pipering_circulant_sends(int count, int place, signed char *sends)
{
    const int rounds = mca_coll_pipering_circulant_rounds(count);
    signed char receives[MOST_ROUNDS];

    for (int k = 0; k < rounds; ++k) {
        const int to = (place + mca_coll_pipering_circulant_skip(count, k)) % count;
        mca_coll_pipering_circulant_receives(count, to, receives);
        sends[k] = receives[k];
    }
}

int mca_coll_pipering_circulant_block(int count, int entry, int blocks, int left)
{
    const int rounds = mca_coll_pipering_circulant_rounds(count);
    const int block = blocks - 1 + entry - left / rounds * rounds;

    if (MCA_COLL_PIPERING_CIRCULANT_NONE == entry || 0 > block) {
        return -1;
    }
    return block < blocks ? block : blocks - 1;
}

int mca_coll_pipering_circulant_comes(int count, const signed char *receives, int blocks, int block)
{
    const int rounds = mca_coll_pipering_circulant_rounds(count);
    int k = 0, phases = 0;

    for (; k < rounds; ++k) { /* the last block comes in place of the last phase's base block */
        const int before = blocks - 1 + receives[k] - block;
        phases = before / rounds;
        if (blocks - 1 == block ? 0 <= receives[k] : 0 <= before && 0 == before % rounds) {
            break;
        }
    }
    return (blocks - 1 == block ? 0 : phases * rounds) + rounds - 1 - k;
}
