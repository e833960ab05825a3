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
 * Tasks: what a block costs in a stream of blocks, as pipelines send them, an echo, and combining
 * two vectors of doubles, on all ranks at the same time, as in a collective call, so that the ranks
 * of a node share its memory.
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

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 8                /* blocks on their way, at most */
#define AHEAD_BYTES 262144.0   /* on their way, so many blocks but 2 at least */
#define STREAM_BYTES 2097152.0 /* of a repetition, if these are not too few or many blocks */
#define TIMES_AHEAD 4          /* blocks of a repetition, for each on its way */
#define STREAM_MOST 200
#define ECHOES 8               /* round trips of a repetition */
#define WORK_BYTES 4194304.0 /* of a repetition, so that it takes longer than a clock's tick */
#define TIMES_MOST 4096

enum { STREAM, ECHO };

typedef struct {
    int to, from; /* MPI_PROC_NULL: none */
    int blocks;   /* of a stream */
    int ahead;    /* of them, on their way */
    size_t bytes;
    unsigned char *out, *in; /* in: `ahead` blocks */
} link_t;

/* ---- who talks to whom */

/* To whom a rank sends in the ring of the scope; MPI_PROC_NULL: to nobody. */
static int next_of(const bench_world_t *world, bool inter, int rank)
{
    const int own = world->node[rank], wanted = inter ? (own + 1) % world->nodes : own;

    for (int i = rank + 1; i < world->size; ++i) {
        if (own == world->node[i]) {
            return inter ? MPI_PROC_NULL : i;
        }
    }
    for (int i = 0; i < world->size && (!inter || own != wanted); ++i) {
        if (i != rank && wanted == world->node[i]) {
            return i;
        }
    }
    return MPI_PROC_NULL;
}

/* The links of this rank: all of the ring, or those of the first rank that sends. False: nobody
 * does. */
static bool join(link_t *link, const kernel_work_t *work)
{
    const bench_world_t *world = work->world;
    const bool all = STREAM == work->kind->which && KERNEL_ALL == work->problem.direction;
    int first = -1;

    link->to = link->from = MPI_PROC_NULL;
    for (int i = 0; i < world->size; ++i) {
        const int to = next_of(world, KERNEL_INTER == work->problem.scope, i);

        first = 0 > first && MPI_PROC_NULL != to ? i : first;
        if (MPI_PROC_NULL != to && (all || i == first)) {
            link->to = i == world->rank ? to : link->to;
            link->from = to == world->rank ? i : link->from;
        }
    }
    return 0 <= first;
}

/* ---- the data */

/* `bytes` cut into blocks of the link, within bounds. */
static int blocks_of(const link_t *link, double bytes, int least, int most)
{
    const double blocks = bytes / (double) (0 == link->bytes ? 1 : link->bytes);

    return blocks < least ? least : blocks > most ? most : (int) blocks;
}

static void destroy_link(kernel_work_t *work)
{
    link_t *link = work->data;

    free(link->out);
    free(link->in);
    free(link);
}

