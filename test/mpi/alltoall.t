#!/bin/bash
# MPI_Alltoallv, MPI_Alltoallw and MPI_Neighbor_alltoallw: random calls against a
# reference, and what must not depend on ranks that have no part in an exchange.
#
#   N=CASES SEED=NUMBER      other random calls; CASE=C P=RANKS replays one
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build alltoall "$here"/swap{case,,_topology}.c
for program in exchanges alltoall_threads; do
    build "$program" -pthread "$here"/swap{,_topology}.c
done

cases=${N:-100}
seed=${SEED:-1}
if [[ -n ${CASE-} ]]; then
    on_one alltoall "${P:?CASE wants P, the number of ranks}" 100 -x SEED="$seed" \
        -x CASE="$CASE" "$bin/alltoall"
    finish
fi

for p in 2 3 4 7; do
    on_one alltoall "$p" 100 -x SEED=$((seed + p)) -x N="$cases" "$bin/alltoall"
done
on_one alltoall 20 100 -x SEED=$((seed + 20)) -x N="$((cases / 2))" "$bin/alltoall"
on_nodes alltoall 2,1,2 cyclic 100 -x SEED=$((seed + 100)) -x N="$cases" "$bin/alltoall"

on_one exchanges 2 60 -x LARGE=1 "$bin/exchanges"
on_one exchanges 5 60 "$bin/exchanges"
on_one exchanges 20 100 "$bin/exchanges"
on_nodes exchanges 2,1,2 cyclic 60 "$bin/exchanges"
on_one "alltoall, threads" 3 60 "$bin/alltoall_threads"

finish
