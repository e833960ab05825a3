#!/bin/bash
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Usage: config/build-dso.sh
#
# Builds each component alone, as a shared object for an installed Open MPI,
# in build/dso-VERSION/. Such an object is good for exactly this release:
# Open MPI's own structures differ between releases. From the environment:
#   OMPI=      prefix of the installed Open MPI; that of mpicc on PATH if empty
# Prints the name of each object.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$root/config/installed-openmpi.sh"

# Only the default, the distribution's own Open MPI, is ours to install. All
# packages are named at once.
need_open_mpi() {
    [ -n "${OMPI-}" ] || command -v mpicc >/dev/null ||
        "$root/config/need-packages.sh" compiler dso headers
}

need_tools() {
    local groups=()
    [ -n "${CC-}" ] || command -v gcc >/dev/null || groups+=(compiler)
    case $version in
        4.*) ;;
        *) command -v pkg-config >/dev/null && pkg-config --exists pmix || groups+=(headers) ;;
    esac
    [ ${#groups[@]} -eq 0 ] || "$root/config/need-packages.sh" "${groups[@]}"
}

# Sets include_dirs: the installed headers, and those of libraries that they include.
find_headers() {
    local dir missing before
    include_dirs=()
    for dir in $("$mpicc" --showme:incdirs); do
        include_dirs+=("$dir" "$dir/openmpi")
    done
    has_header ompi/mca/coll/coll.h "${include_dirs[@]}" ||
        die "$mpicc: Open MPI $version is installed without its developer headers (looked for ompi/mca/coll/coll.h in ${include_dirs[*]}); install one configured with --with-devel-headers, on Debian libopenmpi-dev"
    missing=$(missing_header)
    while [ -n "$missing" ]; do
        case $missing in
            ompi/* | opal/*) ;;
            event*) find_package libevent ;;
            *) find_package "${missing%%[/_.]*}" ;;
        esac
        before=$missing
        missing=$(missing_header)
        [ "$missing" != "$before" ] ||
            die "$missing is needed with the headers of Open MPI $version, and is neither installed beside them nor in a directory that pkg-config names; pass CFLAGS=-IDIR, where DIR holds it (for ompi/ and opal/, the source tree of Open MPI $version)"
    done
}

has_header() {
    local header=$1 dir
    shift
    for dir; do
        [ ! -f "$dir/$header" ] || return 0
    done
    return 1
}

# What stands in for headers that no installation has comes last. The system
# directories option keeps warnings in Open MPI's headers away from ours. Ranks decide alike on
# processors of different kinds, so nothing is rounded otherwise on some (-ffp-contract).
compile() {
    # shellcheck disable=SC2086 # lists of words
    ${CC:-gcc} -std=gnu99 -O2 -ffp-contract=off -fPIC -Wall -Wextra ${CFLAGS-} -I"$root" \
        "${include_dirs[@]/#/-isystem}" -isystem"$root/config/missing" "$@"
}

# The first header that is included in vain.
missing_header() {
    { find "$root"/ompi/mca/{common,coll} -name '*.[ch]' -printf '#include "%p"\n' | LC_ALL=C sort |
        LC_ALL=C compile -E -x c -o /dev/null - 2>&1 || true; } |
        sed -n "s/.*fatal error: '\{0,1\}\([^:' ]*\)[:'].*/\1/p" | head -n 1
}

# A library that Open MPI uses may have a directory of its own (Debian's PMIx).
find_package() {
    local option
    for option in $(pkg-config --cflags-only-I "$1" 2>/dev/null); do
        include_dirs+=("${option#-I}")
    done
}

# What components share is in each of them here, and bound to it.
common=$root/ompi/mca/common/colltools

# The library that has what components use: since 6.0 libmpi is only one of its front ends, and a
# program of another one must not load both.
library_of_components() {
    local libraries
    libraries=" $("$mpicc" --showme:libs) "
    "$mpicc" --showme:libdirs | xargs -n 1 printf -- '-L%s '
    case $libraries in
        *' open_mpi '*) echo "-lopen_mpi -lopen-pal" ;;
        *) echo -lmpi ;;
    esac
}

# help_texts: all help files, as entries {file, topic, text} of C.
help_texts() {
    find "$root"/ompi/mca/{common,coll} -name 'help-*.txt' | LC_ALL=C sort | xargs awk '
        function finish() { if (topic != "") print "}," }
        FNR == 1 { finish(); topic = ""; file = FILENAME; sub(".*/", "", file) }
        /^#/ { next }
        /^\[/ {
            finish()
            topic = substr($0, 2, index($0, "]") - 2)
            printf "{\"%s\", \"%s\", \"\"\n", file, topic
            next
        }
        topic != "" { gsub(/[\\"]/, "\\\\&"); printf "\"%s\\n\"\n", $0 }
        END { finish() }'
}

# Linked with the library, the object loads also where a program has loaded that without making
# its symbols global (Python does).
build_component() {
    local dir=$1 object=$out/mca_$2.so sources
    mapfile -t sources < <(find "$root/$dir" "$common" -name '*.c' | LC_ALL=C sort)
    # shellcheck disable=SC2046,SC2086 # lists of words
    compile -shared -Wl,-Bsymbolic -DMCA_COMMON_COLLTOOLS_TEXTS="\"$out/texts.inc\"" \
        -DMCA_COMMON_COLLTOOLS_CARD_OWNER="\".$2\"" \
        -o "$object" "${sources[@]}" \
        $(library_of_components) ${LDFLAGS-} ||
        die "$dir does not build for Open MPI $version of $mpicc; the messages above say why"
    printf '%s\n' "$object"
}

need_open_mpi
find_installed
need_tools
find_headers
[ -n "$(component_dirs)" ] || die "$root/ompi/mca holds no component; is this checkout complete?"
out=$build/dso-$version
rm -rf "$out"
mkdir -p "$out"
help_texts >"$out/texts.inc"
for dir in $(component_dirs); do
    [[ $dir != ompi/mca/common/* ]] || continue
    name=${dir#ompi/mca/}
    build_component "$dir" "${name/\//_}"
done
