# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Axes, arms and series that the drawings of several papers share."""

from dataclasses import dataclass
from typing import Callable, List

from measured import Missing, select
from pipering_tuning.charts import Axis, LineChart, Point, Series

SECONDS = Axis("time of the slowest rank, least", "seconds", 10)
CALL = Axis("time of a call, median", "seconds", 10)
COUNT = Axis("base count c", "bytes", 2)
TOTAL = Axis("bytes in all", "bytes", 2)
PART = Axis("bytes of a rank", "bytes", 2)
RANKS = Axis("ranks", "number", 2)
BLOCK = Axis("block size", "bytes", 2)
RATE = Axis("bandwidth of each rank, MB/s", "number", 10)

# Arms under the names and in the tones of all figures.
TWO_RINGS = [("standard ring", "linear", 0), ("pipelined ring", "pipering", 1)]
RINGS = TWO_RINGS + [("Open MPI", "stock", 2)]


@dataclass
class Figure:
    """A figure of a paper. draw: charts of what is in a Bench; it raises Missing."""

    name: str
    paper: str
    place: str
    caption: str
    draw: Callable[..., List]


def timed(row, x, column="min_s"):
    """The row as a point: its least time with a bar to the median, or the median with a bar from
    the least time to it."""
    return Point(x, row[column], row["min_s"], row["median_s"])


def line(name, tone, rows, x, column="min_s", **more):
    """A series of rows; x: a row's place."""
    points = sorted((timed(row, x(row), column) for row in rows), key=lambda point: point.x)
    return Series(name, points, tone, **more)


def chart(title, series, x, y):
    """A chart of the series; Missing if one of them has no points."""
    for each in series:
        if not each.points:
            raise Missing(f"{each.name} of {title}")
    return LineChart(title, series, x, y)


def by_arm(rows, arms, x, column="min_s"):
    """A series for each (name, arm, tone)."""
    return [line(name, tone, select(rows, arm=arm), x, column) for name, arm, tone in arms]


def bandwidth_line(name, tone, rows, x):
    """MB/s of each rank, from the median up to that of the least time."""
    points = [Point(x(row), row["total"] / row["min_s"] / 1e6, row["total"] / row["median_s"] / 1e6,
                    row["total"] / row["min_s"] / 1e6) for row in rows]
    return Series(name, sorted(points, key=lambda point: point.x), tone)
