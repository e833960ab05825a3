# shellcheck shell=bash
# Slurm on the nodes of a testbed. Sourced by testbed.
#
# The last node is the head: there slurmctld runs, and what submits jobs. All others have a slurmd
# each. One munged, with a key of its own, serves all, since nodes share the file system but for
# /tmp. Nothing is asked of systemd or control groups, and nothing of the machine's own Slurm, if
# it has one, is read.

# What a node of a cluster has and `enter` does not give: a /tmp of its own. The directory of the
# testbed stays where it is.
# shellcheck disable=SC2016  # for the inner shell
readonly SLURM_NODE='mkdir -p "$TMPDIR/$TESTBED_RUN" &&
    mount --bind "$TESTBED_DIR" "$TMPDIR/$TESTBED_RUN" && mount --rbind "$TMPDIR" /tmp &&
    unset TMPDIR && exec "$@"'

# slurm_on NODE COMMAND...: sets ON_NODE, the command there.
slurm_on() { ON_NODE=("$HERE/enter" "$1" sh -c "$SLURM_NODE" sh "${@:2}"); }

# slurm_need: ends the program where a program of Slurm or munge is missing, or the rights that they
# want, which root of a user namespace lacks.
slurm_need() {
    local tool
    [[ $(id -u) -eq 0 && $(</proc/self/setgroups) == allow ]] || die "only root can run Slurm."
    PATH=$PATH:/usr/sbin:/sbin
    for tool in munged slurmctld slurmd srun sinfo; do
        command -v "$tool" >/dev/null || die "the program $tool is missing (Debian's packages" \
            "slurmctld, slurmd, slurm-client, munge)."
    done
}

# slurm_conf HEAD: the configuration. Time-outs are long, since all nodes share the processors of
# one machine, and a node poses as so many processors as jobs of tests need.
slurm_conf() {
    cat <<CONF
ClusterName=testbed
SlurmctldHost=n$1
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$JOB_DIR/munge
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=10
OverTimeLimit=0
MessageTimeout=100
TCPTimeout=30
BatchStartTimeout=100
MailProg=/bin/true
StateSaveLocation=$JOB_DIR/state
SlurmctldPidFile=$JOB_DIR/slurmctld.pid
SlurmctldLogFile=$JOB_DIR/slurmctld.log
SlurmdPidFile=$JOB_DIR/%n.pid
SlurmdLogFile=$JOB_DIR/%n.log
SlurmdSpoolDir=$JOB_DIR/%n
NodeName=n[0-$(($1 - 1))] CPUs=4
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE
CONF
}

# slurm_cgroup: without control groups. Slurm 22.05 knows no such plugin, but asks nothing of that of
# version 1 where nothing uses it.
slurm_cgroup() {
    local series
    series=$(slurmd -V | sed 's/^[a-z-]* //; s/[.].*//')
    echo "CgroupPlugin=$([[ $series -le 22 ]] && echo cgroup/v1 || echo disabled)"
}

# slurm_daemon NODE COMMAND...: in the background, until the job ends.
slurm_daemon() {
    slurm_on "$@"
    env "$JOB_MARK" "${ON_NODE[@]}" >>"$JOB_DIR/daemons.log" 2>&1 </dev/null &
    DAEMONS+=($!)
    disown
}

# slurm_until COMMAND...: waits until it succeeds; ends the program when a daemon has ended, or
# after two minutes.
slurm_until() {
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        ! "$@" || return 0
        [[ $(ps -o pid= -p "${DAEMONS[*]}" | wc -l) -eq ${#DAEMONS[@]} ]] || break
        sleep 0.2
    done
    tail -n 5 "$JOB_DIR"/*.log >&2
    die "Slurm does not start (see above); the command was not run."
}

# slurm_ready HEAD: are all nodes idle?
slurm_ready() {
    slurm_on "n$1" sinfo --noheader --states=idle --format=%D
    [[ $("${ON_NODE[@]}" 2>/dev/null | xargs) == "$1" ]]
}

# slurm_start HEAD: returns when all nodes are ready. The ring is for srun --mpi=pmix: without it
# ranks can die in MPI_Init (docs/troubleshooting.md).
slurm_start() {
    local head=$1 node
    local -a DAEMONS=()
    export SLURM_CONF=$JOB_DIR/slurm.conf
    slurm_conf "$head" >"$SLURM_CONF"
    slurm_cgroup >"$JOB_DIR/cgroup.conf"
    echo PMIxCollFence=ring >"$JOB_DIR/mpi.conf"
    mkdir "$JOB_DIR/state"
    head -c 128 /dev/urandom >"$JOB_DIR/key"
    chmod 0400 "$JOB_DIR/key"
    slurm_daemon "n$head" munged --foreground --key-file="$JOB_DIR/key" --socket="$JOB_DIR/munge" \
        --pid-file="$JOB_DIR/munged.pid" --log-file="$JOB_DIR/munged.log" --seed-file="$JOB_DIR/seed"
    slurm_until test -S "$JOB_DIR/munge"
    slurm_daemon "n$head" slurmctld -D
    for ((node = 0; node < head; node++)); do
        slurm_daemon "n$node" slurmd -D -N "n$node"
    done
    slurm_until slurm_ready "$head"
}

# In the environment, as far as jobs are concerned: no rank is bound, since all nodes believe that
# they own all processors.
slurm_main() {
    local limit=120 machine=yes head
    while (($#)) && [[ $1 != -- ]]; do
        if [[ $1 == --no-machine ]]; then
            machine=no
            shift
            continue
        fi
        need_value "$1" $#
        case $1 in
        --timeout) limit=$2 ;;
        *) die_usage "slurm: '$1' is no option; legal are --timeout, --no-machine, and -- before" \
            "the command" ;;
        esac
        shift 2
    done
    (($# >= 2)) || die_usage "slurm: no command; write -- COMMAND"
    shift
    inside slurm
    need_number --timeout "$limit" 1 86400
    ((TESTBED_NODES >= 2)) || die_usage "slurm: it takes 2 nodes, of which the last is the head"
    pml_check
    mpirun_find
    slurm_need
    job_begin "$TESTBED_DIR"
    use_nodes
    use_machine "$machine"
    use PRTE_MCA_hwloc_default_binding_policy none
    use OMPI_MCA_hwloc_base_binding_policy none
    head=$((TESTBED_NODES - 1))
    slurm_start "$head"
    slurm_on "n$head" "$@"
    JOB_NAME=$*
    job_run "$limit" "${ON_NODE[@]}"
}
