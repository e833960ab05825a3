# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The costs of links by streams of blocks, by the model of the library
(ompi/mca/coll/pipering/plan/coll_pipering_plan_cost.c):

    seconds of a block = |alpha + copy bytes, beta wire bytes| + handshake above the eager bound

where |a, b| is the norm of exponent 3/2. beta is what the fastest large block of any stream shows.
The others explain best how long blocks take while all links are at work, errors being relative
ones. A bound is one only if its handshake is a clear step.
"""

import math
import statistics
from collections import namedtuple

ENVELOPE, PACKET, FRAME = 32, 1448, 66
PACKET_BETA = 5e-9      # slower links are Ethernet, whose frames no adapter hides
LARGE = 64 * 1024       # bytes of blocks that show beta
EAGER_LEAST, EAGER_MOST = 2 * 1024, 512 * 1024
STEP_GAIN = 0.8         # errors with a handshake, by those without, for it to be one ...
STEP_LEAST = 0.1        # ... and the part of the time of the smallest block that has it
STEPS = 4.0, 2.0, 1.4, 1.1, 1.03, 1.01
LEAST = 1e-12           # seconds: where searches begin, below all costs


class Link(namedtuple("Link", "alpha beta copy eager handshake", defaults=(0.0, 0, 0.0))):
    """Seconds, seconds a byte, bytes."""


def has_frames(beta):
    return beta > PACKET_BETA


def stream_time(link, size):
    """Seconds of a block of `size` bytes in a stream."""
    around = ENVELOPE
    if has_frames(link.beta):
        packets = (size + ENVELOPE) / PACKET
        around += (math.ceil(packets) - packets) * FRAME
    handled, sent = link.alpha + link.copy * size, link.beta * (size + around)
    more, less = max(handled, sent), min(handled, sent)
    time = more * (1 + (less / more) ** 1.5) ** (2 / 3)
    return time + (link.handshake if 0 < link.eager < size else 0.0)


def errors(link, points):
    """How far the model is off at each size, relative: |log(model / measured)|."""
    return {size: abs(math.log(stream_time(link, size) / seconds))
            for size, seconds in points.items()}


def _loss(link, points):
    return sum(errors(link, points).values())


def _search(link, names, points):
    """The link with these costs changed until none of them explains the points better."""
    least = _loss(link, points)
    for step in STEPS:
        better = True
        while better:
            better = False
            for name in names:
                for factor in (step, 1 / step):
                    other = link._replace(**{name: max(getattr(link, name) * factor, LEAST)})
                    loss = _loss(other, points)
                    if loss < least * (1 - 1e-6):
                        link, least, better = other, loss, True
    return link, least


def _step(plain, size, points):
    """The link with a handshake above `size` bytes, and its loss."""
    behind = [seconds - stream_time(plain, at) for at, seconds in points.items() if at > size]
    begin = plain._replace(eager=size, handshake=max(statistics.median(behind), 1e-6))
    return _search(begin, ("alpha", "copy", "handshake"), points)


def fit_link(points, beta):
    """The Link that explains {bytes: seconds} best, whose bytes take beta on the wire."""
    sizes = sorted(points)
    begin = Link(max(points[sizes[0]] / 2, LEAST), beta, beta / 1000)
    plain, loss = _search(begin, ("alpha", "copy"), points)
    bounds = [size for place, size in enumerate(sizes)
              if EAGER_LEAST <= size <= EAGER_MOST and place + 2 < len(sizes)]
    found = [_step(plain, size, points) for size in bounds]
    for stepped, less in sorted(found, key=lambda pair: pair[1])[:1]:
        first = next(size for size in sizes if size > stepped.eager)
        if less < STEP_GAIN * loss and stepped.handshake > STEP_LEAST * points[first]:
            return stepped
    return plain


def least_beta(streams):
    """Seconds a byte by the fastest large block of several {bytes: seconds}."""
    rates = [seconds / size for points in streams for size, seconds in points.items()
             if size >= LARGE]
    rates = rates or [seconds / size for points in streams for size, seconds in points.items()
                      if size == max(points)]
    return min(rates)
