# Tables, verdicts and curves of traff, from TSV files of agv:
#   awk -f common.awk -f traff.awk section=NAME [variable=value] FILE...

{
    arm = get("arm")
    key = get("dist") SUBSEP get("total") SUBSEP get("p")
    if (!(key in seen)) {
        seen[key] = 1
        order[++rows] = key
    }
    if (!(arm in known)) {
        known[arm] = 1
        arm_at[++arms] = arm
    }
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

END {
    if (section == "table") {
        table()
    } else if (section == "ranks") {
        ranks()
    } else if (section == "points" || section == "rank-points") {
        points(section == "points" ? "bytes" : "ranks")
    } else if (section == "permuted") {
        permuted()
    }
    if (wrongs && section !~ /points/) {
        print wrongs " results were wrong  MISS"
    }
}
