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
 * Search: the block size of least modelled time.
 *
 *     time
 *      |.                            .
 *      | .  many blocks      idle   .      of all sizes that are nearly the best (-----),
 *      |   .    to handle   links .        the middle one
 *      |      . _ -----|----- _ .
 *      +------------------------------ block size
 *
 * A call may be the only one of its counts, so few candidates are evaluated:
 *
 *     1. sizes an octave apart, from the middle outwards until one takes FAR times as long as the
 *        best; the largest contribution in 1, 2, 4, 8 blocks; the largest eager blocks
 *     2. within about an octave of the best of these: quarters of an octave, other numbers of
 *        blocks, and blocks that fill packets
 *     3. within an eighth of an octave of the best of these: sixteenths, and numbers of blocks
 *
 * Where handling and sending overlap, as on all machines that a file or adapters describe, times
 * are flat around the best, and in place of steps 2 and 3 half octaves and a few numbers of blocks
 * do, and a quarter of an octave around the best of these.
 *
 * Steps 2 and 3 are taken on either side of each eager bound, where the time jumps, if the best of
 * that side is not far off.
 *
 * No closed form has all of these. Cost: one evaluation of the model for each of about 20
 * candidates, 40 without overlap, MOST at most. Limits: the model must be near the truth around its
 * minimum.
 */

#include <math.h>

#include "coll_pipering_plan_blocks.h"
#include "coll_pipering_plan_cost.h"

/* Octaves on either side of the middle. */
#define OCTAVES 6

/* Farther out there is nothing, if the model takes so many times as long as the best. */
#define FAR 2

/* Number of candidates m_max / k: of all that are near enough, and of any. */
#define DIVISORS 32
#define DIVISORS_FIRST 8
#define DIVISORS_FEW 4
/* Number of candidates that fill 1, 2, ... packets. */
#define PACKETS 8

/* Times within 2% count as equal: the model is no more exact. */
#define ALIKE 1.02

/* Beyond the eager bound there is nothing, if the best there takes so many times as long. */
#define FAR_BEYOND 1.2

/* Sending hides the handling of a block if it takes so many times as long. */
#define HIDDEN 32

/* Most eager bounds: of the busy link, and of others. */
#define BOUNDS 2

/* Most candidates: of step 1, and of steps 2 and 3 on each side of each eager bound. */
#define MOST_AROUND (2 * OCTAVES + 1 + BOUNDS + DIVISORS_FIRST)
#define MOST_CLOSER (8 + DIVISORS_FIRST + PACKETS + 4 + DIVISORS)
#define MOST (MOST_AROUND + (BOUNDS + 1) * MOST_CLOSER)

/* A search: the candidate sizes and their modelled times. */
typedef struct {
    mca_coll_pipering_time_fn_t *time_of;
    const void *problem;
    double largest; /* size allowed */
    double best;    /* time so far */
    double hidden;  /* of a block whose sending hides its handling: larger ones gain nothing */
    int count;
    struct {
        double size, time;
    } tried[MOST];
} choice_t;

/* Whether the size is allowed and may be near enough to the best. */
static bool consider(choice_t *choice, double size)
{
    if (!(1 <= size && size <= choice->largest)) {
        return false;
    }
    const double time = choice->time_of(choice->problem, (size_t) size);

    choice->best = 0 == choice->count || time < choice->best ? time : choice->best;
    choice->tried[choice->count].size = size;
    choice->tried[choice->count++].time = time;
    return time <= FAR * choice->best;
}

static double in_blocks(const choice_t *choice, size_t k)
{
    return (double) mca_coll_pipering_blocks((size_t) choice->largest, k);
}

/* Sizes that are far apart, and those where the time may jump. */
static void look_around(choice_t *choice, const double *bound, double middle)
{
    const double start = ceil(fmin(fmax(1, middle), choice->largest));

    (void) consider(choice, start);
    for (int i = 1; i <= OCTAVES && consider(choice, ceil(ldexp(start, -i))); ++i) {
    }
    for (int i = 1; i <= OCTAVES && consider(choice, ldexp(start, i)); ++i) {
    }
    for (int i = 0; i < BOUNDS; ++i) {
        (void) consider(choice, floor(bound[i]));
    }
    for (size_t k = 1; k <= DIVISORS_FIRST; k *= 2) {
        (void) consider(choice, in_blocks(choice, k));
    }
}

/* The best size so far of more than `from` and up to `to` bytes, not FAR_BEYOND; 0: none. */
static double best_between(const choice_t *choice, double from, double to)
{
    double best = FAR_BEYOND * choice->best, found = 0;

    for (int i = 0; i < choice->count; ++i) {
        const double size = choice->tried[i].size, time = choice->tried[i].time;
        if (from < size && size <= to && time < best) {
            best = time;
            found = size;
        }
    }
    return found;
}

/* `count` factors by which sizes are larger than `near`, and others smaller. */
static void consider_steps(choice_t *choice, double near, const double *factor, int count)
{
    for (int i = 0; i < count; ++i) {
        (void) consider(choice, ceil(near * factor[i]));
        (void) consider(choice, ceil(near / factor[i]));
    }
}

