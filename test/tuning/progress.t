#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The line of progress on a terminal of any width, in a log, and beside other lines."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from pipering_tuning import progress
line = progress.Progress(600)
for done in range(1, 5):
    line.cell("race of a variable with a long name: allgatherv " + 90 * "x", done, 10, 5 * done)
progress.say("a result")
line.cell("proof: bcast", 1, 2, 30)
line.say("a note")
"""


def on_terminal(columns):
    """What the program writes to a terminal of so many columns."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([sys.executable, "-c", PROGRAM, tap.TUNING], stdin=subprocess.DEVNULL,
                          stdout=slave, stderr=slave) as process:
        os.close(slave)
        text = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                part = b""
            if not part:
                break
            text += part
    os.close(master)
    assert process.returncode == 0, text
    return text.decode()


def screen(text, columns):
    """The lines that a terminal shows in the end, and how many it has scrolled through."""
    lines, row, column = [""], 0, 0
    for sign in text:
        if "\r" == sign:
            column = 0
        elif "\n" == sign:
            row += 1
        else:
            if columns == column:
                row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
            lines[row] = lines[row].ljust(column)[:column] + sign + lines[row][column + 1:]
            column += 1
    return [line.rstrip() for line in lines]


def test_terminal():
    """a line of progress never wraps, and leaves nothing before a line that stays"""
    for columns in (20, 40, 100, 200):
        text = on_terminal(columns)
        assert screen(text, columns) == ["a result", "a note"], (columns, text)


def test_eta():
    """it says how long the step takes if its cells go on as they began"""
    text = on_terminal(200)
    assert "[1/10, 9:55 at most] race" in text, text
    assert "[4/10, 0:30 left, 9:40 at most] race" in text, text
    assert "[1/2, 9:30 at most] proof: bcast" in text, text


def test_log():
    """a log has whole lines"""
    run = subprocess.run([sys.executable, "-c", PROGRAM, tap.TUNING], capture_output=True,
                         text=True, check=True, timeout=60)
    assert run.stdout == "a result\n" and "\r" not in run.stderr, run
    assert run.stderr.splitlines()[0].endswith(90 * "x"), run.stderr


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
