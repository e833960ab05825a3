# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Which tasks are timed to know a machine: blocks in streams between nodes and inside them, of all
links at once and of one alone, echoes, and combining. Each costs the same in all collective
calls, so their times give the model of the library its costs without a sweep over calls."""

import itertools

KIBI = 1024
REPS, BUDGET = 5, 0.5  # repetitions of a cell, and seconds for them


def _ladder(least, most, factor):
    """Sizes from least to most; half steps besides, since transports change their way at powers
    of two."""
    sizes = []
    size = least
    while size <= most:
        sizes.append(size)
        if factor <= 2 and size * 3 // 2 <= most:
            sizes.append(size * 3 // 2)
        size *= factor
    return sizes


STREAM_SIZES = _ladder(256, 1024 * KIBI, 2)
# Of a link alone, which only shows whether links are alike, and what the wire can do.
FEW_SIZES = [1 * KIBI, 3 * KIBI, 8 * KIBI, 24 * KIBI, 64 * KIBI, 192 * KIBI, 1024 * KIBI]
ECHO_SIZES = [0, 8, 64]
COMBINE_SIZES = _ladder(4 * KIBI, 4096 * KIBI, 4)


def _kinds(machine):
    """(task, scope, direction, sizes) of all tasks that a machine can do."""
    scopes = ([] if machine["nodes"] < 2 else ["inter"]) \
        + ([] if machine["ranks"] == machine["nodes"] else ["intra"])
    for scope in scopes:
        yield "stream", scope, "all", STREAM_SIZES
        yield "stream", scope, "one", FEW_SIZES
        yield "echo", scope, "one", ECHO_SIZES
    yield "combine", "rank", "all", COMBINE_SIZES


def cell(task, scope, direction, size):
    """A cell of a task."""
    return {"cell": f"task-{task}-{scope}-{direction}-{size}", "kind": "task", "task": task,
            "scope": scope, "direction": direction, "bytes": size, "warmup": 1, "reps": REPS,
            "budget": BUDGET}


def between(low, high):
    """Cells of streams between nodes, of sizes between two."""
    step = max(64, (high - low) // 8)
    return [cell("stream", "inter", "all", size) for size in range(low + step, high, step)]


def _halving(sizes):
    """Sizes in an order of which each beginning spans the range: both ends, the middle, the
    middles of the halves, and so on."""
    ordered = [sizes[0], sizes[-1]]
    gaps = [(0, len(sizes) - 1)]
    for low, high in gaps:  # grows
        middle = (low + high) // 2
        if low < middle:
            ordered.append(sizes[middle])
            gaps += [(low, middle), (middle, high)]
    return ordered


def cells(machine):
    """The cells of all tasks, a size of each task in turns: where time does not suffice for all of
    them, each task has been measured, with fewer sizes."""
    made = [[cell(task, scope, direction, size) for size in _halving(sizes)]
            for task, scope, direction, sizes in _kinds(machine)]
    return [one for turn in itertools.zip_longest(*made) for one in turn if one is not None]
