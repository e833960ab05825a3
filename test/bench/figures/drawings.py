# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The papers' figures, drawn of what the benchmarks have measured.

Times are the least of the slowest rank, as in the papers; the bar above a point ends at the median.
"""

import drawings_almasi
from measured import Missing, select, values
from pipering_tuning.charts import Axis, Bar, BarChart, Point, Series
from series import (BLOCK, CALL, COUNT, PART, RANKS, RATE, RINGS, SECONDS, TOTAL, TWO_RINGS, Figure,
                    bandwidth_line, by_arm, chart, line)

# ---- Träff


def base_count(row):
    """c of a row: all of broadcast and spike, a rank's share of the others."""
    return row["total"] if row["dist"] in ("broadcast", "spike") else row["total"] / row["p"]


def rings_by_count(name, where, arms=tuple(RINGS)):
    """A chart for each distribution of the file: time over the base count."""
    def draw(bench):
        rows = bench.rows(name)
        return [chart(f"{dist}, {where}", by_arm(select(rows, dist=dist), arms, base_count),
                      COUNT, SECONDS) for dist in values(rows, "dist")]
    return draw


def fixed_blocks(bench):
    """Figure 5."""
    rows = bench.rows("traff-blocks")
    arms = [("standard ring", "linear", 0)]
    arms += [(f"B = {size}", f"ring:B={size}", tone + 1)
             for tone, size in enumerate(("32K", "64K", "128K", "512K", "1M"))]
    return [chart(f"{dist}, 8 nodes, fixed B", by_arm(select(rows, dist=dist), arms,
                                                      lambda row: row["total"]), TOTAL, SECONDS)
            for dist in values(rows, "dist")]


def more_ranks(bench):
    """Figure 7, left."""
    rows = bench.rows(*(f"traff-ranks-{n}" for n in (2, 4, 8, 16, 24, 32)))
    return [chart("geometric, c = 32 KiB, 20 Mbit/s", by_arm(rows, RINGS, lambda row: row["p"]),
                  RANKS, SECONDS)]


def idle_parts(bench):
    """[(arm, rank, part that is idle)] of traff-idle.txt."""
    try:
        with open(bench.path("traff-idle.txt"), encoding="utf-8") as file:
            words = [found.split() for found in file]
    except OSError as error:
        raise Missing("traff-idle.txt") from error
    parts = [(word[0], word[1], float(word[4].rstrip("%")) / 100) for word in words[1:]
             if len(word) == 5]
    if not parts:
        raise Missing("traff-idle.txt")
    return parts


def idle(bench):
    """Figure 7, right."""
    axis = Axis("part of the call in which the rank's link is idle", "percent", 0, 0.0, 1.0)
    names = {"linear": ("standard ring", 0), "pipering": ("pipelined ring", 1)}
    return [BarChart(f"{names[arm][0]}, broadcast, 1 MiB, 8 nodes",
                     [Bar(f"rank {rank}" if rank != "mean" else rank, part, tone=names[arm][1])
                      for found, rank, part in idle_parts(bench) if found == arm], axis)
            for arm in names]


def predicted(bench):
    """Figures 9 and 10: modelled times of many ranks, and of base counts of 64 bytes."""
    rows = bench.rows("traff-predicted")
    charts = [modelled(f"geometric, {ranks:,} ranks", select(rows, p=float(ranks)),
                       base_count, COUNT) for ranks in (5772, 65536)]
    small = [row for row in rows if row["total"] == 64 * row["p"]]
    return charts + [modelled("geometric, c = 64 bytes", small, lambda row: row["p"], RANKS)]


def modelled(title, rows, x, axis):
    rows = sorted(rows, key=x)
    return chart(title, [
        Series("standard ring", [Point(x(r), r["linear_s"]) for r in rows], 0),
        Series("pipelined ring, B = 32 KiB", [Point(x(r), r["time_s"]) for r in rows], 1)],
        axis, Axis("modelled time", "seconds", 10))


# ---- Worringer


def worringer_rows(bench, call):
    return bench.rows(*(f"worringer-{call}-{p}" for p in range(2, 9)))


def bandwidths(call, arms):
    """Figures 3 and 4: for each (name, arm), bandwidth over the vector's size by P, and over P."""
    def draw(bench):
        rows = worringer_rows(bench, call)
        sizes = [chart(f"{call}, {name}", [
            bandwidth_line(f"P = {p:.0f}", tone + 1, select(rows, arm=arm, p=p),
                           lambda row: row["total"])
            for tone, p in enumerate(values(rows, "p"))], Axis("vector", "bytes", 2), RATE)
            for name, arm in arms]
        large = select(rows, total=4194304.0)
        over = chart(f"{call}, 4 MiB", [
            bandwidth_line(name, tone, select(large, arm=arm), lambda row: row["p"])
            for tone, (name, arm) in enumerate(arms)], Axis("ranks"), RATE)
        return sizes + [over]
    return draw


