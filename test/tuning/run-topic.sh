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
# Builds the test program of a topic, with those parts of the timed kernel that need no MPI, and
# runs it: run-topic.sh TOPIC. KERNEL_DIR points at another kernel, which is how one sees that
# the tests fail on a broken one.

set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
kernel=${KERNEL_DIR:-$root/contrib/tuning/kernel}
bench=$root/test/bench
out=${BUILD_DIR:-$root/build}/tuning
mkdir -p "$out"

if ! ${CC:-gcc} -std=gnu99 -O1 -g -Wall -Wextra -Werror -fsanitize=address,undefined \
    -fno-sanitize-recover=all -I"$kernel" -I"$root/test/unit" -I"$bench/traff" \
    -o "$out/$1.$$" "$here/$1.c" "$kernel"/kernel_cell.c \
    "$bench/traff/agv_dist.c" -lm >&2; then
    echo "Bail out! $1 does not build"
    exit 1
fi
mv "$out/$1.$$" "$out/$1"
exec timeout 600 "$out/$1"
