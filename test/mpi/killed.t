#!/bin/bash
# A rank that is killed in a call: the job ends within seconds and leaves
# nothing behind, neither processes nor shared memory.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# kill_one MAP VICTIM CALL [ANEW]: the job; then, a line each: its status, its
# seconds, and what is left after it has ended. Runs inside of a testbed, whose
# processes and shared memory are its own.
kill_one() {
    local start=$SECONDS status=0
    "$testbed" mpirun --map "$1" --timeout 300 -- -x VICTIM="$2" -x CALL="$3" -x ANEW="${4:-0}" \
        "$bin/killed" >"$work/out" 2>&1 || status=$?
    echo "status $status"
    echo "seconds $((SECONDS - start))"
    grep -a '^# killed' "$work/out"
    find "$TESTBED_SHM" -mindepth 1 -printf 'left in shared memory: %f\n'
    for ns in /run/netns/"$TESTBED_RUN".n*; do
        ip netns pids "${ns##*/}" | sed 's/^/left running: /'
    done
}

if [[ ${1-} == kill_one ]]; then
    shift
    kill_one "$@"
    exit
fi

build killed
if ! can_nodes; then
    skip "a rank killed in a call" "$why_not"
    finish
fi

# killed MAP VICTIM CALL [ANEW]: tests.
killed() {
    local label="nodes of $1 ranks, rank $2 killed in $3${4:+ on new communicators}${TESTBED_PML:+ over $TESTBED_PML}"
    local seconds status
    "$testbed" with --nodes "$(awk -F, '{ print NF }' <<<"$1")" -- "$0" kill_one "$@" \
        >"$work/report" 2>&1
    status=$(sed -n 's/^status //p' "$work/report")
    seconds=$(sed -n 's/^seconds //p' "$work/report")
    is "$label: in a call" "$(grep '^# killed' "$work/report")" "# killed in a call"
    yes_if "$label: the job ends with an error" test "${status:-0}" -ne 0 -a "${status:-124}" -ne 124
    timed "$label: within 15 s (${seconds:-?})" test "${seconds:-99}" -le 15
    is "$label: nothing is left" "$(grep -v -E '^(status|seconds|# killed)' "$work/report")" ""
}

"$testbed" leftovers >"$work/old" 2>&1
killed 3 1 allgatherv
killed 2,1,1 3 allgatherv
killed 1,2 0 iallgatherv
killed 2,1,1 2 bcast
killed 1,1,1 0 reduce
killed 3 1 exscan
killed 1,2 1 iscan
killed 2,2 0 allreduce
killed 1,1,2 2 iallreduce
killed 3,2 3 allgather
killed 2,3 0 iallgather
killed 2,2 0 allgather 1
for pml in ucx ofi; do
    if over "$pml"; then
        killed 2,1,1 3 allgatherv
        killed 2,2 0 iallgatherv
    else
        skip "a rank killed in a call, over $pml" "$why_not"
    fi
done
"$testbed" leftovers 2>&1 | grep -vxF -f "$work/old" >"$work/new"
is "testbed leftovers finds nothing new" "$(cat "$work/new")" ""
finish
