# Communication and idle time of each rank from agv's trace files, as a table
# and as a picture: one band a rank, dark while its link carries data.
#   awk -v ranks=P -v rate=BYTES/S -v svg=FILE -f trace.awk FILE.0 FILE.1 ...
# Shown is the last call of each arm; times of all files are of one clock.

FNR == 1 {
    rank = FILENAME
    sub(/.*\./, "", rank)
    samples[rank] = 0
}

$1 == "sample" {
    n = ++samples[rank]
    when[rank, n] = $2
    received[rank, n] = $3
    sent[rank, n] = $4
}

$1 == "call" {
    if (!($4 in known)) {
        known[$4] = 1
        arm[++arms] = $4
    }
    start[rank, $4] = $5
    end[rank, $4] = $6
}

function larger(a, b) {
    return a > b ? a : b
}

# Is the link in use between two samples?
function busy(r, n,    seconds, bytes) {
    seconds = when[r, n] - when[r, n - 1]
    bytes = larger(received[r, n] - received[r, n - 1], sent[r, n] - sent[r, n - 1])
    return bytes > 0.1 * rate * seconds
}

# Calls of an arm begin and end when the first rank begins and the last one ends.
function span(name,    r) {
    first = start[0, name]
    last = end[0, name]
    for (r = 1; r < ranks; r++) {
        first = start[r, name] < first ? start[r, name] : first
        last = larger(last, end[r, name])
    }
}

function rectangle(x, y, width, height, color) {
    printf "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>\n", x, y, width,
        height, color >svg
}

# A rank's band, as long as the call of the slowest rank, dark from sample to
# sample where its link is in use; returns its communication time.
function band(r, name, y, scale,    n, a, b, used, from) {
    rectangle(60, y, (last - first) * scale, 16, "#cfe0f2")
    from = -1
    for (n = 2; n <= samples[r]; n++) {
        a = larger(when[r, n - 1], first)
        b = when[r, n] < last ? when[r, n] : last
        if (b > a && busy(r, n)) {
            used += b - a
            from = from < 0 ? a : from
        }
        if (from >= 0 && (b <= a || !busy(r, n) || n == samples[r])) {
            a = a < last ? a : last
            rectangle(60 + (from - first) * scale, y, (a - from) * scale, 16, "#1f5fa8")
            from = -1
        }
    }
    return used
}

function chart(name, top, scale,    r, used, took, all_used, all_took) {
    span(name)
    printf "<text x=\"60\" y=\"%d\">%s, %.0f ms</text>\n", top - 6, name, 1e3 * (last - first) >svg
    for (r = 0; r < ranks; r++) {
        used = band(r, name, top + 20 * r, scale)
        took = last - first
        all_used += used
        all_took += took
        printf "<text x=\"52\" y=\"%d\" text-anchor=\"end\">%d</text>\n", top + 20 * r + 12, r >svg
        printf "%-10s %5d %10.1f %10.1f %7.0f%%\n", name, r, 1e3 * used, 1e3 * (took - used),
            100 * (took - used) / took
    }
    printf "%-10s %5s %10.1f %10.1f %7.0f%%\n", name, "mean", 1e3 * all_used / ranks,
        1e3 * (all_took - all_used) / ranks, 100 * (all_took - all_used) / all_took
}

END {
    for (i = 1; i <= arms; i++) {
        span(arm[i])
        longest = larger(longest, last - first)
    }
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"%d\" ", \
        arms * (20 * ranks + 40) + 30 >svg
    print "font-family=\"sans-serif\" font-size=\"12\">" >svg
    print "<rect width=\"720\" height=\"100%\" fill=\"white\"/>" >svg
    print "<text x=\"60\" y=\"16\">dark: the rank's link carries data; light: idle</text>" >svg
    printf "%-10s %5s %10s %10s %8s\n", "arm", "rank", "comm. ms", "idle ms", "idle"
    for (i = 1; i <= arms; i++) {
        chart(arm[i], 44 + (i - 1) * (20 * ranks + 40), 640 / longest)
    }
    print "</svg>" >svg
}
