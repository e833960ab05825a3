#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Choosing and proving on a posed machine whose best settings are known (posed.py)."""

import json
import os
import random
import sys
import tempfile
from types import SimpleNamespace

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from pipering_tuning import (calls, choose, command_line, files, held_out,  # noqa: E402
                             journal, knobs, measure, ompi_info, prove, race, regret, results,
                             rules, sentences, stats, tasks, tune)

LARGEST = 2 << 20
SOME = ["coll_pipering_alpha", "coll_pipering_window", "coll_pipering_alltoall_small"]
COSTS = {"coll_pipering_alpha": 95.0, "coll_pipering_beta": 80.0}


class Bench:
    """A posed machine with a journal in a directory of its own."""

    def __init__(self, start=(), seed=1, directory=None, **machine):
        self.temporary = None if directory else tempfile.TemporaryDirectory()
        self.directory = directory or self.temporary.name
        self.machine = posed.Machine(seed, **machine)
        self.table = ompi_info.Table(posed.ompi_info())
        self.start = dict(start)
        path = os.path.join(self.directory, "journal.jsonl")
        head = {"machine": {"library": "posed", "hosts": ["n0"]}, "options": {}}
        opened = journal.Journal.resume if os.path.exists(path) else journal.Journal.create
        self.journal = opened(path, head)
        self.measurer = measure.Measurer(self.machine.run, self.journal, posed.Quiet(), self.table,
                                         self.start, self.directory, self.machine.clock)

    def choose(self, until=1e9, **options):
        chooser = choose.Chooser(self.measurer, self.table, posed.MACHINE, self.start, COSTS,
                                 posed.options(**options))
        chooser.run(LARGEST, until)
        return chooser

    def prove(self, settings, seed=1, **others):
        path = os.path.join(self.directory, "tuned.conf")
        files.write(path, files.settings_text({**self.start, **settings}))
        before = self.measurer._settings_file(tuple(self.start.items()))
        prover = prove.Prover(self.measurer, prove.Files(before, path, ["tune", "conf"]),
                              held_out.calls_of(LARGEST, posed.RANKS, [], False), race.FULL, seed,
                              others.get("alike", False))
        return prover.run(others.get("until", 0))


def worst(settings):
    """The largest ratio of the time with these settings to the least, over held-out calls."""
    ratios = []
    few = ["allgatherv", "bcast", "allreduce"]
    for call in held_out.calls_of(LARGEST, posed.RANKS, few, False):
        if call.total >= 8192:
            best = posed.true_time(call.cell(), {})[0]
            ratios.append(posed.true_time(call.cell(), settings)[0] / best)
    return max(ratios)


def wrong(alpha, beta):
    """Costs that are wrong by these factors."""
    return {"coll_pipering_alpha": ompi_info.tidy(1e6 * posed.ALPHA * alpha),
            "coll_pipering_beta": ompi_info.tidy(1e9 * posed.BETA * beta)}


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
        assert "window" not in chooser.chosen and rows(chooser)["coll_pipering_window"]["reason"]


def test_trap():
    """what speeds some calls up and slows one down is not chosen"""
    chooser = Bench().choose(variables=["coll_pipering_rounds_packed"])
    assert not chooser.chosen, chooser.chosen
    assert "slower" in rows(chooser)["coll_pipering_rounds_packed"]["reason"]


def test_wrong_costs():
    """from costs that are wrong thirtyfold to within 5% of the best"""
    for alpha, beta in ((30, 1 / 30), (1 / 30, 30), (30, 1), (1, 30), (1 / 30, 1)):
        start = wrong(alpha, beta)
        assert worst(start) > 1.3, worst(start)
        chooser = Bench(start).choose(variables=["coll_pipering_alpha", "coll_pipering_beta"])
        assert chooser.chosen, (alpha, beta)
        assert worst({**start, **chooser.chosen}) < 1.05, (alpha, beta, chooser.chosen)


