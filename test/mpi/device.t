#!/bin/bash
# Collectives on memory of a device, which the host must not touch: accelerator_fake.c has
# some that nobody can. Reductions that go to the module below are left out: without
# coll/cuda those of stock Open MPI 5.0.7 read it and die, as is tried first.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

if [[ ! -e $OMPI_PREFIX/include/openmpi/opal/mca/accelerator/accelerator.h ]]; then
    skip_all "this Open MPI has no framework accelerator, or no developer headers"
fi

components=$bin/components
mkdir -p "$components/cuda"
compile "$components/mca_accelerator_fake.so" -shared -fPIC "$here/accelerator_fake.c" \
    >"$work/cc" 2>&1 || {
    sed 's/^/# /' "$work/cc"
    echo "Bail out! accelerator_fake.c does not compile"
    exit 1
}
build device -lopen-pal
export OMPI_MCA_mca_base_component_path=$components:SYSTEM_DEFAULT
# btl/sm would have the kernel copy into a device's memory.
export OMPI_MCA_smsc=^cma

# In a directory of its own, where libraries of networks leave a file if a process dies.
run_stock() {
    cd "$work" && ulimit -c 0 &&
        "$testbed" local -n 3 --timeout 300 -- --mca coll ^pipering,mleader -x CALL="$1" -x FORM=0 \
            "$bin/device" >"$work/out" 2>&1
}

# stock CALL: whether stock Open MPI can do it; skipped where it cannot.
stock() {
    if (run_stock "$1"); then
        ok "stock Open MPI: $1"
    else
        skip "stock Open MPI: $1" "it touches memory of the device"
    fi
}

for call in allgatherv allgather bcast reduce scan exscan allreduce alltoallv alltoallw \
    neighbor_alltoallw; do
    stock "$call"
done

# forced CALL:ALGORITHM...: sets algorithms.
forced() {
    local call
    algorithms=(-x SERVED=1)
    for call in "$@"; do
        algorithms+=(--mca "coll_pipering_${call%:*}_algorithm" "${call#*:}")
    done
}

leaders=(--mca coll_mleader_allgather_algorithm leaders)
messages=(--mca coll_mleader_aggregation gather)
lines=(bcast:pipeline reduce:pipeline scan:pipeline exscan:pipeline)

on_one "as it is, without reductions" 4 100 -x MOVES=1 "$bin/device"
forced allgatherv:ring "${lines[@]}" allreduce:merged
on_one "rings, lines and leaders" 3 100 "${algorithms[@]}" "${leaders[@]}" "$bin/device"
on_nodes "rings, lines and leaders" 2,1,2 cyclic 100 "${algorithms[@]}" "${leaders[@]}" \
    "$bin/device"
forced allgatherv:dissemination allgather:recursive_doubling "${lines[@]}" allreduce:ring
on_one "rounds" 4 100 "${algorithms[@]}" "$bin/device"
on_nodes "rounds" 2,2 block 100 "${algorithms[@]}" "$bin/device"
forced reduce:pipeline allreduce:ring
for call in reduce allreduce; do
    on_one "sums in fixed point: $call" 3 100 -x CALL="$call" -x FLOATS=1 "${algorithms[@]}" \
        --mca coll_pipering_fixed_point_sum 1 "$bin/device"
done
on_one "leaders and messages" 4 100 -x CALL=allgather -x FORM=0 -x SERVED=1 "${leaders[@]}" \
    "${messages[@]}" --mca coll_mleader_groups 2 "$bin/device"
on_one "leaders and slices" 4 100 -x CALL=allgather -x FORM=0 -x SERVED=1 "${leaders[@]}" \
    --mca coll_mleader_segment_size 16384 --mca coll_mleader_groups 2 "$bin/device"

# Open MPI's own staging for blocking reductions, which a build without CUDA leaves out.
cuda() {
    local cuda=$1/ompi/mca/coll/cuda
    [[ -e $cuda/coll_cuda.h ]] &&
        compile "$components/cuda/mca_coll_cuda.so" -shared -fPIC -w -I"$1" -I"$1/opal/include" \
            -I"$1/ompi/include" "$cuda"/*.c >"$work/cc" 2>&1
}

if cuda "${BUILD_DIR:-$root/build}/openmpi-$("$OMPI_PREFIX/bin/ompi_info" --version |
    sed -n 's/^Open MPI v//p')"; then
    OMPI_MCA_mca_base_component_path=$components/cuda:$OMPI_MCA_mca_base_component_path
    on_one "coll/cuda above" 3 100 -x FORM=0 "$bin/device"
    on_one "coll/cuda below" 3 100 -x FORM=0 --mca coll_pipering_priority 90 "$bin/device"
else
    skip "coll/cuda above and below" "there are no sources of coll/cuda"
fi
finish
