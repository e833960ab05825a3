/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * MPI_T_pvar_handle_alloc, which reads the flags of a communicator behind the address of a handle.
 *
 * A variable of pml/ob1 is bound to MPI_COMM_WORLD, whose handle stands before zeros, then before
 * bytes that are none.
 *
 * Job: 1 --mca pml ob1
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct {
        MPI_Comm handle;
        unsigned char behind[4096];
    } object;
    int provided, index, count, code[2];
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;

    MPI_Init(&argc, &argv);
    object.handle = MPI_COMM_WORLD;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    if (MPI_SUCCESS
        == MPI_T_pvar_get_index("pml_ob1_posted_recvq_length", MPI_T_PVAR_CLASS_SIZE, &index)) {
        for (int i = 0; i < 2; i++) {
            memset(object.behind, 0xff * i, sizeof(object.behind));
            code[i] = MPI_T_pvar_handle_alloc(session, index, &object, &handle, &count);
        }
        printf("%s: codes %d and %d\n", code[0] == code[1] ? "mended" : "present", code[0],
               code[1]);
    }
    MPI_Finalize();
    return 0;
}
