# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""A posed machine: the answer of an ompi_info, and a kernel whose times follow a known model with
seeded noise, so that the best settings are known. Its clock runs as fast as its calls say.

A call of `total` bytes goes around a ring of RANKS, or of a part of them, in blocks; its time is
least for the block size that the true ALPHA and BETA give. What else is posed:

    coll_pipering_alltoall_small     8192 saves a tenth of every all-to-all
    coll_pipering_rounds_packed      larger ones speed up outliers and slow down broadcasts
    coll_pipering_window, coll_pipering_alltoall_window do nothing
    coll_pipering_block_size         a machine with a knee has a handshake for each larger block,
                                     which the library's model does not know
    coll_pipering_machine            adapters may say another ALPHA than a file does
    coll_pipering_bcast_algorithm, coll_pipering_reduce_algorithm
                                     a tree saves a fifth on all ranks, and is slower on fewer
    coll_tuned_*_algorithm           the second one is a third faster below 3000 bytes
"""

import math
import random
import re
from types import SimpleNamespace

RANKS, ALPHA, BETA = 8, 80e-6, 85e-9
JOB_SECONDS = 1.0
HANDSHAKE = 40 * ALPHA

PARAMETERS = """
ompi:version:full:5.0.7
path:prefix:/posed
mca:mca:base:param:mca_base_param_files:value:/posed/etc/openmpi-mca-params.conf
"""


def parameter(name, value, kind, clause="", values=(), writable=True):
    """The lines of a variable as ompi_info prints them."""
    head = f"mca:coll:posed:param:{name}"
    lines = [f"{head}:value:{value}", f"{head}:source:default",
             f"{head}:status:{'writeable' if writable else 'read-only'}", f"{head}:level:5",
             f'{head}:help:"A variable: {name}{clause}"', f"{head}:type:{kind}"]
    lines += [f"{head}:enumerator:value:{number}:{word}" for number, word in enumerate(values)]
    return "\n".join(lines) + "\n"


def size(name, value, zero="the library chooses"):
    return parameter(name, value, "size_t", f" [0..1073741824 bytes; 0: {zero}]")


ALGORITHMS = {"allgatherv": ("auto", "ring", "mesh_cycles", "rounds", "off"),
              "allgather": ("auto", "ring", "off"),
              "bcast": ("auto", "pipeline", "tree", "mesh_trees", "off"),
              "reduce": ("auto", "pipeline", "tree", "mesh_trees", "off"),
              "exscan": ("auto", "pipeline", "off"),
              "allreduce": ("auto", "ring", "merged", "off")}


def ompi_info():
    """The answer of the posed ompi_info."""
    text = PARAMETERS
    text += parameter("coll_pipering_processors", "0", "double",
                      " [0..1000000 processors; 0: those that processes may use]")
    text += size("coll_pipering_rounds_packed", 8192)
    text += size("coll_pipering_alltoall_small", 4096) + size("coll_pipering_block_size", 0)
    for name in ("window", "alltoall_window"):
        text += parameter(f"coll_pipering_{name}", 0, "int", " [0..4096 blocks; 0: chosen]")
    text += parameter("coll_pipering_machine", "", "string", writable=False)
    text += parameter("coll_mleader_exchange", "auto", "int", values=("auto", "bruck", "ring"))
    for name, values in ALGORITHMS.items():
        text += parameter(f"coll_pipering_{name}_algorithm", "auto", "int", values=values)
    text += parameter("coll_tuned_use_dynamic_rules", "false", "bool", values=("false", "true"))
    text += parameter("coll_tuned_dynamic_rules_filename", "", "string")
    for name in ("allgatherv", "bcast"):
        text += parameter(f"coll_tuned_{name}_algorithm", "ignore", "int", writable=False,
                          values=("ignore", "linear", "quick", "two_proc"))
    text += parameter("coll_tuned_bcast_algorithm_chain_fanout", 4, "int")
    text += parameter("coll_tuned_bcast_algorithm_segmentsize", 1024, "int")
    text += parameter("coll_tuned_allgatherv_algorithm_tree_fanout", 3, "int")
    return text


def machine(*ranks):
    """A machine as preflight describes it; ranks: on each node."""
    return {"release": "5.0.7", "library": "Open MPI v5.0.7",
            "hosts": [f"n{node}" for node in range(len(ranks))], "nodes": len(ranks),
            "ppn": max(ranks), "ranks": sum(ranks), "mapping": ",".join(map(str, ranks)),
            "pml": "ob1", "processors": 2, "oversubscribed": False, "spinning": False,
            "load": 0.0, "frequency": "-", "when": "", "command": ""}


MACHINE = machine(*[1] * RANKS)


def options(**others):
    """Options of pipering-tune, as far as the steps behind preflight want them."""
    return SimpleNamespace(**{"variables": [], "collectives": [], "seed": 1, **others})


class Quiet:
    """A Progress that says nothing."""

    def say(self, text):
        pass

    def cell(self, text, done, total, spent):
        pass


class Machine:
    """run() is the posed kernel. noise: of a repetition; drift: of a job, alike for all its
    cells; adapters: how many times as large an ALPHA they say; begin: seconds until a job begins;
    slow: how many times as long calls take as links let expect; bad: tells of a cell, as the kernel
    gets it, with the parameter file of its job, how it fails, None if it does not."""

    def __init__(self, seed=1, noise=0.02, drift=0.02, bad=None, knee=math.inf,
                 teardown=0.0, begin=JOB_SECONDS, slow=1.0, adapters=1.0):
        self.dice = random.Random(seed)
        self.teardown = teardown
        self.begin = begin
        self.slow = slow
        self.adapters = adapters
        self.knee = knee
        self.noise = noise
        self.drift = drift
        self.bad = bad or (lambda cell, path: None)
        self.now = 0.0
        self.measured = []

    def clock(self):
        return self.now

    def run(self, cells, take, path):
        """A job."""
        from pipering_tuning import files
        start = files.read_settings(path) if path else {}
        self.now += self.begin
        factor = math.exp(self.dice.gauss(0, self.drift))
        for cell in (cell for group in cells for cell in group):
            self.measured.append(len(self.measured))
            status = self.bad(cell, path)
            if status is None:
                result = self.result(cell, {**start, **cell.get("set", {})}, factor)
            else:
                result = {"status": status, "seconds": [], "note": f"posed to be {status}"}
            take(cell["cell"], result)
        self.now += self.teardown

    def result(self, cell, settings, factor):
        time, block = task_time(cell) if "task" == cell["kind"] else \
            true_time(cell, settings, self.knee, self.adapters)
        time *= 1.0 if "task" == cell["kind"] else self.slow
        seconds = [time * factor * math.exp(self.dice.gauss(0, self.noise))
                   for _ in range(cell["reps"])]
        self.now += sum(seconds) * (cell["reps"] + cell["warmup"]) / cell["reps"]
        ranks, total = ranks_of(cell), cell.get("total", 0)
        return {"status": "ok", "seconds": seconds, "block": block,
                "algorithm": "" if block is None else "ring", "predicted": time,
                "largest": total // ranks, "contributors": ranks, "ranks": ranks,
                "nodes": ranks, "ppn": 1, "note": ""}


def ranks_of(cell):
    """How many take part in a cell, as the kernel gets it: one on each node."""
    return cell.get("nodes", RANKS)


def task_time(cell):
    """(seconds, no block size) of a task."""
    from pipering_tuning import machine_fit
    if "stream" == cell["task"]:
        link = machine_fit.Link(ALPHA, BETA, BETA / 50)
        return machine_fit.stream_time(link, cell["bytes"]), None
    return ALPHA + 1e-9 * cell["bytes"], None


def true_time(cell, settings, knee=math.inf, adapters=1.0):
    """(seconds, block size) of a call without noise."""
    total = cell["total"]
    if total < 8192:
        return below(cell, settings), None
    return served(cell, settings, knee, adapters)


def served(cell, settings, knee=math.inf, adapters=1.0):
    """The same of a call that this component serves."""
    total, ranks = cell["total"], ranks_of(cell)
    block = block_size(total, ranks, settings, adapters)
    time = (ranks - 2 + total / block) * (ALPHA + BETA * block
                                          + (HANDSHAKE if block > knee else 0))
    algorithm = settings.get(f"coll_pipering_{cell['collective']}_algorithm", "auto")
    if "tree" == algorithm:
        time *= 0.8 if RANKS == ranks else 1.2
    if algorithm in ("mesh_cycles", "off"):
        time *= 1.5
    if "alltoall" in cell["collective"] and \
            8192 == float(settings.get("coll_pipering_alltoall_small", 4096)):
        time *= 0.9
    packed = float(settings.get("coll_pipering_rounds_packed", 8192))
    if packed > 8192:
        time *= {"outlier": 0.6, "broadcast": 1.3}.get(cell["dist"], 1.0)
    return time, block


def below(cell, settings):
    """Seconds of the component below, which is the faster one below 8192 bytes."""
    time = served(cell, {})[0] * (0.7 if cell["total"] < 8192 else 1.4)
    forced = settings.get(f"coll_tuned_{cell['collective']}_algorithm")
    if "quick" == forced:
        time *= 0.67 if cell["total"] < 3000 else 1.2
    return time


def block_size(total, ranks, settings, adapters):
    """What the library takes: forced, or by the costs of the machine, which a file or adapters
    say."""
    forced = float(settings.get("coll_pipering_block_size", 0))
    if forced:
        return int(forced)
    alpha = ALPHA * adapters
    if settings.get("coll_pipering_machine"):
        with open(settings["coll_pipering_machine"], encoding="utf-8") as stream:
            alpha = 1e-6 * float(re.search("net_alpha = (.*)", stream.read()).group(1))
    best = math.sqrt(total * alpha / ((ranks - 2) * BETA))
    return int(min(max(best, 1024), total))
