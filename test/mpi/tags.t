#!/bin/bash
# Tags: those of blocking calls are fixed, those of nonblocking ones are not.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build tags
for p in 2 4; do
    on_one tags "$p" 180 --mca mpi_param_check 0 "$bin/tags"
done
on_one "many messages" 34 180 --mca mpi_param_check 0 "$bin/tags"

finish
