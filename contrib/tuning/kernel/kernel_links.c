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
 * Tasks between ranks: what a block costs in a stream of blocks, as pipelines send them, and an
 * echo.
 *
 * The ranks of a node stand together, as in the ring of coll/pipering: between nodes, the last
 * rank of a node sends to the first of the next node.
 *
 *     stream, inter, all     [ 0  1  2 ]---->[ 3  4  5 ]---->[ 6  7  8 ]----> 0
 *     stream, intra, all     [ 0->1->2-> ]   [ 3->4->5-> ]   [ 6->7->8-> ]
 *     stream, one            the first of these links
 *     echo                   the first and second node or rank
 */

#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#define AHEAD 8                /* blocks on their way, at most */
#define AHEAD_BYTES 262144.0   /* on their way, so many blocks but 2 at least */
#define STREAM_BYTES 2097152.0 /* of a repetition, if these are not too few or many blocks */
#define TIMES_AHEAD 4          /* blocks of a repetition, for each on its way */
#define STREAM_MOST 200
#define ECHOES 8               /* round trips of a repetition */

enum { STREAM, ECHO };

typedef struct {
    int to, from; /* MPI_PROC_NULL: none */
    bool leads;   /* of an echo: sends first */
    int blocks;   /* of a stream */
    int ahead;    /* of them, on their way */
    size_t bytes;
    unsigned char *out, *in; /* in: `ahead` blocks */
    int used;                /* blocks of `in` that hold something */
} link_t;

/* ---- who talks to whom */

/* The members of a ring of the scope: [count] ranks that receive, and that send, for it. */
typedef struct {
    int count;
    int *first, *last;
} members_t;

/* Nodes, or the ranks of a node. */
static void list_members(const bench_world_t *world, kernel_scope_t scope, int node,
                         members_t *members)
{
    for (int i = 0; i < world->size; ++i) {
        if (KERNEL_INTRA == scope && node == world->node[i]) {
            members->first[members->count] = members->last[members->count] = i;
            ++members->count;
        } else if (KERNEL_INTER == scope) {
            const int k = world->node[i];

            members->first[k] = k < members->count ? members->first[k] : i;
            members->last[k] = i;
            members->count = k < members->count ? members->count : k + 1;
        }
    }
}

static void join_stream(link_t *link, const members_t *members, int rank, int direction)
{
    const int count = members->count;

    for (int k = 0; k < count; ++k) {
        const int next = (k + 1) % count;
        const bool used = KERNEL_ALL == direction || 0 == k;

        if (used && rank == members->last[k]) {
            link->to = members->first[next];
        }
        if (used && rank == members->first[next]) {
            link->from = members->last[k];
        }
    }
}

static void join_echo(link_t *link, const members_t *members, int rank)
{
    if (rank == members->last[0] || rank == members->first[1]) {
        link->leads = rank == members->last[0];
        link->to = link->from = link->leads ? members->first[1] : members->last[0];
    }
}

/* The node whose ranks this rank's links are among; the first one that has two if only one
 * pair is wanted. */
static int choose_node(const bench_world_t *world, int direction)
{
    for (int i = 0; KERNEL_ALL != direction && i < world->size; ++i) {
        for (int k = 0; k < i; ++k) {
            if (world->node[i] == world->node[k]) {
                return world->node[i];
            }
        }
    }
    return world->node[world->rank];
}

static bool is_there(const bench_world_t *world, kernel_scope_t scope, char *error)
{
    if (KERNEL_INTER == scope ? 1 < world->nodes : world->nodes < world->size) {
        return true;
    }
    snprintf(error, KERNEL_NOTE, KERNEL_INTER == scope ? "all ranks are on one node"
                                                       : "no node has two ranks");
    return false;
}

/* False: no memory. */
static bool join(link_t *link, const kernel_work_t *work)
{
    const bench_world_t *world = work->world;
    const kernel_scope_t scope = (kernel_scope_t) work->problem.scope;
    const int direction = work->problem.direction;
    int *ranks = calloc(2 * (size_t) world->size, sizeof(*ranks));
    members_t members = {0, ranks, NULL == ranks ? NULL : ranks + world->size};

    link->to = link->from = MPI_PROC_NULL;
    if (NULL == ranks) {
        return false;
    }
    list_members(world, scope, choose_node(world, direction), &members);
    if (1 < members.count && STREAM == work->kind->which) {
        join_stream(link, &members, world->rank, direction);
    } else if (1 < members.count) {
        join_echo(link, &members, world->rank);
    }
    free(ranks);
    return true;
}

/* ---- the data */

/* `bytes` cut into blocks of the link, within bounds. */
static int blocks_of(const link_t *link, double bytes, int least, int most)
{
    const double blocks = bytes / (double) (0 == link->bytes ? 1 : link->bytes);

    return blocks < least ? least : blocks > most ? most : (int) blocks;
}

static void destroy(kernel_work_t *work)
{
    link_t *link = work->data;

    free(link->out);
    free(link->in);
    free(link);
}

