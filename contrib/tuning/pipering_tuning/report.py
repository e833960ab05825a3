# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""report.html: what results.json says, as one plain page of tables, the verdict first. It has no
scripts and loads nothing."""

import math
from html import escape
from statistics import median

from . import charts, files, stats
from .race import LEAST_GAIN

STYLE = """body{font-family:sans-serif;margin:2em auto;max-width:75em;padding:0 1em}
table{border-collapse:collapse;margin:.5em 0 1.5em}
th,td{border:1px solid #bbb;padding:3px 8px;text-align:left;vertical-align:top}"""

# Of a comparison of two files, which says nothing about using either.
COMPARED = {"agree": "The two files agree", "differ": "The two files differ",
            "unknown": "The two files cannot be told apart"}

# What of the machine is shown, and how it is called.
FACTS = {"release": "Open MPI", "library": "library", "hosts": "hosts", "nodes": "nodes",
         "ppn": "ranks a node", "ranks": "ranks", "mapping": "mapping", "pml": "pml",
         "processors": "processors a node", "processor": "processor",
         "oversubscribed": "oversubscribed", "spinning": "ranks spin while they wait",
         "load": "load before the run", "frequency": "processor frequency", "when": "when",
         "command": "command", "warnings": "warnings"}


# ---- HTML


def _tag(name, content):
    return f"<{name}>{content}</{name}>"


def _paragraph(words):
    return _tag("p", escape(words))


def _list(title, lines):
    """Lines below a title; nothing without lines."""
    items = "".join(_tag("li", escape(line)) for line in lines)
    return _paragraph(title) + _tag("ul", items) if lines else ""


def _table(title, rows, head=(), words=""):
    """Rows of texts below a title; nothing without rows."""
    if not rows:
        return ""
    top = _tag("tr", "".join(_tag("th", escape(name)) for name in head)) if head else ""
    body = "".join(_tag("tr", "".join(_tag("td", escape(str(cell))) for cell in row))
                   for row in rows)
    return _tag("h2", title) + (_paragraph(words) if words else "") + _tag("table", top + body)


# ---- calls before and after


class Change:
    """A held-out call before and after: ratio of its times, and its interval; low and high are
    None if one pair of jobs is all there is."""

    def __init__(self, before, after):
        self.before, self.after = before, after
        found = stats.ratio_of_jobs([(_blocks(before), _blocks(after))])
        known = math.isfinite(found.high)
        self.ratio, self.low, self.high = (found if known else (found.middle, None, None))

    def kind(self):
        """faster, slower, or same: as far as can be told from the noise, by the proof's rule."""
        if self.low is None or abs(self.ratio - 1) < LEAST_GAIN:
            return "same"
        return "faster" if self.high < 1 else "slower" if self.low > 1 else "same"

    def row(self):
        """All that makes the call's time, and its times."""
        call = self.after
        interval = "-" if self.low is None else \
            f"{charts.number(self.low)} to {charts.number(self.high)}"
        return [_name(call), call["p"], call["nodes"], call["ppn"], charts.size(call["total"]),
                charts.percent(call["largest_over_total"]), call["contributors"] or "-",
                *(charts.seconds(median(one["seconds"])) for one in (self.before, call)),
                charts.number(self.ratio), interval, self.kind()]


def _blocks(call):
    """The samples of each job."""
    found, at = [], 0
    for count in call.get("jobs") or [len(call["seconds"])]:
        found.append(call["seconds"][at:at + count])
        at += count
    return found


def _name(call):
    """allgatherv, spike; without the distribution where a collective has one alone, and without
    the usual type."""
    words = [call["collective"]]
    words += [call["distribution"]] if call["collective"] in ("allgatherv", "alltoallv",
                                                              "alltoallw") else []
    return ", ".join(words + ([call["type"]] if call.get("type", "auto") != "auto" else []))


def _place(call):
    """What a call is, without how it was run."""
    return (call["collective"], call["distribution"], call.get("type", "auto"),
            call.get("part", "all"), call["p"], call["ppn"], call["total"])


def changes(results):
    """A Change for each call that was run before and after, calls of a kind by their sizes."""
    calls = [call for call in results["calls"] if call["seconds"]]
    before = {_place(call): call for call in calls if "before" == call["phase"]}
    return [Change(before[_place(call)], call) for call in sorted(calls, key=_place)
            if "after" == call["phase"] and _place(call) in before]


def _changes(results, compared):
    """The table of these."""
    arms = "the other file and with this one" if compared else \
        "what is in force and with the file"
    ends = ("other file", "this file") if compared else ("before", "after")
    return _table(
        "One file and the other" if compared else "Before and after",
        [change.row() for change in changes(results)],
        ["call", "ranks", "nodes", "a node", "bytes", "largest", "contributors", *ends, "ratio",
         "95% interval", ""],
        f"Calls that had no part in the choosing, run with {arms} in turns: medians, and the ratio "
        "of times. same: not told from noise.")


# ---- the verdict, choices, the machine


def _state(results, compared):
    """What to do, in few words."""
    verdict = results["verdict"]
    if compared:
        return COMPARED[compared]
    if verdict["help"]:
        return "Use this file"
    return "Do not use this file" if verdict["hurt"] or verdict.get("broken") else \
        "Keep what is in force"


def _verdict(verdict, compared):
    """What the file makes worse, how much of that may be unseen, and what was left out."""
    other = "right with the other one" if compared else "right without it"
    lists = (("hurt", "Slower beyond noise:"),
             ("broken", f"Not right with the file, and {other}:"),
             ("better", "Faster with this file, or right with it alone:"),
             ("doubts", "Failed once, and not again:"),
             ("left_out", "Not proven, since the time did not allow it:"))
    limit = verdict.get("limit")
    return "".join(_list(title, verdict.get(key, ())) for key, title in lists) \
        + (_paragraph(limit) if limit else "")


def _choice(choice):
    """A row of what was chosen, or kept, and why."""
    ends = choice.get("interval")
    return [choice["variable"], choice["default"], choice["chosen"],
            "-" if choice.get("gain") is None else charts.percent(choice["gain"], 2),
            " to ".join(charts.percent(end, 2) for end in ends) if ends else "-",
            choice["reason"]]


def _fact(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, dict.fromkeys(value))) if isinstance(value, list) else value


def make(results):
    """The HTML of the report."""
    verdict, machine = results["verdict"], results["machine"]
    compared = verdict.get("compared") or ""
    choices = sorted(results["choices"],
                     key=lambda choice: str(choice["chosen"]) == str(choice["default"]))
    body = (_paragraph(_state(results, compared)) + _tag("h1", escape(verdict["sentence"]))
            + _verdict(verdict, compared)
            + _table("How to use it", list(results.get("files", {}).items()))
            + _table("What was chosen, and why", [_choice(choice) for choice in choices],
                     ["variable", "before", "chosen", "gain", "95% interval", "reason"],
                     "Gain: the part of the time that is saved.")
            + _list("Rules for coll/tuned:", results.get("rules", ()))
            + _changes(results, compared)
            + _table("Machine", [[name, _fact(machine[key])] for key, name in FACTS.items()
                                 if machine.get(key) not in (None, [])])
            + _table("Costs of links and processors", list(results.get("costs", {}).items()))
            + _table("What gave no time", [[one["cell"], one["status"], one["note"]]
                                           for one in results["failures"]],
                     ["measurement", "status", "why"]))
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>pipering-tune: report</title><style>{STYLE}</style></head>\n"
            f"<body>{body}</body></html>\n")


def write(results, path):
    """Writes the report; Refusal if that cannot be done."""
    files.write(path, make(results))
