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
ranks are many: their sum must fit. knobs.py has the calls that are raced, held_out.py those that
prove.
"""

from collections import namedtuple

SMALLEST = 10_000
LARGEST = 64 << 20

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


def call(text, largest, ranks, powers=RACED):
    """The Call of COLLECTIVE:DIST:PLACE[:TYPE] on so many ranks."""
    words = text.split(":")
    size = size_at(float(words[2]), largest, powers)
    if words[1] in ALL_TO_ALL:
        size = message_size(size, ranks)
    return Call(words[0], words[1], size, words[3] if 4 == len(words) else "auto")
