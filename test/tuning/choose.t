#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Choosing on a posed machine whose best settings are known (posed.py), and the tables of it."""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from posed_bench import Bench, LARGEST, wrong  # noqa: E402
from pipering_tuning import (calls, choose, files, held_out, knobs,  # noqa: E402
                             measure, ompi_info, race, results, rules)

SOME = ["coll_pipering_block_size", "coll_pipering_rounds_packed", "coll_pipering_alltoall_small"]
SMALL, = (knob for knob in knobs.KNOBS if "coll_pipering_alltoall_small" == knob.variable)


def worst(settings):
    """The largest ratio of the time with these settings to the least, over held-out calls."""
    ratios = []
    few = ["allgatherv", "bcast", "allreduce"]
    for call in held_out.calls_of(LARGEST, posed.MACHINE, few):
        if call.total >= 8192:
            cell = {**call.cell(), **calls.fields(call.part, posed.MACHINE)}
            best = posed.true_time(cell, {})[0]
            ratios.append(posed.true_time(cell, settings)[0] / best)
    return max(ratios)


def rows(chooser):
    return {row["variable"]: row for row in chooser.choices}


def test_defaults():
    """defaults that are right stay, and what gains is found"""
    for seed in range(2):
        chooser = Bench(seed=seed).choose(seed=seed)
        assert chooser.chosen == {"coll_pipering_alltoall_small": "8192"}, chooser.chosen
        row = rows(chooser)["coll_pipering_alltoall_small"]
        assert row["default"] == "4096" and 0.08 < row["gain"] < 0.12, row
        assert row["interval"][0] < row["gain"] < row["interval"][1], row
        assert rows(chooser)["coll_pipering_alltoall_window"]["reason"], chooser.choices
        assert {row["variable"] for row in chooser.choices} == set(knobs.names())


def test_machine():
    """the file of the machine is raced first, in jobs of its own, and chosen where adapters say
    other costs alone"""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "machine")
        files.write(path, f"net_alpha = {1e6 * posed.ALPHA}\n")
        for seed in range(3):
            for adapters, wrong_ones in ((1.0, False), (900.0, True), (1 / 900, True)):
                bench = Bench(seed=seed, adapters=adapters)
                chooser = bench.choose(machine_file=path, seed=seed,
                                       variables=["coll_pipering_machine", "*_alltoall_window"])
                assert chooser.chosen == ({"coll_pipering_machine": path} if wrong_ones else {}), \
                    (seed, adapters, chooser.choices)
                assert "coll_pipering_machine" == chooser.choices[0]["variable"]
                assert chooser.choices[0]["gain"] > 0.2 or not wrong_ones, chooser.choices
        raced = [one for one in bench.measurer.records() if "machine" in one["cell"]]
        assert raced and all(one["asked"]["contents"] for one in raced if path in
                             one["asked"]["set"].values())
    chooser = Bench().choose(variables=["coll_pipering_machine"])
    assert "no costs hold" in chooser.choices[0]["reason"] and not chooser.tried, chooser.choices


def test_trap():
    """what speeds some calls up and slows one down is not chosen"""
    chooser = Bench().choose(variables=["coll_pipering_rounds_packed"])
    assert not chooser.chosen, chooser.chosen
    assert "slower" in rows(chooser)["coll_pipering_rounds_packed"]["reason"]


def test_fewer_ranks():
    """what speeds calls of all ranks up and slows down one of half of them is not chosen"""
    chooser = Bench().choose(variables=["coll_pipering_reduce_algorithm"])
    assert not chooser.chosen, chooser.chosen
    reason = rows(chooser)["coll_pipering_reduce_algorithm"]["reason"]
    assert re.search(r"=tree makes reduce:regular:\d+@half slower", reason), reason


def test_wrong_start():
    """from a block size that is wrong thirtyfold to within 5% of the best"""
    for factor in (30, 1 / 30, 5, 1 / 5):
        start = wrong(factor)
        assert worst(start) > 1.3, worst(start)
        chooser = Bench(start).choose(variables=["coll_pipering_block_size"])
        assert worst({**start, **chooser.chosen}) < 1.05, (factor, chooser.chosen)


