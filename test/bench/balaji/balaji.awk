# Tables and verdicts of balaji, from TSV files of agv.
#   awk -f common.awk -f balaji.awk section=NAME [variable=value] FILE...

# Rows are (place, bytes).
{
    key = by SUBSEP get("total")
    if (!(key in total)) {
        order[++rows] = key
        total[key] = get("total")
        ranks[key] = get("p")
        place[key] = by
    }
    time[key, get("arm")] = 1e3 * get("median_s")
    ratio[key, get("arm")] = get("to_stock")
    block[key, get("arm")] = get("block")
    wrongs += get("verified") == "no"
}

function outlier(key) {
    return total[key] - 8 * (ranks[key] - 1)
}

# ---- an outlier: `from` so many bytes on, of at least `least` ranks, targets hold

function judge_outliers(    i, key, x, top, saved, low, stock, ring, above, judged) {
    low = 100
    printf "%-6s %6s %8s %8s %8s %9s %8s %9s %8s %7s\n", "place", "bytes", "stock", "linear",
        "ring", "doubling", "dissem.", "pipering", "x stock", "cut"
    for (i = 1; i <= rows; i++) {
        key = order[i]
        x = ratio[key, "stock2"]
        top = x > top ? x : top
        saved = 100 * (1 - ratio[key, "pipering"] / ratio[key, "linear"])
        printf "%-6s %6s %8.2f %8.2f %8.2f %9.2f %8.2f %8.2f%s %8.3f %6.1f%%\n", place[key],
            size(outlier(key)), time[key, "stock"], time[key, "linear"], time[key, "ring"],
            time[key, "doubling"], time[key, "dissemination"], time[key, "pipering"],
            (block[key, "pipering"] > 0 ? " " : "*"), ratio[key, "pipering"], saved
        stock += log(ratio[key, "pipering"])
        if (outlier(key) >= from && ranks[key] >= least) {
            judged++
            low = saved < low ? saved : low
            ring += log(ratio[key, "pipering"] / ratio[key, "ring"])
        }
    }
    for (i = 1; i <= rows; i++) {
        above += block[order[i], "pipering"] > 0 && ratio[order[i], "pipering"] > top
    }
    print "milliseconds, medians; * left to the module below"
    at_least("least cut against the linear ring, %", low, 20)
    at_most(sprintf("pipering to the pipelined ring, geometric mean of %d ratios", judged),
        exp(ring / judged), 1)
    at_most(sprintf("pipering to stock, geometric mean of %d ratios", rows), exp(stock / rows),
        1.05)
    at_most(sprintf("calls not left below: ratios above the largest of stock2 (%.3f)", top),
        above, 0)
}

END {
    if (section == "outliers") {
        judge_outliers()
    }
    judge_wrongs(wrongs)
}
