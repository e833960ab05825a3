# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Choosing: variables one after the other, each raced on its calls with its other values, until its
share of the time is used up."""

from . import knobs
from .race import NO_CALL, ONE_ROUND, Race

# Seconds: where time is short, few variables are decided rather than none.
LEAST_SHARE = 30.0
NO_TIME = "the time of --budget was used up"
NO_VALUE = "no other value is legal here"


class Chooser:
    """Holds what is in force while variables are raced.

    start         settings of the jobs before anything is chosen, {variable: value}
    machine_file  the first candidate, for coll_pipering_machine; None: there is none, and no_file
                  says why
    choices       rows of results.json's "choices"
    left          {reason: variables that were not raced}
    tried         how many verdicts of races rest on times of a candidate
    """

    def __init__(self, measurer, table, machine, start, options, machine_file=None, no_file=""):
        self.measurer = measurer
        self.table = table
        self.machine = machine
        self.start = dict(start)
        self.options = options
        self.machine_file, self.no_file = machine_file, no_file
        self.chosen = {}
        self.choices = []
        self.left = {}
        self.tried = 0

    def current(self, name):
        """The value in force; "" if this release has no such variable."""
        variable = self.table.get(name)
        return self.chosen.get(name, self.start.get(name, variable.value if variable else ""))

    def knobs(self):
        """Those that this release has, this machine can show and the user wants."""
        kept = []
        for knob in knobs.wanted(self.options):
            reason = knobs.unfit(knob, self.machine)
            if self.table.get(knob.variable) is None:
                reason = f"Open MPI {self.table.version} has no such variable"
            if reason is None:
                kept.append(knob)
            else:
                self.leave(knob, reason)
        return kept

    def run(self, largest, until, last):
        """Races all knobs; `until`: seconds that the measurer may have spent then. As long as no
        race has told anything, one that has begun may take the time until `last`."""
        kept = self.knobs()
        for place, knob in enumerate(kept):
            left = until - self.measurer.spent
            share = max(2 * left / (len(kept) - place + 1), LEAST_SHARE)
            self.choose(knob, largest, min(until, self.measurer.spent + share), until, last)

    def choose(self, knob, largest, until, end, last):
        """One knob. until: its share of the time; end: that of all; last: see run."""
        name, before = knob.variable, self.current(knob.variable)
        if self.measurer.spent >= end:
            self.leave(knob, NO_TIME)
            return
        meshes = knobs.has_mesh(self.table, {**self.start, **self.chosen})
        values = knobs.candidates(knob, self.table, before, meshes, self.machine_file)
        if not values:
            self.leave(knob, self.no_file if knobs.MACHINE == name else NO_VALUE)
            return
        calls = knobs.calls_of(knob, largest, self.machine, self.options.collectives)
        race = Race(self.measurer, name, calls, dict(self.chosen),
                    [{name: value} for value in values], self.options.seed,
                    not self.table.get(name).writable)
        verdict = race.run(until, end if self.tried else last)
        self.tried += verdict.tried
        self.chosen.update(verdict.settings or {})
        self.choices.append(_row(name, before, self.current(name), verdict.reason,
                                 verdict.interval))

    def leave(self, knob, reason):
        """A row for a variable that is not raced."""
        value = self.current(knob.variable)
        self.choices.append(_row(knob.variable, value, value, f"not raced: {reason}", None))
        self.left.setdefault(reason, []).append(knob.variable)

    def why_nothing(self):
        """Why no verdict rests on times of a candidate."""
        reasons = {row["reason"] for row in self.choices}
        if NO_TIME in self.left or ONE_ROUND in reasons:
            return "the time of --budget allows no race of two rounds (--resume with a longer " \
                   "one goes on)"
        if NO_CALL in reasons:
            return "no call can be measured with the settings in force"
        shown = [f"{row['variable']}: {row['reason']}" for row in self.choices]
        return "; ".join(shown[:3]) or "no variable has calls that could be raced"


def _row(name, default, chosen, reason, ratio):
    """A row of results.json's "choices"; gain as a part of the old time."""
    row = {"variable": name, "default": default, "chosen": chosen, "reason": reason,
           "gain": 0.0, "interval": [0.0, 0.0]}
    if ratio is not None:
        row["gain"] = 1 - ratio.middle
        row["interval"] = [1 - ratio.high, 1 - ratio.low]
    return row
