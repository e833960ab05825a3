# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Charts as data: what is drawn, without how. svg.py and png.py draw them.

Quantities are in base units (seconds, bytes, fractions); an axis names its unit, and formats it.
A tone is a place in the palette of svg.py: 0 is grey, for what others are compared with.
"""

import math
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple


@dataclass
class Point:
    """A measured or modelled value; low and high are the ends of its interval, if it has one."""

    x: float
    y: float
    low: Optional[float] = None
    high: Optional[float] = None
    note: str = ""


@dataclass
class Series:
    """Points in the order of x. Without marks they are a line alone, without line marks alone."""

    name: str
    points: List[Point]
    tone: int = 1
    line: bool = True
    marks: bool = True
    dashed: bool = False


@dataclass
class Axis:
    """unit: seconds, bytes, percent, ratio or number; log: base of a logarithmic axis, 0: linear.
    low and high widen the axis beyond the points."""

    label: str
    unit: str = "number"
    log: int = 0
    low: Optional[float] = None
    high: Optional[float] = None


@dataclass
class LineChart:
    """Lines over x. level is a horizontal line with its label; diagonal draws y = x."""

    title: str
    series: List[Series]
    x: Axis
    y: Axis
    level: Optional[Tuple[float, str]] = None
    diagonal: str = ""


@dataclass
class Bar:
    """A row: its value with its interval, on a line of its own."""

    label: str
    value: float
    low: Optional[float] = None
    high: Optional[float] = None
    tone: int = 1
    note: str = ""


@dataclass
class BarChart:
    """Horizontal rows beside a common axis; values are seen as distances from the level."""

    title: str
    bars: List[Bar]
    axis: Axis
    level: Tuple[float, str] = (0.0, "")
    legend: List[Tuple[str, int]] = field(default_factory=list)


@dataclass
class Cell:
    """category is one of the chart's; text is written into the cell; marked cells have a dot."""

    category: str
    text: str = ""
    note: str = ""
    marked: bool = False


@dataclass
class MapChart:
    """Categories over two binned quantities; cells by (column, row), a missing one stays empty.
    tones holds all categories, in other charts too, so that each looks alike everywhere; its letter
    stands in its cells, so that no colour has to be told apart. mark says what a dot means."""

    title: str
    columns: List[str]
    rows: List[str]
    cells: Dict[Tuple[int, int], Cell]
    xlabel: str
    ylabel: str
    tones: Dict[str, int]
    mark: str = ""


# ---- values as people write them


def number(value, digits=3):
    """So many digits that count, without an exponent where that is readable: 0.0123, 1250."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "-"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    text = f"{round(value, decimals):.{max(0, decimals)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def seconds(value, digits=3):
    """0.00123 -> 1.23 ms"""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(value) >= size * 0.9995:
            return f"{number(value / size, digits)} {unit}"
    return "0" if value == 0 else f"{number(value / 1e-9, digits)} ns"


def size(value, digits=3):
    """65536 -> 64 KiB"""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if value >= 2**power:
            return f"{number(value / 2 ** power, digits)} {unit}"
    return f"{number(value, digits)} B"


def percent(value, digits=3):
    """0.25 -> 25%"""
    return f"{number(100 * value, digits)}%"


FORMATS = {
    "seconds": seconds,
    "bytes": size,
    "percent": percent,
    "ratio": lambda value, digits=3: f"{number(value, digits)}×",
    "number": number,
}


def show(axis, value, digits=3):
    """The value in the axis' unit."""
    return FORMATS[axis.unit](value, digits)


# ---- ranges and ticks


def extent(axis, values):
    """(low, high) of the axis over the values, never empty; powers and logarithms stay positive."""
    values = [v for v in values if v is not None and math.isfinite(v) and (v > 0 or not axis.log)]
    values += [v for v in (axis.low, axis.high) if v is not None]
    low, high = (min(values), max(values)) if values else (1.0, 10.0)
    if not axis.log:
        pad = (high - low or abs(high) or 1.0) * 0.06
        if low == high:
            return low - pad, high + pad
        return (axis.low if axis.low is not None else low - pad,
                axis.high if axis.high is not None else high + pad)
    if high / low < 1.5:
        return low / 1.3, high * 1.3
    pad = (high / low) ** 0.05
    return low / pad, high * pad


def linear_ticks(low, high, most=6):
    """Round values, at most so many."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    for factor in (1, 2, 2.5, 5, 10, 20):
        first = math.ceil(low / (step * factor) - 1e-9)
        last = math.floor(high / (step * factor) + 1e-9)
        if last - first + 1 <= most:
            break
    return [i * step * factor for i in range(first, last + 1)]


def power_ticks(low, high, most=6):
    """Powers of two, every so many that there are at most `most`; of a short range, quarters
    between them too, or round values."""
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    step = max(1, math.ceil((last - first + 1) / most))
    found = [2.0**i for i in range(first + (-first) % step, last + 1, step)]
    if len(found) < 3:
        parts = [m * 2.0**i for i in range(first - 1, last + 1) for m in (1, 1.25, 1.5, 1.75)]
        parts = [part for part in parts if low <= part <= high]
        found = parts if 2 <= len(parts) <= most else found
    return found if len(found) > 1 else linear_ticks(low, high, most)


def decade_ticks(low, high, most=6):
    """1, 2 and 5 of each decade, or fewer of them, or every so many decades; of a short range,
    round values."""
    if high / low < 4:
        return [tick for tick in linear_ticks(low, high, most) if tick > 0]
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for marks in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 3, 5), (1, 2, 5), (1, 3), (1,)):
        ticks = [m * 10.0**i for i in range(first, last + 1) for m in marks]
        ticks = [t for t in ticks if low <= t <= high]
        if len(ticks) <= most:
            return ticks
    return ticks[:: math.ceil(len(ticks) / most)]


def ticks(axis, low, high, most=6):
    """Values to label between low and high."""
    if axis.log == 2:
        return power_ticks(low, high, most)
    if axis.log:
        return decade_ticks(low, high, most)
    return linear_ticks(low, high, most)


def place(axis, low, high, value):
    """Where the value is between low (0) and high (1)."""
    if axis.log:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)
