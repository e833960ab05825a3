# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Calls to time, and their sizes.

What makes a call's time is its collective, the number of ranks, ranks a node, bytes in all, the
part that the largest contribution has of them, and how many ranks contribute. Sizes lie on a
logarithmic scale from SMALLEST to a largest that the machine can move in the time at hand. Of
exchanges where everyone sends to everyone the size is that of a message, which gets smaller where
ranks are many: their sum must fit. Programs call collectives on communicators of some ranks, too,
so some calls are timed on a part of them. knobs.py has the calls that are raced, held_out.py those
that prove.
"""

from collections import namedtuple

SMALLEST = 10_000
LARGEST = 64 << 20

# Patterns in which a rank has a message for each other one, whose size is that of a message; how
# many ranks that size is for, and the least that is left of it on more.
ALL_TO_ALL = ("dense", "mixed")
SIZED_FOR, LEAST_MESSAGE = 8, 64

# Parts of the ranks: half of the nodes (of one node, half of its ranks), or a rank of each node.
ALL, HALF, HEADS = "all", "half", "heads"

Shape = namedtuple("Shape", "ranks nodes ppn")
"""Of a communicator: ranks, nodes, and the most ranks on one of these."""


class Call(namedtuple("Call", "collective dist total type part", defaults=(ALL,))):
    """A call: collective, distribution or pattern of its bytes, bytes in all, datatype, and the
    part of the ranks that make it."""

    def __str__(self):
        kind = "" if "auto" == self.type else f":{self.type}"
        where = "" if ALL == self.part else f"@{self.part}"
        return f"{self.collective}:{self.dist}:{self.total}{kind}{where}"

    def cell(self):
        """Its fields of a cell."""
        part = {} if ALL == self.part else {"part": self.part}
        return {"kind": "call", "collective": self.collective, "dist": self.dist,
                "total": self.total, "type": self.type, **part}


def of_cell(cell):
    """The Call whose fields a cell has."""
    return Call(cell["collective"], cell["dist"], cell["total"], cell["type"],
                cell.get("part", ALL))


# ---- parts of the ranks


def _half(count):
    return (count + 1) // 2


def shape(part, machine):
    """The Shape of a part of a machine's ranks."""
    own = [int(ranks) for ranks in machine["mapping"].split(",")]
    if HEADS == part:
        own = [1] * len(own)
    elif HALF == part:
        own = own[:_half(len(own))] if 1 < len(own) else [_half(own[0])]
    return Shape(sum(own), len(own), max(own))


def is_there(part, machine):
    """Whether a machine has such a part, of several ranks and not of all."""
    return ALL == part or 2 <= shape(part, machine).ranks < machine["ranks"]


def fields(part, machine):
    """What the kernel is told of a part (kernel_cell.h)."""
    if ALL == part:
        return {}
    if HEADS == part:
        return {"per_node": 1}
    return {"nodes": _half(machine["nodes"])} if 1 < machine["nodes"] else \
        {"ranks": _half(machine["ranks"])}


# ---- sizes


# Percent, of a half of the scale, where sizes are powers of two: of calls that are raced, and of
# those held out.
RACED, HELD = 0, 25


def size_at(place, largest, powers=RACED):
    """Bytes at a place from 0.0 (SMALLEST) to 1.0 (largest), on the logarithmic scale: powers of
    two at the ends and the middle of it, or between these, else two digits and zeros, as a
    multiple of 8."""
    size = SMALLEST * (max(largest, 4 * SMALLEST) / SMALLEST) ** place
    if powers == round(100 * place) % 50:
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


def words_of(text):
    """[COLLECTIVE, DIST, PLACE, TYPE, PART] of COLLECTIVE:DIST:PLACE[:TYPE][@PART]."""
    what, _, part = text.partition("@")
    words = what.split(":")
    return words + (["auto"] if 3 == len(words) else []) + [part or ALL]


def call(text, largest, machine, powers=RACED):
    """The Call of COLLECTIVE:DIST:PLACE[:TYPE][@PART] on a machine."""
    collective, dist, place, kind, part = words_of(text)
    size = size_at(float(place), largest, powers)
    if dist in ALL_TO_ALL:
        size = message_size(size, shape(part, machine).ranks)
    return Call(collective, dist, size, kind, part)
