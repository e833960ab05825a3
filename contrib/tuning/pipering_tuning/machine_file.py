# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What measured tasks (tasks.py) say of a machine, as coll_pipering_machine and `pipering-predict
--machine` read it.

Streams under the load of all links, as in a pipeline, show what handling costs: of small blocks
that follow each other closely (gap), of a byte (copy), of a handshake. In a pipeline blocks come
one by one, and each wakes its rank up: an echo shows what that takes besides, half of it handling
(alpha), the rest latency. Echoes are of one pair of ranks, streams of all of them, which share
processors; the file says how many do (ranks_per_processor)."""

import itertools
import statistics
from collections import namedtuple

from . import machine_fit

MICRO, NANO = 1e6, 1e9
HEAD = """\
# Links and processors of a machine, measured by pipering-tune: for coll_pipering_machine, and for
# pipering-predict --machine.
"""

# Blocks by which costs are judged, and the median error up to which they hold.
LEAST_JUDGED, MOST_JUDGED = 1024, 1024 * 1024
ERROR_MOST = 0.25


class Scope(namedtuple("Scope", "link points echo")):
    """Links between nodes, or inside of them: the fit, {bytes: seconds} of the streams of all
    links, seconds of the smallest echo one way of one pair, the least: lateness only
    lengthens it."""

    def sizes(self):
        """Sizes of blocks that judge the fit."""
        return [size for size in self.points if LEAST_JUDGED <= size <= MOST_JUDGED]

    def error(self):
        """The median error of the fit, relative."""
        errors = machine_fit.errors(self.link, self.points)
        return statistics.median(errors[size] for size in self.sizes())

    def holds(self):
        return self.error() <= ERROR_MOST


def points_of(measured, task, scope, direction, of=statistics.median):
    """{bytes: seconds}, those that `of` takes of the samples."""
    return {one["bytes"]: of(one["seconds"]) for one in measured
            if (task, scope, direction) == (one["task"], one["scope"], one["direction"])
            and one["seconds"] and 0 < of(one["seconds"])}


def scope_of(measured, scope):
    """The Scope by measured tasks; None: no stream was measured."""
    loaded, alone = (points_of(measured, "stream", scope, direction)
                     for direction in ("all", "one"))
    loaded = loaded or alone
    if not loaded or MOST_JUDGED < min(loaded) or LEAST_JUDGED > max(loaded):
        return None
    beta = machine_fit.least_beta([loaded, alone])
    echoes = points_of(measured, "echo", scope, "one", min)
    echo = echoes[min(echoes)] if echoes else 0.0
    return Scope(machine_fit.fit_link(loaded, beta), loaded, echo)


def _times(found, load):
    """(alpha, latency, gap) in seconds; alpha with `load` ranks a processor, latency of one."""
    alpha = max(found.link.alpha, load * found.echo / 2)
    return alpha, max(found.echo - alpha / load, 0.0), found.link.alpha


def _between(found, load):
    alpha, latency, gap = _times(found, load)
    link, frames = found.link, machine_fit.has_frames(found.link.beta)
    return [("net_alpha", MICRO * alpha), ("net_beta", NANO * link.beta),
            ("net_latency", MICRO * latency), ("net_gap", MICRO * gap), ("net_overlap", "true"),
            ("net_envelope", machine_fit.ENVELOPE),
            ("net_packet", machine_fit.PACKET if frames else 0),
            ("net_frame", machine_fit.FRAME if frames else 0),
            ("net_eager", link.eager), ("net_handshake", MICRO * link.handshake),
            ("net_copy", NANO * link.copy)]


def _inside(found, load):
    """The library's costs inside a node are of the processor alone, so a copy counts as beta."""
    alpha, latency, gap = _times(found, load)
    return [("local_alpha", MICRO * alpha), ("local_beta", NANO * (found.link.beta
                                                                   + found.link.copy)),
            ("local_latency", MICRO * load * latency), ("local_gap", MICRO * gap),
            ("local_overlap", "true")]


def _combine(measured):
    """A byte of a large block, by the median of the slopes between the three largest ones."""
    points = sorted(points_of(measured, "combine", "rank", "all").items())[-3:]
    slopes = [(more - less) / (large - small)
              for (small, less), (large, more) in itertools.combinations(points, 2)]
    return [("combine", NANO * max(statistics.median(slopes), 0.0))] if slopes else []


def lines(measured, load):
    """[(name, value)] of the file. measured: as of machine_run.Measuring; load: ranks a processor.
    Links inside nodes that no costs explain are left out: the library has usual ones."""
    load = max(1.0, load)
    between, inside = scope_of(measured, "inter"), scope_of(measured, "intra")
    found = [] if between is None else _between(between, load)
    if inside is not None and (between is None or inside.holds()):
        found += _inside(inside, load)
    return found + _combine(measured) + [("ranks_per_processor", load)]


def text(measured, load, head=()):
    """The file; head: further comments."""
    return HEAD + "".join(f"# {line}\n" for line in head) + "".join(
        f"{name} = {value if isinstance(value, (str, int)) else format(value, '.4f')}\n"
        for name, value in lines(measured, load))
