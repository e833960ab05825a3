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
# Builds the test program of a topic and runs it: run-topic.sh TOPIC.

set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
case ${BUILD_DIR:=build} in
/*) ;;
*) BUILD_DIR=$root/$BUILD_DIR ;;
esac
export BUILD_DIR

if ! make -s -f "$here/GNUmakefile" "$BUILD_DIR/opal/$1" >&2; then
    echo "Bail out! $1 does not build"
    exit 1
fi
exec "$BUILD_DIR/opal/$1"
