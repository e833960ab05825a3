# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The timed kernel: compiling it, and running cells by it.

The kernel (../kernel) is one MPI program that times many cells in one job. It reads a line for
each cell from its standard input, the cells of a race one behind the other and an empty line
behind the last of them, and writes lines of JSON:

    {"machine": {"ranks", "nodes", "hosts", "library", "pml", "yield"}}    when the job has begun
    {"at": ID}                                            which cell it is at
    {"cell": ID, "status", "seconds": [], "note", ...}    when a cell is over: its result

`run` keeps a job going while there are cells, notices one that hangs or dies, and goes on with
the rest in a new job.
"""

import collections
import glob
import hashlib
import json
import os
import select
import subprocess
import tempfile
import time

from . import messages, processes
from .files import Refusal

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
KERNEL = os.path.join(ROOT, "contrib", "tuning", "kernel")
BENCH = os.path.join(ROOT, "test", "bench")

# What the kernel shares with the benchmarks.
SHARED = ["common/bench_variables.c", "common/bench_options.c", "common/bench_world.c",
          "common/bench_arms.c", "traff/agv_dist.c", "traff/agv_data.c", "traff/agv_call.c",
          "worringer/fold_data.c", "balaji/swaps_data.c"]
INCLUDED = [os.path.join(BENCH, name) for name in ("common", "traff", "worringer", "balaji")]
FLAGS = ["-std=c99", "-D_DEFAULT_SOURCE", "-O2", "-g", "-Wall", "-Wextra"]

START_TIMEOUT = 120.0  # seconds until a job has begun, at least
END_TIMEOUT = 30.0     # seconds until it has ended after its last cell


# ---- compiling

def _sources():
    own = sorted(glob.glob(os.path.join(KERNEL, "*.c")))
    return own + [os.path.join(BENCH, name) for name in SHARED]


def _stamp(mpicc):
    """What a compiled kernel is good for: these sources, this compiler and Open MPI."""
    headers = [name for folder in [KERNEL] + INCLUDED for name in glob.glob(f"{folder}/*.h")]
    stamp = hashlib.sha256(f"{os.path.realpath(mpicc)} {os.stat(mpicc).st_mtime_ns}".encode())
    for name in sorted(_sources() + headers):
        with open(name, "rb") as stream:
            stamp.update(stream.read())
    return stamp.hexdigest()[:12]


def build(mpicc, directory):
    """The path of the compiled kernel in `directory`, which all nodes must see; compiled only if
    it is not there yet for these sources and this compiler."""
    program = os.path.join(directory, f"kernel-{_stamp(mpicc)}")
    if not os.access(program, os.X_OK):
        made = subprocess.run(
            [mpicc, *FLAGS, *(f"-I{folder}" for folder in INCLUDED), "-o", f"{program}.new",
             *_sources(), "-lm"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if 0 != made.returncode:
            lines = made.stdout.splitlines()
            errors = [line for line in lines if "error" in line] or [messages.last_line(lines)]
            raise Refusal(f"{mpicc} does not compile the kernel in {KERNEL}: {errors[0]}; nothing "
                          "was measured")
        os.replace(f"{program}.new", program)
    return program


def cell_line(cell):
    """A cell as a line of the kernel's input (../kernel/kernel_cell.h)."""
    words = []
    for key, value in cell.items():
        if isinstance(value, dict):
            value = ",".join(f"{name}:{str(wanted).replace(',', '+')}"
                             for name, wanted in value.items())
        words += [] if value in (None, "") else [f"{key}={value}"]
    return " ".join(words)


# ---- a job

class _Ended(Exception):
    """The job is over before it should; `status` is that of the cell it was at."""

    def __init__(self, status, note):
        super().__init__(note)
        self.status = status
        self.note = note


