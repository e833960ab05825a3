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
 * Gathers between nodes by leaders (coll_pipering_pulls_call.h inside nodes), and reductions,
 * between nodes or inside one: there all ranks are leaders, and exchange nothing.
 *
 *     node 0: a b c d    1 read   leader a: abcd ....    3 read   a, b, c, d: abcd efgh
 *     node 1: e f g h             leader e: .... efgh
 *                                    '- 2 exchange -'
 *
 * The first ranks of each node are its leaders, each of a lane with a share of what the node has,
 * which it reads from those who contribute. The leaders of a lane exchange their shares
 * (coll_pipering_gather_rounds.c: nodes are its ranks). Then each rank reads the areas of all
 * leaders of its node. On a node where memory of others cannot be read, which others do not know,
 * messages take the place of reads.
 *
 * Of a reduction, the area is that of the elements of a lane in all vectors of the node, those for
 * one node's ranks behind those for another's. They are combined block by block, read into a cache.
 *
 *                      lane 0    lane 1
 *     vector of a    |  1  2  |  3  4  |    leader a combines 1 2 and 5 6, leader b 3 4 and 7 8
 *     vector of b    |  5  6  |  7  8  |
 *
 * Leaders exchange what they have by the rounds of an allreduce, or of a reduce-scatter
 * (coll_pipering_reduce_rounds.c), to which nodes are ranks. Then ranks read what they want of the
 * result. Vectors of a node are combined in the order of ranks or, where the operation commutes,
 * from the next rank's on: results depend on the arguments, and where ranks are, alone.
 *
 * Cost: between nodes that of rounds among as many ranks as there are nodes; inside, two copies of
 * each byte that a leader receives, and one of those of others; an area of a lane's share of all.
 * Of a reduction of m bytes a leader of L reads and combines m (q - 1) / L on a node of q ranks.
 * Limits: an area is read when all of it is there. An error is one of all ranks of its node; those
 * of others may wait for messages of its leaders. Reductions are of dense elements, and commute
 * where there are several nodes.
 *
 * Kandalla et al. 3 for leaders, which exchange shares of equal contributions there.
 */

#include "coll_pipering_pulls.h"

#include "coll_pipering_pulls_call.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_copy.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_engine_steps.h"

#include <stdlib.h>

#define BLOCK MCA_COLL_PIPERING_PULLS_BLOCK
#define APART MCA_COLL_PIPERING_LEADERS_APART

typedef mca_coll_pipering_notice_t notice_t;
typedef mca_coll_pipering_pulls_call_t call_t;
typedef mca_coll_pipering_grid_walk_t walk_t;

/* The area of a lane, which a rank delivers, or, of its vector, combines, from the beginning on. */
typedef struct {
    size_t bytes;
    char *area;   /* it is in this memory; NULL: it is read from its leader */
    size_t done;  /* bytes that are delivered, or combined */
    int node;     /* whose share these have come to ... */
    walk_t walk;  /* ... and its piece that is next ... */
    size_t part;  /* ... of which so many bytes are */
    size_t begin, end; /* of the bytes that are in the block */
} lane_t;

typedef struct {
    call_t super;
    int node, lane;   /* of this rank; lane -1: it is no leader */
    lane_t *lanes;    /* [grid->lanes] */
    size_t *taken;    /* [p] bytes that are read of a rank's piece */
    size_t unit;      /* bytes of what is cut between lanes: an element, or one */
    bool in_order;    /* of a reduction: of ranks, the last one first */
    char *came;       /* likewise: NULL, or [p] what came by messages of vectors, for the area */
    lane_t next;      /* likewise, of this lane: what is behind ... */
    size_t begin, count; /* ... the elements of vectors that are being combined ... */
    int operands;        /* ... of which so many are */
    mca_coll_pipering_layout_t result; /* likewise, the user's, in elements of bytes */
    mca_coll_pipering_rounds_args_t across;
    mca_coll_pipering_layout_t area; /* of this lane, to which nodes are ranks */
    bool exchanged;   /* it is complete */
    bool on_device;   /* one of the user's buffers is memory of a device */
    char *block;
} leaders_t;

