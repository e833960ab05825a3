# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Proof: calls that had no part in the choosing, before and after, through the very files.

A job without the file and a job with it follow each other, in random order, several times; every
other pair takes files as mca-params.conf, the rest by --tune. Pairs of jobs are the sample of the
statistics. A call that seems slower is measured again in new jobs, and those alone judge it: among
many calls some always look slower by chance.
"""

import random
from collections import namedtuple

from . import stats
from .progress import count
from .race import LEAST_GAIN, change, percent

BEFORE, AFTER = "before", "after"

Proof = namedtuple("Proof", "help sentence hurt ratio jobs")
"""help: the file may be recommended; hurt: sentences about calls that it makes slower; ratio:
Interval of new time by old over all calls; jobs: pairs of them."""


class Files(namedtuple("Files", "before after forms")):
    """Paths of the parameter files before (None: none) and after, and the forms in which jobs
    take them, in turns."""


class Prover:
    """Times calls before and after. effort: race.Effort."""

    def __init__(self, measurer, paths, calls, effort, seed):
        self.measurer = measurer
        self.paths = paths
        self.calls = list(calls)
        self.effort = effort
        self.seed = seed
        self.pairs = 0
        self.failed = {}
        self.blocks = {}

    def cell(self, call, arm):
        name = f"proof/{self.pairs}/{arm}/{call}"
        return {"cell": name, **call.cell(), "reps": self.effort.reps + 2,
                "warmup": self.effort.warmup, "group": name, "arm": arm, "set": {}}

    def pair(self, calls):
        """A job before and a job after, of these calls."""
        dice = random.Random(f"{self.seed}/proof/{self.pairs}")
        order = dice.sample(calls, len(calls))
        form = self.paths.forms[self.pairs % len(self.paths.forms)]
        for arm in dice.sample([BEFORE, AFTER], 2):
            path = self.paths.before if BEFORE == arm else self.paths.after
            cells = [self.cell(call, arm) for call in order]
            results = self.measurer.measure_through(cells, f"proof, {arm}", path, form)
            for call, cell in zip(order, cells):
                self.take(call, arm, results.get(cell["cell"]))
        self.pairs += 1

    def take(self, call, arm, result):
        if result is not None and "ok" == result["status"] and result["seconds"]:
            self.blocks.setdefault((call, arm), []).append(result["seconds"])
        else:
            note = "it was not measured" if result is None else \
                result.get("note") or result["status"]
            self.failed[call, arm] = note

    def run(self, until, least=3, most=12):
        """Pairs of jobs as long as there is time, at least `least`; then those calls again that
        decide. Returns a Proof."""
        last = 0.0
        while self.pairs < least or (self.pairs < most
                                     and self.measurer.spent + last <= until):
            before = self.measurer.spent
            self.pair(self.calls)
            last = self.measurer.spent - before
        return self.judge(max(least + 2, min(self.pairs, 8)))

    def judge(self, again):
        """again: pairs of jobs in which calls that seem slower, or faster, are measured anew."""
        good = [call for call in self.calls if not self.failures(call)]
        broken = [f"{call}: {note}" for (call, arm), note in self.failed.items() if AFTER == arm]
        if not good:
            return Proof(False, "No held-out call could be measured: "
                         f"{next(iter(self.failed.values()))}.", broken, None, self.pairs)
        whole = stats.ratio_of_jobs([self.of(call) for call in good])
        slower = [call for call in good if self.seems(call, 1 + LEAST_GAIN)]
        faster = [] if self.gains(whole) or broken else \
            [call for call in good if self.seems(call, 1 - 2 * LEAST_GAIN)]
        self.measure_again(slower + faster, again)
        harms = [self.harm(call, len(slower)) for call in slower]
        hurt = broken + [sentence for sentence in harms if sentence]
        faster = [call for call in faster if self.is_faster(call, len(faster))]
        return Proof(*self.verdict(whole, faster, hurt, len(good)), hurt, whole, self.pairs)

    def failures(self, call):
        return (call, BEFORE) in self.failed or (call, AFTER) in self.failed

    def of(self, call):
        """(blocks before, blocks after)."""
        return self.blocks[call, BEFORE], self.blocks[call, AFTER]

    def seems(self, call, bound):
        """Whether the time of a call, as measured, lies beyond a bound (a part of the old time)
        on its side of 1."""
        now = stats.ratio_of_jobs([self.of(call)]).middle
        return now > bound if bound > 1 else now < bound

    def measure_again(self, calls, pairs):
        """New jobs, which replace what was measured of these calls."""
        if not calls:
            return
        for call in calls:
            del self.blocks[call, BEFORE], self.blocks[call, AFTER]
        for _ in range(pairs):
            self.pair(calls)

    def harm(self, call, calls):
        """A sentence about a call that is slower, None if it is not. calls: how many are asked
        about, which the interval allows for."""
        if self.failures(call):
            return f"{call}: {self.failed.get((call, AFTER), 'failed')}"
        interval = stats.ratio_of_jobs([self.of(call)], 1 - 0.05 / calls)
        if interval.low <= 1 or interval.middle <= 1 + LEAST_GAIN:
            return None
        return f"{call} takes {percent(interval.middle - 1)} longer " \
               f"({percent(interval.low - 1)} to {percent(interval.high - 1)})"

    def is_faster(self, call, calls):
        """calls: how many are asked about, which the interval allows for."""
        return not self.failures(call) and self.gains(
            stats.ratio_of_jobs([self.of(call)], 1 - 0.05 / calls))

    @staticmethod
    def gains(interval):
        return interval.high < 1 and interval.middle <= 1 - LEAST_GAIN

    def verdict(self, whole, faster, hurt, calls):
        """(help, sentence)."""
        gain = f"{count(calls, 'held-out call')} took {change(whole)} time"
        if hurt:
            return False, f"The file is not recommended: it makes " \
                          f"{count(len(hurt), 'held-out call')} slower beyond noise; {gain}."
        if self.gains(whole):
            return True, f"The file helps: {gain}, and none is slower beyond noise."
        if faster:
            return True, f"The file helps {', '.join(map(str, faster))} beyond noise, and makes " \
                         f"no call slower; {gain}."
        return False, f"The file is not recommended: it does not help; {gain}."


# Two files agree only where a difference of so much would have been seen.
AGREEMENT = 0.1


def agreement(proof):
    """The Proof of a file against another one, read as: do they agree within noise?"""
    if proof.ratio is None:
        return proof
    middle, low, high = proof.ratio
    unknown = low <= 1 <= high and (low < 1 - AGREEMENT or high > 1 + AGREEMENT)
    alike = not proof.hurt and not unknown and (low <= 1 <= high or abs(1 - middle) < LEAST_GAIN)
    how = "agree within noise" if alike else "do not agree"
    if unknown and not proof.hurt:
        how = "cannot be told from each other, nor shown to agree: jobs differ too much"
    sentence = f"The two files {how}; times with this one are {middle:.3f} times those with the " \
               f"other ({low:.3f} to {high:.3f})."
    return proof._replace(help=alike, sentence=sentence)
