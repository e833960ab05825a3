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
 * Exchanges in few rounds: all ranks, round by round, for all numbers of ranks and of
 * lanes, and what the model says of cases that can be counted by hand.
 */

#include <math.h>
#include <string.h>

#include "coll_pipering_plan.h"
#include "ref.h"
#include "tap.h"

#define MOST 70
#define PACKED 100

typedef struct instance_t {
    int p, nodes;
    int node_of[MOST];
    size_t bytes[MOST];
    mca_coll_pipering_ring_t ring;
    mca_coll_pipering_grid_t grid;
    bool held[MOST][MOST];
    uint64_t into[MOST]; /* bytes that enter a node, by its lowest rank */
    void *memory, *scratch;
    const char *fault;
} instance_t;

enum { REGULAR, OUTLIER, SPARSE, ONE, WILD, EMPTY, SHAPES };

static size_t bytes_of(int shape, int rank, int chosen)
{
    switch (shape) {
    case REGULAR:
        return 64;
    case OUTLIER:
        return rank == chosen ? 5000 : 8;
    case SPARSE:
        return tap_once_in(6) ? (size_t) tap_between(1, 300) : 0;
    case ONE:
        return rank == chosen ? 77777 : 0;
    case WILD:
        return (size_t) tap_between(0, 200);
    default:
        return 0;
    }
}

/* Nodes of so many ranks each (0: of any number), ranks dealt out to them in some order. */
static void open_instance(instance_t *in, int p, int ranks, int shape)
{
    const int chosen = tap_between(0, p - 1), stride = tap_between(1, p);
    uint64_t blocks[MOST] = {0};

    memset(in, 0, sizeof(*in));
    in->p = p;
    in->fault = "";
    for (int r = 0; r < p; r++) {
        const int node = 0 == ranks ? tap_between(0, stride - 1) % p : r % (p / ranks);
        int lowest = 0;

        in->bytes[r] = bytes_of(shape, r, chosen);
        in->held[r][r] = true;
        in->into[r] = (uint64_t) node; /* for now */
        while (in->into[lowest] != (uint64_t) node) {
            lowest++;
        }
        in->node_of[r] = lowest;
    }
    memset(in->into, 0, sizeof(in->into));
    in->memory = tap_memory(mca_coll_pipering_ring_size(p));
    in->scratch = tap_memory(mca_coll_pipering_order_scratch(p));
    mca_coll_pipering_ring_bind(&in->ring, p, in->memory);
    mca_coll_pipering_order(&in->ring, in->node_of, blocks, MCA_COLL_PIPERING_ORDER_NODES,
                            in->scratch);
    in->grid = (mca_coll_pipering_grid_t){&in->ring, 1, tap_once_in(2)};
}

static void close_instance(instance_t *in)
{
    free(in->memory);
    free(in->scratch);
}

static bool blame(instance_t *in, const char *fault)
{
    in->fault = fault;
    return false;
}

/* Every rank's contribution stands in a slot of every rank. */
static bool has_slots(instance_t *in)
{
    for (int me = 0; me < in->p; me++) {
        bool seen[MOST] = {false};

        for (int s = 0; s < in->p; s++) {
            const int rank = mca_coll_pipering_grid_rank(&in->grid, me, s);

            if (0 > rank || in->p <= rank || seen[rank]) {
                return blame(in, "slots are no order of the ranks");
            }
            seen[rank] = true;
        }
    }
    return true;
}

static bool in_range(const instance_t *in, mca_coll_pipering_span_t span)
{
    return 0 <= span.first && 1 <= span.count && in->p >= span.first + span.count;
}

