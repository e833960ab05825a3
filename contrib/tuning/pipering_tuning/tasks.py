# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Which tasks are measured, and what their times say about the machine.

A task is a part of a collective call that costs the same in all of them: a block in a stream of
blocks between nodes or inside one, an echo, a handshake, packing, combining, copying. Their costs
give the model of the library its parameters, without a sweep over calls.
"""

import itertools

from . import fit

KIBI = 1024
BUDGET = 3.0        # seconds for the repetitions of a cell
QUICK_BUDGET = 0.6
MICRO, NANO = 1e6, 1e9

# Microseconds and nanoseconds: no cost is less, since 0 lets the library find its own.
LEAST_ALPHA, LEAST_BETA = 0.1, 0.001

# Blocks of pipelines are of these sizes; alpha and beta are taken from there.
BLOCK_LEAST, BLOCK_MOST = 1 * KIBI, 256 * KIBI


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
ECHO_SIZES = [0, 8] + _ladder(64, 256 * KIBI, 4)
LOCAL_SIZES = _ladder(256, 4096 * KIBI, 4)
QUICK_STREAM_SIZES = [1 * KIBI, 3 * KIBI, 8 * KIBI, 24 * KIBI, 64 * KIBI, 192 * KIBI]
QUICK_ECHO_SIZES = [0, 8 * KIBI, 96 * KIBI]
QUICK_LOCAL_SIZES = [1 * KIBI, 16 * KIBI, 256 * KIBI]


def _scopes(machine):
    """Between nodes and inside one, as far as there are such pairs of ranks."""
    return ([] if machine["nodes"] < 2 else ["inter"]) \
        + ([] if machine["ranks"] == machine["nodes"] else ["intra"])


def _kinds(quick):
    """(task, scopes, directions, type, sizes) of all tasks."""
    stream, echo, local = ((QUICK_STREAM_SIZES, QUICK_ECHO_SIZES, QUICK_LOCAL_SIZES) if quick
                           else (STREAM_SIZES, ECHO_SIZES, LOCAL_SIZES))
    links = None  # those that the machine has
    yield "stream", links, ["all"] if quick else ["one", "both", "all"], None, stream
    yield "echo", links, ["one"] if quick else ["one", "all"], None, echo
    yield "handshake", links, ["one"], None, echo
    yield "combine", ["rank"], ["all"] if quick else ["one", "all"], "double", local
    yield "copy", ["rank"], ["all"] if quick else ["one", "all"], None, local
    if not quick:
        for kind in ("list", "vector", "double"):
            yield "pack", ["rank"], ["all"], kind, local
            yield "unpack", ["rank"], ["all"], kind, local


def _cell(task, scope, direction, kind, size, reps, budget):
    name = "-".join(filter(None, ["task", task, kind, scope, direction, str(size)]))
    return {"cell": name, "kind": "task", "task": task, "scope": scope, "direction": direction,
            "type": kind, "bytes": size, "warmup": 1, "reps": reps, "budget": budget}


def _halving(sizes):
    """Sizes in an order of which each beginning spans the range: both ends, the middle, the
    middles of the halves, and so on."""
    ordered = [sizes[0], sizes[-1]] if 1 < len(sizes) else list(sizes)
    gaps = [(0, len(sizes) - 1)]
    for low, high in gaps:  # grows
        middle = (low + high) // 2
        if low < middle:
            ordered.append(sizes[middle])
            gaps += [(low, middle), (middle, high)]
    return ordered


def cells(machine, sizes=None, reps=None, quick=False):
    """The cells of all tasks that this machine can do, a size of each task in turns: where time
    does not suffice for all of them, each task has been measured, with fewer sizes. `sizes` takes
    the place of the sizes of streams."""
    made = []
    for task, scopes, directions, kind, ladder in _kinds(quick):
        if "stream" == task and sizes is not None:
            ladder = sizes
        for scope in scopes or _scopes(machine):
            for direction in directions:
                made.append([_cell(task, scope, direction, kind, size, reps or (5 if quick else 9),
                                   QUICK_BUDGET if quick else BUDGET)
                             for size in _halving(ladder)])
    turns = itertools.zip_longest(*made)
    return [cell for turn in turns for cell in turn if cell is not None]


def collect(asked, results):
    """The measured tasks, for results.json: `asked` are the cells, `results` {ID: result}."""
    tasks = []
    for cell in asked:
        result = results.get(cell["cell"])
        if "task" == cell.get("kind") and result and "ok" == result["status"]:
            tasks.append({"task": cell["task"], "type": cell.get("type"), "scope": cell["scope"],
                          "direction": cell["direction"], "bytes": cell["bytes"],
                          "seconds": result["seconds"]})
    return tasks


def _key(task):
    return task["task"], task.get("type"), task["scope"], task["direction"]


def fits(tasks):
    """A fit for each task, type, scope and direction, for results.json."""
    fitted = []
    for key in dict.fromkeys(_key(task) for task in tasks):
        points = {task["bytes"]: task["seconds"] for task in tasks if _key(task) == key}
        fitted.append({"task": key[0], "type": key[1], "scope": key[2], "direction": key[3],
                       **fit.fit(points)})
    return fitted


def under_load(fitted, task, scope):
    """The fit of a task in a scope under the load of all links or ranks, which a pipeline makes;
    else the nearest to that. None: nothing was fitted."""
    for direction in ("all", "both", "one"):
        for one in fitted:
            if (task, scope, direction) == (one["task"], one["scope"], one["direction"]) \
                    and one["pieces"]:
                return one
    return None


def _line(fitted):
    """(alpha, beta) of one line over the sizes of blocks, relative errors counting: what the
    library's model, which knows one line only, had best be told."""
    least, most = fitted["pieces"][0]["from"], fitted["pieces"][-1]["to"]
    sizes = [size for size in _ladder(BLOCK_LEAST, BLOCK_MOST, 2) if least <= size <= most]
    points = {size: [fit.value(fitted, size)] for size in sizes or [least, most]}
    return fit.line(points)


def latency(fitted, scope):
    """Seconds of the smallest echo, one way, under the load of all links if that was measured."""
    echo = under_load(fitted, "echo", scope)
    return 0.0 if echo is None else echo["pieces"][0]["alpha"]


def costs(fitted):
    """Costs of links by the fits, named as in a machine file: microseconds and nanoseconds. Where
    a stream of small blocks is as fast as the link, what a block costs besides its bytes is hidden
    in it; in a pipeline a block is passed on from rank to rank, and so costs an echo at least."""
    found = {}
    for scope, prefix in (("inter", "net_"), ("intra", "local_")):
        link = under_load(fitted, "stream", scope)
        if link is not None:
            alpha, beta = _line(link)
            alpha = max(alpha, latency(fitted, scope))
            found[prefix + "alpha"] = max(MICRO * alpha, LEAST_ALPHA)
            found[prefix + "beta"] = max(NANO * beta, LEAST_BETA)
    return found

