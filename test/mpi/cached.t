#!/bin/bash
# Calls whose plan is kept: no memory that grows with the number of ranks.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build cached "$here/allocator.c" -pthread -ldl
on_one 'plans that are kept' 16 60 "$bin/cached"
finish
