# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Classes of calls of a whole job: what its processes have recorded, put together, what the
model says could be gained, and which variable would do it.

A rank that comes early waits inside the call for those that come late. Where a call ends on all
ranks alike, the rank with the least time on average waits least; its time is taken for the call's
own, the rest is waiting, which no algorithm can mend. Where a rank may return before the others
are there, as a leaf of MPI_Reduce does, its time says nothing of the call's own. That is not more
than the most of any rank.
"""

from collections import namedtuple

from .why_model import MODELLED
from .why_records import Record

# Calls of a class over all processes. `calls` counts them as the program does, once for all ranks
# of a communicator; `time` is the seconds of a process on average over the job, `each` those of a
# call, `own` the same on the rank that waits least, or None where that says nothing, and `slowest`
# on the rank that takes longest. `forecast` is of a call by coll/pipering, or None where there is
# no model of it. `gain` is of a process, too, and the most there can be where `own` is None;
# `variable` is what might bring it. Of calls that are not blocking the time is not known, and so no
# gain. `type` is the name of a type of MPI, "derived", "several types", or "" of calls without
# data; `order_matters` of a reduction whose result depends on the order of its values.
Class = namedtuple("Class", "call server reason ranks type contiguous order_matters calls bytes "
                            "least most largest contributors time each own slowest longest "
                            "forecast gain variable")

PIPERING = "pipering"
COLLECTIVES = MODELLED + ("alltoall", "alltoallv", "alltoallw", "barrier", "neighbor_alltoallw")

# Calls that end on all ranks alike: always, or if every rank wants data of another one.
ALIKE = ("allreduce", "barrier")
ALIKE_IF_SEVERAL = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")

# What has calls served where coll/pipering is not there.
WITH = "coll/pipering"

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


def algorithm(record, value):
    return f"coll_pipering_{collective_of(record.call)[0]}_algorithm={value}"


# Calls with these reasons are not served though the model may favor them: a forced algorithm is.
UNASKED_MODEL = ("small", "short")

MESH = "coll_pipering_mesh, if the network has no switches"

# What would have coll/pipering serve calls that were left for other reasons.
ADVICE = {
    "early": lambda record: "one blocking call before them on the communicator",
    "unchosen": lambda record: algorithm(record, "mesh_lines"),
    "meshless": lambda record: MESH,
    "unasked": lambda record: MESH if collective_of(record.call)[0] == "barrier" else "",
    "unequal": lambda record: "the same variables on all ranks",
}


def is_modelled(one):
    """Whether the model has the collective."""
    return collective_of(one.call)[0] in MODELLED


def is_without(one):
    """Whether a class was made where coll/pipering is not there at all."""
    return one.server == "" and one.reason == ""


def remedy(record, answer):
    """What would have coll/pipering serve calls; "": nothing, or nothing that the model backs."""
    name = reason_name(record.reason)
    if name in ADVICE:
        return ADVICE[name](record)
    if name == "off" and (answer is None or answer.served):
        return algorithm(record, "auto")
    if answer and (name == "model" or (name in UNASKED_MODEL and answer.served)):
        return algorithm(record, answer.algorithm) + " (for all sizes)"
    return WITH if is_without(record) and answer and answer.served else ""


def ask(model, record, nodes, sizes):
    """What the model says of calls, as served by coll/pipering after the remedy for their reason;
    None: nothing."""
    name = reason_name(record.reason)
    settings = [algorithm(record, "auto")] if name == "off" else []
    return model and model.ask(collective_of(record.call)[0], record.ranks, nodes, sizes,
                               record.order_matters, settings)


def ranks_of(tables):
    """How many ranks have tables: one for each of their sessions."""
    return len({table.rank for table in tables})


def ends_alike(records):
    """Whether calls of a class end on no rank before others are there. Of two that contribute to
    what a rank receives, one at least is another rank."""
    collective = collective_of(records[0].call)[0]
    return collective in ALIKE or (collective in ALIKE_IF_SEVERAL and all(
        record.contributors >= 2 * record.calls for record in records))


def is_served(answer, record):
    """Whether coll/pipering would serve a call as the model says, if the remedy were taken."""
    return answer.served or record.server == PIPERING or reason_name(record.reason) == "model"


def merge(records, hosts, processes, model):
    """The class that records of so many processes are of, made on `hosts`. A communicator of the
    class may have fewer nodes than there are hosts. model: of why_model, or None."""
    calls = sum(record.calls for record in records)
    total = sum(record.time for record in records) * 1e-9
    means = [record.time / record.calls * 1e-9 for record in records]
    slowest = max(means)
    own = min(means) if ends_alike(records) else None
    first = records[0]
    blocking = collective_of(first.call)[1] == "blocking"
    nodes = min(len(hosts), first.ranks)
    size, largest, contributors = (sum(getattr(record, name) for record in records) / calls
                                   for name in ("bytes", "largest", "contributors"))
    example = first._replace(least=min(record.least for record in records))
    answer = ask(model, example, nodes, (round(size), round(largest), round(contributors)))
    forecast = answer.seconds if answer and blocking and is_served(answer, first) else None
    at_most = slowest if own is None else own
    gain, variable = 0.0, ""
    if first.server != PIPERING and (answer is None or answer.seconds < (1 - SURE) * at_most):
        variable = remedy(example, answer)
        if variable and forecast is not None:
            gain = (at_most - forecast) * calls / processes
    return Class(first.call, first.server, first.reason, first.ranks, first.type,
                 first.contiguous, first.order_matters, calls / first.ranks, size,
                 example.least, max(record.most for record in records), largest, contributors,
                 total / processes, total / calls, own, slowest,
                 max(record.longest for record in records) * 1e-9, forecast, gain, variable)


def classes_of(tables, model=None):
    """The classes of a job's tables, those with most time first."""
    found, hosts = {}, {}
    key = Record._fields[:Record._fields.index("calls")]
    for table in tables:
        for record in table.records:
            alike = tuple(getattr(record, name) for name in key)
            found.setdefault(alike, []).append(record)
            hosts.setdefault(alike, set()).add(table.host)
    classes = [merge(records, hosts[alike], ranks_of(tables), model)
               for alike, records in found.items()]
    return sorted(classes, key=lambda one: -one.time)


def waiting(classes, tables):
    """Seconds of a process that are waiting for other ranks, in blocking calls whose own time is
    known."""
    return sum((one.each - one.own) * one.calls * one.ranks / ranks_of(tables) for one in classes
               if one.own is not None and collective_of(one.call)[1] == "blocking")
