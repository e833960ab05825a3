# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What pipering-tune says to the user, as lists of lines; tune.py says when."""

from . import calls
from .progress import count
from .proof_time import LEAST

# Lines of a kind that are said at most; report.txt has them all.
MOST_WARNINGS, MOST_CHOSEN, MOST_DETAILS = 2, 4, 4

# What the budget does not bound: with fewer jobs there would be no proof.
BEYOND = (f"the proof takes {1 + 2 * LEAST} jobs at least, {2 * LEAST} more if calls seem slower "
          "or faster, and some more if calls fail, even when the time is over")


def where(machine):
    """Ranks, nodes, transport."""
    return f"{machine['ranks']} ranks on {count(machine['nodes'], 'node')}, pml {machine['pml']}"


def of_machine(machine, table, launcher, most=MOST_WARNINGS):
    """Which Open MPI and which nodes were found, and what will disturb the measurement. most:
    warnings that are said."""
    hosts, processors = machine["hosts"], machine["processors"] or "unknown"
    lines = [f"Open MPI {machine['release']} in {table.prefix}, {where(machine)} "
             f"(`{launcher}`)",
             f"hosts: {' '.join(hosts[:16])}{' ...' if len(hosts) > 16 else ''}; ranks on each: "
             f"{machine['mapping']}; {processors} processors ({machine['processor']})"]
    return lines + few([f"warning: {sentence}" for sentence in machine["warnings"]], most)


def of_time(minutes, machine, choice, start_time):
    """How the minutes are shared at most. machine, choice: parts of them."""
    return [f"time: {minutes:g} minutes, of these {minutes * machine:.3g} for the machine, "
            f"{minutes * choice:.3g} at most for choosing, the rest for the proof; {BEYOND}; a job "
            f"starts in {start_time:.1f} s"]


def of_settings(settings):
    """What is in force already."""
    words = [f"{name}={value}" for name, value in settings.items()]
    return [f"in force: {', '.join(words)}"] if words else []


def of_plan(launcher, raced, proven, calls, minutes):
    """What would be done, for --dry-run. raced: variables; proven: the file of
    --prove, None if there is none; calls: how many are held out."""
    lines = [f"a job: {launcher} [--tune FILE] KERNEL"]
    lines += [f"would race {', '.join(raced)}"] if raced else []
    return lines + [f"{'' if proven else 'then '}would prove {proven or 'the file'} on "
                    f"{count(calls, 'call')}; all in {minutes:g} minutes, but {BEYOND}"]


def of_costs(costs, path, problem):
    """What measuring the machine has shown, and what becomes of it. path: of its file; problem: why
    that is no candidate, "" if it is one."""
    shown = [f"{where} {costs[f'{name}_alpha']:.3g} µs a block and "
             f"{costs[f'{name}_beta']:.3g} ns a byte"
             for where, name in (("between nodes", "net"), ("inside them", "local"))
             if f"{name}_alpha" in costs]
    what = f"{path} is the first candidate" if not problem else \
        f"its costs are no candidate, since {problem}"
    return [f"machine: {', '.join(shown) or 'no link was measured'}; {what}"]


def of_choices(rows, left):
    """What was chosen, and what was not raced, {reason: variables}."""
    chosen = [f"chosen: {row['variable']}={row['chosen']}, {row['default'] or 'empty'} before: "
              f"{row['reason']}" for row in rows if row["chosen"] != row["default"]]
    left = [f"{', '.join(names)}: {reason}" for reason, names in left.items()]
    return few(chosen, MOST_CHOSEN) + ([f"not raced: {'; '.join(left)}"] if left else [])


def few(lines, most):
    """The first lines, all if most is None, and how many more there are."""
    more = 0 if most is None else len(lines) - most
    return lines[:most] + ([f"{count(more, 'more line')} of this kind: see report.txt"]
                           if more > 0 else [])


def of_rules(rules, others):
    """What coll/tuned is given. others: collectives that coll/han serves."""
    small = list(dict.fromkeys(rule.call.collective for rule in rules))
    words = [f"rules for {count(len(rules), 'small call')} ({', '.join(small)})"] if rules else []
    words += [f"none for {', '.join(others)}, which coll/han serves"] if others else []
    return [f"coll/tuned: {'; '.join(words)}"] if words else []


def of_verdict(verdict, most=MOST_DETAILS):
    """What the proof has come to. verdict: of results.json; most: details that are said."""
    lines = [f"{word}: {sentence}" for word, key in (
        ("slower", "hurt"), ("broken", "broken"), ("warning", "failing"), ("warning", "doubts"))
        for sentence in verdict[key]]
    lines = [verdict["sentence"], *few(lines, most), *filter(None, [verdict["limit"]])]
    if verdict["left_out"]:
        lines.append("not proven, since the time of --budget did not allow it: "
                     f"{count(len(verdict['left_out']), 'held-out call')}: "
                     f"{', '.join(verdict['left_out'])}")
    return lines


def of_use(path, proof):
    """What to do with the file."""
    if not proof.help:
        more = "; --resume with a longer --budget measures calls that are slower in more jobs" \
            if proof.hurt else ""
        return [f"what was tried is in {path}{more}"]
    return [f"use: mpirun --tune {path} ..., or the lines of {path} in mca-params.conf"]


def of_file(machine, command, parts, ruled):
    """The first comments of a parameter file. parts: of the ranks, that calls of the proof are made
    by; ruled: it names a rules file."""
    return [f"Made by `{command}`",
            f"on {machine['when']}, for Open MPI {machine['release']}, {where(machine)}.",
            "Use: mpirun --tune THIS-FILE, or these lines in mca-params.conf.",
            f"All times are those of communicators of {of_parts(machine, parts)}: nothing is "
            "proven of others.",
            *([f"The rules file has rules for communicators of {machine['ranks']} ranks; others "
               "are served as without it."] if ruled else []), ""]


def of_parts(machine, parts):
    """All ranks, and parts of them."""
    some = [placed(calls.shape(part, machine)) for part in (calls.HALF, calls.HEADS)
            if part in parts]
    return placed(calls.shape(calls.ALL, machine)) \
        + (f", some of them of {' and of '.join(some)}" if some else "")


def placed(shape):
    """Ranks, and ranks on a node."""
    most = "" if shape.ppn * shape.nodes == shape.ranks else "at most "
    return f"{shape.ranks} ranks, {most}{shape.ppn} on each of {count(shape.nodes, 'node')}"
