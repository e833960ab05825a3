# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Tables and verdicts of jobs, from its TSV files: a line for each call of a job."""

from statistics import median

from tables import at_most, main, mean, verdict

HORIZONS = (1, 4, 16, 64)  # calls of a job
OTHERS = ("stock2", "file", "none", "pipelines", "others")
# By links and arm: the geometric mean and the worst row at each horizon.
FAST = ((1.15, 1.9), (1.03, 1.25), (1.00, 1.20), (1.00, 1.15))
NO_FILE = ((1.18, 1.9), (1.05, 1.25), (1.00, 1.20), (1.00, 1.15))
AIMS = {("slow", "file"): ((0.55, 1.5), (0.50, 1.15), (0.48, 1.10), (0.47, 1.08)),
        # without a file only what is ahead on links of any rate is taken from the module below
        ("slow", "none"): ((1.02, 1.6), (0.95, 1.25), (0.92, 1.15), (0.92, 1.10)),
        ("gbit", "file"): ((1.1, 1.8), (0.95, 1.2), (0.90, 1.15), (0.90, 1.12)),
        ("fast", "file"): FAST, ("fast", "none"): NO_FILE, ("small", "file"): FAST,
        ("small", "none"): NO_FILE, ("ppn", "file"): FAST,
        ("ucx", "file"): FAST,
        ("leaders", "file"): ((1.2, 1.9), (1.2, 1.9), (1.00, 1.5), (0.85, 1.2))}


def jobs_of(rows):
    """{arm: {(row, bytes): [seconds of the calls of each job]}}"""
    found = {}
    for row in rows:
        found.setdefault(row["arm"], {}).setdefault((row["row"], row["bytes"]), {}).setdefault(
            row["job"], []).append(row["seconds"])
    return {arm: {key: list(jobs.values()) for key, jobs in of.items()}
            for arm, of in found.items()}


