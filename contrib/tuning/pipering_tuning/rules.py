# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""A rules file for coll/tuned, for small calls that go to it.

Who serves a call that this component leaves is not asked: calls are timed with each of
coll/tuned's algorithms, and where another component serves, all of them take the same time and no
rule is made. coll/tuned reads its algorithm variables when MPI starts, so each algorithm has jobs
of its own, and jobs are what is compared; a job has the algorithm of the same number for every
collective. Calls that coll/han serves are left out: on its own communicators it calls coll/tuned
with other numbers of ranks, for which there would be no rule.

Open MPI 4.1 and 5.0 read text (ompi/mca/coll/tuned/coll_tuned_dynamic_file.c), 6.0 reads JSON.
Both choose by the size of the communicator and by bytes: of each rank in MPI_Allgatherv, of all
ranks in MPI_Allgather, of the vector in the others.
"""

import json
import random
from collections import namedtuple

from . import stats
from .calls import Call, of_cell
from .race import LEAST_GAIN, REPS, change

# Numbers of collectives in the text form; they are those of Open MPI's list of collectives.
NUMBERS = {"allgather": 0, "allgatherv": 1, "allreduce": 2, "bcast": 7, "reduce": 11}
SIZES = (400, 1_600, 6_000)
USE, FILE = "coll_tuned_use_dynamic_rules", "coll_tuned_dynamic_rules_filename"
ROUNDS = 5

# What coll/han serves where it stands above coll/tuned (MPI_Allgatherv is not among it).
HAN = ("allgather", "allreduce", "bcast", "reduce")
# Collectives whose algorithms get the fan-out of chains; others get that of trees.
CHAINS = ("bcast", "reduce")

Rule = namedtuple("Rule", "call algorithm name interval fanout segment", defaults=(0, 0))
"""algorithm: its number, name: as ompi_info has it; interval: new time by old; fanout, segment: as
they were while it was measured."""


def variable_of(collective):
    return f"coll_tuned_{collective}_algorithm"


def names():
    """The variables by which a parameter file has rules."""
    return {USE, FILE, *map(variable_of, NUMBERS)}


def algorithms(table, collective, ranks):
    """[(number, name)] that coll/tuned has for a collective, without the one that leaves the
    choice to it, and without those for two ranks where there are more."""
    variable = table.get(variable_of(collective))
    numbers = variable.numbers if variable is not None else {}
    return [(number, name) for name, number in numbers.items()
            if number and (2 == ranks or "two_proc" not in name)]


class Rules:
    """Races coll/tuned's algorithms. base: what has been chosen so far."""

    def __init__(self, measurer, table, machine, base, options):
        self.measurer = measurer
        self.table = table
        self.machine = machine
        self.ranks = machine["ranks"]
        self.base = dict(base)
        self.options = options
        self.blocks = {}
        self.below = set()

    @property
    def tried(self):
        """Whether any algorithm was timed in two jobs and more."""
        return any(2 <= len(blocks) for (call, job), blocks in self.blocks.items()
                   if call in self.below and job not in ("current", "again"))

    def collectives(self):
        """Those that coll/tuned of this release can be given rules for."""
        if self.table.get(USE) is None or self.table.get(FILE) is None:
            return []
        wanted = self.options.collectives or list(NUMBERS)
        return [name for name in NUMBERS if name in wanted and name not in self.others()
                and self.table.get(variable_of(name)) is not None]

    def others(self):
        """Collectives that coll/han serves, as far as is known."""
        return HAN if self.has_han() else ()

    def in_force(self, name, absent=""):
        """The value of a variable in the jobs."""
        variable = self.table.get(name)
        if variable is None:
            return absent
        return self.base.get(name, self.measurer.start.get(name, variable.value))

    def has_han(self):
        """Whether coll/han serves calls before coll/tuned is asked: on several nodes with several
        ranks on one."""
        coll = self.in_force("coll")
        named = coll.lstrip("^").split(",")
        there = not coll or ("han" in named) != coll.startswith("^")
        return there and 1 < self.machine["nodes"] and 1 < self.machine["ppn"] and \
            float(self.in_force("coll_han_priority", "-1")) \
            > float(self.in_force("coll_tuned_priority", "0"))

    def jobs(self):
        """[(name of the job, {collective: (number, name)})]; the first two have none."""
        columns = {name: algorithms(self.table, name, self.ranks) for name in self.collectives()}
        longest = max(map(len, columns.values()), default=0)
        jobs = [("current", {}), ("again", {})]
        return jobs + [(str(k), {name: column[k] for name, column in columns.items()
                                 if k < len(column)}) for k in range(longest)]

    def cells(self, job, picked, step):
        """The cells of a job: calls of the collectives that it has an algorithm for."""
        settings = {USE: "true"} if picked else {}
        for collective, (_, name) in picked.items():
            settings[variable_of(collective)] = name
        calls = [Call(collective, "regular", size, "auto") for collective in self.collectives()
                 for size in SIZES if not picked or collective in picked]
        calls = random.Random(f"{self.options.seed}/{step}/{job}").sample(calls, len(calls))
        return [{"cell": f"rules/{step}/{call}/{job}", **call.cell(), "arm": job,
                 "reps": 4 * REPS, "warmup": 4,
                 "group": f"rules/{step}/{call}", "job": settings, "set": self.base}
                for call in calls]

    def run(self, until):
        """Races as long as there is time; [Rule]."""
        jobs = self.jobs()
        if 2 == len(jobs):
            return []
        last = 0.0
        for step in range(ROUNDS):
            before = self.measurer.spent
            if before + last > until:
                break
            cells = [cell for job, picked in jobs for cell in self.cells(job, picked, step)]
            results = self.measurer.measure(cells, "coll/tuned's algorithms",
                                            f"{self.options.seed}/{step}", until)
            for cell in cells:
                self.take(cell, results.get(cell["cell"]))
            last = self.measurer.spent - before
        return self.rules(dict(jobs))

    def take(self, cell, result):
        call = of_cell(cell)
        if result is None or "ok" != result["status"]:
            return
        self.blocks.setdefault((call, cell["arm"]), []).append(result["seconds"])
        if result.get("algorithm") in ("", "below", None):
            self.below.add(call)

    def rules(self, jobs):
        """The fastest algorithm of each call that is handed down, where it gains beyond noise."""
        found = []
        for call in sorted(self.below):
            best = self.best(call, jobs)
            if best is not None:
                found.append(best)
        return found

    def best(self, call, jobs):
        old, again = self.blocks.get((call, "current")), self.blocks.get((call, "again"))
        if not old or not again or len(old) != len(again) or 2 > len(old):
            return None
        alike = stats.ratio_of_jobs([(old, again)]).middle
        noise = max(2 * LEAST_GAIN, alike - 1, 1 / alike - 1)
        arms = [job for job in jobs if len(self.blocks.get((call, job), [])) == len(old)
                and job not in ("current", "again")]
        ranked = sorted(((stats.ratio_of_jobs([(old, self.blocks[call, job])],
                                              1 - 0.05 / len(arms)), job) for job in arms),
                        key=lambda pair: pair[0].middle)
        if not ranked or ranked[0][0].high >= 1 or ranked[0][0].middle > 1 - noise:
            return None
        interval, job = ranked[0]
        return Rule(call, *jobs[job][call.collective], interval, *self.parameters(call.collective))

    def parameters(self, collective):
        """(fan-out, bytes of a segment) that coll/tuned hands to a collective's algorithms."""
        name = variable_of(collective)
        kind = "chain" if collective in CHAINS else "tree"
        return int(self.in_force(f"{name}_{kind}_fanout", "0")), \
            int(self.in_force(f"{name}_segmentsize", "0"))


