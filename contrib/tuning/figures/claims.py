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

MODULES = {"traff": values_traff, "worringer": values_worringer, "kandalla": values_kandalla,
           "balaji": values_balaji, "almasi": values_almasi}
VALUES = {name: value for paper, module in MODULES.items()
          for name, value in vars(module).items() if name.startswith(paper + "_")}


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


def load(path):
    """The claims of the file; ValueError names a line that is not one."""
    claims = []
    with open(path, encoding="utf-8") as file:
        for count, line in enumerate(file, 1):
            words = line.rstrip("\n").split("\t")
            if line.startswith("#"):
                continue
            if len(words) != 7:
                raise ValueError(f"{path}, line {count}: {len(words)} columns in place of 7")
            sections = [] if words[5] == "-" else words[5].split()
            claims.append(Claim(*words[:5], sections, "" if words[6] == "-" else words[6]))
    return claims
