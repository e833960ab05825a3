#!/bin/bash
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Usage: config/fetch-mpi4py.sh
#
# Puts the source of the installed python3-mpi4py, which has its tests, in
# build/download/, unless it is there, and prints its name. It is the upstream
# tarball inside Debian's source package, as of Open MPI in fetch-openmpi.sh; where
# that cannot be had, MPI4PY=TARBALL names one.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$root/config/debian-archives.sh"

if [ -n "${MPI4PY-}" ]; then
    [ -r "$MPI4PY" ] || die "MPI4PY=$MPI4PY cannot be read"
    printf '%s\n' "$MPI4PY"
    exit
fi

downloads=$build/download
private=$build/apt-mpi4py

version=$(dpkg-query -W -f '${source:Version}' python3-mpi4py 2>/dev/null) && [ -n "$version" ] ||
    die "python3-mpi4py is not installed"

downloaded() {
    ls "$downloads"/mpi4py_"${version%-*}".orig.tar.* 2>/dev/null || true
}

# The suites that this machine installs from: "URI SUITE main" each.
places() {
    apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' 2>/dev/null | awk '$3 == "main" && !seen[$0]++'
}

fetch() {
    local place
    while read -r place; do
        echo "== $place"
        # shellcheck disable=SC2086 # three words
        use_place $place || continue
        download_source mpi4py "$version" && return
    done < <(places)
    die "none of this machine's apt sources gave the source of mpi4py $version"
}

tarball=$(downloaded)
if [ -z "$tarball" ]; then
    # The long step is this script again, so that it has a log and a clock.
    if [ "${1-}" = --now ]; then
        fetch
        exit
    fi
    step fetch-mpi4py "Fetching the source of mpi4py $version" "${BASH_SOURCE[0]}" --now
    tarball=$(downloaded)
fi
printf '%s\n' "$tarball"
