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
 * Exchanges in rounds: those of unequal blocks among members, and those of ranks in lanes that are
 * made of them. All members, round by round, for all numbers of members and of lanes, and what the
 * model says of cases that can be counted by hand.
 */

#include <math.h>
#include <string.h>

#include "common_colltools_exchange.h"
#include "coll_pipering_plan.h"
#include "ref.h"
#include "tap.h"

#define MOST 70
#define BLOCK 4
#define ITEMS (MOST * BLOCK)
#define PACKED 100

/* ---- rounds ---- */

/* What a member sends, or receives, in a round: items in their order, so many in each piece. */
typedef struct message_t {
    int peer, count;
    int piece[MCA_COMMON_COLLTOOLS_PIECES];
    int item[ITEMS];
} message_t;

typedef struct instance_t instance_t;
typedef void list_fn_t(const instance_t *in, int me, int k, bool sends, message_t *message);

struct instance_t {
    list_fn_t *list;
    int p, rounds, items;
    bool held[MOST][ITEMS];
    const char *fault;
    /* members with blocks */
    mca_common_colltools_exchange_t plan;
    int first[MOST + 1];
    /* ranks in lanes */
    int node_of[MOST];
    size_t bytes[MOST];
    mca_coll_pipering_ring_t ring;
    mca_coll_pipering_grid_t grid;
    void *memory, *scratch;
};

static bool blame(instance_t *in, const char *fault)
{
    in->fault = fault;
    return false;
}

/* What is sent is held, and expected in this order by the other one. */
static bool send_round(instance_t *in, int me, int k)
{
    message_t mine, other;

    in->list(in, me, k, true, &mine);
    if (0 > mine.peer || in->p <= mine.peer || me == mine.peer) {
        return blame(in, "nobody to send to");
    }
    in->list(in, mine.peer, k, false, &other);
    if (me != other.peer || mine.count != other.count
        || 0 != memcmp(mine.piece, other.piece, sizeof(mine.piece))
        || 0 != memcmp(mine.item, other.item, (size_t) mine.count * sizeof(int))) {
        return blame(in, "who receives expects something else");
    }
    for (int i = 0; i < mine.count; i++) {
        if (!in->held[me][mine.item[i]]) {
            return blame(in, "what is sent is not held");
        }
    }
    return true;
}

static bool receive_round(instance_t *in, int me, int k)
{
    message_t mine;

    in->list(in, me, k, false, &mine);
    for (int i = 0; i < mine.count; i++) {
        if (in->held[me][mine.item[i]]) {
            return blame(in, "something comes twice");
        }
        in->held[me][mine.item[i]] = true;
    }
    return true;
}

static bool run(instance_t *in)
{
    for (int k = 0; k < in->rounds; k++) {
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
        for (int i = 0; i < in->items; i++) {
            if (!in->held[me][i]) {
                return blame(in, "something is missing at the end");
            }
        }
    }
    return true;
}

/* An item, or -1, which nobody holds, where it is none. */
static void add_item(const instance_t *in, message_t *message, int item)
{
    if (ITEMS > message->count) {
        message->item[message->count++] = 0 <= item && in->items > item ? item : ITEMS - 1;
    }
}

static int log2_up(int count)
{
    int rounds = 0;

    while (1 << rounds < count) {
        rounds++;
    }
    return rounds;
}

/* ---- blocks of members ---- */

enum { EQUAL, UNEQUAL, FEW, SINGLE, NOTHING, KINDS };

static void list_blocks(const instance_t *in, int me, int k, bool sends, message_t *message)
{
    const mca_common_colltools_round_t round
        = mca_common_colltools_exchange_round(&in->plan, me, k);
    const mca_common_colltools_range_t *piece = sends ? round.send : round.recv;

    *message = (message_t){.peer = sends ? round.to : round.from};
    for (int n = 0; n < MCA_COMMON_COLLTOOLS_PIECES; n++) {
        message->piece[n] = piece[n].to - piece[n].from;
        for (int x = piece[n].from; x < piece[n].to; x++) {
            add_item(in, message, x - in->first[0]);
        }
        if (0 > message->piece[n]) {
            add_item(in, message, -1);
        }
    }
}

