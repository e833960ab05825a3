#!/bin/bash
# pipering-tune end to end in few minutes, over UCX: 8 nodes with links of 100 Mbit/s.
# shellcheck source-path=SCRIPTDIR source=short_run.sh
. "$(dirname "$0")/short_run.sh"
all_long

over ucx || skip_all "$why_not"

nodes=(--nodes 8 --rate 100mbit)
mapping=(--ppn 1)
minutes=3
wanted=(--variables coll_pipering_block_size --collectives 'allgatherv,bcast')

SECONDS=0
tune "$out"
ended
check_run "$SECONDS"
is "jobs went over UCX" "$(from_json 'r["machine"]["pml"]')" ucx
is "all nodes took part" "$(from_json 'r["machine"]["nodes"], r["machine"]["ranks"]')" "8 8"
finish