def first_calls(job, count):
    """Seconds of the first calls of a job; of calls that were not made as the median of the later
    half of those that were."""
    late = job[len(job) // 2:]
    return sum(job[:count]) + (max(0, count - len(job)) * median(late))


def least(jobs, count):
    """The least over the jobs of an arm."""
    return min(first_calls(job, count) for job in jobs)


def ratios(found, arm, count):
    """{(row, bytes): first calls over stock's}"""
    return {key: least(jobs, count) / least(found["stock"][key], count)
            for key, jobs in found[arm].items()}


def where(key):
    return f"{key[0]} {key[1]:.0f}"


def judge_arm(found, links, arm):
    for place, count in enumerate(HORIZONS):
        own = ratios(found, arm, count)
        band = max(ratios(found, "stock2", count).values()) if "stock2" in found else 0
        worst = max(own, key=own.get)
        text = f"{arm}, first {count}: "
        if (links, arm) not in AIMS:
            print(f"{text}geometric mean {mean(own.values()):.2f}, worst {own[worst]:.2f} "
                  f"({where(worst)}); band {band:.2f}")
            continue
        average, most = AIMS[links, arm][place]
        at_most(text + "geometric mean", mean(own.values()), average)
        # A worst row that is inside the band of stock against itself is no miss.
        print(f"{f'{text}worst, {where(worst)} (band {band:.2f})':66} {own[worst]:6.2f}  "
              f"target at most  {most!s:4}  {verdict(own[worst] <= max(most, band))}")


def judge_regret(found):
    """How much longer file takes than the best of forced algorithms and stock."""
    regrets = {key: least(jobs, 16) / min(least(found[arm][key], 16) for arm in
                                          ("stock", "pipelines", "others") if arm in found)
               for key, jobs in found["file"].items()}
    worst = max(regrets, key=regrets.get)
    at_most(f"file, first 16 over the best forced: worst, {where(worst)}", regrets[worst], 1.15)
    at_most("file, first 16 over the best forced: median", median(regrets.values()), 1.03)


def calls(rows, links):
    found = jobs_of(rows)
    print("The first 16 calls, over stock's:")
    print("row", "bytes", "stock ms", *OTHERS, sep="\t")
    over = {arm: ratios(found, arm, 16) for arm in OTHERS if arm in found}
    for key, jobs in found["stock"].items():
        print(key[0], f"{key[1]:.0f}", f"{1e3 * least(jobs, 16) / 16:.2f}",
              *(f"{over[arm][key]:.2f}" if arm in over else "-" for arm in OTHERS), sep="\t")
    for arm in ("file", "none"):
        if arm in found:
            judge_arm(found, links, arm)
    if "pipelines" in found and "file" in found:
        judge_regret(found)


def setup(rows):
    """What the first call on a communicator takes more than the median of the others."""
    stock, own = (1e3 * median(job[0] - median(job[1:]) for jobs in jobs_of(rows)[arm].values()
                               for job in jobs) for arm in ("stock", "file"))
    at_most(f"first call less the next ones, ms; stock {stock:.2f}", own, 0.08)


def typical(found, arm, row, size):
    """Median seconds of a call behind the first one, of all jobs of an arm."""
    return median(call for job in found[arm][row, size] for call in job[1:])


def changing(rows):
    """Calls with other counts each time, over calls with the same counts."""
    found = jobs_of(rows)
    for size in (65536, 1048576):
        for row, same in (("turned", "zipf"), ("random", "random_same")):
            stock, own = (typical(found, arm, row, size) / typical(found, arm, same, size)
                          for arm in ("stock", "file"))
            at_most(f"{row} over {same}, {size} bytes; stock {stock:.2f}", own, 1.08)


def split(rows):
    stock, own = (typical(jobs_of(rows), arm, "split", 16384) for arm in ("stock", "file"))
    at_most(f"over stock's {1e3 * stock:.2f} ms", own / stock, 1.05)


def over_stock(rows, aims):
    """The least of all jobs of both, row by row."""
    found = jobs_of(rows)
    for row, size in found["stock"]:
        stock, own = (min(min(job) for job in found[arm][row, size]) for arm in ("stock", "file"))
        at_most(f"{row}, {size:.0f} bytes, over stock's {1e3 * stock:.1f} ms", own / stock,
                aims.get(row, 1.0))


def over_larger(of, row, size, own):
    """{work: the median of calls with it, over the larger of the work and of the call's own time}"""
    over = {}
    for key, jobs in of.items():
        name, _, work = key[0].partition("+")
        if (name, key[1]) == (row, size) and work:
            factor = float(work.partition(":")[0].lstrip("sx"))
            over[work] = median(call for job in jobs for call in job) / max(own, factor * own)
    return over


# By work: of the thread, without any test; of ours, with a test each 10 ms.
THREAD_MOST, TESTED_MOST, TESTED_OVER_STOCK, ALONE_MOST = 1.2, 1.15, 1.03, 1.05


def overlap(rows, links):
    found = jobs_of(rows)
    print("call", "bytes", "work", *found, sep="\t")
    worst = {}
    alone, tested = [], []
    for row, size in found["stock"]:
        if "+" in row:
            continue
        own = {arm: median(call for job in of[row, size] for call in job)
               for arm, of in found.items()}
        print(row, f"{size:.0f}", "alone, ms", *(f"{1e3 * own[arm]:.2f}" for arm in found), sep="\t")
        alone.append(own["thread"] / own["file"])
        over = {arm: over_larger(of, row, size, own[arm]) for arm, of in found.items()}
        for work in over["stock"]:
            print(row, f"{size:.0f}", work, *(f"{over[arm][work]:.2f}" for arm in found), sep="\t")
            for arm in ("file", "thread"):
                worst[arm, work] = max(worst.get((arm, work), 0), over[arm][work])
            if work.endswith(":0.001"):
                tested.append(over["file"][work] * own["file"] / over["stock"][work] / own["stock"])
    for (arm, work), value in worst.items():
        if links == "slow" and arm == "thread" and ":" not in work:
            at_most(f"thread, {work}: worst", value, THREAD_MOST)
        elif links == "slow" and arm == "file" and work.endswith(":0.01"):
            at_most(f"without a thread, {work}: worst", value, TESTED_MOST)
        else:
            print(f"{arm}, {work}: worst {value:.2f}")
    at_most("a test each ms: over stock's, worst", max(tested), TESTED_OVER_STOCK)
    at_most("without work: thread over none, geometric mean", mean(alone), ALONE_MOST)


def waits(rows):
    over_stock(rows, {})


def busy(rows):
    over_stock(rows, {"regular": 1.0, "broadcast": 0.6, "zipf": 0.8})


# A rank goes through these as often as it waits.
POLLED = {"mca_coll_pipering_pipe_progress", "mca_coll_pipering_pipe_done",
          "mca_coll_pipering_deliver", "progress_tasks", "mca_common_colltools_task_run",
          "advance", "move", "move_pipes",
          "mca_common_colltools_schedule_move", "drop_below"}
PULLED = {"pull", "start", "advance'2", "mca_coll_pipering_pulls_find",
          "mca_coll_pipering_board_find"}
MOST_INSTRUCTIONS = {"small:Allgatherv": 91, "small:Bcast": 53, "small:Allreduce": 59,
                     "kept:Allgatherv": 2418, "kept:Bcast": 2418,
                     "pulled:Allgatherv": 2200, "pulled:Allreduce": 4300}


def instructions(rows):
    """Of a call: what 60 calls take more than 20."""
    for call, most in MOST_INSTRUCTIONS.items():
        polled = POLLED | (PULLED if call.startswith("pulled") else set())
        sums = {calls: sum(row["instructions"] for row in rows if row["call"] == call
                           and row["calls"] == calls and row["function"] not in polled)
                for calls in (20, 60)}
        at_most(f"{call}: instructions of a call", (sums[60] - sums[20]) / 40, most)


MOST_PLANNED = {8: 60e3, 16: 60e3, 256: 400e3, 1024: 1.5e6, 4096: 6e6}


def plans(rows):
    for row in rows:
        at_most(f"{row['machine'] or 'apart'}, {row['ranks']:.0f} ranks, {row['bytes']:.0f} bytes, "
                f"{row['row']} {row['decided']}: thousands of instructions",
                row["instructions"] / 1e3, MOST_PLANNED[row["ranks"]] / 1e3)


main({"calls": calls, "changing": changing, "split": split, "waits": waits, "overlap": overlap,
      "busy": busy,
      "setup": setup, "instructions": instructions, "plans": plans})
