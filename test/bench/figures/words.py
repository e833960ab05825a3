# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Values in the words of the table of claims."""

from measured import some
from pipering_tuning.charts import number, percent

MIB = 1048576.0


def times(value):
    return f"{number(value)} times"


def span(found, show=number):
    """a to b, or a where both are alike."""
    found = some(found)
    low, high = show(min(found)), show(max(found))
    return low if low == high else f"{low} to {high}"


def share(value):
    """A part as per cent, to a tenth of one."""
    return percent(round(value, 3), 2)
