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
        """Is the file there, and not empty, and if it is a table, with a row?"""
        if not name.endswith(".tsv"):
            return os.path.isfile(self.path(name)) and 0 < os.path.getsize(self.path(name))
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

    def points(self, name):
        """Lines of NAME.points: (series, x, y)."""
        try:
            with open(self.path(name + ".points"), encoding="utf-8") as file:
                lines = [line.rstrip("\n").split("\t") for line in file]
        except OSError as error:
            raise Missing(f"{name}.points") from error
        return [(line[0], float(line[1]), float(line[2])) for line in lines if len(line) == 3]

    def command(self, name):
        """The first line of NAME.tsv that tells how a program was called; empty if none does."""
        with open(self.path(name + ".tsv"), encoding="utf-8") as file:
            lines = [line[2:].strip() for line in file if line.startswith("# ")]
        return next((line for line in lines if " --" in line), "")


def number(word):
    """The word as a number if it is one."""
    try:
        return float(word)
    except ValueError:
        return word


def read(path):
    """Rows as dictionaries. A line that begins with # and no blank names the columns of those
    below; a line that is not whole, or whose results were wrong, is left out. Raises Missing if
    there is no file or no row."""
    rows, columns = [], []
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                words = line.rstrip("\n").split("\t")
                if line.startswith("#"):
                    columns = columns if line.startswith("# ") else [words[0][1:]] + words[1:]
                elif len(words) == len(columns):
                    row = {name: number(word) for name, word in zip(columns, words)}
                    rows += [row] if row.get("verified") != "no" else []
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
