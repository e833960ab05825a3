# Tables and verdicts of datatypes, from TSV files of ddt and ddt_seek.
#   awk -f common.awk -f datatypes.awk section=NAME base=ARM arms="ARM ..." FILE...

# ---- lines of counts: arm, what, instructions

NF == 3 {
    if (!($2 in what)) {
        what[$2] = ++whats
        what_at[whats] = $2
    }
    known[$1] = 1
    instructions[$2, $1] = $3
    next
}

# ---- lines of ddt_seek

"visits" in at {
    arm = get("engine")
    l = get("layout")
    o = get("order")
    known[arm] = 1
    if (!(o in orders)) {
        orders[o] = ++order_count
        order_at[order_count] = o
    }
    if (!(l in entries)) {
        layout_at[++layouts] = l
        entries[l] = get("entries")
        bytes_of[l] = get("bytes")
    }
    visits[l, o, arm] = get("visits")
    search[l, arm] = get("search_s")
    move[l, arm] = get("move_s")
    if (get("verified") == "no") {
        wrong(arm)
    }
    next
}

# ---- lines of ddt: a row is a net, a side and a layout

{
    row = get("net") SUBSEP get("side") SUBSEP get("layout")
    arm = get("engine")
    if (!(row in net)) {
        order[++rows] = row
        net[row] = get("net")
        layout[row] = get("layout")
        bytes[row] = get("total")
        side[row] = get("side")
    }
    known[arm] = 1
    put(row, arm, get("arm"), get("min_s"))
    if (get("arm") == "typed") {
        medians[row, arm] = get("median_s")
    }
    if (get("verified") == "no") {
        wrong(arm)
    }
}

# What Open MPI's own engine does wrong is told, but is not ours.
function wrong(arm) {
    wrongs[arm]++
}

# The least time of all jobs. The loop by hand and contiguous data are the same in all
# arms, so these are of all jobs, too.
function put(row, arm, method, least) {
    keep(row SUBSEP arm SUBSEP method, least)
    if (method != "typed") {
        keep(row SUBSEP "any" SUBSEP method, least)
    }
}

function keep(key, least) {
    if (!(key in time) || least < time[key]) {
        time[key] = least + 0
    }
}

function typed(row, arm) {
    return time[row, arm, "typed"]
}

# To the base; 0: not measured.
function ratio(row, arm) {
    return typed(row, base) > 0 ? typed(row, arm) / typed(row, base) : 0
}

function to_hand(row, arm) {
    return typed(row, arm) / time[row, "any", "hand"]
}

function key(n, s, l) {
    return n SUBSEP s SUBSEP l
}

# ---- visits

function a_entry(l, o, arm) {
    return visits[l, o, arm] / entries[l]
}

function judge_visits(    list, count, a) {
    count = split(arms, list, " ")
    for (a = 1; a <= count; a++) {
        if (list[a] in known) {
            show_visits(list[a])
        }
    }
    if ("dual" in known) {
        verdict_visits("dual")
    }
}

function show_visits(arm,    i, o) {
    printf "%-10s %8s %10s", arm, "bytes", "entries"
    for (o = 1; o <= order_count; o++) {
        printf " %9s", order_at[o]
    }
    print ""
    for (i = 1; i <= layouts; i++) {
        printf "%-10s %8s %10d", "", size(bytes_of[layout_at[i]]), entries[layout_at[i]]
        for (o = 1; o <= order_count; o++) {
            printf " %9.2f", a_entry(layout_at[i], order_at[o], arm)
        }
        print ""
    }
}

# Linear: as many for an entry, however many there are.
function verdict_visits(arm,    o, i, most) {
    for (o = 1; o <= order_count; o++) {
        for (i = 1; i <= layouts; i++) {
            most = max(most, a_entry(layout_at[i], order_at[o], arm))
        }
    }
    at_most("dual: visits for an entry, all orders and sizes, largest", most, 4)
}

function points_visits(    list, count, a, o, i) {
    count = split(arms, list, " ")
    for (a = 1; a <= count; a++) {
        for (o = 1; o <= order_count && list[a] in known; o++) {
            for (i = 1; i <= layouts && order_at[o] ~ /^(rails2|reverse|random)$/; i++) {
                printf "%s, %s\t%d\t%s\n", list[a], order_at[o], bytes_of[layout_at[i]],
                    visits[layout_at[i], order_at[o], list[a]]
            }
        }
    }
}

# ---- instructions

