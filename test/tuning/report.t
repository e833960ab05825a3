#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Charts and the report of a tuning run, from results that example_results.py makes up."""

import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import types
from html.parser import HTMLParser
from unittest import mock
from xml.etree import ElementTree

import tap

# pylint: disable=wrong-import-position
import example_results
from pipering_tuning import charts, fit, png, report, svg, views

KINDS = ("helps", "useless", "hurts", "empty", "odd")
VOID = {"meta", "br", "link", "wbr"}
SVG = "{http://www.w3.org/2000/svg}"


class Page(HTMLParser):
    """What a page is made of; a tag that is not closed in its turn is an error."""

    def __init__(self, html):
        super().__init__()
        self.open, self.names, self.links, self.ids, self.text = [], [], [], [], []
        self.feed(html)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.names.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        self.text.append(data)


def test_pages():
    """pages are whole, load nothing, run nothing, and lead to what they have"""
    for kind in KINDS:
        html = report.make(example_results.make(kind), tap.HERE)
        page = Page(html)
        assert "script" not in page.names and "img" not in page.names and "link" not in page.names
        assert not re.search(r"url\(|@import", html)
        for link in page.links:
            assert not re.match(r"\w+:|//", link), link
            assert link[1:] in page.ids if link[0] == "#" else \
                os.path.exists(os.path.join(tap.HERE, link)), link
        assert len(page.ids) == len(set(page.ids))


def test_verdict_first():
    """the verdict comes before all else, and its chip says what to do"""
    for kind, chip in (("helps", "Use this file"), ("useless", "Keep the defaults"),
                       ("hurts", "Do not use this file")):
        results = example_results.make(kind)
        words = "".join(Page(report.make(results)).text)
        at = words.index(results["verdict"]["sentence"])
        assert words.index(chip) < at < words.index("Machine and provenance")
        assert ("bcast broadcast 65536" in words) == (kind == "hurts")


def test_compared():
    """of two files it is said whether they agree, and none is recommended"""
    for compared, chip in (("agree", "The two files agree"), ("differ", "The two files differ"),
                           ("unknown", "The two files cannot be told apart")):
        results = example_results.make("helps")
        results["verdict"].update(compared=compared, help="agree" == compared,
                                  sentence=f"These are {compared}.")
        words = "".join(Page(report.make(results)).text)
        assert words.index(chip) < words.index(f"These are {compared}."), words[:200]
        assert "the time with the other file" in words and "One file and the other" in words
        for advice in ("Use this file", "Keep the defaults", "mpirun --tune", "with the defaults"):
            assert advice not in words.partition("Machine and provenance")[0], (compared, advice)


def test_broken():
    """calls that a file breaks are not called slower"""
    results = example_results.make("useless")
    results["verdict"]["broken"] = ["alltoallw:ring:800 gives a wrong result with the file: rank 2"]
    words = "".join(Page(report.make(results)).text)
    assert "Do not use this file" in words and "alltoallw:ring:800 gives a wrong" in words
    assert "Slower beyond noise:" not in words


def test_unseen():
    """what the proof cannot see, and what failed once, stands below the verdict"""
    results = example_results.make("useless")
    results["verdict"].update(limit="It may be 7% slower.", doubts=["bcast fails (once)"])
    words = "".join(Page(report.make(results)).text)
    assert words.index("bcast fails (once)") < words.index("It may be 7% slower.")
    assert "Keep the defaults" in words and "alone:" not in words


def test_every_section():
    """a full run shows every section, an empty one only where it ran"""
    ids = Page(report.make(example_results.make())).ids
    assert ids == ["choices", "changes", "sizes", "blocks", "model", "map", "regret", "machine",
                   "raw"], ids
    assert Page(report.make(example_results.make("empty"))).ids == ["machine", "raw"]


def test_escaped():
    """names from elsewhere are text, never markup"""
    html = report.make(example_results.make("odd"))
    assert "<script>" not in html and "&lt;script&gt;alert(1)" in html
    assert "&lt;rc1&gt;" in html and "a &lt; b" in html


def test_same_input_same_page():
    """the same results give the same page"""
    results = example_results.make(seed=3)
    assert report.make(results) == report.make(json.loads(json.dumps(results)))


