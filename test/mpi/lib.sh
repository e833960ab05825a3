# shellcheck shell=bash
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# What the scripts here share: programs are built once, jobs run under the
# testbed with a time limit of their own, and their results are numbered.
#
#   OMPI_PREFIX  where Open MPI is installed (default: that of the mpicc on PATH)
#   BUILD_DIR    where programs are built, in BUILD_DIR/test (default: build)
#   TESTBED_PML  what jobs send messages by (testbed --help)

set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
testbed=$here/../testbed/testbed
plans=$root/ompi/mca/coll/pipering/plan
common_plans=$root/ompi/mca/common/colltools

if [[ -z ${OMPI_PREFIX-} ]]; then
    mpicc=$(command -v mpicc) || {
        echo "1..0 # SKIP no mpicc on PATH and OMPI_PREFIX is not set"
        exit 0
    }
    OMPI_PREFIX=$(dirname "$(dirname "$mpicc")")
fi
export OMPI_PREFIX

bin=${BUILD_DIR:-$root/build}/test
mkdir -p "$bin"
bin=$(cd "$bin" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM INT

count=0
failures=0

# ok NAME, not_ok NAME, skip NAME REASON: a test each.
ok() {
    count=$((count + 1))
    echo "ok $count - $1"
}

not_ok() {
    count=$((count + 1))
    failures=$((failures + 1))
    echo "not ok $count - $1"
}

skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# is NAME GOT WANTED: a test. What was got goes to stderr, which prove shows.
is() {
    if [[ $2 == "$3" ]]; then
        ok "$1"
    else
        not_ok "$1"
        printf 'got:    %s\nwanted: %s\n' "$2" "$3" | sed 's/^/# /' >&2
    fi
}

# yes_if NAME COMMAND...: a test; the command must succeed.
yes_if() {
    local name=$1
    shift
    if "$@"; then
        ok "$name"
    else
        not_ok "$name"
    fi
}

# skip_all REASON: nothing can be tried here.
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

# long COMMAND LABEL...: a test or a job that takes long for what it adds: only where CHECK_LONG
# is set.
long() {
    if [[ -n ${CHECK_LONG-} ]]; then
        "$@"
    else
        skip "$2 ($1)" "make check-long runs it"
    fi
}

# timed NAME COMMAND...: yes_if, of real time, which depends on the machine and on what else runs.
timed() {
    long yes_if "$@"
}

# all_long: of a whole file.
all_long() {
    [[ -n ${CHECK_LONG-} ]] || skip_all "make check-long runs it"
}

# finish: the plan, and the exit status.
finish() {
    echo "1..$count"
    [[ 0 -eq $failures ]]
    exit
}

common=(tap usage knob drawn layout layout_tree call exchange foldcall fold swap swap_topology leading cases)
# shellcheck disable=SC2034 # of the scripts that compile the plans
plan_sources=("-I$plans" "-I$root" "$plans"/coll_pipering_plan_*.c
    "$common_plans/common_colltools_exchange.c")

# compile OUTPUT [OPTION|SOURCE]...: with the wrapper, where a source is newer.
compile() {
    local output=$1 file stale=no
    shift
    [[ -e $output && $(cat "$output.for" 2>/dev/null) == "$OMPI_PREFIX $*" ]] || stale=yes
    for file in "$@" "$here"/*.h "$here"/../bench/*/*.h "$plans"/*.h "$common_plans"/*.h; do
        [[ ! -e $file || ! $file -nt $output ]] || stale=yes
    done
    [[ $stale == yes ]] || return 0
    "$OMPI_PREFIX/bin/mpicc" -std=gnu99 -O1 -g -Wall -Wextra -Werror -o "$output.$$" "$@" &&
        mv "$output.$$" "$output" && echo "$OMPI_PREFIX $*" >"$output.for"
}

# compile_all NAME [OPTION|SOURCE]...: the program, with what all have in common, compiled once.
compile_all() {
    local name objects=()
    for name in "${common[@]}"; do
        compile "$bin/$name.o" -c "$here/$name.c" || return
        objects+=("$bin/$name.o")
    done
    compile "$bin/$1" "$here/$1.c" "${objects[@]}" "${@:2}"
}

# build NAME [OPTION|SOURCE]...: the program NAME.c into $bin/NAME; ends the script if it fails.
build() {
    local name=$1
    compile_all "$@" >"$work/cc" 2>&1 || {
        sed 's/^/# /' "$work/cc"
        echo "Bail out! $name.c does not compile"
        exit 1
    }
}

# build_fuzz: the fuzzer, whose calls may lose their arguments, and shared memory. Its jobs send
# so many messages of a few bytes that fast boxes of btl/sm 5.0 lose one, and that pml/ob1 loses
# acknowledgements for want of fragments (docs/troubleshooting.md).
build_fuzz() {
    export OMPI_MCA_btl_sm_fbox_max=0 OMPI_MCA_btl_sm_free_list_max=-1
    build fuzz "$here"/{fuzzcase,vanish,fault}.c -pthread -ldl
}

# alone VARIABLE VALUE: makes $work/alone, which runs a program, where rank 1 has this value.
alone() {
    # shellcheck disable=SC2016 # for the script that is written
    printf '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 1 ] || export "OMPI_MCA_%s=%s"\nexec "$@"\n' \
        "$1" "$2" >"$work/alone"
    chmod +x "$work/alone"
}

# relay LABEL COMMAND...: the results of another script of tests are results here; what it
# skips, for want of nodes, is not.
relay() {
    local label=$1 line status=0
    shift
    "$@" >"$work/relayed" || status=$?
    while read -r line; do
        case $line in
        *' # SKIP '* | 1..*) ;;
        'ok '*) ok "$label: ${line#* - }" ;;
        'not ok '*) not_ok "$label: ${line#* - }" ;;
        *) echo "$line" ;;
        esac
    done <"$work/relayed"
    is "$label: its status" "$status" 0
    yes_if "$label: it has not skipped all" grep -q '^1\.\.[1-9]' "$work/relayed"
}

# recorder MPICC: the path of the library that records calls, built by this compiler.
recorder() {
    make --no-print-directory -s -f "$root/contrib/tuning/why/GNUmakefile" \
        BUILD_DIR="$work/$(echo "$1" | tr / _)" MPICC="$1"
}

# What a job must exit with.
expected=0

# job LABEL COMMAND...: runs a job. Its results together are a test, and those
# that failed or were skipped a test each. A job that ends with another status
# than expected, or gives no result, fails. What it has said stays in $work/out,
# first its standard output, and goes to stderr if it fails, which prove shows.
job() {
    local label="${TESTBED_PML:+over $TESTBED_PML: }$1" status good bad line begun=$SECONDS
    shift
    "$@" >"$work/raw" 2>"$work/err"
    status=$?
    # PRRTE's own messages end with a byte of 0, before the next line of the job
    tr -d '\000' <"$work/raw" >"$work/out"
    while read -r line; do
        case $line in
        not*) not_ok "$label: ${line#not ok - }" ;;
        *) skip "$label: $(sed 's/^ok - //; s/ # SKIP .*//' <<<"$line")" "${line##* # SKIP }" ;;
        esac
    done < <(grep -a -E '^not ok - |^ok - .* # SKIP ' "$work/out")
    bad=$(grep -a -c '^not ok - ' "$work/out")
    good=$(grep -a '^ok - ' "$work/out" | grep -a -v -c ' # SKIP ')
    cat "$work/err" >>"$work/out"
    if [[ $status -eq $expected && 0 -eq $bad && 0 -lt $good ]]; then
        ok "$label: $good checks"
        return
    fi
    [[ 0 -lt $bad ]] || not_ok "$label: status $status after $good checks"
    {
        echo "$label: status $status after $((SECONDS - begun)) s, $good checks passed, $bad failed"
        grep -a -v -E '^ok - ' "$work/out" | tail -40 | tr -d '\000'
    } | sed 's/^/# /' >&2
}

# said PATTERN: the last job has; lines PATTERN: how often.
said() {
    grep -a -q -E -- "$1" "$work/out"
}

lines() {
    grep -a -c -E -- "$1" "$work/out"
}

# How many times as long as on an idle machine a job may take.
readonly BUSY=5

# on_one LABEL P TIMEOUT [MPIRUN'S OPTION]... PROGRAM: a job on this machine as it is. TIMEOUT:
# seconds in which it ends on an idle one.
on_one() {
    local label=$1 p=$2 timeout=$3
    shift 3
    job "$label, $p ranks" "$testbed" local -n "$p" --timeout $((BUSY * timeout)) -- "$@"
}

# over PML: from now on jobs send messages by it, ucx or ofi; where this Open MPI was
# built without it, why_not says so.
over() {
    local component=pml:$1
    [[ $1 != ofi ]] || component=mtl:ofi
    if ! "$OMPI_PREFIX/bin/ompi_info" --parsable | grep -q "^mca:$component:version:"; then
        why_not="this Open MPI was built without ${component/://}"
        return 1
    fi
    export TESTBED_PML=$1
}

nodes_can=

# can_nodes: can there be nodes here? If not, why_not says why. Found out once.
can_nodes() {
    if [[ -z $nodes_can ]]; then
        nodes_can=yes
        why_not=$("$testbed" can 2>&1) || nodes_can=no
        why_not=$(head -n 1 <<<"$why_not")
    fi
    [[ $nodes_can == yes ]]
}

# can_slurm: can there be Slurm on the nodes? If not, why_not says why.
can_slurm() {
    can_nodes && why_not=$("$testbed" can slurm 2>&1)
}

# Sockets of each node and their cores (2:4), where ranks shall believe in any.
sockets=

# on_nodes LABEL MAP BY TIMEOUT [MPIRUN'S OPTION]... PROGRAM: a job on nodes with
# so many ranks each (1,5,2,1) in the order BY; skipped where there can be none.
on_nodes() {
    local label=$1 map=$2 by=$3 timeout=$4 nodes
    shift 4
    if ! can_nodes; then
        skip "$label, nodes of $map ranks, $by" "$why_not"
        return
    fi
    nodes=$(awk -F, '{ print NF }' <<<"$map")
    job "$label, nodes of $map ranks, $by" "$testbed" with --nodes "$nodes" -- \
        "$testbed" mpirun --map "$map" --by "$by" ${sockets:+--sockets "$sockets"} \
        --timeout $((BUSY * timeout)) -- "$@"
}
