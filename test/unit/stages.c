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
 * Stages: modelled times and counted stages against a simulation of ranks with ring
 * buffers, an adapter and a processor; chains as a special case; what the paper states
 * of its machine; the block size that the search finds.
 */

#include <math.h>
#include <string.h>

#include "coll_pipering_plan.h"
#include "staged.h"
#include "tap.h"

#define PCAST STAGED_PCAST
#define RPIPE STAGED_RPIPE
#define SCAN STAGED_SCAN
#define SERIAL STAGED_SERIAL
#define MERGED STAGED_MERGED
#define PROTOCOLS 5
#define NEARLY 1e-9
#define KB 1024.0
#define MEGABYTE 1048576

static const char *const names[PROTOCOLS] = {"broadcast", "reduce", "scan",
                                             "serial allreduce", "merged allreduce"};

/* ---- simulation ---- */

#define MOST_RANKS 6
#define MOST_BLOCKS 16
#define MOST_PLACES (2 * MOST_RANKS)
#define ENOUGH 3 /* blocks in a ring buffer, as the plan says */

/* What is done with a block at a place of its way. */
enum { COMBINE, SEND, COPY, ACTIONS };

/* Times that blocks of equal size take. */
typedef struct costs_t {
    double first, forward, latency, copy, combine, flow;
} costs_t;

/* The way of blocks: from place 0 to the last; merged, back at the root to where it began. */
typedef struct way_t {
    staged_protocol_t protocol;
    int ranks, places, blocks, slots;
    bool two_adapters; /* one for each direction */
    costs_t costs;
    bool does[MOST_PLACES][ACTIONS];
    int next[MOST_PLACES][ACTIONS];                  /* block */
    double arrived[MOST_PLACES][MOST_BLOCKS];        /* INFINITY: not yet */
    double end[MOST_PLACES][ACTIONS][MOST_BLOCKS];   /* likewise */
    double adapter[2 * MOST_RANKS], cpu[MOST_RANKS]; /* free from then on */
} way_t;

static int rank_at(const way_t *way, int place)
{
    return MERGED == way->protocol ? abs(way->ranks - 1 - place) : place;
}

static double *adapter_at(way_t *way, int place)
{
    const bool back = way->two_adapters && place >= way->ranks - 1;

    return &way->adapter[2 * rank_at(way, place) + back];
}

static void open_way(way_t *way)
{
    const bool merged = MERGED == way->protocol;
    const int root = way->ranks - 1;

    way->places = merged ? 2 * way->ranks - 1 : way->ranks;
    memset(way->next, 0, sizeof(way->next));
    memset(way->adapter, 0, sizeof(way->adapter));
    memset(way->cpu, 0, sizeof(way->cpu));
    for (int h = 0; h < way->places; h++) {
        way->does[h][COMBINE] = PCAST != way->protocol && 0 < h && h <= root;
        way->does[h][SEND] = h < way->places - 1;
        way->does[h][COPY] = PCAST == way->protocol || SCAN == way->protocol ? 0 < h : root <= h;
        for (int k = 0; k < way->blocks; k++) {
            way->arrived[h][k] = 0 == h ? 0 : INFINITY;
            for (int a = 0; a < ACTIONS; a++) {
                way->end[h][a][k] = INFINITY;
            }
        }
    }
}

/* When the slot of a block is free again: all is done, and the sender knows it. */
static double released(const way_t *way, int place, int block)
{
    double time = 0;

    for (int a = 0; a < ACTIONS; a++) {
        const bool tells = SEND != a && !(COMBINE == a && way->does[place][COPY]);
        if (way->does[place][a]) {
            time = fmax(time, way->end[place][a][block] + (tells ? way->costs.flow : 0));
        }
    }
    return time;
}

/* When an action could begin, its rank idle. */
static double ready_at(const way_t *way, int h, int action, int k)
{
    double ready = COMBINE != action && way->does[h][COMBINE] ? way->end[h][COMBINE][k]
                                                              : way->arrived[h][k];

    if (SEND == action && k >= way->slots) {
        ready = fmax(ready, released(way, h + 1, k - way->slots));
    }
    return ready;
}