static const mca_coll_pipering_grid_t *grid_of(const leaders_t *leaders)
{
    return leaders->super.args.grid;
}

static bool combines(const leaders_t *leaders)
{
    return NULL != leaders->super.args.op;
}

/* Whether the result, or all contributions, go to all ranks. */
static bool spreads(const leaders_t *leaders)
{
    return !combines(leaders) || leaders->super.args.spreads;
}

/* The next piece of a walk that is of a lane's share; false: there is none. */
static bool next_of(walk_t *walk, int lane)
{
    return mca_coll_pipering_grid_next(walk) && lane == walk->lane;
}

/* Bytes of the area of a lane's leader. */
static size_t lane_bytes(const leaders_t *leaders, int lane)
{
    const mca_coll_pipering_grid_t *grid = grid_of(leaders);
    size_t units = 0;

    for (int node = 0; node < grid->groups; ++node) {
        units += mca_coll_pipering_grid_share(grid, node, lane);
    }
    return units * leaders->unit;
}

/* The whole area of a lane; and what ranks of this node want of it. */
static lane_t whole_of(const leaders_t *leaders, int lane)
{
    return (lane_t){.bytes = lane_bytes(leaders, lane),
                    .walk = mca_coll_pipering_grid_walk(grid_of(leaders), 0, lane)};
}

static lane_t wanted_of(const leaders_t *leaders, int lane)
{
    const mca_coll_pipering_grid_t *grid = grid_of(leaders);
    const int node = leaders->node;

    return spreads(leaders)
               ? whole_of(leaders, lane)
               : (lane_t){.bytes = leaders->unit * mca_coll_pipering_grid_share(grid, node, lane),
                          .node = node,
                          .walk = mca_coll_pipering_grid_walk(grid, node, lane)};
}

/* Goes to the piece of an area at which a rank is. */
static void find_piece(const leaders_t *leaders, int lane, lane_t *its)
{
    while (its->part == its->walk.bytes * leaders->unit || lane != its->walk.lane) {
        its->part = 0;
        while (!next_of(&its->walk, lane)) {
            its->node += 1;
            its->walk = mca_coll_pipering_grid_walk(grid_of(leaders), its->node, lane);
        }
    }
}

/* The rank whose it is. */
static int rank_of(const leaders_t *leaders, const lane_t *its)
{
    const mca_coll_pipering_ring_t *ring = grid_of(leaders)->ring;

    return ring->rank[ring->first[its->node] + its->walk.member];
}

/* ---- what a leader has of its node ---- */

/* Where a piece of the node's data goes in the area of this lane. */
static char *place_of(const leaders_t *leaders, const walk_t *walk)
{
    const mca_coll_pipering_grid_t *grid = grid_of(leaders);
    const size_t begin = mca_coll_pipering_cut(
        mca_coll_pipering_grid_bytes(grid, leaders->node), (size_t) grid->lanes,
        (size_t) leaders->lane);

    return leaders->area.buffer + leaders->across.starts[leaders->node] + walk->at - begin;
}

/* Takes more of a piece of a rank's contribution; false: it is not all there yet. */
static bool take_from(leaders_t *leaders, const walk_t *walk, size_t *budget, int *rc)
{
    call_t *call = &leaders->super;
    size_t *taken = &leaders->taken[walk->member];
    const size_t left = walk->bytes - *taken, size = left < *budget ? left : *budget;
    char *to = place_of(leaders, walk) + *taken;

    if (0 == size) {
        return 0 == left;
    }
    if (call->me == walk->member) {
        *rc = mca_common_colltools_copy(to, call->own + walk->from + *taken, size,
                                        leaders->on_device);
        call->super.traffic.bytes_copied += size;
    } else if (mca_coll_pipering_pulls_find(call, walk->member, rc)) {
        *rc = mca_coll_pipering_pulls_read(call, walk->member, to, walk->from + *taken, size);
    } else {
        return false;
    }
    *budget -= size;
    *taken += size;
    return size == left;
}

