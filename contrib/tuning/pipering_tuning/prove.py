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
many calls some always look slower by chance. A call that fails without the file too says nothing
about the file, and one that the kernel refuses is none of the proof's.
"""

import random
from collections import namedtuple

from . import stats
from .progress import count
from .race import LEAST_GAIN, change, percent

BEFORE, AFTER = "before", "after"

Proof = namedtuple("Proof", "help sentence hurt ratio jobs broken", defaults=((),))
"""help: the file may be recommended; hurt: sentences about calls that it makes slower; ratio:
Interval of new time by old over all calls; jobs: pairs of them; broken: sentences about calls that
fail or are wrong with the file alone."""


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
        self.failed = {}   # {(call, arm): (status, note)}
        self.refused = {}  # {call: note}
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
        if result is None:
            self.failed[call, arm] = "failed", "it was not measured"
        elif "refused" == result["status"]:
            self.refused[call] = result.get("note") or "refused"
        elif "ok" != result["status"] or not result["seconds"]:
            self.failed[call, arm] = result["status"], result.get("note") or result["status"]
        else:
            self.blocks.setdefault((call, arm), []).append(result["seconds"])

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
        good = [call for call in self.calls if self.is_whole(call)]
        if not good:
            notes = list(self.refused.values()) + [note for _, note in self.failed.values()]
            return Proof(False, f"No held-out call could be measured: {notes[0]}.", [], None,
                         self.pairs, self.broken())
        whole = stats.ratio_of_jobs([self.of(call) for call in good])
        slower = [call for call in good if self.seems(call, 1 + LEAST_GAIN)]
        faster = [] if self.gains(whole) or self.broken() else \
            [call for call in good if self.seems(call, 1 - 2 * LEAST_GAIN)]
        self.measure_again(slower + faster, again)
        harms = [self.harm(call, len(slower)) for call in slower]
        hurt = [sentence for sentence in harms if sentence]
        faster = [call for call in faster if self.is_faster(call, len(faster))]
        broken = self.broken()
        return Proof(*self.verdict(whole, faster, len(hurt), len(broken), len(good)), hurt, whole,
                     self.pairs, broken)

    def is_whole(self, call):
        """Whether a call was measured in all jobs, before and after."""
        return call not in self.refused and (call, BEFORE) not in self.failed \
            and (call, AFTER) not in self.failed

    def broken(self):
        """Sentences about calls that fail with the file, and do not without it."""
        found = []
        for call in self.calls:
            if (call, AFTER) in self.failed and (call, BEFORE) not in self.failed:
                status, note = self.failed[call, AFTER]
                what = "gives a wrong result" if "wrong" == status else "fails"
                found.append(f"{call} {what} with the file: {note}")
        return found

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
        if not self.is_whole(call):
            return None
        interval = stats.ratio_of_jobs([self.of(call)], 1 - 0.05 / calls)
        if interval.low <= 1 or interval.middle <= 1 + LEAST_GAIN:
            return None
        return f"{call} takes {percent(interval.middle - 1)} longer " \
               f"({percent(interval.low - 1)} to {percent(interval.high - 1)})"

    def is_faster(self, call, calls):
        """calls: how many are asked about, which the interval allows for."""
        return self.is_whole(call) and self.gains(
            stats.ratio_of_jobs([self.of(call)], 1 - 0.05 / calls))

    @staticmethod
    def gains(interval):
        return interval.high < 1 and interval.middle <= 1 - LEAST_GAIN

    def verdict(self, whole, faster, hurt, broken, calls):
        """(help, sentence). hurt, broken, calls: how many."""
        gain = f"{count(calls, 'held-out call')} took {change(whole)} time"
        if hurt or broken:
            harm = [f"makes {count(hurt, 'held-out call')} slower beyond noise"] if hurt else []
            harm += [f"breaks {count(broken, 'held-out call')}"] if broken else []
            return False, f"The file is not recommended: it {' and '.join(harm)}; {gain}."
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
    worse = proof.hurt or proof.broken
    alike = not worse and not unknown and (low <= 1 <= high or abs(1 - middle) < LEAST_GAIN)
    how = "agree within noise" if alike else "do not agree"
    if unknown and not worse:
        how = "cannot be told from each other, nor shown to agree: jobs differ too much"
    sentence = f"The two files {how}; times with this one are {middle:.3f} times those with the " \
               f"other ({low:.3f} to {high:.3f})."
    return proof._replace(help=alike, sentence=sentence)
