#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""A posed kernel: speaks its protocol without MPI, and misbehaves where a cell says so.

POSED_STATE names a directory, where each start leaves a file with the process id. What a cell's
`set` says: hang, die (with a word on stderr), mute (dies without one), garbage (lines that are
none), wrong, spawn (leaves a child that sleeps), deaf (from then on SIGTERM does not end it, nor
does the end of its input; who has started it gets a SIGALRM for each SIGTERM), defer (the result comes behind those of the rest of the group), leave
(dies behind the group), early (dies before it says which cell it is at). POSED_START=die: no job
begins.
"""

import json
import os
import signal
import subprocess
import sys
import time

MACHINE = {"ranks": 3, "nodes": 2, "hosts": ["a", "a", "b"], "library": "Open MPI v5.0.7",
           "pml": "ob1", "yield": "1"}


def say(message):
    print(json.dumps(message), flush=True)


def misbehave(what):
    """Does what a cell asks for."""
    if "hang" == what:
        time.sleep(1000)
    elif "die" == what:
        print("posed: no route to host\n-------", file=sys.stderr, flush=True)
        sys.exit(3)
    elif "mute" == what:
        sys.exit(4)
    elif "garbage" == what:
        sys.stdout.write('mpirun says something\n\0cell\n{"cell": "nobody"}\n3\n{"at"\n')
    elif "deaf" == what:
        signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getppid(), signal.SIGALRM))
    elif "spawn" == what:
        subprocess.Popen(["sleep", "1000"])


def run(line, deferred):
    """A cell: where it is at, and its result in two halves, or to the lines for later. What it
    asked for."""
    words = dict(word.split("=", 1) for word in line.split())
    what = words.get("set", "do:nothing").split(":")[1]
    if "early" == what:
        sys.exit(6)
    say({"at": words["cell"]})
    misbehave(what)
    status = "wrong" if "wrong" == what else "ok"
    result = {"seconds": [0.5, 0.25], "largest": 64, "cell": words["cell"], "status": status,
              "note": ""}
    if "defer" == what:
        deferred.append(result)
        return what
    text = json.dumps(result) + "\n"
    for half in (text[:20], text[20:]):
        sys.stdout.write(half)
        sys.stdout.flush()
        time.sleep(0.02)
    return what


def main():
    state = os.environ["POSED_STATE"]
    with open(os.path.join(state, f"{time.monotonic_ns()}"), "w", encoding="utf-8") as stream:
        stream.write(str(os.getpid()))
    if "die" == os.environ.get("POSED_START"):
        print("posed: the daemon could not be started", file=sys.stderr)
        sys.exit(1)
    say({"machine": MACHINE})
    deferred, asked = [], set()
    for line in sys.stdin:
        if line.strip():
            asked.add(run(line, deferred))
            continue
        for result in deferred:
            say(result)
        deferred.clear()
        if "leave" in asked:
            sys.exit(5)
    if "deaf" in asked:
        time.sleep(1000)


main()
