# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Our values of the claims of Almási's paper.

A function has the name of its claim with _ for -, takes a Bench and returns the words of the
table; it raises Missing where a file or a row has not been measured.
"""

from drawings import ALMASI_WIRINGS
from measured import least, median, one, select, some, values
from pipering_tuning.charts import number, size
from words import MIB, share, span

TORUS, LARGEST = "8tx8tx8t", "32tx32tx64t"
LINK = 154e6  # bytes per second


# ---- predicted for the paper's machine


def _predicted(bench, coll, arm, mesh=TORUS):
    """Rows of an algorithm, by bytes."""
    return select(bench.rows("almasi-predicted"), mesh=mesh, coll=coll, arm=arm)


def _rate(row):
    """Bandwidth of a row in the paper's units."""
    return f"{number(row['links'] * LINK / 1e6)} MB/s ({number(row['links'])} links)"


def _modelled(row):
    return f"modelled: {_rate(row)}"


def _half(rows):
    """The least bytes with half of the bandwidth of the most."""
    most = max(some(row["links"] for row in rows))
    return size(min(row["total"] for row in rows if row["links"] >= most / 2))


def almasi_bcast(bench):
    return _modelled(one(_predicted(bench, "bcast", "mesh_trees"), total=4 * MIB))


def almasi_bcast_half(bench):
    return f"modelled: {_half(_predicted(bench, 'bcast', 'mesh_trees'))}"


def _each_way(bench, coll, *ways):
    """Bandwidth of a vector of 4 MiB by each of these algorithms along a mesh."""
    return "; ".join(f"{way}, {_modelled(one(_predicted(bench, coll, 'mesh_' + way), total=4 * MIB))}"
                     for way in ways)


def almasi_reduce(bench):
    return _each_way(bench, "reduce", "path", "trees")


def almasi_allreduce(bench):
    return _each_way(bench, "allreduce", "path", "cycles")


def almasi_allreduce_half(bench):
    return f"modelled: {_half(_predicted(bench, 'allreduce', 'mesh_path'))}"


def almasi_allgatherv(bench):
    return _modelled(one(_predicted(bench, "allgatherv", "mesh_cycles"), total=64 * MIB))


def almasi_largest(bench):
    rows = [one(_predicted(bench, coll, arm, LARGEST), total=1024 * MIB)
            for coll, arm in (("bcast", "mesh_trees"), ("allreduce", "mesh_cycles"),
                              ("allgatherv", "mesh_cycles"))]
    links = ", ".join(f"{row['coll']} {number(row['links'])}" for row in rows)
    memory = span([row["memory"] / MIB for row in rows])
    return f"modelled: {links} links; {memory} MiB of memory a rank"


def almasi_alltoall_512(bench):
    row = one(_predicted(bench, "alltoall", "permuted"), total=4 * MIB)
    rate = row["total"] * 511 / 512 / row["seconds"]  # a rank sends nothing to itself
    return f"modelled: {number(rate / 1e6)} MB/s ({number(rate / LINK)} links)"


def _lines(bench, mesh, total, coll="allreduce"):
    """Time of a short call along lines of a mesh."""
    row = one(_predicted(bench, coll, "mesh_lines", mesh), total=float(total))
    return f"{number(1e6 * row['seconds'])} µs (modelled)"


def almasi_scaling(bench):
    shapes = (("32", "4x4x2"), ("256", "8x8x4"), ("512", TORUS), ("4096", "8tx32tx16t"))
    return ", ".join(f"{nodes} nodes {_lines(bench, mesh, 16 if mesh == TORUS else 8)}"
                     for nodes, mesh in shapes)


# ---- measured on nodes of one machine


def _links(bench, name, wiring):
    """Bandwidth of a vector of 4 MiB in links of a wiring."""
    took = least(bench.rows(f"almasi-{name}-{wiring}"), arm="pipering", total=4 * MIB)
    return 4 * MIB / took / ALMASI_WIRINGS[wiring].rate


