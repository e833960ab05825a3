#!/bin/bash
# Copyright (c) 2026      The pipering authors. All rights reserved.
#
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# The patches: autogen.sh applies those that are not applied yet, in order, and no tree
# is left with some of them; git am takes them as they are sent upstream, and the series of
# config/write-series.sh, which has the new files; the programs in their messages compile, and
# print what they expect, and something else without the patch. On a tree of only the files
# that are patched, taken from the build and restored. The patches of docs/upstream apply to the
# built tree, and the programs beside them compile.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${BUILD_DIR:-$root/build}" && pwd)
prefix=$(readlink -f "${OMPI_PREFIX:-$build/install}")
built=$build/openmpi-${prefix##*/install-}

[[ -f $built/VERSION ]] || {
    echo "1..0 # SKIP no build tree of ${prefix##*/}"
    exit 0
}
shopt -s nullglob
series=$(sed -n 's/^\(major\|minor\)=//p' "$built/VERSION" | paste -sd.)
engine=("$root/opal/datatype-lookahead/patches/$series"/*.patch)
han=("$root/ompi/mca/coll/han/patches/$series"/*.patch)
ob1=("$root/ompi/mca/pml/ob1/patches/$series"/*.patch)
patches=("${engine[@]}" "${han[@]}" "${ob1[@]}")
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

skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
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
    name="the first $n of ${#patches[@]} are applied"
    if [[ -n ${CHECK_LONG-} || $n -eq 0 || $n -eq 4 || $n -eq ${#patches[@]} ]]; then
        check "$name" prepares "tree$n" "$n"
    else
        skip "$name" "make check-long runs it"
    fi
done

# A tree of someone who changed what a patch changes.
stops() {
    local file=opal/datatype/opal_convertor_raw.c
    fresh changed && sed -i '/count_desc % current->blocklen/d' "$work/changed/$file" &&
        cp -r "$work/changed" "$work/before" && ! autogen changed &&
        grep -q "0002-.*\.patch does not apply to Open MPI ${series/./\\.}.*; the tree is not prepared" \
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

no_patch_laid() {
    [[ $(find "$work/tree0" -name '*.patch') == '' ]]
}
check 'no patch is laid in the tree' no_patch_laid

removed() {
    echo opal/datatype/opal_convertor_gone.c >>"$work/tree0/.pipering-overlay"
    LC_ALL=C sort -o "$work/tree0/.pipering-overlay" "$work/tree0/.pipering-overlay"
    touch "$work/tree0/opal/datatype/opal_convertor_gone.c"
    autogen tree0 && [[ ! -e $work/tree0/opal/datatype/opal_convertor_gone.c ]]
}
check 'a source that left the overlay is removed' removed

# ---- git am ----

# Nobody's settings of git, nor hooks.
git() {
    HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost \
        command git -C "$work/repository" "$@"
}

make_repository() {
    fresh repository && rm -rf "$work/repository/autogen.pl" && git init -q &&
        git add -A && git commit -q --author='test <test@localhost>' -m 'Open MPI' &&
        git tag pristine
}

# blobs: of the patch on stdin, the lines that say which contents it changes into which.
blobs() {
    grep -a -E '^index [0-9a-f]{40}\.\.'
}

# takes PATCH: git am does, without an offset; author, subject and contents are as they should
# be, and the Signed-off-by is left to who sends it.
takes() {
    git apply --check --verbose "$1" >"$work/out" 2>&1 && ! grep -q offset "$work/out" &&
        git am -q "$1" >"$work/out" 2>&1 || return 1
    git log -1 --format='%an: %s' >"$work/out"
    grep -q -E '^The pipering authors: (opal/datatype|btl/tcp|coll/han|pml/ob1): [a-z].{1,70}$' \
        "$work/out" && ! grep -q -i '^signed-off-by:' "$1" &&
        [[ $(git diff --full-index HEAD~ HEAD | blobs | sort) == "$(blobs <"$1" | sort)" ]]
}

# Also where a patch was not taken.
to_pristine() {
    rm -rf "$work/repository/.git/rebase-apply"
    git reset -q --hard pristine
}

# alone N...: patches of these numbers are taken one after the other by a pristine tree.
alone() {
    local n patch
    to_pristine && for n; do
        for patch in "$root"/opal/datatype-lookahead/patches/5.0/"$n"-*.patch; do
            takes "$patch" || return 1
        done
    done
}

all_in_a_row() {
    local patch file
    to_pristine && for patch in "${patches[@]}"; do
        takes "$patch" || return 1
    done
    for file in "${files[@]}"; do
        cmp -s "$built/$file" "$work/repository/$file" || return 1
    done
}

# ---- the series with the new files ----

written() {
    "$root/config/write-series.sh" "$work/series" >"$work/out" 2>&1 &&
        [[ $(find "$work/series" -name '*.patch' | wc -l) -eq ${#patches[@]} ]]
}

# there FILE: in the repository, or in Open MPI's own sources.
there() {
    [[ -f $work/repository/$1 ]] ||
        { [[ -f $built/$1 ]] && ! grep -qxF "$1" "$built/.pipering-overlay"; }
}

# Sources that a Makefile.am of the repository names, and headers that its sources include.
named_exist() {
    local file name
    for file in $(git ls-files '*Makefile.am'); do
        grep -oE '[A-Za-z0-9_]+\.[ch]\b' "$work/repository/$file" | sed "s,^,${file%/*}/,"
    done >"$work/named"
    for file in $(git ls-files 'opal/*.[ch]'); do
        sed -n 's,^#include "\(opal/datatype/.*\)"$,\1,p' "$work/repository/$file" 2>/dev/null
    done >>"$work/named"
    [[ -s $work/named ]] && while read -r name; do
        there "$name" || { echo "$name is not there" >"$work/out"; return 1; }
    done <"$work/named"
}

# Sources that the last patch has changed or added, with the headers of the repository.
changed_compile() {
    local file
    for file in $(git diff --name-only HEAD~ HEAD -- '*.c'); do
        "${CC:-gcc}" -std=gnu99 -fsyntax-only -DHAVE_CONFIG_H -I"$work/repository" -I"$built" \
            -I"$built/opal/include" -I"$built/ompi/include" \
            -I"$built/3rd-party/openpmix/include" -I"$built/${file%/*}" \
            "$work/repository/$file" >"$work/out" 2>&1 || return 1
    done
}

whole() {
    local file
    for file in "${files[@]}"; do
        cmp -s "$built/$file" "$work/repository/$file" || return 1
    done
    for file in "$root"/opal/datatype-lookahead/*.[ch]; do
        cmp -s "$file" "$work/repository/opal/datatype/${file##*/}" || return 1
    done
}

