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
 * What the modules below do with a call: which algorithm Open MPI 5.0 or 6.0 chooses if no user
 * says otherwise, and what it takes, message by message.
 *
 * coll/tuned decides an allgatherv by the average contribution, and passes on a segment size and a
 * fanout of 0: its pipelines, chains and rings send whole messages, a chain has one branch, the
 * segmented ring is the ring. coll/han stands above it between nodes of several ranks each, as many
 * on each but for an allreduce, and leaves operations that do not commute to it. coll/mleader does
 * what coll/han does with an allgather, but inside a node each rank copies what it gives and gets.
 *
 * 6.0 differs in two things only: coll/tuned's chain of a reduction has two branches, and coll/han
 * serves the gatherv of an allgatherv, and the scatterv behind a reduction, by leaders, who first
 * learn how much comes from their node, or goes there.
 *
 *     sender    |-- alpha --|                          busy: alpha for each message
 *     ports                 |-- wire bytes x beta --|  of both ends, held by one at a time
 *     receiver                                      |-- latency, handshake --| combining |
 *
 * All ranks of a node share its port to other nodes, each way; inside a node each rank has its
 * own. In a round all ranks start from where they stood before it.
 *
 * Cost: O(p log p). Limits: messages that share a port go in the order in which they are played;
 * what coll/han sets up in a first call is left out, and so are rules and variables of users; its
 * scatter is taken for coll/tuned's.
 *
 * Source: Open MPI 5.0.7 and 6.0.0rc2, coll_tuned_decision_fixed.c, coll_han_{bcast,reduce,
 * allreduce,allgather,gatherv,scatterv}.c, coll/base's algorithms, nbc_ibcast.c, nbc_ireduce.c,
 * nbc_iscatterv.c. Other modules: Thakur, Rabenseifner, Gropp: Optimization of Collective
 * Communication Operations in MPICH, 2005.
 */

#include "coll_pipering_plan_below.h"

#include <math.h>
#include <string.h>

#define larger mca_coll_pipering_larger

typedef mca_coll_pipering_below_call_t call_t;
typedef mca_coll_pipering_below_time_t tally_t;
typedef mca_coll_pipering_link_cost_t link_t;

#define ALLGATHERV MCA_COLL_PIPERING_ALLGATHERV
#define ALLGATHER MCA_COLL_PIPERING_ALLGATHER
#define BCAST MCA_COLL_PIPERING_BCAST
#define REDUCE MCA_COLL_PIPERING_REDUCE
#define SCAN MCA_COLL_PIPERING_SCAN
#define EXSCAN MCA_COLL_PIPERING_EXSCAN
#define ALLREDUCE MCA_COLL_PIPERING_ALLREDUCE
#define REDUCE_SCATTER MCA_COLL_PIPERING_REDUCE_SCATTER
#define REDUCE_SCATTER_BLOCK MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK
#define GATHER MCA_COLL_PIPERING_COLLECTIVES /* to a root: a phase of coll/han's */
#define SCATTER (MCA_COLL_PIPERING_COLLECTIVES + 1) /* from a root, after a reduction */

/* A call that is being played. A port is the link of a node, or of a rank inside its node. */
typedef struct {
    const call_t *call;
    int ranks, turn;        /* rank r stands for rank r + turn */
    double bytes;           /* of the vector */
    const link_t *links[2]; /* between nodes, inside */
    double *now, *before;   /* [ranks] seconds, and those before a round */
    const double *from;     /* where ranks start: one of these */
    double *out, *in;       /* [3 ranks] when ports of nodes, of ranks, of switches are free */
    double *sums;           /* [ranks + 1] of contributions, or of parts of the vector */
    tally_t tally;
} run_t;

/* How an algorithm is played: along which tree, and */
enum {
    LINEAR, CHAIN, TWO_CHAINS, BINARY, BINOMIAL, ROWS, FOUR_ROWS, SHAPE = 7,
    UP = 8, DOWN = 16,      /* combined to the root, or from it */
    PARTS = 32,             /* of each rank its own, in place of the vector */
    COMBINED = 64,          /* by all, but for what the last one gets */
    ALL = 128,              /* all need the result */
    WHOLE = 256,            /* vectors are not halved */
    PAIRS = 512,            /* two blocks a message */
    ASKED = 1024,           /* the root asks for each message, which comes in two parts */
    SPLIT = 2048            /* in halves, of which each rank gets the other one at last */
};

size_t mca_coll_pipering_below_scratch(int ranks)
{
    return (9 * (size_t) ranks + 1) * sizeof(double);
}

/* The largest power of two up to so many. */
static int power_in(int ranks)
{
    int power = 1;

    for (; power <= ranks / 2; power *= 2) {
    }
    return power;
}

/* ---- messages ---- */

static void open_round(run_t *run)
{
    memcpy(run->before, run->now, (size_t) run->ranks * sizeof(double));
    run->from = run->before;
}

static bool is_inside(const run_t *run, int from, int to)
{
    const int *node_of = run->call->node_of;

    return NULL != node_of && node_of[from] == node_of[to];
}

static int port_of(const run_t *run, int rank, bool inside)
{
    const int *node_of = run->call->node_of;

    return inside ? run->ranks + rank : NULL != node_of ? node_of[rank] : rank;
}

/* Whether two ranks are on nodes of different leaf switches. */
static bool is_far(const run_t *run, int from, int to)
{
    const int *leaf_of = NULL == run->call->node_of ? NULL : run->call->leaf_of;

    return NULL != leaf_of && leaf_of[from] != leaf_of[to];
}

