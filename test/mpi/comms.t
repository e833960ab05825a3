#!/bin/bash
# Thousands of communicators, made, used and freed: memory grows by no more than it
# does without the component, and no file in shared memory stays.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build comms

# figure NAME UNIT: of the last job.
figure() {
    sed -nE "s/^# .*$1 (-?[0-9]+) ?$2.*/\\1/p" "$work/out"
}

# within OURS STOCK SLACK: OURS may be SLACK beyond STOCK.
within() {
    test "${1:-999999999}" -le $(((${2:-0} > 0 ? ${2:-0} : 0) + $3))
}

# grows_like_stock LABEL MAP ROUNDS: tests. 150,000 bytes of malloc are 25 for each of 6,000.
# A free list of Open MPI may grow in any run by more than that, a leak grows in
# every run: so the best of three counts.
grows_like_stock() {
    local label=$1 map=$2 rounds=$3 pages bytes files stock_pages stock_bytes
    on_nodes "$label, Open MPI as it is" "$map" block 120 --mca coll ^pipering \
        -x ROUNDS="$rounds" "$bin/comms"
    stock_pages=$(figure growth KiB)
    stock_bytes=$(figure allocated bytes)
    for _ in 1 2 3; do
        on_nodes "$label" "$map" block 120 -x ROUNDS="$rounds" "$bin/comms"
        pages=$(figure growth KiB)
        bytes=$(figure allocated bytes)
        files=$(figure files '')
        within "$bytes" "$stock_bytes" 150000 && within "$pages" "$stock_pages" 512 && break
    done
    yes_if "$label: VmRSS: grown by ${pages:-?} KiB, Open MPI as it is by ${stock_pages:-?}" \
        within "$pages" "$stock_pages" 512
    yes_if "$label: malloc: grown by ${bytes:-?} bytes, Open MPI as it is by ${stock_bytes:-?}" \
        within "$bytes" "$stock_bytes" 150000
    is "$label: files in shared memory" "$files" 0
}

# keeps_like_stock LABEL: 1,500 communicators that live at once, after 500 others: what they take is
# no more than what Open MPI as it comes keeps for them, to 5%. Much of that is coll/han's, which
# makes communicators of its own where large calls are not ours.
keeps_like_stock() {
    local label=$1 bytes stock_bytes options=(-x ROUNDS=2000 -x KEEP=1)
    on_nodes "$label, Open MPI as it is" 6,6,5 block 240 \
        --mca coll ^pipering,mleader "${options[@]}" "$bin/comms"
    stock_bytes=$(figure allocated bytes)
    on_nodes "$label" 6,6,5 block 240 "${options[@]}" "$bin/comms"
    bytes=$(figure allocated bytes)
    yes_if "$label: malloc: ${bytes:-?} bytes, Open MPI as it is ${stock_bytes:-?}" \
        within "$bytes" "$stock_bytes" $((${stock_bytes:-0} / 20))
}

# Nodes have a /dev/shm of their own, so others' files do not count.
if can_nodes; then
    grows_like_stock "1,500 communicators on two nodes" 2,1 1500
    long grows_like_stock "6,000 communicators on a node" 4 6000
    long grows_like_stock "6,000 communicators on two nodes" 2,1 6000
    long keeps_like_stock "2,000 living communicators"
else
    skip "6,000 communicators" "$why_not"
    skip "2,000 living communicators" "$why_not"
    on_one "6,000 communicators" 4 120 -x ROUNDS=6000 "$bin/comms"
fi
finish
