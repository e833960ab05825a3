#!/bin/bash
# Multi-leader MPI_Allgather: right results by all variants, whatever groups are made of;
# what is sent; what happens where there can be no shared memory, and that nothing of it
# is left.
#
#   N=30       cases in each job of rows of calls
#   SEED=1     of all that is random; "time" for another one each time
#   CASE=C     only this one
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

leaders=$root/ompi/mca/coll/mleader
build leaders "$here/fault.c" -ldl
# the mmap of fault.c would be replaced by those of Open MPI and UCX that watch memory
export OMPI_MCA_memory=^patcher UCX_MEM_MMAP_HOOK_MODE=none
build leaders_rows -pthread
build leaders_later
build leaders_choice
build leaders_many
build leaders_error
build leaders_large
build leaders_count "-I$leaders" "-I$common_plans" "$leaders"/coll_mleader_plan_*.c \
    "$common_plans/common_colltools_exchange.c"
seed=${SEED:-1}
[[ $seed != time ]] || seed=$(date +%s)
echo "# SEED=$seed"
two=(--mca coll_mleader_groups 2)

# posing SOCKETS GROUPS WANTED MAP...: on_nodes, where nodes pose as such; so many groups.
posing() {
    if ! command -v lstopo-no-graphics >/dev/null; then
        skip "a group for each $2" "lstopo-no-graphics is missing"
        return
    fi
    sockets=$1
    on_nodes "a group for each $2" "${@:4}" --mca coll_mleader_groups "$2" \
        --mca coll_mleader_verbose 1 "$bin/leaders"
    sockets=
    ! can_nodes || yes_if "a group for each $2: $3 groups" said "ranks in $3 groups on 3"
}

# ---- all variants ----

on_nodes "two groups a node" 3,1,2 cyclic 60 "${two[@]}" "$bin/leaders"
long on_nodes "two groups a node" 2,2,2,2 block 60 "${two[@]}" -x FEW=4 "$bin/leaders"
on_one "three groups" 5 60 --mca coll_mleader_groups 3 -x FEW=4 "$bin/leaders"
on_nodes "lists" 2,4 random:1 60 --mca coll_mleader_groups 0-1,4,2-3 -x FEW=4 "$bin/leaders"
on_nodes "groups as they are" 1,2,2 cyclic 60 -x FEW=8 "$bin/leaders"
posing 2:4 socket 5 4,1,3 cyclic 60 -x FEW=4
long posing 1:2:2:2 numa 4 6,1,3 cyclic 60 -x FEW=30
long posing 1:2:2:2 l3 6 6,1,3 random:1 60 -x FEW=30
if [[ 2 -le $(nproc) ]] && can_nodes && command -v lstopo-no-graphics >/dev/null; then
    posing 2:1 auto 3 2,2,2 cyclic 60 --mca coll_mleader_message_cost 300 -x FEW=4
    yes_if "one leader or two, by size" said '6 ranks in 6 groups on 3'
fi

on_one "a group a rank, slices of a few bytes" 12 60 --mca coll_mleader_groups 12 -x TINY=1 \
    --mca coll_mleader_verbose 1 "$bin/leaders"
yes_if "in lanes a few bytes at once" said 'out: shared memory, slices of 10 bytes'
yes_if "messages where not even a byte fits" said '400 bytes.*out: messages'

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

# ---- many calls at once ----

replay=(-x SEED="$seed" -x N="${N:-30}" -x CASE="${CASE:--1}")
rows() {
    on_nodes "rows of calls" "$1" "$2" 60 "${replay[@]}" -x REPLAY="MAP=$1 BY=$2" "${@:3}" \
        "$bin/leaders_rows"
}
rows 3,1,2 cyclic "${two[@]}"
long rows 2,3,1,2 random:2 --mca coll_mleader_groups 1
on_one "rows of calls" 4 60 "${replay[@]}" "${two[@]}" "$bin/leaders_rows"
long on_nodes "rows of calls of threads" 2,2 block 60 "${two[@]}" -x SEED="$seed" -x N=4 -x THREADS=4 \
    "$bin/leaders_rows"

# ---- nonblocking and persistent calls ----

later() {
    on_nodes "calls in flight" "$1" "$2" 100 "${replay[@]}" "${@:3}" "$bin/leaders_later"
}
later 3,1,2 cyclic "${two[@]}" -x FEW=4
later 2,2 block -x FEW=12
on_one "calls in flight" 4 100 "${replay[@]}" "${two[@]}" -x FEW=12 "$bin/leaders_later"

# ---- what is sent ----

on_nodes "messages and bytes" 3,1,2 cyclic 30 "${two[@]}" "$bin/leaders_count"
on_nodes "messages and bytes" 2,2,2,2 block 30 "${two[@]}" "$bin/leaders_count"
on_nodes "messages and bytes" 4,2,1 random:3 30 --mca coll_mleader_groups 3 "$bin/leaders_count"

# ---- errors ----

on_one "a message that is too long" 3 30 --mca mpi_param_check 0 --mca coll_mleader_segment_size 0 \
    --mca coll_mleader_groups 3 --mca coll_mleader_exchange ring "$bin/leaders_error"

# ---- much ----

long on_nodes "communicators that come and go" 2,2 cyclic 150 "${two[@]}" "$bin/leaders_many"
long on_nodes "more than 2^31 bytes" 1,1 block 100 "$bin/leaders_large"

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
        "$bin/leaders" >"$work/out" 2>&1
    status=$?
    is "$label: it was" "$(lines '^# killed in a step$')" 1
    yes_if "$label: the job ends, with an error" test 0 -ne $status -a 124 -ne $status
    is "$label: nothing is left" "$(left)" ""
}

on_one "segments elsewhere" 4 60 "${there[@]}" "${two[@]}" -x FEW=40 "$bin/leaders"
is "segments elsewhere: nothing is left" "$(left)" ""
killed reserve 0
killed attach 2
killed unlink 0

# ---- where there can be none, and what cannot be understood ----

# without LABEL MESSAGE [OPTION]...: right results, and one message.
without() {
    local label=$1 message=$2
    shift 2
    on_one "$label" 4 60 -x FEW=40 "${two[@]}" "$@" "$bin/leaders"
    is "$label: one message, which says why" \
        "$(sed -nE 's/^for shared memory.*: (.*)\.$/\1/p' "$work/out")" "$message"
}

without "no such directory" "No such file or directory" "${directory[@]}" "$work/none"
without "no memory for the first rank" "No space left on device" "${there[@]}" \
    -x FAULT=reserve -x VICTIM=0 -x REFUSE=1
without "no memory for another rank" "Cannot allocate memory" "${there[@]}" \
    -x FAULT=attach -x VICTIM=2 -x REFUSE=1
without "no descriptor for another rank" "Too many open files" "${there[@]}" \
    -x FAULT=descriptors -x VICTIM=2 -x REFUSE=1
is "no memory: nothing is left" "$(left)" ""

for text in nonsense 0 -1 2x "0-3," 3-1 1-2-3; do
    on_one "groups '$text'" 4 60 --mca coll_mleader_groups "$text" -x FEW=90 "$bin/leaders"
    is "groups '$text': one message" "$(lines 'coll_mleader_groups cannot be understood')" 1
done
finish
