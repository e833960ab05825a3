# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Collective calls of mpi4py for Python's objects, of unequal sizes, and for arrays.

Each rank prints nothing but rank 0, which prints lines "time CALL SECONDS", the slowest rank's, and
"answer CALL CHECKSUM", of what all ranks have received; "good" if that is what was sent.
"""

import zlib

import numpy
from mpi4py import MPI

REPEATS = 10
LARGEST = 40000  # values of the rank that has most

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()


def thing(owner, of=0):
    """What a rank sends: the rank before the last has most, others a half, a third, ... of it."""
    count = LARGEST // (1 + (owner + 2) % ranks)
    return {"owner": owner, "text": "x" * (count // 50 + of),
            "values": numpy.arange(count, dtype="i8") * (owner + 1) + of}


def digest(found):
    """A checksum of the values of a result; two pickles of equal objects may differ."""
    if isinstance(found, dict):
        found = [found[key] for key in sorted(found)]
    if isinstance(found, list):
        return zlib.crc32(repr([digest(one) for one in found]).encode())
    return zlib.crc32(found.tobytes() if isinstance(found, numpy.ndarray)
                      else repr(found).encode())


def add(one, other):
    """Exact whatever the order, and as long as the longest."""
    if len(one) < len(other):
        one, other = other, one
    total = one.copy()
    total[:len(other)] += other
    return total


def arrays():
    counts = [len(thing(owner)["values"]) for owner in range(ranks)]
    found = numpy.empty(sum(counts), dtype="i8")
    comm.Allgatherv(thing(rank)["values"], (found, counts))
    return found


def sums():
    values = numpy.arange(LARGEST, dtype="i8") * (rank + 1)
    found = numpy.empty_like(values)
    comm.Allreduce(values, found)
    return found


CALLS = {
    "allgather": (lambda: comm.allgather(thing(rank)), [thing(owner) for owner in range(ranks)]),
    "bcast": (lambda: comm.bcast(thing(1) if 1 == rank else None, root=1), thing(1)),
    "alltoall": (lambda: comm.alltoall([thing(rank, of) for of in range(ranks)]),
                 [thing(owner, rank) for owner in range(ranks)]),
    "allreduce": (lambda: comm.allreduce(thing(rank)["values"], op=add),
                  sum((numpy.pad(thing(owner)["values"], (0, LARGEST - len(thing(owner)["values"])))
                       for owner in range(ranks)), numpy.zeros(LARGEST, dtype="i8"))),
    "gather": (lambda: comm.gather(thing(rank), root=0),
               [thing(owner) for owner in range(ranks)] if 0 == rank else None),
    "Allgatherv": (arrays, numpy.concatenate([thing(owner)["values"] for owner in range(ranks)])),
    "Allreduce": (sums, numpy.arange(LARGEST, dtype="i8") * (ranks * (ranks + 1) // 2)),
}

good = True
for name, (call, expected) in CALLS.items():
    found = call()
    comm.Barrier()
    start = MPI.Wtime()
    for _ in range(REPEATS):
        found = call()
    seconds = comm.reduce(MPI.Wtime() - start, op=MPI.MAX, root=0)
    good = good and digest(found) == digest(expected)
    checksums = comm.gather(digest(found), root=0)
    if 0 == rank:
        print("time", name, f"{seconds:.6f}")
        print("answer", name, digest(checksums))
good = comm.allreduce(good, op=MPI.LAND)
if 0 == rank:
    print("good" if good else "wrong", flush=True)
