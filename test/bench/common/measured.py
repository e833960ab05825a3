# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What the benchmarks have left in build/bench: TSV files as rows, columns by their names."""

import os


class Missing(Exception):
    """A file, or a row of one, that has not been measured; its text names it."""


class Bench:
    """The directory of the benchmarks' files."""

    def __init__(self, directory):
        self.directory = directory
        self.files = {}
        self.old = frozenset()  # sections that were measured before the present build

    def path(self, name):
        return os.path.join(self.directory, name)

    def has(self, name):
        """Is the file there, with a row?"""
        try:
            return bool(read(self.path(name)))
        except Missing:
            return False

    def rows(self, *names):
        """The rows of NAME.tsv, of all of the names together; Missing if there is no such file."""
        found = []
        for name in names:
            if name not in self.files:
                self.files[name] = read(self.path(name + ".tsv"))
            found += self.files[name]
        return found


def number(word):
    """The word as a number if it is one."""
    try:
        return float(word)
    except ValueError:
        return word


def every(path):
    """Rows as dictionaries. A line that begins with # and no blank names the columns of those
    below; a line that is not whole is left out."""
    rows, columns = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.rstrip("\n").split("\t")
            if line.startswith("#"):
                columns = columns if line.startswith("# ") else [words[0][1:]] + words[1:]
            elif len(words) == len(columns):
                rows.append({name: number(word) for name, word in zip(columns, words)})
    return rows


def read(path):
    """The rows whose results are right; Missing if there is no file or no row."""
    try:
        rows = [row for row in every(path) if row.get("verified") != "no"]
    except OSError as error:
        raise Missing(os.path.basename(path)) from error
    if not rows:
        raise Missing(os.path.basename(path))
    return rows


def select(rows, **wanted):
    """Rows with these values; a tuple stands for any of its members."""
    def fits(row, name, value):
        return row.get(name) in value if isinstance(value, tuple) else row.get(name) == value
    return [row for row in rows if all(fits(row, *item) for item in wanted.items())]


def one(rows, **wanted):
    """The only or the first row with these values; Missing if there is none."""
    found = select(rows, **wanted)
    if not found:
        raise Missing(" ".join(f"{name}={value}" for name, value in wanted.items()))
    return found[0]


def least(rows, **wanted):
    """Least time of the row with these values, seconds."""
    return one(rows, **wanted)["min_s"]


def median(rows, **wanted):
    """Median of the times of the row with these values, seconds."""
    return one(rows, **wanted)["median_s"]


def some(found, what="rows"):
    """What was found as a list, of which a least and a greatest are asked; Missing if it is
    empty."""
    found = list(found)
    if not found:
        raise Missing(what)
    return found


def values(rows, column):
    """The values of a column, each once, in their order."""
    return list(dict.fromkeys(row[column] for row in rows))
