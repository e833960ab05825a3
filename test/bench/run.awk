# Tables and verdicts of run, from TSV files of agv and fold, and of plan.
#   awk -f common.awk -f run.awk section=NAME [variable=value] FILE...

# ---- lines of plan

"plan_us" in at {
    bound[get("dist"), get("total")] = get("frac")
    planning[get("dist"), get("total")] = get("plan_us")
    next
}

# ---- lines of agv and fold: rows are (distribution or collective, total), marked by `by` if
# it is set

{
    what = "dist" in at ? get("dist") : get("coll")
    arm = get("arm")
    key = what SUBSEP get("total") SUBSEP by
    if (!(key in dist)) {
        order[++rows] = key
        dist[key] = what
        total[key] = get("total")
        ranks[key] = get("p")
    }
    limit[key] = get("limit_s")
    least[key, arm] = get("min_s")
    part[key, arm] = get("frac_min")
    ratio[key, arm] = get("to_stock")
    block[key, arm] = get("block")
    rounds[key, arm] = get("rounds")
    if (arm ~ /^tuned:/ && part[key, arm] > hand[key]) {
        hand[key] = part[key, arm]
    }
    if (get("verified") == "no") {
        wrong[key, arm] = 1
        wrongs++
    }
}

function label(key) {
    return sprintf("%-11s %5s", dist[key], size(total[key]))
}

function absolute(x) {
    return x < 0 ? -x : x
}

# ---- fractions of the wire limit, all arms; the last column judges pipering

function judge_fraction(    names, count, i, k, key, line, good) {
    count = split(arms, names, ",")
    line = sprintf("%-17s %8s", "", "limit ms")
    for (k = 1; k <= count; k++) {
        line = line sprintf(" %9s", names[k])
    }
    print line sprintf(" %8s %8s  target %.2f", "B", "x stock", target)
    for (i = 1; i <= rows; i++) {
        key = order[i]
        line = sprintf("%s %8.1f", label(key), 1e3 * limit[key])
        for (k = 1; k <= count; k++) {
            line = line sprintf(" %9.3f", part[key, names[k]])
        }
        good = part[key, "pipering"] >= target && !((key, "pipering") in wrong)
        print line sprintf(" %8d %8.3f  %s", block[key, "pipering"], ratio[key, "pipering"],
            verdict(good))
    }
}

# ---- fractions of the wire limit of collectives, each with a target of its own; rows
# without one are shown only

function judge_fold(    list, count, part_of, aim, i, key, name, line, good) {
    count = split(targets, list, ",")
    for (i = 1; i <= count; i++) {
        split(list[i], part_of, "=")
        aim[part_of[1]] = part_of[2]
    }
    printf "%-17s %8s %9s %9s %9s %8s %8s  target\n", "", "limit ms", "stock", "by hand",
        "pipering", "B", "x stock"
    for (i = 1; i <= rows; i++) {
        key = order[i]
        name = dist[key] "/" size(total[key])
        line = sprintf("%s %8.1f %9.3f %9s %9.3f %8d %8.3f", label(key), 1e3 * limit[key],
            part[key, "stock"], key in hand ? sprintf("%.3f", hand[key]) : "-",
            part[key, "pipering"], block[key, "pipering"], ratio[key, "pipering"])
        if (!(name in aim)) {
            print line "  none"
            continue
        }
        good = part[key, "pipering"] >= aim[name] && !((key, "pipering") in wrong)
        print line "  " aim[name] " " verdict(good)
    }
}

# ---- sums in fixed point and in floating point

function judge_price(    i, key, fixed, x) {
    fixed = "pipering:fixed_point_sum=1"
    printf "%-17s %9s %9s %9s %9s\n", "", "stock ms", "pipering", "fixed", "price"
    for (i = 1; i <= rows; i++) {
        key = order[i]
        x = least[key, fixed] / least[key, "pipering"]
        printf "%s %9.2f %9.2f %9.2f %9.2f  %s\n", label(key), 1e3 * least[key, "stock"],
            1e3 * least[key, "pipering"], 1e3 * least[key, fixed], x,
            total[key] < 65536 ? "" : verdict(x <= 3 && !((key, fixed) in wrong))
    }
}

