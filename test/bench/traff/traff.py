# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Tables and verdicts of traff, from TSV files of agv, and of plan."""

from measured import values
from tables import at_least, main, problems, verdict


def ms(problem, arm):
    return 1e3 * problem.get(arm)


def table(rows):
    """Rows (distribution, bytes), arms in columns."""
    arms = values(rows, "arm")
    print(f"{'ms':12} {'bytes':>9}" + "".join(f" {arm:>12}" for arm in arms))
    for problem in problems(rows, "dist", "total").values():
        print(f"{problem['dist']:12} {problem['total']:9.0f}"
              + "".join(f" {ms(problem, arm):12.2f}" for arm in arms))


def ranks(rows):
    print(f"{'arm':10} {'ranks':>6} {'ms':>12}")
    for arm in values(rows, "arm"):
        for problem in problems(rows, "p").values():
            print(f"{arm:10} {problem['p']:6.0f} {ms(problem, arm):12.2f}")


def permuted(rows):
    print(f"{'pipering ms':12} {'world':>10} {'permuted':>10} {'ratio':>8}   {'stock':>10} "
          f"{'permuted':>10} {'ratio':>8}")
    found = problems(rows, "comm", "dist")
    for dist in values(rows, "dist"):
        world, other = found["", "world", dist], found["", "permuted:7", dist]
        line = "  ".join(f" {ms(world, arm):10.2f} {ms(other, arm):10.2f} "
                         f"{ms(other, arm) / ms(world, arm):8.3f}" for arm in ("pipering", "stock"))
        ratio = ms(other, "pipering") / ms(world, "pipering")
        print(f"{dist:12}{line}  {verdict(1 / 1.05 <= ratio <= 1.05)}")


def gains(rows, goal):
    """Times of the standard ring over those of the pipelined one."""
    most = 0
    print(f"{'ms':12} {'bytes':>9} {'linear':>12} {'pipering':>12} {'gain':>8}")
    for problem in problems(rows, "dist", "total").values():
        gain = problem.over("linear", "pipering")
        most = max(most, gain) if problem["dist"] == "broadcast" else most
        print(f"{problem['dist']:12} {problem['total']:9.0f} {ms(problem, 'linear'):12.2f} "
              f"{ms(problem, 'pipering'):12.2f} {gain:8.1f}")
    at_least("broadcast: times faster than the standard ring, most", most, goal)


def predicted(rows):
    print(f"{'ranks':>6} {'c':>8} {'rounds':>10} {'B':>10} {'linear s':>12} {'pipelined s':>12} "
          f"{'gain':>6}")
    for row in rows:
        print(f"{row['p']:6.0f} {row['total'] / row['p']:8.0f} {row['rounds']:10.0f} "
              f"{row['block']:10.0f} {row['linear_s']:12.4f} {row['time_s']:12.4f} "
              f"{row['linear_s'] / row['time_s']:6.1f}")


def idle(rows):
    """Communication and idle time of each rank, of what trace.py has found."""
    print(f"{'arm':10} {'rank':>5} {'comm. ms':>10} {'idle ms':>10} {'idle':>8}")
    for arm in values(rows, "arm"):
        own = [row for row in rows if row["arm"] == arm]
        mean = {"rank": "mean", "call_s": own[0]["call_s"],
                "busy_s": sum(row["busy_s"] for row in own) / len(own)}
        for row in (*own, mean):
            rest = row["call_s"] - row["busy_s"]
            name = row["rank"] if row is mean else f"{row['rank']:.0f}"
            print(f"{arm:10} {name:>5} {1e3 * row['busy_s']:10.1f} {1e3 * rest:10.1f} "
                  f"{100 * rest / row['call_s']:7.0f}%")


main({made.__name__: made for made in (table, ranks, permuted, gains, predicted, idle)})