def test_block_size():
    """a block size that the model misses is found, and none is given where the model is right"""
    chooser = Bench(knee=5000).choose(variables=["coll_pipering_block_size"])
    assert 4000 < int(chooser.chosen["coll_pipering_block_size"]) <= 5000, chooser.chosen
    row = rows(chooser)["coll_pipering_block_size"]
    assert row["default"] == "0" and row["gain"] > 0.2, row
    chooser = Bench().choose(variables=["coll_pipering_block_size"])
    row = rows(chooser)["coll_pipering_block_size"]
    assert not chooser.chosen and row["chosen"] == "0" and row["reason"], row


def test_sizes_of_exchanges():
    """what a rank sends in an exchange of all with all does not grow with the number of ranks"""
    for largest in (1 << 20, 64 << 20):
        for text in held_out.ALL + tuple(t for group in knobs.GROUPS for t in group.calls):
            few = calls.call(text, largest, 2)
            assert few == calls.call(text, largest, 8)
            for ranks in (9, 64, 1000, 100000):
                many = calls.call(text, largest, ranks)
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
            held = held_out.calls_of(largest, ranks, [], False)
            for name in knobs.ALGORITHMS:
                group = next(one for one in knobs.GROUPS
                             if one.variables == (f"coll_pipering_{name}_algorithm",))
                raced = [call.total for call in knobs.calls_of(group, largest, ranks)]
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
        raced = {call for group in knobs.GROUPS for call in knobs.calls_of(group, largest, ranks)}
        raced |= {calls.Call(name, "regular", size, "auto") for name in rules.NUMBERS
                  for size in rules.SIZES}
        held = held_out.calls_of(largest, ranks, [], False, small=rules.NUMBERS)
        assert len(set(held)) == len(held)
        sizes = {call.total for call in raced}
        for call in held:
            assert call.total not in sizes and call.total % 8 == 0, (largest, ranks, call)
            near = [one for one in raced if one.collective == call.collective
                    and 0.955 < one.total / call.total < 1.045]
            assert not near, (largest, ranks, call, near)
        powers = {call.total for call in held if 0 == call.total & call.total - 1}
        assert len(powers) >= 2 and max(call.total for call in held) < largest, (largest, powers)


def test_held_out_of_collectives():
    """a short proof for some collectives has calls of each of them, whatever is to be proven"""
    for name in {text.split(":")[0] for text in held_out.ALL}:
        run = tune.Tuning(command_line.parse(["out", "--budget", "2", "--collectives", name]), [])
        for run.proven in ({}, {"coll_pipering_alpha": "4"}):
            found = run.held_out(LARGEST, posed.RANKS)
            assert {call.collective for call in found} == {name}, (name, found)


def test_held_out_of_files():
    """a short proof of a given file has calls that its variables are for, small ones for rules"""
    def held(proven, against=None):
        run = tune.Tuning(command_line.parse(["out", "--budget", "1"]), [])
        run.proven, run.against = proven, against or {}
        return run.held_out(LARGEST, posed.RANKS)

    few = held({"coll_pipering_alpha": "4"})
    assert {call.collective for call in few} == {"allgatherv", "bcast", "allreduce"}, few
    for name, value in (("coll_pipering_scan_algorithm", "scan"),
                        ("coll_pipering_alltoall_small", "alltoallw"),
                        ("coll_mleader_groups", "allgather")):
        for found in (held({name: "1"}), held({"coll_pipering_alpha": "4"}, {name: "1"})):
            assert any(call.collective == value for call in found), (name, found)
    assert min(call.total for call in few) > max(held_out.SMALL)
    found = held({rules.USE: "true", rules.FILE: "/x"})
    assert {call.collective for call in found if call.total in held_out.SMALL} == \
        set(rules.NUMBERS), found
    found = held({"coll_tuned_reduce_algorithm": "linear"})
    assert {call.collective for call in found if call.total in held_out.SMALL} == {"reduce"}


