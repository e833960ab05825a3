#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Running cells: by a posed kernel that hangs and dies, and by the real one on a testbed."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time

import tap
from pipering_tuning import kernel, messages
from pipering_tuning.files import Refusal
from pipering_tuning.launch import Launcher

POSED = os.path.join(tap.HERE, "posed_kernel.py")
TESTBED = os.path.join(tap.ROOT, "test", "testbed", "testbed")
TIMEOUT = 5.0
DEATH = 60.0  # seconds in which a process ends that is killed
# Seconds that all times are less than; what they really are is not asked.
ANY = 60.0


class Posed:
    """A directory where posed kernels leave their process ids, and what was heard."""

    def __init__(self, directory, **environment):
        self.directory = directory
        given = {"POSED_STATE": directory, **environment}
        self.launcher = Launcher([], [f"{name}={value}" for name, value in given.items()])
        self.heard = []
        self.results = {}

    def take(self, name, result):
        self.heard.append(name)
        self.results[name] = result

    def run(self, cells, **more):
        return kernel.run(POSED, self.launcher, cells, self.take, cell_timeout=TIMEOUT, **more)

    def jobs(self):
        """Process ids of all jobs so far."""
        pids = []
        for name in sorted(os.listdir(self.directory)):
            with open(os.path.join(self.directory, name), encoding="utf-8") as stream:
                pids.append(int(stream.read()))
        return pids

    def left(self):
        """Groups of those jobs of which processes are left. One that was killed may need a
        processor to end."""
        until = time.monotonic() + DEATH
        while self.alive() and time.monotonic() < until:
            time.sleep(0.05)
        return self.alive()

    def alive(self):
        """Groups of those jobs that have processes."""
        listed = subprocess.run(["ps", "-eo", "pgid=,stat="], stdout=subprocess.PIPE, text=True,
                                check=True).stdout.split("\n")
        groups = {int(line.split()[0]) for line in listed if line and "Z" not in line.split()[1]}
        return groups & set(self.jobs())


@contextlib.contextmanager
def posed(**environment):
    with tempfile.TemporaryDirectory() as directory:
        made = Posed(directory, **environment)
        yield made
        left = made.left()
        assert not left, f"left running: {left}"


def cell(name, what=None, **more):
    return {"cell": name, "kind": "task", "task": "echo", "bytes": 8,
            "set": {"do": what} if what else {}, **more}


def test_results():
    """results come as they are, with the machine, by one job"""
    with posed() as world:
        machine = world.run([cell("a"), cell("b"), cell("c", "wrong")])
        assert ["a", "b", "c"] == world.heard and 1 == len(world.jobs())
        assert {"status": "ok", "seconds": [0.5, 0.25], "largest": 64, "note": ""} == \
            world.results["a"]
        assert "wrong" == world.results["c"]["status"]
        assert {"library": "Open MPI v5.0.7", "hosts": ["a", "a", "b"], "ranks": 3, "nodes": 2,
                "pml": "ob1", "yield": "1"} == machine


def test_no_cells():
    """without cells a job says what the machine is"""
    with posed() as world:
        assert 3 == world.run([])["ranks"] and [] == world.heard


def test_lazy():
    """a generator sees the results before it gives the next cells"""
    def cells():
        yield cell("a")
        assert ["a"] == world.heard
        yield [cell("b"), cell("c")]
        assert ["a", "b", "c"] == world.heard
        yield cell("d")

    with posed() as world:
        world.run(cells())
        assert ["a", "b", "c", "d"] == world.heard and 1 == len(world.jobs())


def test_hangs():
    """a cell that hangs is killed and timed out; the rest of its group has a new job"""
    with posed() as world:
        began = time.monotonic()
        world.run([[cell("a"), cell("b", "hang"), cell("c")], cell("d")])
        assert ["a", "b", "c", "d"] == world.heard and 2 == len(world.jobs())
        assert "timeout" == world.results["b"]["status"] and world.results["b"]["note"]
        assert ["ok"] * 3 == [world.results[name]["status"] for name in "acd"]
        assert time.monotonic() - began < 20 * TIMEOUT


def test_blames():
    """the cell to blame is the one that the kernel was at, not the first without a result"""
    with posed() as world:
        world.run([[cell("a", "defer"), cell("b", "hang"), cell("c")]])
        assert {"a": "ok", "b": "timeout", "c": "ok"} == {
            name: result["status"] for name, result in world.results.items()}
        assert ["b", "c", "a"] == world.heard and 2 == len(world.jobs())


def test_dies():
    """a job that dies fails the cell that it was at, with its last word"""
    with posed() as world:
        world.run([cell("a"), cell("b", "die"), cell("c"), cell("d", "mute")])
        assert ["a", "b", "c", "d"] == world.heard and 2 == len(world.jobs())
        assert ("failed", "posed: no route to host") == tuple(
            world.results["b"][key] for key in ("status", "note"))
        assert "status 4" in world.results["d"]["note"], world.results["d"]


