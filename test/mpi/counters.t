#!/bin/bash
# What calls move: bytes into each rank, once, and into each node against m - M_J, by the
# component's counters and by those of links.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# wire MAP BY SHAPE: a line "NODE RECEIVED MUST" a node, bytes of a call over
# the node's link and by m - M_J; the difference between 1 call and 9 leaves out
# what starting, measuring and ending take. Runs inside of a testbed.
wire() {
    local calls
    for calls in 1 9; do
        "$testbed" bytes >"$work/before.$calls"
        "$testbed" mpirun --map "$1" --by "$2" --timeout 300 -- \
            --mca coll_pipering_allgatherv_algorithm ring --mca coll_pipering_block_size 16384 \
            -x CALLS=$calls -x SHAPE="$3" "$bin/volume" >"$work/out.$calls" || cat "$work/out.$calls"
        "$testbed" bytes >"$work/after.$calls"
    done
    cd "$work" && awk '
        FILENAME ~ /^out/ && /^# enters/ { must[$3] = $4 }
        FILENAME == "before.1" || FILENAME == "after.9" { rx[$1] += $2 }
        FILENAME == "after.1" || FILENAME == "before.9" { rx[$1] -= $2 }
        END { for (node in must) { printf "%s %d %d\n", node, rx[node] / 8, must[node] } }
    ' {out,before,after}.[19] | sort
}

# off_by PERCENT NODES: nodes that received less than they must, or so much more
# (what acknowledges the bytes that a node sends comes on top, for nodes that get
# little), and whatever else is wrong.
off_by() {
    awk -v percent="$1" -v nodes="$2" -v slack=20000 '
        !/^n[0-9]+ [0-9]+ [0-9]+$/ || $2 < $3 || $2 > $3 * (1 + percent / 100) + slack
        END { if (NR != nodes) { print NR " lines" } }' "$work/wire"
}

shapes=("equal parts" "unequal parts" "all of one rank")

# on_wire MAP BY SHAPE: a test.
on_wire() {
    local nodes name="${shapes[$3]}, nodes of $1 ranks, $2: bytes over the link of each node"
    nodes=$(awk -F, '{ print NF }' <<<"$1")
    if ! can_nodes; then
        skip "$name" "$why_not"
        return
    fi
    "$testbed" with --nodes "$nodes" -- "$0" wire "$@" >"$work/wire"
    is "$name: within 10% of m - M_J" "$(off_by 10 "$nodes")" ""
}

if [[ ${1-} == wire ]]; then
    shift
    wire "$@"
    exit
fi

build counters
build volume

# mleader would serve some of the calls, and ask pipering to gather for its groups
printf '%s\n' net_alpha=100000 net_gap=100000 net_beta=0.000001 local_alpha=100000 local_gap=100000 \
    local_beta=0.000001 >"$work/dear-messages"
alone=(--mca coll ^mleader --mca coll_pipering_machine "$work/dear-messages")
on_one counters 2 40 "${alone[@]}" "$bin/counters"
on_one counters 5 40 "${alone[@]}" "$bin/counters"
on_nodes counters 1,1,1,1 block 60 "${alone[@]}" "$bin/counters"
on_nodes counters 1,5,2,1,1,1 block 90 "${alone[@]}" "$bin/counters"
on_nodes counters 1,5,2,1,1,1 cyclic 90 "${alone[@]}" "$bin/counters"
on_nodes counters 3,2,2 random:3 60 "${alone[@]}" "$bin/counters"

on_wire 1,1,1,1 block 0
on_wire 1,5,2,1,1,1 cyclic 1
on_wire 1,5,2,1,1,1 cyclic 2
on_wire 3,2,2 random:3 0
finish
