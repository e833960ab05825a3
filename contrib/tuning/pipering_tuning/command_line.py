# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""pipering-tune's options."""

import argparse

from . import race

SHORT_MINUTES = 5.0

DESCRIPTION = """\
Measures this machine, chooses variables of coll/pipering and coll/mleader for it, and proves on
calls that had no part in the choosing that the parameter file helps. Everything goes to the
directory OUT: tuned.conf (the file, if it helps), report.html, results.json, calls.tsv, machine
(the costs of links and processors), and journal.jsonl, from which --resume goes on."""

EPILOG = """\
Ranks are placed by --hostfile, by Slurm's allocation, or on this machine alone. Exit status: 0 the
file helps, or the settings in force are right as they are; 3 the file was refused, since it does
not help or makes a call slower; with --against 0 the files agree, 3 they differ or jobs differ too
much to tell; with --machine 3 nothing was written, since times are too uneven; 1 something failed,
one sentence says what; 2 wrong usage; 130 interrupted, with all that was measured kept."""


def parse(arguments):
    """The options. effort, short and start are worked out of others."""
    parser = argparse.ArgumentParser(prog="pipering-tune", description=DESCRIPTION, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT", nargs="?",
                        help="directory for everything that is written; all nodes see it")
    parser.add_argument("--machine", metavar="FILE",
                        help="tunes nothing: measures links and processors in two minutes, and "
                             "writes them to FILE for coll_pipering_machine; no OUT then")
    parser.add_argument("--budget", type=float, default=30.0, metavar="MINUTES",
                        help="time that the tuning may take (30)")
    add_jobs(parser.add_argument)
    add_tuning(parser.add_argument)
    add_runs(parser.add_argument)
    options = parser.parse_args(with_words(arguments))
    complaint = wrong(options)
    if complaint is not None:
        parser.error(complaint)
    options.variables = [name for name in options.variables.split(",") if name]
    options.collectives = [name for name in options.collectives.split(",") if name]
    options.short = options.budget < SHORT_MINUTES
    options.effort = race.SHORT if options.short else race.FULL
    return options


def add_jobs(add):
    """Options that say how jobs are started."""
    add("--hostfile", metavar="FILE", help="a line `node1 slots=16` for each node")
    add("-n", "--ranks", type=int, metavar="N",
        help="ranks (all slots; on one machine as many as cores)")
    add("--mpirun", metavar="PATH", help="the mpirun of the Open MPI to tune (that on PATH)")
    add("--mpirun-args", metavar="ARGS", help="more options of mpirun, in one word")
    add("--launch", metavar="COMMAND",
        help="starts a job in place of mpirun and its options: takes --tune FILE and the program "
             "behind it; srun gets its settings through the environment")
    add("--ompi-info", metavar="PATH", help="the ompi_info beside it")


def add_tuning(add):
    """Options that say what is tuned or proven, from where."""
    add("--start", action="append", default=[], metavar="VAR=VALUE",
        help="a setting in force today, to be bettered; may be repeated")
    add("--start-file", metavar="FILE", help="a parameter file with such settings")
    add("--variables", default="", metavar="NAMES",
        help="tune these alone: names or patterns (coll_pipering_alltoall_*), separated by commas")
    add("--collectives", default="", metavar="NAMES",
        help="tune for these alone: allgatherv, bcast, ..., separated by commas")
    add("--prove", metavar="FILE", help="chooses nothing: proves this parameter file")
    add("--against", metavar="FILE", help="with --prove: against this one, not the settings in "
                                          "force; tells whether two tunings agree")
    add("--seed", type=int, default=1, metavar="N", help="of all that is random (1)")


def add_runs(add):
    """Options that say how far a run goes."""
    add("--resume", action="store_true", help="go on where a run was stopped")
    add("--dry-run", action="store_true",
        help="ask the nodes who they are, say what would be done, measure nothing")


def wrong(options):
    """What is wrong with the options, None if nothing is."""
    if (options.out is None) == (options.machine is None):
        return "expected OUT, or --machine FILE in its place"
    tuning = ("start", "start_file", "variables", "collectives", "prove", "against", "resume",
              "dry_run")
    if options.machine and any(getattr(options, name) for name in tuning):
        return "--machine tunes and proves nothing: beside it only options that start jobs count"
    if not 0.1 <= options.budget <= 10000:
        return f"--budget is {options.budget:g}, but must be from 0.1 to 10000 minutes"
    if options.ranks is not None and options.ranks < 2:
        return f"-n is {options.ranks}, but at least 2 ranks are needed"
    if options.against and not options.prove:
        return "--against needs --prove"
    if options.launch and (options.ranks or options.hostfile):
        return "-n and --hostfile are for mpirun; with --launch, COMMAND places the ranks"
    return None


def with_words(arguments):
    """Arguments where an option of mpirun may follow as a word of its own: argparse would take it
    for an option of this program."""
    joined = []
    for word in arguments:
        if joined and joined[-1] in ("--mpirun-args", "--launch"):
            joined[-1] += "=" + word
        else:
            joined.append(word)
    return joined


def repeatable(options):
    """Options that a resumed run must have too."""
    names = ("hostfile", "ranks", "mpirun_args", "launch", "start", "start_file", "variables",
             "collectives", "prove", "against", "seed")
    size = "less than" if options.short else "at least"
    return {**{name: getattr(options, name) for name in names},
            "budget": f"of {size} {SHORT_MINUTES:g} minutes"}
