# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Calls that are timed, and their sizes: on a logarithmic scale from SMALLEST to a largest that the
links move in a short time. Of exchanges where everyone sends to everyone the size is that of a
message, which gets smaller where ranks are many: their sum must fit."""

from collections import namedtuple

SMALLEST = 10_000
LARGEST_LEAST, LARGEST_MOST = 128 << 10, 16 << 20
LARGEST_SECONDS = 0.1  # of the bytes of the largest call on a link

# Patterns in which a rank has a message for each other one; how many ranks their size is for, and
# the least that is left of it on more.
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


def largest_size(beta):
    """Bytes of the largest call where a byte takes beta seconds on a link."""
    return int(min(LARGEST_MOST, max(LARGEST_LEAST, LARGEST_SECONDS / beta)))


def size_at(place, largest):
    """Bytes at a place from 0.0 (SMALLEST) to 1.0 (largest): at each quarter of the scale a power
    of two, else two digits and zeros, as a multiple of 8."""
    size = SMALLEST * (largest / SMALLEST) ** place
    if 0 == round(100 * place) % 25:
        return 1 << int(size).bit_length() - 1
    step = 10 ** (len(str(int(size))) - 2)
    return int(size / step) * step // 8 * 8


def message_size(size, ranks):
    """Bytes to each rank of an exchange where everyone sends to everyone: on up to SIZED_FOR ranks
    the size itself, on more so much less that a rank sends as much in all."""
    return max(LEAST_MESSAGE, size * SIZED_FOR // max(SIZED_FOR, ranks) // 8 * 8)


def call(text, largest, ranks):
    """The Call of COLLECTIVE:DIST:PLACE[:TYPE]."""
    collective, dist, place, *kind = text.split(":")
    size = size_at(float(place), largest)
    if dist in ALL_TO_ALL:
        size = message_size(size, ranks)
    return Call(collective, dist, size, kind[0] if kind else "auto")
