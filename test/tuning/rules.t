#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Rules for coll/tuned on a posed machine whose best settings are known (posed.py)."""

import json
import os
import random
import sys
from types import SimpleNamespace

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from posed_bench import Bench  # noqa: E402
from pipering_tuning import calls, command_line, files, ompi_info, rules, stats, tune  # noqa: E402

QUICK = {(name, total, "quick") for name in ("allgatherv", "bcast") for total in (400, 1600)}


def ruled(until=1e9, machine=None, lines="", start=(), **posing):
    """Rules that are found on a posed machine, with these lines of ompi_info besides."""
    bench = Bench(start, **posing)
    bench.table = ompi_info.Table(posed.ompi_info() + lines)
    racer = rules.Rules(bench.measurer, bench.table, {**posed.MACHINE, **(machine or {})}, {},
                        posed.options())
    return racer.run(until)


def names_of(found):
    return {(rule.call.collective, rule.call.total, rule.name) for rule in found}


def test_rules():
    """coll/tuned gets rules where one of its algorithms gains, and nowhere else"""
    found = ruled()
    assert names_of(found) == QUICK, found
    text = rules.as_text(found, posed.RANKS)
    numbers = [[int(word) for word in line.split("#")[0].split()] for line in text.splitlines()]
    assert numbers == [[2], [1], [3], [0, 1], [0, 0, 0, 0], [8, 2], [0, 2, 3, 0], [387, 0, 0, 0],
                       [9, 1], [0, 0, 0, 0], [7], [3], [0, 1], [0, 0, 0, 0], [8, 2],
                       [0, 2, 4, 1024], [3098, 0, 0, 0], [9, 1], [0, 0, 0, 0]], text
    own = json.loads(rules.as_json(found, posed.RANKS))["collectives"]["bcast"][0]["rules"]
    assert own == [{"msg_size_min": 0, "msg_size_max": 3097, "alg": "quick", "faninout": 4,
                    "seg_size": 1024}], own


def test_rules_by_jobs():
    """one job decides nothing, and jobs that differ by chance make no rules"""
    assert ruled(until=1) == []
    for seed in range(3):
        assert names_of(ruled(seed=seed, drift=0.2)) <= QUICK
    dice, made = random.Random(4), 0
    jobs = {"current": {}, "again": {}, **{str(k): {"bcast": (k, "x")} for k in range(8)}}
    call = calls.Call("bcast", "regular", 400, "auto")
    racer = rules.Rules(Bench().measurer, ompi_info.Table(""), posed.MACHINE, {}, posed.options())
    for _ in range(200):
        for job in jobs:
            racer.blocks[call, job] = [[dice.lognormvariate(0, 0.01) * drift for _ in range(8)]
                                       for drift in (dice.lognormvariate(0, 0.1)
                                                     for _ in range(rules.ROUNDS))]
        made += racer.best(call, jobs) is not None
    assert made <= 12, made


def test_rules_below_han():
    """what coll/han serves gets no rules; MPI_Allgatherv is none of that"""
    lines = posed.parameter("coll_han_priority", 35, "int") \
        + posed.parameter("coll_tuned_priority", 30, "int") + posed.parameter("coll", "", "string")
    crowd = {"nodes": 4, "ppn": 2}
    some = {rule for rule in QUICK if "allgatherv" == rule[0]}
    for machine, more, start, expected in (
            (crowd, lines, {}, some), ({"ppn": 1}, lines, {}, QUICK),
            ({"nodes": 1, "ppn": 8}, lines, {}, QUICK), (crowd, "", {}, QUICK),
            (crowd, lines, {"coll_tuned_priority": "40"}, QUICK),
            (crowd, lines, {"coll": "^han"}, QUICK), (crowd, lines, {"coll": "tuned,basic"}, QUICK),
            (crowd, lines, {"coll": "^sm"}, some), (crowd, lines, {"coll": "tuned,han"}, some)):
        found = names_of(ruled(machine=machine, lines=more, start=start))
        assert found == expected, (machine, start, found)


def test_rules_of_many_ranks():
    """steps of a rules file ascend, however few bytes of each rank they begin at"""
    dice = random.Random(6)
    for _ in range(300):
        ranks = int(10 ** dice.uniform(0.5, 5))
        found = [rules.Rule(calls.Call(name, "regular", size, "auto"), dice.randrange(1, 4), "x",
                            stats.Interval(1, 1, 1))
                 for name in ("allgatherv", "bcast") for size in rules.SIZES
                 if dice.random() < 0.6]
        for name in {rule.call.collective for rule in found}:
            own = rules.steps(found, name, ranks)
            begins = [begin for begin, _ in own]
            assert begins[0] == 0 and begins == sorted(set(begins)), (ranks, begins)
            # The rule of the largest size is the one that is found for it.
            rule = next((r for r in found if r.call[:3] == (name, "regular", 6000)), None)
            size = rules.bytes_of(6000, name, ranks)
            last = [r for begin, r in own if begin <= size][-1]
            assert rules.number_of(last) == rules.number_of(rule) or ranks > 12000, (ranks, own)


def test_files_of_releases():
    """a rules file has the form that its release reads, and settings name no variable it lacks"""
    for release, name, is_form in (("5.0.7", "tuned-rules.txt", lambda text: "1 #" in text),
                                   ("6.0.0", "tuned-rules.json", json.loads)):
        bench = Bench()
        tuning = tune.Tuning(command_line.parse([bench.directory]), [])
        tuning.directory, tuning.machine, tuning.start = bench.directory, posed.MACHINE, {}
        tuning.table = SimpleNamespace(version=release)
        tuning.rules = [rules.Rule(calls.Call("bcast", "regular", 400, "auto"), 2, "quick",
                                   stats.Interval(0.5, 0.4, 0.6))]
        settings = tuning.write_rules()
        assert set(settings) == {rules.USE, rules.FILE}, settings
        assert os.path.basename(settings[rules.FILE]) == name, settings
        assert is_form(files.read(settings[rules.FILE])), release


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
