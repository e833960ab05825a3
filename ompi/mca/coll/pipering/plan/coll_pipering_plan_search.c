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
 * Candidates are a geometric grid, the contribution in 1, 2, ... blocks, blocks that fill
 * packets, and the largest eager block; no closed form has all of these.
 *
 * Cost: one evaluation of the model for each of about 170 candidates. Limits: the model must be
 * near the truth around its minimum; plan_factors corrects it.
 */

#include <math.h>

#include "coll_pipering_plan_blocks.h"
#include "coll_pipering_plan_cost.h"

/* The geometric grid: steps an octave, and octaves on either side of its middle. */
#define GRID_STEPS 8
#define GRID_OCTAVES 6
/* Number of candidates m_max / k. */
#define DIVISORS 48
/* Number of candidates that fill 1, 2, ... packets. */
#define PACKETS 24

/* Times within 2% count as equal: the model is no more exact. */
#define ALIKE 1.02

/* A search: the candidate sizes and their modelled times. */
#define TRIED (2 * GRID_OCTAVES * GRID_STEPS + 1 + PACKETS + 1 + DIVISORS)
typedef struct {
    mca_coll_pipering_time_fn_t *time_of;
    const void *problem;
    const mca_coll_pipering_factors_t *factors;
    double largest; /* size allowed */
    double best;    /* time so far */
    double hidden;  /* mca_coll_pipering_hidden_size */
    int count;
    struct {
        double size, time;
    } tried[TRIED];
} choice_t;

static void consider(choice_t *choice, double size)
{
    if (!(1 <= size && size <= choice->largest)) {
        return;
    }
    const double time
        = mca_coll_pipering_factors_time(choice->factors, floor(size),
                                         choice->time_of(choice->problem, (size_t) size));
    choice->best = 0 == choice->count || time < choice->best ? time : choice->best;
    choice->tried[choice->count].size = size;
    choice->tried[choice->count++].time = time;
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
 * For learnt costs. Contributions from MCA_COLL_PIPERING_LARGE bytes on go in SEVERAL blocks at
 * least, even where whole ones are faster by up to LITTLE: the model does not know late ranks and
 * rendezvous, which stop a call that has no other block to send.
 */
#define SEVERAL 4
#define LITTLE 1.045

static double choose_learnt(const choice_t *choice)
{
    const double size = choose_middle(choice, ALIKE * choice->best, choice->largest);

    if (size <= choice->largest / SEVERAL || MCA_COLL_PIPERING_LARGE > choice->largest) {
        return size;
    }
    const double cut = choose_middle(choice, LITTLE * choice->best, choice->largest / SEVERAL);
    return 0 < cut ? cut : size;
}

size_t mca_coll_pipering_search_size(mca_coll_pipering_time_fn_t *time_of, const void *problem,
                                     const mca_coll_pipering_link_cost_t *link, size_t largest,
                                     double middle)
{
    choice_t choice = {.time_of = time_of,
                       .problem = problem,
                       .factors = link->factors,
                       .largest = (double) largest,
                       .hidden = mca_coll_pipering_hidden_size(link)};

    for (int i = -GRID_OCTAVES * GRID_STEPS; i <= GRID_OCTAVES * GRID_STEPS; ++i) {
        consider(&choice, ceil(middle * exp2((double) i / GRID_STEPS)));
    }
    for (int k = 1; k <= PACKETS && 0 < link->packet; ++k) {
        consider(&choice, floor(k * link->packet - link->envelope));
    }
    if (0 < link->eager && link->eager < (double) largest) {
        consider(&choice, floor(link->eager));
    }
    for (size_t k = 1; k <= DIVISORS && k <= largest; ++k) {
        consider(&choice, (double) mca_coll_pipering_blocks(largest, k));
    }
    return (size_t) (link->overlap ? choose_learnt(&choice) : choose_given(&choice));
}
