# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""A posed machine (posed.py) with a journal, and how files are chosen and proven on it."""

import os
import tempfile
from unittest import mock

import posed
from pipering_tuning import (choose, command_line, files, held_out, journal, launch, measure,
                             ompi_info, preflight, proof_time, prove, race, tune)

LARGEST = 2 << 20


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
        self.journal = journal.Journal(path, head, os.path.exists(path))
        self.measurer = measure.Measurer(self.machine.run, self.journal, posed.Quiet(), self.table,
                                         self.start, self.directory, posed.MACHINE,
                                         self.machine.clock)

    def choose(self, until=1e9, last=0.0, machine_file=None, **options):
        chooser = choose.Chooser(self.measurer, self.table, posed.MACHINE, self.start,
                                 posed.options(**options), machine_file, "no costs hold")
        chooser.run(LARGEST, until, last)
        return chooser

    def prove(self, settings, seed=1, **others):
        path = os.path.join(self.directory, "tuned.conf")
        files.write(path, files.settings_text({**self.start, **settings}))
        before = self.measurer._settings_file(tuple(self.start.items()))
        held = held_out.calls_of(LARGEST, posed.MACHINE, [])
        prover = prove.Prover(self.measurer, before, path, held, others.get("purposes", [held]),
                              seed)
        return prover.run(others.get("until", 0), others.get("end", 1e9))


class Run:
    """pipering-tune on a posed machine, from its costs to results. status: with which it ends;
    None: it refuses; said: what it says; proofs: those that were made; begun: with another
    budget."""

    def __init__(self, budget, *words, preflight_time=0.0, begun=None, **bench):
        self.bench = Bench(**bench)
        self.said, self.proofs = [], []
        self.bench.measurer.progress = self
        self.bench.journal.head["budget"] = begun or budget
        run = tune.Tuning(command_line.parse([self.bench.directory, "--budget", str(budget),
                                              *words]), [])
        run.say, run.directory, run.table = self.say, self.bench.directory, self.bench.table
        run.machine, run.start = posed.MACHINE, self.bench.start
        run.proven = run.checked(run.options.prove)
        run.measurer, run.journal = self.bench.measurer, self.bench.journal
        run.preflight = preflight_time
        run.launcher = launch.Launcher(["posed"])
        self.tuning = run
        self.status = self.go()

    def say(self, text):
        self.said.append(text)

    def cell(self, text, done, total, spent):
        """Of a Progress."""

    def go(self):
        made = prove.Prover.run

        def watch(prover, *times):
            self.proofs.append(prover)
            return made(prover, *times)

        with mock.patch.object(preflight, "check_files", self.check), \
                mock.patch.object(prove.Prover, "run", watch):
            try:
                return self.tuning.prove_only() if self.tuning.options.prove else \
                    self.tuning.tune()
            except files.Refusal as refusal:
                self.say(str(refusal))
                return None

    def check(self, *_):
        """A job that only shows which settings it has."""
        self.bench.machine.now += self.bench.machine.begin

    @property
    def left_out(self):
        """Names of calls that were held out, but not proven."""
        return {str(call) for prover in self.proofs for call in prover.left_out}


def costs(held):
    """What these calls cost in a proof on a posed machine, by the times that it has."""
    turns = race.WARMUP + proof_time.REPS
    return proof_time.Costs(posed.JOB_SECONDS, {call: turns * posed.true_time(call.cell(), {})[0]
                                                for call in held})


MIDDLE_BLOCK = 8192


def wrong(factor):
    """A block size that is so many times that which suits calls of a middle size."""
    return {"coll_pipering_block_size": ompi_info.tidy(round(MIDDLE_BLOCK * factor))}
