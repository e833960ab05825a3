#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Fits of posed times, whose lines, noise and outliers are known."""

import random
import sys
import time

import tap
from pipering_tuning import fit, tasks

SIZES = tasks.STREAM_SIZES
CASES = 1000


def pose(rng, pieces, apart=5):
    """[(place of the first size, alpha, beta)] of pieces that are clearly apart."""
    while True:
        cuts = sorted(rng.sample(range(apart, len(SIZES) - apart + 1), pieces - 1))
        if all(b - a >= apart for a, b in zip(cuts, cuts[1:])):
            break
    alpha, beta = 10 ** rng.uniform(-6.3, -4), 10 ** rng.uniform(-10, -7.1)
    lines = [(0, alpha, beta)]
    for cut in cuts:
        alpha += (alpha + beta * SIZES[cut - 1]) * rng.uniform(0.4, 2)
        beta *= rng.uniform(0.8, 1.5)
        lines.append((cut, alpha, beta))
    return lines


def truth(lines, place):
    """Seconds of the size at a place."""
    _, alpha, beta = [line for line in lines if line[0] <= place][-1]
    return alpha + beta * SIZES[place]


def samples(rng, seconds, noise, spoiled=0):
    """Nine samples; noise makes them longer only, and up to `spoiled` of them are spoiled by
    something else."""
    made = [seconds * (1 + abs(rng.gauss(0, noise))) for _ in range(9)]
    for place in range(rng.randint(0, spoiled)):
        made[place] *= rng.uniform(2, 20)
    return made


def points(rng, lines, noise, spoiled=0):
    return {size: samples(rng, truth(lines, place), noise, spoiled)
            for place, size in enumerate(SIZES)}


def cuts(lines):
    return [SIZES[place] for place, _, _ in lines[1:]]


def found_cuts(fitted):
    return [piece["from"] for piece in fitted["pieces"][1:]]


