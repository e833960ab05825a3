# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Choosing: groups of variables one after the other, each raced from what the model says, then
around the winner, until neighbours gain nothing or the group's share of the time is used up."""

from . import knobs, stats
from .race import CURRENT, NO_CALL, ONE_ROUND, Race, text_of

STEPS = 4
# Seconds: where time is short, few groups are decided rather than none.
LEAST_SHARE = 30.0
NO_TIME = "not raced: the time of --budget was used up"


class Chooser:
    """Holds what is in force while groups are raced.

    start    settings of the jobs before anything is chosen, {variable: value}
    choices  rows of results.json's "choices"
    tried    how many verdicts of races rest on times of a candidate
    """

    def __init__(self, measurer, table, machine, start, options):
        self.measurer = measurer
        self.table = table
        self.machine = machine
        self.start = dict(start)
        self.options = options
        self.chosen = {}
        self.choices = []
        self.races = []
        self.tried = 0

    def current(self, name):
        """The value in force; None if this release has no such variable."""
        variable = self.table.get(name)
        return self.chosen.get(name, self.start.get(name, variable and variable.value))

    def in_force(self, group):
        return {name: self.current(name) for name in group.variables}

    def groups(self):
        """Those that this release has, this machine can show and the user wants."""
        kept, left = [], {}
        for group in knobs.GROUPS:
            if not knobs.is_wanted(group, self.options.variables) or \
                    not knobs.has_calls(group, self.options.collectives):
                continue
            missing = [name for name in group.variables if self.table.get(name) is None]
            if missing:
                self.leave(group, f"Open MPI {self.table.version} has no {missing[0]}")
                continue
            reason = knobs.unfit(group, self.machine)
            if reason is None:
                kept.append(group)
            else:
                left.setdefault(reason, []).extend(group.variables)
                self.keep(group, reason)
        for reason, names in left.items():
            self.measurer.progress.say(f"not raced: {', '.join(names)}: {reason}")
        return kept

    def run(self, largest, until, last):
        """Races all groups; `until`: seconds that the measurer may have spent then. As long as no
        race has told anything, one that has begun may take the time until `last`."""
        groups = self.groups()
        for place, group in enumerate(groups):
            left = until - self.measurer.spent
            share = max(2 * left / (len(groups) - place + 1), LEAST_SHARE)
            self.choose(group, largest, min(until, self.measurer.spent + share), until, last)
        late = [row["variable"] for row in self.choices if NO_TIME == row["reason"]]
        if late:
            self.measurer.progress.say(f"{NO_TIME}: {', '.join(late)}")

    def choose(self, group, largest, until, end, last):
        """One group. until: its share of the time; end: that of all groups; last: see run."""
        calls = knobs.calls_of(group, largest, self.machine, self.options.collectives)
        if not calls:
            return
        if self.measurer.spent >= end:
            self.leave(group, NO_TIME)
            return
        before = self.in_force(group)
        meshes = knobs.has_mesh(self.table, {**self.start, **self.chosen})
        candidates = knobs.first_candidates(group, self.table, before,
                                            self.blocks(group, calls, end), meshes)
        if not candidates:
            return
        tried, verdicts = [], []
        while candidates and len(verdicts) < STEPS:
            tried += candidates
            verdict = self.race(group, calls, candidates, len(verdicts), until,
                                end if self.tried else last)
            verdicts.append(verdict)
            if verdict.settings is None or self.measurer.spent >= until:
                break
            self.chosen.update(verdict.settings)
            candidates = knobs.next_candidates(group, self.table, self.in_force(group), tried)
        self.record(group, before, verdicts)

    def blocks(self, group, calls, until):
        """Block sizes that the library chooses in these calls, by the model: measured where a
        group begins with them, else []."""
        if not knobs.begins_with_blocks(group, self.in_force(group)):
            return []
        effort = self.options.effort
        cells = [{"cell": f"blocks/{call}", **call.cell(), "reps": effort.reps,
                  "warmup": effort.warmup, "arm": CURRENT, "set": dict(self.chosen)}
                 for call in calls]
        results = self.measurer.measure(cells, "block sizes", self.options.seed, until)
        return [result["block"] for result in results.values()
                if "ok" == result["status"] and result["block"]]

    def race(self, group, calls, candidates, step, until, end):
        name = f"{group.variables[0]}/{step}"
        race = Race(self.measurer, name, calls, dict(self.chosen), candidates,
                    self.options.effort, self.options.seed)
        verdict = race.run(until, end)
        self.races.append(race)
        self.tried += verdict.tried
        if verdict.settings is not None:
            self.measurer.progress.say(f"{text_of(verdict.settings)}: {verdict.reason}")
        return verdict

    def keep(self, group, reason):
        """Rows for variables that keep their value."""
        for name in group.variables:
            value = self.current(name) or ""
            self.choices.append(_row(name, value, value, reason, None))

    def leave(self, group, reason):
        """The same, and a line for each of them."""
        self.keep(group, reason)
        for name in group.variables if NO_TIME != reason else ():
            self.measurer.progress.say(f"{name} stays {self.current(name) or ''}: {reason}")

    def why_nothing(self):
        """Why no verdict rests on times of a candidate."""
        reasons = {}
        for row in self.choices:
            reasons.setdefault(row["reason"], []).append(row["variable"])
        if NO_TIME in reasons or ONE_ROUND in reasons:
            return "the time of --budget allows no race of two rounds (--resume with a longer " \
                   "one goes on)"
        if NO_CALL in reasons:
            return "no call can be measured with the settings in force"
        shown = [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]
        return "; ".join(shown[:3]) or "no variable has another value here that could be raced"

    def record(self, group, before, verdicts):
        """Rows of what a group has come to."""
        won = [verdict for verdict in verdicts if verdict.settings is not None]
        for verdict in won:
            self.chosen.update(verdict.settings)
        if not won:
            self.leave(group, verdicts[0].reason)
            return
        gain = stats.Interval(*(_product(v.interval[i] for v in won) for i in range(3)))
        for name in group.variables:
            self.choices.append(_row(name, before[name], self.current(name),
                                     "; then ".join(v.reason for v in won), gain))


def _product(factors):
    result = 1.0
    for factor in factors:
        result *= factor
    return result


def _row(name, default, chosen, reason, ratio):
    """A row of results.json's "choices"; gain as a part of the old time."""
    row = {"variable": name, "default": default, "chosen": chosen, "reason": reason,
           "gain": 0.0, "interval": [0.0, 0.0]}
    if ratio is not None:
        row["gain"] = 1 - ratio.middle
        row["interval"] = [1 - ratio.high, 1 - ratio.low]
    return row
