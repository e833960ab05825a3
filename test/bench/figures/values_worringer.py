# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Our values of the claims of Worringer's paper.

A function has the name of its claim with _ for -, takes a Bench and returns the words of the
table; it raises Missing where a file or a row has not been measured.
"""

import drawings
from measured import least, one, select, some, values
from pipering_tuning.charts import number
from words import MIB, share, span, times

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


def _bcast_of_4m(bench, ranks):
    row = {"p": ranks, "total": 4 * MIB}
    rows = _folds(bench, "bcast")
    return times(least(rows, arm="tuned:6", **row) / least(rows, arm="pipering", **row))


def worringer_two(bench):
    return _bcast_of_4m(bench, 2.0)


def worringer_bcast(bench):
    return _bcast_of_4m(bench, 8.0)


def worringer_bcast_gain(bench):
    found = faster(_folds(bench, "bcast"), "pipering", "tuned:6", range(3, 9), LARGE)
    return f"{span(found.values())} times"


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


def worringer_reduce_below(bench):
    parts = []
    for total in (MIB, 4 * MIB):
        reductions, bcasts = (select(_folds(bench, call), arm="pipering", total=total)
                              for call in ("reduce", "bcast"))
        parts.append(span([bandwidth(reductions, p=row["p"]) / bandwidth(bcasts, p=row["p"])
                           for row in reductions]))
    return "; ".join(parts)


def _peak_and_mean(found):
    gain = some(found.values())
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
    return share(max(some(off)))


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


def _model(bench, chart):
    return select(bench.rows("fig5-model"), chart=chart)


def worringer_best_block(bench):
    best = [max((row["mb_s"], row["x"]) for row in some(_model(bench, "blocks"))
                if row["series"] == f"P = {p}")[1] for p in (8, 256)]
    return " and ".join(f"{number(block / 1024, 2)} KiB" for block in best)


def worringer_flow(bench):
    rate = {row["series"]: row["mb_s"] for row in _model(bench, "flow") if row["x"] == 8192}
    return share(1 - rate["t_fc x 4"] / rate["t_fc x 1"])


def worringer_switch(bench):
    parts = []
    for ranks in (8, 64):
        rates = {row["series"]: row["mb_s"] for row in _model(bench, "ranks")
                 if row["x"] == ranks}
        won = [float(name.split()[0]) for name, rate in rates.items()
               if name != "tree" and rate > rates["tree"]]
        parts.append(f"P = {ranks}: {number(min(won))} KiB" if won else f"P = {ranks}: none shown")
    return ", ".join(parts)
