# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Regret: how much longer held-out calls take than with the best that can be found for each.

Each call is raced on its own: the settings before, those of the file, every algorithm that its
variable names, half and twice the block size, and the component below without this one. coll/tuned
reads its rules when MPI starts, so the arms of a call that the file has rules for have jobs with
these rules.
"""

import random

from statistics import median

from . import knobs

BELOW = "stock"
SLOW = 1.5


def arms_of(call, table, block, meshes):
    """{arm: settings} beside default, tuned and stock. block: the size chosen, None if unknown;
    meshes: one is declared."""
    arms = {}
    variable = table.get(f"coll_pipering_{call.collective}_algorithm")
    if variable is not None:
        for value in knobs.algorithms(variable, meshes):
            if value not in ("auto", "off"):
                arms[f"{variable.name}={value}"] = {variable.name: value}
    if block and table.get("coll_pipering_block_size") is not None:
        for size in (block // 2, block * 2):
            arms[f"coll_pipering_block_size={size}"] = {"coll_pipering_block_size": str(size)}
    return arms


def cells_of(call, arms, chosen, rules, effort, seed):
    """The cells of one call's race. rules: settings that jobs must have for what was chosen."""
    name = f"regret/{call}"
    common = {**call.cell(), "reps": 2 * effort.reps, "warmup": effort.warmup, "group": name,
              "seed": seed}
    cells = [{"cell": f"{name}/default", **common, "arm": "default", "set": {}}]
    ruled = {**common, "job": dict(rules)} if rules else common
    if chosen or rules:
        cells.append({"cell": f"{name}/tuned", **ruled, "arm": "tuned", "set": dict(chosen)})
    cells.append({"cell": f"{name}/{BELOW}", **common, "arm": BELOW, "stock": 1, "set": {}})
    for arm, settings in arms.items():
        cells.append({"cell": f"{name}/{arm}", **ruled, "arm": arm,
                      "set": {**chosen, **settings}})
    return cells


def measure(measurer, table, calls, costs, chosen, blocks, effort, seed, until, rules=None):
    """Rows of results.json's "regret": {collective, distribution, part, total, default, tuned,
    best_arm}; default and tuned are parts of the best time. Calls that the time does not allow
    are left out. costs: proof_time.Costs of the calls; blocks: {call: block size chosen};
    rules(call): the settings by which coll/tuned finds rules, {} where there are none for a
    call."""
    meshes = knobs.has_mesh(table, {**measurer.start, **chosen})
    rows = []
    for call in random.Random(f"{seed}/regret").sample(calls, len(calls)):
        cells = cells_of(call, arms_of(call, table, blocks.get(call), meshes), chosen,
                         rules(call) if rules else {}, effort, seed)
        if measurer.spent + seconds(call, len(cells), costs) > until:
            continue
        results = measurer.measure(cells, "regret", seed)
        row = _row(call, {cell["arm"]: results.get(cell["cell"]) for cell in cells})
        if row is not None:
            rows.append(row)
    return sorted(rows, key=lambda row: (row["collective"], row["distribution"], row["part"],
                                         row["total"]))


def seconds(call, arms, costs):
    """What so many arms of a call take, in two jobs if some have rules. Some arms are slow ones,
    and there are more repetitions than in a proof."""
    return 2 * costs.job + SLOW * arms * costs.calls[call]


def _row(call, results):
    """Every other repetition says which arm is best, the rest how much longer others take: the
    least of many medians is too small by chance, and would be so in its own samples. A regret may
    thus be below 0 where arms are alike."""
    halves = {arm: (median(result["seconds"][::2]), median(result["seconds"][1::2]))
              for arm, result in results.items() if result is not None
              and "ok" == result["status"] and 2 <= len(result["seconds"])}
    if "default" not in halves:
        return None
    best = min(halves, key=lambda arm: halves[arm][0])
    regret = {arm: times[1] / halves[best][1] - 1 for arm, times in halves.items()}
    return {"collective": call.collective, "distribution": call.dist, "part": call.part,
            "total": call.total, "default": regret["default"],
            "tuned": regret.get("tuned", regret["default"]), "best_arm": best}
