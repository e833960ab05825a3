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

import hashlib
import json
import os
import re
import tempfile

SETTING = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$")


class Refusal(Exception):
    """Bad input or a failing machine. Its text is the one sentence that the user reads: what,
    where, what is legal, and what happens now. late: it may come at any time of a run, so who
    knows that says what is kept of it."""

    def __init__(self, text, late=False):
        super().__init__(text)
        self.late = late


def write(path, text):
    """Writes a file whole or not at all: a reader never sees half of it. Bytes of paths that are
    no text are written as they are."""
    directory = os.path.dirname(os.path.abspath(path))
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=directory, prefix=".new-")
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise Refusal(f"{path} cannot be written: {error.strerror}", late=True) from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def rename(path, name):
    """Gives a file another name; what had that one is gone."""
    try:
        os.replace(path, name)
    except OSError as error:
        raise Refusal(f"{path} cannot be renamed to {name}: {error.strerror}",
                      late=True) from error


def remove(path):
    """Removes a file, if there is one."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise Refusal(f"{path} cannot be removed: {error.strerror}", late=True) from error


def read(path):
    """The text of a file that the user named; it may have paths as `write` writes them."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read()
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror}; nothing was run") from error


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
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise Refusal(f"{path} cannot be written: {error.strerror}; choose another output "
                      "directory; nothing was run") from error
    return path
