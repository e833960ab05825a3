#!/bin/bash
# Gathers and reductions inside a node by pulls, between nodes by leaders: random calls of all
# kinds, forced; where a rank cannot read others, from the beginning, which leaves them to messages,
# or from some call on, which is an error of all; where one dies as it reads; and what pulls move: no
# message, and each byte once.
#
#   N=CASES SEED=NUMBER      other random calls
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build_fuzz
build pulls "$here/fault.c" -ldl
seed=${SEED:-1}
echo "# SEED=$seed"
n=${N:-60}
limit=$((90 + n))
random=(-x PULLS=1 -x SEED="$seed" -x N="$n")

on_one "counts" 2 60 "$bin/pulls"
on_one "counts" 5 60 "$bin/pulls"
for p in 2 3 5; do
    on_one "fuzz" "$p" "$limit" "${random[@]}" "$bin/fuzz"
done
on_one "fuzz, turns" 4 "$limit" "${random[@]}" -x TURNS=1 "$bin/fuzz"
on_one "fuzz, threads" 3 "$limit" "${random[@]}" -x THREADS=3 "$bin/fuzz"
long on_one "fuzz" 8 "$limit" "${random[@]}" "$bin/fuzz"
long on_one "fuzz" 16 "$limit" "${random[@]}" "$bin/fuzz"

# Open MPI's own transport reads memory of others too, and loses bytes where that fails now and then
no_reads=(--mca btl_sm_flags 1)
for victim in 1 all; do
    on_one "fuzz, $victim cannot read" 4 "$limit" "${no_reads[@]}" "${random[@]}" \
        -x FAULT=read -x VICTIM=$victim -x REFUSE=1 "$bin/fuzz"
    for spared in 8 20; do
        on_one "$victim cannot read after $spared" 4 60 "${no_reads[@]}" -x FAILS=1 \
            -x FAULT=read -x VICTIM=$victim -x REFUSE=1 -x SPARED=$spared "$bin/pulls"
    done
done

for map in 2,2 1,3,2; do
    on_nodes "fuzz, leaders" $map block "$limit" "${random[@]}" "$bin/fuzz"
done
on_nodes "fuzz, leaders" 3,2 cyclic "$limit" "${random[@]}" "$bin/fuzz"
long on_nodes "fuzz, leaders" 4,4 block "$limit" "${random[@]}" "$bin/fuzz"
# rank 0 says for node 0 that it cannot; rank 4 is not asked by others
for victim in 0 4; do
    on_nodes "fuzz, leaders, $victim cannot read" 3,3 block "$limit" "${no_reads[@]}" \
        "${random[@]}" -x FAULT=read -x VICTIM=$victim -x REFUSE=1 "$bin/fuzz"
done

build refused
on_one "fuzz, no rank may read" 4 "$limit" "${no_reads[@]}" "${random[@]}" \
    "$bin/refused" "$bin/fuzz"
on_one "fuzz, rank 1 may not" 4 "$limit" "${no_reads[@]}" "${random[@]}" -x VICTIM=1 \
    "$bin/refused" "$bin/fuzz"
# shellcheck disable=SC2016 # for the script that is written
printf '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 1 ] || exec unshare --user --map-root-user "$@"\nexec "$@"\n' \
    >"$work/apart"
chmod +x "$work/apart"
if unshare --user --map-root-user true 2>/dev/null; then
    on_one "fuzz, rank 1 in a user namespace of its own" 4 "$limit" "${no_reads[@]}" \
        "${random[@]}" "$work/apart" "$bin/fuzz"
fi

on_one "fuzz, rank 2 cannot attach the board" 4 "$limit" "${random[@]}" -x FAULT=attach \
    -x VICTIM=2 -x REFUSE=1 "$bin/fuzz"
on_one "fuzz, no rank but the first can" 4 "$limit" "${random[@]}" -x FAULT=attach \
    -x VICTIM=all -x REFUSE=1 "$bin/fuzz"

# dies SPARED: rank 1 is killed as it reads, and nothing is left.
dies() {
    local before after
    before=$(ls /dev/shm)
    "$testbed" local -n 4 --timeout 100 -- "${no_reads[@]}" "${random[@]}" -x FAULT=read \
        -x VICTIM=1 -x SPARED="$1" "$bin/fuzz" >"$work/out" 2>&1
    yes_if "killed after $1 reads: the job ends" grep -q 'killed in a step' "$work/out"
    after=$(ls /dev/shm)
    is "killed after $1 reads: nothing is left" "$after" "$before"
}
for spared in 0 7 50; do
    dies "$spared"
done
finish
