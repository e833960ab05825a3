# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What the results of a tuning run look like: charts (charts.py) of results.json.

Arms that are known by name keep their tone in all charts. Intervals around a time are the middle
half of its samples, those around a ratio of two times are of 95%, by the statistics of the proof.
"""

import math
import statistics

from . import charts, stats
from .calls import ALL, HALF, HEADS
from .charts import Axis, Bar, BarChart, Cell, LineChart, MapChart, Point, Series
from .race import LEAST_GAIN

PLAIN = "auto"
PARTS = {ALL: "all", HALF: "half of them", HEADS: "one a node"}
TONES = {"default": 0, "tuned": 1, "stock": 2}
SIZE = Axis("bytes in all", "bytes", 2)


# ---- samples


def typical(call):
    """The median of a call's samples."""
    return statistics.median(call["seconds"])


def middle_half(samples):
    """(first, third quartile) of the samples; both None if there are too few."""
    if len(samples) < 4:
        return None, None
    low, _, high = statistics.quantiles(samples, n=4)
    return low, high


def blocks(call):
    """The samples of each job."""
    found, at = [], 0
    for count in call.get("jobs") or [len(call["seconds"])]:
        found.append(call["seconds"][at:at + count])
        at += count
    return found


def kind_of(call):
    """(collective, distribution, type): what has a chart of its own."""
    return call["collective"], call["distribution"], call.get("type") or PLAIN


def part_of(call):
    """Which of the ranks make a call."""
    return call.get("part") or ALL


def place(call):
    """What a call is, without how it was run."""
    return kind_of(call) + (part_of(call), call["p"], call["ppn"], call["total"])


def measured(results, *arms):
    """Calls with samples, of these arms if any are given."""
    return [c for c in results.get("calls", [])
            if c.get("seconds") and (not arms or c["arm"] in arms)]


def kinds(calls):
    """The kinds of calls, each once, in their order."""
    return list(dict.fromkeys(kind_of(c) for c in calls))


def name_of(kind):
    """allgatherv, spike; without the distribution where there is only one to be had, and without
    the type if it is the usual one."""
    collective, distribution, datatype = kind
    words = [collective]
    words += [distribution] if collective in ("allgatherv", "alltoallv", "alltoallw") else []
    return ", ".join(words + ([datatype] if datatype != PLAIN else []))


# ---- before and after


class Change:
    """A held-out call before and after: ratio of its times, and its interval; low and high are
    None if one pair of jobs is all there is."""

    def __init__(self, before, after):
        self.before, self.after = before, after
        found = stats.ratio_of_jobs([(blocks(before), blocks(after))])
        known = math.isfinite(found.high)
        self.ratio, self.low, self.high = (found if known else (found.middle, None, None))

    def kind(self):
        """faster, slower, or same: as far as can be told from the noise, by the proof's rule."""
        if self.low is None or abs(self.ratio - 1) < LEAST_GAIN:
            return "same"
        return "faster" if self.high < 1 else "slower" if self.low > 1 else "same"


def changes(results):
    """A Change for each call that was run before and after, calls of a kind by their sizes."""
    before = {place(c): c for c in measured(results) if c["phase"] == "before"
              and c["arm"] == "default"}
    return [Change(before[place(c)], c) for c in sorted(measured(results), key=place)
            if c["phase"] == "after" and place(c) in before]


def geometric_mean(ratios):
    return math.exp(statistics.fmean(math.log(r) for r in ratios))


CHANGE_TONES = {"faster": 3, "same": 0, "slower": 2}


def change_charts(found):
    """A chart for each kind of call with a row for each size, or for each collective where kinds
    have few sizes; all on one scale."""
    panels = []
    ends = [end for c in found for end in (c.ratio, c.low, c.high) if end] + [1.0]
    axis = Axis("time after / time before", "ratio", 10, min(ends), max(ends))
    title = name_of if len(found) > 2 * len(kinds([c.after for c in found])) else _collective
    for name in dict.fromkeys(title(kind_of(c.after)) for c in found):
        own = [c for c in found if title(kind_of(c.after)) == name]
        bars = [Bar(_row_name(c, own), c.ratio, c.low, c.high, CHANGE_TONES[c.kind()],
                    _change_note(c)) for c in own]
        panels.append(BarChart(name, bars, axis, (1.0, "")))
    return panels


