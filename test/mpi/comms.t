#!/bin/bash
# 2,000 communicators, made, used and freed: memory grows by no more than it
# does without the component, and no file in shared memory stays.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build comms

# What a process may have grown by beyond Open MPI's own growth: 1,500 rounds of
# a leak of 350 bytes.
slack=512

# growth: of the last job, in KiB.
growth() {
    sed -nE 's/^# growth (-?[0-9]+) KiB.*/\1/p' "$work/out"
}

shared() {
    sed -nE 's/^# growth .* shared memory files (-?[0-9]+)$/\1/p' "$work/out"
}

# grows_like_stock LABEL MAP: tests.
grows_like_stock() {
    local label=$1 map=$2 ours stock files
    on_nodes "$label" "$map" block 120 -x ROUNDS=2000 "$bin/comms"
    ours=$(growth)
    files=$(shared)
    on_nodes "$label, Open MPI as it is" "$map" block 120 --mca coll ^pipering -x ROUNDS=2000 "$bin/comms"
    stock=$(growth)
    yes_if "$label: grown by ${ours:-?} KiB, Open MPI as it is by ${stock:-?}" \
        test "${ours:-999999}" -le $(((${stock:-0} > 0 ? ${stock:-0} : 0) + slack))
    is "$label: files in shared memory" "$files" 0
}

# Nodes have a /dev/shm of their own, so others' files do not count.
if can_nodes; then
    grows_like_stock "2,000 communicators on a node" 4
    grows_like_stock "2,000 communicators on two nodes" 2,1
else
    skip "2,000 communicators" "$why_not"
    on_one "2,000 communicators" 4 120 -x ROUNDS=2000 "$bin/comms"
fi
finish
