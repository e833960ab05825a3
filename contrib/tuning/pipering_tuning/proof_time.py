# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""How long a proof takes, and which held-out calls it has the time for.

Before anything is chosen, all calls that may be held out are made a few times in one job, with the
settings in force. That tells how much time choosing must leave for the proof, and which calls the
proof has to leave out: the dearest ones. Neither the file nor any time by which the proof judges
has a part in that, so leaving calls out is in favour of no file, and hides no harm that was seen.
"""

from collections import namedtuple

from .progress import clock_text, count
from .race import CURRENT

# Pairs of jobs that there are however little time is left, of all calls, and of those that are
# measured anew.
LEAST = 3
PAIRS = 2 * LEAST
# Jobs that begin a proof: they show that both files are taken, in both forms.
CHECKS = 4

# Repetitions of a trial; its warm-up is this part of a proof's.
REPS, WARMUP_PART = 2, 3


class Costs(namedtuple("Costs", "job calls")):
    """Seconds of a job of the proof besides its calls; {Call: seconds of it in a job}."""

    def pair(self, calls):
        """Seconds of two jobs with these calls."""
        return 2 * (self.job + sum(self.calls[call] for call in calls))

    def proof(self, calls):
        """Seconds of the least proof of these calls, even if all must be measured anew."""
        return CHECKS * self.job + PAIRS * self.pair(calls)

    def times(self, factor):
        """Costs where each call takes so many times as long."""
        return Costs(self.job, {call: factor * cost for call, cost in self.calls.items()})


def affordable(calls, purposes, costs, left, pairs=PAIRS):
    """Those calls that so many pairs of jobs have the time for, `left` seconds. The dearest ones
    are left out, but of each purpose, a list of calls, one stays."""
    kept = list(calls)
    for call in sorted(calls, key=lambda one: (-costs.calls[one], str(one))):
        if pairs * costs.pair(kept) <= left:
            break
        rest = [one for one in kept if one != call]
        if rest and all(set(rest) & set(one) for one in purposes if call in one):
            kept = rest
    return kept


def beyond(costs, calls, begin, end):
    """[a sentence] if the least proof of these calls, from `begin` on, does not end in time."""
    seconds = costs.proof(calls)
    if begin + seconds <= end:
        return []
    return [f"the least proof, of {count(len(calls), 'call')}, takes about "
            f"{clock_text(seconds)}: the run goes about {clock_text(begin + seconds - end)} beyond "
            "the time of --budget"]


def cells_of(calls, effort):
    """The cells of a trial, small calls first: if the time ends, the dearest are not tried."""
    return [{"cell": f"trial/{call}", **call.cell(), "reps": REPS, "warmup": warmup(effort),
             "arm": CURRENT, "set": {}}
            for call in sorted(calls, key=lambda one: (one.total, str(one)))]


def warmup(effort):
    """Warm-up calls of a trial."""
    return effort.warmup // WARMUP_PART


def proof_reps(effort):
    """Repetitions of a call in a job of the proof."""
    return effort.reps + 2


def measure(measurer, calls, effort, seed, until):
    """Costs of these calls. One that is not tried before `until` seconds have been spent is taken
    to cost as much more than the dearest of the others as it has bytes more than they have."""
    cells = cells_of(calls, effort)
    found = measurer.measure(cells, "what a proof costs", seed, until)
    by_name = {f"trial/{call}": call for call in calls}
    tried = [(by_name[cell["cell"]], found[cell["cell"]], measurer.spent_on(cell["cell"]))
             for cell in cells if cell["cell"] in found]
    job, costs = split(tried, effort)
    most, largest = max(costs.values()), max(call.total for call in costs)
    for call in set(calls) - set(costs):
        costs[call] = most * max(1.0, call.total / largest)
    return Costs(job, costs)


def split(tried, effort):
    """(seconds of a job, {Call: seconds of it in the proof}) of a trial, [(Call, result, seconds
    of its cell)] in the order of the job. The first cell that did not time out has the job's begin
    in it. Calls that fail take as long in the proof as here."""
    job, costs, turns = None, {}, warmup(effort) + REPS
    for call, result, spent in tried:
        if job is None and "timeout" != result["status"]:
            job = max(0.0, spent - sum(result["seconds"]) * turns / REPS)
            spent -= job
        good = "ok" == result["status"]
        costs[call] = spent * ((effort.warmup + proof_reps(effort)) / turns if good else 1.0)
    return job or 0.0, costs
