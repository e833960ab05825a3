# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""How long a proof takes, and which held-out calls it has the time for.

A proof begins with a trial: all calls, a few times, in a job with the settings in force. That tells
which calls there is no time for: the dearest ones. Neither the file nor any time by which the proof
judges has a part in that, so leaving calls out is in favour of no file, and hides no harm that was
seen.
"""

from collections import namedtuple

from .progress import clock_text, count
from .race import CURRENT, WARMUP

# Pairs of jobs that there are however little time is left, of all calls, and of those that are
# measured anew.
LEAST = 3
PAIRS = 2 * LEAST

# Repetitions of a call in a job of the proof; warm-up and repetitions of a trial, and the part of
# the time left that it takes.
REPS = 6
TRIED = 3, 2
TIME_PART = 0.15


class Costs(namedtuple("Costs", "job calls")):
    """Seconds of a job of the proof besides its calls; {Call: seconds of it in a job}."""

    def pairs(self, calls, pairs=PAIRS):
        """Seconds of so many pairs of jobs with these calls."""
        return 2 * pairs * (self.job + sum(self.calls[call] for call in calls))


def affordable(calls, purposes, costs, left):
    """Those calls whose least proof, all of them measured anew, takes at most `left` seconds. The
    dearest ones are left out, but of each purpose, a list of calls, one stays."""
    kept = list(calls)
    for call in sorted(calls, key=lambda one: (-costs.calls[one], str(one))):
        if costs.pairs(kept) <= left:
            break
        rest = [one for one in kept if one != call]
        if rest and all(set(rest) & set(one) for one in purposes if call in one):
            kept = rest
    return kept


def beyond(costs, calls, left):
    """[a sentence] if the least proof of these calls takes more than the seconds left."""
    seconds = costs.pairs(calls)
    if seconds <= left:
        return []
    return [f"the least proof, of {count(len(calls), 'call')}, takes about "
            f"{clock_text(seconds)}: the run goes about {clock_text(seconds - left)} beyond the "
            "time of --budget"]


def measure(measurer, calls, seed, end):
    """Costs of these calls; what is measured is to end at `end`. Small ones are tried first: one
    for which there is no time is taken to cost as much more than the dearest of the others as it
    has bytes more than they have."""
    warmup, reps = TRIED
    cells = {call: {"cell": f"trial/{call}", **call.cell(), "reps": reps, "warmup": warmup,
                    "arm": CURRENT, "set": {}}
             for call in sorted(calls, key=lambda one: (one.total, str(one)))}
    until = measurer.spent + TIME_PART * (end - measurer.spent)
    found = measurer.measure(list(cells.values()), "what a proof costs", seed, until)
    turns, costs, job = warmup + reps, {}, 0.0
    for call, cell in cells.items():
        result = found.get(cell["cell"])
        if result is not None:
            spent = measurer.spent_on(cell["cell"])
            if not costs and "timeout" != result["status"]:  # it has the begin of the job in it
                job = max(0.0, spent - sum(result["seconds"]) * turns / reps)
            spent -= 0.0 if costs else job
            good = "ok" == result["status"]  # a call that fails takes as long in the proof as here
            costs[call] = spent * ((WARMUP + REPS) / turns if good else 1.0)
    most, largest = max(costs.values()), max(call.total for call in costs)
    return Costs(job, {call: costs.get(call, most * max(1.0, call.total / largest))
                       for call in calls})
