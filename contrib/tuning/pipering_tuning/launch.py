# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""How a job is started: by mpirun and its options, by srun, or by any other command that takes a
program behind its own words. Variables are set in the environment of the program, by `env`."""

import os
import shlex
import shutil

from .files import Refusal

# How the names of Open MPI's own starters begin.
OF_OPEN_MPI = ("mpirun", "mpiexec", "orte", "prte")


class Launcher:
    """Makes the words of a job.

    words   what begins it, a list; nothing of the program
    given   what the environment of the program has besides, [NAME=VALUE]
    """

    def __init__(self, words, given=()):
        self.words = list(words)
        self.given = list(given)

    def argv(self, program):
        """program: a list."""
        return self.words + (["env", *self.given] if self.given else []) + list(program)

    def ompi_info(self):
        """The path of ompi_info: beside what starts jobs, of OMPI_PREFIX, or on PATH. What lies
        beside srun, or another starter that is not Open MPI's, may be another Open MPI's."""
        starter = shutil.which(self.words[0]) or ""
        places = [os.path.join(os.environ.get("OMPI_PREFIX", ""), "bin")]
        if os.path.basename(starter).startswith(OF_OPEN_MPI):
            places.insert(0, os.path.dirname(starter))
        paths = [os.path.join(place, "ompi_info") for place in places]
        return next((path for path in paths if os.access(path, os.X_OK)), "ompi_info")

    def __str__(self):
        return shlex.join(self.words)


def make(command, given=()):
    """The Launcher of the text of --launch."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise Refusal(f"--launch '{command}' cannot be taken to pieces ({error}): expected words "
                      "as a shell has them, each quote closed; nothing was run") from error
    if not words or shutil.which(words[0]) is None:
        raise Refusal(f"--launch '{command}' does not begin with a program that can be run; "
                      "nothing was run")
    return Launcher(words, given)
