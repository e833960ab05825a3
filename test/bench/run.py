# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Tables and verdicts of run and demo, from TSV files of agv and fold, and of plan."""

import sys

from tables import judge_noise, main, problems, size, verdict


def by_size(rows):
    """[Problem] of the rows of agv and fold."""
    return list(problems([row for row in rows if "arm" in row], "what", "total").values())


def label(problem):
    return f"{problem['what']:11} {size(problem['total']):>5}"


def limit(problem):
    """The wire limit in milliseconds."""
    return f"{1e3 * problem['limit_s'] if problem['limit_s'] != '-' else 0:8.1f}"


def part(problem, arm="pipering"):
    return problem.get(arm, "frac_min")


def reaches(problem, aim, arm="pipering"):
    """Does the arm reach a part of the wire limit, with right results?"""
    return part(problem, arm) >= float(aim) and problem.right(arm)


def tail(problem):
    """B, and the time over stock's."""
    return f"{problem.get('pipering', 'block'):8.0f} {problem.get('pipering', 'to_stock'):8.3f}"


def demo(rows):
    print(f"\n{'':13} {'stock':>9} {'pipering':>9} {'times':>9} {'wire limit':>11} "
          f"{'reached of it':>18}")
    print(f"{'distribution':13} {'ms':>9} {'ms':>9} {'faster':>9} {'ms':>11} "
          f"{'stock -> pipering':>18}")
    for problem in by_size(rows):
        print(f"{problem['what']:13} {1e3 * problem.get('stock'):9.1f} "
              f"{1e3 * problem.get('pipering'):9.1f} {problem.over('stock', 'pipering'):9.2f} "
              f"{limit(problem):>11} {100 * part(problem, 'stock'):8.0f}% -> "
              f"{100 * part(problem):3.0f}%")
    wrong = any(row["verified"] != "yes" for row in rows)
    print("\nA RESULT WAS WRONG." if wrong else "\nAll results are right.")
    print("The headers of TCP take 4% of the wire, so 96% is the most there can be.")
    sys.exit(wrong)


def fraction(rows, target, arms):
    """Fractions of the wire limit, all arms; the last column judges pipering."""
    names = arms.split(",")
    print(f"{'':17} {'limit ms':>8}" + "".join(f" {name:>9}" for name in names)
          + f" {'B':>8} {'x stock':>8}  target {float(target):.2f}")
    for problem in by_size(rows):
        print(f"{label(problem)} {limit(problem)}"
              + "".join(f" {part(problem, name):9.3f}" for name in names)
              + f" {tail(problem)}  {verdict(reaches(problem, target))}")


def fold(rows, targets):
    """Fractions of collectives, each with a target of its own; rows without one are only shown."""
    aims = dict(word.split("=") for word in targets.split(","))
    print(f"{'':17} {'limit ms':>8} {'stock':>9} {'by hand':>9} {'pipering':>9} {'B':>8} "
          f"{'x stock':>8}  target")
    for problem in by_size(rows):
        hand = max((part(problem, arm) for arm in problem.arms if arm.startswith("tuned:")),
                   default=0)
        aim = aims.get(f"{problem['what']}/{size(problem['total'])}")
        print(f"{label(problem)} {limit(problem)} {part(problem, 'stock'):9.3f} "
              f"{f'{hand:.3f}' if hand else '-':>9} {part(problem):9.3f} {tail(problem)}  "
              + (f"{aim} {verdict(reaches(problem, aim))}" if aim else "none"))


def price(rows):
    """Sums in fixed point and in floating point."""
    fixed = "pipering:fixed_point_sum=1"
    print(f"{'':17} {'stock ms':>9} {'pipering':>9} {'fixed':>9} {'price':>9}")
    for problem in by_size(rows):
        more = problem.over(fixed, "pipering")
        print(label(problem) + "".join(f" {1e3 * problem.get(arm):9.2f}"
                                       for arm in ("stock", "pipering", fixed))
              + f" {more:9.2f}  "
              + ("" if problem["total"] < 65536 else verdict(more <= 3 and problem.right(fixed))))


def pmls(rows):
    """The same calls over several PMLs, whose time is compared with that over ob1."""
    found = problems(rows, "what", "total")
    print(f"{'':17} {'PML':5} {'limit ms':>8} {'stock':>9} {'pipering':>9} {'to ob1':>9}  "
          "target 1.03")
    for (by, *key), problem in found.items():
        base = found[("ob1", *key)].get("pipering") if ("ob1", *key) in found else 0
        more = problem.get("pipering") / base if base else 0
        print(f"{label(problem)} {by:5} {limit(problem)} {part(problem, 'stock'):9.3f} "
              f"{part(problem):9.3f} {more:9.3f}  "
              + ("" if by == "ob1" else verdict(0 < more <= 1.03 and problem.right("pipering"))))


