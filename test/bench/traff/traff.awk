# Tables, verdicts and curves of traff, from TSV files of agv:
#   awk -f common.awk -f traff.awk section=NAME [variable=value] FILE...

# Lines of plan.
"linear_s" in at {
    if (!predicted++) {
        printf "%6s %8s %10s %10s %12s %12s %6s\n", "ranks", "c", "rounds", "B", "linear s",
            "pipelined s", "gain"
    }
    printf "%6d %8d %10d %10d %12.4f %12.4f %6.1f\n", get("p"), get("total") / get("p"),
        get("rounds"), get("block"), get("linear_s"), get("time_s"),
        get("linear_s") / get("time_s")
    next
}

{
    arm = get("arm")
    key = get("dist") SUBSEP get("total") SUBSEP get("p")
    if (!(key in seen)) {
        seen[key] = 1
        order[++rows] = key
    }
    list_arm(arm)
    ms[key, arm, get("comm")] = 1e3 * get("min_s")
    comm = get("comm")
    wrongs += get("verified") != "yes"
}

# Rows (distribution, bytes), arms in columns.
function table(    i, k, part) {
    printf "%-12s %9s", "ms", "bytes"
    for (k = 1; k <= arms; k++) {
        printf " %12s", arm_at[k]
    }
    print ""
    for (i = 1; i <= rows; i++) {
        split(order[i], part, SUBSEP)
        printf "%-12s %9d", part[1], part[2]
        for (k = 1; k <= arms; k++) {
            printf " %12.2f", ms[order[i], arm_at[k], comm]
        }
        print ""
    }
}

# Rows (arm, ranks).
function ranks(    i, k, part) {
    printf "%-10s %6s %12s\n", "arm", "ranks", "ms"
    for (k = 1; k <= arms; k++) {
        for (i = 1; i <= rows; i++) {
            split(order[i], part, SUBSEP)
            printf "%-10s %6d %12.2f\n", arm_at[k], part[3], ms[order[i], arm_at[k], comm]
        }
    }
}

# Series, x, y: over bytes / `scale` of the distribution `only`, or over ranks.
function points(over,    i, k, part) {
    for (k = 1; k <= arms; k++) {
        for (i = 1; i <= rows; i++) {
            split(order[i], part, SUBSEP)
            if (over == "ranks") {
                print arm_at[k], part[3], ms[order[i], arm_at[k], comm]
            } else if (part[1] == only) {
                print arm_at[k], part[2] / scale, ms[order[i], arm_at[k], comm]
            }
        }
    }
}

function permuted(    i, part, a, b, c, d) {
    printf "%-12s %10s %10s %8s   %10s %10s %8s\n", "pipering ms", "world", "permuted", "ratio",
        "stock", "permuted", "ratio"
    for (i = 1; i <= rows; i++) {
        split(order[i], part, SUBSEP)
        a = ms[order[i], "pipering", "world"]
        b = ms[order[i], "pipering", "permuted:7"]
        c = ms[order[i], "stock", "world"]
        d = ms[order[i], "stock", "permuted:7"]
        printf "%-12s %10.2f %10.2f %8.3f   %10.2f %10.2f %8.3f  %s\n", part[1], a, b, b / a, c,
            d, d / c, verdict(b <= 1.05 * a && a <= 1.05 * b)
    }
}

# Rows (distribution, bytes): times of the standard ring over those of the pipelined one, and
# the largest of them for a broadcast.
function gains(    i, part, x, most) {
    printf "%-12s %9s %12s %12s %8s\n", "ms", "bytes", "linear", "pipering", "gain"
    for (i = 1; i <= rows; i++) {
        split(order[i], part, SUBSEP)
        x = ms[order[i], "linear", comm] / ms[order[i], "pipering", comm]
        most = part[1] == "broadcast" && x > most ? x : most
        printf "%-12s %9d %12.2f %12.2f %8.1f\n", part[1], part[2],
            ms[order[i], "linear", comm], ms[order[i], "pipering", comm], x
    }
    at_least("broadcast: times faster than the standard ring, most", most, goal)
}

END {
    if (section == "table") {
        table()
    } else if (section == "gains") {
        gains()
    } else if (section == "ranks") {
        ranks()
    } else if (section == "points" || section == "rank-points") {
        points(section == "points" ? "bytes" : "ranks")
    } else if (section == "permuted") {
        permuted()
    }
    if (section !~ /points/) {
        judge_wrongs(wrongs)
    }
}
