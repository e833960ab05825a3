# Tables and verdicts of leaders, from TSV files of fold.
#   awk -f common.awk -f leaders.awk section=NAME [variable=value] FILE...

# Rows are (bytes, calls in a batch), marked by `by` if it is set.
{
    key = by SUBSEP get("total") SUBSEP get("batch")
    arm = get("arm")
    if (!(key in total)) {
        order[++rows] = key
        total[key] = get("total")
        batch[key] = get("batch")
        place[key] = by
    }
    list_arm(arm)
    time[key, arm] = 1e6 * get("median_s")
    limit[key] = 1e3 * get("limit_s")
    fraction[key, arm] = get("frac_min")
    ratio[key, arm, "stock"] = get("to_stock")
    ratio[key, arm, "tuned"] = get("to_tuned")
    between[key, arm] = get("between")
    within[key, arm] = get("within")
    copied[key, arm] = get("copied")
    switches[key, arm] = get("switches")
    wrongs += get("verified") == "no"
}

# ---- what mleader saves of another's time, per cent

function cut(key, other) {
    return 100 * (1 - ratio[key, "mleader", other])
}

# Of batches, if there are any, since single calls bring the ratios nearer to 1.
function least_cut(other, from, to,    i, key, low, single) {
    single = 1
    for (i = 1; i <= rows; i++) {
        single = single && batch[order[i]] == 1
    }
    low = 100
    for (i = 1; i <= rows; i++) {
        key = order[i]
        if ((batch[key] > 1 || single) && total[key] >= from && total[key] <= to) {
            low = cut(key, other) < low ? cut(key, other) : low
        }
    }
    return low
}

function judge_small(    i, key, list, count, goal) {
    printf "%6s %6s %9s %9s %9s %9s %10s %8s\n", "bytes", "calls", "tuned", "han", "pipering",
        "mleader", "cut tuned", "cut han"
    for (i = 1; i <= rows; i++) {
        key = order[i]
        printf "%6s %6d %9.1f %9.1f %9.1f %9.1f %9.1f%% %7.1f%%\n", size(total[key]), batch[key],
            time[key, "tuned"], time[key, "stock"], time[key, "pipering"], time[key, "mleader"],
            cut(key, "tuned"), cut(key, "stock")
    }
    count = split(goals, list, ",")
    for (i = 1; i <= count; i++) {
        split(list[i], goal, /[\/=]/)
        at_least(sprintf("%s..%s bytes: least cut against %s, %%", size(goal[2]), size(goal[3]),
            goal[1] == "stock" ? "han" : goal[1]), least_cut(goal[1], goal[2], goal[3]), goal[4])
    }
}

# ---- arms by sizes; * is the least of a size

# mleader:allgather_algorithm=leaders:groups=2:aggregation=shm -> 2 shm
function label(arm) {
    if (arm ~ /^mleader:/) {
        sub(/^mleader:allgather_algorithm=leaders:/, "", arm)
        gsub(/[a-z_]+=/, "", arm)
        gsub(/recursive_doubling/, "doubling", arm)
        gsub(/:/, " ", arm)
    }
    return arm == "stock" ? "han" : arm
}

function least_time(key,    k, low) {
    low = 1e12
    for (k = 1; k <= arms; k++) {
        if (arm_at[k] ~ /^mleader/ && time[key, arm_at[k]] < low) {
            low = time[key, arm_at[k]]
        }
    }
    return low
}

# What is the same on any machine, for contributions of `counted` bytes.
function print_counts(    i, k, key) {
    for (i = 1; i <= rows; i++) {
        if (total[order[i]] == counted) {
            key = order[i]
        }
    }
    if (key == "") {
        return
    }
    printf "%-28s %9s %9s %9s %9s\n", "a call of " size(counted) ", all ranks", "between",
        "within", "KiB read", "switches"
    for (k = 1; k <= arms; k++) {
        if (arm_at[k] ~ /^mleader/) {
            printf "%-28s %9.0f %9.0f %9.0f %9.0f\n", label(arm_at[k]), between[key, arm_at[k]],
                within[key, arm_at[k]], copied[key, arm_at[k]] / 1024, switches[key, arm_at[k]]
        } else {
            printf "%-28s %9s %9s %9s %9.0f\n", label(arm_at[k]), "", "", "",
                switches[key, arm_at[k]]
        }
    }
}

