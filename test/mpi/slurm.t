#!/bin/bash
# Jobs under Slurm, 2 ranks on each of 8 nodes: started by srun, by mpirun on a login node, and by
# mpirun in a batch script. Results are right, algorithms are chosen as without Slurm, jobs that
# Slurm ends leave nothing, and the tools of contrib/tuning find their way in an allocation.
# shellcheck source-path=SCRIPTDIR source=lib.sh
# shellcheck disable=SC2317 # job and long call functions
#
# In a testbed with Slurm the scratch directory is one that all nodes see.
TMPDIR=${TESTBED_DIR-${TMPDIR-/tmp}} . "$(dirname "$0")/lib.sh"

readonly NODES=8
readonly SIZE=(--nodes "$NODES" --ntasks-per-node 2)
mpirun=$OMPI_PREFIX/bin/mpirun
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
seed=0
tools=$root/contrib/tuning

# outside: builds a testbed with Slurm, and runs this script in it.
outside() {
    can_slurm || skip_all "$why_not"
    build_fuzz
    build hops "$here/fault.c" -ldl
    build served
    build killed
    build predicted
    "$testbed" with --nodes $((NODES + 1)) --rate 100mbit -- "$testbed" slurm --timeout 3600 -- \
        "$0" inside
}

if [[ ${1-} != inside ]]; then
    outside
    exit
fi

srun --mpi=list 2>&1 | grep -q '\<pmix$' ||
    skip_all "Slurm's PMIx plugin is missing, or finds no PMIx (Debian's package libpmix-dev)"

# batch SECONDS COMMAND...: as a batch script does; its output, and its status.
batch() {
    local status=0
    timeout "$1" sbatch --wait --quiet "${SIZE[@]}" --output="$work/batch" \
        --wrap="$(printf '%q ' "${@:2}")" || status=$?
    cat "$work/batch"
    return "$status"
}

# by HOW SECONDS COMMAND...: a job.
by() {
    local status=0
    case $1 in
    srun) timeout "$2" srun --mpi=pmix "${SIZE[@]}" "${@:3}" ;;
    salloc) timeout "$2" salloc --quiet "${SIZE[@]}" "$mpirun" "${@:3}" ;;
    sbatch) batch "$2" "$mpirun" "${@:3}" ;;
    esac || status=$?
    # One that hangs would keep the nodes.
    [[ $status -ne 124 ]] || scancel --user="$(id -un)"
    return "$status"
}

# under HOW LABEL SECONDS COMMAND...: a test, of a job that takes so long on an idle machine.
under() {
    job "$2, by $1" by "$1" $((BUSY * $3)) "${@:4}"
}

# ---- results ----

for how in srun salloc sbatch; do
    SEED=$((++seed)) N=10 REPLAY="MAP=2,2,2,2,2,2,2,2" under $how "random calls" 60 "$bin/fuzz"
done
SEED=$((++seed)) N=10 LEADERS=1 REPLAY="MAP=2,2,2,2,2,2,2,2 WITH='-x LEADERS=1'" \
    under srun "random calls, leaders" 60 "$bin/fuzz"
under srun "ring buffers" 60 "$bin/hops"

# ---- the choice ----

# chosen: what was chosen for the calls of the last job, and what was left below.
chosen() {
    grep -a -o -E 'coll/pipering: [a-z]* (of [0-9]+ bytes on|on .* left to) .*' "$work/out"
}

calls=(env OMPI_MCA_coll_pipering_verbose=1 OMPI_MCA_coll="^mleader" "$bin/predicted" 40 7 "$work")
job "40 calls without Slurm" "$testbed" mpirun --map 2,2,2,2,2,2,2,2 --timeout $((BUSY * 60)) -- \
    "${calls[@]}"
without=$(chosen)
yes_if "the choice of 30 or more is known" test "$(wc -l <<<"$without")" -ge 30
for how in srun salloc sbatch; do
    under $how "the same calls" 60 "${calls[@]}"
    is "chosen as without Slurm, by $how" "$(chosen)" "$without"
done

# ---- jobs that Slurm ends ----

# running: the processes of nodes but for Slurm's own.
running() {
    local node
    for ((node = 0; node < NODES; node++)); do
        ip netns pids "$TESTBED_RUN.n$node"
    done | xargs -r ps -o pid=,comm= -p | grep -v ' slurmd$'
}

# left: what there is that should not be, a minute later at most: processes, shared memory, the
# directories of sessions on nodes and on the login node, and of PMIx below those of Slurm.
left() {
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        [[ -n $(running) ]] || break
        sleep 0.1
    done
    running | sed 's/^/process /'
    find /dev/shm -mindepth 1
    find "$TESTBED_DIR"/n* -mindepth 1 -name "$TESTBED_RUN" -prune -o -mindepth 1 -print
    find "${SLURM_CONF%/*}" -mindepth 2 -name '*pmix*'
}

