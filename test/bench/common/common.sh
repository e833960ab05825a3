# shellcheck shell=bash
# What demo, run, traff and the like share: paths, building the programs, jobs on the
# testbed, tables. Sourced, not run.
#
# From the environment: OMPI_PREFIX (an installed Open MPI, else mpicc on PATH),
# STOCK_PREFIX (the same release without our patches and components; build/stock of make
# stock if it is there), BUILD_DIR (where products go, else build/ of this tree), CC, PML
# (what jobs send messages by: ob1, ucx or ofi, as TESTBED_PML of testbed --help).

BENCH_SRC=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BENCH_ROOT=$(cd "$BENCH_SRC/../.." && pwd)
BENCH_OUT=${BUILD_DIR:-$BENCH_ROOT/build}/bench
mkdir -p "$BENCH_OUT/jobs" "$BENCH_OUT/stock"
BENCH_OUT=$(cd "$BENCH_OUT" && pwd)
TESTBED=$BENCH_ROOT/test/testbed/testbed
PLAN=$BENCH_OUT/plan
STAGES=$BENCH_OUT/stages
VERDICTS=$BENCH_OUT/${0##*/}-verdicts
MPICC=${OMPI_PREFIX:+$OMPI_PREFIX/bin/}mpicc
CHECKED=(-std=c99 -D_DEFAULT_SOURCE -O2 -g -Wall -Wextra -Werror -I"$BENCH_SRC/common")

# Rounds of jobs where stock Open MPI is a build of its own.
readonly ROUNDS=2

complain() {
    echo "${0##*/}: $*" >&2
}

die() {
    complain "$*"
    exit 1
}

command -v python3 >/dev/null ||
    die "python3 is missing, which makes the tables; nothing was measured"
export TESTBED_PML=${PML:-${TESTBED_PML:-ob1}}
case $TESTBED_PML in
ob1 | ucx | ofi) ;;
*) die "PML=$TESTBED_PML: expected ob1 (the default), ucx or ofi; nothing was measured" ;;
esac

# ---- the two builds

# version_of PREFIX: "Open MPI v5.0.7" of the installation, or that on PATH
version_of() {
    "${1:+$1/bin/}ompi_info" --version 2>/dev/null | head -n 1
}

STOCK=
HAS_STOCK=

