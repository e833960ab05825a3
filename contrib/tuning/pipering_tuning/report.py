# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Makes of results.json one HTML file that opens by itself: the verdict first, then why.

    python3 -m pipering_tuning.report RESULTS.json REPORT.html
"""

import json
import os
import sys

from . import charts, files, page, png, svg, views
from .calls import ALL
from .files import Refusal
from .page import code, paragraph, text

FORMAT = 1
# Files beside the report that are linked if they are there.
RAW = (".json", ".jsonl", ".tsv", ".tune", ".conf", ".rules", ".txt", ".log")


# ---- the verdict


# Of a comparison of two files, which says nothing about using either.
COMPARED = {"agree": ("The two files agree", "good"), "differ": ("The two files differ", "bad"),
            "unknown": ("The two files cannot be told apart", "still")}


def _compared(results):
    """What a comparison of two files has come to; "" if a file was proven."""
    return results["verdict"].get("compared") or ""


def _state(results):
    """(words, kind) of the chip above the verdict."""
    verdict = results["verdict"]
    if _compared(results):
        return COMPARED[_compared(results)]
    if verdict["help"]:
        return "Use this file", "good"
    if verdict.get("hurt") or verdict.get("broken"):
        return "Do not use this file", "bad"
    return "Keep the defaults", "still"


def _overline(results):
    machine = results["machine"]
    words, kind = _state(results)
    facts = [f"{_count(machine, 'nodes', 'node')} × {_count(machine, 'ppn', 'rank')}",
             f"Open MPI {machine.get('release', '?')}", f"PML: {machine.get('pml', '?')}",
             machine.get("when", "")]
    return page.tag("div", page.tag("span", text(words), f"chip {kind}")
                    + "".join(page.tag("span", text(fact)) for fact in facts if fact), "over")


def _count(machine, key, noun):
    """8 nodes, 1 rank"""
    count = machine.get(key, "?")
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _figures(found, hurt, before):
    """The large figures below the verdict. hurt: how many calls the proof found to be slower; one
    that only looks so by chance is counted as noise. before: whose time is compared with."""
    if not found:
        return ""
    mean = views.geometric_mean([c.ratio for c in found])
    counts = {kind: sum(c.kind() == kind for c in found) for kind in views.CHANGE_TONES}
    worst = max(found, key=lambda c: c.ratio)
    few = "" if ALL == views.part_of(worst.after) else f", {worst.after['p']} ranks"
    items = [
        (charts.percent(mean - 1, 2) if mean > 1 else charts.percent(1 - mean, 2),
         "longer on geometric mean" if mean > 1 else "less time on geometric mean",
         "bad" if mean > 1.005 else "good" if mean < 0.995 else "still"),
        (str(counts["faster"]), f"of {len(found)} held-out calls are faster", "good"),
        (str(len(found) - counts["faster"] - hurt), "cannot be told from noise", "still"),
        (str(hurt), "are slower beyond noise", "bad" if hurt else "still"),
        (f"{charts.number(worst.ratio, 3)}×", f"the time {before}: the worst of them, "
         f"{views.name_of(views.kind_of(worst.after))}, {charts.size(worst.after['total'])}{few}",
         "bad" if hurt else "still")]
    return page.figures(items)


def _how_to_use(results):
    """The files that were written, and how each is used, if they help."""
    written = results.get("files") or {}
    if not results["verdict"]["help"] or not written or _compared(results):
        return ""
    return page.definitions([(how, code(path)) for how, path in written.items()])


def _hurt(results):
    """What the file makes worse, and how much of that may be unseen."""
    other = "right with the other one" if _compared(results) else "right without it"
    lists = [(title, results["verdict"].get(key) or [])
             for title, key in (("Slower beyond noise:", "hurt"),
                                (f"Not right with the file, and {other}:", "broken"),
                                ("Faster with this file, or right with it alone:", "better"),
                                ("Failed once, and not again:", "doubts"))]
    boxes = [page.tag("div", paragraph(title) + page.tag("ul", "".join(
        page.tag("li", text(line)) for line in lines)), "warn") for title, lines in lists if lines]
    limit = results["verdict"].get("limit")
    return "".join(boxes + ([paragraph(limit)] if limit else []) + _left_out(results))


def _left_out(results):
    """Which held-out calls nothing is known of."""
    calls = results["verdict"].get("left_out") or []
    return [page.tag("div", paragraph("Not proven, since the time did not allow it:") + page.tag(
        "ul", "".join(page.tag("li", text(call)) for call in calls)), "warn")] if calls else []


# ---- choices


def _gain(choice):
    return charts.percent(choice["gain"], 2) if choice.get("gain") is not None else "-"


def _interval(choice):
    ends = choice.get("interval")
    return " to ".join(charts.percent(end, 2) for end in ends) if ends else "-"


def _choice_rows(choices):
    return [[code(c["variable"]), code(c["default"]), code(c["chosen"]), _gain(c), _interval(c),
             text(c.get("reason", ""))] for c in choices]


def choices_section(results):
    """Variables that change in a table, those that keep their default folded away."""
    choices = results.get("choices", [])
    changed = [c for c in choices if str(c["chosen"]) != str(c["default"])]
    kept = [c for c in choices if str(c["chosen"]) == str(c["default"])]
    head = ["variable", "default", "chosen", ">gain", ">95% interval", "reason"]
    if not choices:
        return ""
    shown = page.table(head, _choice_rows(changed), cards=True) if changed \
        else paragraph("All variables keep their defaults.")
    count = "1 variable keeps its default" if len(kept) == 1 \
        else f"{len(kept)} variables keep their defaults"
    return paragraph("Gain: part of the time that the chosen value saves of that of the default. "
                     "A default stays where the gain is below the noise.", "soft") + shown + \
        (page.details(count, page.table(head, _choice_rows(kept), cards=True)) if kept else "")


# ---- before and after


def _change_rows(found):
    return [[text(views.name_of(views.kind_of(c.after))), *_features(c.after),
             charts.seconds(views.typical(c.before)),
             charts.seconds(views.typical(c.after)), charts.number(c.ratio),
             "-" if c.low is None else f"{charts.number(c.low)} to {charts.number(c.high)}",
             page.tag("span", c.kind(), {"faster": "good", "slower": "bad"}.get(c.kind(), "still"))]
            for c in found]


def _features(call):
    """What a call's time depends on, besides its kind."""
    numbers = [str(call.get(name) or "-") for name in ("p", "nodes", "ppn")]
    return numbers + [charts.size(call["total"]), charts.percent(call["largest_over_total"]),
                      str(call.get("contributors") or "-")]