def bytes_of(size, collective, ranks):
    """What the file counts as the size of a call of so many bytes."""
    return size // ranks if "allgatherv" == collective else size


def steps(rules, collective, ranks):
    """[(from so many bytes on, the Rule)] of a collective; None leaves the choice to coll/tuned. A
    rule reaches half way, on a logarithmic scale, to the next size that was measured."""
    picked = {rule.call.total: rule for rule in rules if rule.call.collective == collective}
    found, last = [], None
    for place, size in enumerate(SIZES):
        rule = picked.get(size)
        begin = 0 if 0 == place else int((SIZES[place - 1] * size) ** 0.5)
        if 0 == place or number_of(rule) != number_of(last):
            found.append((bytes_of(begin, collective, ranks), rule))
        last = rule
    if last:
        found.append((bytes_of(2 * SIZES[-1], collective, ranks), None))
    # Where ranks are so many that steps begin at the same byte, the last of them reaches furthest.
    return [step for step, following in zip(found, found[1:] + [(None, None)])
            if step[0] != following[0]]


def number_of(rule):
    """What the file has for a rule; 0 leaves the choice to coll/tuned."""
    return rule.algorithm if rule else 0


def as_text(rules, ranks):
    """The file for 4.1 and 5.0. A rule for a size of communicators reaches up to the next one,
    so sizes beside the one that was measured have rules that leave the choice to coll/tuned."""
    names = sorted({rule.call.collective for rule in rules}, key=NUMBERS.get)
    lines = [f"{len(names)} # collectives"]
    for name in names:
        own = steps(rules, name, ranks)
        lines += [f"{NUMBERS[name]} # {name}", "3 # sizes of communicators",
                  "0 1 # from 0 ranks on: 1 rule", "0 0 0 0",
                  f"{ranks} {len(own)} # from {ranks} ranks on: {len(own)} rules"]
        lines += [_line(begin, rule) for begin, rule in own]
        lines += [f"{ranks + 1} 1 # from {ranks + 1} ranks on: 1 rule", "0 0 0 0"]
    return "\n".join(lines) + "\n"


def _line(begin, rule):
    """Bytes, algorithm, fan-out, segment."""
    numbers = (rule.algorithm, rule.fanout, rule.segment) if rule else (0, 0, 0)
    return f"{begin} {' '.join(map(str, numbers))} # from {begin} bytes on: " \
           f"{rule.name if rule else 'ignore'}"


def as_json(rules, ranks):
    """The file for 6.0."""
    collectives = {}
    for name in sorted({rule.call.collective for rule in rules}):
        own = steps(rules, name, ranks)
        ends = [begin - 1 for begin, _ in own[1:]] + ["inf"]
        collectives[name] = [{
            "comm_size_min": ranks, "comm_size_max": ranks,
            "rules": [{"msg_size_min": begin, "msg_size_max": end, "alg": rule.name,
                       "faninout": rule.fanout, "seg_size": rule.segment}
                      for (begin, rule), end in zip(own, ends) if rule]}]
    return json.dumps({"rule_file_version": 3, "module": "tuned", "collectives": collectives},
                      indent=2) + "\n"


def describe(rule):
    return f"{rule.call}: {rule.name} takes {change(rule.interval)} time"
