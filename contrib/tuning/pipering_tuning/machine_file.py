# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What measured tasks say of a machine, as `pipering-predict --machine` reads it.

Streams are those under the load of all links, as in a pipeline. In a stream a small block takes
alpha, which large ones hide; what an echo takes longer than that is the latency. A byte costs what
the best piece of a stream shows: the model adds what small blocks cost."""

from . import tasks
from .tasks import MICRO, NANO

HEAD = """\
# Costs of a machine, from tasks that pipering-tune has measured, for pipering-predict --machine.
# Not measured, to be added where they are known: net_eager (bytes from which a message needs a
# rendezvous), net_handshake, net_bucket (bytes that a link carries at once after a rest), and
# wiring.
"""


def _link(fitted, scope, prefix):
    stream = tasks.under_load(fitted, "stream", scope)
    if stream is None:
        return []
    alpha = max(stream["pieces"][0]["alpha"], 0.0)
    latency = max(tasks.latency(fitted, scope) - alpha, 0.0)
    beta = min((piece["beta"] for piece in stream["pieces"] if 0 < piece["beta"]), default=0.0)
    return [(prefix + "_alpha", MICRO * alpha), (prefix + "_beta", NANO * beta),
            (prefix + "_latency", MICRO * latency), (prefix + "_gap", MICRO * alpha),
            (prefix + "_overlap", "true")]


def _combine(fitted):
    """A byte of a large block."""
    fit = tasks.under_load(fitted, "combine", "rank")
    return [] if fit is None else [("combine", NANO * fit["pieces"][-1]["beta"])]


def text(fitted):
    """The file; its lines are those that the fits of tasks.fits can tell."""
    lines = _link(fitted, "inter", "net") + _link(fitted, "intra", "local") + _combine(fitted)
    return HEAD + "".join(
        f"{name} = {value if isinstance(value, str) else format(value, '.4f')}\n"
        for name, value in lines)
