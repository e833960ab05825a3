# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Statistics of times: medians, ratios with bootstrap confidence intervals.

Times come in blocks: the repetitions of one job are a block, since jobs differ from each other by
more than repetitions within a job. A resample draws blocks, and from each block drawn repetitions.
Two arms whose blocks were measured side by side share the draw of blocks, so that what changed
from job to job cancels out of their ratio.
"""

import math
import random
from collections import namedtuple
from statistics import median

Interval = namedtuple("Interval", "middle low high")
"""A ratio or a time, and the ends of its confidence interval."""

RESAMPLES = 300


def geometric_mean(values):
    """Of positive numbers."""
    return math.exp(sum(map(math.log, values)) / len(values))


def pooled(blocks):
    """All times of some blocks in one list."""
    return [second for block in blocks for second in block]


def middle(blocks):
    """The median of all times of some blocks."""
    return median(pooled(blocks))


def _draw(block, dice):
    return dice.choices(block, k=len(block))


def _resampled_log(pairs, dice):
    """Mean logarithm of the ratio of medians, over calls, of one resample. pairs: (old, new) of
    each call, each a list of as many blocks."""
    total = 0.0
    for old, new in pairs:
        blocks = dice.choices(range(len(old)), k=len(old))
        total += math.log(median([s for b in blocks for s in _draw(new[b], dice)])
                          / median([s for b in blocks for s in _draw(old[b], dice)]))
    return total / len(pairs)


def ratio(pairs, level=0.95, seed=1, resamples=RESAMPLES):
    """The geometric mean over calls of new time by old time, with its interval.

    pairs: for each call (old, new), each a list of blocks of seconds; old and new have the same
    number of blocks, and block i of both was measured side by side."""
    dice = random.Random(seed)
    draws = sorted(_resampled_log(pairs, dice) for _ in range(resamples))
    tail = (1 - level) / 2 * (resamples - 1)
    real = sum(math.log(middle(new) / middle(old)) for old, new in pairs) / len(pairs)
    return Interval(math.exp(real), math.exp(draws[math.floor(tail)]),
                    math.exp(draws[math.ceil(resamples - 1 - tail)]))


def spread(pairs, level=0.95, seed=1):
    """Noise: by which part two arms that are alike seem to differ, from pairs of the same
    setting measured twice. 0.02: by 2%."""
    interval = ratio(pairs, level, seed)
    return max(interval.high - 1, 1 / interval.low - 1, 0.0)
