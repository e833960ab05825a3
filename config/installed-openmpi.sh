# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Read after common.sh by the scripts that work with an installed Open MPI.

# Sets mpicc, mpirun, ompi_info and version of the Open MPI installed in OMPI, or of
# the one that mpicc on PATH belongs to. Several implementations of MPI may be
# installed; Debian keeps Open MPI's under a second name.
find_installed() {
    mpicc=mpicc
    mpirun=mpirun
    ompi_info=ompi_info
    if [ -n "${OMPI-}" ]; then
        mpicc=$(absolute "$OMPI")/bin/mpicc
        mpirun=$(absolute "$OMPI")/bin/mpirun
        ompi_info=$(absolute "$OMPI")/bin/ompi_info
        [ -x "$mpicc" ] ||
            die "OMPI=$OMPI is not the prefix of an installed Open MPI: $mpicc is not there"
    fi
    version=$(open_mpi_version)
    if [ -z "$version" ] && command -v "$mpicc.openmpi" >/dev/null; then
        mpicc=$mpicc.openmpi
        mpirun=$mpirun.openmpi
        version=$(open_mpi_version)
    fi
    [ -n "$version" ] ||
        die "$mpicc is not Open MPI's compiler wrapper; pass OMPI=PREFIX, where an Open MPI is installed"
    case $version in
        4.1.* | 5.0.* | 6.0.*) ;;
        *) die "Open MPI $version ($mpicc) is not supported; supported out of tree: 4.1.x, 5.0.x, 6.0.x" ;;
    esac
}

open_mpi_version() {
    "$mpicc" --showme:version 2>/dev/null | sed -n 's/.*Open MPI \([^ ]*\) .*/\1/p'
}

# installed_path NAME: one of Open MPI's own directories.
installed_path() {
    "$ompi_info" --parsable --path "$1" | sed -n "s/^path:$1://p"
}
