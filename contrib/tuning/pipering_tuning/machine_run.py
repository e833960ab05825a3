# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Measuring a machine: tasks alone, and the file for coll_pipering_machine that they give, or what
disturbed them. Jobs run without coll/pipering, which need not be installed."""

import statistics
import time

from . import files, machine_file, machine_fit, preflight, tasks

LIMIT = 90.0            # seconds of all cells
SIZES_LEAST = 8         # of streams that judge a file
UNLIKE = 1.5            # blocks of all links take so many times those of one: said
MOST_NOTES = 6          # of what may have disturbed a file
WITHOUT = "OMPI_MCA_coll=^pipering,mleader"


def measure(machine, run):
    """([{task, scope, direction, bytes, seconds[]}], notes of cells without a time). run(cells):
    {ID: result}, of as many as there is the time for."""
    asked = tasks.cells(machine)
    results = run(asked)
    found = machine_file.scope_of(_good(asked, results), "inter")
    if found is not None and found.link.eager:
        above = min(size for size in found.points if size > found.link.eager)
        more = tasks.between(found.link.eager, above)
        asked, results = asked + more, {**results, **run(more)}
    return _good(asked, results), [f"{name}: {result.get('note') or result['status']}"
                                   for name, result in results.items() if "ok" != result["status"]]


def _good(asked, results):
    """The measured ones of these cells."""
    return [{**{key: cell[key] for key in ("task", "scope", "direction", "bytes")},
             "seconds": results[cell["cell"]]["seconds"]}
            for cell in asked if "ok" == results.get(cell["cell"], {}).get("status")]


def judged(measured):
    """(Scope, words) of the links that judge a file: those between nodes, if there are any."""
    for scope, where in (("inter", "between nodes"), ("intra", "inside the node")):
        found = machine_file.scope_of(measured, scope)
        if found is not None:
            return found, where
    return None, ""


def problem(measured):
    """Why no file can be made of tasks; None if one can."""
    found, where = judged(measured)
    if found is None:
        return "no stream of blocks was measured"
    if len(found.sizes()) < SIZES_LEAST:
        return (f"blocks of {len(found.sizes())} sizes alone were measured {where}, of "
                f"{SIZES_LEAST} at least that are needed")
    if not found.holds():
        return (f"no costs explain what blocks of 1 KiB to 1 MiB take {where}: the median error is "
                f"{100 * found.error():.0f}%, of {100 * machine_file.ERROR_MOST:.0f}% at most")
    return None


def disturbances(measured):
    """What the times themselves show: unsteady ones, and links that are unlike."""
    streams = [one for one in measured if "stream" == one["task"] and 2 < len(one["seconds"])]
    spreads = [max(one["seconds"]) / min(one["seconds"]) for one in streams]
    said = []
    if spreads and statistics.median(spreads) > 1 + machine_file.ERROR_MOST:
        said.append(f"the same block takes up to {statistics.median(spreads):.1f} times as long "
                    "as at best, in half of the tasks: processors or links are busy with "
                    "something else")
    for scope, where in (("inter", "between nodes"), ("intra", "inside nodes")):
        one, every = (machine_file.points_of(measured, "stream", scope, direction)
                      for direction in ("one", "all"))
        ratios = [every[size] / one[size] for size in one
                  if size in every and size >= machine_fit.LARGE]
        if ratios and statistics.median(ratios) > UNLIKE:
            said.append(f"blocks of all links at once {where} take {statistics.median(ratios):.1f} "
                        "times as long as those of one: rates of links differ, they share a "
                        "wire, or ranks share processors")
    return said


def conclude(path, measured, load, head, disturbing, say):
    """Writes the file, or says why not; whether it was written. disturbing: notes about what may
    have disturbed it."""
    wrong = problem(measured)
    notes = (disturbances(measured) + disturbing)[:MOST_NOTES]
    if wrong is not None:
        say(f"no file is written: {wrong}")
        for note in notes or ["nothing is known that disturbed it"]:
            say(f"what may have disturbed it: {note}")
        return False
    found, where = judged(measured)
    fit = f"median error of the fit {where}: {100 * found.error():.0f}%"
    inside = machine_file.scope_of(measured, "intra")
    if inside is not None and not inside.holds():
        notes.append("no costs explain what blocks take inside nodes, so usual ones stand for them")
    files.write(path, machine_file.text(measured, load, head + [fit]))
    for name, value in machine_file.lines(measured, load):
        say(f"{name} = {value if isinstance(value, (str, int)) else format(value, '.4g')}")
    for note in [fit] + notes:
        say(f"note: {note}")
    say(f"use: coll_pipering_machine = {path}")
    return True


def run(place, path, command, say):
    """Measures the machine of a Place (place.py), writes its file or says why not; what was
    measured, None if no file was written."""
    end = time.monotonic() + LIMIT
    say(f"Open MPI {place.table.version}, {place}; at most {LIMIT / 60:g} minutes for its links "
        "and processors")

    def run_in_time(cells):
        results = {}
        place.run((one for one in cells if time.monotonic() < end), results.__setitem__, [WITHOUT])
        return results

    measured, failures = measure(place.machine, run_in_time)
    head = [f"Made by `{command}` on {time.strftime('%Y-%m-%d %H:%M:%S')}: "
            f"Open MPI {place.table.version}, {place}"]
    load = preflight.crowding(place.nodes, place.given)
    written = conclude(path, measured, load, head,
                       preflight.warnings(place.machine, place.nodes) + failures, say)
    return measured if written else None