def test_agree():
    """two tunings of the same machine agree"""
    start = wrong(30, 1 / 30)
    found = [Bench(start, seed=seed).choose(seed=seed, variables=SOME).chosen for seed in (1, 2)]
    times = [worst({**start, **chosen}) for chosen in found]
    assert max(times) < 1.05 and "coll_pipering_alltoall_small" in found[0], found
    assert found[0]["coll_pipering_alltoall_small"] == found[1]["coll_pipering_alltoall_small"]


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
    group = next(g for g in knobs.GROUPS if "coll_pipering_alltoall_small" in g.variables)
    for end, rounds in ((0.1, 1), (1e9, 2)):
        bench = Bench()
        racer = race.Race(bench.measurer, "x", knobs.calls_of(group, LARGEST, posed.RANKS), {},
                          [{"coll_pipering_alltoall_small": "8192"}], race.FULL, 1)
        verdict = racer.run(0.1, end)
        assert racer.rounds == rounds and bool(verdict.settings) == (2 == rounds), verdict


def test_little_time():
    """where one round would take all the time, fewer calls are raced, in two rounds"""
    group = next(g for g in knobs.GROUPS if "coll_pipering_alltoall_small" in g.variables)
    held = knobs.calls_of(group, LARGEST, posed.RANKS)

    def made():
        bench = Bench()
        return bench, race.Race(bench.measurer, "x", held, {},
                                [{"coll_pipering_alltoall_small": "8192"}], race.FULL, 1)

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
    # All others drop out in the first round: they were tried.
    chooser = Bench().choose(variables=["coll_pipering_bcast_algorithm"])
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
    assert not results.failures_in_force(bench.measurer.records(), proof=False)


def test_left_with_a_reason():
    """what this machine cannot show is left with a reason"""
    many = "coll_pipering_alltoall_many"
    lines = posed.parameter(many, 32, "int") + posed.parameter(many + "_window", 2, "int")
    for ranks, value, raced in ((8, "32", False), (32, "32", False), (33, "32", True),
                                (8, "7", True), (40, "0", False)):
        bench = Bench({many: value})
        bench.table = bench.measurer.table = ompi_info.Table(posed.ompi_info() + lines)
        chooser = choose.Chooser(bench.measurer, bench.table, {**posed.MACHINE, "ranks": ranks},
                                 bench.start, COSTS, posed.options(variables=[many + "_window"]))
        chooser.run(LARGEST, 1e9)
        row = rows(chooser)[many + "_window"]
        assert raced == (many + " " not in row["reason"].replace(",", " ")), (ranks, value, row)
        assert raced == bool(chooser.tried), (ranks, value)
    chooser = choose.Chooser(Bench().measurer, Bench().table, {**posed.MACHINE, "nodes": 1}, {},
                             COSTS, posed.options(variables=["coll_pipering_window"]))
    chooser.run(LARGEST, 1e9)
    assert "between nodes" in rows(chooser)["coll_pipering_window"]["reason"], chooser.choices
    assert chooser.why_nothing().startswith("coll_pipering_window: acts between nodes")


def exchanges(bench, effort=race.SHORT, base=(), more=()):
    """A race of sizes of exchanges, not run yet. base: settings in force; more: candidates."""
    group = next(one for one in knobs.GROUPS if "coll_pipering_alltoall_small" in one.variables)
    return race.Race(bench.measurer, "exchanges", knobs.calls_of(group, LARGEST, posed.RANKS),
                     dict(base), [{"coll_pipering_alltoall_small": "8192"}, *more], effort, 1)


def test_meshes():
    """algorithms along a mesh are raced where one is declared, and nowhere else"""
    group = next(one for one in knobs.GROUPS
                 if "coll_pipering_bcast_algorithm" in one.variables)
    text = posed.ompi_info() + posed.parameter("coll_pipering_mesh", "", "string")
    table = ompi_info.Table(text)
    current = {"coll_pipering_bcast_algorithm": "auto"}
    for settings, raced in (({}, False), ({"coll_pipering_mesh": "4x2"}, True)):
        meshes = knobs.has_mesh(table, settings)
        found = knobs.first_candidates(group, table, current, COSTS, [], meshes)
        assert raced == ({"coll_pipering_bcast_algorithm": "mesh_trees"} in found), found
        assert {"coll_pipering_bcast_algorithm": "off"} in found, found
        arms = regret.arms_of(calls.Call("bcast", "regular", 65536, "int"), table, None, meshes)
        assert raced == ("coll_pipering_bcast_algorithm=mesh_trees" in arms), arms


