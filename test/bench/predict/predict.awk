# Tables of predict:
#   awk -f common.awk -f predict.awk section=rows key=dist|coll FILE     of agv or fold
#   awk -f common.awk -f predict.awk section=compare FILE                of predict

section == "rows" {
    print get(key), get("total"), get("p"), get("arm"), get("block"), get("min_s")
    next
}

{
    ++rows
    name[rows] = get("coll") == get("what") ? get("coll") : get("what")
    total[rows] = get("total")
    arm[rows] = get("arm")
    measured[rows] = get("measured_s")
    predicted[rows] = get("predicted_s")
}

function absolute(x) {
    return x < 0 ? -x : x
}

# How many pairs of rows whose measured times differ by more than 10% are predicted in this order.
function ranked(    i, k) {
    pairs = alike = 0
    for (i = 1; i <= rows; i++) {
        for (k = 1; k <= rows; k++) {
            if (total[i] == total[k] && measured[i] > 1.1 * measured[k]) {
                pairs++
                alike += predicted[i] > predicted[k]
            }
        }
    }
}

END {
    if (section == "rows") {
        exit
    }
    printf "%-12s %9s %-10s %12s %12s %8s\n", "", "bytes", "algorithm", "measured ms", "predicted", \
        "ratio"
    for (i = 1; i <= rows; i++) {
        ratio = measured[i] > 0 ? predicted[i] / measured[i] : 0
        near += absolute(ratio - 1) <= 0.1
        printf "%-12s %9d %-10s %12.2f %12.2f %8.2f\n", name[i], total[i], arm[i], \
            1e3 * measured[i], 1e3 * predicted[i], ratio
    }
    ranked()
    printf "within 10%%: %d of %d: %s\n", near, rows, near == rows ? "PASS" : "MISS"
    printf "ranked alike: %d of %d pairs: %s\n", alike, pairs, alike == pairs ? "PASS" : "MISS"
}