static double wire(const link_t *link, double messages, double bytes)
{
    return mca_coll_pipering_wire_bytes(link, messages, bytes) * link->beta;
}

/* Seconds of a message after those on the wire. */
static double landing(const run_t *run, const link_t *link, double bytes, bool combines)
{
    return link->latency + (0 < link->eager && bytes > link->eager ? link->handshake : 0)
           + (combines ? bytes * run->call->combine : 0);
}

/* Inside a node processors copy all bytes. */
static void count(run_t *run, const link_t *link, double messages, double bytes, bool combines)
{
    const double copy = link == run->links[1] ? link->beta : link->copy;

    run->tally.messages += messages;
    run->tally.bytes += bytes;
    run->tally.work += messages * link->alpha
                       + bytes * (copy + (combines ? run->call->combine : 0));
}

/*
 * Seconds by which the switches of two ranks delay a message that would be sent then: their links
 * to others carry several messages at a time, and a message is behind those that fill them.
 */
static double detour(run_t *run, int from, int to, double begun, double sent, double bytes)
{
    const mca_coll_pipering_cost_t *cost = run->call->cost;
    double passed = sent;

    if (!is_far(run, from, to)) {
        return 0;
    }
    if (0 < cost->uplinks) {
        double *out = &run->out[2 * run->ranks + run->call->leaf_of[from]];
        double *in = &run->in[2 * run->ranks + run->call->leaf_of[to]];
        const double share = wire(&cost->net, 1, bytes) / cost->uplinks;
        *out = larger(*out, begun) + share;
        *in = larger(*in, begun) + share;
        passed = larger(passed, larger(*out, *in));
    }
    return passed - sent + cost->far - cost->net.latency;
}

/* A message; its receiver combines it. */
static void send(run_t *run, int sender, int receiver, double bytes, bool combines)
{
    const int p = run->ranks, turn = run->turn;
    const int from = sender + turn - (p > sender + turn ? 0 : p);
    const int to = receiver + turn - (p > receiver + turn ? 0 : p);
    const bool inside = is_inside(run, from, to);
    const link_t *link = run->links[inside];
    double *out = &run->out[port_of(run, from, inside)], *in = &run->in[port_of(run, to, inside)];
    const double begun = run->from[from] + link->alpha, taken = run->from[to] + link->alpha;
    const double both = run->from == run->now ? 1 : mca_coll_pipering_both_ways(link, bytes);
    const double sent = larger(begun, larger(*out, *in)) + both * wire(link, 1, bytes);
    const double late = detour(run, from, to, begun, sent, bytes);
    const double came = larger(sent + late + landing(run, link, bytes, false), taken)
                        + (combines ? bytes * run->call->combine : 0);

    *out = *in = sent;
    run->now[from] = larger(run->now[from], begun);
    run->now[to] = larger(run->now[to], came);
    count(run, link, 1, bytes, combines);
}

/* Seconds of a message of a round. */
static double hop(const run_t *run, bool inside, double bytes, bool combines)
{
    const link_t *link = run->links[inside];

    return link->alpha + wire(link, 1, bytes) * mca_coll_pipering_both_ways(link, bytes)
           + landing(run, link, bytes, combines);
}

/* Bytes of the parts of so many ranks in a row. */
static double span(const run_t *run, int first, int number)
{
    const int end = first + number, over = end > run->ranks ? end - run->ranks : 0;

    return run->sums[end - over] - run->sums[first] + run->sums[over];
}

/* ---- trees ---- */

/*
 * A child is once, or up to `many` times, a step behind its parent; steps of several sizes go from
 * `low` to `high`, or, from the root of a tree whose subtrees are ranks in a row, the other way.
 */
static void play_tree(run_t *run, int how)
{
    const int p = run->ranks, shape = how & SHAPE, radix = FOUR_ROWS == shape ? 4 : 2;
    const bool parts = 0 != (how & PARTS), split = 0 != (how & SPLIT);
    const double m = split ? run->bytes / 2 : run->bytes;

    for (int i = 0 != (how & UP) ? 0 : p; i < (0 != (how & DOWN) ? 2 * p : p); ++i) {
        const bool up = i < p, falls = !up && ROWS <= shape;
        const int v = up ? p - 1 - i : i - p;
        int low = 1, high = 1, many = 1, apart = 0;
        if (LINEAR == shape) {
            high = 0 == v ? 1 : 0;
            many = p - 1;
        } else if (TWO_CHAINS == shape) { /* the second one first, since it may be shorter */
            apart = p / 2;
            high = v == apart ? 0 : 1;
            many = 0 == v && 2 < p ? 2 : 1;
        } else if (BINARY == shape) {
            low = high = power_in(v + 1);
            many = 2;
        } else if (BINOMIAL == shape) {
            low = 0 == v ? 1 : 2 * power_in(v);
            high = p;
        } else if (ROWS <= shape) {
            for (; high < p && 0 == v % (radix * high); high *= radix) {
            }
            high /= radix;
            many = radix - 1;
        }
        for (int step = falls ? high : low; low <= step && step <= high;
             step = falls ? step / radix : step * radix) {
            for (int k = 0; k < many; ++k) {
                const int c = 0 < apart ? v + 1 + (many - 1 - k) * apart : v + (k + 1) * step;
                const double bytes = p <= c ? 0
                                     : parts ? span(run, c, step < p - c ? step : p - c)
                                             : m;
                if (0 < bytes) {
                    send(run, up ? c : v, up ? v : c, bytes,
                         up ? !parts : 0 != (how & (c + 1 < p ? COMBINED : ALL)));
                }
            }
        }
    }
    if (split || 0 != (how & ASKED)) { /* a round more: of other halves, or of empty messages */
        const double each = split ? m : 0;
        run->tally.time += hop(run, false, each, false);
        count(run, run->links[0], (split ? 1 : 2) * (p - 1), (p - 1) * each, false);
    }
}

