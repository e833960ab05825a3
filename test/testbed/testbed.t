#!/bin/bash
# Tests of testbed itself, in TAP. Runs those with MPI for the Open MPI at
# $OMPI_PREFIX, if set, and for the one on PATH, if it is another. Ends within
# TESTBED_T_LIMIT seconds (900); an idle machine of 2 processors needs 80.
set -uo pipefail

# A bound on the whole: a hang here must fail and not stop the test suite.
if [[ -z ${TESTBED_T_BOUNDED-} ]]; then
    TESTBED_T_BOUNDED=yes timeout -k 30 "${TESTBED_T_LIMIT:-900}" "$BASH" "${BASH_SOURCE[0]}" "$@"
    status=$?
    [[ $status -ne 124 ]] || echo "not ok - the tests end in time"
    exit "$status"
fi

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
testbed=$here/testbed
count=0
failures=0

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 143' TERM

# is NAME GOT WANTED: one test; what was got is shown when it is not as wanted.
is() {
    count=$((count + 1))
    if [[ $2 == "$3" ]]; then
        echo "ok $count - $1"
    else
        failures=$((failures + 1))
        echo "not ok $count - $1"
        printf 'got:    %s\nwanted: %s\n' "$2" "$3" | sed 's/^/# /'
        [[ ! -s $scratch/err ]] || sed 's/^/# stderr: /' "$scratch/err"
    fi
}

# yes NAME COMMAND...: one test; the command must succeed.
yes() {
    local name=$1
    shift
    if "$@"; then
        is "$name" yes yes
    else
        is "$name" "no: $*" yes
    fi
}

skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# timed NAME COMMAND...: yes, of real time, which depends on the machine and on what else runs.
timed() {
    if [[ -n ${CHECK_LONG-} ]]; then
        yes "$@"
    else
        skip "$1" "make check-long runs it"
    fi
}

# run VERB...: runs testbed, sets out and status; stderr goes to a file.
run() {
    out=$("$testbed" "$@" 2>"$scratch/err")
    status=$?
}

# names_left RUN: what is left of a run.
names_left() {
    find /run/netns /tmp /dev/shm -maxdepth 1 -name "$1*" 2>/dev/null
    grep -lzsxF "TESTBED_RUN=$1" /proc/[0-9]*/environ
}

within() { (($1 >= $2 && $1 <= $3)); }

sorted() { tr ' ' '\n' <<<"$1" | sort | xargs; }

# ---- building and removing -------------------------------------------------

test_with() {
    run with --nodes 3 -- bash -c "ls /run/netns | grep -c \"^\$TESTBED_RUN\\.\"; exit 7"
    is "with: 3 nodes and a switch" "$out" 4
    is "with: the command's exit status" "$status" 7
    # shellcheck disable=SC2016  # for the inner shell
    run with --nodes 2 --rate none -- bash -c 'echo "$TESTBED_NODES $TESTBED_RATE"; cat' <<<input
    is "with: variables and standard input" "$out" $'2 none\ninput'
    # shellcheck disable=SC2016
    run with --nodes 2 -- "$here/enter" n1 sh -c 'hostname; echo "${TMPDIR##*/}"'
    is "enter: host name and TMPDIR" "$out" $'n1\nn1'
    run with --nodes 0 -- true
    is "with: a wrong number is refused" "$status" 2
    run with --rails 5 -- true
    is "with: too many rails are refused" "$status" 2
    run with --nodes 2 --rate 0mbit -- echo ran
    is "with: a rate that tc refuses" "$status$out" 125
    run mpirun -- true
    is "mpirun outside of with is refused" "$status" 2
}

# Each rail is a link of its own: what goes to an address is seen there only.
test_rails() {
    # shellcheck disable=SC2016  # for the inner shells
    run with --nodes 2 --rails 2 -- bash -c "
        echo \"\$TESTBED_RAILS\"
        '$here/enter' n1 sh -c 'ip -br -4 addr show up | sed -n \"s/^\(eth[0-9]\)@[^ ]* *UP */\1 /p\"'
        '$here/enter' n0 bash -c 'echo >/dev/udp/10.87.1.2/9; sleep 0.2'
        '$testbed' bytes"
    is "rails: interfaces, each with an address" "$(head -n 3 <<<"$out" | xargs)" \
        "2 eth0 10.87.0.2/24 eth1 10.87.1.2/24"
    is "rails: bytes of each" "$(awk 'NR > 3 { print $1, NF, ($2 + $3 > 0), ($4 + $5 > 0) }' <<<"$out" | xargs)" \
        "n0 5 0 1 n1 5 0 1"
}