def test_dies_between():
    """a job that dies behind a group costs none of the next group's cells their time"""
    with posed() as world:
        world.run([cell("a", "leave"), cell("b"), [cell("c", "leave"), cell("d")], cell("e")])
        assert ["ok"] * 5 == [world.results[name]["status"] for name in "abcde"], world.results
        assert 3 == len(world.jobs())


def test_dies_early():
    """a cell with which two jobs die before they are at it fails, and the others are timed"""
    with posed() as world:
        world.run([cell("a"), cell("b", "early"), cell("c")])
        assert {"a": "ok", "b": "failed", "c": "ok"} == {
            name: result["status"] for name, result in world.results.items()}
        assert "status 6" in world.results["b"]["note"] and 3 == len(world.jobs())


def test_never_begins():
    """two jobs that do not begin are enough: one sentence says why"""
    with posed(POSED_START="die") as world:
        try:
            world.run([cell("a"), cell("b")])
            assert False, "no Refusal"
        except Refusal as refusal:
            assert "the daemon could not be started" in str(refusal), refusal
        assert 2 == len(world.jobs()) and [] == world.heard


def test_no_launcher():
    """a launcher that is not there is refused"""
    try:
        kernel.run("x", Launcher(["/nonexistent/mpirun"]), [], None)
        assert False, "was not refused"
    except OSError as error:
        assert "/nonexistent/mpirun" == error.filename


def test_garbage():
    """what is no line of the kernel goes to the log"""
    with posed() as world, tempfile.TemporaryDirectory() as directory:
        world.run([cell("a", "garbage"), cell("b")], directory=directory)
        assert ["a", "b"] == world.heard
        with open(os.path.join(directory, "kernel.log"), encoding="utf-8") as stream:
            assert "mpirun says something" in stream.read()


