#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The report of a tuning run, from results that example_results.py makes up."""

import json
import math
import os
import random
import re
import sys
import tempfile
from html import unescape
from html.parser import HTMLParser

import tap

# pylint: disable=wrong-import-position
import example_results
from posed_place import refused
from pipering_tuning import charts, report

KINDS = ("helps", "useless", "hurts", "empty", "odd")
VOID = {"meta", "br", "link"}


class Page(HTMLParser):
    """What a page is made of; a tag that is not closed in its turn is an error."""

    def __init__(self, html):
        super().__init__()
        self.open, self.names, self.links, self.text = [], [], [], []
        self.feed(html)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        self.text.append(data)


def words_of(results):
    """The text of a report."""
    return "".join(Page(report.make(results)).text)


def test_pages():
    """pages are whole, load nothing and run nothing"""
    for kind in KINDS:
        html = report.make(example_results.make(kind))
        page = Page(html)
        assert not {"script", "img", "link", "svg"} & set(page.names) and not page.links
        assert not re.search(r"url\(|@import", html)


def test_verdict_first():
    """the verdict comes before all else, and the words above it say what to do"""
    for kind, words in (("helps", "Use this file"), ("useless", "Keep what is in force"),
                        ("hurts", "Do not use this file")):
        results = example_results.make(kind)
        text = words_of(results)
        at = text.index(results["verdict"]["sentence"])
        assert text.index(words) < at < text.index("Machine")
        assert ("bcast broadcast 65536" in text) == (kind == "hurts")
        assert ("mpirun --tune" in text) == (kind == "helps")


def test_compared():
    """of two files it is said whether they agree, and none is recommended"""
    for compared, words in (("agree", "The two files agree"), ("differ", "The two files differ"),
                            ("unknown", "The two files cannot be told apart")):
        results = example_results.make("helps")
        del results["files"]
        results["verdict"].update(compared=compared, help="agree" == compared,
                                  sentence=f"These are {compared}.")
        text = words_of(results)
        assert text.index(words) < text.index(f"These are {compared}."), text[:200]
        assert "with the other file and with this one" in text and "One file and the other" in text
        for advice in ("Use this file", "Keep what is in force", "Do not use", "Before and after"):
            assert advice not in text, (compared, advice)


def test_broken():
    """calls that a file breaks are not called slower"""
    results = example_results.make("useless")
    results["verdict"]["broken"] = ["alltoallw:ring:800 gives a wrong result with the file: rank 2"]
    text = words_of(results)
    assert "Do not use this file" in text and "alltoallw:ring:800 gives a wrong" in text
    assert "Slower beyond noise:" not in text


def test_unseen():
    """what failed once, what the proof cannot see and what was left out stand below the verdict"""
    results = example_results.make("useless")
    results["verdict"].update(limit="It may be 7% slower.", doubts=["bcast fails (once)"],
                              left_out=["scan:regular:4800"])
    text = words_of(results)
    assert text.index("bcast fails (once)") < text.index("scan:regular:4800") \
        < text.index("It may be 7% slower.") < text.index("What was chosen")
    assert "Keep what is in force" in text and "alone:" not in text


def test_every_section():
    """a full run shows every section, an empty one only what there is"""
    results = {**example_results.make(), "rules": ["bcast:regular:400: quick"]}
    for title in ("How to use it", "What was chosen, and why", "Rules for coll/tuned",
                  "Before and after", "Machine", "Costs of links", "What gave no time"):
        assert title in words_of(results), title
        assert (title in words_of(example_results.make("empty"))) == \
            (title in ("Machine", "What gave no time")), title


def test_escaped():
    """names from elsewhere are text, never markup"""
    html = report.make(example_results.make("odd"))
    assert "<script>" not in html and "&lt;script&gt;alert(1)" in html
    assert "&lt;rc1&gt;" in html and "a &lt; b" in html


def test_same_input_same_page():
    """the same results give the same page"""
    results = example_results.make(seed=3)
    assert report.make(results) == report.make(json.loads(json.dumps(results)))


