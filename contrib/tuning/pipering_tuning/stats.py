# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Statistics of times: medians, ratios, confidence intervals.

Times come in blocks: the repetitions of one job are a block, since jobs differ from each other by
more than repetitions within a job. Two arms that take turns in the same jobs are compared by
`ratio`, a bootstrap: what changes from job to job is alike for both. Arms that have jobs of their
own are compared by `ratio_of_jobs`, where pairs of jobs are the sample, however many calls and
repetitions each of them has.
"""

import math
import random
from collections import namedtuple
from statistics import fmean, median, stdev

Interval = namedtuple("Interval", "middle low high")
"""A ratio or a time, and the ends of its confidence interval."""

RESAMPLES = 300


def pooled(blocks):
    """All times of some blocks in one list."""
    return [second for block in blocks for second in block]


def middle(blocks):
    """The median of all times of some blocks."""
    return median(pooled(blocks))


def _resampled_log(pairs, dice):
    """Mean logarithm of the ratio of medians, over calls, of one resample: jobs are drawn once for
    all calls that have as many, then repetitions of each."""
    total, drawn = 0.0, {}
    for old, new in pairs:
        jobs = min(len(old), len(new))
        blocks = drawn.setdefault(jobs, dice.choices(range(jobs), k=jobs))
        total += math.log(median(_redrawn(new, blocks, dice)) / median(_redrawn(old, blocks, dice)))
    return total / len(pairs)


def _redrawn(blocks, drawn, dice):
    """Repetitions drawn anew from the blocks that were drawn."""
    return [second for b in drawn for second in dice.choices(blocks[b], k=len(blocks[b]))]


def ratio(pairs, level=0.95, seed=1, resamples=RESAMPLES):
    """The geometric mean over calls of new time by old time, with its interval.

    pairs: for each call (old, new), each a list of blocks of seconds; block i of both was measured
    in turns in the same job. Where one has fewer, since a cell failed, only as many are drawn."""
    dice = random.Random(seed)
    draws = sorted(_resampled_log(pairs, dice) for _ in range(resamples))
    tail = (1 - level) / 2 * (resamples - 1)
    real = sum(math.log(middle(new) / middle(old)) for old, new in pairs) / len(pairs)
    return Interval(math.exp(real), math.exp(draws[math.floor(tail)]),
                    math.exp(draws[math.ceil(resamples - 1 - tail)]))


def ratio_of_jobs(pairs, level=0.95):
    """The same where block i of old and new are two jobs that followed each other: Student's
    interval of the logarithms, a value for each pair of jobs. One pair alone tells nothing."""
    logs = [sum(math.log(median(new[i]) / median(old[i])) for old, new in pairs) / len(pairs)
            for i in range(min(len(blocks) for pair in pairs for blocks in pair))]
    if len(logs) < 2:
        return Interval(math.exp(fmean(logs)), 0.0, math.inf)
    width = student(len(logs) - 1, level) * stdev(logs) / math.sqrt(len(logs))
    return Interval(*(math.exp(fmean(logs) + part) for part in (0.0, -width, width)))


def within(t, freedom):
    """The probability that Student's variable lies in -t to t (closed form for whole degrees of
    freedom, Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine, odd = math.cos(angle), freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cosine ** 2 * (k - 1) / k
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total


def student(freedom, level):
    """The t with that probability of lying in -t to t."""
    low, high = 0.0, 1e6
    for _ in range(80):
        guess = (low + high) / 2
        low, high = (guess, high) if within(guess, freedom) < level else (low, guess)
    return high


def spread(pairs, level=0.95, seed=1):
    """Noise: by which part two arms that are alike seem to differ, from pairs of the same
    setting measured twice. 0.02: by 2%."""
    interval = ratio(pairs, level, seed)
    return max(interval.high - 1, 1 / interval.low - 1, 0.0)
