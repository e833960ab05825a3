#!/bin/bash
# Variables that must be equal on all ranks: each is compared, or somebody hears that it is not.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# Not all headers that are needed are installed.
tree=$(readlink -f "$OMPI_PREFIX")
tree=${bin%/*}/openmpi-${tree##*/install-}
[[ -f $tree/VERSION ]] || skip_all "no build tree of $OMPI_PREFIX"
most=$(sed -nE 's/^#define MCA_COMMON_COLLTOOLS_EQUAL_MOST //p' \
    "$root/ompi/mca/common/colltools/common_colltools_vars.h")

compile "$bin/equals" "$here/equals.c" -I"$root" -isystem "$tree" -isystem "$tree/opal/include" \
    -isystem "$tree/ompi/include" -isystem "$tree/3rd-party/openpmix/include" \
    -L"$OMPI_PREFIX/lib" -Wl,-rpath,"$OMPI_PREFIX/lib" -lmca_common_colltools -lopen-pal \
    >"$work/cc" 2>&1 || {
    sed 's/^/# /' "$work/cc"
    echo "Bail out! equals.c does not compile"
    exit 1
}

# compared NUMBER: registers so many; what it says is in $work/out.
compared() {
    OMPI_MCA_pml=ob1 OMPI_MCA_btl=self timeout 300 "$bin/equals" "$1" >"$work/out" 2>&1
    sed -n 's/ compared$//p' "$work/out"
}

is "all of $most are compared" "$(compared "$most")" "$most"
is "and nothing is said" "$(lines 'is not compared')" 0
is "of one more as many" "$(compared "$((most + 1))")" "$most"
is "and it is named" "$(grep -c "coll_posing_number_$most is not compared" "$work/out")" 1
is "once" "$(lines 'is not compared')" 1

"$OMPI_PREFIX/bin/ompi_info" --all --parsable >"$work/out" 2>&1
yes_if "the components register variables" said ':coll_pipering_allgatherv_algorithm:'
is "all of them are compared" "$(lines 'is not compared')" 0
finish
