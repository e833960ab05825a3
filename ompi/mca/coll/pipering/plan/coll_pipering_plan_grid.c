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
 * A share may be cut into blocks, which go between groups one in each round by the circulant
 * schedule (coll_pipering_plan_circulant.c) along with the whole shares of others. So a large
 * contribution enters each node once, and is passed on as it comes in, where the rounds above move
 * it whole.
 *
 * Played backwards, each message against its direction, combined where it arrives with what is
 * there, these rounds are a reduce-scatter: each rank begins with values of all slots, and the last
 * step brings the results of a share to the ranks whose they are. If these are one rank's, it is a
 * reduction; if the rounds of a gather follow, an allreduce. What is combined first depends on the
 * rounds, so operations must commute.
 *
 * Where ranks are numbered as they stand in the ring and a group has one lane, the slots are the
 * contributions in the order of ranks. Then a round is one run of them, or two where it goes on
 * with the first rank, each of them one message, which most callers' receive buffers hold as it is.
 *
 * Cost of m bytes in all, contributions of up to M: ceil(log2 g) + ceil(log2 (p / g)) rounds in
 * which a rank receives the m bytes of all shares but its own, and before them one step of at most
 * M bytes, which pays where M is above m / p. A round is one packed message and one for each large
 * piece. Of shares of up to n blocks, ceil(log2 g) + n - 1 rounds between groups, in which M bytes
 * cost little more than once, not once to even them out and once more; it pays where few have
 * almost all. Limits: the shares of a large group beside a group of few ranks are few.
 *
 * Balaji et al. 4.2.1 for the rounds; see common_colltools_exchange.c.
 */

#include "coll_pipering_plan_grid.h"
#include "coll_pipering_plan_circulant.h"
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

size_t mca_coll_pipering_grid_bytes(const grid_t *grid, int group)
{
    return grid->before[mca_coll_pipering_grid_first(grid, group + 1)]
           - grid->before[mca_coll_pipering_grid_first(grid, group)];
}

void mca_coll_pipering_grid_make(grid_t *grid, const mca_coll_pipering_ring_t *ring,
                                 const size_t *bytes, size_t *before, int groups, size_t packed)
{
    *grid = (grid_t){.ring = ring,
                     .before = before,
                     .packed = packed,
                     .in_order = true,
                     .segment = SIZE_MAX};

    before[0] = 0;
    for (int x = 0; x < ring->size; ++x) {
        before[x + 1] = before[x] + bytes[ring->rank[x]];
        grid->in_order = grid->in_order && x == ring->rank[x];
    }
    mca_coll_pipering_grid_group(grid, groups);
}

void mca_coll_pipering_grid_group(grid_t *grid, int groups)
{
    grid->groups = groups;
    grid->lanes = grid->members = 1;
    for (int group = 0; group < groups && groups < grid->ring->size; ++group) {
        const int size = size_of(grid, group);
        grid->lanes = 0 == group || size < grid->lanes ? size : grid->lanes;
        grid->members = size > grid->members ? size : grid->members;
    }
    grid->blocks = 1;
    grid->block = SIZE_MAX;
    grid->adjoin = grid->in_order && 1 == grid->lanes && SIZE_MAX > grid->packed;
}

/* ---- shares ---- */

static size_t part_at(size_t bytes, int parts, int i)
{
    return mca_coll_pipering_cut(bytes, (size_t) parts, (size_t) i);
}

size_t mca_coll_pipering_grid_share(const grid_t *grid, int group, int lane)
{
    const size_t bytes = mca_coll_pipering_grid_bytes(grid, group);

    return part_at(bytes, grid->lanes, lane + 1) - part_at(bytes, grid->lanes, lane);
}

int mca_coll_pipering_grid_blocks(const grid_t *grid, size_t share)
{
    return share <= grid->block ? 1 : (int) mca_coll_pipering_blocks(share, grid->block);
}

size_t mca_coll_pipering_grid_largest(const grid_t *grid)
{
    size_t largest = 0;

    for (int group = 0; group < grid->groups; ++group) {
        const size_t share = mca_coll_pipering_grid_share(grid, group, 0);
        largest = share > largest ? share : largest;
    }
    return largest;
}

