#!/bin/bash
# Small calls: which are served.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build small

printf '%s\n' net_alpha=1 net_gap=1 net_latency=500 net_beta=1000 net_beta_most=1000 local_alpha=1 \
    local_gap=1 local_beta=1 >"$work/slow-links"
alone=(--mca coll ^mleader --mca coll_pipering_machine "$work/slow-links")
on_nodes "one rank a node" 1,1,1,1,1 block 60 "${alone[@]}" "$bin/small"
on_nodes "nodes of several" 2,2,1 cyclic 60 "${alone[@]}" "$bin/small"
finish
