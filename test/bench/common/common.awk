# What the tables share: columns by their names, the median, lines that judge a figure, and
# sizes as people write them. Only lines that judge end in PASS or MISS.

BEGIN {
    FS = OFS = "\t"
}

# A file's columns are named in the line that begins with # and no blank.
/^#[^ ]/ {
    $0 = substr($0, 2)
    split("", at)
    for (i = 1; i <= NF; i++) {
        at[$i] = i
    }
    next
}

/^#/ { next }

function get(column) {
    if (!(column in at)) {
        print FILENAME ": no column " column | "cat >&2"
        exit 2
    }
    return $at[column]
}

# The median of values[1 .. count], which are sorted then.
function median(values, count,    gap, i, k, value) {
    for (gap = int(count / 2); gap > 0; gap = int(gap / 2)) {
        for (i = gap + 1; i <= count; i++) {
            value = values[i]
            for (k = i - gap; k > 0 && values[k] > value; k -= gap) {
                values[k + gap] = values[k]
            }
            values[k + gap] = value
        }
    }
    return (values[int((count + 1) / 2)] + values[int(count / 2) + 1]) / 2
}

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

# A line about so many results that were wrong, if there are any.
function judge_wrongs(count) {
    if (count > 0) {
        printf "%d results were wrong  MISS\n", count
    }
}

# Adds an arm to arm_at[1 .. arms], where they are in the order of their first lines, and to the
# keys of known[].
function list_arm(arm) {
    if (!(arm in known)) {
        known[arm] = 1
        arm_at[++arms] = arm
    }
}

# 1048576 -> 1M
function size(bytes) {
    if (bytes % 1048576 == 0) {
        return bytes / 1048576 "M"
    }
    return bytes % 1024 == 0 ? bytes / 1024 "K" : bytes ""
}
