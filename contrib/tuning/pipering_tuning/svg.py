# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Draws charts as SVG.

A chart is WIDTH units wide, so that its text stays readable on a narrow screen; wide screens
show several beside each other. Colours are classes (STYLE), with other values on a dark screen:
a page that holds charts has STYLE once, a file of its own brings it along.
"""

from html import escape

from . import charts

WIDTH = 360
FONT = 12
# Estimated width of a letter: there is no font to ask.
LETTER = 0.6 * FONT
LINE = 16
RIGHT = 12
PLOT = 168
MARGIN = 12  # around a chart in a file of its own
NAMESPACE = "http://www.w3.org/2000/svg"

# Okabe and Ito's colours, which colour-blind people can tell apart, with the yellow ones darkened
# on white. 0 is grey: what others are compared with.
LIGHT = ["#6b7280", "#0068a8", "#c8500a", "#00856a", "#a8478c", "#8a6d00", "#2f8fc9", "#30363d"]
DARK = ["#a3abb6", "#5db3f0", "#ff9556", "#3ecfa5", "#e79ccb", "#e6c252", "#9ad4f7", "#e6e9ee"]
TONES = len(LIGHT)


def _palette(colors):
    return "".join(f".k{i}{{color:{color}}}" for i, color in enumerate(colors))


STYLE = (
    ".chart{color:#1b2330;font:%dpx system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}"
    ".chart text{fill:currentColor}.chart .title{font-weight:600;font-size:13px}"
    ".chart .soft{color:#5b6573}.chart .grid{color:#dfe3e8}.chart .paper{color:#fff}%s"
    "@media(prefers-color-scheme:dark){.chart{color:#e4e8ee}.chart .soft{color:#a0a9b5}"
    ".chart .grid{color:#333b46}.chart .paper{color:#12161c}%s}"
    % (FONT, _palette(LIGHT), _palette(DARK))
)


# ---- elements


def _tag(name, content="", **attributes):
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_plain(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{words}>{content}</{name}>" if content else f"<{name}{words}/>"


def _plain(value):
    if isinstance(value, float):
        return f"{value:.1f}".rstrip("0").rstrip(".")
    return escape(str(value))


def _text(x, y, content, anchor="start", kind=None, **more):
    return _tag("text", escape(content), x=float(x), y=float(y), text_anchor=anchor, class_=kind,
                **more)


def _line(x1, y1, x2, y2, kind=None, width=1.0, **more):
    return _tag("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=kind,
                stroke="currentColor", stroke_width=width, **more)


def _hover(content, note):
    """The elements with a note that browsers show under the pointer."""
    return _tag("g", _tag("title", escape(note)) + content) if note else content


# Marks differ in shape too, so that series can be told apart without colour.
_SHAPES = [
    "M-3.4,0a3.4,3.4 0 1,0 6.8,0a3.4,3.4 0 1,0 -6.8,0",  # circle
    "M-3.1,-3.1h6.2v6.2h-6.2z",  # square
    "M0,-4.2L3.9,2.8H-3.9z",  # triangle
    "M0,-4.3L4.3,0L0,4.3L-4.3,0z",  # diamond
    "M0,4.2L3.9,-2.8H-3.9z",  # triangle, upside down
    "M-3.6,-1.3h2.3v-2.3h2.6v2.3h2.3v2.6h-2.3v2.3h-2.6v-2.3h-2.3z",  # plus
    "M-4.2,-1.8h8.4v3.6h-8.4z",  # wide
    "M-1.8,-4.2h3.6v8.4h-3.6z",  # high
]


def _mark(x, y, tone):
    return _tag("path", d=_SHAPES[tone % len(_SHAPES)], fill="currentColor",
                transform=f"translate({x:.1f} {y:.1f})")


def _wide(text):
    return LETTER * len(text)


def _wrap(text, width):
    """Lines of the text that are at most so wide; a long word keeps a line of its own."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and _wide(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


# ---- what all charts have


