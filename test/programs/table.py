#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Tables of what `run` has left in build/programs, and whether answers are the same.

    table.py jobs DIR     of one program on nodes of one kind; fails if answers differ, or there are
                          none
    table.py all OUT      of everything, in Markdown: times, and who served which calls
"""

import os
import sys
from collections import namedtuple

sys.dont_write_bytecode = True
TUNING = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../contrib/tuning")
sys.path.insert(0, TUNING)

from pipering_tuning import why_classes  # noqa: E402
from pipering_tuning.charts import size  # noqa: E402
from pipering_tuning.files import Refusal  # noqa: E402
from pipering_tuning.why_records import read_directory  # noqa: E402

ARMS = ("without", "with")

# A part of a program: the seconds of each job, by arm.
Part = namedtuple("Part", "name without with_")
# Calls of one collective that one module served, or left for one reason.
Calls = namedtuple("Calls", "collective server calls least most")


def words(path):
    """The words of each line of a file; of none if a job has left no such file."""
    try:
        with open(path, encoding="utf-8") as lines:
            return [line.split() for line in lines if line.strip()]
    except FileNotFoundError:
        return []


def jobs(directory, arm=""):
    """Directories of the jobs whose names begin so, in the order of their rounds."""
    if not os.path.isdir(directory):
        return []
    return [os.path.join(directory, name) for name in sorted(os.listdir(directory))
            if name.startswith(arm + ".") or (not arm and name != "calls")]


# ---- answers


def same(one, other, tolerance):
    if one == other:
        return True
    try:
        one, other = float(one), float(other)
    except ValueError:
        return False
    return abs(one - other) <= float(tolerance) * max(abs(one), abs(other))


def differences(directory):
    """What is wrong with answers of the jobs, a sentence each."""
    reference = None
    for job in jobs(directory):
        found = [(name, value, (rest or ["0"])[0])
                 for name, value, *rest in words(os.path.join(job, "found"))]
        if not found:
            yield f"{os.path.basename(job)} has no answer"
            continue
        reference = reference or (os.path.basename(job), found)
        if [one[0] for one in found] != [one[0] for one in reference[1]]:
            yield f"{os.path.basename(job)} has other answers than {reference[0]}"
            continue
        for (name, value, tolerance), (_, expected, _) in zip(found, reference[1]):
            if not same(value, expected, tolerance):
                yield (f"{name} is {value} in {os.path.basename(job)}, {expected} in "
                       f"{reference[0]}, which is more than {tolerance} apart")


# ---- times


def parts(directory):
    """All parts of a program, in the order of its output."""
    found = {}
    for arm in ARMS:
        for job in jobs(directory, arm):
            for name, seconds in words(os.path.join(job, "taken")):
                found.setdefault(name, {one: [] for one in ARMS})[arm].append(float(seconds))
    return [Part(name, times["without"], times["with"]) for name, times in found.items()
            if all(times.values())]


# ---- calls


def server(one):
    """Who served a class of calls of pipering-why, or for which reason coll/pipering did not."""
    if "no data" == one.reason or one.reason.startswith("empty"):
        return "nobody"
    if why_classes.PIPERING == one.server:
        return f"pipering ({one.reason})"
    # coll/mleader stands above coll/pipering, and only for this call
    if "other" == one.server:
        return "mleader" if "allgather" == one.call else "another module"
    return f"module below ({why_classes.reason_name(one.reason)})"


def calls(directory):
    """What the recording job has called, most calls first; (ranks, nodes)."""
    try:
        tables, _ = read_directory(os.path.join(directory, "calls"))
    except Refusal:
        return [], (0, 0)
    found = {}
    for one in why_classes.classes_of(tables):
        key = one.call, server(one)
        old = found.get(key, Calls(*key, 0, one.least, one.most))
        found[key] = Calls(*key, old.calls + one.calls, min(old.least, one.least),
                           max(old.most, one.most))
    return (sorted(found.values(), key=lambda one: -one.calls),
            (why_classes.ranks_of(tables), len({table.host for table in tables})))


def is_served(one):
    return one.server.startswith(("pipering", "mleader"))


def is_small(one):
    """Whether there was nothing to serve."""
    return one.server in ("nobody", "module below (small)") or not one.most


def described(one):
    sizes = size(one.least) if one.least == one.most else f"{size(one.least)} to {size(one.most)}"
    return f"{one.calls:.0f} `{one.collective}` of {sizes}: {one.server}"


# ---- tables

TIMES = ("program", "ranks on nodes", "links", "s without", "s with", "ratio", "noise",
         "calls served")
CALLS = ("program", "nodes", "links", "small calls", "other calls, bytes in all: who served them")


def ratio(one, other):
    """A program's clock may say that a part takes no time."""
    return f"{one / other:.2f}" if other else "-"


def links(kind):
    """The rate of NODES-RATE."""
    rate = kind.split("-")[1]
    return "no limit" if "none" == rate else rate


def times_of(name, kind, directory):
    """Rows of the table of times: a part each."""
    made, (ranks, nodes) = calls(directory)
    served = sum(one.calls for one in made if is_served(one))
    for part in parts(directory):
        least, best = min(part.without), min(part.with_)
        yield (f"{name}: {part.name}", f"{ranks} on {nodes}" if ranks else "-", links(kind),
               f"{least:.3g}", f"{best:.3g}", ratio(best, least), ratio(max(part.without), least),
               f"{served:.0f} of {sum(one.calls for one in made):.0f}")


def calls_of(name, kind, directory):
    """The row of a program in the table of calls."""
    made, (_, nodes) = calls(directory)
    return (name, f"{nodes}", links(kind), f"{sum(one.calls for one in made if is_small(one)):.0f}",
            "; ".join(described(one) for one in made if not is_small(one)) or "none")


def markdown(head, numbers, rows):
    """A table; the columns in `numbers` are aligned to the right."""
    print("| " + " | ".join(head) + " |")
    print("|" + "|".join("---:" if title in numbers else "---" for title in head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def show(found):
    """Both tables of (program, kind of nodes, directory)."""
    markdown(TIMES, TIMES[1:2] + TIMES[3:], (row for one in found for row in times_of(*one)))
    print()
    markdown(CALLS, CALLS[1:2] + CALLS[3:4], (calls_of(*one) for one in found))


def everything(out):
    """(program, kind of nodes, directory) of all that has been measured."""
    return [(name, kind, os.path.join(out, name, kind))
            for name in sorted(os.listdir(out))
            for kind in sorted(os.listdir(os.path.join(out, name)))
            if "input" != kind and parts(os.path.join(out, name, kind))]


def main(what, directory):
    if "all" == what:
        print("Seconds are the least of the jobs. noise: the longest job without the components "
              "over the\nshortest. Calls are those of a job with the components.\n")
        show(everything(directory))
        return 0
    name, kind = directory.split(os.sep)[-2:]
    show([(name, kind, directory)])
    wrong = list(differences(directory))
    for sentence in wrong:
        print(f"WRONG: {sentence}")
    print(f"answers: {'DIFFERENT' if wrong else f'the same in {len(jobs(directory))} jobs'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
