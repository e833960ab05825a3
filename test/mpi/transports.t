#!/bin/bash
# Over other transports than ob1's: UCX (pml/ucx) and libfabric (pml/cm with mtl/ofi), whose
# eager and rendezvous protocols, numbers of bits in a tag, and ways of completing requests
# are their own. What other tests run over ob1, a little of each; failures are in oom.t and
# killed.t.
#
#   N=CASES SEED=NUMBER      other random calls
#   PMLS="ucx ofi"           over some of them
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build_fuzz
for program in exchanges tags leaders_error; do
    build "$program"
done
build hops "$here/fault.c" -ldl
seed=${SEED:-1}
echo "# SEED=$seed"
replay=(-x SEED="$seed" -x N="${N:-40}")
# Seconds; a busy machine needs them.
limit=240
two=(--mca coll_mleader_groups 2 -x LEADERS=1)

# What one node has of its own: shared memory of the transport, and ours beside it.
on_one_node() {
    on_one fuzz 4 "$limit" "${replay[@]}" "$bin/fuzz"
    on_one "fuzz, threads" 3 "$limit" "${replay[@]}" -x THREADS=3 "$bin/fuzz"
    on_one "fuzz, leaders" 4 "$limit" "${replay[@]}" "${two[@]}" "$bin/fuzz"
    on_one "fuzz, turns" 3 "$limit" "${replay[@]}" -x TURNS=1 "$bin/fuzz"
    on_one exchanges 5 "$limit" "${whole[@]}" "$bin/exchanges"
    on_one "ring buffers" 4 "$limit" "$bin/hops"
    on_one tags 4 "$limit" --mca mpi_param_check 0 "$bin/tags"
}

on_many_nodes() {
    on_nodes fuzz 3,1,2 cyclic "$limit" "${replay[@]}" "$bin/fuzz"
    on_nodes exchanges 2,1,2 cyclic "$limit" "${whole[@]}" "$bin/exchanges"
    long on_nodes "fuzz, turns" 2,3,1 cyclic "$limit" "${replay[@]}" -x TURNS=1 "$bin/fuzz"
    long on_nodes "fuzz, threads" 2,2 cyclic "$limit" "${replay[@]}" -x THREADS=4 "$bin/fuzz"
    long on_nodes "fuzz, leaders" 2,3,1,2 random:2 "$limit" "${replay[@]}" "${two[@]}" "$bin/fuzz"
}

# After a message that is too long mtl/ofi receives nothing more over the tcp provider, also
# without these components.
too_long() {
    on_one "a message that is too long" 3 "$limit" --mca mpi_param_check 0 \
        --mca coll_mleader_segment_size 0 --mca coll_mleader_groups 3 \
        --mca coll_mleader_exchange ring "$bin/leaders_error"
}

for pml in ${PMLS:-ucx ofi}; do
    if over "$pml"; then
        whole=()
        [[ $pml != ofi ]] || whole=(-x TRUNCATE=no)
        on_one_node
        on_many_nodes
        if [[ $pml == ofi ]]; then
            skip "a message that is too long" "mtl/ofi hangs after it"
        else
            too_long
        fi
    else
        skip "all over $pml" "$why_not"
    fi
done
finish
