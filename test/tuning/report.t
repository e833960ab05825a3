#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The report of runs on posed machines (posed.py)."""

import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
from posed_bench import Run  # noqa: E402
from pipering_tuning import charts, files, report, stats  # noqa: E402


def results_of(run):
    """What results.json of a run has."""
    return json.loads(files.read(os.path.join(run.bench.directory, "results.json")))


GOOD = Run(30, adapters=900.0)
RESULTS = results_of(GOOD)
LISTS = ("hurt", "broken", "failing", "doubts", "left_out")


def made(**verdict):
    """The report with another verdict."""
    return report.make({**RESULTS, "verdict": {**RESULTS["verdict"], **verdict}})


def test_whole():
    """a run's report has its verdict first, what to do, and each table"""
    text = files.read(os.path.join(GOOD.bench.directory, "report.txt"))
    assert text == report.make(RESULTS) and 0 == GOOD.status
    lines = text.splitlines()
    assert lines[0] == RESULTS["verdict"]["sentence"] and lines[0].startswith("The file helps")
    assert any(line.startswith("use: mpirun --tune ") for line in lines), lines
    titles = [line.split(":")[0] for line in lines if line.endswith(":")
              or line.startswith(("What was chosen", "Calls that had"))]
    assert titles == ["What was chosen, and why; gain", "Rules for coll/tuned",
                      "Calls that had no part in the choosing, before and after", "Machine"], titles
    for name, value in RESULTS["costs"].items():
        assert any(line.split() == [name, str(report._fact(value))] for line in lines), name


def test_all_of_it():
    """of what a run says in part the report has all, in an order, and nothing that is not there"""
    many = {name: [f"{name} {number}" for number in range(9)] for name in LISTS}
    text = made(**many, limit="It may be 7% slower.")
    places = [text.index(sentence) for name in LISTS for sentence in many[name]]
    assert places == sorted(places) and places[-1] < text.index("What was chosen"), places
    assert "It may be 7% slower." in text and "of this kind" not in text
    text = made(**{name: [] for name in LISTS}, limit="")
    assert not any(word in text for word in ("slower:", "broken:", "warning:", "not proven"))
    text = report.make({**RESULTS, "calls": [], "choices": [], "rules": [], "use": [],
                        "failures": [{"cell": "race/x", "status": "timeout", "note": "60 s"}]})
    assert "race/x  timeout  60 s" in text and "before and after" not in text, text


def test_rows():
    """calls before and after stand by kind and size, in whatever order they were run, with all that
    makes a call's time; those on fewer ranks are told apart"""
    calls = list(RESULTS["calls"])
    random.Random(3).shuffle(calls)
    found = report.changes({**RESULTS, "calls": calls})
    assert found == report.changes(RESULTS) and 30 < len(found)
    places = [(after["collective"], after["distribution"], after["type"], after["part"])
              for _, after, _ in found]
    assert places == sorted(places) and {"all", "half"} == {place[3] for place in places}
    before, after, interval = next(one for one in found if "half" == one[1]["part"])
    row = report._change(before, after, interval)
    assert row[0].startswith("allgatherv:regular") and row[1:4] == [4, 4, 1] and 4 == row[6], row
    assert "25%" == row[5] and row[9] == charts.number(interval.middle), row


def test_choices():
    """what was chosen stands before what keeps its value, with its gain and why"""
    text = report.make({**RESULTS, "choices": RESULTS["choices"][::-1]})
    lines = text[text.index("What was chosen"):].split("\n\n")[0].splitlines()[2:]
    chosen = [line.split()[0] for line in lines[:2]]
    assert sorted(chosen) == ["coll_pipering_alltoall_small", "coll_pipering_machine"], lines
    assert len(lines) == len(RESULTS["choices"]) and "%" in lines[0] and "calls took" in lines[0]


def test_numbers():
    """values are written as people do"""
    assert [charts.seconds(v) for v in (0, 1.5, 0.00123, 4.56e-5, 3e-9)] == \
        ["0", "1.5 s", "1.23 ms", "45.6 µs", "3 ns"]
    assert [charts.size(v) for v in (8, 65536, 1572864)] == ["8 B", "64 KiB", "1.5 MiB"]
    assert charts.number(1250.4) == "1250" and charts.percent(0.123) == "12.3%"
    assert charts.number(-0.0456, 2) == "-0.046" and charts.number(float("inf")) == "-"


def test_changes():
    """a change is told from noise when it is larger, and only then"""
    draw = random.Random(5)
    for factor, kind in ((0.8, "faster"), (1.0, "same"), (1.25, "slower")) * 20:
        before, after = ([[part * (1 + 0.01 * draw.random()) for _ in range(5)] for _ in range(3)]
                         for part in (1, factor))
        assert kind == report.changed(stats.ratio_of_jobs([(before, after)])), (before, after)
    for jobs in ((0.7, 1.2), (0.85, 1.5)):
        found = stats.ratio_of_jobs([([[1, 1]] * 2, [[jobs[0]] * 2, [jobs[1]] * 2])])
        assert "same" == report.changed(found)
    assert "same" == report.changed(stats.ratio_of_jobs([([[1.0]], [[0.1]])]))


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