/* Finds elements of the vector that adjoin, and follow each other in the area: a block at most. */
static void find_block(leaders_t *leaders)
{
    lane_t *its = &leaders->next;
    const size_t unit = leaders->unit, most = 1 + (BLOCK - 1) / unit;

    while (leaders->count < most && its->done < its->bytes) {
        find_piece(leaders, leaders->lane, its);
        const size_t part = its->part / unit;
        const size_t begin = leaders->super.args.starts[rank_of(leaders, its)] + its->walk.from
                             + part;
        if (0 < leaders->count && begin != leaders->begin + leaders->count) {
            return;
        }
        leaders->begin = 0 == leaders->count ? begin : leaders->begin;
        const size_t count = mca_coll_pipering_at_most(its->walk.bytes - part,
                                                       most - leaders->count);
        leaders->count += count;
        its->part += count * unit;
        its->done += count * unit;
    }
}

/*
 * Combines the block of the next vector in front of what is in the area; false: it is not there
 * yet. Without an order the own vector is the last, and that of the next rank the first, so that no
 * two ranks read the same one.
 */
static bool combine_next(leaders_t *leaders, int *rc)
{
    call_t *call = &leaders->super;
    const size_t bytes = leaders->count * leaders->unit, at = leaders->next.done - bytes;
    const size_t begin = leaders->begin * leaders->unit;
    const int rank = leaders->in_order ? call->p - 1 - leaders->operands
                                       : (call->me + 1 + leaders->operands) % call->p;
    char *sum = leaders->area.buffer + at;
    char *values = NULL != leaders->came ? leaders->came + (size_t) rank * leaders->next.bytes + at
                   : rank == call->me    ? call->own + begin
                                         : NULL;

    if (NULL == values) {
        values = 0 == leaders->operands ? sum : leaders->block;
        if (!mca_coll_pipering_pulls_find(call, rank, rc)) {
            return false;
        }
        *rc = mca_coll_pipering_pulls_read(call, rank, values, begin, bytes);
    } else if (0 == leaders->operands) {
        (void) memcpy(sum, values, bytes);
    }
    if (OMPI_SUCCESS == *rc && 0 < leaders->operands) {
        ompi_op_reduce(call->args.op, values, sum, leaders->count, call->args.unit.type);
    }
    leaders->operands += 1;
    return OMPI_SUCCESS == *rc;
}

/* Combines this lane's elements of the vectors of the node; true: all of them. */
static bool combine_share(leaders_t *leaders, size_t *budget, int *rc)
{
    while (0 < leaders->count || leaders->next.done < leaders->next.bytes) {
        if (0 == leaders->count) {
            find_block(leaders);
        }
        while (leaders->operands < leaders->super.p) {
            if (0 == *budget || !combine_next(leaders, rc)) {
                return false;
            }
            *budget -= mca_coll_pipering_at_most(*budget, leaders->count * leaders->unit);
        }
        leaders->count = 0;
        leaders->operands = 0;
    }
    return true;
}

/* Takes this lane's share of what the ranks of the node have; true: it is there. */
static bool take_share(leaders_t *leaders, size_t *budget, int *rc)
{
    if (combines(leaders)) {
        return combine_share(leaders, budget, rc);
    }
    walk_t walk = mca_coll_pipering_grid_walk(grid_of(leaders), leaders->node, leaders->lane);
    bool here = true;

    while (OMPI_SUCCESS == *rc && next_of(&walk, leaders->lane)) {
        here &= take_from(leaders, &walk, budget, rc);
    }
    return here && OMPI_SUCCESS == *rc;
}

/* ---- the exchange ---- */