void mca_coll_pipering_grid_cut(grid_t *grid, size_t block)
{
    if (1 < grid->groups) {
        grid->block = block;
        grid->blocks = mca_coll_pipering_grid_blocks(grid, mca_coll_pipering_grid_largest(grid));
        grid->adjoin = grid->adjoin && 1 == grid->blocks;
    }
}

walk_t mca_coll_pipering_grid_walk(const grid_t *grid, int group, int lane)
{
    const int first = mca_coll_pipering_grid_first(grid, group);
    const size_t base = grid->before[first];
    const size_t total = mca_coll_pipering_grid_bytes(grid, group);
    const size_t at = part_at(total, grid->lanes, lane);
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
                    .before = grid->before + first,
                    .total = total,
                    .share = total / (size_t) grid->lanes,
                    .longer = (int) (total % (size_t) grid->lanes),
                    .member_ends = grid->before[low + 1] - base,
                    .lane_ends = part_at(total, grid->lanes, lane + 1)};
}

/* ---- rounds ---- */

/* The exchange between groups along a lane, or the one between the ranks of a group. */
static exchange_t exchange_of(const grid_t *grid, int group, bool along)
{
    const int count = along ? grid->groups : size_of(grid, group);
    const bool in_blocks = along && 1 < grid->blocks;

    return (exchange_t){.count = count,
                        .algorithm = 0 == (count & (count - 1)) && !in_blocks
                                         ? MCA_COMMON_COLLTOOLS_DOUBLING
                                         : MCA_COMMON_COLLTOOLS_DISSEMINATION};
}

static int rounds_along(const grid_t *grid)
{
    return mca_coll_pipering_circulant_rounds(grid->groups) + grid->blocks - 1;
}

