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
 * Modelled time of the exchanges of coll_pipering_plan_grid.c: the step that evens out shares, then
 * round by round what the busiest node, or rank, sends.
 *
 * A share is taken for one message where it is large, and nothing is copied where shares adjoin.
 * All groups are taken to be like the largest in the rounds inside them, which carry equal shares
 * of all data. A group sends a block of each share that is cut in every round of the last phase,
 * and before in as many as it has more blocks; each of them is answered. Where leaf switches are
 * known, a round takes as long as what leaves the busiest switch by its links; and a message is as
 * late as the far ones that it waits for, one after the other, of all rounds of a phase. What a
 * reduction combines is combined while the next segment, or block, comes.
 */

#include "coll_pipering_plan_circulant.h"
#include "coll_pipering_plan_grid.h"
#include "coll_pipering_plan_model.h"

#include <math.h>

#define larger mca_coll_pipering_larger

typedef mca_coll_pipering_grid_t grid_t;

/* Messages that are sent at the same time. */
typedef struct {
    double messages; /* of the rank that sends most messages */
    double bytes;    /* of the rank, or node, that sends most bytes */
    bool asked;      /* one of them needs a rendezvous */
} burst_t;

/*
 * Where leaf switches are known: by how many far messages, one after the other, each position of
 * the ring is late, before a round and after it.
 */
typedef struct {
    double *before, *after; /* [p] */
    double each;            /* seconds by which a far message is later, at most */
} late_t;

/* The messages of a round, of all ranks. */
typedef struct {
    const mca_coll_pipering_cost_t *cost;
    burst_t net, local;
    late_t *late;
    double *leaf;  /* [p] bytes that leave leaf switches, by rank in leaf_of; NULL: not known */
    double leaves; /* the most of these */
    double combine;                 /* seconds a byte that comes in, 0: it is not combined */
    double combining;               /* seconds of the busiest rank for that ... */
    double segment, segments;       /* ... while the next segment comes: bytes; most of a message */
    mca_coll_pipering_work_t *work; /* of all rounds so far */
} load_t;

/* What ranks send in a round. */
typedef struct {
    double packed, large; /* bytes of the packed message, messages beside it */
    double answers;       /* messages that tell that one has come */
    double bytes;
} sent_t;

/*
 * Prefix sums over groups of the shares of one lane that go whole: entry g sums those before g.
 * All shares together; and what a rank sends of those that are cut in a round of the last phase,
 * and in one before, on average.
 */
typedef struct {
    double *bytes, *packed, *large;
    double *leaf; /* [3 p] room for what leaves leaf switches, and for what is late */
    double largest; /* of those */
    sent_t all, last, before;
} sums_t;

static double burst_time(const mca_coll_pipering_link_cost_t *link, const burst_t *burst)
{
    return mca_coll_pipering_burst_time(link, burst->messages, burst->bytes, burst->asked);
}

/* Seconds of so many rounds, as if no message were far. */
static double load_time(const load_t *load, double rounds)
{
    const mca_coll_pipering_link_cost_t *net = &load->cost->net;
    burst_t burst = load->net;

    if (NULL != load->leaf) {
        load->late->each = larger(load->late->each,
                                  (load->cost->far - net->latency) * (burst.asked ? 3 : 1));
    }
    if (0 < load->cost->uplinks) {
        burst.bytes = larger(burst.bytes, load->leaves / load->cost->uplinks);
    }
    const double moving = larger(burst_time(net, &burst),
                                 burst_time(&load->cost->local, &load->local));
    const double less = moving < load->combining ? moving : load->combining;
    return rounds * (moving + load->combining - less * (1 - 1 / load->segments));
}

/* A load without messages, of the next round. */
static load_t no_load(const load_t *none, int ranks)
{
    for (int r = 0; NULL != none->leaf && r < ranks; ++r) {
        none->leaf[r] = 0;
        none->late->before[r] = none->late->after[r];
    }
    return *none;
}

/* Seconds by which a phase of rounds is late; the next one begins. */
static double end_phase(const load_t *none, int ranks)
{
    double most = 0;

    for (int r = 0; NULL != none->leaf && r < ranks; ++r) {
        most = larger(most, none->late->after[r]);
        none->late->after[r] = 0;
    }
    return most * none->late->each;
}

