# What ip and tc are to do in a node of a mesh; with mesh.awk before it.
#
#   show=links     makes the links to nodes of higher numbers, in namespaces PREFIX.nJ
#   show=up        brings all links up
#   show=routes    adds the routes; spare=yes: spare ones too; peer=J: only those over the link
#                  to nJ
#   show=queues    limits what the node sends over each link to rate, with bursts of burst
#   show=neighbors a line for each neighbour
#
# A direct network loses no packets, but holds back who sends them; hence queues of a second, for
# TCP waits 0.2 s and longer for what is lost.
#
# Links are named by where they lead: in n0, to5 leads to n5. Spare routes have a higher
# metric, so that the kernel takes them while a link is down, and what a spare route has
# brought is told from other packets by the link it comes from. network: see net_address.

function address(node) {
    return network ".0." (node + 1)
}

function add_route(target, to, rest) {
    if (to >= 0 && (peer == "" || peer == to))
        print "route replace " address(target) "/32 via " address(to) " dev to" to \
            " onlink src " address(node) rest
}

function add_routes(target, k, to, table) {
    for (target = 0; target < NODES; target++) {
        if (target == node)
            continue
        add_route(target, next_hop(node, target), " metric 1")
        if (spare == "yes") {
            add_route(target, spare_hop(node, target), " metric 2")
            add_route(target, turned_hop(node, target), " table " table_of(next_hop(node, target)))
        }
    }
}

# The routing table for what comes from a neighbour.
function table_of(from) {
    return 1000 + from
}

function set_up(to) {
    print "link set to" to " addrgenmode none"
    print "link set to" to " up"
}

BEGIN {
    count = neighbors(node)
    for (i = 1; i <= count; i++) {
        to = NEIGHBOR[i]
        if (show == "links" && to > node)
            print "link add to" to " type veth peer name to" node " netns " prefix ".n" to
        else if (show == "up")
            set_up(to)
        else if (show == "routes" && peer == "" && spare == "yes")
            print "rule add iif to" to " lookup " table_of(to)
        else if (show == "queues")
            print "qdisc add dev to" to " root tbf rate " rate " burst " burst " latency 1s"
        else if (show == "neighbors")
            print to
    }
    if (show == "routes")
        add_routes()
}