/* Makes the schedule of rounds, whose ranks are nodes, one of ranks. */
static int begin_exchange(leaders_t *leaders)
{
    const mca_coll_pipering_ring_t *ring = grid_of(leaders)->ring;
    mca_coll_pipering_scheduled_t **inner = &leaders->super.super.inner;
    const int rc = combines(leaders)
                       ? mca_coll_pipering_reduce_rounds_new(&leaders->across, inner)
                       : mca_coll_pipering_gather_rounds_new(&leaders->across, inner);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    mca_common_colltools_messages_t *lists[] = {&(*inner)->schedule.receives,
                                                &(*inner)->schedule.sends};
    for (int i = 0; i < 2; ++i) {
        for (uint32_t k = 0; k < lists[i]->count; ++k) {
            int *peer = &lists[i]->message[k].peer;
            *peer = ring->rank[ring->first[*peer] + leaders->lane];
        }
    }
    mca_common_colltools_schedule_begin(&(*inner)->schedule);
    return OMPI_SUCCESS;
}

/* Moves the exchange on; true: it is over, *rc is its error. */
static bool exchange(leaders_t *leaders, int *rc)
{
    mca_coll_pipering_scheduled_t *scheduled = &leaders->super.super;
    int progress = 0;

    leaders->exchanged |= 2 > grid_of(leaders)->groups;
    if (leaders->exchanged) {
        return true;
    }
    if (NULL == scheduled->inner) {
        *rc = begin_exchange(leaders);
    }
    if (OMPI_SUCCESS != *rc) {
        return true;
    }
    leaders->exchanged = mca_common_colltools_schedule_move(&scheduled->inner->schedule,
                                                            &progress);
    scheduled->schedule.stepped += progress;
    if (leaders->exchanged) {
        *rc = scheduled->inner->schedule.error;
        mca_coll_pipering_traffic_add(&scheduled->traffic, &scheduled->inner->traffic);
    }
    return leaders->exchanged;
}

/* ---- delivery ---- */

/* Reads as much of an area as the block holds, in the place of another one's. */
static int read_block(leaders_t *leaders, int lane, const notice_t *notice)
{
    lane_t *its = &leaders->lanes[lane];
    const size_t left = its->bytes - its->done;

    for (int i = 0; i < grid_of(leaders)->lanes; ++i) {
        leaders->lanes[i].end = 0;
    }
    its->begin = its->done;
    its->end = its->done + (left < BLOCK ? left : BLOCK);
    return mca_coll_pipering_pulls_copy(&leaders->super, lane, leaders->block,
                                        notice->split[0] + its->begin, its->end - its->begin,
                                        false);
}

/* Delivers a part of a piece; how many bytes, 0: *rc is an error. */
static size_t deliver_part(leaders_t *leaders, int lane, const notice_t *notice, size_t most,
                           int *rc)
{
    call_t *call = &leaders->super;
    const mca_coll_pipering_layout_t *recv = combines(leaders) ? &leaders->result
                                                              : call->args.recv;
    lane_t *its = &leaders->lanes[lane];
    const int rank = rank_of(leaders, its);
    const size_t from = its->walk.from * leaders->unit + its->part;
    const size_t piece = its->walk.bytes * leaders->unit;
    size_t size = mca_coll_pipering_at_most(piece - its->part, most);

    if (combines(leaders) ? !spreads(leaders) && call->args.me != rank
                          : call->args.me == rank && call->args.in_place) {
        return size;
    }
    if (NULL == its->area && recv->dense && (APART <= piece || !spreads(leaders))) {
        *rc = mca_coll_pipering_pulls_copy(call, lane,
                                           mca_coll_pipering_dense_place(recv, rank) + from,
                                           notice->split[0] + its->done, size, false);
        return OMPI_SUCCESS == *rc ? size : 0;
    }
    if (NULL == its->area && its->done >= its->end) {
        *rc = read_block(leaders, lane, notice);
    }
    if (OMPI_SUCCESS != *rc) {
        return 0;
    }
    const char *packed = NULL == its->area ? leaders->block + its->done - its->begin
                                           : its->area + its->done;
    size = NULL == its->area && its->end - its->done < size ? its->end - its->done : size;
    const size_t done = mca_coll_pipering_scheduled_deliver(&call->super, recv, rank, packed, from,
                                                            size, leaders->on_device);
    *rc = 0 == done ? OMPI_ERROR : *rc;
    return done;
}