/* Bytes go from rank to rank, which are at these positions of the ring. */
static void add_far(load_t *load, const mca_coll_pipering_ring_t *ring, int from, int to,
                    double bytes)
{
    if (NULL == load->leaf || 0 == bytes) {
        return;
    }
    const int leaf = ring->leaf_of[ring->rank[from]];
    const bool far = leaf != ring->leaf_of[ring->rank[to]];
    load->late->after[to] = larger(load->late->after[to], load->late->before[from] + far);
    if (far) {
        load->leaf[leaf] += bytes;
        load->leaves = larger(load->leaves, load->leaf[leaf]);
    }
}

/* Whether so many messages need a rendezvous each. */
static bool is_asked(const load_t *load, bool across, double messages, double bytes)
{
    const double eager = (across ? &load->cost->net : &load->cost->local)->eager;

    return 0 < eager && 0 < messages && bytes > eager * messages;
}

static void add_work(load_t *load, bool across, double messages, double bytes)
{
    *(across ? &load->work->messages : &load->work->local_messages) += messages;
    *(across ? &load->work->bytes : &load->work->local_bytes) += bytes;
}

/* Adds what `ranks` ranks send alike; `busiest`: bytes of the node, or rank, that they are on. */
static void add_sent(load_t *load, bool across, double ranks, const sent_t *sent, double busiest)
{
    burst_t *burst = across ? &load->net : &load->local;
    const double segments = larger(1, sent->packed / load->segment);
    const double messages = sent->large + sent->answers + (0 < sent->packed ? segments : 0);

    load->segments = larger(load->segments, segments);
    burst->messages = larger(burst->messages, messages);
    burst->bytes = larger(burst->bytes, busiest);
    burst->asked |= is_asked(load, across, segments, sent->packed)
                    || is_asked(load, across, sent->large, sent->bytes - sent->packed);
    load->combining = larger(load->combining, load->combine * sent->bytes);
    load->work->combining += ranks * load->combine * sent->bytes;
    add_work(load, across, ranks * messages, ranks * sent->bytes);
}

/* ---- shares are evened out ---- */

/* What one rank, or node, has sent or received so far; whose it is. */
typedef struct {
    int who;
    double messages, bytes;
} account_t;

/* Adds a message of `bytes` to the account of `who`, which is empty if it was another's. */
static void add_message(account_t *account, int who, double bytes)
{
    const bool same = who == account->who;

    account->who = who;
    account->messages = same ? account->messages + 1 : 1;
    account->bytes = same ? account->bytes + bytes : bytes;
}

/*
 * The step of one group. Its pieces go from member to member and from lane to lane in ascending
 * order, so the accounts of one sender, one receiver, and of their nodes at a time are enough.
 */
static void add_evening(const grid_t *grid, int group, load_t *load)
{
    const int first = mca_coll_pipering_grid_first(grid, group);
    const int *node = grid->ring->node + first;
    account_t sender = {.who = -1}, receiver = sender, node_out = sender, node_in = sender;
    mca_coll_pipering_grid_walk_t walk = mca_coll_pipering_grid_walk(grid, group, 0);

    while (mca_coll_pipering_grid_next(&walk)) {
        const bool across = node[walk.member] != node[walk.lane];
        const double bytes = (double) walk.bytes;
        if (walk.member == walk.lane) {
            continue;
        }
        add_message(&sender, walk.member, bytes);
        add_message(&receiver, walk.lane, bytes);
        burst_t *burst = across ? &load->net : &load->local;
        burst->messages = larger(burst->messages, larger(sender.messages, receiver.messages));
        if (across) {
            add_message(&node_out, node[walk.member], bytes);
            add_message(&node_in, node[walk.lane], bytes);
            burst->bytes = larger(burst->bytes, larger(node_out.bytes, node_in.bytes));
            add_far(load, grid->ring, first + walk.member, first + walk.lane, bytes);
        } else {
            burst->bytes = larger(burst->bytes, larger(sender.bytes, receiver.bytes));
        }
        add_work(load, across, 1, bytes);
        burst->asked |= is_asked(load, across, 1, bytes);
    }
}

/* ---- rounds between groups ---- */

/* Adds a share that goes in so many blocks. */
static void add_cut(sums_t *sums, double share, int blocks, int most)
{
    const double before = (blocks - 1.0) / (most - 1.0);

    sums->last.large += 1;
    sums->last.answers += 1;
    sums->last.bytes += share / blocks;
    sums->before.large += before;
    sums->before.answers += before;
    sums->before.bytes += before * share / blocks;
}