# ---- meshes ----------------------------------------------------------------

test_mesh_routes() {
    local mesh wrong=
    for mesh in 1 5 3t 4t 6t 1x4t 4x4 4tx4t 2x2x2 3x1x3 4tx3 4x4x2 3tx3tx3t 4tx4tx2; do
        wrong+=$(timeout 300 awk -v mesh="$mesh" -f "$here/mesh.awk" -f "$here/mesh_test.awk" 2>&1 ||
            echo "$mesh: status $?")
    done
    is "routes of meshes: shortest, even, and with spare ones around any link" "$wrong" ""
}

test_mesh_words() {
    local words
    for words in "--wiring ring:4" "--wiring mesh:4x" "--wiring mesh:0x2" "--wiring torus:16x16" \
        "--wiring mesh:2x2 --nodes 3" "--wiring mesh:2x2 --rails 2" \
        "--wiring mesh:2x2 --slow n1:1mbit" "--wiring mesh:2x2 --spare maybe"; do
        # shellcheck disable=SC2086  # words
        run with $words -- echo ran
        is "with: $words is refused, in one sentence" \
            "$status$out $(grep -c '^testbed: .*nothing was run' "$scratch/err")" "2 1"
    done
    # shellcheck disable=SC2016  # for the inner shell
    run with --wiring torus:3x2 -- bash -c 'echo "$TESTBED_NODES $TESTBED_WIRING $TESTBED_MESH"'
    is "with: variables of a wiring" "$out" "6 torus:3x2 3tx2t"
    run with --nodes 2 -- "$testbed" links
    is "links: refused at a switch" "$status" 2
    run with --wiring mesh:3 -- "$testbed" link n0 n2 down
    is "link: refused where there is none" "$status" 2
}

# way FROM TO: the nodes that a packet of 1000 bytes passes, by the counters of links; its
# payload tells it from the few bytes of ARP.
way() {
    cat <<WAY
        before=\$('$testbed' links)
        '$here/enter' n$1 bash -c 'head -c 1000 /dev/zero >/dev/udp/10.87.0.$(($2 + 1))/9'
        sleep 0.2
        paste <(echo "\$before") <('$testbed' links) |
            awk '\$7 - \$3 > 1000 { printf "%s%s-%s", (n++ ? " " : ""), \$1, \$2 }'
        echo
WAY
}

test_mesh_ways() {
    run with --wiring mesh:3x3 -- bash -c "$(way 0 8)
        $(way 8 0)"
    is "mesh: the first dimension first" "$(sed 's/ /\n/g' <<<"$out" | sort | xargs)" \
        "n0-n3 n1-n0 n2-n1 n3-n6 n5-n2 n6-n7 n7-n8 n8-n5"
    run with --wiring torus:4 -- bash -c "$(way 0 3)
        $(way 0 2)
        $(way 1 3)"
    is "torus: the shorter way, and both ways round" "$out" $'n0-n3\nn0-n1 n1-n2\nn0-n3 n1-n0'
    # shellcheck disable=SC2016  # for the inner shell
    run with --wiring mesh:2x2 --spare yes -- bash -c "'$testbed' link n0 n1 down
        $(way 0 1)
        $(way 3 0)
        '$testbed' link n1 n0 up
        $(way 0 1)"
    is "mesh: around a link that is down, also past the sender, then over it again" "$out" \
        $'n0-n2 n2-n3 n3-n1\nn1-n3 n2-n0 n3-n1 n3-n2\nn0-n1'
    run with --wiring mesh:2x2 -- bash -c "'$here/enter' n0 ip -o addr show scope global up
        '$testbed' link n0 n1 down
        $(way 0 1)"
    is "mesh: one address; no spare route unless it is asked for" \
        "$(awk '/inet/ { print $2, $4; next } { print }' <<<"$out")" "eth0 10.87.0.1/32"
}

# What of --slow cannot be meant is said in one sentence.
test_slow_words() {
    local word
    for word in 1 n1:20m n3:20mbit n1:none n1:1mbit,1:2mbit; do
        run with --nodes 3 --slow "$word" -- echo ran
        is "with: --slow $word is refused, in one sentence" \
            "$status$out $(grep -c '^testbed: --slow .*nothing was run' "$scratch/err")" "2 1"
    done
    # shellcheck disable=SC2016  # for the inner shell
    run with --nodes 3 --slow 2:30mbit --slow n0:20mbit -- bash -c 'echo "$TESTBED_SLOW"'
    is "with: --slow, repeated" "$out" n0:20mbit,n2:30mbit
    # shellcheck disable=SC2016
    run with --nodes 1 -- bash -c 'echo "${TESTBED_SLOW-unset}"'
    is "with: no --slow" "$out" ""
}