static void act(way_t *way, int h, int action, int k, double begin)
{
    const costs_t *costs = &way->costs;
    double *end = &way->end[h][action][k];

    way->next[h][action]++;
    if (SEND == action) {
        *end = begin + (0 == h ? costs->first : costs->forward) + costs->flow;
        *adapter_at(way, h) = *end;
        way->arrived[h + 1][k] = *end + costs->latency;
        return;
    }
    *end = begin + (COMBINE == action ? costs->combine : costs->copy);
    /* a processor that is done with a block tells the sender */
    way->cpu[rank_at(way, h)] = *end + (COMBINE == action && way->does[h][COPY] ? 0 : costs->flow);
}

/* Begins the action that can begin first, of those the one of the oldest block. */
static bool step(way_t *way)
{
    double earliest = INFINITY;
    int place = 0, action = 0, block = 0;

    for (int h = 0; h < way->places; h++) {
        for (int a = 0; a < ACTIONS; a++) {
            const int k = way->next[h][a];
            if (!way->does[h][a] || k >= way->blocks) {
                continue;
            }
            const double idle = SEND == a ? *adapter_at(way, h) : way->cpu[rank_at(way, h)];
            const double begin = fmax(idle, ready_at(way, h, a, k));
            if (begin < earliest || (begin == earliest && k < block)) {
                earliest = begin;
                place = h;
                action = a;
                block = k;
            }
        }
    }
    if (!isinf(earliest)) {
        act(way, place, action, block, earliest);
    }
    return !isinf(earliest);
}

/* The time until the last rank has the last block where it belongs. */
static double simulate(staged_protocol_t protocol, const costs_t *costs, int ranks, int blocks,
                       int slots, bool two_adapters)
{
    static way_t way;

    if (SERIAL == protocol) {
        return simulate(RPIPE, costs, ranks, blocks, slots, two_adapters)
               + simulate(PCAST, costs, ranks, blocks, slots, two_adapters);
    }
    way.protocol = protocol;
    way.ranks = ranks;
    way.blocks = blocks;
    way.slots = slots;
    way.two_adapters = two_adapters;
    way.costs = *costs;
    open_way(&way);
    while (step(&way)) {
        continue;
    }
    return way.end[way.places - 1][COPY][blocks - 1];
}

/* ---- times and counts ---- */

/* Blocks of so many bytes that cost what `costs` says. */
static staged_problem_t problem_of(staged_protocol_t protocol, const costs_t *costs, int ranks,
                                   int blocks, size_t block)
{
    const double size = (double) block;

    return (staged_problem_t){.protocol = protocol,
                              .ranks = ranks,
                              .bytes = (size_t) blocks * block,
                              .machine = {.first = {.alpha = costs->first / 4,
                                                    .beta = 0.75 * costs->first / size,
                                                    .latency = costs->latency},
                                          .forward = {.alpha = costs->forward / 2,
                                                      .beta = 0.5 * costs->forward / size,
                                                      .latency = costs->latency},
                                          .copy = costs->copy / size,
                                          .combine = costs->combine / size,
                                          .flow = costs->flow}};
}

/* Costs number `i` of 4^4 * 2. */
static costs_t costs_number(int i, double latency)
{
    return (costs_t){.first = 1 + i % 4,
                     .forward = 1 + i / 4 % 4,
                     .copy = i / 16 % 4,
                     .combine = i / 64 % 4,
                     .flow = i / 256 % 2,
                     .latency = latency};
}

static bool try_costs(tap_tally_t *tally, bool pass, const staged_problem_t *p,
                      const costs_t *costs, int blocks, double found, double wanted)
{
    return tap_try(tally, pass,
                   "%s, P %d, %d blocks, first %g, forward %g, latency %g, copy %g, combine %g, "
                   "flow %g: %g, simulated %g",
                   names[p->protocol], p->ranks, blocks, costs->first, costs->forward,
                   costs->latency, costs->copy, costs->combine, costs->flow, found, wanted);
}

/*
 * Merged, blocks on the way there and back wait for each other at inner ranks. Where sending
 * sets the pace the model is too high by one stage there and back at most, else it is rough.
 */
