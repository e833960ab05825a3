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
 * Nonblocking and persistent calls whose arguments vanish, if vanish_arguments says so: in place of
 * the caller's arrays and types MPI gets copies of its own, which are overwritten and freed when
 * the call has returned, before any MPI_Start or MPI_Wait (the profiling interface of MPI). Types
 * of reductions, which cannot be copied, are left to call_orphan.
 *
 * MPI allows to free types, but not to touch the arrays of a nonblocking call before it is
 * over; mpi4py 3.1 does. Open MPI's own calls (5.0.7) can lose neither arrays of types nor,
 * persistent ones, types.
 */

#include "vanish.h"

#include "call.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#if OMPI_MAJOR_VERSION < 5 /* names as in call.h */
#    define PMPI_Allgather_init PMPIX_Allgather_init
#    define PMPI_Allgatherv_init PMPIX_Allgatherv_init
#    define PMPI_Alltoallv_init PMPIX_Alltoallv_init
#    define PMPI_Alltoallw_init PMPIX_Alltoallw_init
#    define PMPI_Bcast_init PMPIX_Bcast_init
#    define PMPI_Neighbor_alltoallw_init PMPIX_Neighbor_alltoallw_init
#endif

#define GARBAGE 0x7f

__thread bool vanish_arguments;

/* ---- copies ---- */

/** The array itself where nothing vanishes. */
static void *copy_of(const void *array, int count, size_t size)
{
    return NULL == array || !vanish_arguments
               ? (void *) array
               : memcpy(tap_memory((size_t) count * size + 1), array, (size_t) count * size);
}

static void vanish(void *copy, int count, size_t size)
{
    if (NULL != copy && vanish_arguments) {
        memset(copy, GARBAGE, (size_t) count * size);
        free(copy);
    }
}

static MPI_Datatype type_of(MPI_Datatype type)
{
    MPI_Datatype copy = MPI_DATATYPE_NULL;

    if (!vanish_arguments) {
        return type;
    }
    if (NULL != type && MPI_DATATYPE_NULL != type) {
        MPI_Type_dup(type, &copy);
    }
    return copy;
}

/** What comes in the place of a type that is freed must not be taken for it. */
static void type_vanish(MPI_Datatype type)
{
    MPI_Datatype other;

    if (MPI_DATATYPE_NULL != type && vanish_arguments) {
        MPI_Type_free(&type);
        MPI_Type_contiguous(3, MPI_CHAR, &other);
        MPI_Type_commit(&other);
        MPI_Type_free(&other);
    }
}

/** Arguments of a side as MPI gets them: v has one type, w an array. */
typedef struct side_t {
    int messages;
    int *counts;
    void *displs;
    size_t displ_size;
    MPI_Datatype *types;
} side_t;

static side_t side_of(int messages, const int *counts, const void *displs, size_t displ_size,
                      const MPI_Datatype *types)
{
    side_t side = {.messages = messages,
                   .counts = copy_of(counts, messages, sizeof(int)),
                   .displs = copy_of(displs, messages, displ_size),
                   .displ_size = displ_size,
                   .types = copy_of(types, messages, sizeof(MPI_Datatype))};

    for (int i = 0; NULL != types && vanish_arguments && i < messages; i++) {
        side.types[i] = type_of(types[i]);
    }
    return side;
}

static void side_vanish(side_t *side)
{
    for (int i = 0; NULL != side->types && i < side->messages; i++) {
        type_vanish(side->types[i]);
    }
    vanish(side->counts, side->messages, sizeof(int));
    vanish(side->displs, side->messages, side->displ_size);
    vanish(side->types, side->messages, sizeof(MPI_Datatype));
}

static int size_of(MPI_Comm comm)
{
    int size;

    MPI_Comm_size(comm, &size);
    return size;
}

static void find_degrees(MPI_Comm comm, int *in, int *out)
{
    int topology, rank, weighted;

    MPI_Topo_test(comm, &topology);
    MPI_Comm_rank(comm, &rank);
    if (MPI_CART == topology) {
        MPI_Cartdim_get(comm, in);
        *in *= 2;
        *out = *in;
    } else if (MPI_GRAPH == topology) {
        MPI_Graph_neighbors_count(comm, rank, in);
        *out = *in;
    } else {
        MPI_Dist_graph_neighbors_count(comm, in, out, &weighted);
    }
}

