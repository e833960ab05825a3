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
many calls some always look slower by chance. Calls whose interval leaves room for much harm are
measured on while there is time, and the most that is left of it is told.

The time bounds a proof. Calls for which it does not allow the least number of pairs are left out,
the dearest first (proof_time.py), and the number of pairs is what the time allows: intervals then
are wider, and no threshold is another.

A call that fails has one more pair of jobs in place of that one, since a node may be disturbed
once; only if it fails there too is that held against the file. A call that fails without the file
too says nothing about the file, and one that the kernel refuses is none of the proof's.
"""

import random
from collections import namedtuple

from . import files, proof_time, stats
from .progress import count
from .proof_time import LEAST
from .race import LEAST_GAIN, change, percent

BEFORE, AFTER = "before", "after"
# What marks a pair of jobs that replaces another one, and a result of none.
AGAIN, NO_PAIR = "+", {"status": "refused"}

# Pairs of jobs of all calls at most, and those that measure anew what seems slower or faster, if
# there is time: as many as there were of all calls, between these numbers.
MOST, ANEW, MOST_ANEW = 12, 5, 8

# A slow-down for which calls are measured on, and in how many more pairs of jobs at most.
HARM, MORE = 0.1, 12

# What a comparison of two files has come to.
AGREE, DIFFER, UNKNOWN = "agree", "differ", "unknown"

Proof = namedtuple("Proof", "help sentence hurt ratio jobs broken better doubts limit compared "
                            "left_out", defaults=((), (), (), "", "", ()))
"""help: the file may be recommended; hurt: sentences about calls that it makes slower; ratio:
Interval of new time by old over all calls; jobs: pairs of them; broken: sentences about calls that
fail or are wrong with the file alone; better: of a comparison of two files, sentences about calls
that are faster with this one or fail with the other alone; doubts: sentences about calls that
failed once; limit: a sentence about the largest slow-down that there may be; compared: AGREE,
DIFFER or UNKNOWN of two files, "" where a file is proven against what is in force; left_out: Calls
that the time did not allow."""


class Files(namedtuple("Files", "before after forms")):
    """Paths of the parameter files before (None: none) and after, and the forms in which jobs
    take them, in turns."""


def contents(paths):
    """A few digits that differ where anything does that the two files say or name. The cells of
    both arms have them: pairs of jobs that followed each other are what is compared, so neither
    arm is taken from a journal where the other one is measured anew."""
    given = [files.read_settings(path) if path else {} for path in (paths.before, paths.after)]
    return files.fingerprint([[settings, files.contents(settings)] for settings in given])


class Prover:
    """Times calls before and after. costs: proof_time.Costs of the calls; purposes: lists of calls,
    of each of which one must be measured; effort: race.Effort; alike: two files are compared, of
    which none is the better one."""

    def __init__(self, measurer, paths, calls, costs, purposes, effort, seed, alike=False):
        self.measurer = measurer
        self.paths = paths
        self.calls = list(calls)
        self.left_out = []
        self.costs = costs
        self.purposes = purposes
        self.effort = effort
        self.seed = seed
        self.alike = alike
        self.pairs = 0
        self.failed = {}   # {(call, arm): (status, note)}, of calls that failed twice
        self.refused = {}  # {call: note}
        self.doubts = []
        self.blocks = {}
        self.contents = contents(paths)

    def cell(self, call, arm, pair):
        name = f"proof/{pair}/{arm}/{call}"
        return {"cell": name, **call.cell(), "reps": proof_time.proof_reps(self.effort),
                "warmup": self.effort.warmup, "group": name, "arm": arm, "set": {},
                "contents": self.contents}

    def jobs(self, calls, pair):
        """A job before and a job after, of these calls: {(call, arm): result}."""
        dice = random.Random(f"{self.seed}/proof/{pair}")
        order = dice.sample(calls, len(calls))
        form = self.paths.forms[self.pairs % len(self.paths.forms)]
        found = {}
        for arm in dice.sample([BEFORE, AFTER], 2):
            path = self.paths.before if BEFORE == arm else self.paths.after
            cells = [self.cell(call, arm, pair) for call in order]
            results = self.measurer.measure_through(cells, f"proof, {arm}", path, form)
            found.update({(call, arm): results.get(cell["cell"])
                          for call, cell in zip(order, cells)})
        return found

    def pair(self, calls):
        """A job before and a job after, of those of these calls that have not failed twice. Calls
        that fail have another pair in its place."""
        calls = [call for call in calls if self.is_whole(call)]
        found = self.jobs(calls, str(self.pairs))
        failed = {call: failures(call, found) for call in calls if failures(call, found)}
        again = self.jobs(list(failed), f"{self.pairs}{AGAIN}")
        for call in calls:
            results = again if call in failed else found
            if failures(call, again):
                self.failed.update({**failed[call], **failures(call, again)})
            elif call in failed:
                self.doubts += [f"{self.sentence(*key, *why)} (once, and not again)"
                                for key, why in failed[call].items()]
            self.take(call, results)
        self.pairs += 1

    def take(self, call, results):
        """The times of a call, or that it is refused."""
        for arm in (BEFORE, AFTER):
            result = results[call, arm]
            if result is not None and "refused" == result["status"]:
                self.refused[call] = result.get("note") or "refused"
        if call not in self.refused and not failures(call, results):
            for arm in (BEFORE, AFTER):
                self.blocks.setdefault((call, arm), []).append(results[call, arm]["seconds"])

    def run(self, until, end):
        """Pairs of jobs as long as there is time, at least LEAST; then those calls again that
        decide. What is not needed ends when the measurer has spent `until` seconds, all that the
        time allows at `end`. Returns a Proof."""
        left = end - self.measurer.spent - proof_time.CHECKS * self.costs.job
        self.fit(proof_time.PAIRS, left)
        self.warn(end)
        first = self.calls
        last = self.timed_pair(first)
        self.costs = self.costs.times(self.pace())
        self.fit(proof_time.PAIRS - 1, left - self.costs.pair(first))
        while self.pairs < LEAST or (
                self.pairs < MOST and self.measurer.spent + last <= until
                and self.measurer.spent + (1 + LEAST) * last <= end):
            last = self.timed_pair(self.calls)
        self.narrow(self.calls, min(until, end - LEAST * last))
        return self.judge(max(ANEW, min(self.pairs, MOST_ANEW)), until, end)

    def timed_pair(self, calls):
        """A pair of jobs; the seconds that it took."""
        before = self.measurer.spent
        self.pair(calls)
        return self.measurer.spent - before

    def fit(self, pairs, left):
        """Leaves those calls out for which so many pairs would take more than the seconds left.
        What the first pair took with the file is not asked, only what it should take."""
        whole = [call for call in self.calls if self.is_whole(call)]
        kept = proof_time.affordable(whole, self.purposes, self.costs, left, pairs)
        out = [call for call in whole if call not in kept]
        if out:
            self.left_out += out
            self.calls = [call for call in self.calls if call not in out]

    def warn(self, end):
        """Says how long the proof takes if it does not end in time."""
        for line in proof_time.beyond(self.costs, self.calls, self.measurer.spent, end):
            self.measurer.progress.say(line)

    def pace(self):
        """How many times as long as in the trial calls took in the first job without the file: the
        one with it has no part in which calls are left out. The first cell of a job, and one
        behind a call that failed, have the begin of a job in them."""
        cells = {self.cell(call, BEFORE, 0)["cell"]: call for call in self.calls}
        first = [one for one in self.measurer.records() if one["cell"] in cells]
        good = [one for last, one in zip(first, first[1:])
                if "ok" == last["result"]["status"] == one["result"]["status"]]
        expected = sum(self.costs.calls[cells[one["cell"]]] for one in good)
        return sum(one["spent"] for one in good) / expected if expected else 1.0

    def narrow(self, calls, until):
        """Goes on with those calls that much harm may be done to, while there is time."""
        last = 0.0
        for _ in range(MORE):
            wide = [call for call in calls if self.is_measured(call) and self.is_wide(call)]
            if self.measurer.spent + max(last, self.costs.pair(wide)) > until or not wide:
                return
            last = self.timed_pair(wide)

    def is_wide(self, call):
        """Whether a call may be much slower (of two files: or faster), but need not be. That it is
        slower at all ends nothing: who looks often enough would find each call so once."""
        now = stats.ratio_of_jobs([self.of(call)])
        return now.low <= 1 + HARM < now.high or \
            self.alike and now.low < 1 / (1 + HARM) <= now.high

    def judge(self, again, until, end):
        """again: pairs of jobs at most in which calls that seem slower, or faster, are measured
        anew."""
        good = [call for call in self.calls if self.is_measured(call)]
        if not good:
            notes = list(self.refused.values()) + [note for _, note in self.failed.values()]
            return Proof(False, f"No held-out call could be measured: {notes[0]}.", [], None,
                         self.pairs, self.broken(AFTER), self.broken(BEFORE) if self.alike else [],
                         self.doubts, left_out=self.left_out)
        whole = stats.ratio_of_jobs([self.of(call) for call in good])
        slower = [call for call in good if self.seems(call, 1 + LEAST_GAIN)]
        faster = [] if self.settles(whole) else \
            [call for call in good if self.seems(call, 1 - 2 * LEAST_GAIN)]
        self.measure_again(slower + faster, again, end)
        self.narrow(slower + faster, until)
        harms = {call: self.harm(call, len(slower)) for call in slower}
        hurt = [sentence for sentence in harms.values() if sentence]
        faster = {call: self.gain(call, len(faster)) for call in faster}
        faster = {call: sentence for call, sentence in faster.items() if sentence}
        broken = self.broken(AFTER)
        better = [*faster.values(), *self.broken(BEFORE)] if self.alike else []
        return Proof(*self.verdict(whole, list(faster), len(hurt), len(broken), len(good)), hurt,
                     whole, self.pairs, broken, better, self.doubts,
                     self.limit([call for call in good if not harms.get(call)]),
                     left_out=self.left_out)

    def settles(self, whole):
        """Whether no faster call can change the verdict."""
        return not self.alike and (self.gains(whole) or bool(self.broken(AFTER)))

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
        """Whether a call did not fail twice, before or after, and is not refused."""
        return call not in self.refused and (call, BEFORE) not in self.failed \
            and (call, AFTER) not in self.failed

    def broken(self, arm):
        """Sentences about calls that fail in these jobs, and do not in the others."""
        other = BEFORE if AFTER == arm else AFTER
        return [self.sentence(call, arm, *self.failed[call, arm])
                for call in [*self.calls, *self.left_out]
                if (call, arm) in self.failed and (call, other) not in self.failed]

    def sentence(self, call, arm, status, note):
        """How a call fails."""
        what = "gives a wrong result" if "wrong" == status else "fails"
        where = "with the file" if AFTER == arm else \
            "with the other file" if self.alike else "without the file"
        return f"{call} {what} {where}: {note}"

    def of(self, call):
        """(blocks before, blocks after)."""
        return self.blocks[call, BEFORE], self.blocks[call, AFTER]

    def seems(self, call, bound):
        """Whether the time of a call, as measured, lies beyond a bound (a part of the old time)
        on its side of 1."""
        now = stats.ratio_of_jobs([self.of(call)]).middle
        return now > bound if bound > 1 else now < bound

    def measure_again(self, calls, pairs, end):
        """New jobs, as many pairs as there is time for, but at least LEAST; they replace what was
        measured of these calls."""
        if not calls:
            return
        for call in calls:
            del self.blocks[call, BEFORE], self.blocks[call, AFTER]
        done, last = 0, 0.0
        while done < LEAST or done < pairs and self.measurer.spent + last <= end:
            last = self.timed_pair(calls)
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

    def gain(self, call, calls):
        """A sentence about a call that is faster, None if it is not."""
        if not self.is_measured(call):
            return None
        interval = stats.ratio_of_jobs([self.of(call)], 1 - 0.05 / calls)
        return f"{call} takes {change(interval)} time" if self.gains(interval) else None

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


# Two files agree only where a difference of so much, of the mean, would have been seen.
AGREEMENT = 0.05


def agreement(proof):
    """The Proof of a file against another one, read as: do they agree within noise? Whichever of
    the two is named first, the answer is the same."""
    if proof.ratio is None:
        return proof._replace(compared=UNKNOWN)
    middle, low, high = proof.ratio
    apart = not low <= 1 <= high and max(middle, 1 / middle) > 1 + AGREEMENT
    differ = apart or proof.hurt or proof.broken or proof.better
    alike = not differ and max(high, 1 / low) <= 1 + AGREEMENT
    compared = DIFFER if differ else AGREE if alike else UNKNOWN
    how = {AGREE: "agree within noise", DIFFER: "do not agree",
           UNKNOWN: "cannot be told from each other, nor shown to agree: jobs differ too much"}
    sentence = f"The two files {how[compared]}; times with this one are {middle:.3f} times " \
               f"those with the other ({low:.3f} to {high:.3f})."
    return proof._replace(help=AGREE == compared, sentence=sentence, compared=compared)


def failures(call, results):
    """{(call, arm): (status, note)} of results of a pair that are no times, nor refused."""
    found = {}
    for arm in (BEFORE, AFTER):
        result = results.get((call, arm), NO_PAIR)
        if result is None:
            found[call, arm] = "failed", "it was not measured"
        elif result["status"] != "refused" and ("ok" != result["status"]
                                                or not result["seconds"]):
            found[call, arm] = result["status"], result.get("note") or result["status"]
    return found


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
    return (words[1].rstrip(AGAIN), words[3]) if "proof" == words[0] else None
