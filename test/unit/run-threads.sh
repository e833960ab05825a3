#!/bin/sh
#
# Copyright (c) 2026      The pipering authors. All rights reserved.
#
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Builds the test program of a topic under ThreadSanitizer and runs it, where compiler
# and machine have it: run-threads.sh TOPIC.

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

echo 'int main(void) { return 0; }' >"$work/empty.c"
if ! { gcc -fsanitize=thread -o "$work/empty" "$work/empty.c" && "$work/empty"; } \
    >"$work/why" 2>&1; then
    echo "1..0 # SKIP gcc -fsanitize=thread does not work here: $(head -n 1 "$work/why")"
    exit 0
fi
TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS-}" "$(dirname "$0")/run-topic.sh" "$1"
