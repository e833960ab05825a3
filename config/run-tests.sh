#!/bin/bash
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Usage: config/run-tests.sh [TEST...]
#
# Runs the tests given, or all, through perl's prove. A test is a program that
# prints TAP; OMPI_PREFIX and BUILD_DIR are in its environment. PROVE_OPTIONS
# may hold further options of prove: -v (all lines), --timer. Tests that fail are
# named, since what fails once may not fail again. With CHECK_LONG, all are those
# that ask for it, as docs/hacking.md lists them; they also run what takes long, or
# judges real time.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

asks_for_long='CHECK_LONG|^ *(long [a-z]|timed "|all_long$|@tap\.long$)'

cd "$root"
shopt -s nullglob
if [ $# -eq 0 ] && [ -n "${CHECK_LONG-}" ]; then
    mapfile -t tests < <(grep -lE "$asks_for_long" test/*/*.t)
    set -- "${tests[@]}"
fi
[ $# -gt 0 ] || set -- test/docs/*.t test/unit/*.t test/opal/*.t test/testbed/*.t test/bench/*.t test/tuning/*.t test/simulate/*.t test/mpi/*.t
[ $# -gt 0 ] || die "no test found: expected programs test/{docs,unit,opal,testbed,bench,tuning,simulate,mpi}/*.t"
for test; do
    [ -f "$test" ] && [ -x "$test" ] || die "$test is not an executable file; no test was run"
done
jobs=$(nproc)
[ $# -gt 1 ] || jobs=1
# --exec '': run each test itself, whatever language it is written in.
# shellcheck disable=SC2086 # a list of options
exec perl -Iconfig -S prove --failures --harness SideBySide --formatter CountingFormatter \
    --jobs "$jobs" --exec '' ${PROVE_OPTIONS-} "$@" </dev/null
