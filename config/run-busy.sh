#!/bin/bash
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Usage: config/run-busy.sh [TEST...]
#
# Runs each test N times (default: 50) beside three busy loops: what rests on the speed of the
# machine fails here first. Without arguments, tests that measure, or whose jobs are crowded.
# The output of a run that fails is kept in build/logs/busy.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# -gt 0 ] || set -- test/tuning/kernel.t test/mpi/leaders.t
runs=${N:-50}
unset N # of tests, which have one of their own
passed=0
failed=0
loops=()
kept=$logs/busy
mkdir -p "$kept"

# busy: a loop that ends with this script, whatever ends that.
busy() {
    local i
    while kill -0 $$ 2>/dev/null; do
        for ((i = 0; i < 100000; i++)); do :; done
    done
}

trap 'kill "${loops[@]}" 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
for _ in 1 2 3; do
    busy </dev/null &
    loops+=($!)
done

export PROVE_OPTIONS="-v ${PROVE_OPTIONS-}"
for test; do
    name=${test%.t}
    for ((run = 1; run <= runs; run++)); do
        log=$kept/$(tr / - <<<"${name#test/}")-$run.log
        if "$root/config/run-tests.sh" "$test" >"$log" 2>&1; then
            passed=$((passed + 1))
            rm "$log"
        else
            failed=$((failed + 1))
            echo "$test, run $run of $runs, failed: ${log#"$root"/}"
        fi
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