static sums_t sum_up(const mca_coll_pipering_grid_problem_t *problem)
{
    const grid_t *grid = problem->grid;
    sums_t sums = {.bytes = problem->scratch};

    sums.packed = sums.bytes + grid->groups + 1;
    sums.large = sums.packed + grid->groups + 1;
    sums.leaf = sums.large + grid->groups + 1;
    sums.bytes[0] = sums.packed[0] = sums.large[0] = 0;
    for (int g = 0; g < grid->groups; ++g) {
        const double share = (double) mca_coll_pipering_grid_bytes(grid, g) / grid->lanes;
        const int blocks = 1 == grid->blocks
                               ? 1
                               : mca_coll_pipering_grid_blocks(grid, (size_t) ceil(share));
        const bool is_cut = 1 < blocks;
        const bool large = SIZE_MAX > grid->packed && !grid->adjoin
                           && (is_cut || share > (double) grid->packed);
        sums.all.bytes += share;
        sums.all.packed += large ? 0 : share;
        sums.all.large += large;
        sums.bytes[g + 1] = sums.bytes[g] + (is_cut ? 0 : share);
        sums.packed[g + 1] = sums.packed[g] + (is_cut || large ? 0 : share);
        sums.large[g + 1] = sums.large[g] + (large && !is_cut);
        sums.largest = is_cut ? sums.largest : larger(sums.largest, share);
        if (is_cut) {
            add_cut(&sums, share, blocks, grid->blocks);
        }
    }
    return sums;
}

/* The sum over groups [from, from + count); after the last group follows the first. */
static double sum_of(const double *sums, int groups, int from, int count)
{
    const int end = from + count;

    return end <= groups ? sums[end] - sums[from]
                         : sums[groups] - sums[from] + sums[end - groups];
}

/* What a group's rank of a lane sends in a round. */
static sent_t sent_along(const sums_t *sums, int groups, int from, int count)
{
    return (sent_t){.packed = sum_of(sums->packed, groups, from, count),
                    .large = sum_of(sums->large, groups, from, count),
                    .bytes = sum_of(sums->bytes, groups, from, count)};
}

/* Whether a round has shares of the last groups, and goes on with those of the first. */
static bool goes_on(const sums_t *sums, int groups, int from, int count)
{
    const int end = from + count;

    return end > groups && sums->bytes[groups] > sums->bytes[from] && 0 < sums->bytes[end - groups];
}

/* Ranks of a node, on average; those of a group are on a node, or these are all of several. */
static double ranks_a_node(const grid_t *grid)
{
    return (double) grid->ring->size / grid->ring->nodes;
}

/*
 * Groups are whole nodes, or ranks alone, of which those of a node add up. By recursive doubling
 * nodes in a row send the same.
 */
static void add_round_along(const grid_t *grid, const sums_t *sums, int k, load_t *load)
{
    const int *node = grid->ring->node, groups = grid->groups, distance = 1 << k;
    const int count = distance < groups - distance ? distance : groups - distance;
    const bool doubles = 0 == (groups & (groups - 1)), alone = groups > grid->ring->nodes;
    const double together = fmin(grid->lanes, ranks_a_node(grid));
    const int alike = doubles && !alone && NULL == load->leaf ? distance : 1;
    double node_bytes = 0;

    for (int g = 0; g < groups; g += alike) {
        const int to = doubles ? g ^ distance : (g + distance) % groups;
        const int from = doubles ? g & -distance : (g - count + 1 + groups) % groups;
        sent_t sent = sent_along(sums, groups, from, count);
        const bool across = !alone || node[g] != node[to];
        sent.large += grid->adjoin && goes_on(sums, groups, from, count);
        if (!alone || 0 == g || node[g] != node[g - 1]) {
            node_bytes = 0;
        }
        node_bytes += across ? together * sent.bytes : 0;
        add_sent(load, across, grid->lanes * alike, &sent, across ? node_bytes : sent.bytes);
        add_far(load, grid->ring, mca_coll_pipering_grid_first(grid, g),
                mca_coll_pipering_grid_first(grid, to), grid->lanes * sent.bytes);
    }
}

static double time_whole(const grid_t *grid, const sums_t *sums, const load_t *none)
{
    double time = 0;

    for (int k = 0; 1 << k < grid->groups; ++k) {
        load_t load = no_load(none, grid->ring->size);
        add_round_along(grid, sums, k, &load);
        time += load_time(&load, 1);
    }
    return time + end_phase(none, grid->ring->size);
}

/* ---- rounds of blocks between groups ---- */

/*
 * Where messages both ways disturb each other, as those of the kernel's TCP do, a rank's blocks for
 * several others leave it mixed, each of them late: by 7 to 15% on 8 nodes with 20 and 100 Mbit/s,
 * by 20% on 32 nodes with 20 Mbit/s.
 */
#define MIXED 1.2

/*
 * Seconds of so many rounds in which all groups, whole nodes, send as much, to those that are so
 * far behind them along the ring.
 */
static double time_alike(const grid_t *grid, double rounds, int skip, const sent_t *sent,
                         const load_t *none)
{
    const double mixed = 1 < none->cost->net.both ? MIXED : 1;
    load_t load = no_load(none, grid->ring->size);

    load.segments = grid->blocks; /* of other rounds come meanwhile */
    for (int g = 0; NULL != load.leaf && g < grid->groups; ++g) {
        add_far(&load, grid->ring, mca_coll_pipering_grid_first(grid, g),
                mca_coll_pipering_grid_first(grid, (g + skip) % grid->groups),
                grid->lanes * sent->bytes);
    }
    add_sent(&load, true, rounds * grid->groups * grid->lanes, sent,
             fmin(grid->lanes, ranks_a_node(grid)) * sent->bytes);
    return mixed * load_time(&load, rounds);
}

/*
 * In the last phase a group also sends on shares that go whole; none of these is above a block, so
 * the busiest group sends as many as others, one of them the largest.
 */
static double time_blocks(const grid_t *grid, const sums_t *sums, const load_t *none)
{
    const int groups = grid->groups, phase = mca_coll_pipering_circulant_rounds(groups);
    const double before = (double) (grid->blocks - 1) / phase; /* rounds by each skip */
    double time = 0;

    for (int k = 0; k < phase; ++k) {
        const int skip = mca_coll_pipering_circulant_skip(groups, k);
        const double part = (double) (mca_coll_pipering_circulant_skip(groups, k + 1)
                                      - mca_coll_pipering_circulant_skip(groups, k))
                            / groups;
        const double above = sums->largest - sums->bytes[groups] / groups;
        sent_t sent = sums->last;
        sent.packed += part * sums->packed[groups];
        sent.large += part * sums->large[groups];
        sent.bytes += part * sums->bytes[groups] + larger(0, above);
        time += time_alike(grid, before, skip, &sums->before, none)
                + time_alike(grid, 1, skip, &sent, none);
    }
    return time + (before + 1) / 2 * end_phase(none, grid->ring->size); /* two rounds each above */
}

/* ---- rounds inside groups ---- */

/*
 * Where groups are several nodes, the ranks of a node whose partner is on another one: `distance`
 * of them at most, all or none where partners are found by recursive doubling.
 */
static double count_across(const grid_t *grid, int distance)
{
    const double ranks = fmin(ranks_a_node(grid), grid->members);

    if (grid->groups >= grid->ring->nodes) {
        return 0;
    }
    if (0 == (grid->members & (grid->members - 1))) {
        return distance < ranks ? 0 : ranks;
    }
    return fmin(distance, ranks);
}

/* All ranks send as much to others of their groups. */
static void add_far_inside(const grid_t *grid, int distance, double bytes, load_t *load)
{
    const bool doubles = 0 == (grid->members & (grid->members - 1));

    for (int g = 0; NULL != load->leaf && g < grid->groups; ++g) {
        const int first = mca_coll_pipering_grid_first(grid, g);
        const int size = mca_coll_pipering_grid_first(grid, g + 1) - first;
        for (int i = 0; i < size; ++i) {
            const int to = doubles ? i ^ distance : (i + distance) % size;
            add_far(load, grid->ring, first + i, first + (to < size ? to : i), bytes);
        }
    }
}

