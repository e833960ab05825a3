# shellcheck shell=bash
# What demo, run, traff and the like share: paths, building the programs, starting a job
# on the testbed. Sourced, not run.
#
# From the environment: OMPI_PREFIX (an installed Open MPI, else mpicc on PATH),
# BUILD_DIR (where products go, else build/ of this tree), CC, PML (what jobs send
# messages by: ob1, ucx or ofi, as TESTBED_PML of testbed --help).

BENCH_SRC=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BENCH_ROOT=$(cd "$BENCH_SRC/../.." && pwd)
BENCH_OUT=${BUILD_DIR:-$BENCH_ROOT/build}/bench
mkdir -p "$BENCH_OUT"
BENCH_OUT=$(cd "$BENCH_OUT" && pwd)
TESTBED=$BENCH_ROOT/test/testbed/testbed
AGV=$BENCH_OUT/agv
FOLD=$BENCH_OUT/fold
PLAN=$BENCH_OUT/plan
STAGES=$BENCH_OUT/stages
APP=$BENCH_OUT/app
MPICC=${OMPI_PREFIX:+$OMPI_PREFIX/bin/}mpicc
INCLUDES=(-I"$BENCH_SRC/common" -I"$BENCH_SRC/traff")
CHECKED=(-std=c99 -D_DEFAULT_SOURCE -O2 -g -Wall -Wextra -Werror "${INCLUDES[@]}")

complain() {
    echo "${0##*/}: $*" >&2
}

die() {
    complain "$*"
    exit 1
}

export TESTBED_PML=${PML:-${TESTBED_PML:-ob1}}
case $TESTBED_PML in
ob1 | ucx | ofi) ;;
*) die "PML=$TESTBED_PML: expected ob1 (the default), ucx or ofi; nothing was measured" ;;
esac

# title TEXT...: the lines above a section
title() {
    printf '\n=== %s\n' "$1"
    shift
    [ $# -eq 0 ] || printf '%s\n' "$@"
}

# summary [KINDS]: how many lines of the file VERDICTS say PASS and MISS, and where files of
# these kinds (TSV) are; false if there is a MISS.
summary() {
    printf '\n=== %d PASS, %d MISS; %s files in %s\n' "$(grep -c 'PASS$' "$VERDICTS")" \
        "$(grep -c 'MISS$' "$VERDICTS")" "${1:-TSV}" "${BENCH_OUT#"$PWD/"}"
    ! grep -q 'MISS$' "$VERDICTS"
}

# outdated PROGRAM SOURCE...: is the program missing or older than a source?
outdated() {
    local built=$1 source
    shift
    [ -x "$built" ] || return 0
    for source in "$@"; do
        [ ! "$source" -nt "$built" ] || return 0
    done
    return 1
}

# build_mpi PROGRAM SOURCE...: builds it for the Open MPI of OMPI_PREFIX. A stamp
# names that Open MPI, so that another one builds it anew.
build_mpi() {
    local built=$1 stamp=$1.for
    shift
    command -v "$MPICC" >/dev/null || die "no mpicc found, set OMPI_PREFIX"
    if outdated "$built" "$BENCH_SRC"/*/*.h "$@" ||
        [ "$(cat "$stamp" 2>/dev/null)" != "$MPICC" ]; then
        "$MPICC" "${CHECKED[@]}" -pthread -o "$built" "$@"
        echo "$MPICC" >"$stamp"
    fi
}

build_agv() {
    build_mpi "$AGV" "$BENCH_SRC"/traff/agv_*.c
}

build_fold() {
    build_mpi "$FOLD" "$BENCH_SRC"/worringer/fold*.c "$BENCH_SRC"/traff/agv_{arms,dist,mpit,options,report,world}.c
}

build_app() {
    build_mpi "$APP" "$BENCH_SRC"/balaji/app*.c "$BENCH_SRC"/traff/agv_{arms,dist,mpit,options,report,world}.c \
        -lm
}

# build_plans PROGRAM SOURCE...: builds it with the component's plans, without MPI.
build_plans() {
    local built=$1 plans=$BENCH_ROOT/ompi/mca/coll/pipering
    local exchange=$BENCH_ROOT/ompi/mca/common/irregular/common_irregular_exchange
    shift
    if outdated "$built" "$BENCH_SRC"/*/*.h "$@" "$plans"/coll_pipering_plan* "$exchange".[ch]; then
        "${CC:-cc}" "${CHECKED[@]}" -I"$plans" -I"$BENCH_ROOT" -o "$built" "$@" \
            "$plans"/coll_pipering_plan_*.c "$exchange.c" -lm
    fi
}

build_plan() {
    build_plans "$PLAN" "$BENCH_SRC/traff/plan.c" "$BENCH_SRC/traff/agv_dist.c"
}

build_stages() {
    build_plans "$STAGES" "$BENCH_SRC/worringer/stages.c"
}

# has_component FRAMEWORK NAME: does the Open MPI at hand have it?
has_component() {
    "${OMPI_PREFIX:+$OMPI_PREFIX/bin/}ompi_info" --parsable 2>/dev/null |
        grep "^mca:$1:$2:version:" >/dev/null
}

# has_pml PML: likewise what jobs over that PML need.
has_pml() {
    case $1 in
    ofi) has_component mtl ofi ;;
    *) has_component pml "$1" ;;
    esac
}

