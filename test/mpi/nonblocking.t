#!/bin/bash
# What nonblocking gathers must never do, on one node and several.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build nonblocking
for p in 2 6; do
    on_one nonblocking "$p" 60 "$bin/nonblocking"
done
long on_nodes nonblocking 1,1,1,1 block 60 "$bin/nonblocking"
on_nodes nonblocking 2,3,1 cyclic 60 "$bin/nonblocking"

on_nodes "nonblocking, along a mesh" 1,1,1,1 block 60 --mca coll_pipering_mesh 2x2 \
    --mca coll_pipering_verbose 1 -x ALONG_MESH=1 "$bin/nonblocking"
can_nodes && yes_if "calls go along the mesh" said 'iallgatherv on [^:]*: cycles of a mesh'

finish
