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
 * Exchanges of by_hand.h. Packets are in the order of the component's own plan
 * (coll_pipering_plan_permuted.c): a rank posts all receives and has at most a window of
 * synchronous sends under way, so that a packet counts as long as it has not arrived.
 */

#include "by_hand.h"

#include <stdlib.h>
#include <string.h>

#include "coll_pipering_plan_permuted.h"

enum { TAG = 1 };

/* ---- MPI_Alltoallw ---- */

/* The messages of a rank. */
typedef struct {
    char *base;
    const int *counts, *displs;
    const MPI_Datatype *types;
    int rank, size;
    MPI_Comm comm;
} side_t;

static bool is_empty(const side_t *side, int peer)
{
    int size;

    MPI_Type_size(side->types[peer], &size);
    return 0 == size || 0 == side->counts[peer];
}

static int post(const side_t *side, int peer, bool sends, MPI_Request *request)
{
    char *at = side->base + side->displs[peer];

    return sends ? MPI_Isend(at, side->counts[peer], side->types[peer], peer, TAG, side->comm,
                             request)
                 : MPI_Irecv(at, side->counts[peer], side->types[peer], peer, TAG, side->comm,
                             request);
}

static int swap(const side_t *out, const side_t *in, int to, int from)
{
    return MPI_Sendrecv(out->base + out->displs[to], out->counts[to], out->types[to], to, TAG,
                        in->base + in->displs[from], in->counts[from], in->types[from], from, TAG,
                        out->comm, MPI_STATUS_IGNORE);
}

static int run_round_robin(const side_t *out, const side_t *in)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < out->size && MPI_SUCCESS == rc; ++i) {
        rc = swap(out, in, (out->rank + i) % out->size, (out->rank - i + out->size) % out->size);
    }
    return rc;
}

/* Posts all messages of a side that have bytes, but for the rank's own. */
static int post_all(const side_t *side, int first, bool sends, MPI_Request *request, int *count)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < side->size && MPI_SUCCESS == rc; ++i) {
        const int peer = (first + i) % side->size;
        if (side->rank != peer && !is_empty(side, peer)) {
            rc = post(side, peer, sends, &request[(*count)++]);
        }
    }
    return rc;
}

static int run_at_once(const side_t *out, const side_t *in, int first)
{
    MPI_Request *request = malloc(2 * (size_t) out->size * sizeof(MPI_Request));
    int count = 0;

    if (NULL == request) {
        return MPI_ERR_NO_MEM;
    }
    int rc = post_all(in, 0, false, request, &count);
    if (MPI_SUCCESS == rc) {
        rc = post_all(out, first, true, request, &count);
    }
    if (MPI_SUCCESS == rc && !is_empty(out, out->rank)) {
        rc = swap(out, in, out->rank, out->rank);
    }
    if (MPI_SUCCESS == rc) {
        rc = MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
    }
    free(request);
    return rc;
}

int by_hand_alltoallw(by_hand_order_t order, const void *from, const int *out_counts,
                      const int *out_displs, const MPI_Datatype *out_types, void *to,
                      const int *in_counts, const int *in_displs, const MPI_Datatype *in_types,
                      MPI_Comm comm)
{
    side_t out = {(char *) from, out_counts, out_displs, out_types, 0, 0, comm};
    side_t in = {to, in_counts, in_displs, in_types, 0, 0, comm};

    MPI_Comm_rank(comm, &out.rank);
    MPI_Comm_size(comm, &out.size);
    in.rank = out.rank;
    in.size = out.size;
    return BY_HAND_ROUND_ROBIN == order
               ? run_round_robin(&out, &in)
               : run_at_once(&out, &in, BY_HAND_ORDERED == order ? 0 : out.rank + 1);
}

/* ---- MPI_Alltoall in packets ---- */

typedef struct {
    mca_coll_pipering_permuted_plan_t in, out;
    int *permutation, *peers;
    size_t *sizes;
    size_t receives;
    MPI_Request *request; /* of receives, then of the window's sends */
} packets_t;

