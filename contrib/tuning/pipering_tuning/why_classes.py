# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Classes of calls of a whole job: what its processes have recorded, put together, what the
model says could be gained, and which variable would do it.

A rank that comes early waits inside the call for those that come late. The rank with the least
time on average waits least; its time is taken for the call's own, the rest is waiting, which no
algorithm can mend.
"""

from collections import namedtuple

from .why_records import Record

# Calls of a class over all processes. `calls` counts them as the program does, once for all ranks
# of a communicator; `time` is the seconds of a process on average over the job, `each` those of a
# call, `own` the same on the rank that waits least. `gain` is of a process, too; `variable` is
# what might bring it. Of calls that are not blocking the time is not known, and so no gain; of
# calls on communicators that coll/pipering has not measured the model says nothing.
Class = namedtuple("Class", "call server reason ranks contiguous calls bytes least most largest "
                            "contributors time each own longest forecast gain variable")

PIPERING = "pipering"
REDUCTIONS = ("allreduce", "reduce", "scan", "exscan")
COLLECTIVES = REDUCTIONS + ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw",
                            "barrier", "bcast", "neighbor_alltoallw")

# A gain below this part of the time of a class is less than what the model is sure of.
SURE = 0.05


def collective_of(call):
    """(collective, form) of a function of MPI: iallgatherv is (allgatherv, nonblocking)."""
    if call.endswith("_init"):
        return call[:-len("_init")], "persistent"
    if call.startswith("i") and call[1:] in COLLECTIVES:
        return call[1:], "nonblocking"
    return call, "blocking"


def reason_name(reason):
    """Why coll/pipering left a call, as in coll_pipering_fallback_NAME; None: it did not."""
    name, colon, _ = reason.partition(": ")
    return name if colon else None


def power_of_two_below(value):
    return 1 << max(int(value).bit_length() - 1, 0)


def min_total(call, record):
    """What coll_pipering_min_total must be for calls of a class not to be small. Nonblocking
    reductions want as many bytes for each rank but one."""
    collective, form = collective_of(call)
    parts = record.ranks - 1 if collective in REDUCTIONS and form != "blocking" else 1
    return power_of_two_below(record.least // max(parts, 1))


# For each reason: the setting that would have coll/pipering serve the calls, or what else would.
REMEDIES = {
    "small": lambda call, record: f"coll_pipering_min_total={min_total(call, record)}",
    "off": lambda call, record: f"coll_pipering_{collective_of(call)[0]}_algorithm=auto",
    "model": lambda call, record:
        f"coll_pipering_{collective_of(call)[0]}_algorithm={record.algorithm}",
    "early": lambda call, record: "one blocking call before them on the communicator",
    "unchosen": lambda call, record: f"coll_pipering_{collective_of(call)[0]}_algorithm=mesh_lines",
    "meshless": lambda call, record: "coll_pipering_mesh, if the network has no switches",
    "unequal": lambda call, record: "the same variables on all ranks",
}


def is_modelled(one):
    """Whether the model has the collective."""
    collective = collective_of(one.call)[0]
    return "alltoall" not in collective and collective != "barrier"


def is_unmeasured(one):
    """Whether the model says nothing of calls because their communicator has not been measured."""
    return (one.forecast is None and is_modelled(one)
            and reason_name(one.reason) in ("small", "off", "early"))


def remedy(record):
    """What would have coll/pipering serve calls; "": nothing, or nothing that the model backs."""
    name = reason_name(record.reason)
    if name == "small" and record.forecast >= record.rival:
        return ""
    return REMEDIES[name](record.call, record) if name in REMEDIES else ""


def ranks_of(tables):
    """How many ranks have tables: one for each of their sessions."""
    return len({table.rank for table in tables})


def merge(records, processes):
    """The class that records of so many processes are of."""
    calls = sum(record.calls for record in records)
    total = sum(record.time for record in records) * 1e-9
    own = min(record.time / record.calls for record in records) * 1e-9
    first = records[0]
    foreseen = [record for record in records if record.forecast > 0]
    forecast = sum(record.forecast for record in foreseen) / len(foreseen) if foreseen else None
    gain, variable = 0.0, ""
    if first.server != PIPERING and (not foreseen or forecast < (1 - SURE) * own):
        example = foreseen[0] if foreseen else first
        variable = remedy(example._replace(least=min(record.least for record in records)))
        if variable and foreseen and collective_of(first.call)[1] == "blocking":
            gain = (own - forecast) * calls / processes
    return Class(first.call, first.server, first.reason, first.ranks, first.contiguous,
                 calls / first.ranks, sum(record.bytes for record in records) / calls,
                 min(record.least for record in records), max(record.most for record in records),
                 sum(record.largest for record in records) / calls,
                 sum(record.contributors for record in records) / calls, total / processes,
                 total / calls, own, max(record.longest for record in records) * 1e-9, forecast,
                 gain, variable)


def classes_of(tables):
    """The classes of a job's tables, those with most time first."""
    found = {}
    key = Record._fields[:Record._fields.index("calls")]
    for table in tables:
        for record in table.records:
            found.setdefault(tuple(getattr(record, name) for name in key), []).append(record)
    classes = [merge(records, ranks_of(tables)) for records in found.values()]
    return sorted(classes, key=lambda one: -one.time)


def waiting(classes, tables):
    """Seconds of a process that are waiting for other ranks, in blocking calls."""
    return sum((one.each - one.own) * one.calls * one.ranks / ranks_of(tables) for one in classes
               if collective_of(one.call)[1] == "blocking")
