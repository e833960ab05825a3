# coll/sync: put back what stood below when a communicator is freed
#
# Since components install their functions themselves, coll_module_disable()
# has to put back what it found. That of coll/sync does not:
#
# - It first saves the functions of the communicator again, which are its own
#   by then.
# - SYNC_UNINSTALL_COLL_API() installs coll/sync's functions in place of those
#   that it saved.
# - It installs scan and exscan once more in place of taking them back.
# - The destructor releases modules that nobody has retained since, and whose
#   pointers are NULL where the module was disabled before.
#
# So a program that runs with coll_sync_barrier_before or
# coll_sync_barrier_after ends in a segmentation fault in its first
# MPI_Comm_free() or in MPI_Finalize():
#
#     mpirun -n 2 --mca coll_sync_barrier_before 1000 ./sync_finalize
#
# 6.0.0rc2 crashes (5.0.7 does not); with this change the program ends.
# The saved functions are put back now, and the destructor is gone.
#
# File: ompi/mca/coll/sync/coll_sync_module.c
/^static void mca_coll_sync_module_destruct/,/^}/d
s/mca_coll_sync_module_destruct)/NULL)/
/define SYNC_UNINSTALL_COLL_API/,/while/s/mca_coll_sync_##__api,/__module->c_coll.coll_##__api,/
/^mca_coll_sync_module_disable/,/^}/{
/Save the prior/d
/sync_module->c_coll = /,/^$/d
s/SYNC_INSTALL/SYNC_UNINSTALL/
}