/*
 * All contributions to the lowest rank of each node, and from there to the lowest of all; or parts
 * of the vector the other way, first between nodes, where coll/libnbc sends empty ones, too.
 */
static void play_leaders(run_t *run, int how)
{
    const int *node_of = run->call->node_of;
    double *sums = run->before; /* of nodes, at their lowest ranks */

    for (int r = 0; r < run->ranks; ++r) {
        sums[node_of[r]] += span(run, r, 1);
    }
    for (int i = 0; i < 2; ++i) {
        const bool across = (UP == how) == (1 == i);
        for (int r = 1; r < run->ranks; ++r) {
            const double bytes = across ? sums[r] : span(run, r, 1);
            const int other = across ? 0 : node_of[r];
            if ((node_of[r] == r) == across && (0 < bytes || (across && UP != how))) {
                send(run, UP == how ? r : other, UP == how ? other : r, bytes, false);
            }
        }
    }
}

/* To the last of some ranks in a row, from the last ones of both halves of the others. */
static void play_in_order(run_t *run, int how)
{
    const int p = run->ranks, root = run->call->root;

    run->turn = 0;
    for (int r = 0; r < p; ++r) {
        int first = 0, size = p;
        while (first + size - 1 != r) {
            const bool high = r >= first + size / 2;
            first += high ? size / 2 : 0;
            size = high ? size - 1 - size / 2 : size / 2;
        }
        for (int half = 2 < size ? 0 : 1; half < 2 && 1 < size; ++half) {
            send(run, 0 == half ? r - 1 : first + size / 2 - 1, r, run->bytes, UP == how);
        }
    }
    if (p - 1 != root) {
        send(run, p - 1, root, run->bytes, false);
    }
}

/* ---- vectors ---- */

/* Bytes that v has after so many halvings: by each bit of v, from the lowest, less or more. */
static double window(const run_t *run, int v, int halvings)
{
    const double unit = (double) run->call->unit;
    const int parts = 1 << halvings;

    return floor((run->bytes / unit + v % parts) / parts) * unit;
}

/*
 * A power of two ranks, the first of which stand for two each, double vectors; or, as Rabenseifner
 * does, they halve and combine them, and then gather the result, all or the root alone.
 */
static void play_halves(run_t *run, int how)
{
    const int power = power_in(run->ranks), rest = run->ranks - power, root = run->call->root;
    const bool whole = 0 != (how & WHOLE), all = 0 != (how & ALL);
    const bool spared = !all && root < 2 * rest && 1 == root % 2; /* another stands for the root */
    const int head = spared ? 0 : root < 2 * rest ? root / 2 : root - rest;
    const int odd = whole ? 1 : 0; /* which of two ranks stands for both */
    const double right = whole ? 0 : run->bytes - window(run, 0, 1);
    int steps = 0;

    for (; 1 << steps < power; ++steps) {
    }
    run->turn = 0;
    open_round(run);
    for (int r = 0; r < rest; ++r) {
        send(run, 2 * r + 1 - odd, 2 * r + odd, run->bytes - right, true);
        if (!whole) {
            send(run, 2 * r, 2 * r + 1, right, true);
        }
    }
    run->from = run->now;
    for (int r = 0; !whole && r < rest; ++r) {
        send(run, 2 * r + 1, 2 * r, right, false);
    }
    for (int i = 0; i < (whole ? steps : 2 * steps); ++i) {
        const bool down = steps <= i;
        const int step = down ? 2 * steps - 1 - i : i;
        if (steps == i && spared) {
            run->from = run->now;
            send(run, 0, root, window(run, 0, steps), false);
        }
        open_round(run);
        for (int v = 0; v < power; ++v) {
            const int w = v ^ 1 << step;
            if (!down || all || 1 == (v ^ head) >> step) {
                send(run, v < rest ? 2 * v + odd : v + rest, w < rest ? 2 * w + odd : w + rest,
                     whole ? run->bytes : window(run, down ? v : w, step + 1), !down);
            }
        }
    }
    run->from = run->now;
    for (int r = 0; all && r < rest; ++r) {
        send(run, 2 * r + odd, 2 * r + 1 - odd, run->bytes, false);
    }
}

/* The ranks that v of a power of two stands for, from this one on. */
static int first_for(int v, int rest)
{
    return v < rest ? 2 * v : v + rest;
}

/* The first part that v of a power of two has after so many halvings, by its highest bits, or its
 * lowest ones. */
static int first_part(int power, int v, int halvings, bool mirrored)
{
    int first = 0;

    for (int i = 0; mirrored && i < halvings; ++i) {
        first += (v >> i & 1) * (power >> (i + 1));
    }
    return mirrored ? first : v & -(power >> halvings);
}

/*
 * A reduce-scatter: each of a power of two ranks, the first of which stand for two each, sends the
 * parts of half of them to its partner, and combines those of the other half. A butterfly sends
 * empty messages, too, and ends with the parts of other ranks, which go to these; with equal parts
 * of a power of two ranks it does not.
 */