static bool is_time(const staged_problem_t *problem, const costs_t *costs, double model,
                    double real)
{
    const double stage = 2 * (costs->forward + costs->latency + costs->flow);

    if (MERGED != problem->protocol || 2 == problem->ranks) {
        return fabs(model - real) <= NEARLY * real;
    }
    if (costs->first <= costs->forward && costs->copy + costs->combine <= costs->forward) {
        return model >= (1 - NEARLY) * real && model <= real + stage * (1 + NEARLY);
    }
    return model >= real / 1.45 && model <= real + stage * (1 + NEARLY);
}

static void test_time(staged_protocol_t protocol)
{
    static const int counts[] = {1, 2, 3, 5, 9};
    tap_tally_t tally = {0, 0}, window = {0, 0};

    for (int ranks = 2; ranks <= MOST_RANKS - 1; ranks++) {
        for (int i = 0; i < 5 * 512; i++) {
            const int blocks = counts[i / 512];
            const costs_t here = costs_number(i % 512, 0), far = costs_number(i % 512, 2.5);
            const size_t block = 1 + tap_below(100000);
            const staged_problem_t at_once = problem_of(protocol, &here, ranks, blocks, block),
                                   later = problem_of(protocol, &far, ranks, blocks, block);
            double model = staged_time(&at_once, block);
            double real = simulate(protocol, &here, ranks, blocks, ENOUGH, false);
            try_costs(&window, is_time(&at_once, &here, model, real), &at_once, &here, blocks,
                      model, real);
            model = staged_time(&later, block);
            real = simulate(protocol, &far, ranks, blocks, MOST_BLOCKS, false);
            try_costs(&tally, is_time(&later, &far, model, real), &later, &far, blocks, model,
                      real);
        }
    }
    tally_ok(&window, 10000, "%s: modelled time is simulated with 3 blocks a ring buffer",
             names[protocol]);
    tally_ok(&tally, 10000, "%s: the same with latency and room for all blocks", names[protocol]);
}

/* A transfer takes one stage, nothing else any time; there and back on links of their own. */
static void test_count(void)
{
    const costs_t unit = {.first = 1, .forward = 1};
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < PROTOCOLS; i++) {
        for (int ranks = 2; ranks <= MOST_RANKS; ranks++) {
            for (int blocks = 1; blocks <= MOST_BLOCKS; blocks++) {
                const staged_problem_t problem =
                    problem_of((staged_protocol_t) i, &unit, ranks, blocks, 10);
                const double counted = simulate(problem.protocol, &unit, ranks, blocks,
                                                MOST_BLOCKS, true);
                const uint64_t stages = staged_count(&problem, 10);
                try_costs(&tally, stages == counted, &problem, &unit, blocks, (double) stages,
                          counted);
            }
        }
    }
    tally_ok(&tally, 400, "predicted stages are those counted in the simulation");
}

static void test_nothing(void)
{
    const costs_t costs = costs_number(511, 1);
    const mca_coll_pipering_stage_t stage = {1, 1, 1};
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < PROTOCOLS; i++) {
        const staged_problem_t problem = problem_of((staged_protocol_t) i, &costs, 4, 0, 10);
        tap_try(&tally,
                0 == staged_time(&problem, 10) && 0 == staged_count(&problem, 10)
                    && 0 == mca_coll_pipering_stages_time(&stage, 1, 0),
                "%s", names[i]);
    }
    tally_ok(&tally, PROTOCOLS, "no bytes: no stages, no time");
}

/* ---- chains ---- */

static mca_coll_pipering_link_cost_t random_link(void)
{
    return (mca_coll_pipering_link_cost_t){.alpha = 1e-6 * tap_between(1, 50),
                                           .beta = 1e-10 * tap_between(1, 500),
                                           .latency = 1e-6 * tap_between(0, 50),
                                           .envelope = tap_between(0, 64),
                                           .packet = tap_once_in(2) ? 0 : 1448,
                                           .frame = 66,
                                           .handshake = 1e-6 * tap_between(0, 200),
                                           .eager = tap_once_in(2) ? 0 : 65536,
                                           .overlap = tap_once_in(2)};
}

