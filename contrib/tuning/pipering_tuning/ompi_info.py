# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Open MPI as `ompi_info --parsable` shows it: release, prefix, and values of variables."""

import re
import subprocess

from .files import Refusal

VALUE = re.compile(r'"?mca:[^:]*:[^:]*:param:([^:]+):value:(.*?)"?$')
NEEDED = "coll_pipering_block_size"


class Table:
    """version, prefix, values {variable: value}."""

    def __init__(self, text):
        self.values = {}
        self.version = self.prefix = ""
        for line in text.splitlines():
            found = VALUE.match(line)
            if found is not None:
                self.values[found.group(1)] = found.group(2).strip('"')
            elif line.startswith("ompi:version:full:"):
                self.version = line.rpartition(":")[2]
            elif line.startswith("path:prefix:"):
                self.prefix = line[len("path:prefix:"):]


def read(program, needed):
    """The Table of an ompi_info. needed: coll/pipering must be there."""
    try:
        run = subprocess.run([program, "--parsable", "--all", "--level", "9"],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                             check=False, errors="replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refusal(f"{program} cannot be run ({error}); --launch begins with the mpirun of the "
                      "Open MPI to tune, or PATH has its ompi_info; nothing was run") from error
    table = Table(run.stdout)
    if 0 != run.returncode or not table.version:
        last = (run.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise Refusal(f"{program} failed ({last}); nothing was run")
    if needed and NEEDED not in table.values:
        raise Refusal(f"Open MPI {table.version} in {table.prefix} shows no variables of "
                      "coll/pipering: it is not installed there or not found (see "
                      "docs/troubleshooting.md); nothing was run")
    return table
