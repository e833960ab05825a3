# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Tables and verdicts of worringer, from TSV files of fold, and of fig5, from that of stages."""

from measured import values
from tables import at_least, at_most, main, mean, size

THRESHOLD = 32768  # of the paper, from where on it takes a pipeline


class Folds:
    """Times by collective, bytes, ranks and arm; an arm with a block size that is linear in P is
    linear-B, and threshold is the paper's rule, put together from what was measured."""

    def __init__(self, rows, names="", forced="", column="min_s"):
        self.names, self.forced = dict(word.rsplit("=", 1) for word in names.split(",") if word), \
            forced
        self.times = {(row["coll"], row["total"], row["p"], self.name(row["arm"])): row[column]
                      for row in rows}
        self.ranks = values(rows, "p")
        self.cells = list(dict.fromkeys((row["coll"], row["total"]) for row in rows))

    def name(self, arm):
        return "linear-B" if ":B=" in arm else self.names.get(arm, arm)

    def get(self, coll, total, p, arm):
        if arm == "threshold":
            arm = self.forced if total >= THRESHOLD else "default"
        return self.times[coll, total, p, arm]

    def bandwidth(self, coll, total, p, arm):
        return total / self.get(coll, total, p, arm) / 1e6

    def faster(self, coll, other, least=THRESHOLD, ranks=None):
        """{(bytes, P): times that pipering is faster than another arm} from so many bytes on."""
        return {(total, p): self.get(coll, total, p, other) / self.get(coll, total, p, "pipering")
                for found, total in self.cells if found == coll and total >= least
                for p in ranks or self.ranks}

    def head(self, text):
        print(f"{text:14}" + "".join(f" {f'P = {p:.0f}':>7}" for p in self.ranks))


def show(rows, coll, names, forced, tables):
    """Tables of a collective, and what pipering's own choice of block and threshold is worth."""
    folds = Folds(rows, names, forced)
    for arm in tables.split(","):
        folds.head(arm)
        for _, total in folds.cells:
            print(f"{size(total):>14}" + "".join(
                f" {folds.bandwidth(coll, total, p, arm):7.2f}" for p in folds.ranks))
    for arm, text, least in (
            ("linear-B", "B linear in P (20 KiB at P = 8, 4 KiB at 256), from 32 KiB on",
             THRESHOLD),
            ("threshold", "threshold: the pipeline from 32 KiB on, the default below", 0)):
        ratios = folds.faster(coll, arm, least).values()
        print(f"{text}:\n    pipering is {min(ratios):.2f} to {max(ratios):.2f} times as fast, "
              f"geometric mean {mean(ratios):.2f}")
    return folds


def peak(found):
    """(the largest value, where it is)."""
    total, p = max(found, key=found.get)
    return found[total, p], f"P = {p:.0f}, {size(total)}"


def average(found):
    return sum(found.values()) / len(found)


def bcast(rows, **words):
    folds = show(rows, "bcast", **words)
    at_least("bcast, P = 8, 4M: times faster than binomial",
             folds.faster("bcast", "binomial")[4194304, 8], 2.1)
    eight, three = (folds.bandwidth("bcast", 4194304, p, "pipering") for p in (8, 3))
    at_most("bcast, 4M: % of bandwidth lost from P = 3 to P = 8", 100 * (1 - eight / three), 10)


def reduce(rows, **words):
    folds = show(rows, "reduce", **words)
    found = folds.faster("reduce", "binomial")
    print("reduce, all P, 32K..4M: times faster than binomial, "
          f"mean {average(found):.2f}, peak {peak(found)[0]:.2f}")
    found = folds.faster("reduce", "default")
    at_least("reduce, all P, 32K..4M: times faster than the default, mean", average(found), 3)
    most, where = peak(found)
    at_least(f"reduce, times faster than the default, peak ({where})", most, 4)


def scan(rows, **words):
    folds = show(rows, "scan", **words)
    at_least("scan, P = 8, 640K: times faster than the default",
             folds.faster("scan", "default")[655360, 8], 4.5)


def allreduce(rows, **words):
    folds = show(rows, "allreduce", **words)
    off = [p for p in folds.ranks if int(p) & (int(p) - 1)]
    most, where = peak(folds.faster("allreduce", "Rabenseifner", ranks=off))
    at_least(f"allreduce, times faster than Rabenseifner off 2^k, peak ({where})", most, 2)


def identity(rows):
    folds, worst = Folds(rows), 0
    folds.head("serial / sum")
    for total in (total for coll, total in folds.cells if coll == "allreduce"):
        ratios = [folds.get("allreduce", total, p, "serial")
                  / sum(folds.get(coll, total, p, "pipeline") for coll in ("reduce", "bcast"))
                  for p in folds.ranks]
        worst = max(worst, *(abs(ratio - 1) for ratio in ratios))
        print(f"{size(total):>14}" + "".join(f" {ratio:7.3f}" for ratio in ratios))
    at_most("time of serial against reduce and bcast: largest difference, %", 100 * worst, 10)


def onenode(rows, names):
    """Ratios of pipering to other arms, by their ratios to the same stock."""
    folds, means = Folds(rows, names, column="to_stock"), {}
    for other in ("default", "tuned", "sm", "forced"):
        folds.head("to " + other)
        found = {cell: [folds.get(*cell, p, "pipering") / folds.get(*cell, p, other)
                        for p in folds.ranks] for cell in folds.cells}
        for (coll, total), ratios in found.items():
            print(f"{coll:9} {size(total):>4}" + "".join(f" {ratio:7.2f}" for ratio in ratios))
        means[other] = mean(ratio for ratios in found.values() for ratio in ratios)
        if other != "default":
            print(f"geometric mean of the ratios to {other}: {means[other]:.3f}")
    at_most("geometric mean of the ratios to default", means["default"], 1.05)


def model(rows):
    """The best block sizes, and what flow control costs with blocks of 8 KB."""
    for row in rows:
        if row["chart"] == "best":
            print(f"{row['series']:7}: best block {row['x'] / 1024:5.1f} KiB, "
                  f"{row['mb_s']:.1f} MB/s")
    flow = {row["series"]: row["mb_s"] for row in rows
            if row["chart"] == "flow" and row["x"] == 8192}
    for series, rate in flow.items():
        print(f"{series}: {100 * (1 - rate / flow['t_fc x 1']):.1f}% of bandwidth lost")


main({table.__name__: table for table in (
    bcast, reduce, scan, allreduce, identity, onenode, model)})
