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
 * Exchanges of contributions of any sizes in ceil(log2 p) rounds: by recursive doubling, or
 * by dissemination where p is no power of two.
 *
 *     node 0   node 1   node 2   node 3
 *       0 ------ 2 ------ 4 ------ 6      lane 0      first in each lane, so that a byte
 *       |        |        |        |                  enters each node once, then
 *       1 ------ 3 ------ 5 ------ 7      lane 1      among the lanes of each node
 *
 * With one lane all ranks exchange at once, in the order of nodes. This takes the fewest
 * rounds, but in the rounds between nodes all ranks of a node send the same bytes.
 *
 * A rank keeps contributions in slots. The contributions that it holds are in adjacent
 * slots at any time, and so are those that it sends or receives in a round. With
 * dissemination its own contribution is in the last slot, and each round fills the slots
 * before those that are full.
 *
 *     before round 2    . . . . 3 4 5 6
 *     round 2           7 0 1 2 3 4 5 6      sends 3 .. 6
 *
 * Cost of m bytes in all: each rank receives the m - m_i bytes that it lacks, and sends in a
 * round at most what the receiver lacks, as one packed message and one for each large
 * contribution. Limits: lanes need nodes of equally many ranks.
 *
 * Balaji et al. 4.2.1; see common_colltools_exchange.c.
 */

#include "coll_pipering_plan_grid.h"
#include "coll_pipering_plan_model.h"
#include "ompi/mca/common/colltools/common_colltools_exchange.h"

#include <math.h>

typedef mca_coll_pipering_grid_t grid_t;

/* The lane of a rank and its node; with one lane, `node` is its position in the ring. */
typedef struct {
    int lane, node;
} place_t;

static int nodes_of(const grid_t *grid)
{
    return grid->ring->size / grid->lanes;
}

static place_t place_of(const grid_t *grid, int rank)
{
    const int x = grid->ring->position[rank];
    return (place_t){.lane = x % grid->lanes, .node = x / grid->lanes};
}

static int rank_at(const grid_t *grid, int lane, int node)
{
    return grid->ring->rank[node * grid->lanes + lane];
}

/* The exchange along a lane, or the one between the lanes of a node. */
static mca_common_colltools_exchange_t phase_of(const grid_t *grid, bool along)
{
    const int count = along ? nodes_of(grid) : grid->lanes;
    const bool doubling = !grid->dissemination && 0 == (count & (count - 1));

    return (mca_common_colltools_exchange_t){.count = count,
                                             .algorithm = doubling
                                                              ? MCA_COMMON_COLLTOOLS_DOUBLING
                                                              : MCA_COMMON_COLLTOOLS_DISSEMINATION};
}

static int rounds_along(const grid_t *grid)
{
    const mca_common_colltools_exchange_t along = phase_of(grid, true);
    return mca_common_colltools_exchange_rounds(&along);
}

int mca_coll_pipering_grid_rounds(const grid_t *grid)
{
    const mca_common_colltools_exchange_t between = phase_of(grid, false);
    return rounds_along(grid) + mca_common_colltools_exchange_rounds(&between);
}

bool mca_coll_pipering_grid_fits(const mca_coll_pipering_ring_t *ring)
{
    const int lanes = ring->size / ring->nodes;

    for (int node = 0; node < ring->nodes; ++node) {
        if (ring->first[node + 1] - ring->first[node] != lanes) {
            return false;
        }
    }
    return true;
}

/* ---- slots ---- */

/* Slots by which members are rotated: with dissemination member `own` has the last slot. */
static int turn_of(const mca_common_colltools_exchange_t *phase, int own)
{
    return MCA_COMMON_COLLTOOLS_DOUBLING == phase->algorithm ? 0 : phase->count - 1 - own;
}

static int slot_in(const mca_common_colltools_exchange_t *phase, int own, int member)
{
    return (member + turn_of(phase, own)) % phase->count;
}

int mca_coll_pipering_grid_rank(const grid_t *grid, int me, int slot)
{
    const mca_common_colltools_exchange_t along = phase_of(grid, true);
    const mca_common_colltools_exchange_t between = phase_of(grid, false);
    const place_t own = place_of(grid, me);
    const int lane = slot / along.count + between.count - turn_of(&between, own.lane);
    const int node = slot % along.count + along.count - turn_of(&along, own.node);

    return rank_at(grid, lane % between.count, node % along.count);
}

