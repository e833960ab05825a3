# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""report.txt: what results.json says, as tables, the verdict first."""

import math
from statistics import median

from . import charts, sentences, stats
from .race import LEAST_GAIN


def table(title, rows, head=()):
    """Lines with rows of values below a title; none without rows."""
    if not rows:
        return []
    texts = [[str(cell) for cell in row] for row in [*([head] if head else []), *rows]]
    widths = [max(map(len, column)) for column in zip(*texts)]
    return ["", f"{title}:"] + ["  " + "  ".join(
        cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in texts]


def _blocks(call):
    """The samples of each job."""
    found, at = [], 0
    for count in call["jobs"]:
        found.append(call["seconds"][at:at + count])
        at += count
    return found


def changed(interval):
    """faster, slower, or same: as far as can be told from the noise, by the proof's rule."""
    if abs(interval.middle - 1) < LEAST_GAIN:
        return "same"
    return "faster" if interval.high < 1 else "slower" if interval.low > 1 else "same"


def _place(call):
    """What a call is, without how it was run."""
    return tuple(call[key] for key in ("collective", "distribution", "type", "part", "p", "ppn",
                                       "total"))


def changes(results):
    """[(before, after, Interval of new time by old)] of calls that were run before and after, by
    kind and size."""
    before = {_place(call): call for call in results["calls"] if "before" == call["phase"]}
    after = [call for call in sorted(results["calls"], key=_place)
             if "after" == call["phase"] and _place(call) in before]
    return [(before[_place(call)], call,
             stats.ratio_of_jobs([(_blocks(before[_place(call)]), _blocks(call))]))
            for call in after]


def _change(before, after, interval):
    """A row: all that makes the call's time, and its times."""
    ends = f"{interval.low:.3g} to {interval.high:.3g}" if math.isfinite(interval.high) else "-"
    kind = "" if "auto" == after["type"] else f":{after['type']}"
    return [f"{after['collective']}:{after['distribution']}{kind}", after["p"],
            after["nodes"], after["ppn"], charts.size(after["total"]),
            charts.percent(after["largest_over_total"]), after["contributors"],
            *(charts.seconds(median(one["seconds"])) for one in (before, after)),
            charts.number(interval.middle), ends, changed(interval)]


def _choice(choice):
    """A row of what was chosen, or kept, and why."""
    return [choice["variable"], choice["default"] or "-", choice["chosen"] or "-",
            *(charts.percent(part, 2) for part in (choice["gain"], *choice["interval"])),
            choice["reason"]]


def _fact(value):
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else value


def make(results):
    """The text of the report."""
    choices = sorted(results["choices"],
                     key=lambda choice: str(choice["chosen"]) == str(choice["default"]))
    facts = {**results["machine"], **results["costs"]}
    return "\n".join([
        *sentences.of_verdict(results["verdict"], None), *results["use"],
        *table("What was chosen, and why; gain: the part of the time that is saved",
               list(map(_choice, choices)),
               ["variable", "before", "chosen", "gain", "from", "to", "reason"]),
        *table("Rules for coll/tuned", [[rule] for rule in results["rules"]]),
        *table("Calls that had no part in the choosing, before and after: medians",
               [_change(*change) for change in changes(results)],
               ["call", "ranks", "nodes", "a node", "bytes", "largest", "from", "before", "after",
                "ratio", "95% interval", ""]),
        *table("What gave no time", [[one["cell"], one["status"], one["note"]]
                                     for one in results["failures"]]),
        *table("Machine", [[name, _fact(value)] for name, value in facts.items()]), ""])
