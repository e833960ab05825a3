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
 * An exchange laid down and run: by hand, a packed message for each peer, or by
 * MPI_Alltoallw with a type for each.
 *
 * By hand receives are posted first, then each part is packed and sent, then what the rank
 * keeps is copied without packing, then what has come is unpacked, when all of it is there.
 * Peers are met in the order rank + 1, rank + 2, ..., so that not all ranks send to the same one
 * first.
 */

#include "app_exchange.h"

#include "by_hand.h"

#include <stdlib.h>
#include <string.h>

#define TAG 7

bool app_exchange_begin(app_exchange_t *exchange, MPI_Comm comm, int parts)
{
    size_t size;

    memset(exchange, 0, sizeof(*exchange));
    exchange->comm = comm;
    MPI_Comm_rank(comm, &exchange->rank);
    MPI_Comm_size(comm, &exchange->size);
    size = (size_t) exchange->size;
    exchange->part = calloc((size_t) parts + 1, sizeof(*exchange->part));
    exchange->request = calloc((size_t) parts * 2 + 1, sizeof(MPI_Request));
    exchange->fixed = calloc((size_t) parts * 2 + 1, sizeof(MPI_Request));
    exchange->counts = calloc(2 * size, sizeof(int));
    exchange->displs = calloc(2 * size, sizeof(int));
    exchange->types = calloc(2 * size, sizeof(MPI_Datatype));
    return NULL != exchange->part && NULL != exchange->request && NULL != exchange->fixed
           && NULL != exchange->counts && NULL != exchange->displs && NULL != exchange->types;
}

/* Ranks to pass from the own one on; the own one comes last. */
static int distance(const app_exchange_t *exchange, int peer)
{
    return (peer - exchange->rank - 1 + exchange->size) % exchange->size;
}

void app_exchange_add(app_exchange_t *exchange, int peer, app_region_t send, app_region_t recv)
{
    int k = exchange->parts++;

    for (; 0 < k && distance(exchange, exchange->part[k - 1].peer) > distance(exchange, peer);
         --k) {
        exchange->part[k] = exchange->part[k - 1];
    }
    exchange->part[k] = (app_part_t){peer, send, recv, NULL, NULL};
}

static void make_type(app_exchange_t *exchange, int at, const app_region_t *region)
{
    if (0 < region->count) {
        exchange->counts[at] = 1;
        exchange->displs[at] = (int) (region->start * sizeof(double));
        exchange->types[at] = app_region_type(region);
    }
}

static void make_types(app_exchange_t *exchange)
{
    for (int i = 0; i < 2 * exchange->size; ++i) {
        exchange->types[i] = MPI_DOUBLE;
    }
    for (int i = 0; i < exchange->parts; ++i) {
        make_type(exchange, exchange->part[i].peer, &exchange->part[i].send);
        make_type(exchange, exchange->size + exchange->part[i].peer, &exchange->part[i].recv);
    }
}

static bool travels(const app_exchange_t *exchange, const app_part_t *part, size_t count)
{
    return part->peer != exchange->rank && 0 < count;
}

static void make_requests(app_exchange_t *exchange)
{
    MPI_Request *recvs = exchange->fixed, *sends = exchange->fixed + exchange->parts;

    for (int i = 0; i < exchange->parts; ++i) {
        const app_part_t *part = &exchange->part[i];

        recvs[i] = sends[i] = MPI_REQUEST_NULL;
        if (travels(exchange, part, part->recv.count)) {
            MPI_Recv_init(part->in, (int) part->recv.count, MPI_DOUBLE, part->peer, TAG,
                          exchange->comm, &recvs[i]);
        }
        if (travels(exchange, part, part->send.count)) {
            MPI_Send_init(part->out, (int) part->send.count, MPI_DOUBLE, part->peer, TAG,
                          exchange->comm, &sends[i]);
        }
    }
}

bool app_exchange_end(app_exchange_t *exchange)
{
    size_t all = 0;
    double *next;

    for (int i = 0; i < exchange->parts; ++i) {
        all += exchange->part[i].send.count + exchange->part[i].recv.count;
    }
    next = exchange->buffer = malloc((all + 1) * sizeof(*next));
    if (NULL == next) {
        exchange->parts = 0;
        return false;
    }
    for (int i = 0; i < exchange->parts; ++i) {
        exchange->part[i].out = next;
        exchange->part[i].in = next + exchange->part[i].send.count;
        next = exchange->part[i].in + exchange->part[i].recv.count;
    }
    make_types(exchange);
    make_requests(exchange);
    return true;
}

