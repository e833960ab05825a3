# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""report.txt: the verdict first, then tables."""

from . import charts
from .sweep import FACTORS, sentence


def table(title, rows, head):
    """Lines with rows of values below a title; none without rows."""
    if not rows:
        return []
    texts = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*texts)]
    return ["", f"{title}:"] + ["  " + "  ".join(
        cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in texts]


def changed(interval):
    """faster, slower, or same: as far as can be told from the noise."""
    return "faster" if interval.high < 1 else "slower" if interval.low > 1 else "same"


def _proven(row):
    call, before, after, ratio = row
    return [call, charts.seconds(before), charts.seconds(after), charts.number(ratio.middle),
            f"{ratio.low:.3g} to {ratio.high:.3g}", changed(ratio)]


def _swept(row):
    by_factor = [next((charts.number(ratio) for size, ratio in row.ratios.items()
                       if size == int(row.block * factor)), "-") for factor in FACTORS]
    return [row.call, row.algorithm, charts.size(row.block) if row.block else "-",
            charts.seconds(row.seconds), charts.seconds(row.predicted) if row.predicted else "-",
            *by_factor]


def make(place, swept, proof):
    """The text of the report."""
    facts = [[name, ", ".join(map(str, value)) if isinstance(value, list) else value]
             for name, value in place.machine.items()]
    return "\n".join([
        proof.sentence, *proof.notes, sentence(swept),
        *table("Calls without the file of the machine and with it: medians",
               [_proven(row) for row in proof.rows],
               ["call", "without", "with", "ratio", "95% interval", ""]),
        *table("Calls with other block sizes than the model's: time by that with the model's",
               [_swept(row) for row in swept],
               ["call", "algorithm", "block", "time", "predicted",
                *(f"x {factor:g}" for factor in FACTORS)]),
        *table("Machine", facts, ["what", "value"]), ""])
