#!/bin/bash
# Over other transports than ob1's: UCX (pml/ucx) and libfabric (pml/cm with mtl/ofi), whose
# eager and rendezvous protocols, numbers of bits in a tag, and ways of completing requests
# are their own. What other tests run over ob1, a little of each; failures are in oom.t and
# killed.t.
#
#   N=CASES SEED=NUMBER      other random calls
#   PMLS="ucx ofi"           over some of them
#   ALL=1                    all programs over libfabric too
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

for program in counts datatypes communicators threads; do
    build "$program" -pthread
done
build alltoall "$here"/swap{case,,_topology}.c
for program in exchanges alltoall_threads; do
    build "$program" -pthread "$here"/swap{,_topology}.c
done
build fuzz "$here/fuzzcase.c"
for program in nonblocking folds rush orphans tags; do
    build "$program"
done
build hops "$here/fault.c" -ldl
build leaders "$here/fault.c" -ldl
build leaders_rows -pthread
build leaders_error
seed=${SEED:-1}
echo "# SEED=$seed"
replay=(-x SEED="$seed" -x N="${N:-20}")
# Seconds; a busy machine needs them.
limit=240
two=(--mca coll_mleader_groups 2)

# What one node has of its own: shared memory of the transport, and ours beside it.
on_one_node() {
    on_one counts 5 "$limit" "$bin/counts"
    on_one datatypes 3 "$limit" "$bin/datatypes"
    on_one communicators 4 "$limit" "$bin/communicators"
    on_one threads 3 "$limit" "$bin/threads"
    on_one nonblocking 3 "$limit" "$bin/nonblocking"
    on_one folds 5 "$limit" "$bin/folds"
    on_one alltoall 4 "$limit" "${replay[@]}" "$bin/alltoall"
    on_one exchanges 5 "$limit" "${whole[@]}" "$bin/exchanges"
    on_one "alltoall, threads" 3 "$limit" "$bin/alltoall_threads"
    on_one rush 3 "$limit" "${replay[@]}" "$bin/rush"
    on_one "ring buffers" 4 "$limit" "$bin/hops"
    on_one orphans 5 "$limit" "$bin/orphans"
    on_one tags 4 "$limit" --mca mpi_param_check 0 "$bin/tags"
    on_one fuzz 4 "$limit" "${replay[@]}" "$bin/fuzz"
}

on_many_nodes() {
    long on_nodes communicators 3,1,2 random:2 "$limit" "$bin/communicators"
    long on_nodes nonblocking 2,3,1 cyclic "$limit" "$bin/nonblocking"
    on_nodes folds 3,1,2 block "$limit" "$bin/folds"
    on_nodes alltoall 2,1,2 cyclic "$limit" "${replay[@]}" "$bin/alltoall"
    on_nodes exchanges 2,1,2 cyclic "$limit" "${whole[@]}" "$bin/exchanges"
    long on_nodes rush 2,1,3 cyclic "$limit" "${replay[@]}" "$bin/rush"
    on_nodes orphans 2,1 block "$limit" --mca coll_mleader_allgather_algorithm off "$bin/orphans"
    on_nodes fuzz 3,1,2 cyclic "$limit" "${replay[@]}" "$bin/fuzz"
}

# After a message that is too long mtl/ofi receives nothing more over the tcp provider, also
# without these components.
too_long() {
    on_one "a message that is too long" 3 "$limit" --mca mpi_param_check 0 \
        --mca coll_mleader_segment_size 0 --mca coll_mleader_groups 3 \
        --mca coll_mleader_exchange ring "$bin/leaders_error"
}

# Programs of thousands of small calls, which take minutes over the tcp provider of libfabric.
of_many_calls() {
    on_nodes counts 3,1,2,1 random:1 "$limit" "$bin/counts"
    on_nodes datatypes 2,2,1 cyclic "$limit" "$bin/datatypes"
    on_nodes threads 2,2 cyclic "$limit" "$bin/threads"
    on_nodes leaders 3,1,2 cyclic "$limit" "${two[@]}" -x FEW=4 "$bin/leaders"
    on_nodes "rows of calls with leaders" 2,3,1,2 random:2 "$limit" "${replay[@]}" "${two[@]}" \
        "$bin/leaders_rows"
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
        if [[ $pml == ofi && -z ${ALL-} ]]; then
            skip "five programs of many small calls, on nodes" "too slow over $pml; ALL=1 runs them"
        else
            long of_many_calls "five programs of many small calls, on nodes, over $pml"
        fi
    else
        skip "all over $pml" "$why_not"
    fi
done
finish
