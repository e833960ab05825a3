#!/bin/bash
# Ranks that disagree, on counts or on a variable: an error that says so, where messages
# show it. What they cannot show, ends in a time limit, or not at all: counts that make a
# message vanish (0 bytes on one side), or the number of messages another one while their
# lengths are the same.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build disagree
lengths='rank [0-9]+ got a message of [0-9]+ bytes from rank'

# disagree LABEL P CALL NAME ERROR [MPIRUN'S OPTION]...: in MPI_NAME somebody gets the error and
# ends the job, nobody gets wrong data, and somebody is told in the same words.
disagree() {
    local label="$1, $2 ranks" p=$2 call=$3 name=$4 error=$5 status=0
    shift 5
    local run=("$testbed" local -n "$p")
    [[ -z ${in_turn-} ]] || run=("${in_turn[@]}")
    "${run[@]}" --timeout 100 -- --mca coll_pipering_ring_buffer_size 0 \
        -x CALL="$call" "$@" "$bin/disagree" >"$work/raw" 2>&1 || status=$?
    tr -d '\000' <"$work/raw" >"$work/out"
    if [[ 7 -eq $status && 0 -eq $(lines '^ *not ok') ]] &&
        said "ok - rank [0-9]+: MPI_ERR_($error)\$" &&
        said "^MPI_$name on communicator .*: (${words-$lengths})"; then
        ok "$label: $error"
    else
        not_ok "$label: $error"
        { echo "status $status"; tail -n 20 "$work/out"; } | sed 's/^/# /' >&2
    fi
}

# counts P CALL NAME [MPIRUN'S OPTION]...: rank 1 counts more than the others, and fewer.
counts() {
    local p=$1 call=$2 name=$3
    shift 3
    disagree "$call, one rank counts more" "$p" "$call" "$name" "OTHER|TRUNCATE" -x MORE=1 "$@"
    disagree "$call, one rank counts fewer" "$p" "$call" "$name" "OTHER|TRUNCATE" -x MORE=-1 "$@"
}

pipelines=()
for call in bcast reduce scan; do
    pipelines+=(--mca coll_pipering_${call}_algorithm pipeline)
done
blocks=(--mca coll_pipering_block_size 8192)

for call in bcast reduce scan; do
    counts 3 "$call" "${call^}" "${pipelines[@]}" "${blocks[@]}"
done
for algorithm in merged ring; do
    counts 3 iallreduce Iallreduce --mca coll_pipering_allreduce_algorithm "$algorithm" \
        "${blocks[@]}"
done
for algorithm in ring rounds; do
    for p in 2 4; do
        counts "$p" allgatherv Allgatherv "${blocks[@]}" \
            --mca coll_pipering_allgatherv_algorithm "$algorithm"
    done
done
# By pulls a rank may see the other contributions first, which are as it expects.
words="$lengths|ranks [0-9]+ and [0-9]+ disagree"
counts 3 allgatherv Allgatherv --mca coll_pipering_allgatherv_algorithm pulls
unset words
# Rounds, whose messages come into memory of their own: some ranks count more, or fewer.
for call in reduce allreduce scan exscan reduce_scatter reduce_scatter_block; do
    for more in 7 -7; do
        disagree "$call, rounds, one rank counts $more more" 3 "$call" "${call^}" "OTHER|TRUNCATE" \
            -x MORE=$more --mca "coll_pipering_${call%_block}_algorithm" rounds
    done
done
counts 3 iallgatherv Iallgatherv --mca coll_pipering_allgatherv_algorithm ring "${blocks[@]}"

# The receiver alone sees it: both errors are known.
for algorithm in bins permuted; do
    exchange=(--mca coll_pipering_alltoallv_algorithm "$algorithm"
        --mca coll_pipering_alltoallw_algorithm "$algorithm")
    for call in alltoallv ialltoallw; do
        disagree "$call, $algorithm, a message is shorter" 3 "$call" "${call^}" OTHER -x MORE=5 \
            "${exchange[@]}"
        disagree "$call, $algorithm, a message is longer" 3 "$call" "${call^}" TRUNCATE \
            -x MORE=-5 "${exchange[@]}"
    done
done
counts 3 alltoallv_in_place Alltoallv
disagree "neighbors, a message is shorter" 3 neighbors Neighbor_alltoallw OTHER -x MORE=5
disagree "neighbors, a message is longer" 3 neighbors Neighbor_alltoallw TRUNCATE -x MORE=-5

# coll/mleader by messages: groups of two, so that there are leaders and children.
leaders=(--mca coll_mleader_allgather_algorithm leaders --mca coll_mleader_groups 2
    --mca coll_mleader_aggregation gather
    --mca coll_mleader_scope all)
counts 4 allgather Allgather "${leaders[@]}"
counts 4 iallgather Iallgather "${leaders[@]}"

# A variable that one rank has another value of.
disagree "block_size differs, bcast" 3 bcast Bcast "OTHER|TRUNCATE" "${pipelines[@]}" \
    "${blocks[@]}" -x SET=coll_pipering_block_size -x VALUE=10000
disagree "block_size differs" 3 allgatherv Allgatherv "OTHER|TRUNCATE" "${blocks[@]}" \
    --mca coll_pipering_allgatherv_algorithm ring -x SET=coll_pipering_block_size -x VALUE=10000
# Where contributions of ranks in a row adjoin, all are one message, whatever the variable says.
if can_nodes; then
    in_turn=("$testbed" with --nodes 2 -- "$testbed" mpirun --map 2,2 --by cyclic)
    disagree "rounds_packed differs" 4 allgatherv Allgatherv "OTHER|TRUNCATE" \
        --mca coll_pipering_allgatherv_algorithm rounds \
        -x SET=coll_pipering_rounds_packed -x VALUE=1000000
else
    skip "rounds_packed differs" "$why_not"
fi

# Ring buffers are used by ranks whose type has no gaps, and rank 0 sends blocks where an answer should
# come: its length is not known.
"$testbed" local -n 3 --timeout 100 -- -x CALL=iscan -x GAPS=1 --mca coll_pipering_scan_algorithm \
    pipeline "${blocks[@]}" "$bin/disagree" >"$work/raw" 2>&1
tr -d '\000' <"$work/raw" >"$work/out"
yes_if "types of one signature, a reduction: a message says what was expected" \
    said 'and expected (fewer|[0-9]{1,6}),'
is "types of one signature, a reduction: no number that is none" "$(lines 'expected [0-9]{15}')" 0
finish
