#!/bin/bash
# Large numbers: more than 2^31 bytes in all, and data far from each other.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build large
build large_folds
build large_counts

# 4.6 GB of memory
long on_one "large numbers" 2 100 "$bin/large"
long on_one "large folds" 2 100 "$bin/large_folds"
long on_one "more elements than an int counts" 2 300 "$bin/large_counts"
on_one "large numbers" 4 60 -x TEST_TOTAL=0 "$bin/large"
on_one "large folds" 4 60 -x TEST_TOTAL=0 "$bin/large_folds"
on_nodes "large folds" 2,1 block 60 -x TEST_TOTAL=0 "$bin/large_folds"
finish