static void open_exchange(instance_t *in, int count, int algorithm, int shape)
{
    const int chosen = tap_between(0, count - 1);

    memset(in, 0, sizeof(*in));
    in->list = list_blocks;
    in->p = count;
    in->plan = (mca_common_colltools_exchange_t){
        .count = count,
        .first = in->first,
        .algorithm = (mca_common_colltools_algorithm_t) algorithm};
    in->fault = "";
    in->first[0] = tap_between(0, 1); /* the positions of a group begin anywhere */
    for (int i = 0; i < count; i++) {
        const int sizes[KINDS] = {[EQUAL] = 2,
                                  [UNEQUAL] = tap_between(0, BLOCK - 1),
                                  [FEW] = tap_once_in(8) ? 3 : 0,
                                  [SINGLE] = i == chosen ? 3 : 0,
                                  [NOTHING] = 0};

        in->first[i + 1] = in->first[i] + sizes[shape];
        for (int x = in->first[i]; x < in->first[i + 1]; x++) {
            in->held[i][x - in->first[0]] = true;
        }
    }
    in->items = in->first[count] - in->first[0];
    in->rounds = mca_common_colltools_exchange_rounds(&in->plan);
}

/* Of equal blocks all send alike, in whole pieces. */
static bool sends_alike(const instance_t *in)
{
    for (int me = 0; me < in->p; me++) {
        int sent = 0;

        for (int k = 0; k < in->rounds; k++) {
            message_t message;

            list_blocks(in, me, k, true, &message);
            sent += message.count;
        }
        if (in->items / in->p * (in->p - 1) != sent) {
            return false;
        }
    }
    return true;
}

static void test_exchange(int algorithm, const char *name)
{
    tap_tally_t flow = {0, 0}, rounds = {0, 0}, volume = {0, 0};
    static instance_t in;

    for (int count = 1; count <= MOST; count++) {
        const int wanted = MCA_COMMON_COLLTOOLS_RING == algorithm ? count - 1 : log2_up(count);

        for (int i = 0; i < 3 * KINDS; i++) {
            open_exchange(&in, count, algorithm, i % KINDS);
            tap_try(&flow, run(&in), "%d members, shape %d: %s", count, i % KINDS, in.fault);
            tap_try(&rounds, wanted == in.rounds, "%d members", count);
            if (EQUAL == i % KINDS) {
                tap_try(&volume, sends_alike(&in), "%d members", count);
            }
        }
    }
    tally_ok(&flow, 1000, "%s: all blocks, once, in messages that fit", name);
    tally_ok(&rounds, 1000, "%s: rounds", name);
    tally_ok(&volume, 200, "%s: from each of equal blocks (p - 1) / p m", name);
}

/* ---- ranks in lanes ---- */

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

static void list_slots(const instance_t *in, int me, int k, bool sends, message_t *message)
{
    const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(&in->grid, me, k);
    const mca_coll_pipering_span_t span = sends ? round.send : round.recv;

    *message = (message_t){.peer = sends ? round.to : round.from};
    for (int i = 0; i < span.count; i++) {
        const int slot = span.first + i;

        add_item(in, message,
                 0 > slot || in->p <= slot ? -1
                                           : mca_coll_pipering_grid_rank(&in->grid, me, slot));
    }
}