class _Sheet:
    """The elements of a chart, and how far down it reaches."""

    def __init__(self, title):
        self.parts = []
        self.bottom = 4.0
        for line in _wrap(title, (WIDTH - 4) * 0.9):
            self.bottom += LINE
            self.add(_text(0, self.bottom - 3, line, kind="title"))

    def add(self, *parts):
        self.parts.extend(parts)

    def legend(self, entries):
        """entries: (name, tone, glyph), glyph being the element beside the name at (0, 0)."""
        x, y = 0.0, self.bottom + LINE - 2
        for name, tone, glyph in entries:
            width = 20 + _wide(name) + 14
            if x > 0 and x + width > WIDTH + 10:
                x, y = 0.0, y + LINE
            self.add(_tag("g", glyph, class_=f"k{tone % TONES}",
                          transform=f"translate({x:.1f} {y - 3.5:.1f})"))
            self.add(_text(x + 22, y, name))
            x += width + 4
        self.bottom = y + 4

    def close(self, title, standalone):
        """The whole chart; as a file of its own with its style and a background."""
        if standalone:
            return self._file(title)
        return _tag("svg", _tag("title", escape(title)) + "\n".join(self.parts),
                    xmlns=NAMESPACE, class_="chart", role="img",
                    viewBox=f"0 0 {WIDTH} {self.bottom:.0f}")

    def _file(self, title):
        wide, high = WIDTH + 2 * MARGIN, round(self.bottom) + 2 * MARGIN
        background = _tag("rect", x=-MARGIN, y=-MARGIN, width=wide, height=high, class_="paper",
                          fill="currentColor")
        return _tag("svg", _tag("title", escape(title)) + _tag("style", STYLE) + background
                    + "\n".join(self.parts), xmlns=NAMESPACE, class_="chart", role="img",
                    viewBox=f"{-MARGIN} {-MARGIN} {wide} {high}", width=2 * wide)


class _Frame:
    """The plotting area of a sheet: axes, and where values are."""

    def __init__(self, sheet, x, y, xs, ys, height=PLOT):
        self.x, self.y = x, y
        self.xlow, self.xhigh = charts.extent(x, xs)
        self.ylow, self.yhigh = charts.extent(y, ys)
        sheet.add(_text(0, sheet.bottom + LINE, y.label, kind="soft"))
        self.top = sheet.bottom + LINE + 9
        self.base = self.top + height
        labels = [charts.show(y, tick) for tick in charts.ticks(y, self.ylow, self.yhigh)]
        self.left = max(30.0, max(map(_wide, labels), default=0.0) + 10)
        self._rows(sheet)
        self._columns(sheet)
        sheet.bottom = self.base + 2.3 * LINE

    def _rows(self, sheet):
        for tick in charts.ticks(self.y, self.ylow, self.yhigh):
            at = self.down(tick)
            sheet.add(_line(self.left, at, WIDTH - RIGHT, at, "grid"))
            sheet.add(_text(self.left - 6, at + 3.8, charts.show(self.y, tick), "end", "soft"))

    def _columns(self, sheet):
        end = -1e9
        sheet.add(_line(self.left, self.base, WIDTH - RIGHT, self.base, "soft"))
        for tick in charts.ticks(self.x, self.xlow, self.xhigh):
            at, label = self.across(tick), charts.show(self.x, tick)
            if at - _wide(label) / 2 < end + 6:
                continue
            end = at + _wide(label) / 2
            sheet.add(_line(at, self.base, at, self.base + 4, "soft"))
            sheet.add(_text(min(at, WIDTH - _wide(label) / 2), self.base + LINE, label, "middle",
                            "soft"))
        sheet.add(_text((self.left + WIDTH - RIGHT) / 2, self.base + 2 * LINE - 1, self.x.label,
                        "middle", "soft"))

    def across(self, value):
        part = charts.place(self.x, self.xlow, self.xhigh, value)
        return self.left + part * (WIDTH - RIGHT - self.left)

    def down(self, value):
        part = charts.place(self.y, self.ylow, self.yhigh, value)
        return self.base - min(1.02, max(-0.02, part)) * (self.base - self.top)


# ---- lines


def usable(chart, series):
    """The points that a logarithmic axis can show."""
    return [p for p in series.points
            if (p.x > 0 or not chart.x.log) and (p.y > 0 or not chart.y.log)]


def _glyph(series):
    line = _line(0, 0, 17, 0, width=1.8, stroke_dasharray="4 3" if series.dashed else None)
    return (line if series.line else "") + (_mark(8.5, 0, series.tone) if series.marks else "")


def _interval(frame, point):
    """The bar of the point's interval, cut off where a logarithm would be."""
    if point.low is None or point.high is None:
        return ""
    low = max(point.low, frame.ylow) if frame.y.log else point.low
    x = frame.across(point.x)
    return _line(x, frame.down(low), x, frame.down(point.high), width=1.3, stroke_opacity="0.65")


