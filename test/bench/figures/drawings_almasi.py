# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The figures of Almási's paper, drawn of what the benchmarks have measured or predicted."""

from dataclasses import dataclass

from measured import select
from pipering_tuning.charts import Axis, Bar, BarChart, Point, Series
from series import RATE, SECONDS, bandwidth_line, by_arm, chart


@dataclass(frozen=True)
class Wiring:
    """A wiring of test/bench/almasi. rate: bytes per second of a link in one direction; bound:
    what a node of an all-to-all may send, in links, by the cross-section."""

    words: str
    rate: float
    bound: float


ALMASI_WIRINGS = {"mesh4x4": Wiring("4x4 mesh", 2.5e6, 1),
                  "torus4x4": Wiring("4x4 torus", 1.25e6, 2),
                  "mesh2x2x2": Wiring("2x2x2 mesh", 2.5e6, 2),
                  "mesh4x2x2": Wiring("4x2x2 mesh", 1.25e6, 1),
                  "mesh4x4x2": Wiring("4x4x2 mesh", 1e6, 1)}
VECTOR = Axis("vector", "bytes", 2)
ALONG_A_MESH = [("Open MPI", "stock", 2), ("one chain", "pipeline", 0), ("pipering", "pipering", 1)]
AROUND_A_MESH = [("Open MPI", "stock", 2), ("one ring", "ring", 0), ("pipering", "pipering", 1)]


def foreseen(bench, coll, arms):
    """Predicted bandwidth over the vector's size for each (name, arm, tone), 512 nodes."""
    rows = select(bench.rows("almasi-predicted"), mesh="8tx8tx8t", coll=coll)
    return chart(f"{coll}, predicted, torus of 512 nodes", [
        Series(name, [Point(row["total"], row["total"] / row["seconds"] / 1e6)
                      for row in select(rows, arm=arm)], tone) for name, arm, tone in arms],
        VECTOR, RATE)


def on_wirings(bench, call, names, arms):
    """Measured bandwidth over the vector's size, a chart for each wiring."""
    return [chart(f"{call.replace('-', ', ')}, {ALMASI_WIRINGS[name].words}", [
        bandwidth_line(words, tone, select(bench.rows(f"almasi-{call}-{name}-sizes"), arm=arm),
                       lambda row: row["total"]) for words, arm, tone in arms], VECTOR, RATE)
            for name in names]


def mesh_bcast(bench):
    """Figure 5."""
    return [foreseen(bench, "bcast", [("trees", "mesh_trees", 1)])] + \
        on_wirings(bench, "bcast-sum", ("mesh4x4", "torus4x4", "mesh2x2x2"), ALONG_A_MESH)


def mesh_allreduce(bench):
    """Figures 6 and 7."""
    return [foreseen(bench, "allreduce", [("path", "mesh_path", 0), ("cycles", "mesh_cycles", 1)])] \
        + on_wirings(bench, "allreduce-isum", ("mesh4x4",), AROUND_A_MESH) \
        + on_wirings(bench, "allreduce-sum", ("mesh4x4", "torus4x4"), AROUND_A_MESH)


def mesh_alltoall(bench):
    """Figure 8: what a node sends."""
    def sent(row):
        return {**row, "total": row["total"] * (row["p"] - 1)}
    charts = []
    for name, wiring in ALMASI_WIRINGS.items():
        rows = [sent(row) for row in bench.rows(f"almasi-alltoall-{name}")]
        charts.append(chart(f"alltoall, {wiring.words}", [
            bandwidth_line(words, tone, select(rows, arm=arm), lambda row: row["total"])
            for words, arm, tone in (("Open MPI", "stock", 2), ("pipering", "auto", 1))],
            Axis("what a node sends", "bytes", 2), RATE))
    return charts


def without_limit(coll, rows, arms):
    """Time over the vector's size where links have no limit."""
    return [chart(f"{coll}, 4x4 mesh, links without a limit",
                  by_arm(rows, arms, lambda row: row["total"]), VECTOR, SECONDS)]


def short_vectors(bench):
    """Figure 9."""
    arms = [("Open MPI", "stock", 2), ("pipering", "pipering", 1),
            ("along lines, forced", "mesh_lines", 3)]
    return without_limit("allreduce", bench.rows("almasi-small-allreduce"), arms)


def decisions(bench):
    """Figure 5 (b): what it costs that all ranks decide together."""
    arms = [("Open MPI", "stock", 2), ("trees, forced", "mesh_trees", 1),
            ("after a barrier", "met", 3),
            ("decided by all ranks", "asked", 0)]
    return without_limit("bcast", bench.rows("almasi-decision"), arms)


def barriers(bench):
    """Figure 10."""
    arms = {"stock": ("Open MPI", 2), "pipering": ("along lines, forced", 1)}
    bars = [Bar(arms[row["arm"]][0], row["median_s"], row["least_s"], row["median_s"],
                tone=arms[row["arm"]][1]) for row in bench.rows("almasi-barriers")]
    return [BarChart("barrier, 4x4 mesh, links without a limit", bars,
                     Axis("time of a barrier, median", "seconds"))]
