# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Our value of each claim of claims.tsv, of what the benchmarks have measured.

A function has the name of its claim with _ for -, takes a Bench and returns the words of the
table; it raises Missing where a file or a row has not been measured.
"""

from dataclasses import dataclass
from typing import List

import drawings
from measured import Missing, least, median, one, select, values
from pipering_tuning.charts import number, percent, size

MIB = 1048576.0


@dataclass
class Claim:
    """A row of claims.tsv."""

    name: str
    paper: str
    place: str
    claim: str
    value: str
    sections: List[str]
    why: str

    def ours(self, bench):
        """Our value in words; Missing if it has not been measured."""
        return VALUES[self.name.replace("-", "_")](bench)

    def possible(self):
        """Can it be had without special hardware?"""
        return bool(self.sections)


def load(path):
    """The claims of the file; ValueError names a line that is not one."""
    claims = []
    with open(path, encoding="utf-8") as file:
        for count, line in enumerate(file, 1):
            words = line.rstrip("\n").split("\t")
            if line.startswith("#"):
                continue
            if len(words) != 7:
                raise ValueError(f"{path}, line {count}: {len(words)} columns in place of 7")
            sections = [] if words[5] == "-" else words[5].split()
            claims.append(Claim(*words[:5], sections, "" if words[6] == "-" else words[6]))
    return claims


# ---- words


def times(value):
    return f"{number(value)} times"


def span(found, show=number):
    """a to b, or a where both are alike."""
    low, high = show(min(found)), show(max(found))
    return low if low == high else f"{low} to {high}"


def share(value):
    """A part as per cent, to a tenth of one."""
    return percent(round(value, 3), 2)


# ---- Träff


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
    return f"{len(smaller)} of {len(found)}, at most {times(max(found.values()))}"


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
    mean = {arm: part for arm, rank, part in drawings.idle_parts(bench) if rank == "mean"}
    return f"{share(mean['linear'])} against {share(mean['pipering'])}"


def _predicted(bench, ranks, count):
    row = one(bench.rows("traff-predicted"), p=float(ranks), total=float(ranks * count))
    return row["linear_s"] / row["time_s"]


def traff_sicortex(bench):
    return ", ".join(f"c = {size(c)}: {times(_predicted(bench, 5772, c))}" for c in (64, 1024, 16384))


def traff_bluegene(bench):
    return ", ".join(f"c = {size(c)}: {times(_predicted(bench, 65536, c))}" for c in (4, 64, 4096))


def traff_64_bytes(bench):
    return ", ".join(f"{p} ranks: {number(_predicted(bench, p, 64))}"
                     for p in (4096, 16384, 65536)) + " times"


def traff_list(bench):
    return f"{span(gains(bench.rows('traff-list')).values())} times"


def traff_on_top(bench):
    rows = bench.rows("traff-ontop")
    ratios = [row["min_s"] / least(rows, arm="tuned:3", dist=row["dist"], total=row["total"])
              for row in select(rows, arm="ontop")]
    return f"{span(ratios)} times the time"


# ---- Worringer


POWERS_OF_TWO = (2.0, 4.0, 8.0)
OTHERS = (3.0, 5.0, 6.0, 7.0)


def _folds(bench, call):
    return drawings.worringer_rows(bench, call)


def bandwidth(rows, **wanted):
    row = one(rows, **wanted)
    return row["total"] / row["min_s"]


def faster(rows, arm, other, ranks=None, sizes=None):
    """{(P, bytes): times that an arm is faster than another} for some P, sizes from, below."""
    low, high = sizes or (0, float("inf"))
    return {(row["p"], row["total"]):
            least(rows, arm=other, p=row["p"], total=row["total"]) / row["min_s"]
            for row in select(rows, arm=arm)
            if (ranks is None or row["p"] in ranks) and low <= row["total"] < high}


LARGE = (32768, float("inf"))


def worringer_generic_step(bench):
    rows = select(_folds(bench, "bcast"), arm="tuned:6", total=4 * MIB)
    return number(bandwidth(rows, p=2.0) / bandwidth(rows, p=3.0))


def worringer_step(bench):
    rows = select(_folds(bench, "bcast"), arm="pipering", total=4 * MIB)
    return share(1 - bandwidth(rows, p=3.0) / bandwidth(rows, p=2.0))


def worringer_bcast(bench):
    rows = _folds(bench, "bcast")
    return times(faster(rows, "pipering", "tuned:6", (8.0,))[8.0, 4 * MIB])


def worringer_bcast_scaling(bench):
    rows = select(_folds(bench, "bcast"), arm="pipering", total=4 * MIB)
    return share(1 - bandwidth(rows, p=8.0) / bandwidth(rows, p=3.0))


def worringer_bcast_always(bench):
    found = faster(_folds(bench, "bcast"), "pipering", "tuned:6")
    won = sum(gain >= 0.95 for gain in found.values())
    return f"{won} of {len(found)} not slower than binomial by 5%"


def worringer_reduce_half(bench):
    reduce_rows = select(_folds(bench, "reduce"), arm="tuned:5", total=4 * MIB)
    bcast_rows = select(_folds(bench, "bcast"), arm="tuned:6", total=4 * MIB)
    return span([bandwidth(reduce_rows, p=p) / bandwidth(bcast_rows, p=p)
                 for p in values(reduce_rows, "p")])


def _peak_and_mean(found):
    gain = list(found.values())
    return f"peak {number(max(gain))}, mean {number(sum(gain) / len(gain))}"


def worringer_reduce(bench):
    return _peak_and_mean(faster(_folds(bench, "reduce"), "pipering", "tuned:5", sizes=LARGE))


def worringer_reduce_default(bench):
    return _peak_and_mean(faster(_folds(bench, "reduce"), "pipering", "stock", sizes=LARGE))


def worringer_scan_below(bench):
    scans = select(_folds(bench, "scan"), arm="pipering")
    reductions = select(_folds(bench, "reduce"), arm="pipering")
    below = [1 - bandwidth(scans, p=row["p"], total=row["total"]) * row["min_s"] / row["total"]
             for row in reductions if row["total"] in (262144.0, MIB, 4 * MIB) and row["p"] > 2]
    return span(below, share)


def worringer_scan(bench):
    return times(faster(_folds(bench, "scan"), "pipering", "stock", (8.0,))[8.0, 655360.0])


def worringer_identity(bench):
    off = []
    for p in range(2, 9):
        parts, whole = bench.rows(f"worringer-parts-{p}"), bench.rows(f"worringer-serial-{p}")
        for row in whole:
            both = sum(least(parts, coll=coll, total=row["total"]) for coll in ("reduce", "bcast"))
            off.append(abs(row["min_s"] / both - 1))
    return share(max(off))


def _against_rabenseifner(bench, ranks, sizes):
    rows = _folds(bench, "allreduce")
    return {arm: faster(rows, arm, "tuned:6", ranks, sizes) for arm in ("serial", "pipering")}


def worringer_off_powers(bench):
    return "; ".join(f"{arm}: {span(found.values())} times" for arm, found in
                     _against_rabenseifner(bench, OTHERS, LARGE).items())


def worringer_on_powers(bench):
    return "; ".join(f"{arm}: {span(found.values())} times" for arm, found in
                     _against_rabenseifner(bench, POWERS_OF_TWO, (262145, 1e12)).items())


def worringer_on_powers_small(bench):
    return "; ".join(f"{arm}: {span([1 / gain for gain in found.values()])} times" for arm, found in
                     _against_rabenseifner(bench, POWERS_OF_TWO, (0, 262144)).items())


def worringer_rabenseifner(bench):
    rows = _folds(bench, "allreduce")
    parts = [faster(rows, "tuned:6", "tuned:2", ranks, LARGE).values()
             for ranks in (POWERS_OF_TWO, OTHERS)]
    return "; ".join(f"{span(part)} times" for part in parts)


def worringer_best_block(bench):
    points = bench.points("fig5-blocks")
    best = [max((rate, block) for name, block, rate in points if name == f"P = {p}")[1]
            for p in (8, 256)]
    return " and ".join(f"{number(block / 1024, 2)} KiB" for block in best)


def worringer_flow(bench):
    rate = {name: rate for name, block, rate in bench.points("fig5-flow") if block == 8192}
    return share(1 - rate["t_fc x 4"] / rate["t_fc x 1"])


def worringer_switch(bench):
    parts = []
    for ranks in (8, 64):
        rates = {name: rate for name, p, rate in bench.points("fig5-ranks") if p == ranks}
        won = [float(name.split()[0]) for name, rate in rates.items()
               if name != "tree" and rate > rates["tree"]]
        parts.append(f"P = {ranks}: {number(min(won))} KiB" if won else f"P = {ranks}: none shown")
    return ", ".join(parts)


# ---- Kandalla


def _saved(bench, file, arm, other, sizes):
    """Parts of another arm's time that an arm saves, by size."""
    rows = drawings.batched(bench.rows(file))
    return [1 - median(rows, arm=arm, total=total) / median(rows, arm=other, total=total)
            for total in values(rows, "total") if sizes[0] <= total <= sizes[1]]