# ---- the same calls over several PMLs, whose time is compared with that over ob1

function judge_pmls(    i, key, t, base, x, good) {
    printf "%-17s %-5s %8s %9s %9s %9s  target 1.03\n", "", "PML", "limit ms", "stock",
        "pipering", "to ob1"
    for (i = 1; i <= rows; i++) {
        key = order[i]
        split(key, t, SUBSEP)
        base = least[t[1], t[2], "ob1", "pipering"]
        x = base > 0 ? least[key, "pipering"] / base : 0
        good = x > 0 && x <= 1.03 && !((key, "pipering") in wrong)
        printf "%s %-5s %8.1f %9.3f %9.3f %9.3f  %s\n", label(key), t[3], 1e3 * limit[key],
            part[key, "stock"], part[key, "pipering"], x,
            t[3] == "ob1" ? "" : verdict(good)
    }
}

# ---- 32 nodes: beside the fraction what the ring's rounds allow

function judge_bounds(    i, key, aim, faster, good) {
    printf "%-17s %8s %7s %8s %7s %7s %6s %7s  target\n", "", "limit ms", "stock", "pipering",
        "bound", "B", "rounds", "faster"
    for (i = 1; i <= rows; i++) {
        key = order[i]
        aim = dist[key] == "broadcast" ? 0.78 : 0.87
        faster = least[key, "stock"] / least[key, "pipering"]
        good = part[key, "pipering"] >= aim && !((key, "pipering") in wrong)
        good = good && (dist[key] != "broadcast" || faster >= 24)
        printf "%s %8.1f %7.3f %8.3f %7.3f %7d %6d %7.1f  %.2f %s\n", label(key), 1e3 * limit[key],
            part[key, "stock"], part[key, "pipering"], bound[dist[key], total[key]],
            block[key, "pipering"], rounds[key, "pipering"], faster, aim, verdict(good)
    }
}

# ---- several ranks a node, placed in three ways

function judge_ppn(    i, d, t, b, key, kinds, k, line, good, count) {
    count = split("block,cyclic,random", kinds, ",")
    printf "%-17s %8s %8s %8s %8s %9s %9s  target %.2f, 0.95\n", "", "stock", "block", "cyclic",
        "random", "cyc/block", "rnd/block", target
    for (i = 1; i <= rows; i++) {
        split(order[i], t, SUBSEP)
        if (t[3] != "block") {
            continue
        }
        d = t[1] SUBSEP t[2] SUBSEP
        b = part[d "block", "pipering"]
        line = sprintf("%s %8.3f", label(order[i]), part[d "block", "stock"])
        good = 1
        for (k = 1; k <= count; k++) {
            key = d kinds[k]
            line = line sprintf(" %8.3f", part[key, "pipering"])
            good = good && part[key, "pipering"] >= target && part[key, "pipering"] >= 0.95 * b
            good = good && !((key, "pipering") in wrong)
        }
        print line sprintf(" %9.3f %9.3f  %s", part[d "cyclic", "pipering"] / b,
            part[d "random", "pipering"] / b, verdict(good))
    }
}

# ---- the two rings

function broadcast_to_spike(bytes, arm, aim,    x) {
    x = least["broadcast", bytes, "", arm] / least["spike", bytes, "", arm]
    printf "%5s  %-8s  broadcast / spike         %6.3f  target %.1f +- 10%%  %s\n", size(bytes),
        arm, x, aim, verdict(absolute(x / aim - 1) <= 0.10)
}

function pipelined_to_linear(bytes, d,    x) {
    x = least[d, bytes, "", "pipering"] / least[d, bytes, "", "linear"]
    printf "%5s  %-8s  pipelined / linear ring   %6.3f  target at most 1.02  %s\n", size(bytes),
        d, x, verdict(x <= 1.02)
}

