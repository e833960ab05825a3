#!/bin/sh
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Lays this overlay on an Open MPI source tree and prepares the tree for
# configure. Only ompi/ and the sources of opal/datatype-lookahead are laid, these
# in the tree's opal/datatype, and the patches of patches/SERIES/ in any directory
# of both are applied: Open MPI has directories named test/ and contrib/ of its own,
# so ours stay here.

set -eu

usage() {
    cat <<'EOF'
Usage: ./autogen.sh [--overlay-only] TREE
       ./autogen.sh --help

Lays the overlay on the Open MPI source tree TREE (5.0.x or 6.0.x), applies the overlay's
patches (of opal/datatype-lookahead, coll/han and pml/ob1), and runs Open MPI's own
"autogen.pl --force" there. After it:

    cd TREE && ./configure --enable-mca-dso=coll-pipering ... && make install

  --overlay-only   lay the files and stop; enough when only the contents of
                   files changed since the last complete run
  -h, --help       print this text

It can be run as often as you like. A file is copied only when its contents
differ, so that make rebuilds no more than it must; the names of the copied
(+) and removed (-) files are printed. A file that has left the overlay is
removed from TREE too: TREE/.pipering-overlay lists what was laid. A patch that
is applied already is left alone, and one that does not apply stops the run.
Nothing outside TREE is changed.

"make" here fetches, prepares, builds and installs such a tree by itself;
see "make help".
EOF
}

die() {
    echo "autogen.sh: $*" >&2
    exit 1
}

version_field() {
    sed -n "s/^$1=//p" "$tree/VERSION"
}

check_tree() {
    [ -d "$tree" ] || die "$tree: no such directory; expected an Open MPI source tree"
    [ -f "$tree/VERSION" ] && [ -f "$tree/autogen.pl" ] && [ -d "$tree/ompi/mca/coll" ] ||
        die "$tree is not an Open MPI source tree (VERSION, autogen.pl, ompi/mca/coll); nothing was changed"
    series=$(version_field major).$(version_field minor)
    version=$series.$(version_field release)$(version_field greek)
    case $series in
        5.0 | 6.0) ;;
        *) die "Open MPI $version is not supported; supported in tree: 5.0.x, 6.0.x; nothing was changed" ;;
    esac
}

# Where the overlay's files are laid, without what editors and patch leave behind.
overlay_files() {
    (cd "$here" && find ompi opal/datatype-lookahead/*.[ch] -type f \
        ! -path '*/patches/*' ! -name '*~' ! -name '.*.sw?' ! -name '#*' \
        ! -name '*.orig' ! -name '*.rej' |
        sed 's,^opal/datatype-lookahead/,opal/datatype/,' | LC_ALL=C sort)
}

# source_of FILE: where in the overlay the laid file is.
source_of() {
    case $1 in
        opal/datatype/*) echo "$here/opal/datatype-lookahead/${1##*/}" ;;
        *) echo "$here/$1" ;;
    esac
}

# Copies under another name first: make never sees half a file. The new
# modification time is wanted, since it is what makes make rebuild, also when
# the contents went back to an older state. A source that left the list in
# Makefile.am is still in the linked library, which make would leave as it is.
lay_file() {
    source=$(source_of "$1")
    if cmp -s "$source" "$tree/$1"; then
        return
    fi
    mkdir -p "$tree/$(dirname "$1")"
    cp "$source" "$tree/$1.laying"
    mv "$tree/$1.laying" "$tree/$1"
    case $1 in
        ompi/mca/*/*/Makefile.am) rm -f "$tree/$(dirname "$1")"/*.la ;;
    esac
    echo "+ $1"
}

# A component is what has a Makefile.am. Without one its directory, which
# holds build products by now, must go: autogen.pl would warn, and a leftover
# Makefile.in would be built.
remove_file() {
    rm -f "$tree/$1"
    echo "- $1"
    case $1 in
        ompi/mca/*/*/Makefile.am) rm -rf "$tree/$(dirname "$1")" ;;
    esac
}

lay_overlay() {
    manifest=$tree/.pipering-overlay
    overlay_files >"$manifest.new"
    [ -s "$manifest.new" ] || die "$here/ompi holds no file; is this checkout complete?"
    if [ -f "$manifest" ]; then
        LC_ALL=C comm -23 "$manifest" "$manifest.new" | while IFS= read -r file; do
            remove_file "$file"
        done
    fi
    while IFS= read -r file; do
        lay_file "$file"
    done <"$manifest.new"
    mv "$manifest.new" "$manifest"
}

# patch_in DIR OPTION...: quietly.
patch_in() {
    (cd "$1" && shift && patch -p1 -f -s -r - --no-backup-if-mismatch "$@") >/dev/null 2>&1
}

# copy_patched DIR PATCH...: the tree's files that the patches change, to try them on.
copy_patched() {
    copy=$1
    shift
    rm -rf "$copy"
    mkdir -p "$copy"
    sed -n 's,^+++ b/\([^ 	]*\).*,\1,p' "$@" | LC_ALL=C sort -u | while IFS= read -r file; do
        mkdir -p "$copy/$(dirname "$file")"
        cp "$tree/$file" "$copy/$file" 2>/dev/null || true
    done
}

# are_applied N PATCH...: are the first N? A patch can change lines that one before
# it has made, so they are undone from the last on, in a copy.
are_applied() {
    left=$1
    shift
    copy_patched "$tree/.pipering-trial" "$@"
    while [ "$left" -gt 0 ]; do
        eval "patch_in \"\$tree/.pipering-trial\" -R -i \"\${$left}\"" || return 1
        left=$((left - 1))
    done
}

# All or nothing: a tree with some of the patches is of no use to anyone.
apply_patches() {
    set --
    for file in "$here"/opal/*/patches/"$series"/*.patch \
        "$here"/ompi/mca/*/*/patches/"$series"/*.patch; do
        [ ! -f "$file" ] || set -- "$@" "$file"
    done
    [ $# -gt 0 ] || return 0
    applied=$#
    until are_applied "$applied" "$@"; do
        applied=$((applied - 1))
    done
    copy_patched "$tree/.pipering-trial" "$@"
    shift "$applied"
    for file; do
        patch_in "$tree/.pipering-trial" -i "$file" || {
            rm -rf "$tree/.pipering-trial"
            die "${file#"$here"/} does not apply to Open MPI $version; the tree is not prepared"
        }
    done
    rm -rf "$tree/.pipering-trial"
    for file; do
        patch_in "$tree" -i "$file"
        echo "~ ${file#"$here"/}"
    done
}

here=$(cd "$(dirname "$0")" && pwd)
tree=
overlay_only=no

while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --overlay-only) overlay_only=yes ;;
        -*) die "unknown option $1 (known: --overlay-only, --help); nothing was changed" ;;
        *) [ -z "$tree" ] || die "one TREE at a time, got $tree and $1; nothing was changed"
           tree=$1 ;;
    esac
    shift
done
[ -n "$tree" ] || die "which Open MPI source tree? Usage: ./autogen.sh [--overlay-only] TREE"
check_tree
tree=$(cd "$tree" && pwd)

lay_overlay
apply_patches
[ "$overlay_only" = yes ] && exit 0
cd "$tree"
exec perl ./autogen.pl --force
