#!/bin/bash
# Collectives back to back with tiny windows, while one rank never waits.
#
#   N=20       cases in each job
#   SEED=1     of all that is random; "time" for another one each time
#   CASE=C     only this one
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build rush
seed=${SEED:-1}
[[ $seed != time ]] || seed=$(date +%s)
echo "# SEED=$seed"
replay=(-x SEED="$seed" -x N="${N:-20}" -x CASE="${CASE:--1}")

for p in 2 3 5; do
    on_one rush "$p" 60 "${replay[@]}" "$bin/rush"
done
on_nodes rush 1,1,1 block 60 "${replay[@]}" "$bin/rush"
on_nodes rush 2,1,3 cyclic 60 "${replay[@]}" "$bin/rush"
finish