def test_failing_call():
    """a call that fails with all settings is left out, and the arms race on the others"""
    bench = Bench(bad=lambda cell, path: "refused" if "ring" == cell["dist"] else None)
    racing = exchanges(bench)
    assert any("ring" == call.dist for call in racing.calls)
    found = racing.run(1e9)
    assert found.settings and all("ring" != call.dist for call in racing.calls), found


def test_no_times():
    """a call that an arm has no time of counts for no arm in that round"""
    bench = Bench()
    timed = bench.machine.result

    def untimed(cell, settings, factor):
        found = timed(cell, settings, factor)
        return {**found, "seconds": []} if cell["set"] and "ring" == cell["dist"] else found

    bench.machine.result = untimed
    racing = exchanges(bench)
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
        found = exchanges(bench).run(0.9 * spent / race.FIRST, 10 * spent)
        assert found.rounds, found


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


def test_interrupted():
    """Ctrl-C leaves a journal that is whole"""
    bench = Bench()
    bench.machine.stop_after = 100
    try:
        bench.choose()
        raise AssertionError("was not interrupted")
    except KeyboardInterrupt:
        pass
    head = {"machine": {"library": "posed", "hosts": ["n0"]}, "options": {}}
    bench.journal.close()
    assert len(journal.Journal.resume(bench.journal.path, head).records) == 100


def test_proof_of_a_good_file():
    """a file that helps is recommended, with the gain that it has"""
    for seed in range(4):
        proof = Bench(wrong(30, 1 / 30), seed=seed).prove(wrong(1, 1), seed)
        assert proof.help and not proof.hurt, proof
    proof = Bench().prove({"coll_pipering_alltoall_small": "8192"})
    assert proof.help and not proof.hurt, proof


def test_proof_of_no_file():
    """a file that changes nothing is not recommended, and no call is called slower"""
    for seed in range(12):
        proof = Bench(seed=seed).prove({"coll_pipering_window": "8"}, seed)
        assert not proof.help and not proof.hurt, (seed, proof)


def test_proof_of_a_bad_file():
    """a file that makes one distribution slower is refused, and the call is named"""
    for seed in range(4):
        proof = Bench(seed=seed).prove({"coll_pipering_rounds_packed": "16384"}, seed)
        assert not proof.help and len(proof.hurt) == 2, proof
        assert all("broadcast" in sentence for sentence in proof.hurt), proof.hurt


def halves(status, always):
    """Fails that distribution, with a file or always."""
    return lambda cell, path: status if (path or always) and "half" == cell["dist"] else None


def test_proof_of_failures():
    """a call that fails with the file alone counts against it, other failures do not"""
    good = {"coll_pipering_alltoall_small": "8192"}
    for status, word in (("wrong", "gives a wrong result"), ("failed", "fails"),
                         ("timeout", "fails")):
        proof = Bench(bad=halves(status, False)).prove(good)
        assert not proof.help and not proof.hurt and 1 == len(proof.broken), proof
        assert "allgatherv:half" in proof.broken[0] and word in proof.broken[0], proof.broken
        assert "slower" not in proof.sentence and "breaks 1 held-out call" in proof.sentence
        proof = Bench(bad=halves(status, True)).prove(good)
        assert proof.help and not proof.hurt and not proof.broken, proof
    proof = Bench(bad=halves("refused", False)).prove(good)
    assert proof.help and not proof.broken, proof
    proof = Bench(bad=lambda cell, path: "refused").prove(good)
    assert not proof.help and "posed to be refused" in proof.sentence, proof


