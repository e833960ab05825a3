# Tables and verdicts of alltoallw, from TSV files of swaps.
#   awk -f common.awk -f alltoallw.awk section=NAME [variable=value] FILE...

# Rows are sizes, marked by `by`.
{
    key = by SUBSEP get("total")
    arm = get("arm")
    if (!(key in bytes)) {
        order[++rows] = key
        bytes[key] = get("total")
        place[key] = by
    }
    list_arm(arm)
    time[key, arm] = 1e6 * get("median_s")
    ratio[key, arm] = get("to_stock")
    wrongs += get("verified") == "no"
}

# ---- arms by sizes

# goal: OTHER/PLACE=PERCENT, what auto saves of another's time there
function judge_goal(    parts, i, key) {
    split(goal, parts, /[\/=]/)
    for (i = 1; i <= rows; i++) {
        key = order[i]
        if (place[key] == parts[2]) {
            at_least(sprintf("%s: time that auto saves of %s, %%", place[key], parts[1]),
                100 * (1 - time[key, "auto"] / time[key, parts[1]]), parts[3])
        }
    }
}

function judge_table(    i, k, key) {
    printf "%-10s %7s", "", "bytes"
    for (k = 1; k <= arms; k++) {
        printf " %11s", arm_at[k]
    }
    print ""
    for (i = 1; i <= rows; i++) {
        key = order[i]
        printf "%-10s %7s", place[key], size(bytes[key])
        for (k = 1; k <= arms; k++) {
            printf (key, arm_at[k]) in time ? " %11.1f" : " %11s", \
                (key, arm_at[k]) in time ? time[key, arm_at[k]] : "-"
        }
        print ""
    }
    if (goal != "") {
        judge_goal()
    }
}

# ---- auto to stock beside stock2, which is the same as stock

function judge_noise(    i, key, x, top, sum, noise, above) {
    printf "%-10s %7s %11s %11s %9s %9s\n", "", "bytes", "stock", "auto", "ratio", "of stock2"
    for (i = 1; i <= rows; i++) {
        key = order[i]
        x = ratio[key, "stock2"]
        noise += log(x)
        top = x > top ? x : top
        sum += log(ratio[key, "auto"])
        printf "%-10s %7s %11.1f %11.1f %9.3f %9.3f\n", place[key], size(bytes[key]),
            time[key, "stock"], time[key, "auto"], ratio[key, "auto"], x
    }
    for (i = 1; i <= rows; i++) {
        above += ratio[order[i], "auto"] > top
    }
    printf "stock2 to stock: at most %.3f, geometric mean %.3f\n", top, exp(noise / rows)
    at_most(sprintf("auto to stock, geometric mean of %d ratios", rows), exp(sum / rows), 1.05)
    at_most(sprintf("ratios above the largest of stock2 (%.3f)", top), above, 0)
}

END {
    if (section == "table") {
        judge_table()
    } else if (section == "noise") {
        judge_noise()
    }
    judge_wrongs(wrongs)
}
