# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Calls held out from the choosing, to prove files with.

They share no size with calls that are raced, whatever the largest size and however many the ranks,
and lie apart from those of their own collective. Some sizes are powers of two. Some calls are made
by a part of the ranks, where the machine has it: a file may help all of them and hurt fewer.
"""

from . import knobs, rules
from .calls import ALL as ALL_RANKS
from .calls import HALF, HEADS, HELD, SMALLEST, Call, call, is_there, words_of

SMALL = (600, 2_400, 4_800)

# Sizes of calls differ from those raced by this factor at least; where one does not, it grows by
# small steps.
APART, GROWTH = 1.05, 1.02

# Places between those that are raced, and shapes that are not raced. Sizes at a quarter of the
# scale are powers of two.
ALL = (
    "allgatherv:regular:0.12", "allgatherv:regular:0.62", "allgatherv:spike:0.38",
    "allgatherv:spike:0.88", "allgatherv:broadcast:0.3", "allgatherv:broadcast:0.8",
    "allgatherv:half:0.55", "allgatherv:decreasing:0.9", "allgatherv:geometric:0.2",
    "allgatherv:outlier:0.45", "allgatherv:zipf:0.7", "allgatherv:empty90:0.33",
    "allgather:regular:0.25", "allgather:regular:0.75", "bcast:regular:0.16", "bcast:regular:0.4",
    "bcast:regular:0.85", "reduce:regular:0.16", "reduce:regular:0.6", "allreduce:regular:0.35",
    "allreduce:regular:0.8", "scan:regular:0.25", "scan:regular:0.75", "exscan:regular:0.18",
    "exscan:regular:0.56", "alltoallw:ring:0.25", "alltoallw:mixed:0.5", "alltoallv:dense:0.3",
    "allgatherv:regular:0.62:list", "allgatherv:spike:0.4:list",
    "allgatherv:regular:0.45@half", "allgatherv:spike:0.66@heads", "bcast:regular:0.62@half",
    "bcast:regular:0.3@heads", "allreduce:regular:0.6@half", "allreduce:regular:0.2@heads",
)


def kind(text):
    """What COLLECTIVE:DIST:PLACE[:TYPE][@PART] shows: its collective, or its datatype."""
    collective, _, _, datatype, _ = words_of(text)
    return collective if "auto" == datatype else datatype


def kind_of(one):
    """The same of a Call."""
    return one.collective if "auto" == one.type else one.type


def purposes(held, names, small):
    """Lists of these held-out calls, of each of which a proof must have one. names: variables that
    are proven: for each of them one of each kind of call that shows it, of such a distribution if
    there is any; small: collectives with rules: one of their small calls.
    For a variable that nothing is known of, and where nothing is, one of each collective. Parts of
    the ranks stand for none of these, but there is a call on each part."""
    parts = [[one for one in held if one.part == part] for part in (HALF, HEADS)]
    held = [one for one in held if ALL_RANKS == one.part]
    large = [one for one in held if one.total >= SMALLEST]
    found = [[one for one in held if one.collective == name and one.total < SMALLEST]
             for name in small]
    for calls in dict.fromkeys(map(knobs.calls_showing, sorted(names))):
        found += _alike(large, calls)
    known = {name for name in names if knobs.calls_showing(name)} | rules.names()
    if names - known or not any(found):
        found += [[one for one in large or held if one.collective == name]
                  for name in dict.fromkeys(one.collective for one in held)]
    return [calls for calls in found + parts if calls]


def _alike(held, texts):
    """For each kind of these COLLECTIVE:DIST:PLACE[:TYPE][@PART] the calls of that kind, those of
    their distributions if there are any."""
    found = []
    for name in dict.fromkeys(map(kind, texts)):
        dists = {words_of(text)[1] for text in texts if kind(text) == name}
        calls = [one for one in held if kind_of(one) == name]
        found.append([one for one in calls if one.dist in dists] or calls)
    return found


def raced(largest, machine):
    """{collective: sizes of the calls that its choices rest on}."""
    sizes = {name: set(rules.SIZES) for name in rules.NUMBERS}
    for knob in knobs.KNOBS:
        for one in knobs.calls_of(knob, largest, machine):
            sizes.setdefault(one.collective, set()).add(one.total)
    return sizes


def apart(one, sizes):
    """A call whose size no raced call has, and none of its collective is near: its own, another
    power of two for one, else the next larger one."""
    taken, near = set().union(*sizes.values()), sizes.get(one.collective, ())

    def good(size):
        return size not in taken and not any(1 / APART < size / other < APART for other in near)

    size = one.total
    if 0 == size & size - 1:
        size = next(filter(good, (size, 2 * size, size // 2)), size)
    while not good(size):
        size = max(size + 8, int(size * GROWTH) // 8 * 8)
    return one._replace(total=size)


def calls_of(largest, machine, collectives, small=()):
    """The calls that files are proven with on a machine. collectives: names, or () for all; small:
    collectives whose small calls were given rules."""
    rows = [call(text, largest, machine, HELD) for text in ALL
            if is_there(words_of(text)[-1], machine)]
    small = sorted({"allgatherv", "bcast", "allreduce", *small})
    rows += [Call(name, "regular", total, "auto") for total in SMALL for name in small]
    sizes = raced(largest, machine)
    return [apart(row, sizes) for row in rows if not collectives or row.collective in collectives]
