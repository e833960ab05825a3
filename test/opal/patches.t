#!/bin/bash
# Copyright (c) 2026      The pipering authors. All rights reserved.
#
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# autogen.sh and the patches of opal/datatype-lookahead: it applies those that are
# not applied yet, in order, and no tree is left with some of them. On a tree of
# only the files that are patched, taken from the build and restored.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${BUILD_DIR:-$root/build}" && pwd)
prefix=$(readlink -f "${OMPI_PREFIX:-$build/install}")
built=$build/openmpi-${prefix##*/install-}
patches=("$root"/opal/datatype-lookahead/patches/5.0/*.patch)

[[ -f $built/VERSION ]] || {
    echo "1..0 # SKIP no build tree of ${prefix##*/}"
    exit 0
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM INT

count=0
failures=0
check() {
    local name=$1
    count=$((count + 1))
    shift
    if "$@"; then
        echo "ok $count - $name"
    else
        failures=$((failures + 1))
        echo "not ok $count - $name"
        sed 's/^/# /' "$work/out"
    fi
}

mapfile -t files < <(sed -n 's,^+++ b/,,p' "${patches[@]}" | sort -u)

# fresh NAME: a tree in which no patch is applied.
fresh() {
    local file i
    mkdir -p "$work/$1/ompi/mca/coll"
    touch "$work/$1/autogen.pl"
    cp "$built/VERSION" "$work/$1"
    for file in "${files[@]}"; do
        mkdir -p "$work/$1/${file%/*}"
        cp "$built/$file" "$work/$1/$file"
    done
    for ((i = ${#patches[@]} - 1; i >= 0; i--)); do
        (cd "$work/$1" && patch -p1 -s -f -R) <"${patches[i]}" || return 1
    done
}

# apply NAME N: the first N patches.
apply() {
    local i
    for ((i = 0; i < $2; i++)); do
        (cd "$work/$1" && patch -p1 -s -f) <"${patches[i]}" || return 1
    done
}

autogen() {
    "$root/autogen.sh" --overlay-only "$work/$1" >"$work/out" 2>&1
}

as_built() {
    local file
    for file in "${files[@]}"; do
        cmp -s "$built/$file" "$work/$1/$file" || { echo "$file" >>"$work/out"; return 1; }
    done
    [[ $(find "$work/$1" -name '*.orig' -o -name '*.rej' -o -name '.pipering-trial') == '' ]]
}

# prepares NAME N: autogen.sh applies the rest, says so, and does nothing again.
prepares() {
    fresh "$1" && apply "$1" "$2" && autogen "$1" && as_built "$1" &&
        [[ $(grep -c '^~ ' "$work/out") -eq $((${#patches[@]} - $2)) ]] &&
        autogen "$1" && as_built "$1" && [[ ! -s $work/out ]]
}

for ((n = 0; n <= ${#patches[@]}; n++)); do
    check "the first $n of ${#patches[@]} are applied" prepares "tree$n" "$n"
done

# A tree of someone who changed what a patch changes.
stops() {
    local file=opal/datatype/opal_convertor_raw.c
    fresh changed && sed -i '/count_desc % current->blocklen/d' "$work/changed/$file" &&
        cp -r "$work/changed" "$work/before" && ! autogen changed &&
        grep -q '0002-.*\.patch does not apply to Open MPI 5\.0.*; the tree is not prepared' \
            "$work/out" &&
        for file in "${files[@]}"; do
            cmp -s "$work/before/$file" "$work/changed/$file" || return 1
        done
}
check 'a patch that does not apply stops it, before any is applied' stops

laid() {
    [[ -f $work/tree0/opal/datatype/opal_convertor_seek.c ]] &&
        grep -qx opal/datatype/opal_convertor_seek.c "$work/tree0/.pipering-overlay"
}
check "the engine's new sources are laid beside the others" laid

removed() {
    echo opal/datatype/opal_convertor_gone.c >>"$work/tree0/.pipering-overlay"
    LC_ALL=C sort -o "$work/tree0/.pipering-overlay" "$work/tree0/.pipering-overlay"
    touch "$work/tree0/opal/datatype/opal_convertor_gone.c"
    autogen tree0 && [[ ! -e $work/tree0/opal/datatype/opal_convertor_gone.c ]]
}
check 'a source that left the overlay is removed' removed

echo "1..$count"
exit $((failures > 0))
