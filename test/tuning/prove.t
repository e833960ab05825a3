#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The proof tells files that help from those that do not, or hurt; the sweep finds a better block; the
report has both."""

import itertools
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from pipering_tuning import calls, prove, report, sweep  # noqa: E402

LARGEST = 1 << 20
GIVEN = {prove.BEFORE: [], prove.AFTER: ["OMPI_MCA_coll_pipering_machine=/posed"]}
BASE = 1e-3


def proven(change, noise=0.01, seed=1):
    """(Proof, Place), where change(cell) is new time by old, or the status of a call."""
    def seconds(cell, variables):
        found = change(cell) if variables else 1
        return found if isinstance(found, str) else BASE * found

    place = posed.Place(seconds, noise, seed)
    return prove.Prover(place, GIVEN, LARGEST).prove(lambda _: None), place


def is_bcast(cell):
    return "bcast" == cell["collective"] and 100_000 < cell["total"]


def test_helps():
    """a file that saves a tenth helps, by six pairs of jobs whose order changes"""
    proof, place = proven(lambda cell: 0.9)
    assert proof.helps and proof.sentence.startswith("The file helps"), proof
    assert not proof.notes and len(proof.rows) == len(prove.LARGE) + len(prove.SMALL)
    for _, before, after, ratio in proof.rows:
        assert ratio.low < 0.9 < ratio.high and abs(after / before / 0.9 - 1) < 0.05, ratio
    assert place.jobs == 3 * [GIVEN[prove.AFTER], *2 * [GIVEN[prove.BEFORE]], GIVEN[prove.AFTER]]


def test_needless():
    """one that changes nothing is not needed, and called harmful in at most one of 20 runs"""
    hurt = 0
    for seed in range(40):
        proof, _ = proven(lambda cell: 1, 0.03, seed)
        assert not proof.helps, proof
        hurt += "slower" in proof.sentence
    assert 2 >= hurt, hurt


def test_hurts():
    """one that makes a call slower is refused, however much it saves in others"""
    proof, place = proven(lambda cell: 1.1 if is_bcast(cell) else 0.5)
    assert not proof.helps and "makes 1 of them slower" in proof.sentence, proof
    assert len(proof.notes) == 1 and "slower: bcast" in proof.notes[0], proof
    assert len(place.jobs) == 4 * prove.PAIRS


def test_breaks():
    """a call that fails with the file alone is held against it, and is not run a third time"""
    for status in ("wrong", "timeout", "failed"):
        asked = []

        def change(cell, status=status, asked=asked):
            asked.append(is_bcast(cell))
            return status if is_bcast(cell) else 0.5

        proof, _ = proven(change)
        assert not proof.helps and "breaks 1" in proof.sentence, proof
        assert any(note.startswith("broken: bcast") for note in proof.notes), proof
        assert 2 == sum(asked), asked


def test_fails_once():
    """a call that fails once, or without the file too, counts for nothing"""
    once = itertools.count()
    proof, _ = proven(lambda cell: "timeout" if is_bcast(cell) and 0 == next(once) else 0.5)
    assert proof.helps and proof.notes[0].startswith("failed: bcast"), proof
    place = posed.Place(lambda cell, _: "failed" if is_bcast(cell) else BASE)
    proof = prove.Prover(place, GIVEN, LARGEST).prove(lambda _: None)
    assert "not needed" in proof.sentence and "broken" not in str(proof.notes), proof
    proof = prove.Prover(posed.Place(lambda *_: "failed"), GIVEN, LARGEST).prove(lambda _: None)
    assert not proof.helps and "No call could be measured: it is failed" in proof.sentence, proof


def swept(best):
    """The rows where blocks of `best` bytes take half the time of others."""
    return sweep.sweep(posed.Place(lambda cell, _: BASE * (
        0.5 if best == int(cell["set"][sweep.BLOCK]) else 1)), LARGEST, GIVEN[prove.AFTER])


def test_sweep():
    """a block size that is better than the model's is seen, and a model that is right is left so"""
    rows = swept(4096)
    assert len(rows) == len(sweep.CALLS)
    assert all(sorted(row.ratios) == [2048, 4096, 16384, 32768] for row in rows), rows
    assert all(0.45 < row.ratios[4096] < 0.55 and 0.9 < row.ratios[2048] < 1.1 for row in rows)
    assert "calls take 2.0" in sweep.sentence(rows), sweep.sentence(rows)
    assert "calls take 1.0" in sweep.sentence(swept(1)), sweep.sentence(swept(1))
    assert "changes nothing" in sweep.sentence([rows[0]._replace(ratios={})])


def test_report():
    """the report has the verdict first, and a row for each call"""
    proof, place = proven(lambda cell: 1.1 if is_bcast(cell) else 0.5)
    rows = swept(4096)
    text = report.make(place, rows, proof)
    lines = text.splitlines()
    assert lines[:3] == [proof.sentence, proof.notes[0], sweep.sentence(rows)], lines
    for row in [*proof.rows, *rows]:
        assert any(line.split()[:1] == [str(row[0])] for line in lines), row
    assert 1 == sum(line.endswith("slower") for line in lines), text
    assert "n0, n1, n2" in text and max(map(len, lines)) < 200


def test_sizes():
    """calls grow with the rate of links within bounds, and with ranks those of all with all shrink"""
    assert [calls.largest_size(beta) for beta in (1e-6, 1e-7, 1e-11)] == \
        [calls.LARGEST_LEAST, 10 ** 6, calls.LARGEST_MOST]
    for text in prove.LARGE:
        for largest in (calls.LARGEST_LEAST, calls.LARGEST_MOST):
            few, many = (calls.call(text, largest, ranks) for ranks in (8, 4096))
            assert 0 == few.total % 8 and 0 < few.total <= largest
            assert (many.total < few.total) == (many.dist in calls.ALL_TO_ALL), (few, many)
            assert str(few).count(":") == text.count(":")


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
