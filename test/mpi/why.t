#!/bin/bash
# The record of a program's calls by the library of contrib/tuning/why, as pipering-why reads it:
# numbers of calls, their sizes, who served them and why, exactly, in C and Fortran, with and without
# coll/pipering; whatever ends the program.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || {
    echo "1..0 # SKIP no python3 on PATH"
    exit 0
}
build why -pthread

dir=$work/record

library=$(recorder "$OMPI_PREFIX/bin/mpicc")
record=(-x LD_PRELOAD="$library" -x PIPERING_WHY="$dir")

# classes [CALL]...: one line for each class of these calls, or of all: calls, name, ranks, bytes,
# largest contribution, contributors, memory, who served it; means, whole numbers where they are.
classes() {
    "$root/contrib/tuning/pipering-why" --json "$dir" | python3 -c '
import json, sys
for one in json.load(sys.stdin)["classes"]:
    if len(sys.argv) == 1 or one["call"] in sys.argv[1:]:
        numbers = ["%g" % one[name] for name in ("ranks", "bytes", "largest", "contributors")]
        print("%g" % one["calls"], one["call"], *numbers,
              "dense" if one["contiguous"] else "pieces", one["server"] or "-", one["reason"])' "$@" |
        sort
}

# types [CALL]...: the same with what is known of types: calls, name, type, memory, order.
types() {
    "$root/contrib/tuning/pipering-why" --json "$dir" | python3 -c '
import json, sys
for one in json.load(sys.stdin)["classes"]:
    if len(sys.argv) == 1 or one["call"] in sys.argv[1:]:
        print("%g" % one["calls"], one["call"], one["type"] or "-",
              "dense" if one["contiguous"] else "pieces",
              "in order" if one["order_matters"] else "in any order")' "$@" |
        sort
}

# shellcheck disable=SC2317 # yes_if calls it
report() {
    "$root/contrib/tuning/pipering-why" --top 0 "$dir"
}

# recorded LABEL [MPIRUN'S OPTION]... PROGRAM: a job on this machine with an empty directory.
recorded() {
    local label=$1
    shift
    rm -rf "$dir"
    on_one "$label" 4 60 "${record[@]}" "$@"
}

# ---- what is recorded ----

large="4 40300 40000 4 dense" small="4 100 50 2 dense"
few="small: too few bytes" local="local: all ranks are on one node"
gathers=(allgatherv iallgatherv allgatherv_init)
mine=(--mca coll ^mleader)

recorded "as it is" "${mine[@]}" "$bin/why" calls
is "gathers in all forms, and from whom" "$(classes "${gathers[@]}")" "$(sort <<EXPECTED
8 allgatherv $large pipering pulls
7 allgatherv $small below $few
2 iallgatherv $large pipering pulls
1 allgatherv 4 0 0 0 dense - empty: there is no data
1 allgatherv_init $large pipering pulls
EXPECTED
)"
is "vectors, and types with gaps" "$(classes allreduce bcast)" "$(sort <<EXPECTED
1 allreduce 4 2000 2000 1 dense below $few
1 allreduce 4 8000 8000 1 dense below $few
1 bcast 4 3000 3000 1 pieces below $few
EXPECTED
)"
is "a nonblocking sum of 16000 bytes" "$(classes iallreduce | grep ' 16000 16000 ')" \
    "1 iallreduce 4 16000 16000 1 dense below $local"
is "exchanges" "$(classes alltoallv neighbor_alltoallw)" "$(sort <<EXPECTED
1 alltoallv 4 800 800 1 dense pipering bins
1 neighbor_alltoallw 4 30 20 2 dense pipering bins
EXPECTED
)"
is "communicators of other sizes" "$(classes allgather | grep ' allgather 2 ')" \
    "2 allgather 2 80000 40000 2 dense below $local"
yes_if "the report has a line for each" eval 'report | grep -q "^ *[0-9]* .* allgatherv .*39.4 KiB"'
yes_if "all ranks are in it" eval 'report | grep -q "^Job .*: 4 ranks on 1 node"'
yes_if "all processes have ended it" eval '! report | grep -q "^Note"'

recorded "forced" "${mine[@]}" --mca coll_pipering_allgatherv_algorithm rounds \
    --mca coll_pipering_alltoallv_algorithm off "$bin/why" calls
