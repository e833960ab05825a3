# shellcheck shell=bash
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# What the tests share that run pipering-tune end to end in few minutes, on nodes of the
# testbed, in real time. They set:
#
#   nodes     options of `testbed with`
#   mapping   options of `testbed mpirun`
#   minutes   the budget
#   wanted    options of pipering-tune
# shellcheck source-path=SCRIPTDIR source=../mpi/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../mpi/lib.sh"

limit=1200 # seconds that a run may take, whatever happens
out=$work/out
door=$root/contrib/tuning/pipering-tune
tuner=

can_nodes || skip_all "no nodes can be made here"
command -v python3 >/dev/null || skip_all "no python3"

# Ends the run that goes on, if there is one: `timeout` hands the signal to all that it started.
stop_tuner() {
    [[ -z $tuner ]] || { kill "$tuner" && wait "$tuner"; } 2>/dev/null
    rm -rf "$work"
}
trap stop_tuner EXIT

# tune ARG...: pipering-tune on the nodes, in the background; its process in $tuner.
tune() {
    timeout -k 5 "$limit" "$testbed" with "${nodes[@]}" -- \
        "$door" --launch "$testbed mpirun ${mapping[*]} --timeout $limit --" \
        --budget "$minutes" "${wanted[@]}" "$@" >"$work/said" 2>&1 &
    tuner=$!
}

# ended: waits for the run; its exit status in $status.
ended() {
    wait "$tuner"
    status=$?
    tuner=
}

cells() { sed -n '/"cell"/p' "$out/journal.jsonl" 2>/dev/null | wc -l; }

# from_json EXPRESSION: of results.json, which is r, and the records of the journal, j.
from_json() {
    python3 -c "import json, os, sys
r = json.load(open(os.path.join(sys.argv[1], 'results.json')))
j = [json.loads(line) for line in open(os.path.join(sys.argv[1], 'journal.jsonl'))]
print($1)" "$out"
}

# What a run has come to, by its exit status and its files, and by results.json.
by_files() {
    local names
    names=$(cd "$out" && echo *.conf)
    case "$status ${names//start.conf/}" in
    0*tuned.conf*) echo "the file helps" ;;
    3*refused.conf*) echo "the file is refused" ;;
    0*) echo "the settings in force stay" ;;
    *) echo "status $status, files $names" ;;
    esac
}

by_results() {
    from_json '"the file helps" if r["verdict"]["help"] else
        "the settings in force stay" if "settings in force stay" in r["verdict"]["sentence"] else
        "the file is refused"'
}

# Whether the run, which took so many seconds, ended in its time; the least proof may go on.
in_time() {
    local seconds=$1
    grep -q 'beyond the time of --budget' "$work/said" ||
        from_json "$seconds <= 1.2 * 60 * j[0]['budget']" | grep -qx True
}

# Whether a file was proven by three pairs of jobs at least, as many before as after.
is_proven() {
    from_json '(lambda pairs: pairs["before"] == pairs["after"] and 3 <= len(pairs["before"]))(
        {arm: {line["cell"].split("/")[1] for line in j[1:]
               if line["cell"].startswith("proof/") and "/" + arm + "/" in line["cell"]}
         for arm in ("before", "after")})' | grep -qx True
}

# Whether the costs that the run has found can be predicted with, if they hold.
predicts() {
    [[ -e $out/machine ]] || ! grep -q '^machine: .*no candidate' "$work/said" || return 0
    "$root/contrib/tuning/pipering-predict" --machine "$out/machine" --ranks 8 --total 1M |
        grep -q '^[*]'
}

# check_run SECONDS: a run that has ended by itself after so many seconds. One without a verdict
# says why in its last words; without results that is the only failure.
check_run() {
    sed 's/^/# /' "$work/said"
    echo "# status $status after $1 s"
    if [[ $status != [03] || ! -s $out/results.json ]]; then
        { tail -n 3 "$work/said"; echo "status $status after $1 s"; } | sed 's/^/# /' >&2
    fi
    if [[ ! -s $out/results.json ]]; then
        not_ok "it has results"
        finish
    fi
    yes_if "it ends in its time" in_time "$1"
    is "the verdict is that of the exit status" "$(by_results)" "$(by_files)"
    if [[ $(by_files) != *stay ]]; then
        yes_if "the file was proven in pairs of jobs" is_proven
    fi
    yes_if "the report begins with the verdict" grep -q '^The ' <(head -n 1 "$out/report.txt")
    yes_if "pipering-predict takes the costs of the machine" predicts
}
