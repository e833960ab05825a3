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
# Builds the test program of a topic of this folder, by its GNUmakefile, and runs it:
# run-topic.sh TOPIC. test/opal has a link to this.

set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=$(basename "$here")
root=$(cd "$here/../.." && pwd)
case ${BUILD_DIR:=build} in
/*) ;;
*) BUILD_DIR=$root/$BUILD_DIR ;;
esac
export BUILD_DIR

# Tests that run side by side share objects: one of them builds these, and the others wait.
mkdir -p "$BUILD_DIR/$folder"
if ! flock "$BUILD_DIR/$folder/lock" make -s -j "$(nproc)" -f "$here/GNUmakefile" common >&2 ||
    ! make -s -f "$here/GNUmakefile" "$BUILD_DIR/$folder/$1" >&2; then
    echo "Bail out! $1 does not build"
    exit 1
fi
exec "$BUILD_DIR/$folder/$1"