/* Delivers more of an area; true: that is over. */
static bool deliver(leaders_t *leaders, int lane, const notice_t *notice, size_t *budget, int *rc)
{
    lane_t *its = &leaders->lanes[lane];

    while (OMPI_SUCCESS == *rc && 0 < *budget && its->done < its->bytes) {
        find_piece(leaders, lane, its);
        const size_t done = deliver_part(leaders, lane, notice, *budget, rc);
        *budget -= done;
        its->done += done;
        its->part += done;
    }
    return OMPI_SUCCESS == *rc && its->done == its->bytes;
}

/* ---- by reads ---- */

static void fill(const call_t *call, notice_t *mine)
{
    const leaders_t *leaders = (const leaders_t *) call;

    mine->split[0] = (uint64_t) (uintptr_t) leaders->area.buffer;
}

/* Reads the areas of all leaders that are complete, beginning with the next one. */
static bool read_areas(leaders_t *leaders, size_t *budget, int *rc)
{
    call_t *call = &leaders->super;
    const int lanes = grid_of(leaders)->lanes;
    bool all = true;

    for (int i = 1; OMPI_SUCCESS == *rc && i <= lanes; ++i) {
        const int lane = (call->me + i) % lanes;
        const lane_t *its = &leaders->lanes[lane];
        const notice_t *notice = NULL;
        if (its->done == its->bytes) {
            continue;
        }
        if (NULL == its->area) {
            notice = mca_coll_pipering_pulls_find(call, lane, rc) ? call->peer[lane].notice : NULL;
            if (NULL == notice || 0 == __atomic_load_n(&notice->parts, __ATOMIC_ACQUIRE)) {
                all = false;
                continue;
            }
        }
        if (!deliver(leaders, lane, notice, budget, rc)) {
            return false;
        }
    }
    return all && OMPI_SUCCESS == *rc;
}

static bool advance(call_t *call, int *rc)
{
    leaders_t *leaders = (leaders_t *) call;
    size_t budget = MCA_COLL_PIPERING_PULLS_BUDGET;

    if (0 <= leaders->lane && !leaders->exchanged) {
        if (!take_share(leaders, &budget, rc) || !exchange(leaders, rc) || OMPI_SUCCESS != *rc) {
            return false;
        }
        __atomic_store_n(&call->mine->parts, 1, __ATOMIC_RELEASE);
    }
    return read_areas(leaders, &budget, rc);
}

/* ---- by messages ---- */

static int exchange_step(void *context, int from, int to)
{
    leaders_t *leaders = context;
    size_t budget = MCA_COLL_PIPERING_PULLS_BUDGET;
    int rc = OMPI_SUCCESS;

    (void) from, (void) to;
    /* what others have has come in */
    return (take_share(leaders, &budget, &rc) && exchange(leaders, &rc)) || OMPI_SUCCESS != rc
               ? rc
               : OMPI_ERR_WOULD_BLOCK;
}

static int deliver_step(void *context, int from, int to)
{
    leaders_t *leaders = context;
    size_t budget = MCA_COLL_PIPERING_PIECE;
    int rc = OMPI_SUCCESS;

    (void) from, (void) to;
    return read_areas(leaders, &budget, &rc) || OMPI_SUCCESS != rc ? rc : OMPI_ERR_WOULD_BLOCK;
}