version=$(sed -n 's/^\(major\|minor\|release\)=//p' "$built/VERSION" | paste -sd.)
if ! command -v git >/dev/null; then
    skip 'git am takes the patches' 'no git'
elif [[ $version != 5.0.7 ]]; then
    skip 'git am takes the patches' "they are made for 5.0.7, this is $version"
else
    check 'a repository of the files that are patched' make_repository
    for n in 0001 0002 0003; do
        check "git am takes $n alone" alone "$n"
    done
    check 'git am takes 0007 on 0001' alone 0001 0007
    to_pristine
    check 'git am takes that of coll/han alone' takes "${han[0]}"
    to_pristine
    for patch in "${ob1[@]}"; do
        check "git am takes ${patch##*/} of pml/ob1 alone" takes "$patch"
        to_pristine
    done
    check 'git am takes all in a row, and the tree is the built one' all_in_a_row
    check 'make series writes as many' written
    to_pristine
    for patch in "$work"/series/*.patch; do
        check "git am takes the written ${patch##*/}" takes "$patch"
        check 'all files that are named are there' named_exist
        check 'what it changes compiles' changed_compile
    done
    check 'the tree is the built one, with the overlay'"'"'s sources' whole
    check 'a file that is named and missing is seen' eval '
        rm "$work/repository/opal/datatype/opal_datatype_units.c" && ! named_exist'
    git reset -q --hard
    check 'a header that is included and missing is seen' eval '
        rm "$work/repository/opal/datatype/opal_datatype_seek_index.h" && ! named_exist'
fi

# ---- the programs in the messages ----

# programs PATCH: writes them to $work/1.c and so on, says how many.
programs() {
    sed '/^---$/,$d; s/^    //; t; s/.*//' "$1" | awk -v work="$work" '
        /^#(include|define)/ && !inside { inside = 1; file = work "/" ++count ".c"; printf "" >file }
        inside { print >file }
        /^}/ && main { inside = main = 0; close(file) }
        /^int main/ { main = 1 }
        END { print count + 0 }'
}

