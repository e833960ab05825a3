#!/bin/bash
# Communicators of processes from several launches, spawned or connected. What a rank of
# these knows of who is local to whom, others need not know: nothing may be decided by it.
# coll/han is left out: it does decide by it (stock Open MPI 5.0.7), and its
# MPI_Allgather waits for ever.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build spawned

# Between launches there is TCP only; the spawned ones are bound by default.
export PRTE_MCA_hwloc_default_binding_policy=none
launch=(--host localhost:4 --mca btl "tcp,sm,self" --mca btl_tcp_if_include lo --mca coll ^han)

on_one "as it is" 1 100 "${launch[@]}" "$bin/spawned"
on_one "a mesh" 1 100 "${launch[@]}" --mca coll_pipering_mesh 2x2 "$bin/spawned"

forced=(--mca coll_mleader_allgather_algorithm leaders)
for call in allgatherv:ring bcast:pipeline reduce:pipeline scan:pipeline exscan:pipeline \
    allreduce:merged; do
    forced+=(--mca "coll_pipering_${call%:*}_algorithm" "${call#*:}")
done
on_one "forced" 1 100 "${launch[@]}" "${forced[@]}" "$bin/spawned"
finish
