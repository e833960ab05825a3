#!/bin/bash
# Broadcasts, reductions and scans: what they move, the order of operands, large numbers.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build folds
build large_folds
on_one folds 2 60 "$bin/folds"
on_one folds 5 60 "$bin/folds"
on_nodes folds 1,1,1,1 block 60 "$bin/folds"
on_nodes folds 3,1,2 block 60 "$bin/folds"
on_nodes folds 2,3,1 cyclic 60 "$bin/folds"

# 4.6 GB of memory
long on_one "large folds" 2 100 "$bin/large_folds"
on_one "large folds" 4 60 -x TEST_TOTAL=0 "$bin/large_folds"
on_nodes "large folds" 2,1 block 60 -x TEST_TOTAL=0 "$bin/large_folds"
finish