def test_agreement():
    """of two files it is told whether they agree"""
    same = prove.agreement(Bench(wrong(1, 1)).prove(wrong(1.1, 1), until=1e9, alike=True))
    assert same.help and "agree" in same.sentence, same
    other = prove.agreement(Bench(wrong(1, 1)).prove(wrong(30, 1 / 30)))
    assert not other.help and "do not agree" in other.sentence, other
    noisy = prove.agreement(Bench(wrong(1, 1), drift=0.5).prove(wrong(1.1, 1)))
    assert not noisy.help and "nor shown to agree" in noisy.sentence, noisy
    for low, middle, high, words in ((0.97, 1.0, 1.03, "files agree"), (1.02, 1.03, 1.04, "agree"),
                                     (0.94, 1.0, 1.06, "cannot be told"),
                                     (0.99, 1.03, 1.07, "cannot be told"),
                                     (1.01, 1.06, 1.11, "do not agree")):
        for ratio in ((middle, low, high), (1 / middle, 1 / high, 1 / low)):
            found = prove.agreement(prove.Proof(False, "", [], stats.Interval(*ratio), 9))
            assert words in found.sentence and found.help == (high < 1.05), (ratio, found)


def test_agreement_either_way():
    """two files agree or not, whichever of them is named first"""
    small = {name: {"coll_pipering_alltoall_small": size}
             for name, size in (("small", "4096"), ("large", "8192"))}
    for one, other, kind in (("small", "large", "better"), ("large", "small", "hurt")):
        proof = Bench(small[one]).prove(small[other], alike=True)
        assert 3 == len(getattr(proof, kind)) and all("alltoall" in text
                                                      for text in getattr(proof, kind)), proof
        assert "do not agree" in prove.agreement(proof).sentence, proof
        assert not proof.compared and prove.agreement(proof).compared == prove.DIFFER, proof
    for after, kind in ((True, "broken"), (False, "better")):
        bench = Bench(wrong(1, 1), bad=lambda cell, path: "wrong" if "half" == cell["dist"] and
                      after == path.endswith("tuned.conf") else None)
        proof = bench.prove(wrong(1.05, 1), alike=True)
        assert "half" in getattr(proof, kind)[0] and not prove.agreement(proof).help, proof


def failing(*turns):
    """Fails that distribution, in jobs with and without a file, those times that are named."""
    seen = {"with": 0, "without": 0}

    def bad(cell, path):
        if "half" != cell["dist"]:
            return None
        arm = "with" if path else "without"
        seen[arm] += 1
        return "wrong" if (arm, seen[arm]) in turns else None
    return bad


def test_proof_of_failures_once():
    """what fails once and not again is told, and does not decide"""
    good = {"coll_pipering_alltoall_small": "8192"}
    for turns, doubts, broken in (((("with", 1),), 1, 0), ((("without", 2),), 1, 0),
                                  ((("with", 1), ("with", 3)), 2, 0),
                                  ((("with", 1), ("with", 2)), 0, 1),
                                  ((("with", 3), ("with", 4)), 0, 1),
                                  ((("with", 1), ("without", 2)), 0, 0),
                                  ((("with", 1), ("with", 2), ("without", 2)), 0, 0)):
        proof = Bench(bad=failing(*turns)).prove(good)
        assert (doubts, broken) == (len(proof.doubts), len(proof.broken)), (turns, proof)
        assert proof.help == (not broken), (turns, proof)


def test_proof_resumed():
    """a proof that goes on measures calls that failed anew, and others not"""
    good = {"coll_pipering_alltoall_small": "8192"}
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(directory=directory, bad=halves("timeout", False))
        assert bench.prove(good).broken
        bench.journal.close()
        again = Bench(directory=directory)
        prove.forget_failures(again.journal.records)
        proof = again.prove(good)
        assert proof.help and not proof.broken, proof
        fresh = [name for name, record in again.measurer.used.items()
                 if name[:8] in ("proof/0/", "proof/1/", "proof/2/")
                 and record != bench.measurer.used.get(name)]
        assert 6 == len(fresh) and all("half" in name for name in fresh), fresh


