#!/bin/bash
# MPI_Alltoall in packets on meshes; and a link that is unplugged in the midst of a call.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build alltoall_equal
build unplugged

on_one "alltoall_equal, a mesh inside one node" 4 60 --mca coll_pipering_mesh 2x2 \
    "$bin/alltoall_equal"

# on_mesh LABEL WIRING [MPIRUN'S OPTION]... PROGRAM: a rank on each node; the mesh is declared.
on_mesh() {
    local label=$1 wiring=$2
    shift 2
    # shellcheck disable=SC2016  # for the inner shell
    job "$label, $wiring" "$testbed" with --wiring "$wiring" -- bash -c \
        '"$0" mpirun --timeout 300 -- --mca coll_pipering_mesh "$TESTBED_MESH" "$@"' "$testbed" "$@"
}

# unplug SPARE: n0 and n1 of a square lose their link while all send to all.
unplug() {
    # shellcheck disable=SC2016  # for the inner shell
    "$testbed" with --wiring mesh:2x2 --rate 20mbit --spare "$1" -- bash -c '
        (sleep 2.5; "$0" link n0 n1 down) &
        "$0" mpirun --timeout 300 -- --mca coll_pipering_mesh 2x2 "$1"' "$testbed" "$bin/unplugged"
}

if ! can_nodes; then
    skip "meshes of nodes" "$why_not"
    finish
fi
for wiring in mesh:2x2 torus:3x2; do
    on_mesh alltoall_equal "$wiring" -x MESH=1 "$bin/alltoall_equal"
done

is "a link is unplugged: packets go another way" "$(unplug yes 2>"$work/err")" right

# no_other_way LABEL: TCP waits before it gives up.
no_other_way() {
    local begun=$SECONDS out took
    out=$(unplug no 2>"$work/err")
    took=$((SECONDS - begun))
    is "$1: the job ends" "${out##*right} $(grep -c 'did not end' "$work/err")" "$out 0"
    yes_if "$1: within a minute" test "$took" -lt 59
}
long no_other_way "a link is unplugged, and there is no other way"
finish
