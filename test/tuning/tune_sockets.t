#!/bin/bash
# pipering-tune end to end in few minutes, where ranks share nodes and sockets: 4 nodes of
# 2 sockets of 4 ranks each, which are many more ranks than a small machine has processors.
# shellcheck source-path=SCRIPTDIR source=short_run.sh
. "$(dirname "$0")/short_run.sh"
all_long

command -v lstopo-no-graphics >/dev/null || skip_all "lstopo-no-graphics is missing"

nodes=(--nodes 4 --rate 100mbit)
mapping=(--no-machine --ppn 8 --sockets 2:4)
minutes=3
wanted=(--variables 'coll_mleader_exchange,coll_pipering_machine'
    --collectives allgather)

SECONDS=0
tune "$out"
ended
check_run "$SECONDS"
is "all ranks of all nodes took part" \
    "$(from_json 'r["machine"]["nodes"], r["machine"]["ppn"], r["machine"]["ranks"]')" "4 8 32"
yes_if "variables of both components were looked at" \
    grep -qx True <(from_json '{c["variable"].split("_")[1] for c in r["choices"]}
        == {"mleader", "pipering"}')
finish