/* What is sent is held, and expected in this order by the other one. */
static bool send_round(instance_t *in, int me, int k)
{
    const mca_coll_pipering_grid_round_t mine = mca_coll_pipering_grid_round(&in->grid, me, k);

    if (0 > mine.to || in->p <= mine.to || me == mine.to) {
        return blame(in, "no rank to send to");
    }
    const mca_coll_pipering_grid_round_t other = mca_coll_pipering_grid_round(&in->grid, mine.to,
                                                                              k);
    if (me != other.from || mine.send.count != other.recv.count || !in_range(in, mine.send)
        || !in_range(in, other.recv)) {
        return blame(in, "who receives expects something else");
    }
    for (int i = 0; i < mine.send.count; i++) {
        const int rank = mca_coll_pipering_grid_rank(&in->grid, me, mine.send.first + i);

        if (!in->held[me][rank]) {
            return blame(in, "what is sent is not held");
        }
        if (rank != mca_coll_pipering_grid_rank(&in->grid, mine.to, other.recv.first + i)) {
            return blame(in, "who receives expects another order");
        }
    }
    return true;
}

static bool receive_round(instance_t *in, int me, int k)
{
    const mca_coll_pipering_grid_round_t mine = mca_coll_pipering_grid_round(&in->grid, me, k);

    for (int i = 0; i < mine.recv.count; i++) {
        const int rank = mca_coll_pipering_grid_rank(&in->grid, me, mine.recv.first + i);

        if (in->held[me][rank]) {
            return blame(in, "something comes twice");
        }
        in->held[me][rank] = true;
        in->into[in->node_of[me]] += in->node_of[me] == in->node_of[mine.from] ? 0
                                                                                 : in->bytes[rank];
    }
    return true;
}

static bool run(instance_t *in)
{
    const int rounds = mca_coll_pipering_grid_rounds(&in->grid);

    for (int k = 0; k < rounds; k++) {
        for (int me = 0; me < in->p; me++) {
            if (!send_round(in, me, k)) {
                return false;
            }
        }
        for (int me = 0; me < in->p; me++) {
            if (!receive_round(in, me, k)) {
                return false;
            }
        }
    }
    for (int me = 0; me < in->p; me++) {
        for (int r = 0; r < in->p; r++) {
            if (!in->held[me][r]) {
                return blame(in, "something is missing at the end");
            }
        }
    }
    return true;
}

static int log2_up(int count)
{
    int rounds = 0;

    while (1 << rounds < count) {
        rounds++;
    }
    return rounds;
}

/* Messages and bytes of all spans, by hand. */
static bool has_volumes(const instance_t *in)
{
    for (int n = 0; n < 20; n++) {
        const int me = tap_between(0, in->p - 1), first = tap_between(0, in->p - 1);
        const mca_coll_pipering_span_t span = {first, tap_between(0, in->p - first)};
        const mca_coll_pipering_volume_t volume
            = mca_coll_pipering_grid_volume(&in->grid, me, in->bytes, PACKED, span);
        uint64_t packed = 0, large = 0, bytes = 0;

        for (int s = first; s < first + span.count; s++) {
            const size_t m = in->bytes[mca_coll_pipering_grid_rank(&in->grid, me, s)];

            bytes += m;
            packed += PACKED >= m && 0 < m;
            large += PACKED < m;
        }
        if (bytes != volume.bytes || large + (0 < packed) != volume.blocks) {
            return false;
        }
    }
    return true;
}

/* A slot for each rank; contributions of a kind lie one behind the other. */
static bool has_offsets(const instance_t *in)
{
    int rank[MOST];
    size_t offset[MOST];
    mca_coll_pipering_slots_t slots = {.rank = rank, .offset = offset};
    const int me = tap_between(0, in->p - 1);
    size_t end[2] = {0, 0};

    mca_coll_pipering_grid_slots(&in->grid, me, in->bytes, PACKED, &slots);
    for (int s = 0; s < in->p; s++) {
        const size_t m = in->bytes[rank[s]];

        if (rank[s] != mca_coll_pipering_grid_rank(&in->grid, me, s)
            || offset[s] != end[PACKED < m]) {
            return false;
        }
        end[PACKED < m] += m;
    }
    return me == rank[slots.own] && end[0] == slots.packed && end[1] == slots.large;
}

/* Each byte enters each node but its own once. */
static bool enters_once(const instance_t *in)
{
    for (int node = 0; node < in->p; node++) {
        uint64_t wanted = 0;

        for (int r = 0; r < in->p; r++) {
            wanted += in->node_of[node] == node && in->node_of[r] != node ? in->bytes[r] : 0;
        }
        if (wanted != in->into[node]) {
            return false;
        }
    }
    return true;
}