def changes_section(found, compared):
    """Held-out calls. compared: two files are, not a file with what was in force."""
    if not found:
        return ""
    arms = "the other file and with this one" if compared else "the defaults and with the file"
    heads = (">other file", ">this file") if compared else (">before", ">after")
    return (paragraph(f"Calls that had no part in the choosing, run with {arms} in alternating "
                      "order. Left of 1×: faster. Bars: 95% intervals. Grey: within noise.", "soft")
            + page.chart_grid(views.change_charts(found))
            + page.details("The data as a table", page.table(
                ["call", ">ranks", ">nodes", ">a node", ">bytes", ">largest", ">contributors",
                 *heads, ">ratio", ">95% interval", ""],
                _change_rows(found))))


# ---- times, blocks, model, map


def _charts_section(words, lay_out, drawn):
    """Words and charts below them, as lay_out has them; "" without charts."""
    return paragraph(words, "soft") + lay_out(drawn) if drawn else ""


def sizes_section(results):
    arms = "default: the other file, tuned: this one. " if _compared(results) else ""
    return _charts_section(
        f"{arms}The wire limit is the least time in which a network can move the data of a call. "
        "Bars: the middle half of the samples.", page.chart_stacks, views.size_charts(results))


def blocks_section(results):
    return _charts_section(
        "Where a bar is long, the block size hardly matters; a choice inside of it is as good as "
        "the best.", page.chart_grid, views.block_charts(results))


def _fit_rows(results):
    return [[text(views.fit_name(fit)), f"{charts.size(p['from'])} to {charts.size(p['to'])}",
             charts.seconds(p["alpha"]), f"{charts.number(p['beta'] * 1e9)} ns",
             charts.percent(p["residual"], 2), text("" if count else fit.get("note", ""))]
            for fit in results.get("fits", []) for count, p in enumerate(fit["pieces"])]


def model_section(results):
    """Costs of links with their fits, and predicted calls."""
    fitted, predicted = views.fit_charts(results), views.predicted_chart(results)
    if not fitted and not predicted:
        return ""
    words = paragraph("The model takes alpha + beta × bytes for a block. Where one line does not "
                      "fit, there are several pieces. Residual: the largest part by which the "
                      "piece is off.", "soft")
    rows = _fit_rows(results)
    fits = page.table(["link", ">bytes", ">alpha", ">beta, a byte", ">residual", "note"], rows,
                      cards=True) if rows else ""
    return words + fits + page.chart_stacks(fitted) + page.chart_grid(predicted)


def map_section(results):
    return _charts_section(
        "Who serves a call, by its size and by how much of it comes from one rank. below: the "
        "component that Open MPI would use without this one.", page.chart_grid,
        views.algorithm_maps(results))


def _regret_rows(results):
    return [[text(views.name_of(views.kind_of(r))), views.PARTS[views.part_of(r)],
             charts.size(r["total"]),
             charts.percent(r["default"], 2), charts.percent(r["tuned"], 2),
             code(r.get("best_arm", "-"))]
            for r in results.get("regret", []) if "default" in r and "tuned" in r]


def regret_section(results):
    rows = _regret_rows(results)
    if not rows:
        return ""
    return (paragraph("How much longer a call takes than the best that was found for it by trying.",
                      "soft")
            + page.chart_grid(views.regret_charts(results))
            + page.details("The data as a table", page.table(
                ["call", "ranks", ">bytes", ">regret of the defaults", ">regret of the file",
                 "best"],
                rows)))