def stages(bench):
    """Figure 5, from the model of stages."""
    charts = []
    for name, title, axis in (("blocks", "broadcast of 1 MB by block size", BLOCK),
                              ("ranks", "broadcast with the best block size", RANKS),
                              ("flow", "1 MB, 64 ranks, delays of flow control", BLOCK)):
        points = bench.points(f"fig5-{name}")
        series = [Series(label, [Point(x, y) for found, x, y in points if found == label], tone + 1,
                         marks=name == "ranks", dashed=tone % 2 == 1)
                  for tone, label in enumerate(dict.fromkeys(p[0] for p in points))]
        charts.append(chart(title, series, axis, RATE))
    return charts


# ---- Kandalla


def leader(groups, rest=""):
    """The arm's name of so many leaders a node, who exchange with all others."""
    return f"mleader:allgather_algorithm=leaders:groups={groups}{rest}:scope=all"


CONVENTIONAL = [("conventional (coll/tuned)", "tuned", 0), ("Open MPI (coll/han)", "stock", 7)]


def batched(rows):
    """Those of the largest batch: calls in a row."""
    most = max(row["batch"] for row in rows)
    return select(rows, batch=most)


def leaders_chart(bench, name, title, arms):
    return chart(title, by_arm(batched(bench.rows(name)), CONVENTIONAL + arms,
                               lambda row: row["total"], "median_s"), PART, CALL)


def single_leader(bench):
    """Figures 3 and 4: one leader a node, small and large."""
    kinds = [("gather, doubling", ":aggregation=gather:exchange=recursive_doubling", 1),
             ("gather, ring", ":aggregation=gather:exchange=ring", 3)]
    messages = [(f"1 leader, {name}", leader(1, kind), tone) for name, kind, tone in kinds]
    shared = [("1 leader, shared memory, doubling",
               leader(1, ":aggregation=shm:exchange=recursive_doubling"), 1)]
    charts = []
    for file, title, arms in (("leaders-single", "one leader, point-to-point", messages),
                              ("leaders-messages", "the same, large", messages),
                              ("leaders-single", "one leader, shared memory", shared)):
        charts.append(leaders_chart(bench, file, title, arms))
    return charts


def leaders_arms(kind, counts):
    """So many leaders a node, each exchanging with all others, as in the paper."""
    return [(f"leaders a node: {count}", leader(count, kind), tone)
            for tone, count in enumerate(counts, 1)]


def several_leaders(bench):
    """Figures 5 and 6: more leaders a node."""
    messages, shared = ":aggregation=gather", ":aggregation=shm"
    every = [("every rank a leader", leader(16), 5)]
    return [
        leaders_chart(bench, "leaders-leaders", "4 x 2 x 4 ranks, point-to-point",
                      leaders_arms(messages, (1, 2, 4))),
        leaders_chart(bench, "leaders-messages", "the same, large, ring",
                      leaders_arms(messages + ":exchange=ring", (1, 2, 4))),
        leaders_chart(bench, "leaders-leaders", "4 x 2 x 4 ranks, shared memory",
                      leaders_arms(shared, (1, 2, 4))),
        leaders_chart(bench, "leaders-sixteen", "4 x 4 x 4 ranks, shared memory",
                      leaders_arms(shared, (1, 4, 8)) + every),
        leaders_chart(bench, "leaders-sixteen", "4 x 4 x 4 ranks, point-to-point",
                      leaders_arms(messages, (1, 4, 8)))]


def placements(bench):
    """Figure 7: leaders spread over the sockets, or packed on one, on top of MPI."""
    return [leaders_chart(bench, "leaders-leaders", f"{groups} leaders, messages", [
        (placement, f"{placement}{groups}", tone)
        for tone, placement in ((1, "spread"), (2, "packed"))]) for groups in (2, 4)]


def leaders_overall(bench):
    """Figure 8."""
    return [leaders_chart(bench, "leaders-small", "small contributions, calls in a row",
                          [("coll/mleader", "mleader", 1)])]


# ---- Balaji


GATHERS = [("linear ring", "linear", 0), ("pipelined ring", "ring", 1), ("Open MPI", "stock", 2),
           ("recursive doubling", "doubling", 3), ("dissemination", "dissemination", 4),
           ("pipering's choice", "pipering", 5)]


