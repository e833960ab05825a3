#!/bin/bash
# A rank that dies where Open MPI tolerates faults: calls of the others end with
# MPIX_ERR_PROC_FAILED, whether they wait for messages or in shared memory.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

if ! "$OMPI_PREFIX/bin/ompi_info" | grep -q 'Fault Tolerance support: yes' ||
    [[ ! -e $OMPI_PREFIX/include/mpi-ext.h ]]; then
    skip "a rank that dies" "this Open MPI does not tolerate faults"
    finish
fi
build failed

# failed CALL [OPTION]...: a test; each rank that is left says that it is well.
failed() {
    local call=$1
    shift
    "$testbed" local -n "$ranks" --timeout 150 -- --with-ft ulfm "$@" -x CALL="$call" "$bin/failed" \
        >"$work/out" 2>&1
    is "a rank that dies: $call${*:+, $*}" "$(grep -a -E '^(not )?ok - ' "$work/out" | sort)" \
        "$(seq -f "ok - rank %g: $call" 0 $((ranks - 2)))"
}

ranks=3

for call in allgatherv iallgatherv ibcast iallreduce; do
    failed "$call"
    failed "$call" --mca coll_pipering_ring_buffer_size 0
done
mesh=(--mca coll_pipering_mesh 2x2 --mca coll_pipering_verbose 1 -x ALONG_MESH=1)
ranks=4
for call in allgatherv iallgatherv ibcast iallreduce; do
    failed "$call" "${mesh[@]}"
    yes_if "a rank that dies: $call goes along the mesh" said "$call on [^:]*: [a-z]+ of a mesh"
done
ranks=3
failed alltoallv
failed ialltoallv
leaders=(--mca coll_mleader_allgather_algorithm leaders)
failed allgather "${leaders[@]}"
failed allgather "${leaders[@]}" --mca coll_mleader_groups 3
failed iallgather "${leaders[@]}"
failed iallgather "${leaders[@]}" --mca coll_mleader_groups 3

finish