/* Nodes of so many ranks each (0: of any number), ranks dealt out to them in some order. */
static void open_instance(instance_t *in, int p, int ranks, int shape)
{
    const int chosen = tap_between(0, p - 1), stride = tap_between(1, p);
    uint64_t blocks[MOST] = {0};
    int label[MOST];

    memset(in, 0, sizeof(*in));
    in->list = list_slots;
    in->p = in->items = p;
    in->fault = "";
    for (int r = 0; r < p; r++) {
        int lowest = 0;

        label[r] = 0 == ranks ? tap_between(0, stride - 1) % p : r % (p / ranks);
        in->bytes[r] = bytes_of(shape, r, chosen);
        in->held[r][r] = true;
        while (label[lowest] != label[r]) {
            lowest++;
        }
        in->node_of[r] = lowest;
    }
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
    uint64_t lacks[MOST] = {0};
    bool right = true;

    for (int r = 0; r < in->p; r++) {
        for (int node = 0; node < in->p; node++) {
            lacks[node] += in->node_of[node] == node && in->node_of[r] != node ? in->bytes[r] : 0;
        }
    }
    for (int me = 0; me < in->p; me++) {
        for (int k = 0; k < in->rounds; k++) {
            message_t message;

            list_slots(in, me, k, false, &message);
            for (int i = 0; i < message.count; i++) {
                lacks[in->node_of[me]] -= in->node_of[me] == in->node_of[message.peer]
                                              ? 0
                                              : in->bytes[message.item[i]];
            }
        }
    }
    for (int node = 0; node < in->p; node++) {
        right &= 0 == lacks[node];
    }
    return right;
}

typedef struct findings_t {
    tap_tally_t flow, rounds, volume, entered;
} findings_t;

static void try_instance(findings_t *found, instance_t *in, int lanes)
{
    const int wanted = log2_up(in->p / lanes) + log2_up(lanes);

    in->grid.lanes = lanes;
    in->rounds = mca_coll_pipering_grid_rounds(&in->grid);
    tap_try(&found->flow, has_slots(in) && run(in), "%d ranks, %d lanes, nodes %s: %s", in->p,
            lanes, ref_show_int(in->node_of, in->p), in->fault);
    tap_try(&found->rounds, wanted == in->rounds, "%d ranks, %d lanes", in->p, lanes);
    tap_try(&found->volume, has_volumes(in) && has_offsets(in), "%d ranks, %d lanes", in->p, lanes);
    if (1 < lanes) {
        tap_try(&found->entered, enters_once(in), "%d ranks, %d lanes", in->p, lanes);
    }
}

static void test_schedules(void)
{
    findings_t found = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
    tap_tally_t fits = {0, 0};
    static instance_t in;

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

static void test_model(void)
{
    instance_t in;

    open_instance(&in, 16, 1, REGULAR);
    ok(tap_near(time_of(&in, 1, PACKED), 4 * ALPHA + 15 * 64 * BETA),
       "a rank a node: 4 a + 15 m b");
    ok(tap_near(time_of(&in, 1, 0), 15 * (ALPHA + 64 * BETA)),
       "all contributions alone: 15 (a + m b)");
    close_instance(&in);

    open_instance(&in, 16, 4, REGULAR);
    ok(tap_near(time_of(&in, 4, PACKED), 2.2 * ALPHA + (4 * 3 + 0.1 * 12) * 64 * BETA),
       "4 nodes of 4 in lanes: a lane's share from each rank, then inside");
    ok(tap_near(time_of(&in, 1, PACKED), 2.2 * ALPHA + (4 * 12 + 0.1 * 3) * 64 * BETA),
       "4 nodes of 4 at once: all from each rank of a node");
    close_instance(&in);

    open_instance(&in, 16, 1, ONE);
    ok(tap_near(time_of(&in, 1, PACKED), 4 * (ALPHA + 77777 * BETA)), "one has all: 4 (a + m b)");
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
                1 == ranks ? tap_near(model, simulated)
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
    test_exchange(MCA_COMMON_COLLTOOLS_DOUBLING, "recursive doubling");
    test_exchange(MCA_COMMON_COLLTOOLS_BRUCK, "Bruck");
    test_exchange(MCA_COMMON_COLLTOOLS_DISSEMINATION, "dissemination");
    test_exchange(MCA_COMMON_COLLTOOLS_RING, "ring");
    test_schedules();
    test_fits();
    test_model();
    test_simulated();
    return tap_end();
}
