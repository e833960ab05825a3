# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What the tables of benchmarks share: rows by problem, lines that judge a figure, sizes as people
write them. Only lines that judge end in PASS or MISS.

A table is a function of a door's tables, called by main() with the rows of its files and the words
NAME=VALUE of the command line. The word by=PLACE marks the rows of the files behind it.
"""

import sys

from measured import every


def size(count):
    """1048576 -> 1M"""
    for unit, power in (("M", 20), ("K", 10)):
        if count % 2**power == 0:
            return f"{count / 2**power:.0f}{unit}"
    return f"{count:.0f}"


def mean(values):
    """The geometric mean; 0 if there are no values, or one is 0."""
    values, product = list(values), 1.0
    for value in values:
        product *= value ** (1 / len(values))
    return product if values else 0.0


# ---- verdicts


def verdict(good):
    return "PASS" if good else "MISS"


def at_least(text, figure, aim):
    print(f"{text:66} {figure:6.2f}  target at least {aim!s:4}  {verdict(figure >= float(aim))}")


def at_most(text, figure, aim):
    print(f"{text:66} {figure:6.2f}  target at most  {aim!s:4}  {verdict(figure <= float(aim))}")


# ---- rows


class Problem:
    """What was measured of one problem: a row for each arm."""

    def __init__(self, row):
        self.row, self.arms = row, {}

    def __getitem__(self, column):
        return self.row[column]

    def get(self, arm, column="min_s"):
        """A number of an arm; 0 if there is none."""
        value = self.arms.get(arm, {}).get(column)
        return value if isinstance(value, float) else 0.0

    def over(self, arm, other, column="min_s"):
        """An arm's number over another's; 0 if there is none."""
        return self.get(arm, column) / self.get(other, column) if self.get(other, column) else 0.0

    def right(self, arm):
        return self.arms.get(arm, {}).get("verified") == "yes"


def problems(rows, *columns):
    """{values of by and the columns: Problem}, in the order of their first rows."""
    found = {}
    for row in rows:
        key = tuple(row[column] for column in ("by", *columns))
        found.setdefault(key, Problem(row)).arms[row["arm"]] = row
    return found


def judge_noise(found, arm):
    """Is an arm slower than stock beyond the noise, which stock2, the same as stock, shows?"""
    noise, ratios = ([problem.get(name, "to_stock") for problem in found]
                     for name in ("stock2", arm))
    top = max(1, *noise)
    print(f"stock2 to stock: {min(1, *noise):.2f} to {top:.2f}, geometric mean {mean(noise):.3f}")
    at_most(f"{arm} to stock, geometric mean of {len(ratios)} ratios", mean(ratios), 1.05)
    at_most(f"ratios above the largest of stock2 ({top:.3f})", sum(x > top for x in ratios), 0)


def noise_table(found, arm):
    """Medians of stock and of an arm, with both ratios."""
    print(f"{'':14} {'bytes':>6} {'stock us':>11} {arm:>11} {'ratio':>9} {'of stock2':>9}")
    for problem in found:
        print(f"{problem['by']:14} {size(problem['total']):>6} "
              f"{1e6 * problem.get('stock', 'median_s'):11.1f} "
              f"{1e6 * problem.get(arm, 'median_s'):11.1f} {problem.get(arm, 'to_stock'):9.3f} "
              f"{problem.get('stock2', 'to_stock'):9.3f}")
    judge_noise(found, arm)


# ---- the command line


def load(words):
    """(rows of the files, the other words) of a command line."""
    rows, options, by = [], {}, ""
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            rows += [{"what": row.get("dist", row.get("coll")), **row, "by": by}
                     for row in every(word)]
        elif name == "by":
            by = value
        else:
            options[name] = value
    return rows, options


def main(tables):
    """Prints the table of {name: function} that the command line names, and whether results were
    wrong; those of coll/tuned's algorithms, which are not ours, do not count."""
    name, *words = sys.argv[1:]
    rows, options = load(words)
    tables[name](rows, **options)
    wrong = sum(row.get("verified") == "no" and not str(row.get("arm")).startswith("tuned")
                for row in rows)
    if wrong:
        print(f"{wrong} results were wrong  MISS")