static int slot_of(const grid_t *grid, place_t own, int lane, int node)
{
    const mca_common_colltools_exchange_t along = phase_of(grid, true);
    const mca_common_colltools_exchange_t between = phase_of(grid, false);

    return slot_in(&between, own.lane, lane) * along.count + slot_in(&along, own.node, node);
}

/* ---- rounds ---- */

/* The slots that the rank at `own` sends or receives in a round along its lane or between lanes. */
static mca_coll_pipering_span_t span_of(const grid_t *grid, place_t own, bool along,
                                        const mca_common_colltools_range_t *piece)
{
    const int count = piece[0].to - piece[0].from + piece[1].to - piece[1].from;
    const int nodes = nodes_of(grid);

    if (along) {
        return (mca_coll_pipering_span_t){slot_of(grid, own, own.lane, piece[0].from), count};
    }
    const mca_common_colltools_exchange_t between = phase_of(grid, false);
    return (mca_coll_pipering_span_t){slot_in(&between, own.lane, piece[0].from) * nodes,
                                      count * nodes};
}

mca_coll_pipering_grid_round_t mca_coll_pipering_grid_round(const grid_t *grid, int me, int k)
{
    const int before = rounds_along(grid);
    const bool along = k < before;
    const mca_common_colltools_exchange_t phase = phase_of(grid, along);
    const place_t own = place_of(grid, me);
    const mca_common_colltools_round_t round
        = mca_common_colltools_exchange_round(&phase, along ? own.node : own.lane,
                                              along ? k : k - before);

    return (mca_coll_pipering_grid_round_t){
        .to = along ? rank_at(grid, own.lane, round.to) : rank_at(grid, round.to, own.node),
        .from = along ? rank_at(grid, own.lane, round.from) : rank_at(grid, round.from, own.node),
        .send = span_of(grid, own, along, round.send),
        .recv = span_of(grid, own, along, round.recv)};
}

mca_coll_pipering_volume_t mca_coll_pipering_grid_volume(const grid_t *grid, int me,
                                                         const size_t *bytes, size_t packed,
                                                         mca_coll_pipering_span_t span)
{
    mca_coll_pipering_volume_t volume = {0, 0};
    bool any = false;

    for (int s = span.first; s < span.first + span.count; ++s) {
        const size_t m = bytes[mca_coll_pipering_grid_rank(grid, me, s)];
        volume.bytes += m;
        volume.blocks += m > packed;
        any |= 0 < m && m <= packed;
    }
    volume.blocks += any;
    return volume;
}

void mca_coll_pipering_grid_slots(const grid_t *grid, int me, const size_t *bytes, size_t packed,
                                  mca_coll_pipering_slots_t *slots)
{
    slots->packed = slots->large = 0;
    for (int s = 0; s < grid->ring->size; ++s) {
        const int rank = mca_coll_pipering_grid_rank(grid, me, s);
        size_t *sum = bytes[rank] > packed ? &slots->large : &slots->packed;
        slots->rank[s] = rank;
        slots->own = rank == me ? s : slots->own;
        slots->offset[s] = *sum;
        *sum += bytes[rank];
    }
}

/* ---- model ---- */

/* Prefix sums over contributions in the order of lanes, then nodes: entry x sums those before x. */
typedef struct {
    double *bytes, *packed, *large;
} sums_t;

/* Messages that are sent at the same time. */
typedef struct {
    double messages; /* of the rank that sends most messages */
    double bytes;    /* of the rank, or node, that sends most bytes */
    bool asked;      /* one of them needs a rendezvous */
} burst_t;

/* The messages of a round, of all ranks. */
typedef struct {
    burst_t net, local;
    double node_bytes; /* bytes that the current node sends to other nodes */
    mca_coll_pipering_work_t *work; /* of all rounds so far */
} load_t;