def test_proof_of_another_file():
    """a proof takes from a journal what was measured through the same files, and nothing else"""
    good, other = {"coll_pipering_alltoall_small": "8192"}, {"coll_pipering_window": "8"}
    with tempfile.TemporaryDirectory() as directory:
        ruled = os.path.join(directory, "rules")
        named = {**good, rules.USE: "true", rules.FILE: ruled}
        found = []
        for settings, text, anew in ((good, "1", True), (good, "2", False), (other, "2", True),
                                     (named, "2", True), (named, "2", False), (named, "3", True)):
            files.write(ruled, text)
            bench = Bench(directory=directory)
            found.append(bench.prove(settings).help)
            measured = len(bench.machine.measured)
            # Each of a pair of jobs is measured anew, that without the file too.
            assert bool(measured) == anew and measured in (0, len(bench.measurer.records())), \
                (settings, text, measured)
            bench.journal.close()
        assert found == [True, True, False, True, True, True], found


def test_rules_file_of_regret():
    """calls that were timed with a rules file of the same name but another text count no more"""
    call = calls.Call("bcast", "regular", 600, "auto")
    measured = []
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "tuned-rules.txt")
        for text in ("1", "1", "2"):
            files.write(path, text)
            bench = Bench(directory=directory)
            regret.measure(bench.measurer, bench.table, [call], {}, {}, race.FULL, 1, 1e9,
                           lambda _: {rules.USE: "true", rules.FILE: path})
            bench.journal.close()
            measured.append(len(bench.machine.measured))
    assert measured[0] and not measured[1] and 0 < measured[2] < measured[0], measured


def test_harm_not_excluded():
    """it is told how much slower a call may be, and what is not known is measured on"""
    found = []
    for drift, until in ((0.005, 0), (0.1, 0), (0.1, 1e9)):
        bench = Bench(drift=drift)
        proof = bench.prove({"coll_pipering_window": "8"}, until=until)
        found.append(float(proof.limit.rpartition("%: ")[0].split()[-1]))
        assert "cannot exclude" in proof.limit and not proof.hurt, proof
    assert found[0] < 10 < found[1] and found[2] < 0.7 * found[1], found
    assert proof.jobs > 20, proof  # 12 of all calls, and 8 of those that seem slower
    # Of a call that seems alike in three pairs, but is a quarter slower.
    slow = {"coll_pipering_rounds_packed": "16384"}
    assert 2 == len(Bench(drift=0.1).prove(slow, until=1e9).hurt)


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


def test_jobs_beyond_the_time():
    """when the time is over, the proof takes as many jobs as it is said, and regret takes none"""
    for settings, bad, jobs in (({"coll_pipering_rounds_packed": "16384"}, None, 16),
                                ({"coll_pipering_rounds_packed": "16384"}, failing_often, 32)):
        bench = Bench(bad=bad, drift=0.001)
        bench.prove(settings, until=-1)
        assert 6 < bench.measurer.jobs <= jobs, bench.measurer.jobs
    assert "takes 6 jobs at least, 10 more" in sentences.BEYOND, sentences.BEYOND
    bench = Bench()
    held = held_out.calls_of(LARGEST, posed.RANKS, ["allgatherv"], True)
    assert not regret.measure(bench.measurer, bench.table, held, {}, {}, race.FULL, 1, -1)
    assert not bench.machine.measured


def failing_often(cell, path):
    """Another call fails in each job."""
    failing_often.cells += 1
    return "failed" if 0 == failing_often.cells % 41 else None


failing_often.cells = 0


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


