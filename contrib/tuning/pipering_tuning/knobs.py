# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What is worth a race: variables that the model of the library does not decide, the calls that
show their effect, and values to try. Names, defaults, ranges and enumerations come from ompi_info;
a variable that this release does not have is left out, and the user is told.
"""

import fnmatch
from collections import namedtuple

from . import calls as call_sets
from .ompi_info import tidy

MACHINE = "coll_pipering_machine"
# Of a number that is in force.
FACTORS = 0.5, 2, 0.25, 4


class Knob(namedtuple("Knob", "variable calls needs values")):
    """A variable.

    calls   COLLECTIVE:DIST:PLACE[:TYPE][@PART], see calls.py; where the choice depends on how many
            ranks there are, or on how many on a node, some are made by a part of them
    needs   "nodes": several of them; "both": several ranks on a node besides; "any" machine will do
    values  to try where the one in force is 0, which stands for a choice of the library
    """


def _knob(variable, calls, needs="nodes", values=()):
    return Knob(variable, tuple(calls.split()), needs, values)


GATHERS = ("allgatherv:regular:0.5 allgatherv:broadcast:0.5 allgatherv:spike:0.75@half "
           "allgatherv:decreasing:1.0 bcast:regular:0.75 allreduce:regular:0.75")
MIXED = ("allgatherv:regular:0.5 allgatherv:spike:0.75@half allgather:regular:0.3 "
         "bcast:regular:0.75 reduce:regular:0.2 allreduce:regular:0.75 scan:regular:0.4 "
         "exscan:regular:0.6")
SKEWED = ("allgatherv:broadcast:0.25 allgatherv:outlier:0.25 allgatherv:spike:0.4@heads "
          "allgatherv:outlier:0.6@half allgatherv:broadcast:0.75")
EXCHANGES = "alltoallw:ring:0.3 alltoallw:mixed:0.4 alltoallv:dense:0.1 alltoallv:mixed:0.6"
LEADERS = "allgather:regular:0.0 allgather:regular:0.3 allgather:regular:0.6"
TYPES = "allgatherv:regular:0.5:list allgatherv:spike:0.8:list alltoallw:ring:0.7"
REDUCES = "{0}:regular:0.2 {0}:regular:0.5@half {0}:regular:0.95"

KNOBS = (
    # Adapters may say other costs than links have.
    _knob(MACHINE, MIXED, "any"),
    # No rate that is measured corrects the model where the order of values matters: races have
    # found gains of a fifth and of half on small calls.
    _knob("coll_pipering_reduce_algorithm", REDUCES.format("reduce"), "any"),
    _knob("coll_pipering_exscan_algorithm", REDUCES.format("exscan"), "any"),
    # A site may have set it, and a transport may have steps that no file of a machine says.
    _knob("coll_pipering_block_size", GATHERS, values=("4096", "16384", "65536")),
    # The model does not weigh copies against messages.
    _knob("coll_pipering_rounds_packed", SKEWED),
    # Exchanges of all with all have no model.
    _knob("coll_pipering_alltoall_small", EXCHANGES, "any"),
    _knob("coll_pipering_alltoall_window", EXCHANGES, "any", ("2", "8")),
    # Its default changes at a fixed size.
    _knob("coll_mleader_exchange", LEADERS, "both"),
)

# Calls that show other variables, which a user may set.
OTHERS = (("coll_mleader_*", LEADERS), ("opal_datatype_*", TYPES),
          ("coll_pipering_alltoall_*", EXCHANGES), ("coll_pipering_window", GATHERS))


def names():
    """All variables that are raced."""
    return [knob.variable for knob in KNOBS]


def calls_showing(name):
    """Calls, as of a Knob, that show the effect of a variable; () if none is known."""
    for knob in KNOBS:
        if name == knob.variable:
            return knob.calls
    collective = name[len("coll_pipering_"):-len("_algorithm")]
    if name == f"coll_pipering_{collective}_algorithm":
        return (f"{collective}:regular:0.5",)
    return next((tuple(calls.split()) for pattern, calls in OTHERS
                 if fnmatch.fnmatch(name, pattern)), ())


def wanted(options):
    """Knobs that the options ask for: all, or those of some variables and collectives alone."""
    return [knob for knob in KNOBS
            if not options.variables
            or any(fnmatch.fnmatch(knob.variable, one) for one in options.variables)
            if not options.collectives
            or any(call_sets.words_of(one)[0] in options.collectives for one in knob.calls)]


def _lacks(knob, nodes, ppn):
    """What so many nodes, or ranks on a node, lack to show an effect of a knob; None: nothing."""
    if knob.needs in ("nodes", "both") and 1 == nodes:
        return "acts between nodes, and there is one alone"
    if "both" == knob.needs and 1 == ppn:
        return "acts between ranks of a node, and each has one alone"
    return None


def unfit(knob, machine):
    """Why a knob cannot show an effect on this machine; None if it can."""
    return _lacks(knob, machine["nodes"], machine["ppn"])


def calls_of(knob, largest, machine, collectives=()):
    """The calls of a knob; collectives: names, or () for all."""
    rows = [call_sets.call(_shown_by(knob, text, machine), largest, machine)
            for text in knob.calls]
    return [row for row in dict.fromkeys(rows)
            if not collectives or row.collective in collectives]


def _shown_by(knob, text, machine):
    """A call of a knob. Where there is no such part of the ranks, or where that part cannot show
    what the knob does, as half of two nodes nothing between nodes, a rank of each node makes it,
    or all ranks."""
    what, _, part = text.partition("@")
    for one in (part, call_sets.HEADS) if part else ():
        if call_sets.is_there(one, machine):
            found = call_sets.shape(one, machine)
            if _lacks(knob, found.nodes, found.ppn) is None:
                return f"{what}@{one}"
    return what


def has_mesh(table, settings):
    """Whether a mesh is declared, by these settings or beside them."""
    mesh = table.get("coll_pipering_mesh")
    return mesh is not None and "" != settings.get(mesh.name, mesh.value)


def candidates(knob, table, current, meshes=False, machine_file=None):
    """Values to race against the current one. meshes: one is declared, so algorithms along it
    serve; machine_file: what coll_pipering_machine may name."""
    variable = table.get(knob.variable)
    if MACHINE == knob.variable:
        values = [machine_file] if machine_file else []
    elif variable.values:
        values = [value for value in variable.values if meshes or not value.startswith("mesh_")]
    elif 0 == float(current) and knob.values:
        values = knob.values
    else:
        values = _near(variable, float(current))
    return [value for value in dict.fromkeys(values)
            if not variable.same(value, current) and variable.complaint(value) is None]


def _near(variable, value):
    """Values around one; 0 too, where it means something."""
    numbers = [value * factor for factor in FACTORS]
    return [tidy(number if "double" == variable.type else round(number)) for number in numbers] \
        + (["0"] if variable.zero is not None else [])
