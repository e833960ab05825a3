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
 * Rates: the cost of the links between nodes, learnt from the streams of calls.
 *
 * The rate of a stream, in seconds a byte, depends on the size of its blocks: small blocks
 * are dear because each must be handled, large ones where the transport needs a rendezvous
 * before it sends them. So rates are kept by classes of block sizes, an octave each, and
 * the cost of a link follows from them:
 *
 *     seconds
 *     a byte    |  *
 *               |     *                 *     <- dearer than beta: above `eager`
 *       beta  - |- - - - *  *  *  *  - - -
 *               +------------------------------ block size
 *                  ^ alpha lifts the rates of small blocks
 *
 * beta is the mean of the least rate and of those that differ from it by noise. alpha follows
 * from beta, since a network that is slow for bytes is slow for blocks, too. But where small
 * blocks are so dear that their handling takes most of the time, alpha and beta are those of
 * the line through the times of small blocks and of the best ones. Where all blocks are short,
 * their rates show alpha only, and beta follows from it.
 *
 * Above the best class, the first dear one shows the eager bound: the largest known block
 * below that class. The handshake is then the excess cost of a block above the bound. Where no
 * class is dear, the bound is a usual one, and the handshake a small sum that keeps blocks from
 * growing beyond the bound for next to no gain. No transport is known by name.
 *
 * A single block size cannot separate these costs. So a few of the calls that teach vary
 * it: half, double, a quarter and less of the best size, as long as such blocks are unknown.
 *
 * Limits: one cost for all links, that of the slowest one, which sets the pace of every
 * stream through it.
 *
 * Traeff et al. 2.4 takes alpha and beta for granted.
 */

#include <math.h>
#include <string.h>

#include "coll_pipering_plan_rates.h"

/* Used before any rate is known: a network between Gigabit Ethernet and InfiniBand. */
#define DEFAULT_BETA 8e-9

/*
 * The usual alpha as a power of beta: 90 us, 35, 14 and 4 for 100 Mbit/s, Gigabit and
 * 10 Gigabit Ethernet and InfiniBand.
 */
#define ALPHA_AT 90e-6
#define BETA_AT 83e-9
#define ALPHA_POWER 0.4

/* Links of more than 5 ns a byte count as Ethernet with packets of this size. */
#define PACKET_BETA 5e-9
#define PACKET 1448
#define FRAME 66

/* Headers of a message and of its transport. */
#define ENVELOPE 32

/*
 * Rates within 15% of each other differ by noise; a handshake costs more than that. A
 * disturbance of so many seconds may raise the rate of a stream too, by at most half.
 */
#define DEAR 1.15
#define DISTURBED 2e-3
#define DISTURBED_MOST 0.5

/* A new rate that differs by noise has the weight 1 / LASTING. */
#define LASTING 3

/* A new rate that is so many times the kept one shows that the kept one was an exception. */
#define FORGOTTEN 1.5

/* Small blocks are limited by handling if they are so many times as dear as the best ones. */
#define HANDLED 2

/*
 * Then alpha is at most so many times the usual one, and beta at least the best known rate
 * divided by STEEPEST.
 */
#define ALPHA_MOST 8
#define STEEPEST 4

/* Blocks are short if the usual alpha is at least so many times their whole time. */
#define SHORT 2

/* The usual eager bound in bytes, as long as no rate shows another one. */
#define EAGER 16128

/* The guessed handshake of a block above the usual bound and all known blocks, in alphas. */
#define ASKING 8

/* A stream of less than 1 / WEIGHT of the bytes of the known one does not count. */
#define WEIGHT 4

/* A stream of more than so many times the bytes of the known one replaces it. */
#define WEIGHTIER 3

/*
 * Classes end a little below powers of two, since these are common eager bounds: with its
 * headers a block of just such a size is above the bound.
 */
#define FIRST_EDGE 1008

/* The class of the smallest blocks that lessons try: all transports send them eagerly. */
#define VARIED_LEAST 2

/* The least number of blocks that shows a rate. */
#define LESSON_BLOCKS 3

int mca_coll_pipering_rate_class(size_t block_size)
{
    int class = 0;

    for (size_t most = FIRST_EDGE; most < block_size && class + 1 < MCA_COLL_PIPERING_RATES;
         most *= 2) {
        ++class;
    }
    return class;
}

void mca_coll_pipering_rates_add(mca_coll_pipering_rates_t *rates, double length, double seconds,
                                 double bytes)
{
    mca_coll_pipering_rate_t *rate = &rates->of[mca_coll_pipering_rate_class((size_t) length)];
    const mca_coll_pipering_rate_t seen = {(float) seconds, (float) bytes, (float) length};

    if (!(0 < seconds && 0 < bytes) || WEIGHT * bytes < rate->bytes) {
        return;
    }
    if (bytes > WEIGHTIER * rate->bytes || DEAR * seconds < rate->seconds) {
        *rate = seen;
    } else if (seconds < DEAR * rate->seconds) {
        rate->seconds += (seen.seconds - rate->seconds) / LASTING;
        rate->length = fmaxf(rate->length, seen.length);
    } else if (length <= rate->length && seconds > FORGOTTEN * rate->seconds) {
        rate->seconds = (float) sqrt(seconds * rate->seconds);
    }
    rate->bytes = fmaxf(rate->bytes, seen.bytes);
}