def test_rows_by_size():
    """calls before and after stand by kind and size, in whatever order they were run"""
    results = example_results.make("helps")
    random.Random(3).shuffle(results["calls"])
    places = [(change.after["collective"], change.after["distribution"], change.after["part"],
               change.after["total"]) for change in report.changes(results)]
    assert len(places) > 5 and places == sorted(places)


def rows_of(html, title):
    """The rows of the table below a title, each {name of the column: text}."""
    body = html.split(title)[1].split("</table>")[0]
    rows = [[unescape(cell) for cell in re.findall(r"<t[dh]>(.*?)</t[dh]>", row)]
            for row in body.split("</tr>")]
    return [dict(zip(rows[0], row)) for row in rows[1:] if row]


def test_features():
    """all that makes a call's time stands in its row, and those on fewer ranks are told apart"""
    results = example_results.make("helps")
    rows = rows_of(report.make(results), "Before and after</h2>")
    assert len(rows) == len(report.changes(results)), rows
    row, = [row for row in rows if "4" == row["ranks"]]
    features = {"call": "allgatherv, regular", "nodes": "4", "a node": "1", "bytes": "64 KiB",
                "largest": "12.5%", "contributors": "4"}
    assert features.items() <= row.items(), row


def test_choices():
    """what was chosen stands before what keeps its value, with its gain and why"""
    rows = rows_of(report.make(example_results.make("helps")), "and why</h2>")
    assert [row["before"] == row["chosen"] for row in rows] == [False, False, True, True], rows
    assert ("21%", "19% to 24%") == (rows[0]["gain"], rows[0]["95% interval"]), rows[0]
    assert "-" == rows[3]["gain"] == rows[3]["95% interval"] and rows[3]["reason"], rows[3]


def test_numbers():
    """values are written as people do"""
    assert [charts.seconds(v) for v in (0, 1.5, 0.00123, 4.56e-5, 3e-9)] == \
        ["0", "1.5 s", "1.23 ms", "45.6 µs", "3 ns"]
    assert [charts.size(v) for v in (8, 65536, 1572864)] == ["8 B", "64 KiB", "1.5 MiB"]
    assert charts.number(1250.4) == "1250" and charts.percent(0.123) == "12.3%"
    assert charts.number(-0.0456, 2) == "-0.046" and charts.number(math.inf) == "-"


def test_changes():
    """a change is told from noise when it is larger, and only then"""
    draw = random.Random(5)
    count = {"faster": 0, "same": 0, "slower": 0}
    for i in range(60):
        factor = (0.8, 1.0, 1.25)[i % 3]
        before = [1 + 0.02 * draw.random() for _ in range(15)]
        after = [factor * (1 + 0.02 * draw.random()) for _ in range(15)]
        change = report.Change({"seconds": before, "jobs": [5, 5, 5]},
                               {"seconds": after, "jobs": [5, 5, 5]})
        count[change.kind()] += 1
        assert factor == 1.0 or change.kind() == ("faster" if factor < 1 else "slower")
    assert count["same"] >= 19, count
    for jobs in ((0.7, 1.2), (0.85, 1.5)):
        drift = report.Change({"seconds": [1, 1, 1, 1], "jobs": [2, 2]},
                              {"seconds": [jobs[0]] * 2 + [jobs[1]] * 2, "jobs": [2, 2]})
        assert drift.kind() == "same" and drift.low < 1 < drift.high
    assert report.Change({"seconds": [1.0]}, {"seconds": [0.1]}).kind() == "same"


def test_unwritable():
    """a report that cannot be written is one sentence"""
    with tempfile.TemporaryDirectory() as directory:
        refused(lambda: report.write(example_results.make(),
                                     os.path.join(directory, "none", "report.html")), "No such")
        path = os.path.join(directory, "report.html")
        report.write(example_results.make(), path)
        assert ["report.html"] == os.listdir(directory)


sys.exit(tap.run(dict(globals())))
