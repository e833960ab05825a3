#!/bin/bash
# The progress thread: calls move while the program is not in MPI; random calls, also of several
# threads, of sessions and of spawned processes, with it; it ends with MPI_Finalize, and is not
# there where the program may not use several threads.
#
#   N=CASES SEED=NUMBER      other random calls
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build progress
build_fuzz
build sessions
build spawned
thread=(--mca coll_pipering_progress_thread 1)
random=(-x SEED="${SEED:-1}" -x N="${N:-60}")
multiple=(-x LEVEL=3)

on_nodes "with a thread" 1,1,1,1 block 60 "${thread[@]}" -x MOVES=1 "$bin/progress"
on_one "with a thread" 3 60 "${thread[@]}" -x MOVES=1 "$bin/progress"
on_nodes "without" 1,1,1,1 block 60 "$bin/progress"
on_one "one thread" 3 60 "${thread[@]}" -x LEVEL=0 "$bin/progress"
yes_if "one thread: a message says so" said "coll_pipering_progress_thread is set, but"
is "one thread: once" "$(lines "coll_pipering_progress_thread is set, but")" 1
on_nodes "asked for from outside" 1,1,1,1 block 60 "${thread[@]}" -x OMPI_MPI_THREAD_LEVEL=3 \
    -x LEVEL=-1 -x MOVES=1 "$bin/progress"

on_nodes "fuzz" 1,1,1 block $((60 + ${N:-60})) "${thread[@]}" "${multiple[@]}" "${random[@]}" \
    "$bin/fuzz"
on_nodes "fuzz" 2,1,2 cyclic $((60 + ${N:-60})) "${thread[@]}" "${multiple[@]}" "${random[@]}" \
    "$bin/fuzz"
on_one "fuzz" 4 $((60 + ${N:-60})) "${thread[@]}" "${multiple[@]}" "${random[@]}" "$bin/fuzz"
on_one "fuzz, threads" 3 $((60 + ${N:-60})) "${thread[@]}" "${random[@]}" -x THREADS=3 "$bin/fuzz"

on_one "sessions" 4 60 "${thread[@]}" "$bin/sessions"
export PRTE_MCA_hwloc_default_binding_policy=none
on_one "spawned" 1 100 --host localhost:4 --mca btl "tcp,sm,self" --mca btl_tcp_if_include lo \
    --mca coll ^han "${thread[@]}" "${multiple[@]}" "$bin/spawned"

before=$(find /dev/shm -mindepth 1 | sort)
"$testbed" local -n 4 --timeout 300 -- "${thread[@]}" -x MOVES=1 -x LEAVES=1 "$bin/progress" \
    >"$work/out" 2>&1
yes_if "a job ends though calls are under way as MPI_Finalize comes" test $? -ne 124
is "and had begun" "$(lines '^ok - ')" 14
is "nothing is left in /dev/shm" "$(find /dev/shm -mindepth 1 | sort)" "$before"
finish
