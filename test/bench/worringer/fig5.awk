# Measured times of fixed block sizes beside the model of stages, from TSV files of stages and
# of fold, in this order:
#   awk -f common.awk -f fig5.awk section=NAME [variable=value] MODEL MEASURED

"stages" in at {
    model[get("block")] = get("model_s")
    stages[get("block")] = get("stages")
    next
}

{
    block[++blocks] = get("block")
    measured[get("block")] = get("min_s")
}

# Blocks that the transport asks for first are not the model's.
function compare(    i, b, x) {
    printf "%-8s %7s %7s %9s %12s %7s   alpha %.1f us, beta %.2f ns\n", call, "B", "stages",
        "model ms", "measured ms", "ratio", 1e6 * alpha, 1e9 * beta
    for (i = 1; i <= blocks; i++) {
        b = block[i]
        x = model[b] / measured[b]
        printf "%-8s %7d %7d %9.2f %12.2f %7.3f  %s\n", "", b, stages[b], 1e3 * model[b],
            1e3 * measured[b], x, (b > eager ? "not judged: a handshake for each block" \
            : verdict(x >= 0.85 && x <= 1.15))
    }
}

function points(    i) {
    for (i = 1; i <= blocks; i++) {
        print "model", block[i], 1e3 * model[block[i]]
    }
    for (i = 1; i <= blocks; i++) {
        print "measured", block[i], 1e3 * measured[block[i]]
    }
}

END {
    if (section == "blocks") {
        for (i = 1; i <= blocks; i++) {
            print block[i]
        }
    } else if (section == "compare") {
        compare()
    } else {
        points()
    }
}
