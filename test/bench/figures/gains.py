# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The picture of README: which part of the wire limit calls reach, stock and pipering.

Its values are those that docs/results.md records: the table of MPI_Allgatherv by distribution, and
that of broadcast, reductions and scans.
"""

import re

from pipering_tuning import svg
from pipering_tuning.charts import Axis, Bar, BarChart

STOCK, PIPERING = 0, 1  # tones
ROW = re.compile(r"^\| *(.*?) *\| *([\d.]+) *\|.*\| *([\d.]+) *\|$")


def _rows(text, heading):
    """[(name, first value, last value)] of the first table below a heading."""
    table = re.search(r"\n((?:\|.*\n)+)", text.split(f"\n## {heading}\n", 1)[1]).group(1)
    return [(name.strip("`"), float(first), float(last))
            for name, first, last in (ROW.match(line).groups() for line in table.splitlines()
                                      if ROW.match(line))]


def _limit(text, name):
    """Milliseconds of the wire limit of a distribution."""
    return float(re.search(rf"^\| {name} *\|(?:[^|]*\|){{3}} *([\d.]+) *\|", text, re.M).group(1))


def chart(results):
    """results: the text of docs/results.md."""
    gathers = [(f"Allgatherv, {name}", _limit(results, name) / stock, part)
               for name, stock, part in _rows(results, "MPI_Allgatherv")]
    folds = [(name.replace("MPI_", ""), stock, part)
             for name, stock, part in _rows(results, "Broadcast, reductions and scans")]
    bars = []
    for name, stock, part in gathers + folds:
        bars += [Bar(name, part, tone=PIPERING), Bar("", stock, tone=STOCK, note=f"{name}, stock")]
    return BarChart("Part of the wire limit: 8 nodes, 100 Mbit/s, 1 MiB", bars,
                    Axis("1: as fast as the links allow", "number", low=0.0, high=1.0),
                    legend=[("pipering", PIPERING), ("stock Open MPI 5.0.7", STOCK)])


def draw(results):
    """The picture, as SVG that reads on light and on dark pages."""
    return svg.render(chart(results), standalone=True)
