# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Read by the scripts of this directory: where things are, messages, and
# long steps with a clock. Everything said goes to standard error: standard
# output is for results (fetch-openmpi.sh prints a file name).

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
logs=$build/logs

# Variables given to our make (OMPI=, DIR=, ...) are not meant for Open MPI's.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "pipering: $*"
    exit 1
}

# An absolute name; "~/" arrives unexpanded from some shells' VARIABLE=~/DIR.
absolute() {
    case $1 in
        '~' | '~/'*) realpath -m -- "$HOME${1#\~}" ;;
        *) realpath -m -- "$1" ;;
    esac
}

# start_clock WHAT: shows that the step WHAT is alive, each second on a
# terminal and each minute elsewhere. The clock is the background process and
# the step is not, so that Ctrl-C reaches the step.
start_clock() {
    local what=$1 seconds=0
    [ -t 2 ] || say "$what ..."
    while sleep 1; do
        seconds=$((seconds + 1))
        if [ -t 2 ]; then
            printf '\r%s ... %d s ' "$what" "$seconds" >&2
        elif [ $((seconds % 60)) -eq 0 ]; then
            say "$what ... $seconds s"
        fi
    done </dev/null >/dev/null 9>&- &
    clock=$!
    trap stop_clock EXIT
}

stop_clock() {
    [ -n "${clock-}" ] || return 0
    kill "$clock" 2>/dev/null || true
    wait "$clock" 2>/dev/null || true
    clock=
    [ ! -t 2 ] || printf '\r\033[K' >&2
}

# step NAME WHAT COMMAND...: runs a long command, its output in
# build/logs/NAME.log; on failure shows the log's end and stops.
step() {
    local log=$logs/$1.log what=$2 start=$SECONDS status=0
    shift 2
    mkdir -p "$logs"
    start_clock "$what"
    "$@" >"$log" 2>&1 </dev/null || status=$?
    stop_clock
    if [ "$status" -ne 0 ]; then
        say "$what: failed. The last lines of its log:"
        tail -n 25 "$log" | sed 's/^/    /' >&2
        die "$what failed (status $status); the whole log is ${log#"$root"/}"
    fi
    say "$what: done in $((SECONDS - start)) s"
}

# The directories of the overlay's components, as ompi/mca/FRAMEWORK/NAME.
component_dirs() {
    local file
    for file in "$root"/ompi/mca/{common,coll}/*/Makefile.am; do
        [ -f "$file" ] || continue
        file=${file#"$root"/}
        printf '%s\n' "${file%/Makefile.am}"
    done
}
