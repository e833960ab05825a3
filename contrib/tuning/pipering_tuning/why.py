# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""pipering-why: which collective calls a program makes, who serves them, and what could be gained.
"""

import argparse
import json
import math
import signal
import sys
import time

from . import charts, why_classes
from .charts import size
from .files import Refusal
from .why_model import VECTORS, Model
from .why_records import read_directory

EPILOG = """\
Run the program, unchanged, with a library that records its calls, then read the records:

    make why [MPICC=mpicc]
    mpirun -x LD_PRELOAD=$PWD/build/why/libpipering_why.so ./program
    pipering-why pipering-calls --machine FILE

coll/pipering need not be there. FILE describes the machine; pipering-tune --machine FILE measures
it. A record is kept by each process in the directory pipering-calls, or that of PIPERING_WHY; it
survives however the program ends, and may be read while the program runs. The time of nonblocking
and persistent calls is that of the call that makes the request.

MPI_Allgather, MPI_Allgatherv, MPI_Allreduce, MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw,
MPI_Barrier, MPI_Bcast, MPI_Exscan, MPI_Neighbor_alltoallw, MPI_Reduce and MPI_Scan are recorded in
all forms; other collectives are not."""


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="pipering-why", epilog=EPILOG,
                                     description=__doc__.strip().split(": ", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", help="pipering-calls, or what PIPERING_WHY "
                                                         "named")
    parser.add_argument("--machine", metavar="FILE", help="the machine, for what the model says")
    parser.add_argument("--job", metavar="ID", help="of several jobs in DIR (default: the last)")
    parser.add_argument("--top", metavar="N", type=int, default=15,
                        help="how many classes of calls are shown (default: 15; 0: all)")
    parser.add_argument("--json", action="store_true", help="all of it, for programs")
    options = parser.parse_args(arguments)
    if options.top < 0:
        parser.error(f"--top {options.top}: expected 0 or more; nothing was read")
    return options


def choose_job(tables, wanted):
    """(the tables of a job, names of the other jobs)."""
    began = {}
    for table in tables:
        began[table.job] = min(began.get(table.job, table.began), table.began)
    names = {f"{job:08x}": job for job in sorted(began, key=began.get)}
    if wanted is not None and wanted not in names:
        raise Refusal(f"--job {wanted}: there is no such job; there are {', '.join(names)}")
    chosen = wanted or list(names)[-1]
    return ([table for table in tables if table.job == names[chosen]],
            [name for name in names if name != chosen])


# ---- numbers for people ----

def seconds(value):
    return "-" if value is None else charts.seconds(value)


def count(value):
    return f"{value:.0f}" if abs(value - round(value)) < 1e-9 else f"{value:.1f}"


def percent(part, whole):
    return charts.percent(part / whole) if whole > 0 else "-"


def columns(rows, left):
    """Rows of texts in columns; those numbered in `left` begin at their left edge."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) if i in left else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))).rstrip()


# ---- the report ----

def elapsed_of(tables):
    """Seconds of a rank's sessions together, the most."""
    sums = {}
    for table in tables:
        sums[table.rank] = sums.get(table.rank, 0) + table.elapsed
    return max(sums.values())


def is_vector(one):
    """Whether a call has one vector, and not a part of each rank."""
    collective = why_classes.collective_of(one.call)[0]
    return collective in VECTORS


def served(one):
    """Who served a class: coll/pipering by an algorithm, or another one and for which reason."""
    if one.server == why_classes.PIPERING:
        return f"{one.server}: {one.reason}"
    name = why_classes.reason_name(one.reason)
    if one.server == "":
        return f"not coll/pipering ({name})" if name else "-"
    return f"{'module below' if one.server == 'below' else 'another module'} ({name})"


def type_name(one):
    """What is known of the types of a class; "": it has no data."""
    return ", ".join(([one.type] if one.type else [])
                     + ([] if one.contiguous else ["with gaps"])
                     + (["order matters"] if one.order_matters else []))


def own_text(one, at_most):
    """The own time of a call, or what it is at most."""
    return at_most + seconds(one.slowest) if one.own is None else seconds(one.own)


def table_row(number, one, elapsed):
    vector = is_vector(one)
    return (str(number), seconds(one.time), percent(one.time, elapsed), count(one.calls),
            one.call, type_name(one) or "-", str(one.ranks), size(one.bytes),
            "-" if vector else percent(one.largest, one.bytes),
            "-" if vector else count(one.contributors), seconds(one.each), own_text(one, "<= "),
            seconds(one.forecast), served(one))


