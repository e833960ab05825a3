#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What is said of a machine: by its nodes, by MPI, and where these differ."""

import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from posed_place import refused  # noqa: E402
from pipering_tuning import launch, ompi_info, preflight  # noqa: E402

TABLE = ompi_info.Table(posed.INFO)
LAUNCHER = launch.Launcher(["mpirun"])


def node(host, ranks=2, processors="4", governor="performance", model="X"):
    """A node that has answered."""
    made = preflight.Node([host, processors, "0.1", governor, model])
    made.ranks = ranks
    return made


def described(answers, **asked):
    """The machine and the warnings of nodes, and of what the kernel was told by MPI."""
    nodes = {one.host: one for one in answers}
    machine = preflight.describe(LAUNCHER, TABLE, nodes, asked)
    return machine, preflight.warnings(machine, nodes)


def test_alike():
    """where nodes and MPI agree nothing is said"""
    machine, said = described([node("a"), node("b")], ranks=4, nodes=2, hosts=["a", "a", "b", "b"])
    assert (machine["nodes"], machine["ppn"], machine["mapping"]) == (2, 2, "2,2"), machine
    assert not said, said
    assert described([node("a"), node("b")])[0]["mapping"] == "2,2"


def test_other_names():
    """MPI may call nodes by other names than uname, or see more or fewer of them"""
    machine, said = described([node("a"), node("b")], ranks=4, nodes=2,
                              hosts=["a.x", "a.x", "b.x", "b.x"])
    assert machine["mapping"] == "2,2" and machine["ranks"] == 4 and not said, (machine, said)
    machine, said = described([node("a", 3)], ranks=3, nodes=2, hosts=["a", "a", "a"])
    assert (machine["nodes"], machine["ppn"], machine["ranks"]) == (2, 2, 3), machine
    assert any("MPI sees 2 nodes" in one and "1 names" in one for one in said), said
    machine, said = described([node("a"), node("b")], ranks=4, nodes=1, hosts=["a", "a", "b", "b"])
    assert machine["mapping"] == "4" and any("MPI sees 1 nodes" in one for one in said), said


def test_other_ranks():
    """a launcher of another Open MPI, whose processes are jobs of one rank each, is refused"""
    refused(lambda: described([node("a", 4)], ranks=1, nodes=1, hosts=["a"]),
            "starts 4 processes", "a job of 1", "nothing was measured")


def test_silent():
    """what a node does not say is told, and counts neither as load nor as a difference"""
    silent = preflight.Node(["b", "", "", "-", "X"])
    silent.ranks = 9
    machine, said = described([node("a"), silent])
    assert (machine["load"], machine["oversubscribed"]) == (0.1, False), machine
    assert len(said) == 3 and "b cannot say how many processors or what load" in said[0], said
    machine, said = described([silent])
    assert machine["load"] is machine["processors"] is None and said, machine


def test_one_rank():
    """one rank alone is refused"""
    refused(lambda: described([node("a", 1)]), "one rank alone", "nothing was measured")


def test_unlike():
    """nodes that differ are warned of"""
    said = described([node("a"), node("b", processors="8", governor="powersave", model="Y")])[1]
    for what in ("different numbers of processors: 4, 8", "different processors: X, Y",
                 "different frequency governors: performance, powersave"):
        assert any(what in one for one in said), (what, said)


def is_running(process):
    """Whether a process has not ended, by its number."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as stat:
            return "Z" != stat.read().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False


def test_short_job():
    """a rank outlives its start, at which PRRTE can lose the end of a process"""
    begun = time.monotonic()
    said = preflight.run_plainly(launch.Launcher(["env"]), "echo here")
    assert "here\n" == said and 0.2 <= preflight.WAIT <= time.monotonic() - begun, said


def test_stuck():
    """of a job that does not end in time nothing is left running"""
    with tempfile.TemporaryDirectory() as place:
        started = os.path.join(place, "started")
        stuck = launch.Launcher(["sh", "-c", 'sleep 60 & echo $! >"$0"; wait', started])
        refused(lambda: preflight.run_plainly(stuck, "true", limit=5), "had not ended a job",
                "nothing was measured")
        with open(started, encoding="ascii") as stream:
            process = int(stream.read())
        # It was killed, but may need a processor to end.
        until = time.monotonic() + 30
        while is_running(process) and time.monotonic() < until:
            time.sleep(0.05)
        assert not is_running(process)


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
