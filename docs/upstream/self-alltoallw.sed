# coll/self: displacements of MPI_Alltoallw are in bytes
#
# mca_coll_self_alltoallw_intra() multiplies the displacements by the extents
# of the types, as those of MPI_Alltoall() and MPI_Alltoallv() are, but in
# MPI_Alltoallw() they are in bytes. So data is read from and written to wrong
# places, which may lie outside of the buffers. This program shows it with one
# process:
#
#     mpirun -n 1 ./self_alltoallw
#
# 5.0.7 and 6.0.0rc2 read element 4 in place of element 1; with this change
# they read element 1.
#
# File: ompi/mca/coll/self/coll_self_alltoallw.c
/^    ptrdiff_t lb, /d
/^    int err;/,/^$/d
/^    err = /,/^$/d
s/ \* [sr]extent,$/,/
