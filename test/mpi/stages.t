#!/bin/bash
# Stages of chains and rings of broadcasts, reductions and scans, predicted and counted.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build stages
on_one stages 8 60 "$bin/stages"
on_nodes stages 1,1,1,1,1,1,1,1 block 60 "$bin/stages"
on_nodes stages 3,1,2,2 block 60 "$bin/stages"
on_nodes stages 2,3,1,2 cyclic 60 "$bin/stages"
on_nodes stages 4,4 random:2 60 "$bin/stages"
finish
