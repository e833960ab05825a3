# shellcheck shell=bash
# Building a testbed around a command, and removing it whatever happens.
# Sourced by testbed.

# /tmp and not TMPDIR: Open MPI makes sockets in there, whose paths must be short.
readonly TMP=/tmp
readonly SHM=/dev/shm

# run_remove RUN: kills what runs in the nodes or was started by the run's
# command, then removes namespaces and directories.
run_remove() {
    local run=$1 pids failed=0
    pids=$(net_pids "$run")
    # shellcheck disable=SC2086  # a list of pids
    [[ -z $pids ]] || kill -KILL $pids 2>/dev/null || true
    kill_marked "TESTBED_RUN=$run" || failed=1
    kill_marked "TESTBED_JOB=$run" || failed=1
    net_remove "$run" || failed=1
    rm -rf "${TMP:?}/$run" "${SHM:?}/$run" || failed=1
    return "$failed"
}

# with_exit: the end of `with`, however it comes. Signals are ignored from here
# on: an impatient second Ctrl-C must not leave half of a testbed behind.
with_exit() {
    local status=$?
    trap '' INT TERM HUP PIPE
    trap - EXIT
    set +e
    if [[ $STAGE == build && $status -lt 128 ]]; then
        say "the testbed could not be built (see above); the command was not run."
        status=125
    fi
    with_stop_command
    run_remove "$TESTBED_RUN" ||
        say "not all of $TESTBED_RUN could be removed: see testbed leftovers."
    exit "$status"
}

# with_stop_command: gives the command 2 s to end by itself after a SIGTERM, so
# that it can clean up what the testbed does not know of. Only the command is
# waited for: the dead of its process group stay visible till init sees to them.
with_stop_command() {
    local tries
    [[ -n $COMMAND_PID ]] || return 0
    kill -TERM -- "$COMMAND_GROUP$COMMAND_PID" 2>/dev/null
    for ((tries = 0; tries < 40; tries++)); do
        kill -0 "$COMMAND_PID" 2>/dev/null || return 0
        sleep 0.05
    done
}

with_traps() {
    trap with_exit EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    trap 'exit 141' PIPE
}

# with_build WIRING NODES RAILS RATE...: makes the testbed TESTBED_RUN, with a RATE for
# each node.
with_build() {
    local wiring=$1 node
    shift
    mkdir "$TESTBED_DIR" "$TESTBED_SHM"
    net_hosts "$1" >"$TESTBED_DIR/hosts"
    for ((node = 0; node < $1; node++)); do
        mkdir "$TESTBED_DIR/n$node"
    done
    net_build "$TESTBED_RUN" "$1" "$2" "$wiring"
    if [[ $wiring == switch ]]; then
        net_shape "$TESTBED_RUN" "${@:2}"
    else
        mesh_build "$TESTBED_SPARE"
        mesh_shape "$3"
    fi
}

# with_names: the variables that describe the testbed of this process.
with_names() {
    TESTBED_RUN=$(my_name)
    TESTBED_DIR=$TMP/$TESTBED_RUN
    TESTBED_SHM=$SHM/$TESTBED_RUN
}

# need_rate OPTION VALUE [WORD]: a rate, or the word in its place.
need_rate() {
    [[ $2 =~ ^[0-9]+[kmg]?bit$ || (-n ${3-} && $2 == "$3") ]] ||
        die_usage "$1 is '$2', but must be ${3:+$3 or }like 100mbit (bit, kbit, mbit, gbit)"
}

