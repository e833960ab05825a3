# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What can be tuned: groups of variables that are raced together, the calls that show their
effect, and the values to begin with. Names, defaults, ranges and enumerations come from ompi_info;
a variable that this release does not have is left out, and the user is told.
"""

import fnmatch
from collections import namedtuple

from . import calls as call_sets
from .ompi_info import tidy

ALGORITHMS = ("allgatherv", "allgather", "bcast", "reduce", "allreduce", "scan", "exscan")


class Group(namedtuple("Group", "title variables calls needs seeds")):
    """variables are chosen together.

    calls   COLLECTIVE:DIST:PLACE[:TYPE][@PART], see calls.py; where the choice depends on how many
            ranks there are, or on how many on a node, some are made by a part of them
    needs   "nodes": several of them; "ranks": several on a node; "both"; "any" machine will do
    seeds   values to try where the one in force is 0, which stands for a choice of the library;
            for variables without range or enumeration all values
    """


def group(title, variables, calls, needs="nodes", seeds=()):
    return Group(title, tuple(variables.split()), tuple(calls.split()), needs, tuple(seeds))


GATHERS = ("allgatherv:regular:0.5 allgatherv:broadcast:0.5 allgatherv:spike:0.75@half "
           "allgatherv:decreasing:1.0 bcast:regular:0.75 allreduce:regular:0.75")
SKEWED = ("allgatherv:broadcast:0.25 allgatherv:outlier:0.25 allgatherv:spike:0.4@heads "
          "allgatherv:outlier:0.6@half allgatherv:broadcast:0.75")
EDGE = ("allgatherv:regular:0.0 allgatherv:broadcast:0.0@half bcast:regular:0.1 "
        "allreduce:regular:0.1")
EXCHANGES = "alltoallw:ring:0.3 alltoallw:mixed:0.4 alltoallv:dense:0.1 alltoallv:mixed:0.6"
LEADERS = "allgather:regular:0.0 allgather:regular:0.3 allgather:regular:0.6"
TYPES = "allgatherv:regular:0.5:list allgatherv:spike:0.8:list alltoallw:ring:0.7"

GROUPS = tuple(
    group(f"algorithm of MPI_{name.capitalize()}", f"coll_pipering_{name}_algorithm",
          " ".join(f"{name}:{dist}:{place}" for dist, place in (
              (("regular", 0.2), ("broadcast", 0.45), ("outlier", "0.7@half"), ("half", 0.95))
              if "allgatherv" == name else
              (("regular", 0.2), ("regular", "0.5@half"), ("regular", 0.95)))), "any")
    for name in ALGORITHMS
) + (
    group("smallest call", "coll_pipering_min_total", EDGE),
    group("contributions that share a message", "coll_pipering_rounds_packed", SKEWED),
    group("block size", "coll_pipering_block_size", GATHERS, seeds=("block",)),
    group("window", "coll_pipering_window", GATHERS, seeds=("8", "32")),
    group("small messages of an all-to-all", "coll_pipering_alltoall_small", EXCHANGES, "any"),
    group("messages at the same time", "coll_pipering_alltoall_window", EXCHANGES, "any",
          seeds=("2", "8")),
    group("groups with a leader", "coll_mleader_groups", LEADERS, "both", ("1", "2", "socket")),
    group("exchange of leaders", "coll_mleader_exchange", LEADERS, "both"),
    group("aggregation", "coll_mleader_aggregation", LEADERS, "both"),
    group("ring buffers", "coll_pipering_ring_buffer_size", GATHERS, "ranks"),
    group("looking ahead", "opal_datatype_lookahead_segments", TYPES, "any"),
    group("dense segments", "opal_datatype_lookahead_min_segment", TYPES, "any"),
    group("index for jumps", "opal_datatype_seek_index_stride", TYPES, "any"),
    group("lists of places", "opal_datatype_units_per_entry", TYPES, "any"),
)


def is_wanted(group, patterns):
    """Whether a user who names variables by these patterns means a group; without any, all."""
    return not patterns or any(fnmatch.fnmatch(name, pattern) for name in group.variables
                               for pattern in patterns)


def _lacks(group, nodes, ppn):
    """What so many nodes, or ranks on a node, lack to show an effect of a group; None: nothing."""
    if group.needs in ("nodes", "both") and 1 == nodes:
        return "acts between nodes, and there is one alone"
    if group.needs in ("ranks", "both") and 1 == ppn:
        return "acts between ranks of a node, and each has one alone"
    return None


def unfit(group, machine):
    """Why a group cannot show an effect on this machine; None if it can."""
    return _lacks(group, machine["nodes"], machine["ppn"])


def has_calls(group, collectives):
    """Whether a group has calls of these collectives; (): of any."""
    return not collectives or any(call_sets.words_of(text)[0] in collectives
                                  for text in group.calls)


def calls_of(group, largest, machine, collectives=()):
    """The calls of a group; collectives: names, or () for all."""
    rows = [call_sets.call(_shown_by(group, text, machine), largest, machine)
            for text in group.calls]
    return [row for row in dict.fromkeys(rows)
            if not collectives or row.collective in collectives]


def _shown_by(group, text, machine):
    """A call of a group. Where there is no such part of the ranks, or where that part cannot show
    what the group does, as half of two nodes nothing between nodes, a rank of each node makes it,
    or all ranks."""
    what, _, part = text.partition("@")
    for one in (part, call_sets.HEADS) if part else ():
        if call_sets.is_there(one, machine):
            found = call_sets.shape(one, machine)
            if _lacks(group, found.nodes, found.ppn) is None:
                return f"{what}@{one}"
    return what


def has_mesh(table, settings):
    """Whether a mesh is declared, by these settings or beside them."""
    mesh = table.get("coll_pipering_mesh")
    return mesh is not None and "" != settings.get(mesh.name, mesh.value)


def algorithms(variable, meshes):
    """The values of a variable but those that another algorithm serves, as those along a mesh
    where none is declared."""
    return [value for value in variable.values if meshes or not value.startswith("mesh_")]


def begins_with_blocks(group, current):
    """Whether its first values are found around the block sizes that the library chooses."""
    return "block" in group.seeds and 0 == float(current[group.variables[0]])


def first_candidates(group, table, current, blocks, meshes=False):
    """Settings to race at first. current: {variable: value in force}; blocks: block sizes that
    the library chose, in bytes; meshes: one is declared."""
    name = group.variables[0]
    variable = table.get(name)
    if variable.values:
        values = [value for value in algorithms(variable, meshes) if value != current[name]]
    elif not variable.is_number:
        values = list(group.seeds)
    elif 0 == float(current[name]) and group.seeds:
        values = _seeds(group, blocks)
    else:
        values = near(variable, current[name], (0.5, 2, 0.25, 4))
    return _distinct([{name: value} for value in values], group, table, current)


def next_candidates(group, table, current, tried):
    """Settings around a winner that have not been raced."""
    numbers = [name for name in group.variables
               if table.get(name).is_number and 0 != float(current[name])]
    found = []
    for name in numbers:
        for value in near(table.get(name), current[name], (0.5, 2) if 1 == len(numbers)
                          else (0.6, 1.6)):
            found.append({**{n: current[n] for n in group.variables}, name: value})
    return [settings for settings in _distinct(found, group, table, current)
            if settings not in tried]


def near(variable, value, factors):
    """Values around one, within the variable's range; 0 too, where it means something."""
    low = 0 if variable.low is None else variable.low
    high = float("inf") if variable.high is None else variable.high
    whole = variable.type != "double"
    numbers = [float(value) * factor for factor in factors]
    numbers = [round(number) if whole else number for number in numbers]
    values = [tidy(number) for number in numbers if low <= number <= high]
    if variable.zero is not None and 0 != float(value):
        values.append("0")
    return values


def _seeds(group, blocks):
    if "block" not in group.seeds:
        return list(group.seeds)
    if not blocks:  # no call of the group is served by a pipeline
        return []
    middle = sorted(blocks)[len(blocks) // 2]
    return [tidy(round(middle * factor)) for factor in (0.5, 1, 2)]


def _distinct(candidates, group, table, current):
    """Legal ones that differ from each other and from what is in force."""
    found = []
    for settings in candidates:
        same = all(table.get(name).same(settings[name], current[name]) for name in settings)
        legal = all(table.get(name).complaint(settings[name]) is None for name in settings)
        if legal and not same and settings not in found:
            found.append(settings)
    return found
