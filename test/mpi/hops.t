#!/bin/bash
# Ring buffers in shared memory: what goes through them, that this is right, what happens
# where there can be none, and that nothing of them is left.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build hops "$here/fault.c" -ldl
build_fuzz
# the mmap of fault.c would be replaced by those of Open MPI and UCX that watch memory
export OMPI_MCA_memory=^patcher UCX_MEM_MMAP_HOOK_MODE=none

# ---- what goes through them ----

on_one "ring buffers" 2 60 "$bin/hops"
on_one "ring buffers" 4 60 "$bin/hops"
on_nodes "ring buffers" 3,3 block 60 "$bin/hops"
on_nodes "ring buffers" 3,3 cyclic 60 "$bin/hops"
on_one "buffers of other sizes from call to call" 3 60 -x CHANGES=1 "$bin/hops"

# ---- nothing is left ----

mkdir "$work/ring"
ring=(--mca coll_pipering_backing_directory "$work/ring")

# left DIR: what the last job has left there.
left() {
    find "$1" -mindepth 1 -printf '%P '
}

# killed STEP VICTIM: tests; the victim is killed as it comes to this step of making a buffer.
killed() {
    local label="rank $2 killed as it comes to $1" status
    "$testbed" local -n 3 --timeout 100 -- "${ring[@]}" -x FAULT="$1" -x VICTIM="$2" \
        "$bin/hops" >"$work/out" 2>&1
    status=$?
    is "$label: it was" "$(lines '^# killed in a step$')" 1
    yes_if "$label: the job ends, with an error" test 0 -ne $status -a 124 -ne $status
    is "$label: nothing is left" "$(left "$work/ring")" ""
}

killed reserve 1
killed attach 2

# ---- where there can be none ----

# without LABEL EXPECT MESSAGE [OPTION]...: one message, and right results of random calls.
without() {
    local label=$1 expect=$2 message=$3
    shift 3
    on_one "$label" 3 60 -x FIRST=1 -x EXPECT="$expect" "$@" "$bin/hops"
    is "$label: one message, which says why" \
        "$(sed -nE 's/^for .*shared memory.*: (.*)\.$/\1/p' "$work/out")" "$message"
    on_one "$label, random calls" 3 60 -x SEED=2 -x N=40 "$@" "$bin/fuzz"
}

directory=(--mca coll_pipering_backing_directory)
without "no such directory" none "No such file or directory" "${directory[@]}" "$work/none"
touch "$work/file"
without "a file in place of the directory" none "Not a directory" "${directory[@]}" "$work/file"
printf -v long '%0300d' 0
without "a name that is too long" none "File name too long" "${directory[@]}" "/tmp/$long"
without "no memory for a rank that makes buffers" some "No space left on device" \
    "${ring[@]}" -x FAULT=reserve -x VICTIM=1 -x REFUSE=1
without "no memory for a rank that attaches buffers" some "Cannot allocate memory" \
    "${ring[@]}" -x FAULT=attach -x VICTIM=2 -x REFUSE=1
is "no memory: nothing is left" "$(left "$work/ring")" ""

# mounted OPTIONS COMMAND...: with a file system of memory of its own at $work/mounted.
mounted() {
    # shellcheck disable=SC2016 # for the shell within
    unshare -m sh -c 'mount -t tmpfs -o "$1" pipering "$2" && shift 2 && exec "$@"' sh \
        "$1" "$work/mounted" "${@:2}"
}

# without_mounted OPTIONS LABEL EXPECT MESSAGE: tests, the directory being such a one.
without_mounted() {
    local options=$1 real=$testbed
    shift
    if ! mounted "$options" true >"$work/why" 2>&1; then
        skip "$1" "$(head -n 1 "$work/why")"
        return
    fi
    # shellcheck disable=SC2317 # job calls it
    on_mounted() { mounted "$options" "$real" "$@"; }
    testbed=on_mounted
    without "$@" "${directory[@]}" "$work/mounted"
    testbed=$real
}

mkdir "$work/mounted"
without_mounted ro "a read-only directory" none "Read-only file system"
without_mounted size=16k "a directory that is small" none "No space left on device"
without_mounted size=208k "a directory with room for few" some ""
finish
