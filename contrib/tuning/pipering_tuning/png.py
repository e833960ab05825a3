# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Draws the charts of lines and rows as PNG, for slides and papers, where matplotlib is installed
(3.5 or later).

SVG is always there (svg.py), from the same data.
"""

from . import charts, svg

MARKERS = "os^DvP_|"
INCHES = (5.0, 3.6)
# That a figure takes a layout and ticks their labels; earlier ones do not say their version so.
LEAST_VERSION = (3, 5)


def available():
    """Is a matplotlib installed that can draw the charts?"""
    try:
        import matplotlib  # pylint: disable=import-outside-toplevel
    except ImportError:
        return False
    return LEAST_VERSION <= tuple(getattr(matplotlib, "__version_info__", ()))


def write(chart, path):
    """Writes the chart; false if matplotlib is not installed, or it is a map."""
    draw = {charts.LineChart: _lines, charts.BarChart: _bars}.get(type(chart))
    if draw is None or not available():
        return False
    from matplotlib.figure import Figure  # pylint: disable=import-outside-toplevel

    figure = Figure(figsize=INCHES, dpi=200, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(chart.title, fontsize=10, loc="left")
    axes.grid(color="#dfe3e8", linewidth=0.6)
    draw(chart, axes)
    figure.savefig(path)
    return True


def _scale(axes, name, axis):
    """The axis' scale, name, and ticks with their unit."""
    if axis.log:
        getattr(axes, f"set_{name}scale")("log", base=axis.log)
    getattr(axes, f"set_{name}label")(axis.label)
    ends = sorted(getattr(axes, f"get_{name}lim")())
    marks = charts.ticks(axis, *ends)
    getattr(axes, f"set_{name}ticks")([], minor=True)
    getattr(axes, f"set_{name}ticks")(marks, [charts.show(axis, mark) for mark in marks])
    getattr(axes, f"set_{name}lim")(*ends)


def _errors(points):
    """Lengths of the intervals below and above; None if a point has none."""
    if not points or any(p.low is None or p.high is None for p in points):
        return None
    return [[max(0, p.y - p.low) for p in points], [max(0, p.high - p.y) for p in points]]


def _lines(chart, axes):
    for series in chart.series:
        points = svg.usable(chart, series)
        axes.errorbar([p.x for p in points], [p.y for p in points], yerr=_errors(points),
                      label=series.name or None, color=svg.LIGHT[series.tone % svg.TONES],
                      marker=MARKERS[series.tone % len(MARKERS)] if series.marks else None,
                      linestyle=("--" if series.dashed else "-") if series.line else "none",
                      markersize=4, linewidth=1.4)
    if chart.level:
        axes.axhline(chart.level[0], color=svg.LIGHT[0], linestyle=":", linewidth=1)
    _scale(axes, "x", chart.x)
    _scale(axes, "y", chart.y)
    if sum(bool(series.name) for series in chart.series) > 1:
        axes.legend(fontsize=8, frameon=False)


def _bars(chart, axes):
    for row, bar in enumerate(chart.bars):
        color = svg.LIGHT[bar.tone % svg.TONES]
        low = bar.value if bar.low is None else bar.low
        high = bar.value if bar.high is None else bar.high
        axes.errorbar([bar.value], [row], xerr=[[max(0, bar.value - low)],
                                                [max(0, high - bar.value)]],
                      color=color, marker=MARKERS[bar.tone % len(MARKERS)], markersize=4)
    axes.axvline(chart.level[0], color=svg.LIGHT[0], linewidth=1)
    axes.set_yticks(range(len(chart.bars)), [bar.label for bar in chart.bars])
    _scale(axes, "x", chart.axis)
    axes.invert_yaxis()
