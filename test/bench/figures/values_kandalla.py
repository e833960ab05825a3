# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Our values of the claims of Kandalla's paper.

A function has the name of its claim with _ for -, takes a Bench and returns the words of the
table; it raises Missing where a file or a row has not been measured.
"""

import drawings
from measured import median, values
from pipering_tuning.charts import number, size
from words import share, span


def _saved(bench, file, arm, other, sizes):
    """Parts of another arm's time that an arm saves, by size."""
    rows = drawings.batched(bench.rows(file))
    return [1 - median(rows, arm=arm, total=total) / median(rows, arm=other, total=total)
            for total in values(rows, "total") if sizes[0] <= total <= sizes[1]]


def kandalla_small(bench):
    return span(_saved(bench, "leaders-small", "mleader", "tuned", (8, 512)), share)


def kandalla_4k(bench):
    return span(_saved(bench, "leaders-small", "mleader", "tuned", (4096, 4096)), share)


def _over(rows, total, arms, others):
    """Least time of some arms over the least of others."""
    def best(names):
        return min(median(rows, total=total, arm=name) for name in names)
    return best(arms) / best(others)


def _messages(count):
    """Arms of so many leaders in the section of large contributions."""
    return [drawings.leader(count, f":aggregation=gather:exchange={how}")
            for how in ("recursive_doubling", "ring")]


def _at_sizes(rows, arms, others):
    return ", ".join(f"{size(total)}: {number(_over(rows, total, arms, others))}"
                     for total in values(rows, "total")) + " times the time"


def kandalla_large(bench):
    rows = bench.rows("leaders-messages")
    return _at_sizes(rows, _messages(2) + _messages(4), ["tuned"])


def kandalla_single_large(bench):
    return _at_sizes(bench.rows("leaders-messages"), _messages(1), ["tuned"])


def kandalla_several_large(bench):
    rows = bench.rows("leaders-messages")
    return "best of 2 and 4 over 1: " + _at_sizes(rows, _messages(2) + _messages(4), _messages(1))


def _single(exchange, aggregations=("gather", "ring", "recursive_doubling")):
    """Arms of one leader a node; point-to-point where nothing else is said."""
    return [drawings.leader(1, f":aggregation={aggregation}:exchange={exchange}")
            for aggregation in aggregations]


def kandalla_single(bench):
    arms = _single("recursive_doubling") + _single("ring")
    return _at_sizes(drawings.batched(bench.rows("leaders-single")), arms, ["tuned"])


def kandalla_exchange(bench):
    rows = drawings.batched(bench.rows("leaders-single"))
    return _at_sizes(rows, _single("recursive_doubling"), _single("ring"))


def _shared(bench, sizes):
    rows = drawings.batched(bench.rows("leaders-single"))
    rows = [row for row in rows if row["total"] in sizes]
    return _at_sizes(rows, _single("recursive_doubling", ["shm"]), ["tuned"])


def kandalla_tiny(bench):
    return _shared(bench, (8.0,))


def kandalla_single_shared(bench):
    return _shared(bench, (4096.0, 32768.0))


def _groups(rows, counts):
    """Arms of the file with so many leaders a node."""
    return [arm for arm in values(rows, "arm")
            if any(f":groups={count}:" in arm for count in counts)]


def kandalla_several(bench):
    rows = drawings.batched(bench.rows("leaders-leaders"))
    kinds = ("shm", "gather", "ring", "recursive_doubling")
    def arms(count):
        return [drawings.leader(count, f":aggregation={kind}") for kind in kinds]
    return "; ".join(f"{count} over 1: " + _at_sizes(rows, arms(count), arms(1))
                     for count in (2, 4))


def kandalla_eight(bench):
    rows = drawings.batched(bench.rows("leaders-sixteen"))
    def all_with_all(count):
        return [arm for arm in _groups(rows, (count,)) if arm.endswith(":scope=all")]
    parts = [span([_over(rows, total, all_with_all(count), all_with_all(4))
                   for total in values(rows, "total")]) for count in (8, 16)]
    return f"{parts[0]} times and {parts[1]} times the time"


def kandalla_placement(bench):
    rows = drawings.batched(bench.rows("leaders-leaders"))
    ratios = [_over(rows, total, [f"packed{count}"], [f"spread{count}"])
              for count in (2, 4) for total in values(rows, "total")]
    return f"{span(ratios)} times the time"


def kandalla_table(bench):
    rows = bench.rows("leaders-messages")
    leaders = _messages(1) + _messages(2) + _messages(4)
    lost = [total for total in values(rows, "total")
            if _over(rows, total, leaders, ["tuned", "stock"]) > 1]
    return f"by messages, leaders lose from {size(min(lost))} on" if lost else \
        "leaders win at all sizes measured"
