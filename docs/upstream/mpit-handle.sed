# mpi/tool: test the object, not the address of its handle
#
# ompit_obj_invalid() gets the address of a handle, as MPI_T_pvar_handle_alloc()
# does, and reads the object's class through it. It then takes the address
# itself for the object: the flags that say whether a communicator is valid are
# read some hundred bytes behind the caller's variable. So
# MPI_T_pvar_handle_alloc() and MPI_T_cvar_handle_alloc() fail with
# MPI_T_ERR_INVALID_HANDLE by what happens to be on the stack:
#
#     mpirun -n 1 --mca pml ob1 ./mpit_handle
#
# prints codes 0 and 59; with this change 0 and 0. The class of an operation is
# called ompi_op_t.
#
# File: ompi/mpi/tool/mpit_common.c
/^bool ompit_obj_invalid/,/^}/{
s/\(= (ompi_[a-z]*_t \*)\)obj_handle;/\1opal_obj;/
s/"ompi_opt_t"/"ompi_op_t"/
}
