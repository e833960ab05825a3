#!/bin/bash
# coll/han below our components, on communicators that it cannot serve: it finds that out
# at the first call of a collective, by messages of its own, and not at each.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build fallback

# Calls of a size that nothing else has: coll/han tells of each that it decides.
watched=(--mca coll_han_verbose 30 -x CALLS=5 -x ITEMS=19)

# decided COLLECTIVE: how many of the five.
decided() {
    lines "coll:han:get_algorithm $1 size:76 "
}

# asked LABEL MAP WANTED [MPIRUN'S OPTION]...: coll/han decides so many of the five calls
# of Allgather, Bcast, Reduce and Allreduce.
asked() {
    local label=$1 map=$2 wanted=$3
    shift 3
    on_nodes "$label" "$map" block 60 "${watched[@]}" "$@" "$bin/fallback"
    can_nodes || return
    is "$label: calls that coll/han decides" \
        "$(decided allgather) $(decided bcast) $(decided reduce) $(decided allreduce)" "$wanted"
}

if ! "$OMPI_PREFIX/bin/ompi_info" --parsable | grep -q '^mca:coll:han:version:'; then
    skip "coll/han is asked once" "this Open MPI has no coll/han"
    finish
fi
asked "one rank a node" 1,1,1 "1 1 1 1"
asked "one rank a node, coll/mleader alone" 1,1,1 "1 1 1 1" --mca coll ^pipering
# Unlike numbers of ranks are no hindrance for its MPI_Allreduce.
asked "nodes of unlike sizes" 2,1,2 "1 1 1 5" --mca coll ^mleader
asked "nodes of unlike sizes, coll/mleader alone" 2,1,2 "1 1 1 5" --mca coll ^pipering \
    --mca coll_mleader_allgather_algorithm off
finish
