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

enum { TAG = 1, PACKET = 16384, WINDOW = 16 };

int by_hand_alltoallw(const void *from, const int *out_counts, const int *out_displs,
                      const MPI_Datatype *out_types, void *to, const int *in_counts,
                      const int *in_displs, const MPI_Datatype *in_types, MPI_Comm comm)
{
    int rank, size, rc = MPI_SUCCESS;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < size && MPI_SUCCESS == rc; ++i) {
        const int out = (rank + i) % size, in = (rank - i + size) % size;

        rc = MPI_Sendrecv((const char *) from + out_displs[out], out_counts[out], out_types[out], out,
                          TAG, (char *) to + in_displs[in], in_counts[in], in_types[in], in, TAG,
                          comm, MPI_STATUS_IGNORE);
    }
    return rc;
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

static bool prepare(packets_t *packets, size_t visit, size_t bytes, MPI_Comm comm)
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
        .permutation = packets->permutation,
        .ranks = size,
        .me = rank,
        .bytes = packets->sizes,
        .packet = PACKET,
        .visit = visit};
    packets->in = packets->out;
    packets->in.receives = true;
    packets->receives = mca_coll_pipering_packets(&packets->in);
    packets->request = malloc((packets->receives + WINDOW) * sizeof(MPI_Request));
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

static int send_all(packets_t *packets, const char *from, size_t bytes, MPI_Comm comm)
{
    MPI_Request *sends = packets->request + packets->receives;
    mca_coll_pipering_visits_t visits;
    mca_coll_pipering_packet_t packet;
    int rc = MPI_SUCCESS, slot;

    for (int i = 0; i < WINDOW; ++i) {
        sends[i] = MPI_REQUEST_NULL;
    }
    mca_coll_pipering_visits_begin(&visits, &packets->out, packets->peers);
    for (int i = 0; mca_coll_pipering_visits_next(&visits, &packet) && MPI_SUCCESS == rc; ++i) {
        slot = i;
        if (WINDOW <= i) {
            rc = MPI_Waitany(WINDOW, sends, &slot, MPI_STATUS_IGNORE);
        }
        if (MPI_SUCCESS == rc) {
            rc = MPI_Issend(from + (size_t) packet.peer * bytes + packet.offset,
                            (int) packet.bytes, MPI_BYTE, packet.peer, TAG, comm, &sends[slot]);
        }
    }
    return rc;
}

int by_hand_alltoall(size_t visit, const void *from, void *to, size_t bytes, MPI_Comm comm)
{
    packets_t packets;

    if (!prepare(&packets, visit, bytes, comm)) {
        drop(&packets);
        return MPI_ERR_NO_MEM;
    }
    int rc = receive_all(&packets, to, bytes, comm);
    if (MPI_SUCCESS == rc) {
        const size_t own = (size_t) packets.out.me * bytes;
        memcpy((char *) to + own, (const char *) from + own, bytes);
        rc = send_all(&packets, from, bytes, comm);
    }
    if (MPI_SUCCESS == rc) {
        rc = MPI_Waitall((int) packets.receives + WINDOW, packets.request, MPI_STATUSES_IGNORE);
    }
    drop(&packets);
    return rc;
}