typedef struct findings_t {
    tap_tally_t flow, rounds, volume, entered;
} findings_t;

static void try_instance(findings_t *found, instance_t *in, int lanes)
{
    const int wanted = log2_up(in->p / lanes) + log2_up(lanes);

    in->grid.lanes = lanes;
    tap_try(&found->flow, has_slots(in) && run(in), "%d ranks, %d lanes, nodes %s: %s", in->p,
            lanes, ref_show_int(in->node_of, in->p), in->fault);
    tap_try(&found->rounds, wanted == mca_coll_pipering_grid_rounds(&in->grid),
            "%d ranks, %d lanes", in->p, lanes);
    tap_try(&found->volume, has_volumes(in) && has_offsets(in), "%d ranks, %d lanes", in->p, lanes);
    if (1 < lanes) {
        tap_try(&found->entered, enters_once(in), "%d ranks, %d lanes", in->p, lanes);
    }
}

static void test_schedules(void)
{
    findings_t found = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
    tap_tally_t fits = {0, 0};
    instance_t in;

    for (int p = 1; p <= MOST; p++) {
        for (int lanes = 0; lanes <= p; lanes++) {
            if (0 < lanes && 0 != p % lanes) {
                continue;
            }
            for (int i = 0; i < 2 * SHAPES; i++) {
                open_instance(&in, p, lanes, i % SHAPES);
                if (0 < lanes) {
                    tap_try(&fits, mca_coll_pipering_grid_fits(&in.ring), "%d ranks, %d a node",
                            p, lanes);
                }
                try_instance(&found, &in, 0 == lanes ? 1 : lanes);
                close_instance(&in);
            }
        }
    }
    tally_ok(&found.flow, 4000, "all contributions, once, in messages that fit");
    tally_ok(&found.rounds, 4000, "rounds");
    tally_ok(&found.volume, 4000, "messages and bytes of spans");
    tally_ok(&found.entered, 2500, "with lanes each byte enters each node once");
    tally_ok(&fits, 3000, "equal nodes fit lanes");
}

static void test_fits(void)
{
    instance_t in;

    open_instance(&in, 8, 4, REGULAR);
    in.node_of[7] = 7;
    mca_coll_pipering_order(&in.ring, in.node_of, (uint64_t[8]){0}, MCA_COLL_PIPERING_ORDER_NODES,
                            in.scratch);
    ok(!mca_coll_pipering_grid_fits(&in.ring), "nodes of 4, 3 and 1 ranks do not");
    close_instance(&in);
}

/* ---- model ---- */

#define ALPHA 1e-5
#define BETA 1e-9

static double scratch[3 * (MOST + 1)];

/* Links where a message takes ALPHA + BETA a byte, inside nodes a tenth of it. */
static mca_coll_pipering_grid_problem_t problem_of(instance_t *in, int lanes, size_t packed)
{
    const mca_coll_pipering_link_cost_t net = {.alpha = ALPHA, .gap = ALPHA, .beta = BETA};
    const mca_coll_pipering_link_cost_t local = {.alpha = ALPHA / 10, .gap = ALPHA / 10,
                                                 .beta = BETA / 10};

    in->grid.lanes = lanes;
    in->grid.dissemination = false;
    return (mca_coll_pipering_grid_problem_t){.grid = &in->grid,
                                              .bytes = in->bytes,
                                              .packed = packed,
                                              .cost = {.net = net, .local = local},
                                              .scratch = scratch};
}

static double time_of(instance_t *in, int lanes, size_t packed)
{
    const mca_coll_pipering_grid_problem_t problem = problem_of(in, lanes, packed);
    return mca_coll_pipering_grid_time(&problem);
}

static bool near(double time, double wanted)
{
    return fabs(time - wanted) <= 1e-9 * wanted;
}