def test_recovers():
    """1000 posed machines: pieces are found where they are, and predict within 6%"""
    rng = random.Random(20261123)
    began = time.monotonic()
    for case in range(CASES):
        pieces, noise = 1 + case % 3, (0.0, 0.01, 0.03)[case // 3 % 3]
        lines = pose(rng, pieces)
        fitted = fit.fit(points(rng, lines, noise, spoiled=3))
        where = f"case {case}: {lines}, noise {noise}, found {fitted}"
        assert cuts(lines) == found_cuts(fitted), where
        for place, size in enumerate(SIZES):
            off = fit.value(fitted, size) / truth(lines, place) - 1
            assert abs(off) < 0.06, f"{where}; off by {off} at {size}"
    print(f"# {time.monotonic() - began:.1f} s")


def test_exact():
    """times without noise give back alpha and beta"""
    rng = random.Random(5)
    for _ in range(50):
        (_, alpha, beta), = lines = pose(rng, 1)
        fitted = fit.fit(points(rng, lines, 0.0))
        piece, = fitted["pieces"]
        assert abs(piece["alpha"] / alpha - 1) < 1e-6 and abs(piece["beta"] / beta - 1) < 1e-6
        assert fitted["linear"] and "" == fitted["note"] and piece["residual"] < 1e-9
        assert (SIZES[0], SIZES[-1]) == (piece["from"], piece["to"])


def test_outlying_size():
    """one size that was disturbed in all of its samples does not bend the line"""
    rng = random.Random(6)
    for _ in range(200):
        (_, alpha, beta), = lines = pose(rng, 1)
        posed = points(rng, lines, 0.01)
        spoiled = rng.choice(SIZES[1:-1])
        posed[spoiled] = [3 * sample for sample in posed[spoiled]]
        fitted = fit.fit(posed)
        piece, = fitted["pieces"]
        for size in (SIZES[0], SIZES[-1]):
            off = fit.value(fitted, size) / (alpha + beta * size) - 1
            assert abs(off) < 0.05, (lines, spoiled, fitted)
        assert not fitted["linear"] and str(spoiled) in fitted["note"] and piece["residual"] > 0.5


def test_not_linear():
    """where no line holds, the verdict says so, and at which size"""
    curve = {size: [1e-6 + 1e-13 * size * size] * 5 for size in SIZES}
    fitted = fit.fit(curve)
    assert not fitted["linear"] and "one line is off by" in fitted["note"], fitted
    assert len(fitted["pieces"]) > 1
    zigzag = {size: [(1e-5 + 1e-9 * size) * (1 + place % 2)] * 5
              for place, size in enumerate(SIZES)}
    fitted = fit.fit(zigzag)
    assert not fitted["linear"] and fitted["note"], fitted


def test_noise_is_no_piece():
    """noise alone makes no pieces, or hardly ever"""
    rng = random.Random(8)
    several = 0
    for _ in range(300):
        lines = pose(rng, 1)
        several += 1 < len(fit.fit(points(rng, lines, 0.15))["pieces"])
    assert several <= 6, several


def test_signs():
    """nothing costs less than nothing"""
    falling = {size: [1e-5 * (1 - 0.01 * place)] * 5 for place, size in enumerate(SIZES)}
    assert all(piece["beta"] >= 0 for piece in fit.fit(falling)["pieces"])
    steep = {size: [1e-9 * size ** 1.02] * 5 for size in SIZES}
    fitted = fit.fit(steep)
    assert fitted["pieces"][0]["alpha"] >= 0 and fit.value(fitted, SIZES[0]) > 0


def test_few():
    """few sizes, or none, make no verdict"""
    assert fit.fit({})["pieces"] == [] and not fit.fit({})["linear"]
    one = fit.fit({64: [1e-6, 2e-6, 9e-6]})
    assert 2e-6 == fit.value(one, 64) and not one["linear"] and one["note"]
    two = fit.fit({0: [1e-6], 100: [2e-6]})
    assert abs(fit.value(two, 50) - 1.5e-6) < 1e-12 and not two["linear"]
    assert [] == fit.fit({8: [0.0], 16: [float("inf")]})["pieces"]


def test_between():
    """between two pieces the nearer one, by ratio, holds"""
    fitted = {"pieces": [{"from": 1, "to": 100, "alpha": 1.0, "beta": 0.0},
                         {"from": 10000, "to": 20000, "alpha": 2.0, "beta": 0.0}]}
    assert [1.0, 1.0, 2.0, 2.0] == [fit.value(fitted, size) for size in (1, 1000, 1001, 10**6)]


def machine(nodes, ranks):
    return {"nodes": nodes, "ranks": ranks}


def test_tasks():
    """each task is asked for where the machine has such links, once, and cells are told apart"""
    for quick in (True, False):
        for nodes, ranks in ((1, 4), (4, 4), (2, 8)):
            cells = tasks.cells(machine(nodes, ranks), quick=quick)
            scopes = {cell["scope"] for cell in cells}
            assert ("inter" in scopes) == (nodes > 1) and ("intra" in scopes) == (ranks > nodes)
            assert "rank" in scopes
            assert len(cells) == len({cell["cell"] for cell in cells})


def test_order():
    """where time ends early, each task has been measured, from its least size to its largest"""
    for quick in (True, False):
        cells = tasks.cells(machine(4, 8), quick=quick)
        kinds = {}
        for cell in cells:
            key = cell["task"], cell["type"], cell["scope"], cell["direction"]
            kinds.setdefault(key, []).append(cell["bytes"])
        begun = [cell["cell"] for cell in cells[:3 * len(kinds)]]
        for key, sizes in kinds.items():
            first = sizes[:3]
            assert {min(sizes), max(sizes)} <= set(first), key
            assert len(set(sizes)) == len(sizes) and sum(
                cell["cell"] in begun and key == (cell["task"], cell["type"], cell["scope"],
                                                  cell["direction"]) for cell in cells) == 3
            if 8 < len(sizes):
                ordered = sorted(sizes)
                spans = sorted(ordered.index(size) for size in sizes[:9])
                assert max(b - a for a, b in zip(spans, spans[1:])) <= len(sizes) // 4, key


def test_costs():
    """the costs of links are those of streams under the load of all links"""
    rng = random.Random(9)
    asked = tasks.cells(machine(4, 8))
    results = {}
    for cell in asked:
        slow = {"inter": 50e-6 + 80e-9 * cell["bytes"], "intra": 2e-6 + 1e-9 * cell["bytes"],
                "rank": 1e-7 + 1e-10 * cell["bytes"]}[cell["scope"]]
        load = 2.0 if "all" == cell["direction"] else 1.0
        results[cell["cell"]] = {"status": "ok", "seconds": samples(rng, load * slow, 0.005)}
    results[asked[0]["cell"]] = {"status": "timeout", "seconds": []}
    measured = tasks.collect(asked, results)
    assert len(measured) == len(asked) - 1
    fitted = tasks.fits(measured)
    costs = tasks.costs(fitted)
    for name, wanted in {"net_alpha": 100.0, "net_beta": 160.0,
                         "local_alpha": 4.0, "local_beta": 2.0}.items():
        assert abs(costs[name] / wanted - 1) < 0.05, costs
    assert {} == tasks.costs([])
    # A link whose streams hide what a block costs: an echo shows it.
    for one in fitted:
        if ("stream", "inter") == (one["task"], one["scope"]):
            one["pieces"] = [{**piece, "alpha": 0.0} for piece in one["pieces"]]
    assert abs(tasks.costs(fitted)["net_alpha"] / 100.0 - 1) < 0.05


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
