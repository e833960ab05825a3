# Tables and verdicts of jobs, from its TSV files: lines of arm, job, row, bytes, call, seconds,
# right.
#   awk -f common.awk -f jobs.awk section=NAME FILE

{
    wrong += $7 != "yes"
    row = $3 FS $4
    if (!(row in seen)) {
        seen[row] = 1
        order[++rows] = row
    }
    known[$1] = 1
    jobs[$1, row] = $2 > jobs[$1, row] ? $2 : jobs[$1, row]
    calls[$1, row] = $5 > calls[$1, row] ? $5 : calls[$1, row]
    seconds[$1, row, $2, $5] = $6
}

# Seconds of the first k calls of a job; of calls that were not made as the median of the later
# half of those that were.
function sum_of(arm, row, job, k,    i, made, sum, late, count) {
    made = calls[arm, row]
    for (i = 1; i <= k && i <= made; i++) {
        sum += seconds[arm, row, job, i]
    }
    if (k > made) {
        for (i = int(made / 2) + 1; i <= made; i++) {
            late[++count] = seconds[arm, row, job, i]
        }
        sum += (k - made) * median(late, count)
    }
    return sum
}

# The least over the jobs of an arm.
function least(arm, row, k,    job, best, sum) {
    best = ""
    for (job = 1; job <= jobs[arm, row]; job++) {
        sum = sum_of(arm, row, job, k)
        best = best == "" || sum < best ? sum : best
    }
    return best
}

function horizon(i) { return i == 1 ? 1 : i == 2 ? 4 : i == 3 ? 16 : 64 }

# Fills ratio[1 .. rows] of an arm over stock, and log_sum; the largest, of worst_row.
function compare(arm, k,    i, worst) {
    worst = 0
    worst_row = "-"
    log_sum = 0
    for (i = 1; i <= rows; i++) {
        ratio[i] = least(arm, order[i], k) / least("stock", order[i], k)
        log_sum += log(ratio[i])
        if (ratio[i] > worst) {
            worst = ratio[i]
            worst_row = order[i]
        }
    }
    sub(FS, " ", worst_row)
    return worst
}

function aim(links, arm, k, which,    key) {
    key = links "," arm
    return which == "mean" ? means[key, k] : worsts[key, k]
}

function set_aims(key, text,    words, i) {
    split(text, words, " ")
    for (i = 1; i <= 4; i++) {
        means[key, horizon(i)] = words[2 * i - 1]
        worsts[key, horizon(i)] = words[2 * i]
    }
}

BEGIN {
    set_aims("slow,file", "0.55 1.5 0.50 1.15 0.48 1.10 0.47 1.08")
    set_aims("slow,none", "0.80 1.6 0.65 1.25 0.60 1.15 0.58 1.10")
    set_aims("gbit,file", "1.1 1.8 0.95 1.2 0.90 1.15 0.90 1.12")
    set_aims("fast,file", "1.30 1.9 1.05 1.25 1.02 1.20 1.00 1.15")
    set_aims("fast,none", "1.30 1.9 1.05 1.25 1.02 1.20 1.00 1.15")
    set_aims("ppn,file", "1.30 1.9 1.05 1.25 1.02 1.20 1.00 1.15")
    set_aims("ucx,file", "1.30 1.9 1.05 1.25 1.02 1.20 1.00 1.15")
}

# A worst row that is inside the band of stock against itself is no miss.
function judge_worst(text, worst, band, most) {
    text = text " (band " sprintf("%.2f", band) ")"
    printf "%-66s %6.2f  target at most  %-4s  %s\n", text, worst, most,
        verdict(worst <= most || worst <= band)
}

function judge_arm(arm,    i, k, worst, band, aimed) {
    for (i = 1; i <= 4; i++) {
        k = horizon(i)
        band = "stock2" in known ? compare("stock2", k) : 0
        worst = compare(arm, k)
        aimed = aim(section, arm, k, "mean")
        if (aimed == "") {
            printf "%s, first %d: geometric mean %.2f, worst %.2f (%s); band %.2f\n", arm, k,
                exp(log_sum / rows), worst, worst_row, band
            continue
        }
        at_most(arm ", first " k ": geometric mean", exp(log_sum / rows), aimed)
        judge_worst(arm ", first " k ": worst, " worst_row, worst, band,
            aim(section, arm, k, "worst"))
    }
}

# How much longer than the best of forced algorithms and stock.
function judge_regret(arm,    i, best, other, name, regrets, worst, worst_row) {
    for (i = 1; i <= rows; i++) {
        best = least("stock", order[i], 16)
        for (name in known) {
            if (name == "pipelines" || name == "others") {
                other = least(name, order[i], 16)
                best = other < best ? other : best
            }
        }
        regrets[i] = least(arm, order[i], 16) / best
        if (regrets[i] > worst) {
            worst = regrets[i]
            worst_row = order[i]
        }
    }
    sub(FS, " ", worst_row)
    at_most(arm ", first 16 over the best forced: worst, " worst_row, worst, 1.15)
    at_most(arm ", first 16 over the best forced: median", median(regrets, rows), 1.03)
}

function print_rows(    i, name, k) {
    print "row", "bytes", "stock ms", "stock2", "file", "none", "pipelines", "others"
    for (i = 1; i <= rows; i++) {
        printf "%s\t%.2f", order[i], 1e3 * least("stock", order[i], 16) / 16
        for (k = 1; k <= split("stock2 file none pipelines others", names, " "); k++) {
            name = names[k]
            if (name in known) {
                printf "\t%.2f", least(name, order[i], 16) / least("stock", order[i], 16)
            } else {
                printf "\t-"
            }
        }
        printf "\n"
    }
}

# Seconds that the first call of a row takes more than the median of the others.
function first_cost(arm,    i, job, call, late, costs, count) {
    for (i = 1; i <= rows; i++) {
        for (job = 1; job <= jobs[arm, order[i]]; job++) {
            split("", late)
            for (call = 2; call <= calls[arm, order[i]]; call++) {
                late[call - 1] = seconds[arm, order[i], job, call]
            }
            costs[++count] = seconds[arm, order[i], job, 1] - median(late, call - 2)
        }
    }
    return 1e3 * median(costs, count)
}

END {
    if (section == "setup") {
        at_most("first call less the next ones, ms; stock " sprintf("%.2f", first_cost("stock")),
            first_cost("file"), 0.40)
        judge_wrongs(wrong)
        exit
    }
    print "The first 16 calls, over stock's:"
    print_rows()
    if ("file" in known) {
        judge_arm("file")
    }
    if ("none" in known) {
        judge_arm("none")
    }
    if ("pipelines" in known && "file" in known) {
        judge_regret("file")
    }
    judge_wrongs(wrong)
}
