# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Progress: one line that renews itself on a terminal, a few plain lines in a log."""

import os
import sys

PLAIN_MOST = 3  # lines in a log, each for a part of the time


def clock_text(seconds):
    """1:05, or 2:00:10."""
    seconds = max(0, int(round(seconds)))
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def count(number, word):
    """1 node, 2 nodes."""
    return f"{number} {word}" if 1 == number else f"{number} {word}s"


def say(text):
    """A line of the results; a line of progress makes room, since both may be on one terminal."""
    if sys.stdout.isatty():
        Progress.wipe_shown()
    print(text, flush=True)


class Progress:
    """Says where a tuning is. budget: seconds that it may take in all."""

    last_shown = None

    def __init__(self, budget, stream=sys.stderr):
        self.budget = budget
        self.stream = stream
        self.terminal = stream.isatty()
        self.shown = self.plain = 0
        self.step = self.begun = None

    @staticmethod
    def wipe_shown():
        """Takes the line of progress from the terminal, if there is one."""
        if Progress.last_shown is not None:
            Progress.last_shown._wipe()  # pylint: disable=protected-access

    def say(self, text):
        """A line that stays."""
        self._wipe()
        print(text, file=self.stream, flush=True)

    def cell(self, text, done, total, spent):
        """A cell is over, `done` of the `total` of this step; `spent` seconds in all."""
        line = f"[{done}/{total}, {self._left(text, done, total, spent)}] {text}"
        if self.terminal:
            line = line[:self._width()]
            self._wipe()
            self.stream.write(line)
            self.stream.flush()
            self.shown = len(line)
            Progress.last_shown = self
        elif self.plain <= int(PLAIN_MOST * spent / max(self.budget, 1.0)) < PLAIN_MOST:
            self.plain = 1 + int(PLAIN_MOST * spent / max(self.budget, 1.0))
            print(line, file=self.stream, flush=True)

    def _left(self, text, done, total, spent):
        """The time that the step still takes if its cells go on as they began, and the most that
        all takes. The first cell of a step has no time: it may include the start of a job."""
        step, most = (text.split(":")[0], total), max(0, self.budget - spent)
        if step != self.step:
            self.step, self.begun = step, (done, spent)
        cells = done - self.begun[0]
        if cells <= 0:
            return f"{clock_text(most)} at most"
        seconds = (spent - self.begun[1]) / cells * (total - done)
        return f"{clock_text(min(seconds, most))} left, {clock_text(most)} at most"

    def _width(self):
        """Columns that a line may have: in the last one some terminals begin the next line."""
        try:
            columns = os.get_terminal_size(self.stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return (columns or 80) - 1

    def _wipe(self):
        if self.shown:
            self.stream.write("\r" + " " * min(self.shown, self._width()) + "\r")
            self.stream.flush()
            self.shown = 0