is "a forced algorithm is named" "$(classes "${gathers[@]}")" "$(sort <<EXPECTED
8 allgatherv $large pipering rounds
7 allgatherv $small pipering rounds
2 iallgatherv $large pipering rounds
1 allgatherv 4 0 0 0 dense - empty: there is no data
1 allgatherv_init $large pipering rounds
EXPECTED
)"
is "so is what is switched off" "$(classes alltoallv)" \
    "1 alltoallv 4 800 800 1 dense below off: switched off"

# ---- types ----

recorded "types" "${mine[@]}" "$bin/why" types
is "types are recorded by their names" "$(types)" "$(sort <<EXPECTED
1 bcast derived dense in any order
1 bcast derived pieces in any order
1 alltoallw MPI_INT dense in any order
2 alltoallw several types dense in any order
1 alltoallw derived dense in any order
1 allgather MPI_DOUBLE dense in any order
1 allgather MPI_INT dense in any order
1 allgatherv MPI_FLOAT dense in any order
1 allreduce MPI_FLOAT dense in order
1 reduce MPI_DOUBLE dense in order
1 reduce MPI_DOUBLE_INT pieces in order
1 scan MPI_INT dense in any order
1 exscan MPI_UINT64_T dense in any order
1 allreduce MPI_INT dense in order
1 barrier - dense in any order
EXPECTED
)"
for name in "MPI_UINT64_T" "MPI_FLOAT, order matters" "MPI_DOUBLE_INT, with gaps, order matters" \
    "derived, with gaps" "several types"; do
    is "the report shows $name, in its table and in a histogram" \
        "$(report | grep -c "^ *[0-9]* .* [a-z]*  *$name   *4 \|^  $name   *[0-9.]* .*#$")" 2
done
recorded "types, summed in fixed point" "${mine[@]}" --mca coll_pipering_fixed_point_sum 1 \
    "$bin/why" types
is "in fixed point the order of a sum does not matter" "$(types {all,}reduce)" "$(sort <<EXPECTED
1 allreduce MPI_FLOAT dense in any order
1 allreduce MPI_INT dense in order
1 reduce MPI_DOUBLE dense in order
1 reduce MPI_DOUBLE_INT pieces in order
EXPECTED
)"

# ---- MPI_Alltoall and MPI_Barrier ----

meetings=({,i}alltoall alltoall_init {,i}barrier barrier_init)
few_each="4 240 60 4 dense" more_each="4 9600 2400 4 dense" no_data="4 0 0 0 dense"
without="meshless: no mesh serves the communicator"
unasked="unasked: MPI has not come to coll/pipering"
chosen="unchosen: served only where an algorithm is chosen"

recorded "without a mesh" "${mine[@]}" "$bin/why" meetings
is "barriers and equal exchanges without a mesh" "$(classes "${meetings[@]}")" "$(sort <<EXPECTED
1 alltoall $few_each below $without
2 alltoall $more_each below $without
1 ialltoall $few_each below $without
1 alltoall_init $few_each below $without
1 barrier $no_data other $unasked
1 ibarrier $no_data other $unasked
1 barrier_init $no_data other $unasked
EXPECTED
)"
on_mesh=("${mine[@]}" --mca coll_pipering_mesh 2x2
    --mca coll_pipering_barrier_algorithm mesh_lines "$bin/why" meetings)
recorded "on a mesh" "${on_mesh[@]}"
is "those along a mesh inside one node, whose links no exchange uses" "$(classes "${meetings[@]}")" \
    "$(sort <<EXPECTED
1 alltoall $few_each below $without
2 alltoall $more_each below $without
1 ialltoall $few_each below $without
1 alltoall_init $few_each below $without
1 barrier $no_data pipering lines of a mesh
1 ibarrier $no_data pipering lines of a mesh
1 barrier_init $no_data pipering lines of a mesh
EXPECTED
)"
if can_nodes; then
    rm -rf "$dir"
    on_nodes "on a mesh of nodes" 1,1,1,1 block 60 "${record[@]}" "${on_mesh[@]}"
    is "exchanges along a mesh of nodes" "$(classes {,i}alltoall alltoall_init)" "$(sort <<EXPECTED
1 alltoall $few_each below $few
1 alltoall $more_each pipering permuted
1 alltoall $more_each below $chosen
1 ialltoall $few_each below $few
1 alltoall_init $few_each below $few
EXPECTED
)"
else
    skip "exchanges along a mesh of nodes" "$why_not"
