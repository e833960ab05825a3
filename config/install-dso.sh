#!/bin/bash
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Usage: config/install-dso.sh
#
# Builds the components for an installed Open MPI (see build-dso.sh) and
# copies them to DIR, by default ~/.openmpi/components, where any Open MPI of
# this user looks.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$root/config/installed-openmpi.sh"

users_components=${HOME:-/}/.openmpi/components

in_open_mpi() {
    [ "$dir" = "$(realpath -m -- "$(installed_path pkglibdir)")" ]
}

# The directories where the ranks of a job look for components, if mpirun sets them: settings of
# Debian 13's PMIx for its own components reach the ranks as if they were for Open MPI's.
path_of_jobs() {
    env -u OMPI_MCA_mca_base_component_path timeout 20 "$mpirun" --allow-run-as-root -n 1 env \
        2>/dev/null </dev/null | sed -n 's/^OMPI_MCA_mca_base_component_path=//p'
}

# Open MPI looks in its own directory of components and in the user's.
say_how_to_load() {
    local path why="Open MPI does not look there by itself"
    path=$(path_of_jobs) || path=
    if [ -n "$path" ]; then
        why="Jobs do not look there by themselves (this system's mpirun sets another path, $path)"
    elif [ "$dir" = "$(absolute "$users_components")" ] || in_open_mpi; then
        return
    fi
    say "$why: run with"
    say "    OMPI_MCA_mca_base_component_path=$dir:SYSTEM_DEFAULT:USER_DEFAULT"
}

built=$("$root/config/build-dso.sh")
mapfile -t objects <<<"$built"
find_installed
dir=$(absolute "${DIR:-$users_components}")
mkdir -p "$dir" && [ -w "$dir" ] ||
    die "cannot write to $dir; choose another directory with DIR=, nothing was installed"
install -m 755 "${objects[@]}" "$dir/"
say "Installed for Open MPI $version, and for no other release, in $dir:"
for object in "${objects[@]}"; do
    say "    ${object##*/}"
done
say_how_to_load
