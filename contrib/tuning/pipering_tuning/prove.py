# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Proof: calls that had no part in the choosing, before and after, through the very files.

A job without the file and a job with it follow each other, in random order, several times. Pairs of
jobs are the sample of the statistics. A call that seems slower is measured again in new jobs, and
those alone judge it: among many calls some always look slower by chance. Calls whose interval
leaves room for much harm are measured on while there is time, and the most that is left of it is
told.

The time bounds a proof. Calls for which it does not allow the least number of pairs are left out,
the dearest first (proof_time.py), and the number of pairs is what the time allows: intervals then
are wider, and no threshold is another.

A call that fails once is measured on, since a node may be disturbed once. One that fails twice is
out; that is held against the file if it fails with the file alone. A call that the kernel refuses
is none of the proof's.
"""

import random
from collections import namedtuple

from . import files, proof_time, stats
from .progress import count
from .proof_time import LEAST
from .race import LEAST_GAIN, WARMUP, change, percent

BEFORE, AFTER = "before", "after"

# Pairs of jobs of all calls at most, and those that measure anew what seems slower or faster, if
# there is time: as many as there were of all calls, between these numbers.
MOST, ANEW, MOST_ANEW = 12, 5, 8

# A slow-down for which calls are measured on, and in how many more pairs of jobs at most.
HARM, MORE = 0.1, 12

Proof = namedtuple("Proof", "help sentence hurt broken doubts limit left_out ratio jobs",
                   defaults=((), (), (), "", (), None, 0))
"""help: the file may be recommended; hurt: sentences about calls that it makes slower; broken:
sentences about calls that fail or are wrong with the file alone; doubts: sentences about calls that
failed once; limit: a sentence about the largest slow-down that there may be; left_out: Calls that
the time did not allow; ratio: Interval of new time by old over all calls; jobs: pairs of them."""


class Prover:
    """Times calls before and after. before, after: paths of parameter files (None: none); purposes:
    lists of calls, of each of which one must be measured."""

    def __init__(self, measurer, before, after, calls, purposes, seed):
        self.measurer = measurer
        self.paths = {BEFORE: before, AFTER: after}
        self.calls = list(calls)
        self.left_out = []
        self.purposes = purposes
        self.seed = seed
        self.costs = None
        self.pairs = 0
        self.failed = {}   # {call: [(arm, status, note)]}
        self.refused = {}  # {call: note}
        self.blocks = {}
        # Pairs of jobs that followed each other are compared: cells of both arms say what the two
        # files say or name, so neither is taken from a journal where the other is measured anew.
        given = [files.read_settings(path) if path else {} for path in (before, after)]
        self.contents = files.fingerprint([[one, files.contents(one)] for one in given])

    def cell(self, call, arm):
        """The cell of a call in a job of the pair at hand."""
        name = f"proof/{self.pairs}/{arm}/{call}"
        return {"cell": name, **call.cell(), "reps": proof_time.REPS, "warmup": WARMUP,
                "group": name, "arm": arm, "set": {},
                "contents": self.contents}

    def pair(self, calls):
        """A job before and a job after, of those of these calls that are not out; the seconds that
        it took."""
        spent = self.measurer.spent
        dice = random.Random(f"{self.seed}/proof/{self.pairs}")
        calls = [call for call in calls if self.is_whole(call)]
        order, found = dice.sample(calls, len(calls)), {}
        for arm in dice.sample([BEFORE, AFTER], 2):
            cells = {call: self.cell(call, arm) for call in order}
            results = self.measurer.measure_through(list(cells.values()), f"proof, {arm}",
                                                    self.paths[arm])
            for call, cell in cells.items():
                found.setdefault(call, {})[arm] = results.get(cell["cell"])
        for call in calls:
            self.take(call, found[call])
        self.pairs += 1
        return self.measurer.spent - spent

    def take(self, call, results):
        """The times of a call, {arm: result}, or that it fails, or is refused."""
        statuses = {arm: result["status"] for arm, result in results.items()}
        if "refused" in statuses.values():
            self.refused[call] = "; ".join(result.get("note", "") for result in results.values())
            return
        failed = [(arm, statuses[arm], results[arm].get("note") or statuses[arm])
                  for arm in (BEFORE, AFTER) if "ok" != statuses[arm]]
        self.failed.setdefault(call, []).extend(failed)
        if not failed:
            for arm in (BEFORE, AFTER):
                self.blocks.setdefault((call, arm), []).append(results[arm]["seconds"])

    def run(self, until, end):
        """Pairs of jobs as long as there is time, at least LEAST; then those calls again that
        decide. What is not needed ends when the measurer has spent `until` seconds, all that the
        time allows at `end`. Returns a Proof."""
        self.costs = proof_time.measure(self.measurer, self.calls, self.seed, end)
        self.leave_out(end - self.measurer.spent)
        last = 0.0
        while self.pairs < LEAST or (
                self.pairs < MOST and self.measurer.spent + last <= until
                and self.measurer.spent + (1 + LEAST) * last <= end):
            last = self.pair(self.calls)
        few = [call for call in self.calls if self.is_whole(call) and len(self.of(call)[0]) < LEAST]
        if few:
            self.pair(few)
        self.narrow(self.calls, min(until, end - LEAST * last))
        return self.judge(max(ANEW, min(self.pairs, MOST_ANEW)), until, end)

    def leave_out(self, left):
        """Leaves calls out for which there is no time; says how long the proof takes if it does not
        end in time."""
        kept = proof_time.affordable(self.calls, self.purposes, self.costs, left)
        self.left_out = [call for call in self.calls if call not in kept]
        self.calls = kept
        for line in proof_time.beyond(self.costs, kept, left):
            self.measurer.progress.say(line)

    def narrow(self, calls, until):
        """Goes on with those calls that much harm may be done to, while there is time."""
        last = 0.0
        for _ in range(MORE):
            wide = [call for call in calls if self.is_measured(call) and self.is_wide(call)]
            if self.measurer.spent + max(last, self.costs.pairs(wide, 1)) > until or not wide:
                return
            last = self.pair(wide)

    def is_wide(self, call):
        """Whether a call may be much slower, but need not be. That it is slower at all ends
        nothing: who looks often enough would find each call so once."""
        now = stats.ratio_of_jobs([self.of(call)])
        return now.low <= 1 + HARM < now.high

    def judge(self, again, until, end):
        """again: pairs of jobs at most in which calls that seem slower, or faster, are measured
        anew."""
        good = [call for call in self.calls if self.is_measured(call)]
        if not good:
            notes = [*self.refused.values(),
                     *(note for found in self.failed.values() for _, _, note in found)]
            return Proof(False, f"No held-out call could be measured: {notes[0]}.",
                         broken=self.broken(), doubts=self.doubts(), left_out=self.left_out,
                         jobs=self.pairs)
        whole = stats.ratio_of_jobs([self.of(call) for call in good])
        slower = [call for call in good if self.middle(call) > 1 + LEAST_GAIN]
        settled = self.gains(whole) or self.broken()
        faster = [] if settled else \
            [call for call in good if self.middle(call) < 1 - 2 * LEAST_GAIN]
        self.measure_again(slower + faster, again, end)
        self.narrow(slower + faster, until)
        harms = {call: self.harm(call, len(slower)) for call in slower}
        hurt = [sentence for sentence in harms.values() if sentence]
        faster = [call for call in faster if self.is_measured(call)
                  and self.gains(stats.ratio_of_jobs([self.of(call)], 1 - 0.05 / len(faster)))]
        return Proof(*self.verdict(whole, faster, len(hurt), len(good)), hurt, self.broken(),
                     self.doubts(), self.limit([call for call in good if not harms.get(call)]),
                     self.left_out, whole, self.pairs)

    def limit(self, calls):
        """A sentence about the largest slow-down of calls that are not slower, for all we know."""
        highs = [(stats.ratio_of_jobs([self.of(call)]).high, call) for call in calls
                 if self.is_measured(call)]
        if not highs:
            return ""
        high, call = max(highs)
        if high <= 1:
            return "No call is slower at all, at 95% for each."
        return f"The largest slow-down that the proof cannot exclude, at 95% for each call, is " \
               f"{percent(high - 1)}: {call}."

    def is_measured(self, call):
        """Whether there are times of a call, and nothing speaks against them."""
        return self.is_whole(call) and (call, AFTER) in self.blocks

    def is_whole(self, call):
        """Whether a call did not fail twice, and is not refused."""
        return call not in self.refused and len(self.failed.get(call, ())) < 2

    def broken(self):
        """Sentences about calls that fail twice with the file, and never without it."""
        return [sentence(call, *found[0]) for call, found in self.failed.items()
                if 2 <= len(found) and {AFTER} == {arm for arm, _, _ in found}]

    def doubts(self):
        """Sentences about calls that failed once, and not again."""
        return [f"{sentence(call, *found[0])} (once, and not again)"
                for call, found in self.failed.items() if 1 == len(found)]

    def of(self, call):
        """(blocks before, blocks after)."""
        return self.blocks.get((call, BEFORE), []), self.blocks.get((call, AFTER), [])

    def middle(self, call):
        """New time of a call by old, as measured."""
        return stats.ratio_of_jobs([self.of(call)]).middle

    def measure_again(self, calls, pairs, end):
        """New jobs, as many pairs as there is time for, but at least LEAST; they replace what was
        measured of these calls."""
        for call in calls:
            del self.blocks[call, BEFORE], self.blocks[call, AFTER]
        done, last = 0, 0.0
        while calls and (done < LEAST or done < pairs and self.measurer.spent + last <= end):
            last = self.pair(calls)
            done += 1

    def harm(self, call, calls):
        """A sentence about a call that is slower, None if it is not. calls: how many are asked
        about, which the interval allows for."""
        if not self.is_measured(call):
            return None
        interval = stats.ratio_of_jobs([self.of(call)], 1 - 0.05 / calls)
        if interval.low <= 1 or interval.middle <= 1 + LEAST_GAIN:
            return None
        return f"{call} takes {percent(interval.middle - 1)} longer " \
               f"({percent(interval.low - 1)} to {percent(interval.high - 1)})"

    @staticmethod
    def gains(interval):
        """Whether that much less time is beyond noise."""
        return interval.high < 1 and interval.middle <= 1 - LEAST_GAIN

    def verdict(self, whole, faster, hurt, calls):
        """(help, sentence). hurt, calls: how many."""
        gain = f"{count(calls, 'held-out call')} took {change(whole)} time"
        broken = len(self.broken())
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


def sentence(call, arm, status, note):
    """How a call fails."""
    what = "gives a wrong result" if "wrong" == status else "fails"
    return f"{call} {what} {'with' if AFTER == arm else 'without'} the file: {note}"


def forget_failures(records):
    """Leaves out of a journal's records the pairs of a proof that had a failure in a call: they
    are measured anew."""
    failed = {_pair_of(name) for name, record in records.items()
              if record["result"]["status"] not in ("ok", "refused")}
    for name in [name for name in records if _pair_of(name) in failed - {None}]:
        del records[name]


def _pair_of(name):
    """(pair of jobs, call) of a cell; None if it is none of a proof."""
    words = name.split("/", 3)
    return (words[1], words[3]) if "proof" == words[0] else None
