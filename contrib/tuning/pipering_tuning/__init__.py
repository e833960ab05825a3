# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""From defaults to a proven parameter file: what pipering-tune is made of. ../README says where
each thing stands."""
