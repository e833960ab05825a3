# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Our values of the claims of Balaji's paper.

A function has the name of its claim with _ for -, takes a Bench and returns the words of the
table; it raises Missing where a file or a row has not been measured.
"""

import drawings
from measured import Missing, least, median, select
from words import share, span


def _engines(bench, layout):
    rows = select(bench.rows("datatypes-transpose"), net="rail1", side="send", arm="typed",
                  layout=layout)
    return share(1 - least(rows, engine="dual") / least(rows, engine="research"))


def balaji_transpose(bench):
    return _engines(bench, "transpose:1024")


def balaji_irregular(bench):
    return _engines(bench, "indexed:24M")


def balaji_search(bench):
    found = []
    for engine in ("research", "dual"):
        parts = drawings.breakdown(bench, engine)["search"]
        if 1024.0 not in parts:
            raise Missing("transpose:1024")
        found.append(share(parts[1024.0]))
    return "; ".join(found)


def _outlier_saved(bench, name, **wanted):
    rows = bench.rows(name)
    return 1 - median(rows, arm="pipering", **wanted) / median(rows, arm="linear", **wanted)


def balaji_outlier(bench):
    return span([_outlier_saved(bench, f"balaji-sizes-{place}", total=32768.0 + 8 * 63)
                 for place in ("8x8", "16x4")], share)


def balaji_outlier_ranks(bench):
    places = {2: "2x1", 8: "8x1", 16: "8x2", 32: "8x4", 64: "8x8"}
    return ", ".join(f"{ranks}: {share(_outlier_saved(bench, f'balaji-ranks-{place}'))}"
                     for ranks, place in places.items())


def _ring_saved(bench, ppn, other):
    rows = bench.rows(f"alltoallw-ring-{ppn}")
    return share(1 - median(rows, arm="auto") / median(rows, arm=other))


def balaji_ring(bench):
    return _ring_saved(bench, 4, "round_robin")


def balaji_ring_128(bench):
    return _ring_saved(bench, 16, "round_robin")


def balaji_ring_stock(bench):
    return _ring_saved(bench, 4, "stock")


def _application(bench, app, ranks, other):
    """Time of ours over another arm's, for each size and pattern."""
    rows = bench.rows(f"applications-{app}-{ranks}")
    return [row["median_s"] / median(rows, arm=other, what=row["what"], size=row["size"],
                                     fields=row["fields"]) for row in select(rows, arm="ours")]


def balaji_scatter(bench):
    return span([1 - x for x in _application(bench, "scatter", 128, "baseline")], share)


def balaji_scatter_32(bench):
    return span([1 - x for x in _application(bench, "scatter", 32, "baseline")], share)


def _hand(bench, app, ranks):
    return f"{span(_application(bench, app, ranks, 'handall'))} times"


def balaji_scatter_hand(bench):
    return _hand(bench, "scatter", 128)


def balaji_scatter_hand_32(bench):
    return _hand(bench, "scatter", 32)


def balaji_laplacian(bench):
    return span([1 - x for x in _application(bench, "laplacian", 128, "baseline")], share)


def balaji_laplacian_hand(bench):
    return _hand(bench, "laplacian", 128)


def balaji_laplacian_hand_4(bench):
    return "; ".join(f"{ranks} ranks: {_hand(bench, 'laplacian', ranks)}" for ranks in (4, 32))


def balaji_laplacian_scaling(bench):
    few, many = (bench.rows(f"applications-laplacian-{ranks}") for ranks in (32, 128))
    parts = []
    for arm in ("ours", "baseline"):
        parts.append(span([row["median_s"] / median(few, arm=arm, what=row["what"],
                                                    size=row["size"], fields=row["fields"])
                           for row in select(many, arm=arm)]))
    return "; ".join(f"{part} times" for part in parts)