static void play_halving(run_t *run, int how)
{
    const int power = power_in(run->ranks), rest = run->ranks - power;
    const bool mirrored = ALL == how;
    int steps = 0;

    open_round(run);
    for (int r = 0; r < rest; ++r) {
        send(run, 2 * r, 2 * r + 1, run->bytes, true);
    }
    for (; 1 << steps < power; ++steps) {
        const int half = power >> (steps + 1), mask = mirrored ? 1 << steps : half;
        open_round(run);
        for (int v = 0; v < power; ++v) {
            const int w = v ^ mask, low = first_part(power, w, steps + 1, mirrored);
            const int first = first_for(low, rest);
            const double bytes = span(run, first, first_for(low + half, rest) - first);
            if (0 < bytes || mirrored) {
                send(run, first_for(v, rest) + (v < rest), first_for(w, rest) + (w < rest), bytes,
                     true);
            }
        }
    }
    open_round(run);
    for (int v = 0; v < power && (0 < rest || REDUCE_SCATTER == run->call->collective); ++v) {
        const int from = first_for(v, rest) + (v < rest);
        const int w = first_part(power, v, steps, mirrored), to = first_for(w, rest);
        if (w < rest && (mirrored || 0 < span(run, to, 1))) {
            send(run, from, to, span(run, to, 1), false);
        }
        if (w != v) {
            send(run, from, to + (w < rest), span(run, to + (w < rest), 1), false);
        }
    }
}

/* coll/libnbc's parts of 8 KiB from each rank to the next. */
static void play_pipeline(run_t *run, int how)
{
    const double parts = ceil(run->bytes / 8192), hops = run->ranks - 1, part = run->bytes / parts;
    const link_t *link = run->links[0];

    run->tally.time += (hops + parts - 1)
                       * (link->alpha + wire(link, 1, part) + landing(run, link, part, UP == how));
    count(run, link, hops * parts, hops * run->bytes, UP == how);
}

/* ---- gathers ---- */

/*
 * All parts to all ranks, as many as a rank has so far: each way between ranks that differ in a
 * bit, maybe down a tree before; or, as Bruck does, to the rank that is as far behind.
 */
static void play_doubling(run_t *run, int how)
{
    const int p = run->ranks;
    const bool bruck = ALL == how;

    play_tree(run, bruck ? 0 : how);
    for (int mask = 1; mask < p; mask *= 2) {
        const int group = p - p % (2 * mask), lone = bruck ? 0 : p - group - mask;
        open_round(run);
        for (int v = 0; v < p; ++v) {
            const int first = bruck ? v : v - v % mask, to = bruck ? (v - mask + p) % p : v ^ mask;
            const int most = bruck ? p - mask : p - first;
            if (to < p) {
                send(run, v, to, span(run, first, mask < most ? mask : most), false);
            }
        }
        run->from = run->now;
        /* those without another get the parts that they lack from those with one */
        for (int i = 0 < lone ? lone : mask, have = lone; i < mask; ++i) {
            have += 2 * have == i ? have : 0;
            send(run, group + i - have, group + i, run->bytes - run->sums[group + mask], false);
        }
    }
}

/*
 * All blocks around a ring, or pairs of them, but for the first, between neighbors in turn. Their
 * p (p - 1) messages are not played. One, in round r on link i, waits for those of round r - 1 on
 * the links i - 1, i and i + 1: with its own block, the one behind it and the next. So no chain of
 * waits is longer than the way of the largest block, which is exact if links are alike. If not, it
 * is a lower bound, as is what the port of the busiest node sends, after the rounds inside nodes of
 * a rank that sends to others, every second one of pairs; the longer one counts.
 */
static void play_ring(run_t *run, int how)
{
    const int p = run->ranks, width = PAIRS == how ? 2 : 1;
    const bool combines = COMBINED == how || UP == how;
    const double rounds = 2 == width ? p / 2 : p - 1, mean = width * run->sums[p] / p;
    double most = -1, around = 0, crossings = 0, busiest = 0;
    int largest = 0;

    for (int r = 0; r < p; r += width) {
        largest = span(run, r, width) > most ? r : largest;
        most = larger(most, span(run, r, width));
    }
    const double hops[2] = {hop(run, false, most, combines), hop(run, true, most, combines)};
    for (int r = 0; r < p; ++r) {
        const double sent = run->sums[p] - span(run, (r + 1) % p, 1);
        const bool inside = is_inside(run, r, (r + 1) % p);
        double *port = &run->out[port_of(run, r, false)];
        count(run, run->links[inside], rounds, sent, combines);
        around += hops[inside];
        crossings += inside ? 0 : 1;
        *port += inside ? 0 : wire(run->links[0], rounds, sent)
                              * mca_coll_pipering_both_ways(run->links[0], sent / rounds);
        busiest = larger(busiest, *port);
    }
    const double often = 0 == crossings ? 0 : 2 == width && crossings < p ? 0.5 : 1;
    const double waits = rounds
                         * (often * (run->links[0]->alpha
                                     + landing(run, run->links[0], mean, combines))
                            + (1 - often) * hop(run, true, mean, combines));
    const double way = 2 == width ? hop(run, is_inside(run, 0, 1), most / 2, false)
                                        + (rounds - 1) / p * around
                                  : around - hops[is_inside(run, (largest + p - 1) % p, largest)];
    run->tally.time += larger(waits + busiest, way);
    if (COMBINED == how) {
        memset(run->out, 0, (size_t) p * sizeof(double));
        play_ring(run, 0);
    }
}

/* ---- decisions ---- */

/* What coll/base needs for an algorithm: elements, ranks; without, it takes the other one. */
enum { NOTHING, TWO, RANKS, POWER /* of two up to the ranks */, EVEN_RANKS, POWER_RANKS };

typedef struct {
    const char *name;
    void (*play)(run_t *run, int how);
    int how, needs, otherwise;
} algorithm_t;

