#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Intervals and quantiles, against what is drawn with a known truth."""

import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
from pipering_tuning import stats  # noqa: E402


def held(intervals, truth):
    return sum(interval.low <= truth <= interval.high for interval in intervals)


def drawn(dice, factor, drift, noise):
    """(old, new) blocks."""
    old, new = [], []
    for _ in range(5):
        one, other = dice.lognormvariate(0, drift), dice.lognormvariate(0, drift)
        old.append([one * dice.lognormvariate(0, noise) for _ in range(5)])
        new.append([factor * other * dice.lognormvariate(0, noise) for _ in range(5)])
    return old, new


def test_intervals():
    """about 95 of 100 intervals hold the true ratio, whatever drifts between jobs"""
    dice = random.Random(3)
    found = [stats.ratio_of_jobs([drawn(dice, 0.9, 0.05, 0.05) for _ in range(3)])
             for _ in range(400)]
    assert 368 <= held(found, 0.9) <= 394, held(found, 0.9)


def test_unequal():
    """a block that lacks on one side is no error, and the others count"""
    old, new = [[1.0, 1.1, 0.9], [1.2, 1.0, 1.1], [1.0, 1.0, 1.1]], [[0.5, 0.6, 0.5], [0.6, 0.5]]
    for one, other, factor in ((old, new, 0.5), (new, old, 2.0)):
        for interval in (stats.ratio_of_jobs([(one, other)]),
                         stats.ratio_of_jobs([(one, one), (one, other), (other, one)])):
            assert interval.low <= interval.middle <= interval.high, interval
        assert abs(stats.ratio_of_jobs([(one, other)]).middle / factor - 1) < 0.15


def test_student():
    """Student's quantiles are those of the tables"""
    for freedom, level, t in ((1, 0.95, 12.706), (2, 0.95, 4.303), (3, 0.95, 3.182),
                              (4, 0.99, 4.604), (9, 0.95, 2.262), (10, 0.9, 1.812),
                              (30, 0.95, 2.042)):
        assert abs(stats.student(freedom, level) - t) < 0.001, (freedom, level)


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