# Against Open MPI without the patches, if it is there.
function judge_instructions(    list, count, a, i, to) {
    count = split(arms, list, " ")
    printf "%-26s %12s", "layout, side, order", base
    for (a = 2; a <= count; a++) {
        printf " %9s", list[a]
    }
    print ""
    for (i = 1; i <= whats; i++) {
        printf "%-26s %12d", what_at[i], instructions[what_at[i], base]
        for (a = 2; a <= count; a++) {
            printf " %9.4f", instructions[what_at[i], list[a]] / instructions[what_at[i], base]
        }
        print ""
    }
    if ("dual" in known) {
        to = "stock" in known ? "stock" : base
        at_most("contiguous data and receivers: % of instructions more than " to,
            most_more(" recv |^contiguous.* self ", to), 1)
        at_most("senders, which look ahead: % of instructions more than " to,
            most_more("^[^c].* (send|self) ", to), 1)
    }
}

# What dual has more. Of a contiguous message as short as a few calls of the convertor, all
# of it is looked at and not these calls alone.
function most_more(which, to,    i, w, most) {
    for (i = 1; i <= whats; i++) {
        w = what_at[i]
        if (w ~ which && w !~ /:64 recv/) {
            most = max(most, 100 * (instructions[w, "dual"] / instructions[w, to] - 1))
        }
    }
    return most
}

# ---- search

function part(l, arm, what) {
    return 100 * what / (search[l, arm] + move[l, arm] + time["rail1", "send", l, base, "floor"])
}

function show_search(    list, count, a, i, l, floor) {
    count = split(arms, list, " ")
    printf "%-16s %8s %-9s %9s %8s %8s %8s\n", "layout", "bytes", "arm", "us", "search",
        "packing", "network"
    for (i = 1; i <= layouts; i++) {
        l = layout_at[i]
        floor = time["rail1", "send", l, base, "floor"]
        for (a = 1; a <= count; a++) {
            if ((l, list[a]) in search) {
                printf "%-16s %8s %-9s %9.1f %7.1f%% %7.1f%% %7.1f%%\n", l, size(bytes_of[l]),
                    list[a], 1e6 * (search[l, list[a]] + move[l, list[a]] + floor),
                    part(l, list[a], search[l, list[a]]), part(l, list[a], move[l, list[a]]),
                    part(l, list[a], floor)
            }
        }
    }
    if ("dual" in known) {
        at_most(layout_at[layouts] ", dual: % of search", \
            part(layout_at[layouts], "dual", search[layout_at[layouts], "dual"]), 5)
    }
}

# ---- rails

function judge_rails(    list, count, a) {
    count = split(arms, list, " ")
    for (a = 1; a <= count; a++) {
        if (list[a] in known) {
            show_rails(list[a])
        }
    }
    if ("dual" in known) {
        verdict_rails("dual")
    } else {
        print "dual is missing: nothing to judge."
    }
}

function show_rails(arm,    i, one, two) {
    printf "%-10s %6s %9s %9s %9s %9s %8s %10s %8s %8s\n", arm, "bytes", "one rail", "median",
        "two rails", "median", "two/one", "hand, two", "two/hand", "one/hand"
    for (i = 1; i <= rows; i++) {
        if (net[order[i]] != "rail1") {
            continue
        }
        one = order[i]
        two = key("rail2", side[one], layout[one])
        if (!typed(one, arm) || !typed(two, arm)) {
            continue
        }
        printf "%-10s %6s %9.1f %9.1f %9.1f %9.1f %8.2f %10.1f %8.2f %8.2f\n", "",
            size(bytes[one]), 1e3 * typed(one, arm), 1e3 * medians[one, arm],
            1e3 * typed(two, arm), 1e3 * medians[two, arm], typed(two, arm) / typed(one, arm),
            1e3 * time[two, "any", "hand"], to_hand(two, arm), to_hand(one, arm)
    }
}

function verdict_rails(arm,    i, one, two, slower, hand, first, last) {
    for (i = 1; i <= rows; i++) {
        one = order[i]
        if (net[one] == "rail1") {
            two = key("rail2", side[one], layout[one])
            first = first == "" ? two : first
            last = two
            slower = max(slower, typed(two, arm) / typed(one, arm))
            hand = max(hand, to_hand(two, arm))
        }
    }
    at_most("two rails over one, largest (not slower but for noise)", slower, 1.05)
    at_most("two rails over the loop by hand, largest", hand, 1.2)
    at_most(sprintf("two rails, time a byte of %s over that of %s", size(bytes[last]),
        size(bytes[first])), typed(last, arm) / bytes[last] / (typed(first, arm) / bytes[first]),
        1.2)
}

function max(a, b) {
    return a == "" || b > a ? b : a
}

# One curve an arm and number of rails, and the loop by hand.
function points_rails(    i, list, count, a) {
    count = split(arms, list, " ")
    for (a = 1; a <= count; a++) {
        for (i = 1; i <= rows && list[a] in known; i++) {
            printf "%s, %s\t%d\t%.6f\n", list[a], net[order[i]] == "rail1" ? "one rail" \
                : "two rails", bytes[order[i]], 1e3 * typed(order[i], list[a])
        }
    }
    for (i = 1; i <= rows; i++) {
        if (net[order[i]] == "rail2") {
            printf "by hand, two rails\t%d\t%.6f\n", bytes[order[i]],
                1e3 * time[order[i], "any", "hand"]
        }
    }
}

