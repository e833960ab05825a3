# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Where a run measures: an Open MPI, how jobs are started there, its nodes, the compiled kernel."""

import os

from . import kernel, launch, ompi_info, preflight


class Place:
    """launch: the text of --launch; directory: all nodes see it; needed: coll/pipering must be
    there."""

    def __init__(self, launch_text, directory, needed):
        self.launch_text, self.directory = launch_text, directory
        launcher = launch.make(launch_text)
        self.table = ompi_info.read(launcher.ompi_info(), needed)
        self.nodes, self.given = preflight.probe(launcher)
        self.program = kernel.build(os.path.join(self.table.prefix, "bin", "mpicc"), directory)
        self.machine = preflight.describe(launcher, self.table, self.nodes,
                                          kernel.run(self.program, launcher, [], None))

    def run(self, cells, take, variables=()):
        """Cells in a job with these [OMPI_MCA_NAME=VALUE] in its environment (kernel.run)."""
        kernel.run(self.program, launch.make(self.launch_text, variables), cells, take,
                   directory=self.directory)

    def __str__(self):
        nodes = self.machine["nodes"]
        return f"{self.machine['ranks']} ranks on {nodes} node{'' if 1 == nodes else 's'}, " \
               f"pml {self.machine['pml']}"
