#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Proving and comparing files on a posed machine whose best settings are known (posed.py)."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from posed_bench import Bench, LARGEST, wrong  # noqa: E402
from pipering_tuning import files, held_out, prove, rules, sentences  # noqa: E402


def test_proof_of_a_good_file():
    """a file that helps is recommended, with the gain that it has"""
    for seed in range(4, 8):
        proof = Bench(wrong(30), seed=seed).prove(wrong(1), seed)
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
    for seed in range(4, 8):
        proof = Bench(seed=seed).prove({"coll_pipering_rounds_packed": "16384"}, seed)
        assert not proof.help and len(proof.hurt) == 2, proof
        assert all("broadcast" in sentence for sentence in proof.hurt), proof.hurt


def test_proof_on_fewer_ranks():
    """a file that helps all ranks and hurts half of them is refused, and the call is named"""
    tree = {"coll_pipering_bcast_algorithm": "tree", "coll_pipering_alltoall_small": "8192"}
    for seed in range(4):
        proof = Bench(seed=seed, drift=0.005).prove(tree, seed)
        assert not proof.help and 1 == len(proof.hurt) and proof.ratio.middle < 0.99, proof
        assert re.match(r"bcast:regular:\d+@half takes ", proof.hurt[0]), proof.hurt


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
                                  ((("with", 1), ("with", 3)), 0, 1),
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
        before = bench.measurer.used
        fresh = [name for name, record in again.measurer.used.items()
                 if name[:8] in ("proof/0/", "proof/1/") and record != before.get(name)]
        assert 4 == len(fresh) and all("half" in name for name in fresh), fresh


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
            proven = [name for name in bench.measurer.used if name.startswith("proof/")]
            measured = len(bench.machine.measured)
            # Each of a pair of jobs is measured anew, that without the file too; the trial is not.
            assert bool(measured) == anew and (1 == len(found) or measured in (0, len(proven))), \
                (settings, text, measured)
            bench.journal.close()
        assert found == [True, True, False, True, True, True], found


def test_harm_not_excluded():
    """it is told how much slower a call may be, and what is not known is measured on"""
    found = []
    for drift, until in ((0.005, 0), (0.1, 0), (0.1, 1e9)):
        bench = Bench(seed=5, drift=drift)
        proof = bench.prove({"coll_pipering_window": "8"}, until=until)
        found.append(float(proof.limit.rpartition("%: ")[0].split()[-1]))
        assert "cannot exclude" in proof.limit and not proof.hurt, proof
    assert found[0] < 10 < found[1] and found[2] < 0.7 * found[1], found
    assert proof.jobs > 20, proof  # 12 of all calls, and 8 of those that seem slower
    # Of a call that seems alike in three pairs, but is a quarter slower.
    slow = {"coll_pipering_rounds_packed": "16384"}
    assert 2 == len(Bench(seed=2, drift=0.1).prove(slow, 2, until=1e9).hurt)


def test_jobs_beyond_the_time():
    """when the time is over, the proof takes as many jobs as it is said"""
    held = held_out.calls_of(LARGEST, posed.MACHINE, [])
    slower = [[call] for call in held if "broadcast" == call.dist]
    for bad, jobs in ((None, 13), (failing_often, 17)):
        bench = Bench(bad=bad, drift=0.001)
        bench.prove({"coll_pipering_rounds_packed": "16384"}, until=-1, end=-1, purposes=slower)
        assert 6 < bench.measurer.jobs <= jobs, bench.measurer.jobs
    assert "takes 7 jobs at least, 6 more" in sentences.BEYOND, sentences.BEYOND


def failing_often(cell, path):
    """Another call fails in each job."""
    failing_often.cells += 1
    return "failed" if 0 == failing_often.cells % 41 else None


failing_often.cells = 0


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