/* With one rank a node, nothing to copy and no flow control, chains are these pipelines. */
static void test_chain(void)
{
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 3000; i++) {
        const mca_coll_pipering_link_cost_t link = random_link();
        const staged_protocol_t protocol = i % 2 ? PCAST : RPIPE;
        const int ranks = tap_between(2, 100);
        const staged_problem_t problem = {
            .protocol = protocol,
            .ranks = ranks,
            .bytes = 1 + tap_below(1 << 24),
            .machine = {.first = link, .forward = link, .combine = 2.5e-10}};
        const mca_coll_pipering_chain_problem_t line = {.shape = {.across = ranks - 1, .load = 1},
                                                        .bytes = problem.bytes,
                                                        .passes = 1,
                                                        .combine = RPIPE == protocol ? 2.5e-10 : 0,
                                                        .cost = {.net = link, .local = link}};
        const size_t block = 1 + tap_below(problem.bytes);
        const double time = staged_time(&problem, block);
        const double chain = mca_coll_pipering_chain_time(&line, block);
        tap_try(&tally, fabs(time - chain) <= NEARLY * chain, "%s, P %d, %zu bytes, B %zu: %g, %g",
                names[protocol], ranks, problem.bytes, block, time, chain);
    }
    tally_ok(&tally, 3000, "one rank a node: the time of a chain");
}

/* ---- the paper ---- */

static staged_problem_t pcast_of(bool figure, int ranks)
{
    return (staged_problem_t){
        .protocol = PCAST, .ranks = ranks, .bytes = MEGABYTE, .machine = staged_cluster(figure)};
}

static double best_kb(bool figure, int ranks)
{
    const staged_problem_t problem = pcast_of(figure, ranks);

    return (double) staged_search(&problem) / KB;
}

/* What a block size costs, compared with the best. */
static double excess(bool figure, int ranks, size_t block)
{
    const staged_problem_t problem = pcast_of(figure, ranks);
    const size_t best = staged_search(&problem);

    return staged_time(&problem, block) / staged_time(&problem, best) - 1;
}

/* The part of the bandwidth that so many times the delay of flow control costs. */
static double flow_loss(bool figure, double factor, size_t block)
{
    const staged_problem_t once = pcast_of(figure, 64);
    staged_problem_t more = once;

    more.machine.flow *= factor;
    return 1 - staged_time(&once, block) / staged_time(&more, block);
}

/*
 * Figure 5 is read by eye, off charts whose tops are flat: half and one and a half of the best
 * size cost about 5%. So the machine chosen for it has to come within 15% of the sizes, and
 * the one of the text has to make the paper's sizes as good as the best, up to 5%.
 */
static void test_figure5(void)
{
    double before = HUGE_VAL;
    tap_tally_t smaller = {0, 0};

    ok(fabs(best_kb(true, 8) - 20) <= 3, "Figure 5: %.1f KB are best on 8 ranks, about 20",
       best_kb(true, 8));
    ok(fabs(best_kb(true, 256) - 4) <= 0.6, "Figure 5: %.1f KB are best on 256 ranks, about 4",
       best_kb(true, 256));
    ok(fabs(flow_loss(true, 4, 8192) - 0.20) <= 0.02,
       "Figure 5: 4 times the delay of flow control costs %.1f%% with blocks of 8 KB, about 20%%",
       100 * flow_loss(true, 4, 8192));
    ok(0.05 >= excess(false, 8, 20480) && 0.05 >= excess(false, 256, 4096),
       "the text's machine: 20 KB on 8 ranks takes %.1f%% more than the best, 4 KB on 256 %.1f%%",
       100 * excess(false, 8, 20480), 100 * excess(false, 256, 4096));
    ok(fabs(flow_loss(false, 4, 8192) - 0.20) <= 0.025,
       "the text's machine: 4 times the delay of flow control costs %.1f%%",
       100 * flow_loss(false, 4, 8192));
    for (int ranks = 8; ranks <= 256; ranks *= 2) {
        tap_try(&smaller, best_kb(true, ranks) < before, "%d ranks", ranks);
        before = best_kb(true, ranks);
    }
    tally_ok(&smaller, 6, "Figure 5: the more ranks, the smaller the best blocks");
}

