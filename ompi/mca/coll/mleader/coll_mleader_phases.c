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
 * The phases of a slice as a schedule of messages and steps, in all variants.
 *
 *     aggregation    segment: each rank writes its contribution, the leader waits for all
 *                    gather: each rank sends its contribution to the leader
 *                    recursive doubling, ring: the ranks of the group exchange contributions
 *     exchange       recursive doubling, Bruck or ring, among the leaders of all groups, or in
 *                    lanes: each leader exchanges with those of its number on other nodes, so
 *                    each byte enters a node once. A counter in the segment shows the ranks of
 *                    the node which rounds are over
 *     distribution   segment: ranks copy the data of a round while the next round is under way
 *                    messages: down a binomial tree from the leader; only the contributions of
 *                    other groups if the ranks have those of their own group
 *
 * The schedule of the leader of a group of two, by the segment, with two rounds. Lines lead from an
 * entry to one that needs it:
 *
 *     steps       write own, await group   deliver own   deliver round 0   deliver round 1
 *                                    |                    |                  |
 *     receives                       |     r0 ------------+        r1 -------+
 *     sends                          +---> s0             +------> s1
 *
 * A round has as many messages as message_size demands. Receives are posted up to AHEAD rounds
 * before their sends may start. A step that waits for a counter is run again until it has come.
 *
 * Cost for p ranks with m bytes each, on N nodes with L leaders each: the exchange has
 * ceil(log2 M) rounds (ring: M - 1), where M is N in lanes, else N L. A leader receives about
 * p m / L bytes in lanes, else p m (common_colltools_exchange.c). With a segment, a rank copies
 * m bytes into it and p m bytes out of it. Limits: lanes need a segment.
 *
 * Kandalla et al., section 4.3: 4.3.1 aggregation, 4.3.2 exchange, 4.3.3 distribution. Lanes,
 * Bruck, and copies during the exchange are not in the paper.
 */

#include "coll_mleader_steps.h"

typedef mca_common_colltools_needs_t needs_t;
typedef mca_common_colltools_range_t range_t;

enum { PIECES = MCA_COMMON_COLLTOOLS_PIECES };

/* Rounds whose receives are posted, or whose sends are pending, at the same time. */
#define AHEAD 8

/* A slice whose schedule is being filled in or, where its lists have no memory, counted. */
typedef struct list_t {
    mca_coll_mleader_call_t *call;
    mca_common_colltools_schedule_t *schedule; /* of the call */
    mca_coll_mleader_listing_t *listing;
    bool counts;
    int together;   /* contributions in a message */
    uint32_t ready; /* number of steps after which the area has what this rank sends first */
    int deliveries;
} list_t;

/* An exchange in rounds in which this rank takes part. */
typedef struct rounds_t {
    mca_common_colltools_exchange_t plan;
    int member; /* number of this rank among the members */
    int (*peer_of)(const mca_coll_mleader_call_t *call, int which, int member); /* a rank */
    int which;  /* lane or group, for peer_of */
    mca_coll_mleader_counter_t *rounds_over; /* read by other ranks of the node; NULL: none */
} rounds_t;

static int group_begin(const mca_coll_mleader_call_t *call)
{
    return call->grouping->groups.first[call->grouping->group];
}

static int group_end(const mca_coll_mleader_call_t *call)
{
    return call->grouping->groups.first[call->grouping->group + 1];
}

static int position_of(const mca_coll_mleader_call_t *call)
{
    return call->grouping->groups.position[ompi_comm_rank(call->comm)];
}

static int contributions_in_message(const mca_coll_mleader_call_t *call, size_t length)
{
    const size_t fit = call->message_size / length;
    return fit < (size_t) call->topology->ranks ? (int) fit : call->topology->ranks;
}

/* ---- exchanges in which a rank takes part ---- */

static int rank_in_group(const mca_coll_mleader_call_t *call, int group, int member)
{
    return call->grouping->groups.rank[call->grouping->groups.first[group] + member];
}

static int leader_of_group(const mca_coll_mleader_call_t *call, int which, int member)
{
    (void) which;
    return mca_coll_mleader_leader(&call->grouping->groups, member);
}

static int leader_in_lane(const mca_coll_mleader_call_t *call, int lane, int member)
{
    const mca_coll_mleader_groups_t *groups = &call->grouping->groups;
    return mca_coll_mleader_leader(groups, mca_coll_mleader_group_at(groups, member, lane));
}