static bool create_link(kernel_work_t *work, char *error)
{
    const size_t bytes = work->problem.bytes;
    link_t *link;

    if (KERNEL_RANK == work->problem.scope) {
        snprintf(error, KERNEL_NOTE, "scope=rank: expected inter or intra of %s", work->kind->name);
        return false;
    }
    link = work->data = kernel_alloc(1, sizeof(*link));
    if (!join(link, work)) {
        snprintf(error, KERNEL_NOTE, "%s", KERNEL_INTER == work->problem.scope
                                               ? "all ranks are on one node"
                                               : "no node has two ranks");
        destroy_link(work);
        return false;
    }
    link->bytes = bytes;
    link->ahead = blocks_of(link, AHEAD_BYTES, 2, AHEAD);
    link->blocks = blocks_of(link, STREAM_BYTES, TIMES_AHEAD * link->ahead, STREAM_MOST);
    link->out = kernel_alloc(bytes, 1);
    link->in = kernel_alloc((size_t) link->ahead * bytes, 1);
    memset(link->out, 1, bytes); /* so that it has pages of its own */
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

/* Begins the next block at this place, if there is one: no send before as many receives. */
static void advance(flow_t *flow, int place)
{
    const link_t *link = flow->link;
    const int bytes = (int) link->bytes;

    if (AHEAD > place && 0 < flow->to_receive) {
        MPI_Irecv(link->in + (size_t) place * link->bytes, bytes, MPI_BYTE, link->from, 0,
                  flow->comm, &flow->requests[place]);
        --flow->to_receive;
    } else if (AHEAD <= place && flow->to_receive < flow->to_send) {
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
 * takes its place. A rank that receives sends a block for each received one, as in a ring: a send
 * is over when its block is buffered, and a rank that sent all of them first would receive what is
 * there already. The time is that from the end of the first ones to the last: blocks on their way
 * share the link, so that they may end together.
 */
static void run_stream(kernel_work_t *work, MPI_Comm comm, double *seconds)
{
    const link_t *link = work->data;
    flow_t flow = begin_flow(link, comm);
    double first = 0.0, last = 0.0;
    int received = 0, i;

    for (;;) {
        MPI_Waitany(2 * AHEAD, flow.requests, &i, MPI_STATUS_IGNORE);
        if (MPI_UNDEFINED == i) {
            break;
        }
        if (AHEAD > i) {
            last = MPI_Wtime();
            first = link->ahead == ++received ? last : first;
            advance(&flow, i);
        }
        for (int place = AHEAD; place < AHEAD + link->ahead; ++place) {
            if (MPI_REQUEST_NULL == flow.requests[place]) {
                advance(&flow, place);
            }
        }
    }
    *seconds = 0 < received ? (last - first) / (received - link->ahead) : 0.0;
}

/* ---- echoes */

static void run_echo(kernel_work_t *work, MPI_Comm comm, double *seconds)
{
    const link_t *link = work->data;
    const int bytes = (int) link->bytes, peer = MPI_PROC_NULL != link->to ? link->to : link->from;
    const double start = MPI_Wtime();

    for (int i = 0; i < 2 * ECHOES && MPI_PROC_NULL != peer; ++i) {
        if ((peer == link->to) == (0 == i % 2)) {
            MPI_Send(link->out, bytes, MPI_BYTE, peer, 0, comm);
        } else {
            MPI_Recv(link->in, bytes, MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE);
        }
    }
    *seconds = MPI_PROC_NULL != link->to ? (MPI_Wtime() - start) / (2 * ECHOES) : 0.0;
}

/* ---- combining */

typedef struct {
    int times; /* operations of a repetition */
    int count; /* of doubles */
    double *values, *sums;
} local_t;

static void destroy_local(kernel_work_t *work)
{
    local_t *local = work->data;

    free(local->values);
    free(local->sums);
    free(local);
}

static bool create_local(kernel_work_t *work, char *error)
{
    const size_t count = work->problem.bytes / sizeof(double);
    local_t *local;

    if (0 == count) {
        snprintf(error, KERNEL_NOTE, "bytes=%zu: expected 8 at least", work->problem.bytes);
        return false;
    }
    local = work->data = kernel_alloc(1, sizeof(*local));
    local->count = (int) count;
    local->times = (int) fmin(TIMES_MOST, fmax(1.0, WORK_BYTES / (double) work->problem.bytes));
    local->values = kernel_alloc(count, sizeof(double));
    local->sums = kernel_alloc(count, sizeof(double));
    for (size_t i = 0; i < count; ++i) {
        local->values[i] = local->sums[i] = 1.0;
    }
    return true;
}

static void run_combine(kernel_work_t *work, MPI_Comm comm, double *seconds)
{
    const local_t *local = work->data;
    const double start = MPI_Wtime();

    (void) comm;
    for (int i = 0; i < local->times; ++i) {
        MPI_Reduce_local(local->values, local->sums, local->count, MPI_DOUBLE, MPI_SUM);
    }
    *seconds = (MPI_Wtime() - start) / local->times;
}

#define LINK(name, which, run) {name, which, create_link, destroy_link, NULL, run, NULL}

const kernel_kind_t kernel_tasks[]
    = {LINK("stream", STREAM, run_stream),
       LINK("echo", ECHO, run_echo),
       {"combine", 0, create_local, destroy_local, NULL, run_combine, NULL},
       {NULL, 0, NULL, NULL, NULL, NULL, NULL}};
