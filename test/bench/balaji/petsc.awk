# The table of petsc, from its lines:
#   awk -f common.awk -f petsc.awk FILE
# Least times of the rounds; answers must be the same.

{
    key = get("run") SUBSEP get("what") SUBSEP get("p")
    if (!(key in answer)) {
        order[++rows] = key
        answer[key] = get("answer")
    }
    wrong += get("verified") != "yes"
    other += get("answer") != answer[key]
    if (!((key, get("arm")) in least) || get("min_s") < least[key, get("arm")]) {
        least[key, get("arm")] = get("min_s")
    }
}

END {
    printf "%-20s %5s %12s %12s %7s\n", "least of 3 jobs, us", "ranks", "stock", "ours", "ratio"
    for (i = 1; i <= rows; i++) {
        split(order[i], part, SUBSEP)
        printf "%-20s %5d %12.1f %12.1f %7.3f   %s\n", part[1] " " part[2], part[3],
            1e6 * least[order[i], "stock"], 1e6 * least[order[i], "ours"],
            least[order[i], "ours"] / least[order[i], "stock"],
            answer[order[i]] == "-" ? "" : answer[order[i]]
    }
    printf "results that are wrong: %d, answers that differ: %d  %s\n", wrong, other,
        verdict(wrong + other == 0)
}
