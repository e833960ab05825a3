# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""pipering-tune: the machine, a sweep of block sizes, the proof, the report."""

import argparse
import os
import shlex
import signal
import sys
import tempfile
import time

from . import calls, files, machine_run, preflight, prove, report, sweep
from .files import Refusal
from .place import Place

# Exit status; wrong usage is argparse's, 2.
GOOD, FAILED, REFUSED, INTERRUPTED = 0, 1, 3, 130

MACHINE = "coll_pipering_machine"

DESCRIPTION = """\
Measures links and processors of this machine, tries other block sizes than the model's, and proves
by other calls whether the file of the machine helps. Everything goes to the directory OUT: machine
(the file), tuned.conf (a parameter file that names it, if it helps), report.txt."""

EPILOG = """\
Exit status: 0 the file helps; 3 it does not, or makes a call slower, or none was written, since
times are too uneven; 1 something failed, one sentence says what; 2 wrong usage; 130 interrupted."""


def parse(arguments):
    """The options."""
    mpirun = os.path.join(os.environ.get("OMPI_PREFIX", ""), "bin", "mpirun")
    parser = argparse.ArgumentParser(prog="pipering-tune", description=DESCRIPTION, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("out", metavar="OUT", nargs="?",
        help="directory for everything that is written; all nodes see it")
    add("--machine", metavar="FILE",
        help="measures links and processors alone, in two minutes, and writes them to FILE for "
             "coll_pipering_machine; no OUT then")
    add("--launch", metavar="COMMAND", default=mpirun if os.access(mpirun, os.X_OK) else "mpirun",
        help="starts a job, the program stands behind it: mpirun and its options in one word, as "
             "'mpirun --hostfile hosts --map-by core', srun, or another command (mpirun)")
    options = parser.parse_args(arguments)
    if (options.out is None) == (options.machine is None):
        parser.error("expected OUT, or --machine FILE in its place")
    return options


def say(text):
    print(text, flush=True)


def measure(options, command):
    """--machine; the exit status."""
    path = os.path.abspath(options.machine)
    with tempfile.TemporaryDirectory(prefix=".pipering-tune-", dir=os.path.dirname(path)) as near:
        place = Place(options.launch, near, needed=False)
        return GOOD if machine_run.run(place, path, command, say) else REFUSED


def tune(options, command):
    """The whole way; the exit status."""
    directory = files.make_directory(options.out)
    path, conf = (os.path.join(directory, name) for name in ("machine", "tuned.conf"))
    place = Place(options.launch, directory, needed=True)
    for sentence in preflight.warnings(place.machine, place.nodes):
        say(f"warning: {sentence}")
    measured = machine_run.run(place, path, command, say)
    if measured is None:
        return REFUSED
    scope, _ = machine_run.judged(measured)
    largest = calls.largest_size(scope.link.beta)
    given = {prove.BEFORE: [], prove.AFTER: [f"OMPI_MCA_{MACHINE}={path}"]}
    say("sweep: block sizes")
    swept = sweep.sweep(place, largest, given[prove.AFTER])
    say(sweep.sentence(swept))
    proof = prove.Prover(place, given, largest).prove(say)
    for line in [proof.sentence, *proof.notes]:
        say(line)
    if proof.helps:
        files.write(conf, f"# Made by `{command}`\n# on {time.strftime('%Y-%m-%d %H:%M:%S')}, for "
                          f"Open MPI {place.table.version}, {place}.\n{MACHINE}={path}\n")
        say(f"use: mpirun --tune {conf} ..., or the line of {conf} in mca-params.conf")
    elif os.path.exists(conf):
        os.unlink(conf)  # of an earlier run
    files.write(os.path.join(directory, "report.txt"), report.make(place, swept, proof))
    say(f"report: {os.path.join(directory, 'report.txt')}")
    return GOOD if proof.helps else REFUSED


def main(arguments):
    """Exit status of pipering-tune with these arguments."""
    options = parse(arguments)
    command = shlex.join(["pipering-tune"] + arguments)
    # What Slurm sends when an allocation ends is an interrupt too, and so is the end of a terminal,
    # unless nohup was told that the run shall outlive it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    try:
        return (measure if options.machine else tune)(options, command)
    except Refusal as refusal:
        return ended(str(refusal), FAILED)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        return ended(f"{name}{error.strerror or error}; nothing is recommended", FAILED)
    except KeyboardInterrupt:
        return ended("interrupted; nothing is recommended", INTERRUPTED)


def ended(sentence, status):
    """Says why the run ends before its time; the exit status."""
    print(f"\npipering-tune: {sentence}.", file=sys.stderr)
    return status