/* By coll/tuned's numbers; those without a name are phases of coll/han. */
static const algorithm_t gathers[] = { /* by those of an allgather; 8, 9: to a root */
    [1] = {"tuned: default", play_tree, LINEAR | UP | PARTS, 0, 0}, /* and a broadcast */
    [2] = {"tuned: bruck", play_doubling, ALL, 0, 0},
    [3] = {"tuned: recursive_doubling", play_doubling, 0, POWER_RANKS, 2},
    [4] = {"tuned: ring", play_ring, 0, 0, 0},
    [5] = {"tuned: neighbor", play_ring, PAIRS, EVEN_RANKS, 4},
    [6] = {"tuned: two_proc", play_ring, 0, 0, 0},
    [7] = {"tuned: default", play_leaders, UP, 0, 0}, /* with coll/han's gatherv, of 6.0 */
    [8] = {NULL, play_tree, ROWS | UP | PARTS, 0, 0},
    [9] = {NULL, play_tree, LINEAR | UP | PARTS | ASKED, 0, 0}};
static const algorithm_t bcasts[] = {
    [1] = {"tuned: basic_linear", play_tree, LINEAR | DOWN, 0, 0},
    [2] = {"tuned: chain", play_tree, CHAIN | DOWN, 0, 0},
    [3] = {"tuned: pipeline", play_tree, CHAIN | DOWN, 0, 0},
    [4] = {"tuned: split_binary_tree", play_tree, BINARY | DOWN | SPLIT, TWO, 2},
    [5] = {"tuned: binary_tree", play_tree, BINARY | DOWN, 0, 0},
    [6] = {"tuned: binomial", play_tree, BINOMIAL | DOWN, 0, 0},
    [7] = {"tuned: knomial", play_tree, FOUR_ROWS | DOWN, 0, 0},
    [8] = {"tuned: scatter_allgather", play_doubling, ROWS | DOWN | PARTS, RANKS, 1}};
static const algorithm_t reduces[] = {
    [1] = {"tuned: linear", play_tree, LINEAR | UP, 0, 0},
    [2] = {"tuned: chain", play_tree, CHAIN | UP, 0, 0},
    [3] = {"tuned: pipeline", play_tree, CHAIN | UP, 0, 0},
    [4] = {"tuned: binary", play_tree, BINARY | UP, 0, 0},
    [5] = {"tuned: binomial", play_tree, ROWS | UP, 0, 0},
    [6] = {"tuned: in-order_binary", play_in_order, UP, 0, 0},
    [7] = {"tuned: rabenseifner", play_halves, 0, POWER, 1},
    [8] = {NULL, play_pipeline, UP, 0, 0},
    [9] = {"tuned: chain", play_tree, TWO_CHAINS | UP, 0, 0}}; /* of 6.0 */
static const algorithm_t allreduces[] = {
    [1] = {"tuned: basic_linear", play_tree, LINEAR | UP | DOWN, 0, 0},
    [2] = {"tuned: nonoverlapping", play_tree, 0, 0, 0}, /* a reduction and a broadcast */
    [3] = {"tuned: recursive_doubling", play_halves, WHOLE | ALL, 0, 0},
    [4] = {"tuned: ring", play_ring, COMBINED, RANKS, 3},
    [6] = {"tuned: rabenseifner", play_halves, ALL, POWER, 1}};
static const algorithm_t scatters[] = { /* what follows a reduction; by those of a reduce-scatter */
    [1] = {"tuned: non-overlapping", play_tree, LINEAR | DOWN | PARTS, 0, 0},
    [2] = {"tuned: recursive_halving", play_halving, 0, 0, 0},
    [3] = {"tuned: ring", play_ring, UP, 0, 0},
    [4] = {"tuned: butterfly", play_halving, ALL, 0, 0},
    [7] = {"tuned: non-overlapping", play_leaders, DOWN, 0, 0}}; /* with coll/han's scatterv */
static const algorithm_t scattered_blocks[] = {
    [1] = {"tuned: basic_linear", play_tree, 0, 0, 0}, /* a reduction and a scatter */
    [2] = {"tuned: recursive_doubling", play_halves, WHOLE | ALL, 0, 0}, /* up to 1 KiB in all */
    [3] = {"tuned: recursive_halving", play_halving, 0, 0, 0},
    [4] = {"tuned: butterfly", play_halving, ALL, 0, 0},
    [5] = {NULL, play_tree, LINEAR | DOWN | PARTS, 0, 0}, /* of a scatter, by one more */
    [6] = {NULL, play_tree, ROWS | DOWN | PARTS, 0, 0},
    [7] = {NULL, play_tree, LINEAR | DOWN | PARTS, 0, 0}};
static const algorithm_t scans[] = {
    [1] = {"basic: linear", play_tree, CHAIN | DOWN | COMBINED | ALL, 0, 0},
    [2] = {"basic: linear", play_tree, CHAIN | DOWN | COMBINED, 0, 0}};

/*
 * With fewer ranks than these (0: any number) algorithms by the size of a vector or of a mean
 * contribution: a digit for less than 2 bytes, 4, 8 and so on, the last one for all larger ones.
 */
typedef struct {
    int ranks;
    const char *algorithms;
} rule_t;

static const rule_t allgatherv_rules[] = {
    {3, "44444444444646"}, {8, "1111111155554522225"}, {16, "11111111112"},
    {32, "1111111222222222224"}, {64, "11111111222224"}, {128, "1111111122224"},
    {256, "22222222225555554"}, {512, "22222222224"}, {1024, "222222222122555555554"},
    {0, "2222222222225"}};