/** The sides of a call whose sending side is not there in place. */
typedef struct sides_t {
    side_t send, recv;
    MPI_Datatype send_type, recv_type;
} sides_t;

static sides_t sides_v(const void *from, const int *scounts, const int *sdispls,
                       MPI_Datatype stype, const int *rcounts, const int *rdispls,
                       MPI_Datatype rtype, MPI_Comm comm)
{
    const int p = size_of(comm);
    const bool in_place = MPI_IN_PLACE == from;

    return (sides_t){.send = side_of(p, in_place ? NULL : scounts, in_place ? NULL : sdispls,
                                     sizeof(int), NULL),
                     .recv = side_of(p, rcounts, rdispls, sizeof(int), NULL),
                     .send_type = in_place ? MPI_DATATYPE_NULL : type_of(stype),
                     .recv_type = type_of(rtype)};
}

static sides_t sides_w(const void *from, int outs, const int *scounts, const void *sdispls,
                       const MPI_Datatype *stypes, int ins, const int *rcounts,
                       const void *rdispls, const MPI_Datatype *rtypes, size_t displ_size)
{
    const bool in_place = MPI_IN_PLACE == from;

    return (sides_t){.send = side_of(outs, in_place ? NULL : scounts, in_place ? NULL : sdispls,
                                     displ_size, in_place ? NULL : stypes),
                     .recv = side_of(ins, rcounts, rdispls, displ_size, rtypes),
                     .send_type = MPI_DATATYPE_NULL,
                     .recv_type = MPI_DATATYPE_NULL};
}

static int sides_vanish(sides_t *sides, int code)
{
    side_vanish(&sides->send);
    side_vanish(&sides->recv);
    type_vanish(sides->send_type);
    type_vanish(sides->recv_type);
    return code;
}

/* ---- calls of one type ---- */

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request)
{
    MPI_Datatype copy = type_of(type);
    const int code = PMPI_Ibcast(buffer, count, copy, root, comm, request);

    type_vanish(copy);
    return code;
}

int MPI_Bcast_init(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                   MPI_Info info, MPI_Request *request)
{
    MPI_Datatype copy = type_of(type);
    const int code = PMPI_Bcast_init(buffer, count, copy, root, comm, info, request);

    type_vanish(copy);
    return code;
}

int MPI_Iallgather(const void *from, int scount, MPI_Datatype stype, void *to, int rcount,
                   MPI_Datatype rtype, MPI_Comm comm, MPI_Request *request)
{
    sides_t s = sides_v(from, NULL, NULL, stype, NULL, NULL, rtype, comm);

    return sides_vanish(&s, PMPI_Iallgather(from, scount, s.send_type, to, rcount, s.recv_type,
                                            comm, request));
}

int MPI_Allgather_init(const void *from, int scount, MPI_Datatype stype, void *to, int rcount,
                       MPI_Datatype rtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    sides_t s = sides_v(from, NULL, NULL, stype, NULL, NULL, rtype, comm);

    return sides_vanish(&s, PMPI_Allgather_init(from, scount, s.send_type, to, rcount,
                                                s.recv_type, comm, info, request));
}

/* ---- calls with arrays ---- */

int MPI_Iallgatherv(const void *from, int scount, MPI_Datatype stype, void *to,
                    const int *rcounts, const int *displs, MPI_Datatype rtype, MPI_Comm comm,
                    MPI_Request *request)
{
    sides_t s = sides_v(from, NULL, NULL, stype, rcounts, displs, rtype, comm);

    return sides_vanish(&s, PMPI_Iallgatherv(from, scount, s.send_type, to, s.recv.counts,
                                             s.recv.displs, s.recv_type, comm, request));
}

int MPI_Allgatherv_init(const void *from, int scount, MPI_Datatype stype, void *to,
                        const int *rcounts, const int *displs, MPI_Datatype rtype, MPI_Comm comm,
                        MPI_Info info, MPI_Request *request)
{
    sides_t s = sides_v(from, NULL, NULL, stype, rcounts, displs, rtype, comm);

    return sides_vanish(&s, PMPI_Allgatherv_init(from, scount, s.send_type, to, s.recv.counts,
                                                 s.recv.displs, s.recv_type, comm, info,
                                                 request));
}

