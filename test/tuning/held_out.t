#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Sizes of calls, and calls that are held out from the choosing."""

import fnmatch
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from posed_bench import LARGEST  # noqa: E402
from pipering_tuning import calls, command_line, held_out, knobs, rules, tune  # noqa: E402


def test_sizes_of_exchanges():
    """what a rank sends in an exchange of all with all does not grow with the number of ranks"""
    for largest in (1 << 20, 64 << 20):
        for text in held_out.ALL + tuple(t for knob in knobs.KNOBS for t in knob.calls):
            few = calls.call(text, largest, posed.machine(2))
            assert few == calls.call(text, largest, posed.machine(8))
            for ranks in (9, 64, 1000, 100000):
                many = calls.call(text, largest, posed.machine(ranks))
                if few.dist not in ("dense", "mixed"):
                    assert many == few, (text, ranks)
                    continue
                assert many.total % 8 == 0 and 64 <= many.total <= few.total, (text, ranks)
                assert many.total * ranks <= 8 * few.total or many.total == 64, (text, ranks)
                assert (many.total + 8) * ranks > 8 * few.total, (text, ranks)


def test_held_out():
    """what an algorithm gains on small calls can be proven: each collective has held-out calls
    below and above the middle of those that its algorithms are raced on"""
    for ranks in (2, 8, 100):
        for largest in (128 << 10, 1 << 20, 64 << 20):
            machine = posed.machine(*[1] * ranks)
            held = held_out.calls_of(largest, machine, [])
            algorithms = [knob for knob in knobs.KNOBS if knob.variable.endswith("_algorithm")]
            assert algorithms
            for knob in algorithms:
                name = knob.variable.split("_")[2]
                raced = [call.total for call in knobs.calls_of(knob, largest, machine)]
                sizes = [call.total for call in held
                         if call.collective == name and call.total >= calls.SMALLEST]
                middle = sorted(raced)[len(raced) // 2]
                assert min(sizes) < middle < max(sizes), (name, largest, sizes, raced)


def test_held_out_apart():
    """no call that is held out has the size of one that is raced, or is near one of its
    collective, and some sizes are powers of two"""
    dice = random.Random(7)
    for _ in range(150):
        largest, ranks = int(2 ** dice.uniform(17, 26)), int(2 ** dice.uniform(1, 17))
        nodes = min(ranks, dice.choice((1, 2, 3, 16, 40)))
        machine = posed.machine(*[ranks // nodes] * nodes)
        raced = {call for knob in knobs.KNOBS for call in knobs.calls_of(knob, largest, machine)}
        raced |= {calls.Call(name, "regular", size, "auto") for name in rules.NUMBERS
                  for size in rules.SIZES}
        held = held_out.calls_of(largest, machine, [], small=rules.NUMBERS)
        assert len(set(held)) == len(held)
        sizes = {call.total for call in raced}
        for call in held:
            assert call.total not in sizes and call.total % 8 == 0, (largest, ranks, call)
            near = [one for one in raced if one.collective == call.collective
                    and 0.955 < one.total / call.total < 1.045]
            assert not near, (largest, ranks, call, near)
        powers = {call.total for call in held if 0 == call.total & call.total - 1}
        assert len(powers) >= 2 and max(call.total for call in held) < largest, (largest, powers)


def test_names_of_calls():
    """a call of all ranks is named as ever, others say which part makes them"""
    one = calls.Call("bcast", "regular", 400, "auto")
    assert ("all", "bcast:regular:400") == (one.part, str(one)) and "part" not in one.cell()
    assert "bcast:regular:400@half" == str(one._replace(part="half"))
    assert "bcast:regular:400:list@heads" == str(one._replace(part="heads", type="list"))
    for call in held_out.calls_of(LARGEST, posed.machine(2, 2, 2, 2), []):
        assert calls.of_cell(call.cell()) == call, call


MACHINES = {(1, 1): set(), (2,): set(), (3,): {"half"}, (8,): {"half"}, (2, 2): {"half", "heads"},
            (1, 1, 1): {"half"}, (1, 1, 1, 1): {"half"}, (2, 1): {"half", "heads"},
            (1, 2): {"heads"}, (4, 4, 4, 4): {"half", "heads"}}


def test_held_out_parts():
    """files are proven on half of the nodes and on a rank of each, where there are such parts"""
    for ranks, parts in MACHINES.items():
        machine = posed.machine(*ranks)
        held = held_out.calls_of(LARGEST, machine, [])
        assert len(held) == len(set(held)), ranks
        assert {call.part for call in held} == {"all", *parts}, (ranks, held)
        for part in parts:
            names = {call.collective for call in held if part == call.part}
            assert names == {"allgatherv", "bcast", "allreduce"}, (ranks, part, names)


# Those whose choice depends on how many ranks there are, and on how many on a node.
BY_RANKS = ("coll_pipering_machine", "coll_pipering_block_size", "coll_pipering_rounds_*",
            "coll_pipering_*_algorithm")


def test_raced_parts():
    """what depends on the number of ranks is raced on parts of them too, with as many calls as
    without, and where a part shows nothing another one or all ranks make its calls"""
    for ranks in MACHINES:
        machine = posed.machine(*ranks)
        for knob in knobs.KNOBS:
            raced = knobs.calls_of(knob, LARGEST, machine)
            assert len(raced) == len(knob.calls) == len(set(raced)), (ranks, knob)
            assert sum("all" == call.part for call in raced) >= len(raced) / 2, (ranks, knob)
            for call in raced:
                own = calls.shape(call.part, machine)
                assert 2 <= own.ranks and calls.is_there(call.part, machine), (ranks, call)
                # Neither between nodes nor inside one is anything to be seen of the other.
                if knobs.unfit(knob, machine) is None:
                    assert knob.needs not in ("nodes", "both") or 1 < own.nodes, (ranks, knob)
                    assert "both" != knob.needs or 1 < own.ppn, (ranks, knob)
            name = knob.variable
            if ranks in ((2, 2), (4, 4, 4, 4), (1, 1, 1, 1)) and \
                    any(fnmatch.fnmatch(name, one) for one in BY_RANKS):
                assert any("all" != call.part for call in raced), (ranks, name)


def held(*words, **proven):
    """The calls of the proof of a file."""
    run = tune.Tuning(command_line.parse(["out", *words]), [])
    run.proven = proven
    return run.held_out(LARGEST, posed.MACHINE)


def test_held_out_of_collectives():
    """a proof for some collectives has calls of each of them, and no others"""
    for name in {text.split(":")[0] for text in held_out.ALL}:
        found = held("--collectives", name, coll_pipering_block_size="4096")
        assert {call.collective for call in found} == {name}, (name, found)


def test_held_out_of_rules():
    """a proof of rules has small calls of the collectives that they are for"""
    usual = {"allgatherv", "bcast", "allreduce"}
    for proven, names in (({}, usual), ({rules.USE: "true", rules.FILE: "/x"}, {*rules.NUMBERS}),
                          ({"coll_tuned_reduce_algorithm": "linear"}, {*usual, "reduce"})):
        found = {call.collective for call in held(**proven) if call.total in held_out.SMALL}
        assert found == names, (proven, found)


def test_purposes():
    """of what is proven there are calls that it was raced on, small ones of what has rules, and one
    on each part of the ranks"""
    held = held_out.calls_of(LARGEST, posed.MACHINE, [], small=rules.NUMBERS)

    def kinds(names, small=()):
        found = held_out.purposes(held, set(names), set(small))
        assert all(found), found
        assert [{call.part for call in some} for some in found] == \
            [{calls.ALL}] * (len(found) - 1) + [{calls.HALF}], found
        return [({held_out.kind_of(call) for call in calls}, {call.dist for call in calls},
                 min(call.total for call in calls)) for calls in found[:-1]]

    found = kinds(["coll_pipering_rounds_packed"])
    assert [one[:2] for one in found] == [({"allgatherv"}, {"broadcast", "outlier", "spike"})]
    found = kinds(["coll_pipering_block_size"])
    assert [one[0] for one in found] == [{"allgatherv"}, {"bcast"}, {"allreduce"}], found
    assert all(one[2] >= calls.SMALLEST for one in found), found
    assert {"list"} in [one[0] for one in kinds(["opal_datatype_lookahead_segments"])]
    found = kinds([rules.USE, rules.FILE], ["bcast"])
    assert [one[0] for one in found] == [{"bcast"}] and found[0][2] < calls.SMALLEST, found
    every = {call.collective for call in held}
    for names in (["coll_pipering_priority"], [], ["coll_pipering_window", "btl_tcp_links"]):
        assert {call.collective for one in held_out.purposes(held, set(names), set())
                for call in one} == every, names


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