def kandalla_small(bench):
    return span(_saved(bench, "leaders-small", "mleader", "tuned", (8, 512)), share)


def kandalla_4k(bench):
    return span(_saved(bench, "leaders-small", "mleader", "tuned", (4096, 4096)), share)


def _over(rows, total, arms, others):
    """Least time of some arms over the least of others."""
    def best(names):
        return min(median(rows, total=total, arm=name) for name in names)
    return best(arms) / best(others)


def _messages(count):
    """Arms of so many leaders in the section of large contributions."""
    return [drawings.leader(count, f":aggregation=gather:exchange={how}")
            for how in ("recursive_doubling", "ring")]


def _at_sizes(rows, arms, others):
    return ", ".join(f"{size(total)}: {number(_over(rows, total, arms, others))}"
                     for total in values(rows, "total")) + " times the time"


def kandalla_large(bench):
    rows = bench.rows("leaders-messages")
    return _at_sizes(rows, _messages(2) + _messages(4), ["tuned"])


def kandalla_single_large(bench):
    return _at_sizes(bench.rows("leaders-messages"), _messages(1), ["tuned"])


def kandalla_several_large(bench):
    rows = bench.rows("leaders-messages")
    return "best of 2 and 4 over 1: " + _at_sizes(rows, _messages(2) + _messages(4), _messages(1))