# test_signal NAME STATUS: a testbed that gets a signal leaves nothing behind.
test_signal() {
    local pid run
    rm -f "$scratch/run"
    # Job control, because bash takes SIGINT from background commands otherwise.
    set -m
    "$testbed" with --nodes 2 -- bash -c "
        '$here/enter' n1 sleep 1000 &
        setsid sleep 1000 &
        echo \$TESTBED_RUN >'$scratch/run.new'
        mv '$scratch/run.new' '$scratch/run'
        sleep 1000" 2>"$scratch/err" &
    pid=$!
    set +m
    wait_for "$scratch/run"
    run=$(<"$scratch/run")
    kill -"$1" "$pid"
    wait "$pid" 2>/dev/null
    is "SIG$1: exit status" $? "$2"
    if [[ $1 == KILL ]]; then
        test_sweep "$run"
    fi
    is "SIG$1: nothing is left" "$(names_left "$run")" ""
}

wait_for() {
    local tries
    for ((tries = 0; tries < 1200; tries++)); do
        [[ ! -e $1 ]] || return 0
        sleep 0.05
    done
}

test_sweep() {
    local namespaces=" 3 namespace"
    run leftovers
    is "leftovers: says so" "$status" 1
    # Without root the namespaces go with their last process, and nobody else sees them.
    [[ $(id -u) -eq 0 ]] || namespaces=
    is "leftovers: lists 3 namespaces, 2 directories and the processes" \
        "$(grep -F "$1" <<<"$out" | sed 's/ .*//' | sort | uniq -c | xargs | sed 's/ [0-9]* process/ N process/')" \
        "2 directory$namespaces N process"
    run sweep
    is "sweep: succeeds" "$status" 0
}

# ---- without root -----------------------------------------------------------

# as_nobody COMMAND...: in place of run, for a copy of the testbed that a user without
# rights can read.
as_nobody() {
    out=$(env -C / HOME="$scratch" setpriv --reuid=65534 --regid=65534 --clear-groups \
        --inh-caps=-all "$@" 2>"$scratch/err")
    status=$?
}