/* The largest contribution in up to `most` blocks that are within `factor` of `near`. */
static void consider_blocks(choice_t *choice, double near, double factor, size_t most)
{
    const size_t least = (size_t) (choice->largest / (factor * near));

    for (size_t k = 1 < least ? least : 1; k <= most && near < factor * in_blocks(choice, k); ++k) {
        if (in_blocks(choice, k) < factor * near) {
            (void) consider(choice, in_blocks(choice, k));
        }
    }
}

static void consider_packets(choice_t *choice, const mca_coll_pipering_link_cost_t *link,
                             double near, double factor)
{
    for (int k = 1; k <= PACKETS && 0 < link->packet; ++k) {
        const double size = floor(k * link->packet - link->envelope);
        if (near < factor * size && size < factor * near) {
            (void) consider(choice, size);
        }
    }
}

/* Powers of 2: a half; quarters, but for 2 itself, which step 1 has; and sixteenths. */
static const double halves[] = {1.414213562};
static const double quarters[] = {1.189207115, 1.414213562, 1.681792831, 2.378414230};
static const double sixteenths[] = {1.044273782, 1.090507733};

/* Steps 2 and 3 around the best size between `from` and `to`, unless that is FAR_BEYOND. */
static void look_closer(choice_t *choice, const mca_coll_pipering_link_cost_t *link, double from,
                        double to)
{
    const double near = best_between(choice, from, to);

    if (0 < near && link->overlap) {
        consider_steps(choice, near, halves, 1);
        consider_blocks(choice, near, halves[0], DIVISORS_FEW);
        consider_steps(choice, best_between(choice, from, to), quarters, 1);
        return;
    }
    if (0 < near) {
        consider_steps(choice, near, quarters, 4);
        consider_blocks(choice, near, 2, DIVISORS_FIRST);
        consider_packets(choice, link, near, 2);
    }
    const double nearest = best_between(choice, from, to);
    if (0 < nearest) {
        consider_steps(choice, nearest, sixteenths, 2);
        consider_blocks(choice, nearest, sixteenths[1], DIVISORS);
    }
}

/*
 * The middle one of the sizes up to `most` whose modelled time is at most `limit`; 0: there are
 * none. The middle is the safest choice: the model may not know that smaller blocks take longer
 * to handle or that larger ones need a rendezvous. The range ends at `hidden`, since larger
 * blocks gain nothing. The ends of the range are as far from the middle as each other: of sizes
 * that are equally far the least is taken, and without logarithms, whose last bit may differ
 * between the machines of a job.
 */
static double choose_middle(const choice_t *choice, double limit, double most)
{
    double least = HUGE_VAL, upper = 0, chosen = 0, nearest = HUGE_VAL;

    for (int i = 0; i < choice->count; ++i) {
        if (choice->tried[i].time <= limit && choice->tried[i].size <= most) {
            least = fmin(least, choice->tried[i].size);
            upper = fmax(upper, choice->tried[i].size);
        }
    }
    const double square = least * fmax(least, fmin(upper, choice->hidden));
    for (int i = 0; i < choice->count; ++i) {
        const double size = choice->tried[i].size;
        const double distance = fmax(size * size / square, square / (size * size));
        if (choice->tried[i].time <= limit && size <= most
            && (distance < nearest || (distance == nearest && size < chosen))) {
            nearest = distance;
            chosen = size;
        }
    }
    return chosen;
}

/*
 * For costs given by the user, whose alpha is the whole cost of a block: the model decides
 * alone, and the chosen size is never slower than whole contributions.
 */
static double choose_given(const choice_t *choice)
{
    double limit = ALIKE * choice->best;

    for (int i = 0; i < choice->count; ++i) {
        if (choice->tried[i].size >= choice->largest) {
            limit = fmin(limit, choice->tried[i].time);
        }
    }
    return choose_middle(choice, limit, choice->largest);
}

/*
 * For costs of a machine. Contributions from MCA_COLL_PIPERING_LARGE bytes on go in SEVERAL blocks
 * at least, even where whole ones are faster by up to LITTLE: the model does not know late ranks
 * and rendezvous, which stop a call that has no other block to send.
 */
#define SEVERAL 4
#define LITTLE 1.045

static double choose_known(const choice_t *choice)
{
    const double size = choose_middle(choice, ALIKE * choice->best, choice->largest);

    if (size <= choice->largest / SEVERAL || MCA_COLL_PIPERING_LARGE > choice->largest) {
        return size;
    }
    const double cut = choose_middle(choice, LITTLE * choice->best, choice->largest / SEVERAL);
    return 0 < cut ? cut : size;
}

size_t mca_coll_pipering_search_size(mca_coll_pipering_time_fn_t *time_of, const void *problem,
                                     const mca_coll_pipering_link_cost_t *link, double eager,
                                     size_t largest, double middle)
{
    choice_t choice = {.time_of = time_of,
                       .problem = problem,
                       .largest = (double) largest,
                       .hidden = HIDDEN * link->alpha / link->beta};

    const double its = 0 < link->eager ? link->eager : HUGE_VAL;
    const double others = 0 < eager ? eager : HUGE_VAL;
    const double bound[BOUNDS] = {fmin(its, others), fmax(its, others)};
    look_around(&choice, bound, middle);
    look_closer(&choice, link, 0, bound[0]);
    look_closer(&choice, link, bound[0], bound[1]);
    look_closer(&choice, link, bound[1], HUGE_VAL);
    return (size_t) (link->overlap ? choose_known(&choice) : choose_given(&choice));
}