def kandalla_tiny(bench):
    rows = drawings.batched(bench.rows("leaders-single"))
    arm = drawings.leader(1, ":aggregation=shm:exchange=recursive_doubling")
    return f"8 bytes: {number(_over(rows, 8.0, [arm], ['tuned']))} times the time"


def _groups(rows, counts):
    """Arms of the file with so many leaders a node."""
    return [arm for arm in values(rows, "arm")
            if any(f":groups={count}:" in arm for count in counts)]


def kandalla_several(bench):
    rows = drawings.batched(bench.rows("leaders-leaders"))
    return "best of 2 and 4 over best of 1: " + _at_sizes(rows, _groups(rows, (2, 4)),
                                                         _groups(rows, (1,)))


def kandalla_eight(bench):
    rows = drawings.batched(bench.rows("leaders-sixteen"))
    def all_with_all(count):
        return [arm for arm in _groups(rows, (count,)) if arm.endswith(":scope=all")]
    parts = [span([_over(rows, total, all_with_all(count), all_with_all(4))
                   for total in values(rows, "total")]) for count in (8, 16)]
    return f"{parts[0]} times and {parts[1]} times the time"


def kandalla_placement(bench):
    rows = drawings.batched(bench.rows("leaders-leaders"))
    ratios = [_over(rows, total, *([drawings.leader(count, f":placement={how}:aggregation=shm")]
                                   for how in ("packed", "spread")))
              for count in (2, 4) for total in values(rows, "total")]
    return f"{span(ratios)} times the time"


def kandalla_table(bench):
    rows = bench.rows("leaders-messages")
    lost = [total for total in values(rows, "total")
            if _over(rows, total, _messages(1) + _messages(2) + _messages(4), ["tuned", "stock"]) > 1]
    return f"by messages, leaders lose from {size(min(lost))} on" if lost else \
        "leaders win at all sizes measured"


# ---- Balaji


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


def balaji_outlier(bench):
    saved = []
    for place in ("8x8", "16x4"):
        rows = bench.rows(f"balaji-sizes-{place}")
        total = 32768.0 + 8 * 63
        saved.append(1 - median(rows, arm="pipering", total=total)
                     / median(rows, arm="linear", total=total))
    return span(saved, share)


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


def _most_ranks(bench, app):
    return 128 if bench.has(f"applications-{app}-128.tsv") else 32


def balaji_scatter(bench):
    return span([1 - x for x in _application(bench, "scatter", 128, "baseline")], share)


def balaji_scatter_32(bench):
    return span([1 - x for x in _application(bench, "scatter", 32, "baseline")], share)


def _hand(bench, app):
    ranks = _most_ranks(bench, app)
    return f"{span(_application(bench, app, ranks, 'handall'))} times with {ranks} ranks"


def balaji_scatter_hand(bench):
    return _hand(bench, "scatter")


def balaji_laplacian(bench):
    return span([1 - x for x in _application(bench, "laplacian", 128, "baseline")], share)


def balaji_laplacian_hand(bench):
    return _hand(bench, "laplacian")


VALUES = {name: value for name, value in globals().items()
          if name.split("_")[0] in ("traff", "worringer", "kandalla", "balaji", "almasi")}
