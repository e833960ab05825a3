# shellcheck shell=bash
# The network of a testbed: one namespace per node, one for the switch.
# Sourced by testbed.
#
# Names: NS = RUN.nI or RUN.switch; ethK in each node for each rail K, pI.K (its
# other end) and brK, which joins a rail's links, in the switch. No link is ever
# made outside of our own namespaces, so nothing of ours shows among the
# machine's links, and removing the namespaces removes all.

net_switch() { echo "$1.switch"; }

# net_names RUN N: the names of all namespaces of a run, the switch last.
net_names() {
    local i
    for ((i = 0; i < $2; i++)); do
        echo "$1.n$i"
    done
    net_switch "$1"
}

# net_address I [RAIL]: one address for each node and rail, each rail a network of
# its own; the switch has none. The namespaces are joined to nothing else, so the
# addresses cannot collide with the machine's.
readonly NETWORK=10.87
net_address() { echo "$NETWORK.${2:-0}.$(($1 + 1))"; }

# net_interfaces RAILS: eth0,eth1,...
net_interfaces() {
    local rail list=
    for ((rail = 0; rail < $1; rail++)); do
        list+=,eth$rail
    done
    echo "${list#,}"
}

# net_hosts N: the host table of a testbed, for /etc/hosts of every node. Names
# stand for the addresses of the first rail.
net_hosts() {
    local i
    echo "127.0.0.1 localhost"
    for ((i = 0; i < $1; i++)); do
        echo "$(net_address "$i") n$i"
    done
}

# net_build RUN N RAILS WIRING: namespaces, links and addresses. One `ip -batch` a
# namespace keeps 32 nodes well below a second. Without a switch the links end in its
# namespace all the same, but are not joined there, and no other address is near.
net_build() {
    local run=$1 n=$2 rails=$3 wiring=$4 bits=24 i rail
    [[ $wiring == switch ]] || bits=32
    net_names "$run" "$n" | sed 's/^/netns add /' | ip -batch -
    for ((rail = 0; rail < rails; rail++)); do
        [[ $wiring != switch ]] || net_switch_rail "$rail"
        for ((i = 0; i < n; i++)); do
            echo "link add p$i.$rail type veth peer name eth$rail netns $run.n$i"
            # IPv6 would add chatter of its own to the byte counts.
            echo "link set p$i.$rail addrgenmode none"
            [[ $wiring != switch ]] || echo "link set p$i.$rail master br$rail"
            echo "link set p$i.$rail up"
        done
    done | ip -n "$(net_switch "$run")" -batch -
    for ((i = 0; i < n; i++)); do
        net_node "$i" "$rails" "$bits" | ip -n "$run.n$i" -batch -
        net_kernel "$run.n$i"
    done
}

# net_kernel NS: TCP in a node controls congestion in one way, whatever the machine's default
# is, or figures would differ from machine to machine: BBR, which paces what it sends and slows
# down now and then to measure, takes 3% of a shaped link and adds a third to single calls. Reno
# is what every kernel has and allows.
net_kernel() {
    ip netns exec "$1" sh -c 'echo reno >/proc/sys/net/ipv4/tcp_congestion_control'
}

# net_switch_rail RAIL: what ip is to do in the switch. No spanning tree and no multicast
# snooping: it forwards at once and sends nothing of its own, so that byte counts are the
# job's.
net_switch_rail() {
    echo "link add br$1 type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
    echo "link set br$1 addrgenmode none"
    echo "link set br$1 up"
}

# net_node I RAILS BITS: what ip is to do in node I, whose networks have so many bits.
net_node() {
    local rail
    echo "link set lo up"
    for ((rail = 0; rail < $2; rail++)); do
        echo "link set eth$rail addrgenmode none"
        echo "addr add $(net_address "$1" "$rail")/$3 dev eth$rail"
        echo "link set eth$rail up"
    done
}

# net_shape RUN RAILS RATE...: limits both directions of all links of n0, n1, ...
# to the RATE of each, which may be none. A queue shapes only what leaves a device, hence
# one on each end of the pair. The burst is small: what it lets through unshaped is
# invisible to the clock, and with 32k that is half of a 64 KiB message.
readonly BURST=4k
net_shape() {
    local run=$1 rails=$2 i rail
    shift 2
    local -a rates=("$@")
    for i in "${!rates[@]}"; do
        for ((rail = 0; rail < rails; rail++)); do
            net_queue "p$i.$rail" "${rates[i]}"
        done
    done | tc -n "$(net_switch "$run")" -batch -
    for i in "${!rates[@]}"; do
        [[ ${rates[i]} != none ]] || continue
        for ((rail = 0; rail < rails; rail++)); do
            net_queue "eth$rail" "${rates[i]}"
        done | tc -n "$run.n$i" -batch -
    done
}

# net_queue DEVICE RATE: what tc is to do.
net_queue() {
    [[ $2 == none ]] || echo "qdisc add dev $1 root tbf rate $2 burst $BURST latency 100ms"
}

# net_namespaces RUN: those namespaces of a run that exist.
net_namespaces() {
    local path
    for path in /run/netns/"$1".*; do
        [[ -e $path ]] && echo "${path##*/}"
    done
    return 0
}

# net_pids RUN: all processes inside the namespaces of a run.
net_pids() {
    local ns
    for ns in $(net_namespaces "$1"); do
        ip netns pids "$ns" 2>/dev/null || true
    done
}

# net_links RUN: the switch's links that are left.
net_links() {
    ip -n "$(net_switch "$1")" -br link show type veth 2>/dev/null | sed 's/[@ ].*//'
}

# net_remove RUN: removes the namespaces of a run, which must hold no processes
# any more. The kernel takes namespaces down after the call has returned; the
# switch goes last, because the links that vanish from it show when the nodes
# are gone. Waits at most 5 s: a node that a TCP connection keeps for a while, since it
# has no way to tell the other end of its end, gets its link taken away then. Returns 1 if
# something is left after that.
net_remove() {
    local run=$1 switch tries
    switch=$(net_switch "$run")
    net_namespaces "$run" | grep -vxF "$switch" | sed 's/^/netns del /' |
        ip -force -batch - || true
    if [[ -e /run/netns/$switch ]]; then
        for ((tries = 0; tries < 100; tries++)); do
            [[ -n $(net_links "$run") ]] || break
            sleep 0.05
        done
        net_links "$run" | sed 's/^/link del /' | ip -n "$switch" -batch -
        [[ -z $(net_links "$run") ]] || return 1
        ip netns del "$switch" || true
    fi
    [[ -z $(net_namespaces "$run") ]]
}

# net_bytes RUN N RAILS: a line `node rx_bytes tx_bytes` for each node, with two
# more columns for each further rail. All are read in one go from the switch's
# ends of the links, where in and out are swapped.
net_bytes() {
    # shellcheck disable=SC2016  # the inner shell expands these
    ip netns exec "$(net_switch "$1")" sh -c '
        i=0
        while [ "$i" -lt "$1" ]; do
            line=n$i
            rail=0
            while [ "$rail" -lt "$2" ]; do
                s=/sys/class/net/p$i.$rail/statistics
                read -r rx <"$s/tx_bytes"
                read -r tx <"$s/rx_bytes"
                line="$line $rx $tx"
                rail=$((rail + 1))
            done
            echo "$line"
            i=$((i + 1))
        done' bytes "$2" "$3"
}
