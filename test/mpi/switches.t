#!/bin/bash
# Leaf switches: what a file, the variable, or Slurm's environment says of them, in what order the
# ring goes then, and that calls are right whatever nodes are told.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build volume
build_fuzz

ring=(--mca coll_pipering_allgatherv_algorithm ring --mca coll_pipering_verbose 2 -x CALLS=1
    -x SHAPE=0)

# order: the ranks of the last job by their positions in its ring.
order() {
    sed -nE 's/^\[(n[0-9]+).*this rank: position ([0-9]+),.*/\2 \1/p' "$work/out" | sort -n |
        awk '{ printf "%s ", $2 }'
}

# goes LABEL ORDER [OPTION]...: a call on 4 nodes, whose ring has that order.
goes() {
    local label=$1 wanted=$2
    shift 2
    on_nodes "$label" 1,1,1,1 block 30 "${ring[@]}" "$@" "$bin/volume"
    [[ $nodes_can == no ]] || is "$label: the ring" "$(order)" "$wanted"
}

cross="SwitchName=a Nodes=n[0,2];SwitchName=b Nodes=n[1,3]"
goes "no switches" "n0 n1 n2 n3 "
goes "lines" "n0 n2 n1 n3 " --mca coll_pipering_switches "$cross"
tr ';' '\n' <<<"$cross;SwitchName=top Switches=a,b" >"$work/topology.conf"
goes "a file" "n0 n2 n1 n3 " --mca coll_pipering_switches "@$work/topology.conf"
goes "a node that no line names" "n0 n3 n1 n2 " \
    --mca coll_pipering_switches "SwitchName=a Nodes=n[0,3]"
goes "one switch" "n0 n1 n2 n3 " --mca coll_pipering_switches "SwitchName=a Nodes=n[0-3]"

# complains LABEL PATTERN SWITCHES: calls go on without switches, and users are told.
complains() {
    goes "$1" "n0 n1 n2 n3 " --mca coll_pipering_switches "$3"
    [[ $nodes_can == no ]] || yes_if "$1: $2" said "$2"
}
complains "no such file" 'cannot be used on this node: No such file' "@$work/none"
complains "another format" 'line 1: "a: n0 n1": expected "SwitchName=NAME Nodes=HOSTS"' "a: n0 n1"

# What Slurm sets differs from node to node.
cat >"$work/slurm" <<'END'
#!/bin/sh
case $(hostname) in
n0 | n3) leaf=s1 ;;
*) leaf=s2 ;;
esac
SLURM_TOPOLOGY_ADDR=top.$leaf.$(hostname) SLURM_TOPOLOGY_ADDR_PATTERN=switch.switch.node exec "$@"
END
cat >"$work/some" <<'END'
#!/bin/sh
[ "$(hostname)" = n1 ] || exec "$@"
OMPI_MCA_coll_pipering_switches="SwitchName=z Nodes=n1" exec "$@"
END
chmod +x "$work/slurm" "$work/some"
on_nodes "Slurm" 1,1,1,1 block 30 "${ring[@]}" "$work/slurm" "$bin/volume"
[[ $nodes_can == no ]] || is "Slurm: the ring" "$(order)" "n0 n3 n1 n2 "
on_nodes "one node is told of a switch" 1,1,1,1 block 30 "${ring[@]}" "$work/some" "$bin/volume"
[[ $nodes_can == no ]] || is "one node is told: the ring" "$(order)" "n0 n2 n3 n1 "

# Links between switches that are few, so that rounds go across them first.
sed '$a net_far = 500\nnet_uplinks = 1' "$root/test/testbed/machine" >"$work/machine"
for map in 1,1,1,1,1,1 2,1,3,2; do
    on_nodes "fuzz" "$map" cyclic 200 -x SEED=3501 -x N=150 -x REPLAY="MAP=$map" \
        --mca coll_pipering_machine "$work/machine" \
        --mca coll_pipering_switches "SwitchName=a Nodes=n[0,2,5];SwitchName=b Nodes=n[1,3]" \
        "$bin/fuzz"
done
finish
