#!/bin/bash
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Usage: config/build-openmpi.sh [PREFIX | --stock]
#
# Builds Open MPI with the overlay and installs it, in PREFIX or under build/,
# where build/install leads to it. --stock: the same release with the same
# options, as it comes, without patches and components, for benchmarks to compare
# with; build/stock leads to it. From the environment (make passes its
# variables on):
#   OMPI=              Open MPI 5.0.x or 6.0.x, a source directory or tarball; 5.0 is fetched if
#                      it is empty
#   FORTRAN=1          with the Fortran bindings
#   JOBS=              parallel jobs of make; as many as processors if empty
#   CONFIGURE_OPTIONS= further options of Open MPI's configure
#
# Only what is not done yet is done. What was done is written in build/stamps/,
# each stamp a text of all that its step depends on:
#   unpacked    the Open MPI, the options, the patches: a change starts afresh
#   configured  the above, the components, their configure.m4, libraries of transports
#   built       the same, written after the installation
# With all three up to date, only the components are rebuilt and installed.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

stock=no
[ "${1-}" != --stock ] || { stock=yes; logs=$logs/stock; shift; }

check_environment() {
    case $root in
        *[!A-Za-z0-9/._+,@-]*)
            die "Open MPI does not build in a directory with this name: $root (letters, digits and /._+,@- are safe); move this checkout" ;;
    esac
    case ${FORTRAN-} in
        '' | 0 | 1) ;;
        *) die "FORTRAN=$FORTRAN: expected 1 (with the Fortran bindings) or 0 (without, the default)" ;;
    esac
    jobs=${JOBS:-$(nproc)}
    case $jobs in
        *[!0-9]* | 0) die "JOBS=$jobs: expected the number of parallel jobs, 1 or more" ;;
    esac
}

need_packages() {
    if [ "${FORTRAN-}" = 1 ]; then
        "$root/config/need-packages.sh" build transports fortran
    else
        "$root/config/need-packages.sh" build transports
    fi
    echo '#include <hwloc.h>' | ${CC:-cc} ${CPPFLAGS-} -E - >/dev/null 2>&1 ||
        die "hwloc.h is not found; install hwloc's developer package (libhwloc-dev on Debian) or set CPPFLAGS"
    echo '#include <event2/event.h>' | ${CC:-cc} ${CPPFLAGS-} -E - >/dev/null 2>&1 ||
        die "event2/event.h is not found; install libevent's developer package (libevent-dev on Debian) or set CPPFLAGS"
}

# What a source directory may hold besides sources. Objects compiled there, for
# another configuration, must not come along.
not_sources=(--exclude=./.git --exclude='*.o' --exclude='*.lo' --exclude='*.la'
    --exclude=.libs --exclude=.deps --exclude=config.status --exclude=config.log
    --exclude=config.cache)

# Sets source and source_id, which changes when the source does.
find_source() {
    source=${OMPI-}
    if [ -z "$source" ]; then
        source=$("$root/config/fetch-openmpi.sh")
    fi
    source=$(absolute "$source")
    if [ -f "$source" ]; then
        source_id="tarball $(sha256sum <"$source")"
    elif [ $stock = yes ] && [ -e "$source/.pipering-overlay" ]; then
        die "OMPI=$source has our overlay in it, so it gives no stock Open MPI; pass a tree or tarball as released"
    elif [ -f "$source/VERSION" ]; then
        source_id="directory $source $(cd "$source" && tar -cf - --sort=name "${not_sources[@]}" . | sha256sum)"
    elif [ -x "$source/bin/mpicc" ]; then
        die "OMPI=$source is an installed Open MPI; a source directory or a release tarball is needed here (make dso takes an installed one)"
    else
        die "OMPI=$source is neither an Open MPI source directory nor a release tarball"
    fi
}

version_file() {
    if [ -d "$source" ]; then
        cat "$source/VERSION"
    else
        tar -xOf "$source" --occurrence=1 --wildcards '*/VERSION' 2>/dev/null ||
            die "$source: no VERSION in it; expected a release tarball of Open MPI"
    fi
}

# Variants of the build stay side by side: version, bindings, place.
name_variant() {
    variant=$(version_file | awk -F= '
        $1 == "major" || $1 == "minor" || $1 == "release" || $1 == "greek" { v[$1] = $2 }
        END { printf "%s.%s.%s%s", v["major"], v["minor"], v["release"], v["greek"] }')
    case $variant in
        5.0.* | 6.0.*) ;;
        *) die "Open MPI $variant is not supported; supported in tree: 5.0.x, 6.0.x (OMPI=$source)" ;;
    esac
    [ "${FORTRAN-}" != 1 ] || variant=$variant-fortran
    [ $stock = no ] || variant=$variant-stock
    prefix=$build/install-$variant
    if [ -n "${1-}" ]; then
        prefix=$(absolute "$1")
        variant=$variant-for$(printf %s "$prefix" | tr -c 'A-Za-z0-9._' -)
    fi
    tree=$build/openmpi-$variant
    stamps=$build/stamps/$variant
    mkdir -p "$stamps"
}

# ROMIO, the second implementation of MPI's files, takes a fifth of the time and
# is not what anyone tries here; it is in what one installs for use.
configure_options() {
    printf '%s\n' "--prefix=$prefix" --disable-oshmem --disable-sphinx --with-devel-headers \
        --with-hwloc=external --with-libevent=external --with-pmix=internal --with-prrte=internal
    [ "${FORTRAN-}" = 1 ] || echo --disable-mpi-fortran
    [ -n "${1-}" ] || echo --disable-io-romio
    # shellcheck disable=SC2086 # a list of options
    [ -z "${CONFIGURE_OPTIONS-}" ] || printf '%s\n' $CONFIGURE_OPTIONS
}

