#!/bin/bash
# The components built otherwise than users build them: by clang; with the sanitizers of addresses
# and of undefined behaviour; as the series for Open MPI leave them; in an Open MPI of its own with
# --enable-debug, whose assertions and checks of objects are on, and in one with FORTRAN=1. Each
# build is without a warning, and serves calls of ranks on one node and on several. The two
# Open MPIs take 20 minutes the first time; they stay under build/.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

all_long
variants=$bin/variants

# gathered_right LABEL [OPTION]...: jobs of the Open MPI of OMPI_PREFIX.
gathered_right() {
    build served
    on_one "$1" 4 60 "${@:2}" --mca coll_pipering_allgatherv_algorithm ring \
        --mca coll_pipering_allgather_algorithm ring "$bin/served"
    yes_if "$1: it serves all calls" said 'ring 4 below 0; allgather: ring 4 below 0'
}

# served_right LABEL [OPTION]...: the same, and random calls of all kinds.
served_right() {
    local label=$1
    gathered_right "$@"
    shift
    build_fuzz
    on_one "$label, fuzz" 5 180 "$@" -x SEED=81 -x N=300 "$bin/fuzz"
    on_nodes "$label, fuzz" 2,1,2 random:1 180 "$@" -x SEED=82 -x N=150 \
        -x REPLAY="MAP=2,1,2 BY=random:1" "$bin/fuzz"
    on_one "$label, fuzz, leaders" 4 120 "$@" --mca coll_mleader_groups 2 -x LEADERS=1 \
        -x SEED=83 -x N=30 "$bin/fuzz"
}

# no_warning LABEL FILE...: of what compilers said.
no_warning() {
    is "$1: without a warning" \
        "$(grep -hE '(coll|common)_?(pipering|mleader|colltools)[^ ]*: (warning|error)' "${@:2}")" ""
}

# series_right LABEL: what series 2 has of calls, and what series 3 has more.
series_right() {
    gathered_right "$1"
    build orders -pthread # the fuzzer wants the algorithms of all series
    on_one "$1, orders" 4 120 "$bin/orders"
    on_nodes "$1, orders" 2,1,1 cyclic 120 "$bin/orders"
    if [[ $1 == 'series 3' ]]; then
        build large_folds
        on_nodes "$1, folds" 2,1,2 cyclic 120 -x TEST_TOTAL=0 "$bin/large_folds"
    fi
}

# shared LABEL COMPILER FLAGS [OPTION]...: as shared objects, for this Open MPI, from $sources;
# $jobs_of tests them.
sources=$root
jobs_of=served_right
shared() {
    local label=$1 dir=$work/components.$count
    if ! env -u BUILD_DIR OMPI="$OMPI_PREFIX" DIR="$dir" CC="$2" CFLAGS="$3" \
        make -s -C "$sources" install-dso >"$work/make" 2>&1; then
        not_ok "$label: make install-dso"
        sed 's/^/# /' "$work/make"
        return
    fi
    ok "$label: make install-dso"
    no_warning "$label" "$work/make"
    OMPI_MCA_mca_base_component_path=$dir:SYSTEM_DEFAULT:USER_DEFAULT \
        "$jobs_of" "$label" "${@:4}"
}

# whole LABEL NAME=VALUE...: in an Open MPI of its own that is built with these variables.
whole() {
    local label=$1 own=$variants/$1 logs=$root/build/logs
    shift
    mkdir -p "$own"
    if ! env -u OMPI_PREFIX -u BUILD_DIR "$@" "$root/config/build-openmpi.sh" "$own/install" \
        >"$work/make" 2>&1; then
        not_ok "$label: Open MPI"
        sed 's/^/# /' "$work/make"
        return 1
    fi
    ok "$label: Open MPI"
    no_warning "$label" "$logs"/*.log
    export OMPI_PREFIX=$own/install
    bin=$own/test
    mkdir -p "$bin"
    served_right "$label"
}

if command -v clang >/dev/null; then
    # gcc's Open MPI names a type in its headers that clang may lack, and that nothing here uses
    shared "clang" clang -D_Float16=short
else
    skip "clang" "it is missing"
fi
asan=$(gcc -print-file-name=libasan.so)
if [[ $asan == /* ]]; then
    # MPI_BOTTOM is NULL, from which types count; what Open MPI itself leaves allocated is not ours
    shared "sanitizers" gcc "-g -fsanitize=address,undefined -fno-sanitize=pointer-overflow \
        -fno-sanitize-recover=undefined" -x LD_PRELOAD="$asan" -x ASAN_OPTIONS=detect_leaks=0
else
    skip "sanitizers" "libasan.so is missing"
fi
if PATH=$OMPI_PREFIX/bin:$PATH "$root/docs/upstream/series" "$work/series" >"$work/out" 2>&1; then
    for series in 2 3; do
        sources=$work/series/$series jobs_of=series_right shared "series $series" gcc ""
    done
    sources=$work/series/4 shared "series 4" gcc "" # beside coll/pipering of this Open MPI
else
    not_ok "each series for Open MPI builds"
    sed 's/^/# /' "$work/out"
fi
whole "debug" CONFIGURE_OPTIONS="--enable-debug --disable-io-romio"
if whole "Fortran" FORTRAN=1 CONFIGURE_OPTIONS=--disable-io-romio; then
    relay "Fortran, programs of mpif.h and mpi_f08" env BUILD_DIR="$variants/Fortran" "$here/why.t"
fi
finish
