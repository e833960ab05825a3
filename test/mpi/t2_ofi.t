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

for program in counts datatypes communicators threads; do
    build "$program" -pthread
done
for program in alltoall exchanges alltoall_threads; do
    build "$program" -pthread "$here"/swap{,_topology}.c
done
for program in nonblocking folds fuzz rush orphans tags; do
    build "$program"
done
build hops "$here/fault.c" -ldl
build leaders "$here/fault.c" -ldl
build leaders_rows -pthread
build leaders_error
seed=${SEED:-1}
echo "# SEED=$seed"
replay=(-x SEED="$seed" -x N="${N:-20}")
two=(--mca coll_mleader_groups 2)

# What one node has of its own: shared memory of the transport, and ours beside it.
on_one_node() {
    on_one counts 5 90 "$bin/counts"
    on_one datatypes 3 120 "$bin/datatypes"
    on_one communicators 4 90 "$bin/communicators"
    on_one threads 3 200 "$bin/threads"
    on_one nonblocking 3 90 "$bin/nonblocking"
    on_one folds 5 90 "$bin/folds"
    on_one alltoall 4 120 "${replay[@]}" "$bin/alltoall"
    on_one exchanges 5 90 "$bin/exchanges"
    on_one "alltoall, threads" 3 90 "$bin/alltoall_threads"
    on_one rush 3 90 "${replay[@]}" "$bin/rush"
    on_one "ring buffers" 4 90 "$bin/hops"
    on_one "a message that is too long" 3 60 --mca mpi_param_check 0 \
        --mca coll_mleader_segment_size 0 --mca coll_mleader_groups 3 \
        --mca coll_mleader_exchange ring "$bin/leaders_error"
    on_one orphans 5 60 "$bin/orphans"
    on_one tags 4 60 --mca mpi_param_check 0 "$bin/tags"
    on_one fuzz 4 120 "${replay[@]}" "$bin/fuzz"
}

on_many_nodes() {
    on_nodes counts 3,1,2,1 random:1 120 "$bin/counts"
    on_nodes datatypes 2,2,1 cyclic 120 "$bin/datatypes"
    on_nodes communicators 3,1,2 random:2 120 "$bin/communicators"
    on_nodes threads 2,2 cyclic 200 "$bin/threads"
    on_nodes nonblocking 2,3,1 cyclic 90 "$bin/nonblocking"
    on_nodes folds 3,1,2 block 90 "$bin/folds"
    on_nodes alltoall 2,1,2 cyclic 120 "${replay[@]}" "$bin/alltoall"
    on_nodes exchanges 2,1,2 cyclic 90 "$bin/exchanges"
    on_nodes leaders 3,1,2 cyclic 90 "${two[@]}" -x FEW=4 "$bin/leaders"
    on_nodes "rows of calls with leaders" 2,3,1,2 random:2 90 "${replay[@]}" "${two[@]}" \
        "$bin/leaders_rows"
    on_nodes rush 2,1,3 cyclic 150 "${replay[@]}" "$bin/rush"
    on_nodes orphans 2,1 block 60 "$bin/orphans"
    on_nodes fuzz 3,1,2 cyclic 120 "${replay[@]}" "$bin/fuzz"
}

for pml in ${PMLS:-ucx ofi}; do
    if over "$pml"; then
        on_one_node
        on_many_nodes
    else
        skip "all over $pml" "$why_not"
    fi
done
finish
