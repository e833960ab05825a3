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
from measured import least, one, select
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


def _half(rows):
    """The least bytes with half of the bandwidth of the most."""
    most = max(row["links"] for row in rows)
    return size(min(row["total"] for row in rows if row["links"] >= most / 2))


def almasi_bcast(bench):
    rows = _predicted(bench, "bcast", "mesh_trees")
    return f"predicted: {_rate(one(rows, total=4 * MIB))}"


def almasi_bcast_half(bench):
    return f"predicted: {_half(_predicted(bench, 'bcast', 'mesh_trees'))}"


def almasi_allreduce(bench):
    found = {words: one(_predicted(bench, "allreduce", arm), total=4 * MIB)
             for words, arm in (("path", "mesh_path"), ("cycles", "mesh_cycles"))}
    return "predicted: " + "; ".join(f"{words}: {_rate(row)}" for words, row in found.items())


def almasi_allreduce_half(bench):
    return f"predicted: {_half(_predicted(bench, 'allreduce', 'mesh_path'))}"


def almasi_allgatherv(bench):
    row = one(_predicted(bench, "allgatherv", "mesh_cycles"), total=64 * MIB)
    return f"predicted: {_rate(row)}"


def almasi_largest(bench):
    rows = [one(_predicted(bench, coll, arm, LARGEST), total=1024 * MIB)
            for coll, arm in (("bcast", "mesh_trees"), ("allreduce", "mesh_cycles"),
                              ("allgatherv", "mesh_cycles"))]
    links = ", ".join(f"{row['coll']} {number(row['links'])}" for row in rows)
    memory = span([row["memory"] / MIB for row in rows])
    return f"modelled: {links} links; {memory} MiB of memory a rank"


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


def _exchanges(bench):
    """Rows of an exchange along meshes, by wiring."""
    return {wiring: select(bench.rows(f"almasi-alltoall-{name}"), arm="auto")
            for name, wiring in ALMASI_WIRINGS.items()}


def almasi_alltoall(bench):
    return "; ".join(f"{wiring.words}: {share(max(_part_of_bound(wiring, row) for row in rows))}"
                     for wiring, rows in _exchanges(bench).items())


def almasi_alltoall_half(bench):
    found = []
    for wiring, rows in _exchanges(bench).items():
        most = max(_part_of_bound(wiring, row) for row in rows)
        found.append(min(row["total"] for row in rows if _part_of_bound(wiring, row) >= most / 2))
    return span(found, size)


def almasi_short(bench):
    rows = select(bench.rows("almasi-small"), coll="allreduce")
    return "; ".join(
        f"{bytes_} bytes: {number(1e6 * least(rows, arm='pipering', total=float(bytes_)))} µs, "
        f"without pipering {number(1e6 * least(rows, arm='stock', total=float(bytes_)))} µs"
        for bytes_ in (16, 256))
