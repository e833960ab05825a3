#!/bin/bash
# The same arguments, the same nodes: the same bits, on every run.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build reproducible -lm

# bits: what the last job says that all bits are.
bits() {
    grep -a '^# bits ' "$work/out"
}

# twice HOW...: two runs, and their bits compared.
twice() {
    local first
    "$@"
    first=$(bits)
    "$@"
    is "$2: two runs" "$(bits)" "$first"
    yes_if "$2: which say what they got" [ -n "$first" ]
}

twice on_one reproducible 5 100 "$bin/reproducible"
if can_nodes; then
    twice on_nodes "reproducible, nodes" 3,1,2 cyclic 100 "$bin/reproducible"
    # without a description of the machine, streams of other calls show what links do
    twice on_nodes "reproducible, streams" 1,1,2,1 block 100 --mca coll_pipering_machine "" \
        "$bin/reproducible"
    twice on_nodes "reproducible, mesh" 1,1,1,1 block 100 --mca coll_pipering_mesh 2x2 \
        "$bin/reproducible"
fi
finish
