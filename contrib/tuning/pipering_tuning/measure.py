# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Measuring cells: what the journal has is taken from there, the rest is run as jobs.

A cell may set variables that no running job can change, and name settings that its job must have
from the beginning ("job"). Cells are therefore sorted into jobs by those settings, each job with a
parameter file of its own; within a job the kernel sets the rest.
"""

import itertools
import math
import os
import random
import time

from . import calls, files


class Measurer:
    """Counts the time spent, that of cells in the journal too: from the end of a cell to that of
    the next one, so what is between them belongs to it, the end and begin of jobs too.

    run      run(cells, on_result, settings_file) measures: jobs of the kernel, or a posed machine
             of a test
    table    variables of Open MPI, to know which of them a running job can change
    start    settings that every job gets, {variable: value}
    machine  as preflight describes it, for calls that a part of its ranks makes
    clock    seconds of wall time
    """

    def __init__(self, run, journal, progress, table, start, directory, machine,
                 clock=time.monotonic):
        self.run = run
        self.journal = journal
        self.progress = progress
        self.table = table
        self.start = dict(start)
        self.directory = directory
        self.machine = machine
        self.clock = clock
        self.spent = 0.0
        self.mark = clock()
        self.used = {}
        self.jobs = 0

    def measure(self, cells, text, seed=0, until=math.inf):
        """{id: result} of cells; text tells people what is measured. Jobs go in random order. No
        further group of cells is begun when `until` seconds have been spent, but the first is."""
        results = {}
        jobs = self._jobs(self._missing(list(map(self._with_contents, cells)), results))
        random.Random(seed).shuffle(jobs)
        for settings, part in jobs:
            if not results or self.spent < until:
                self._run(part, results, text, len(cells), self._settings_file(settings), until)
        return results

    def measure_through(self, cells, text, path):
        """The same in one job that is given a parameter file."""
        results = {}
        fresh = [(cell, self._for_kernel(cell, {})) for cell in self._missing(cells, results)]
        if fresh:
            self._run(fresh, results, text, len(cells), path)
        return results

    def records(self):
        """What was measured and used, in that order."""
        return list(self.used.values())

    def spent_on(self, name):
        """Seconds that a cell took, which was measured and used."""
        return self.used[name]["spent"]

    def _with_contents(self, cell):
        """A cell that says which contents the files had that its settings name."""
        named = files.contents({**self.start, **cell.get("job", {}), **cell.get("set", {})})
        return {**cell, "contents": files.fingerprint(named)} if named else cell

    def _missing(self, cells, results):
        """Cells that the journal lacks; the others go to results. Arms that race each other in one
        job are taken together or not at all, since jobs differ."""
        records = {cell["cell"]: self.journal.find(cell) for cell in cells}
        torn = {self._race_of(cell) for cell in cells if records[cell["cell"]] is None}
        fresh = [cell for cell in cells if self._race_of(cell) in torn]
        for cell in cells:
            if self._race_of(cell) not in torn:
                results[cell["cell"]] = records[cell["cell"]]["result"]
                self._use(records[cell["cell"]])
        return fresh

    def _race_of(self, cell):
        """What cells have in common that race each other in one job."""
        return cell.get("group", cell["cell"]), self._job_of(cell)

    def _use(self, record):
        if record["cell"] not in self.used:
            self.used[record["cell"]] = record
            self.spent += record["spent"]

    def _jobs(self, cells):
        """[(settings of the job, [(cell as asked, cell as the kernel gets it)])]."""
        jobs = {}
        for cell in cells:
            inside = {name: value for name, value in cell.get("set", {}).items()
                      if self.table.get(name).writable}
            jobs.setdefault(self._job_of(cell), []).append((cell, self._for_kernel(cell, inside)))
        return list(jobs.items())

    def _for_kernel(self, cell, settings):
        """A cell as the kernel gets it: without what is for people, the journal or the job, and a
        part of the ranks in numbers."""
        kept = {key: value for key, value in cell.items()
                if key not in ("arm", "job", "contents", "part")}
        return {**kept, **calls.fields(cell.get("part", calls.ALL), self.machine), "set": settings}

    def _job_of(self, cell):
        """The settings that a cell's job must begin with, those that no running job can change
        among them."""
        fixed = {name: value for name, value in cell.get("set", {}).items()
                 if not self.table.get(name).writable}
        return tuple(sorted({**self.start, **cell.get("job", {}), **fixed}.items()))

    def _settings_file(self, settings):
        """The path of a parameter file for a job; None if there is nothing to set."""
        if not settings:
            return None
        directory = files.make_directory(os.path.join(self.directory, "jobs"))
        path = os.path.join(directory, f"{self.jobs}.conf")
        files.write(path, files.settings_text(dict(settings)))
        return path

    def _run(self, pairs, results, text, total, path, until=math.inf):
        asked = {str(number): cell for number, (cell, _) in enumerate(pairs)}
        self.jobs += 1

        def take(number, result):
            results[asked[number]["cell"]] = result
            self._over(asked[number], result, text, len(results), total)

        self.run(self._in_time(_groups([cell for _, cell in pairs]), results, until), take, path)

    def _over(self, cell, result, text, done, total):
        """A cell has its result."""
        begun, self.mark = self.mark, self.clock()
        self.journal.add(cell, result, self.mark - begun)
        self._use(self.journal.records[cell["cell"]])
        self.progress.cell(f"{text}: {_label(cell)}", done, total, self.spent)

    def _in_time(self, groups, results, until):
        """Groups as long as there is time; asked for one by one, when the last one is over."""
        for group in groups:
            if results and self.spent >= until:
                return
            yield group


def _label(cell):
    """What a cell is, in few words."""
    if "task" == cell["kind"]:
        return f"{cell['task']} {cell['scope']} {cell['direction']} {cell['bytes']}"
    where = f" on {cell['part']}" if "part" in cell else ""
    return f"{cell['collective']} {cell['dist']} {cell['total']}{where}, {cell['arm']}"


def _groups(cells):
    """Lists of neighbours of the same group, all with short names: the kernel's lines have a
    bounded length."""
    numbered = [{**cell, "cell": str(number)} for number, cell in enumerate(cells)]
    return [[{key: value for key, value in cell.items() if "group" != key} for cell in part]
            for _, part in itertools.groupby(numbered, lambda one: one.get("group", one["cell"]))]
