# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Files: refusals, writing all or nothing, and the parameter files of Open MPI.

A parameter file has one setting a line, `variable=value` without blanks, and comments on lines of
their own. `mpirun --tune` of 5.0 and mca-params.conf of 4.1 and 5.0 all take that form; PRRTE's
reader of --tune refuses lines with blanks around the equals sign.
"""

import contextlib
import hashlib
import json
import os
import re
import tempfile

SETTING = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$")


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


def read(path):
    """The text of a file; it may have paths as `write` writes them."""
    with open(path, encoding="utf-8", errors="surrogateescape") as stream:
        return stream.read()


def setting(text, where):
    """The (variable, value) of VARIABLE=VALUE."""
    found = SETTING.match(text)
    if found is None or not found.group(2) or re.search(r"\s", found.group(2)):
        raise Refusal(f"{where}: '{text}' is no setting; expected VARIABLE=VALUE with a value "
                      "without blanks; nothing was run")
    return found.group(1), found.group(2)


def read_settings(path):
    """The settings of a parameter file, {variable: value}."""
    settings = {}
    for number, line in enumerate(read(path).splitlines(), 1):
        line = line.strip()
        if line and not line.startswith("#"):
            variable, value = setting(line, f"{path}, line {number}")
            settings[variable] = value
    return settings


def settings_text(settings, comments=()):
    """A parameter file as text."""
    lines = [f"# {line}".rstrip() for line in comments]
    lines += [f"{variable}={settings[variable]}" for variable in sorted(settings)]
    return "\n".join(lines) + "\n"


def contents(settings):
    """{variable: digest} of the files that values name: a rules file, or @FILE."""
    paths = {name: value.lstrip("@") for name, value in settings.items()
             if value.startswith(("/", "@"))}
    return {name: digest(path) for name, path in sorted(paths.items()) if os.path.isfile(path)}


def fingerprint(*parts):
    """A few digits that differ where any of these, which JSON can write, does."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def digest(path):
    """A few digits that differ where contents of a file do; None if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()[:12]
    except OSError:
        return None


def make_directory(path):
    """The directory of the results. mpirun takes its path to pieces at commas and blanks."""
    path = os.path.abspath(path)
    if re.search(r"[\s,:]", path):
        raise Refusal(f"{path}: the name of the output directory has a blank, comma or colon, at "
                      "which mpirun would take it to pieces; choose another; nothing was run")
    os.makedirs(path, exist_ok=True)
    with tempfile.TemporaryFile(dir=path):
        pass
    return path
