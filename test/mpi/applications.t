#!/bin/bash
# Vector scatter and multigrid, of test/bench, with all their exchanges, against serial ones.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

bench=$root/test/bench/balaji
build applications "-I$bench" "-I$plans" "$bench"/{app_{region,exchange,scatter,grid,multigrid},by_hand}.c \
    "$plans/coll_pipering_plan_permuted.c" -lm

# values VARIABLE VALUE...: the values, if this Open MPI has the variable.
values() {
    local name=$1
    shift
    "$OMPI_PREFIX/bin/ompi_info" --all --parsable | grep -q ":param:$name:value:" && echo "$*"
}

on_one "as it comes" 4 60 "$bin/applications"
on_nodes "as it comes" 3,1,2 cyclic 60 "$bin/applications"
on_nodes "as it comes" 2,2,2,2 block 60 "$bin/applications"
on_nodes "without the component" 2,2 block 60 --mca coll ^pipering "$bin/applications"
for algorithm in $(values coll_pipering_alltoallw_algorithm bins permuted off)
do
    on_nodes "$algorithm" 3,1,2 block 60 --mca coll_pipering_alltoallw_algorithm "$algorithm" \
        "$bin/applications"
done
for lookahead in $(values opal_datatype_lookahead off research dual); do
    on_nodes "look-ahead $lookahead" 1,1,1 block 60 --mca opal_datatype_lookahead "$lookahead" \
        "$bin/applications"
done
finish