/* Pieces of contributions come to leaders. */
static void list_pieces(leaders_t *leaders)
{
    call_t *call = &leaders->super;
    mca_common_colltools_schedule_t *schedule = &call->super.schedule;
    const mca_common_colltools_needs_t needs = {0, 0, 0};

    for (int lane = 0; lane < grid_of(leaders)->lanes; ++lane) {
        walk_t walk = mca_coll_pipering_grid_walk(grid_of(leaders), leaders->node, lane);
        while (next_of(&walk, lane)) {
            const int rank = call->member[walk.member];
            if (lane == leaders->lane && call->me != walk.member) {
                mca_common_colltools_schedule_bytes(&schedule->receives, place_of(leaders, &walk),
                                                    walk.bytes, rank, needs);
                leaders->taken[walk.member] = walk.bytes;
            } else if (lane != leaders->lane && call->me == walk.member) {
                mca_common_colltools_schedule_bytes(&schedule->sends, call->own + walk.from,
                                                    walk.bytes, call->member[lane], needs);
            }
        }
    }
}

/* Of a reduction, each lane's elements of vectors. */
static void list_vectors(leaders_t *leaders)
{
    call_t *call = &leaders->super;
    mca_common_colltools_schedule_t *schedule = &call->super.schedule;
    const mca_common_colltools_needs_t needs = {0, 0, 0};
    char *own = call->own;

    for (int lane = 0; lane < grid_of(leaders)->lanes; ++lane) {
        const size_t bytes = lane_bytes(leaders, lane);
        if (call->me != lane && 0 < bytes) {
            mca_common_colltools_schedule_bytes(&schedule->sends, own, bytes, call->member[lane],
                                                needs);
        }
        for (int i = 0; lane == leaders->lane && i < call->p; ++i) {
            char *came = leaders->came + (size_t) i * bytes;
            if (call->me == i) {
                (void) memcpy(came, own, bytes);
            } else {
                mca_common_colltools_schedule_bytes(&schedule->receives, came, bytes,
                                                    call->member[i], needs);
            }
        }
        own += bytes;
    }
}

/* What leaders want comes to them, then areas come to all. */
static void list_messages(leaders_t *leaders)
{
    call_t *call = &leaders->super;
    mca_common_colltools_schedule_t *schedule = &call->super.schedule;
    const int lanes = grid_of(leaders)->lanes;
    mca_common_colltools_needs_t needs = {0, 0, 0};

    if (combines(leaders)) {
        list_vectors(leaders);
    } else {
        list_pieces(leaders);
    }
    if (0 <= leaders->lane) {
        needs.receives = schedule->receives.count;
        mca_common_colltools_schedule_step(schedule, exchange_step, 0, 0, needs);
        for (int i = 0; i < call->p; ++i) {
            if (call->me != i && 0 < leaders->lanes[leaders->lane].bytes) {
                mca_common_colltools_schedule_bytes(
                    &schedule->sends, leaders->area.buffer, leaders->lanes[leaders->lane].bytes,
                    call->member[i], (mca_common_colltools_needs_t){.steps = 1});
            }
        }
    }
    for (int lane = 0; lane < lanes; ++lane) {
        const lane_t *its = &leaders->lanes[lane];
        if (call->me != lane && 0 < its->bytes) {
            mca_common_colltools_schedule_bytes(&schedule->receives, its->area, its->bytes,
                                                call->member[lane],
                                                (mca_common_colltools_needs_t){0, 0, 0});
        }
    }
    needs = (mca_common_colltools_needs_t){.receives = schedule->receives.count,
                                           .steps = schedule->steps};
    mca_common_colltools_schedule_step(schedule, deliver_step, 0, 0, needs);
    mca_coll_pipering_scheduled_listed(&call->super);
}

/* ---- making ---- */

/*
 * Bytes of the own contribution that are copied: those of one that is not dense, or is cut for
 * messages; and of one whose place results of others take.
 */
