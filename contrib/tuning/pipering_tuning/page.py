# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""One HTML page without scripts and without anything from elsewhere: tables, charts, text.

It reads on a narrow screen (charts below each other, rows of tables as cards) and on a wide one,
light and dark, as the reader's system asks.
"""

from html import escape

from . import svg

CSS = """
:root{color-scheme:light dark;--paper:#fff;--wash:#f4f6f8;--rule:#dfe3e8;--ink:#1b2330;
--soft:#5b6573;--link:#0059a0;--good:#00755a;--bad:#b23c00;--still:#5b6573}
@media(prefers-color-scheme:dark){:root{--paper:#12161c;--wash:#1b212a;--rule:#333b46;
--ink:#e4e8ee;--soft:#a0a9b5;--link:#7cc0f5;--good:#3ecfa5;--bad:#ff9556;--still:#a0a9b5}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--paper);color:var(--ink);line-height:1.5;
font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;font-size:16px}
main{max-width:1180px;margin:0 auto;padding:28px 24px 80px}
h1{font-size:clamp(1.45rem,1.1rem + 1.6vw,2.1rem);line-height:1.25;margin:.35em 0 .5em;
font-weight:650;letter-spacing:-.01em;max-width:32em;text-wrap:balance}
h2{font-size:1.3rem;margin:2.6em 0 .35em;padding-top:.9em;border-top:1px solid var(--rule);
letter-spacing:-.005em}
h3{font-size:1rem;margin:1.6em 0 .4em}
p{max-width:44em;margin:.5em 0 1em}
a{color:var(--link)}
code{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,monospace;font-size:.9em;
overflow-wrap:break-word}
pre{background:var(--wash);padding:12px 14px;border-radius:6px;margin:.6em 0 1.2em;
white-space:pre-wrap;overflow-wrap:anywhere}
.soft{color:var(--soft)}
.over{display:flex;flex-wrap:wrap;gap:4px 14px;align-items:center;color:var(--soft);
font-size:.92rem}
.chip{display:inline-block;font-weight:650;font-size:.88rem;padding:2px 11px;border-radius:99px;
border:1.5px solid currentColor}
.good{color:var(--good)}.bad{color:var(--bad)}.still{color:var(--still)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;
margin:1.4em 0 1.6em}
.figure{background:var(--wash);border-radius:8px;padding:12px 14px 11px}
.figure b{display:block;font-size:1.7rem;line-height:1.2;font-weight:650;letter-spacing:-.02em;
font-variant-numeric:tabular-nums}
.figure span{color:var(--soft);font-size:.86rem;line-height:1.35;display:block}
nav{font-size:.92rem;margin:1.2em 0 0;display:flex;flex-wrap:wrap;gap:4px 18px}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr));
gap:26px 34px;margin:1.1em 0;align-items:start}
.charts figure{margin:0;min-width:0}
.charts svg.chart{display:block;width:100%;height:auto;max-width:400px}
.stack{display:grid;gap:14px}
details{margin:.5em 0 1em}
summary{cursor:pointer;color:var(--link);font-size:.92rem;padding:3px 0}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
th{text-align:left;font-weight:600;color:var(--soft);border-bottom:1.5px solid var(--rule);
padding:6px 14px 6px 0;vertical-align:bottom}
td code{font-size:.86em}
td{border-bottom:1px solid var(--rule);padding:7px 14px 7px 0;vertical-align:top}
th.n,td.n{text-align:right;white-space:nowrap}
dl{display:grid;grid-template-columns:minmax(9em,max-content) 1fr;gap:5px 22px;margin:1em 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.warn{border-left:3px solid var(--bad);padding:2px 0 2px 12px}
@media(max-width:640px){
main{padding:18px 15px 60px}
table.cards,table.cards tbody,table.cards tr,table.cards td{display:block;width:100%}
table.cards thead{display:none}
table.cards tr{border-bottom:1px solid var(--rule);padding:9px 0}
table.cards td,table.cards td.n{border:0;padding:1px 0 1px 7.2em;text-align:left;
min-height:1.5em;white-space:normal;
position:relative;overflow-wrap:anywhere}
table.cards td::before{content:attr(data-label);position:absolute;left:0;width:6.8em;
color:var(--soft)}
table.cards td:first-child{padding-left:0;font-weight:600}
table.cards td:first-child::before{content:none}
dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:8px}
}
@media print{details>*{display:block}main{max-width:none}}
"""


def text(words):
    """Plain words as HTML."""
    return escape(str(words))


def code(words):
    return f"<code>{escape(str(words))}</code>"


def tag(name, content, kind=None):
    """An element; content is HTML."""
    return f'<{name} class="{kind}">{content}</{name}>' if kind else f"<{name}>{content}</{name}>"


def breakable(path):
    """Code that may be broken after each slash."""
    return code(path).replace("/", "/<wbr>").replace("</<wbr>", "</")


def paragraph(words, kind=None):
    return tag("p", text(words), kind)


def table(head, rows, cards=False):
    """head: names, those that begin with '>' are of numbers; rows: HTML of the cells. On a narrow
    screen each row of cards is a block of its own, other tables scroll."""
    names = [name.lstrip(">") for name in head]
    kinds = ["n" if name.startswith(">") else None for name in head]
    top = "".join(tag("th", text(name), kind) for name, kind in zip(names, kinds))
    body = "".join("<tr>" + "".join(_cell(*cell) for cell in zip(row, names, kinds)) + "</tr>"
                   for row in rows)
    whole = tag("thead", f"<tr>{top}</tr>") + tag("tbody", body)
    return tag("div", tag("table", whole, "cards" if cards else None), "wide")


def _cell(content, name, kind):
    words = f' class="{kind}"' if kind else ""
    return f'<td{words} data-label="{escape(name)}">{content}</td>'


def details(summary, content):
    """What is folded away until the reader asks for it."""
    return f"<details><summary>{text(summary)}</summary>{content}</details>" if content else ""


def chart_grid(charts):
    """Charts beside each other, as many as there is room for."""
    return tag("div", "".join(tag("figure", svg.render(c)) for c in charts), "charts")


def chart_stacks(stacks):
    """Stacks of charts of one thing beside each other, the charts of each below each other."""
    return tag("div", "".join(
        tag("div", "".join(tag("figure", svg.render(c)) for c in stack), "stack")
        for stack in stacks), "charts")


def figures(items):
    """Large figures with what they say: (figure, words, kind)."""
    return tag("div", "".join(
        tag("div", f'<b class="{kind}">{text(figure)}</b><span>{text(words)}</span>', "figure")
        for figure, words, kind in items), "figures")


def definitions(items):
    """(name, HTML) in two columns."""
    return tag("dl", "".join(tag("dt", text(name)) + tag("dd", value) for name, value in items))


def section(anchor, title, content):
    """A part of the page with its heading; nothing if it has no content."""
    return f'<h2 id="{anchor}">{text(title)}</h2>{content}' if content else ""


def contents(sections):
    """Links to the sections: (anchor, title)."""
    return tag("nav", "".join(f'<a href="#{anchor}">{text(title)}</a>'
                              for anchor, title in sections))


def document(title, body):
    """The whole page."""
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{text(title)}</title><style>{CSS}{svg.STYLE}</style></head>\n"
            f"<body><main>{body}</main></body></html>\n")