def _collective(kind):
    return kind[0]


def _row_name(change, others):
    """The size of a call, and what else tells it from the others of its chart."""
    def differ(value):
        return len({value(other.after) for other in others}) > 1
    call, words = change.after, []
    if differ(kind_of):
        words += [word for word in kind_of(call)[1:] if word != PLAIN]
    if differ(part_of) or differ(lambda c: (c["p"], c["ppn"])):
        words.append(f"{call['p']} ranks" + (" (one a node)" if HEADS == part_of(call) else ""))
    return " ".join(words + [charts.size(call["total"])])


def _change_note(change):
    text = f"{charts.seconds(typical(change.before))} before, " \
           f"{charts.seconds(typical(change.after))} after: {charts.number(change.ratio)} times"
    if change.low is None:
        return text
    return f"{text} ({charts.number(change.low)} to {charts.number(change.high)})"


# ---- time and part of the limit over the size


def _points(calls, value):
    """value: a call's samples to (y, low, high)."""
    return [Point(c["total"], *value(c)) for c in sorted(calls, key=lambda c: c["total"])]


def _time(call):
    return (typical(call), *middle_half(call["seconds"]))


def _fraction(call):
    low, high = middle_half(call["seconds"])
    return (call["limit"] / typical(call), low and call["limit"] / high,
            low and call["limit"] / low)


def by_name(results):
    """Calls of the arms that are known by name, one for each place and arm: what the proof has
    measured goes before what races have."""
    found = {}
    for call in sorted(measured(results, *TONES), key=lambda c: c["phase"] == "race"):
        found.setdefault((place(call), call["arm"]), call)
    return list(found.values())


def largest_place(calls):
    """Those of the most ranks: one chart shows calls of one communicator."""
    most = max((c["p"], c["ppn"]) for c in calls)
    return [c for c in calls if (c["p"], c["ppn"]) == most]


def size_charts(results):
    """[time, part of the wire limit] for each kind of call that has several sizes."""
    calls = by_name(results)
    stacks = []
    for kind in kinds(calls):
        own = largest_place([c for c in calls if kind_of(c) == kind])
        if len({c["total"] for c in own}) > 1:
            stacks.append([chart for chart in (_time_chart(kind, own), _limit_chart(kind, own))
                           if chart.series])
    return stacks


def _by_arm(calls, value):
    return [Series(arm, _points([c for c in calls if c["arm"] == arm], value), tone)
            for arm, tone in TONES.items() if any(c["arm"] == arm for c in calls)]


def _time_chart(kind, calls):
    where = f"{calls[0]['p']} ranks"
    return LineChart(f"{name_of(kind)}: time, {where}", _by_arm(calls, _time), SIZE,
                     Axis("time of the slowest rank", "seconds", 10))


def _limit_chart(kind, calls):
    calls = [c for c in calls if c.get("limit")]
    return LineChart(f"{name_of(kind)}: part of the wire limit", _by_arm(calls, _fraction), SIZE,
                     Axis("least possible time / time", "percent", 0, 0.0, 1.0),
                     (1.0, "the wire's limit"))


# ---- block sizes


def block_charts(results):
    """The block size that the model takes beside the best of those tried, by size of the call."""
    panels = []
    calls = [c for c in measured(results) if c.get("block") and c.get("arm") != "stock"]
    for kind in kinds(calls):
        own = largest_place([c for c in calls if kind_of(c) == kind])
        tried = [best_block(own, total) for total in sorted({c["total"] for c in own})]
        tried = [point for point in tried if point]
        if tried:
            lines = [_model_blocks(own, arm, name)
                     for arm, name in (("default", "chosen by default"), ("tuned", "chosen tuned"))]
            best = Series("best of those tried, bar: within 5%", tried, 3, line=False)
            panels.append(LineChart(name_of(kind), [s for s in lines if s.points] + [best], SIZE,
                                    Axis("block size", "bytes", 2)))
    return panels


