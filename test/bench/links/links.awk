# Tables and verdicts of links, from its TSV files.
#   awk -f common.awk -f links.awk section=NAME FILE...

# ---- lines of `first`: rate, total, arm, call, seconds, right

section == "first" {
    key = $1 FS $2
    if (!(key in seen)) {
        seen[key] = 1
        order[++keys] = key
    }
    if ($4 == 1) {
        job[key, $3]++
        first[key, $3, job[key, $3]] = $5
        next_one[key, $3, job[key, $3]] = 1e9
    } else if ($5 < next_one[key, $3, job[key, $3]]) {
        next_one[key, $3, job[key, $3]] = $5
    }
    wrong += $6 != "yes"
}

# ---- lines of `jobs`: job, call, seconds, right, beta, time

section == "jobs" {
    beta[$1] = $5
    time[$1] = $6
    jobs = $1
    wrong += $4 != "yes"
}

# ---- lines of `early`: arm, call, seconds, right

section == "early" {
    if ($2 == 1) {
        job["", $1]++
    } else if ($2 >= 9 && (!(($1, job["", $1]) in best) || $3 < best[$1, job["", $1]])) {
        best[$1, job["", $1]] = $3
    }
    wrong += $4 != "yes"
}

# The median of values[prefix, 1 .. count].
function median_of(values, prefix, count,    i, copy) {
    for (i = 1; i <= count; i++) {
        copy[i] = values[prefix, i] + 0
    }
    return median(copy, count)
}

function spread(values, count,   i, least, most) {
    least = most = values[1] + 0
    for (i = 2; i <= count; i++) {
        least = values[i] + 0 < least ? values[i] + 0 : least
        most = values[i] + 0 > most ? values[i] + 0 : most
    }
    return least > 0 ? most / least : 0
}

function tell_first(   i, key, word, arm, names, f, n, more, most) {
    names["stock"]
    names["pipering"]
    printf "%-20s %12s %12s %12s %12s %10s %10s\n", "", "stock first", "next", "ours first", "next",
        "ms more", "at most"
    for (i = 1; i <= keys; i++) {
        key = order[i]
        split(key, word, FS)
        for (arm in names) {
            f[arm] = 1e3 * median_of(first, key SUBSEP arm, job[key, arm])
            n[arm] = 1e3 * median_of(next_one, key SUBSEP arm, job[key, arm])
        }
        most = word[1] == "shaped" ? 8 : 1.1 * (f["stock"] - n["stock"])
        more = f["pipering"] - (word[1] == "shaped" ? f["stock"] : n["pipering"])
        printf "%-10s %7d B %12.2f %12.2f %12.2f %12.2f %10.2f %10.2f %s\n", word[1], word[2],
            f["stock"], n["stock"], f["pipering"], n["pipering"], more, most, verdict(more <= most)
    }
}

function tell_jobs(   i) {
    for (i = 1; i <= jobs; i++) {
        printf "job %2d: beta %s ns a byte, modelled %s s\n", i, beta[i], time[i]
    }
    printf "modelled time, most over least of %d jobs: %.3f %s\n", jobs, spread(time, jobs),
        verdict(spread(time, jobs) >= 1 && spread(time, jobs) <= 1.03)
    printf "beta, most over least: %.3f %s\n", spread(beta, jobs),
        verdict(spread(beta, jobs) >= 1 && spread(beta, jobs) <= 1.05)
}

function tell_early(   plain, early) {
    plain = median_of(best, "plain", job["", "plain"])
    early = median_of(best, "early", job["", "early"])
    printf "plain %.4f s, early %.4f s, early over plain %.3f %s\n", plain, early, early / plain,
        verdict(early <= 1.03 * plain)
}

END {
    if (section == "first") {
        tell_first()
    } else if (section == "jobs") {
        tell_jobs()
    } else {
        tell_early()
    }
    if (wrong) {
        printf "%d wrong results MISS\n", wrong
    }
}
