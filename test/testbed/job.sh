# shellcheck shell=bash
# Running one MPI job with a bound on its time. Sourced by testbed.
#
# Every process of a job carries TESTBED_JOB in its environment: mpirun gets it,
# the agent and the ranks inherit it. That finds daemons and ranks that have
# moved to process groups or sessions of their own, and never anyone else's.

# marked_pids NAME=VALUE: pids of all processes that carry this variable.
marked_pids() {
    local file
    for file in $(grep -lzsxF -- "$1" /proc/[0-9]*/environ); do
        file=${file#/proc/}
        echo "${file%/environ}"
    done
}

# kill_marked NAME=VALUE: kills them all by pid. In rounds, because one that is
# just being started may miss a round; returns 1 if some survive a minute.
kill_marked() {
    local tries pids
    for ((tries = 0; tries < 1200; tries++)); do
        pids=$(marked_pids "$1")
        [[ -z $pids ]] && return 0
        # shellcheck disable=SC2086  # a list of pids
        kill -KILL $pids 2>/dev/null || true
        sleep 0.05
    done
    return 1
}

# mpirun_find: sets MPIRUN to the mpirun to use and SERIES to 4, 5 or later.
mpirun_find() {
    local version
    MPIRUN=mpirun
    [[ -n ${OMPI_PREFIX-} ]] && MPIRUN=$OMPI_PREFIX/bin/mpirun
    version=$("$MPIRUN" --version 2>/dev/null | head -n 1) || true
    case $version in
    "mpirun (Open MPI) 4."*) SERIES=4 ;;
    "mpirun (Open MPI) "[56789].*)
        SERIES=${version#"mpirun (Open MPI) "}
        SERIES=${SERIES%%.*}
        ;;
    *) die "$MPIRUN is no mpirun of Open MPI 4.x or later" \
        "(it says '$version'); set OMPI_PREFIX to an installation; nothing was run." ;;
    esac
}

# use NAME VALUE: a setting for the job, unless the caller has made it already.
# Settings go through the environment and not through options, so that options
# on mpirun's command line win over them.
use() {
    local name=$1
    [[ -n ${!name-} ]] || export "$name=$2"
}

# pml_check: ends the program unless TESTBED_PML is one of what it may be.
pml_check() {
    case ${TESTBED_PML=ob1} in
    ob1 | ucx | ofi) ;;
    *) die_usage "TESTBED_PML is '$TESTBED_PML', but must be ob1, ucx or ofi" ;;
    esac
}

# use_common INTERFACES [BTL,]: settings that all jobs need. Each node (and each job)
# believes that it owns all of the machine's processors, so waiting ranks must yield.
# The btls are those of windows (MPI_Put) where the PML does without.
use_common() {
    local shared_memory=sm
    [[ $SERIES -eq 4 ]] && shared_memory=vader
    use OMPI_MCA_mpi_yield_when_idle 1
    use OMPI_MCA_btl "${2-}$shared_memory,self"
    [[ $TESTBED_PML == ofi ]] || use_quick_start
    "use_$TESTBED_PML" "$1"
}

use_ob1() { use OMPI_MCA_pml ob1; }

# Without these variables Open MPI takes UCX only where it finds InfiniBand. Between
# nodes there is TCP. Inside one there is shared memory, which UCX uses between
# processes of one IPC namespace only; that is why `enter` gives each node its own.
use_ucx() {
    use OMPI_MCA_pml ucx
    use OMPI_MCA_pml_ucx_tls any
    use OMPI_MCA_pml_ucx_devices any
    use OMPI_MCA_opal_common_ucx_tls any
    use OMPI_MCA_opal_common_ucx_devices any
    use UCX_TLS posix,cma,tcp,self
    use UCX_NET_DEVICES "$1"
}

# Of libfabric the tcp provider, inside of nodes too: it uses one interface.
use_ofi() {
    use OMPI_MCA_pml cm
    use OMPI_MCA_mtl ofi
    use OMPI_MCA_mtl_ofi_provider_include tcp
    use FI_PROVIDER tcp
    use FI_TCP_IFACE "${1%%,*}"
}

