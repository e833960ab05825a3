# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Preflight: which machine, and what will disturb the measurement."""

import subprocess

from . import messages, processes
from .files import Refusal

# What each rank prints about its node and about the variables that its environment sets, in words
# that any shell knows.
PROBE = r"""
load= governor=-
{ read -r load rest </proc/loadavg; } 2>/dev/null
processors=$(getconf _NPROCESSORS_ONLN 2>/dev/null) ||
    processors=$(grep -c '^processor' /proc/cpuinfo 2>/dev/null)
file=/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
[ -r $file ] && read -r governor <$file
model=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
printf 'pipering-node\t%s\t%s\t%s\t%s\t%s\n' "$(uname -n)" "$processors" "$load" \
    "$governor" "$model"
env | while IFS= read -r line; do
    case $line in OMPI_MCA_*) printf 'pipering-set\t%s\n' "${line#OMPI_MCA_}" ;; esac
done
"""

# Seconds that each rank waits first. PRRTE can lose the end of a process that ends while its daemon
# still starts it, and then mpirun never ends (openpmix/prrte #2713 mends that). Where sleep takes
# no fractions, it is one second.
WAIT = 0.2
OUTLIVE_START = f"sleep {WAIT} 2>/dev/null || sleep 1\n"

# Governors that change the frequency of processors.
CHANGING = {"powersave", "ondemand", "schedutil", "conservative"}

NOT_BEGUN = "nothing was measured"


class Node:
    """A node as its ranks see it. processors, load: None if it does not say."""

    def __init__(self, fields):
        self.host, processors, load, self.governor, self.model = fields
        self.processors = _number(processors, int)
        self.load = _number(load, float)
        self.ranks = 0


def _number(text, kind):
    try:
        return kind(text)
    except ValueError:
        return None


def run_plainly(launcher, script, limit=120):
    """Runs a script of sh, which is no MPI program, once for each rank; its output. Refuses if it
    fails."""
    words = launcher.argv(["/bin/sh", "-c", OUTLIVE_START + script])
    job = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, errors="replace",
                           start_new_session=True)
    with job:
        try:
            said, errors = job.communicate(timeout=limit)
        except subprocess.TimeoutExpired as error:
            raise Refusal(f"`{launcher}` had not ended a job after {limit} s; {NOT_BEGUN}") \
                from error
        finally:
            processes.end(job)
    if 0 != job.returncode:
        raise Refusal(f"`{launcher}` failed with status {job.returncode}: "
                      f"{messages.why((errors or said).splitlines()) or 'it says nothing'}; "
                      f"{NOT_BEGUN}")
    return said


def probe(launcher):
    """The nodes of a job, {host: Node}, in the order of ranks; and the variables that the
    environment of its ranks sets, {variable: value}."""
    nodes, given = {}, {}
    for line in run_plainly(launcher, PROBE).splitlines():
        fields = line.split("\t")
        if 6 == len(fields) and "pipering-node" == fields[0]:
            node = nodes.setdefault(fields[1], Node(fields[1:]))
            node.ranks += 1
        elif 2 == len(fields) and "pipering-set" == fields[0]:
            name, _, value = fields[1].partition("=")
            given[name] = value
    if not nodes:
        raise Refusal(f"`{launcher}` ran, but no rank answered; nothing was measured")
    return nodes, given


def describe(launcher, table, nodes, kernel_machine):
    """What is known of the machine, {name: value}. kernel_machine: what the kernel says of it."""
    hosts = list(dict.fromkeys(kernel_machine.get("hosts", ()))) or sorted(nodes)
    ranks = _ranks_of_nodes(launcher, nodes, kernel_machine, hosts)
    if 1 == sum(ranks):
        raise Refusal("there is one rank alone, and so nothing to communicate; --launch says where "
                      f"there are more; {NOT_BEGUN}")
    first = next(iter(nodes.values()))
    return {
        "release": table.version,
        "library": kernel_machine.get("library", f"Open MPI v{table.version}"),
        "hosts": hosts,
        "nodes": len(ranks),
        "ppn": max(ranks),
        "ranks": sum(ranks),
        "mapping": ",".join(map(str, ranks)),
        "pml": kernel_machine.get("pml") or table.values.get("pml") or "chosen by Open MPI",
        "processors": first.processors,
        "processor": first.model,
        "oversubscribed": any(node.processors and node.ranks > node.processors
                              for node in nodes.values()),
        "spinning": kernel_machine.get("yield", "0") in ("", "0"),
        "load": max((node.load for node in nodes.values() if node.load is not None),
                    default=None),
        "frequency": ",".join(sorted({node.governor for node in nodes.values()})),
        "command": str(launcher),
    }


def crowding(nodes, given):
    """Ranks a processor on the fullest node. given: variables of the environment of jobs."""
    loads = [1.0]
    for node in nodes.values():
        processors = float(given.get("coll_pipering_processors", 0)) or node.processors
        loads += [node.ranks / processors] if processors else []
    return max(loads)


def _ranks_of_nodes(launcher, nodes, kernel_machine, hosts):
    """The number of ranks of each node: those that MPI sees, once it has been asked."""
    started = sum(node.ranks for node in nodes.values())
    ranks = kernel_machine.get("ranks", started)
    count = kernel_machine.get("nodes", len(nodes))
    if ranks != started:
        raise Refusal(f"`{launcher}` starts {started} processes, of which MPI makes a job of "
                      f"{ranks}: launcher and library must be of the same Open MPI, and srun wants "
                      f"--mpi=pmix; {NOT_BEGUN}")
    if count != len(hosts):  # nodes share a name, or have several: so many each, as far as known
        return [ranks // count + (node < ranks % count) for node in range(count)]
    if all(host in nodes for host in hosts):
        return [nodes[host].ranks for host in hosts]
    return [kernel_machine["hosts"].count(host) for host in hosts]


def warnings(machine, nodes):
    """Sentences about what will disturb the measurement."""
    said = []
    if machine["oversubscribed"]:
        said.append("there are more ranks than processors on a node: times show the scheduler "
                    "too" + (", and waiting ranks spin; mpi_yield_when_idle=1 helps"
                             if machine["spinning"] else ""))
    if (machine["load"] or 0) > 0.5:
        busiest = max(nodes.values(), key=lambda node: node.load or 0)
        said.append(f"{busiest.host} has a load of {busiest.load:g}: other programs run there")
    if CHANGING & {node.governor for node in nodes.values()}:
        said.append(f"processors change their frequency ({machine['frequency']}): the governor "
                    "`performance` gives steadier times")
    if 1 == machine["nodes"]:
        said.append("all ranks are on one node: nothing is known of a network")
    if machine["nodes"] != len(nodes):
        said.append(f"MPI sees {machine['nodes']} nodes, but `uname -n` says {len(nodes)} names "
                    f"({', '.join(list(nodes)[:8])}): what is said of processors and load may miss "
                    "a node")
    silent = sorted(host for host, node in nodes.items() if None in (node.processors, node.load))
    if silent:
        said.append(f"{' '.join(silent[:8])}{' ...' if len(silent) > 8 else ''} cannot say how "
                    "many processors or what load they have, so more ranks than processors are not "
                    "noticed, or other programs there")
    for what, name in (("numbers of processors", "processors"), ("processors", "model"),
                       ("frequency governors", "governor")):
        values = sorted({getattr(node, name) for node in nodes.values()} - {None})
        if 1 < len(values):
            said.append(f"nodes have different {what}: {', '.join(map(str, values[:4]))}")
    if len({node.ranks for node in nodes.values()}) > 1:
        said.append(f"nodes have different numbers of ranks ({machine['mapping']})")
    return said
