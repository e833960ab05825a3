#!/bin/bash
# Out of tree: the components built for an installed Open MPI, in a directory of
# their own, load there and pass what they pass in their own tree; built for
# another release they say so and keep out. The installed Open MPI is the
# distribution's, or the one in DSO_PREFIX.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# found NAME: a program of the installed Open MPI, by its second name if another
# implementation of MPI has the first.
found() {
    local places=/usr/local/bin:/usr/bin:/bin
    [[ -z ${DSO_PREFIX-} ]] || places=$DSO_PREFIX/bin
    PATH=$places command -v "$1.openmpi" || PATH=$places command -v "$1"
}

# the_installed: sets version; ends the script if there is no Open MPI that the
# component can be built for.
the_installed() {
    local mpicc dir
    mpicc=$(found mpicc) || skip_all "no Open MPI is installed (on Debian: openmpi-bin)"
    version=$("$mpicc" --showme:version 2>/dev/null | sed -n 's/.*Open MPI \([^ ]*\) .*/\1/p')
    [[ -n $version ]] || skip_all "$mpicc is not Open MPI's"
    for dir in $("$mpicc" --showme:incdirs); do
        [[ ! -f $dir/openmpi/ompi/mca/coll/coll.h && ! -f $dir/ompi/mca/coll/coll.h ]] || return 0
    done
    skip_all "Open MPI $version has no developer headers (on Debian: libopenmpi-dev)"
}

# make_prefix: its programs under their first names, as in any prefix. mpirun goes
# by the name it is called by, but with a path it would take that for its prefix.
make_prefix() {
    local name as
    bin=$bin/dso-$version
    OMPI_PREFIX=$bin/prefix
    mkdir -p "$OMPI_PREFIX/bin"
    for name in mpicc mpirun ompi_info; do
        as=
        [[ $name != mpirun ]] || as="-a mpirun"
        printf '#!/bin/bash\nexec %s %s "$@"\n' "$as" "$(found "$name")" >"$work/$name"
        chmod +x "$work/$name"
        cmp -s "$work/$name" "$OMPI_PREFIX/bin/$name" || mv "$work/$name" "$OMPI_PREFIX/bin/"
    done
}

# make_dso DIR: as a user does it, make install-dso.
make_dso() {
    env -u OMPI_PREFIX -u BUILD_DIR PATH="$(dirname "$(found mpicc)"):$PATH" \
        ${DSO_PREFIX:+OMPI="$DSO_PREFIX"} DIR="$1" make -s -C "$root" install-dso \
        >"$work/make" 2>&1
}

# use_dso DIR: what jobs load from now on. The directory that may be missing goes
# last: Open MPI 4.1 does not look behind it.
use_dso() {
    export OMPI_MCA_mca_base_component_path=$1:SYSTEM_DEFAULT:USER_DEFAULT
}

the_installed
make_prefix
echo "# Open MPI $version"

# ---- for another release ----

# OMPI_RELEASE_VERSION after all headers that define it, as if they were another's.
cat >"$work/other.h" <<'HEADER'
#include <ompi_config.h>
#include <mpi.h>
#include <ompi/version.h>
#undef OMPI_RELEASE_VERSION
#define OMPI_RELEASE_VERSION 99
HEADER

build served
other="${version%.*}.99"
if CFLAGS="-O0 -include $work/other.h" make_dso "$work/other"; then
    use_dso "$work/other"
    on_one "built for $other" 2 40 --mca coll_pipering_allgatherv_algorithm ring "$bin/served"
    for name in mleader pipering; do
        yes_if "built for $other: $name says so and what it met" \
            said "coll/$name was built for Open MPI $other .*Open MPI ${version%%[a-z]*}"
    done
    yes_if "built for $other: it serves nothing" said 'ring 0 below 0; allgather: ring 0 below 0'
else
    not_ok "it builds for $other"
    sed 's/^/# /' "$work/make"
fi

# ---- for this one ----

dir=$work/components
if ! make_dso "$dir"; then
    not_ok "make install-dso builds for Open MPI $version"
    sed 's/^/# /' "$work/make"
    finish
fi
ok "make install-dso builds for Open MPI $version"
is "without a warning" "$(grep -E 'warning|error' "$work/make")" ""
use_dso "$dir"

on_one "loaded" 4 40 --mca coll_pipering_allgatherv_algorithm ring \
    --mca coll_pipering_allgather_algorithm ring "$bin/served"
yes_if "loaded: it serves all calls" said 'ring 4 below 0; allgather: ring 4 below 0'
# Asked of ompi_info, since 4.1's mpirun loses a message now and then.
yes_if "coll_pipering_window = -1: the help text is found" grep -q 'coll_pipering_window = -1$' \
    <(OMPI_MCA_coll_pipering_window=-1 "$OMPI_PREFIX/bin/ompi_info" --param coll pipering 2>&1)
for name in mleader pipering; do
    yes_if "ompi_info lists $name" grep -q "^mca:coll:$name:version:" \
        <("$OMPI_PREFIX/bin/ompi_info" --parsable --param coll "$name" --level 9 2>/dev/null)
done

build_fuzz
two=(--mca coll_mleader_groups 2 -x LEADERS=1)
on_one "fuzz, turns" 4 90 -x TURNS=1 -x SEED=70 -x N=20 "$bin/fuzz"
long on_nodes "fuzz, turns" 2,3,1 cyclic 90 -x TURNS=1 -x SEED=70 -x N=20 "$bin/fuzz"
on_one fuzz 4 120 -x SEED=71 -x N=200 "$bin/fuzz"
on_nodes fuzz 2,1,2 random:1 120 -x SEED=72 -x N=100 -x REPLAY="MAP=2,1,2 BY=random:1" "$bin/fuzz"
on_one "fuzz, leaders" 4 90 "${two[@]}" -x SEED=73 -x N=20 "$bin/fuzz"
long on_nodes "fuzz, leaders" 3,1,2 cyclic 90 "${two[@]}" -x SEED=74 -x N=20 "$bin/fuzz"
finish
