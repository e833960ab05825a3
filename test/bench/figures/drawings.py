# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The papers' figures, drawn of what the benchmarks have measured, predicted or modelled.

Times are the least of the slowest rank, as in the papers; the bar above a point ends at the median.
"""

from collections import namedtuple
from operator import itemgetter

from measured import Missing, one, select, values
from pipering_tuning.charts import number, percent, seconds, size
from plot import Axis, bands, bars, chart


# ---- axes, each with the columns of a row; x and y are those of a point of a model


def base_count(row):
    """c of a row: all of broadcast and spike, a rank's share of the others."""
    return row["total"] if row["dist"] in ("broadcast", "spike") else row["total"] / row["p"]


def rate(row):
    """MB/s of each rank, and from that of the median to that of the least time."""
    best, usual = (row["total"] / row[column] / 1e6 for column in ("min_s", "median_s"))
    return best, usual, best


X, Y = itemgetter("x"), itemgetter("y", "y", "y")
COUNT = Axis("base count c", size, 2, base_count)
TOTAL = Axis("bytes in all", size, 2, itemgetter("total"))
VECTOR = TOTAL._replace(label="vector")
RANKS = Axis("ranks", "{:g}".format, 2, itemgetter("p"))
SECONDS = Axis("time of the slowest rank, least", seconds, 10,
               itemgetter("min_s", "min_s", "median_s"))
CALL = Axis("time of a call, median", seconds, 10, itemgetter("median_s", "min_s", "median_s"))
RATE = Axis("bandwidth of each rank, MB/s", number, 10, rate)
SHARE = Axis("part of the time", percent, 0, Y, (0, 1))

# ---- what the figures of several papers are made of


def lines(title, x, y, rows, arms, **wanted):
    """A chart with a line for each {name: arm}."""
    return chart(title, x, y, {name: select(rows, arm=arm, **wanted) for name, arm in arms.items()})


def batched(rows):
    """Those of the largest batch: calls in a row."""
    most = max(row["batch"] for row in rows)
    return select(rows, batch=most)


def each(x, y, *charts):
    """A chart for each (title, files, arms)."""
    return lambda bench: [lines(title, x, y, batched(bench.rows(*names.split())), arms)
                          for title, names, arms in charts]


def by_dist(name, where, arms, x=COUNT):
    """A chart for each distribution."""
    return lambda bench: [lines(f"{dist}, {where}", x, SECONDS, bench.rows(name), arms, dist=dist)
                          for dist in values(bench.rows(name), "dist")]


TWO_RINGS = {"standard ring": "linear", "pipelined ring": "pipering"}
RINGS = {**TWO_RINGS, "Open MPI": "stock"}
BLOCKS = {"standard ring": "linear",
          **{f"B = {block}": f"ring:B={block}" for block in ("32K", "64K", "128K", "512K", "1M")}}

# ---- Träff


def idle_parts(bench, arm):
    """{rank: part of the call in which its link is idle}"""
    return {row["rank"]: 1 - row["busy_s"] / row["call_s"]
            for row in select(bench.rows("traff-idle-links"), arm=arm)}


def idle(bench):
    axis = SHARE._replace(label="part of the call in which the rank's link is idle")
    return [bars(f"{name}, broadcast, 1 MiB, 8 nodes", axis, {name: {
        f"rank {rank:.0f}": {"y": part} for rank, part in idle_parts(bench, arm).items()}})
            for name, arm in TWO_RINGS.items()]


def who_communicates(bench):
    """A band for each rank where its link carries data."""
    return [bands(f"{name}, broadcast, 1 MiB, 8 nodes", "seconds", {
        f"rank {row['rank']:.0f}": [tuple(map(float, band.split("-")))
                                    for band in str(row["bands"]).split(",") if band]
        for row in select(bench.rows("traff-idle-links"), arm=arm)})
            for name, arm in TWO_RINGS.items()]


