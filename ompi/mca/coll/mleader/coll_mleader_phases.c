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
 * The phases of a slice, with all their variants.
 *
 *     aggregate    shared memory: every rank writes, the leader waits for all
 *                  gather: every rank sends to the leader
 *                  recursive doubling, ring: an exchange among the ranks of the group
 *     exchange     recursive doubling, Bruck or ring among leaders, of all groups, or in
 *                  lanes: each leader among those of its number, so that a byte enters a
 *                  node once; after each round the ranks of the node are told
 *     distribute   shared memory: ranks copy what a round brought while the next one is
 *                  under way; messages: from the leader down a binomial tree, only
 *                  what is new where the group has its own data
 *
 * Cost of the exchange: see common_irregular_exchange.c. Limits: lanes want shared
 * memory.
 *
 * Kandalla et al. 4.3.
 */

#include "coll_mleader.h"

#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

enum { PIECES = MCA_COMMON_IRREGULAR_PIECES, MESSAGES = MCA_COLL_MLEADER_MESSAGES };

/* Rounds that receives are posted ahead, and that sends may be pending. */
#define AHEAD 8

static uint64_t progress_of(const mca_coll_mleader_call_t *call, int rounds)
{
    return mca_coll_mleader_progress(call->topology->slice, rounds);
}

/* ---- messages ---- */

static void count_message(const mca_coll_mleader_call_t *call, int peer, size_t bytes)
{
    const mca_coll_mleader_groups_t *groups = &call->grouping->groups;
    mca_coll_mleader_counters_t *counters = &mca_coll_mleader_component.counters;
    const int group = groups->group[groups->position[peer]];
    const bool within = groups->node[group] == call->grouping->node;

    mca_common_irregular_count(within ? &counters->messages_within : &counters->messages_between,
                               1);
    mca_common_irregular_count(within ? &counters->bytes_within : &counters->bytes_between, bytes);
}

static size_t bytes_of(const mca_coll_mleader_call_t *call, mca_common_irregular_range_t range)
{
    return (size_t) (range.to - range.from) * call->length;
}

static int start_send(const mca_coll_mleader_call_t *call, mca_common_irregular_range_t range,
                      int peer, ompi_request_t **request)
{
    const size_t bytes = bytes_of(call, range);

    *request = MPI_REQUEST_NULL;
    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    count_message(call, peer, bytes);
    return MCA_PML_CALL(isend(call->area + (size_t) range.from * call->length, bytes, MPI_BYTE,
                              peer, MCA_COLL_BASE_TAG_ALLGATHER, MCA_PML_BASE_SEND_STANDARD,
                              call->comm, request));
}

static int start_recv(const mca_coll_mleader_call_t *call, mca_common_irregular_range_t range,
                      int peer, ompi_request_t **request)
{
    const size_t bytes = bytes_of(call, range);

    *request = MPI_REQUEST_NULL;
    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    return MCA_PML_CALL(irecv(call->area + (size_t) range.from * call->length, bytes, MPI_BYTE,
                              peer, MCA_COLL_BASE_TAG_ALLGATHER, call->comm, request));
}

/* After an error: memory that a message may still touch stays where it is. */
static void abandon(mca_coll_mleader_call_t *call, ompi_request_t **requests, int count,
                    bool receives)
{
    call->pending |= mca_common_irregular_abandon(requests, 0, (uint64_t) count, (unsigned) count,
                                                  receives);
}

/*
 * What has been started, with error `rc` or none, comes to its end; `bytes` [count] are those of
 * receives, NULL: these are sends.
 */
static int finish(mca_coll_mleader_call_t *call, ompi_request_t **requests, const size_t *bytes,
                  int count, int rc)
{
    if (OMPI_SUCCESS == rc) {
        rc = mca_common_irregular_wait_all(&call->caller, requests, bytes, count);
    }
    if (OMPI_SUCCESS != rc) {
        abandon(call, requests, count, NULL != bytes);
    }
    return rc;
}

/* ---- rounds ---- */

/* Messages of a round in one direction. */
typedef struct messages_t {
    ompi_request_t *request[MESSAGES];
    size_t bytes[MESSAGES];
    int count;
} messages_t;