def test_block_size():
    """a block size that the model misses is found, and none is given where the model is right"""
    chooser = Bench(knee=5000).choose(variables=["coll_pipering_block_size"])
    assert 4000 < int(chooser.chosen["coll_pipering_block_size"]) <= 5000, chooser.chosen
    row = rows(chooser)["coll_pipering_block_size"]
    assert row["default"] == "0" and row["gain"] > 0.2, row
    chooser = Bench().choose(variables=["coll_pipering_block_size"])
    row = rows(chooser)["coll_pipering_block_size"]
    assert not chooser.chosen and row["chosen"] == "0" and row["reason"], row


def test_budget():
    """choosing ends when the time is used up, and says what was not raced"""
    bench = Bench()
    chooser = bench.choose(until=60.0)
    assert bench.measurer.spent < 90, bench.measurer.spent
    reasons = [row["reason"] for row in chooser.choices]
    assert any("--budget" in reason for reason in reasons), reasons


def test_whole_time():
    """the time in which jobs end and begin counts too"""
    bench = Bench(teardown=5.0)
    bench.choose(variables=["coll_pipering_alltoall_small"])
    assert bench.measurer.jobs > 1
    assert abs(bench.measurer.spent + 5.0 - bench.machine.now) < 0.01, bench.measurer.spent


def test_one_round():
    """one job decides nothing; a race that has begun may take the time for a second one"""
    for end, rounds in ((0.1, 1), (1e9, 2)):
        bench = Bench()
        racer = race.Race(bench.measurer, "x", knobs.calls_of(SMALL, LARGEST, posed.MACHINE), {},
                          [{"coll_pipering_alltoall_small": "8192"}], 1)
        verdict = racer.run(0.1, end)
        assert racer.rounds == rounds and bool(verdict.settings) == (2 == rounds), verdict


def test_as_good():
    """of candidates as good as the fastest the first one wins"""
    name = "coll_pipering_alltoall_small"
    for first, second, wins in ((0.505, 0.5, "1"), (0.515, 0.5, "2"), (0.5, 0.505, "1")):
        racer = race.Race(None, "x", ["call"], {}, [{name: "1"}, {name: "2"}], 1)
        for arm, seconds in zip(racer.arms, (1, 1, first, second)):
            arm.blocks["call"] = [[seconds] * 3] * 2
        racer.rounds = 2
        assert {name: wins} == racer.verdict().settings, (first, second, racer.verdict())


def test_little_time():
    """where one round would take all the time, fewer calls are raced, in two rounds"""
    held = knobs.calls_of(SMALL, LARGEST, posed.MACHINE)

    def made():
        bench = Bench()
        return bench, race.Race(bench.measurer, "x", held, {},
                                [{"coll_pipering_alltoall_small": "8192"}], 1)

    bench, racer = made()
    racer.round(1e9)
    time = 1.2 * bench.measurer.spent
    bench, racer = made()
    verdict = racer.run(time)
    assert racer.rounds == 2 and verdict.settings, verdict
    assert 0 < len(racer.calls) < len(held) and bench.measurer.spent < 1.6 * time, racer.calls


def test_failing_arm():
    """an arm that fails is left out, the others race on"""
    bench = Bench(bad=lambda cell, path: "wrong" if cell["set"] else None)
    chooser = bench.choose(variables=["coll_pipering_alltoall_small"])
    assert not chooser.chosen
    bench = Bench(bad=lambda cell, path: None if cell["set"] else "timeout")
    chooser = bench.choose(variables=["coll_pipering_alltoall_small"])
    assert rows(chooser)["coll_pipering_alltoall_small"]["reason"] == "no call could be measured"


def test_nothing_tried():
    """it is known whether anything was tried, and if not, why"""
    small = {"variables": ["coll_pipering_alltoall_small"]}
    for machine, until, reason in (
            ({}, 1e9, None), ({"noise": 0.2, "drift": 0.2}, 1e9, None),
            ({}, 1.0, "--budget allows no race of two"), ({}, -1.0, "--budget allows no race of"),
            ({"bad": lambda cell, path: "wrong"}, 1e9, "no call can be measured"),
            ({"bad": lambda cell, path: "wrong" if cell["set"] else None}, 1e9, "posed to be")):
        chooser = Bench(**machine).choose(until, **small)
        assert bool(chooser.tried) == (reason is None), (reason, chooser.choices)
        assert reason is None or reason in chooser.why_nothing(), chooser.why_nothing()
    # The first race may go on where the time of choosing is over, and that of the proof not begun.
    chooser = Bench().choose(1.0, 1e9, **small)
    assert chooser.tried and chooser.chosen, chooser.choices
    # All others drop out in the first round: they were tried.
    chooser = Bench().choose(variables=["coll_pipering_reduce_algorithm"])
    assert chooser.tried and not chooser.chosen


