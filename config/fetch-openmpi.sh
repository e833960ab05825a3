#!/bin/bash
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Usage: config/fetch-openmpi.sh
#
# Puts a release tarball of Open MPI 5.0.x in build/download/, unless one is
# there, and prints its name. It is the upstream one inside Debian's source
# package, so that the only network needed is the machine's own Debian mirror.
# apt is told to use a source list and a state of its own under build/apt/:
# the system's configuration stays as it is, and root is not needed.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$root/config/debian-archives.sh"

suite=trixie
series=5.0
preferred=5.0.7
downloads=$build/download
private=$build/apt

# The long step is this script again, so that it has a log and a clock.
now=no
[ "${1-}" != --now ] || now=yes
release="Open MPI $series.x"
instead="pass OMPI=DIR or OMPI=TARBALL, an $release source tree or release tarball"

# Upstream tarballs whose contents we know. A newer one is vouched for by
# apt alone, which checks the archive's signature.
known_sha256() {
    case $1 in
        5.0.7) echo 97f10c04e9b9a1771db3fd005009e4c07afa3ce739f940e41eb0fc7397cb9473 ;;
    esac
}

tarball_version() {
    local name=${1##*/openmpi_}
    printf '%s\n' "${name%.orig.tar.*}"
}

check_tarball() {
    local its_version known sum
    its_version=$(tarball_version "$1")
    known=$(known_sha256 "$its_version")
    [ -n "$known" ] || return 0
    sum=$(sha256sum <"$1" | cut -d' ' -f1)
    [ "$sum" = "$known" ] ||
        die "$1 is not Open MPI $its_version: its sha256 is $sum, expected $known; remove it and try again"
}

# The preferred version if we have it, else the newest of the series.
downloaded() {
    ls "$downloads"/openmpi_"$preferred".orig.tar.* 2>/dev/null && return
    { ls "$downloads"/openmpi_"$series".*.orig.tar.* 2>/dev/null || true; } | sort -V | tail -n 1
}

# Debian's version of the package to take; nothing if the suite has none.
package_version() {
    private_apt apt-cache showsrc --only-source openmpi 2>/dev/null |
        awk -v p="$preferred-" -v s="$series." '
            $1 != "Version:" { next }
            index($2, p) == 1 { chosen = $2 }
            index($2, s) == 1 { newest = $2 }
            END { print chosen ? chosen : newest }'
}

fetch() {
    local mirror package
    for mirror in $(mirrors); do
        echo "== $mirror"
        use_place "$mirror" "$suite" main || continue
        package=$(package_version)
        [ -n "$package" ] || { echo "no source of $release there"; continue; }
        download_source openmpi "$package" && return
    done
    die "none of this machine's apt sources gave the source of $release (Debian's suite $suite was looked at on each mirror); $instead"
}

tarball=$(downloaded)
if [ -z "$tarball" ]; then
    if [ $now = yes ]; then
        fetch
        exit
    fi
    command -v apt-get >/dev/null ||
        die "this is not a Debian system, so Open MPI's source cannot be fetched through apt; $instead"
    step fetch "Fetching Open MPI's source package (25 MB)" "${BASH_SOURCE[0]}" --now
    tarball=$(downloaded)
fi
check_tarball "$tarball"
printf '%s\n' "$tarball"
