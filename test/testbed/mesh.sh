# shellcheck shell=bash
# The wiring of a testbed as a mesh or torus. Sourced by testbed.
#
# Each pair of neighbours has a veth of its own, named in each node by where it leads: in
# n0, to5 leads to n5. A node has its one address on eth0, which is joined to no
# other node, so that Open MPI sees one address and the kernel takes the link
# (mesh.awk has the routes, mesh_ip.awk makes commands of them).

# mesh_parse WIRING: sets MESH, the extents with a t where a dimension is closed, and
# MESH_NODES; both are empty for a switch.
mesh_parse() {
    local extent
    local -a extents
    MESH='' MESH_NODES=''
    [[ $1 != switch ]] || return 0
    [[ $1 =~ ^(mesh|torus):([1-9][0-9]{0,2}(x[1-9][0-9]{0,2}){0,5})$ ]] ||
        die_usage "--wiring is '$1', but must be switch, or mesh: or torus: and up to six" \
            "extents like mesh:4x4x2"
    MESH=${BASH_REMATCH[2]}
    IFS=x read -ra extents <<<"$MESH"
    MESH_NODES=1
    for extent in "${extents[@]}"; do
        MESH_NODES=$((MESH_NODES * extent))
    done
    [[ $1 != torus:* ]] || MESH=${MESH//x/tx}t
}

# mesh_show NODE WORD...: what mesh_ip.awk prints; a WORD is VARIABLE=VALUE.
mesh_show() {
    local word options=()
    for word in node="$1" "${@:2}"; do
        options+=(-v "$word")
    done
    awk -v mesh="$TESTBED_MESH" -v network="$NETWORK" "${options[@]}" \
        -f "$HERE/mesh.awk" -f "$HERE/mesh_ip.awk"
}

# mesh_build SPARE: joins the nodes of TESTBED_RUN, which have their addresses already. A
# route over a link of which one end is not up yet would be one over a link that is down.
mesh_build() {
    local node show
    for ((node = 0; node < MESH_NODES; node++)); do
        mesh_kernel "$node"
    done
    for show in links up routes; do
        for ((node = 0; node < MESH_NODES; node++)); do
            mesh_show "$node" show=$show prefix="$TESTBED_RUN" spare="$1" |
                ip -n "$TESTBED_RUN.n$node" -batch -
        done
    done
    mesh_await
}

# mesh_await: waits until the kernel says of all links that they are up, without which
# Open MPI does not use an interface. It may say so 1 s late.
mesh_await() {
    local node
    for ((node = 0; node < MESH_NODES; node++)); do
        ip netns exec "$TESTBED_RUN.n$node" timeout 60 sh -c '
            while grep -q down /sys/class/net/*/operstate; do
                sleep 0.05
            done' || die "links of n$node did not come up within a minute"
    done
}

# mesh_kernel NODE: it forwards packets, which may go another way than those in the other
# direction, or back to their sender and past it; takes no route over a link that is
# down; and gives a TCP connection up after about 13 s without an answer, not after 15
# minutes. Before there are links, as these begin with conf/default.
mesh_kernel() {
    # shellcheck disable=SC2016  # the inner shell expands it
    ip netns exec "$TESTBED_RUN.n$1" sh -ec '
        cd /proc/sys/net/ipv4
        echo 1 >ip_forward
        for conf in conf/all conf/default; do
            echo 0 >$conf/rp_filter
            echo 1 >$conf/accept_local
            echo 0 >$conf/send_redirects
            echo 0 >$conf/accept_redirects
            echo 1 >$conf/ignore_routes_with_linkdown
        done
        echo 5 >tcp_retries2'
}

# mesh_shape RATE: limits both directions of all links.
mesh_shape() {
    local node
    [[ $1 != none ]] || return 0
    for ((node = 0; node < MESH_NODES; node++)); do
        mesh_show "$node" show=queues rate="$1" burst=$BURST | tc -n "$TESTBED_RUN.n$node" -batch -
    done
}

# inside_mesh VERB: ends the program unless it runs inside of such a testbed.
inside_mesh() {
    inside "$1"
    [[ -n ${TESTBED_MESH-} ]] || die_usage "$1 works only with --wiring mesh:... or torus:..."
}

# links_main: what each node has sent over each of its links.
links_main() {
    local node to
    inside_mesh links
    for ((node = 0; node < TESTBED_NODES; node++)); do
        # shellcheck disable=SC2016,SC2046  # the inner shell expands; a list of nodes
        ip netns exec "$TESTBED_RUN.n$node" sh -ec '
            node=$1
            shift
            for to in "$@"; do
                s=/sys/class/net/to$to/statistics
                read -r bytes <"$s/tx_bytes"
                read -r packets <"$s/tx_packets"
                echo "n$node n$to $bytes $packets"
            done' links "$node" $(mesh_show "$node" show=neighbors)
    done
}

# mesh_bytes: a line `node rx_bytes tx_bytes` for each node, over all of its links.
mesh_bytes() {
    links_main | awk '
        { out[$1] += $3; in_[$2] += $3 }
        END { for (i = 0; "n" i in out; i++) print "n" i, in_["n" i], out["n" i] }'
}

# link_main NODE NODE down|up: unplugs the link between two neighbours, or plugs it in.
link_main() {
    local node to
    (($# == 3)) || die_usage "link wants two nodes, and down or up"
    inside_mesh link
    [[ $3 == down || $3 == up ]] || die_usage "link: '$3' is neither down nor up"
    for node in "$1 $2" "$2 $1"; do
        read -r node to <<<"$node"
        ip -n "$TESTBED_RUN.$node" link show "to${to#n}" &>/dev/null ||
            die_usage "link: there is none between $1 and $2"
    done
    for node in "$1 $2" "$2 $1"; do
        read -r node to <<<"$node"
        ip -n "$TESTBED_RUN.$node" link set "to${to#n}" "$3"
    done
    [[ $3 == up ]] || return 0
    # The kernel has dropped the routes over it.
    for node in "$1 $2" "$2 $1"; do
        read -r node to <<<"$node"
        mesh_show "${node#n}" show=routes spare="$TESTBED_SPARE" peer="${to#n}" |
            ip -n "$TESTBED_RUN.$node" -batch -
    done
}