def _on(bench, name, wirings):
    return ", ".join(f"{ALMASI_WIRINGS[wiring].words}: {number(_links(bench, name, wiring))}"
                     for wiring in wirings)


def almasi_bcast_links(bench):
    return _on(bench, "bcast-sum", ("mesh4x4", "torus4x4", "mesh2x2x2"))


def almasi_allreduce_links(bench):
    doubles = _on(bench, "allreduce-sum", ("mesh4x4", "torus4x4"))
    return f"doubles, {doubles}; ints, {_on(bench, 'allreduce-isum', ('mesh4x4',))}"


def _part_of_bound(wiring, row):
    """What a node sends per second, as part of 4L/max(dims) of a mesh, 8L/max(dims) of a torus."""
    bound = wiring.rate * wiring.bound * (row["p"] - 1) / row["p"]
    return (row["p"] - 1) * row["total"] / row["min_s"] / bound


def _most_of_bound(wiring, rows):
    """The largest part of the bound among the sizes of an arm."""
    return max(some(_part_of_bound(wiring, row) for row in rows))


def _exchanges(bench):
    """Rows of an exchange along meshes, by wiring."""
    return {wiring: select(bench.rows(f"almasi-alltoall-{name}"), arm="auto")
            for name, wiring in ALMASI_WIRINGS.items()}


def almasi_alltoall(bench):
    return "; ".join(f"{wiring.words}: {share(_most_of_bound(wiring, rows))}"
                     for wiring, rows in _exchanges(bench).items())


def almasi_alltoall_half(bench):
    found = []
    for wiring, rows in _exchanges(bench).items():
        most = _most_of_bound(wiring, rows)
        found.append(min(row["total"] for row in rows if _part_of_bound(wiring, row) >= most / 2))
    return span(found, size)


def almasi_alltoall_same(bench):
    rows = bench.rows("almasi-alltoall-mesh4x4x2")
    auto, stock = (_most_of_bound(ALMASI_WIRINGS["mesh4x4x2"], select(rows, arm=arm))
                   for arm in ("auto", "stock"))
    return f"{share(auto)}, without pipering {share(stock)}"


def almasi_visits(bench):
    rows = select(bench.rows("almasi-visits"), total=65536.0)
    two = least(rows, arm="visit2")
    return ", ".join(
        f"{count}: {number(least(rows, arm=f'visit{count}') / two)}"
        for count in (1, 4)) + " times the time of 2"


def almasi_decision(bench):
    rows = bench.rows("almasi-decision")
    def loses(arm):
        lost = [total for total in values(rows, "total")
                if median(rows, arm=arm, total=total) > median(rows, arm="stock", total=total)]
        return f"up to {size(max(lost))}" if lost else "nowhere"
    return f"by all ranks: {loses('asked')}; trees without it: " \
           f"{loses('mesh_trees')}"


BOTH = (("pipering", "pipering"), ("without it", "stock"))


def _short(rows, arms):
    """Least times of 16 and 256 bytes; arms: (words, arm)."""
    return "; ".join(f"{total} bytes: " + ", ".join(
        f"{words} {number(1e6 * least(rows, arm=arm, total=float(total)))} µs"
        for words, arm in arms) for total in (16, 256))


def almasi_short_bcast(bench):
    return _short(select(bench.rows("almasi-small"), coll="bcast"), BOTH)


def almasi_short(bench):
    return _short(bench.rows("almasi-small-allreduce"), BOTH)


def almasi_short_lines(bench):
    here = _short(bench.rows("almasi-small-allreduce"), (("lines", "mesh_lines"),))
    return f"16 nodes: {here}; 512 nodes: {_lines(bench, TORUS, 16)}, " \
           f"{_lines(bench, TORUS, 256)}"


def almasi_barrier(bench):
    rows = bench.rows("almasi-barriers")
    here = ", ".join(f"{words} {number(1e6 * one(rows, arm=arm)['least_s'])} µs"
                     for words, arm in (("Open MPI", "stock"), ("lines", "pipering")))
    return f"16 nodes: {here}; 512 nodes: lines {_lines(bench, TORUS, 0, 'barrier')}"
