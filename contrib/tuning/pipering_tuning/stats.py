# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Statistics of times: medians, ratios, confidence intervals.

Times come in blocks: the repetitions of one job are a block, since jobs differ from each other by
more than repetitions within a job. Pairs of jobs that followed each other are the sample, however
many calls and repetitions each of them has.
"""

import math
from collections import namedtuple
from statistics import fmean, median, stdev

Interval = namedtuple("Interval", "middle low high")
"""A ratio or a time, and the ends of its confidence interval."""


def middle(blocks):
    """The median of all times of some blocks."""
    return median([second for block in blocks for second in block])


def ratio_of_jobs(pairs, level=0.95):
    """The geometric mean over calls of new time by old time, with its interval.

    pairs: for each call (old, new), each a list of blocks of seconds; block i of both are two jobs
    that followed each other. Student's interval of the logarithms, a value for each pair of jobs;
    one pair alone tells nothing."""
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
