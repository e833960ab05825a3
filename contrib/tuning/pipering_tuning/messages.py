# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What Open MPI and compilers say when they fail, as one line."""

import itertools
import re

# Open MPI has its messages for people between two rows of dashes.
ROW = re.compile(r"-{20,}\s*$")
MOST = 400  # characters


def why(lines):
    """Why a program failed, of the lines that it wrote: what ssh says, else the first message
    between rows of dashes that is no warning, else the last line; "" if there is none."""
    parts = itertools.groupby(["", *lines], lambda line: bool(ROW.match(line)))
    blocks = [list(part) for is_row, part in parts if not is_row]
    found = [line for line in lines if line.startswith("ssh: ")]
    found += [text for text in (" ".join(" ".join(block).split()) for block in blocks[1:])
              if text and not text.upper().startswith("WARNING")]
    return (found or [last_line(lines)])[0][:MOST].rstrip(".:")


def last_line(lines):
    """The last line that says something."""
    return next((line.strip() for line in reversed(lines) if re.search(r"[A-Za-z]", line)), "")
