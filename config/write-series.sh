#!/bin/bash
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Usage: config/write-series.sh [DIR]
#
# Writes the patches as a whole series for git am in DIR, or build/series: to a patch that adds
# names of files to a Makefile.am, the files of these names are added from
# opal/datatype-lookahead. Those of other components come last. The patches of the overlay have the
# changes of existing files only, since autogen.sh lays the new ones.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

engine=opal/datatype-lookahead
series=5.0
written=$(absolute "${1:-$build/series}")

# new_files PATCH: sources that it adds to a Makefile.am, as they are called in Open MPI's tree.
new_files() {
    awk '
        /^\+\+\+ / { dir = /\/Makefile\.am$/ ? substr($2, 3, length($2) - 14) : ""; next }
        dir != "" && /^\+ .*\.[ch]( |$)/ { print dir "/" $2 }' "$1"
}

# blob FILE: the name that git gives to its contents.
blob() {
    { printf 'blob %d\0' "$(wc -c <"$1")" && cat "$1"; } | sha1sum | cut -d' ' -f1
}

# add_file SOURCE NAME: the part of a patch that creates the file NAME.
add_file() {
    printf 'diff --git a/%s b/%s\nnew file mode 100644\n' "$2" "$2"
    printf 'index %040d..%s\n--- /dev/null\n+++ b/%s\n' 0 "$(blob "$1")" "$2"
    printf '@@ -0,0 +1,%d @@\n' "$(wc -l <"$1")"
    sed 's/^/+/' "$1"
}

# complete PATCH: with the new files, without the statistics, which lack them.
complete() {
    local name source
    sed '/^---$/,/^diff /{ /^---$/b; /^diff /b; d; }' "$1"
    for name in $(new_files "$1"); do
        source=$root/$engine/${name##*/}
        [ -f "$source" ] || die "${1#"$root"/} adds $name, but $engine has no such file; the series is not complete"
        add_file "$source" "$name"
    done
}

[ $# -gt 0 ] || rm -rf "$written"
mkdir -p "$written"
for patch in "$root/$engine/patches/$series"/*.patch; do
    complete "$patch" >"$written/${patch##*/}"
done
for patch in "$root"/ompi/mca/*/*/patches/"$series"/*.patch; do
    component=${patch%/patches/*}
    component=${component#"$root"/ompi/mca/}
    complete "$patch" >"$written/${component/\//-}-${patch##*/}"
done
say "The series is in ${written#"$root"/}; in a clone of Open MPI: git am -s $written/*.patch"