# Settings for jobs across nodes: TCP between nodes, our agent in place of ssh.
# Messages go over all rails, what mpirun has to say over the first.
#
# mpirun starts all daemons itself and at once: safe here, where nothing is
# remote. Start to end of an empty job on 32 nodes, 2 processors, busy with other
# work, alternating, least of 3: 4.1.4 4.8 s, with its default tree 10.8 s; 5.0.7
# 3.1 s and 3.6 s (on an idle machine 1.7 s and 1.8 s). Fewer at once than there
# are nodes is no choice: 5.0.7 then waits for the first daemons to end, for
# ever. A topology file in place of each daemon's own discovery gained nothing.
use_nodes() {
    local interfaces
    interfaces=$(net_interfaces "$TESTBED_RAILS")
    use_common "$interfaces" tcp,
    use OMPI_MCA_btl_tcp_if_include "$interfaces"
    if [[ $SERIES -eq 4 ]]; then
        use OMPI_MCA_plm_rsh_agent "$HERE/agent"
        use OMPI_MCA_plm_rsh_no_tree_spawn 1
        use OMPI_MCA_plm_rsh_num_concurrent 256
        use OMPI_MCA_oob_tcp_if_include eth0
    else
        use PRTE_MCA_plm_ssh_agent "$HERE/agent"
        use PRTE_MCA_plm_ssh_no_tree_spawn 1
        use PRTE_MCA_plm_ssh_num_concurrent 256
        # 6.0 wants to talk to a node's own processes too, by lo, and some of its launchers end in a
        # segmentation fault where two interfaces are named
        if [[ $SERIES -lt 6 ]]; then
            use PRTE_MCA_prte_if_include eth0
            use PMIX_MCA_ptl_tcp_if_include eth0
        elif [[ $interfaces == *,* ]]; then
            use PRTE_MCA_prte_if_exclude "${interfaces#eth0,}"
            use PMIX_MCA_ptl_base_if_exclude "${interfaces#eth0,}"
        fi
    fi
    [[ -z ${TESTBED_MESH-} ]] || use_mesh
}

# The address is on one interface, the routes go over others: the kernel does not say that
# nodes are reachable from the former, but they are.
use_mesh() {
    use OMPI_MCA_reachable weighted
    use PRTE_MCA_prtereachable weighted
}

# The processors of this machine that a node has, and a description of the machine in which the
# links are as fast as they are made, as a site gives it in its file of settings.
use_machine() {
    use OMPI_MCA_coll_pipering_processors \
        "$(awk -v processors="$(nproc)" -v nodes="$TESTBED_NODES" 'BEGIN { print processors / nodes }')"
    [[ $1 == yes ]] || return 0
    machine_text >"$JOB_DIR/machine"
    use OMPI_MCA_coll_pipering_machine "$JOB_DIR/machine"
}

# machine_text: net_beta is that of the slowest link; a packet of 1448 bytes has 66 of headers. UCX
# and libfabric ask before they send more than 16 KiB, which costs a block of 32 KiB half its rate.
machine_text() {
    local rates=$TESTBED_RATE
    rates+=,$(sed 's/n[0-9]*://g' <<<"${TESTBED_SLOW-}")
    cat "$HERE/machine"
    [[ $TESTBED_PML == ob1 ]] || printf '%s\n' 'net_eager = 16384' 'net_handshake = 300'
    tr , '\n' <<<"$rates" | awk '
        /^[0-9]/ {
            rate = $1 * (/gbit/ ? 1000 : /kbit/ ? 0.001 : 1)
            slowest = slowest == "" || rate < slowest ? rate : slowest
        }
        END { if (slowest != "") print "net_beta = " 8e3 / slowest * 1.0456 }'
}

# place BY SOCKETS: sets PLACEMENT, mpirun's options that put each rank where
# NODE_OF says. The files they need go to JOB_DIR.
place() {
    local by=$1 hosts parts
    hosts=$(map_hosts)
    if [[ -n $2 ]]; then
        IFS=: read -ra parts <<<"$2"
        ((${#parts[@]} == 4)) || parts=("${parts[0]}" 1 1 "${parts[1]}")
        map_rankfile "${parts[0]}" $((parts[1] * parts[2] * parts[3])) >"$JOB_DIR/ranks"
        map_topology "${parts[@]}" >"$JOB_DIR/topology.xml"
        place_sockets "$hosts"
    elif [[ $by == block ]]; then
        PLACEMENT=(--host "$hosts" --bind-to none)
    else
        # The sequential mapper is the one way to any order that both series know.
        map_sequence >"$JOB_DIR/sequence"
        PLACEMENT=(--hostfile "$JOB_DIR/sequence" --map-by seq --bind-to none)
    fi
}

# place_sockets HOSTS: the ranks are not really bound, for the cores are not
# there; they only believe it: hwloc, which would do it, is left out. Else 5.0.7,
# too, tries and warns, and dies of the warnings of 12 ranks on a node (SIGPIPE).
place_sockets() {
    PLACEMENT=(--host "$1")
    if [[ $SERIES -eq 4 ]]; then
        use OMPI_MCA_hwloc_base_topo_file "$JOB_DIR/topology.xml"
        use OMPI_MCA_rtc ^hwloc
        PLACEMENT+=(--rankfile "$JOB_DIR/ranks" --bind-to core)
    else
        use PRTE_MCA_hwloc_use_topo_file "$JOB_DIR/topology.xml"
        use PRTE_MCA_rtc ^hwloc
        PLACEMENT+=(--map-by "rankfile:file=$JOB_DIR/ranks" --bind-to core:if-supported)
    fi
}

mpirun_main() {
    local ppn=1 map='' by=block sockets='' limit=120 machine=yes
    while (($#)) && [[ $1 != -- ]]; do
        if [[ $1 == --no-machine ]]; then
            machine=no
            shift
            continue
        fi
        need_value "$1" $#
        case $1 in
        --ppn) ppn=$2 ;;
        --map) map=$2 ;;
        --by) by=$2 ;;
        --sockets) sockets=$2 ;;
        --timeout) limit=$2 ;;
        *) die_usage "mpirun: '$1' is no option; legal are --ppn, --map, --by, --sockets," \
            "--timeout, --no-machine, and -- before mpirun's own options" ;;
        esac
        shift 2
    done
    (($# >= 2)) || die_usage "mpirun: no program; write -- PROGRAM"
    shift
    inside mpirun
    need_number --ppn "$ppn" 1 9999
    need_number --timeout "$limit" 1 86400
    [[ -z $sockets || $sockets =~ ^[1-9][0-9]?(:[1-9][0-9]?:[1-9][0-9]?)?:[1-9][0-9]?$ ]] ||
        die_usage "--sockets is '$sockets', but must be sockets:cores like 2:4 or" \
            "sockets:numa:l3:cores like 2:2:1:4, each from 1 to 99"
    map_counts "$ppn" "$map"
    map_block
    case $by in
    block) ;;
    cyclic) map_cyclic ;;
    random:*)
        need_number "--by random:SEED" "${by#random:}" 0 9999999
        map_random "$((10#${by#random:}))"
        ;;
    *) die_usage "--by is '$by', but must be block, cyclic or random:SEED" ;;
    esac

    pml_check
    mpirun_find
    job_begin "$TESTBED_DIR"
    use_nodes
    use_machine "$machine"
    place "$by" "$sockets"
    JOB_NAME="${#NODE_OF[@]} ranks of $*"
    # Daemons that stay in our session: the kernel's autogroups would make a
    # scheduling group of each one's session, and in a group of one there is
    # nobody to yield to, so that waiting ranks would hold up those with work.
    job_run "$limit" "$HERE/enter" n0 "$MPIRUN" --allow-run-as-root --leave-session-attached \
        -np "${#NODE_OF[@]}" "${PLACEMENT[@]}" "$@"
}