# with_slow NODES LIST: puts the rates of the list, like n3:20mbit,n5:50mbit, in RATES,
# and what it says in TESTBED_SLOW, in the order of the nodes.
with_slow() {
    local word node
    local -a words slow=()
    IFS=, read -ra words <<<"$2"
    for word in "${words[@]}"; do
        [[ $word =~ ^n?([0-9]{1,3}): ]] ||
            die_usage "--slow is '$word', but must be NODE:RATE like n3:20mbit"
        node=$((10#${BASH_REMATCH[1]}))
        ((node < $1)) ||
            die_usage "--slow is '$word', but the nodes are n0 to n$(($1 - 1))"
        [[ -z ${slow[node]-} ]] || die_usage "--slow names n$node twice"
        need_rate "--slow n$node" "${word#*:}"
        RATES[node]=${word#*:}
        slow[node]=n$node:${RATES[node]}
    done
    TESTBED_SLOW=$(IFS=, && echo "${slow[*]}")
}

# with_mesh NODES SPARE RAILS SLOW: ends the program unless these options go with a mesh.
with_mesh() {
    [[ -z $1 || $1 == "$MESH_NODES" ]] ||
        die_usage "--nodes is '$1', but the mesh of --wiring has $MESH_NODES nodes"
    [[ $2 == yes || $2 == no ]] || die_usage "--spare is '$2', but must be yes or no"
    [[ $3 == 1 ]] || die_usage "--rails is '$3', but a node of a mesh has one address"
    [[ -z $4 ]] || die_usage "--slow is for nodes at a switch, not for the links of a mesh"
}

with_main() {
    local nodes='' wiring=switch spare=no rails=1 rate=none slow='' status=0 node
    local -a arguments=("$@")
    while (($#)) && [[ $1 != -- ]]; do
        need_value "$1" $#
        case $1 in
        --nodes) nodes=$2 ;;
        --wiring) wiring=$2 ;;
        --spare) spare=$2 ;;
        --rails) rails=$2 ;;
        --rate) rate=$2 ;;
        --slow) slow+=,$2 ;;
        *) die_usage "with: '$1' is no option; legal are --nodes, --wiring, --spare, --rails," \
            "--rate, --slow, and -- before the command" ;;
        esac
        shift 2
    done
    mesh_parse "$wiring"
    [[ -z $MESH ]] || with_mesh "$nodes" "$spare" "$rails" "$slow"
    nodes=${nodes:-${MESH_NODES:-4}}
    need_number --nodes "$nodes" 1 250
    need_number --rails "$rails" 1 4
    need_rate --rate "$rate" none
    RATES=()
    for ((node = 0; node < nodes; node++)); do
        RATES+=("$rate")
    done
    with_slow "$nodes" "${slow#,}"
    (($# >= 2)) || die_usage "with: no command; write -- COMMAND"
    shift

    as_root with "${arguments[@]}"
    with_names
    STAGE=build COMMAND_PID='' COMMAND_GROUP=''
    with_traps
    TESTBED_MESH=$MESH TESTBED_SPARE=$spare
    with_build "$wiring" "$nodes" "$rails" "${RATES[@]}"
    STAGE=run
    export TESTBED_RUN TESTBED_DIR TESTBED_SHM TESTBED_SLOW
    export TESTBED_MESH TESTBED_SPARE TESTBED_WIRING=$wiring
    export TESTBED_NODES=$nodes TESTBED_RAILS=$rails TESTBED_RATE=$rate
    with_command "$@" || status=$?
    exit "$status"
}

# with_command COMMAND...: runs it in the background, because bash runs traps
# only between foreground commands. Job control gives it a process group of its
# own and the SIGINT that bash takes from background commands. At a terminal that
# would also take the terminal from it, so there it stays in our group.
with_command() {
    local status=0
    if [[ ! -t 0 ]]; then
        set -m
        COMMAND_GROUP=-
    fi
    exec 3<&0
    "$@" <&3 3<&- &
    COMMAND_PID=$!
    exec 3<&-
    set +m
    wait "$COMMAND_PID" || status=$?
    # What it has left running is not waited for, but killed.
    COMMAND_PID=
    return "$status"
}

# inside VERB: ends the program unless it runs inside of a living testbed.
inside() {
    [[ -n ${TESTBED_RUN-} && -d ${TESTBED_DIR-} ]] ||
        die_usage "$1 works only inside of testbed with ... -- COMMAND"
}

bytes_main() {
    inside bytes
    if [[ -n ${TESTBED_MESH-} ]]; then
        mesh_bytes
    else
        net_bytes "$TESTBED_RUN" "$TESTBED_NODES" "$TESTBED_RAILS"
    fi
}

readonly USER_NAMESPACE=(--user --map-root-user --mount --net --uts)

# as_root ARG...: without root, runs testbed with these arguments anew as the root of a
# user namespace of its own, where the kernel allows that. What root owns outside is
# nobody's there, so /run, where ip keeps network namespaces, is replaced; and ip must be
# able to return to the network where it began, so that is replaced too. The process stays
# the same.
as_root() {
    local why
    [[ $(id -u) -ne 0 ]] || return 0
    why=$(unshare "${USER_NAMESPACE[@]}" true 2>&1) ||
        die "it takes root, or user namespaces, which this kernel refuses here" \
            "(${why//$'\n'/; }; see sysctl user.max_user_namespaces," \
            "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)"
    # shellcheck disable=SC2016  # for the inner shell
    exec unshare "${USER_NAMESPACE[@]}" sh -c \
        'mount -t tmpfs tmpfs /run && ip link set lo up && exec "$0" "$@"' "$HERE/testbed" "$@"
}

# can_main [slurm]: builds the smallest testbed with all that the others need.
can_main() {
    local why
    why=$(can_try 2>&1) || {
        why=${why//testbed: /}
        say "no testbed can be made here: ${why//$'\n'/; }"
        return 1
    }
    [[ $# -eq 0 ]] || slurm_need
}

can_try() {
    local tool
    for tool in ip tc unshare mount hostname timeout; do
        command -v "$tool" || {
            echo "the program $tool is missing"
            return 1
        }
    done >/dev/null
    "$HERE/testbed" with --nodes 1 --rate 100mbit -- "$HERE/enter" n0 true
}

# run_owner_lives RUN: does the testbed that made RUN still run?
run_owner_lives() {
    local pid start
    IFS=. read -r _ pid start <<<"$1"
    [[ $(starttime "$pid") == "$start" ]]
}

# dead_runs: the names of runs of which something is left and the owner is dead.
dead_runs() {
    local run
    {
        ls /run/netns "$TMP" "$SHM" 2>/dev/null || true
        cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' |
            sed -nE 's/^TESTBED_(RUN|JOB)=//p' || true
    } | { grep -aoE "^$PREFIX\\.[0-9]+\\.[0-9]+" || true; } | sort -u |
        while read -r run; do
            run_owner_lives "$run" || echo "$run"
        done
}

leftovers_main() {
    local run runs ns pid
    runs=$(dead_runs)
    [[ -n $runs ]] || return 0
    for run in $runs; do
        for ns in $(net_namespaces "$run"); do
            echo "namespace $ns"
        done
        for pid in $(net_pids "$run") $(marked_pids "TESTBED_RUN=$run") \
            $(marked_pids "TESTBED_JOB=$run"); do
            echo "process $pid of $run"
        done | sort -u
        ls -d "$TMP/$run" "$SHM/$run" 2>/dev/null | sed 's/^/directory /' || true
    done
    return 1
}

sweep_main() {
    local run failed=0
    for run in $(dead_runs); do
        run_remove "$run" || {
            say "not all of $run could be removed: see testbed leftovers."
            failed=1
        }
    done
    return "$failed"
}