function judge_rings(    i, bytes) {
    for (i = 1; i <= rows; i++) {
        if (dist[order[i]] == "spike") {
            bytes = total[order[i]]
            broadcast_to_spike(bytes, "linear", 2.0)
            broadcast_to_spike(bytes, "pipering", 1.0)
            pipelined_to_linear(bytes, "regular")
            pipelined_to_linear(bytes, "half")
        }
    }
}

# ---- not slower than stock beyond noise: by distribution, then both rules

function judge_noise(    i, key, x, top, low, sum, noise, shown, above) {
    top = 1
    low = 1
    printf "%-11s ratios of pipering to stock, by size\n", ""
    for (i = 1; i <= rows; i++) {
        key = order[i]
        x = ratio[key, "stock2"]
        top = x > top ? x : top
        low = x < low ? x : low
        noise += log(x)
        sum += log(ratio[key, "pipering"])
        shown[dist[key]] = shown[dist[key]] sprintf(" %s %.2f%s", size(total[key]),
            ratio[key, "pipering"], block[key, "pipering"] > 0 ? "" : "*")
    }
    for (i = 1; i <= rows; i++) {
        key = order[i]
        if (dist[key] in shown) {
            printf "%-11s%s\n", dist[key], shown[dist[key]]
            delete shown[dist[key]]
        }
        above += ratio[key, "pipering"] > top
    }
    print "* left to the module below"
    printf "stock2 to stock: %.2f to %.2f, geometric mean %.3f\n", low, top, exp(noise / rows)
    printf "geometric mean of %d ratios %.3f  target at most 1.05  %s\n", rows, exp(sum / rows),
        verdict(exp(sum / rows) <= 1.05)
    printf "%d rows above the band of stock2 (%.2f)  target none  %s\n", above, top,
        verdict(above == 0)
}

# ---- B of the model against a sweep

function judge_bsweep(    i, k, key, arm, parts, best, at, x) {
    printf "%-17s %8s %9s %9s %9s %9s  target 1.05\n", "", "B", "ms", "best B", "ms", "to best"
    for (i = 1; i <= rows; i++) {
        key = order[i]
        best = 1e9
        for (k in least) {
            split(k, parts, SUBSEP)
            arm = parts[4]
            if (parts[1] == dist[key] && parts[2] == total[key] && arm ~ /B=/ && least[k] < best) {
                best = least[k]
                at = substr(arm, index(arm, "=") + 1)
            }
        }
        x = least[key, "pipering"] / best
        printf "%s %8d %9.2f %9s %9.2f %9.3f  %s\n", label(key), block[key, "pipering"],
            1e3 * least[key, "pipering"], at, 1e3 * best, x, verdict(x <= 1.05)
    }
}

# ---- planning

function judge_planning(    i, key, us, x) {
    printf "%-17s %9s %9s %7s  target %g%%\n", "", "plan us", "call us", "%", 100 * target
    for (i = 1; i <= rows; i++) {
        key = order[i]
        us = planning[dist[key], total[key]]
        x = us / (1e6 * least[key, "pipering"])
        printf "%s %9.1f %9.1f %6.2f%%  %s\n", label(key), us, 1e6 * least[key, "pipering"],
            100 * x, verdict(x < target)
    }
}

# ---- the problems as words for plan

function problems(    i, key) {
    for (i = 1; i <= rows; i++) {
        key = order[i]
        printf "%s %s %d %d\n", dist[key], total[key], ranks[key], block[key, "pipering"]
    }
}

END {
    if (section == "problems") {
        problems()
        exit
    } else if (section == "fraction") {
        judge_fraction()
    } else if (section == "fold") {
        judge_fold()
    } else if (section == "price") {
        judge_price()
    } else if (section == "pmls") {
        judge_pmls()
    } else if (section == "bounds") {
        judge_bounds()
    } else if (section == "ppn") {
        judge_ppn()
    } else if (section == "rings") {
        judge_rings()
    } else if (section == "noise") {
        judge_noise()
    } else if (section == "bsweep") {
        judge_bsweep()
    } else if (section == "planning") {
        judge_planning()
    }
    judge_wrongs(wrongs)
}
