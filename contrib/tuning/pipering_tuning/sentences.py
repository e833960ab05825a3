# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What pipering-tune says to the user, as lists of lines; tune.py says when."""

from . import calls, proof_time
from .progress import clock_text, count
from .proof_time import LEAST

# Lines of a kind that are said at most; report.html has them all.
MOST_WARNINGS, MOST_CHOSEN, MOST_DETAILS = 2, 4, 4

# What the budget does not bound: with fewer jobs there would be no proof. A call that fails has
# each pair of jobs twice.
BEYOND = (f"the proof takes {2 * LEAST} jobs at least, {2 * LEAST} more if calls seem slower or "
          "faster, and twice as many if calls fail, even when the time is over")


def where(machine):
    """Ranks, nodes, transport."""
    return f"{machine['ranks']} ranks on {count(machine['nodes'], 'node')}, pml {machine['pml']}"


def of_machine(machine, table, launcher, most=MOST_WARNINGS):
    """Which Open MPI and which nodes were found, and what will disturb the measurement. most:
    warnings that are said."""
    hosts, processors = machine["hosts"], machine["processors"] or "unknown"
    lines = [f"Open MPI {machine['release']} in {table.prefix}, {where(machine)} "
             f"({launcher.where})",
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
    """The first lines, and how many more there are."""
    more = len(lines) - most
    return lines[:most] + ([f"{count(more, 'more line')} of this kind: see report.html"]
                           if more > 0 else [])


def of_proof(costs, calls, begin, end):
    """How many of these calls there will be the time to prove, if not for all. begin: when the
    proof begins at the latest, end: when it is to end, in seconds of the run."""
    seconds = costs.proof(calls)
    if begin + seconds <= end:
        return []
    kept = proof_time.affordable(calls, [], costs, end - costs.job * proof_time.CHECKS - begin)
    return [f"there may be time for {len(kept)} of {count(len(calls), 'held-out call')}, the "
            f"cheapest: all take about {clock_text(seconds)} at least, and the proof begins after "
            f"{clock_text(begin)} at the latest"]


def of_rules(rules, others):
    """What coll/tuned is given. others: collectives that coll/han serves."""
    small = list(dict.fromkeys(rule.call.collective for rule in rules))
    words = [f"rules for {count(len(rules), 'small call')} ({', '.join(small)})"] if rules else []
    words += [f"none for {', '.join(others)}, which coll/han serves"] if others else []
    return [f"coll/tuned: {'; '.join(words)}"] if words else []


def of_verdict(proof, failing):
    """What the proof has come to. failing: sentences about calls that fail with what is in
    force."""
    lines = [f"{word}: {sentence}" for word, sentences in (
        ("slower", proof.hurt), ("broken", proof.broken), ("better", proof.better),
        ("warning", [*failing, *proof.doubts])) for sentence in sentences]
    return [proof.sentence, *few(lines, MOST_DETAILS)] \
        + ([proof.limit] if proof.limit else []) + of_left_out(proof.left_out)


def of_left_out(calls):
    """Held-out calls that nothing is known of."""
    if not calls:
        return []
    return [f"not proven, since the time of --budget did not allow it: "
            f"{count(len(calls), 'held-out call')}: {', '.join(map(str, calls))}"]


def of_use(ways, path, proof):
    """What to do with the file. ways: the forms in which jobs take one."""
    if not proof.help:
        more = "; --resume with a longer --budget measures calls that are slower in more jobs" \
            if proof.hurt else ""
        return [f"what was tried is in {path}{more}"]
    words = {"tune": f"mpirun --tune {path} ...",
             "conf": f"the lines of {path} in mca-params.conf"}
    return ["use: " + ", or ".join(words[form] for form in ways)]


def of_file(machine, command, forms, parts, ruled):
    """The first comments of a parameter file. parts: of the ranks, that calls of the proof are made
    by; ruled: it names a rules file."""
    words = {"tune": "mpirun --tune THIS-FILE", "conf": "these lines in mca-params.conf"}
    return [f"Made by `{command}`",
            f"on {machine['when']}, for Open MPI {machine['release']}, {where(machine)}.",
            f"Use: {', or '.join(words[form] for form in forms)}.",
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
