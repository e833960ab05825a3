# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Charts by matplotlib, as SVG that reads on light and on dark pages. The same values give the
same bytes.
"""

import io
from collections import namedtuple

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from measured import Missing

# label; show: a value in words; base: of a logarithmic axis, 0 if it is linear; of: a row's place,
# or its value with the ends of its interval; limits: its ends, if they do not depend on rows.
Axis = namedtuple("Axis", "label show base of limits", defaults=[None])

matplotlib.rcdefaults()
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "figures", "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9, "legend.fontsize": 8, "legend.frameon": False, "lines.markersize": 5,
    "axes.axisbelow": True, "axes.grid": True, "grid.color": "#888888", "grid.alpha": 0.3,
    # Grey, and colours like Okabe and Ito's, which colour-blind people can tell apart, of a
    # lightness that stands out from white and from black.
    "axes.prop_cycle": matplotlib.cycler(
        color="#7d8590 #1f83c6 #d95f0e #0a9a78 #b65a9c #a07f00 #4ba3dc".split(),
        marker=list("os^DvPX"))})
# What is white or black in the SVG; matplotlib leaves it to the default that text is black.
DARK = ("@media(prefers-color-scheme:dark){text{fill:#e4e8ee}"
        "[style*='#ffffff']{fill:#12161c!important}[style*='#000000']{stroke:#e4e8ee!important}}")
MOST_MARKS = 24  # a line of more points has none


def _axes(title, height):
    figure = Figure(figsize=(4.8, height), constrained_layout=True)
    figure.suptitle(title, x=0.01, ha="left", weight="bold")
    return figure.add_subplot()


def _ends(rows, axis):
    """Values, and how far their intervals reach to both sides."""
    ends = [axis.of(row) for row in rows]
    return [value for value, _, _ in ends], [[value - low for value, low, _ in ends],
                                             [high - value for value, _, high in ends]]


def _finish(axes, series, **kinds):
    """The figure, with its axes of these kinds, and a legend unless there is one series."""
    for name, kind in kinds.items():
        axis = getattr(axes, name + "axis")
        if kind.base:
            getattr(axes, f"set_{name}scale")("log", base=kind.base, nonpositive="mask")
            axis.set_major_locator(LogLocator(kind.base, (1, 2, 5) if kind.base == 10 else (1,)))
            axis.set_minor_locator(NullLocator())
        axes.set(**{name + "lim": kind.limits})
        axis.set_label_text(kind.label)
        axis.set_major_formatter(lambda value, _, show=kind.show: show(value))
    if len(series) > 1:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncol=2)
    return axes.figure


def chart(title, x, y, series):
    """Lines of the rows of {name: rows}; Missing if one of them has no rows."""
    axes = _axes(title, 3.2 + 0.09 * len(series))
    for name, rows in series.items():
        if not rows:
            raise Missing(f"{name} of {title}")
        rows = sorted(rows, key=x.of)
        style = {"marker": ""} if len(rows) > MOST_MARKS else {}
        axes.errorbar([x.of(row) for row in rows], *_ends(rows, y), label=name, **style)
    return _finish(axes, series, x=x, y=y)


def bars(title, axis, series):
    """Bars of the rows of {name: {label: row}}, those of a label below each other."""
    labels, wide = list(next(iter(series.values()))), 0.8 / len(series)
    axes = _axes(title, 1.1 + 0.13 * len(labels) * (1 + len(series)))
    for count, (name, rows) in enumerate(series.items()):
        values, lengths = _ends(rows.values(), axis)
        axes.barh([row + wide * count for row in range(len(labels))], values, wide, xerr=lengths,
                  label=name)
    axes.set_yticks([row + 0.4 - wide / 2 for row in range(len(labels))])
    axes.set_yticklabels(labels)
    axes.invert_yaxis()
    axes.locator_params(axis="x", nbins=6)
    return _finish(axes, series, x=axis)


def bands(title, label, series):
    """Bands from begin to end below each other, of {name: [(begin, end)]}."""
    axes = _axes(title, 1.1 + 0.2 * len(series))
    for place, found in enumerate(series.values()):
        axes.broken_barh([(begin, end - begin) for begin, end in found], (place - 0.4, 0.8))
    axes.set_yticks(range(len(series)))
    axes.set_yticklabels(series)
    axes.invert_yaxis()
    axes.set_xlabel(label)
    return axes.figure


def svg(figure):
    """The SVG of a chart."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue().replace("</style>", DARK + "</style>", 1)
