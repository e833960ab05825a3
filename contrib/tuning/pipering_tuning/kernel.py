# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The timed kernel: compiling it, and running cells by it.

The kernel (../kernel) is one MPI program that times many cells in one job. It reads a line for
each cell from its standard input, the cells of a race one behind the other and an empty line
behind the last of them, and writes

    machine<TAB>KEY=VALUE...                                 once, when the job has begun
    at<TAB>ID                                                which cell it is at
    cell<TAB>ID<TAB>STATUS<TAB>SECONDS,...<TAB>KEY=VALUE...  when a cell is over

`run` keeps a job going while there are cells, notices one that hangs or dies, and goes on with
the rest in a new job.
"""

import collections
import glob
import hashlib
import os
import re
import selectors
import subprocess
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
INCLUDED = ["common", "traff", "worringer", "balaji"]
FLAGS = ["-std=c99", "-D_DEFAULT_SOURCE", "-O2", "-g", "-Wall", "-Wextra"]

START_TIMEOUT = 120.0  # seconds until a job has begun, at least
END_TIMEOUT = 30.0     # seconds until it has ended after its last cell
COMPILE_TIMEOUT = 300.0

# Characters of a word and of a line that the kernel reads (kernel_cell.h), less one.
WORD_MOST, LINE_MOST = 127, 4094


# ---- compiling

def _sources():
    own = sorted(glob.glob(os.path.join(KERNEL, "*.c")))
    return own + [os.path.join(BENCH, name) for name in SHARED]


def _stamp(mpicc):
    """What a compiled kernel is good for: these sources, this compiler and Open MPI."""
    files = _sources() + glob.glob(os.path.join(KERNEL, "*.h"))
    files += [name for folder in INCLUDED for name in glob.glob(f"{BENCH}/{folder}/*.h")]
    stamp = hashlib.sha256(os.path.realpath(mpicc).encode())
    try:
        stamp.update(str(os.stat(mpicc).st_mtime_ns).encode())
        for name in sorted(files):
            with open(name, "rb") as stream:
                stamp.update(stream.read())
    except OSError as error:
        raise Refusal(f"{error.filename} cannot be read: {error.strerror}; nothing was "
                      "measured") from error
    return stamp.hexdigest()[:12]


def _compile(mpicc, program):
    """None, or why the compiler failed."""
    command = [mpicc] + FLAGS + [f"-I{BENCH}/{folder}" for folder in INCLUDED]
    command += ["-o", program] + _sources() + ["-lm"]
    try:
        made = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=COMPILE_TIMEOUT, text=True,
                              errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return f"no end after {COMPILE_TIMEOUT:.0f} seconds"
    except OSError as error:
        return error.strerror
    if 0 == made.returncode:
        return None
    errors = [line for line in made.stdout.splitlines() if "error" in line]
    return (errors or [messages.last_line(made.stdout.splitlines())])[0]


def build(mpicc, directory):
    """The path of the compiled kernel in `directory`, which all nodes must see; compiled only if
    it is not there yet for these sources and this compiler."""
    program = os.path.join(directory, f"kernel-{_stamp(mpicc)}")
    if os.access(program, os.X_OK):
        return program
    fresh = f"{program}.{os.getpid()}"
    try:
        problem = _compile(mpicc, fresh)
        if problem is not None:
            raise Refusal(f"{mpicc} does not compile the kernel in {KERNEL}: {problem}; nothing "
                          "was measured")
        os.replace(fresh, program)
    except OSError as error:
        raise Refusal(f"{program} cannot be written: {error.strerror}; nothing was "
                      "measured") from error
    finally:
        if os.path.exists(fresh):
            os.unlink(fresh)
    return program


# ---- lines

def cell_line(cell):
    """A cell as a line of the kernel's input. ValueError: it is none that the kernel reads."""
    words = []
    for key, value in cell.items():
        if value is None or (isinstance(value, dict) and not value):
            continue
        if isinstance(value, dict):
            value = ",".join(f"{name}:{str(wanted).replace(',', '+')}"
                             for name, wanted in value.items())
        word = f"{key}={value}"
        if re.search(r"\s", word):
            raise ValueError(f"{word!r}: a cell has no blanks in its values")
        if len(word) - len(key) - 1 > WORD_MOST and "set" != key:
            raise ValueError(f"{word!r}: a value has at most {WORD_MOST} characters")
        words.append(word)
    line = " ".join(words)
    if len(line) > LINE_MOST:
        raise ValueError(f"{line[:60]!r}...: a cell has at most {LINE_MOST} characters")
    return line