def test_failures_in_force():
    """calls that fail with the settings in force are told, wrong results first"""
    bad = {"ring": "timeout", "mixed": "wrong"}
    bench = Bench(bad=lambda cell, path: bad.get(cell["dist"]) or
                  ("failed" if cell["set"] and "dense" == cell["dist"] else None))
    bench.choose(variables=["coll_pipering_alltoall_small"])
    found = results.failures_in_force(bench.measurer.records())
    words = ["wrong result with the settings in force: posed to be wrong"] * 2 + ["fails with the"]
    assert len(found) == 3 and all(w in text for w, text in zip(words, found)), found
    bench = Bench(bad=lambda cell, path: None if path else "wrong")
    bench.prove({"coll_pipering_alltoall_small": "8192"})
    assert results.failures_in_force(bench.measurer.records())


def test_left_with_a_reason():
    """what this machine cannot show is left with a reason"""
    chooser = choose.Chooser(Bench().measurer, Bench().table, {**posed.MACHINE, "nodes": 1}, {},
                             posed.options(variables=["coll_pipering_rounds_packed"]))
    chooser.run(LARGEST, 1e9, 1e9)
    assert "between nodes" in rows(chooser)["coll_pipering_rounds_packed"]["reason"], chooser.left
    assert chooser.why_nothing().startswith("coll_pipering_rounds_packed: not raced: acts between")


def exchanges(bench, base=(), more=()):
    """A race of sizes of exchanges, not run yet. base: settings in force; more: candidates."""
    return race.Race(bench.measurer, "exchanges", knobs.calls_of(SMALL, LARGEST, posed.MACHINE),
                     dict(base), [{"coll_pipering_alltoall_small": "8192"}, *more], 1)


def test_meshes():
    """algorithms along a mesh are raced where one is declared, and nowhere else"""
    knob = next(one for one in knobs.KNOBS if "coll_pipering_reduce_algorithm" == one.variable)
    text = posed.ompi_info() + posed.parameter("coll_pipering_mesh", "", "string")
    table = ompi_info.Table(text)
    for settings, raced in (({}, False), ({"coll_pipering_mesh": "4x2"}, True)):
        found = knobs.candidates(knob, table, "auto", knobs.has_mesh(table, settings))
        assert raced == ("mesh_trees" in found) and "off" in found, found


def test_failing_call():
    """a call that fails with all settings is left out, and the arms race on the others"""
    bench = Bench(bad=lambda cell, path: "refused" if "ring" == cell["dist"] else None)
    racing = exchanges(bench)
    assert any("ring" == call.dist for call in racing.calls)
    found = racing.run(1e9)
    assert found.settings and all("ring" != call.dist for call in racing.calls), found


def test_half_a_call():
    """a journal that ends within the arms of a call is gone on from, beyond the time too"""
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(directory=directory)
        exchanges(bench).run(1e9)
        path = os.path.join(directory, "journal.jsonl")
        bench.journal.close()
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines[:6])  # its head, the three arms of a call, two of the next
        bench = Bench(directory=directory)
        spent = sum(record["spent"] for record in bench.journal.records.values())
        racing = exchanges(bench)
        found = racing.run(0.9 * spent / race.FIRST, 10 * spent)
        assert racing.rounds, found


def choose_resumed(cut):
    """What is chosen by a run, and by one that goes on where its journal was cut to this part of
    its bytes."""
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(directory=directory)
        whole = bench.choose(until=200, variables=SOME).chosen
        path = bench.journal.path
        kept = int(os.path.getsize(path) * cut)
        os.truncate(path, kept)
        bench.journal.close()
        again = Bench(directory=directory, seed=2)
        chosen = again.choose(until=200, variables=SOME).chosen
        with open(path, encoding="utf-8") as stream:
            names = [json.loads(line)["cell"] for line in stream.readlines()[1:]]
        twice = {name for name in names if 2 <= names.count(name)}
        # Of the call that the cut went through all arms are measured again, and nothing else is.
        assert len({name.rpartition("/")[0] for name in twice}) <= 1, twice
        return whole, chosen