function judge_table(    i, k, x, sum) {
    printf "%-28s", "leaders a node"
    for (i = 1; i <= rows; i++) {
        printf " %9s", size(total[order[i]])
    }
    print ""
    for (k = 1; k <= arms; k++) {
        printf "%-28s", label(arm_at[k])
        for (i = 1; i <= rows; i++) {
            x = time[order[i], arm_at[k]]
            printf " %8.1f%s", x, x == least_time(order[i]) ? "*" : " "
        }
        print ""
    }
    print_counts()
    if ("mleader" in known) {
        for (i = 1; i <= rows; i++) {
            sum += log(time[order[i], "mleader"] / least_time(order[i]))
        }
        at_most("mleader as it comes, over the best of each size, geometric mean",
            exp(sum / rows), 1.10)
    }
}

# ---- fractions of the wire limit

function judge_shaped(    i, key) {
    printf "%6s %9s %8s %8s %9s %8s  target %.2f\n", "bytes", "limit ms", "tuned", "han",
        "pipering", "mleader", target
    for (i = 1; i <= rows; i++) {
        key = order[i]
        printf "%6s %9.1f %8.3f %8.3f %9.3f %8.3f  %s\n", size(total[key]), limit[key],
            fraction[key, "tuned"], fraction[key, "stock"], fraction[key, "pipering"],
            fraction[key, "mleader"], verdict(fraction[key, "mleader"] >= target)
    }
}

# ---- mleader to `base` beside `twin`, which is the same as base

function to_base(key, arm) {
    return ratio[key, arm, "stock"] / ratio[key, base, "stock"]
}

function judge_noise(    i, key, x, top, sum, noise, above) {
    printf "%-8s %6s %11s %11s %9s %9s\n", "", "bytes", base, "mleader", "ratio", "of " twin
    for (i = 1; i <= rows; i++) {
        key = order[i]
        x = to_base(key, twin)
        noise += log(x)
        top = x > top ? x : top
        sum += log(to_base(key, "mleader"))
        printf "%-8s %6s %11.1f %11.1f %9.3f %9.3f\n", place[key], size(total[key]),
            time[key, base], time[key, "mleader"], to_base(key, "mleader"), x
    }
    for (i = 1; i <= rows; i++) {
        above += to_base(order[i], "mleader") > top
    }
    printf "%s to %s: at most %.3f, geometric mean %.3f\n", twin, base, top, exp(noise / rows)
    at_most(sprintf("mleader to %s, geometric mean of %d ratios", base, rows), exp(sum / rows),
        1.05)
    at_most(sprintf("ratios above the largest of %s (%.3f)", twin, top), above, 0)
}

# ---- the two mappings

function judge_cyclic(    i, block, cyclic, x, sum, count) {
    printf "%6s %9s %9s %9s %9s %9s\n", "bytes", "block", "cyclic", "ratio", "of tuned", "of han"
    for (i = 1; i <= rows; i++) {
        block = order[i]
        if (place[block] != "block") {
            continue
        }
        cyclic = "cyclic" SUBSEP total[block] SUBSEP batch[block]
        x = time[cyclic, "mleader"] / time[block, "mleader"]
        sum += log(x)
        count++
        printf "%6s %9.1f %9.1f %9.3f %9.3f %9.3f\n", size(total[block]), time[block, "mleader"],
            time[cyclic, "mleader"], x, time[cyclic, "tuned"] / time[block, "tuned"],
            time[cyclic, "stock"] / time[block, "stock"]
    }
    at_most("mleader, cyclic over block, geometric mean", exp(sum / count), 1.10)
}

END {
    if (section == "small") {
        judge_small()
    } else if (section == "table") {
        judge_table()
    } else if (section == "shaped") {
        judge_shaped()
    } else if (section == "noise") {
        judge_noise()
    } else if (section == "cyclic") {
        judge_cyclic()
    }
    judge_wrongs(wrongs)
}
