# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What results.json and the report say of calls, by what was measured."""

from . import race
from .calls import ALL, of_cell

FORMAT = 3
# Arms that have what is in force.
PLAIN = (race.CURRENT, race.AGAIN, "before")


def calls(records):
    """Rows of "calls": the cells of one call, arm and phase together, without those of the trial,
    which are not warmed up; "jobs" says how many of the seconds each job has."""
    rows = {}
    for record in records:
        asked, result = record["asked"], record["result"]
        if "call" != asked["kind"] or "ok" != result["status"] or _phase(asked) == "trial":
            continue
        key = (of_cell(asked), _arm(asked), _phase(asked))
        row = rows.get(key)
        if row is None:
            row = rows[key] = _row(asked, result)
        row["seconds"] += result["seconds"]
        row["jobs"].append(len(result["seconds"]))
    return list(rows.values())


def _phase(asked):
    first = asked["cell"].split("/")[0]
    return asked["arm"] if "proof" == first else first if "trial" == first else "race"


def _arm(asked):
    """default, tuned, or the settings, those of the job too."""
    known = {"before": "default", "after": "tuned"}
    if asked["arm"] in known:
        return known[asked["arm"]]
    return race.text_of({**asked.get("job", {}), **asked["set"]}) or "default"


def _row(asked, result):
    total = asked["total"]
    return {"collective": asked["collective"], "distribution": asked["dist"],
            "type": asked["type"], "part": asked.get("part", ALL), "p": result["ranks"],
            "nodes": result["nodes"], "ppn": result["ppn"], "total": total,
            "largest_over_total": (result.get("largest") or total) / total,
            "contributors": result.get("contributors"), "arm": _arm(asked),
            "phase": _phase(asked), "seconds": [], "jobs": [],
            "block": result.get("block") or None, "algorithm": result.get("algorithm"),
            "predicted": result.get("predicted") or None}


def failures(records):
    """Rows about cells that gave no time."""
    return [{"cell": record["cell"], "status": record["result"]["status"],
             "note": record["result"].get("note", "")}
            for record in records if "ok" != record["result"]["status"]]


def failures_in_force(records):
    """Sentences about calls that fail with nothing set but what is in force, wrong results first.
    """
    found = {}
    for record in records:
        asked, result = record["asked"], record["result"]
        plain = "call" == asked["kind"] and asked["arm"] in PLAIN and not asked.get("set") \
            and not asked.get("job")
        if plain and result["status"] not in ("ok", "refused"):
            call = str(of_cell(asked))
            wrong = "wrong" == result["status"]
            if wrong or call not in found:
                found[call] = (not wrong, f"{call} {'gives a wrong result' if wrong else 'fails'} "
                               f"with the settings in force: {result.get('note') or 'no word'}")
    return [sentence for _, sentence in sorted(found.values())]
