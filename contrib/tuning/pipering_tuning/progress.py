# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Progress: one line that renews itself on a terminal, plain lines now and then in a log."""

import sys
import time

PLAIN_EVERY = 30.0


def clock_text(seconds):
    """1:05, or 2:00:10."""
    seconds = max(0, int(round(seconds)))
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def count(number, word):
    """1 node, 2 nodes."""
    return f"{number} {word}" if 1 == number else f"{number} {word}s"


class Progress:
    """Says where a tuning is. budget: seconds that it may take in all."""

    def __init__(self, budget, stream=sys.stderr):
        self.budget = budget
        self.stream = stream
        self.terminal = stream.isatty()
        self.shown = 0
        self.last = -PLAIN_EVERY

    def say(self, text):
        """A line that stays."""
        self._wipe()
        print(text, file=self.stream, flush=True)

    def cell(self, text, done, total, spent):
        """A cell is over, `done` of the `total` of this step; `spent` seconds in all."""
        line = f"[{done}/{total}] {text}, {clock_text(self.budget - spent)} left at most"
        if self.terminal:
            self._wipe()
            self.stream.write(line[:100])
            self.stream.flush()
            self.shown = len(line[:100])
        elif time.monotonic() - self.last >= PLAIN_EVERY:
            self.last = time.monotonic()
            print(line, file=self.stream, flush=True)

    def _wipe(self):
        if self.shown:
            self.stream.write("\r" + " " * self.shown + "\r")
            self.shown = 0
