#!/bin/bash
# What the modules below send for a call, as it reaches the PML, against the model of plan_below:
# coll/tuned and coll/basic between ranks of one machine, coll/han between nodes.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

headers=()
for dir in $("$OMPI_PREFIX/bin/mpicc" --showme:incdirs); do
    headers+=("-isystem$dir" "-isystem$dir/openmpi")
done
mapfile -t -O ${#headers[@]} headers < <(pkg-config --cflags-only-I pmix 2>/dev/null | xargs -r -n 1)
headers+=("-isystem$root/config/missing")
"$OMPI_PREFIX/bin/mpicc" "${headers[@]}" -include ompi/mca/pml/pml.h -E -x c /dev/null \
    >/dev/null 2>&1 || skip_all "this Open MPI has no developer headers"
build below "${headers[@]}" "${plan_sources[@]}" -lm

below=(--mca coll '^pipering,mleader' --mca pml ob1)
for p in 2 3 4 5 7 8 12 16 17; do
    on_one "coll/tuned" "$p" 120 "${below[@]}" "$bin/below"
done
on_nodes "coll/tuned" 1,1,1,1 block 120 "${below[@]}" -x MODULES=han -x LARGEST=16 "$bin/below"
for map in 2,2 2,2,2 4,4 2,2,2,2,2,2 3,2,1; do
    on_nodes "coll/han" "$map" block 240 "${below[@]}" -x MODULES=han "$bin/below"
done
on_nodes "coll/han" 2,2,2 cyclic 240 "${below[@]}" -x MODULES=han -x LARGEST=18 "$bin/below"
finish
