# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# Read by scripts that take packages of another suite of Debian than this
# machine's, or sources, from where this machine takes its own packages.

# The machine's mirrors in the order of its own source lists, whichever of
# apt's formats these have; suites like NAME-security are other archives.
mirrors() {
    apt-get indextargets --no-release-info --format '$(COMPONENT) $(RELEASE) $(REPO_URI)' \
        'Created-By: Packages' 2>/dev/null |
        awk '$1 == "main" && $2 !~ /[-\/]/ && !seen[$3]++ { print $3 }'
}

# The file of the archive's keys; nothing if the machine has none.
archive_keys() {
    local keys
    for keys in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
        [ ! -r "$keys" ] || { printf '%s\n' "$keys"; return; }
    done
}

# private_apt PROGRAM [ARGUMENT]...: a program of apt with a source list and a
# state of its own under $private: the system's configuration stays as it is, and
# root is not needed.
private_apt() {
    local program=$1
    shift
    set -- -o Dir::Etc::sourcelist="$private/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State="$private/state" -o Dir::Cache="$private/cache" \
        -o Acquire::Languages=none -o APT::Update::Error-Mode=any "$@"
    # apt's own unprivileged user may not enter this directory.
    [ "$(id -u)" -ne 0 ] || set -- -o APT::Sandbox::User=root "$@"
    LC_ALL=C "$program" "$@"
}

# use_place URI SUITE COMPONENT: private_apt takes sources from there.
use_place() {
    local keys
    keys=$(archive_keys)
    mkdir -p "$private/state/lists/partial" "$private/cache/archives/partial"
    printf 'deb-src %s%s %s %s\n' "${keys:+[signed-by=$keys] }" "$@" >"$private/sources.list"
    private_apt apt-get update
}

# download_source PACKAGE VERSION: the upstream tarball inside of Debian's source
# package, into $downloads; into a directory beside first, since apt writes under
# the final name at once.
download_source() {
    local new=$downloads/new-$1 status=0
    rm -rf "$new"
    mkdir -p "$new"
    (cd "$new" && private_apt apt-get source --download-only --tar-only "$1=$2" &&
        mv "$1"_*.orig.tar.* "$downloads/") || status=$?
    rm -rf "$new"
    return $status
}