def test_svg_is_whole():
    """charts are XML that lies inside of its view box, with no value that is none"""
    for seed in range(3):
        parts = views.all_charts(example_results.make(seed=seed))
        assert all(parts.values())
        for chart in (chart for part in parts.values() for chart in part):
            drawn = svg.render(chart, standalone=True)
            root = ElementTree.fromstring(drawn)
            left, top, width, height = map(float, root.get("viewBox").split())
            assert not re.search(r"\b(nan|inf)\b", drawn)
            for text in root.iter(SVG + "text"):
                assert left < float(text.get("x")) < left + width, text.text
                assert top < float(text.get("y")) < top + height, text.text


def test_rows_by_size():
    """calls before and after stand by kind and size, in whatever order they were run"""
    results = example_results.make("helps")
    random.Random(3).shuffle(results["calls"])
    places = [views.place(change.after) for change in views.changes(results)]
    assert len(places) > 5 and places == sorted(places)


def cells_of(html, title):
    """The rows of the table below a title, each {name of the column: text}."""
    body = html.split(title)[1].split("</table>")[0].split("<tbody>")[1]
    return [dict(re.findall(r'data-label="([^"]*)">(.*?)</td>', row))
            for row in body.split("</tr>") if "<td" in row]


def test_features():
    """all that makes a call's time stands in its row, and those on fewer ranks are told apart"""
    results = example_results.make("helps")
    rows = cells_of(report.make(results), "Before and after</h2>")
    assert len(rows) == len(views.changes(results)), rows
    row, = [row for row in rows if "4" == row["ranks"]]
    features = {"call": "allgatherv, regular", "nodes": "4", "a node": "1", "bytes": "64 KiB",
                "largest": "12.5%", "contributors": "4"}
    assert features.items() <= row.items(), row
    names = [bar.label for chart in views.change_charts(views.changes(results))
             for bar in chart.bars]
    assert 1 == len([name for name in names if "4 ranks" in name]), names
    for chart in views.all_charts(results)["sizes"]:
        for series in chart.series:
            places = [point.x for point in series.points]
            assert len(places) == len(set(places)), (chart.title, places)
    few = {**results["regret"][0], "part": "half"}
    results["regret"].append(few)
    titles = [chart.title for chart in views.regret_charts(results)]
    assert [title for title in titles if "half of them" in title] == [titles[-1]], titles
    regrets = [row["ranks"] for row in cells_of(report.make(results), "Regret</h2>")]
    assert regrets == ["all"] * (len(regrets) - 1) + ["half of them"], regrets


def test_no_regret():
    """a run in which nothing could have been better is drawn"""
    row = {"collective": "bcast", "distribution": "regular", "total": 65536, "default": 0.0,
           "tuned": 0.0, "best_arm": "default"}
    for chart in views.regret_charts({"regret": [row]}):
        assert "NaN" not in svg.render(chart)


def heights(chart):
    """Vertical places of the marks of a chart's first series."""
    root = ElementTree.fromstring(svg.render(chart))
    paths = [p for p in root.iter(SVG + "path") if p.get("transform")]
    return [float(p.get("transform").rstrip(")").split()[-1]) for p in paths]


def test_values_are_where_axes_say():
    """equal ratios are equal distances on a logarithmic axis, equal differences on a linear one"""
    for log, values in ((10, (1, 10, 100)), (2, (2, 8, 32)), (0, (1, 2, 3))):
        line = charts.Series("a", [charts.Point(x + 1, y) for x, y in enumerate(values)])
        chart = charts.LineChart("t", [line], charts.Axis("x"), charts.Axis("y", log=log))
        first, second, third = heights(chart)
        assert first > second > third
        assert abs((first - second) - (second - third)) < 0.21


def test_nothing_to_draw():
    """charts without points, with one, and with equal ones are drawn"""
    for points in ([], [charts.Point(1, 1)], [charts.Point(8, 5), charts.Point(8, 5)]):
        for log in (0, 2, 10):
            chart = charts.LineChart("t", [charts.Series("a", points)],
                                     charts.Axis("x", log=log), charts.Axis("y", log=log))
            ElementTree.fromstring(svg.render(chart))
    ElementTree.fromstring(svg.render(charts.BarChart("t", [], charts.Axis("x"))))