def table_lines(classes, elapsed, top):
    shown = classes[:top] if top else classes
    head = ("#", "time", "part", "calls", "call", "type", "ranks", "bytes", "largest", "from",
            "a call", "own", "model", "served by")
    rows = [head] + [table_row(i + 1, one, elapsed) for i, one in enumerate(shown)]
    yield from columns(rows, left=(4, 5, 13))
    if len(shown) < len(classes):
        rest = sum(one.time for one in classes[len(shown):])
        yield f"and {len(classes) - len(shown)} classes more, {seconds(rest)} together (--top 0)"


def left_lines(classes):
    """Why calls were not served by coll/pipering, with most time first."""
    found = {}
    for one in classes:
        if one.server != why_classes.PIPERING and one.reason:
            reason = one.reason.partition(": ")[2]
            calls, spent = found.get(reason, (0, 0))
            found[reason] = (calls + one.calls, spent + one.time)
    for reason, (calls, spent) in sorted(found.items(), key=lambda item: -item[1][1]):
        yield f"  {seconds(spent)}, {count(calls)} calls: {reason}"


def gain_lines(classes, elapsed, machine):
    gaining = sorted((one for one in classes if one.gain > 0), key=lambda one: -one.gain)
    for number, one in enumerate(gaining, 1):
        at_most = "at most " if one.own is None else ""
        yield (f"  {number}. {at_most}{seconds(one.gain)} ({percent(one.gain, elapsed)}): "
               f"{count(one.calls)} {one.call} of {size(one.bytes)}, "
               f"{own_text(one, at_most)} each, {seconds(one.forecast)} by the model: "
               f"{one.variable}")
    if machine is None:
        yield from unknown_lines([one for one in classes
                                  if one.variable or why_classes.is_without(one)],
                                 "there is no --machine FILE for the model")
    else:
        yield from unknown_lines([one for one in classes
                                  if one.variable and not why_classes.is_modelled(one)],
                                 "the model has no barriers and no exchanges of all with all")


def unknown_lines(classes, why):
    """That the model says nothing of classes, and which settings may help."""
    if classes:
        yield f"  not known of {seconds(sum(one.time for one in classes))}: {why}"
        for setting in sorted({one.variable for one in classes} - {""}):
            yield f"  to be tried: {setting}"


def histogram_lines(title, classes, place):
    """Lines of a histogram of calls, with their time; place says of a class (order, label)."""
    sums = {}
    for one in classes:
        calls, spent = sums.get(place(one), (0, 0))
        sums[place(one)] = (calls + one.calls, spent + one.time)
    most = max(calls for calls, _ in sums.values())
    rows = [("  " + label, count(calls), seconds(spent), "#" * max(1, round(40 * calls / most)))
            for (_, label), (calls, spent) in sorted(sums.items())]
    yield from columns([(title, "calls", "time", "")] + rows, left=(0, 3))


def octave(one):
    """By the power of two that the bytes reach."""
    power = int(one.bytes).bit_length() - 1
    return power, "0 B" if power < 0 else f"{size(1 << power)} and more"


def skew(one):
    """By the largest contribution over the average. Of neighbors, those count that have any."""
    neighbors = why_classes.collective_of(one.call)[0].startswith("neighbor")
    ratio = one.largest * (one.contributors if neighbors else one.ranks) / one.bytes
    edges = ((1.01, "equal"), (2, "up to 2 times"), (4, "2 to 4 times"), (8, "4 to 8 times"))
    for order, (edge, label) in enumerate(edges):
        if ratio < edge:
            return order, label
    return len(edges), "8 times and more"


def decade(one):
    """By the power of ten that the time of a call reaches."""
    power = math.floor(math.log10(max(one.each, 1e-9)))
    return power, f"{seconds(10.0 ** power)} and more"


def histograms(classes):
    """Of all classes, those that the table leaves out too."""
    parts = [one for one in classes if one.bytes > 0 and not is_vector(one)]
    for title, some, place in (
            ("Calls by bytes in all", classes, octave),
            ("Calls by ranks", classes, lambda one: (one.ranks, str(one.ranks))),
            ("Calls by types", classes, lambda one: (0, type_name(one) or "no data")),
            ("Calls by the largest contribution over the average", parts, skew),
            ("Calls by the average time of one", classes, decade)):
        if some:
            yield ""
            yield from histogram_lines(title, some, place)


