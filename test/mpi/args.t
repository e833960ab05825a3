#!/bin/bash
# Arrays and types that are gone before a nonblocking or persistent call is over.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build args "$here"/vanish.c "$here"/swap{,_topology}.c
for p in 1 3 5; do
    on_one args "$p" 60 "$bin/args"
done
on_one "args, without thresholds" 3 60 --mca coll_pipering_min_total 0 "$bin/args"
on_one "args, by messages" 3 60 --mca coll_pipering_ring_buffer_size 0 "$bin/args"
on_nodes args 1,1 block 60 "$bin/args"
on_nodes args 2,3,1 cyclic 60 "$bin/args"

finish
