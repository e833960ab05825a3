/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Ways of running an allgather of unequal contributions. */

#include "agv.h"

#define MPICH_CHUNK 32768

/* A place in the stream of chunks that passes a link, seen from its sender. */
typedef struct cursor_t {
    const agv_problem_t *problem;
    const agv_data_t *data;
    int ranks;
    int owner;     /* whose contribution */
    int left;      /* contributions to come, with this one */
    size_t offset; /* into it, bytes */
} cursor_t;

/* The next chunk, at most `chunk` bytes: none of an empty contribution, which
 * takes a slot nevertheless. Returns its elements and where they are. */
static int next_chunk(cursor_t *cursor, size_t chunk, unsigned char **where)
{
    size_t bytes, unit = cursor->data->layout.unit;

    if (0 == cursor->left) {
        *where = cursor->data->recv;
        return 0;
    }
    bytes = cursor->problem->bytes[cursor->owner] - cursor->offset;
    bytes = bytes < chunk ? bytes : chunk;
    *where = cursor->data->recv
             + ((size_t) cursor->problem->displs[cursor->owner] + cursor->offset / unit)
                   * cursor->data->layout.extent;
    cursor->offset += bytes;
    if (cursor->problem->bytes[cursor->owner] == cursor->offset) {
        cursor->owner = (cursor->owner + cursor->ranks - 1) % cursor->ranks;
        cursor->offset = 0;
        --cursor->left;
    }
    return (int) (bytes / unit);
}

/* MPICH's chunks: of 32 KiB, or of the least contribution where that is more. */
static size_t mpich_chunk(const agv_problem_t *problem, size_t unit, MPI_Comm comm)
{
    size_t chunk = problem->bytes[0];
    int ranks;

    MPI_Comm_size(comm, &ranks);
    for (int i = 1; i < ranks; ++i) {
        chunk = problem->bytes[i] < chunk ? problem->bytes[i] : chunk;
    }
    chunk = chunk < MPICH_CHUNK ? MPICH_CHUNK : chunk;
    return chunk - chunk % unit;
}

/* A ring in rank order on top of MPI: each slot sends one chunk and takes one in, the next
 * slot begins when both are done. With chunks of any size it is the linear ring. */
static int call_ring(const agv_problem_t *problem, const agv_data_t *data, size_t chunk,
                     MPI_Comm comm)
{
    int rank, ranks, rc;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int before = (rank + ranks - 1) % ranks, behind = (rank + 1) % ranks;
    cursor_t out = {problem, data, ranks, rank, ranks - 1, 0};
    cursor_t in = {problem, data, ranks, before, ranks - 1, 0};

    rc = MPI_Sendrecv(data->send, problem->counts[rank], data->layout.type, rank, 1,
                      data->recv + (size_t) problem->displs[rank] * data->layout.extent,
                      problem->counts[rank], data->layout.type, rank, 1, comm,
                      MPI_STATUS_IGNORE);
    while (MPI_SUCCESS == rc && (0 < out.left || 0 < in.left)) {
        unsigned char *from, *to;
        int sent = next_chunk(&out, chunk, &from);
        int taken = next_chunk(&in, chunk, &to);

        rc = MPI_Sendrecv(from, sent, data->layout.type, 0 < sent ? behind : MPI_PROC_NULL, 2, to,
                          taken, data->layout.type, 0 < taken ? before : MPI_PROC_NULL, 2, comm,
                          MPI_STATUS_IGNORE);
    }
    return rc;
}

int agv_call(agv_way_t way, const agv_problem_t *problem, const agv_data_t *data, MPI_Comm comm)
{
    const MPI_Datatype type = data->layout.type;
    const int count = (int) (data->send_size / data->layout.extent);

    switch (way) {
    case AGV_MPICH:
        return call_ring(problem, data, mpich_chunk(problem, data->layout.unit, comm), comm);
    case AGV_LINEAR:
        return call_ring(problem, data, SIZE_MAX, comm);
    default:
        return MPI_Allgatherv(data->send, count, type, data->recv, problem->counts,
                              problem->displs, type, comm);
    }
}