static size_t copied_bytes(const leaders_t *leaders)
{
    const mca_coll_pipering_rounds_args_t *args = &leaders->super.args;

    if (!combines(leaders)) {
        return mca_coll_pipering_rounds_source(args)->dense ? 0 : args->bytes[args->me];
    }
    return !args->reads || (args->in_place && !spreads(leaders) && 0 < args->starts[args->me])
               ? leaders->super.vector
               : 0;
}

/* Copies it; what is cut for messages, lane by lane. */
static int copy_own(leaders_t *leaders, char *copy)
{
    call_t *call = &leaders->super;
    const mca_coll_pipering_rounds_args_t *args = &call->args;
    const char *own = call->own;

    call->own = copy;
    if (!combines(leaders)) {
        return mca_coll_pipering_scheduled_pack(&call->super, mca_coll_pipering_rounds_source(args),
                                                args->me, copy, args->bytes[args->me]);
    }
    if (args->reads) {
        (void) memcpy(copy, own, call->vector);
        return OMPI_SUCCESS;
    }
    for (int lane = 0; lane < args->grid->lanes; ++lane) {
        lane_t its = whole_of(leaders, lane);
        for (; its.done < its.bytes; its.done += its.part) {
            find_piece(leaders, lane, &its);
            its.part = its.walk.bytes * leaders->unit;
            (void) memcpy(copy,
                          own + (args->starts[rank_of(leaders, &its)] + its.walk.from)
                                    * leaders->unit,
                          its.part);
            copy += its.part;
        }
    }
    return OMPI_SUCCESS;
}

/* Where the user wants the area of this lane as it is; NULL: nowhere. */
static char *wanted_area(const leaders_t *leaders)
{
    const mca_coll_pipering_rounds_args_t *args = &leaders->super.args;
    const mca_coll_pipering_grid_t *grid = args->grid;

    if (!combines(leaders) || 1 < grid->groups || args->in_place) {
        return NULL;
    }
    const size_t count = mca_coll_pipering_grid_bytes(grid, 0), lanes = (size_t) grid->lanes;
    const size_t begin = mca_coll_pipering_cut(count, lanes, (size_t) leaders->lane);
    const size_t end = mca_coll_pipering_cut(count, lanes, (size_t) leaders->lane + 1);
    const size_t first = args->spreads ? 0 : args->starts[args->me];

    return first <= begin && end <= first + (args->spreads ? count : args->bytes[args->me])
               ? leaders->result.buffer + begin * leaders->unit
               : NULL;
}

/*
 * Memory: the area of this rank's lane, unless it is the user's, by messages those of all and the
 * values that come for this one, what is copied of the own contribution, and a block.
 */
