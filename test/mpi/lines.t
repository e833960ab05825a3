#!/bin/bash
# Short calls along the lines of a mesh: results, the ends of barriers, and which calls go so.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build lines

loud=(--mca coll_pipering_verbose 1)

# along CALL COMMUNICATOR: how many of these calls on it went along lines.
along() {
    lines "pipering: $1 on $2: lines of a mesh, "
}

# goes LABEL COMMUNICATOR: calls of both kinds have, in all forms; stays LABEL COMMUNICATOR: none.
goes() {
    local call
    for call in allreduce iallreduce allreduce_init barrier ibarrier barrier_init; do
        yes_if "$1: $call on $2 goes along lines" test 0 -lt "$(along "$call" "$2")"
    done
}

stays() {
    is "$1: no call on $2 goes along lines" "$(along '[a-z_]*' "$2")" 0
}

# on_mesh P MESH: all of it on a mesh of ranks.
on_mesh() {
    on_one "mesh $2" "$1" 60 --mca coll_pipering_mesh "$2" "${loud[@]}" "$bin/lines"
}

on_mesh 8 4x2
goes 4x2 all
goes 4x2 half
stays 4x2 torso
# The root's line: no phase is left out, none is one too many.
is "4x2: barriers take a phase a dimension" \
    "$(lines 'barrier.* on all: lines of a mesh, 2 phases; this rank: 4 messages in, 4 out')" \
    "$(along '[a-z_]*barrier[a-z_]*' all)"
on_mesh 7 7t
goes 7t all
yes_if "7t: two groups" said 'allreduce on all: lines of a mesh, .* 2 rounds '
on_mesh 8 2x2x2
goes 2x2x2 all

on_one "no mesh" 4 60 "${loud[@]}" "$bin/lines"
stays "no mesh" all
is "no mesh: no barrier comes to the component" "$(lines 'pipering: i?barrier[a-z_]* on')" 0

on_nodes "two ranks a vertex" 2,2,2,2 cyclic 60 --mca coll_pipering_mesh 2x2 "${loud[@]}" \
    "$bin/lines"
can_nodes && goes "two ranks a vertex" all
on_nodes "unlike numbers of ranks" 2,1,2,1 block 60 --mca coll_pipering_mesh 2x2 "${loud[@]}" \
    "$bin/lines"
can_nodes && stays "unlike numbers of ranks" all
can_nodes && yes_if "unlike numbers of ranks: it is said of barriers" \
    said 'barrier on all: left to the module below: no mesh serves the communicator'
finish
