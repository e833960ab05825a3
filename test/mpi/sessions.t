#!/bin/bash
# Programs of sessions, which have no MPI_COMM_WORLD, and may open one session after the other.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build sessions
forced=()
for call in allgatherv:ring bcast:pipeline allreduce:merged alltoallv:bins; do
    forced+=(--mca "coll_pipering_${call%:*}_algorithm" "${call#*:}")
done

on_one "as it is" 4 60 "$bin/sessions"
on_nodes "forced" 1,1,2 block 60 "${forced[@]}" "$bin/sessions"
on_nodes "on a mesh" 1,1,1,1 block 60 --mca coll_pipering_mesh 2x2 "$bin/sessions"

# A record for each session. Several ranks may wait for ever in a second MPI_Session_init (PMIx).
library=$(recorder "$OMPI_PREFIX/bin/mpicc")
on_one "recorded" 1 60 -x LD_PRELOAD="$library" -x PIPERING_WHY="$work/why" "$bin/sessions" 2
is "recorded: records of 2 sessions" "$(find "$work/why" -name 'why-*' | wc -l)" 2
finish
