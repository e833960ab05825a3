! Copyright (c) 2026 The pipering authors. All rights reserved.
! $COPYRIGHT$
!
! Additional copyrights may follow
!
! $HEADER$
!
! Calls for the record of calls, by mpif.h or by mpi_f08 (-DF08), on 4 ranks: known numbers of each,
! of known sizes, with results that are checked.
program why_fortran
#ifdef F08
#define HANDLE(kind) type(kind)
  use mpi_f08
  implicit none
#else
#define HANDLE(kind) integer
  implicit none
  include 'mpif.h'
#endif
  integer, parameter :: counts(4) = (/ 20, 20, 60, 20 /), displs(4) = (/ 0, 20, 40, 100 /)
  integer, parameter :: ones(4) = (/ 1, 1, 1, 1 /), places(4) = (/ 0, 4, 8, 12 /)
  double precision :: from(100), to(200)
  real :: values(100)
  integer :: out(4), into(4), rank, error, i
  HANDLE(MPI_Datatype) :: types(4)
  HANDLE(MPI_Request) :: request

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  from = rank
  do i = 1, 2
    call MPI_Allgatherv(from, counts(rank + 1), MPI_DOUBLE_PRECISION, to, counts, displs, &
                        MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
  end do
  if (to(1) /= 0 .or. to(120) /= 3) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  call MPI_Allreduce(from, to, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  if (to(10) /= 6) call MPI_Abort(MPI_COMM_WORLD, 2, error)
  values = rank
#ifdef F08
  call MPI_Bcast(values, 100, MPI_REAL, 2, MPI_COMM_WORLD)
#else
  call MPI_Bcast(values, 100, MPI_REAL, 2, MPI_COMM_WORLD, error)
#endif
  if (values(100) /= 2) call MPI_Abort(MPI_COMM_WORLD, 3, error)
  call MPI_Ibcast(values, 100, MPI_REAL, 2, MPI_COMM_WORLD, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  out = rank
  types = MPI_INTEGER
  call MPI_Alltoallw(out, ones, places, types, into, ones, places, types, MPI_COMM_WORLD, error)
  if (into(1) /= 0 .or. into(4) /= 3) call MPI_Abort(MPI_COMM_WORLD, 4, error)
  do i = 1, 3
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  if (rank == 0) print '(a)', 'ok - calls are over'
  call MPI_Finalize(error)
end program why_fortran
