#!/bin/bash
# Which component serves a call: selection, priority, variables good and bad,
# what ompi_info and the verbose lines tell of it.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

build served

# serves LABEL RING,BELOW,RING,BELOW [MPIRUN'S OPTION]...: right results, and so
# many of the four calls of Allgatherv, then of Allgather, by the ring and left
# to the module below; "any" for a part where the model decides.
serves() {
    local label=$1 wanted=$2 got
    shift 2
    on_one "$label" 4 40 "$@" "$bin/served"
    got=$(sed -nE 's/^# allgatherv: ring ([0-9]+) below ([0-9]+); allgather: ring ([0-9]+) below ([0-9]+)$/\1,\2,\3,\4/p' "$work/out")
    if [[ $wanted == any ]]; then
        yes_if "$label: the component decides all calls" all_decided "$got"
    else
        is "$label: ring and below, of Allgatherv and of Allgather" "$got" "$wanted"
    fi
}

# shellcheck disable=SC2317 # yes_if calls it
all_decided() {
    local a b c d
    IFS=, read -r a b c d <<<"$1"
    [[ $((a + b)),$((c + d)) == 4,4 ]]
}

line='coll/pipering: i?allgatherv? on '
loud=(--mca coll_pipering_verbose 1)

# calls_named: which calls the verbose lines name, and how often each.
calls_named() {
    sed -nE 's|.*coll/pipering: ([a-z]*allgather[a-z]*) on .*|\1|p' "$work/out" | sort | uniq -c | xargs
}
each_twice="2 allgather 2 allgatherv 2 iallgather 2 iallgatherv"

ring=(--mca coll_pipering_allgatherv_algorithm ring --mca coll_pipering_allgather_algorithm ring)

# ---- selection ----

serves "as it is" any "${loud[@]}"
is "as it is: a verbose line for every call, of rank 0 only" "$(lines "$line")" 8
serves "named among others" 4,0,4,0 --mca coll pipering,tuned,basic,libnbc,self,inter "${ring[@]}"
serves "excluded" 0,0,0,0 --mca coll ^pipering "${loud[@]}"
is "excluded: not a word" "$(lines 'pipering:')" 0
serves "priority 0" 0,0,0,0 --mca coll_pipering_priority 0 "${ring[@]}" "${loud[@]}"
is "priority 0: not a word" "$(lines 'pipering:')" 0
serves "priority 100" 4,0,4,0 --mca coll_pipering_priority 100 "${ring[@]}"
# Between libnbc (10), which serves nonblocking calls, and tuned (30), which does not.
serves "priority 20" 2,0,2,0 --mca coll_pipering_priority 20 "${ring[@]}"
serves "nothing below it at priority 1" 0,0,0,0 --mca coll_pipering_priority 1 "${ring[@]}"

on_one_ends() {
    local p=$1 timeout=$2
    shift 2
    "$testbed" local -n "$p" --timeout "$timeout" -- "$@" >"$work/out" 2>&1
    echo $?
}

status=$(on_one_ends 2 20 --mca coll pipering "$bin/served")
yes_if "alone: the job ends at once, with an error" test 0 -ne "$status" -a 124 -ne "$status"
yes_if "alone: Open MPI says what it misses" test 0 -lt \
    "$(lines 'them said that they could be used for ')"

# ---- variables ----

serves "ring" 4,0,4,0 "${ring[@]}" "${loud[@]}"
is "ring: the verbose line names it" "$(lines "$line.*: pipelined ring, ")" 8
is "ring: the verbose line names the call that was made" "$(calls_named)" "$each_twice"
serves "ring for Allgatherv only" 4,0,0,4 --mca coll_pipering_allgatherv_algorithm ring \
    --mca coll_pipering_allgather_algorithm off
serves "ring for Allgather only" 0,4,4,0 --mca coll_pipering_allgatherv_algorithm off \
    --mca coll_pipering_allgather_algorithm ring
serves "off" 0,4,0,4 --mca coll_pipering_allgatherv_algorithm off \
    --mca coll_pipering_allgather_algorithm off "${loud[@]}"
is "off: the verbose line says why" "$(lines "$line.*left to the module below: switched off")" 8
is "off: the verbose line names the call that was made" "$(calls_named)" "$each_twice"

# ---- ranks that differ ----

# differs VARIABLE VALUE RING,BELOW,RING,BELOW [MPIRUN'S OPTION]...: rank 1 has another value, and so
# have no others.
differs() {
    alone "$1" "$2"
    serves "$1 differs on rank 1" "$3" "${ring[@]}" "${@:4}" "$work/alone"
    yes_if "$1 differs on rank 1: it is said" said "$1: rank 1\$"
    is "$1 differs on rank 1: and nothing else" "$(lines 'coll_[a-z]*_[a-z_]*: rank')" 1
}

