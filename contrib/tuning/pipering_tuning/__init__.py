# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""From defaults to a proven parameter file: what pipering-tune is made of. ../README says where
each thing stands."""

import sys

if sys.version_info < (3, 9):
    # In words of Python 3.0, and before other modules are read, which older ones cannot.
    sys.exit("%s needs Python 3.9 or later, and this is Python %d.%d; nothing was done"
             % ((sys.argv[0].split("/")[-1],) + tuple(sys.version_info[:2])))


def show_any_path():
    """Paths may have bytes that are no text; what is printed shows them escaped."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
