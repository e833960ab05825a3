#!/bin/bash
# Exchanges of all with all, and with neighbours: what must not depend on ranks that have no part
# in one, and what is sent; MPI_Alltoall. Random ones are in the fuzzer's cases.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build exchanges
build alltoall_equal

on_one exchanges 2 60 -x LARGE=1 "$bin/exchanges"
on_one exchanges 5 60 "$bin/exchanges"
on_one exchanges 20 100 "$bin/exchanges"
on_nodes exchanges 2,1,2 cyclic 60 "$bin/exchanges"
for p in 2 5; do
    on_one alltoall_equal "$p" 60 "$bin/alltoall_equal"
done
finish
