# Tables, verdicts and curves of worringer, from TSV files of fold (and of plan).
#   awk -f common.awk -f worringer.awk section=NAME [names=ARM=NAME,...] [variable=value] FILE...

BEGIN {
    THRESHOLD = 32768 # of the paper, from where on it takes a pipeline
}

# ---- lines of plan --call

"schedule" in at {
    name = get("schedule")
    schedule[++schedules] = name
    rounds[name] = get("rounds")
    block[name] = get("block")
    time[name] = get("time_s")
    part[name] = get("frac")
    next
}

# ---- lines of fold: key is collective, bytes, ranks

{
    arm = name_of(get("arm"))
    c = get("coll")
    bytes = get("total")
    p = get("p")
    if (!(c in colls)) {
        colls[c] = ++coll_count
        coll[coll_count] = c
    }
    if (!((c, bytes) in seen)) {
        seen[c, bytes] = ++rows[c]
        total[c, rows[c]] = bytes
    }
    if (!(p in known)) {
        known[p] = ++ranks
        size_of[ranks] = p
    }
    if (!(arm in shown)) {
        shown[arm] = ++arms
        arm_at[arms] = arm
    }
    least[c, bytes, p, arm] = get("min_s")
    middle[c, bytes, p, arm] = get("median_s")
    to_stock[c, bytes, p, arm] = get("to_stock")
    fraction = get("frac_min")
    block_used = get("block")
    wrongs += get("verified") == "no"
}

# The name that `names` gives an arm: tuned:6=binomial
function name_of(arm,    list, count, i, at) {
    if (arm ~ /:B=/) {
        return "linear-B"
    }
    count = split(names, list, ",")
    for (i = 1; i <= count; i++) {
        at = index(list[i], "=")
        if (substr(list[i], 1, at - 1) == arm) {
            return substr(list[i], at + 1)
        }
    }
    return arm
}

function seconds(c, bytes, p, arm) {
    # the paper's rule, put together from what was measured
    if (arm == "threshold") {
        arm = bytes >= THRESHOLD ? forced : "default"
    }
    return least[c, bytes, p, arm]
}

function bandwidth(c, bytes, p, arm) {
    return bytes / seconds(c, bytes, p, arm) / 1e6
}

# Times faster than `other`.
function faster(c, bytes, p, other) {
    return seconds(c, bytes, p, other) / seconds(c, bytes, p, "pipering")
}

function is_power_of_two(p) {
    while (p % 2 == 0) {
        p /= 2
    }
    return p == 1
}

# ---- tables

function header(text,    k) {
    printf "%-14s", text
    for (k = 1; k <= ranks; k++) {
        printf " %7s", "P = " size_of[k]
    }
    print ""
}

function table(c, arm,    i, k) {
    header(arm)
    for (i = 1; i <= rows[c]; i++) {
        printf "%14s", size(total[c, i])
        for (k = 1; k <= ranks; k++) {
            printf " %7.2f", bandwidth(c, total[c, i], size_of[k], arm)
        }
        print ""
    }
}

# ---- comparators: what pipering's own choice of block and threshold is worth

function compare(c, arm, text, from,    i, k, x, sum, count, low, high) {
    low = 1e9
    for (i = 1; i <= rows[c]; i++) {
        for (k = 1; k <= ranks && total[c, i] >= from; k++) {
            x = faster(c, total[c, i], size_of[k], arm)
            sum += log(x)
            count++
            low = x < low ? x : low
            high = x > high ? x : high
        }
    }
    printf "%s:\n    pipering is %.2f to %.2f times as fast, geometric mean %.2f\n", text, low,
        high, exp(sum / count)
}

function show(c,    list, count, i) {
    count = split(tables, list, ",")
    for (i = 1; i <= count; i++) {
        table(c, list[i])
    }
    compare(c, "linear-B", "B linear in P (20 KiB at P = 8, 4 KiB at 256), from 32 KiB on",
        THRESHOLD)
    compare(c, "threshold", "threshold: the pipeline from 32 KiB on, the default below", 0)
}

# The most times that pipering is faster than an arm from 32 KiB on; where it is, in `peak_at`.
function peak(c, other, which,    i, k, x, most) {
    most = 0
    for (i = 1; i <= rows[c]; i++) {
        for (k = 1; k <= ranks && total[c, i] >= THRESHOLD; k++) {
            if (which == "all" || !is_power_of_two(size_of[k])) {
                x = faster(c, total[c, i], size_of[k], other)
                if (x > most) {
                    most = x
                    peak_at = "P = " size_of[k] ", " size(total[c, i])
                }
            }
        }
    }
    return most
}

function mean(c, other,    i, k, sum, count) {
    for (i = 1; i <= rows[c]; i++) {
        for (k = 1; k <= ranks && total[c, i] >= THRESHOLD; k++) {
            sum += faster(c, total[c, i], size_of[k], other)
            count++
        }
    }
    return sum / count
}

# ---- sections