# ---- provenance


NAMES = {"release": "Open MPI", "library": "library", "hosts": "hosts", "nodes": "nodes",
         "ppn": "ranks a node", "ranks": "ranks", "mapping": "mapping", "pml": "pml",
         "processors": "processors a node", "processor": "processor",
         "oversubscribed": "oversubscribed",
         "spinning": "ranks spin while they wait", "load": "load before the run",
         "frequency": "processor frequency", "when": "when", "command": "command"}


def _fact(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return text(", ".join(str(v) for v in dict.fromkeys(value)))
    return text(value)


def machine_section(results):
    machine = results["machine"]
    items = [(name, code(machine[key]) if key == "command" else _fact(machine[key]))
             for key, name in NAMES.items() if machine.get(key) is not None]
    return page.definitions(items)


def raw_section(results, directory):
    """Links to the files beside the report."""
    there = os.listdir(directory) if os.path.isdir(directory) else []
    names = sorted(name for name in there if name.endswith(RAW))
    links = "".join(f'<li><a href="{text(name)}">{text(name)}</a></li>' for name in names)
    samples = sum(len(c.get("seconds") or []) for c in results.get("calls", []))
    samples += sum(len(t.get("seconds") or []) for t in results.get("tasks", []))
    return (paragraph(f"{samples} samples of {len(results.get('calls', []))} calls and "
                      f"{len(results.get('tasks', []))} tasks.")
            + (page.tag("ul", links) if links else "") + _failures(results)
            + paragraph("The directory charts beside this file has each chart as SVG, and as PNG "
                        "where matplotlib is installed.", "soft"))


def _failures(results):
    """What gave no time, folded away."""
    found = results.get("failures") or []
    count = "1 measurement gave no time" if len(found) == 1 else \
        f"{len(found)} measurements gave no time"
    return page.details(count, page.table(["measurement", "status", "why"], [
        [code(f["cell"]), text(f["status"]), text(f["note"])] for f in found], cards=True)) \
        if found else ""


# ---- the page


def make(results, directory="."):
    """The HTML of the report; files in the directory are linked."""
    found, compared = views.changes(results), _compared(results)
    sections = [
        ("choices", "What was chosen", choices_section(results)),
        ("changes", "One file and the other" if compared else "Before and after",
         changes_section(found, compared)),
        ("sizes", "Time and part of the limit", sizes_section(results)),
        ("blocks", "Block sizes", blocks_section(results)),
        ("model", "Model and measurement", model_section(results)),
        ("map", "Which algorithm serves", map_section(results)),
        ("regret", "Regret", regret_section(results)),
        ("machine", "Machine and provenance", machine_section(results)),
        ("raw", "Raw data", raw_section(results, directory)),
    ]
    head = (_overline(results) + page.tag("h1", text(results["verdict"]["sentence"]))
            + _hurt(results) + _figures(found, len(results["verdict"].get("hurt") or []),
                                        "with the other file" if compared else "before")
            + _how_to_use(results)
            + page.contents([(anchor, title) for anchor, title, body in sections if body]))
    return page.document("pipering-tune: report", head + "".join(
        page.section(*part) for part in sections))


def load(path):
    """The results of the file; Refusal if it cannot be read or is of another format."""
    try:
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}; no report was written") from error
    except ValueError as error:
        raise Refusal(f"{path} is not JSON ({error}); no report was written") from error
    if not isinstance(results, dict) or results.get("format") != FORMAT:
        raise Refusal(f"{path} is not of format {FORMAT}, which this program reads; "
                         "no report was written")
    if "verdict" not in results or "machine" not in results:
        raise Refusal(f"{path} has no verdict or no machine; no report was written")
    return results


def write_charts(results, directory):
    """Writes each chart as a file PART-NUMBER.svg, and as .png where matplotlib is installed."""
    os.makedirs(directory, exist_ok=True)
    for part, drawn in views.all_charts(results).items():
        for count, chart in enumerate(drawn, 1):
            name = os.path.join(directory, f"{part}-{count}")
            with open(name + ".svg", "w", encoding="utf-8") as file:
                file.write(svg.render(chart, standalone=True))
            png.write(chart, name + ".png")


def write(results, path):
    """Writes the report, and its charts to the directory charts beside it; Refusal if a file
    cannot be written."""
    directory = os.path.dirname(os.path.abspath(path))
    files.write(path, make(results, directory))
    try:
        write_charts(results, os.path.join(directory, "charts"))
    except OSError as error:
        raise Refusal(f"{error.filename or directory}: {error.strerror}; the report is whole, its "
                      "charts as files are not") from error


def main(arguments):
    if len(arguments) != 2:
        print("usage: python3 -m pipering_tuning.report RESULTS.json REPORT.html", file=sys.stderr)
        return 2
    try:
        write(load(arguments[0]), arguments[1])
    except Refusal as error:
        print(f"pipering-tune: {error}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