def predicted(bench):
    rows = bench.rows("traff-predicted")
    columns = {"standard ring": "linear_s", "pipelined ring, B = 32 KiB": "time_s"}
    return [chart(title, x, SECONDS._replace(label="modelled time", of=Y), {
        name: [{**row, "y": row[column]} for row in found] for name, column in columns.items()})
            for title, x, found in (
                ("geometric, 5,772 ranks", COUNT, select(rows, p=5772.0)),
                ("geometric, 65,536 ranks", COUNT, select(rows, p=65536.0)),
                ("geometric, c = 64 bytes", RANKS,
                 [row for row in rows if row["total"] == 64 * row["p"]]))]


# ---- Worringer


def worringer_rows(bench, call):
    return bench.rows(*(f"worringer-{call}-{p}" for p in range(2, 9)))


def bandwidths(call, arms):
    """For each {name: arm} bandwidth over the vector's size by P, then all of 4 MiB over P."""
    def draw(bench):
        rows = worringer_rows(bench, call)
        return [chart(f"{call}, {name}", VECTOR, RATE, {
            f"P = {p:.0f}": select(rows, arm=arm, p=p) for p in values(rows, "p")})
                for name, arm in arms.items()] + \
            [lines(f"{call}, 4 MiB", RANKS._replace(base=0), RATE, rows, arms, total=4194304.0)]
    return draw


def stages(bench):
    charts = []
    block = Axis("block size", size, 2, X)
    for name, title, x in (("blocks", "broadcast of 1 MB by block size", block),
                           ("ranks", "broadcast with the best block size", RANKS._replace(of=X)),
                           ("flow", "1 MB, 64 ranks, delays of flow control", block)):
        series = {}
        for row in select(bench.rows("fig5-model"), chart=name):
            series.setdefault(row["series"], []).append(row)
        charts.append(chart(title, x, RATE._replace(of=itemgetter("mb_s", "mb_s", "mb_s")), series))
    return charts


# ---- Kandalla


def leader(groups, rest=""):
    """The arm's name of so many leaders a node, who exchange with all others."""
    return f"mleader:allgather_algorithm=leaders:groups={groups}{rest}:scope=all"


def leaders(*charts):
    """A chart for each (title, file, arms), which stand beside MPI's own."""
    mine = {"conventional (coll/tuned)": "tuned", "Open MPI (coll/han)": "stock"}
    return each(TOTAL._replace(label="bytes of a rank"), CALL,
                *((title, name, {**mine, **arms}) for title, name, arms in charts))


def counts(kind, *groups):
    """So many leaders a node, each exchanging with all others, as in the paper."""
    return {f"leaders a node: {count}": leader(count, kind) for count in groups}


MESSAGES, SHARED, DOUBLING = ":aggregation=gather", ":aggregation=shm", "recursive_doubling"
ONE_BY_MESSAGES = {"1 leader, gather, doubling": leader(1, f"{MESSAGES}:exchange={DOUBLING}"),
                   "1 leader, gather, ring": leader(1, MESSAGES + ":exchange=ring")}
ONE_SHARED = {"1 leader, shared memory, doubling": leader(1, f"{SHARED}:exchange={DOUBLING}")}

# ---- Balaji


GATHERS = {"linear ring": "linear", "pipelined ring": "ring", "Open MPI": "stock",
           "rounds": "rounds",
           "pipering's choice": "pipering"}
OF_RANK_0 = Axis("bytes of rank 0", size, 2, lambda row: row["total"] - 8 * (row["p"] - 1))
PLACES = "2x1 4x1 6x1 8x1 4x3 8x2 8x3 8x4 8x6 8x8".split()
BINS = {"one peer after the other": "round_robin", "bins": "auto", "Open MPI": "stock"}
APPLICATIONS = {"by hand": "handall", "with the patches": "ours",
                "the paper's old engine": "baseline", "Open MPI": "stock"}
ENGINES = {"one context (paper's current)": "research", "two contexts": "dual", "Open MPI": "off"}


def with_128(bench, name, ranks, last):
    """The rows of the files, and of those of 128 ranks where they have been measured."""
    rows = bench.rows(*(f"{name}-{each}" for each in ranks))
    try:
        return rows + bench.rows(f"{name}-{last}")
    except Missing:
        return rows