def test_interrupted():
    """whatever is raised meanwhile, no process of the job is left, nor any child of it"""
    def interrupt(name, result):
        raise KeyboardInterrupt

    with posed() as world:
        for error, take in ((KeyboardInterrupt, interrupt), (ZeroDivisionError, lambda *_: 1 // 0)):
            try:
                kernel.run(POSED, world.launcher, [cell("a", "spawn"), cell("b")], take,
                           cell_timeout=TIMEOUT)
                assert False, "nothing was raised"
            except error:
                pass


def test_interrupted_twice():
    """a second interrupt, while a job is asked to end that does not, ends it by force"""
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with posed() as world:
            try:
                kernel.run(POSED, world.launcher, [cell("a", "deaf"), cell("b")],
                           interrupt, cell_timeout=TIMEOUT)
                assert False, "was not interrupted"
            except KeyboardInterrupt:
                assert 1 == len(world.jobs())
    finally:
        signal.signal(signal.SIGALRM, before)


def test_log():
    """a log that cannot be written is one sentence, and no job is left"""
    with tempfile.TemporaryDirectory() as directory:
        log = os.path.join(directory, "kernel.log")
        for make in (lambda: os.mkdir(log), lambda: os.symlink("/dev/full", log)):
            make()
            with posed() as world:
                try:
                    world.run([cell("a", "garbage"), cell("b")], directory=directory)
                    assert False, "was not refused"
                except OSError as error:
                    assert log == error.filename and error.strerror, error
            (os.rmdir if os.path.isdir(log) else os.unlink)(log)


DASHES = "-" * 74
MISSING = f"""[n0:02171] mca_base_component_repository_open: unable to open it
{DASHES}
WARNING: a device has no parameters.  It is used as it is.

  Device: x
{DASHES}
{DASHES}
A requested component was not found, or was unable to be opened.  This
means that this component is either not installed or is unable to be
used on your system (e.g., sometimes this means that shared libraries).

Host:      n0
Framework: pml
Component: ucx
{DASHES}
[n0:02172] PMIX ERROR: PMIX_ERR_NOT_FOUND in file client/pmix_client.c at line 1
"""


def test_reasons():
    """why jobs do not begin is said by the message of Open MPI that names the cause"""
    said = ("A requested component was not found, or was unable to be opened. This means that this "
            "component is either not installed or is unable to be used on your system (e.g., "
            "sometimes this means that shared libraries). Host: n0 Framework: pml Component: ucx")
    assert said == messages.why(MISSING.splitlines()), messages.why(MISSING.splitlines())
    assert said == messages.why(MISSING.splitlines()[1:])
    assert "ssh: a" == messages.why([*MISSING.splitlines(), "ssh: a", "b"])
    assert "no route" == messages.why(["no route", DASHES]) and "" == messages.why([DASHES] * 2)
    assert "b" == messages.why([DASHES, "WARNING: a", DASHES, "b", DASHES])
    with tempfile.TemporaryDirectory() as directory:
        launcher = Launcher(["/bin/sh", "-c", f"cat >&2 <<'END'\n{MISSING}END\nexit 1", "sh"])
        try:
            kernel.run(POSED, launcher, [], None, directory=directory)
            assert False, "no Refusal"
        except Refusal as refusal:
            assert said in str(refusal) and "two jobs in a row" in str(refusal), refusal


def test_lines():
    """a cell is a line of words"""
    assert "cell=a reps=3 set=x:1,y:a+b" == kernel.cell_line(
        {"cell": "a", "reps": 3, "type": None, "set": {"x": 1, "y": "a,b"}})
    assert "cell=a" == kernel.cell_line({"cell": "a", "set": {}})


def test_compiler():
    """a compiler that fails is refused in one sentence, and leaves nothing"""
    with tempfile.TemporaryDirectory() as directory:
        broken = os.path.join(directory, "mpicc")
        with open(broken, "w", encoding="utf-8") as stream:
            stream.write("#!/bin/sh\necho 'error: no licence'; exit 1\n")
        os.chmod(broken, 0o755)
        try:
            kernel.build(broken, directory)
            assert False, "no Refusal"
        except Refusal as refusal:
            assert "no licence" in str(refusal) and "\n" not in str(refusal), refusal
        assert ["mpicc"] == os.listdir(directory)


# ---- the real one

CALLS = [f"collective={name} total={total}{more}"
         for name, total, more in (
             ("allgatherv", 100000, " dist=spike"), ("allgatherv", 70000, " dist=zipf type=list"),
             ("allgatherv", 50000, " dist=outlier type=byte"),
             ("allgather", 4096, ""), ("bcast", 50000, ""), ("reduce", 30000, ""),
             ("allreduce", 65536, " type=auto"), ("scan", 40000, ""), ("exscan", 9000, ""),
             ("alltoallw", 800, " dist=ring"), ("alltoallw", 800, " dist=mixed"),
             ("alltoallv", 800, ""))]
TASKS = [f"task={name} scope={scope} direction={direction} bytes={size}"
         for name, directions in (("stream", ("one", "all")), ("echo", ("one",)))
         for scope in ("inter", "intra") for direction in directions
         for size in (0, 1000, 100000)] \
    + ["task=combine scope=rank direction=all bytes=9000"]
REFUSED = {"no variable": "collective=bcast total=8 set=coll_pipering_nonsense:1",
           "does not take": "collective=bcast total=8 set=coll_pipering_priority:3",
           "no such collective": "collective=dance total=8",
           "no such distribution": "collective=allgatherv total=8 dist=dance",
           "type=": "collective=bcast total=800 type=list",
           "of 8 bytes at least": "collective=bcast total=4",
           "dist=ring total=800": "collective=alltoallv total=800 dist=ring"}


def parsed(name, line, kind=None):
    kind = kind or ("task" if line.startswith("task") else "call")
    return {"cell": name, "kind": kind, "reps": 2, "warmup": 1,
            **dict(word.split("=", 1) for word in line.split() if not word.startswith("set=")),
            "set": dict(pair.split(":") for word in line.split() if word.startswith("set=")
                        for pair in [word[4:]])}


def real(cells, *placed, program=(), timeout=60.0):
    """(machine, {ID: result}) of cells on a testbed of 2 nodes with 2 ranks each, or placed
    otherwise by options of `testbed mpirun`."""
    build = os.path.join(os.environ.get("BUILD_DIR") or os.path.join(tap.ROOT, "build"), "tuning")
    os.makedirs(build, exist_ok=True)
    path = kernel.build(os.path.join(os.environ["OMPI_PREFIX"], "bin", "mpicc"), build)
    launcher = Launcher([TESTBED, "with", "--nodes", "2", "--", TESTBED, "mpirun",
                         *(placed or ("--ppn", "2")), "--timeout", "600", "--", *program])
    results = {}
    machine = kernel.run(path, launcher, cells, results.__setitem__, cell_timeout=timeout)
    return machine, results


def needs_nodes():
    """Why there can be no job on nodes; None: there can."""
    if "OMPI_PREFIX" not in os.environ:
        return "OMPI_PREFIX is not set"
    can = subprocess.run([TESTBED, "can"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, check=False)
    return None if 0 == can.returncode else can.stdout.splitlines()[0]


def real_cells():
    """every collective, type and task is timed, and calls are right; what cannot be is refused"""
    cells = [parsed(f"c{i}", line) for i, line in enumerate(CALLS)]
    cells += [parsed(f"t{i}", line) for i, line in enumerate(TASKS)]
    cells += [parsed(says.replace(" ", "-"), line, "call") for says, line in REFUSED.items()]
    machine, results = real(cells)
    assert (4, 2, ["n0", "n0", "n1", "n1"]) == (machine["ranks"], machine["nodes"],
                                                machine["hosts"]), machine
    assert len(cells) == len(results)
    for name, result in results.items():
        says = name.replace("-", " ")
        if says in REFUSED:
            assert "refused" == result["status"] and says in result["note"], (name, result)
        else:
            assert "ok" == result["status"] and 2 <= len(result["seconds"]), (name, result)
            assert all(0 < seconds < ANY for seconds in result["seconds"]), (name, result)


def real_pml():
    """the point-to-point component in use is named where nobody has set the variable"""
    machine, _ = real([], program=("env", "-u", "OMPI_MCA_pml"))
    assert machine["pml"] in ("ob1", "ucx", "cm"), machine


def real_race():
    """arms have their own variables and take turns"""
    ring = {"coll_pipering_allgatherv_algorithm": "ring"}
    arms = [ring, {**ring, "coll_pipering_block_size": 500},
            {"coll_pipering_allgatherv_algorithm": "off"}]
    cells = [{"cell": f"r{i}", "kind": "call", "collective": "allgatherv", "dist": "regular",
              "total": 80000, "reps": 5, "warmup": 2, "set": arm}
             for i, arm in enumerate(arms)]
    _, results = real([cells, {**cells[0], "cell": "again"}])
    assert all("ok" == result["status"] for result in results.values()), results
    assert 500 == results["r1"]["block"] < results["again"]["block"], results
    assert "below" == results["r2"]["algorithm"], results


def real_enough():
    """there are as many repetitions as are asked for, or fewer when time is up"""
    base = {**parsed("a", CALLS[0]), "reps": 5}
    _, results = real([{**base, "cell": "exact"},
                       {**base, "cell": "short", "reps": 100000, "budget": 0.3}])
    assert 5 == len(results["exact"]["seconds"]), results["exact"]
    assert 1 <= len(results["short"]["seconds"]) < 10000


def real_stream():
    """a block of a ring's streams takes a tenth of the time on one link alone, or more"""
    cells = [parsed(f"{direction}{size}", f"task=stream scope=inter direction={direction} "
                    f"bytes={size}") for direction in ("one", "all") for size in (256, 4096)]
    _, results = real(cells, "--ppn", "1", program=("env", "OMPI_MCA_pml=ob1"))
    for size in (256, 4096):
        one, every = (min(results[f"{direction}{size}"]["seconds"])
                      for direction in ("one", "all"))
        assert every > one / 10, (size, one, every)


LATE = 0.3
CORRUPT = f"""
#include <mpi.h>
#include <unistd.h>
/* The kernel's last word on a repetition: rank 2 comes late to the next one. */
int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{{
    int rc = PMPI_Allreduce(in, out, count, type, op, comm), rank;
    MPI_Comm_rank(comm, &rank);
    usleep(2 == rank ? {LATE} * 1e6 : 0);
    return rc;
}}
int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{{
    int rc = PMPI_Bcast(buffer, count, type, root, comm), size, rank;
    MPI_Type_size(type, &size);
    MPI_Comm_rank(comm, &rank);
    if (30000 <= count * size && 2 == rank) {{
        ((char *) buffer)[count * size - 1] ^= 4;
    }}
    return rc;
}}
"""


def real_wrong():
    """a result with one wrong bit on one rank is seen, and told from where; and a rank that comes
    late to a repetition is waited for before its time begins"""
    with tempfile.TemporaryDirectory() as directory:
        source, library = (os.path.join(directory, f"corrupt.{end}") for end in ("c", "so"))
        with open(source, "w", encoding="utf-8") as stream:
            stream.write(CORRUPT)
        subprocess.run([os.path.join(os.environ["OMPI_PREFIX"], "bin", "mpicc"), "-shared",
                        "-fPIC", "-o", library, source], check=True)
        _, results = real([parsed("bad", "collective=bcast total=50000"),
                           parsed("good", "collective=bcast total=20000"),
                           parsed("late", "collective=allgatherv total=800 dist=regular")],
                          program=["env", f"LD_PRELOAD={library}"])
    assert "wrong" == results["bad"]["status"] and "rank 2" in results["bad"]["note"], results
    assert "ok" == results["good"]["status"], results
    assert 0 < min(results["late"]["seconds"]) < LATE, results


def with_nodes(test):
    """A test that is skipped where there are no nodes."""
    def run():
        return needs_nodes() or test()
    run.__doc__ = test.__doc__
    return run


(test_real_cells, test_real_pml, test_real_race, test_real_enough,
 test_real_stream, test_real_wrong) = map(with_nodes, (
     real_cells, real_pml, real_race, real_enough, real_stream, real_wrong))

if __name__ == "__main__":
    sys.exit(tap.run(globals()))