static bool create(kernel_work_t *work, char *error)
{
    const size_t bytes = work->problem.bytes;
    link_t *link;

    if (KERNEL_RANK == work->problem.scope) {
        snprintf(error, KERNEL_NOTE, "scope=rank: expected inter or intra of %s", work->kind->name);
        return false;
    }
    if (!is_there(work->world, (kernel_scope_t) work->problem.scope, error)) {
        return false;
    }
    link = work->data = calloc(1, sizeof(*link));
    snprintf(error, KERNEL_NOTE, "no memory for blocks of %zu bytes", bytes);
    if (NULL == link) {
        return false;
    }
    link->bytes = bytes;
    link->ahead = blocks_of(link, AHEAD_BYTES, 2, AHEAD);
    link->blocks = blocks_of(link, STREAM_BYTES, TIMES_AHEAD * link->ahead, STREAM_MOST);
    link->out = malloc(bytes + 1);
    link->in = malloc((size_t) link->ahead * bytes + 1);
    if (NULL == link->out || NULL == link->in || !join(link, work)) {
        destroy(work);
        return false;
    }
    return true;
}

static void fill(kernel_work_t *work, uint64_t sample)
{
    link_t *link = work->data;

    kernel_pattern(link->out, link->bytes, work->world->rank, sample);
    memset(link->in, 0, (size_t) link->ahead * link->bytes);
    link->used = 0;
}

static bool verify(kernel_work_t *work, uint64_t sample, char *error)
{
    const link_t *link = work->data;

    for (int i = 0; i < link->used; ++i) {
        if (!kernel_pattern_right(link->in + (size_t) i * link->bytes, link->bytes, link->from,
                                  sample)) {
            snprintf(error, KERNEL_NOTE, "block %d from rank %d is wrong", i, link->from);
            return false;
        }
    }
    return true;
}

/* ---- streams */

/* The requests of a stream: AHEAD receives, then AHEAD sends. */
typedef struct {
    const link_t *link;
    MPI_Comm comm;
    int to_receive, to_send; /* blocks that are not begun yet */
    MPI_Request requests[2 * AHEAD];
} flow_t;

/* Begins the next block at this place, if there is one. */
static void advance(flow_t *flow, int place)
{
    const link_t *link = flow->link;
    const int bytes = (int) link->bytes;

    if (AHEAD > place && 0 < flow->to_receive) {
        MPI_Irecv(link->in + (size_t) place * link->bytes, bytes, MPI_BYTE, link->from, 0,
                  flow->comm, &flow->requests[place]);
        --flow->to_receive;
    } else if (AHEAD <= place && 0 < flow->to_send) {
        MPI_Isend(link->out, bytes, MPI_BYTE, link->to, 0, flow->comm, &flow->requests[place]);
        --flow->to_send;
    }
}

static flow_t begin_flow(const link_t *link, MPI_Comm comm)
{
    flow_t flow = {.link = link,
                   .comm = comm,
                   .to_receive = MPI_PROC_NULL == link->from ? 0 : link->blocks,
                   .to_send = MPI_PROC_NULL == link->to ? 0 : link->blocks};

    for (int i = 0; i < 2 * AHEAD; ++i) {
        flow.requests[i] = MPI_REQUEST_NULL;
    }
    for (int i = 0; i < link->ahead; ++i) {
        advance(&flow, i);
        advance(&flow, AHEAD + i);
    }
    return flow;
}

/*
 * All receives and sends that may be on their way are begun; whenever one is over, the next one
 * takes its place. The time is that from the end of the first ones to the last: blocks on their
 * way share the link, so that they may end together.
 */
static void run_stream(kernel_work_t *work, MPI_Comm comm, double *seconds)
{
    link_t *link = work->data;
    flow_t flow = begin_flow(link, comm);
    double first = 0.0, last = 0.0;
    int received = 0, i;

    for (;;) {
        MPI_Waitany(2 * AHEAD, flow.requests, &i, MPI_STATUS_IGNORE);
        if (MPI_UNDEFINED == i) {
            break;
        }
        if (AHEAD > i) {
            last = kernel_time_now();
            first = link->ahead == ++received ? last : first;
        }
        advance(&flow, i);
    }
    link->used = 0 < received ? link->ahead : 0;
    *seconds = 0 < received ? (last - first) / (received - link->ahead) : 0.0;
}

/* ---- echoes */

static void run_echo(kernel_work_t *work, MPI_Comm comm, double *seconds)
{
    link_t *link = work->data;
    const int bytes = (int) link->bytes;
    double start;

    *seconds = 0.0;
    if (MPI_PROC_NULL == link->to) {
        return;
    }
    start = kernel_time_now();
    for (int i = 0; i < 2 * ECHOES; ++i) {
        if (link->leads != (1 == i % 2)) {
            MPI_Send(link->out, bytes, MPI_BYTE, link->to, 0, comm);
        } else {
            MPI_Recv(link->in, bytes, MPI_BYTE, link->from, 0, comm, MPI_STATUS_IGNORE);
        }
    }
    link->used = 1;
    *seconds = link->leads ? (kernel_time_now() - start) / (2 * ECHOES) : 0.0;
}

#define LINK(name, which, run) {name, which, create, destroy, fill, run, verify}

const kernel_kind_t kernel_links[] = {LINK("stream", STREAM, run_stream),
                                      LINK("echo", ECHO, run_echo),
                                      {NULL, 0, NULL, NULL, NULL, NULL, NULL}};
