# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""A posed machine: the answer of an ompi_info, and a place whose calls take the time that a test says,
with seeded noise."""

import random

INFO = """
ompi:version:full:5.0.7
path:prefix:/posed
mca:coll:pipering:param:coll_pipering_block_size:value:0
mca:pml:base:param:pml:value:"ob1"
"""

# As preflight describes it.
MACHINE = {"release": "5.0.7", "hosts": [f"n{node}" for node in range(8)], "nodes": 8, "ppn": 1,
           "ranks": 8, "mapping": "1,1,1,1,1,1,1,1", "pml": "ob1"}


class Place:
    """A Place of place.py. seconds(cell, variables) is the time of a call without noise, or a status;
    noise: of a repetition, and of a job."""

    machine = MACHINE

    def __init__(self, seconds, noise=0.01, seed=1):
        self.seconds, self.noise = seconds, noise
        self.dice = random.Random(seed)
        self.jobs = []  # variables of each

    def __str__(self):
        return "posed"

    def run(self, cells, take, variables=()):
        self.jobs.append(list(variables))
        drift = 1 + self.noise * self.dice.gauss(0, 1)
        for group in cells:
            for cell in [group] if isinstance(group, dict) else group:
                take(cell["cell"], self.result(cell, variables, drift))

    def result(self, cell, variables, drift):
        found = self.seconds(cell, variables)
        if isinstance(found, str):
            return {"status": found, "seconds": [], "note": f"it is {found}"}
        return {"status": "ok", "algorithm": "ring", "block": 8192, "predicted": 1e-3, "note": "",
                "seconds": [found * drift * (1 + self.noise * abs(self.dice.gauss(0, 1)))
                            for _ in range(cell["reps"])]}
