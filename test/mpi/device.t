#!/bin/bash
# Collectives on memory of a device, which the host must not touch: accelerator_fake.c has
# some that nobody can. Reductions that go to the module below are left out: without
# coll/cuda those of stock Open MPI 5.0.7 read it and die.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

if [[ ! -e $OMPI_PREFIX/include/openmpi/opal/mca/accelerator/accelerator.h ]]; then
    skip_all "this Open MPI has no framework accelerator, or no developer headers"
fi

components=$bin/components
mkdir -p "$components/cuda"
compile "$components/mca_accelerator_fake.so" -shared -fPIC -isystem "$root/config/missing" \
    "$here/accelerator_fake.c" \
    >"$work/cc" 2>&1 || {
    sed 's/^/# /' "$work/cc"
    echo "Bail out! accelerator_fake.c does not compile"
    exit 1
}
build device "$here"/{fuzzcase,vanish}.c -isystem "$root/config/missing" -pthread -lopen-pal
export OMPI_MCA_mca_base_component_path=$components:SYSTEM_DEFAULT
# btl/sm would have the kernel copy into a device's memory, btl/self would do so itself.
export OMPI_MCA_smsc=^cma OMPI_MCA_btl_self_flags=1

on_one "copies" 3 60 -x COPIES=1 -x ONE_NODE=1 "$bin/device"
on_nodes "copies" 1,1,1 block 60 -x COPIES=1 "$bin/device"
on_nodes "copies" 2,1,2 cyclic 60 -x COPIES=1 "$bin/device"
on_one "as it comes" 3 100 -x N=150 "$bin/device"
on_nodes "as it comes" 2,1,2 cyclic 100 -x SEED=2 -x N=100 "$bin/device"
on_one "pulls" 3 100 -x PULLS=1 -x N=100 "$bin/device"
on_nodes "leaders of nodes" 2,1,2 block 100 -x PULLS=1 -x SEED=3 -x N=60 "$bin/device"
on_nodes "the progress thread" 1,1,1 block 100 -x N=60 -x LEVEL=3 \
    --mca coll_pipering_progress_thread 1 "$bin/device"
for options in "coll_mleader_groups 2" "coll_mleader_groups 4"; do
    # shellcheck disable=SC2086 # a variable and its value
    on_one "leaders, $options" 4 100 -x LEADERS=1 -x N=30 --mca $options "$bin/device"
    # shellcheck disable=SC2086 # likewise
    on_one "leaders alone, $options" 4 100 -x LEADERS=1 -x STAGED=1 -x N=30 --mca $options \
        "$bin/device"
done

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
    on_one "coll/cuda above" 3 100 -x STAGED=1 -x N=40 "$bin/device"
    on_one "coll/cuda below" 3 100 -x STAGED=1 -x N=40 --mca coll_pipering_priority 90 "$bin/device"
else
    skip "coll/cuda above and below" "there are no sources of coll/cuda"
fi
finish