def test_ticks():
    """ticks lie inside of their range, ascend, and are between two and the most"""
    draw = random.Random(7)
    for _ in range(2000):
        low = 10 ** draw.uniform(-9, 9)
        high = low * 10 ** draw.uniform(0.18, 8)
        for log in (0, 2, 10):
            found = charts.ticks(charts.Axis("x", log=log), low, high)
            assert all(low * (1 - 1e-9) <= t <= high * (1 + 1e-9) for t in found)
            assert found == sorted(set(found)) and len(found) <= 7
            assert len(found) >= 2 or log == 10 or high / low < 4, (log, low, high, found)


def test_numbers():
    """values are written as people do"""
    assert [charts.seconds(v) for v in (0, 1.5, 0.00123, 4.56e-5, 3e-9)] == \
        ["0", "1.5 s", "1.23 ms", "45.6 µs", "3 ns"]
    assert [charts.size(v) for v in (8, 65536, 1572864)] == ["8 B", "64 KiB", "1.5 MiB"]
    assert charts.number(1250.4) == "1250" and charts.percent(0.123) == "12.3%"
    assert charts.number(-0.0456, 2) == "-0.046" and charts.number(math.inf) == "-"


def test_letters():
    """no two algorithms share a letter, and words give theirs first"""
    names = ["ring", "recursive_doubling", "below", "dissemination", "mesh_cycles", "merged",
             "bins"]
    found = svg.letters(names)
    assert len(set(found.values())) == len(names)
    assert found["ring"] == "R" and found["merged"] == "M"


def test_colours():
    """text and marks stand out from both backgrounds as accessibility guidelines want it"""
    def light(color):
        parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    assert all(1.05 / (light(c) + 0.05) >= 3.0 for c in svg.LIGHT)
    assert all((light(c) + 0.05) / (light("#12161c") + 0.05) >= 4.5 for c in svg.DARK)


def call(block, seconds, total=1000, arm="x"):
    return {"block": block, "seconds": seconds, "total": total, "arm": arm}


def test_best_block():
    """the best block size is the one of least median; its range holds those within 5%"""
    tried = [call(1, [9.0, 1.0, 9.0]), call(2, [5.2, 5.2]), call(4, [5.0]), call(8, [5.3]),
             call(16, [1.0], total=2)]
    point = views.best_block(tried, 1000)
    assert (point.y, point.low, point.high) == (4, 2, 4)
    assert views.best_block(tried, 2) is None


def test_changes():
    """a change is told from noise when it is larger, and only then"""
    draw = random.Random(5)
    count = {"faster": 0, "same": 0, "slower": 0}
    for i in range(60):
        factor = (0.8, 1.0, 1.25)[i % 3]
        before = [1 + 0.02 * draw.random() for _ in range(15)]
        after = [factor * (1 + 0.02 * draw.random()) for _ in range(15)]
        change = views.Change({"seconds": before, "jobs": [5, 5, 5]},
                              {"seconds": after, "jobs": [5, 5, 5]})
        count[change.kind()] += 1
        assert factor == 1.0 or change.kind() == ("faster" if factor < 1 else "slower")
    assert count["same"] >= 19, count
    for jobs in ((0.7, 1.2), (0.85, 1.5)):
        drift = views.Change({"seconds": [1, 1, 1, 1], "jobs": [2, 2]},
                             {"seconds": [jobs[0]] * 2 + [jobs[1]] * 2, "jobs": [2, 2]})
        assert drift.kind() == "same" and drift.low < 1 < drift.high
    assert views.Change({"seconds": [1.0]}, {"seconds": [0.1]}).kind() == "same"


def test_map():
    """the map shows the tuned file's algorithm, and a dot where another one was faster"""
    def of(arm, algorithm, seconds):
        return {"collective": "allgatherv", "distribution": "spike", "p": 8, "ppn": 1,
                "total": 65536, "largest_over_total": 0.5, "arm": arm, "phase": "race",
                "algorithm": algorithm, "seconds": seconds}
    more = dict(of("tuned", "ring", [1.0]), total=131072)
    slower = {"calls": [of("tuned", "ring", [2.0]), of("x=1", "mesh_cycles", [1.0]), more]}
    chart, = views.algorithm_maps(slower)
    assert chart.cells[0, 0].category == "ring" and chart.cells[0, 0].marked
    assert not chart.cells[1, 0].marked
    close = {"calls": [of("tuned", "ring", [1.04]), of("x=1", "mesh_cycles", [1.0]), more]}
    assert not views.algorithm_maps(close)[0].cells[0, 0].marked


