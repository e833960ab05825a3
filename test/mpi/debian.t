#!/bin/bash
# A release of Debian, SUITE=trixie, and its own Open MPI: `make install-dso` is one command, for
# root and for a user, on a system with nothing but libopenmpi-dev, git and make; both components
# load there and pass what dso.t asks of them. So is `make deb`, whose package is without fault for
# lintian, serves a job, and leaves nothing when it is purged. Each of the two begins on a system of
# its own, and says how many seconds it took to the first job that is served and checked. The system
# is a directory made by debootstrap (1 min and 1 GB, kept under build/); the tests in it take 5 min.
# There are no tests across nodes in it: dso.t has them on this machine's own Open MPI.
# shellcheck source-path=SCRIPTDIR source=lib.sh
[[ ${1-} != --inside ]] || export OMPI_PREFIX=/usr BUILD_DIR=/srv/build
. "$(dirname "$0")/lib.sh"

suite=${SUITE:-trixie}
packages=(libopenmpi-dev git make)
make_limit=750 # seconds
run_limit=1500

# ---- outside ----

# wait_for COMMAND...: so that a signal to this script ends it at once, and COMMAND with it.
wait_for() {
    "$@" <&0 &
    wait $!
}

# make_root DIR: unless there is one of the same packages.
make_root() {
    local made_for="$suite ${packages[*]}" status=0 why
    [[ ! -d $1 || "$(cat "$1.for" 2>/dev/null)" != "$made_for" ]] || return 0
    rm -rf "$1" "$1.for"
    mkdir -p "$(dirname "$1")"
    wait_for "$here/debian-root" make "$1" "$make_limit" "$suite" "${packages[@]}" \
        >"$work/make" 2>&1 </dev/null || status=$?
    if [[ 0 -ne $status ]]; then
        rm -rf "$1.new"
        why=$(tail -n 1 "$work/make")
        [[ 124 -ne $status ]] || why="not done in $make_limit s"
        skip_all "no root directory of Debian's $suite can be made: $why"
    fi
    echo "$made_for" >"$1.for"
}

# The checkout as it is, without what was built.
outside() {
    local dir=$bin/debian/$suite
    all_long
    [[ 0 -eq $(id -u) ]] || skip_all "only root can make a root directory of Debian"
    command -v debootstrap >/dev/null || skip_all "debootstrap is missing"
    make_root "$dir"
    tar -C "$root" --exclude=./build --exclude=./.git -cf "$work/checkout" .
    relay objects on_system "$dir" objects
    relay package on_system "$dir" package
    finish
}

# on_system DIR PART: a system of its own for it, with the checkout in a user's home.
on_system() {
    wait_for "$here/debian-root" run "$1" "$run_limit" bash -c '
        useradd --create-home user && mkdir ~user/pipering && tar -C ~user/pipering -xf - &&
        chown -R user: ~user/pipering &&
        exec env CHECK_LONG=yes SUITE="$2" ~user/pipering/test/mpi/debian.t --inside "$1"' \
        inside "$2" "$suite" <"$work/checkout"
}

# ---- inside ----

# as_user COMMAND...: one without rights, whose checkout this is.
as_user() {
    env HOME=/home/user setpriv --reuid user --regid user --init-groups "$@"
}

# install_dso [COMMAND...]: `make install-dso`, what it says in $work/out.
install_dso() {
    "$@" make -s -C "$root" install-dso >"$work/out" 2>&1 </dev/null
}

# shown NAME COMMAND...: a test; the command must succeed, else what was said is shown.
shown() {
    local name=$1
    shift
    if "$@"; then
        ok "$name"
    else
        not_ok "$name"
        sed 's/^/# /' "$work/out"
    fi
}

# installed LABEL DIR: tests that it says so, has done so, and that gcc is content.
installed() {
    is "$1: what is installed" "$(sed -n 's/^    \(mca_.*\)/\1/p' "$work/out")" \
        $'mca_coll_mleader.so\nmca_coll_pipering.so'
    is "$1: it is there" "$(find "$2" -name '*.so' -printf '%f\n' | sort)" $'mca_coll_mleader.so\nmca_coll_pipering.so'
    is "$1: without a warning" "$(grep -E 'warning|error' "$work/out")" ""
}

