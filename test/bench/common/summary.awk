# The lines of one job or of several as a TSV file with a line for each row and arm:
#   awk -v arms=ARM,ARM... -f common.awk -f summary.awk FILE...
#
# In place of the samples (times) come
#   reps min_s median_s max_s    how many, the least time, the median, the largest
#   frac_min frac_median         limit_s over these
#   to_stock to_tuned to_hand    the median of time / time of the first arm of this name in
#                                the same repetition
# What has no value is "-". Samples of several jobs are put together in the order of the
# files, so that a repetition of arms in jobs of their own is that of jobs side by side.
# Counts are those of an arm's last job.

{
    row = ""
    for (i = 1; i < at["arm"]; i++) {
        row = row $i OFS
    }
    if (!(row in limit)) {
        row_at[++rows] = row
        limit[row] = get("limit_s")
    }
    key = row SUBSEP get("arm")
    times[key] = times[key] (times[key] == "" ? "" : ",") get("times")
    wrong[key] = wrong[key] || get("verified") != "yes"
    rest[key] = ""
    for (i = at["arm"] + 1; i < at["verified"]; i++) {
        rest[key] = rest[key] $i OFS
    }
    if (!names) {
        for (name in at) {
            name_at[at[name]] = name
        }
        names = at["verified"]
    }
}

function or_none(value) {
    return value > 0 ? sprintf("%.4f", value) : "-"
}

# The first arm of a name, digits may follow, that the row has; "": none.
function first(row, name,    i) {
    for (i = 1; i <= count; i++) {
        if (arm_at[i] ~ ("^(" name ")[0-9]*(:|$)") && (row, arm_at[i]) in times) {
            return arm_at[i]
        }
    }
    return ""
}

function ratio(row, arm, name,    base, n, m, i, a, b, ratios) {
    base = first(row, name)
    if (base == "") {
        return 0
    }
    n = split(times[row, arm], a, ",")
    m = split(times[row, base], b, ",")
    n = n < m ? n : m
    for (i = 1; i <= n; i++) {
        ratios[i] = b[i] > 0 ? a[i] / b[i] : 0
    }
    return median(ratios, n)
}

function print_line(row, arm,    values, n, i, middle) {
    n = split(times[row, arm], values, ",")
    for (i = 1; i <= n; i++) {
        values[i] += 0
    }
    middle = median(values, n)
    print row arm OFS rest[row, arm] (wrong[row, arm] ? "no" : "yes"), n,
        sprintf("%.9f\t%.9f\t%.9f", values[1], middle, values[n]),
        or_none(values[1] > 0 ? limit[row] / values[1] : 0),
        or_none(middle > 0 ? limit[row] / middle : 0), or_none(ratio(row, arm, "i?stock")),
        or_none(ratio(row, arm, "tuned")), or_none(ratio(row, arm, "(hand|persistent)(all)?"))
}

END {
    count = split(arms, arm_at, ",")
    printf "#"
    for (i = 1; i <= names; i++) {
        printf "%s%s", name_at[i], OFS
    }
    print "reps", "min_s", "median_s", "max_s", "frac_min", "frac_median", "to_stock",
        "to_tuned", "to_hand"
    for (i = 1; i <= rows; i++) {
        for (k = 1; k <= count; k++) {
            if ((row_at[i], arm_at[k]) in times) {
                print_line(row_at[i], arm_at[k])
            }
        }
    }
}
