# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Files: refusals, and writing all or nothing."""

import contextlib
import os
import re
import tempfile


class Refusal(Exception):
    """Bad input or a failing machine. Its text is the one sentence that the user reads: what,
    where, what is legal, and what happens now. What the system refuses is an OSError, which has
    its words already."""


def write(path, text):
    """Writes a file whole or not at all: a reader never sees half of it. Bytes of paths that are
    no text are written as they are."""
    temporary = f"{path}.{os.getpid()}.new"
    try:
        with open(temporary, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except OSError as error:
        error.filename = path
        raise
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def make_directory(path):
    """The directory of the results. Parameter files take paths to pieces at commas and blanks."""
    path = os.path.abspath(path)
    if re.search(r"[\s,:]", path):
        raise Refusal(f"{path}: the name of the output directory has a blank, comma or colon, at "
                      "which Open MPI would take it to pieces; choose another; nothing was run")
    os.makedirs(path, exist_ok=True)
    with tempfile.TemporaryFile(dir=path):
        pass
    return path
