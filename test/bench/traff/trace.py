# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""When each rank's link carries data, from agv's trace files, as TSV lines:

    trace.py RATE FILE.0 FILE.1 ...

RATE: bytes per second of a link. Shown is the last call of each arm, from when the first rank
begins to when the last one ends; times of all files are of one clock. A link is in use between two
samples if it carries a tenth of what it can. bands: from-to,... in seconds from the begin of the call.
"""

import sys


def read(path):
    """([(when, received, sent)], {arm: (start, end) of its last call}) of a rank."""
    samples, calls = [], {}
    with open(path, encoding="utf-8") as file:
        for words in map(str.split, file):
            if words[0] == "sample":
                samples.append(tuple(map(float, words[1:])))
            else:
                calls[words[3]] = float(words[4]), float(words[5])
    return samples, calls


def bands(samples, rate, first, last):
    """[[from, to]] in which the link is in use, from first to last."""
    found = []
    for old, new in zip(samples, samples[1:]):
        start, end = max(old[0], first), min(new[0], last)
        moved = max(new[1] - old[1], new[2] - old[2])
        if end > start and moved > 0.1 * rate * (new[0] - old[0]):
            if found and found[-1][1] == start - first:
                found[-1][1] = end - first
            else:
                found.append([start - first, end - first])
    return found


def main(rate, *paths):
    ranks = [read(path) for path in paths]
    print("#arm\trank\tcall_s\tbusy_s\tbands")
    for arm in ranks[0][1]:
        first = min(calls[arm][0] for _, calls in ranks)
        last = max(calls[arm][1] for _, calls in ranks)
        for rank, (samples, _) in enumerate(ranks):
            used = bands(samples, float(rate), first, last)
            print(f"{arm}\t{rank}\t{last - first:.6f}\t{sum(b - a for a, b in used):.6f}\t"
                  + ",".join(f"{a:.6f}-{b:.6f}" for a, b in used))


main(*sys.argv[1:])