def bounds(rows):
    """32 nodes: beside the fraction what the ring's rounds allow."""
    allowed = {(row["dist"], row["total"]): row["frac"] for row in rows if "plan_us" in row}
    print(f"{'':17} {'limit ms':>8} {'stock':>7} {'pipering':>8} {'bound':>7} {'B':>7} "
          f"{'rounds':>6} {'faster':>7}  target")
    for problem in by_size(rows):
        broadcast = problem["dist"] == "broadcast"
        aim, faster = 0.78 if broadcast else 0.87, problem.over("stock", "pipering")
        print(f"{label(problem)} {limit(problem)} {part(problem, 'stock'):7.3f} "
              f"{part(problem):8.3f} {allowed.get((problem['dist'], problem['total']), 0):7.3f} "
              f"{problem.get('pipering', 'block'):7.0f} {problem.get('pipering', 'rounds'):6.0f} "
              f"{faster:7.1f}  {aim:.2f} "
              f"{verdict(reaches(problem, aim) and (not broadcast or faster >= 24))}")


def ppn(rows, target):
    """Several ranks a node, placed in three ways."""
    found = problems(rows, "what", "total")
    print(f"{'':17} {'stock':>8} {'block':>8} {'cyclic':>8} {'random':>8} {'cyc/block':>9} "
          f"{'rnd/block':>9}  target {float(target):.2f}, 0.95")
    for by, *key in found:
        if by == "block":
            block, cyclic, random = ways = [found[(way, *key)] for way in
                                            ("block", "cyclic", "random")]
            base = part(block)
            good = all(reaches(way, target) and part(way) >= 0.95 * base for way in ways)
            print(f"{label(block)} {part(block, 'stock'):8.3f} {base:8.3f} {part(cyclic):8.3f} "
                  f"{part(random):8.3f} {part(cyclic) / base:9.3f} {part(random) / base:9.3f}  "
                  f"{verdict(good)}")


def rings(rows):
    """The linear ring and the pipelined one."""
    found = problems(rows, "what", "total")
    for total in dict.fromkeys(row["total"] for row in rows):
        for arm, aim in (("linear", 2.0), ("pipering", 1.0)):
            ratio = found["", "broadcast", total].get(arm) / found["", "spike", total].get(arm)
            print(f"{size(total):>5}  {arm:8}  broadcast / spike         {ratio:6.3f}  "
                  f"target {aim:.1f} +- 10%  {verdict(abs(ratio / aim - 1) <= 0.10)}")
        for dist in ("regular", "half"):
            ratio = found["", dist, total].over("pipering", "linear")
            print(f"{size(total):>5}  {dist:8}  pipelined / linear ring   {ratio:6.3f}  "
                  f"target at most 1.02  {verdict(ratio <= 1.02)}")


def noise(rows):
    """Not slower than stock beyond noise: by distribution, then both rules."""
    found = by_size(rows)
    print(f"{'':11} ratios of pipering to stock, by size; *: left to the module below")
    for what in dict.fromkeys(problem["what"] for problem in found):
        print(f"{what:11}" + "".join(
            f" {size(problem['total'])} {problem.get('pipering', 'to_stock'):.2f}"
            + ("" if problem.get("pipering", "block") else "*")
            for problem in found if problem["what"] == what))
    judge_noise(found, "pipering")


def bsweep(rows):
    """B of the model against a sweep."""
    print(f"{'':17} {'B':>8} {'ms':>9} {'best B':>9} {'ms':>9} {'to best':>9}  target 1.05")
    for problem in by_size(rows):
        best = min((arm for arm in problem.arms if "B=" in arm), key=problem.get)
        ratio = problem.over("pipering", best)
        print(f"{label(problem)} {problem.get('pipering', 'block'):8.0f} "
              f"{1e3 * problem.get('pipering'):9.2f} {best.split('=')[1]:>9} "
              f"{1e3 * problem.get(best):9.2f} {ratio:9.3f}  {verdict(ratio <= 1.05)}")


def planning(rows, target):
    took = {(row["dist"], row["total"]): row["plan_us"] for row in rows if "plan_us" in row}
    print(f"{'':17} {'plan us':>9} {'call us':>9} {'%':>7}  target {100 * float(target):g}%")
    for problem in by_size(rows):
        plan, call = took[problem["dist"], problem["total"]], 1e6 * problem.get("pipering")
        print(f"{label(problem)} {plan:9.1f} {call:9.1f} {100 * plan / call:6.2f}%  "
              f"{verdict(plan / call < float(target))}")


def calls(rows):
    """The problems as words for plan."""
    for problem in by_size(rows):
        print(f"{problem['dist']} {problem['total']:.0f} {problem['p']:.0f} "
              f"{problem.get('pipering', 'block'):.0f}")


main({table.__name__: table for table in (
    demo, fraction, fold, price, pmls, bounds, ppn, rings, noise, bsweep, planning, calls)})