def _number(text, kind=float):
    try:
        return kind(text)
    except (TypeError, ValueError):
        return None


def parse_result(words):
    """(ID, result) of the words of a line `cell`."""
    status, seconds, rest = words[2], words[3], words[4:]
    values = dict(word.split("=", 1) for word in rest if "=" in word)
    return words[1], {
        "status": status,
        "seconds": [float(number) for number in seconds.split(",") if number],
        "enters": _number(values.get("enters"), int) or None,
        "algorithm": values.get("algorithm", ""),
        "block": _number(values.get("block"), int),
        "predicted": _number(values.get("predicted")),
        "missed": _number(values.get("missed"), int) or 0,
        "late": _number(values.get("late")) or 0.0,
        "largest": _number(values.get("largest"), int) or 0,
        "contributors": _number(values.get("contributors"), int) or 0,
        "ranks": _number(values.get("ranks"), int) or 0,
        "nodes": _number(values.get("nodes"), int) or 0,
        "ppn": _number(values.get("ppn"), int) or 0,
        "note": values.get("note", "")}


def _without_result(status, note):
    return {"status": status, "seconds": [], "enters": None, "algorithm": "", "block": None,
             "predicted": None, "missed": 0, "late": 0.0, "largest": 0,
            "contributors": 0, "ranks": 0, "nodes": 0, "ppn": 0, "note": note}


def parse_machine(words):
    """The machine dict of the words of a line `machine`."""
    values = dict(word.split("=", 1) for word in words[1:] if "=" in word)
    return {"library": values.get("library", ""),
            "ranks": int(values["ranks"]),
            "nodes": int(values["nodes"]),
            "hosts": values["hosts"].split(","),
            "processors": [int(number) for number in values["processors"].split(",")],
            "pml": values.get("pml", ""),
            "yield": values.get("yield", "0") not in ("", "0"),
            "crowded": "1" == values.get("crowded"),
            "clock_error": float(values["clock_error"]),
            "rtt": float(values["rtt"])}


# ---- what jobs say besides

class _Log:
    """A file that takes lines; None as its path: there is none."""

    def __init__(self, path):
        self.path = path
        self.stream = None
        if path is not None:
            self._try(self._open)

    def _open(self):
        # Not buffered: a line that a full disk does not take is not tried again by close.
        self.stream = open(self.path, "ab", buffering=0)

    def _try(self, act, *arguments):
        try:
            act(*arguments)
        except OSError as error:
            raise Refusal(f"{self.path} cannot be written: {error.strerror}", late=True) \
                from error

    def write(self, text):
        if self.stream is not None:
            self._try(self.stream.write, text.encode() + b"\n")

    def close(self):
        if self.stream is not None:
            self.stream.close()


# ---- a job

class _Ended(Exception):
    """The job is over before it should; `status` is that of the cell it was at."""

    def __init__(self, status, note):
        super().__init__(note)
        self.status = status
        self.note = note


