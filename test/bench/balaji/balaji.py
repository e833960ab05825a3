# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Tables and verdicts of balaji, alltoallw and applications, from TSV files of agv, swaps and
app."""

import re

from measured import values
from tables import at_least, at_most, main, mean, noise_table, problems, size


def by_size(rows):
    return list(problems(rows, "total").values())


# ---- balaji

OUTLIER_ARMS = ("stock", "linear", "ring", "rounds", "pipering")


def of_rank_0(problem):
    """Bytes of rank 0, where all others contribute a double."""
    return problem["total"] - 8 * (problem["p"] - 1)


def outliers(rows, least_bytes, least_ranks="0"):
    """An outlier; targets hold from so many bytes on, of at least so many ranks."""
    found, low, ring = by_size(rows), 100, []
    print(f"{'place':6} {'bytes':>6}" + "".join(f" {arm[:9]:>9}" for arm in OUTLIER_ARMS)
          + f" {'x stock':>9} {'cut':>7}")
    for problem in found:
        saved = 100 * (1 - problem.over("pipering", "linear", "to_stock"))
        print(f"{problem['by']:6} {size(of_rank_0(problem)):>6}" + "".join(
            f" {1e3 * problem.get(arm, 'median_s'):9.2f}" for arm in OUTLIER_ARMS)
              + (" " if problem.get("pipering", "block") else "*")
              + f" {problem.get('pipering', 'to_stock'):8.3f} {saved:6.1f}%")
        if of_rank_0(problem) >= int(least_bytes) and problem["p"] >= int(least_ranks):
            low = min(low, saved)
            ring.append(problem.over("pipering", "ring", "to_stock"))
    top = max(problem.get("stock2", "to_stock") for problem in found)
    print("milliseconds, medians; * left to the module below")
    at_least("least cut against the linear ring, %", low, 20)
    at_most(f"pipering to the pipelined ring, geometric mean of {len(ring)} ratios", mean(ring), 1)
    at_most(f"pipering to stock, geometric mean of {len(found)} ratios",
            mean(problem.get("pipering", "to_stock") for problem in found), 1.05)
    at_most(f"calls not left below: ratios above the largest of stock2 ({top:.3f})",
            sum(problem.get("pipering", "block") > 0 and problem.get("pipering", "to_stock") > top
                for problem in found), 0)


# ---- alltoallw


def exchange(rows, goal=""):
    """Arms by sizes. goal: OTHER/PLACE=PERCENT, what auto saves of another's time there."""
    found, arms = by_size(rows), values(rows, "arm")
    print(f"{'':14} {'bytes':>7}" + "".join(f" {arm:>11}" for arm in arms))
    for problem in found:
        print(f"{problem['by']:14} {size(problem['total']):>7}" + "".join(
            f" {1e6 * problem.get(arm, 'median_s'):11.1f}" for arm in arms))
    if goal:
        other, place, aim = re.split("[/=]", goal)
        for problem in (problem for problem in found if problem["by"] == place):
            at_least(f"{place}: time that auto saves of {other}, %",
                     100 * (1 - problem.over("auto", other, "median_s")), aim)


def noise(rows):
    noise_table(by_size(rows), "auto")


# ---- applications


def hand_mean(found, p, arm):
    """Geometric mean of an arm's ratios to the first one by hand over the rows that judge."""
    return mean(problem.get(arm, "to_hand") for problem in found
                if problem["p"] == p)


def best_hand(found, p, arms):
    """The arm by hand that is best for so many ranks. One for all rows: the least of several times
    of each row would be below all of them by chance."""
    return min((arm for arm in arms if arm in ("handall", "persistentall")),
               key=lambda arm: hand_mean(found, p, arm))


def means(rows, target, every=""):
    """Each problem by ranks; ours is judged over the best by hand, of the most ranks or of each."""
    order = values(rows, "what"), values(rows, "size")
    found = sorted(problems(rows, "what", "size", "p").values(),
                   key=lambda problem: [place.index(problem[column]) for place, column in
                                        zip(order, ("what", "size"))])
    arms, ranks = values(rows, "arm"), values(rows, "p")
    best = {p: best_hand(found, p, arms) for p in ranks}
    print(f"{'':22} {'p':>3}" + "".join(f" {arm[:13]:>13}" for arm in arms)
          + f" {'to hand':>8} {'cut base':>8} {'cut stock':>8}")
    for problem in found:
        p, ours = problem["p"], problem.get("ours", "to_hand")
        cut = [100 * (1 - ours / problem.get(arm, "to_hand")) if arm in arms else 0
               for arm in ("baseline", "stock")]
        elements = size if problem["app"] == "scatter" else "{:.0f}".format
        text = f"{problem['app']} {problem['what']} {elements(problem['size'])}"
        print(f"{text:22} {p:3.0f}" + "".join(
            f" {1e6 * problem.get(arm, 'median_s'):13.1f}" for arm in arms)
              + f" {ours / problem.get(best[p], 'to_hand'):8.3f} {cut[0]:7.1f}% {cut[1]:8.1f}%")
    print(f"over the best by hand,{'':4}" + "".join(f" {arm[:13]:>13}" for arm in arms)
          + "\ngeometric means")
    for p in ranks:
        base = hand_mean(found, p, best[p])
        print(f"{best[p]:22} {p:3.0f}" + "".join(
            f" {hand_mean(found, p, arm) / base:13.3f}" for arm in arms))
    for p in ranks if every else ranks[-1:]:
        at_most(f"{p:.0f} ranks: ours over the best by hand, geometric mean",
                hand_mean(found, p, "ours") / hand_mean(found, p, best[p]), target)
    judge_answers([row for row in rows if row["checksum"] != "-"])


def judge_answers(rows):
    """The solver's answers, one for all ranks and arms."""
    first = {}
    for row in rows:
        first.setdefault((row["what"], row["size"]), (row["residual"], row["checksum"]))
    if rows:
        at_most(f"answers of the solver with other bits than the first (of {len(rows)})",
                sum(first[row["what"], row["size"]] != (row["residual"], row["checksum"])
                    for row in rows), 0)


main({table.__name__: table for table in (outliers, exchange, noise, means)})