def test_resume():
    """a run that was stopped goes on with all that it had measured"""
    for cut in (0.02, 0.31, 0.77, 0.999):
        whole, chosen = choose_resumed(cut)
        assert whole == chosen, (cut, whole, chosen)


def test_parts_in_numbers():
    """the kernel is told how many nodes, or ranks of each, make a call; the journal has the part's
    name, and calls of all ranks have none"""
    bench, seen = Bench(), []
    bench.machine.bad = lambda cell, path: seen.append(cell) or "refused"
    for machine, part, numbers in ((posed.machine(2, 2, 2), "half", {"nodes": 2}),
                                   (posed.machine(5), "half", {"ranks": 3}),
                                   (posed.machine(2, 1), "heads", {"per_node": 1}),
                                   (posed.machine(2, 1), "all", {})):
        bench.measurer.machine = machine
        call = calls.Call("bcast", "regular", 9000, "auto", part)
        cell = {"cell": f"x/{part}/{machine['nodes']}", **call.cell(), "reps": 1, "warmup": 0,
                "arm": "current"}
        bench.measurer.measure([cell], "x")
        bench.measurer.measure_through([{**cell, "cell": cell["cell"] + "/2"}], "x", None)
        for one in seen[-2:]:
            told = {key: one[key] for key in one if key in ("nodes", "per_node", "ranks", "part")}
            assert told == numbers, (part, one)
        asked = bench.journal.records[cell["cell"]]["asked"]
        assert call == calls.of_cell(asked) and ("part" in asked) == ("all" != part), asked
    assert 8 == len(seen)


def test_groups():
    """neighbours of the same group race each other, and no others"""
    cells = [{"cell": name, **({"group": group} if group else {})}
             for name, group in zip("abcdef", ("x", "x", None, None, "y", "x"))]
    found = measure._groups(cells)
    assert [2, 1, 1, 1, 1] == list(map(len, found)), found
    assert list("012345") == [cell["cell"] for part in found for cell in part], found


def test_other_cells():
    """of a journal only cells are taken that were asked for as now, and all arms of a call or
    none"""
    with tempfile.TemporaryDirectory() as directory:
        measured = []
        window = {"coll_pipering_window": "8"}
        for base, more in (({}, ()), ({}, ()), (window, ()), (window, [{**window, **SLOW}]),
                           (window, [{**window, **SLOW}])):
            bench = Bench(directory=directory, seed=len(measured))
            exchanges(bench, base=base, more=more).round(1e9)
            measured.append(len(bench.machine.measured))
            bench.journal.close()
        assert measured == [12, 0, 12, 16, 0], measured


SLOW = {"coll_pipering_alltoall_small": "2048"}


def test_results():
    """rows of results.json name arms and phases as reports expect"""
    bench = Bench(wrong(30))
    bench.choose(variables=["coll_pipering_block_size"])
    bench.prove(wrong(1))
    found = results.calls(bench.measurer.records())
    kinds = {(row["arm"], row["phase"]) for row in found}
    assert {("default", "before"), ("tuned", "after"), ("default", "race")} <= kinds, kinds
    assert all(0 < row["largest_over_total"] <= 1 for row in found)
    for part, ranks in (("all", 8), ("half", 4)):
        shapes = {(row["p"], row["nodes"], row["ppn"], row["contributors"]) for row in found
                  if part == row["part"]}
        assert shapes == {(ranks, ranks, 1, ranks)}, (part, shapes)
        assert {"race", "before", "after"} == {row["phase"] for row in found
                                               if part == row["part"]}, part
    racer = rules.Rules(bench.measurer, bench.table, posed.MACHINE, {}, posed.options())
    racer.run(1e9)
    found = results.calls(bench.measurer.records())
    small = {row["arm"]: len(row["jobs"]) for row in found
             if ("allgatherv", 400) == (row["collective"], row["total"])}
    forced = [arm for arm in small if "coll_tuned_allgatherv_algorithm=quick" in arm]
    assert small["default"] == 2 * rules.ROUNDS and small[forced[0]] == rules.ROUNDS, small


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
