#!/bin/bash
# Sums in fixed point: the same bits for any number of ranks, order, nodes, algorithm and form.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

sums=$root/ompi/mca/coll/pipering/fixed_point
build fixed_point "-I$sums" "$sums/coll_pipering_plan_fixed_point.c" -lm
on=(--mca coll_pipering_fixed_point_sum 1)

# bits: what the last job says that the bits are.
bits() {
    grep -a '^# bits ' "$work/out"
}

on_one "sums of 1 to 17" 17 100 "${on[@]}" "$bin/fixed_point" orders
one=$(bits)
yes_if "which say what they got" [ -n "$one" ]
on_one "sums of 1 to 4" 4 100 "${on[@]}" "$bin/fixed_point" orders
is "the same bits on other ranks" "$(bits)" "$one"
# sums_on_nodes LABEL MAP: tests.
sums_on_nodes() {
    on_nodes "$1" "$2" cyclic 100 "${on[@]}" "$bin/fixed_point" orders
    ! can_nodes || is "$1, nodes of $2 ranks: the same bits" "$(bits)" "$one"
}
sums_on_nodes "sums of 1 to 4" 1,2,1
long sums_on_nodes "sums of 1 to 17" 5,1,7,4
on_one "forms and algorithms" 5 100 "${on[@]}" "$bin/fixed_point" forms
on_nodes "forms and algorithms" 2,1,3 random:7 100 "${on[@]}" "$bin/fixed_point" forms
on_nodes "forms and algorithms" 1,1,1,1 block 100 "${on[@]}" "$bin/fixed_point" forms
if can_nodes; then
    job "along a torus" "$testbed" with --wiring torus:2x3 -- "$testbed" mpirun --timeout 500 -- \
        --mca coll_pipering_mesh 2x3t "${on[@]}" "$bin/fixed_point" forms
else
    skip "along a torus" "$why_not"
fi
on_nodes "long vectors" 1,2 block 100 "${on[@]}" "$bin/fixed_point" long
on_one "switched off" 3 60 "$bin/fixed_point" off
finish
