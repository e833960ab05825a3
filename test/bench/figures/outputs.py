# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Files of build/figures: charts as SVG, the table of claims, and a page of all."""

import os

from measured import Missing
from plot import svg
from sections import BY_NAME

PAPERS = {
    "Träff": "Träff et al., A Pipelined Algorithm for Large, Irregular All-gather Problems",
    "Worringer": "Worringer, Pipelining and Overlapping for MPI Collective Operations",
    "Kandalla": "Kandalla et al., Designing Multi-Leader-Based Allgather Algorithms",
    "Balaji": "Balaji et al., Nonuniformly Communicating Noncontiguous Data",
    "Almási": "Almási et al., Optimization of MPI Collective Communication on BlueGene/L Systems",
}

UNMEASURED = "not measured"
OLD = "before the present build"

HEAD = """# Claims

This page is for anyone who wants to know which results of the papers can be repeated here, and why
others differ. [results.md](results.md) has the figures of the components themselves.

`make figures` measures the sections that are not measured yet, redraws the papers' figures as SVG
in `build/figures/` (`index.html` shows all of them), and writes these tables. All sections take
about %d minutes on two processors. `make figures FIGURES="--list"` names the sections, and
`make figures FIGURES="traff-blocks traff-ranks"` measures two of them.
`make figures FIGURES="--minutes 40 --keep"` measures for 40 minutes, and writes this page. The
commands in the tables need `OMPI_PREFIX` in their environment, as
[all benchmarks](results.md#all-benchmarks) do.

Values in the column "ours" come from **one machine of two processors that poses as the cluster**,
except where the cell says otherwise:

- modelled: from the components' own model;
- before the present build: with components that have been built anew since;
- (measured DATE): measured on that day, and kept in `test/bench/figures/ours.tsv`; the command
  in the cell measures it anew;
- not measured: the command in the cell measures it;
- "-": no value, and the last column says why. In the column "paper": the paper gives no value.
"""


# ---- charts


def write_charts(figure, bench, directory):
    """Writes the charts of a figure; the names of their files. Raises Missing."""
    charts = figure.draw(bench)
    names = [f"{figure.name}-{count}.svg" for count in range(1, len(charts) + 1)]
    for chart, name in zip(charts, names):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(svg(chart))
    return names


# ---- claims


def our_words(claim, bench, kept):
    """Our value in words: of this build, else the one that was kept."""
    if not claim.possible():
        return "-"
    try:
        ours = claim.ours(bench)
    except Missing:
        return kept_words(claim, kept)
    if claim.name in kept and not claim.whole(bench):
        return kept_words(claim, kept)
    return f"{ours} ({OLD})" if bench.old & set(claim.sections) else ours


def kept_words(claim, kept):
    """The value that was kept, in words."""
    return kept[claim.name].words() if claim.name in kept else UNMEASURED


def all_words(claims, bench, kept):
    """{name: our value in words}"""
    return {claim.name: our_words(claim, bench, kept) for claim in claims}


def lasting_words(claims, bench, kept):
    """The same for a page that outlives this build: what is measured has its date."""
    return {claim.name: kept_words(claim, kept) if claim.measured() else
            our_words(claim, bench, kept) for claim in claims}


def commands(claim):
    return [BY_NAME[name].command() for name in claim.sections]


def claims_tsv(claims, ours):
    lines = ["#name\tpaper\tplace\tclaim\tvalue\tours\tcommand\twhy"]
    for claim in claims:
        lines.append("\t".join([claim.name, claim.paper, claim.place, claim.claim, claim.value,
                                ours[claim.name], "; ".join(commands(claim)) or "-",
                                claim.why or "-"]))
    return "\n".join(lines) + "\n"


def claims_markdown(claims, ours, minutes):
    """The page docs/claims.md."""
    parts = [HEAD % minutes]
    for paper, title in PAPERS.items():
        parts.append(f"\n## {paper}\n\n{title}.\n\n"
                     "| place | claim | paper | ours | why they differ |\n|---|---|---|---|---|\n")
        for claim in (claim for claim in claims if claim.paper == paper):
            how = "".join(f"<br>`{command}`" for command in commands(claim))
            cells = [claim.place, claim.claim, claim.value, ours[claim.name] + how, claim.why]
            parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    return "".join(parts)


# ---- the page of all

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>%s</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>:root{color-scheme:light dark} body{max-width:75em;margin:auto;padding:1em;line-height:1.5;
font-family:sans-serif} img{width:23em;max-width:100%%}</style></head><body><h1>%s</h1>
%s</body></html>
"""


def index(figures, drawn, claims, ours):
    """The page that shows all figures; drawn: names of files by a figure's name; ours: our values
    of the claims in words."""
    done = sum(words not in ("-", UNMEASURED) for words in ours.values())
    possible = sum(claim.possible() for claim in claims)
    parts = [f"<p>{len(drawn)} of {len(figures)} figures, {done} of the {possible} <a "
             "href=claims.md>claims</a> that can be had without special hardware. Measured on one "
             "machine of two processors that poses as the cluster, or modelled where it says so."]
    for paper, title in PAPERS.items():
        parts.append(f"<h2>{title}</h2>")
        for figure in (figure for figure in figures if figure.paper == paper):
            images = "".join(f'<a href="{name}"><img src="{name}" alt="{name}"></a>'
                             for name in drawn.get(figure.name, []))
            parts.append(f"<h3>{figure.place}</h3><p>{figure.caption}<p>"
                         + (images or "Not measured yet."))
    title = "Figures of the five papers, redrawn"
    return PAGE % (title, title, "\n".join(parts))
