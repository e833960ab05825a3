# Tests of mesh.awk for one mesh, by walking: one line for each test that fails.

function complain(text) {
    complaints++
    print mesh ": " text
}

function distance(node, target, k, apart, sum) {
    for (k = 1; k <= DIMENSIONS; k++) {
        apart = coordinate(target, k) - coordinate(node, k)
        apart = apart < 0 ? -apart : apart
        if (CLOSED[k] && EXTENT[k] < 2 * apart)
            apart = EXTENT[k] - apart
        sum += apart
    }
    return sum
}

# The shortest way, one link at a time.
function check_route(from, target, at, to, hops) {
    for (at = from; at != target && hops <= NODES; at = to) {
        to = next_hop(at, target)
        hops++
        if (to < 0 || distance(at, to) != 1) {
            complain(from " to " target ": no link from " at " to " to)
            return
        }
    }
    if (hops != distance(from, target))
        complain(from " to " target ": " hops " hops")
}

# As the kernels do it while the link between two nodes is down.
function hop(at, target, before, one, other, to) {
    to = next_hop(at, target)
    if (to == before)
        return turned_hop(at, target)
    return (at == one && to == other) || (at == other && to == one) ? spare_hop(at, target) : to
}

function check_spare(from, target, one, other, at, to, before, hops) {
    before = -1
    for (at = from; at != target && hops <= 3 * NODES; at = to) {
        to = hop(at, target, before, one, other)
        before = at
        hops++
        if (to < 0 || (at == one && to == other) || (at == other && to == one)) {
            complain(from " to " target " without " one "-" other ": no way from " at)
            return
        }
    }
    if (at != target)
        complain(from " to " target " without " one "-" other ": never comes there")
}

function check_spares(one, other, from, target) {
    for (from = 0; from < NODES; from++)
        for (target = 0; target < NODES; target++)
            if (from != target)
                check_spare(from, target, one, other)
}

# The routes that the busiest arc of a dimension carries in an all-to-all.
function busiest_of(extent, closed) {
    if (!closed)
        return int(extent / 2) * int((extent + 1) / 2) * NODES / extent
    return int((extent * extent + (extent % 2 ? -1 : 7)) / 8) * NODES / extent
}

# A line of open dimensions has no other way.
function has_spares(k, wide) {
    for (k = 1; k <= DIMENSIONS; k++)
        wide += CLOSED[k] ? 2 : EXTENT[k] > 1
    return wide > 1
}

BEGIN {
    for (from = 0; from < NODES; from++)
        for (target = 0; target < NODES; target++)
            check_route(from, target)
    for (k = 1; k <= DIMENSIONS; k++)
        if (busiest_of(EXTENT[k], CLOSED[k]) > most)
            most = busiest_of(EXTENT[k], CLOSED[k])
    carried = complaints ? most : busiest_arc()
    if (carried != most)
        complain("the busiest arc carries " carried " routes, not " most)
    for (from = 0; has_spares() && from < NODES; from++) {
        count = neighbors(from)
        for (i = 1; i <= count; i++)
            near[i] = NEIGHBOR[i]
        for (i = 1; i <= count; i++)
            if (from < near[i])
                check_spares(from, near[i])
    }
}