def neighbour_ring(bench):
    return [lines("a column of 100 doubles to both neighbours", RANKS, CALL,
                  with_128(bench, "alltoallw-ring", (1, 2, 4), 16), BINS)]


def application(app):
    """A chart for each size or pattern."""
    def draw(bench):
        rows = with_128(bench, f"applications-{app}", (2, 4, 8, 16, 32), 128)
        return [lines(f"{app} {what}" + (f", {big:g}" if isinstance(big, float) else ""), RANKS,
                      CALL, rows, APPLICATIONS, what=what, size=big)
                for what, big in dict.fromkeys((row["what"], row["size"]) for row in rows)]
    return draw


def transposed(row):
    """N of a layout transpose:N."""
    return float(row["layout"].split(":")[1])


def transpose(bench):
    rows = [row for row in select(bench.rows("datatypes-transpose"), net="rail1", side="send",
                                  arm="typed") if row["layout"].startswith("transpose:")]
    return [chart("N x N elements of 3 doubles, over TCP", RANKS._replace(label="N", of=transposed),
                  SECONDS, {name: select(rows, engine=engine) for name, engine in ENGINES.items()})]


def breakdown(bench, engine):
    """{part: {N: share}} of the time to send the transpose: search, packing, communication."""
    floors = {row["layout"]: row["min_s"] for row in select(
        bench.rows("datatypes-search-net"), net="rail1", side="send", arm="floor")}
    parts = {"search": {}, "packing": {}, "communication": {}}
    for row in select(bench.rows("datatypes-search"), engine=engine):
        if row["layout"].startswith("transpose:") and row["layout"] in floors:
            floor = floors[row["layout"]]
            whole = row["search_s"] + row["move_s"] + floor
            for name, value in zip(parts, (row["search_s"], row["move_s"], floor)):
                parts[name][transposed(row)] = value / whole
    return parts


def breakdowns(bench):
    return [chart(title, RANKS._replace(label="N", of=X), SHARE, {
        name: [{"x": n, "y": share} for n, share in found.items()]
        for name, found in breakdown(bench, engine).items()})
            for title, engine in (("one context", "research"), ("two contexts", "dual"))]


# ---- Almási


# A wiring of test/bench/almasi. rate: bytes per second of a link in one direction; bound: what a
# node of an all-to-all may send, in links, by the cross-section.
Wiring = namedtuple("Wiring", "words rate bound")
ALMASI_WIRINGS = {"mesh4x4": Wiring("4x4 mesh", 2.5e6, 1),
                  "torus4x4": Wiring("4x4 torus", 1.25e6, 2),
                  "mesh2x2x2": Wiring("2x2x2 mesh", 2.5e6, 2),
                  "mesh4x2x2": Wiring("4x2x2 mesh", 1.25e6, 1),
                  "mesh4x4x2": Wiring("4x4x2 mesh", 1e6, 1)}
ALONG_A_MESH = {"one chain": "pipeline", "pipering": "pipering", "Open MPI": "stock"}
AROUND_A_MESH = {"one ring": "ring", "pipering": "pipering", "Open MPI": "stock"}
# What a node of an all-to-all sends.
SENT = Axis("what a node sends", size, 2, lambda row: row["total"] * (row["p"] - 1))
SENT_RATE = RATE._replace(of=lambda row: [end * (row["p"] - 1) for end in rate(row)])


def meshes(coll, foreseen, arms, *places):
    """Predicted bandwidth of arms over the vector's size on 512 nodes, then that of others measured
    on each (operation, wiring)."""
    foresee = RATE._replace(of=lambda row: (row["total"] / row["seconds"] / 1e6,) * 3)
    measured = each(VECTOR, RATE, *(
        (f"{coll}, {op}, {ALMASI_WIRINGS[wiring].words}", f"almasi-{coll}-{op}-{wiring}-sizes",
         arms) for op, wiring in places))
    return lambda bench: [lines(f"{coll}, predicted, torus of 512 nodes", VECTOR, foresee,
                                bench.rows("almasi-predicted"), foreseen, mesh="8tx8tx8t",
                                coll=coll)] + measured(bench)


