# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""A posed installation of Open MPI in a directory of its own, and how pipering-tune is run there."""

import os
import subprocess
import sys
import tempfile

import tap
import posed
from pipering_tuning import files

DOOR = os.path.join(tap.TUNING, "pipering-tune")


def refused(function, *words):
    """The sentence by which a function refuses; all words must stand in it."""
    try:
        function()
    except files.Refusal as refusal:
        text = str(refusal)
        assert all(word in text for word in words), text
        assert "\n" not in text and len(text) < 600, text
        return text
    raise AssertionError("was not refused")


def script(directory, name, text):
    """A program of sh."""
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


class Place:
    """A directory with a posed installation: ompi_info and an mpirun that does as it is told."""

    def __init__(self, mpirun="exit 1", info=None):
        self.keeper = tempfile.TemporaryDirectory()
        self.path = self.keeper.name
        with open(os.path.join(self.path, "info"), "w", encoding="utf-8") as stream:
            stream.write(posed.INFO if info is None else info)
        script(self.path, "ompi_info", f"cat {self.path}/info\n")
        self.mpirun = script(self.path, "mpirun", mpirun + "\n")

    def tune(self, *arguments, **more):
        """(status, messages) of pipering-tune there, with more in its environment."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("SLURM_", "OMPI_"))}
        environment.update(more)
        run = subprocess.run([sys.executable, DOOR, "--launch", self.mpirun, *arguments],
                             capture_output=True, text=True, timeout=300, check=False,
                             cwd=self.path, env=environment)
        assert "Traceback" not in run.stderr, run.stderr
        self.output = run.stdout
        return run.returncode, run.stderr.strip()


def tuned(place, *arguments, status=1, words=(), **more):
    """pipering-tune must end so, with one sentence that has these words."""
    code, text = place.tune(*arguments, **more)
    assert code == status, (code, text)
    assert all(word in text for word in words), text
    if 1 == status:
        assert 1 == len(text.splitlines()) and text.startswith("pipering-tune: "), text
