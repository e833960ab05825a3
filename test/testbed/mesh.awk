# The routes of a mesh of nodes: functions for testbed, its tests and benchmarks.
#
#   awk -v mesh=4tx3 ... -f mesh.awk -f PROGRAM
#
# A mesh is the extents of its dimensions, with a t where one is closed to a ring; a closed
# dimension of 2 counts as open, since its two links would join the same nodes. Nodes are
# numbered as MPI numbers the ranks of a Cartesian communicator: the last dimension
# counts fastest. Of 4x3:
#
#      0 -  1 -  2
#      |    |    |          from 0 to 11: 0 3 6 9 10 11, the first dimension first
#      3 -  4 -  5
#      |    |    |
#      6 -  7 -  8
#      |    |    |
#      9 - 10 - 11
#
# Routes go dimension by dimension, the shorter way round in a closed one; where both ways
# are as long, up from even coordinates and down from odd ones, so that both carry the same.

# mesh_init(MESH): DIMENSIONS, EXTENT, CLOSED, STRIDE and NODES.
function mesh_init(text, extents, k) {
    DIMENSIONS = split(text, extents, "x")
    NODES = 1
    for (k = DIMENSIONS; k >= 1; k--) {
        EXTENT[k] = extents[k] + 0
        CLOSED[k] = extents[k] ~ /t$/ && EXTENT[k] > 2
        STRIDE[k] = NODES
        NODES *= EXTENT[k]
    }
}

function coordinate(node, k) {
    return int(node / STRIDE[k]) % EXTENT[k]
}

# The node beside this one in a dimension, up (1) or down (-1); -1: there is none.
function beside(node, k, way, at, to) {
    at = coordinate(node, k)
    to = at + way
    if (CLOSED[k])
        to = (to + EXTENT[k]) % EXTENT[k]
    return to < 0 || to >= EXTENT[k] ? -1 : node + (to - at) * STRIDE[k]
}

# In which dimension two nodes differ, the first one that is not `but`; 0: in none.
function differs(node, target, but, k) {
    for (k = 1; k <= DIMENSIONS; k++)
        if (k != but && coordinate(node, k) != coordinate(target, k))
            return k
    return 0
}

# The way to the target in a dimension in which they differ: 1 or -1.
function way_to(node, target, k, at, up) {
    at = coordinate(node, k)
    up = coordinate(target, k) - at
    if (!CLOSED[k])
        return up > 0 ? 1 : -1
    up = (up + EXTENT[k]) % EXTENT[k]
    if (2 * up == EXTENT[k])
        return at % 2 ? -1 : 1
    return 2 * up < EXTENT[k] ? 1 : -1
}

# The node to which a node sends what is for the target.
function next_hop(node, target, k) {
    k = differs(node, target, 0)
    return beside(node, k, way_to(node, target, k))
}

# A step aside in the dimension: up where that is possible.
function aside(node, k, to) {
    to = beside(node, k, 1)
    return to >= 0 ? to : beside(node, k, -1)
}

# Where to if the link to the next hop is down; -1: there is no other way. In another
# dimension that is to be gone anyway; else aside, in a later dimension where there is one,
# because the node there still goes this one first; on a ring the other way round.
function spare_hop(node, target, k, other, to) {
    k = differs(node, target, 0)
    other = differs(node, target, k)
    if (other)
        return beside(node, other, way_to(node, target, other))
    for (other = k + 1; other != k; other++) {
        if (other > DIMENSIONS) {
            other = 0
            continue
        }
        to = aside(node, other)
        if (to >= 0)
            return to
    }
    return CLOSED[k] ? beside(node, k, -way_to(node, target, k)) : -1
}

# Where to with what comes from the very node that is the next hop, as the spare way brings
# it: not back; -1: there is no other way.
function turned_hop(node, target, k, other) {
    k = differs(node, target, 0)
    other = differs(node, target, k)
    return other ? beside(node, other, way_to(node, target, other)) \
                 : beside(node, k, -way_to(node, target, k))
}

# The neighbours of a node, in order: sets NEIGHBOR[1 .. n] and returns n.
function neighbors(node, k, way, to, n) {
    for (k = 1; k <= DIMENSIONS; k++)
        for (way = 1; way >= -1; way -= 2) {
            to = beside(node, k, way)
            if (to >= 0)
                NEIGHBOR[++n] = to
        }
    return n + 0
}

# Adds 1 to LOAD["I J"] for each arc of the route.
function load_route(node, target, to) {
    for (; node != target; node = to) {
        to = next_hop(node, target)
        LOAD[node " " to]++
    }
}

# How many of the routes from all nodes to all others use the busiest arc; LOAD has each.
function busiest_arc(node, target, arc, most) {
    for (node = 0; node < NODES; node++)
        for (target = 0; target < NODES; target++)
            load_route(node, target)
    for (arc in LOAD)
        if (LOAD[arc] > most)
            most = LOAD[arc]
    return most + 0
}

BEGIN { mesh_init(mesh) }