# compile PREFIX TREE FILE: with an Open MPI and the tree that it was built in.
compile() {
    timeout 300 "$1/bin/mpicc" -std=gnu99 -Wall -Wextra -Werror -o "$work/program" "$3" \
        -isystem "$1/include/openmpi" -isystem "$2" -isystem "$2/opal/include" \
        -isystem "$2/ompi/include" -isystem "$root/config/missing" -lopen-pal >"$work/out" 2>&1
}

# run PREFIX MODE PATCH: as the message says, if it names a job; a program without mpirun leaves
# its segment in /dev/shm if it makes one.
run() {
    local job
    job=$(sed -nE 's,^    mpirun -n 2 (.*) \./[a-z]+$,\1,p' "$3")
    if [[ -n $job ]]; then
        # shellcheck disable=SC2086 # a list of options
        OMPI_PREFIX=$1 OMPI_MCA_opal_datatype_lookahead=$2 \
            "$root/test/testbed/testbed" local -n 2 --timeout 300 -- $job "$work/program"
    else
        OMPI_MCA_opal_datatype_lookahead=$2 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self \
            timeout 300 "$work/program"
    fi >"$work/out" 2>&1 && grep -q '(expected ' "$work/out"
}

# What stands before "(expected TEXT)" in a line ends with TEXT.
is_expected() {
    awk '{
        at = index($0, " (expected "); said = " " substr($0, 1, at - 1)
        text = " " substr($0, at + 11); sub(/\)$/, "", text)
        if (!at || substr(said, length(said) - length(text) + 1) != text) { exit 1 }
    }' "$work/out"
}

prints_expected() {
    run "$@" && is_expected
}

prints_otherwise() {
    run "$@" && ! is_expected
}

