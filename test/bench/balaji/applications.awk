# Tables and verdicts of applications, from TSV files of app.
#   awk -f common.awk -f applications.awk target=RATIO [every=1] FILE...

# Rows are (application, pattern or stencil, size, fields), by ranks.
{
    row = get("app") SUBSEP get("what") SUBSEP get("size") SUBSEP get("fields")
    p = get("p")
    arm = get("arm")
    if (!(row in known_row)) {
        known_row[row] = 1
        row_at[++rows] = row
    }
    if (!(p in known_p)) {
        known_p[p] = 1
        p_at[++ps] = p
    }
    list_arm(arm)
    time[row, p, arm] = 1e6 * get("median_s")
    ratio[row, p, arm] = get("to_hand")
    wrongs += get("verified") == "no"
    check_answer(row, get("residual") " " get("checksum"))
}

# The solver's answers, one for all ranks and arms.
function check_answer(row, answer) {
    if (answer == "- -") {
        return
    }
    answers++
    if (!(row in answer_of)) {
        answer_of[row] = answer
    } else if (answer_of[row] != answer) {
        others++
    }
}

# An arm by hand?
function by_hand(arm) {
    return arm ~ /^(hand|persistent)(all)?[0-9]*(:|$)/
}

# Geometric mean of an arm's ratios to the first one by hand over the rows that judge
function mean_ratio(p, arm,    i, sum, count) {
    for (i = 1; i <= rows; i++) {
        if ((row_at[i], p, arm) in ratio && row_at[i] !~ /^ghosts/) {
            sum += log(ratio[row_at[i], p, arm])
            count++
        }
    }
    return count > 0 ? exp(sum / count) : 0
}

# The arm by hand that is best for so many ranks. One for all rows: the least of several
# times of each row would be below all of them by chance.
function best_hand(p,    k, best) {
    for (k = 1; k <= arms; k++) {
        if (by_hand(arm_at[k]) && (best == "" ||
            mean_ratio(p, arm_at[k]) < mean_ratio(p, best))) {
            best = arm_at[k]
        }
    }
    return best
}

function to_hand(row, p, arm) {
    return ratio[row, p, arm] / ratio[row, p, best_hand(p)]
}

# What `ours` saves of the time of another arm, per cent
function cut(row, p, arm) {
    return 100 * (1 - ratio[row, p, "ours"] / ratio[row, p, arm])
}

# " scatter shuffle 4K", with fields where there are more than one
function label(row,    part) {
    split(row, part, SUBSEP)
    return part[1] " " part[2] " " (part[1] == "scatter" ? size(part[3]) : part[3]) \
        (part[4] > 1 ? " x" part[4] : "")
}

function print_head(    k) {
    printf "%-22s %3s", "", "p"
    for (k = 1; k <= arms; k++) {
        printf " %13.13s", arm_at[k]
    }
    if ("ours" in known) {
        printf " %8s %8s %8s", "to hand", "cut base", "cut stock"
    }
    print ""
}

function print_row(row, p,    k) {
    printf "%-22s %3d", label(row), p
    for (k = 1; k <= arms; k++) {
        printf " %13.1f", time[row, p, arm_at[k]]
    }
    if ("ours" in known) {
        printf " %8.3f %7.1f%% %8.1f%%", to_hand(row, p, "ours"),
            "baseline" in known ? cut(row, p, "baseline") : 0,
            "stock" in known ? cut(row, p, "stock") : 0
    }
    print ""
}

function print_means(    i, k, base) {
    printf "%-22s %3s", "over the best by hand,", ""
    for (k = 1; k <= arms; k++) {
        printf " %13.13s", arm_at[k]
    }
    print "\ngeometric means"
    for (i = 1; i <= ps; i++) {
        base = mean_ratio(p_at[i], best_hand(p_at[i]))
        printf "%-22s %3d", best_hand(p_at[i]), p_at[i]
        for (k = 1; k <= arms; k++) {
            printf " %13.3f", mean_ratio(p_at[i], arm_at[k]) / base
        }
        print ""
    }
}

# The mean over rows, of the largest number of ranks or, if `every` is set, of each.
function judge_means(    i) {
    for (i = every ? 1 : ps; i <= ps; i++) {
        at_most(sprintf("%d ranks: ours over the best by hand, geometric mean", p_at[i]),
            mean_ratio(p_at[i], "ours") / mean_ratio(p_at[i], best_hand(p_at[i])), target)
    }
}

END {
    print_head()
    for (i = 1; i <= rows; i++) {
        for (k = 1; k <= ps; k++) {
            if ((row_at[i], p_at[k], arm_at[1]) in time) {
                print_row(row_at[i], p_at[k])
            }
        }
    }
    print_means()
    if ("ours" in known) {
        judge_means()
    }
    if (answers > 0) {
        at_most(sprintf("answers of the solver with other bits than the first (of %d)", answers),
            others, 0)
    }
    judge_wrongs(wrongs)
}
