#!/bin/bash
# Multi-leader MPI_Allgather: right results by all variants, whatever groups are made of;
# what happens where there can be no shared memory, and that nothing of it is left.
#
#   N=40 SEED=1    cases of the jobs with most of them, and of all that is random
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build_fuzz
# the mmap of fault.c would be replaced by those of Open MPI and UCX that watch memory
export OMPI_MCA_memory=^patcher UCX_MEM_MMAP_HOOK_MODE=none
build leaders_later
build leaders_choice
build leaders_error
build large
export SEED=${SEED:-1}
cases=${N:-40}
two=(--mca coll_mleader_groups 2)

# led CASES: so many of the fuzzer's, through leaders.
led() {
    fuzz=(-x SEED="$SEED" -x LEADERS=1 -x N="$1")
}

# posing SOCKETS GROUPS WANTED MAP...: on_nodes, where nodes pose as such; so many groups.
posing() {
    if ! command -v lstopo-no-graphics >/dev/null; then
        skip "a group for each $2" "lstopo-no-graphics is missing"
        return
    fi
    sockets=$1
    on_nodes "a group for each $2" "${@:4}" --mca coll_mleader_groups "$2" \
        --mca coll_mleader_verbose 1 "$bin/fuzz"
    sockets=
    ! can_nodes || yes_if "a group for each $2: $3 groups" said "ranks in $3 groups on 3"
}

# ---- all variants ----

led "$cases"
on_nodes "two groups a node" 3,1,2 cyclic 60 "${two[@]}" "${fuzz[@]}" "$bin/fuzz"
on_one "two groups" 4 60 "${two[@]}" "${fuzz[@]}" "$bin/fuzz"
long on_nodes "two groups a node" 2,3,1,2 random:2 60 "${two[@]}" "${fuzz[@]}" "$bin/fuzz"
long on_nodes "a group a node" 2,2,2,2 block 60 --mca coll_mleader_groups 1 "${fuzz[@]}" "$bin/fuzz"
led 20
on_one "three groups" 5 60 --mca coll_mleader_groups 3 "${fuzz[@]}" "$bin/fuzz"
on_nodes "lists" 2,4 random:1 60 --mca coll_mleader_groups 0-1,4,2-3 "${fuzz[@]}" "$bin/fuzz"
on_nodes "groups as they are" 1,2,2 cyclic 60 "${fuzz[@]}" "$bin/fuzz"
posing 2:4 socket 5 4,1,3 cyclic 60 "${fuzz[@]}"
long posing 1:2:2:2 numa 4 6,1,3 cyclic 60 "${fuzz[@]}"
long posing 1:2:2:2 l3 6 6,1,3 random:1 60 "${fuzz[@]}"
if [[ 2 -le $(nproc) ]] && can_nodes && command -v lstopo-no-graphics >/dev/null; then
    posing 2:1 auto 3 2,2,2 cyclic 60 --mca coll_pipering_processors 2 "${fuzz[@]}"
    yes_if "one leader or two, by size" said '6 ranks in 6 groups on 3'
fi
led 6
on_one "a group a rank, slices of a few bytes" 12 60 --mca coll_mleader_groups 12 "${fuzz[@]}" \
    -x SEGMENT=256 --mca coll_mleader_verbose 1 "$bin/fuzz"
yes_if "in lanes a few bytes at once" said 'out: shared memory, slices of [0-9]{1,2} bytes'
yes_if "messages where not even a byte fits" said 'bytes a rank.*out: messages'
long on_nodes "threads" 2,2 block 60 "${two[@]}" "${fuzz[@]}" -x THREADS=4 "$bin/fuzz"

# ---- who serves ----