static const rule_t allgather_rules[] = {
    {3, "6"}, {32, "3"}, {64, "33333333335555554"}, {128, "33333333355555554"},
    {256, "333333333555555554454"}, {512, "333332233355555554454"}, {1024, "333333223335"},
    {2048, "3323233323335"}, {4096, "2222233223335"}, {0, "3223222223335"}};
static const rule_t bcast_rules[] = {
    {4, "333335553711111552165"}, {8, "555555655556611111112"}, {16, "7775557777775561"},
    {32, "777777777777666666668"}, {64, "666666666667"}, {128, "7"}, {256, "65555555555555157"},
    {1024, "7777777777777747"}, {2048, "77777777777777777778"}, {4096, "7777777777777777778"},
    {0, "7777777777777577778"}};
static const rule_t ordered_reduce_rules[] = {
    {4, "6661"}, {8, "1"}, {16, "6666666666111611116"}, {128, "6"}, {256, "66666666616"}, {0, "6"}};
static const rule_t reduce_rules[] = {
    {4, "777431111111111111323"}, {8, "444444444444222255151"}, {16, "44444444444445"},
    {32, "4444444444445"}, {256, "5"}, {512, "555555555555565"}, {2048, "5"},
    {4096, "555555555655565"}, {0, "555565555565565"}};
static const rule_t ordered_allreduce_rules[] = {
    {4, "333333333333333331"}, {8, "3"}, {16, "333333333333333333332"}, {128, "3"},
    {256, "22222222222222222332"}, {512, "22222222222233333332"}, {0, "222222222223"}};
static const rule_t allreduce_rules[] = {
    {4, "4443333333334344446"}, {8, "44443333333336"}, {16, "33333333333336"},
    {32, "4444443333336"}, {64, "44444446"}, {128, "3333333333333333336"},
    {256, "2222222222222222236"}, {512, "2222222222226"}, {2048, "222222222223336"},
    {4096, "222222222224336"}, {0, "2222222222244436"}};
static const rule_t gather_rules[] = {
    {4, "918888888888888189"}, {8, "8888888888111881119"}, {256, "8"}, {512, "88888888888118"},
    {0, "8"}};
static const rule_t scatter_rules[] = {
    {4, "333333333333333343"}, {8, "1112222222222222223"}, {32, "2222222222222222223"},
    {64, "11111122222444444443"}, {128, "1111111124424"}, {256, "1111111124"},
    {512, "11111111224"}, {1024, "111111111224424"}, {2048, "1111111112224424"},
    {4096, "1111111112224"}, {0, "11111111112224"}};
static const rule_t scattered_block_rules[] = {
    {4, "224344434444344441"}, {8, "333224443333343333331"}, {16, "11333443333333333331114"},
    {32, "11111333333333333331134"}, {0, "3311444444444444114"}};
static const rule_t scattering_rules[] = {
    {4, "7555555555555555575"}, {8, "666666666665655777775"}, {16, "666666666666667777775"},
    {32, "6666666666666657"}, {64, "666666666777767"}, {0, "6666666667"}};
static const rule_t scan_rules[] = {{0, "1"}}, exscan_rules[] = {{0, "2"}};

enum { INSIDE = 16 };

static const struct {
    const algorithm_t *algorithms;
    const rule_t *rules, *ordered; /* where operations commute, and where they do not */
    int han[5];                    /* phases of coll/han, across nodes or inside, up to a 0 */
} collectives[] = {
    [ALLGATHERV] = {gathers, allgatherv_rules, NULL, {0}},
    [ALLGATHER] = {gathers, allgather_rules, NULL, {INSIDE | GATHER, ALLGATHER, INSIDE | BCAST}},
    [BCAST] = {bcasts, bcast_rules, NULL, {BCAST, INSIDE | BCAST}},
    [REDUCE] = {reduces, reduce_rules, ordered_reduce_rules, {INSIDE | REDUCE, REDUCE}},
    [SCAN] = {scans, scan_rules, scan_rules, {0}},
    [EXSCAN] = {scans, exscan_rules, exscan_rules, {0}},
    [ALLREDUCE] = {allreduces, allreduce_rules, ordered_allreduce_rules,
                   {INSIDE | REDUCE, REDUCE, BCAST, INSIDE | BCAST}},
    [REDUCE_SCATTER] = {scatters, scatter_rules, scan_rules, {0}},
    [REDUCE_SCATTER_BLOCK] = {scattered_blocks, scattered_block_rules, scan_rules, {0}},
    [GATHER] = {gathers, gather_rules, NULL, {0}},
    [SCATTER] = {scattered_blocks, scattering_rules, NULL, {0}}};

static bool is_six(const call_t *call)
{
    return MCA_COLL_PIPERING_BELOW_TUNED_6 == call->modules
           || MCA_COLL_PIPERING_BELOW_HAN_6 == call->modules;
}

/* The number of coll/tuned's algorithm, or of what coll/base falls back to. */
static int tuned_number(const call_t *call)
{
    const int p = call->ranks;
    const bool blocks = gathers == collectives[call->collective].algorithms
                        || scattered_blocks == collectives[call->collective].algorithms;
    const double units = (double) call->total / (double) call->unit;
    const bool lacks[] = {false, units < 2, units < p, units < power_in(p), 0 != p % 2,
                          p != power_in(p)}; /* in the order of what an algorithm needs */
    const rule_t *rule = call->ordered ? collectives[call->collective].ordered
                                       : collectives[call->collective].rules;

    for (; 0 != rule->ranks && p >= rule->ranks; ++rule) {
    }
    const char *digit = rule->algorithms;
    for (size_t size = blocks ? call->total / (size_t) p : call->total;
         1 < size && '\0' != digit[1]; size /= 2) {
        ++digit;
    }
    const algorithm_t *algorithm = &collectives[call->collective].algorithms[*digit - '0'];
    const bool branches = is_six(call) && REDUCE == call->collective && '2' == *digit;
    return lacks[algorithm->needs] ? algorithm->otherwise : branches ? 9 : *digit - '0';
}

