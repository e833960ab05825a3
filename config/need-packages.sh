#!/bin/bash
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Usage: config/need-packages.sh build|transports|fortran|compiler|dso|headers|deb|test|figures|programs|simulate|package:NAME ...
#
# Installs what is missing of these groups of Debian packages, after saying
# what. Without root it prints the line to run and stops; it goes on when only
# packages of transports or tests are missing, since Open MPI builds without the
# first, and a test that lacks its tool says so and skips. On a system without
# Debian's packages it looks for the programs.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

packages() {
    case $1 in
        # What Open MPI's autogen.pl, configure and make want, and for the demo iproute2, network
        # namespaces of the test bed, and python3, its table.
        build) echo gcc g++ libc6-dev make perl flex autoconf automake libtool libltdl-dev \
                   pkg-config patch xz-utils libhwloc-dev libevent-dev zlib1g-dev iproute2 \
                   python3 ;;
        # Open MPI is built with them where they are. All doors that build it want them, so that
        # none finds others than the one before, and builds again.
        transports) echo libucx-dev libfabric-dev ;;
        fortran) echo gfortran ;;
        # What components for an installed Open MPI are built with; the distribution's own
        # Open MPI; the headers of PMIx, which those of 5.0 and 6.0 include.
        compiler) echo gcc libc6-dev ;;
        dso) echo libopenmpi-dev openmpi-bin ;;
        headers) echo pkg-config libpmix-dev ;;
        deb) echo build-essential debhelper dpkg-dev ;;
        # libopenmpi-dev, openmpi-bin and debootstrap: the tests of components built out of tree.
        test) echo libopenmpi-dev openmpi-bin debootstrap valgrind libc6-dbg hwloc-nox procps \
                   python3-mpi4py python3-numpy python3-matplotlib libsimgrid-dev ;;
        # What test/bench/figures draws with.
        figures) echo python3-matplotlib ;;
        # What test/programs runs besides its programs, whose packages are named one by one.
        programs) echo libopenmpi-dev openmpi-bin gcc libc6-dev pkg-config iproute2 python3 ;;
        package:*) echo "${1#package:}" ;;
        # SimGrid, on which test/simulate plays plans.
        simulate) echo libsimgrid-dev python3 ;;
        *) die "need-packages.sh: unknown group '$1' (known: build, transports, fortran, compiler, dso, headers, deb, test, figures, programs, simulate, package:NAME)" ;;
    esac
}

programs() {
    case $1 in
        build) echo gcc g++ make perl flex autoconf automake libtoolize pkg-config patch xz python3 ;;
        fortran) echo gfortran ;;
        compiler) echo gcc ;;
        dso) echo mpicc ;;
        headers) echo pkg-config ;;
        deb) echo dh dpkg-buildpackage ;;
        programs) echo gcc pkg-config mpicc.openmpi ;;
        simulate) echo smpicc smpirun python3 ;;
    esac
}

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing_packages() {
    local group package
    for group; do
        for package in $(packages "$group"); do
            is_installed "$package" || printf '%s\n' "$package"
        done
    done | sort -u | xargs
}

missing_programs() {
    local group program
    for group; do
        for program in $(programs "$group"); do
            command -v "$program" >/dev/null || printf '%s\n' "$program"
        done
    done | sort -u | xargs
}

install_packages() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get update && apt-get install -y --no-install-recommends "$@"
}

for group; do
    packages "$group" >/dev/null
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    missing=$(missing_programs "$@")
    [ -z "$missing" ] || die "this is not a Debian system, and these programs are missing: $missing; install them and try again"
    exit 0
fi

missing=$(missing_packages "$@")
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -eq 0 ]; then
    # shellcheck disable=SC2086 # a list of names
    step "packages-$1" "Installing the missing packages: $missing" install_packages $missing
    exit 0
fi
say "Packages are missing, and only root can install them. As root:"
say "    apt-get install --no-install-recommends $missing"
required=()
for group; do
    [ "$group" = test ] || [ "$group" = transports ] || required+=("$group")
done
[ -z "$(missing_packages "${required[@]}")" ] || exit 1
say "These are optional: Open MPI is built without UCX or libfabric, and tests that lack them are skipped."