function judge_bcast(    c, m) {
    c = "bcast"
    m = 4194304
    show(c)
    at_least("bcast, P = 8, 4M: times faster than binomial", faster(c, m, 8, "binomial"), 2.1)
    at_most("bcast, 4M: % of bandwidth lost from P = 3 to P = 8",
        100 * (1 - bandwidth(c, m, 8, "pipering") / bandwidth(c, m, 3, "pipering")), 10)
}

function judge_reduce(    c, x) {
    c = "reduce"
    show(c)
    printf "reduce, all P, 32K..4M: times faster than binomial, mean %.2f, peak %.2f\n",
        mean(c, "binomial"), peak(c, "binomial", "all")
    at_least("reduce, all P, 32K..4M: times faster than the default, mean", mean(c, "default"), 3)
    x = peak(c, "default", "all")
    at_least("reduce, times faster than the default, peak (" peak_at ")", x, 4)
}

function judge_scan(    c) {
    c = "scan"
    show(c)
    at_least("scan, P = 8, 640K: times faster than the default",
        faster(c, 655360, 8, "default"), 4.5)
}

function judge_allreduce(    c, x) {
    c = "allreduce"
    show(c)
    x = peak(c, "Rabenseifner", "off")
    at_least("allreduce, times faster than Rabenseifner off 2^k, peak (" peak_at ")", x, 2)
}

function judge_identity(    i, k, m, p, x, off, worst) {
    header("serial / sum")
    for (i = 1; i <= rows["allreduce"]; i++) {
        m = total["allreduce", i]
        printf "%14s", size(m)
        for (k = 1; k <= ranks; k++) {
            p = size_of[k]
            x = least["allreduce", m, p, "serial"]
            x /= least["reduce", m, p, "pipeline"] + least["bcast", m, p, "pipeline"]
            off = x > 1 ? x - 1 : 1 - x
            worst = off > worst ? off : worst
            printf " %7.3f", x
        }
        print ""
    }
    at_most("time of serial against reduce and bcast: largest difference, %", 100 * worst, 10)
}

# Ratios of pipering to the arm.
function ratios(other,    c, i, k, x, sum, count) {
    header("to " other)
    for (c = 1; c <= coll_count; c++) {
        for (i = 1; i <= rows[coll[c]]; i++) {
            printf "%-9s %4s", coll[c], size(total[coll[c], i])
            for (k = 1; k <= ranks; k++) {
                x = to_stock[coll[c], total[coll[c], i], size_of[k], "pipering"]
                x /= to_stock[coll[c], total[coll[c], i], size_of[k], other]
                sum += log(x)
                count++
                printf " %7.2f", x
            }
            print ""
        }
    }
    return exp(sum / count)
}

function judge_onenode(    list, count, i, to_default) {
    to_default = ratios("default")
    count = split("tuned,sm,forced", list, ",")
    for (i = 1; i <= count; i++) {
        printf "geometric mean of the ratios to %s: %.3f\n", list[i], ratios(list[i])
    }
    at_most("geometric mean of the ratios to default", to_default, 1.05)
}

function show_schedules(    i, s) {
    printf "%-12s %8s %8s %10s %10s %8s\n", "", "B", "rounds", "ms", "of limit", "adds"
    printf "%-12s %8d %8s %10.1f %10.3f\n", "measured", block_used, "-",
        1e3 * least["bcast", 1048576, 32, "pipering"], fraction
    for (i = 1; i <= schedules; i++) {
        s = schedule[i]
        printf "%-12s %8d %8d %10.1f %10.3f %7.1f%%\n", s, block[s], rounds[s], 1e3 * time[s],
            part[s], 100 * (time["chain"] / time[s] - 1)
    }
}

# ---- curves: series, x, y

# Over the size: those of the arm `curve`, P by P.
function points(    i, k) {
    for (k = 1; k <= ranks; k++) {
        for (i = 1; i <= rows[coll[1]]; i++) {
            printf "P = %d\t%d\t%.6f\n", size_of[k], total[coll[1], i],
                bandwidth(coll[1], total[coll[1], i], size_of[k], curve)
        }
    }
}

# Over P: those of all arms at 4 MiB.
function points_over_ranks(    i, k) {
    for (i = 1; i <= arms; i++) {
        for (k = 1; k <= ranks; k++) {
            printf "%s\t%d\t%.6f\n", arm_at[i], size_of[k],
                bandwidth(coll[1], 4194304, size_of[k], arm_at[i])
        }
    }
}

END {
    if (section == "bcast") {
        judge_bcast()
    } else if (section == "reduce") {
        judge_reduce()
    } else if (section == "scan") {
        judge_scan()
    } else if (section == "allreduce") {
        judge_allreduce()
    } else if (section == "identity") {
        judge_identity()
    } else if (section == "onenode") {
        judge_onenode()
    } else if (section == "schedules") {
        show_schedules()
    } else if (section == "points") {
        points()
    } else if (section == "ranks") {
        points_over_ranks()
    }
    if (section != "points" && section != "ranks") {
        judge_wrongs(wrongs)
    }
}