/* An exchange of one rank: with whom, and who is told of it. */
typedef struct rounds_t {
    mca_common_irregular_exchange_t plan;
    int member; /* which of them this rank is */
    int (*peer_of)(const mca_coll_mleader_call_t *call, int which, int member);
    int which;  /* lane, or group: for peer_of */
    mca_coll_mleader_counter_t *told; /* NULL: nobody */
    bool deliver;
    messages_t in[AHEAD], out[AHEAD];
} rounds_t;

typedef int start_fn_t(const mca_coll_mleader_call_t *call, mca_common_irregular_range_t range,
                       int peer, ompi_request_t **request);

/* Starts the messages that a piece is moved in, of whole contributions. */
static int start_piece(const mca_coll_mleader_call_t *call, start_fn_t *start,
                       mca_common_irregular_range_t piece, int peer, messages_t *messages)
{
    const size_t fit = call->message_size / call->length;
    const int most = fit < (size_t) call->topology->ranks ? (int) fit : call->topology->ranks;
    int rc = OMPI_SUCCESS;

    for (int from = piece.from; from < piece.to && OMPI_SUCCESS == rc; ++messages->count) {
        const int to = piece.to - from > most ? from + most : piece.to;
        const mca_common_irregular_range_t range = {from, to};
        messages->bytes[messages->count] = bytes_of(call, range);
        rc = start(call, range, peer, &messages->request[messages->count]);
        from = to;
    }
    return rc;
}

static int wait_for_messages(const mca_coll_mleader_call_t *call, messages_t *messages,
                             bool receives)
{
    return mca_common_irregular_wait_all(&call->caller, messages->request,
                                         receives ? messages->bytes : NULL, messages->count);
}

static int deliver_pieces(mca_coll_mleader_call_t *call, const char *area,
                          const mca_common_irregular_range_t *piece)
{
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < PIECES && OMPI_SUCCESS == rc; ++i) {
        rc = mca_coll_mleader_deliver(call, area, piece[i].from, piece[i].to);
    }
    return rc;
}

static int post_round(const mca_coll_mleader_call_t *call, rounds_t *rounds, int k)
{
    const mca_common_irregular_round_t round
        = mca_common_irregular_exchange_round(&rounds->plan, rounds->member, k);
    const int peer = rounds->peer_of(call, rounds->which, round.from);
    messages_t *messages = &rounds->in[k % AHEAD];
    int rc = OMPI_SUCCESS;

    messages->count = 0;
    for (int i = 0; i < PIECES && OMPI_SUCCESS == rc; ++i) {
        rc = start_piece(call, start_recv, round.recv[i], peer, messages);
    }
    return rc;
}

static int send_round(const mca_coll_mleader_call_t *call, rounds_t *rounds,
                      const mca_common_irregular_round_t *round, int k)
{
    const int peer = rounds->peer_of(call, rounds->which, round->to);
    messages_t *messages = &rounds->out[k % AHEAD];
    int rc = wait_for_messages(call, messages, false);

    if (OMPI_SUCCESS == rc) {
        messages->count = 0;
    }
    for (int i = 0; i < PIECES && OMPI_SUCCESS == rc; ++i) {
        rc = start_piece(call, start_send, round->send[i], peer, messages);
    }
    return rc;
}

/* Sends, brings what came before to the user meanwhile, and waits for what comes. */
static int move_round(mca_coll_mleader_call_t *call, rounds_t *rounds,
                      mca_common_irregular_range_t *before, int k)
{
    const mca_common_irregular_round_t round
        = mca_common_irregular_exchange_round(&rounds->plan, rounds->member, k);
    int rc = send_round(call, rounds, &round, k);

    if (OMPI_SUCCESS == rc && rounds->deliver) {
        rc = deliver_pieces(call, call->area, before);
    }
    if (OMPI_SUCCESS == rc) {
        rc = wait_for_messages(call, &rounds->in[k % AHEAD], true);
    }
    if (OMPI_SUCCESS == rc && NULL != rounds->told) {
        mca_coll_mleader_set(rounds->told, progress_of(call, k + 1));
    }
    for (int i = 0; i < PIECES; ++i) {
        before[i] = round.recv[i];
    }
    return rc;
}