# until_said PATTERN FILE SECONDS
until_said() {
    local end=$((SECONDS + BUSY * $3))
    until grep -a -q "$1" "$2" 2>/dev/null; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

# state ID: of a job, as Slurm names it.
state() {
    scontrol show job "$1" | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p'
}

# until_over ID SECONDS: waits for the job.
until_over() {
    local end=$((SECONDS + BUSY * $2))
    while [[ $(state "$1") == [PRC]*ING ]] && ((SECONDS < end)); do
        sleep 0.2
    done
}

by_way_of=()

# ended LABEL HOW STATE SECONDS [OPTION]...: a job with these options of sbatch, in calls that would
# go on for ever, is cancelled (STATE CANCELLED), or Slurm ends it by itself, in so many seconds.
ended() {
    local label="$1, by $2" wanted=$3 seconds=$4 how=("$mpirun") id
    [[ $2 != srun ]] || how=(srun --mpi=pmix)
    rm -f "$work/batch"
    id=$(VICTIM=-1 CALL=iallgatherv OMPI_MCA_coll_pipering_verbose=1 sbatch --parsable "${SIZE[@]}" \
        "${@:5}" --output="$work/batch" --wrap="${how[*]} ${by_way_of[*]} $bin/killed")
    yes_if "$label: it is in calls" until_said 'iallgatherv on .*: pipelined ring' "$work/batch" 60
    yes_if "$label: it has files in shared memory" test -n "$(find /dev/shm -mindepth 1)"
    [[ $wanted != CANCELLED ]] || scancel "$id"
    until_over "$id" "$seconds"
    is "$label: Slurm has ended it" "$(state "$id")" "$wanted"
    is "$label: nothing is left" "$(left)" ""
    scancel --user="$(id -un)"
}

is "after all jobs that have ended by themselves, nothing is left" "$(left)" ""
ended "cancelled" srun CANCELLED 60
ended "cancelled" mpirun CANCELLED 60
# Slurm has to kill these.
by_way_of=(env --ignore-signal=TERM)
long ended "cancelled, and ignores SIGTERM" srun CANCELLED 60
long ended "cancelled, and ignores SIGTERM" mpirun CANCELLED 60
by_way_of=()
# Slurm counts minutes, and looks twice a minute.
long ended "out of time" srun TIMEOUT 180 --time=1
long ended "out of time" mpirun TIMEOUT 180 --time=1

# ---- the tools ----

# recorded HOW COMMAND...: a job whose calls are recorded.
recorded() {
    local record=$work/record-$1
    export PIPERING_WHY=$record
    under "$@" "$bin/served"
    unset PIPERING_WHY
    is "recorded by $1: all ranks of a job" \
        "$("$tools/pipering-why" "$record" | grep -c '^Job .*: 16 ranks on 8 nodes')" 1
    is "recorded by $1: calls of MPI_Allgatherv and who served them" \
        "$("$tools/pipering-why" --json "$record" | python3 -c '
import json, sys
for one in json.load(sys.stdin)["classes"]:
    if one["call"].endswith("allgatherv"):
        print("%g" % one["calls"], one["call"], one["server"])' | sort | xargs)" \
        "2 allgatherv pipering 2 iallgatherv pipering"
}

# tuned NAME COMMAND...: pipering-tune in an allocation, where jobs are started by the command.
tuned() {
    salloc --quiet "${SIZE[@]}" timeout $((BUSY * 120)) "$tools/pipering-tune" --launch "$2" \
        "${@:3}" >"$work/said" 2>&1
    status=$?
    sed 's/^/# /' "$work/said"
    is "$1, jobs by $2: status" "$status" 0
}

# measures COMMAND: a file of the machine, whose links of 100 Mbit/s take 80 ns a byte and more.
measures() {
    local file=$work/machine-$count
    tuned "the machine" "$1" --machine "$file"
    yes_if "the machine, jobs by $1: its links" grep -q '^net_beta = [89][0-9][.]' "$file"
}

if command -v python3 >/dev/null; then
    library=$(recorder "$OMPI_PREFIX/bin/mpicc")
    recorded srun "a record" 60 env LD_PRELOAD="$library"
    for starter in "srun --mpi=pmix" "$mpirun"; do
        long measures "$starter"
    done
else
    skip "pipering-why and pipering-tune" "no python3"
fi
is "nothing is left in the end" "$(left)" ""
finish
