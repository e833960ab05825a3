# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What Open MPI and compilers say when they fail, as one sentence."""

import re

# Open MPI has its messages for people between two rows of dashes.
ROW = re.compile(r"-{20,}\s*$")
FACT = re.compile(r"\s*([A-Z][A-Za-z ]{2,20}?)\s*:\s+(\S.*?)\s*$")
SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z])")
MOST_FACTS = 4


def why(lines):
    """Why a program failed, of the lines that it wrote: the first message between rows of dashes
    that is no warning, else the last line; "" if there is none."""
    for block in _between_rows(lines):
        sentence = _first_sentence(block)
        if sentence and not sentence.upper().startswith("WARNING"):
            return "; ".join([sentence] + _facts(block))
    return last_line(lines)


def last_line(lines):
    """The last line that says something."""
    for line in reversed(lines):
        if re.search(r"[A-Za-z]", line):
            return line.strip()
    return ""


def _between_rows(lines):
    """Lists of lines, each from a row of dashes to the next one."""
    block = None
    for line in lines:
        if not ROW.match(line):
            if block is not None:
                block.append(line)
        elif block is None:
            block = []
        else:
            yield block
            block = None


def _first_sentence(block):
    """The first sentence of the first paragraph, without its full stop."""
    words = []
    for line in block:
        if not line.strip() and words:
            break
        words += line.split()
    return SENTENCE.split(" ".join(words))[0].rstrip(".:") if words else ""


def _facts(block):
    """`Component: ucx` and the like, some of them."""
    found = filter(None, map(FACT.match, block))
    return [f"{fact.group(1)}: {fact.group(2)}" for fact in found][:MOST_FACTS]
