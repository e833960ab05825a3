#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Whole runs keep to their time on posed machines (posed.py) whose jobs begin slowly, or whose
calls are slower than links let expect; and what a proof leaves out for that."""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from posed_bench import Bench, LARGEST, Run, costs, wrong  # noqa: E402
from pipering_tuning import calls, files, held_out, proof_time  # noqa: E402

SOME = ["--variables", "coll_pipering_alltoall_small,coll_pipering_alltoall_window"]
PACKED = "coll_pipering_rounds_packed"
EXCHANGES = {"coll_pipering_alltoall_small": "8192"}
# What a run may take beyond its time, as a part of it.
LATE = 0.1


def seconds(run):
    """How long a run took, its preflight too."""
    return run.bench.machine.now + run.tuning.preflight


def test_whole_runs():
    """a run ends in its time, however slow jobs and calls are, and proves what it recommends"""
    proven, left_out = 0, 0
    for budget, begin, slow in ((0.8, 0.5, 1), (0.8, 2, 1), (2, 0.5, 5), (2, 2, 1), (5, 0.5, 5),
                                (5, 10, 1), (10, 2, 5), (10, 10, 5), (15, 2, 20), (15, 10, 5),
                                (15, 30, 5), (30, 30, 20)):
        run = Run(budget, *SOME, begin=begin, slow=slow)
        assert seconds(run) <= (1 + LATE) * 60 * budget, (budget, begin, slow, seconds(run))
        for prover in run.proofs:
            proven += 1
            left_out += bool(prover.left_out)
            assert prover.pairs >= proof_time.LEAST and prover.calls
            assert any("alltoall" in call.collective for call in prover.calls), prover.calls
            said = [line for line in run.said if line.startswith("not proven")]
            assert bool(said) == bool(prover.left_out), run.said
            assert all(str(call) in said[0] for call in prover.left_out), said
    assert proven >= 8 and left_out >= 5, (proven, left_out)


def test_with_rules():
    """rules for coll/tuned, too, leave the proof its time"""
    for budget, begin in ((4, 2), (12, 6)):
        run = Run(budget, "--collectives", "bcast", begin=begin)
        assert run.proofs and seconds(run) <= (1 + LATE) * 60 * budget, (budget, seconds(run))
        assert any(call.total < calls.SMALLEST for call in run.proofs[0].calls)


def proof_of(directory, settings, budget, **machine):
    """A run that proves a file with these settings."""
    path = os.path.join(directory, "given.conf")
    files.write(path, files.settings_text(settings))
    return Run(budget, "--prove", path, **machine)


def test_given_files():
    """the proof of a given file ends in its time, or says before it begins how long the least one
    takes"""
    warned = 0
    with tempfile.TemporaryDirectory() as directory:
        for budget, begin, slow in ((1, 2, 1), (1, 10, 1), (3, 10, 20), (10, 2, 20), (10, 10, 20),
                                    (10, 60, 1), (30, 10, 20)):
            run = proof_of(directory, EXCHANGES, budget, begin=begin, slow=slow)
            late = seconds(run) - 60 * budget
            first = [line for line in run.said if "the least proof, of" in line]
            allowed = LATE * 60 * budget
            if first:
                warned += 1
                prover = run.proofs[0]
                allowed = max(allowed, 1.2 * prover.costs.pairs(prover.calls))
                assert 1 == len(first) and "beyond the time of --budget" in first[0], first
                assert prover.pairs == proof_time.PAIRS or not run.status, prover.pairs
            assert late <= allowed, (budget, begin, slow, late, run.said)
    assert 2 <= warned <= 4, warned


def test_all_anew():
    """a proof ends in its time even if all calls are measured anew, or on for what is not known"""
    for drift in (0.01, 0.1):
        for end in (70, 90, 110, 150, 200, 300):
            bench = Bench(drift=drift)
            proof = bench.prove(wrong(2), until=end, end=end)
            assert bench.machine.now <= (1 + LATE) * end, (drift, end, bench.machine.now)
            assert not proof.help and proof.jobs >= proof_time.PAIRS, (drift, end, proof)


def test_preflight():
    """the time of the preflight is that of the run, too"""
    for before in (0.0, 100.0, 200.0):
        run = Run(6, *SOME, begin=2.0, preflight_time=before)
        assert 0.5 * 360 < seconds(run) <= (1 + LATE) * 360, (before, seconds(run))


def slower_with_file(bench, factor):
    """From now on broadcasts take so many times as long with a larger rounds_packed."""
    timed = bench.machine.result

    def result(cell, settings, drift):
        slow = "16384" == settings.get(PACKED) and "broadcast" == cell["dist"]
        return timed(cell, settings, drift * (factor if slow else 1.0))
    bench.machine.result = result


def left_out_with(factor, value, end):
    """Calls that the proof of a file leaves out."""
    bench = Bench(slow=2.0)
    slower_with_file(bench, factor)
    return bench.prove({PACKED: value}, end=end).left_out


def test_no_bias():
    """which calls are left out does not depend on how long they take with the file"""
    for end in (30.0, 45.0, 60.0):
        found = [left_out_with(*words, end) for words in ((1.0, "4096"), (1.0, "16384"),
                                                          (20.0, "16384"), (0.05, "16384"))]
        assert found[0] and all(one == found[0] for one in found), (end, found)


def test_dearest_first():
    """calls are left out by what they cost, and of each purpose the cheapest stays"""
    held = held_out.calls_of(LARGEST, posed.MACHINE, [])
    known = costs(held)
    purposes = [[call for call in held if name == call.collective] for name in ("scan", "reduce")]
    before = set(held)
    for left in range(200, -1, -5):
        kept = proof_time.affordable(held, purposes, known, left)
        assert set(kept) <= before and all(set(kept) & set(one) for one in purposes)
        dearest = max(known.calls[call] for call in kept)
        cheapest = [min(one, key=known.calls.get) for one in purposes]
        out = [call for call in held if call not in kept and call not in cheapest]
        assert all(known.calls[call] >= dearest for call in out) or \
            dearest in map(known.calls.get, cheapest), left
        assert known.pairs(kept) <= left or set(kept) == set(cheapest), left
        before = set(kept)
    assert 2 == len(before)


def test_trial():
    """a trial tells what a job and its calls cost, whatever fails in it"""
    held = held_out.calls_of(LARGEST, posed.MACHINE, [])
    known = costs(held)
    smallest = min(call.total for call in held)
    for bad in (None, "refused", "failed"):
        bench = Bench(begin=5.0, bad=lambda cell, path, how=bad:
                      how if smallest == cell["total"] else None)
        found = proof_time.measure(bench.measurer, held, 1, 1e9)
        assert abs(found.job - 5.0) < 0.1, (bad, found.job)
        assert all(0.8 < found.calls[call] / known.calls[call] < 1.25 for call in held
                   if not bad or smallest != call.total), (bad, found, known)
    bench = Bench()
    found = proof_time.measure(bench.measurer, held, 1, 1.3 / proof_time.TIME_PART)
    tried = len(bench.measurer.records())
    assert 3 < tried < len(held) - 3 and set(found.calls) == set(held), tried
    last = sorted(held, key=lambda call: call.total)[-1]
    assert found.calls[last] == max(found.calls.values()), found.calls


def test_results():
    """what was left out stands in results.json, and in the report"""
    run = Run(5, *SOME, begin=9.0)
    with open(os.path.join(run.bench.directory, "results.json"), encoding="utf-8") as stream:
        found = json.load(stream)
    assert set(found["verdict"]["left_out"]) == run.left_out and run.left_out
    text = files.read(os.path.join(run.bench.directory, "report.txt"))
    assert "not proven" in text and all(name in text for name in run.left_out)
    assert not any("trial" == row["phase"] for row in found["calls"])


def resumed(last):
    """(a run, one that goes on where its journal ends with the last cell of this step)."""
    words = {"begin": 10.0, "noise": 0.0, "drift": 0.0}
    with tempfile.TemporaryDirectory() as directory:
        whole = Run(5, *SOME, directory=directory, **words)
        whole.bench.journal.close()
        path = whole.bench.journal.path
        with open(path, encoding="utf-8") as stream:
            lines = stream.readlines()
        kept = max(n for n, line in enumerate(lines) if line.startswith(f'{{"cell":"{last}'))
        with open(path, "w", encoding="utf-8") as stream:
            stream.writelines(lines[:kept + 1])
        again = Run(5, *SOME, directory=directory, **words)
        assert len(again.bench.machine.measured) <= len(lines) - kept, last
        again.bench.journal.close()
        return whole, again


def test_resumed():
    """a run that goes on comes to the same calls, in the same time"""
    for last in ("task", "race", "trial", "proof/0", "proof/2", "proof"):
        whole, again = resumed(last)
        assert whole.left_out and whole.left_out == again.left_out, (last, again.left_out)
        assert 1 == len(again.proofs) and whole.status == again.status, last
        assert again.bench.measurer.spent <= (1 + LATE) * 300, again.bench.measurer.spent
        if last.startswith("proof"):
            assert whole.proofs[0].costs == again.proofs[0].costs, last
    assert whole.said == again.said and not again.bench.machine.measured, again.said


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
