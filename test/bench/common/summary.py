#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The lines of one job or of several as a TSV file with a line for each row and arm:

    summary.py ARM,ARM... FILE...

In place of the samples (times) come

    reps min_s median_s max_s    how many, the least time, the median, the largest
    frac_min frac_median         limit_s over these
    to_stock to_tuned to_hand    the median of time / time of the first arm of this name in
                                 the same repetition

What has no value is "-". Samples of several jobs are put together in the order of the files, so
that a repetition of arms in jobs of their own is that of jobs side by side. Counts are those of an
arm's last job. Lines of the jobs that begin with "# " come first, each once.
"""

import re
import sys
from statistics import median

NEW = "reps min_s median_s max_s frac_min frac_median to_stock to_tuned to_hand".split()
BASES = ("stock", "tuned", "handall")


class Samples:
    """Those of an arm in a row."""

    def __init__(self):
        self.times, self.rest, self.right = [], [], True

    def add(self, rest, verified, times):
        self.times += [float(word) for word in times.split(",")]
        self.rest, self.right = rest, self.right and verified == "yes"


def or_none(value):
    return f"{value:.4f}" if value > 0 else "-"


def to_first(name, samples, row):
    """The median of the ratios to the first arm of a name, digits may follow; 0: there is none."""
    base = next((row[arm] for arm in row if re.match(rf"{name}\d*(:|$)", arm)), None)
    return 0 if base is None else median(
        a / b if b > 0 else 0 for a, b in zip(samples.times, base.times))


def line(key, limit, arm, samples, row):
    least, middle = min(samples.times), median(samples.times)
    return [*key, arm, *samples.rest, "yes" if samples.right else "no", str(len(samples.times)),
            *(f"{value:.9f}" for value in (least, middle, max(samples.times))),
            *(or_none(limit / value if value > 0 else 0) for value in (least, middle)),
            *(or_none(to_first(name, samples, row)) for name in BASES)]


def main(arms, *files):
    notes, names, rows, limits = {}, [], {}, {}
    for path in files:
        with open(path, encoding="utf-8") as file:
            for text in file:
                words = text.rstrip("\n").split("\t")
                if text.startswith("# "):
                    notes[text] = True
                elif text.startswith("#"):
                    names = [words[0][1:], *words[1:]]
                    arm, end = names.index("arm"), names.index("verified")
                else:
                    key, limit = tuple(words[:arm]), words[names.index("limit_s")]
                    limits.setdefault(key, 0 if limit == "-" else float(limit))
                    rows.setdefault(key, {}).setdefault(words[arm], Samples()).add(
                        words[arm + 1:end], *words[end:])
    print("".join(notes) + "#" + "\t".join(names[:end + 1] + NEW))
    for key, found in rows.items():
        row = {name: found[name] for name in arms.split(",") if name in found}
        for name, samples in row.items():
            print("\t".join(line(key, limits[key], name, samples, row)))


if __name__ == "__main__":
    main(*sys.argv[1:])
