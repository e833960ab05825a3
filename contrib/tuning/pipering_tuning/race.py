# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""A race: values of a variable, timed in turns on the same calls.

Every race has the settings in force twice, as the arms `current` and `again`: by what these two
seem to differ is noise. Rounds go on, each in a job of its own, until one candidate is left and
known well enough, or the time is used up; arms that are clearly slower than the best drop out. One
round decides nothing, since jobs differ. A variable that no running job can change has a job for
each value, and jobs are what is compared, in more rounds.
"""

import random
from collections import namedtuple

from . import stats
from .progress import count

CURRENT, AGAIN = "current", "again"
# Repetitions of an arm in a round, and warm-up calls before.
REPS, WARMUP = 4, 9
LEAST_GAIN = 0.02
TIGHT = 0.02
LEAST_ROUNDS, MOST_ROUNDS = 2, 8
APART_ROUNDS = 5  # of arms that have jobs of their own, before anything is decided
# The part of its time that the first round of a race may take, so that there is a second one.
FIRST = 0.45

NO_CALL = "no call could be measured"
ONE_ROUND = "there was time for one round only, and one job decides nothing"

Verdict = namedtuple("Verdict", "reason settings interval tried", defaults=(None, None, True))
"""settings, interval: of the winner, new time by old; None if the current ones stay; tried: whether
it rests on times of a candidate."""


class Arm:
    """Settings, and the times measured: {Call: [block of seconds for each round]}."""

    def __init__(self, name, settings):
        self.name = name
        self.settings = settings
        self.blocks = {}
        self.out = None
        self.failed = False


class Race:
    """candidates: a list of settings, of which the first wins where others are as good. base:
    settings in force, which all arms have too; apart: arms have jobs of their own."""

    def __init__(self, measurer, name, calls, base, candidates, seed, apart=False):
        self.measurer = measurer
        self.name = name
        self.calls = list(calls)
        self.base = base
        self.seed = seed
        self.apart = apart
        self.rounds = 0
        self.arms = [Arm(CURRENT, {}), Arm(AGAIN, {})]
        self.arms += [Arm(text_of(settings), settings) for settings in candidates]

    @property
    def running(self):
        """Arms that have not dropped out, the two of the settings in force first."""
        return [arm for arm in self.arms if arm.out is None]

    @property
    def candidates(self):
        return self.running[2:]

    # ---- measuring

    def cells(self):
        """The cells of a round, calls in random order; the kernel has arms take turns."""
        dice = random.Random(f"{self.seed}/{self.name}/{self.rounds}")
        calls = dice.sample(self.calls, len(self.calls))
        return [self.cell(call, arm) for call in calls for arm in self.running]

    def group(self, call):
        """The name of a call in this round."""
        return f"race/{self.name}/{self.rounds}/{call}"

    def cell(self, call, arm):
        name = self.group(call)
        return {"cell": f"{name}/{arm.name}", **call.cell(), "reps": REPS, "warmup": WARMUP,
                "group": name, "arm": arm.name,
                "set": {**self.base, **arm.settings}}

    def round(self, until):
        """Measures every arm on every call once more; only some calls if time runs out."""
        cells = self.cells()
        results = self.measurer.measure(cells, f"race of {self.name}",
                                        f"{self.seed}/{self.name}/{self.rounds}", until)
        found = {}
        for cell in cells:
            found.setdefault(cell["group"], {})[cell["arm"]] = results.get(cell["cell"])
        for call in list(self.calls):
            self.take(call, found[self.group(call)])
        self.rounds += 1

    def take(self, call, found):
        """The results of a call in a round, {arm: result}. Arms are compared within it, so it
        counts for all of them or for none; a call for which there was never time, or that fails
        with the settings in force, is left out of the race."""
        if None in found.values():
            if 0 == self.rounds:
                self.calls.remove(call)
        elif not all("ok" == found[name]["status"] for name in (CURRENT, AGAIN)):
            self.calls.remove(call)
        else:
            for arm in self.running:
                self.take_arm(arm, call, found[arm.name])

    @staticmethod
    def take_arm(arm, call, result):
        """The times of an arm in a call; one that fails drops out."""
        if "ok" == result["status"]:
            arm.blocks.setdefault(call, []).append(result["seconds"])
        else:
            arm.out, arm.failed = result.get("note") or result["status"], True

    # ---- judging

    def pairs(self, arm, than=None):
        """(times of `than`, times of arm) of each call."""
        than = self.arms[0] if than is None else than
        return [(than.blocks[call], arm.blocks[call]) for call in self.calls]

    def ratio(self, arm, than=None):
        """New time by old over all calls; the interval allows for the number of arms."""
        return self.interval(self.pairs(arm, than), 1 - 0.05 / max(1, len(self.arms) - 2),
                             f"{self.seed}/{self.name}/{arm.name}")

    def interval(self, pairs, level, seed):
        """New time by old: of repetitions in the same jobs, or of jobs."""
        return stats.ratio_of_jobs(pairs, level) if self.apart else stats.ratio(pairs, level, seed)

    def noise(self):
        """By which part the settings in force differ from themselves, over all calls."""
        middle = stats.ratio(self.pairs(self.arms[1]), resamples=2).middle
        return max(middle - 1, 1 / middle - 1)

    def hurt(self, arm):
        """The first call that an arm makes slower beyond noise; None if there is none."""
        level = 1 - 0.05 / len(self.calls)
        for call in self.calls:
            old, again, new = (a.blocks[call] for a in (self.arms[0], self.arms[1], arm))
            noise = max(LEAST_GAIN, stats.spread([(old, again)], 0.9, self.seed))
            if self.interval([(old, new)], level, self.seed).low > 1 + noise:
                return call
        return None

    def drop_slower(self):
        """Candidates that are clearly slower than the best drop out."""
        best = min(self.running, key=lambda arm: stats.ratio(self.pairs(arm), resamples=2).middle)
        for arm in self.candidates:
            if arm is not best and self.ratio(arm, best).low > 1:
                arm.out = f"slower than {best.name}"

    def is_over(self):
        """Whether what is left to know would change nothing."""
        if not self.candidates or self.rounds >= MOST_ROUNDS:
            return True
        if self.rounds < (APART_ROUNDS if self.apart else LEAST_ROUNDS) or len(self.candidates) > 1:
            return False
        interval = self.ratio(self.candidates[0])
        return interval.low > 1 or interval.high - interval.low < 2 * TIGHT

    def run(self, until, end=None):
        """Races until it is over, or until the measurer has spent `until` seconds; a second round
        may go on up to `end` (until, if None). The first one leaves calls out for which there is
        no time, later ones are begun only where the last one's time is left."""
        last = 0.0
        while self.calls and not self.is_over():
            before = self.measurer.spent
            limit = until if end is None or LEAST_ROUNDS <= self.rounds else max(until, end)
            late = before >= limit if LEAST_ROUNDS > self.rounds else before + last > limit
            if 0 < self.rounds and late:
                break
            self.round(limit if self.rounds else before + FIRST * (until - before))
            last = self.measurer.spent - before
            if self.calls:
                self.drop_slower()
        return self.verdict()

    def ranked(self):
        """[(Interval of new time by old, arm)] of candidates, the best first. The fastest one and
        those that take less than LEAST_GAIN longer count as equal and keep their order: a few calls
        do not tell them apart, and may not stand for others."""
        pairs = [(self.ratio(arm), arm) for arm in self.candidates]
        least = (1 + LEAST_GAIN) * min((pair[0].middle for pair in pairs), default=0)
        return sorted(pairs, key=lambda pair: max(pair[0].middle, least))

    def verdict(self):
        """The best candidate that gains more than noise and hurts no call."""
        if not self.calls or 0 == self.rounds:
            return Verdict(NO_CALL, tried=False)
        known = [call for call in self.calls if LEAST_ROUNDS <= len(self.arms[0].blocks[call])]
        self.calls = known or self.calls
        if not known and self.candidates:
            return Verdict(ONE_ROUND, tried=False)
        noise = max(self.noise(), LEAST_GAIN)
        ranked = self.ranked()
        if not ranked:
            reasons = {arm.out for arm in self.arms[2:]}
            return Verdict("; ".join(sorted(reasons)),
                           tried=not all(arm.failed for arm in self.arms[2:]))
        reason = None
        for interval, arm in ranked:
            if interval.high >= 1 or 1 - interval.middle < noise:
                reason = reason or (f"the best other, {arm.name}, takes {change(interval)} "
                                    f"time; noise is {percent(noise)}")
                continue
            call = self.hurt(arm)
            if call is None:
                return Verdict(f"{count(len(self.calls), 'call')} took {change(interval)} time",
                               arm.settings, interval)
            reason = reason or f"{arm.name} makes {call} slower"
        return Verdict(reason)


def percent(part):
    return f"{100 * part:.1f}%"


def change(interval):
    """12% (10% to 14%) less, or more: of a ratio of times."""
    less = interval.middle <= 1
    ends = (1 - interval.high, 1 - interval.low) if less else (interval.low - 1, interval.high - 1)
    return f"{percent(abs(1 - interval.middle))} ({percent(ends[0])} to {percent(ends[1])}) " \
           f"{'less' if less else 'more'}"


def text_of(settings):
    """VARIABLE=VALUE,... as the name of an arm."""
    return ",".join(f"{name}={settings[name]}" for name in sorted(settings))
