#!/bin/bash
# Memory: no error and no lost block that valgrind sees with a function of the
# components on its stack, besides what Open MPI shows without them.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

command -v valgrind >/dev/null || skip_all "valgrind is missing"
build_fuzz

# under_valgrind LABEL LOGS [MPIRUN'S OPTION]...: the job; a log for each rank.
# Debug information must be kept, for the component is unloaded before leaks show.
under_valgrind() {
    local label=$1 logs=$2
    shift 2
    mkdir -p "$logs"
    on_one "$label" 4 240 --mca coll_mleader_groups 2 "$@" \
        valgrind --leak-check=full --show-leak-kinds=definite \
        --errors-for-leak-kinds=definite --keep-debuginfo=yes --num-callers=30 \
        --log-file="$logs/%p" "$bin/fuzz"
}

# records PATTERN LOGS: the records of errors with PATTERN on the stack, each
# on a line of its own: what, and the functions from the inside out.
records() {
    cat "$2"/* | sed -E 's/^==[0-9]+== ?//' | awk -v pattern="$1" '
        BEGIN { RS = ""; FS = "\n" }
        /\n *(at|by) 0x/ && $0 ~ pattern {
            line = $1
            for (i = 2; i <= NF; i++) {
                if ($i ~ /^ *(at|by) 0x/) {
                    sub(/^ *(at|by) 0x[0-9A-F]+: /, "", $i)
                    line = line " < " $i
                }
            }
            print line
        }' | sed -E 's/^[0-9,]+( \([^)]*\))? bytes in [0-9,]+ blocks are/bytes are/; s/ in loss record .*of [0-9,]+//'
}

# kinds: of records, what and the three functions that it happened in.
kinds() {
    sed -E 's/ < /\n/4; s/\n.*//' | sort -u
}

under_valgrind "with the components" "$work/ours" -x N=40
under_valgrind "with leaders" "$work/ours" -x LEADERS=1 -x N=12
yes_if "valgrind has written a log for each rank" test 8 -le "$(find "$work/ours" -type f | wc -l)"
# Open MPI's look-up of a host reads a variable of its own that it has not set; nothing rests on it.
# Its own persistent calls, which the components hand on, lose their schedules.
records 'coll_(pipering|mleader)|common_colltools' "$work/ours" |
    { grep -v -E ' < (opal_get_proc_hostname_using_pmix|nbc_[a-z]+_init)' || true; } | sort -u >"$work/found"
if [[ -s $work/found ]]; then
    under_valgrind "without them" "$work/stock" -x N=20 --mca coll ^pipering,mleader
    records . "$work/stock" | kinds >"$work/known"
    while read -r record; do
        grep -qxF -f <(kinds <<<"$record") "$work/known" || echo "$record"
    done <"$work/found" >"$work/new"
    mv "$work/new" "$work/found"
fi
is "no error and no leak of the components" "$(head -n 8 "$work/found" | cut -c 1-900)" ""
finish
