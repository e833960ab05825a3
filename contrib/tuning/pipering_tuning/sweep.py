# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Sweep: calls with the block size that the model chooses, and with others, in turns, so that
whoever tunes sees whether the model is right here."""

import math
from collections import namedtuple
from statistics import fmean, median

from .calls import call

BLOCK = "coll_pipering_block_size"
FACTORS = (0.25, 0.5, 2, 4)
CALLS = [f"{what}:{place}" for what in ("allgatherv:regular", "allgatherv:spike",
                                        "allgatherv:broadcast", "bcast:regular", "scan:regular",
                                        "allreduce:regular") for place in (0.75, 1.0)]
WARMUP, REPS = 2, 9

Row = namedtuple("Row", "call algorithm block predicted seconds ratios")
"""block: bytes, of the model, 0: the call is not cut into blocks; predicted, seconds: of the call,
as the model says and as measured; ratios: {bytes of a block: its time by that of the model's}."""


def _cells(call_of_cell, sizes):
    """Cells of a call with these block sizes; 0: the model's."""
    return [{"cell": str(size), **call_of_cell.cell(), "warmup": WARMUP, "reps": REPS,
             "set": {BLOCK: size}} for size in sizes]


def _others(block, total):
    """Sizes to try beside the model's."""
    return [size for size in (int(block * factor) for factor in FACTORS) if 64 <= size <= total]


def sweep(place, largest, variables):
    """[Row] of CALLS, in one job with these variables."""
    results, rows = {}, []

    def groups():
        for one in (call(text, largest, place.machine["ranks"]) for text in CALLS):
            results.clear()
            yield _cells(one, [0])
            own = results["0"]
            if "ok" != own["status"]:
                continue
            block = own.get("block", 0)
            sizes = _others(block, one.total) if block else []
            if sizes:
                yield _cells(one, [0, *sizes])
            rows.append(_row(one, own, results, sizes))

    place.run(groups(), results.__setitem__, variables)
    return rows


def _row(one, own, results, sizes):
    seconds = median(results["0"]["seconds"] or own["seconds"])
    ratios = {size: median(results[str(size)]["seconds"]) / seconds for size in sizes
              if "ok" == results[str(size)]["status"]}
    return Row(one, own["algorithm"], own.get("block", 0), own.get("predicted", 0), seconds, ratios)


def sentence(rows):
    """What the sweep says of the model's block sizes."""
    losses = {row.call: max(1.0, 1 / min(row.ratios.values())) for row in rows if row.ratios}
    if not losses:
        return f"No call of the sweep is cut into blocks here: {BLOCK} changes nothing."
    mean = math.exp(fmean(map(math.log, losses.values())))
    worst = max(losses, key=losses.get)
    return f"Blocks of the model's size: calls take {mean:.2f} times as long as with the best of " \
           f"those tried, {worst} {losses[worst]:.2f} times."