def barriers(bench):
    rows = bench.rows("almasi-barriers")
    return [bars("barrier, 4x4 mesh, links without a limit", Axis(
        "time of a barrier, median", seconds, 0, itemgetter("median_s", "least_s", "median_s")),
        {"": {"Open MPI": one(rows, arm="stock"),
              "along lines, forced": one(rows, arm="pipering")}})]


# A figure of a paper. draw: charts of what is in a Bench; it raises Missing.
Figure = namedtuple("Figure", "name paper place caption draw")

FIGURES = [Figure(*words) for words in (
    ("traff-4-8nodes", "Träff", "Figs. 4, 6", "Time over the base count, 8 nodes.",
     by_dist("traff-counts", "8 nodes, 100 Mbit/s", RINGS)),
    ("traff-4-32nodes", "Träff", "Fig. 4", "The same on 32 nodes; the paper has 30.",
     by_dist("traff-nodes32", "32 nodes, 20 Mbit/s", TWO_RINGS)),
    ("traff-4-ppn8", "Träff", "Fig. 4", "8 ranks a node, on 8 nodes; the paper has 30.",
     by_dist("traff-ppn8", "8 nodes of 8 ranks", TWO_RINGS)),
    ("traff-5", "Träff", "Fig. 5", "Fixed block sizes beside the standard ring.",
     by_dist("traff-blocks", "8 nodes, fixed B", BLOCKS, TOTAL)),
    ("traff-7-left", "Träff", "Fig. 7, left", "The same base count on more and more ranks.",
     each(RANKS, SECONDS, ("geometric, c = 32 KiB, 20 Mbit/s",
                           " ".join(f"traff-ranks-{n}" for n in (2, 4, 8, 16, 24, 32)), RINGS))),
    ("traff-7-right", "Träff", "Fig. 7, right", "Communication and idle time.", idle),
    ("traff-8", "Träff", "Fig. 8", "Who communicates when.", who_communicates),
    ("traff-9-10", "Träff", "Figs. 9, 10",
     "Modelled with links of 5 µs and 375 MB/s: no such machine is here.", predicted),
    ("traff-10-list", "Träff", "Fig. 10, small",
     "A list of bytes over all ranks but the last, 8 nodes.",
     by_dist("traff-list", "list of bytes, 8 nodes", RINGS)),
    ("worringer-3-bcast", "Worringer", "Fig. 3, top", "MPI_Bcast, generic and pipelined.",
     bandwidths("bcast", {"binomial": "tuned:6", "pipering": "pipering"})),
    ("worringer-3-reduce", "Worringer", "Fig. 3, middle", "MPI_Reduce.",
     bandwidths("reduce", {"binomial": "tuned:5", "pipering": "pipering"})),
    ("worringer-3-scan", "Worringer", "Fig. 3, bottom", "MPI_Scan.",
     bandwidths("scan", {"linear": "stock", "pipering": "pipering"})),
    ("worringer-4", "Worringer", "Fig. 4", "MPI_Allreduce.",
     bandwidths("allreduce", {"reduce and broadcast": "tuned:2", "Rabenseifner": "tuned:6",
                              "serial pipelines": "serial", "pipering": "pipering"})),
    ("worringer-5", "Worringer", "Fig. 5", "Modelled, as in the paper, for its machine.", stages),
    ("kandalla-3-4", "Kandalla", "Figs. 3, 4", "One leader a node.", leaders(
        ("one leader, point-to-point", "leaders-single", ONE_BY_MESSAGES),
        ("the same, large", "leaders-messages", ONE_BY_MESSAGES),
        ("one leader, shared memory", "leaders-single", ONE_SHARED))),
    ("kandalla-5-6", "Kandalla", "Figs. 5, 6", "Several leaders a node.", leaders(
        ("4 x 2 x 4 ranks, point-to-point", "leaders-leaders", counts(MESSAGES, 1, 2, 4)),
        ("the same, large, ring", "leaders-messages", counts(MESSAGES + ":exchange=ring", 1, 2, 4)),
        ("4 x 2 x 4 ranks, shared memory", "leaders-leaders", counts(SHARED, 1, 2, 4)),
        ("4 x 4 x 4 ranks, shared memory", "leaders-sixteen",
         {**counts(SHARED, 1, 4, 8), "every rank a leader": leader(16)}),
        ("4 x 4 x 4 ranks, point-to-point", "leaders-sixteen", counts(MESSAGES, 1, 4, 8)))),
    # Leaders spread over the sockets, or packed on one, on top of MPI.
    ("kandalla-7", "Kandalla", "Fig. 7", "Where leaders are.",
     leaders(*((f"{count} leaders, messages", "leaders-leaders",
                {"spread": f"spread{count}", "packed": f"packed{count}"}) for count in (2, 4)))),
    ("kandalla-8", "Kandalla", "Fig. 8", "All schemes.", leaders(
        ("small contributions, calls in a row", "leaders-small", {"coll/mleader": "mleader"}))),
    ("balaji-12", "Balaji", "Fig. 12", "A matrix sent while it is transposed.", transpose),
    ("balaji-13", "Balaji", "Fig. 13", "Where its time goes.", breakdowns),
    ("balaji-14a", "Balaji", "Fig. 14 (a)", "One large contribution among doubles.",
     each(OF_RANK_0, CALL, ("64 ranks, 8 nodes of 8", "balaji-sizes-8x8", GATHERS),
          ("64 ranks, 16 nodes of 4", "balaji-sizes-16x4", GATHERS))),
    ("balaji-14b", "Balaji", "Fig. 14 (b)", "The same by ranks.",
     each(RANKS, CALL, ("32 KiB from rank 0, a double from others",
                        " ".join(f"balaji-ranks-{place}" for place in PLACES), GATHERS))),
    ("balaji-15", "Balaji", "Fig. 15", "MPI_Alltoallw around a ring.", neighbour_ring),
    ("balaji-16", "Balaji", "Fig. 16", "Vector scatter.", application("scatter")),
    ("balaji-17", "Balaji", "Fig. 17", "3-D Laplacian, multigrid.", application("laplacian")),
    ("almasi-5", "Almási", "Fig. 5",
     "MPI_Bcast: predicted with links of 154 MB/s, and measured on small wirings.",
     meshes("bcast", {"trees": "mesh_trees"}, ALONG_A_MESH,
            ("sum", "mesh4x4"), ("sum", "torus4x4"), ("sum", "mesh2x2x2"))),
    ("almasi-5b", "Almási", "Fig. 5 (b)", "What a decision of all ranks costs short MPI_Bcast.",
     each(VECTOR, SECONDS, ("bcast, 4x4 mesh, links without a limit", "almasi-decision", {
         "Open MPI": "stock", "trees, forced": "mesh_trees", "after a barrier": "met",
         "decided by all ranks": "asked"}))),
    ("almasi-6-7", "Almási", "Figs. 6, 7", "MPI_Allreduce likewise.",
     meshes("allreduce", {"path": "mesh_path", "cycles": "mesh_cycles"}, AROUND_A_MESH,
            ("isum", "mesh4x4"), ("sum", "mesh4x4"), ("sum", "torus4x4"))),
    ("almasi-8", "Almási", "Fig. 8", "MPI_Alltoall.",
     each(SENT, SENT_RATE, *((f"alltoall, {wiring.words}", f"almasi-alltoall-{name}",
                              {"Open MPI": "stock", "pipering": "auto"})
                             for name, wiring in ALMASI_WIRINGS.items()))),
    ("almasi-9", "Almási", "Fig. 9", "Short MPI_Allreduce: the module below serves it.",
     each(VECTOR, SECONDS, ("allreduce, 4x4 mesh, links without a limit", "almasi-small-allreduce",
                            {"Open MPI": "stock", "pipering": "pipering",
                             "along lines, forced": "mesh_lines"}))),
    ("almasi-10", "Almási", "Fig. 10", "MPI_Barrier.", barriers),
)]