# need_component NAME: ends the program unless the Open MPI at hand has coll/NAME, and the
# PML that jobs are to use.
need_component() {
    has_component coll "$1" || die "the Open MPI of OMPI_PREFIX has no coll/$1"
    has_pml "$TESTBED_PML" ||
        die "PML=$TESTBED_PML: the Open MPI of OMPI_PREFIX was built without it" \
            "(Debian's packages: libucx-dev for ucx, libfabric-dev for ofi; then make again)"
}

# over_pml: the PML for people.
over_pml() {
    case $TESTBED_PML in
    ob1) echo "Open MPI's own TCP (pml/ob1)" ;;
    ucx) echo "UCX's TCP (pml/ucx)" ;;
    ofi) echo "libfabric's tcp provider (pml/cm, mtl/ofi)" ;;
    esac
}

need_testbed() {
    local why
    why=$("$TESTBED" can 2>&1) || die "the testbed cannot be made here: ${why#testbed: }"
}

# Says on stderr what a running program measures: on one line if it is a terminal.
progress() {
    local line
    while IFS= read -r line; do
        case $line in
        \[*/*\]*)
            if [ -t 2 ]; then
                printf '\r  measuring %-60s' "$line" >&2
            else
                printf '  measuring %s\n' "$line" >&2
            fi
            ;;
        *) printf '%s\n' "$line" ;;
        esac
    done
    [ ! -t 2 ] || printf '\r%-74s\r' '' >&2
}

# job NAME WITH PLACE OPTIONS AGV...: runs agv with the words AGV on a testbed
# (`testbed with WITH`, `testbed mpirun PLACE -- OPTIONS`), prints the command,
# leaves NAME.tsv and NAME.log. WITH "local" means this machine without testbed.
job() {
    run_job "$AGV" "$@"
}

# fold_job NAME WITH PLACE OPTIONS FOLD...: the same with fold
fold_job() {
    run_job "$FOLD" "$@"
}

# app_job NAME WITH PLACE OPTIONS APP...: the same with app
app_job() {
    run_job "$APP" "$@"
}

run_job() {
    local program=$1 name=$2 with=$3 place=$4 options=$5 rate=none command pml=
    [ "$TESTBED_PML" = ob1 ] || pml="TESTBED_PML=$TESTBED_PML "
    shift 5
    local tsv=$BENCH_OUT/$name.tsv log=$BENCH_OUT/$name.log
    rm -f "$tsv"
    if [ "$with" = local ]; then
        command="testbed local $place -- ${options:+$options }${program##*/} $*"
        echo "\$ $pml$command"
        # shellcheck disable=SC2086 # lists of words
        "$TESTBED" local $place -- $options "$program" "$@" --rate none --tsv "$tsv" --progress \
            2>&1 | progress >"$log"
    else
        [[ $with != *--rate* ]] || rate=${with##*--rate }
        rate=${rate%% *}
        command="testbed with $with -- testbed mpirun ${place:+$place }-- ${options:+$options }"
        echo "\$ $pml${command}${program##*/} --rate $rate ${*//"$BENCH_OUT"/build/bench}"
        # shellcheck disable=SC2086 # lists of words
        "$TESTBED" with $with -- "$TESTBED" mpirun $place -- $options "$program" --rate "$rate" \
            "$@" --tsv "$tsv" --progress 2>&1 | progress >"$log"
    fi
    if [ "${PIPESTATUS[0]}" -ne 0 ]; then
        grep -E '^(agv|fold|app|testbed):' "$log" >&2 || tail -n 5 "$log" >&2
        return 1
    fi
}
