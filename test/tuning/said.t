#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What whole runs on posed machines (posed.py) say to a person: little, and what counts."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from posed_bench import Run  # noqa: E402
from pipering_tuning import files, preflight, progress, tune  # noqa: E402

MOST = 30


class Whole(Run):
    """A run with what the preflight says, and with the lines of progress in a log. It is the stream
    of these, too."""

    def go(self):
        run = self.tuning
        run.nodes = {host: preflight.Node([host, str(2 + number), "9", "powersave", f"X{number}"])
                     for number, host in enumerate(posed.MACHINE["hosts"])}
        run.machine = {**posed.MACHINE, "processor": "X", "oversubscribed": True, "load": 9.0}
        run.start_time = 1.0
        self.progress = progress.Progress(run.until(tune.END), self)
        run.say_machine(run.machine)
        status = super().go()
        assert self.said[0].startswith("Open MPI 5.0.7 in ") and "pml ob1" in self.said[0]
        assert not any("\n" in line for line in self.said), self.said
        return status

    def cell(self, *words):
        self.progress.cell(*words)

    def isatty(self):
        return False

    def write(self, text):
        self.said += [text] if text.strip() else []

    def flush(self):
        """Of a stream."""


def has(run, *words):
    """Whether the run says a line with each of these, few lines in all, and the progress in three
    at most. One more line names the report."""
    assert len(run.said) < MOST, (len(run.said), run.said)
    assert 1 <= sum(line.startswith("[") for line in run.said) <= 3, run.said
    return all(any(word in line for line in run.said) for word in words)


def test_good_run():
    """a run that recommends a file says what it found, chose and left, and the verdict"""
    run = Whole(30, adapters=900.0, start={"coll_pipering_window": "8"})
    assert 0 == run.status and has(
        run, "warning: there are more ranks", "more lines of this kind", "in force: coll_pip",
        "machine: between nodes 8", "chosen: coll_pipering_machine=", "not raced: coll_mleader_ex",
        "coll/tuned: rules for 4 small calls (allgatherv, bcast)", "The file helps",
        "use: "), run.said


def test_bad_run():
    """a run in which much fails says the first of it, and how much more there is"""
    def bad(cell, path):
        if "ring" == cell.get("dist"):
            return "wrong"
        return "failed" if path and path.endswith("candidate.conf") \
            and "allgatherv" == cell.get("collective") else None

    run = Whole(30, adapters=900.0, bad=bad, start={"coll_pipering_window": "8"})
    assert 3 == run.status and has(
        run, "The file is not recommended: it breaks", "broken: allgatherv",
        "more lines of this kind", "what was tried is in "), run.said


def test_short_of_time():
    """a run without the time for all of it names what it left out"""
    for budget, begin in ((2, 1.0), (6, 6.0), (15, 30.0)):
        run = Whole(budget, adapters=900.0, begin=begin)
        assert has(run, "not raced: "), run.said
        assert not run.left_out or has(run, "not proven, since"), run.said


def test_given_file():
    """a proof of a given file, too, says little"""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "given.conf")
        files.write(path, "coll_pipering_rounds_packed=16384\n")
        run = Whole(30, "--prove", path, drift=0.005)
        assert 3 == run.status and has(run, "slower: allgatherv:broadcast", "is not recommended")


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