# find_stock: sets STOCK, where stock Open MPI is installed; empty: the arms of that name
# are our own build without the components.
find_stock() {
    STOCK=${STOCK_PREFIX:-${BENCH_OUT%/*}/stock}
    if [ ! -x "$STOCK/bin/mpicc" ]; then
        [ -z "${STOCK_PREFIX-}" ] ||
            die "STOCK_PREFIX=$STOCK_PREFIX: there is no bin/mpicc; nothing was measured"
        STOCK=
        return
    fi
    [ "$(version_of "$STOCK")" = "$(version_of "${OMPI_PREFIX-}")" ] ||
        die "$STOCK has $(version_of "$STOCK"), but is to be compared with" \
            "$(version_of "${OMPI_PREFIX-}"); nothing was measured"
}

# stock_note: what stock is in the table above; nothing if the section has no such arm
stock_note() {
    [ -n "$HAS_STOCK" ] || return 0
    if [ -n "$STOCK" ]; then
        echo "stock: a build without our patches and components; its jobs and ours took turns"
    else
        echo "stock: this build without the components"
    fi
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

# build_mpi PROGRAM SOURCE...: builds it for the Open MPI of MPICC. A stamp names that Open
# MPI, so that another one builds it anew.
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

# build NAME SOURCE...: build/bench/NAME, and build/bench/stock/NAME for stock Open MPI
build() {
    local name=$1
    shift
    build_mpi "$BENCH_OUT/$name" "$@"
    [ -z "$STOCK" ] || MPICC=$STOCK/bin/mpicc build_mpi "$BENCH_OUT/stock/$name" "$@"
}

# build_harness NAME SOURCE...: the same with the harness
build_harness() {
    build "$@" "$BENCH_SRC"/common/bench_*.c
}

build_agv() {
    build_harness agv "$BENCH_SRC"/traff/agv_*.c
}

# build_exchanges NAME SOURCE...: build_harness with exchanges on top of MPI, which take their
# packets from a plan of the component.
build_exchanges() {
    local plan=$BENCH_ROOT/ompi/mca/coll/pipering/plan
    build_harness "$@" "$BENCH_SRC"/balaji/by_hand.c "$plan"/coll_pipering_plan_permuted.c \
        -I"$plan" -lm
}

build_fold() {
    build_harness fold "$BENCH_SRC"/worringer/fold_*.c "$BENCH_SRC"/kandalla/by_leaders.c \
        "$BENCH_SRC"/traff/agv_dist.c -I"$BENCH_SRC"/kandalla -I"$BENCH_SRC"/traff
}

# build_plans PROGRAM SOURCE...: builds it with the component's plans, without MPI.
build_plans() {
    local built=$1 plans=$BENCH_ROOT/ompi/mca/coll/pipering/plan
    local exchange=$BENCH_ROOT/ompi/mca/common/colltools/common_colltools_exchange
    shift
    if outdated "$built" "$BENCH_SRC"/*/*.h "$@" "$plans"/coll_pipering_plan* "$exchange".[ch]; then
        "${CC:-cc}" "${CHECKED[@]}" -I"$plans" -I"$BENCH_ROOT" -o "$built" "$@" \
            "$plans"/coll_pipering_plan_*.c "$exchange.c" -lm
    fi
}

build_plan() {
    build_plans "$PLAN" "$BENCH_SRC"/traff/{plan,agv_dist}.c
}

build_stages() {
    build_plans "$STAGES" "$BENCH_SRC"/worringer/{stages,staged}.c
}

# has_component FRAMEWORK NAME: does the Open MPI at hand have it?
has_component() {
    "${OMPI_PREFIX:+$OMPI_PREFIX/bin/}ompi_info" --parsable 2>/dev/null |
        grep "^mca:$1:$2:version:" >/dev/null
}

# has_pml PML: likewise what jobs over that PML need, stock Open MPI's too.
has_pml() {
    local component="pml $1"
    [ "$1" != ofi ] || component="mtl ofi"
    # shellcheck disable=SC2086 # two words
    has_component $component && { [ -z "$STOCK" ] || OMPI_PREFIX=$STOCK has_component $component; }
}

# need_component NAME: ends the program unless the Open MPI at hand has coll/NAME, and the
# PML that jobs are to use.
need_component() {
    has_component coll "$1" || die "the Open MPI of OMPI_PREFIX has no coll/$1"
    has_pml "$TESTBED_PML" ||
        die "PML=$TESTBED_PML: the Open MPI of OMPI_PREFIX, or stock's, was built without it" \
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

# ---- jobs

# Says on stderr what a running program measures: on one line if it is a terminal.
progress() {
    local line
    while IFS= read -r line; do
        case $line in
        \[*/*\]*)
            line=${line//$'\t'/ }
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

# in_build GROUP COMMAND...: with the Open MPI that arms of a group are of
in_build() {
    local group=$1
    shift
    case $group in
    ours*) "$@" ;;
    *) OMPI_PREFIX=$STOCK "$@" ;;
    esac
}

# program_of NAME GROUP: where the program is
program_of() {
    case $2 in
    ours*) echo "$BENCH_OUT/$1" ;;
    *) echo "$BENCH_OUT/stock/$1" ;;
    esac
}

# group_of ARM: the jobs that an arm is timed in. stock2 is stock again, in jobs of its own
# as stock, so that it shows the noise from job to job. round_robin sends to all ranks, and the
# other arms of its job would poll the connections that it leaves.
group_of() {
    case ${1%%:*} in
    round_robin) echo ours_round_robin ;;
    stock | istock | tuned | sm | mpich | linear | spread[0-9]* | packed[0-9]*) echo stock ;;
    stock[0-9]*) echo "${1%%:*}" ;;
    *) echo ours ;;
    esac
}

# find_groups ARMS: sets GROUPS_OF, the groups in order, and ARMS_OF, the arms of each. All
# are one group if none is stock, or if there is no second build.
find_groups() {
    local arm group
    GROUPS_OF=()
    declare -gA ARMS_OF=()
    [[ ,$1, != *,stock,* ]] || HAS_STOCK=yes
    for arm in ${1//,/ }; do
        group=ours
        [[ -z $STOCK || ,$1, != *,stock,* ]] || group=$(group_of "$arm")
        [[ -n ${ARMS_OF[$group]-} ]] || GROUPS_OF+=("$group")
        ARMS_OF[$group]+=${ARMS_OF[$group]+,}$arm
    done
}

# job PROGRAM NAME WITH PLACE OPTIONS WORD...: runs agv, fold or the like with the words on a
# testbed (`testbed with WITH`, `testbed mpirun PLACE -- OPTIONS`), prints the commands,
# leaves PREFIX-NAME.tsv. WITH "local" means this machine without testbed.
#
# Two builds cannot be in one job. Where stock Open MPI is one of its own, the jobs of stock
# and ours run in turns, ROUNDS of each, with as many samples together as are asked for, but
# no fewer than five of each job unless fewer are asked for.
job() {
    local program=$1 name=$PREFIX$2 with=$3 place=$4 options=$5 arms='' reps=7 words=() files=()
    local round rounds=1 group
    shift 5
    while [ $# -gt 0 ]; do
        case $1 in
        --arms) arms=$2; shift ;;
        --reps) reps=$2; shift ;;
        *) words+=("$1") ;;
        esac
        shift
    done
    find_groups "$arms"
    if [ ${#GROUPS_OF[@]} -gt 1 ]; then
        rounds=$ROUNDS
        reps=$((reps > 5 * rounds ? (reps + rounds - 1) / rounds : reps > 5 ? 5 : reps))
    fi
    rm -f "$BENCH_OUT/$name.tsv"
    for ((round = 1; round <= rounds; round++)); do
        for group in "${GROUPS_OF[@]}"; do
            files+=("$BENCH_OUT/jobs/$name-$group-$round.tsv")
            one_job "$program" "$name-$group-$round" "$with" "$place" "$options" "$group" \
                "$round" "${words[@]}" --reps "$reps" --arms "${ARMS_OF[$group]}" || return 1
        done
    done
    summarize "$arms" "${files[@]}" >"$BENCH_OUT/$name.tsv"
}

# log_of NAME: what the job of ours has said
log_of() {
    echo "$BENCH_OUT/jobs/$PREFIX$1-ours-1.log"
}

# summarize ARMS FILE...: the lines of jobs as one TSV file
summarize() {
    "$BENCH_SRC/common/summary.py" "$@"
}

# one_job PROGRAM NAME WITH PLACE OPTIONS GROUP ROUND WORD...: leaves jobs/NAME.tsv and .log,
# and prints the command in the first round.
one_job() {
    local program=$1 name=$2 with=$3 place=$4 options=$5 group=$6 round=$7 rate=none shown
    local tsv=$BENCH_OUT/jobs/$2.tsv log=$BENCH_OUT/jobs/$2.log run=("$TESTBED")
    shift 7
    rm -f "$tsv"
    if [ "$with" = local ]; then
        run+=(local)
    else
        [[ $with != *--rate* ]] || rate=${with##*--rate }
        rate=${rate%% *}
        # shellcheck disable=SC2206 # a list of words
        run+=(with $with -- "$TESTBED" mpirun)
    fi
    # shellcheck disable=SC2206 # lists of words
    run+=($place -- $options)
    shown="${run[*]} $program --rate $rate $*"
    shown=${shown//"$TESTBED"/testbed}
    [ "$TESTBED_PML" = ob1 ] || shown="TESTBED_PML=$TESTBED_PML $shown"
    [[ $group == ours* ]] || shown="OMPI_PREFIX=${STOCK#"$BENCH_ROOT/"} $shown"
    [ "$round" -gt 1 ] || echo "\$ ${shown//"$BENCH_OUT"/build/bench}"
    in_build "$group" "${run[@]}" "$(program_of "$program" "$group")" --rate "$rate" "$@" \
        --tsv "$tsv" --progress 2>&1 | progress >"$log"
    if [ "${PIPESTATUS[0]}" -ne 0 ]; then
        grep -E "^($program|testbed):" "$log" >&2 || tail -n 5 "$log" >&2
        return 1
    fi
}

# ---- tables

# title TEXT...: the lines above a section
title() {
    HAS_STOCK=
    printf '\n=== %s\n' "$1"
    shift
    [ $# -eq 0 ] || printf '%s\n' "$@"
}

# A measurement that failed is a target that was missed.
failed() {
    echo "The measurement failed: MISS" | tee -a "$VERDICTS"
}

# report TABLE WORD...: what the script TABLES makes of files; a WORD is NAME=VALUE or a job's NAME
report() {
    local table=$1 word words=()
    shift
    for word in "$@"; do
        [[ $word == *=* ]] || word=$PREFIX$word.tsv
        words+=("$word")
    done
    (cd "$BENCH_OUT" && PYTHONPATH=$BENCH_SRC/common PYTHONDONTWRITEBYTECODE=1 \
        python3 "$BENCH_SRC/$TABLES" "$table" "${words[@]}")
}

# judge TABLE WORD...: the same, and counts its verdicts
judge() {
    report "$@" | tee -a "$VERDICTS"
    stock_note
}

# whole NAME: build/bench/NAME.new, which is complete, becomes NAME.tsv: half a table would be taken
# for a measured one.
whole() {
    mv "$BENCH_OUT/$1.new" "$BENCH_OUT/$1.tsv"
}

# summary: how many lines of the file VERDICTS say PASS and MISS, and where files are; false if
# there is a MISS.
summary() {
    printf '\n=== %d PASS, %d MISS; TSV files in %s\n' "$(grep -c 'PASS$' "$VERDICTS")" \
        "$(grep -c 'MISS$' "$VERDICTS")" "${BENCH_OUT#"$PWD/"}"
    ! grep -q 'MISS$' "$VERDICTS"
}

# run_sections NAMES MORE [SECTION...]: all of a script: the sections given, of NAMES and MORE,
# or all of NAMES, each a function section_NAME, after the function prepare, which gets them too.
run_sections() {
    local names=$1 more=$2 section
    shift 2
    case ${1:-} in
    --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;;
    --list) echo "$names${more:+ $more}"; exit ;;
    esac
    for section in "$@"; do
        [[ " $names $more " == *" $section "* ]] ||
            die "no section $section; there are: $names $more"
    done
    # shellcheck disable=SC2086 # a list of words
    [ $# -gt 0 ] || set -- $names
    find_stock
    prepare "$@"
    : >"$VERDICTS"
    for section in "$@"; do
        "section_$section"
    done
    summary
}