static bool is_better(const mca_coll_pipering_rate_t *a, const mca_coll_pipering_rate_t *b)
{
    return a->bytes != b->bytes       ? a->bytes > b->bytes
           : a->seconds != b->seconds ? a->seconds < b->seconds
                                      : a->length > b->length;
}

void mca_coll_pipering_rate_merge(mca_coll_pipering_rate_t *rate,
                                  const mca_coll_pipering_rate_t *other)
{
    if (is_better(other, rate)) {
        *rate = *other;
    }
}

void mca_coll_pipering_rates_merge(mca_coll_pipering_rates_t *rates,
                                   const mca_coll_pipering_rates_t *others)
{
    for (int i = 0; i < MCA_COLL_PIPERING_RATES; ++i) {
        mca_coll_pipering_rate_merge(&rates->of[i], &others->of[i]);
    }
}

static bool is_known(const mca_coll_pipering_rates_t *rates, int class)
{
    return 0 <= class && MCA_COLL_PIPERING_RATES > class && 0 < rates->of[class].bytes;
}

/* Well-founded: the rate of a class is known from nearly as many bytes as any other. */
static bool is_founded(const mca_coll_pipering_rates_t *rates, int class)
{
    float most = 0;

    for (int i = 0; i < MCA_COLL_PIPERING_RATES; ++i) {
        most = fmaxf(most, rates->of[i].bytes);
    }
    return is_known(rates, class) && WEIGHT * rates->of[class].bytes >= most;
}

/* The class with the least rate among the well-founded ones; -1: no rate is known. */
static int best_class(const mca_coll_pipering_rates_t *rates)
{
    int best = -1;

    for (int i = 0; i < MCA_COLL_PIPERING_RATES; ++i) {
        if (is_founded(rates, i)
            && (0 > best || rates->of[i].seconds < rates->of[best].seconds)) {
            best = i;
        }
    }
    return best;
}

bool mca_coll_pipering_rates_known(const mca_coll_pipering_rates_t *rates)
{
    return 0 <= best_class(rates);
}

/* Whether the rate of a class differs from the least one by noise. */
static bool is_near(const mca_coll_pipering_rates_t *rates, int class, int best)
{
    return is_founded(rates, class)
           && rates->of[class].seconds <= DEAR * rates->of[best].seconds;
}

/* The largest class of such a rate. */
static int largest_near(const mca_coll_pipering_rates_t *rates, int best)
{
    int class = MCA_COLL_PIPERING_RATES - 1;

    while (!is_near(rates, class, best)) {
        --class;
    }
    return class;
}

/* The mean of the least rate and of those that differ from it by noise. */
static double mean_rate(const mca_coll_pipering_rates_t *rates, int best)
{
    double sum = 0;
    int count = 0;

    for (int i = 0; i < MCA_COLL_PIPERING_RATES; ++i) {
        if (is_near(rates, i, best)) {
            sum += rates->of[i].seconds;
            ++count;
        }
    }
    return sum / count;
}

/* Whether a class is dearer than the best one by more than noise. */
static bool is_dear(const mca_coll_pipering_rates_t *rates, int class, int best)
{
    const mca_coll_pipering_rate_t *rate = &rates->of[class];

    if (!is_founded(rates, class)) {
        return false;
    }
    const double least = rates->of[best].seconds;
    const double noise = fmin(DISTURBED / (least * rate->bytes), DISTURBED_MOST);
    return rate->seconds > (DEAR + noise) * least;
}

/* The usual alpha of a network with this beta. */
static double usual_alpha(double beta)
{
    return ALPHA_AT * pow(beta / BETA_AT, ALPHA_POWER);
}

/*
 * alpha and beta where calls wait for the handling of blocks, because it takes long or processors
 * are few: those of the line through the times of the smallest blocks and of the best ones. False:
 * calls wait for the wire.
 */
static bool find_handling(const mca_coll_pipering_rates_t *rates, int best,
                          mca_coll_pipering_link_cost_t *cost)
{
    int least = 0;

    while (!is_founded(rates, least)) {
        ++least;
    }
    const mca_coll_pipering_rate_t *small = &rates->of[least], *large = &rates->of[best];
    if (least >= best || small->seconds < HANDLED * large->seconds) {
        return false;
    }
    const double time = small->length * small->seconds;
    const double slope = (large->length * large->seconds - time) / (large->length - small->length);
    const double beta = fmax(slope, large->seconds / STEEPEST);
    const double alpha = time - beta * small->length;
    cost->beta = beta;
    cost->alpha = fmin(fmax(alpha, usual_alpha(beta)), ALPHA_MOST * usual_alpha(beta));
    return true;
}