def best_block(calls, total):
    """The block size of least time among all that were tried for a size of the call, and the range
    of those that take at most 5% longer; None if fewer than three were tried."""
    times = {}
    for call in calls:
        if call["total"] == total:
            times.setdefault(call["block"], []).append(typical(call))
    if len(times) < 3:
        return None
    least = {block: min(found) for block, found in times.items()}
    best = min(least, key=least.get)
    good = [block for block in least if least[block] <= 1.05 * least[best]]
    return Point(total, best, min(good), max(good), charts.seconds(least[best]))


def _model_blocks(calls, arm, name):
    points = {c["total"]: Point(c["total"], c["block"]) for c in calls if c["arm"] == arm}
    return Series(name, [points[t] for t in sorted(points)], TONES[arm],
                  dashed=arm == "default")


# ---- the model


def fit_charts(results):
    """[measured times with the fitted pieces, what the fit leaves] for each fit."""
    stacks = []
    for fit in results.get("fits", []):
        tasks = [t for t in results.get("tasks", []) if t.get("seconds")
                 and all(t.get(key) == fit.get(key)
                         for key in ("task", "scope", "direction", "type"))]
        if tasks and fit.get("pieces"):
            stacks.append([_fit_chart(fit, tasks), _residual_chart(fit, tasks)])
    return stacks


SCOPES = {"inter": "between nodes", "intra": "inside a node", "rank": "in each rank"}
DIRECTIONS = {"one": "one way", "both": "both ways", "all": "all links busy"}


def fit_name(fit):
    """stream between nodes, all links busy; combine of double in each rank"""
    name = f"{fit['task']} of {fit['type']}" if fit.get("type") else fit["task"]
    name = f"{name} {SCOPES.get(fit['scope'], fit['scope'])}"
    return name if fit["scope"] == "rank" else \
        f"{name}, {DIRECTIONS.get(fit['direction'], fit['direction'])}"


def piece_of(fit, size):
    """The piece that serves the size: the one that it lies in, or the nearest."""
    for piece in fit["pieces"]:
        if size <= piece["to"]:
            return piece
    return fit["pieces"][-1]


def fitted(fit, size):
    piece = piece_of(fit, size)
    return piece["alpha"] + piece["beta"] * size


def _piece_points(piece, low):
    """Enough of them that a straight line is a curve on logarithmic axes."""
    first, last = max(piece["from"], low), piece["to"]
    if last <= first:
        return []
    steps = max(2, int(4 * math.log2(max(2.0, last / first))))
    sizes = [first * (last / first) ** (i / steps) for i in range(steps + 1)]
    return [Point(s, piece["alpha"] + piece["beta"] * s) for s in sizes]


def _fit_chart(fit, tasks):
    tasks = sorted(tasks, key=lambda t: t["bytes"])
    low = min((t["bytes"] for t in tasks if t["bytes"] > 0), default=1)
    lines = [Series("", _piece_points(piece, low), marks=False) for piece in fit["pieces"]]
    lines[0].name = "fitted" if len(lines) == 1 else f"fitted, {len(lines)} pieces"
    points = [Point(t["bytes"], statistics.median(t["seconds"]), *middle_half(t["seconds"]))
              for t in tasks]
    return LineChart(fit_name(fit), lines + [Series("measured", points, 2, line=False)],
                     Axis("bytes of a message", "bytes", 2), Axis("time", "seconds", 10))


def _residual_chart(fit, tasks):
    """A size for which the fit has no time has no residual: where those of small messages are
    unsteady, a line may have it that a message costs nothing besides its bytes."""
    points = []
    for task in sorted(tasks, key=lambda t: t["bytes"]):
        model = fitted(fit, task["bytes"])
        if model <= 0:
            continue
        low, high = middle_half(task["seconds"])
        points.append(Point(task["bytes"], statistics.median(task["seconds"]) / model - 1,
                            low and low / model - 1, high and high / model - 1))
    return LineChart("what the fit leaves", [Series("residual", points, 2, line=False)],
                     Axis("bytes of a message", "bytes", 2),
                     Axis("measured / fitted - 1", "percent"), (0.0, ""))