# checksums DIR NAME: of the files of this name; there may be no such directory.
checksums() {
    [ -d "$root/$1" ] || return 0
    (cd "$root" && find "$1" -name "$2" | LC_ALL=C sort | xargs -r sha256sum)
}

# As DSOs the components are built and installed without touching libmpi.
dso_option() {
    local names
    names=$(component_dirs | sed 's,^ompi/mca/,,; s,/,-,' | paste -sd, -)
    [ -z "$names" ] || echo "--enable-mca-dso=$names"
}

# Open MPI's configure takes UCX and libfabric where it finds them.
transports() {
    local header
    for header in ucp/api/ucp.h rdma/fabric.h; do
        if echo "#include <$header>" | ${CC:-cc} ${CPPFLAGS-} -E - >/dev/null 2>&1; then
            echo "with $header"
        fi
    done
}

describe_steps() {
    mapfile -t options < <(configure_options "${1-}")
    unpacked="$source_id
${options[*]}
CC=${CC-} CXX=${CXX-} FC=${FC-} CFLAGS=${CFLAGS-} CPPFLAGS=${CPPFLAGS-} LDFLAGS=${LDFLAGS-}"
    if [ $stock = yes ]; then
        configured="$unpacked
$(transports)"
        return
    fi
    unpacked+="
$(checksums opal '*.patch')
$(checksums ompi '*.patch')"
    mapfile -t -O "${#options[@]}" options < <(dso_option)
    configured="$unpacked
${options[*]}
$(transports)
$(checksums ompi configure.m4)"
}

is_done() {
    printf '%s\n' "$2" | cmp -s - "$stamps/$1"
}

mark_done() {
    printf '%s\n' "$2" >"$stamps/$1"
}

fill_tree() {
    mkdir -p "$tree"
    if [ -d "$source" ]; then
        (cd "$source" && tar -cf - "${not_sources[@]}" .) | tar -xf - -C "$tree" --no-same-owner
    else
        tar -xf "$source" -C "$tree" --strip-components=1 --no-same-owner
    fi
}

# Our own prefix goes too: what the former build installed may not be wanted
# any more. The user's PREFIX is not ours to empty.
unpack() {
    rm -f "$stamps"/*
    rm -rf "$tree"
    case $prefix in
        "$build"/*) rm -rf "$prefix" ;;
    esac
    say "Unpacking Open MPI $variant from $source"
    fill_tree
    mark_done unpacked "$unpacked"
}

# A release has its configure; a checkout of Open MPI's repository makes it first.
prepare_tree() {
    if [ $stock = no ]; then
        step autogen "Laying the overlay and preparing Open MPI's configure (1 min)" "$root/autogen.sh" "$tree"
    elif [ ! -x "$tree/configure" ]; then
        step autogen "Preparing Open MPI's configure (1 min)" env -C "$tree" perl ./autogen.pl --force
    fi
}

configure_tree() {
    rm -f "$stamps/configured" "$stamps/built"
    prepare_tree
    step configure "Configuring Open MPI (1 min)" env -C "$tree" ./configure "${options[@]}"
    mark_done configured "$configured"
}

# A laid file outside the components' directories concerns all of Open MPI.
lay_overlay() {
    local laid
    laid=$("$root/autogen.sh" --overlay-only "$tree")
    if printf '%s\n' "$laid" | sed 's/^[+-] //' | grep -qv -e '^$' -e '^ompi/mca/[^/]*/[^/]*/'; then
        rm -f "$stamps/built"
    fi
}

build_everything() {
    step make "Building Open MPI with $jobs jobs (3 min on 2 processors)" make -C "$tree" -j"$jobs"
    step install "Installing Open MPI in ${prefix#"$root"/}" make -C "$tree" install
    mark_done built "$configured"
    say "It sends messages by $(name_pmls)"
}

# ob1, ucx, cm with mtl/ofi
name_pmls() {
    "$prefix/bin/ompi_info" --parsable | awk -F: '
        $1 == "mca" && $4 == "version" && $2 == "pml" && $3 ~ /^(ob1|ucx|cm)$/ { pml[$3] }
        $1 == "mca" && $4 == "version" && $2 == "mtl" && !seen[$3]++ { mtl = mtl ", mtl/" $3 }
        END {
            printf "pml/ob1"
            if ("ucx" in pml) {
                printf ", pml/ucx"
            }
            if ("cm" in pml && mtl != "") {
                printf ", pml/cm with %s", substr(mtl, 3)
            }
        }'
}

build_components() {
    local dir
    for dir in $(component_dirs); do
        step "make-${dir##*/}" "Building and installing $dir" make -C "$tree/$dir" -j"$jobs" install
    done
}

one_at_a_time() {
    exec 9>"$build/lock"
    flock -n 9 && return
    say "Another build works in ${build#"$root"/}; waiting for it"
    flock 9
}

check_environment
need_packages
mkdir -p "$build"
one_at_a_time
find_source
name_variant "${1-}"
describe_steps "${1-}"
is_done unpacked "$unpacked" || unpack
if ! is_done configured "$configured"; then
    configure_tree
elif [ $stock = no ]; then
    lay_overlay
fi
if ! is_done built "$configured"; then
    build_everything
elif [ $stock = no ]; then
    build_components
fi
if [ $stock = yes ]; then
    ln -sfn "${prefix##*/}" "$build/stock"
elif [ -n "${1-}" ]; then
    say "Open MPI $variant with the components is in $prefix"
else
    ln -sfn "${prefix##*/}" "$build/install"
fi
