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
# Builds the test program of a topic of this folder, by its GNUmakefile, and runs it. TOPIC.t is a
# link to this; test/opal has a link too, and names the topic: run-topic.sh TOPIC. Those on threads
# are built under ThreadSanitizer, where compiler and machine have it.

set -u
topic=${1-$(basename "$0" .t)}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(basename "$here")
root=$(cd "$here/../.." && pwd)
case ${BUILD_DIR:=build} in
/*) ;;
*) BUILD_DIR=$root/$BUILD_DIR ;;
esac
export BUILD_DIR
mkdir -p "$BUILD_DIR/$folder"

case $topic in
*_threads)
    empty=$BUILD_DIR/$folder/$topic-empty
    if ! { echo 'int main(void) { return 0; }' |
        gcc -fsanitize=thread -o "$empty" -x c - && "$empty"; } >"$empty.why" 2>&1; then
        echo "1..0 # SKIP gcc -fsanitize=thread does not work here: $(head -n 1 "$empty.why")"
        exit 0
    fi
    export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS-}"
    ;;
esac

# Tests that run side by side share objects: one of them builds these, and the others wait.
if ! flock "$BUILD_DIR/$folder/lock" make -s -j "$(nproc)" -f "$here/GNUmakefile" common >&2 ||
    ! make -s -f "$here/GNUmakefile" "$BUILD_DIR/$folder/$topic" >&2; then
    echo "Bail out! $topic does not build"
    exit 1
fi
exec "$BUILD_DIR/$folder/$topic"