/*
 * alpha and beta where blocks are too short to show beta, such as those of one large contribution
 * among many tiny ones: the two that add up to the time of the best blocks, alpha being the usual
 * one for beta. Where `load` ranks share a processor, handling takes `load` times as long. False:
 * blocks are long enough.
 */
static bool find_short(const mca_coll_pipering_rate_t *best, double load,
                       mca_coll_pipering_link_cost_t *cost)
{
    const double time = best->seconds * best->length;
    double low = 0, high = best->seconds;

    /* the usual alpha is a rough guess, the number of ranks on a processor is exact */
    if (load * usual_alpha(high) < (1 < load ? 1 : SHORT) * time) {
        return false;
    }
    for (int i = 0; i < 30; ++i) {
        const double beta = (low + high) / 2;
        if (load * usual_alpha(beta) + beta * best->length < time) {
            low = beta;
        } else {
            high = beta;
        }
    }
    cost->beta = high;
    cost->alpha = time - high * best->length;
    return true;
}

/* The excess cost of a block above the eager bound: the mean over dear classes from `dear` on. */
static double mean_handshake(const mca_coll_pipering_rates_t *rates, int dear, int best)
{
    double sum = 0;
    int count = 0;

    for (int i = dear; i < MCA_COLL_PIPERING_RATES; ++i) {
        if (is_dear(rates, i, best)) {
            sum += (rates->of[i].seconds - rates->of[best].seconds) * rates->of[i].length;
            ++count;
        }
    }
    return sum / count;
}

/*
 * The eager bound and the handshake. If a class above the best one is dear, the bound is the
 * largest known block below it; else the largest known block, or the usual bound if it is larger.
 */
static void find_eager(const mca_coll_pipering_rates_t *rates, int best,
                       mca_coll_pipering_link_cost_t *cost)
{
    int dear = best + 1;

    while (MCA_COLL_PIPERING_RATES > dear && !is_dear(rates, dear, best)) {
        ++dear;
    }
    for (int i = 0; i < dear; ++i) {
        if (is_known(rates, i)) {
            cost->eager = rates->of[i].length;
        }
    }
    if (MCA_COLL_PIPERING_RATES > dear) {
        cost->handshake = mean_handshake(rates, dear, best);
    } else {
        cost->eager = fmax(cost->eager, EAGER);
        cost->handshake = ASKING * cost->alpha;
        cost->guessed = true;
    }
}

mca_coll_pipering_link_cost_t mca_coll_pipering_rates_cost(const mca_coll_pipering_rates_t *rates,
                                                           double load)
{
    const int best = best_class(rates);
    mca_coll_pipering_link_cost_t cost = {.beta = 0 > best ? DEFAULT_BETA : mean_rate(rates, best),
                                          .envelope = ENVELOPE};

    cost.overlap = 0 > best
                   || (!find_handling(rates, best, &cost)
                       && !find_short(&rates->of[largest_near(rates, best)], fmax(1, load),
                                      &cost));
    if (cost.overlap) {
        cost.alpha = usual_alpha(cost.beta);
    }
    cost.latency = cost.alpha;
    cost.gap = cost.alpha / 4;
    if (PACKET_BETA < cost.beta) {
        cost.packet = PACKET;
        cost.frame = FRAME;
    }
    find_eager(rates, best, &cost);
    return cost;
}

size_t mca_coll_pipering_rates_vary(const mca_coll_pipering_rates_t *rates, size_t block_size,
                                    size_t length, size_t total, unsigned lesson)
{
    const double most = (double) (total / LESSON_BLOCKS);
    const int class = mca_coll_pipering_rate_class(length), best = best_class(rates);
    const int others[] = {class - 1, class + 1, best + 1, class - 2, class - 3, class - 5};
    const unsigned count = sizeof(others) / sizeof(others[0]);

    if (!is_known(rates, class)) {
        return most < (double) block_size && 1 <= most ? (size_t) most : block_size;
    }
    const mca_coll_pipering_link_cost_t cost = mca_coll_pipering_rates_cost(rates, 1);
    const bool grows = !is_dear(rates, class, best)
                       && (double) length < mca_coll_pipering_hidden_size(&cost);
    for (unsigned i = 0; i < count; ++i) {
        const int other = others[(lesson + i) % count];
        const double varied = ldexp((double) block_size, other - class);
        if (VARIED_LEAST <= other && MCA_COLL_PIPERING_RATES > other && !is_founded(rates, other)
            && (grows || other < class) && varied <= most) {
            return (size_t) varied;
        }
    }
    return block_size;
}
