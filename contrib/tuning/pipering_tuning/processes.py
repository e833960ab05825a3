# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Ending a process, and all that it has started."""

import os
import signal
import subprocess

KILL_TIMEOUT = 5.0  # seconds from SIGTERM to SIGKILL


def end(process):
    """Ends a Popen of a session of its own by force, with all processes of its group, if it has
    not ended. Whatever is raised meanwhile, a second Ctrl-C too, nothing is left running."""
    try:
        if process.poll() is None:
            _signal(process, signal.SIGTERM)
            process.wait(KILL_TIMEOUT)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            _signal(process, signal.SIGKILL)
            process.wait()


def _signal(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass
