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
 * Exchanges of contributions of any sizes: shares are evened out inside groups of ranks, and
 * exchanged in log2 rounds between groups, then inside each of them.
 *
 *     group 0     group 1     group 2     group 3       ranks in the order of nodes
 *     0 1 2 3     4 5 6 7     8 9 . .     . . . .
 *     #           . .         .  #                      contributions
 *     # # # #     . . . .     # # # #                   1. evened out: a message from each rank to
 *     0 --------- 4 --------- 8 ---------               each whose share its data falls in
 *       1 --------- 5 --------- 9 --------              2. along lanes, log2 (groups) rounds
 *     0-1-2-3     4-5-6-7                               3. inside groups, log2 (members) rounds
 *
 * The data of a group, in the order of its ranks, is cut into as many equal shares as there are
 * lanes: the ranks of the smallest group. Lane i of a group takes share i into the rounds; ranks of
 * larger groups beyond the lanes take none. With groups of one rank nothing is evened out: this is
 * recursive doubling, or dissemination where p is no power of two. With one group all is evened out
 * first. With a group for each node a byte enters a node once.
 *
 * A rank keeps shares in slots. The shares that it holds are in adjacent slots at any time, and
 * so are those that it sends or receives in a round. With dissemination its own share is in the
 * last slot, and each round fills the slots before those that are full.
 *
 *     before round 2    . . . . 3 4 5 6
 *     round 2           7 0 1 2 3 4 5 6      sends 3 .. 6
 *
 * Played backwards, each message against its direction, combined where it arrives with what is
 * there, these rounds are a reduce-scatter: each rank begins with values of all slots, and the last
 * step brings the results of a share to the ranks whose they are. If these are one rank's, it is a
 * reduction; if the rounds of a gather follow, an allreduce. What is combined first depends on the
 * rounds, so operations must commute.
 *
 * Cost of m bytes in all, contributions of up to M: ceil(log2 g) + ceil(log2 (p / g)) rounds in
 * which a rank receives the m bytes of all shares but its own, and before them one step of at most
 * M bytes, which pays where M is above m / p. A round is one packed message and one for each large
 * piece. Limits: the shares of a large group beside a group of few ranks are few.
 *
 * Balaji et al. 4.2.1 for the rounds; see common_colltools_exchange.c.
 */

#include "coll_pipering_plan_grid.h"
#include "ompi/mca/common/colltools/common_colltools_exchange.h"

typedef mca_coll_pipering_grid_t grid_t;
typedef mca_coll_pipering_grid_walk_t walk_t;
typedef mca_common_colltools_exchange_t exchange_t;

/* The group of a rank, and which of its ranks it is. */
typedef struct {
    int group, member;
} place_t;

/* ---- groups ---- */

int mca_coll_pipering_grid_first(const grid_t *grid, int group)
{
    const mca_coll_pipering_ring_t *ring = grid->ring;

    return grid->groups > ring->nodes
               ? group
               : ring->first[(long long) group * ring->nodes / grid->groups];
}

static int size_of(const grid_t *grid, int group)
{
    return mca_coll_pipering_grid_first(grid, group + 1)
           - mca_coll_pipering_grid_first(grid, group);
}

static place_t place_of(const grid_t *grid, int rank)
{
    const mca_coll_pipering_ring_t *ring = grid->ring;
    const int x = ring->position[rank];
    /* the last group whose first node is not behind that of the rank */
    const int group = grid->groups > ring->nodes
                          ? x
                          : (int) (((ring->node[x] + 1LL) * grid->groups - 1) / ring->nodes);

    return (place_t){group, x - mca_coll_pipering_grid_first(grid, group)};
}

static int rank_at(const grid_t *grid, int group, int member)
{
    return grid->ring->rank[mca_coll_pipering_grid_first(grid, group) + member];
}

int mca_coll_pipering_grid_member(const grid_t *grid, int me, int lane)
{
    return rank_at(grid, place_of(grid, me).group, lane);
}

static size_t bytes_before(const grid_t *grid, int x)
{
    return x < grid->ring->size ? grid->before[x] : grid->total;
}

size_t mca_coll_pipering_grid_bytes(const grid_t *grid, int group)
{
    return bytes_before(grid, mca_coll_pipering_grid_first(grid, group + 1))
           - bytes_before(grid, mca_coll_pipering_grid_first(grid, group));
}

void mca_coll_pipering_grid_make(grid_t *grid, const mca_coll_pipering_ring_t *ring,
                                 const size_t *bytes, size_t *before, int groups, size_t packed)
{
    *grid = (grid_t){.ring = ring, .before = before, .groups = groups, .packed = packed};
    for (int x = 0; x < ring->size; ++x) {
        before[x] = grid->total;
        grid->total += bytes[ring->rank[x]];
    }
    for (int group = 0; group < groups; ++group) {
        const int size = size_of(grid, group);
        grid->lanes = 0 == group || size < grid->lanes ? size : grid->lanes;
        grid->members = size > grid->members ? size : grid->members;
    }
}

/* ---- shares ---- */

/* Where the share of a lane begins in the data of a group. */
static size_t cut(const grid_t *grid, size_t bytes, int lane)
{
    const size_t even = bytes / (size_t) grid->lanes, rest = bytes % (size_t) grid->lanes;

    return even * (size_t) lane + ((size_t) lane < rest ? (size_t) lane : rest);
}

walk_t mca_coll_pipering_grid_walk(const grid_t *grid, int group, int lane)
{
    const int first = mca_coll_pipering_grid_first(grid, group);
    const size_t base = bytes_before(grid, first);
    const size_t total = mca_coll_pipering_grid_bytes(grid, group);
    const size_t at = cut(grid, total, lane);
    int low = first, high = mca_coll_pipering_grid_first(grid, group + 1) - 1;

    while (low < high) { /* the last position that begins there or before */
        const int middle = low + (high - low + 1) / 2;
        if (grid->before[middle] <= base + at) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return (walk_t){.member = low - first,
                    .lane = lane,
                    .at = at,
                    .first = first,
                    .base = base,
                    .total = total,
                    .member_ends = bytes_before(grid, low + 1) - base,
                    .lane_ends = cut(grid, total, lane + 1)};
}

bool mca_coll_pipering_grid_next(const grid_t *grid, walk_t *walk)
{
    const size_t even = walk->total / (size_t) grid->lanes;
    const size_t rest = walk->total - even * (size_t) grid->lanes;

    walk->at += walk->bytes;
    if (walk->at == walk->total) {
        return false;
    }
    while (walk->member_ends <= walk->at) {
        ++walk->member;
        walk->member_ends = bytes_before(grid, walk->first + walk->member + 1) - walk->base;
    }
    while (walk->lane_ends <= walk->at) {
        ++walk->lane;
        walk->lane_ends += even + ((size_t) walk->lane < rest);
    }
    walk->from = walk->base + walk->at - grid->before[walk->first + walk->member];
    walk->bytes = (walk->member_ends < walk->lane_ends ? walk->member_ends : walk->lane_ends)
                  - walk->at;
    return true;
}

/* ---- rounds ---- */

/* The exchange between groups along a lane, or the one between the ranks of a group. */
static exchange_t exchange_of(const grid_t *grid, int group, bool along)
{
    const int count = along ? grid->groups : size_of(grid, group);

    return (exchange_t){.count = count,
                        .algorithm = 0 == (count & (count - 1))
                                         ? MCA_COMMON_COLLTOOLS_DOUBLING
                                         : MCA_COMMON_COLLTOOLS_DISSEMINATION};
}

/* Rounds of so many ranks. */
static int rounds_of(int count)
{
    const exchange_t exchange = {.count = count, .algorithm = MCA_COMMON_COLLTOOLS_DISSEMINATION};

    return mca_common_colltools_exchange_rounds(&exchange);
}

int mca_coll_pipering_grid_rounds(const grid_t *grid)
{
    return rounds_of(grid->groups) + rounds_of(grid->members);
}

/*
 * The slot of a group's share among those of a lane, or of a lane among lanes, at a rank with place
 * `own` among `count` of them: with dissemination slots are rotated, so that this is the last one.
 */
static int turned(const exchange_t *exchange, int own, int count, int place)
{
    const bool turns = MCA_COMMON_COLLTOOLS_DISSEMINATION == exchange->algorithm && own < count;

    return (place + (turns ? count - 1 - own : 0)) % count;
}

static int slot_of(const grid_t *grid, place_t own, int lane, int group)
{
    const exchange_t along = exchange_of(grid, own.group, true);
    const exchange_t inside = exchange_of(grid, own.group, false);

    return turned(&inside, own.member, grid->lanes, lane) * grid->groups
           + turned(&along, own.group, grid->groups, group);
}

/* Of ranges of members those that have lanes: the first of these, and how many there are. */
static mca_coll_pipering_span_t lanes_among(const grid_t *grid,
                                            const mca_common_colltools_range_t *piece)
{
    mca_coll_pipering_span_t lanes = {0, 0};

    for (int i = MCA_COMMON_COLLTOOLS_PIECES - 1; 0 <= i; --i) {
        const int to = piece[i].to < grid->lanes ? piece[i].to : grid->lanes;
        if (piece[i].from < to) {
            lanes.first = piece[i].from;
            lanes.count += to - piece[i].from;
        }
    }
    return lanes;
}

static mca_coll_pipering_span_t span_along(const grid_t *grid, place_t own,
                                           const mca_common_colltools_range_t *piece)
{
    return (mca_coll_pipering_span_t){slot_of(grid, own, own.member, piece[0].from),
                                      piece[0].to - piece[0].from + piece[1].to - piece[1].from};
}

static mca_coll_pipering_span_t span_inside(const grid_t *grid, place_t own,
                                            const mca_common_colltools_range_t *piece)
{
    const exchange_t inside = exchange_of(grid, own.group, false);
    const mca_coll_pipering_span_t lanes = lanes_among(grid, piece);

    return (mca_coll_pipering_span_t){turned(&inside, own.member, grid->lanes, lanes.first)
                                          * grid->groups,
                                      lanes.count * grid->groups};
}

mca_coll_pipering_grid_round_t mca_coll_pipering_grid_round(const grid_t *grid, int me, int k)
{
    const place_t own = place_of(grid, me);
    const int before = rounds_of(grid->groups);
    const bool along = k < before;
    const exchange_t exchange = exchange_of(grid, own.group, along);

    if (along ? own.member >= grid->lanes
              : k - before >= mca_common_colltools_exchange_rounds(&exchange)) {
        return (mca_coll_pipering_grid_round_t){.to = me, .from = me};
    }
    const mca_common_colltools_round_t round
        = mca_common_colltools_exchange_round(&exchange, along ? own.group : own.member,
                                              along ? k : k - before);
    if (along) {
        return (mca_coll_pipering_grid_round_t){.to = rank_at(grid, round.to, own.member),
                                                .from = rank_at(grid, round.from, own.member),
                                                .send = span_along(grid, own, round.send),
                                                .recv = span_along(grid, own, round.recv)};
    }
    return (mca_coll_pipering_grid_round_t){.to = rank_at(grid, own.group, round.to),
                                            .from = rank_at(grid, own.group, round.from),
                                            .send = span_inside(grid, own, round.send),
                                            .recv = span_inside(grid, own, round.recv)};
}

/* ---- slots ---- */

/* The place among `count` that is in a slot: the inverse of `turned`. */
static int turned_back(const exchange_t *exchange, int own, int count, int slot)
{
    return (slot + count - turned(exchange, own, count, 0)) % count;
}

/* Adds the pieces of a share, which are adjacent. */
static int add_share(const grid_t *grid, int group, int lane, int pieces,
                     mca_coll_pipering_slots_t *slots)
{
    walk_t walk = mca_coll_pipering_grid_walk(grid, group, lane);
    const size_t end = walk.lane_ends;

    while (walk.at + walk.bytes < end && mca_coll_pipering_grid_next(grid, &walk)) {
        size_t *sum = walk.bytes > grid->packed ? &slots->large : &slots->packed;
        slots->piece[pieces++] = (mca_coll_pipering_piece_t){rank_at(grid, group, walk.member),
                                                             walk.from, walk.bytes, *sum};
        *sum += walk.bytes;
    }
    return pieces;
}

void mca_coll_pipering_grid_slots(const grid_t *grid, int me, mca_coll_pipering_slots_t *slots)
{
    const place_t own = place_of(grid, me);
    const exchange_t along = exchange_of(grid, own.group, true);
    const exchange_t inside = exchange_of(grid, own.group, false);
    const int count = grid->lanes * grid->groups;

    slots->packed = slots->large = 0;
    slots->first[0] = 0;
    for (int s = 0; s < count; ++s) {
        const int lane = turned_back(&inside, own.member, grid->lanes, s / grid->groups);
        const int group = turned_back(&along, own.group, grid->groups, s % grid->groups);
        slots->first[s + 1] = add_share(grid, group, lane, slots->first[s], slots);
    }
    slots->own = (mca_coll_pipering_span_t){0, 0};
    if (own.member < grid->lanes) {
        slots->own = (mca_coll_pipering_span_t){slot_of(grid, own, own.member, own.group), 1};
    }
}

const mca_coll_pipering_piece_t *
mca_coll_pipering_grid_given(const grid_t *grid, const mca_coll_pipering_slots_t *slots, int me,
                             int lane)
{
    const place_t own = place_of(grid, me);
    const int slot = slot_of(grid, own, lane, own.group);

    for (int i = slots->first[slot]; lane != own.member && i < slots->first[slot + 1]; ++i) {
        if (me == slots->piece[i].rank) {
            return &slots->piece[i];
        }
    }
    return NULL;
}
