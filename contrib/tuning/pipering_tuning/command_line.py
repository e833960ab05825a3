# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""pipering-tune's options."""

import argparse
import os

DESCRIPTION = """\
Measures this machine, chooses variables of coll/pipering and coll/mleader for it, and proves on
calls that had no part in the choosing that the parameter file helps. Everything goes to the
directory OUT: tuned.conf (the file, if it helps), report.txt, results.json, machine (the costs of
links and processors), and journal.jsonl, from which --resume goes on."""

EPILOG = """\
Exit status: 0 the file helps, or the settings in force are right as they are; 3 the file was
refused, since it does not help or makes a call slower; with --machine 3 nothing was written, since
times are too uneven; 1 something failed, one sentence says what; 2 wrong usage; 130 interrupted,
with all that was measured kept."""


def parse(arguments):
    """The options."""
    mpirun = os.path.join(os.environ.get("OMPI_PREFIX", ""), "bin", "mpirun")
    parser = argparse.ArgumentParser(prog="pipering-tune", description=DESCRIPTION, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("out", metavar="OUT", nargs="?",
        help="directory for everything that is written; all nodes see it")
    add("--machine", metavar="FILE",
        help="tunes nothing: measures links and processors in two minutes, and writes them to FILE "
             "for coll_pipering_machine; no OUT then")
    add("--launch", metavar="COMMAND", default=mpirun if os.access(mpirun, os.X_OK) else "mpirun",
        help="starts a job, the program stands behind it: mpirun and its options in one word, as "
             "'mpirun --hostfile hosts --map-by core', srun, or another command (mpirun)")
    add("--budget", type=float, default=30.0, metavar="MINUTES",
        help="time that the tuning may take (30)")
    add("--start", metavar="FILE", help="a parameter file in force today, to be bettered")
    add("--variables", default="", metavar="NAMES",
        help="tune these alone: names or patterns (coll_pipering_alltoall_*), separated by commas")
    add("--collectives", default="", metavar="NAMES",
        help="tune for these alone: allgatherv, bcast, ..., separated by commas")
    add("--prove", metavar="FILE",
        help="chooses nothing: proves this parameter file, against that of --start if there is one")
    add("--resume", action="store_true", help="go on where a run was stopped")
    add("--dry-run", action="store_true",
        help="ask the nodes who they are, say what would be done, measure nothing")
    options = parser.parse_args(arguments)
    complaint = wrong(options)
    if complaint is not None:
        parser.error(complaint)
    options.variables = [name for name in options.variables.split(",") if name]
    options.collectives = [name for name in options.collectives.split(",") if name]
    options.seed = 1  # of all that is random
    return options


def wrong(options):
    """What is wrong with the options, None if nothing is."""
    if (options.out is None) == (options.machine is None):
        return "expected OUT, or --machine FILE in its place"
    tuning = ("start", "variables", "collectives", "prove", "resume", "dry_run")
    if options.machine and any(getattr(options, name) for name in tuning):
        return "--machine tunes and proves nothing: beside it only --launch counts"
    if not 0.1 <= options.budget <= 10000:
        return f"--budget is {options.budget:g}, but must be from 0.1 to 10000 minutes"
    return None


def repeatable(options):
    """Options that a resumed run must have too."""
    return {name: getattr(options, name)
            for name in ("launch", "start", "variables", "collectives", "prove")}
