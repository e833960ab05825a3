# Draws lines as SVG, both axes logarithmic.
#   awk -v title=... -v xlabel=... -v ylabel=... [-v legend=bottom] -f plot.awk FILE
# FILE: series TAB x TAB y, x ascending within a series. Lines with # are skipped.

BEGIN {
    FS = "\t"
    WIDTH = 640
    HEIGHT = 420
    LEFT = 70
    RIGHT = 620
    TOP = 44
    BOTTOM = 370
    split("#1f5fa8 #c8431f #2d8a4e #7b4ea3 #a87d1f #4a4a4a #c03a85 #1f98a8", COLOR, " ")
}

/^#/ || NF < 3 || $2 <= 0 || $3 <= 0 { next }

{
    if (!($1 in points)) {
        series[++count] = $1
    }
    n = ++points[$1]
    x[$1, n] = $2
    y[$1, n] = $3
    xmin = (xmin == "" || $2 < xmin) ? $2 + 0 : xmin
    xmax = (xmax == "" || $2 > xmax) ? $2 + 0 : xmax
    ymin = (ymin == "" || $3 < ymin) ? $3 + 0 : ymin
    ymax = (ymax == "" || $3 > ymax) ? $3 + 0 : ymax
}

function escape(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    return text
}

function across(v) {
    return LEFT + (RIGHT - LEFT) * log(v / xlow) / log(xhigh / xlow)
}

function down(v) {
    return BOTTOM - (BOTTOM - TOP) * log(v / ylow) / log(yhigh / ylow)
}

# 1024 -> 1K, 0.002 -> 0.002
function short(v) {
    if (v >= 1048576 && v % 1048576 == 0) {
        return v / 1048576 "M"
    }
    return v >= 1024 && v % 1024 == 0 ? v / 1024 "K" : sprintf("%g", v)
}

function text(px, py, anchor, what, extra) {
    printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", px, py, anchor, extra,
        escape(what)
}

function line(x1, y1, x2, y2, color) {
    printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2,
        y2, color
}

# Powers of two below the axis; 1, 2, 5 of each decade beside it.
function axes(    v, step, k, mark) {
    xlow = xmin
    xhigh = xmax > xmin ? xmax : 2 * xmin
    ylow = ymin / 1.2
    yhigh = ymax * 1.2
    step = 2
    while (log(xhigh / xlow) / log(step) > 9) {
        step *= 2
    }
    for (v = 2 ^ int(log(xlow) / log(2) + 0.999); v <= xhigh * 1.0001; v *= step) {
        line(across(v), TOP, across(v), BOTTOM, "#e4e4e4")
        text(across(v), BOTTOM + 18, "middle", short(v), "")
    }
    split("1 2 5", mark, " ")
    for (v = 10 ^ int(log(ylow) / log(10) - 1); v <= yhigh; v *= 10) {
        for (k = 1; k <= 3; k++) {
            if (v * mark[k] >= ylow && v * mark[k] <= yhigh) {
                line(LEFT, down(v * mark[k]), RIGHT, down(v * mark[k]), "#e4e4e4")
                text(LEFT - 6, down(v * mark[k]) + 4, "end", sprintf("%g", v * mark[k]), "")
            }
        }
    }
    line(LEFT, BOTTOM, RIGHT, BOTTOM, "#444")
    line(LEFT, TOP, LEFT, BOTTOM, "#444")
    text((LEFT + RIGHT) / 2, HEIGHT - 14, "middle", xlabel, "")
    text(0, 0, "middle", ylabel, sprintf(" transform=\"translate(16 %d) rotate(-90)\"", \
        (TOP + BOTTOM) / 2))
}

function curve(number,    name, color, i, path, row) {
    name = series[number]
    row = 16 * number + (legend == "bottom" ? BOTTOM - 16 * count - 10 : TOP)
    color = COLOR[(number - 1) % 8 + 1]
    for (i = 1; i <= points[name]; i++) {
        path = path sprintf("%.1f,%.1f ", across(x[name, i]), down(y[name, i]))
        printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", across(x[name, i]),
            down(y[name, i]), color
    }
    printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, color
    line(LEFT + 12, row - 4, LEFT + 34, row - 4, color)
    text(LEFT + 40, row, "start", name, "")
}

END {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" ", WIDTH, HEIGHT
    print "font-family=\"sans-serif\" font-size=\"12\">"
    printf "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, HEIGHT
    text(WIDTH / 2, 24, "middle", title, " font-size=\"14\"")
    if (count > 0) {
        axes()
    }
    for (i = 1; i <= count; i++) {
        curve(i)
    }
    print "</svg>"
}
