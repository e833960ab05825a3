#!/bin/bash
# Copyright (c) 2026      The pipering authors. All rights reserved.
#
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Open MPI's own tests of its datatype engine, with our patches in it. All of
# them pass on 5.0.7 without.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "${BUILD_DIR:-$here/../../build}" && pwd)
prefix=$(readlink -f "${OMPI_PREFIX:-$build/install}")
dir=$build/openmpi-${prefix##*/install-}/test/datatype

[[ -f $dir/Makefile ]] || {
    echo "1..0 # SKIP no build tree of ${prefix##*/}"
    exit 0
}
programs=13
! grep -q '^major=6' "$dir/../../VERSION" || programs=4
# what 6.0's programs have in common is made by another directory's check
out=$(timeout 900 make -C "$dir/../support" libsupport.a 2>&1 && timeout 900 make -C "$dir" check 2>&1)
status=$?
count=0
while read -r result name; do
    count=$((count + 1))
    case $result in
        PASS:) echo "ok $count - $name" ;;
        *) echo "not ok $count - $name: ${result%:}" ;;
    esac
done < <(grep -E '^(PASS|FAIL|ERROR|SKIP): ' <<<"$out")
count=$((count + 1))
[[ $status -eq 0 && $count -eq $((programs + 1)) ]] || {
    echo "not ok $count - $programs programs"
    tail -n 20 <<<"$out" | sed 's/^/# /'
    echo "1..$count"
    exit 1
}
echo "ok $count - $programs programs"
echo "1..$count"
