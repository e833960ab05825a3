#!/bin/bash
# The tests of mpi4py's own for collectives, with the distribution's mpi4py on this Open
# MPI: as it is, and with the components' algorithms forced whatever the size.
# Exchanges of a process with itself and between groups are Open MPI's own.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

python=/usr/bin/python3
export LD_LIBRARY_PATH=$OMPI_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

if ! "$python" -c 'import mpi4py, numpy' 2>/dev/null; then
    skip "mpi4py" "python3-mpi4py or python3-numpy is missing"
    finish
fi
if ! source=$("$root/config/fetch-mpi4py.sh" 2>"$work/why") || [[ -z $source ]]; then
    skip "mpi4py" "no source of mpi4py: $(tail -n 1 "$work/why" | tr '#' ' ')"
    finish
fi
mkdir "$work/source"
tar -xf "$source" -C "$work/source" --strip-components=1 --wildcards '*/test/*' || {
    echo "Bail out! $source is no source of mpi4py"
    exit 1
}

# mpi4py LABEL P TESTS [MPIRUN'S OPTION]...: all ranks run all tests, at least so many.
mpi4py() {
    local label="$1, $2 ranks" p=$2 tests=$3 status=0 most least
    shift 3
    "$testbed" local -n "$p" --timeout 300 -- -x LD_LIBRARY_PATH "$@" \
        "$python" "$work/source/test/runtests.py" --no-builddir --no-threads -q \
        -i test_cco_ -e inter >"$work/raw" 2>&1 || status=$?
    tr -d '\000' <"$work/raw" >"$work/out"
    least=$(sed -nE 's/^Ran ([0-9]+) tests? in .*/\1/p' "$work/out" | sort -n | head -n 1)
    most=$(lines '^OK')
    if [[ 0 -eq $status && $p -eq $most && ${least:-0} -ge $tests ]]; then
        ok "mpi4py, $label: $least tests a rank"
    else
        not_ok "mpi4py, $label"
        echo "# status $status, $most ranks are well"
        grep -E '^(FAIL|ERROR|FAILED|[A-Za-z.]*Error|mpi4py)|^testbed|Signal|signal' "$work/out" |
            sort | uniq -c | head -n 30 | sed 's/^/# /'
    fi
}

# forced COLLECTIVE=ALGORITHM...: options of mpirun, in $options, for calls of any size.
forced() {
    local choice
    options=()
    for choice; do
        options+=(--mca "coll_pipering_${choice%=*}_algorithm" "${choice#*=}")
    done
}
forced {bcast,reduce,scan,exscan,reduce_scatter}=pipeline allreduce=merged \
    {allgatherv,allgather}=ring {alltoallv,alltoallw}=bins
pipelines=("${options[@]}")
forced {bcast,reduce,allreduce,reduce_scatter,allgatherv,allgather}=rounds
rounds=("${options[@]}")
forced {bcast,reduce,allreduce,reduce_scatter,allgatherv,allgather}=pulls
pulls=("${options[@]}")
forced {allreduce,reduce_scatter}=ring allgatherv=rounds allgather=off
leaders=("${options[@]}" --mca coll_mleader_allgather_algorithm leaders --mca coll_mleader_groups 2)

mpi4py "as it is" 1 300
mpi4py "as it is" 3 300
mpi4py "pipelines forced" 3 300 "${pipelines[@]}"
mpi4py "pipelines forced" 5 300 "${pipelines[@]}"
mpi4py "rounds forced" 5 300 "${rounds[@]}"
mpi4py "pulls forced" 4 300 "${pulls[@]}"
mpi4py "leaders and rings forced" 3 300 "${leaders[@]}"

finish