int mca_coll_pipering_grid_rounds(const grid_t *grid)
{
    return rounds_along(grid) + mca_coll_pipering_circulant_rounds(grid->members);
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

/*
 * A round of blocks. In the last phase shares of one block go as well: as in dissemination, by the
 * skips of the schedule.
 */
static mca_coll_pipering_grid_round_t round_of_blocks(const grid_t *grid, place_t own, int k)
{
    const int groups = grid->groups, phase = mca_coll_pipering_circulant_rounds(groups);
    const int left = rounds_along(grid) - 1 - k, turn = phase - 1 - left % phase;
    const int skip = mca_coll_pipering_circulant_skip(groups, turn);
    const int next = mca_coll_pipering_circulant_skip(groups, turn + 1);
    const int lane = slot_of(grid, own, own.member, own.group) - (groups - 1);
    mca_coll_pipering_grid_round_t round
        = {.to = rank_at(grid, (own.group + skip) % groups, own.member),
           .from = rank_at(grid, (own.group + groups - skip) % groups, own.member)};

    if (left < phase) {
        round.send = (mca_coll_pipering_span_t){lane + groups - (next - skip), next - skip};
        round.recv = (mca_coll_pipering_span_t){lane + groups - next, next - skip};
    }
    if (0 == left) {
        round.full = (mca_coll_pipering_span_t){lane, groups - 1};
    }
    return round;
}

/* A round in which shares go whole. */
static mca_coll_pipering_grid_round_t whole_round(int to, int from, mca_coll_pipering_span_t send,
                                                  mca_coll_pipering_span_t recv)
{
    return (mca_coll_pipering_grid_round_t){
        .to = to, .from = from, .send = send, .recv = recv, .full = recv};
}

static mca_coll_pipering_grid_round_t round_along(const grid_t *grid, place_t own, int k)
{
    const exchange_t exchange = exchange_of(grid, own.group, true);

    if (1 < grid->blocks) {
        return round_of_blocks(grid, own, k);
    }
    const mca_common_colltools_round_t round
        = mca_common_colltools_exchange_round(&exchange, own.group, k);
    return whole_round(rank_at(grid, round.to, own.member), rank_at(grid, round.from, own.member),
                       span_along(grid, own, round.send), span_along(grid, own, round.recv));
}

mca_coll_pipering_grid_round_t mca_coll_pipering_grid_round(const grid_t *grid, int me, int k)
{
    const place_t own = place_of(grid, me);
    const int along = rounds_along(grid);
    const exchange_t inside = exchange_of(grid, own.group, false);

    if (k < along ? own.member >= grid->lanes
                  : k - along >= mca_common_colltools_exchange_rounds(&inside)) {
        return (mca_coll_pipering_grid_round_t){.to = me, .from = me};
    }
    if (k < along) {
        return round_along(grid, own, k);
    }
    const mca_common_colltools_round_t round
        = mca_common_colltools_exchange_round(&inside, own.member, k - along);
    return whole_round(rank_at(grid, own.group, round.to), rank_at(grid, own.group, round.from),
                       span_inside(grid, own, round.send), span_inside(grid, own, round.recv));
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
    const bool is_cut = 1 < mca_coll_pipering_grid_blocks(grid, end - walk.at);

    while (walk.at + walk.bytes < end && mca_coll_pipering_grid_next(&walk)) {
        const bool large = SIZE_MAX > grid->packed && !grid->adjoin
                           && (is_cut || walk.bytes > grid->packed);
        size_t *sum = large ? &slots->large : &slots->packed;
        slots->piece[pieces++] = (mca_coll_pipering_piece_t){rank_at(grid, group, walk.member),
                                                             walk.from, walk.bytes, *sum, large};
        *sum += walk.bytes;
    }
    return pieces;
}

/* Blocks of the share of a group in the lane of a rank. */
static int blocks_of(const grid_t *grid, place_t own, int group)
{
    return mca_coll_pipering_grid_blocks(grid,
                                         mca_coll_pipering_grid_share(grid, group, own.member));
}

/* Finds the shares of the rank's lane that are cut, and fills in their schedules. */
static void fill_turns(const grid_t *grid, place_t own, mca_coll_pipering_slots_t *slots)
{
    const int groups = grid->groups, phase = mca_coll_pipering_circulant_rounds(groups);

    for (int group = 0; group < groups; ++group) {
        if (1 < blocks_of(grid, own, group)) {
            slots->cut.first = 0 == slots->cut.count ? group : slots->cut.first;
            slots->cut.count = group + 1 - slots->cut.first;
        }
    }
    for (int i = 0; i < slots->cut.count; ++i) {
        const int group = slots->cut.first + i;
        if (1 < blocks_of(grid, own, group)) {
            const int place = (own.group + groups - group) % groups;
            signed char *turn = slots->turn + 2 * phase * i;
            mca_coll_pipering_circulant_receives(groups, place, turn);
            mca_coll_pipering_circulant_sends(groups, place, turn + phase);
        }
    }
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
    slots->cut = (mca_coll_pipering_span_t){0, 0};
    if (1 < grid->blocks && own.member < grid->lanes) {
        fill_turns(grid, own, slots);
    }
}

/* ---- parts ---- */

mca_coll_pipering_parts_t mca_coll_pipering_grid_parts(const grid_t *grid,
                                                       const mca_coll_pipering_slots_t *slots,
                                                       int me, int k, bool sends)
{
    const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(grid, me, k);
    const place_t own = place_of(grid, me);
    const int along = 1 < grid->blocks ? rounds_along(grid) : 0;

    return (mca_coll_pipering_parts_t){.grid = grid,
                                       .slots = slots,
                                       .sends = sends,
                                       .group = own.group,
                                       .lane = own.member,
                                       .round = k,
                                       .left = k < along ? along - 1 - k : -1,
                                       .span = sends ? round.send : round.recv,
                                       .cut = slots->cut.first,
                                       .behind = SIZE_MAX};
}

/* Bytes [first, last) of the data of slots are next. */
static bool take(mca_coll_pipering_parts_t *parts, mca_coll_pipering_span_t span, size_t first,
                 size_t last)
{
    parts->next = parts->slots->first[span.first];
    parts->end = parts->slots->first[span.first + span.count];
    parts->at = 0;
    parts->since = parts->round;
    parts->until = parts->round + 1;
    parts->first = first;
    parts->last = last;
    return true;
}

/* The next share that goes whole in a round of blocks. */
static bool take_whole(mca_coll_pipering_parts_t *parts)
{
    const place_t own = {parts->group, parts->lane};
    const exchange_t along = exchange_of(parts->grid, own.group, true);

    while (0 < parts->span.count) {
        const int s = parts->span.first++, groups = parts->grid->groups;
        --parts->span.count;
        if (1 == blocks_of(parts->grid, own, turned_back(&along, own.group, groups, s % groups))) {
            return take(parts, (mca_coll_pipering_span_t){s, 1}, 0, SIZE_MAX);
        }
    }
    return false;
}

/*
 * The block of a share in so many that goes by a schedule, so many rounds before the last; -1:
 * none.
 */
static int block_at(const grid_t *grid, const signed char *turn, int blocks, int left)
{
    const int phase = mca_coll_pipering_circulant_rounds(grid->groups);

    return mca_coll_pipering_circulant_block(grid->groups, turn[phase - 1 - left % phase], blocks,
                                             left);
}

/*
 * The first round of the next phase in which a block goes that came in this one, or the last of
 * these rounds; as rounds that are left after it.
 */
static int first_left(const mca_coll_pipering_parts_t *parts, const signed char *sends, int blocks,
                      int block)
{
    const int phase = mca_coll_pipering_circulant_rounds(parts->grid->groups);
    int left = parts->left - 1;

    while (0 <= left && parts->left - left < phase
           && block != block_at(parts->grid, sends, blocks, left)) {
        --left;
    }
    return left;
}

/* The block that goes in this round of the share of a group. */
static bool take_block(mca_coll_pipering_parts_t *parts, int group)
{
    const grid_t *grid = parts->grid;
    const mca_coll_pipering_slots_t *slots = parts->slots;
    const place_t own = {parts->group, parts->lane};
    const int phase = mca_coll_pipering_circulant_rounds(grid->groups);
    const signed char *receives = slots->turn + 2 * phase * (group - slots->cut.first);
    const signed char *sends = receives + phase;
    const int blocks = blocks_of(grid, own, group);
    const int block = 1 == blocks ? -1
                                  : block_at(grid, parts->sends ? sends : receives, blocks,
                                             parts->left);

    if (0 > block) {
        return false;
    }
    const size_t share = mca_coll_pipering_grid_share(grid, group, own.member);
    const mca_coll_pipering_span_t slot = {slot_of(grid, own, own.member, group), 1};
    parts->begins = take(parts, slot, part_at(share, blocks, block),
                         part_at(share, blocks, block + 1));
    if (!parts->sends) {
        parts->until = rounds_along(grid) - 1 - first_left(parts, sends, blocks, block);
    } else if (group != own.group) {
        parts->since = rounds_along(grid)
                       - mca_coll_pipering_circulant_comes(grid->groups, receives, blocks, block);
    } else {
        parts->since = 0;
    }
    return true;
}

static bool take_slots(mca_coll_pipering_parts_t *parts)
{
    const mca_coll_pipering_span_t all = parts->span, of_blocks = parts->slots->cut;

    if (0 > parts->left) {
        parts->span.count = 0;
        return 0 < all.count && take(parts, all, 0, SIZE_MAX);
    }
    if (take_whole(parts)) {
        return true;
    }
    while (parts->cut < of_blocks.first + of_blocks.count) {
        if (take_block(parts, parts->cut++)) {
            return true;
        }
    }
    return false;
}

bool mca_coll_pipering_parts_next(mca_coll_pipering_parts_t *parts)
{
    parts->begins = false;
    do {
        while (parts->next < parts->end) {
            const mca_coll_pipering_piece_t *piece = &parts->slots->piece[parts->next++];
            const size_t at = parts->at, end = at + piece->bytes;
            const size_t from = at < parts->first ? parts->first : at;
            const size_t last = end < parts->last ? end : parts->last;
            parts->at = end;
            if (from < last) {
                parts->piece = piece;
                parts->from = from - at;
                parts->bytes = last - from;
                if (parts->grid->adjoin) {
                    const size_t begin = parts->grid->before[piece->rank] + piece->from + from - at;
                    parts->begins = begin != parts->behind;
                    parts->behind = begin + parts->bytes;
                }
                return true;
            }
        }
    } while (take_slots(parts));
    return false;
}

bool mca_coll_pipering_parts_run(mca_coll_pipering_parts_t *parts, mca_coll_pipering_run_t *run)
{
    bool more = parts->ahead || mca_coll_pipering_parts_next(parts);

    run->count = 0;
    for (; more; more = mca_coll_pipering_parts_next(parts)) {
        const size_t begin = parts->piece->offset + parts->from;
        if (0 == run->count) {
            run->begin = begin;
        } else if (parts->begins || begin != run->begin + run->count) {
            break;
        }
        const size_t room = parts->grid->segment - run->count;
        if (parts->bytes > room) {
            run->count += room;
            parts->from += room;
            parts->bytes -= room;
            break;
        }
        run->count += parts->bytes;
    }
    parts->ahead = more;
    return 0 < run->count;
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