static void drop(packets_t *packets)
{
    free(packets->permutation);
    free(packets->peers);
    free(packets->sizes);
    free(packets->request);
}

static bool prepare(packets_t *packets, const by_hand_packets_t *how, size_t bytes, MPI_Comm comm)
{
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    *packets = (packets_t){.permutation = malloc((size_t) size * sizeof(int)),
                           .peers = malloc((size_t) size * sizeof(int)),
                           .sizes = malloc((size_t) size * sizeof(size_t))};
    if (NULL == packets->permutation || NULL == packets->peers || NULL == packets->sizes) {
        return false;
    }
    for (int r = 0; r < size; ++r) {
        packets->sizes[r] = rank == r ? 0 : bytes;
    }
    mca_coll_pipering_permutation(size, packets->permutation);
    packets->out = (mca_coll_pipering_permuted_plan_t){
        .permutation = how->permuted ? packets->permutation : NULL,
        .ranks = size,
        .me = rank,
        .bytes = packets->sizes,
        .packet = how->bytes,
        .visit = how->visit};
    packets->in = packets->out;
    packets->in.receives = true;
    packets->receives = mca_coll_pipering_packets(&packets->in);
    packets->request = malloc((packets->receives + (size_t) how->window) * sizeof(MPI_Request));
    return NULL != packets->request;
}

static int receive_all(packets_t *packets, char *to, size_t bytes, MPI_Comm comm)
{
    mca_coll_pipering_visits_t visits;
    mca_coll_pipering_packet_t packet;
    int rc = MPI_SUCCESS;

    mca_coll_pipering_visits_begin(&visits, &packets->in, packets->peers);
    for (size_t i = 0; mca_coll_pipering_visits_next(&visits, &packet) && MPI_SUCCESS == rc; ++i) {
        rc = MPI_Irecv(to + (size_t) packet.peer * bytes + packet.offset, (int) packet.bytes,
                       MPI_BYTE, packet.peer, TAG, comm, &packets->request[i]);
    }
    return rc;
}

static int send_all(packets_t *packets, int window, const char *from, size_t bytes, MPI_Comm comm)
{
    MPI_Request *sends = packets->request + packets->receives;
    mca_coll_pipering_visits_t visits;
    mca_coll_pipering_packet_t packet;
    int rc = MPI_SUCCESS, slot;

    for (int i = 0; i < window; ++i) {
        sends[i] = MPI_REQUEST_NULL;
    }
    mca_coll_pipering_visits_begin(&visits, &packets->out, packets->peers);
    for (int i = 0; mca_coll_pipering_visits_next(&visits, &packet) && MPI_SUCCESS == rc; ++i) {
        slot = i;
        if (window <= i) {
            rc = MPI_Waitany(window, sends, &slot, MPI_STATUS_IGNORE);
        }
        if (MPI_SUCCESS == rc) {
            rc = MPI_Issend(from + (size_t) packet.peer * bytes + packet.offset,
                            (int) packet.bytes, MPI_BYTE, packet.peer, TAG, comm, &sends[slot]);
        }
    }
    return rc;
}

int by_hand_alltoall(const by_hand_packets_t *how, const void *from, void *to, size_t bytes,
                     MPI_Comm comm)
{
    packets_t packets;

    if (!prepare(&packets, how, bytes, comm)) {
        drop(&packets);
        return MPI_ERR_NO_MEM;
    }
    int rc = receive_all(&packets, to, bytes, comm);
    if (MPI_SUCCESS == rc) {
        const size_t own = (size_t) packets.out.me * bytes;
        memcpy((char *) to + own, (const char *) from + own, bytes);
        rc = send_all(&packets, how->window, from, bytes, comm);
    }
    if (MPI_SUCCESS == rc) {
        rc = MPI_Waitall((int) packets.receives + how->window, packets.request,
                         MPI_STATUSES_IGNORE);
    }
    drop(&packets);
    return rc;
}
