# Tables and verdicts of almasi, from TSV files of fold, agv and swaps.
#   awk -f common.awk -f almasi.awk section=NAME [variable=value] FILE...

# Rows are (collective or distribution, bytes).
{
    call = "dist" in at ? get("dist") : get("coll")
    arm = get("arm")
    key = call SUBSEP get("total")
    if (!(key in bytes)) {
        order[++rows] = key
        bytes[key] = get("total")
        call_of[key] = call
        ranks[key] = get("p")
    }
    if (!(arm in known)) {
        known[arm] = 1
        arm_at[++arms] = arm
    }
    time[key, arm] = get("min_s")
    middle[key, arm] = get("median_s")
    wrong[key, arm] = get("verified") == "no"
}

# Arms whose plan is for a mesh.
function is_ours(arm) {
    return arm ~ /^(pipering|auto|permuted|mesh_)/
}

function heads(unit,    k, line) {
    line = sprintf("%-10s %7s", unit, "bytes")
    for (k = 1; k <= arms; k++)
        line = line sprintf(" %11s", substr(short(arm_at[k]), 1, 11))
    print line
}

# tuned:3:seg=8192 -> t3/8192, permuted:alltoall_visit=1 -> visit=1
function short(arm) {
    sub(/^tuned:/, "t", arm)
    sub(/:seg=/, "/", arm)
    sub(/^(permuted|mesh_trees):(alltoall_|mesh_)?/, "", arm)
    return arm
}

# A line of figures; those of wrong results are marked.
function row_of(key, figure,    k, line, arm) {
    line = sprintf("%-10s %7s", substr(call_of[key], 1, 10), size(bytes[key]))
    for (k = 1; k <= arms; k++) {
        arm = arm_at[k]
        if (!((key, arm) in time))
            line = line sprintf(" %11s", "-")
        else
            line = line sprintf(figure[arm] < 10 ? " %10.3f%s" : " %10.1f%s", figure[arm],
                wrong[key, arm] ? "!" : " ")
    }
    print line
}

# The best arm, of a mesh or not, that is right.
function best(key, ours,    k, arm, found) {
    for (k = 1; k <= arms; k++) {
        arm = arm_at[k]
        if (is_ours(arm) == ours && (key, arm) in time && !wrong[key, arm] &&
            (found == "" || time[key, arm] < time[key, found]))
            found = arm
    }
    return found
}

# ---- links: bytes per second as links of `rate`; the largest vectors are judged, over an arm or
# the best rival

function judge_against(key, rival, text) {
    if (times != "" && rival != "")
        at_least(sprintf("%s: times the speed of %s", text, short(rival)),
            time[key, rival] / time[key, "pipering"], times)
}

function judge_links(    i, k, key, text, figure) {
    heads("links")
    for (i = 1; i <= rows; i++) {
        key = order[i]
        for (k = 1; k <= arms; k++)
            if ((key, arm_at[k]) in time)
                figure[arm_at[k]] = bytes[key] / rate / time[key, arm_at[k]]
        row_of(key, figure)
        largest = bytes[key] > largest ? bytes[key] + 0 : largest
    }
    for (i = 1; i <= rows; i++) {
        key = order[i]
        text = what ", " (over != "" ? call_of[key] ", " : "") size(bytes[key])
        if (bytes[key] < largest)
            continue
        if (aim != "")
            at_least(sprintf("%s: part of %d links", text, links),
                bytes[key] / rate / time[key, "pipering"] / links, aim)
        judge_against(key, over != "" ? over : best(key, 0), text)
    }
}

# ---- alltoall: part of the bound; `busiest` messages go over one arc

function judge_alltoall(    i, k, key, figure, part) {
    printf "%s: a node sends at most %.2f MB/s\n", what, (nodes - 1) / busiest * rate / 1e6
    heads("of bound")
    for (i = 1; i <= rows; i++) {
        key = order[i]
        for (k = 1; k <= arms; k++)
            if ((key, arm_at[k]) in time)
                figure[arm_at[k]] = busiest * bytes[key] / rate / time[key, arm_at[k]]
        row_of(key, figure)
        part[i] = aim == "" ? 0 : busiest * bytes[key] / rate / time[key, "auto"]
    }
    for (i = 1; i <= rows && aim != ""; i++) {
        if (bytes[order[i]] == half)
            at_least(sprintf("%s, %s a pair: part of the bound", what, size(half)), part[i], 0.5)
        if (i == rows)
            at_least(sprintf("%s, %s a pair: part of the bound", what, size(bytes[order[i]])),
                part[i], aim)
    }
}

# ---- times in us, medians

function show_times(    i, k, key, figure) {
    heads("us")
    for (i = 1; i <= rows; i++) {
        key = order[i]
        for (k = 1; k <= arms; k++)
            if ((key, arm_at[k]) in time)
                figure[arm_at[k]] = 1e6 * middle[key, arm_at[k]]
        row_of(key, figure)
    }
}

# ---- points of a curve: MB/s, of an all-to-all what a node sends; by hand is the best of tuned

function print_points(    i, k, key, arm, hand) {
    for (k = 1; k <= arms; k++)
        for (i = 1; i <= rows; i++) {
            key = order[i]
            arm = arm_at[k]
            if ((key, arm) in time && arm ~ /^(stock|pipering|auto|pipeline|ring)$/)
                print arm, bytes[key], speed(key, time[key, arm])
        }
    for (i = 1; i <= rows; i++) {
        hand = ""
        for (k = 1; k <= arms; k++) {
            arm = arm_at[k]
            if (arm ~ /^tuned:/ && (key = order[i]) && (key, arm) in time && !wrong[key, arm] &&
                (hand == "" || time[key, arm] < hand))
                hand = time[key, arm]
        }
        if (hand != "")
            print "best by hand", bytes[order[i]], speed(order[i], hand)
    }
}

function speed(key, seconds) {
    return bytes[key] * (nodes > 1 ? nodes - 1 : 1) / seconds / 1e6
}

END {
    if (section == "links") {
        judge_links()
    } else if (section == "alltoall") {
        judge_alltoall()
    } else if (section == "times") {
        show_times()
    } else if (section == "points") {
        print_points()
    }
    for (i in wrong)
        wrongs += wrong[i] && i !~ /tuned/
    if (section != "points")
        judge_wrongs(wrongs)
}