def outlier_sizes(bench):
    """Figure 14 (a)."""
    charts = []
    for place in ("8x8", "16x4"):
        rows = bench.rows(f"balaji-sizes-{place}")
        charts.append(chart(f"64 ranks, {place.replace('x', ' nodes of ')}", by_arm(
            rows, GATHERS, lambda row: row["total"] - 8 * (row["p"] - 1), "median_s"),
            Axis("bytes of rank 0", "bytes", 2), CALL))
    return charts


def outlier_ranks(bench):
    """Figure 14 (b)."""
    places = ("2x1", "4x1", "6x1", "8x1", "4x3", "8x2", "8x3", "8x4", "8x6", "8x8")
    rows = bench.rows(*(f"balaji-ranks-{place}" for place in places))
    return [chart("32 KiB from rank 0, a double from others", by_arm(
        rows, GATHERS, lambda row: row["p"], "median_s"), RANKS, CALL)]


def with_128(bench, names, last):
    """The rows of the files, and of those of 128 ranks where they have been measured."""
    rows = list(bench.rows(*names))
    try:
        return rows + bench.rows(last)
    except Missing:
        return rows


def neighbour_ring(bench):
    """Figure 15."""
    rows = with_128(bench, [f"alltoallw-ring-{ppn}" for ppn in (1, 2, 4)], "alltoallw-ring-16")
    arms = [("one peer after the other", "round_robin", 0), ("Open MPI", "stock", 2),
            ("bins", "auto", 1)]
    return [chart("a column of 100 doubles to both neighbours",
                  by_arm(rows, arms, lambda row: row["p"], "median_s"), RANKS, CALL)]


APPLICATION_ARMS = [("by hand", "handall", 0), ("the paper's old engine", "baseline", 2),
                    ("Open MPI", "stock", 7), ("with the patches", "ours", 1)]


def application(app):
    """Figures 16 and 17: a chart for each size or pattern."""
    def draw(bench):
        names = [f"applications-{app}-{p}" for p in (2, 4, 8, 16, 32)]
        rows = with_128(bench, names, f"applications-{app}-128")
        kinds = list(dict.fromkeys((row["what"], row["size"]) for row in rows))
        return [chart(f"{app} {what}, {size:g}" if isinstance(size, float) else f"{app} {what}",
                      by_arm(select(rows, what=what, size=size), APPLICATION_ARMS,
                             lambda row: row["p"], "median_s"), RANKS, CALL)
                for what, size in kinds]
    return draw


def transposed(row):
    """N of a layout transpose:N."""
    return float(row["layout"].split(":")[1])


ENGINES = [("one context (paper's current)", "research", 0), ("two contexts", "dual", 1),
           ("Open MPI", "off", 2)]


def transpose(bench):
    """Figure 12."""
    rows = [row for row in bench.rows("datatypes-transpose")
            if row["layout"].startswith("transpose:") and row["arm"] == "typed"]
    rows = select(rows, net="rail1", side="send")
    series = [line(name, tone, select(rows, engine=engine), transposed)
              for name, engine, tone in ENGINES]
    return [chart("N x N elements of 3 doubles, over TCP", series, Axis("N", "number", 2), SECONDS)]


def breakdown(bench, engine):
    """{part: {N: share}} of the time to send the transpose: search, packing, communication."""
    floors = {row["layout"]: row["min_s"] for row in select(
        bench.rows("datatypes-search-net"), net="rail1", side="send", arm="floor")}
    parts = {"search": {}, "packing": {}, "communication": {}}
    for row in bench.rows(f"datatypes-search-{engine}"):
        if row["layout"].startswith("transpose:") and row["layout"] in floors:
            floor = floors[row["layout"]]
            whole = row["search_s"] + row["move_s"] + floor
            for name, value in zip(parts, (row["search_s"], row["move_s"], floor)):
                parts[name][transposed(row)] = value / whole
    return parts


def breakdowns(bench):
    """Figure 13."""
    axis = Axis("part of the time", "percent", 0, 0.0, 1.0)
    charts = []
    for title, engine in (("one context", "research"), ("two contexts", "dual")):
        parts = breakdown(bench, engine)
        charts.append(chart(title, [
            Series(name, [Point(n, share) for n, share in sorted(found.items())], tone)
            for name, tone, found in ((name, tone, parts[name]) for name, tone in
                                      (("search", 2), ("packing", 1), ("communication", 0)))],
            Axis("N", "number", 2), axis))
    return charts


