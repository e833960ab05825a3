# The table of demo, from a TSV file of agv:
#   awk -f common.awk -f demo.awk FILE

{
    dist = get("dist")
    if (!(dist in limit)) {
        order[++rows] = dist
    }
    limit[dist] = get("limit_s")
    time[dist, get("arm")] = get("min_s")
    part[dist, get("arm")] = get("frac_min")
    wrong = wrong || get("verified") != "yes"
}

END {
    line = "%-13s %9s %9s %9s %11s %18s\n"
    printf "\n" line, "", "stock", "pipering", "times", "wire limit", "reached of it"
    printf line, "distribution", "ms", "ms", "faster", "ms", "stock -> pipering"
    for (i = 1; i <= rows; i++) {
        d = order[i]
        printf "%-13s %9.1f %9.1f %9.2f %11.1f %8.0f%% -> %3.0f%%\n", d, 1e3 * time[d, "stock"],
            1e3 * time[d, "pipering"], time[d, "stock"] / time[d, "pipering"], 1e3 * limit[d],
            100 * part[d, "stock"], 100 * part[d, "pipering"]
    }
    print wrong ? "\nA RESULT WAS WRONG." : "\nAll results are right."
    print "The headers of TCP take 4% of the wire, so 96% is the most there can be."
    exit wrong
}
