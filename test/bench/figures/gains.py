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

from drawings import Y
from pipering_tuning.charts import number
from plot import Axis, bars, svg

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


def parts(results):
    """[(call, part of the limit that stock reaches, that of pipering)] in the text of
    docs/results.md."""
    return [(f"Allgatherv, {name}", _limit(results, name) / stock, part)
            for name, stock, part in _rows(results, "MPI_Allgatherv")] + \
        [(name.replace("MPI_", ""), stock, part)
         for name, stock, part in _rows(results, "Broadcast, reductions and scans")]


def draw(results):
    """The picture, as SVG."""
    found = parts(results)
    return svg(bars("Part of the wire limit: 8 nodes, 100 Mbit/s, 1 MiB",
                    Axis("1: as fast as the links allow", number, 0, Y, (0, 1)),
                    {"stock Open MPI 5.0.7": {name: {"y": stock} for name, stock, _ in found},
                     "pipering": {name: {"y": ours} for name, _, ours in found}}))
