# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Variables of an Open MPI as `ompi_info --parsable` prints them: the only source of names,
defaults, ranges and values. Ranges of numbers stand at the end of the help texts,
`[LOW..HIGH UNIT; 0: MEANING]`; enumerations are Open MPI's own."""

import difflib
import re
import subprocess

from .files import Refusal

CLAUSE = re.compile(r"\[(?P<low>[-+.\de]+)\.\.(?P<high>[-+.\de]+)(?: (?P<unit>[a-z]+))?"
                    r"(?:; 0: (?P<zero>[^\[\]]*))?\]$")
LINE = re.compile(r'"?mca:([^:]*:[^:]*):param:([^:]+):([a-z_]+):(.*?)"?$')
NEEDED = "coll_pipering_min_total"


class Variable:
    """One variable.

    owner           FRAMEWORK:COMPONENT
    value, source   in force for a job that is started here: a default, or of a file or the
                    environment
    type            int, size_t, double, bool, string, ...
    writable        a running job can change it
    values          names of an enumeration or a switch, in order; empty for others
    numbers         {name: number} of them
    low, high       range of a number, None if the help text has none
    unit, zero      of a number: bytes, ...; what the special value 0 means, None if it is none
    """

    def __init__(self, name, owner):
        self.name = name
        self.owner = owner
        self.text = self.source = self.type = self.help = ""
        self.level = 9
        self.writable = False
        self.values = []
        self.numbers = {}
        self.low = self.high = self.unit = self.zero = None

    def take(self, field, text):
        """A field of ompi_info."""
        text = text.strip().strip('"')
        if field in ("source", "type"):
            setattr(self, field, text)
        elif "value" == field:
            self.text = text
        elif field == "level":
            self.level = int(text)
        elif field == "status":
            self.writable = text.startswith("write")
        elif field == "enumerator":
            number, _, names = text.partition(":")[2].partition(":")
            self.values.append(names.split("|")[0])
            self.numbers[self.values[-1]] = int(number)
        elif field == "help":
            self.take_help(text)

    def take_help(self, text):
        self.help = text
        clause = CLAUSE.search(text)
        if clause is not None:
            self.low, self.high = float(clause.group("low")), float(clause.group("high"))
            self.unit, self.zero = clause.group("unit"), clause.group("zero")

    @property
    def value(self):
        """The value in force, a number without idle digits."""
        return tidy(self.text) if self.is_number else self.text

    @property
    def is_number(self):
        return self.type in ("int", "unsigned_int", "long", "unsigned_long", "size_t", "double") \
            and not self.values

    def same(self, one, other):
        """Whether two texts are the same value."""
        if self.is_number:
            try:
                return float(one) == float(other)
            except ValueError:
                return False
        return _word(one) == _word(other)

    def complaint(self, value):
        """Why a value is not legal, None if it is."""
        if self.values:
            legal = [_word(name) for name in self.values]
            return None if _word(value) in legal else "legal are " + ", ".join(self.values)
        if self.is_number:
            return self.complaint_of_number(value)
        return None

    def complaint_of_number(self, value):
        low = 0 if self.low is None else self.low
        high = float("inf") if self.high is None else self.high
        try:
            good = low <= float(value) <= high or (self.zero is not None and 0 == float(value))
        except ValueError:
            good = False
        return None if good else f"legal are {tidy(low)} to {tidy(high)}"


def _word(text):
    """Open MPI prints switches as true and false, and reads 1 and 0 too."""
    return {"1": "true", "0": "false", "t": "true", "f": "false"}.get(text, text).lower()


def tidy(number):
    """A number as Open MPI reads it, without idle digits."""
    number = float(number)
    return str(int(number)) if number == int(number) else f"{number:.6g}"


class Table:
    """All variables of an Open MPI: version, prefix, {name: Variable}."""

    def __init__(self, text):
        self.variables = {}
        self.version = self.prefix = ""
        for line in text.splitlines():
            self.take(line)

    def take(self, line):
        found = LINE.match(line)
        if found is not None:
            owner, name, field, rest = found.groups()
            if name not in self.variables:
                self.variables[name] = Variable(name, owner)
            self.variables[name].take(field, rest)
        elif line.startswith("ompi:version:full:"):
            self.version = line.rpartition(":")[2]
        elif line.startswith("path:prefix:"):
            self.prefix = line[len("path:prefix:"):]

    def get(self, name):
        """A Variable; None if this release has none of this name."""
        return self.variables.get(name)

    def check(self, settings, where):
        """Refuses settings of variables that are not there, or of values that are not legal."""
        for name, value in settings.items():
            variable = self.get(name)
            if variable is None:
                raise Refusal(f"{where}: Open MPI {self.version} has no variable {name}"
                              f"{self.guess(name)}; nothing was run")
            complaint = variable.complaint(value)
            if complaint is not None:
                raise Refusal(f"{where}: {name} is '{value}', but {complaint}; nothing was run")

    def guess(self, name):
        """What may have been meant."""
        near = difflib.get_close_matches(name, self.variables, 1)
        return f" (perhaps {near[0]} is meant)" if near else ""


def read(command):
    """The Table of an ompi_info, whose command is a list of words."""
    words = command + ["--parsable", "--all", "--level", "9"]
    try:
        run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=120, check=False, errors="replace")
    except FileNotFoundError as error:
        raise Refusal(f"{command[0]} is not there; --ompi-info names the ompi_info of the Open "
                      "MPI to tune; nothing was run") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refusal(f"{command[0]} cannot be run: {error}; nothing was run") from error
    table = Table(run.stdout)
    if 0 != run.returncode or not table.version:
        last = (run.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise Refusal(f"{' '.join(words)} failed ({last}); nothing was run")
    if table.get(NEEDED) is None:
        raise Refusal(f"Open MPI {table.version} in {table.prefix} shows no variables of "
                      "coll/pipering: it is not installed there or not found (see "
                      "docs/troubleshooting.md); nothing was run")
    return table
