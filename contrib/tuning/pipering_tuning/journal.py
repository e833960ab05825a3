# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The journal: a line of JSON for each cell, on the disk before the next cell is measured.

The first line says what was asked and of which machine; each later one has the id of a cell, its
result, and the seconds of wall time that it took. A tuning is a function of what it has measured:
--resume runs it again from the beginning, takes from the journal whatever stands there, the time
spent too, and so comes to where it was stopped.
"""

import json
import os

from .files import Refusal

FORMAT = 1


class Journal:
    """Cells by id. head: {"machine": {...}, "options": {...}}."""

    def __init__(self, path, head):
        self.path = path
        self.head = head
        self.records = {}
        self.stream = None

    @classmethod
    def create(cls, path, head):
        """A new journal; refuses to replace one that is there."""
        if os.path.exists(path):
            raise Refusal(f"{path} is there already: --resume goes on with it, or choose another "
                          "output directory; nothing was run")
        journal = cls(path, head)
        journal._open()
        journal._append({"format": FORMAT, **head})
        return journal

    @classmethod
    def resume(cls, path, head, free=()):
        """Opens a journal again. What stood behind the last whole line is lost; options but for
        those in `free`, the library and the hosts must be the same as then."""
        whole, lines = _read_lines(path)
        first = lines[0]
        if FORMAT != first.get("format") or "machine" not in first or "options" not in first:
            raise Refusal(f"{path} is no journal that this pipering-tune can read; nothing was "
                          "run, and the file stays as it is")
        _compare(path, first, head, free)
        journal = cls(path, head)
        for number, line in enumerate(lines[1:], 2):
            if "cell" not in line or "result" not in line:
                raise Refusal(f"{path}, line {number} is no cell; nothing was run, and the file "
                              "stays as it is")
            journal.records[line["cell"]] = line
        os.truncate(path, whole)
        journal._open()
        return journal

    def _open(self):
        try:
            self.stream = open(self.path, "ab", buffering=0)
        except OSError as error:
            raise Refusal(f"{self.path} cannot be written: {error.strerror}; nothing was run") \
                from error

    def _append(self, record):
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        try:
            while line:
                line = line[self.stream.write(line):]
            os.fsync(self.stream.fileno())
        except OSError as error:
            raise Refusal(f"{self.path} cannot be written: {error.strerror}; the cells before "
                          "this one stand there, and --resume goes on from them") from error

    def add(self, cell, result, spent):
        """A cell (a dictionary with its id under "cell"), its result, seconds of wall time."""
        record = {"cell": cell["cell"], "asked": cell, "result": result, "spent": round(spent, 6)}
        self._append(record)
        self.records[cell["cell"]] = record

    def close(self):
        self.stream.close()


def _read_lines(path):
    """(bytes of all whole lines, the lines). Only the last line may be broken."""
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror}; there is nothing to resume, "
                      "begin without --resume") from error
    lines, whole = [], 0
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        record = _parse(line)
        if record is None and whole + len(line) < len(data):
            raise Refusal(f"{path}, line {number} is damaged, and not the last one; nothing was "
                          "run, and the file stays as it is")
        if record is not None:
            lines.append(record)
            whole += len(line)
    if not lines:
        raise Refusal(f"{path} has no whole line; remove it and begin without --resume")
    return whole, lines


def _parse(line):
    try:
        record = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _compare(path, then, now, free):
    for key, name in (("library", "library"), ("hosts", "hosts")):
        old, new = then["machine"].get(key), now["machine"].get(key)
        if old != new:
            raise Refusal(f"{path} was begun with another {name} ({_short(old)}; now "
                          f"{_short(new)}), so its times cannot be used; nothing was run")
    for key, old in then["options"].items():
        new = now["options"].get(key)
        if old != new and key not in free:
            raise Refusal(f"{path} was begun with {key} {_short(old)}, not {_short(new)}; give "
                          "--resume the same options; nothing was run")


def _short(value):
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