fi
recorded "not chosen" "${mine[@]}" --mca coll_pipering_mesh 2x2 "$bin/why" meetings
is "barriers that nobody has chosen to go along a mesh" "$(classes {,i}barrier barrier_init)" \
    "$(sort <<EXPECTED
1 barrier $no_data below $chosen
1 ibarrier $no_data below $chosen
1 barrier_init $no_data below $chosen
EXPECTED
)"

half="4 20000 10000 2 dense" equal="4 4000 1000 4 dense"
recorded "leaders above" --mca coll_mleader_allgather_algorithm leaders \
    --mca coll_mleader_groups 2 "$bin/why" gathers
is "what coll/mleader serves is recorded, and its first call, which it does not serve" "$(classes)" "$(sort <<EXPECTED
1 allgather $equal below $few
6 allgather $equal other $unasked
7 allgatherv $half pipering pulls
EXPECTED
)"
recorded "leaders that pass on" --mca coll_mleader_allgather_algorithm off "$bin/why" gathers
is "what coll/mleader passes on comes to others" "$(classes allgather)" \
    "7 allgather $equal below $few"
recorded "tuned above" --mca coll_tuned_priority 90 "$bin/why" gathers
is "so does what another component serves" "$(classes allgatherv)" \
    "7 allgatherv $half other $unasked"
recorded "pipering alone left out" --mca coll_pipering_priority 0 "$bin/why" gathers
is "where coll/pipering is on no communicator" "$(classes allgatherv)" \
    "7 allgatherv $half - absent: coll/pipering is not on the communicator"
recorded "without coll/pipering" --mca coll "^pipering,mleader" "$bin/why" gathers
is "calls without coll/pipering" "$(classes)" "$(sort <<EXPECTED
7 allgather $equal - 
7 allgatherv $half - 
EXPECTED
)"

recorded "threads" "${mine[@]}" "$bin/why" threads
is "calls of several threads" "$(classes allgatherv)" \
    "200 allgatherv 4 400 100 4 dense below $few"

# ---- however it ends ----

# breaks LABEL MODE: a job that does not reach its end has recorded its three calls.
breaks() {
    rm -rf "$dir"
    "$testbed" local -n 4 --timeout 200 -- "${mine[@]}" "${record[@]}" \
        "$bin/why" "$2" >"$work/out" 2>&1
    yes_if "$1: the job fails" test 0 -ne $?
    is "$1: its calls are recorded" "$(classes allgatherv)" "3 allgatherv $small below $few"
    yes_if "$1: the report says so" eval 'report | grep -q "4 processes have not reached MPI_Fin"'
}

breaks "MPI_Abort" abort
breaks "a rank is killed" kill

# ---- where nothing can be recorded ----

not_made='^pipering-why: the file for a record of collective calls, .*, cannot be made on '

# unrecorded LABEL DIRECTORY WHY COMMAND...: the job goes on, and says once why.
unrecorded() {
    local label=$1 place=$2 why=$3
    shift 3
    job "$label, 4 ranks" "$@" "$testbed" local -n 4 --timeout 200 -- \
        -x LD_PRELOAD="$library" -x PIPERING_WHY="$place" "$bin/why" gathers
    is "$label: it is said" "$(lines "$not_made")" 1
    yes_if "$label: why" said "$why"
}

touch "$work/file"
unrecorded "a directory that is a file" "$work/file" "Not a directory" env
unrecorded "a directory in none" "$work/none/none" "No such file or directory" env
unrecorded "a name that is too long" "$work/$(printf '%05000d' 0)" "File name too long" env
mkdir "$work/disk"
if unshare -m mount -t tmpfs none "$work/disk" 2>/dev/null; then
    # shellcheck disable=SC2016 # for the shell that has the mount
    unrecorded "a full disk" "$work/disk/record" "No space left on device" unshare -m sh -c \
        'mount -t tmpfs -o size=64k none "$0" && exec "$@"' "$work/disk"
else
    skip "a full disk" "no file system can be mounted here"
fi
dir=$work/pipering-calls
job "no directory is named, 4 ranks" env -C "$work" "$testbed" local -n 4 --timeout 200 -- \
    -x LD_PRELOAD="$library" "$bin/why" gathers
is "then it is pipering-calls" "$(classes allgatherv)" "7 allgatherv $half pipering pulls"
dir=$work/record

# ---- Fortran ----