# ---- tables

# All rows: the base in microseconds, others over it, hand over it.
function table(    i, a, list, count) {
    count = split(arms, list, " ")
    printf "%-5s %-4s %-16s %6s %10s", "net", "side", "layout", "bytes", list[1] " us"
    for (a = 2; a <= count; a++) {
        printf " %8s", list[a]
    }
    printf " %8s %8s\n", "hand", "floor"
    for (i = 1; i <= rows; i++) {
        table_row(order[i], list, count)
    }
    means(list, count)
}

function table_row(row, list, count,    a, x) {
    printf "%-5s %-4s %-16s %6s %10.1f", net[row], side[row], layout[row],
        bytes[row] % 1024 ? int(bytes[row] / 1024) "K" : size(bytes[row]), 1e6 * typed(row, base)
    for (a = 2; a <= count; a++) {
        x = ratio(row, list[a])
        if (x > 0) {
            printf " %8.2f", x
        } else {
            printf " %8s", "-"
        }
    }
    if (!typed(row, base)) {
        print "        -        -"
        return
    }
    printf " %8.2f %8.2f\n", time[row, "any", "hand"] / typed(row, base),
        time[row, "any", "floor"] / typed(row, base)
}

# Of all rows, or of those with blocks of so many bytes.
function mean(arm, least,    i, sum, n) {
    for (i = 1; i <= rows; i++) {
        if (block(order[i]) >= least && ratio(order[i], arm) > 0) {
            sum += log(ratio(order[i], arm))
            n++
        }
    }
    return n ? exp(sum / n) : 0
}

function means(list, count,    a) {
    printf "%-44s", "geometric means"
    for (a = 2; a <= count; a++) {
        printf " %8.2f", mean(list[a], 0)
    }
    print ""
}

function worst(arm, least,    i, x, high) {
    for (i = 1; i <= rows; i++) {
        x = ratio(order[i], arm)
        if (block(order[i]) >= least && x > high) {
            high = x
        }
    }
    return high
}

# dense:16K -> 16384; others have no block
function block(row) {
    return layout[row] ~ /^dense:/ ? 1024 * substr(layout[row], 7) : 0
}

function judge_table() {
    table()
    if ("dual" in known) {
        at_most("dual over " base ", geometric mean (" base " again: " \
            sprintf("%.2f", mean(base "2", 0)) ")", mean("dual", 0), 1.05)
    }
}

function judge_transpose(    n, row) {
    judge_table()
    for (n = 1; n <= 3 && "dual" in known; n++) {
        row = key(n == 1 ? "rail1" : n == 2 ? "rail2" : "sm", "send", "indexed:24M")
        if (net[row] == "sm") {
            continue # packs into shared memory and does not look ahead
        }
        at_least(net[row] ", irregular type, 24M: % of time that dual saves over research",
            100 * (1 - typed(row, "dual") / typed(row, "research")), 85)
    }
}

# Figure 12: the sender has the columns.
function points_transpose(    i, list, count, a) {
    count = split(arms, list, " ")
    for (a = 1; a <= count; a++) {
        for (i = 1; i <= rows; i++) {
            if (net[order[i]] == "rail1" && side[order[i]] == "send" \
                && layout[order[i]] ~ /^transpose/ && typed(order[i], list[a]) > 0) {
                printf "%s\t%d\t%.3f\n", list[a], substr(layout[order[i]], 11),
                    1e6 * typed(order[i], list[a])
            }
        }
    }
}

# Not slower beyond noise, which the base against itself shows.
function judge_dense(    noise) {
    table()
    if ("dual" in known) {
        noise = worst(base "2", 8192)
        at_most("blocks of 8K and more: dual over " base ", geometric mean", mean("dual", 8192),
            1.05)
        at_most("blocks of 8K and more: dual over " base ", largest", worst("dual", 8192),
            noise > 1.05 ? int(100 * noise + 0.5) / 100 : 1.05)
    }
}

END {
    if (section == "visits") {
        judge_visits()
    } else if (section == "visits-points") {
        points_visits()
    } else if (section == "instructions") {
        judge_instructions()
    } else if (section == "search") {
        show_search()
    } else if (section == "rails") {
        judge_rails()
    } else if (section == "rails-points") {
        points_rails()
    } else if (section == "transpose-points") {
        points_transpose()
    } else if (section == "table") {
        judge_table()
    } else if (section == "transpose") {
        judge_transpose()
    } else if (section == "dense") {
        judge_dense()
    }
    for (arm in wrongs) {
        if (section !~ /points/) {
            printf "%s: %d results were wrong%s\n", arm, wrongs[arm],
                arm ~ /^(stock|off|research)/ ? " (Open MPI's own engine)" : "  MISS"
        }
    }
}