local_main() {
    local ranks=2 limit=120
    while (($#)) && [[ $1 != -- ]]; do
        need_value "$1" $#
        case $1 in
        -n) ranks=$2 ;;
        --timeout) limit=$2 ;;
        *) die_usage "local: '$1' is no option; legal are -n, --timeout, and -- before mpirun's own options" ;;
        esac
        shift 2
    done
    (($# >= 2)) || die_usage "local: no program; write -- PROGRAM"
    shift
    need_number -n "$ranks" 1 9999
    need_number --timeout "$limit" 1 86400

    pml_check
    mpirun_find
    job_begin "$TMP"
    use_common lo
    export TMPDIR=$JOB_DIR
    JOB_NAME="$ranks ranks of $*"
    job_run "$limit" "$MPIRUN" --allow-run-as-root --oversubscribe --bind-to none \
        -np "$ranks" "$@"
}

# job_begin DIR: makes JOB_DIR below DIR, and sees to it that neither it nor any
# process of the job outlives this program.
job_begin() {
    JOB_MARK=TESTBED_JOB=$(my_name)
    JOB_FILTER=
    JOB_DIR=$1/$(my_name)
    mkdir "$JOB_DIR"
    trap job_exit EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    trap 'exit 141' PIPE
}

job_exit() {
    local status=$?
    trap '' INT TERM HUP PIPE
    trap - EXIT
    set +e
    kill_marked "$JOB_MARK" ||
        say "processes of the job survive SIGKILL: $(marked_pids "$JOB_MARK" | xargs)"
    [[ -z $JOB_FILTER ]] || wait "$JOB_FILTER"
    rm -rf "$JOB_DIR"
    exit "$status"
}

# quiet: passes mpirun's messages on, but for one that it prints by chance: it
# and its agent both set the agent's process group, and it complains when it
# comes second.
quiet() { grep --line-buffered -av 'plm:[rs]sh: Warning: setpgid' || true; }

# job_run SECONDS COMMAND...: runs mpirun with a bound on its time and ends the
# program with its status, or 124 after a timeout.
job_run() {
    local limit=$1 status=0 started=$SECONDS
    shift
    # A background job that reads from the terminal would be stopped.
    exec 3<&0
    [[ ! -t 0 ]] || exec 3</dev/null
    exec 4> >(trap '' INT TERM HUP && exec 4>&- && quiet >&2)
    JOB_FILTER=$!
    # In the background, because bash runs traps only between foreground
    # commands. timeout sends mpirun alone a SIGTERM, so that it can take its
    # ranks down itself, and SIGKILL 3 s later; job_exit kills what is left.
    env "$JOB_MARK" timeout --foreground -k 3 "$limit" "$@" <&3 2>&4 3<&- 4>&- &
    exec 3<&- 4>&-
    wait $! || status=$?
    if [[ $status -eq 124 || $status -eq 137 ]] && ((SECONDS - started >= limit)); then
        status=124
        say "the job did not end within $limit s and was killed: $JOB_NAME"
    fi
    exit "$status"
}