def predicted_chart(results):
    """How far calls are from the model, over their size; empty if none was predicted."""
    calls = [c for c in measured(results) if c.get("predicted")]
    series = []
    for tone, coll in enumerate(dict.fromkeys(c["collective"] for c in calls)):
        points = [Point(c["total"], typical(c) / c["predicted"],
                        note=f"{c['distribution']}, {c['arm']}")
                  for c in calls if c["collective"] == coll]
        series.append(Series(coll, points, tone + 1, line=False))
    return [LineChart("time of calls over the predicted time", series, SIZE,
                      Axis("measured / predicted", "ratio", 10), (1.0, ""))] if series else []


# ---- the map of algorithms


def algorithm_maps(results):
    """For each collective, which algorithm serves which size and skew after tuning; a dot where
    it was not the fastest of those measured."""
    panels = []
    calls = [c for c in measured(results) if c["arm"] != "stock" and c.get("algorithm") is not None]
    names = sorted({served_by(c) for c in calls} - {"below"})
    tones = {"below": 0, **{name: i + 1 for i, name in enumerate(names)}}
    for coll in dict.fromkeys(c["collective"] for c in calls):
        own = largest_place([c for c in calls if c["collective"] == coll])
        chart = _algorithm_map(coll, own, tones)
        if len(chart.cells) > 1:
            panels.append(chart)
    return panels


def served_by(call):
    return call["algorithm"] or "below"


def _algorithm_map(coll, calls, tones):
    totals = sorted({c["total"] for c in calls})
    skews = sorted({round(c["largest_over_total"], 3) for c in calls}, reverse=True)
    cells, marked = {}, False
    for i, total in enumerate(totals):
        for j, skew in enumerate(skews):
            here = [c for c in calls if c["total"] == total
                    and round(c["largest_over_total"], 3) == skew]
            if here:
                cells[i, j] = _map_cell(here)
                marked = marked or cells[i, j].marked
    return MapChart(f"{coll}, {calls[0]['p']} ranks", [charts.size(t, 2) for t in totals],
                    [charts.percent(s) for s in skews], cells, "bytes in all",
                    "part of the largest contribution", tones,
                    "another one was faster" if marked else "")


def _map_cell(calls):
    """Of the calls of one size and skew: the algorithm of the tuned ones, else of the default."""
    order = {"tuned": 0, "default": 1}
    used = min(calls, key=lambda c: (order.get(c["arm"], 2), typical(c)))
    fastest = min(calls, key=typical)
    slower = served_by(fastest) != served_by(used) and typical(fastest) < 0.95 * typical(used)
    note = f"{used['distribution']}: {served_by(used)}, {charts.seconds(typical(used))}"
    if slower:
        note += f"; {served_by(fastest)}: {charts.seconds(typical(fastest))}"
    return Cell(served_by(used), note=note, marked=slower)


# ---- regret


def regret_charts(results):
    """How much longer than the best found a call takes with the defaults and with the file."""
    found = [r for r in results.get("regret", []) if "default" in r and "tuned" in r]
    ends = [r[arm] for r in found for arm in ("default", "tuned")] + [0.0]
    axis = Axis("longer than the best found", "percent", 0, min(ends), 1.05 * max(ends))
    panels = []
    for kind, part in dict.fromkeys((kind_of(r), part_of(r)) for r in found):
        own = sorted((r for r in found if (kind_of(r), part_of(r)) == (kind, part)),
                     key=lambda r: r["total"])
        lines = [Series(arm, [Point(r["total"], r[arm], note=f"best: {r.get('best_arm', '?')}")
                              for r in own], TONES[arm])
                 for arm in ("default", "tuned")]
        where = "" if ALL == part else f", ranks: {PARTS[part]}"
        panels.append(LineChart(name_of(kind) + where, lines, SIZE, axis))
    return panels


# ---- all of them


def all_charts(results):
    """{part of the report: its charts}"""
    def flat(stacks):
        return [chart for stack in stacks for chart in stack]
    return {
        "changes": change_charts(changes(results)),
        "sizes": flat(size_charts(results)),
        "blocks": block_charts(results),
        "model": flat(fit_charts(results)) + predicted_chart(results),
        "map": algorithm_maps(results),
        "regret": regret_charts(results),
    }
