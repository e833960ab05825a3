#!/bin/bash
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Usage: config/build-deb.sh
#
# Builds a Debian package of the components, for Debian's Open MPI as it is installed here and for
# no other version of it, in build/deb/. Prints the name of the package.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$root/config/installed-openmpi.sh"

command -v dpkg-query >/dev/null || die "this system has no Debian packages (dpkg-query is not there); see docs/install.md for other ways"
"$root/config/need-packages.sh" compiler dso headers deb
unset OMPI
find_installed

# library_package: who brings what the components link to.
library_package() {
    local dir=/usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH) name
    name=$(realpath -e "$dir/libopen_mpi.so" 2>/dev/null || realpath -e "$dir/libmpi.so.40") ||
        die "$mpicc is not Debian's Open MPI: $dir/libmpi.so.40 is not there"
    dpkg-query -S "$name" | sed 's/:.*//'
}

maintainer="${DEBFULLNAME:-The pipering authors} <${DEBEMAIL:-pipering@pipering.example}>"
library=$(library_package)
library_version=$(dpkg-query -W -f '${Version}' "$library")
work=$build/deb/source
rm -rf "$build/deb"
mkdir -p "$work"
tar -C "$root" -cf - --exclude=./build --exclude=./.git . | tar -C "$work" -xf -
cp -r "$root/contrib/debian" "$work/debian"
sed "s/@LIBRARY@/$library/; s/@LIBRARY_VERSION@/$library_version/; s/@MAINTAINER@/$maintainer/" \
    "$root/contrib/debian/control.in" >"$work/debian/control"
rm "$work/debian/control.in"
cat >"$work/debian/changelog" <<END
openmpi-pipering (1.0+openmpi${library_version//-/.}) unstable; urgency=medium

  * Built for Open MPI $version of $library $library_version.

 -- $maintainer  $(date -R -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$root/LICENSE")}")
END
{
    echo 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/'
    echo
    echo 'Files: *'
    sed -n '1s/^/Copyright: /p' "$root/LICENSE"
    echo 'License: BSD-3-clause'
    sed -n '/^Redistribution/,$s/^$/./; /^Redistribution\|^\./,$s/^/ /p' "$root/LICENSE"
} >"$work/debian/copyright"
(cd "$work" && dpkg-buildpackage -b -us -uc) >"$logs/deb.log" 2>&1 ||
    die "the package does not build; the last lines of ${logs#"$root"/}/deb.log: $(tail -n 5 "$logs/deb.log")"
ls "$build"/deb/*.deb