static int take_memory(leaders_t *leaders)
{
    call_t *call = &leaders->super;
    const mca_coll_pipering_rounds_args_t *args = &call->args;
    const bool leads = 0 <= leaders->lane, through = !combines(leaders) && !args->recv->dense;
    const size_t area = leads ? lane_bytes(leaders, leaders->lane) : 0;
    char *wanted = leads ? wanted_area(leaders) : NULL;
    const size_t came = combines(leaders) && !args->reads ? (size_t) call->p * area : 0;
    const size_t copied = copied_bytes(leaders);
    size_t size = (NULL == wanted ? area : 0) + came + copied
                  + (args->reads ? BLOCK + leaders->unit : 0);

    for (int lane = 0; lane < args->grid->lanes; ++lane) {
        lane_t *its = &leaders->lanes[lane];
        *its = wanted_of(leaders, lane);
        size += args->reads || lane == leaders->lane ? 0 : its->bytes;
    }
    char *memory = malloc(size);
    call->super.memory = memory;
    call->super.unpacker = through ? OBJ_NEW(opal_convertor_t) : NULL;
    if (NULL == memory || (through && NULL == call->super.unpacker)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    leaders->area.buffer = NULL == wanted ? memory : wanted;
    memory += NULL == wanted ? area : 0;
    leaders->came = 0 < came ? memory : NULL;
    memory += came;
    for (int lane = 0; lane < args->grid->lanes; ++lane) {
        lane_t *its = &leaders->lanes[lane];
        if (lane == leaders->lane) {
            its->area = leaders->area.buffer;
            its->done = NULL == wanted ? 0 : its->bytes;
        } else if (!args->reads) {
            its->area = memory;
            memory += its->bytes;
        }
    }
    leaders->block = memory + copied;
    return 0 < copied ? copy_own(leaders, memory) : OMPI_SUCCESS;
}

/* The user's buffers, of a reduction in elements of bytes; what this rank combines. */
static void find_buffers(leaders_t *leaders)
{
    call_t *call = &leaders->super;
    const mca_coll_pipering_rounds_args_t *args = &call->args;

    leaders->unit = 1;
    if (!combines(leaders)) {
        const mca_coll_pipering_layout_t *from = mca_coll_pipering_rounds_source(args);
        call->own = from->dense ? mca_coll_pipering_dense_place(from, args->me) : NULL;
        return;
    }
    const size_t first = args->spreads ? 0 : args->starts[args->me] * args->unit.size;
    leaders->unit = args->unit.size;
    leaders->result = (mca_coll_pipering_layout_t){.buffer = args->recv->buffer - first,
                                                   .starts = args->starts,
                                                   .extent = (ptrdiff_t) leaders->unit,
                                                   .dense = true};
    call->own = args->send->buffer;
    call->vector = args->grid->before[args->grid->ring->size] * leaders->unit;
}

int mca_coll_pipering_leaders_new(const mca_coll_pipering_rounds_args_t *args,
                                  const mca_coll_pipering_call_name_t *name, bool in_order,
                                  mca_coll_pipering_scheduled_t **made)
{
    const mca_coll_pipering_ring_t *ring = args->grid->ring;
    const int node = ring->node[ring->position[args->me]], first = ring->first[node];
    const int p = ring->first[node + 1] - first, lanes = args->grid->lanes;
    const uint32_t most = args->reads ? 0 : (uint32_t) (p + lanes);
    const mca_common_colltools_needs_t needs = {.receives = most, .sends = most, .steps = 2};
    void *behind;
    leaders_t *leaders = mca_coll_pipering_pulls_call_new(
        args, name, ring->rank + first, p, sizeof(*leaders), needs,
        (size_t) lanes * sizeof(lane_t) + (size_t) p * sizeof(size_t), &behind);

    if (NULL == leaders) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    call_t *call = &leaders->super;
    *made = &call->super;
    leaders->lanes = behind;
    leaders->taken = memset(leaders->lanes + lanes, 0, (size_t) p * sizeof(size_t));
    leaders->node = node;
    leaders->lane = 1 < args->grid->groups && NULL == args->across ? -1 : call->me;
    leaders->in_order = in_order;
    leaders->on_device = NULL == args->op && mca_coll_pipering_rounds_on_device(args);
    call->all = true;
    call->advance = advance;
    call->fill = fill;
    find_buffers(leaders);
    const int rc = take_memory(leaders);
    if (combines(leaders) && 0 <= leaders->lane) {
        leaders->next = whole_of(leaders, leaders->lane);
    }
    if (OMPI_SUCCESS == rc && NULL != args->across) {
        leaders->across = *args->across;
        leaders->area.type = MPI_BYTE;
        leaders->area.starts = leaders->across.starts;
        leaders->area.extent = 1;
        leaders->area.dense = true;
        leaders->across.send = leaders->across.recv = &leaders->area;
    }
    call->args.across = NULL; /* the caller's */
    if (!args->reads) {
        call->super.schedule.synchronous = args->synchronous;
        if (OMPI_SUCCESS == rc) {
            list_messages(leaders);
        }
        return rc;
    }
    call->error = rc;
    return OMPI_SUCCESS;
}