def test_residuals():
    """a message that the fit has exactly leaves nothing"""
    exact = {"task": "block", "scope": "inter", "direction": "one",
             "pieces": [{"from": 8, "to": 64, "alpha": 1.0, "beta": 0.5, "residual": 0},
                        {"from": 64, "to": 999, "alpha": 9.0, "beta": 0.25, "residual": 0}]}
    tasks = [{"task": "block", "scope": "inter", "direction": "one", "bytes": size,
              "seconds": [value]} for size, value in ((8, 5.0), (64, 33.0), (100, 68.0))]
    (_, left), = views.fit_charts({"fits": [exact], "tasks": tasks})
    assert [p.y for p in left.series[0].points] == [0.0, 0.0, 1.0]


def test_free_messages():
    """a fit by which a message of 0 bytes costs nothing is drawn, without a residual of it"""
    echo = {"task": "echo", "scope": "intra", "direction": "one", "type": None}
    points = {0: [180e-6, 560e-6, 340e-6, 60e-6, 230e-6], 8192: [90e-6] * 5,
              98304: [1150e-6, 1100e-6, 1200e-6, 1300e-6, 1120e-6]}
    found = fit.fit(points)
    assert [piece["alpha"] for piece in found["pieces"]] == [0.0], found
    measured = [{**echo, "bytes": size, "seconds": times} for size, times in points.items()]
    results = {**example_results.make("empty"), "tasks": measured, "fits": [{**echo, **found}]}
    (_, left), = views.fit_charts(results)
    assert [p.x for p in left.series[0].points] == [8192, 98304], left
    assert "model" in Page(report.make(results)).ids


def test_png():
    """PNG files are written where matplotlib is installed, and nothing otherwise"""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "chart.png")
        lines = views.size_charts(example_results.make())[0][0]
        assert png.write(lines, path) == png.available() == os.path.exists(path)
        if png.available():
            with open(path, "rb") as file:
                assert file.read(4) == b"\x89PNG"


def test_old_matplotlib():
    """a matplotlib that cannot draw the charts counts as none"""
    def posed(**attributes):
        module = types.ModuleType("matplotlib")
        module.__dict__.update(attributes)
        with mock.patch.dict(sys.modules, matplotlib=module):
            return png.available()

    assert not posed(__version__="3.3.4")
    assert not posed(__version_info__=(3, 4, 3))
    assert posed(__version_info__=(3, 5, 0)) and posed(__version_info__=(3, 10, 1))
    with mock.patch.dict(sys.modules, matplotlib=None):
        assert not png.available()


def run_report(content, directory, out="report.html"):
    """(exit status, stderr) of the program with a file of this content, None: no file."""
    path = os.path.join(directory, "results.json")
    if content is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    done = subprocess.run([sys.executable, "-m", "pipering_tuning.report", path,
                           os.path.join(directory, out)], cwd=tap.TUNING, capture_output=True,
                          text=True, timeout=300, check=False)
    return done.returncode, done.stderr


def test_refused():
    """files that are no results get one sentence and an exit status, and no report"""
    good = json.dumps(example_results.make())
    with tempfile.TemporaryDirectory() as directory:
        for content, words in ((None, "No such file"), (good[:1000], "not JSON"),
                               ('{"format": 2}', "format 1"), ("[]", "format 1"),
                               ('{"format": 1}', "no verdict")):
            status, said = run_report(content, directory)
            assert status == 1 and words in said and said.count("\n") == 1, said
            assert not os.path.exists(os.path.join(directory, "report.html"))
        status, said = run_report(good, directory, "none/report.html")
        assert status == 1 and "No such file" in said and said.count("\n") == 1, said
        status, said = run_report(good, directory)
        assert (status, said) == (0, "")
        with open(os.path.join(directory, "report.html"), encoding="utf-8") as file:
            assert "results.json" in Page(file.read()).links
        files = os.listdir(os.path.join(directory, "charts"))
        assert {"changes-1.svg", "sizes-1.svg", "map-1.svg"} <= set(files)
        assert not png.available() or "sizes-1.png" in files


sys.exit(tap.run(dict(globals())))
