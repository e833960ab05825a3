# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What the papers claim: the rows of claims.tsv, each with the function of our value."""

from dataclasses import dataclass
from typing import List

import values_almasi
import values_balaji
import values_kandalla
import values_traff
import values_worringer
from sections import BY_NAME

MODULES = {"traff": values_traff, "worringer": values_worringer, "kandalla": values_kandalla,
           "balaji": values_balaji, "almasi": values_almasi}
VALUES = {name: value for paper, module in MODULES.items()
          for name, value in vars(module).items() if name.startswith(paper + "_")}


class BadLine(ValueError):
    """A line of a table that is not one; its text names the file and the line."""


@dataclass
class Claim:
    """A row of claims.tsv."""

    name: str
    paper: str
    place: str
    claim: str
    value: str
    sections: List[str]
    why: str

    def ours(self, bench):
        """Our value in words; Missing if it has not been measured."""
        return VALUES[self.name.replace("-", "_")](bench)

    def possible(self):
        """Can it be had without special hardware?"""
        return bool(self.sections)

    def runs(self):
        """Those of its sections that measure; the others compute."""
        return [BY_NAME[name] for name in self.sections if BY_NAME[name].needs]

    def measured(self):
        """Does its value depend on a measurement?"""
        return bool(self.runs())

    def whole(self, bench):
        """Have all its sections left all their files?"""
        return not any(BY_NAME[name].missing(bench) for name in self.sections)

    def measured_at(self, bench):
        """When the oldest file that it was measured by was written."""
        return min(section.measured_at(bench) for section in self.runs())


def lines(path, columns):
    """(file and line in words, columns) of each line that is no comment; BadLine for one that has
    another number of columns."""
    with open(path, encoding="utf-8") as file:
        for count, line in enumerate(file, 1):
            where, words = f"{path}, line {count}", line.rstrip("\n").split("\t")
            if line.startswith("#"):
                continue
            if len(words) != columns:
                raise BadLine(f"{where}: columns: {len(words)} in place of {columns}, with a tab "
                              "between them; nothing was changed")
            yield where, words


def load(path):
    """The claims of the file; BadLine names a line that is not one."""
    return [Claim(*words[:5], [] if words[5] == "-" else words[5].split(),
                  "" if words[6] == "-" else words[6]) for _, words in lines(path, 7)]
