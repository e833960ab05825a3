/*
 * Copyright (c) 2026 The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/* Open MPI 4.1 installs ompi/op/op.h, which includes a header of this name, but not that header.
 * This stands in for it where components are built against an installation; it is the last place
 * searched. op.h needs the one conversion below, which is none where Fortran's INTEGER is
 * C's int, or where there is no Fortran (its size is 0). */

#ifndef PIPERING_MISSING_FINT_2_INT_H
#define PIPERING_MISSING_FINT_2_INT_H

#include "ompi_config.h"

#if 0 != OMPI_SIZEOF_FORTRAN_INTEGER && OMPI_SIZEOF_FORTRAN_INTEGER != SIZEOF_INT
#    error "in this Open MPI a Fortran INTEGER is no int; build the component in its tree"
#endif

#define OMPI_INT_2_FINT(value) (value)

#endif
