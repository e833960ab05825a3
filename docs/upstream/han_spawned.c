/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * A process spawns B, then C. A knows both as local. B and C meet by MPI_Intercomm_create, which
 * leaves open whether they are local to each other. On {A, B, C}, coll/han has a module on B and
 * C and none on A, which takes another algorithm: MPI_Allgather waits for ever.
 *
 * Job: 1 --host localhost:4 --mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any
 */
#include <mpi.h>
#include <stdio.h>

static MPI_Comm spawned(char *program, char *name)
{
    char *arguments[] = {name, NULL};
    MPI_Comm inter, comm;

    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                   MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(inter, 0, &comm);
    return comm;
}

int main(int argc, char **argv)
{
    int rank, all[3] = {-1, -1, -1};
    MPI_Comm parent, inter, ab, ac, comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (MPI_COMM_NULL == parent) {
        ab = spawned(argv[0], "b");
        ac = spawned(argv[0], "c");
        MPI_Intercomm_create(ab, 0, ac, 1, 7, &inter);
    } else if ('b' == argv[1][0]) {
        MPI_Intercomm_merge(parent, 1, &ab);
        MPI_Intercomm_create(ab, 0, MPI_COMM_NULL, 0, 7, &inter);
    } else {
        MPI_Intercomm_merge(parent, 1, &ac);
        MPI_Intercomm_create(MPI_COMM_WORLD, 0, ac, 0, 7, &inter);
    }
    MPI_Intercomm_merge(inter, MPI_COMM_NULL != parent && 'c' == argv[1][0], &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
    if (0 == rank) {
        printf("%s\n", 0 == all[0] && 1 == all[1] && 2 == all[2] ? "mended" : "present");
    }
    MPI_Finalize();
    return 0;
}
