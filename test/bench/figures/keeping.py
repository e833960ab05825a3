# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Our values as they were last measured, whichever build they were measured with: ours.tsv."""

import datetime
import os
import subprocess
from dataclasses import astuple, dataclass

from claims import BadLine, lines
from measured import Missing

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../.."))

HEAD = """\
# Our values of the papers' claims as they were last measured, by the names of claims.tsv.
# `make figures FIGURES="--keep"` writes this file, and docs/claims.md from it.
# Whoever changes the command or the arms of a section, or the function that finds a value, removes
# the lines of its claims here: they hold for what was measured before the change.
# date: of the measurement. commit: the last one before it; - if that is not known.
#name	value	date	commit
"""


@dataclass
class Kept:
    """A row of ours.tsv."""

    name: str
    value: str
    date: str
    commit: str

    def words(self):
        return f"{self.value} (measured {self.date})"


def load(path, claims):
    """{name: Kept} of the file; BadLine names a line that is none."""
    measured = {claim.name for claim in claims if claim.measured()}
    kept = {}
    for where, words in lines(path, 4):
        row = Kept(*words)
        wrong = f"{row.name} is kept twice" if row.name in kept else _wrong(row, measured)
        if wrong:
            raise BadLine(f"{where}: {wrong}; correct or remove the line; nothing was changed")
        kept[row.name] = row
    return kept


def _wrong(row, measured):
    """What is wrong with a row; empty if nothing is."""
    if row.name not in measured:
        return f"{row.name} is no claim of claims.tsv that is measured"
    if not row.value or not row.commit:
        return f"{row.name} has an empty column"
    return "" if _is_date(row.date) else f"{row.date} is no date like 2026-11-24"


def _is_date(word):
    try:
        return datetime.date.fromisoformat(word).isoformat() == word
    except ValueError:
        return False


def save(path, kept):
    """Writes the file, as a whole or not at all."""
    rows = ["\t".join(astuple(kept[name])) + "\n" for name in sorted(kept)]
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(HEAD + "".join(rows))
    os.replace(path + ".new", path)


def renewed(kept, claims, bench):
    """The kept values, those that were measured later in their places."""
    fresh = [_fresh(claim, bench) for claim in claims if claim.measured() and claim.whole(bench)]
    return {**kept, **{row.name: row for row in fresh
                       if row and (row.name not in kept or kept[row.name].date <= row.date)}}


def _fresh(claim, bench):
    """What is measured of a claim; None if a row of its files is missing."""
    try:
        value = claim.ours(bench)
    except Missing:
        return None
    when = claim.measured_at(bench)
    return Kept(claim.name, value, datetime.date.fromtimestamp(when).isoformat(), commit(when))


def commit(when, root=ROOT):
    """The last commit of the tree before a time, seconds; - if that is not known."""
    # A repository that the tree only lies in knows nothing of it.
    alone = {**os.environ, "GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.realpath(root))}
    try:
        found = subprocess.run(
            ["git", "rev-list", "-1", "--abbrev-commit", f"--before={int(when)}", "HEAD"],
            cwd=root, env=alone, capture_output=True, text=True, check=False)
    except OSError:
        return "-"
    return found.stdout.strip() or "-"