FIGURES = [
    Figure("traff-4-8nodes", "Träff", "Figs. 4, 6", "Time over the base count, 8 nodes.",
           rings_by_count("traff-counts", "8 nodes, 100 Mbit/s")),
    Figure("traff-4-32nodes", "Träff", "Fig. 4", "The same on 32 nodes; the paper has 30.",
           rings_by_count("traff-nodes32", "32 nodes, 20 Mbit/s", TWO_RINGS)),
    Figure("traff-4-ppn8", "Träff", "Fig. 4", "8 ranks a node, on 8 nodes; the paper has 30.",
           rings_by_count("traff-ppn8", "8 nodes of 8 ranks", TWO_RINGS)),
    Figure("traff-5", "Träff", "Fig. 5", "Fixed block sizes beside the standard ring.",
           fixed_blocks),
    Figure("traff-7-left", "Träff", "Fig. 7, left", "The same base count on more and more ranks.",
           more_ranks),
    Figure("traff-7-right", "Träff", "Figs. 7 right, 8", "Communication and idle time.", idle),
    Figure("traff-9-10", "Träff", "Figs. 9, 10",
           "Modelled with links of 5 µs and 375 MB/s: no such machine is here.", predicted),
    Figure("traff-10-list", "Träff", "Fig. 10, small",
           "A list of bytes over all ranks but the last, 8 nodes.",
           rings_by_count("traff-list", "list of bytes, 8 nodes")),
    Figure("worringer-3-bcast", "Worringer", "Fig. 3, top", "MPI_Bcast, generic and pipelined.",
           bandwidths("bcast", [("binomial", "tuned:6"), ("pipering", "pipering")])),
    Figure("worringer-3-reduce", "Worringer", "Fig. 3, middle", "MPI_Reduce.",
           bandwidths("reduce", [("binomial", "tuned:5"), ("pipering", "pipering")])),
    Figure("worringer-3-scan", "Worringer", "Fig. 3, bottom", "MPI_Scan.",
           bandwidths("scan", [("linear", "stock"), ("pipering", "pipering")])),
    Figure("worringer-4", "Worringer", "Fig. 4", "MPI_Allreduce.",
           bandwidths("allreduce", [("reduce and broadcast", "tuned:2"),
                                    ("Rabenseifner", "tuned:6"), ("serial pipelines", "serial"),
                                    ("pipering", "pipering")])),
    Figure("worringer-5", "Worringer", "Fig. 5", "Modelled, as in the paper, for its machine.",
           stages),
    Figure("kandalla-3-4", "Kandalla", "Figs. 3, 4", "One leader a node.", single_leader),
    Figure("kandalla-5-6", "Kandalla", "Figs. 5, 6", "Several leaders a node.", several_leaders),
    Figure("kandalla-7", "Kandalla", "Fig. 7", "Where leaders are.", placements),
    Figure("kandalla-8", "Kandalla", "Fig. 8", "All schemes.", leaders_overall),
    Figure("balaji-12", "Balaji", "Fig. 12", "A matrix sent while it is transposed.", transpose),
    Figure("balaji-13", "Balaji", "Fig. 13", "Where its time goes.", breakdowns),
    Figure("balaji-14a", "Balaji", "Fig. 14 (a)", "One large contribution among doubles.",
           outlier_sizes),
    Figure("balaji-14b", "Balaji", "Fig. 14 (b)", "The same by ranks.", outlier_ranks),
    Figure("balaji-15", "Balaji", "Fig. 15", "MPI_Alltoallw around a ring.", neighbour_ring),
    Figure("balaji-16", "Balaji", "Fig. 16", "Vector scatter.", application("scatter")),
    Figure("balaji-17", "Balaji", "Fig. 17", "3-D Laplacian, multigrid.",
           application("laplacian")),
    Figure("almasi-5", "Almási", "Fig. 5",
           "MPI_Bcast: predicted with links of 154 MB/s, and measured on small wirings.",
           drawings_almasi.mesh_bcast),
    Figure("almasi-5b", "Almási", "Fig. 5 (b)",
           "What a decision of all ranks costs short MPI_Bcast.", drawings_almasi.decisions),
    Figure("almasi-6-7", "Almási", "Figs. 6, 7", "MPI_Allreduce likewise.",
           drawings_almasi.mesh_allreduce),
    Figure("almasi-8", "Almási", "Fig. 8", "MPI_Alltoall.", drawings_almasi.mesh_alltoall),
    Figure("almasi-9", "Almási", "Fig. 9", "Short MPI_Allreduce: the module below serves it.",
           drawings_almasi.short_vectors),
    Figure("almasi-10", "Almási", "Fig. 10", "MPI_Barrier.", drawings_almasi.barriers),
]
