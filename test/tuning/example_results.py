#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Makes up the results.json of a tuning run: what the report is tested with.

    example_results.py [--seed N] [--kind helps|useless|hurts|empty|odd] >results.json

A cluster is posed: links with alpha and beta, noise of 2%. helps: the
defaults know a wrong alpha, and the tuned file the right one; useless: they are right already;
hurts: one call gets slower; empty: a run that was stopped before anything was measured; odd:
names that have to be escaped, single samples, values that lack.
"""

import argparse
import json
import random
import sys

ALPHA, BETA, RANKS, PPN = 60e-6, 80e-9, 8, 1
HALF = RANKS // 2
# contributors and the largest part of the total
DISTS = {
    "regular": (8, 1 / 8),
    "broadcast": (1, 1.0),
    "spike": (8, 0.5),
    "decreasing": (7, 0.25),
    "zipf": (8, 0.368),
}
SIZES = [24000, 65536, 200000, 524288, 1500000, 4194304]
BLOCKS = [1024, 2048, 4096, 8192, 16384, 32768, 65536]


class Cluster:
    """What calls and messages take on the posed machine."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def noisy(self, value, count=9, noise=0.02):
        """Samples: seldom much larger than the value, never below 0.98 of it."""
        draw = self.random
        return [value * (0.98 + draw.expovariate(1 / noise)) * (1.5 if draw.random() < 0.02 else 1)
                for _ in range(count)]

    def call(self, coll, dist, total, block):
        """Of a pipeline with this block size."""
        largest = DISTS[dist][1]
        fill = RANKS - 2 if coll != "allgatherv" or largest > 0.4 else 1
        moved = total * (1 - 1 / RANKS if largest < 1 else 1)
        moved *= 2 if coll == "allreduce" else 1
        blocks = max(1.0, moved / block) + fill
        return blocks * (ALPHA + BETA * min(block, moved)) * 1.04

    def limit(self, coll, dist, total):
        """The wire limit of a call, seconds."""
        factor = {"allreduce": 2 * (1 - 1 / RANKS), "allgatherv": 1 - 1 / RANKS}.get(coll, 1)
        return BETA * total * (1 if DISTS[dist][1] == 1 else factor)

    def best_block(self, coll, dist, total):
        """The block of least time among BLOCKS."""
        return min(BLOCKS, key=lambda block: self.call(coll, dist, total, block))


def machine(kind):
    return {
        "release": "5.0.7" if kind != "odd" else "5.0.7 <rc1> & \"co\"",
        "library": "Open MPI v5.0.7, package: pipering build",
        "hosts": [f"node{i:02d}" for i in range(8)],
        "nodes": 8, "ppn": PPN, "ranks": RANKS, "mapping": "by slot, bound to none",
        "pml": "ob1", "processors": 2, "oversubscribed": True, "spinning": False, "load": 0.31,
        "frequency": "performance, 2.9 GHz", "when": "2026-11-23T04:12:31Z",
        "command": "pipering-tune --hostfile hosts --budget 10 --output tuned",
    }


def algorithm(coll, dist, total):
    if coll == "bcast":
        return "pipeline"
    if coll == "allreduce":
        return "merged" if total < 300000 else "ring"
    if DISTS[dist][1] >= 0.5 and total < 70000:
        return "recursive_doubling"
    return "ring" if total >= 30000 else "below"


def call(cluster, coll, dist, total, arm, phase, block, factor=1.0):
    contributors, largest = DISTS[dist]
    value = cluster.call(coll, dist, total, block)
    return {
        "collective": coll, "distribution": dist, "type": "auto", "part": "all", "p": RANKS,
        "nodes": RANKS // PPN, "ppn": PPN, "total": total, "largest_over_total": largest,
        "contributors": contributors, "arm": arm, "phase": phase,
        "seconds": cluster.noisy(value * factor), "jobs": [3, 3, 3],
        "limit": cluster.limit(coll, dist, total),
        "block": block, "algorithm": algorithm(coll, dist, total), "predicted": value / 1.04}


def wrong_block(block, kind):
    """What a default that knows a wrong alpha takes."""
    return block if kind == "useless" else min(65536, 4 * block)


