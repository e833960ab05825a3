#!/bin/bash
# Ring buffers in shared memory: what they take of it, over many communicators and roots; calls
# of two communicators in any order; jobs where there is little room; ranks whose plans differ.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build leases

mkdir "$work/ring"
ring=(--mca coll_pipering_backing_directory "$work/ring" -x DIRECTORY="$work/ring")
yield=(--mca mpi_yield_when_idle 1)

# ---- what they take ----

on_one "growth" 8 120 "${yield[@]}" "${ring[@]}" -x WAY=growth "$bin/leases"
on_one "growth, a budget of 1 MiB" 4 120 "${yield[@]}" "${ring[@]}" \
    --mca coll_pipering_ring_buffer_budget 1048576 -x MOST=262144 -x WAY=growth "$bin/leases"

# small_shm COMMAND...: where /dev/shm is as small as containers have it.
small_shm() {
    # shellcheck disable=SC2016 # for the shell within
    unshare -m sh -c 'mount -t tmpfs -o size=64m pipering /dev/shm && exec "$@"' sh "$@"
}

if small_shm true >"$work/why" 2>&1; then
    real=$testbed
    # shellcheck disable=SC2317 # job calls it
    on_small() { small_shm "$real" "$@"; }
    testbed=on_small
    on_one "a /dev/shm of 64 MiB" 8 120 "${yield[@]}" \
        --mca btl_sm_single_copy_mechanism none -x DIRECTORY=/dev/shm -x COMMS=4 \
        -x MOST=1048576 -x WINDOW=2097152 -x WAY=growth "$bin/leases"
    on_one "a /dev/shm of 64 MiB, leaders" 4 60 "${yield[@]}" --mca btl self,tcp \
        --mca coll_mleader_allgather_algorithm leaders --mca coll_mleader_groups 2 \
        -x DIRECTORY=/dev/shm -x MOST=9000000 -x WAY=leaders "$bin/leases"
    is "a /dev/shm of 64 MiB, leaders: it is said once" \
        "$(lines '^A process on node .* cannot take more than its share')" 1
    testbed=$real
else
    skip "a /dev/shm of 64 MiB" "$(head -n 1 "$work/why")"
    skip "a /dev/shm of 64 MiB, leaders" "$(head -n 1 "$work/why")"
fi

# ---- two communicators ----

on_one "orders" 3 60 "${yield[@]}" -x WAY=orders --mca coll_pipering_ring_buffer_budget 67108864 \
    "$bin/leases"
on_one "orders, room for few" 3 60 "${yield[@]}" -x WAY=orders -x EXPECT=some \
    --mca coll_pipering_ring_buffer_budget 800000 "$bin/leases"

# ---- ranks that differ ----

# differ P WHAT [OPTION]...: all ranks fail, and it is said what differs.
differ() {
    local p=$1 what=$2
    shift 2
    on_one "ranks differ in $what" "$p" 30 "$@" "$bin/leases"
    yes_if "ranks differ in $what, $p ranks: it is said" said "^about .*$what"
}

for call in bcast reduce allreduce; do
    for p in 2 4; do
        differ "$p" "the size of blocks" -x WAY=differ -x CALL=$call -x VARIABLE=block_size \
            -x VALUE=40000 --mca coll_pipering_block_size 30000
    done
done
differ 2 "the number of bytes" -x WAY=counts -x CALL=bcast
differ 3 "the number of bytes" -x WAY=counts -x CALL=bcast \
    --mca coll_pipering_ring_buffer_budget 4096

finish