/* The exchange of the ranks of a group: each member holds one position. */
static rounds_t rounds_in_group(const mca_coll_mleader_call_t *call)
{
    const bool ring = MCA_COLL_MLEADER_GROUP_RING == call->variant.aggregation;

    return (rounds_t){.plan = {.count = group_end(call) - group_begin(call),
                               .first = call->topology->identity + group_begin(call),
                               .algorithm = ring ? MCA_COMMON_COLLTOOLS_RING
                                                 : MCA_COMMON_COLLTOOLS_DOUBLING},
                      .member = position_of(call) - group_begin(call),
                      .peer_of = rank_in_group,
                      .which = call->grouping->group};
}

/* The exchange of the leaders in a lane, or of all leaders: `lane` is then the group's own. */
static rounds_t rounds_of(const mca_coll_mleader_call_t *call, int lane)
{
    const mca_coll_mleader_grouping_t *grouping = call->grouping;
    const mca_coll_mleader_groups_t *groups = &grouping->groups;
    const bool lanes = call->variant.lanes;

    return (rounds_t){
        .plan = {.count = lanes ? groups->nodes : groups->groups,
                 .first = lanes ? grouping->lane_first + lane * (groups->nodes + 1) : groups->first,
                 .algorithm = call->variant.exchange},
        .member = lanes ? grouping->node : grouping->group,
        .peer_of = lanes ? leader_in_lane : leader_of_group,
        .which = lane,
        .rounds_over =
            mca_coll_mleader_is_followed(call) ? mca_coll_mleader_counter_of(call, lane) : NULL};
}

static bool has_group_data(const mca_coll_mleader_call_t *call)
{
    return MCA_COLL_MLEADER_GROUP_DOUBLING == call->variant.aggregation
           || MCA_COLL_MLEADER_GROUP_RING == call->variant.aggregation;
}

/* ---- entries of the schedule ---- */

static void list_step(const list_t *list, mca_common_colltools_step_fn_t *run, int from, int to,
                      needs_t needs)
{
    if (list->counts) {
        ++list->schedule->steps;
    } else {
        mca_common_colltools_schedule_step(list->schedule, run, from, to, needs);
    }
}

/*
 * Adds a delivery of the positions `piece` of an area. Its step `run` sets the counter to `rounds`,
 * or waits until the counter shows them.
 */
static void list_delivery(list_t *list, mca_common_colltools_step_fn_t *run,
                          mca_coll_mleader_counter_t *counter, int rounds, const char *area,
                          const range_t *piece, needs_t needs)
{
    if (!list->counts) {
        list->call->delivery[list->deliveries]
            = (mca_coll_mleader_delivery_t){.counter = counter,
                                            .rounds = rounds,
                                            .area = area,
                                            .piece = {piece[0], piece[1]}};
    }
    list_step(list, run, list->deliveries++, 0, needs);
}

/* Adds the messages of a range of positions; each message has whole contributions of the slice. */
static void list_piece(const list_t *list, mca_common_colltools_messages_t *messages,
                       range_t piece, int peer, needs_t needs)
{
    const mca_coll_mleader_call_t *call = list->call;

    for (int from = piece.from, to; from < piece.to; from = to) {
        to = piece.to - from > list->together ? from + list->together : piece.to;
        if (list->counts) {
            ++messages->count;
            continue;
        }
        mca_common_colltools_schedule_bytes(messages, call->area + (size_t) from * call->length,
                                            (size_t) (to - from) * call->length, peer, needs);
    }
}

static void list_receives(const list_t *list, const range_t *piece, int peer, needs_t needs)
{
    for (int i = 0; i < PIECES; ++i) {
        list_piece(list, &list->schedule->receives, piece[i], peer, needs);
    }
}

static void count_messages(const list_t *list, int peer, uint32_t messages, int contributions)
{
    const mca_coll_mleader_call_t *call = list->call;
    const mca_coll_mleader_groups_t *groups = &call->grouping->groups;
    const int group = groups->group[groups->position[peer]];
    const bool within = groups->node[group] == call->grouping->node;

    list->listing->messages[within] += messages;
    list->listing->bytes[within] += (size_t) contributions * call->length;
}

static void list_sends(const list_t *list, const range_t *piece, int peer, needs_t needs)
{
    mca_common_colltools_messages_t *sends = &list->schedule->sends;
    const uint32_t before = sends->count;
    int contributions = 0;

    for (int i = 0; i < PIECES; ++i) {
        list_piece(list, sends, piece[i], peer, needs);
        contributions += piece[i].to - piece[i].from;
    }
    count_messages(list, peer, sends->count - before, contributions);
}