def calls(cluster, kind):
    found = []
    for coll, dists in (("allgatherv", DISTS), ("bcast", ["broadcast"]),
                        ("allreduce", ["regular"])):
        for dist in dists:
            for total in SIZES:
                found += calls_of(cluster, kind, coll, dist, total)
    for arm, phase in (("default", "before"), ("tuned", "after")):
        some = call(cluster, "allgatherv", "regular", 65536, arm, phase, 4096)
        found.append({**some, "part": "half", "p": HALF, "nodes": HALF, "contributors": HALF})
    return found


def calls_of(cluster, kind, coll, dist, total):
    best = cluster.best_block(coll, dist, total)
    known = wrong_block(best, kind)
    hurt = 1.2 if kind == "hurts" and (coll, dist, total) == ("bcast", "broadcast", 65536) else 1.0
    found = [call(cluster, coll, dist, total, f"coll_pipering_block_size={block}", "race", block)
             for block in BLOCKS if total in (65536, 524288, 4194304) and block <= total]
    found.append(call(cluster, coll, dist, total, "default", "before", known))
    found.append(call(cluster, coll, dist, total, "tuned", "after", best, hurt))
    return found


def choices(kind):
    kept = [{"variable": "coll_pipering_min_total", "default": "8192", "chosen": "8192",
             "reason": "4096 and 16384 are within noise", "gain": 0.004,
             "interval": [-0.011, 0.016]},
            {"variable": "coll_pipering_rounds_packed", "default": "8192", "chosen": "8192",
             "reason": "one rank a node: not in use", "gain": None, "interval": None}]
    if kind == "useless":
        return kept
    return [{"variable": "coll_pipering_block_size", "default": "0", "chosen": "12288",
             "reason": "raced around the sizes that the library chooses", "gain": 0.214,
             "interval": [0.187, 0.243]},
            {"variable": "coll_pipering_window", "default": "0", "chosen": "8",
             "reason": "raced around the windows that the library chooses", "gain": 0.036,
             "interval": [0.012, 0.061]}] + kept


def verdict(kind):
    if kind == "useless":
        return {"help": False, "hurt": [],
                "sentence": "The defaults are within noise of the best that was found: "
                            "no file is recommended."}
    if kind == "hurts":
        return {"help": False, "hurt": ["bcast broadcast 65536: 1.2 times as long"],
                "sentence": "The file makes one call slower beyond noise: it is not recommended."}
    return {"help": True, "hurt": [],
            "sentence": "The file makes held-out calls faster, and none slower beyond "
                        "noise: use it."}


def make_odd(results):
    """Names that have to be escaped, single samples and values that lack."""
    for found in results["calls"]:
        if "spike" == found["distribution"]:
            found["distribution"] = "<script>alert(1)</script>"
        found["seconds"] = found["seconds"][:1]
        del found["jobs"], found["type"]
        found["limit"] = None
    results["choices"][0]["reason"] = "a < b & \"c\""
    del results["machine"]["frequency"]
    return results


def make(kind="helps", seed=1):
    """The results as the object that results.json holds."""
    cluster = Cluster(seed)
    results = {"format": 2, "machine": machine(kind), "costs": {"net_alpha": 60.0, "net_beta": 80.0},
               "calls": calls(cluster, kind), "choices": choices(kind), "rules": [], "failures": [
                   {"cell": "race/coll_pipering_block_size/0/bcast:regular:400/again",
                    "status": "timeout", "note": "it took longer than 60 s"}],
               "verdict": verdict(kind)}
    if kind == "helps":
        results["files"] = {"mpirun --tune": "tuned/tuned.conf",
                            "mca-params.conf": "tuned/tuned.conf"}
    if kind == "empty":
        results.update(costs={}, calls=[], choices=[],
                       verdict={"help": False, "hurt": [],
                                "sentence": "Nothing was measured: no file is recommended."})
    return make_odd(results) if kind == "odd" else results


def main():
    parser = argparse.ArgumentParser(description="Makes up the results of a tuning run.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="helps",
                        choices=["helps", "useless", "hurts", "empty", "odd"])
    options = parser.parse_args()
    json.dump(make(options.kind, options.seed), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