test_user() {
    local own=$scratch/own/testbed
    # All tests here are such tests already.
    [[ $(id -u) -eq 0 ]] || return 0
    mkdir -p "$scratch/own" "$scratch/bin"
    cp -p "$here"/* "$scratch/own"
    chmod -R a+rX "$scratch"
    printf '#!/bin/sh\necho "unshare: not permitted" >&2\nexit 1\n' >"$scratch/bin/unshare"
    chmod a+rx "$scratch/bin/unshare"
    as_nobody env PATH="$scratch/bin:$PATH" "$own" can
    is "without root: says why where the kernel forbids it" \
        "$status $(grep -c 'it takes root, or user namespaces.*unshare: not permitted' "$scratch/err")" \
        "1 1"
    as_nobody "$own" can
    if [[ 0 -ne $status ]]; then
        skip "without root" "$(<"$scratch/err")"
        return
    fi
    # shellcheck disable=SC2016  # for the inner shell
    as_nobody "$own" with --nodes 2 --rate 100mbit -- bash -c 'ls /run/netns | wc -l
        "$0" n1 hostname; exit 7' "$scratch/own/enter"
    is "without root: nodes" "$out $status" $'3\nn1 7'
    is "without root: nothing is left" "$(find /tmp /dev/shm -maxdepth 1 -user 65534 -name 'testbed.*')" ""
}

# A job without root, over what MPI there is.
test_user_job() {
    local mpirun=$OMPI_PREFIX/bin/mpirun
    [[ $(id -u) -eq 0 ]] || return 0
    as_nobody "$scratch/own/testbed" can
    [[ 0 -eq $status ]] || return 0
    as_nobody test -x "$mpirun"
    if [[ 0 -ne $status ]]; then
        skip "$label: without root" "only root may run $mpirun"
        return
    fi
    chmod a+rx "$probe"
    as_nobody "$scratch/own/testbed" with --nodes 3 -- \
        "$scratch/own/testbed" mpirun --timeout 75 --map 1,2,1 -- "$probe" hosts
    is "$label: without root" "$out" "n0 n1 n1 n2"
    as_nobody "$scratch/own/testbed" local -n 3 --timeout 75 -- "$probe" hosts
    is "$label: without root, local" "$out" "$(hostname) $(hostname) $(hostname)"
}

# ---- jobs ------------------------------------------------------------------

job() { run with --nodes 4 -- "$testbed" mpirun --timeout 75 "$@"; }

test_maps() {
    local kind
    local -A shared=([node]="0 0 0 0 4 4" [socket]="0 0 2 2 4 5" [numa]="0 0 2 2 4 5"
        [l3]="0 0 2 2 4 5" [core]="0 1 2 3 4 5")
    job --ppn 2 -- "$probe" hosts
    is "$label: block" "$out" "n0 n0 n1 n1 n2 n2 n3 n3"
    job --map 1,5,2,1 -- "$probe" hosts
    is "$label: 1,5,2,1" "$out" "n0 n1 n1 n1 n1 n1 n2 n2 n3"
    job --map 2,0,3 --by cyclic -- "$probe" hosts
    is "$label: 2,0,3 cyclic" "$out" "n0 n2 n0 n2 n2"
    job --map 1,5,2,1 --by random:3 -- "$probe" hosts
    is "$label: random, by its seed" "$out" "n3 n1 n1 n2 n1 n2 n1 n0 n1"
    if ! command -v lstopo-no-graphics >/dev/null; then
        skip "$label: sockets" "lstopo-no-graphics is missing"
        return
    fi
    job --map 4,1,3 --by cyclic --sockets 2:4 -- "$probe" share socket
    is "$label: sockets" "$out" "0 1 2 0 2 5 6 5"
    # What a topology-aware component may go by on such a node.
    for kind in node socket numa l3 core; do
        job --map 4,2 --sockets 2:2 -- "$probe" share "$kind"
        is "$label: what ranks share: $kind" "$out" "${shared[$kind]}"
    done
    shared=([socket]="0 0 0 0 0 0" [numa]="0 0 0 0 4 4" [l3]="0 0 2 2 4 4")
    for kind in socket numa l3; do
        job --map 6 --sockets 1:2:2:2 -- "$probe" share "$kind"
        is "$label: NUMA nodes and caches of a socket: $kind" "$out" "${shared[$kind]}"
    done
    job --map 16 --sockets 4:4 -- "$probe" share socket
    is "$label: 16 ranks on a node" "$out" "0 0 0 0 4 4 4 4 8 8 8 8 12 12 12 12"
    job --map 2 --sockets 2:1 -- "$probe" bound
    is "$label: ranks are not really bound" "$out" "$(nproc) $(nproc)"
    job --map 3 -- "$probe" share socket
    is "$label: ranks that are not bound share no socket" "$out" "0 1 2"
}

test_ends() {
    local seconds=$SECONDS
    # One rank: with several that fail at once mpirun of 5.0.7 sometimes crashes.
    job --map 1 -- "$probe" exit 7
    is "$label: the program's exit status" "$status" 7
    run with --nodes 2 -- "$testbed" mpirun --timeout 1 -- "$probe" hang
    is "$label: a hung job ends with 124" "$status" 124
    is "$label: and says so in one sentence" \
        "$(grep -c '^testbed: the job did not end within 1 s and was killed' "$scratch/err")" 1
    timed "$label: soon after its time" within $((SECONDS - seconds)) 1 10
    run local -n 2 --timeout 1 -- "$probe" hang
    is "$label: a hung local job ends with 124" "$status" 124
    is "$label: no process of it is left" "$(grep -alzF "$probe" /proc/[0-9]*/cmdline 2>/dev/null)" ""
}

test_links() {
    local wanted ping bytes rx
    # 1 MiB at 50 Mbit/s, of which 0.958 are left for the data. The ping goes
    # between n0 and n2, so that what n1 gets is known.
    wanted=$((1048576 * 8 * 1000 / (50 * 958)))
    run with --nodes 4 --rate 50mbit -- bash -c "
        '$testbed' mpirun --timeout 75 --map 1,0,1 -- '$probe' ping 1048576 &&
        '$testbed' mpirun --timeout 75 --map 1,1,0,1 -- '$probe' send 1048576 &&
        '$testbed' bytes"
    ping=$(head -n 1 <<<"$out")
    timed "$label: the rate limits (${ping:-no} us, wanted $wanted)" \
        within "${ping:-0}" $((wanted * 85 / 100)) $((wanted * 115 / 100))
    bytes=$(tail -n +2 <<<"$out")
    is "$label: bytes names the nodes" "$(awk '{ print $1, NF }' <<<"$bytes" | xargs)" "n0 3 n1 3 n2 3 n3 3"
    rx=$(awk '$1 == "n1" { print $2 }' <<<"$bytes")
    yes "$label: bytes into n1 (${rx:-none})" within "${rx:-0}" 1048576 1200000
    rx=$(awk '$1 == "n3" { print $2 }' <<<"$bytes")
    yes "$label: bytes into n3 (${rx:-none})" within "${rx:-0}" 1000 150000
    run with --nodes 2 -- bash -c "'$testbed' mpirun -- \
        cat /proc/sys/net/ipv4/tcp_congestion_control"
    is "$label: TCP controls congestion by Reno" "$(sort -u <<<"$out")" reno
}

