#!/bin/bash
#
# Copyright (c) 2026      The pipering authors. All rights reserved.
#
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# The player of test/simulate: every byte of small calls is right by every row and on every
# platform, and plans that send wrong ones are found out.
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
if ! command -v smpicc >/dev/null; then
    echo "1..0 # SKIP there is no SimGrid (Debian: libsimgrid-dev)"
    exit 0
fi
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
count=0
failures=0

# say RESULT NAME: a test.
say() {
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
        return
    fi
    failures=$((failures + 1))
    echo "not ok $count - $2"
    sed 's/^/# /' "$directory/said"
}

# played LINES OPTION...: the player's calls end, so many of them, with right bytes.
played() {
    local lines=$1
    shift
    timeout 500 "$here/simulate" --directory "$directory" --alone --minutes 5 "$@" \
        >"$directory/said" 2>&1 ||
        return 1
    [ "$(grep -c 'right$' "$directory/simulate.tsv")" -eq "$lines" ] ||
        { cat "$directory/simulate.tsv" >>"$directory/said"; return 1; }
}

played 100 --platforms fat-tree --nodes 16,13 --totals 10000,200K \
    --dists regular,zipf,broadcast,empty90,outlier --arms ring,rounds,rounds:1,rounds:3,rounds:13:3K
say $? "all bytes are right, by every row, of a power of two of nodes and of another number"

played 24 --platforms oversubscribed,dragonfly,torus,multi-core --nodes 16 --totals 64K \
    --arms choice,ring,rounds --dists regular,zipf
say $? "likewise on every platform"

played 100 --platforms fat-tree --nodes 16,13 --totals 10000,200K --collective reduce_scatter \
    --dists regular,zipf,broadcast,empty90,outlier --arms ring,rounds,rounds:1,rounds:3,rounds:13:3K
say $? "sums are right, by every row of a reduce-scatter"

for collective in reduce allreduce; do
    played 32 --platforms fat-tree,multi-core --nodes 16,13 --totals 10000,200K \
        --collective "$collective" --dists regular --arms rounds,rounds:1,rounds:3,rounds:13:5000
    say $? "likewise of $collective in rounds"
done

# broken FILE EXPRESSION ENDS NAME: with a plan that sed has broken the player fails, and says why.
broken() {
    local file=plan/coll_pipering_plan_$1
    shift
    rm -rf "$directory/plan" "$directory/player"
    cp -r "$root/ompi/mca/coll/pipering/plan" "$directory/plan"
    sed -i "$1" "$directory/$file"
    cmp -s {"$root/ompi/mca/coll/pipering","$directory"}/"$file" ||
        PLAN_DIR=$directory/plan played 1 --platforms fat-tree --nodes 13 --totals 10000 \
            --arms rounds:2 --dists zipf
    [ $? -eq 1 ] && grep -q "$2" "$directory/said"
    say $? "$3"
}

broken grid.h 's/walk->from = walk->at .*;/walk->from = 0;/' 'WRONG BYTES' \
    "a plan that sends other bytes than it should is found out"
broken grid.c 's/turns ? count - 1 - own : 0/turns ? count - own : 0/' 'after 0 of 1 calls' \
    "so is one whose ranks wait for each other"

echo "1..$count"
exit "$((failures > 0))"