/*
 * Adds the messages of an exchange. `deliver`: an exchange of leaders, which delivers the data of
 * each round. This rank has the data that it sends first after list->ready steps and all receives
 * listed so far.
 */
static void list_rounds(list_t *list, const rounds_t *rounds, bool deliver)
{
    const mca_coll_mleader_call_t *call = list->call;
    mca_common_colltools_schedule_t *schedule = list->schedule;
    const int total = mca_common_colltools_exchange_rounds(&rounds->plan);
    uint32_t received[AHEAD] = {0}, sent[AHEAD] = {0}; /* entries up to each of the last rounds */
    needs_t needs = {.receives = schedule->receives.count, .steps = list->ready};

    if (deliver) {
        const int *first = rounds->plan.first;
        const range_t own[PIECES] = {{first[rounds->member], first[rounds->member + 1]}, {0, 0}};
        list_delivery(list, mca_coll_mleader_end_round, NULL, 0, call->area, own, needs);
    }
    for (int k = 0; k < total; ++k) {
        const mca_common_colltools_round_t round
            = mca_common_colltools_exchange_round(&rounds->plan, rounds->member, k);
        const needs_t window = {.receives = received[k % AHEAD]};
        needs.sends = sent[k % AHEAD];
        list_sends(list, round.send, rounds->peer_of(call, rounds->which, round.to), needs);
        list_receives(list, round.recv, rounds->peer_of(call, rounds->which, round.from), window);
        received[k % AHEAD] = needs.receives = schedule->receives.count;
        sent[k % AHEAD] = schedule->sends.count;
        if (deliver) {
            const needs_t all = {.receives = needs.receives};
            list_delivery(list, mca_coll_mleader_end_round, rounds->rounds_over, k + 1, call->area,
                          round.recv, all);
        }
    }
}

/* ---- aggregation ---- */

static void list_gather(const list_t *list)
{
    const mca_coll_mleader_call_t *call = list->call;
    const int *rank = call->grouping->groups.rank, begin = group_begin(call);
    mca_common_colltools_schedule_t *schedule = list->schedule;

    if (!call->grouping->leader) {
        const range_t own[PIECES] = {{position_of(call), position_of(call) + 1}, {0, 0}};
        list_sends(list, own, rank[begin], (needs_t){.steps = list->ready});
        return;
    }
    for (int x = begin + 1; x < group_end(call); ++x) {
        const uint32_t before = schedule->receives.count;
        list_piece(list, &schedule->receives, (range_t){x, x + 1}, rank[x],
                   (needs_t){.receives = before < AHEAD ? 0 : before + 1 - AHEAD});
    }
}

static void list_aggregation(list_t *list)
{
    const mca_coll_mleader_call_t *call = list->call;
    const needs_t nothing = {0};

    list_step(list, mca_coll_mleader_contribute, 0, 0, nothing);
    list->ready = list->schedule->steps;
    if (MCA_COLL_MLEADER_SHM == call->variant.aggregation) {
        if (call->grouping->leader) {
            list_step(list, mca_coll_mleader_await_group, group_begin(call) + 1, group_end(call),
                      nothing);
            list->ready = list->schedule->steps;
        }
        return;
    }
    if (MCA_COLL_MLEADER_GATHER == call->variant.aggregation) {
        list_gather(list);
    } else {
        const rounds_t rounds = rounds_in_group(call);
        list_rounds(list, &rounds, false);
    }
    if (call->grouping->leader && mca_coll_mleader_is_followed(call)) {
        list_step(list, mca_coll_mleader_open_lanes, 0, 0,
                  (needs_t){.receives = list->schedule->receives.count});
    }
}

/* ---- exchange ---- */

static void list_exchange(list_t *list)
{
    for (int lane = 0; lane < list->call->grouping->groups.lanes; ++lane) {
        if (mca_coll_mleader_is_mine(list->call, lane)) {
            const rounds_t rounds = rounds_of(list->call, lane);
            list_rounds(list, &rounds, true);
        }
    }
}

/* ---- distribution ---- */

/*
 * Adds the deliveries of the rounds of another leader's exchange, from the segment. `with_own`: the
 * first one is of the data that this leader had before the exchange.
 */