# 1 MiB at 50 Mbit/s between n1, which has such a link, and n0, which has a faster one or
# none that is limited; and between nodes that have that.
test_slow() {
    local wanted rate slow fast
    wanted=$((1048576 * 8 * 1000 / (50 * 958)))
    for rate in none 200mbit; do
        run with --nodes 3 --rate "$rate" --slow n1:50mbit -- bash -c "
            '$testbed' mpirun --timeout 75 --map 1,1 -- '$probe' ping 1048576
            '$testbed' mpirun --timeout 75 --map 1,0,1 -- '$probe' ping 1048576"
        { read -r slow && read -r fast; } <<<"$out"
        timed "$label: n1 is slow, others $rate (${slow:-no} us, wanted $wanted)" \
            within "${slow:-0}" $((wanted * 85 / 100)) $((wanted * 115 / 100))
        timed "$label: only n1 is (${fast:-no} us)" within "${fast:-0}" 1 $((wanted * 75 / 100))
    done
}

# test_pml PML COMPONENT: jobs over it, between nodes and inside.
test_pml() {
    local pml=$1
    if ! "$OMPI_PREFIX/bin/ompi_info" --parsable | grep -q "^mca:$2:"; then
        skip "$label: $pml" "this Open MPI has no ${2/:/\/}"
        return
    fi
    export TESTBED_PML=$pml
    job --ppn 2 -- "$probe" hosts
    is "$label: $pml on nodes" "$out" "n0 n0 n1 n1 n2 n2 n3 n3"
    run with --nodes 2 -- bash -c "
        '$testbed' mpirun --timeout 75 --map 1,2 -- '$probe' send 1048576 >&2 &&
        '$testbed' bytes"
    yes "$label: $pml, bytes into n1" \
        within "$(awk '$1 == "n1" { print $2 }' <<<"$out")" 1048576 1200000
    run local -n 3 --timeout 75 -- "$probe" hosts
    is "$label: $pml, local" "$out" "$(hostname) $(hostname) $(hostname)"
    OMPI_MCA_pml=ob1 run local -n 2 --timeout 75 -- "$probe" env OMPI_MCA_pml
    is "$label: $pml, the caller's settings win" "$out" "ob1 ob1"
    unset TESTBED_PML
}

# UCX takes ranks for neighbours if they have the same IPC namespace.
test_ipc() {
    job --map 2,2,1 -- readlink /proc/self/ns/ipc
    is "$label: an IPC namespace for each node" "$(sort <<<"$out" | uniq -c | awk '{ print $1 }' | sort | xargs)" \
        "1 2 2"
}