# Open MPI without the patches, if it is there.
stock=$(readlink -f "$build/stock")
stock_built=$build/openmpi-${stock##*/install-}

# without_patch NAME SOURCE PATCH: the program shows the defect, or the missing gain.
without_patch() {
    if [[ ! -f $stock_built/VERSION ]]; then
        skip "$1, without the patch" 'no build/stock; make stock makes it'
        return
    fi
    check "$1 compiles without the patch" compile "$stock" "$stock_built" "$2"
    check "$1 prints something else without it" prints_otherwise "$stock" dual "$3"
}

# What opal_datatype_lookahead=off switches off.
readonly SWITCHED='000[456]-.*'

for patch in "${patches[@]}"; do
    name=${patch#"$root"/}
    last=$(programs "$patch")
    for ((n = 1; n <= last; n++)); do
        check "program $n of $name compiles" compile "$prefix" "$built" "$work/$n.c"
        grep -q '(expected' "$work/$n.c" || continue
        check "program $n of $name prints what it expects" prints_expected "$prefix" dual "$patch"
        if [[ ${patch##*/} =~ ^$SWITCHED ]]; then
            check 'and something else, off' prints_otherwise "$prefix" off "$patch"
        else
            check 'and off' prints_expected "$prefix" off "$patch"
        fi
        without_patch "program $n of $name" "$work/$n.c" "$patch"
    done
done

# ---- calls that coll/han decides, a table in its message ----

# decided PREFIX NODES OPTIONS: "ALLGATHER BCAST", how many of 10 calls each; NODES as 2,1. pml's
# monitoring counts beside ob1, which the testbed alone would leave nothing beside.
decided() {
    local testbed=$root/test/testbed/testbed name
    # Jobs of 6.0 with coll/sync end in a segmentation fault (docs/upstream/sync_finalize.c).
    # shellcheck disable=SC2086 # a list of options
    OMPI_PREFIX=$1 "$testbed" with --nodes 2 -- "$testbed" mpirun --map "$2" --timeout 300 -- \
        --mca coll ^pipering,mleader --mca pml ob1,monitoring --mca coll_han_verbose 30 \
        $3 "$work/program" \
        >"$work/out" 2>&1 </dev/null || [[ $series == 6.0 && $3 == *coll_sync* ]] || return 1
    for name in allgather bcast; do
        grep -a -c "coll:han:get_algorithm $name " "$work/out"
    done | paste -sd' '
}

# decides ALLGATHER BCAST PREFIX NODES OPTIONS
decides() {
    local found
    found=$(decided "${@:3}") && [[ $found == "$1 $2" ]] || {
        echo "found: $found" >>"$work/out"
        return 1
    }
}

once() {
    echo $((0 < $1))
}

# table: lines "NODES ALLGATHER BCAST OPTIONS".
table() {
    sed -nE 's/^    ([12]) and 1  +(.*[^ ]|) +([0-9]+) +([0-9]+)$/\1,1 \3 \4 \2/p' "${han[0]}"
}

if [[ ${#han[@]} -gt 0 ]]; then
    programs "${han[0]}" >"$work/count"
    check 'the program of coll/han compiles to run' compile "$prefix" "$built" "$work/1.c"
    rows=5
    [[ $series != 6.0 ]] || rows=3
    check 'its message has a table' test "$(table | wc -l)" -eq "$rows"
    while read -r nodes allgather bcast options; do
        name="coll/han decides once, nodes of $nodes ${options:-without options}"
        if ! "$root/test/testbed/testbed" can >/dev/null 2>&1; then
            skip "$name" 'no nodes can be made here'
            continue
        fi
        check "$name" decides "$(once "$allgather")" "$(once "$bcast")" "$prefix" "$nodes" "$options"
    done < <(table)

    # A program finds the libraries that it was linked with.
    if [[ -f $stock_built/VERSION ]] && "$root/test/testbed/testbed" can >/dev/null 2>&1; then
        check 'the program of coll/han compiles without the patch' \
            compile "$stock" "$stock_built" "$work/1.c"
        while read -r nodes allgather bcast options; do
            check "without the patch as its message says, nodes of $nodes ${options:-without options}" \
                decides "$allgather" "$bcast" "$stock" "$nodes" "$options"
        done < <(table)
    fi
fi

# ---- acknowledgements that wait for a fragment of pml/ob1 ----

# acknowledged: all synchronous sends end, whatever their number.
acknowledged() {
    compile "$prefix" "$built" "$root/docs/upstream/ob1_pending_ack.c" &&
        OMPI_PREFIX=$prefix "$root/test/testbed/testbed" local -n 2 --timeout 60 -- --mca pml ob1 \
            --mca btl sm,self --mca btl_sm_fbox_max 0 "$work/program" >"$work/out" 2>&1 </dev/null &&
        grep -q '^mended' "$work/out"
}

check 'pml/ob1 loses no acknowledgement' acknowledged

# ---- messages that are longer than their receives ----

# within COMMAND...: what is behind the buffer stays; the command makes a job of the program.
within() {
    compile "$prefix" "$built" "$root/docs/upstream/ob1_truncated.c" &&
        OMPI_PREFIX=$prefix "$@" --mca pml ob1 "$work/program" >"$work/out" 2>&1 </dev/null &&
        grep -q '^mended' "$work/out"
}

testbed=$root/test/testbed/testbed
check 'pml/ob1 writes nothing behind a buffer of its node' within "$testbed" local -n 2 \
    --timeout 60 -- --mca btl sm,self
if "$testbed" can >/dev/null 2>&1; then
    check 'pml/ob1 writes nothing behind a buffer of another node' within "$testbed" with --nodes 2 -- \
        "$testbed" mpirun --map 1,1 --timeout 60 -- --mca btl tcp,self
fi

# ---- docs/upstream ----

applies() {
    (cd "$built" && patch -p1 -s -f --dry-run) <"$1" >"$work/out" 2>&1
}

# MPI_Iallgatherv_c is of 6.0.
upstream_compiles() {
    "$prefix/bin/mpicc" -std=gnu99 -fsyntax-only -Wall -Wextra -Werror \
        -Wno-error=implicit-function-declaration "$1" >"$work/out" 2>&1
}

for patch in "$root"/docs/upstream/*.patch; do
    if [[ $series == 5.0 ]]; then
        check "docs/upstream/${patch##*/} applies" applies "$patch"
    else
        skip "docs/upstream/${patch##*/} applies" "the patches are for 5.0; docs/upstream/check tries others"
    fi
done
for program in "$root"/docs/upstream/*.c; do
    check "docs/upstream/${program##*/} compiles" upstream_compiles "$program"
done

echo "1..$count"
exit $((failures > 0))
