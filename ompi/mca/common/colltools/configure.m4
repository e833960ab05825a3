# -*- shell-script -*-
#
# Copyright (c) 2026      The pipering authors. All rights reserved.
#
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#

# MCA_ompi_common_colltools_CONFIG([action-if-can-compile],
#                                  [action-if-cant-compile])
# ------------------------------------------------
# From 6.0 on, shared objects link to the library below libmpi and libmpi_abi: a program loads one
# of the two.
AC_DEFUN([MCA_ompi_common_colltools_CONFIG],[
    AC_CONFIG_FILES([ompi/mca/common/colltools/Makefile])
    AS_IF([test "$OMPI_MAJOR_VERSION" -ge 6],
          [common_colltools_below='$(top_builddir)/ompi/libopen_mpi.la'],
          [common_colltools_below='$(top_builddir)/ompi/lib$(OMPI_LIBMPI_NAME).la'])
    AC_SUBST([common_colltools_below])
    $1
])dnl
