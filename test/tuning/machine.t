#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""pipering-tune --machine: the costs of posed links are found, and uneven times refused."""

import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
from posed_place import Place, tuned  # noqa: E402
from pipering_tuning import (launch, machine_file, machine_fit, machine_run,  # noqa: E402
                             tasks)
from pipering_tuning.machine_fit import Link  # noqa: E402

ETHERNET = Link(80e-6, 85e-9, 2e-9)
FABRIC = Link(2e-6, 0.7e-9, 0.3e-9, 16384, 30e-6)
LOCAL = Link(1e-6, 0.3e-9, 0.1e-9)


class Machine:
    """A posed kernel: streams are as a link says, and echoes take 40 us; ranks: on each of 8 nodes;
    noise: of a sample; fails(cell): a cell has no result."""

    def __init__(self, link, ranks=1, noise=0.02, seed=3, fails=lambda cell: False, cell=0.5):
        self.dice = random.Random(seed)
        self.link, self.noise, self.fails, self.cell = link, noise, fails, cell
        self.now = 0.0
        self.shape = {"nodes": 8, "ranks": 8 * ranks}

    def seconds(self, cell):
        if "echo" == cell["task"]:
            return 40e-6
        if "combine" == cell["task"]:
            return 1e-6 + 0.2e-9 * cell["bytes"]
        link = LOCAL if "intra" == cell["scope"] else self.link
        return machine_fit.stream_time(link, cell["bytes"])

    def run(self, cells):
        """The results of as many as there is time for."""
        return {cell["cell"]: self.result(cell) for cell in cells
                if self.now < machine_run.LIMIT}

    def result(self, cell):
        self.now += self.cell
        if self.fails(cell):
            return {"status": "timeout", "seconds": [], "note": "nothing was heard"}
        return {"status": "ok", "seconds": [self.seconds(cell) * (
            1 + self.noise * abs(self.dice.gauss(0, 1))) for _ in range(cell["reps"])]}

    def conclude(self, load=1.0, warnings=()):
        """(the file's values or None, what is said)."""
        said = []
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "machine")
            measured, failures = machine_run.measure(self.shape, self.run)
            written = machine_run.conclude(path, measured, load, ["made by a test"],
                                           [*warnings, *failures], said.append)
            assert written == os.path.exists(path)
            if not written:
                return None, "\n".join(said)
            with open(path, encoding="utf-8") as stream:
                lines = [line for line in stream.read().splitlines() if not line.startswith("#")]
        return dict(line.split(" = ") for line in lines), "\n".join(said)


def near(values, wanted, off=0.15):
    for name, value in wanted.items():
        assert abs(float(values[name]) / value - 1) < off, (name, value, values)


def test_fit():
    """costs of links come out of the times that they make, handshakes only where they are"""
    dice = random.Random(7)
    for _ in range(20):
        beta = 10 ** dice.uniform(-10, -7)
        link = Link(10 ** dice.uniform(-6, -4), beta, beta * dice.uniform(0.05, 2))
        if dice.random() < 0.5:
            link = link._replace(eager=16384, handshake=link.alpha + 16384 * (link.beta
                                                                              + link.copy))
        points = {size: machine_fit.stream_time(link, size) for size in tasks.STREAM_SIZES}
        found = machine_fit.fit_link(points, beta)
        assert found.eager == link.eager, (link, found)
        assert max(machine_fit.errors(found, points).values()) < 0.05, (link, found)


def test_ethernet():
    """a slow link: the wire, the frames of its packets, what wakes a rank up"""
    values, said = Machine(ETHERNET).conclude(warnings=["n0 has a load of 9"] * 30)
    assert 30 > len(said.splitlines()), said
    near(values, {"net_alpha": 80, "net_beta": 86, "combine": 0.2, "net_packet": 1448,
                  "net_frame": 66, "net_envelope": 32})
    assert "0" == values["net_eager"] and 0 == float(values["net_handshake"]), values
    assert 0 == float(values["net_latency"]) and "true" == values["net_overlap"], values
    assert "local_alpha" not in values and "use: coll_pipering_machine = " in said, said


def test_fabric():
    """a fast link with a handshake: no frames, and where the handshake begins"""
    values, _ = Machine(FABRIC).conclude()
    near(values, {"net_eager": 16384, "net_handshake": 30, "net_beta": 0.75, "net_alpha": 20,
                  "net_latency": 20, "net_gap": 2})
    assert "0" == values["net_packet"] == values["net_frame"], values


def test_bound():
    """the bound is looked for between the sizes of streams"""
    values, _ = Machine(FABRIC._replace(eager=20000)).conclude()
    near(values, {"net_eager": 20000}, 0.04)


