#!/bin/bash
# Jobs of two builds in turns, and the lines that are made of them: a testbed that only says
# what it was asked for, with samples that are known.
set -u

# shellcheck source-path=SCRIPTDIR source=common/common.sh
BUILD_DIR=$(mktemp -d) && source "$(dirname "${BASH_SOURCE[0]}")/common/common.sh" || exit 1
trap 'rm -rf "$BUILD_DIR"' EXIT

readonly PREFIX=turns-
ASKED=$BUILD_DIR/asked
TESTBED=$BUILD_DIR/testbed
export ASKED
count=0
failures=0

# is NAME GOT WANTED: a test.
is() {
    count=$((count + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $count - $1"
        return
    fi
    failures=$((failures + 1))
    echo "not ok $count - $1"
    printf 'got:    %s\nwanted: %s\n' "$2" "$3" | sed 's/^/# /'
}

# Sample s of the n-th job is n s ms; of an arm that is not stock half of it. The arm wrong is
# wrong in the first two jobs.
cat >"$TESTBED" <<'FAKE'
#!/bin/bash
while [ $# -gt 0 ]; do
    case $1 in
    --arms) arms=$2 ;;
    --reps) reps=$2 ;;
    --tsv) tsv=$2 ;;
    esac
    shift
done
echo "${OMPI_PREFIX-ours}:$arms:$reps" >>"$ASKED"
n=$(wc -l <"$ASKED")
awk -v n="$n" -v arms="$arms" -v reps="$reps" 'BEGIN {
    print "# job " n
    print "#dist\ttotal\tlimit_s\tarm\tblock\tverified\ttimes"
    for (i = 1; i <= split(arms, arm, ","); i++) {
        printf "regular\t8\t0.001\t%s\t%d\t%s\t", arm[i], n,
            (arm[i] == "wrong" && n < 3 ? "no" : "yes")
        for (s = 1; s <= reps; s++) {
            printf "%s%.6f", (s > 1 ? "," : ""), n * s * (arm[i] ~ /^stock/ ? 1 : 0.5) / 1000
        }
        print ""
    }
}' >"$tsv"
FAKE
chmod +x "$TESTBED"

# asked ARMS REPS: the jobs of a call, as BUILD:ARMS:REPS
asked() {
    rm -f "$ASKED"
    job agv try "--nodes 2 --rate 100mbit" "" "" --arms "$1" --reps "$2" --dist regular \
        >"$BUILD_DIR/out" 2>&1 || echo failed
    xargs <"$ASKED"
}

# column NAME ARM: of the line of an arm
column() {
    awk -F '\t' -v column="$1" -v arm="$2" '
        /^#[^ ]/ { sub(/^#/, ""); for (i = 1; i <= NF; i++) at[$i] = i }
        $at["arm"] == arm { print $at[column] }' "$BENCH_OUT/turns-try.tsv"
}

unset OMPI_PREFIX
is "one build: all arms are in one job" "$(asked stock,stock2,pipering 9)" \
    "ours:stock,stock2,pipering:9"
is "all samples of it" "$(column reps stock)" 9

STOCK=/stock
is "without stock one job" "$(asked ring,pipering,tuned:3 9)" "ours:ring,pipering,tuned:3:9"
is "two builds: jobs in turns, half of the samples in each" "$(asked stock,pipering 20)" \
    "/stock:stock:10 ours:pipering:10 /stock:stock:10 ours:pipering:10"
is "an odd number is not less" "$(asked stock,pipering 21 | cut -d ' ' -f 1)" "/stock:stock:11"
is "five of each job" "$(asked stock,pipering 9 | cut -d ' ' -f 1)" "/stock:stock:5"
is "but no more than asked for" "$(asked stock,pipering 3 | cut -d ' ' -f 1)" "/stock:stock:3"
is "arms of Open MPI's own are stock's, its twin is a job of its own" \
    "$(asked pipering,stock,tuned:6,stock2,ring 2 | cut -d ' ' -f 1-3)" \
    "ours:pipering,ring:2 /stock:stock,tuned:6:2 /stock:stock2:2"

asked stock,pipering,wrong 3 >/dev/null
is "samples of both jobs" "$(column reps stock) $(column reps pipering)" "6 6"
is "the least" "$(column min_s stock)" 0.001000000
is "the median of all" "$(column median_s stock)" 0.003000000
is "the largest" "$(column max_s stock)" 0.009000000
is "the part of the limit" "$(column frac_min stock)" 1.0000
is "the ratio, sample by sample: 1 in the first pair of jobs, 2/3 in the second" \
    "$(column to_stock pipering)" 0.8333
is "what is missing" "$(column to_tuned pipering)" -
is "other columns are of the last job" "$(column block pipering)" 4
is "wrong once is wrong" "$(column verified pipering) $(column verified wrong)" "yes no"
is "arms in the order asked for" \
    "$(awk '!/^#/ { print $4 }' "$BENCH_OUT/turns-try.tsv" | xargs)" "stock pipering wrong"
is "the jobs' own lines stay" "$(grep -c '^# job' "$BENCH_OUT/turns-try.tsv")" 4

printf '#!/bin/sh\nexit 3\n' >"$TESTBED"
: >"$ASKED"
is "a job that fails" \
    "$(job agv try local "" "" --arms stock --reps 1 >/dev/null 2>&1 || echo $?)" 1
echo "1..$count"
[ "$failures" -eq 0 ]
