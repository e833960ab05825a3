#!/bin/bash
# Which calls teach what links cost, and variables that are not equal on all ranks.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build lessons
build unequal
on_one lessons 4 60 "$bin/lessons"
on_nodes lessons 1,1,1,1 block 90 -x NODES=4 "$bin/lessons"
on_nodes lessons 2,3,1 cyclic 90 -x NODES=3 "$bin/lessons"

# unequal VARIABLE VALUE LABEL RANKS: tests; rank 1 has another value, and so have no others.
unequal() {
    on_one "$1 differs on rank 1" 3 60 -x "VARIABLE=$1" -x "VALUE=$2" "$bin/unequal"
    yes_if "$1 differs on rank 1: rank 0 says so" said "coll_pipering_$1: rank 1\$"
    is "$1 differs on rank 1: and nothing else" "$(lines 'coll_pipering_[a-z_]*: rank')" 1
}

unequal block_split full
unequal alpha 30
unequal ring_buffer false
unequal reorder_nodes false
finish
