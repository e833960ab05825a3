# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Our values of the claims of Träff's paper.

A function has the name of its claim with _ for -, takes a Bench and returns the words of the
table; it raises Missing where a file or a row has not been measured.
"""

import drawings
from measured import least, one, select, some, values
from pipering_tuning.charts import number, size
from words import MIB, share, span, times


def gains(rows, **wanted):
    """Times of the standard ring over those of the pipelined one, row by row."""
    return {(row["dist"], row["total"], row["p"]): row["min_s"] / least(
        rows, arm="pipering", dist=row["dist"], total=row["total"], p=row["p"])
        for row in select(rows, arm="linear", **wanted)}


def traff_broadcast(bench):
    found = gains(bench.rows("traff-nodes32"), dist="broadcast")
    return f"{span(found.values())} times"


def traff_bound(bench):
    row = one(bench.rows("traff-nodes32"), dist="broadcast", total=MIB, arm="pipering")
    blocks = -(-row["total"] // row["block"]) if row["block"] else 1
    bound = blocks * (row["p"] - 1) / (row["p"] - 2 + blocks)
    return f"{times(bound)} for {size(row['total'])} with blocks of {size(row['block'])}"


def traff_others(bench):
    rows = bench.rows("traff-nodes32")
    parts = [f"{dist} {span(gains(rows, dist=dist).values())}"
             for dist in ("spike", "decreasing", "geometric")]
    return ", ".join(parts) + " times"


def _rings(bench, arm, dist, other):
    rows = bench.rows("rings")
    return [least(rows, arm=arm, dist=dist, total=total) / least(rows, arm=arm, dist=other,
                                                                 total=total)
            for total in values(rows, "total")]


def traff_spike(bench):
    return span(_rings(bench, "linear", "broadcast", "spike"))


def traff_similar(bench):
    return span(_rings(bench, "pipering", "broadcast", "spike"))


def traff_regular(bench):
    rows = bench.rows("rings")
    parts = [f"{dist} {span([1 / gain for gain in gains(rows, dist=dist).values()])}"
             for dist in ("regular", "half")]
    return "pipelined over standard: " + ", ".join(parts)


def traff_permuted(bench):
    world = select(bench.rows("traff-world"), arm="pipering")
    ratios = [least(bench.rows("traff-permuted"), arm="pipering", dist=row["dist"])
              / row["min_s"] for row in world]
    return f"{span(ratios)} times"


def traff_ppn8(bench):
    return f"{span(gains(bench.rows('traff-ppn8')).values())} times"


def _block_gains(bench, dist):
    """{(arm, total): standard ring over fixed blocks}"""
    rows = select(bench.rows("traff-blocks"), dist=dist)
    return {(row["arm"][len("ring:B="):], row["total"]):
            least(rows, arm="linear", total=row["total"]) / row["min_s"]
            for row in rows if row["arm"].startswith("ring:B=")}


def traff_blocks(bench):
    found = _block_gains(bench, "spike")
    better = [block for block in dict.fromkeys(block for block, _ in found)
              if all(gain > 1 for (of, _), gain in found.items() if of == block)]
    return f"at all sizes with {', '.join(better) or 'none'}; {span(found.values())} times"


def traff_small_blocks(bench):
    found = {total: gain for (block, total), gain in _block_gains(bench, "decreasing").items()
             if block == "32K"}
    return f"32K: {span([1 / gain for gain in found.values()])} times the time"


def traff_regular_blocks(bench):
    found = _block_gains(bench, "regular")
    smaller = {key: gain for key, gain in found.items() if gain > 1.02}
    return f"{len(smaller)} of {len(found)}, at most {times(max(some(found.values())))}"


def traff_ethernet(bench):
    rows = bench.rows("traff-counts")
    parts = []
    for dist in ("spike", "geometric"):
        found = gains(rows, dist=dist)
        ends = [found[key] for key in sorted(found)]
        parts.append(f"{dist} {number(ends[0])}, then {times(ends[-1])}")
    return "; ".join(parts)


def traff_scaling(bench):
    rows = bench.rows(*(f"traff-ranks-{n}" for n in (2, 4, 8, 16, 24, 32)))
    found = {p: gain for (_, _, p), gain in gains(rows).items()}
    return ", ".join(f"{p:.0f}: {number(found[p])}" for p in sorted(found)) + " times"


def traff_idle(bench):
    def mean(arm):
        parts = drawings.idle_parts(bench, arm).values()
        return share(sum(some(parts)) / len(parts))
    return f"{mean('linear')} against {mean('pipering')}"


def _predicted(bench, ranks, count):
    row = one(bench.rows("traff-predicted"), p=float(ranks), total=float(ranks * count))
    return row["linear_s"] / row["time_s"]


def _predictions(bench, ranks, counts):
    return ", ".join(f"c = {size(count)}: {times(_predicted(bench, ranks, count))}"
                     for count in counts)


def traff_sicortex(bench):
    return _predictions(bench, 5772, (64, 1024, 16384))


def traff_bluegene(bench):
    return _predictions(bench, 65536, (4, 64, 4096))


def traff_64_bytes(bench):
    return ", ".join(f"{p} ranks: {number(_predicted(bench, p, 64))}"
                     for p in (4096, 16384, 65536)) + " times"


def traff_list(bench):
    return f"{span(gains(bench.rows('traff-list')).values())} times"


def traff_on_top(bench):
    rows = bench.rows("traff-ontop")
    ratios = [row["min_s"] / least(rows, arm="tuned:3", dist=row["dist"], total=row["total"])
              for row in select(rows, arm="linear")]
    return f"{span(ratios)} times the time"