def test_regret():
    """regret is that against the best, and small where the settings are right"""
    bench = Bench()
    held = held_out.calls_of(LARGEST, posed.RANKS, ["allgatherv"], True)
    found = regret.measure(bench.measurer, bench.table, held, {}, {call: 4096 for call in held},
                           race.FULL, 1, 1e9)
    assert len(found) == len(held) and all(abs(row["default"]) < 0.08 for row in found), found
    start = wrong(30, 1 / 30)
    bench = Bench(start)
    found = regret.measure(bench.measurer, bench.table, held, wrong(1, 1), {}, race.FULL, 1, 1e9)
    assert all(row["default"] > 0.2 and row["tuned"] < 0.08 for row in found), found


def test_regret_with_rules():
    """small calls are timed with the rules of the file in force, in jobs that begin with them"""
    bench, seen = Bench(), []
    run = bench.machine.run

    def watch(cells, take, path, form):
        settings = files.read_settings(path) if path else {}
        cells = [list(group) for group in cells]
        seen.extend((cell, settings) for group in cells for cell in group)
        run(cells, take, path, form)

    bench.measurer.run = watch
    tuning = tune.Tuning(command_line.parse([bench.directory]), [])
    tuning.directory, tuning.table, tuning.machine = bench.directory, bench.table, posed.MACHINE
    tuning.measurer, tuning.largest, tuning.start = bench.measurer, LARGEST, {}
    tuning.launcher = SimpleNamespace(forms=["tune"])
    tuning.rules = [rules.Rule(calls.Call("bcast", "regular", 400, "auto"), 2, "quick",
                               stats.Interval(0.5, 0.4, 0.6))]
    path = tuning.write_files()
    tuning.until = lambda part: 1e9
    tuning.measure_regret()
    wanted = files.read_settings(path)
    small = [row for row in tuning.regret if "bcast" == row["collective"] and row["total"] < 12000]
    assert wanted[rules.FILE] and small, wanted
    tuned = [settings for cell, settings in seen
             if "bcast" == cell["collective"] and cell["total"] < 12000 and settings]
    assert tuned and all(settings == wanted for settings in tuned), tuned
    arms = {record["asked"]["arm"]: record["asked"] for record in bench.measurer.records()
            if "bcast:regular:600" in record["asked"]["cell"]}
    assert arms["tuned"]["job"] == wanted and "job" not in arms["default"], arms
    assert "job" not in arms["stock"], arms
    assert not any(settings for cell, settings in seen if "scan" == cell["collective"])


def test_regret_of_nothing():
    """where all settings are alike, regret is none on average"""
    dice = random.Random(8)
    call = calls.Call("bcast", "regular", 65536, "auto")
    arms = ["default", "tuned", "stock"] + [str(number) for number in range(8)]
    found = [regret._row(call, {arm: {"status": "ok", "seconds": [
        dice.lognormvariate(0, 0.05) for _ in range(8)]} for arm in arms}) for _ in range(400)]
    for arm in ("default", "tuned"):
        mean = sum(row[arm] for row in found) / len(found)
        assert abs(mean) < 0.01, (arm, mean)
    assert len({row["best_arm"] for row in found}) == len(arms)
    assert regret._row(call, {"default": {"status": "ok", "seconds": [1.0]}}) is None


def test_results():
    """rows of results.json name arms and phases as reports expect"""
    bench = Bench(wrong(30, 1 / 30))
    bench.choose(variables=["coll_pipering_alpha"])
    bench.prove(wrong(1, 1))
    found = results.calls(bench.measurer.records(), posed.MACHINE, posed.BETA)
    kinds = {(row["arm"], row["phase"]) for row in found}
    assert {("default", "before"), ("tuned", "after"), ("default", "race")} <= kinds, kinds
    assert all(row["limit"] == row["total"] * posed.BETA for row in found)
    assert all(0 < row["largest_over_total"] <= 1 for row in found)
    racer = rules.Rules(bench.measurer, bench.table, posed.MACHINE, {}, posed.options())
    racer.run(1e9)
    found = results.calls(bench.measurer.records(), posed.MACHINE, posed.BETA)
    small = {row["arm"]: len(row["jobs"]) for row in found
             if ("allgatherv", 400) == (row["collective"], row["total"])}
    forced = [arm for arm in small if "coll_tuned_allgatherv_algorithm=quick" in arm]
    assert small["default"] == 2 * rules.ROUNDS and small[forced[0]] == rules.ROUNDS, small
    lines = results.table_text(found).splitlines()
    assert len(lines) == 1 + len(found) and len({line.count("\t") for line in lines}) == 1
    heads = lines[0].split("\t")
    for line, row in zip(lines[1:], found):
        cells = dict(zip(heads, line.split("\t")))
        assert cells["jobs"] == ",".join(map(str, row["jobs"])), cells
        assert sum(map(int, cells["jobs"].split(","))) == len(cells["seconds"].split(",")), cells


