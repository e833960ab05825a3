#!/bin/bash
# Broadcasts, reductions and scans: what they move, and the order of operands.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build folds
on_one folds 2 60 "$bin/folds"
on_one folds 5 60 "$bin/folds"
on_nodes folds 1,1,1,1 block 60 "$bin/folds"
on_nodes folds 3,1,2 block 60 "$bin/folds"
on_nodes folds 2,3,1 cyclic 60 "$bin/folds"
finish
