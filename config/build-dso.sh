#!/bin/bash
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Usage: config/build-dso.sh
#
# Builds each component alone, as a shared object for an installed Open MPI,
# in build/dso-VERSION/. Such an object is good for exactly this release:
# Open MPI's own structures differ between releases. From the environment:
#   OMPI=      prefix of the installed Open MPI; that of mpicc on PATH if empty
#   OMPI_SRC=  its source tree, for headers that Open MPI 5.0 does not install;
#              if empty, a tree of the same version under build/, or its headers
#              out of Debian's source package
# Prints the name of each object.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$root/config/installed-openmpi.sh"

# Only the default, the distribution's own Open MPI, is ours to install. All
# packages are named at once.
need_open_mpi() {
    [ -n "${OMPI-}" ] || command -v mpicc >/dev/null ||
        "$root/config/need-packages.sh" compiler dso headers
}

need_tools() {
    local groups=()
    [ -n "${CC-}" ] || command -v gcc >/dev/null || groups+=(compiler)
    if [[ $version = 5.* && -z ${OMPI_SRC-} ]]; then
        command -v pkg-config >/dev/null && command -v xz >/dev/null || groups+=(headers)
    fi
    [ ${#groups[@]} -eq 0 ] || "$root/config/need-packages.sh" "${groups[@]}"
}

# Sets include_dirs. The installed headers come first, so that a source tree
# configured otherwise gives only what is missing.
find_headers() {
    local dir missing before
    include_dirs=()
    for dir in $("$mpicc" --showme:incdirs); do
        include_dirs+=("$dir" "$dir/openmpi")
    done
    has_header ompi/mca/coll/coll.h "${include_dirs[@]}" ||
        die "$mpicc: Open MPI $version is installed without its developer headers (looked for ompi/mca/coll/coll.h in ${include_dirs[*]}); install one configured with --with-devel-headers, on Debian libopenmpi-dev"
    missing=$(missing_header)
    while [ -n "$missing" ]; do
        find_header "$missing"
        before=$missing
        missing=$(missing_header)
        [ "$missing" != "$before" ] ||
            die "$missing is needed with the headers of Open MPI $version, and is neither installed beside them nor $looked_for; pass CFLAGS=-IDIR, where DIR holds it"
    done
}

has_header() {
    local header=$1 dir
    shift
    for dir; do
        [ ! -f "$dir/$header" ] || return 0
    done
    return 1
}

# What stands in for headers that no installation has comes last. The system
# directories option keeps warnings in Open MPI's headers away from ours. Ranks decide alike on
# processors of different kinds, so nothing is rounded otherwise on some (-ffp-contract).
compile() {
    # shellcheck disable=SC2086 # lists of words
    ${CC:-gcc} -std=gnu99 -O2 -ffp-contract=off -fPIC -Wall -Wextra ${CFLAGS-} -I"$root" \
        "${include_dirs[@]/#/-isystem}" -isystem"$root/config/missing" "$@"
}

# The first header that is included in vain.
missing_header() {
    { find "$root"/ompi/mca/{common,coll} -name '*.[ch]' -printf '#include "%p"\n' | LC_ALL=C sort |
        LC_ALL=C compile -E -x c -o /dev/null - 2>&1 || true; } |
        sed -n "s/.*fatal error: '\{0,1\}\([^:' ]*\)[:'].*/\1/p" | head -n 1
}

# find_header NAME: adds to include_dirs where it should be; looked_for says where that is.
find_header() {
    case $1 in
        ompi/* | opal/*) find_source "$1" ;;
        event*) find_package libevent ;;
        *) find_package "${1%%[/_.]*}" ;;
    esac
}

# A library that Open MPI uses may have a directory of its own (Debian's PMIx).
find_package() {
    local option
    looked_for="in a directory that pkg-config names for $1"
    command -v pkg-config >/dev/null || "$root/config/need-packages.sh" headers
    for option in $(pkg-config --cflags-only-I "$1" 2>/dev/null); do
        include_dirs+=("${option#-I}")
    done
}

# find_source HEADER: the source tree that has it.
find_source() {
    local trees=("$build/openmpi-$version"{,-*}) tree found=
    [ -z "${OMPI_SRC-}" ] || trees=("$(absolute "$OMPI_SRC")")
    for tree in "${trees[@]}"; do
        ! has_header "$1" "$tree" || found=$tree
    done
    if [ -z "$found" ]; then
        [ -z "${OMPI_SRC-}" ] ||
            die "OMPI_SRC=$OMPI_SRC is not a source tree of Open MPI $version ($1 is not there)"
        found=$build/openmpi-$version-headers
        unpack_headers "$found"
    fi
    looked_for="in its source, $found"
    include_dirs+=("$found/opal/include" "$found/ompi/include" "$found")
}

# unpack_headers DIR: those of the source package.
unpack_headers() {
    local tarball new=$build/headers.new
    say "Open MPI $version is installed without some of its headers; they come from its source package"
    tarball=$("$root/config/fetch-openmpi.sh" "$version")
    rm -rf "$1" "$new"
    mkdir -p "$new"
    tar -xf "$tarball" -C "$new" --strip-components=1 --no-same-owner \
        --exclude='*/3rd-party' --wildcards '*/ompi/*.h' '*/opal/*.h' ||
        die "$tarball is not a release tarball of Open MPI $version; remove it and try again"
    mv "$new" "$1"
}

# What components share is in each of them here, and bound to it.
common=$root/ompi/mca/common/colltools

# Linked with libmpi, the object loads also where a program has loaded libmpi
# without making its symbols global (Python does).
build_component() {
    local dir=$1 object=$out/mca_$2.so sources
    mapfile -t sources < <(find "$root/$dir" "$common" -name '*.c' | LC_ALL=C sort)
    # shellcheck disable=SC2046,SC2086 # lists of words
    compile -shared -Wl,-Bsymbolic -o "$object" "${sources[@]}" \
        $("$mpicc" --showme:libdirs | xargs -n 1 printf -- '-L%s ') -lmpi ${LDFLAGS-} ||
        die "$dir does not build for Open MPI $version of $mpicc; the messages above say why"
    find "$root/$dir" "$common" -name 'help-*.txt' -exec cp {} "$out/" \;
    printf '%s\n' "$object"
}

need_open_mpi
find_installed
need_tools
find_headers
[ -n "$(component_dirs)" ] || die "$root/ompi/mca holds no component; is this checkout complete?"
out=$build/dso-$version
rm -rf "$out"
mkdir -p "$out"
for dir in $(component_dirs); do
    [[ $dir != ompi/mca/common/* ]] || continue
    name=${dir#ompi/mca/}
    build_component "$dir" "${name/\//_}"
done
