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
 * The collectives of why_calls.c that have data, with counts of type COUNT and displacements of
 * type DISPL. It is included once for each pair of these.
 */

#define COUNTS(counts) ((why_counts_t){.at = (counts), .size = sizeof(COUNT)})

#define EQUAL_PARAMETERS                                                                    \
    const void *sbuf, COUNT scount, MPI_Datatype stype, void *rbuf, COUNT rcount,           \
        MPI_Datatype rtype,
#define EQUAL_ARGUMENTS sbuf, scount, stype, rbuf, rcount, rtype,

#define GATHER_PARAMETERS                                                                   \
    const void *sbuf, COUNT scount, MPI_Datatype stype, void *rbuf, const COUNT rcounts[],  \
        const DISPL displs[], MPI_Datatype rtype,
#define GATHER_ARGUMENTS sbuf, scount, stype, rbuf, rcounts, displs, rtype,

#define COMBINE_PARAMETERS const void *sbuf, void *rbuf, COUNT count, MPI_Datatype type, MPI_Op op,
#define COMBINE_ARGUMENTS sbuf, rbuf, count, type, op,

#define EXCHANGE_PARAMETERS                                                                 \
    const void *sbuf, const COUNT scounts[], const DISPL sdispls[], MPI_Datatype stype,     \
        void *rbuf, const COUNT rcounts[], const DISPL rdispls[], MPI_Datatype rtype,
#define EXCHANGE_ARGUMENTS sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype,

#define TYPED_PARAMETERS                                                                    \
    const void *sbuf, const COUNT scounts[], const DISPL sdispls[],                         \
        const MPI_Datatype stypes[], void *rbuf, const COUNT rcounts[],                     \
        const DISPL rdispls[], const MPI_Datatype rtypes[],
#define TYPED_ARGUMENTS sbuf, scounts, sdispls, stypes, rbuf, rcounts, rdispls, rtypes,

#define NEIGHBOR_PARAMETERS                                                                 \
    const void *sbuf, const COUNT scounts[], const MPI_Aint sdispls[],                      \
        const MPI_Datatype stypes[], void *rbuf, const COUNT rcounts[],                     \
        const MPI_Aint rdispls[], const MPI_Datatype rtypes[],
#define NEIGHBOR_ARGUMENTS TYPED_ARGUMENTS

#define BCAST_PARAMETERS void *buffer, COUNT count, MPI_Datatype type, int root,
#define BCAST_ARGUMENTS buffer, count, type, root,

#define SCATTER_PARAMETERS                                                                  \
    const void *sbuf, void *rbuf, const COUNT rcounts[], MPI_Datatype type, MPI_Op op,
#define SCATTER_ARGUMENTS sbuf, rbuf, rcounts, type, op,

#define REDUCE_PARAMETERS COMBINE_PARAMETERS int root,
#define REDUCE_ARGUMENTS COMBINE_ARGUMENTS root,

FORMS(Allgather, allgather, EQUAL, why_equal_parts(rcount, rtype, why_ranks(comm)))
FORMS(Allgatherv, allgatherv, GATHER, why_parts(COUNTS(rcounts), rtype, comm))
FORMS(Allreduce, allreduce, COMBINE, why_combined(why_equal_parts(count, type, 1), type, op))
FORMS(Alltoall, alltoall, EQUAL, why_equal_parts(rcount, rtype, why_ranks(comm)))
FORMS(Alltoallv, alltoallv, EXCHANGE, why_parts(COUNTS(rcounts), rtype, comm))
FORMS(Alltoallw, alltoallw, TYPED, why_typed_parts(COUNTS(rcounts), rtypes, NULL, why_ranks(comm)))
FORMS(Bcast, bcast, BCAST, why_equal_parts(count, type, 1))
FORMS(Exscan, exscan, COMBINE, why_combined(why_equal_parts(count, type, 1), type, op))
FORMS(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR,
      why_typed_parts(COUNTS(rcounts), rtypes, NULL, why_neighbors(comm)))
FORMS(Reduce, reduce, REDUCE, why_combined(why_equal_parts(count, type, 1), type, op))
FORMS(Reduce_scatter, reduce_scatter, SCATTER,
      why_combined(why_parts(COUNTS(rcounts), type, comm), type, op))
FORMS(Reduce_scatter_block, reduce_scatter_block, COMBINE,
      why_combined(why_equal_parts(count, type, why_ranks(comm)), type, op))
FORMS(Scan, scan, COMBINE, why_combined(why_equal_parts(count, type, 1), type, op))