static void begin_rounds(rounds_t *rounds)
{
    for (int i = 0; i < AHEAD; ++i) {
        rounds->in[i].count = rounds->out[i].count = 0;
    }
}

/* Waits for what is sent, or lets go of everything after an error. */
static int end_rounds(mca_coll_mleader_call_t *call, rounds_t *rounds, int rc)
{
    for (int i = 0; i < AHEAD && OMPI_SUCCESS == rc; ++i) {
        rc = wait_for_messages(call, &rounds->out[i], false);
    }
    for (int i = 0; i < AHEAD && OMPI_SUCCESS != rc; ++i) {
        abandon(call, rounds->in[i].request, rounds->in[i].count, true);
        abandon(call, rounds->out[i].request, rounds->out[i].count, false);
    }
    return rc;
}

static int run_rounds(mca_coll_mleader_call_t *call, rounds_t *rounds)
{
    const int *first = rounds->plan.first;
    const int total = mca_common_irregular_exchange_rounds(&rounds->plan);
    mca_common_irregular_range_t before[PIECES]
        = {{first[rounds->member], first[rounds->member + 1]}, {0, 0}};
    int rc = OMPI_SUCCESS, posted = 0;

    begin_rounds(rounds);
    for (int k = 0; k < total && OMPI_SUCCESS == rc; ++k) {
        for (; posted < total && posted < k + AHEAD && OMPI_SUCCESS == rc; ++posted) {
            rc = post_round(call, rounds, posted);
        }
        if (OMPI_SUCCESS == rc) {
            rc = move_round(call, rounds, before, k);
        }
    }
    if (OMPI_SUCCESS == rc && rounds->deliver) {
        rc = deliver_pieces(call, call->area, before);
    }
    return end_rounds(call, rounds, rc);
}

/* ---- aggregation ---- */

static int group_begin(const mca_coll_mleader_call_t *call)
{
    return call->grouping->groups.first[call->grouping->group];
}

static int group_end(const mca_coll_mleader_call_t *call)
{
    return call->grouping->groups.first[call->grouping->group + 1];
}

static int aggregate_shm(mca_coll_mleader_call_t *call)
{
    mca_coll_mleader_topology_t *topology = call->topology;
    const uint64_t done = mca_coll_mleader_written(topology->slice);
    int rc = mca_coll_mleader_put_own(call, call->shared);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    mca_coll_mleader_set(&topology->written[topology->index[ompi_comm_rank(call->comm)]], done);
    for (int x = group_begin(call);
         call->grouping->leader && x < group_end(call) && OMPI_SUCCESS == rc; ++x) {
        const int rank = call->grouping->groups.rank[x];
        rc = mca_coll_mleader_wait_for(call, &topology->written[topology->index[rank]], done);
    }
    return rc;
}

static int send_to_leader(mca_coll_mleader_call_t *call)
{
    const mca_coll_mleader_groups_t *groups = &call->grouping->groups;
    const int x = groups->position[ompi_comm_rank(call->comm)];
    ompi_request_t *request;
    const int rc = start_send(call, (mca_common_irregular_range_t){x, x + 1},
                              groups->rank[group_begin(call)], &request);

    return finish(call, &request, NULL, 1, rc);
}

/* A few at a time, in their order. */
static int receive_from_children(mca_coll_mleader_call_t *call)
{
    ompi_request_t *request[AHEAD];
    size_t bytes[AHEAD];
    int rc = OMPI_SUCCESS;

    for (int x = group_begin(call) + 1; x < group_end(call) && OMPI_SUCCESS == rc;) {
        int count = 0;
        for (; count < AHEAD && x < group_end(call) && OMPI_SUCCESS == rc; ++count, ++x) {
            bytes[count] = call->length;
            rc = start_recv(call, (mca_common_irregular_range_t){x, x + 1},
                            call->grouping->groups.rank[x], &request[count]);
        }
        rc = finish(call, request, bytes, count, rc);
    }
    return rc;
}

static int rank_in_group(const mca_coll_mleader_call_t *call, int group, int member)
{
    return call->grouping->groups.rank[call->grouping->groups.first[group] + member];
}