int MPI_Ialltoallv(const void *from, const int *scounts, const int *sdispls, MPI_Datatype stype,
                   void *to, const int *rcounts, const int *rdispls, MPI_Datatype rtype,
                   MPI_Comm comm, MPI_Request *request)
{
    sides_t s = sides_v(from, scounts, sdispls, stype, rcounts, rdispls, rtype, comm);

    return sides_vanish(&s, PMPI_Ialltoallv(from, s.send.counts, s.send.displs, s.send_type, to,
                                            s.recv.counts, s.recv.displs, s.recv_type, comm,
                                            request));
}

int MPI_Alltoallv_init(const void *from, const int *scounts, const int *sdispls,
                       MPI_Datatype stype, void *to, const int *rcounts, const int *rdispls,
                       MPI_Datatype rtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    sides_t s = sides_v(from, scounts, sdispls, stype, rcounts, rdispls, rtype, comm);

    return sides_vanish(&s, PMPI_Alltoallv_init(from, s.send.counts, s.send.displs, s.send_type,
                                                to, s.recv.counts, s.recv.displs, s.recv_type,
                                                comm, info, request));
}

int MPI_Ialltoallw(const void *from, const int *scounts, const int *sdispls,
                   const MPI_Datatype *stypes, void *to, const int *rcounts, const int *rdispls,
                   const MPI_Datatype *rtypes, MPI_Comm comm, MPI_Request *request)
{
    const int p = size_of(comm);
    sides_t s = sides_w(from, p, scounts, sdispls, stypes, p, rcounts, rdispls, rtypes,
                        sizeof(int));

    return sides_vanish(&s, PMPI_Ialltoallw(from, s.send.counts, s.send.displs, s.send.types, to,
                                            s.recv.counts, s.recv.displs, s.recv.types, comm,
                                            request));
}

int MPI_Alltoallw_init(const void *from, const int *scounts, const int *sdispls,
                       const MPI_Datatype *stypes, void *to, const int *rcounts,
                       const int *rdispls, const MPI_Datatype *rtypes, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
    const int p = size_of(comm);
    sides_t s = sides_w(from, p, scounts, sdispls, stypes, p, rcounts, rdispls, rtypes,
                        sizeof(int));

    return sides_vanish(&s, PMPI_Alltoallw_init(from, s.send.counts, s.send.displs, s.send.types,
                                                to, s.recv.counts, s.recv.displs, s.recv.types,
                                                comm, info, request));
}

int MPI_Ineighbor_alltoallw(const void *from, const int *scounts, const MPI_Aint *sdispls,
                            const MPI_Datatype *stypes, void *to, const int *rcounts,
                            const MPI_Aint *rdispls, const MPI_Datatype *rtypes, MPI_Comm comm,
                            MPI_Request *request)
{
    int ins, outs;

    find_degrees(comm, &ins, &outs);
    sides_t s = sides_w(from, outs, scounts, sdispls, stypes, ins, rcounts, rdispls, rtypes,
                        sizeof(MPI_Aint));
    return sides_vanish(&s, PMPI_Ineighbor_alltoallw(from, s.send.counts, s.send.displs,
                                                     s.send.types, to, s.recv.counts,
                                                     s.recv.displs, s.recv.types, comm, request));
}

int MPI_Neighbor_alltoallw_init(const void *from, const int *scounts, const MPI_Aint *sdispls,
                                const MPI_Datatype *stypes, void *to, const int *rcounts,
                                const MPI_Aint *rdispls, const MPI_Datatype *rtypes,
                                MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    int ins, outs;

    find_degrees(comm, &ins, &outs);
    sides_t s = sides_w(from, outs, scounts, sdispls, stypes, ins, rcounts, rdispls, rtypes,
                        sizeof(MPI_Aint));
    return sides_vanish(&s, PMPI_Neighbor_alltoallw_init(from, s.send.counts, s.send.displs,
                                                         s.send.types, to, s.recv.counts,
                                                         s.recv.displs, s.recv.types, comm, info,
                                                         request));
}
