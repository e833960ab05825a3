# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Tables and verdicts of almasi, from TSV files of fold, agv and swaps."""

import re

from measured import values
from tables import at_least, main, problems, size


def by_size(rows):
    return list(problems(rows, "what", "total").values())


def short(arm):
    """tuned:3:seg=8192 -> t3/8192"""
    return arm.replace("tuned:", "t").replace(":seg=", "/")


def show(rows, unit, figure):
    """A table of a figure for each problem and arm; those of wrong results are marked."""
    arms = values(rows, "arm")
    print(f"{unit:10} {'bytes':>7}" + "".join(f" {short(arm)[:11]:>11}" for arm in arms))
    for problem in by_size(rows):
        line = f"{problem['what'][:10]:10} {size(problem['total']):>7}"
        for arm in arms:
            value = figure(problem, arm) if arm in problem.arms else None
            line += f" {'-':>11}" if value is None else (
                f" {value:10.{3 if value < 10 else 1}f}" + (" " if problem.right(arm) else "!"))
        print(line)


def best_rival(problem):
    """The fastest arm that is right and whose plan is not for a mesh."""
    return min((arm for arm in problem.arms if problem.right(arm)
                and not re.match("pipering|auto|permuted|mesh_", arm)), key=problem.get)


def links(rows, rate, what, **aims):
    """Bytes per second as links of `rate`; the largest vectors are judged: aim, the part of so many
    links; times, how much faster than the arm `over` or the best rival."""
    over = aims.get("over")
    show(rows, "links", lambda problem, arm: problem["total"] / float(rate) / problem.get(arm))
    largest = max(row["total"] for row in rows)
    for problem in (problem for problem in by_size(rows) if problem["total"] == largest):
        text = f"{what}, {problem['what'] + ', ' if over else ''}{size(largest)}"
        if aims.get("aim"):
            at_least(f"{text}: part of {aims['links']} links",
                     largest / float(rate) / problem.get("pipering") / float(aims["links"]),
                     aims["aim"])
        if aims.get("times"):
            rival = over or best_rival(problem)
            at_least(f"{text}: times the speed of {short(rival)}", problem.over(rival, "pipering"),
                     aims["times"])


def alltoall(rows, rate, busiest, nodes, what, aim="", half="0"):
    """Part of the bound; `busiest` messages go over one arc."""
    per_byte = float(busiest) / float(rate)
    print(f"{what}: a node sends at most {(int(nodes) - 1) / per_byte / 1e6:.2f} MB/s")
    show(rows, "of bound", lambda problem, arm: per_byte * problem["total"] / problem.get(arm))
    found = by_size(rows) if aim else []
    for problem in found:
        for total, wanted in ((float(half), 0.5), (found[-1]["total"], aim)):
            if problem["total"] == total:
                at_least(f"{what}, {size(total)} a pair: part of the bound",
                         per_byte * total / problem.get("auto"), wanted)


def times(rows):
    """Medians."""
    show(rows, "us", lambda problem, arm: 1e6 * problem.get(arm, "median_s"))


main({table.__name__: table for table in (links, alltoall, times)})