/* Members of a group are its positions, one after the other. */
static int exchange_in_group(mca_coll_mleader_call_t *call)
{
    const mca_coll_mleader_grouping_t *grouping = call->grouping;
    const int me = grouping->groups.position[ompi_comm_rank(call->comm)];
    const bool ring = MCA_COLL_MLEADER_GROUP_RING == call->variant.aggregation;
    rounds_t rounds = {.plan = {.count = group_end(call) - group_begin(call),
                                .first = call->topology->identity + group_begin(call),
                                .algorithm = ring ? MCA_COMMON_IRREGULAR_RING
                                                  : MCA_COMMON_IRREGULAR_DOUBLING},
                       .member = me - group_begin(call),
                       .peer_of = rank_in_group,
                       .which = grouping->group};

    return run_rounds(call, &rounds);
}

int mca_coll_mleader_aggregate(mca_coll_mleader_call_t *call)
{
    if (MCA_COLL_MLEADER_SHM == call->variant.aggregation) {
        return aggregate_shm(call);
    }
    const int rc = mca_coll_mleader_put_own(call, call->area);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (MCA_COLL_MLEADER_GATHER != call->variant.aggregation) {
        return exchange_in_group(call);
    }
    return call->grouping->leader ? receive_from_children(call) : send_to_leader(call);
}

/* ---- exchange ---- */

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

/* The exchange of a lane, or the one of all leaders, which is followed as the group's own. */
static rounds_t rounds_of(const mca_coll_mleader_call_t *call, int lane)
{
    const mca_coll_mleader_topology_t *topology = call->topology;
    const mca_coll_mleader_grouping_t *grouping = call->grouping;
    const mca_coll_mleader_groups_t *groups = &grouping->groups;
    const bool lanes = call->variant.lanes;

    return (rounds_t){.plan = {.count = lanes ? groups->nodes : groups->groups,
                               .first = lanes ? grouping->lane_first + lane * (groups->nodes + 1)
                                              : groups->first,
                               .algorithm = call->variant.exchange},
                      .member = lanes ? grouping->node : grouping->group,
                      .peer_of = lanes ? leader_in_lane : leader_of_group,
                      .which = lane,
                      .told = topology->shared ? &topology->progress[grouping->counter + lane]
                                               : NULL,
                      .deliver = true};
}

/* Lanes that this rank takes part in: its own, or some of a node with fewer leaders. */
static bool is_mine(const mca_coll_mleader_call_t *call, int lane)
{
    const mca_coll_mleader_grouping_t *grouping = call->grouping;

    return grouping->leader
           && (call->variant.lanes
                   ? grouping->group == mca_coll_mleader_group_at(&grouping->groups, grouping->node,
                                                                  lane)
                   : lane == grouping->groups.lane[grouping->group]);
}

int mca_coll_mleader_exchange(mca_coll_mleader_call_t *call)
{
    int rc = OMPI_SUCCESS;

    for (int lane = 0; lane < call->grouping->groups.lanes && OMPI_SUCCESS == rc; ++lane) {
        if (is_mine(call, lane)) {
            rounds_t rounds = rounds_of(call, lane);
            if (NULL != rounds.told) {
                mca_coll_mleader_set(rounds.told, progress_of(call, 0));
            }
            rc = run_rounds(call, &rounds);
        }
    }
    return rc;
}

/* ---- distribution ---- */

static bool has_group_data(const mca_coll_mleader_call_t *call)
{
    return MCA_COLL_MLEADER_GROUP_DOUBLING == call->variant.aggregation
           || MCA_COLL_MLEADER_GROUP_RING == call->variant.aggregation;
}

/* Copies out what a lane's leader has got, round by round. */
static int follow(mca_coll_mleader_call_t *call, int lane, bool with_own)
{
    const rounds_t rounds = rounds_of(call, lane);
    const int total = mca_common_irregular_exchange_rounds(&rounds.plan);
    int rc = mca_coll_mleader_wait_for(call, rounds.told, progress_of(call, 0));

    if (OMPI_SUCCESS == rc && with_own) {
        rc = mca_coll_mleader_deliver(call, call->shared, rounds.plan.first[rounds.member],
                                      rounds.plan.first[rounds.member + 1]);
    }
    for (int k = 0; k < total && OMPI_SUCCESS == rc; ++k) {
        const mca_common_irregular_round_t round
            = mca_common_irregular_exchange_round(&rounds.plan, rounds.member, k);
        rc = mca_coll_mleader_wait_for(call, rounds.told, progress_of(call, k + 1));
        if (OMPI_SUCCESS == rc) {
            rc = deliver_pieces(call, call->shared, round.recv);
        }
    }
    return rc;
}