class _Job:
    """A running job of the kernel: lines in, lines out."""

    def __init__(self, argv, environment, log):
        try:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=environment, start_new_session=True)
        except OSError as error:
            raise Refusal(f"{argv[0]} cannot be run: {error.strerror}; nothing was "
                          "measured") from error
        self.log = log
        self.said = collections.deque(maxlen=100)  # lines that are none of the kernel's
        self.lines = collections.deque()           # the kernel's, as words
        self.rest = {}                             # of each pipe: the line that is not whole yet
        self.selector = selectors.DefaultSelector()
        for pipe in (self.process.stdout, self.process.stderr):
            os.set_blocking(pipe.fileno(), False)
            self.selector.register(pipe, selectors.EVENT_READ)
            self.rest[pipe] = b""

    def send(self, text):
        try:
            self.process.stdin.write(text.encode())
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended, which next_line finds out with the reason

    def _take(self, pipe, line):
        text = line.decode(errors="replace").replace("\0", "").rstrip("\r")
        words = text.split("\t")
        if pipe is self.process.stdout and len(words) > 1 and words[0] in ("machine", "at", "cell"):
            self.lines.append(words)
            return
        self.said.append(text)
        self.log.write(text)

    def _read(self, pipe):
        data = pipe.read()
        if not data:
            self.selector.unregister(pipe)
            return
        *lines, self.rest[pipe] = (self.rest[pipe] + data).split(b"\n")
        for line in lines:
            self._take(pipe, line)

    def next_line(self, timeout):
        """The words of the kernel's next line. Raises _Ended where none comes."""
        deadline = time.monotonic() + timeout
        while not self.lines:
            left = deadline - time.monotonic()
            if left <= 0:
                raise _Ended("timeout", f"nothing was heard for {timeout:g} seconds")
            if not self.selector.get_map():
                raise _Ended("failed", self.reason())
            for key, _ in self.selector.select(left):
                self._read(key.fileobj)
        return self.lines.popleft()

    def reason(self):
        """Why the job ended: what Open MPI says of it, or its status."""
        try:
            status = self.process.wait(processes.KILL_TIMEOUT)
        except subprocess.TimeoutExpired:
            status = None
        return messages.why(list(self.said)) or f"the job ended with status {status} without a word"

    def end(self):
        """Ends the job: there are no more cells."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        deadline = time.monotonic() + END_TIMEOUT
        while self.selector.get_map() and time.monotonic() < deadline:
            for key, _ in self.selector.select(deadline - time.monotonic()):
                self._read(key.fileobj)
        self.kill()

    def kill(self):
        """Ends the job by force if it has not ended."""
        try:
            processes.end(self.process)
        finally:
            self._close()

    def _close(self):
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except OSError:
                pass
        self.selector.close()


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
                words = self.job.next_line(max(self.cell_timeout, START_TIMEOUT))
                self.machine = parse_machine(words)
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
        if self.job is not None:
            self.job.kill()
            self.job = None

    def collect(self, left):
        """Takes results until none of the cells `left`, {ID: cell}, is."""
        while left:
            words = self.job.next_line(self.cell_timeout)
            if "at" == words[0]:
                self.at = words[1]
                self.early = 0
            elif "cell" == words[0] and words[1] in left and len(words) > 3:
                name, result = parse_result(words)
                self.at = name
                self.early = 0
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
                self.on_result(name, _without_result(end.status, end.note))


def run(program, launcher, cells, on_result, settings=None, cell_timeout=60.0, directory=None):
    """Times cells and tells on_result(ID, result) of each; returns the machine.

    program       of build()
    launcher      argv(words, settings) and environment() of a job
    cells         dicts, and lists of dicts that race each other; an iterable is asked for the
                  next item when the one before has its results, so it may depend on them
    settings      a parameter file that jobs begin with, or None
    cell_timeout  seconds without a word from the kernel until a cell is given up
    directory     where kernel.log takes what jobs say besides, or None

    Raises Refusal where jobs do not begin. Whatever is raised, no job is left running.
    """
    log = _Log(directory and os.path.join(directory, "kernel.log"))

    def start():
        return _Job(launcher.argv([program], settings), launcher.environment(), log)

    runner = _Runner(start, on_result, cell_timeout)
    try:
        runner.ready()
        for group in cells:
            runner.run([group] if isinstance(group, dict) else group)
        if runner.job is not None:
            runner.job.end()
        return runner.machine
    finally:
        runner.kill()
        log.close()