/* The number of coll/libnbc's, which reduces large vectors in parts between few ranks. */
static int nbc_number(const call_t *call)
{
    const int p = call->ranks;

    if (BCAST == call->collective) {
        return 4 < p ? 6 : 1;
    }
    return 2 < p && call->total / call->unit >= (size_t) power_in(p) ? 7
           : 4 < p || 65536 > call->total                            ? 5
                                                                     : 8;
}

static tally_t play(const call_t *call, int number)
{
    const size_t p = (size_t) call->ranks;
    const algorithm_t *algorithm = &collectives[call->collective].algorithms[number];
    double *memory = call->scratch, last = 0;
    run_t run = {.call = call,
                 .ranks = call->ranks,
                 .turn = call->root,
                 .bytes = (double) call->total,
                 .links = {1 == call->nodes ? &call->cost->local : &call->cost->net,
                           &call->cost->local},
                 .now = memory,
                 .before = memory + p,
                 .from = memory,
                 .out = memory + 2 * p,
                 .in = memory + 5 * p,
                 .sums = memory + 8 * p,
                 .tally = {.algorithm = algorithm->name}};
    const double unit = (double) call->unit, part = ceil(run.bytes / unit / call->ranks) * unit;
    const size_t *blocks = ALLGATHERV == call->collective || REDUCE_SCATTER == call->collective
                               ? call->bytes
                               : NULL;

    memset(memory, 0, mca_coll_pipering_below_scratch(call->ranks));
    for (size_t r = 0; r < p; ++r) {
        const double rest = run.bytes - run.sums[r], equal = rest < part ? rest : part;
        run.sums[r + 1] = run.sums[r] + (NULL != blocks ? (double) blocks[r] * unit : equal);
    }
    algorithm->play(&run, algorithm->how);
    for (size_t r = 0; r < p; ++r) {
        last = larger(last, run.now[r]);
    }
    run.tally.time += last;
    return run.tally;
}

static void add(tally_t *to, tally_t part, double times)
{
    to->time += times * part.time;
    to->messages += times * part.messages;
    to->bytes += times * part.bytes;
    to->work += times * part.work;
}

/* ---- coll/han ---- */

/* The phases of a segment: one after the other, or overlapped by those of other segments. */
static tally_t han_segment(const call_t *call, size_t bytes, bool first, bool last)
{
    const double others = (double) (call->ranks - call->nodes) / (call->ppn - 1);
    tally_t sum = {.algorithm = "han"};
    double inside = 0, across = 0, longest = 0;

    for (const int *phase = collectives[call->collective].han; 0 != *phase; ++phase) {
        const bool in = 0 != (*phase & INSIDE);
        call_t part = *call;
        part.collective = (mca_coll_pipering_collective_t) (*phase & ~INSIDE);
        part.ranks = in ? call->ppn : call->nodes;
        part.nodes = in ? 1 : call->nodes;
        part.node_of = NULL;
        part.total = GATHER == part.collective ? bytes / (size_t) call->nodes : bytes;
        part.root = 0; /* as a rank of its node, or its node as one of all */
        for (int r = 0; r < call->root; ++r) {
            const int node = call->node_of[r], own = call->node_of[call->root];
            part.root += in ? node == own : node == r && node < own;
        }
        /* vectors go across by coll/libnbc, but for the first segment of a broadcast */
        const bool tuned = in || ALLGATHER == call->collective
                           || (first && BCAST == call->collective);
        const tally_t all = play(&part, tuned ? tuned_number(&part) : nbc_number(&part));
        add(&sum, all, in ? others : 1);
        inside += in ? all.time : 0;
        across += in ? 0 : all.time;
        longest = larger(longest, in ? inside : all.time);
    }
    sum.time = last ? across + inside : longest;
    return sum;
}

/* Vectors go in segments of about 64 KiB, contributions as one. */
static tally_t han_time(const call_t *call)
{
    const size_t most = 65536, unit = call->unit, over = most % unit;
    const bool cut = unit <= most && most < call->total && ALLGATHER != call->collective;
    const size_t segment = cut ? most - over + (over > unit / 2 ? unit : 0) : call->total;
    const size_t others = (call->total - 1) / segment, rest = call->total - others * segment;
    tally_t tally = han_segment(call, rest, 0 == others, true);

    for (size_t i = 0; i < 2 && i < others; ++i) {
        add(&tally, han_segment(call, segment, 0 == i, false), 0 == i ? 1 : (double) others - 1);
    }
    return tally;
}

/*
 * Leaders gather contributions, or scatter parts, of any size, after these sizes from all nodes but
 * the root's.
 */
static tally_t han_vector(const call_t *call)
{
    tally_t tally = play(call, 7);
    call_t sizes = *call;

    sizes.collective = GATHER;
    sizes.ranks = call->ppn;
    sizes.nodes = 1;
    sizes.node_of = NULL;
    sizes.ordered = false;
    sizes.total = (size_t) call->ppn * sizeof(size_t);
    const tally_t node = play(&sizes, tuned_number(&sizes));
    add(&tally, node, call->nodes - 1);
    tally.time -= (call->nodes - 2) * node.time;
    return tally;
}

