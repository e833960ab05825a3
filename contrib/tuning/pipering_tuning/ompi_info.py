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
import math
import re
import subprocess

from .files import Refusal

CLAUSE = re.compile(r"\[([-+.\de]+)\.\.([-+.\de]+)(?: [a-z]+)?(?:; 0: ([^\[\]]*))?\]$")
LINE = re.compile(r'"?mca:[^:]*:[^:]*:param:([^:]+):([a-z_]+):(.*?)"?$')
NEEDED = "coll_pipering_block_size"

# What Open MPI reads as a whole number: C's bases, and units of 1024.
WHOLE = re.compile(r"([-+]?)(0[xX][\da-fA-F]+|0[0-7]*|[1-9]\d*)(?:([kKmMgG])(?:i?[bB])?)?$")
UNITS = {None: 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}

# Ranges that types have by themselves; the largest ones take a -1 too, as their largest value.
TYPES = {"int": (-2.0 ** 31, 2.0 ** 31 - 1), "int32_t": (-2.0 ** 31, 2.0 ** 31 - 1),
         "unsigned_int": (0, 2.0 ** 32 - 1), "uint32_t": (0, 2.0 ** 32 - 1),
         "long": (-math.inf, math.inf), "unsigned_long": (-math.inf, math.inf),
         "unsigned_long_long": (-math.inf, math.inf), "size_t": (-math.inf, math.inf),
         "int64_t": (-math.inf, math.inf), "uint64_t": (-math.inf, math.inf),
         "double": (-math.inf, math.inf)}

# ompi_info prints doubles with six decimals.
ROUNDED = 1e-6

# Other words that Open MPI reads as the values of a switch.
SWITCH = {"t": "true", "yes": "true", "y": "true", "enabled": "true",
          "f": "false", "no": "false", "n": "false", "disabled": "false"}


class Variable:
    """One variable.

    value, source   in force for a job that is started here: a default, or of a file or the
                    environment
    type            int, size_t, double, bool, string, ...
    writable        a running job can change it
    values          names of an enumeration or a switch, in order; empty for others
    numbers         {name: number} of them
    low, high       range of a number, None if the help text has none
    zero            what the special value 0 means, None if it is none
    """

    def __init__(self, name):
        self.name = name
        self.text = self.source = self.type = ""
        self.writable = False
        self.values = []
        self.numbers = {}
        self.low = self.high = self.zero = None

    def take(self, field, text):
        """A field of ompi_info."""
        text = text.strip().strip('"')
        if field in ("source", "type"):
            setattr(self, field, text)
        elif "value" == field:
            self.text = text
        elif field == "status":
            self.writable = text.startswith("write")
        elif field == "enumerator":
            number, _, names = text.partition(":")[2].partition(":")
            self.values.append(names.split("|")[0])
            self.numbers[self.values[-1]] = int(number)
        elif field == "help" and CLAUSE.search(text):
            low, high, self.zero = CLAUSE.search(text).groups()
            self.low, self.high = float(low), float(high)

    @property
    def value(self):
        """The value in force, a number without idle digits."""
        return self.plain(self.text)

    def read(self, text):
        """The value that Open MPI reads: a number, or a name of the enumeration for whatever stands
        for it, or several of them. ValueError: none, the text says what is legal."""
        if not self.values:
            return self.number(text) if self.type in TYPES else text
        # Of an enumeration whose numbers are bits, a value is a list of names.
        flags = all(one > 0 and 0 == one & one - 1 for one in self.numbers.values())
        names = [self._name(word.strip()) for word in (text.split(",") if flags else [text])]
        if not set(names) <= set(self.values):
            raise ValueError("legal are " + ", ".join(self.values))
        return ",".join(names)

    def _name(self, text):
        if set(self.values) == {"false", "true"}:
            text = SWITCH.get(text.lower(), text)
        return next((name for name in self.values
                     if text.lower() == name.lower() or text == str(self.numbers[name])), text)

    def number(self, text):
        """The same of a number."""
        low, high = TYPES[self.type]
        low = low if self.low is None else self.low
        high = high if self.high is None else self.high
        try:
            number = float(text.replace("_", "?")) if "double" == self.type else whole(text)
        except ValueError:
            number = math.nan
        if low <= number <= high or (self.zero is not None and 0 == number):
            return number
        legal = "" if math.isinf(high) else f"{tidy(low)} to {tidy(high)}"
        kind = "numbers" if "double" == self.type else "whole numbers"
        raise ValueError("legal are " + ", ".join(filter(None, [legal, kind])))

    def plain(self, text):
        """The same value, a number without unit and idle digits; text that is not legal stays as it
        is."""
        try:
            value = self.read(text)
        except ValueError:
            return text
        return value if isinstance(value, str) else tidy(value)

    def same(self, one, other):
        """Whether two texts are the same value."""
        try:
            one, other = self.read(one), self.read(other)
        except ValueError:
            return False
        return one == other or "double" == self.type and abs(one - other) <= ROUNDED

    def complaint(self, value):
        """Why a value is not legal, None if it is."""
        try:
            self.read(value)
            return None
        except ValueError as error:
            return str(error)


def whole(text):
    """The whole number that Open MPI reads."""
    found = WHOLE.match(text)
    if found is None:
        raise ValueError(f"{text} is no whole number")
    sign, digits, unit = found.groups()
    base = 16 if digits[:2] in ("0x", "0X") else 8 if "0" == digits[0] else 10
    return int(sign + digits, base) * UNITS[unit and unit.lower()]


def tidy(number):
    """A number as Open MPI reads it, without idle digits."""
    if isinstance(number, int):
        return str(number)
    number = float(number)
    return str(int(number)) if number.is_integer() else f"{number:.6g}"


class Table:
    """All variables of an Open MPI: version, prefix, directory of components, {name: Variable}."""

    def __init__(self, text):
        self.variables = {}
        self.version = self.prefix = self.components = ""
        for line in text.splitlines():
            self.take(line)

    def take(self, line):
        found = LINE.match(line)
        if found is not None:
            name, field, rest = found.groups()
            self.variables.setdefault(name, Variable(name)).take(field, rest)
        elif line.startswith("ompi:version:full:"):
            self.version = line.rpartition(":")[2]
        elif line.startswith("path:prefix:"):
            self.prefix = line[len("path:prefix:"):]
        elif line.startswith("path:pkglibdir:"):
            self.components = line[len("path:pkglibdir:"):]

    def get(self, name):
        """A Variable; None if this release has none of this name."""
        return self.variables.get(name)

    def given(self):
        """What files and the environment of this site set, {name: value}."""
        return {name: variable.value for name, variable in self.variables.items()
                if variable.source not in ("default", "")}

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


def read(program, needed=True):
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
    if needed and table.get(NEEDED) is None:
        raise Refusal(f"Open MPI {table.version} in {table.prefix} shows no variables of "
                      "coll/pipering: it is not installed there or not found (see "
                      "docs/troubleshooting.md); nothing was run")
    return table