# fortran LABEL [OPTION]...: a program whose calls are known; mpifort compiles it.
fortran() {
    local label=$1
    shift
    rm -rf "$dir"
    "$mpifort" -o "$work/fortran" "$@" "$root/test/mpi/why_fortran.F90" >"$work/cc" 2>&1 || {
        skip "$label" "$mpifort does not compile it"
        return
    }
    job "$label, 4 ranks" env OMPI_PREFIX="$prefix" "$testbed" local -n 4 --timeout 200 -- \
        -x LD_PRELOAD="$(recorder "$prefix/bin/mpicc")" -x PIPERING_WHY="$dir" "$work/fortran"
    is "$label: its calls are recorded" "$(classes | cut -d ' ' -f 1-7)" "$(sort <<EXPECTED
2 allgatherv 4 960 480 4 dense
1 allreduce 4 80 80 1 dense
1 alltoallw 4 16 4 4 dense
3 barrier 4 0 0 0 dense
1 bcast 4 400 400 1 dense
1 ibcast 4 400 400 1 dense
EXPECTED
)"
    is "$label: their types too" "$(types allreduce alltoallw bcast)" "$(sort <<EXPECTED
1 allreduce MPI_DOUBLE_PRECISION dense in order
1 alltoallw MPI_INTEGER dense in any order
1 bcast MPI_REAL dense in any order
EXPECTED
)"
    yes_if "$label: its end too" eval '! report | grep -q "^Note"'
}

mpifort=$OMPI_PREFIX/bin/mpifort
[ -x "$mpifort" ] || mpifort=$(command -v mpifort)
if [ -n "$mpifort" ]; then
    prefix=$(dirname "$(dirname "$mpifort")")
    fortran "mpif.h"
    fortran "mpi_f08" -DF08
else
    skip "Fortran" "no mpifort"
fi

# ---- what it costs ----

# Instructions that recording adds to a call: those of the library's function less those of MPI's.
# 2000 are less than 1 us, which is 2% of a call of 50 us.
readonly CALLS=200 COST_MOST=2000

cost() {
    callgrind_annotate --inclusive=yes --threshold=100 "$1" 2>/dev/null | awk -v calls="$CALLS" '
        { gsub(",", "", $1) }
        /:MPI_Allgatherv .*libpipering_why/ { sum += $1; ++seen }
        /:PMPI_Allgatherv .*libmpi/ { sum -= $1; ++seen }
        END { print 2 == seen ? int(sum / calls) : 0 }'
}

if command -v valgrind >/dev/null && command -v callgrind_annotate >/dev/null; then
    rm -rf "$dir"
    recorded "under callgrind" "${mine[@]}" valgrind -q --tool=callgrind \
        --callgrind-out-file="$work/callgrind.%p" "$bin/why" loop "$CALLS"
    added=$(cost "$(find "$work" -name 'callgrind.*' | head -n 1)")
    echo "# recording adds $added instructions to a call"
    yes_if "recording costs little" test "$added" -gt 0 -a "$added" -lt "$COST_MOST"
else
    skip "recording costs little" "valgrind is missing"
fi

# ---- what the model says ----

# advised: seconds that a broadcast of 512 KiB takes, who serves it, and what is said to help.
advised() {
    "$root/contrib/tuning/pipering-why" --json "$dir" --machine \
        "$root/contrib/tuning/machines/testbed-100mbit" | python3 -c '
import json, sys
for one in json.load(sys.stdin)["classes"]:
    if one["bytes"] == 1 << 19:
        print(one["each"], one["server"], one["variable"] or "-", one["gain"] > 0)'
}

# vectors LABEL ALGORITHM: a job on four nodes of a rank each, with links of 100 Mbit/s.
vectors() {
    rm -rf "$dir"
    job "$1" "$testbed" with --nodes 4 --rate 100mbit -- "$testbed" mpirun --ppn 1 --timeout 300 -- \
        "${record[@]}" --mca coll_pipering_bcast_algorithm "$2" "$bin/why" vectors
}

if can_nodes; then
    vectors "on nodes, vectors that are left below" off
    is "it is said what would help" "$(advised | cut -d ' ' -f 2-)" \
        "below coll_pipering_bcast_algorithm=auto True"
    before=$(advised | cut -d ' ' -f 1)
    vectors "on nodes, as advised" auto
    served=$(advised | grep " pipering ") # but for a lesson, which the module below has
    is "then they are served" "${served#* }" "pipering - False"
    timed "and take less time" awk "BEGIN { exit !(${served%% *} < $before) }"
else
    skip "what would help" "$why_not"
fi
finish
