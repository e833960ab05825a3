#!/bin/bash
# Nobody has to try what coll/pipering does with a call: pipering-predict, given the line about the
# machine that the component prints, names algorithm and blocks of each of 200 random calls.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
build predicted

# compare RANKS PPN PROCESSORS: what the last job said of its calls, and what is predicted. Calls
# whose order matters are decided by the machine of the first line, others by that of the last one
# before them.
compare() {
    python3 - "$root/contrib/tuning/pipering-predict" "$work/out" "$@" <<'COMPARE'
import json, re, subprocess, sys
predict, said, ranks, ppn, processors = sys.argv[1:]
first = last = call = None
wanted = []
for line in open(said, errors="replace"):
    if line.startswith("call: "):
        call = line.split()[2:]
        wanted.append([call, None, first, last])
    elif "coll/pipering: machine of" in line:
        text = line.split(": ", 2)[2]
        text, below = text.split("#")[0], re.search(r"modules below: (\S+)", line).group(1)
        last = (text, "any" if below == "unknown" else below)
        first = first or last
        if wanted:
            wanted[-1][2:] = [first, wanted[-1][3] or last]
    else:
        match = re.search(r"coll/pipering: \w+ of \d+ bytes on .*?: (.*) s: (\w+); plan", line)
        if match and wanted:
            row = match.group(2)
            block = re.search(rf"\b{row} B (\d+)", match.group(1))
            wanted[-1][1] = (row, int(block.group(1)) if block else 0)
        elif "too few bytes" in line and wanted and not wanted[-1][1]:
            wanted[-1][1] = ("below", 0)
wrong = 0
for call, got, its_first, its_last in wanted:
    machine, below = (its_first if "double" in call else its_last) or first
    cost = [word for value in machine.split() for word in ("--cost", value)]
    answer = json.loads(subprocess.run(
        [predict, "--ranks", ranks, "--ppn", ppn, "--processors", processors, "--below", below,
         "--json", *cost, *call], check=True, capture_output=True).stdout)
    chosen = [a for a in answer["algorithms"] if a["chosen"]]
    expect = ("below", 0)
    if answer["served"]:
        expect = (chosen[0]["algorithm"], chosen[0]["block"])
    if expect[1] == 0:
        got = got and (got[0], 0)
    if expect != got:
        wrong += 1
        print(f"# {' '.join(call)}: predicted {expect}, the job said {got}", file=sys.stderr)
print(f"{len(wanted) - wrong} of {len(wanted)}")
COMPARE
}

# calls LABEL MAP PPN OPTION...: 200 calls on nodes.
calls() {
    local label=$1 map=$2 ppn=$3 nodes
    shift 3
    nodes=$(awk -F, '{ print NF }' <<<"$map")
    on_nodes "$label" "$map" block 120 --mca coll_pipering_verbose 1 --mca coll ^mleader \
        --mca coll_pipering_processors 2 "$@" "$bin/predicted" 200 "$((nodes + ppn))" "$work"
    is "$label: predicted" "$(compare $((nodes * ppn)) "$ppn" 2)" "200 of 200"
}

if can_nodes; then
    calls "with a file" 1,1,1,1,1,1,1,1 1
    calls "with a file, nodes" 3,3,3 3
    calls "by adapters" 1,1,1,1,1,1 1 --mca coll_pipering_machine ""
else
    skip "calls on nodes" "$why_not"
fi
finish