static void add_round_inside(const grid_t *grid, const sums_t *sums, int k, load_t *load)
{
    const int members = grid->members, distance = 1 << k;
    const int count = distance < members - distance ? distance : members - distance;
    const int lanes = count < grid->lanes ? count : grid->lanes;
    const double across = count_across(grid, distance);
    const double all = grid->ring->size, outside = all * across / ranks_a_node(grid);
    const sent_t sent = {.packed = lanes * sums->all.packed,
                         .large = lanes * sums->all.large,
                         .bytes = lanes * sums->all.bytes};

    if (0 < across) {
        add_sent(load, true, outside, &sent, across * sent.bytes);
        add_far_inside(grid, distance, sent.bytes, load);
    }
    if (outside < all) {
        add_sent(load, false, all - outside, &sent, sent.bytes);
    }
}

/* ---- all of it ---- */

double mca_coll_pipering_grid_time(const mca_coll_pipering_grid_problem_t *problem)
{
    const grid_t *grid = problem->grid;
    const sums_t sums = sum_up(problem);
    const double copied = grid->adjoin ? 0 : grid->lanes * sums.all.packed;
    mca_coll_pipering_work_t work = {0};
    const int p = grid->ring->size;
    late_t late = {.before = sums.leaf + p, .after = sums.leaf + 2 * p};
    const bool differ = problem->cost.far > problem->cost.net.latency || 0 < problem->cost.uplinks;
    const load_t none = {.cost = &problem->cost,
                         .leaf = NULL == grid->ring->leaf_of || !differ ? NULL : sums.leaf,
                         .late = &late,
                         .combine = problem->combine,
                         .segment = (double) grid->segment,
                         .segments = 1,
                         .work = &work};

    (void) end_phase(&none, p);
    load_t load = no_load(&none, p);
    for (int g = 0; 1 < grid->members && g < grid->groups; ++g) {
        add_evening(grid, g, &load);
    }
    double time = problem->copy * copied + load_time(&load, 1);
    time += end_phase(&none, p);
    work.combining += p * problem->copy * copied;
    time += 1 < grid->blocks ? time_blocks(grid, &sums, &none) : time_whole(grid, &sums, &none);
    for (int k = 0; 1 << k < grid->members; ++k) {
        load = no_load(&none, p);
        add_round_inside(grid, &sums, k, &load);
        time += load_time(&load, 1);
    }
    time += end_phase(&none, p);
    return mca_coll_pipering_crowded_time(&problem->cost, time,
                                          mca_coll_pipering_work_time(&problem->cost, &work), p);
}

/* ---- what it takes at least ---- */

/* Whether no share is a message of its own if none is larger than this. */
static bool is_packed(const grid_t *grid, double largest)
{
    return SIZE_MAX == grid->packed || grid->adjoin || largest <= (double) grid->packed;
}

/*
 * Seconds of a round in which some rank sends so many bytes at least, none more than `most`, and
 * its node, or a rank, as many as `busiest`.
 */
static double least_round(const mca_coll_pipering_grid_problem_t *problem, bool across,
                          double bytes, double most, double busiest)
{
    const grid_t *grid = problem->grid;
    const mca_coll_pipering_link_cost_t *link = across ? &problem->cost.net : &problem->cost.local;
    const bool whole = is_packed(grid, most);
    const double segment = (double) grid->segment, combining = problem->combine * bytes;
    const bool asked = whole && 0 < link->eager && fmin(bytes, segment) > link->eager;
    const double moving = mca_coll_pipering_burst_time(link, larger(1, bytes / segment),
                                                       larger(bytes, busiest), asked);

    return moving + combining - fmin(moving, combining) * (1 - 1 / larger(1, most / segment));
}

/* Ranks of a node that send to others at the same time. */
static double ranks_together(const grid_t *grid)
{
    return grid->groups > grid->ring->nodes ? ranks_a_node(grid)
                                            : fmin(grid->lanes, ranks_a_node(grid));
}

/* In blocks, whole nodes: what all others have comes once at least. */
static double least_in_blocks(const mca_coll_pipering_grid_problem_t *problem, double total)
{
    const grid_t *grid = problem->grid;
    const mca_coll_pipering_link_cost_t *link = &problem->cost.net;

    return mca_coll_pipering_circulant_rounds(grid->groups) * (link->alpha + link->latency)
           + ranks_together(grid) * total * (1 - 1.0 / grid->groups) * link->beta;
}

/*
 * The largest share goes in each round between groups, and a rank sends as much as others on
 * average. Rounds between ranks of a node are left out.
 */