static sums_t sum_up(const mca_coll_pipering_grid_problem_t *problem)
{
    const grid_t *grid = problem->grid;
    const int p = grid->ring->size, nodes = nodes_of(grid);
    sums_t sums = {.bytes = problem->scratch};

    sums.packed = sums.bytes + p + 1;
    sums.large = sums.packed + p + 1;
    sums.bytes[0] = sums.packed[0] = sums.large[0] = 0;
    for (int x = 0; x < p; ++x) {
        const size_t m = problem->bytes[rank_at(grid, x / nodes, x % nodes)];
        const bool large = m > problem->packed;
        sums.bytes[x + 1] = sums.bytes[x] + (double) m;
        sums.packed[x + 1] = sums.packed[x] + (large ? 0 : (double) m);
        sums.large[x + 1] = sums.large[x] + large;
    }
    return sums;
}

static double sum_of(const double *sums, const mca_common_colltools_range_t *piece, int scale,
                     int shift)
{
    double sum = 0;

    for (int i = 0; i < MCA_COMMON_COLLTOOLS_PIECES; ++i) {
        sum += sums[piece[i].to * scale + shift] - sums[piece[i].from * scale + shift];
    }
    return sum;
}

static void add_to_burst(burst_t *burst, double messages, double bytes)
{
    burst->messages = fmax(burst->messages, messages);
    burst->bytes = fmax(burst->bytes, bytes);
}

/* Adds the messages that the rank at ring position `at` sends in round k. */
static void add_rank(const mca_coll_pipering_grid_problem_t *problem, const sums_t *sums, int at,
                     int k, load_t *load)
{
    const grid_t *grid = problem->grid;
    const int before = rounds_along(grid), nodes = nodes_of(grid);
    const bool along = k < before;
    const mca_common_colltools_exchange_t phase = phase_of(grid, along);
    const place_t own = {.lane = at % grid->lanes, .node = at / grid->lanes};
    const mca_common_colltools_round_t round
        = mca_common_colltools_exchange_round(&phase, along ? own.node : own.lane,
                                              along ? k : k - before);
    const int to = along ? round.to * grid->lanes + own.lane : own.node * grid->lanes + round.to;
    const int scale = along ? 1 : nodes, shift = along ? own.lane * nodes : 0;
    const double bytes = sum_of(sums->bytes, round.send, scale, shift);
    const double packed = sum_of(sums->packed, round.send, scale, shift);
    const double large = sum_of(sums->large, round.send, scale, shift);
    const bool across = grid->ring->node[at] != grid->ring->node[to];
    burst_t *burst = across ? &load->net : &load->local;
    const double eager = (across ? problem->cost.net : problem->cost.local).eager;

    load->node_bytes += across ? bytes : 0;
    add_to_burst(burst, large + (0 < packed), across ? load->node_bytes : bytes);
    *(across ? &load->work->messages : &load->work->local_messages) += large + (0 < packed);
    *(across ? &load->work->bytes : &load->work->local_bytes) += bytes;
    burst->asked |= 0 < eager && (packed > eager || (0 < large && bytes - packed > eager * large));
}

static double burst_time(const mca_coll_pipering_link_cost_t *link, const burst_t *burst)
{
    const double handled = link->alpha + (burst->messages - 1) * link->gap
                           + burst->bytes * link->copy;
    const double both = burst->asked ? fmax(1, link->both) : 1;
    const double sent = (burst->bytes + burst->messages * link->envelope) * link->beta * both;

    if (0 == burst->messages) {
        return 0;
    }
    return mca_coll_pipering_link_time(link, handled, sent) + link->latency
           + (burst->asked ? 2 * link->latency : 0);
}

double mca_coll_pipering_grid_time(const mca_coll_pipering_grid_problem_t *problem)
{
    const mca_coll_pipering_ring_t *ring = problem->grid->ring;
    const sums_t sums = sum_up(problem);
    const int rounds = mca_coll_pipering_grid_rounds(problem->grid);
    double time = 2 * problem->copy * sums.packed[ring->size];
    mca_coll_pipering_work_t work = {.combining = ring->size * time};

    for (int k = 0; k < rounds; ++k) {
        load_t load = {.work = &work};
        for (int x = 0; x < ring->size; ++x) {
            if (0 < x && ring->node[x] != ring->node[x - 1]) {
                load.node_bytes = 0;
            }
            add_rank(problem, &sums, x, k, &load);
        }
        time += fmax(burst_time(&problem->cost.net, &load.net),
                     burst_time(&problem->cost.local, &load.local));
    }
    return mca_coll_pipering_crowded_time(&problem->cost, time,
                                          mca_coll_pipering_work_time(&problem->cost, &work),
                                          ring->size);
}