def _note(chart, series, point):
    """What the pointer shows."""
    value = charts.show(chart.y, point.y)
    if point.low is not None and point.high is not None:
        value += f" ({charts.show(chart.y, point.low)} to {charts.show(chart.y, point.high)})"
    note = f"{series.name}: {charts.show(chart.x, point.x)}, {value}"
    return f"{note}. {point.note}" if point.note else note


def _draw_series(sheet, frame, chart, series):
    points = usable(chart, series)
    parts = []
    if series.line and len(points) > 1:
        path = " ".join(f"{frame.across(p.x):.1f},{frame.down(p.y):.1f}" for p in points)
        parts.append(_tag("polyline", points=path, fill="none", stroke="currentColor",
                          stroke_width=1.8, stroke_linejoin="round",
                          stroke_dasharray="4 3" if series.dashed else None))
    for point in points if series.marks else []:
        mark = _mark(frame.across(point.x), frame.down(point.y), series.tone)
        parts.append(_hover(_interval(frame, point) + mark, _note(chart, series, point)))
    sheet.add(_tag("g", "".join(parts), class_=f"k{series.tone % TONES}") if parts else "")


def _draw_references(sheet, frame, chart):
    if chart.level:
        y = frame.down(chart.level[0])
        sheet.add(_line(frame.left, y, WIDTH - RIGHT, y, "soft", stroke_dasharray="2 3"))
        sheet.add(_text(WIDTH - RIGHT, y - 4, chart.level[1], "end", "soft"))
    if chart.diagonal:
        low, high = max(frame.xlow, frame.ylow), min(frame.xhigh, frame.yhigh)
        if low < high:
            sheet.add(_line(frame.across(low), frame.down(low), frame.across(high),
                            frame.down(high), "soft", stroke_dasharray="2 3"))
            sheet.add(_text(frame.across(high) - 12, frame.down(high) + 6, chart.diagonal, "end",
                            "soft"))


def _line_chart(chart, standalone):
    sheet = _Sheet(chart.title)
    named = [series for series in chart.series if series.name]
    if len(named) > 1:
        sheet.legend([(series.name, series.tone, _glyph(series)) for series in named])
    points = [p for s in chart.series for p in usable(chart, s)]
    ends = [v for p in points for v in (p.y, p.low, p.high)]
    ends += [chart.level[0]] if chart.level else []
    frame = _Frame(sheet, chart.x, chart.y, [p.x for p in points], ends)
    _draw_references(sheet, frame, chart)
    for series in chart.series:
        _draw_series(sheet, frame, chart, series)
    return sheet.close(chart.title, standalone)


# ---- rows


ROW = 19


def _bar_row(frame, bar, y, level):
    x, start = frame.across(bar.value), frame.across(level)
    parts = [_tag("rect", x=min(x, start), y=y - 5.0, width=max(0.8, abs(x - start)), height=10,
                  fill="currentColor", fill_opacity="0.32", rx=1)]
    if bar.low is not None and bar.high is not None:
        parts.append(_line(frame.across(bar.low), y, frame.across(bar.high), y, width=1.6))
    parts.append(_mark(x, y, bar.tone))
    return _tag("g", "".join(parts), class_=f"k{bar.tone % TONES}")


class _RowFrame:
    """The plotting area of rows: one axis across, labels to the left."""

    def __init__(self, sheet, chart):
        ends = [v for b in chart.bars for v in (b.value, b.low, b.high)] + [chart.level[0]]
        self.axis = chart.axis
        self.low, self.high = charts.extent(chart.axis, ends)
        widest = max((_wide(bar.label) for bar in chart.bars), default=0.0)
        self.left = min(WIDTH * 0.48, widest + 8)
        self.top = sheet.bottom + 8
        self.base = self.top + ROW * len(chart.bars) + 4
        end = -1e9
        for tick in charts.ticks(chart.axis, self.low, self.high, 5):
            at, label = self.across(tick), charts.show(chart.axis, tick)
            sheet.add(_line(at, self.top, at, self.base, "grid"))
            if at - _wide(label) / 2 >= end + 6:
                sheet.add(_text(min(at, WIDTH - _wide(label) / 2), self.base + LINE - 2, label,
                                "middle", "soft"))
                end = at + _wide(label) / 2
        sheet.add(_text((self.left + WIDTH - RIGHT) / 2, self.base + 2 * LINE - 2,
                        chart.axis.label, "middle", "soft"))
        sheet.bottom = self.base + 2 * LINE + 4

    def across(self, value):
        part = charts.place(self.axis, self.low, self.high, value)
        return self.left + min(1.0, max(0.0, part)) * (WIDTH - RIGHT - self.left)