# not COMMAND...: succeeds if it fails.
not() {
    ! "$@"
}

# told_where: the setting that the command prints. Settings of Debian 13's PMIx hide the user's
# directory from jobs.
told_where() {
    sed -n 's/^ *\(OMPI_MCA_mca_base_component_path=\)/\1/p' "$work/out"
}

# forced LABEL OPTION... PROGRAM: a job of the user's, of 4 ranks.
forced() {
    job "$1" as_user env ${where:+"$where"} "$testbed" local -n 4 --timeout 300 -- "${@:2}"
}

# by_apt COMMAND...: what it says in $work/out.
by_apt() {
    env DEBIAN_FRONTEND=noninteractive "$@" >"$work/out" 2>&1 </dev/null
}

# all_files: what stands in places that packages fill.
all_files() {
    find /etc /usr/lib /usr/share/doc -path '*pipering*' | sort
}

# first_job LABEL [NAME=VALUE]: it is served, and how long it took from nothing.
first_job() {
    shown "$1: it serves a job" by_apt ${2:+"$2"} "$root/contrib/debian/tests/job"
    echo "# $suite: $1: $SECONDS s from nothing to the first job that is served and checked" >&2
}

# package: built, judged, installed twice, used, removed, installed again and purged.
package() {
    local deb before
    before=$(all_files)
    SECONDS=0
    shown "one command" by_apt make -s -C "$root" deb
    deb=$(find "$root/build/deb" -name 'openmpi-pipering_*.deb')
    shown "it installs" by_apt apt-get install -y "$deb"
    first_job "package"
    echo '# by the site' >>/etc/openmpi/pipering-machine
    shown "it installs again" by_apt apt-get install -y --reinstall "$deb"
    is "the site's file stays" "$(tail -n 1 /etc/openmpi/pipering-machine)" "# by the site"
    shown "lintian comes" by_apt apt-get install -y --no-install-recommends lintian
    shown "lintian finds no error" by_apt lintian --fail-on error "$root"/build/deb/*.changes
    shown "it is removed" by_apt apt-get remove -y openmpi-pipering
    yes_if "the site's file stays, removed" test -e /etc/openmpi/pipering-machine
    shown "it is purged" by_apt apt-get purge -y openmpi-pipering
    is "nothing is left" "$(all_files)" "$before"
}

objects() {
    local where
    shown "without root: it fails" not install_dso as_user
    yes_if "without root: it names the packages" \
        grep -qE '^ *apt-get install --no-install-recommends gcc( |$)' "$work/out"

    SECONDS=0
    shown "root: one command" install_dso
    where=$(told_where)
    installed "root" ~/.openmpi/components
    first_job "root" "$where"
    rm -rf "$root/build" ~/.openmpi

    shown "a user: one command" install_dso as_user
    installed "a user" /home/user/.openmpi/components
    where=$(told_where)
    if mpicc --showme:version | grep -q 'Open MPI 5\.'; then
        is "a user: it says how jobs load them" "${where#*=}" \
            "/home/user/.openmpi/components:SYSTEM_DEFAULT:USER_DEFAULT"
    fi

    is "ompi_info lists both" "$(as_user ompi_info | grep -oE 'coll: (mleader|pipering)' | sort)" \
        $'coll: mleader\ncoll: pipering'
    build served
    build_fuzz
    forced "pipering" --mca coll_pipering_allgatherv_algorithm ring \
        --mca coll_pipering_allgather_algorithm ring "$bin/served"
    yes_if "pipering serves all calls" said 'ring 4 below 0; allgather: ring 4 below 0'
    forced "mleader" --mca coll_mleader_groups 2 -x LEADERS=1 -x N=20 "$bin/fuzz"

    relay dso.t "$here/dso.t"
}

if [[ ${1-} == --inside ]]; then
    "$2"
    finish
else
    outside
fi
