#!/bin/bash
# Types, operations and communicators freed while requests of pipelines still need them.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build orphans
on_one orphans 2 30 "$bin/orphans"
on_one orphans 5 30 "$bin/orphans"
# Leaders would have the persistent MPI_Allgather (leaders.t has them).
on_nodes orphans 2,1 block 30 --mca coll_mleader_allgather_algorithm off "$bin/orphans"

finish