/* What the group has itself is where its ranks put it. */
static int read_shared(mca_coll_mleader_call_t *call)
{
    const mca_coll_mleader_grouping_t *grouping = call->grouping;
    const int own = grouping->groups.lane[grouping->group];
    const bool has = has_group_data(call) && !grouping->leader;
    int rc = OMPI_SUCCESS;

    if (has) {
        rc = mca_coll_mleader_deliver(call, call->area, group_begin(call), group_end(call));
    }
    for (int lane = 0; lane < grouping->groups.lanes && OMPI_SUCCESS == rc; ++lane) {
        const bool wanted = call->variant.lanes ? !is_mine(call, lane)
                                                : lane == own && !grouping->leader;
        if (wanted) {
            rc = follow(call, lane, !(has && lane == own));
        }
    }
    return rc;
}

/* What goes down the tree: all, or what is not the group's. */
static void find_news(const mca_coll_mleader_call_t *call, mca_common_irregular_range_t *piece)
{
    const int ranks = call->grouping->groups.ranks;
    const bool has = has_group_data(call);

    piece[0] = (mca_common_irregular_range_t){0, has ? group_begin(call) : ranks};
    piece[1] = (mca_common_irregular_range_t){has ? group_end(call) : ranks, ranks};
}

static int receive_news(mca_coll_mleader_call_t *call, const mca_common_irregular_range_t *piece,
                        int parent)
{
    ompi_request_t *request[PIECES] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    size_t bytes[PIECES];
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < PIECES && OMPI_SUCCESS == rc; ++i) {
        bytes[i] = bytes_of(call, piece[i]);
        rc = start_recv(call, piece[i], parent, &request[i]);
    }
    return finish(call, request, bytes, PIECES, rc);
}

/* Member i of a binomial tree has children i + 1, i + 2, i + 4 ... below its lowest bit. */
static int send_news(mca_coll_mleader_call_t *call, const mca_common_irregular_range_t *piece,
                     int member, int bit)
{
    const int members = group_end(call) - group_begin(call);
    ompi_request_t *request[sizeof(int) * 8 * PIECES];
    int count = 0, rc = OMPI_SUCCESS;

    for (bit >>= 1; 0 < bit && OMPI_SUCCESS == rc; bit >>= 1) {
        for (int i = 0; member + bit < members && i < PIECES && OMPI_SUCCESS == rc; ++i) {
            rc = start_send(call, piece[i],
                            rank_in_group(call, call->grouping->group, member + bit),
                            &request[count++]);
        }
    }
    return finish(call, request, NULL, count, rc);
}

static int pass_messages(mca_coll_mleader_call_t *call)
{
    const mca_coll_mleader_grouping_t *grouping = call->grouping;
    const int members = group_end(call) - group_begin(call);
    const int member = grouping->groups.position[ompi_comm_rank(call->comm)] - group_begin(call);
    mca_common_irregular_range_t piece[PIECES];
    int bit = 1, rc = OMPI_SUCCESS;

    while (bit < members && 0 == (member & bit)) {
        bit <<= 1;
    }
    find_news(call, piece);
    if (0 < member) {
        rc = receive_news(call, piece, rank_in_group(call, grouping->group, member - bit));
    }
    if (OMPI_SUCCESS == rc) {
        rc = send_news(call, piece, member, bit);
    }
    if (OMPI_SUCCESS == rc && 0 < member) {
        rc = mca_coll_mleader_deliver(call, call->area, 0, grouping->groups.ranks);
    }
    return rc;
}

int mca_coll_mleader_distribute(mca_coll_mleader_call_t *call)
{
    int rc = OMPI_SUCCESS;

    if (call->variant.shm_out || (call->variant.lanes && call->grouping->leader)) {
        rc = read_shared(call);
    }
    if (OMPI_SUCCESS == rc && !call->variant.shm_out) {
        rc = pass_messages(call);
    }
    return rc;
}