# A machine whose links are slow, and one where copies inside a node are: there the module below,
# one that knows nothing of nodes, sends more between them, and copies less inside.
printf '%s\n' net_alpha=50 net_beta=100 local_beta=0.1 >"$work/slow-links"
printf '%s\n' net_alpha=1 net_beta=0.1 local_beta=1000 >"$work/slow-copies"
# choice WHO MACHINE ARG...
choice() {
    on_nodes "$1 by the model" 2,2 block 60 --mca coll_pipering_machine "$work/$2" "${@:3}" \
        -x WHO="$1" "$bin/leaders_choice"
}
choice leaders slow-links
choice others slow-copies --mca coll ^han

# ---- nonblocking and persistent calls ----

on_nodes "calls in flight" 2,2 block 60 "${two[@]}" "$bin/leaders_later"
on_one "calls in flight" 4 60 "${two[@]}" "$bin/leaders_later"

# ---- errors ----

on_one "a message that is too long" 3 30 --mca mpi_param_check 0 --mca coll_mleader_segment_size 0 \
    --mca coll_mleader_groups 3 --mca coll_mleader_exchange ring "$bin/leaders_error"

# ---- much ----

long on_nodes "more than 2^31 bytes" 1,1 block 100 -x LEADERS=1 "$bin/large"

# ---- nothing is left ----

mkdir "$work/segments"
directory=(--mca coll_mleader_backing_directory)
there=("${directory[@]}" "$work/segments")

# left: what jobs have left in the directory of segments.
left() {
    find "$work/segments" -mindepth 1 -printf '%P '
}

# killed STEP VICTIM: tests; the victim is killed as it comes to this step of making a segment.
killed() {
    local label="rank $2 killed as it comes to $1" status
    "$testbed" local -n 4 --timeout 100 -- "${there[@]}" "${two[@]}" -x FAULT="$1" -x VICTIM="$2" \
        "${fuzz[@]}" "$bin/fuzz" >"$work/out" 2>&1
    status=$?
    is "$label: it was" "$(lines '^# killed in a step$')" 1
    yes_if "$label: the job ends, with an error" test 0 -ne $status -a 124 -ne $status
    is "$label: nothing is left" "$(left)" ""
}

led 3
on_one "segments elsewhere" 4 60 "${there[@]}" "${two[@]}" "${fuzz[@]}" "$bin/fuzz"
is "segments elsewhere: nothing is left" "$(left)" ""
on_one "segments with names at first" 4 60 "${there[@]}" "${two[@]}" "${fuzz[@]}" \
    -x FAULT=unnamed -x VICTIM=0 -x REFUSE=1 "$bin/fuzz"
is "segments with names at first: nothing is left" "$(left)" ""
killed reserve 0
killed attach 2

# ---- where there can be none, and what cannot be understood ----

# without LABEL MESSAGE [OPTION]...: right results, and one message.
without() {
    local label=$1 message=$2
    shift 2
    on_one "$label" 4 60 "${fuzz[@]}" "${two[@]}" "$@" "$bin/fuzz"
    is "$label: one message, which says why" \
        "$(sed -nE 's/^for shared memory.*: (.*)\.$/\1/p' "$work/out")" "$message"
}

led 10
without "no such directory" "No such file or directory" "${directory[@]}" "$work/none"
without "no memory for the first rank" "No space left on device" "${there[@]}" \
    -x FAULT=reserve -x VICTIM=0 -x REFUSE=1
without "no memory for a larger segment" "No space left on device" "${there[@]}" \
    -x FAULT=reserve -x VICTIM=0 -x REFUSE=1 -x SPARED=1
without "no memory for another rank" "Cannot allocate memory" "${there[@]}" \
    -x FAULT=attach -x VICTIM=2 -x REFUSE=1
without "no descriptor for another rank" "Too many open files" "${there[@]}" \
    -x FAULT=descriptors -x VICTIM=2 -x REFUSE=1
is "no memory: nothing is left" "$(left)" ""

led 3
for text in nonsense 0 -1 2x "0-3," 3-1 1-2-3; do
    on_one "groups '$text'" 4 60 --mca coll_mleader_groups "$text" "${fuzz[@]}" "$bin/fuzz"
    is "groups '$text': one message" "$(lines 'coll_mleader_groups cannot be understood')" 1
done
finish