static double least_along(const mca_coll_pipering_grid_problem_t *problem, double total,
                          double largest)
{
    const grid_t *grid = problem->grid;
    const int groups = grid->groups;
    const double together = ranks_together(grid);
    double time = 0;
    int most_ranks = 1;

    for (int node = 0; groups > grid->ring->nodes && node < grid->ring->nodes; ++node) {
        const int ranks = grid->ring->first[node + 1] - grid->ring->first[node];
        most_ranks = ranks > most_ranks ? ranks : most_ranks;
    }
    for (int distance = 1; distance < groups; distance *= 2) {
        const double count = distance < groups - distance ? distance : groups - distance;
        const double mean = total * count / groups, most = fmin(total, count * largest);
        if (distance >= most_ranks) {
            time += least_round(problem, true, larger(mean, largest), most, together * mean);
        }
    }
    return time;
}

/*
 * The rank with most of the group that has most keeps its share, or those of its node, and sends a
 * message for each other share that it has, but for the two at its ends. `share`: whole bytes.
 */
static double least_evening(const mca_coll_pipering_grid_problem_t *problem, int group,
                            double share)
{
    const grid_t *grid = problem->grid;
    const mca_coll_pipering_ring_t *ring = grid->ring;
    const bool across = grid->groups < ring->nodes;
    double most = 0;

    for (int x = mca_coll_pipering_grid_first(grid, group);
         x < mca_coll_pipering_grid_first(grid, group + 1); ++x) {
        const int ranks = across ? ring->first[ring->node[x] + 1] - ring->first[ring->node[x]] : 1;
        most = larger(most, (double) (grid->before[x + 1] - grid->before[x]) - ranks * share);
    }
    return 0 < most ? mca_coll_pipering_burst_time(across ? &problem->cost.net
                                                          : &problem->cost.local,
                                                   larger(1, floor(most / share)),
                                                   most, false)
                    : 0;
}

static double least_inside(const mca_coll_pipering_grid_problem_t *problem, double total)
{
    const grid_t *grid = problem->grid;
    double time = 0;

    for (int distance = 1; distance < grid->members; distance *= 2) {
        const int others = grid->members - distance, count = distance < others ? distance : others;
        const double bytes = (count < grid->lanes ? count : grid->lanes) * total;
        const double across = count_across(grid, distance);
        time += least_round(problem, 0 < across, bytes, bytes, larger(1, across) * bytes);
    }
    return time;
}

/*
 * Seconds of the processors: each rank gets what the others have, and one message at least, or,
 * where each group has something, one in each round.
 */
static double least_work(const mca_coll_pipering_grid_problem_t *problem, bool all)
{
    const grid_t *grid = problem->grid;
    const mca_coll_pipering_cost_t *cost = &problem->cost;
    const bool alone = grid->ring->size == grid->ring->nodes;
    const double p = grid->ring->size, bytes = (p - 1) * (double) grid->before[grid->ring->size];
    const int rounds = mca_coll_pipering_circulant_rounds(grid->groups);
    const double messages = all ? (double) grid->groups * grid->lanes * rounds : p - 1;

    return alone ? messages * cost->net.alpha + bytes * cost->net.copy
                 : messages * fmin(cost->net.alpha, cost->local.alpha)
                       + bytes * fmin(cost->net.copy, cost->local.beta);
}

double mca_coll_pipering_grid_least(const mca_coll_pipering_grid_problem_t *problem, bool in_blocks)
{
    const grid_t *grid = problem->grid;
    const double total = (double) grid->before[grid->ring->size] / grid->lanes;
    size_t largest = 0, least = SIZE_MAX;
    int busiest = 0;

    if (0 == total) {
        return 0;
    }
    for (int group = 0; group < grid->groups; ++group) {
        const size_t bytes = mca_coll_pipering_grid_bytes(grid, group);
        busiest = bytes > largest ? group : busiest;
        largest = bytes > largest ? bytes : largest;
        least = bytes < least ? bytes : least;
    }
    const double share = (double) largest / grid->lanes;
    double time = in_blocks ? least_in_blocks(problem, total) : least_along(problem, total, share);
    if (!in_blocks && !grid->adjoin && is_packed(grid, share)) {
        time += problem->copy * total * grid->lanes;
    }
    if (1 < grid->members) {
        time += least_evening(problem, busiest, ceil(share)) + least_inside(problem, total);
    }
    return mca_coll_pipering_crowded_time(&problem->cost, time,
                                          least_work(problem, (size_t) grid->lanes <= least),
                                          grid->ring->size);
}
