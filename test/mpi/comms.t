#!/bin/bash
# 2,000 communicators, made, used and freed: memory grows by no more than it
# does without the component, and no file in shared memory stays.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build comms

# figure NAME UNIT: of the last job.
figure() {
    sed -nE "s/^# .*$1 (-?[0-9]+) ?$2.*/\\1/p" "$work/out"
}

# no_more NAME OURS STOCK SLACK UNIT: a test; OURS may be SLACK beyond STOCK. For
# malloc that is 40 bytes a communicator, since free lists grow now and then.
no_more() {
    yes_if "$1: grown by ${2:-?} $5, Open MPI as it is by ${3:-?}" \
        test "${2:-999999999}" -le $(((${3:-0} > 0 ? ${3:-0} : 0) + $4))
}

# grows_like_stock LABEL MAP: tests.
grows_like_stock() {
    local label=$1 map=$2 pages bytes files
    on_nodes "$label" "$map" block 120 -x ROUNDS=2000 "$bin/comms"
    pages=$(figure growth KiB)
    bytes=$(figure allocated bytes)
    files=$(figure files '')
    on_nodes "$label, Open MPI as it is" "$map" block 120 --mca coll ^pipering -x ROUNDS=2000 "$bin/comms"
    no_more "$label: VmRSS" "$pages" "$(figure growth KiB)" 512 KiB
    no_more "$label: malloc" "$bytes" "$(figure allocated bytes)" 60000 bytes
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