differs coll_pipering_block_model equation2 0,4,0,4
differs coll_mleader_groups 2 4,0,4,0 --mca coll_mleader_allgather_algorithm leaders

# ---- bad values ----

# complains VARIABLE VALUE LEGAL USED: one help text names the variable, its value, the legal range
# and what is used in its place.
complains() {
    local name=coll_pipering_$1 value=$2
    env "OMPI_MCA_$name=$value" "$OMPI_PREFIX/bin/ompi_info" --param coll pipering >"$work/out" 2>&1
    is "$name = $value: one complaint" "$(lines "$name = $value\$")" 1
    is "$name = $value: the legal range" "$(sed -nE 's/^ *Legal range: +//p' "$work/out")" "$3"
    is "$name = $value: what is used instead" "$(sed -nE 's/^ *Used instead: +//p' "$work/out")" "$4"
}

complains block_size -1 "0 to 1073741824" 0
complains rounds_max_total -1 "0 to 1073741824" 67108864
complains window 1000000 "0 to 4096" 0
complains window -1 "0 to 4096" 0
complains processors -0.5 "0 to 1000000" "0 (not given)"
complains priority 400 "0 to 100" 45
complains priority -1 "0 to 100" 45

on_one "two bad values" 4 40 --mca coll_pipering_window -1 --mca coll_pipering_processors -3 "$bin/served"
is "two bad values: both are named, once a job" \
    "$(lines 'coll_pipering_(window = -1|processors = -3)$')" 2

# refuses LABEL PATH WHY [TIMES]: a file, as any variable names it, is read by no rank, and each of the
# three says why; the job ends. A FIFO that nobody writes to would hold it up, and /dev/zero never ends.
refuses() {
    local label=$1 path=$2 why=$3
    on_one "$label" 4 40 --mca coll_pipering_machine "$path" --mca coll_pipering_switches "@$path" \
        --mca coll_pipering_mesh "@$path" --mca coll_pipering_allgatherv_algorithm ring "$bin/served"
    is "$label: it is said of each variable" \
        "$(lines "$why")" "${4:-3}"
    # but for the bytes of 0 behind messages of PRRTE
    is "$label: nothing but text is shown" "$(tr -d '\000\n\t -~' <"$work/out" | wc -c)" 0
}

mkfifo "$work/fifo"
head -c 1048577 /dev/zero | tr '\0' ' ' >"$work/long"
printf 'net_alpha = 1\n\0' >"$work/zero"
refuses "a FIFO" "$work/fifo" 'cannot be used.*: it is not a regular file'
refuses "a device" /dev/zero 'cannot be used.*: it is not a regular file'
refuses "a long file" "$work/long" 'cannot be used.*: it has more than 1 MiB'
refuses "a file that is no text" "$work/zero" 'cannot be used.*: it has a byte of 0, so it is no text'
printf '\033[2J\377\n' >"$work/signs"
refuses "a file of signs that no terminal should get" "$work/signs" 'line 1: "[?]\[2J[?]' 2

# Of names Open MPI itself knows which are legal, and says so: in a job, as of any variable in
# ompi_info.
name=coll_pipering_allgatherv_algorithm
on_one "$name = nonsense" 4 40 --mca "$name" nonsense "$bin/served"
is "$name = nonsense: one complaint a job" "$(lines "Variable +: $name\$")" 1

# shellcheck disable=SC2317 # yes_if calls it
# named VARIABLE: whether a wrong name gets a complaint with the variable and the legal names.
named() {
    env "OMPI_MCA_$1=nonsense" "$OMPI_PREFIX/bin/ompi_info" --param coll pipering \
        >"$work/out" 2>&1
    said "Variable +: $1\$" && said 'Value +: nonsense' && said 'Valid values +: .*[0-9][|][a-z]+'
}
mapfile -t names < <("$OMPI_PREFIX/bin/ompi_info" --param coll pipering --level 9 --parsable |
    sed -nE 's/^mca:coll:pipering:param:(\w+):enumerator:value:0:.*/\1/p')
yes_if "variables of names are found" test 10 -le "${#names[@]}"
for name in "${names[@]}"; do
    yes_if "$name = nonsense: it names the legal ones" named "$name"
done

# ---- ompi_info ----

"$OMPI_PREFIX/bin/ompi_info" --all --level 9 --parsable 2>/dev/null |
    grep '^mca:coll:pipering:' >"$work/info"

# mute PATTERN NAME...: those of the variables whose help text has no such words.
mute() {
    local pattern=$1 name
    shift
    for name; do
        grep -q -E "^mca:coll:pipering:param:coll_pipering_$name:help:.*$pattern" "$work/info" ||
            echo "$name"
    done
}

is "names tell their values" "$(
    mute 'auto .*ring.*rounds.*off' allgatherv_algorithm)$(
    mute 'auto .*bins.*permuted.*off' alltoallw_algorithm)$(
    mute 'search.*equation2' block_model)" ""
finish
