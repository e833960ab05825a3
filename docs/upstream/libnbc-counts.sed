# coll/libnbc: counts that are sent are size_t
#
# The functions that make the schedules of MPI_Iallgatherv(),
# MPI_Igatherv() and MPI_Ineighbor_allgatherv(), and of their persistent
# forms, take the number of elements that is sent as an int, while callers
# hand down a size_t. From 2^31 elements on another number is sent, or
# copied, without an error. This program sends 2^32 + 1 bytes to itself:
#
#     mpirun -n 1 ./iallgatherv_count
#
# With 6.0.0rc2 the last byte does not arrive; with this change it does.
#
# File: ompi/mca/coll/libnbc/nbc_iallgatherv.c
# File: ompi/mca/coll/libnbc/nbc_igatherv.c
# File: ompi/mca/coll/libnbc/nbc_ineighbor_allgatherv.c
/^static int nbc_/s/int \(send\|s\)count,/size_t \1count,/
