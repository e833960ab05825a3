# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Calls to tune with, and calls held out to prove with.

What makes a call's time is its collective, the number of ranks, ranks a node, bytes in all, the
part that the largest contribution has of them, and how many ranks contribute. Sizes lie on a
logarithmic scale from SMALLEST to a largest that the machine can move in the time at hand; both
sets have powers of two and others, and share no size. Of exchanges where everyone sends to everyone
the size is that of a message, which gets smaller where ranks are many: their sum must fit.
"""

from collections import namedtuple

SMALLEST = 10_000
LARGEST = 64 << 20
SMALL_CALLS = (600, 2_400, 4_800)

# Patterns in which a rank has a message for each other one, whose size is that of a message; how
# many ranks that size is for, and the least that is left of it on more.
ALL_TO_ALL = ("dense", "mixed")
SIZED_FOR, LEAST_MESSAGE = 8, 64


class Call(namedtuple("Call", "collective dist total type")):
    """A call: collective, distribution or pattern of its bytes, bytes in all, datatype."""

    def __str__(self):
        kind = "" if "auto" == self.type else f":{self.type}"
        return f"{self.collective}:{self.dist}:{self.total}{kind}"

    def cell(self):
        """Its fields of a cell."""
        return {"kind": "call", "collective": self.collective, "dist": self.dist,
                "total": self.total, "type": self.type}


def size_at(place, largest):
    """Bytes at a place from 0.0 (SMALLEST) to 1.0 (largest), on the logarithmic scale: powers of
    two near halves of it, else two digits and zeros, as a multiple of 8."""
    size = SMALLEST * (max(largest, 4 * SMALLEST) / SMALLEST) ** place
    if 0 == round(100 * place) % 50:
        return 1 << int(size).bit_length() - 1
    step = 10 ** (len(str(int(size))) - 2)
    return int(size / step) * step // 8 * 8


def largest_size(beta, budget):
    """The largest call that a budget in seconds allows, where a byte takes beta seconds: about
    five thousand of them."""
    if not beta:
        return 1 << 20
    return int(min(LARGEST, max(128 << 10, budget / 5000 / beta)))


def message_size(size, ranks):
    """Bytes to each rank of an exchange where everyone sends to everyone: on up to eight ranks the
    size itself, on more so much less that a rank sends as much in all as it would to eight."""
    return max(LEAST_MESSAGE, size * SIZED_FOR // max(SIZED_FOR, ranks) // 8 * 8)


def call(text, largest, ranks):
    """The Call of COLLECTIVE:DIST:PLACE[:TYPE] on so many ranks."""
    words = text.split(":")
    size = size_at(float(words[2]), largest)
    if words[1] in ALL_TO_ALL:
        size = message_size(size, ranks)
    return Call(words[0], words[1], size, words[3] if 4 == len(words) else "auto")


# Held out from the choosing: places between those that the choosing has, and shapes that it
# does not have.
HELD_OUT = (
    "allgatherv:regular:0.12", "allgatherv:regular:0.62", "allgatherv:spike:0.38",
    "allgatherv:spike:0.88", "allgatherv:broadcast:0.3", "allgatherv:broadcast:0.8",
    "allgatherv:half:0.55", "allgatherv:decreasing:0.9", "allgatherv:geometric:0.2",
    "allgatherv:outlier:0.45", "allgatherv:zipf:0.7", "allgatherv:empty90:0.33",
    "allgather:regular:0.22", "allgather:regular:0.72", "bcast:regular:0.16", "bcast:regular:0.4",
    "bcast:regular:0.85", "reduce:regular:0.16", "reduce:regular:0.6", "allreduce:regular:0.35",
    "allreduce:regular:0.8", "scan:regular:0.24", "scan:regular:0.66", "exscan:regular:0.18",
    "exscan:regular:0.56", "alltoallw:ring:0.2", "alltoallw:mixed:0.5", "alltoallv:dense:0.3",
    "allgatherv:regular:0.62:list", "allgatherv:spike:0.4:list",
)

# A short proof: one call for each thing that can go wrong.
HELD_OUT_SHORT = ("allgatherv:regular:0.62", "allgatherv:spike:0.88", "allgatherv:broadcast:0.3",
                  "allgatherv:outlier:0.45", "bcast:regular:0.85", "allreduce:regular:0.8")


def kind(text):
    """What COLLECTIVE:DIST:PLACE[:TYPE] shows: its collective, or its datatype."""
    words = text.split(":")
    return words[3] if 4 == len(words) else words[0]


def held_out(largest, ranks, collectives, short, affected=(), small=()):
    """The calls that files are proven with, on so many ranks. collectives: names, or () for all;
    affected: kinds of calls that must be there, since what was chosen is for them; small:
    collectives whose small calls were given rules."""
    texts = list(HELD_OUT)
    if short:
        there = {kind(text) for text in HELD_OUT_SHORT}
        texts = list(HELD_OUT_SHORT) + [text for text in HELD_OUT
                                        if kind(text) in set(affected) - there]
    rows = [call(text, largest, ranks) for text in texts]
    small = set(small) if short else set(small) | {"allgatherv", "bcast", "allreduce"}
    rows += [Call(name, "regular", total, "auto")
             for total in SMALL_CALLS for name in sorted(small)]
    return [row for row in rows if not collectives or row.collective in collectives]