def test_load():
    """ranks that share processors: what one of them takes to wake up is as many times as long"""
    values, _ = Machine(FABRIC, ranks=2).conclude(load=4)
    near(values, {"net_alpha": 80, "net_latency": 20, "ranks_per_processor": 4})
    assert float(values["local_beta"]) < 1 and "true" == values["local_overlap"], values


def zigzag(cell):
    """A factor of the time that no costs explain: it changes with each size of a stream."""
    return (1, 3, 9)[tasks.STREAM_SIZES.index(cell["bytes"]) % 3] if "stream" == cell["task"] else 1


def test_inside():
    """links inside nodes that no costs explain are left out of the file"""
    machine = Machine(ETHERNET, ranks=2)
    seconds = machine.seconds
    machine.seconds = lambda cell: seconds(cell) * (
        zigzag(cell) if "intra" == cell["scope"] else 1)
    values, said = machine.conclude()
    assert "local_alpha" not in values and "usual ones stand for them" in said, (values, said)


def test_refused():
    """times that no costs explain give no file, and what disturbed them is named"""
    machine = Machine(ETHERNET, noise=9.0)
    seconds = machine.seconds
    machine.seconds = lambda cell: seconds(cell) * zigzag(cell)
    values, said = machine.conclude(warnings=["n0 has a load of 9"] * 30)
    assert 10 > len(said.splitlines()), said
    assert values is None and "median error" in said and "busy" in said, said
    assert "n0 has a load of 9" in said, said


def test_unlike_links():
    """links of different rates are told"""
    machine = Machine(ETHERNET)
    seconds = machine.seconds
    machine.seconds = lambda cell: seconds(cell) * (3 if "all" == cell["direction"] else 1)
    assert "rates of links differ" in machine.conclude()[1]


def test_time():
    """the time is bounded, and with too few sizes there is no file"""
    machine = Machine(ETHERNET, cell=15.0)
    values, said = machine.conclude()
    assert values is None and "sizes alone were measured" in said, said
    assert machine.now <= machine_run.LIMIT + 15
    assert machine_run.LIMIT <= 90


def test_failures():
    """cells without a result are left out, and none at all give no file"""
    values, said = Machine(ETHERNET, fails=lambda cell: 8192 == cell["bytes"]).conclude()
    assert values is not None and "nothing was heard" in said, said
    values, said = Machine(ETHERNET, fails=lambda cell: True).conclude()
    assert values is None and "no stream of blocks was measured" in said, said


def machine(nodes, ranks):
    return {"nodes": nodes, "ranks": ranks}


def test_tasks():
    """each task is asked for where the machine has such links, once, and cells are told apart"""
    for nodes, ranks in ((1, 4), (4, 4), (2, 8)):
        cells = tasks.cells(machine(nodes, ranks))
        scopes = {cell["scope"] for cell in cells}
        assert ("inter" in scopes) == (nodes > 1) and ("intra" in scopes) == (ranks > nodes)
        assert "rank" in scopes
        assert len(cells) == len({cell["cell"] for cell in cells})


def test_order():
    """where time ends early, each task has been measured, from its least size to its largest"""
    cells = tasks.cells(machine(4, 8))
    kinds = {}
    for cell in cells:
        kinds.setdefault((cell["task"], cell["scope"], cell["direction"]), []).append(cell)
    begun = [cell["cell"] for cell in cells[:3 * len(kinds)]]
    for key, own in kinds.items():
        sizes = [cell["bytes"] for cell in own]
        assert {min(sizes), max(sizes)} <= set(sizes[:3]), key
        assert len(set(sizes)) == len(sizes) and 3 == sum(cell["cell"] in begun for cell in own)
        if 8 < len(sizes):
            ordered = sorted(sizes)
            spans = sorted(ordered.index(size) for size in sizes[:9])
            assert max(b - a for a, b in zip(spans, spans[1:])) <= len(sizes) // 4, key


def test_text():
    """the file of a whole tuning has the same values"""
    posing = Machine(ETHERNET)
    measured, _ = machine_run.measure(posing.shape, posing.run)
    assert "net_beta = " in machine_file.text(measured, 1.0)
    assert "net_beta" not in machine_file.text([], 1.0)


def test_without():
    """jobs run without the components, whatever starts them"""
    words = launch.Launcher(["srun"], [machine_run.WITHOUT])
    assert words.argv(["kernel"]) == ["srun", "env", "OMPI_MCA_coll=^pipering,mleader", "kernel"]


def test_options():
    """OUT or --machine, not both, not none"""
    place = Place()
    tuned(place, status=2, words=["--machine FILE in its place"])
    tuned(place, "out", "--machine", "file", status=2, words=["--machine FILE in its place"])
    tuned(place, "--machine", "file", status=1, words=["failed with status 1"])


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