def _bar_chart(chart, standalone):
    sheet = _Sheet(chart.title)
    if chart.legend:
        sheet.legend([(name, tone, _mark(8.5, 0, tone)) for name, tone in chart.legend])
    frame = _RowFrame(sheet, chart)
    level, label = chart.level
    sheet.add(_line(frame.across(level), frame.top - 2, frame.across(level), frame.base, "soft"))
    if label:
        sheet.add(_text(frame.across(level), frame.top - 5, label, "middle", "soft"))
    for i, bar in enumerate(chart.bars):
        y = frame.top + ROW * (i + 0.5) + 2
        text = bar.label
        if _wide(text) > frame.left - 6:
            text = text[: int((frame.left - 6) / LETTER) - 1] + "…"
        note = bar.note or f"{bar.label}: {charts.show(chart.axis, bar.value)}"
        sheet.add(_hover(_text(0, y + 3.8, text) + _bar_row(frame, bar, y, level), note))
    return sheet.close(chart.title, standalone)


# ---- maps


CELL = 26


def letters(categories):
    """A letter for each category: the first of one of its words that is free, else any of its
    letters or a digit. Short names choose first."""
    taken = {}
    for category in sorted(categories, key=lambda name: (len(name), name)):
        wanted = [word[0] for word in category.split("_") if word] + list(category)
        free = [c.upper() for c in wanted if c.upper() not in taken.values()]
        taken[category] = free[0] if free else str(len(taken) % 10)
    return taken


def _cell(x, y, width, cell, letter, tone):
    parts = [_tag("rect", x=x + 1, y=y + 1, width=width - 2, height=CELL - 2.0, rx=2,
                  fill="currentColor", fill_opacity="0.36", class_=f"k{tone % TONES}"),
             _text(x + width / 2, y + CELL / 2 + 4, cell.text or letter, "middle",
                   font_weight="600")]
    if cell.marked:
        parts.append(_tag("circle", cx=x + width - 5, cy=y + 6, r=2.2, fill="currentColor"))
    return _hover("".join(parts), cell.note)


def _map_chart(chart, standalone):
    sheet = _Sheet(chart.title)
    letter = letters(chart.tones)
    used = {cell.category for cell in chart.cells.values()}
    swatch = _tag("rect", x=1, y=-6, width=14, height=12, rx=2, fill="currentColor",
                  fill_opacity="0.5")
    entries = [(f"{letter[name]}  {name}", tone, swatch) for name, tone in chart.tones.items()
               if name in used]
    if chart.mark:
        entries.append((chart.mark, 7, _tag("circle", cx=8, cy=0, r=2.6, fill="currentColor")))
    sheet.legend(entries)
    left = min(110.0, max((_wide(row) for row in chart.rows), default=0) + 8)
    width = min(44.0, (WIDTH - left) / max(1, len(chart.columns)))
    sheet.add(_text(0, sheet.bottom + LINE, chart.ylabel, kind="soft"))
    top = sheet.bottom + LINE + 6
    for j, row in enumerate(chart.rows):
        sheet.add(_text(left - 6, top + CELL * j + CELL / 2 + 4, row, "end", "soft"))
    for (i, j), cell in sorted(chart.cells.items()):
        sheet.add(_cell(left + width * i, top + CELL * j, width, cell, letter[cell.category],
                        chart.tones[cell.category]))
    base = top + CELL * len(chart.rows)
    _map_columns(sheet, chart, left, width, base)
    sheet.bottom = base + 2.3 * LINE
    return sheet.close(chart.title, standalone)


def _map_columns(sheet, chart, left, width, base):
    """Labels of columns, as many as there is room for."""
    widest = max((_wide(column) for column in chart.columns), default=0)
    step = max(1, -(-int(widest + 8) // int(width)))
    for i, column in enumerate(chart.columns):
        if i % step == 0:
            sheet.add(_text(left + width * (i + 0.5), base + LINE - 1, column, "middle", "soft"))
    sheet.add(_text((left + WIDTH) / 2, base + 2 * LINE - 1, chart.xlabel, "middle", "soft"))


_KINDS = {
    charts.LineChart: _line_chart,
    charts.BarChart: _bar_chart,
    charts.MapChart: _map_chart,
}


def render(chart, standalone=False):
    """The chart as an <svg> element; standalone with its style, for a file."""
    return _KINDS[type(chart)](chart, standalone)