def note_lines(tables, others, complaints):
    world = max(table.world for table in tables)
    ranks = why_classes.ranks_of(tables)
    if ranks < world:
        yield f"{world - ranks} of {world} ranks have no readable record"
    running = sum(not table.ended for table in tables)
    if running:
        yield (f"{running} of {len(tables)} processes have not reached MPI_Finalize: the program "
               "runs yet, or has been aborted")
    without = sum(table.calls_without for table in tables)
    if without:
        yield (f"{without} calls of processes, {seconds(sum(t.time_without for t in tables))}, are "
               "not shown: there was no room for more classes")
    if others:
        yield f"other jobs in the directory, see --job: {', '.join(others)}"
    yield from complaints


def head_lines(tables, classes, elapsed):
    first = min(tables, key=lambda table: table.rank)
    hosts = len({table.host for table in tables})
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(min(table.began for table in tables)))
    total = sum(one.time for one in classes)
    waiting = why_classes.waiting(classes, tables)
    yield (f"Job {first.job:08x} of {when}: {why_classes.ranks_of(tables)} ranks on {hosts} "
           f"node{'s' if hosts > 1 else ''}, {first.release}, {seconds(elapsed)} up to "
           "the last call")
    yield (f"A process spent {seconds(total)} ({percent(total, elapsed)}) in these calls on average"
           + (f", at least {seconds(waiting)} of it waiting for other ranks" if waiting else ""))
    yield ("Only collectives that coll/pipering can serve are recorded; MPI_Gatherv, MPI_Scatterv, "
           "MPI_Reduce_scatter and others are not")


def verdict_line(classes, elapsed, machine):
    """What coll/pipering would gain, or does: the first line of the report."""
    if machine is None:
        return ("What coll/pipering would gain is not known: give the machine's file by --machine "
                "(pipering-tune --machine FILE measures it, without coll/pipering)")
    spent = sum(one.time for one in classes)
    gain = sum(one.gain for one in classes)
    at_most = "at most " if any(one.gain and one.own is None for one in classes) else ""
    if all(why_classes.is_without(one) for one in classes):
        subject = f"With coll/pipering this program would gain {at_most}"
    else:
        subject = f"By other variables of coll/pipering this program would gain {at_most}"
    return (f"{subject}{seconds(gain)} of {seconds(spent)} in these calls, "
            f"{percent(gain, elapsed)} of its time, by the model of {machine}")


def report(tables, notes, options, model):
    classes = why_classes.classes_of(tables, model)
    elapsed = elapsed_of(tables)
    yield verdict_line(classes, elapsed, options.machine)
    yield from head_lines(tables, classes, elapsed)
    for note in notes:
        yield f"Note: {note}"
    if not classes:
        yield "No collective calls of the kinds that coll/pipering serves have been made"
        return
    yield ""
    yield from table_lines(classes, elapsed, options.top)
    for title, lines in (("Not served by coll/pipering:", left_lines(classes)),
                         ("What could be gained, by the model:",
                          gain_lines(classes, elapsed, options.machine))):
        lines = list(lines)
        yield from ["", title] + (lines or ["  nothing"])
    yield from histograms(classes)


def as_json(tables, notes, options, model):
    classes = why_classes.classes_of(tables, model)
    return {"job": f"{tables[0].job:08x}", "ranks": why_classes.ranks_of(tables),
            "nodes": len({table.host for table in tables}), "release": tables[0].release,
            "began": min(table.began for table in tables),
            "elapsed": elapsed_of(tables),
            "time": sum(one.time for one in classes),
            "gain": sum(one.gain for one in classes), "machine": options.machine,
            "waiting": why_classes.waiting(classes, tables),
            "notes": notes,
            "classes": [one._asdict() for one in classes]}


def main(arguments):
    # a reader such as head may close the pipe, and a terminal may lack a sign
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.stdout.reconfigure(errors="replace")
    options = parse_arguments(arguments)
    model = Model(options.machine) if options.machine else None
    try:
        tables, complaints = read_directory(options.directory)
        tables, others = choose_job(tables, options.job)
        notes = list(note_lines(tables, others, complaints))
        if options.json:
            print(json.dumps(as_json(tables, notes, options, model), indent=1))
        else:
            print("\n".join(report(tables, notes, options, model)))
    except Refusal as refusal:
        print(f"pipering-why: {refusal}.", file=sys.stderr)
        return 2
    return 0