static void test_model(void)
{
    instance_t in;

    open_instance(&in, 16, 1, REGULAR);
    ok(near(time_of(&in, 1, PACKED), 4 * ALPHA + 15 * 64 * BETA), "a rank a node: 4 a + 15 m b");
    ok(near(time_of(&in, 1, 0), 15 * (ALPHA + 64 * BETA)), "all contributions alone: 15 (a + m b)");
    close_instance(&in);

    open_instance(&in, 16, 4, REGULAR);
    ok(near(time_of(&in, 4, PACKED), 2.2 * ALPHA + (4 * 3 + 0.1 * 12) * 64 * BETA),
       "4 nodes of 4 in lanes: a lane's share from each rank, then inside");
    ok(near(time_of(&in, 1, PACKED), 2.2 * ALPHA + (4 * 12 + 0.1 * 3) * 64 * BETA),
       "4 nodes of 4 at once: all from each rank of a node");
    close_instance(&in);

    open_instance(&in, 16, 1, ONE);
    ok(near(time_of(&in, 1, PACKED), 4 * (ALPHA + 77777 * BETA)), "one has all: 4 (a + m b)");
    close_instance(&in);
    open_instance(&in, 16, 1, EMPTY);
    ok(0 == time_of(&in, 1, PACKED), "nobody has anything: 0");
    close_instance(&in);
}

/*
 * Seconds of the rounds, message by message: a rank sends what it has received in the rounds before,
 * all of it. The port of a node carries the bytes of one message in and one out, that which waits
 * longest first; ranks handle messages side by side.
 */
static double simulate(const instance_t *in, const mca_coll_pipering_grid_problem_t *problem)
{
    double ready[MOST] = {0}, out[MOST] = {0}, into[MOST] = {0}, finish = 0;

    for (int k = 0; k < mca_coll_pipering_grid_rounds(problem->grid); k++) {
        double next[MOST];
        bool sent[MOST] = {false};

        memcpy(next, ready, sizeof(next));
        for (int i = 0; i < in->p; i++) {
            int from = -1;
            for (int r = 0; r < in->p; r++) {
                from = !sent[r] && (0 > from || ready[r] < ready[from]) ? r : from;
            }
            const mca_coll_pipering_grid_round_t round
                = mca_coll_pipering_grid_round(problem->grid, from, k);
            const mca_coll_pipering_volume_t volume = mca_coll_pipering_grid_volume(
                problem->grid, from, problem->bytes, problem->packed, round.send);
            const int node = in->node_of[from], other = in->node_of[round.to];
            const bool local = node == other;
            const mca_coll_pipering_link_cost_t *cost = local ? &problem->cost.local
                                                              : &problem->cost.net;
            const double time = (double) volume.bytes * cost->beta;
            const double begins = local ? ready[from] : fmax(ready[from], out[node]);

            out[node] = local ? out[node] : begins + time;
            const double ends = local ? begins + time : fmax(begins, into[other]) + time;
            into[other] = local ? into[other] : ends;
            next[round.to] = fmax(next[round.to], ends + (double) volume.blocks * cost->alpha);
            finish = fmax(finish, next[round.to]);
            sent[from] = true;
        }
        memcpy(ready, next, sizeof(ready));
    }
    return finish;
}

static void test_simulated(void)
{
    tap_tally_t alone = {0, 0}, shared = {0, 0};
    instance_t in;

    for (int i = 0; i < 400; i++) {
        const int ranks = i % 2 ? 4 : 1;

        open_instance(&in, ranks * tap_between(2, MOST / 4), ranks, REGULAR);
        mca_coll_pipering_grid_problem_t problem = problem_of(&in, 1, PACKED);
        in.grid.dissemination = 0 != (in.p & (in.p - 1)) || tap_once_in(2);
        const double model = mca_coll_pipering_grid_time(&problem);
        const double simulated = simulate(&in, &problem);
        tap_try(1 == ranks ? &alone : &shared,
                1 == ranks ? near(model, simulated)
                           : 0.9 * simulated <= model && model <= 1.5 * simulated,
                "p %d: model %g, simulated %g", in.p, model, simulated);
        close_instance(&in);
    }
    tally_ok(&alone, 200, "a rank a node: the time of its rounds, message by message");
    tally_ok(&shared, 200, "nodes of 4: not far from that");
}

int main(void)
{
    tap_start();
    test_schedules();
    test_fits();
    test_model();
    test_simulated();
    return tap_end();
}
