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
#              a tree of the same version under build/ is used if empty
# Prints the name of each object.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$root/config/installed-openmpi.sh"

# 5.0 installs the header that includes it, but not this one.
unshipped=opal/mca/threads/pthreads/threads_pthreads_mutex.h

has_header() {
    local header=$1 dir
    shift
    for dir; do
        [ ! -f "$dir/$header" ] || return 0
    done
    return 1
}

# Sets include_dirs. The installed headers come first, so that a source tree
# configured otherwise gives only what is missing. What stands in for headers
# that no installation has comes last.
find_headers() {
    local dir source
    include_dirs=()
    for dir in $("$mpicc" --showme:incdirs); do
        include_dirs+=("$dir" "$dir/openmpi")
    done
    has_header ompi/mca/coll/coll.h "${include_dirs[@]}" ||
        die "$mpicc: Open MPI $version is installed without its developer headers (looked for ompi/mca/coll/coll.h in ${include_dirs[*]}); install one configured with --with-devel-headers, on Debian libopenmpi-dev"
    if [[ $version = 5.* ]] && ! has_header "$unshipped" "${include_dirs[@]}"; then
        source=$(source_tree)
        include_dirs+=("$source/opal/include" "$source/ompi/include" "$source")
    fi
    include_dirs+=("$root/config/missing")
}

source_tree() {
    local source
    for source in ${OMPI_SRC:+"$(absolute "$OMPI_SRC")"} "$build/openmpi-$version"{,-*}; do
        if [ -f "$source/$unshipped" ]; then
            printf '%s\n' "$source"
            return
        fi
        [ -z "${OMPI_SRC-}" ] || die "OMPI_SRC=$OMPI_SRC is not a source tree of Open MPI $version ($unshipped is not there)"
    done
    die "Open MPI $version installs its developer headers without $unshipped; pass OMPI_SRC=DIR, its source tree"
}

# What components share is in each of them here, and bound to it.
common=$root/ompi/mca/common/irregular

# The system directories option keeps warnings in Open MPI's headers away from
# ours. Linked with libmpi, the object loads also where a program has loaded
# libmpi without making its symbols global (Python does).
build_component() {
    local dir=$1 object=$out/mca_$2.so
    # shellcheck disable=SC2046,SC2086 # lists of words
    ${CC:-gcc} -std=gnu99 -O2 -fPIC -Wall -Wextra ${CFLAGS-} -shared -Wl,-Bsymbolic \
        -o "$object" \
        -I"$root" "${include_dirs[@]/#/-isystem}" "$root/$dir"/*.c "$common"/*.c \
        $("$mpicc" --showme:libdirs | xargs -n 1 printf -- '-L%s ') -lmpi ${LDFLAGS-} ||
        die "$dir does not build for Open MPI $version of $mpicc; the messages above say why"
    find "$root/$dir" "$common" -name 'help-*.txt' -exec cp {} "$out/" \;
    printf '%s\n' "$object"
}

# Only the default, the distribution's own Open MPI, is ours to install.
[ -n "${OMPI-}" ] || command -v mpicc >/dev/null || "$root/config/need-packages.sh" dso
find_installed
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