def test_tables_of_tasks():
    """the table of tasks tells those apart that differ by the type alone"""
    cell = {"kind": "task", "task": "pack", "scope": "rank", "direction": "all", "bytes": 256}
    cells = [{"cell": f"t{kind}", "type": kind, **cell} for kind in ("list", "double", None)]
    found = tasks.collect(cells, {one["cell"]: {"status": "ok", "seconds": [0.5]}
                                  for one in cells})
    with tempfile.TemporaryDirectory() as directory:
        results.write(directory, {"calls": [], "tasks": found})
        lines = files.read(os.path.join(directory, "tasks.tsv")).splitlines()
    assert lines[0].split("\t") == ["task", "type", "scope", "direction", "bytes", "seconds"]
    assert [line.split("\t")[1] for line in lines[1:]] == ["list", "double", "-"], lines


def held(intervals, truth):
    return sum(interval.low <= truth <= interval.high for interval in intervals)


def drawn(dice, factor, drift, noise, same):
    """(old, new) blocks; same: both are of the same jobs."""
    old, new = [], []
    for _ in range(5):
        one, other = dice.lognormvariate(0, drift), dice.lognormvariate(0, drift)
        old.append([one * dice.lognormvariate(0, noise) for _ in range(5)])
        new.append([factor * (one if same else other) * dice.lognormvariate(0, noise)
                    for _ in range(5)])
    return old, new


def test_intervals():
    """about 95 of 100 intervals hold the true ratio, whatever drifts between jobs"""
    dice = random.Random(3)
    found = [stats.ratio([drawn(dice, 0.9, 0.3, 0.05, True)], seed=i) for i in range(200)]
    assert held(found, 0.9) >= 178, held(found, 0.9)
    assert all(interval.high - interval.low < 0.3 for interval in found)
    found = [stats.ratio_of_jobs([drawn(dice, 0.9, 0.05, 0.05, False) for _ in range(3)])
             for _ in range(400)]
    assert 368 <= held(found, 0.9) <= 394, held(found, 0.9)


def test_unequal():
    """a block that lacks on one side is no error, and the others count"""
    old, new = [[1.0, 1.1, 0.9], [1.2, 1.0, 1.1], [1.0, 1.0, 1.1]], [[0.5, 0.6, 0.5], [0.6, 0.5]]
    for one, other, factor in ((old, new, 0.5), (new, old, 2.0)):
        for interval in (stats.ratio([(one, other)]), stats.ratio_of_jobs([(one, other)]),
                         stats.ratio_of_jobs([(one, one), (one, other), (other, one)])):
            assert interval.low <= interval.middle <= interval.high, interval
        assert abs(stats.ratio([(one, other)]).middle / factor - 1) < 0.1
        assert abs(stats.ratio_of_jobs([(one, other)]).middle / factor - 1) < 0.15


def test_student():
    """Student's quantiles are those of the tables"""
    for freedom, level, t in ((1, 0.95, 12.706), (2, 0.95, 4.303), (3, 0.95, 3.182),
                              (4, 0.99, 4.604), (9, 0.95, 2.262), (10, 0.9, 1.812),
                              (30, 0.95, 2.042)):
        assert abs(stats.student(freedom, level) - t) < 0.001, (freedom, level)


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
