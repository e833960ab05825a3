# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The journal: a line of JSON for each cell, on the disk before the next cell is measured.

The first line says what was asked, and of what: machine, installation, settings in force, contents
of files. Each later line has the id of a cell, its result, and the seconds of wall time that it
took. A tuning is a function of what it has measured: --resume runs it again from the beginning,
takes from the journal whatever stands there, the time spent too, and so comes to where it was
stopped. While a run writes it, the file is locked.
"""

import fcntl
import json
import os

from .files import Refusal

FORMAT = 2

# Parts of the first line that must be the same when a run goes on, and what they are called.
PARTS = {"options": "option", "files": "contents:", "installation": "version of",
         "machine": "machine:", "settings": "setting in force of"}


class Journal:
    """Cells by id. head: what the journal was begun with, {"machine": {...}, "options": {...}};
    what is none of PARTS may differ when a run goes on."""

    def __init__(self, path, head, resume=False):
        """A new journal, which replaces none; or one that is opened again, whose head must have the
        same PARTS. What stood behind its last whole line is lost then."""
        if not resume:
            refuse_old(path)
        self.path = path
        self.head = head
        self.records = {}
        self.stream = _open(path, 0 if resume else os.O_CREAT | os.O_EXCL)
        try:
            if resume:
                self._read(head)
            else:
                self._append({"format": FORMAT, **head})
        except BaseException:
            self.stream.close()
            raise

    def _read(self, head):
        whole, lines = _read_lines(self.path)
        _compare(self.path, lines[0], head)
        self.head = lines[0]
        for number, line in enumerate(lines[1:], 2):
            if not _is_cell(line):
                raise Refusal(f"{self.path}, line {number} is no cell; nothing was run, and the "
                              "file stays as it is")
            self.records[line["cell"]] = line
        os.truncate(self.path, whole)

    def _append(self, record):
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        try:
            while line:
                line = line[self.stream.write(line):]
            os.fsync(self.stream.fileno())
        except OSError as error:
            error.filename = self.path
            raise

    def add(self, cell, result, spent):
        """A cell (a dictionary with its id under "cell"), its result, seconds of wall time."""
        record = {"cell": cell["cell"], "asked": cell, "result": result, "spent": round(spent, 6)}
        self._append(record)
        self.records[cell["cell"]] = record

    def find(self, cell):
        """The record of a cell; None if there is none of what is asked for now. IDs alone do not
        say which settings and files a cell was measured with."""
        record = self.records.get(cell["cell"])
        return record if record is not None and record["asked"] == cell else None

    def close(self):
        self.stream.close()


def refuse_old(path):
    """Refuses where there is a journal."""
    if os.path.exists(path):
        raise Refusal(f"{path} is there already: --resume goes on with it, or choose another "
                      "output directory; nothing was run")


def check(path, head):
    """Refuses where the journal was begun with another head, as far as that is known already, or
    where another run writes it."""
    with _open(path):
        _compare(path, _read_lines(path)[1][0], head)


def _open(path, how=0):
    """The journal's file to append to, which no other run may do until it is closed. how: further
    flags of open(2)."""
    def opener(name, flags):
        return os.open(name, flags & ~os.O_CREAT | how, 0o666)

    stream = open(path, "ab", buffering=0, opener=opener)
    try:
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        stream.close()
        raise Refusal(f"{path} is being written by another pipering-tune: wait for its end, or "
                      "choose another output directory; nothing was run") from error
    except OSError:
        pass  # a file system that has no locks
    return stream


def _read_lines(path):
    """(bytes of all whole lines, the lines). Only the last line may be broken."""
    with open(path, "rb") as stream:
        data = stream.read()
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


def _is_cell(line):
    """Whether a line is one as Journal.add writes it."""
    return _has(line, cell=str, asked=dict, result=dict, spent=(int, float)) \
        and "status" in line["result"]


def _is_head(line):
    """Whether a line is the first one of a journal."""
    return FORMAT == line.get("format") and _has(line, machine=dict, options=dict) and _has(
        {**dict.fromkeys(PARTS, {}), "budget": 0, "preflight": 0, **line},
        **dict.fromkeys(PARTS, dict), budget=(int, float), preflight=(int, float))


def _has(line, **kinds):
    return all(isinstance(line.get(key), kind) for key, kind in kinds.items())


def _compare(path, then, now):
    if not _is_head(then):
        raise Refusal(f"{path} is no journal that this pipering-tune can read; nothing was run, "
                      "and the file stays as it is")
    for part in (part for part in PARTS if part in now):
        old, new = then.get(part, {}), now[part]
        for key in {**old, **new}:
            if old.get(key) != new.get(key):
                raise Refusal(f"{path} was begun with another {PARTS[part]} {key}: "
                              f"{_short(old.get(key))}, now {_short(new.get(key))}, so its times "
                              "cannot be used; nothing was run")


def _short(value):
    if value in (None, []):
        return "none"
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
