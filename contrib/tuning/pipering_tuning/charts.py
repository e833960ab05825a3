# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Values as people write them. Quantities are in base units: seconds, bytes, fractions."""

import math


def number(value, digits=3):
    """So many digits that count, without an exponent where that is readable: 0.0123, 1250."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "-"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    text = f"{round(value, decimals):.{max(0, decimals)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def seconds(value, digits=3):
    """0.00123 -> 1.23 ms"""
    for unit, size_of_unit in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(value) >= size_of_unit * 0.9995:
            return f"{number(value / size_of_unit, digits)} {unit}"
    return "0" if value == 0 else f"{number(value / 1e-9, digits)} ns"


def size(value, digits=3):
    """65536 -> 64 KiB"""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if value >= 2**power:
            return f"{number(value / 2 ** power, digits)} {unit}"
    return f"{number(value, digits)} B"


def percent(value, digits=3):
    """0.25 -> 25%"""
    return f"{number(100 * value, digits)}%"