# A message of 4 MiB over two links of 100 Mbit/s each: about half of the time
# of one, and about half of the bytes on each.
test_job_rails() {
    local ping one bytes rail rx
    one=$((4194304 * 8 * 1000 / (100 * 958)))
    run with --nodes 2 --rails 2 --rate 100mbit -- bash -c "
        '$testbed' mpirun --timeout 75 -- '$probe' ping 4194304 &&
        '$testbed' bytes"
    ping=$(head -n 1 <<<"$out")
    timed "$label: two rails are faster than one (${ping:-no} us, one takes $one)" \
        within "${ping:-0}" $((one * 45 / 100)) $((one * 75 / 100))
    bytes=$(awk '$1 == "n1" { print $2, $4 }' <<<"$out")
    for rail in 0 1; do
        read -r rx _ <<<"$bytes"
        bytes=${bytes#* }
        yes "$label: bytes over rail $rail (${rx:-none})" within "${rx:-0}" 1000000 99000000
    done
}

# Messages of 480 kB over links of 40 Mbit/s, in parts so small that their receiver is not
# asked first: two flows over links of their own, also the two directions of one, take as
# long as one flow; two that share a link twice as long.
test_flows() {
    local i one=$((8 * 60000 * 8 * 1000 / (40 * 958)))
    local -a flows least=(85 85 180) most=(130 130 230)
    local -a names=("two links" "both directions of a link" "one link")
    run with --wiring mesh:4 --rate 40mbit -- bash -c "
        for peers in '0 1 2 3' '0 1 1 0' '0 2 1 3'; do
            peers=\"\$peers \$peers \$peers \$peers\"
            '$testbed' mpirun --timeout 75 -- '$probe' flows 60000 \$peers \$peers
        done"
    mapfile -t flows <<<"$out"
    for i in 0 1 2; do
        timed "$label: two flows over ${names[i]} of a mesh (${flows[i]-no} us, one alone $one)" \
            within "${flows[i]:-0}" $((one * least[i] / 100)) $((one * most[i] / 100))
    done
}

# A link goes down while 3 MB go over it at 20 Mbit/s: they go another way.
test_unplugged() {
    run with --wiring mesh:2x2 --rate 20mbit --spare yes -- bash -c "
        (until '$testbed' links | grep -qE '^n0 n1 [1-9][0-9]{6}'; do
            sleep 0.1
        done
        '$testbed' link n0 n1 down) &
        '$testbed' mpirun --timeout 300 -- '$probe' flows 3000000 0 1 && '$testbed' links"
    yes "$label: a message goes around a link that goes down" \
        within "$(awk '$1 == "n0" && $2 == "n2" { print $3 }' <<<"$out")" 1000000 9500000
}

test_environment() {
    OMPI_MCA_testbed_probe=seen job --ppn 1 -- "$probe" env OMPI_MCA_testbed_probe
    is "$label: variables reach the ranks" "$out" "seen seen seen seen"
    OMPI_MCA_pml=cm job -- "$probe" env OMPI_MCA_pml
    yes "$label: the caller's settings win" [ "$status" -ne 0 ]
    TESTBED_PML=tcp run local -- "$probe" hosts
    is "$label: a wrong TESTBED_PML is refused, in one sentence" \
        "$status$out $(grep -c "TESTBED_PML is 'tcp', but must be" "$scratch/err")" "2 1"
    run local -n 3 -- "$probe" hosts
    is "$label: local" "$out" "$(hostname) $(hostname) $(hostname)"
}

# test_mpi PREFIX: everything that needs MPI, with the Open MPI there.
test_mpi() {
    export OMPI_PREFIX=$1
    label=$("$1/bin/mpirun" --version 2>/dev/null | sed -n '1s/.*) //p')
    probe=$scratch/probe-$label
    if ! "$1/bin/mpicc" -o "$probe" "$here/probe.c" 2>"$scratch/err"; then
        is "$label: mpicc compiles the probe" failed compiled
        return
    fi
    test_maps
    test_ends
    test_links
    if [[ -n ${CHECK_LONG-} ]]; then
        test_slow
        test_flows
    else
        skip "$label: rates of slow links, and of flows on meshes" "make check-long runs them"
    fi
    test_unplugged
    test_job_rails
    test_environment
    test_ipc
    test_pml ucx pml:ucx
    test_pml ofi mtl:ofi
    test_user_job
}

# prefixes: $OMPI_PREFIX, and that of mpirun on PATH.
prefixes() {
    {
        [[ -z ${OMPI_PREFIX-} ]] || (cd "$OMPI_PREFIX" && pwd -P)
        command -v mpirun | sed -n 's,/bin/mpirun$,,p'
    } | awk 'NF && !seen[$0]++'
}

main() {
    local why prefix first=yes
    if ! why=$("$testbed" can 2>&1); then
        echo "1..0 # SKIP $why"
        return 0
    fi
    test_with
    test_rails
    test_slow_words
    test_mesh_routes
    test_mesh_words
    test_mesh_ways
    test_user
    test_signal TERM 143
    test_signal INT 130
    test_signal HUP 129
    test_signal KILL 137
    [[ -n $(prefixes) ]] || skip "tests with MPI" "no mpirun at OMPI_PREFIX or on PATH"
    for prefix in $(prefixes); do
        if [[ -n $first || -n ${CHECK_LONG-} ]]; then
            test_mpi "$prefix"
        else
            skip "tests with the MPI of $prefix" "make check-long runs them"
        fi
        first=
    done
    run leftovers
    is "no leftovers" "$out" ""
    echo "1..$count"
    return $((failures > 0))
}

main
