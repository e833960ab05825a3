#!/bin/bash
# pipering-tune end to end: nodes with links of 100 Mbit/s, which begin with blocks that are too
# large. It must go on after an interrupt and come to a verdict, and its rules file must be read
# by coll/tuned. It must find out about the blocks and prove it, by times of calls.
# shellcheck source-path=SCRIPTDIR source=short_run.sh
. "$(dirname "$0")/short_run.sh"
all_long

mapping=(--ppn 1)
nodes=(--nodes 8 --rate 100mbit)
minutes=3
few=30
wanted=(--variables coll_pipering_block_size --collectives allgatherv,bcast
    --start "$work/start")
echo coll_pipering_block_size=524288 >"$work/start"

# ---- interrupted, then on to the end

tune "$out"
while [[ $(cells) -lt $few ]] && kill -0 "$tuner" 2>/dev/null; do
    sleep 0.1
done
# The oldest: what it starts looks like it until it is another program.
pid=$(pgrep -o -f "^[^ ]*python3 $door .*$out")
yes_if "it can be interrupted" kill -INT "$pid"
ended
is "an interrupt ends it with status 130" "$status" 130
yes_if "and a sentence that says how to go on" grep -q 'interrupted; .*--resume' "$work/said"
measured=$(cells)
yes_if "what was measured stands in the journal" test "$few" -le "$measured"

SECONDS=0
tune --resume "$out"
ended
check_run "$SECONDS"
yes_if "with the cells that were there" test "$measured" -lt "$(cells)"
# Of the call that the interrupt went through all arms are measured again.
yes_if "cells of one call at most stand in the journal twice" \
    test 1 -ge "$(sed -nE 's/^\{"cell":"([^"]*)".*/\1/p' "$out/journal.jsonl" | sort | uniq -d |
        sed 's|/[^/]*$||' | uniq | wc -l)"
yes_if "resumed it comes to its end" test "$status" = 0 -o "$status" = 3

# ---- what it says

# One call in forty that is as fast as before seems slower in three pairs of jobs.
if [[ $status == 3 ]] && grep -q -- '--resume with a longer --budget' "$work/said"; then
    minutes=6
    tune --resume "$out"
    ended
    sed 's/^/# /' "$work/said"
fi
is "the file helps" "$status" 0
is "the block size was changed" \
    "$(from_json 'any(c["chosen"] != c["default"] for c in r["choices"])')" True
is "after is faster than before" "$(from_json \
    'sum(sum(c["seconds"]) for c in r["calls"] if c["phase"] == "after") <
     0.9 * sum(sum(c["seconds"]) for c in r["calls"] if c["phase"] == "before")')" True
is "calls were raced" "$(from_json '"race" in {c["phase"] for c in r["calls"]}')" True
if [[ $(by_files) != *stay ]]; then
    is "held-out calls were run before and after" \
        "$(from_json '{c["phase"] for c in r["calls"]} >= {"before", "after"}')" True
    is "the parameter file has settings without blanks, and comments on lines of their own" \
        "$(cat "$out"/{tuned,refused}.conf 2>/dev/null | grep -vcE '^(#.*|[a-z_]+=[^ ]+)$')" 0
fi

tune "$out"
ended
is "a directory with a journal is not begun anew" "$status" 1
yes_if "and the sentence names --resume" grep -q 'is there already: --resume' "$work/said"

# ---- jobs take a file with variables of several components

# As ompi_info of this release shows them: doubles with six decimals, units, names of switches.
taken() {
    python3 - "$root/contrib/tuning" "$OMPI_PREFIX/bin/ompi_info" "$testbed" "$work/several" \
        <<'TAKEN'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from pipering_tuning import files, launch, ompi_info, preflight
table = ompi_info.read(sys.argv[2])
settings = {"coll_pipering_processors": "0.0123457", "coll_mleader_segment_size": "64k",
            "coll_tuned_use_dynamic_rules": "yes", "mpi_yield_when_idle": "1",
            "opal_datatype_lookahead_segments": "9"}
settings = {name: value for name, value in settings.items() if table.get(name) is not None}
table.check(settings, "several")
files.write(sys.argv[4], files.settings_text(settings))
launcher = launch.Launcher([sys.argv[3], "local", "-n", "2", "--timeout", "120", "--"])
preflight.check_files(launcher, table, sys.argv[4], settings)
files.write(sys.argv[4], files.settings_text({**settings, "coll_mleader_segment_size": "4096"}))
try:
    preflight.check_files(launcher, table, sys.argv[4], settings)
except files.Refusal as refusal:
    sys.exit(0 if "coll_mleader_segment_size 4096, not 64k" in str(refusal) else str(refusal))
sys.exit("a file with another value was taken")
TAKEN
}
yes_if "jobs take a file with variables of several components" taken

# ---- coll/tuned reads the rules file

# A rule for an algorithm that serves two ranks only must make a call of four fail.
python3 - "$root/contrib/tuning" >"$work/rules" <<'RULES'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from pipering_tuning import calls, rules, stats
call = calls.Call("allgatherv", "regular", 400, "auto")
print(rules.as_text([rules.Rule(call, 5, "two_proc", stats.Interval(1, 1, 1))], 4), end="")
RULES
kernel=$(echo "$out"/kernel-*)

# small RANKS SETTING...: a small MPI_Allgatherv under coll/tuned.
small() {
    local ranks=$1
    shift
    echo "cell=1 kind=call collective=allgatherv dist=regular total=400 type=byte reps=1 warmup=0" |
        env "$@" "$testbed" local -n "$ranks" --timeout 120 -- "$kernel" 2>/dev/null |
        grep -c '"cell": "1", "status": "ok"'
}

use=OMPI_MCA_coll_tuned_use_dynamic_rules=1
rules=("$use" OMPI_MCA_coll_tuned_dynamic_rules_filename="$work/rules")
is "without rules a small call is served" "$(small 4 "$use")" 1
is "coll/tuned follows a rule of the file" "$(small 4 "${rules[@]}")" 0
is "the rule is for as many ranks alone" "$(small 3 "${rules[@]}") $(small 5 "${rules[@]}")" "1 1"
finish