/*
 * 5.1: "about 25%" from 2 to 3 ranks, where ranks that forward set the pace, 4 MB. It does not
 * say with which block size; 8 KB are the best of 5.3.
 */
static void test_third_rank(void)
{
    staged_problem_t two = pcast_of(false, 2), three = pcast_of(false, 3);

    two.bytes = three.bytes = 4 * MEGABYTE;
    const double loss = 1 - staged_time(&two, 8192) / staged_time(&three, 8192);
    ok(0.20 <= loss && 0.30 >= loss, "5.1: the third rank costs a broadcast %.1f%%, about 25%%",
       100 * loss);
}

static double time_of(staged_protocol_t protocol, const costs_t *costs, int blocks)
{
    const staged_problem_t problem = problem_of(protocol, costs, 5, blocks, 8);

    return staged_time(&problem, 8);
}

/* What is wrong in the printed equations, stated on 5 ranks whose transfers are all alike. */
static void test_corrections(void)
{
    const costs_t light = {.first = 3, .forward = 3, .flow = 1, .copy = 1, .combine = 2},
                  heavy = {.first = 3, .forward = 3, .flow = 1, .copy = 2, .combine = 5};
    const int n = 20;

    is(time_of(PCAST, &heavy, n), (4 + n - 1) * 4 + 2,
       "(2): (P - 1) + D_v/D_b - 1 stages and the last copy");
    is(time_of(RPIPE, &light, n), 4 + 3 * (2 + 4) + 2 + 1 + (n - 1) * 4,
       "(3): flow control belongs to every block");
    is(time_of(SCAN, &light, n), time_of(RPIPE, &light, n), "(4): a scan copies while it sends");
    is(time_of(SCAN, &heavy, n), 4 + 3 * (5 + 4) + 5 + 2 + (n - 1) * (5 + 2 + 1),
       "(4): a block is combined and copied by one processor");
    is(time_of(MERGED, &light, n) - time_of(MERGED, &light, 1), (n - 1) * 2 * (3 + 1),
       "4.4: an inner rank sends a block twice");
    is(time_of(MERGED, &heavy, n) - time_of(MERGED, &heavy, 1), (n - 1) * (5 + 2 + 2 * 1),
       "4.4: and tells of it twice when it has combined and copied it");
}

/* ---- search ---- */

static double best_time(const staged_problem_t *problem)
{
    double best = HUGE_VAL;

    for (size_t k = 1; k <= 300; k++) {
        best = fmin(best, staged_time(problem, (problem->bytes + k - 1) / k));
    }
    for (double size = (double) problem->bytes; 1 <= size; size /= 1.02) {
        best = fmin(best, staged_time(problem, (size_t) size));
    }
    return best;
}

static void test_search(void)
{
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 1500; i++) {
        staged_problem_t problem = {.protocol = (staged_protocol_t) (i % PROTOCOLS),
                                    .ranks = tap_between(2, 300),
                                    .bytes = 1 + tap_below(UINT64_C(1) << tap_below(27)),
                                    .machine = staged_cluster(tap_once_in(2))};
        if (tap_once_in(3)) {
            problem.machine.first = problem.machine.forward = random_link();
        }
        const size_t size = staged_search(&problem);
        const double time = staged_time(&problem, size);
        tap_try(&tally, 1 <= size && size <= problem.bytes && time <= 1.05 * best_time(&problem),
                "%s, P %d, %zu bytes: B %zu takes %g, best %g", names[problem.protocol],
                problem.ranks, problem.bytes, size, time, best_time(&problem));
    }
    tally_ok(&tally, 1500, "within 5%% of the best block size in the model");
}

int main(void)
{
    tap_start();
    for (int i = 0; i < PROTOCOLS; i++) {
        test_time((staged_protocol_t) i);
    }
    test_count();
    test_nothing();
    test_chain();
    test_figure5();
    test_third_rank();
    test_corrections();
    test_search();
    return tap_end();
}
