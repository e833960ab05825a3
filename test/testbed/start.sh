# shellcheck shell=bash
# Jobs that start in half the time. Sourced by testbed.
#
# Two libraries that libfabric needs, for InfiniPath and Omni-Path, measure the processor's clock
# when they are loaded, and sleep 900 times for it: that takes each process 0.2 s where Open MPI is
# linked with libfabric. Jobs that send nothing by it get libraries in their place in which every
# function fails. They are made once, in BUILD_DIR; without that, jobs start as ever.

# start_fabric: the libfabric of the Open MPI of MPIRUN, if it needs these libraries.
start_fabric() {
    ldd "${MPIRUN%/bin/mpirun}/lib/libmpi.so" 2>/dev/null | awk '
        $1 == "libfabric.so.1" { fabric = $3 }
        $1 == "libpsm2.so.2" || $1 == "libpsm_infinipath.so.1" { found++ }
        END { if (2 == found) print fabric }'
}

# start_library DIR NAME PREFIX [OPTION]...: a library with those functions that begin so of
# DIR/needed.
start_library() {
    sed -nE "s/^($3\w+)(@.*)?\$/int \1(void); int \1(void) { return -1; }/p" "$1/needed" |
        gcc -shared -fPIC -o "$1/$2" -Wl,-soname,"$2" "${@:4}" -xc -
}

# start_make DIR FABRIC
start_make() {
    local new=$1.$$
    mkdir -p "$new"
    nm -D --undefined-only "$2" | awk '{ print $NF }' >"$new/needed" &&
        echo 'PSM2_1.0 { global: *; };' >"$new/versions" &&
        start_library "$new" libpsm_infinipath.so.1 psm_ &&
        start_library "$new" libpsm2.so.2 psm2_ -Wl,--version-script="$new/versions" &&
        rm -rf "$1" && mv -T "$new" "$1" && return
    rm -rf "$new"
    return 1
}

# use_quick_start: the job finds the libraries.
use_quick_start() {
    local dir=${BUILD_DIR-}/testbed/psm fabric
    [[ -n ${BUILD_DIR-} ]] || return 0
    fabric=$(start_fabric) || return 0
    [[ -n $fabric ]] || return 0
    [[ $dir -nt $fabric ]] || start_make "$dir" "$fabric" 2>/dev/null || return 0
    export LD_LIBRARY_PATH="$dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}
