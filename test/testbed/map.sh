# shellcheck shell=bash
# Which rank goes to which node. Sourced by testbed.

# map_counts PPN MAP: sets COUNTS, the number of ranks of each node.
map_counts() {
    local ppn=$1 map=$2 i
    if [[ -n $map ]]; then
        [[ $map =~ ^[0-9]{1,4}(,[0-9]{1,4})*$ ]] ||
            die_usage "--map is '$map', but must be numbers of ranks like 1,5,2,1"
        IFS=, read -ra COUNTS <<<"$map"
        ((${#COUNTS[@]} <= TESTBED_NODES)) ||
            die_usage "--map names ${#COUNTS[@]} nodes, but this testbed has $TESTBED_NODES"
    else
        COUNTS=()
        for ((i = 0; i < TESTBED_NODES; i++)); do
            COUNTS+=("$ppn")
        done
    fi
}

# map_block: sets NODE_OF, the node of each rank, all ranks of a node in a row.
map_block() {
    local node k
    NODE_OF=()
    for node in "${!COUNTS[@]}"; do
        for ((k = 0; k < 10#${COUNTS[node]}; k++)); do
            NODE_OF+=("$node")
        done
    done
    ((${#NODE_OF[@]} > 0)) || die_usage "--map leaves no ranks at all"
}

# map_cyclic: deals the ranks out to the nodes in turn, passing by full nodes.
map_cyclic() {
    local node total=${#NODE_OF[@]} round
    NODE_OF=()
    for ((round = 0; ${#NODE_OF[@]} < total; round++)); do
        for node in "${!COUNTS[@]}"; do
            ((round < 10#${COUNTS[node]})) && NODE_OF+=("$node")
        done
    done
    return 0
}

# map_random SEED: shuffles NODE_OF. With a generator of its own, because a
# seed of bash's RANDOM does not mean the same with every bash.
map_random() {
    local state=$(($1 + 1)) i j swap
    for ((i = ${#NODE_OF[@]} - 1; i > 0; i--)); do
        state=$(((state * 1103515245 + 12345) % 2147483648))
        j=$(((state >> 8) % (i + 1)))
        swap=${NODE_OF[i]}
        NODE_OF[i]=${NODE_OF[j]}
        NODE_OF[j]=$swap
    done
}

# map_hosts: the nodes with their slots for mpirun's --host.
map_hosts() {
    local node hosts=
    for node in "${!COUNTS[@]}"; do
        ((10#${COUNTS[node]} == 0)) || hosts+=,n$node:$((10#${COUNTS[node]}))
    done
    echo "${hosts#,}"
}

# map_sequence: a host file with a line for each rank.
map_sequence() { printf 'n%d\n' "${NODE_OF[@]}"; }

# map_rankfile SOCKETS CORES: node, socket and core of each rank. The ranks of a
# node are spread evenly over its sockets, in order.
map_rankfile() {
    local sockets=$1 cores=$2 rank node share k
    local -a placed=()
    for rank in "${!NODE_OF[@]}"; do
        node=${NODE_OF[rank]}
        k=${placed[node]:-0}
        placed[node]=$((k + 1))
        share=$(((10#${COUNTS[node]} + sockets - 1) / sockets))
        ((share <= cores)) ||
            die_usage "n$node has ${COUNTS[node]} ranks, more than $sockets sockets of $cores cores have room for"
        echo "rank $rank=n$node slot=$((k / share)):$((k % share))"
    done
}

# map_topology SOCKETS NUMA L3 CORES: an hwloc topology file of such a node.
map_topology() {
    command -v lstopo-no-graphics >/dev/null ||
        die "--sockets needs the program lstopo-no-graphics (package hwloc); nothing was run."
    lstopo-no-graphics --of xml -i "pack:$1 numa:$2 l3:$3 core:$4 pu:1" -
}
