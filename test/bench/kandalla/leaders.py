# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Tables and verdicts of leaders, from TSV files of fold."""

from measured import values
from tables import at_least, at_most, main, mean, noise_table, problems, size

HAN = {"stock": "han"}
COUNTS = ("between", "within", "copied", "switches")


def by_size(rows):
    return list(problems(rows, "total", "batch").values())


def us(problem, arm):
    return 1e6 * problem.get(arm, "median_s")


def cut(problem, other):
    """What mleader saves of another's time, per cent."""
    return 100 * (1 - problem.get("mleader", f"to_{other}"))


def small(rows, goals):
    found = by_size(rows)
    print(f"{'bytes':>6} {'calls':>6} {'tuned':>9} {'han':>9} {'pipering':>9} {'mleader':>9} "
          f"{'cut tuned':>10} {'cut han':>8}")
    for problem in found:
        print(f"{size(problem['total']):>6} {problem['batch']:6.0f}" + "".join(
            f" {us(problem, arm):9.1f}" for arm in ("tuned", "stock", "pipering", "mleader"))
              + f" {cut(problem, 'tuned'):9.1f}% {cut(problem, 'stock'):7.1f}%")
    # Of batches, if there are any, since single calls bring the ratios nearer to 1.
    batch = max(problem["batch"] for problem in found)
    for goal in goals.split(","):
        where, aim = goal.split("=")
        other, low, high = where.split("/")
        least = min(cut(problem, other) for problem in found
                    if problem["batch"] == batch and int(low) <= problem["total"] <= int(high))
        at_least(f"{size(int(low))}..{size(int(high))} bytes: least cut against "
                 f"{HAN.get(other, other)}, %", least, aim)


def label(arm):
    """mleader:allgather_algorithm=leaders:groups=2:aggregation=shm -> 2 shm"""
    if arm.startswith("mleader:"):
        arm = " ".join(word.split("=")[1] for word in arm.split(":")[2:])
    return HAN.get(arm, arm).replace("recursive_doubling", "doubling")


def print_counts(problem, arms):
    """What is the same on any machine."""
    print(f"{'a call of ' + size(problem['total']) + ', all ranks':28} {'between':>9} "
          f"{'within':>9} {'KiB read':>9} {'switches':>9}")
    for arm in arms:
        between, within, copied, switches = (problem.get(arm, column) for column in COUNTS)
        own = f"{between:9.0f} {within:9.0f} {copied / 1024:9.0f}" \
            if arm.startswith("mleader") else " " * 29
        print(f"{label(arm):28} {own} {switches:9.0f}")


def table(rows, counted="0"):
    """Arms by sizes; * is the least of a size."""
    found, arms = by_size(rows), values(rows, "arm")
    least = {problem: min(us(problem, arm) for arm in arms if arm.startswith("mleader"))
             for problem in found}
    print(f"{'leaders a node':28}" + "".join(f" {size(problem['total']):>9}" for problem in found))
    for arm in arms:
        print(f"{label(arm):28}" + "".join(
            f" {us(problem, arm):8.1f}{'*' if us(problem, arm) == least[problem] else ' '}"
            for problem in found))
    for problem in found:
        if problem["total"] == int(counted):
            print_counts(problem, arms)
    if "mleader" in arms:
        at_most("mleader as it comes, over the best of each size, geometric mean",
                mean(us(problem, "mleader") / least[problem] for problem in found), 1.10)


def noise(rows):
    noise_table(by_size(rows), "mleader")


main({made.__name__: made for made in (small, table, noise)})
