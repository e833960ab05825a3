# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Proof: calls without the file of the machine and with it.

A job without the file and a job with it follow each other, several times, in an order that
changes. Pairs of jobs are the sample of the statistics. Calls that seem slower are measured again in
new pairs of jobs, and those alone judge them: among many calls some always look slower by chance. A
call that fails once counts for nothing, as a node may be disturbed once; one that fails twice with
the file, and never without it, is held against it.
"""

from collections import Counter, namedtuple

from . import stats
from .calls import Call, call
from .charts import percent

BEFORE, AFTER = "before", "after"
PAIRS = 6
WARMUP, REPS = 2, 6
LEAST_GAIN = 0.02  # less is noise, whatever intervals say

# Sizes and shapes of all kinds, most between those of the sweep.
LARGE = ("allgatherv:regular:0.12", "allgatherv:regular:0.62", "allgatherv:spike:0.38",
         "allgatherv:spike:0.88", "allgatherv:broadcast:0.3", "allgatherv:half:0.55",
         "allgatherv:geometric:0.2", "allgatherv:outlier:0.45", "allgatherv:zipf:0.7",
         "allgatherv:empty90:0.33", "allgatherv:spike:0.4:list", "allgather:regular:0.7",
         "bcast:regular:0.16", "bcast:regular:0.85", "reduce:regular:0.6", "allreduce:regular:0.35",
         "allreduce:regular:0.8", "scan:regular:0.65", "exscan:regular:0.18", "alltoallw:ring:0.25",
         "alltoallw:mixed:0.5", "alltoallv:dense:0.3")
SMALL = tuple(Call(name, "regular", 2_400, "auto") for name in ("allgatherv", "bcast", "allreduce"))

Proof = namedtuple("Proof", "helps sentence notes rows")
"""sentence: the verdict; notes: sentences about single calls; rows: [(Call, median before, median
after, Interval of new time by old)]."""


class Prover:
    """place: a Place; variables: {BEFORE, AFTER: as Place.run takes them}."""

    def __init__(self, place, variables, largest):
        self.place, self.variables = place, variables
        self.calls = [call(text, largest, place.machine["ranks"]) for text in LARGE] + list(SMALL)
        self.blocks = {}
        self.failed = Counter()  # {(Call, arm): times}
        self.notes = {}          # {Call: why it failed last}

    def pairs(self, calls, say):
        """PAIRS of jobs with these calls; their times take the place of older ones."""
        self.blocks.update({(one, arm): [] for one in calls for arm in (BEFORE, AFTER)})
        for pair in range(PAIRS):
            say(f"proof: pair {pair + 1} of {PAIRS} of jobs, {len(calls)} calls")
            found = {arm: self.job([one for one in calls if not self.is_out(one)], arm)
                     for arm in ((BEFORE, AFTER) if pair % 2 else (AFTER, BEFORE))}
            for one in calls:
                if all("ok" == found[arm].get(one, {}).get("status") for arm in found):
                    for arm in found:
                        self.blocks[one, arm].append(found[arm][one]["seconds"])

    def job(self, calls, arm):
        """{Call: result} of a job."""
        found = {}

        def take(number, result):
            one = found_of[int(number)]
            found[one] = result
            if "ok" != result["status"]:
                self.failed[one, arm] += 1
                self.notes[one] = result.get("note") or result["status"]

        found_of = list(calls)
        self.place.run([{"cell": str(i), **one.cell(), "warmup": WARMUP, "reps": REPS}
                        for i, one in enumerate(calls)], take, self.variables[arm])
        return found

    def is_out(self, one):
        """Whether a call has failed twice."""
        return 2 <= self.failed[one, BEFORE] + self.failed[one, AFTER]

    def is_measured(self, one):
        return not self.is_out(one) and 2 <= len(self.blocks[one, AFTER])

    def ratio(self, one, level=0.95):
        """The Interval of new time of a call by old."""
        return stats.ratio_of_jobs([(self.blocks[one, BEFORE], self.blocks[one, AFTER])], level)

    def prove(self, say):
        """A Proof."""
        self.pairs(self.calls, say)
        good = [one for one in self.calls if self.is_measured(one)]
        if not good:
            note = next(iter(self.notes.values()), "no pair of jobs has it whole")
            return Proof(False, f"No call could be measured: {note}.", [], [])
        # Before calls are measured again: those that seem slower are in it as they were.
        whole = stats.ratio_of_jobs([(self.blocks[one, BEFORE], self.blocks[one, AFTER])
                                     for one in good])
        slower = [one for one in good if self.ratio(one).middle > 1 + LEAST_GAIN]
        if slower:
            self.pairs(slower, say)
        return self.judge(whole, slower)

    def judge(self, whole, slower):
        good = [one for one in self.calls if self.is_measured(one)]
        level = 1 - 0.05 / max(1, len(slower))
        hurt = [one for one in slower if one in good and self.ratio(one).middle > 1 + LEAST_GAIN
                and self.ratio(one, level).low > 1]
        broken = [one for one in self.calls
                  if 2 <= self.failed[one, AFTER] and not self.failed[one, BEFORE]]
        notes = [f"slower: {one} takes {percent(self.ratio(one).middle - 1, 2)} longer"
                 for one in hurt]
        notes += [f"{'broken' if one in broken else 'failed'}: {one}: {note}"
                  for one, note in self.notes.items()]
        rows = [(one, *(stats.middle(self.blocks[one, arm]) for arm in (BEFORE, AFTER)),
                 self.ratio(one)) for one in good]
        gain = f"{len(good)} calls took {whole.middle:.3f} times as long with it as without " \
               f"({whole.low:.3f} to {whole.high:.3f})"
        if hurt or broken:
            harm = [f"makes {len(hurt)} of them slower beyond noise"] if hurt else []
            harm += [f"breaks {len(broken)}"] if broken else []
            return Proof(False, f"The file is not recommended: {gain}, and it "
                         f"{' and '.join(harm)}.", notes, rows)
        if whole.high < 1 and whole.middle <= 1 - LEAST_GAIN:
            return Proof(True, f"The file helps: {gain}, and none is slower beyond noise.", notes,
                         rows)
        return Proof(False, f"The file is not needed: {gain}.", notes, rows)
