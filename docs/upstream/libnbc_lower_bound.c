/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * Nonblocking reductions of a type whose data lies 16 GiB before the address that is passed: what
 * coll/libnbc writes outside of its temporary memory then meets no memory at all.
 *
 * Job: 4
 * Job: 4 --mca coll_libnbc_ireduce_algorithm 1
 * Job: 4 --mca coll_libnbc_iallreduce_algorithm 1
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>

enum { COUNT = 20000 };
static const MPI_Aint before = (MPI_Aint) 16 << 30;

static void crash(int number)
{
    (void) number;
    _exit(0 < write(STDOUT_FILENO, "present: it writes elsewhere\n", 29) ? 1 : 2);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; i++) {
        ((int *) ((char *) inout - before))[i] += ((int *) ((char *) in - before))[i];
    }
}

int main(int argc, char **argv)
{
    int *in = calloc(COUNT, sizeof(int)), *out = calloc(COUNT, sizeof(int)), one = 1, rank;
    const MPI_Aint place = -before;
    MPI_Request request;
    MPI_Datatype type;
    MPI_Op op;

    MPI_Init(&argc, &argv);
    signal(SIGSEGV, crash);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_hindexed(1, &one, &place, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &op);
    MPI_Ireduce((char *) in + before, (char *) out + before, COUNT, type, op, 0, MPI_COMM_WORLD,
                &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iallreduce(MPI_IN_PLACE, (char *) in + before, COUNT, type, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        printf("mended\n");
    }
    MPI_Finalize();
    return 0;
}