static void list_following(list_t *list, int lane, bool with_own)
{
    const mca_coll_mleader_call_t *call = list->call;
    const rounds_t rounds = rounds_of(call, lane);
    const int *first = rounds.plan.first + rounds.member;
    const int total = mca_common_colltools_exchange_rounds(&rounds.plan);
    const range_t own[PIECES] = {{first[0], with_own ? first[1] : first[0]}, {0, 0}};
    const needs_t nothing = {0};

    list_delivery(list, mca_coll_mleader_follow_round, rounds.rounds_over, 0, call->shared, own,
                  nothing);
    for (int k = 0; k < total; ++k) {
        const mca_common_colltools_round_t round
            = mca_common_colltools_exchange_round(&rounds.plan, rounds.member, k);
        list_delivery(list, mca_coll_mleader_follow_round, rounds.rounds_over, k + 1, call->shared,
                      round.recv, nothing);
    }
}

/*
 * Adds distribution by the segment. Ranks that have the data of their group by messages deliver it
 * from their own areas.
 */
static void list_reading(list_t *list)
{
    const mca_coll_mleader_call_t *call = list->call;
    const mca_coll_mleader_grouping_t *grouping = call->grouping;
    const int own = grouping->groups.lane[grouping->group];
    const bool has = has_group_data(call) && !grouping->leader;

    if (has) {
        const range_t group[PIECES] = {{group_begin(call), group_end(call)}, {0, 0}};
        list_delivery(list, mca_coll_mleader_end_round, NULL, 0, call->area, group,
                      (needs_t){.receives = list->schedule->receives.count});
    }
    for (int lane = 0; lane < grouping->groups.lanes; ++lane) {
        const bool wanted = call->variant.lanes ? !mca_coll_mleader_is_mine(call, lane)
                                                : lane == own && !grouping->leader;
        if (wanted) {
            list_following(list, lane, !(has && lane == own));
        }
    }
}

/* The positions that go down the tree: all, or those of other groups. */
static void find_news(const mca_coll_mleader_call_t *call, range_t *piece)
{
    const int ranks = call->grouping->groups.ranks;
    const bool has = has_group_data(call);

    piece[0] = (range_t){0, has ? group_begin(call) : ranks};
    piece[1] = (range_t){has ? group_end(call) : ranks, ranks};
}

/*
 * Adds distribution by messages down a binomial tree: member i has the children i + 1, i + 2,
 * i + 4, ..., below the lowest bit of i. Data from the parent may overwrite data that this rank
 * sends, so it is received when all sends so far are over. In lanes other leaders of the node write
 * to the same area, so a leader sends when the steps that wait for them are over.
 */
static void list_tree(list_t *list)
{
    const mca_coll_mleader_call_t *call = list->call;
    const mca_common_colltools_schedule_t *schedule = list->schedule;
    const int group = call->grouping->group, ranks = call->grouping->groups.ranks;
    const int members = group_end(call) - group_begin(call);
    const int member = position_of(call) - group_begin(call);
    range_t piece[PIECES];
    int bit = 1;

    while (bit < members && 0 == (member & bit)) {
        bit <<= 1;
    }
    find_news(call, piece);
    if (0 < member) {
        list_receives(list, piece, rank_in_group(call, group, member - bit),
                      (needs_t){.sends = schedule->sends.count});
    }
    const needs_t needs = {.receives = schedule->receives.count,
                           .steps = call->variant.lanes ? schedule->steps : list->ready};
    for (bit >>= 1; 0 < bit; bit >>= 1) {
        if (member + bit < members) {
            list_sends(list, piece, rank_in_group(call, group, member + bit), needs);
        }
    }
    if (0 < member) {
        const range_t all[PIECES] = {{0, ranks}, {0, 0}};
        list_delivery(list, mca_coll_mleader_end_round, NULL, 0, call->area, all,
                      (needs_t){.receives = needs.receives});
    }
}

void mca_coll_mleader_list(mca_coll_mleader_call_t *call, mca_coll_mleader_listing_t *listing)
{
    list_t list = {.call = call,
                   .schedule = &call->schedule,
                   .listing = listing,
                   .counts = NULL == call->schedule.step,
                   .together = contributions_in_message(call, call->length)};

    list_aggregation(&list);
    list_exchange(&list);
    const bool shared = mca_coll_mleader_is_shared(&call->variant);
    if (shared || (call->variant.lanes && call->grouping->leader)) {
        list_reading(&list);
    }
    if (!shared) {
        list_tree(&list);
    }
}