void app_exchange_free(app_exchange_t *exchange)
{
    for (int i = 0; i < exchange->parts; ++i) {
        free(exchange->part[i].send.index);
        free(exchange->part[i].recv.index);
        for (int k = i; NULL != exchange->buffer && k < 2 * exchange->parts;
             k += exchange->parts) {
            if (MPI_REQUEST_NULL != exchange->fixed[k]) {
                MPI_Request_free(&exchange->fixed[k]);
            }
        }
    }
    for (int i = 0; NULL != exchange->buffer && i < 2 * exchange->size; ++i) {
        if (MPI_DOUBLE != exchange->types[i]) {
            MPI_Type_free(&exchange->types[i]);
        }
    }
    free(exchange->part);
    free(exchange->buffer);
    free(exchange->request);
    free(exchange->fixed);
    free(exchange->counts);
    free(exchange->displs);
    free(exchange->types);
    memset(exchange, 0, sizeof(*exchange));
}

/* ---- by hand */

static void post_receives(const app_exchange_t *exchange, bool fixed)
{
    for (int i = 0; i < exchange->parts; ++i) {
        const app_part_t *part = &exchange->part[i];

        exchange->request[i] = MPI_REQUEST_NULL;
        if (!travels(exchange, part, part->recv.count)) {
            continue;
        }
        if (fixed) {
            MPI_Start(&exchange->fixed[i]);
        } else {
            MPI_Irecv(part->in, (int) part->recv.count, MPI_DOUBLE, part->peer, TAG,
                      exchange->comm, &exchange->request[i]);
        }
    }
}

static void pack_and_send(const app_exchange_t *exchange, bool fixed, const double *from)
{
    for (int i = 0; i < exchange->parts; ++i) {
        const app_part_t *part = &exchange->part[i];
        const int at = exchange->parts + i;

        exchange->request[at] = MPI_REQUEST_NULL;
        if (!travels(exchange, part, part->send.count)) {
            continue;
        }
        app_region_pack(&part->send, from, part->out);
        if (fixed) {
            MPI_Start(&exchange->fixed[at]);
        } else {
            MPI_Isend(part->out, (int) part->send.count, MPI_DOUBLE, part->peer, TAG,
                      exchange->comm, &exchange->request[at]);
        }
    }
}

static void keep(const app_exchange_t *exchange, const double *from, double *to)
{
    const app_part_t *last = &exchange->part[exchange->parts - 1];

    if (0 < exchange->parts && last->peer == exchange->rank) {
        app_region_copy(&last->send, from, &last->recv, to, last->out);
    }
}

static int unpack(const app_exchange_t *exchange, MPI_Request *requests, double *to)
{
    int rc = MPI_Waitall(exchange->parts, requests, MPI_STATUSES_IGNORE);

    for (int i = 0; MPI_SUCCESS == rc && i < exchange->parts; ++i) {
        if (travels(exchange, &exchange->part[i], exchange->part[i].recv.count)) {
            app_region_unpack(&exchange->part[i].recv, exchange->part[i].in, to);
        }
    }
    return rc;
}

static int run_by_hand(const app_exchange_t *exchange, app_way_t way, const double *from,
                       double *to)
{
    const bool fixed = APP_PERSISTENT == way;
    MPI_Request *requests = fixed ? exchange->fixed : exchange->request;
    int rc;

    post_receives(exchange, fixed);
    pack_and_send(exchange, fixed, from);
    keep(exchange, from, to);
    rc = unpack(exchange, requests, to);
    return (MPI_SUCCESS == rc)
               ? MPI_Waitall(exchange->parts, requests + exchange->parts, MPI_STATUSES_IGNORE)
               : rc;
}

int app_exchange_run(const app_exchange_t *exchange, app_way_t way, MPI_Comm comm,
                     const double *from, double *to)
{
    const int size = exchange->size;

    if (APP_ROUND_ROBIN == way) {
        return by_hand_alltoallw(from, exchange->counts, exchange->displs, exchange->types, to,
                                 exchange->counts + size,
                                 exchange->displs + size, exchange->types + size, comm);
    }
    if (APP_ALLTOALLW != way) {
        return run_by_hand(exchange, way, from, to);
    }
    return MPI_Alltoallw(from, exchange->counts, exchange->displs, exchange->types, to,
                         exchange->counts + size, exchange->displs + size,
                         exchange->types + size, comm);
}
