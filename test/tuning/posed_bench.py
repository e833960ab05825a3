# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""A posed machine (posed.py) with a journal, and how files are chosen and proven on it."""

import os
import tempfile

import posed
from pipering_tuning import (choose, files, held_out, journal, measure, ompi_info,
                             prove, race)

LARGEST = 2 << 20
COSTS = {"coll_pipering_alpha": 95.0, "coll_pipering_beta": 80.0}


class Bench:
    """A posed machine with a journal in a directory of its own."""

    def __init__(self, start=(), seed=1, directory=None, **machine):
        self.temporary = None if directory else tempfile.TemporaryDirectory()
        self.directory = directory or self.temporary.name
        self.machine = posed.Machine(seed, **machine)
        self.table = ompi_info.Table(posed.ompi_info())
        self.start = dict(start)
        path = os.path.join(self.directory, "journal.jsonl")
        head = {"machine": {"library": "posed", "hosts": ["n0"]}, "options": {}}
        opened = journal.Journal.resume if os.path.exists(path) else journal.Journal.create
        self.journal = opened(path, head)
        self.measurer = measure.Measurer(self.machine.run, self.journal, posed.Quiet(), self.table,
                                         self.start, self.directory, posed.MACHINE,
                                         self.machine.clock)

    def choose(self, until=1e9, **options):
        chooser = choose.Chooser(self.measurer, self.table, posed.MACHINE, self.start, COSTS,
                                 posed.options(**options))
        chooser.run(LARGEST, until)
        return chooser

    def prove(self, settings, seed=1, **others):
        path = os.path.join(self.directory, "tuned.conf")
        files.write(path, files.settings_text({**self.start, **settings}))
        before = self.measurer._settings_file(tuple(self.start.items()))
        prover = prove.Prover(self.measurer, prove.Files(before, path, ["tune", "conf"]),
                              held_out.calls_of(LARGEST, posed.MACHINE, [], False), race.FULL,
                              seed, others.get("alike", False))
        return prover.run(others.get("until", 0))


def wrong(alpha, beta):
    """Costs that are wrong by these factors."""
    return {"coll_pipering_alpha": ompi_info.tidy(1e6 * posed.ALPHA * alpha),
            "coll_pipering_beta": ompi_info.tidy(1e9 * posed.BETA * beta)}
