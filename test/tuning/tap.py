# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""TAP for tests in Python: functions whose names begin with test_, one line each."""

import functools
import os
import sys
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TUNING = os.path.join(ROOT, "contrib", "tuning")
sys.path[:0] = [TUNING, HERE]
sys.dont_write_bytecode = True


def long(test):
    """A test that takes long for what it adds: only where CHECK_LONG is set."""
    @functools.wraps(test)
    def test_or_skip():
        return test() if os.environ.get("CHECK_LONG") else "make check-long runs it"
    return test_or_skip


def run(names):
    """Runs the tests among the names of a module; the exit status. A test that returns a text is
    skipped, which the text says why."""
    tests = [(name, test) for name, test in names.items() if name.startswith("test_")]
    failed = 0
    print(f"1..{len(tests)}")
    for number, (name, test) in enumerate(tests, 1):
        title = (test.__doc__ or name[5:]).strip().splitlines()[0]
        try:
            skipped = test()
            print(f"ok {number} - {title}" + (f" # SKIP {skipped}" if skipped else ""), flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} - {title}")
            print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), end="",
                  flush=True)
    return 1 if failed else 0
