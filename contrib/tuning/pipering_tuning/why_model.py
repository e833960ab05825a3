# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What coll/pipering would make of recorded calls, by its own plans and choice on a machine:
questions to pipering-predict, which needs neither MPI nor the component.

A class of calls is asked about by its averages. Which ranks contribute is not recorded: the first
ones are taken, with what the largest leaves in equal parts.
"""

import json
import os
import subprocess
from collections import namedtuple

from .files import Refusal

PREDICT = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))),
                       "pipering-predict")
TIMEOUT = 300                   # seconds of a question
RANKS_MOST = 65536              # that it is asked about
VECTORS = ("allreduce", "bcast", "exscan", "reduce", "scan")
EQUAL = ("allgather", "reduce_scatter_block")
COUNTED = ("allgatherv", "reduce_scatter")
MODELLED = VECTORS + EQUAL + COUNTED

# Whether coll/pipering serves a call; seconds of its best algorithm, by name, and of the modules
# below it.
Answer = namedtuple("Answer", "served seconds algorithm rival")


def counts(ranks, total, largest, contributors):
    """Bytes of each rank."""
    contributors = min(max(contributors, 1), ranks)
    rest = max(total - largest, 0)
    others = contributors - 1
    if others == 0:
        return [total] + [0] * (ranks - 1)
    equal, more = divmod(rest, others)
    return [largest] + [equal + (i < more) for i in range(others)] + [0] * (ranks - contributors)


class Model:
    """Asks pipering-predict about a machine file; what has been asked before is remembered."""

    def __init__(self, machine):
        self.machine = machine
        self._known = {}

    def ask(self, collective, ranks, nodes, sizes, order_matters, settings=()):
        """An Answer for a blocking call on so many nodes; None: there is no model of it. sizes:
        bytes in all, the largest contribution, how many contribute. settings: "VARIABLE=VALUE"."""
        if collective not in MODELLED or not 2 <= ranks <= RANKS_MOST or sizes[0] < 1:
            return None
        question = (collective, ranks, nodes, sizes, order_matters, tuple(settings))
        if question not in self._known:
            self._known[question] = self._predict(*question)
        return self._known[question]

    def _predict(self, collective, ranks, nodes, sizes, order_matters, settings):
        given = None
        command = [PREDICT, "--json", "--machine", self.machine,
                   "--collective", collective, "--ppn", str(-(-ranks // nodes))]
        for setting in settings:
            command += ["--set", setting]
        element = 1
        if collective not in ("bcast", "allgather", "allgatherv"):
            element = 8 if order_matters else 4
            command += ["--type", "double" if order_matters else "int"]
        if collective in VECTORS:
            whole = sizes[0] // 8 * 8 or 8  # of doubles
            command += ["--ranks", str(ranks), "--total", str(whole)]
        elif collective in EQUAL:
            equal = ranks * element
            command += ["--ranks", str(ranks), "--total", str(-(-sizes[0] // equal) * equal)]
        else:
            command += ["--counts", "-"]
            parts = [-(-size // element) for size in counts(ranks, *sizes)]
            given = "\n".join(map(str, parts)) + "\n"
        return _answer(_run(command, given))


def _run(command, given):
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True,
                              timeout=TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refusal(f"pipering-predict cannot be asked: {error}") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        raise Refusal(said[-1].rstrip("."))
    return json.loads(done.stdout)


def _answer(said):
    """The algorithm that is chosen, or the best one if the modules below serve the call."""
    made = [one for one in said["algorithms"] if "model_seconds" in one]
    if not made:
        return None
    best = min(made, key=lambda one: (not one["chosen"], one["model_seconds"]))
    return Answer(said["served"], best["model_seconds"], best["algorithm"], best["rival_seconds"])