/* ---- coll/mleader ---- */

/* Kandalla et al. 4.3: by recursive doubling, or a ring in messages of up to 32 KiB. */
static tally_t leaders_time(const call_t *call)
{
    const size_t block = call->total / (size_t) call->ranks;
    const link_t *local = &call->cost->local;
    const bool ring = 262144 <= call->total, power = call->nodes == power_in(call->nodes);
    mca_coll_pipering_cost_t cost = *call->cost;
    call_t across = *call;

    across.ranks = call->nodes;
    across.node_of = NULL;
    across.cost = &cost;
    if (ring) {
        cost.net.eager = 0; /* of no message are there so many bytes */
    }
    tally_t tally = play(&across, ring ? 4 : power ? 3 : 2);
    /* a message inside a node is copied twice, by its sender and by its receiver */
    tally.time += 2 * local->latency + (double) (block + call->total) * local->beta / 2;
    tally.algorithm = "mleader";
    return tally;
}

/* ---- the modules ---- */

static tally_t known_time(const call_t *call)
{
    const bool equal = call->equal || ALLREDUCE == call->collective;
    const bool leaders = (MCA_COLL_PIPERING_BELOW_HAN == call->modules
                          || MCA_COLL_PIPERING_BELOW_HAN_6 == call->modules)
                         && equal && 1 < call->nodes && 1 < call->ppn;
    const bool han = leaders && !call->ordered && 0 != collectives[call->collective].han[0];
    const int number = tuned_number(call);
    const bool vector = leaders && is_six(call) && 1 == number
                        && (ALLGATHERV == call->collective || REDUCE_SCATTER == call->collective);
    tally_t tally = han ? han_time(call) : vector ? han_vector(call) : play(call, number);
    call_t next = *call;

    if (!han && ALLREDUCE == call->collective && 2 == number) {
        next.collective = REDUCE;
        add(&tally, known_time(&next), 1);
        next.collective = BCAST;
    } else if (mca_coll_pipering_scatters_result(call->collective) && 1 == number) {
        next.collective = REDUCE;
        add(&tally, known_time(&next), 1);
        if (REDUCE_SCATTER_BLOCK == call->collective) {
            next.collective = (mca_coll_pipering_collective_t) SCATTER;
            next.ordered = false;
            add(&tally, play(&next, tuned_number(&next)), 1);
        }
        next.collective = call->collective;
    } else if (!han && ALLGATHERV == call->collective && 1 == number) {
        next.collective = BCAST;
        next.unit = call->total; /* one element of a type for all */
    }
    if (next.collective != call->collective) {
        next.ordered = false;
        add(&tally, known_time(&next), 1);
    }
    return tally;
}

/*
 * The least of textbook algorithms between nodes: contributions, or the vector, doubled, or parts
 * halved; or a root that has all, or all ranks a part each of the vector, unless order matters.
 */
static tally_t least_time(const call_t *call)
{
    const bool nodes = 1 < call->nodes;
    const bool blocks = BCAST > call->collective
                        || mca_coll_pipering_scatters_result(call->collective);
    const bool whole = call->ordered || scans == collectives[call->collective].algorithms;
    const link_t *link = nodes ? &call->cost->net : &call->cost->local;
    const int n = nodes ? call->nodes : call->ranks;
    const double m = (double) call->total, start = link->alpha + link->latency;
    const double messages = (blocks ? 2 : 1) * (n - 1);
    double *sums = call->scratch, most = blocks ? 0 : m, doubled = 0, steps = 0;

    memset(sums, 0, (size_t) call->ranks * sizeof(double));
    for (int r = 0; blocks && r < call->ranks; ++r) {
        double *sum = &sums[nodes ? call->node_of[r] : r];
        *sum += NULL == call->bytes ? m / call->ranks
                                    : (double) call->bytes[r] * (double) call->unit;
        most = larger(most, *sum);
    }
    for (int i = 1; i < n; i *= 2, steps += 1) {
        doubled += start + fmin(m, (i < n - i ? i : n - i) * most) * link->beta;
    }
    const double other = (steps + (blocks ? 1 : n - 1)) * start + (blocks ? 3 : 2) * m * link->beta;
    return (tally_t) {whole ? doubled : fmin(doubled, other), messages, (n - 1) * m,
                      messages * 2 * link->alpha, "any"};
}

tally_t mca_coll_pipering_below_time(const call_t *call)
{
    const bool any = MCA_COLL_PIPERING_BELOW_ANY == call->modules;
    tally_t best = {.time = -1};
    call_t known = *call;

    known.root = BCAST == call->collective || REDUCE == call->collective ? call->root : 0;
    known.ordered = call->ordered && REDUCE <= call->collective;
    known.unit = BCAST > call->collective ? 1 : call->unit;
    for (int i = any ? 0 : (int) call->modules;
         i <= (int) (any ? MCA_COLL_PIPERING_BELOW_HAN_6 : call->modules); ++i) {
        known.modules = (mca_coll_pipering_below_t) i;
        tally_t tally = MCA_COLL_PIPERING_BELOW_ANY == i       ? least_time(&known)
                        : MCA_COLL_PIPERING_BELOW_LEADERS == i ? leaders_time(&known)
                                                               : known_time(&known);
        /* where ranks share processors, all that they do may take longer than any chain of it */
        tally.time = mca_coll_pipering_crowded_time(call->cost, tally.time, tally.work,
                                                    call->ranks);
        best = 0 > best.time || tally.time < best.time ? tally : best;
    }
    return best;
}