class _Job:
    """A running job of the kernel: lines in, messages out. log: an open file, which takes all
    that it says besides."""

    def __init__(self, argv, log):
        self.log, self.begin = log, log.seek(0, os.SEEK_END)
        self.process = subprocess.Popen(argv, bufsize=0, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=log, start_new_session=True)
        self.lines = collections.deque()
        self.rest = b""  # the line that is not whole yet

    def send(self, text):
        """Lines for the kernel. It reads them when it has told of all cells before."""
        try:
            data = text.encode()
            while data:
                data = data[self.process.stdin.write(data):]
        except OSError:
            pass  # it has ended, which `hear` finds out with the reason

    def hear(self, timeout):
        """The kernel's next message. Raises _Ended where none comes."""
        deadline = time.monotonic() + timeout
        while True:
            while self.lines:
                message = self._message(self.lines.popleft())
                if message is not None:
                    return message
            pipe, left = self.process.stdout, max(0.0, deadline - time.monotonic())
            if not select.select([pipe], [], [], left)[0]:
                raise _Ended("timeout", f"nothing was heard for {timeout:g} seconds")
            data = pipe.read(65536)
            if not data:
                raise _Ended("failed", self.reason())
            *lines, self.rest = (self.rest + data).split(b"\n")
            self.lines.extend(lines)

    def _message(self, line):
        """A line as the kernel writes it; None, and it goes to the log, if it is another one."""
        try:
            message = json.loads(line)
            if isinstance(message, dict):
                return message
        except ValueError:
            pass
        try:
            self.log.write(line + b"\n")
        except OSError as error:
            error.filename = self.log.name
            raise
        return None

    def reason(self):
        """Why the job ended: what Open MPI says of it, or its status."""
        try:
            status = self.process.wait(processes.KILL_TIMEOUT)
        except subprocess.TimeoutExpired:
            status = None
        self.log.seek(self.begin)
        said = self.log.read(1 << 20).decode(errors="replace").replace("\0", "")
        return messages.why(said.splitlines()) or \
            f"the job ended with status {status} without a word"

    def end(self):
        """Lets the job end, since there are no more cells."""
        try:
            self.process.communicate(timeout=END_TIMEOUT)
        except (OSError, subprocess.TimeoutExpired):
            pass
        self.kill()

    def kill(self):
        """Ends the job by force if it has not ended."""
        try:
            processes.end(self.process)
        finally:
            self.process.stdin.close()
            self.process.stdout.close()


# ---- cells by jobs

class _Runner:
    """Runs groups of cells, in one job as long as that lives."""

    def __init__(self, start, on_result, cell_timeout):
        self.start = start  # makes a job
        self.on_result = on_result
        self.cell_timeout = cell_timeout
        self.job = None
        self.machine = None
        self.at = None     # the cell that the kernel has said to be at
        self.early = 0     # jobs in a row that ended before their first cell

    def ready(self):
        """Sees to it that there is a job, and that it has begun."""
        while self.job is None:
            self.at = None
            self.job = self.start()
            try:
                self.machine = self.job.hear(max(self.cell_timeout, START_TIMEOUT))["machine"]
            except _Ended as end:
                self.lose(end)

    def lose(self, end):
        """The job is over; twice in a row before any cell means that no other will do."""
        self.kill()
        self.early = self.early + 1 if self.at is None else 0
        if 2 <= self.early:
            raise Refusal(f"two jobs in a row ended before their first cell: {end.note}; what was "
                          "measured before is kept")

    def kill(self):
        """Ends the job, if there is one."""
        if self.job is not None:
            self.job.kill()
            self.job = None

    def collect(self, left):
        """Takes results until none of the cells `left`, {ID: cell}, is."""
        while left:
            result = self.job.hear(self.cell_timeout)
            name = result.pop("cell", None)
            self.at, self.early = name or result.get("at"), 0
            if name in left:
                del left[name]
                self.on_result(name, result)

    def run(self, group):
        """All cells of a group get a result. A job that ends before it is at one of them may have
        ended after the group before, so the first cell is not blamed until that happens again."""
        left = {str(cell["cell"]): cell for cell in group}
        unheard = 0
        while left:
            self.ready()
            self.job.send("".join(cell_line(cell) + "\n" for cell in left.values()) + "\n")
            try:
                self.collect(left)
            except _Ended as end:
                name = self.at
                self.lose(end)
                if name not in left:
                    unheard += 1
                    if 2 > unheard:
                        continue
                    name = next(iter(left))
                del left[name]
                self.on_result(name, {"status": end.status, "seconds": [], "note": end.note})


def run(program, launcher, cells, on_result, cell_timeout=60.0, directory=None):
    """Times cells and tells on_result(ID, result) of each; returns the machine.

    program       of build()
    launcher      argv(words) of a job
    cells         dicts, and lists of dicts that race each other; an iterable is asked for the
                  next item when the one before has its results, so it may depend on them
    cell_timeout  seconds without a word from the kernel until a cell is given up
    directory     where kernel.log takes what jobs say besides, or None

    Raises Refusal where jobs do not begin. Whatever is raised, no job is left running.
    """
    path = directory and os.path.join(directory, "kernel.log")
    # Not buffered: a line that a full disk does not take is not tried again by close.
    with open(path, "ab+", buffering=0) if path else tempfile.TemporaryFile() as log:
        runner = _Runner(lambda: _Job(launcher.argv([program]), log), on_result, cell_timeout)
        try:
            runner.ready()
            for group in cells:
                runner.run([group] if isinstance(group, dict) else group)
            if runner.job is not None:
                runner.job.end()
            return runner.machine
        finally:
            runner.kill()
