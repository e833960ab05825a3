#!/bin/bash
# Right results: counts, displacements, datatypes, communicators, threads and
# large numbers, under every setting of the component, on one node and several.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

for program in counts datatypes communicators threads large; do
    build "$program" -pthread
done

for p in 1 2 5 8; do
    on_one counts "$p" 60 "$bin/counts"
done
for p in 2 5; do
    on_one datatypes "$p" 90 "$bin/datatypes"
done
for p in 1 2 4 7; do
    on_one communicators "$p" 60 "$bin/communicators"
done
on_one threads 3 90 "$bin/threads"
on_one "threads, along a mesh" 4 60 --mca coll_pipering_mesh 2x2 --mca coll_pipering_verbose 1 \
    -x ALONG_MESH=1 "$bin/threads"
yes_if "calls of threads go along the mesh" said 'allgatherv on [^:]*: cycles of a mesh'
long on_one "large numbers" 2 100 "$bin/large"
on_one "large numbers" 4 60 -x TEST_TOTAL=0 "$bin/large"

on_nodes counts 1,1,1 block 60 "$bin/counts"
long on_nodes counts 3,1,2,1 random:1 90 "$bin/counts"
on_nodes datatypes 2,2,1 cyclic 120 "$bin/datatypes"
on_nodes communicators 3,1,2 random:2 90 "$bin/communicators"
long on_nodes threads 2,2 cyclic 90 "$bin/threads"

finish
