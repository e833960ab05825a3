# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""How a job is started: by mpirun with a host file, in Slurm's allocation or on one machine, or
by any command that takes mpirun's options and a program behind its own words."""

import os
import re
import shlex
import shutil

from .files import Refusal, read

SLURM_TASKS = re.compile(r"(\d+)(?:\(x(\d+)\))?$")
# What may stand in a host file beside hosts.
COMMENT = re.compile(r"(#|//)[^\n]*|/\*.*?\*/", re.DOTALL)
# The hardware threads of a processor's core.
SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


class Launcher:
    """Makes the command of a job.

    words       what begins it, a list: mpirun and its options; nothing of the program
    form        how a parameter file is handed over: "tune" (mpirun --tune FILE) or "conf" (in
                place of mca-params.conf, through the environment)
    conf_files  the files that "conf" must not push out: what Open MPI reads anyway
    given       what the environment of the program has besides, [NAME=VALUE]
    """

    def __init__(self, words, form="tune", conf_files="", where="", given=()):
        self.words = list(words)
        self.form = form
        self.conf_files = conf_files
        self.where = where
        self.given = list(given)

    def through(self, form):
        """The same with another form."""
        return Launcher(self.words, form, self.conf_files, self.where, self.given)

    def with_environment(self, given):
        """The same with more in the environment of the program."""
        return Launcher(self.words, self.form, self.conf_files, self.where, self.given + given)

    @property
    def forms(self):
        """Those in which jobs can be given a file: mca-params.conf is always one."""
        return ["tune", "conf"] if "tune" == self.form else ["conf"]

    def argv(self, program, settings_file=None):
        """The words of a job: program is a list."""
        options = []
        if self.given:
            program = ["env", *self.given, *program]
        if settings_file is not None and "tune" == self.form:
            options = ["--tune", settings_file]
        elif settings_file is not None:
            files = ",".join(filter(None, [settings_file, self.conf_files]))
            program = ["env", f"OMPI_MCA_mca_base_param_files={files}"] + list(program)
        return self.words + options + list(program)

    def environment(self):
        """Of the job."""
        return dict(os.environ)

    def __str__(self):
        return shlex.join(self.words)


def find_mpirun(given):
    """The path of mpirun: as given, of OMPI_PREFIX, or on PATH."""
    prefix = os.environ.get("OMPI_PREFIX")
    name = given or (os.path.join(prefix, "bin", "mpirun") if prefix else "mpirun")
    path = shutil.which(name)
    if path is None:
        raise Refusal(f"{name} is not a program that can be run; --mpirun names the mpirun of the "
                      "Open MPI to tune; nothing was run")
    return path


def beside(mpirun, name):
    """A program of the same installation, else the one on PATH."""
    path = os.path.join(os.path.dirname(os.path.abspath(mpirun)), name)
    return path if os.access(path, os.X_OK) else (shutil.which(name) or path)


def check_hosts(path):
    """Refuses a host file that names no host, which mpirun would leave aside. All else in it is
    for mpirun to understand: its slots, and which hosts have as many as they have cores."""
    if not COMMENT.sub("", read(path)).strip():
        raise Refusal(f"{path} names no host; expected lines like `node1 slots=16`; nothing was "
                      "run")


def cores():
    """Cores of this machine that this process may run on. Open MPI has a slot for each of them,
    not for each of their hardware threads."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count()
    found = set()
    for number in os.sched_getaffinity(0):
        try:
            with open(SIBLINGS.format(number), encoding="ascii") as stream:
                found.add(stream.read().strip())
        except OSError:
            found.add(str(number))
    return len(found)


def slurm_tasks(text):
    """Tasks of all nodes together of SLURM_TASKS_PER_NODE, like 16(x3),8."""
    total = 0
    for part in text.split(","):
        found = SLURM_TASKS.match(part)
        if found is None:
            raise Refusal(f"SLURM_TASKS_PER_NODE is '{text}', which is not understood; give the "
                          "number of ranks with -n; nothing was run")
        total += int(found.group(1)) * int(found.group(2) or 1)
    return total


def _place(options):
    """(mpirun's options that place ranks, words that say where)."""
    if options.hostfile:
        check_hosts(options.hostfile)
        ranks = ["-n", str(options.ranks)] if options.ranks else []
        return (["--hostfile", os.path.abspath(options.hostfile)] + ranks,
                f"hosts of {options.hostfile}")
    if "SLURM_JOB_ID" in os.environ:
        per_node = os.environ.get("SLURM_TASKS_PER_NODE", "1")
        return (["-n", str(options.ranks or slurm_tasks(per_node))],
                f"Slurm's allocation {os.environ['SLURM_JOB_ID']}")
    slots = cores()
    ranks = options.ranks or max(2, slots)
    crowd = ["--oversubscribe"] if ranks > slots else []
    return ["-n", str(ranks)] + crowd, "this machine alone"


def _words(option, text):
    """The words of an option's text, as a shell has them."""
    try:
        return shlex.split(text or "")
    except ValueError as error:
        raise Refusal(f"{option} '{text}' cannot be taken to pieces ({error}): expected words as a "
                      "shell has them, each quote closed; nothing was run") from error


def make(options, conf_files):
    """The Launcher that the options ask for."""
    extra = _words("--mpirun-args", options.mpirun_args)
    if options.launch:
        words = _words("--launch", options.launch)
        if not words or shutil.which(words[0]) is None:
            raise Refusal(f"--launch '{options.launch}' does not begin with a program that can be "
                          "run; nothing was run")
        form = "conf" if "srun" in os.path.basename(words[0]) else "tune"
        return Launcher(words + extra, form, conf_files, f"by {words[0]}")
    placement, where = _place(options)
    return Launcher([find_mpirun(options.mpirun)] + placement + extra, "tune", conf_files, where)
