#!/bin/bash
# Variables that are not equal on all ranks: rank 0 names them, and others serve the calls; on ranks
# of a node, which other nodes do not know of, calls fail with a sentence.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build unequal

# unequal VARIABLE VALUE [OPTION...]: tests; rank 1 has another value of a variable of coll/pipering.
unequal() {
    on_one "$1 differs on rank 1" 3 60 "${@:3}" -x "VARIABLE=$1" -x "VALUE=$2" "$bin/unequal"
    yes_if "$1 differs on rank 1: rank 0 says so" said "coll_pipering_$1: rank 1\$"
    is "$1 differs on rank 1: and nothing else" "$(lines 'coll_pipering_[a-z_]*: rank')" 1
}

unequal window 30
unequal fixed_point_sum true
unequal bcast_algorithm off -x OFF=0
unequal bcast_algorithm off -x OFF=20

# unequal_leaders VARIABLE VALUE HOW ARGUMENT...: likewise a variable of coll/mleader.
unequal_leaders() {
    local label="mleader's $1 differs on rank 1"
    local pattern="coll_mleader_$1: rank 1\$"
    local set=(-x COMPONENT=mleader -x "VARIABLE=$1" -x "VALUE=$2")
    shift 2
    "$1" "$label" "${@:2}" "${set[@]}" "$bin/unequal"
    [[ $1 != on_nodes ]] || can_nodes || return
    yes_if "$label: rank 0 says so" said "$pattern"
    is "$label: and nothing else" "$(lines 'coll_[a-z]*_[a-z_]*: rank')" 1
}

forced=(on_one 4 60 --mca coll_mleader_allgather_algorithm leaders)
unequal_leaders groups 2 "${forced[@]}"
unequal_leaders segment_size 4096 "${forced[@]}"

# A node with other variables than the other one.
apart() {
    on_nodes "$1 differs on a node" 2,2 block 60 --mca "coll_$2_priority" 0 -x COMPONENT="$3" \
        -x VARIABLE="$1" -x VALUE="$4" -x FROM=2 -x TO=3 "$bin/unequal"
    can_nodes || return
    yes_if "$1 differs on a node: rank 0 says so" said "coll_$3_$1: rank 2, 3\$"
}
apart window mleader pipering 30
apart exchange pipering mleader bruck

# ends LABEL MAP WORDS ARGUMENT...: the job ends, and these words are said.
ends() {
    local label=$1 words=$3 status=0
    can_nodes || return
    "$testbed" with --nodes 2 -- "$testbed" mpirun --map "$2" --timeout 60 -- "${@:4}" \
        >"$work/out" 2>&1 || status=$?
    yes_if "$label: the job ends" test 0 -ne $status -a 124 -ne $status
    yes_if "$label: it is said why" said "$words"
}

ends "a rank differs from the other one of its node" 2,2 \
    'have different MCA variables or components, which$' \
    -x VARIABLE=window -x VALUE=30 "$bin/unequal"
# shellcheck disable=SC2016 # the rank's variables
ends "a node lacks the component" 1,1 'within 10 seconds: is the collective component pipering' \
    -x EMPTY=1 sh -c '[ 1 != "$OMPI_COMM_WORLD_RANK" ] || export OMPI_MCA_coll=^pipering,mleader
        exec "$0"' "$bin/unequal"

# Leaders serve nothing on one rank a node.
on_nodes "rank 1 alone is verbose" 1,1 block 30 --mca coll ^pipering -x COMPONENT=mleader \
    -x VARIABLE=verbose -x VALUE=1 -x EMPTY=1 "$bin/unequal"

# Rank 1 sends its contribution where the others send records of 8 bytes.
for part in 4 7 8; do
    on_nodes "leaders are off on rank 1, contributions of $part bytes" 2,2 block 60 \
        --mca coll_pipering_priority 0 -x COMPONENT=mleader -x "PART=$part" "$bin/unequal"
    can_nodes || continue
    yes_if "a message names the variable" said 'coll_mleader_allgather_algorithm must$'
done
finish
