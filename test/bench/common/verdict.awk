# Lines that judge a figure, and sizes as people write them, for the tables of experiments.

function verdict(good) {
    return good ? "PASS" : "MISS"
}

# at_least TEXT FIGURE AIM, at_most TEXT FIGURE AIM: a line that judges
function at_least(text, figure, aim) {
    printf "%-66s %6.2f  target at least %-4s  %s\n", text, figure, aim, verdict(figure >= aim)
}

function at_most(text, figure, aim) {
    printf "%-66s %6.2f  target at most  %-4s  %s\n", text, figure, aim, verdict(figure <= aim)
}

# 1048576 -> 1M
function size(bytes) {
    if (bytes % 1048576 == 0) {
        return bytes / 1048576 "M"
    }
    return bytes % 1024 == 0 ? bytes / 1024 "K" : bytes ""
}
