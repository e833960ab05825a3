# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Lines through measured times: seconds = alpha + beta bytes, piece by piece.

    seconds                        . '
      |                     . ' '        3rd piece: larger messages need a handshake
      |            . . ' '
      |       . '      2nd piece
      |  _ _.      1st piece: alpha counts, bytes hardly do
      +-----|----------|-----------> bytes

Sizes range over decades, so errors are relative ones: a fit minimises the sum of
((alpha + beta bytes) / seconds - 1)^2. Each size counts once, by the median of its samples, so
that single samples do not matter; a size whose residual is far off counts less, so that single
sizes do not. Break points are found by dynamic programming over all ways to cut the sizes,
and a piece more must pay by Schwarz's criterion (BIC): what it explains, in units of the noise of
the samples, but of LEAST_NOISE at least, against its unknowns. These count half as much again,
since a break is sought at every place: without that, noise alone makes a piece in one fit of ten.
O(n^3) for n sizes.
"""

import math
import statistics

LEAST_NOISE = 0.02     # relative; differences below that are not explained
SIZES_OF_A_PIECE = 3   # at least: two sizes always lie on a line
UNKNOWNS = 4.5         # of a piece: alpha, beta, where it begins, and half as much again
FAR = 3.0              # residuals, in units of noise, from which a size counts less
ROUNDS = 4             # of weighing sizes anew


def _spread(samples):
    """Standard error of the median, relative, by the median absolute deviation, which is too
    small by chance for few samples."""
    middle = statistics.median(samples)
    if len(samples) < 3 or middle <= 0:
        return 0.0
    deviation = statistics.median(abs(sample - middle) for sample in samples)
    few = len(samples) / (len(samples) - 0.8)
    return 1.2533 * 1.4826 * few * deviation / math.sqrt(len(samples)) / middle


def _sizes(points):
    """[(bytes, seconds, noise)] in order; sizes without a positive time are left out."""
    sizes = []
    for size in sorted(points):
        samples = [sample for sample in points[size] if math.isfinite(sample)]
        if samples and statistics.median(samples) > 0:
            sizes.append((float(size), statistics.median(samples), _spread(samples)))
    # The spread of a few samples is often too small by chance: that of most sizes is the least.
    usual = statistics.median(noise for _, _, noise in sizes) if sizes else 0.0
    return [(x, y, max(noise, usual, LEAST_NOISE)) for x, y, noise in sizes]


def _line(sizes, weights, first):
    """(alpha, beta) of least weighted squares. No byte costs less than nothing, and in the
    first piece no message does; where a later piece meets 0 bytes has no such meaning."""
    sum_w = sum(weights)
    sum_x = sum(w * x for w, (x, _, _) in zip(weights, sizes))
    sum_y = sum(w * y for w, (_, y, _) in zip(weights, sizes))
    mean_x, mean_y = sum_x / sum_w, sum_y / sum_w
    spread = sum(w * (x - mean_x) ** 2 for w, (x, _, _) in zip(weights, sizes))
    along = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y, _) in zip(weights, sizes))
    beta = max(along / spread, 0.0) if spread > 0 else 0.0
    alpha = mean_y - beta * mean_x
    if first and alpha < 0:
        squares = sum(w * x * x for w, (x, _, _) in zip(weights, sizes))
        alpha = 0.0
        beta = sum(w * x * y for w, (x, y, _) in zip(weights, sizes)) / squares
    return alpha, beta


def _residuals(sizes, line):
    """How far the line is off, relative to the times."""
    alpha, beta = line
    return [(alpha + beta * x) / y - 1.0 for x, y, _ in sizes]


def _loss(far):
    """Of a residual in units of noise: its square, but no more than a far one has, which is less
    than what a piece costs, so that no piece is made for a single size."""
    return min(far, FAR) ** 2


def _robust(sizes, first):
    """The line of a piece and its loss."""
    base = [1.0 / (y * noise) ** 2 for _, y, noise in sizes]
    line = _line(sizes, base, first)
    for _ in range(ROUNDS):
        far = [abs(r) / noise for r, (_, _, noise) in zip(_residuals(sizes, line), sizes)]
        if max(far) <= FAR:
            break
        line = _line(sizes, [w * min(1.0, FAR / f) if f > 0 else w for w, f in zip(base, far)],
                     first)
    far = [abs(r) / noise for r, (_, _, noise) in zip(_residuals(sizes, line), sizes)]
    return line, sum(_loss(f) for f in far)


def _cut(sizes):
    """The best pieces as [(begin, end)]: places among the sizes, end not included."""
    count = len(sizes)
    price = UNKNOWNS * math.log(count)
    best = [0.0] + [math.inf] * count  # least loss of the sizes before a place
    begin = [0] * (count + 1)
    for end in range(1, count + 1):
        for start in range(0, end):
            if end - start < min(SIZES_OF_A_PIECE, count) or not math.isfinite(best[start]):
                continue
            loss = best[start] + price + _robust(sizes[start:end], 0 == start)[1]
            if loss < best[end]:
                best[end], begin[end] = loss, start
    pieces = []
    end = count
    while end > 0:
        pieces.insert(0, (begin[end], end))
        end = begin[end]
    return pieces


def _piece(sizes, start, end):
    part = sizes[start:end]
    line, _ = _robust(part, 0 == start)
    return {"from": int(part[0][0]), "to": int(part[-1][0]), "alpha": line[0], "beta": line[1],
            "residual": max(abs(residual) for residual in _residuals(part, line))}


def _verdict(sizes, pieces, tolerance):
    """(does one line hold?, what is to be said)."""
    line, _ = _robust(sizes, True)
    off = [abs(residual) for residual in _residuals(sizes, line)]
    worst = max(off)
    notes = []
    if worst > tolerance:
        where = int(sizes[off.index(worst)][0])
        notes.append(f"one line is off by {100 * worst:.0f}% at {where} bytes")
        if len(pieces) > 1:
            cuts = ", ".join(str(piece["from"]) for piece in pieces[1:])
            notes.append(f"{len(pieces)} pieces, which begin anew at {cuts} bytes, by "
                         f"{100 * max(piece['residual'] for piece in pieces):.0f}% at most")
    notes += [f"no line holds from {piece['from']} to {piece['to']} bytes: off by "
              f"{100 * piece['residual']:.0f}%" for piece in pieces
              if len(pieces) > 1 and piece["residual"] > tolerance]
    return worst <= tolerance, "; ".join(notes)


def fit(points, tolerance=0.10):
    """Fits times over sizes.

    points      {bytes: [seconds, ...]}
    tolerance   how far, relatively, a line may be off to hold

    Returns {"pieces": [{"from", "to" (sizes that were measured), "alpha" (seconds), "beta"
    (seconds a byte), "residual" (the largest relative one)}], "linear": does one line hold for
    all sizes, "note": where it does not}. No times, no pieces.
    """
    sizes = _sizes(points)
    if not sizes:
        return {"pieces": [], "linear": False, "note": "nothing was measured"}
    pieces = [_piece(sizes, start, end) for start, end in _cut(sizes)]
    linear, note = _verdict(sizes, pieces, tolerance)
    if len(sizes) < SIZES_OF_A_PIECE:
        linear, note = False, "too few sizes to tell whether a line holds"
    return {"pieces": pieces, "linear": linear, "note": note}


def line(points):
    """(alpha, beta) of one line through {bytes: [seconds, ...]}, neither below 0."""
    return _robust(_sizes(points), True)[0]


def piece_at(fitted, size):
    """The piece for a size; between two pieces, that of the nearer end by ratio."""
    pieces = fitted["pieces"]
    for piece, following in zip(pieces, pieces[1:]):
        if size <= math.sqrt(piece["to"] * following["from"]):
            return piece
    return pieces[-1]


def value(fitted, size):
    """Seconds for a size by a fit that has pieces."""
    piece = piece_at(fitted, size)
    return piece["alpha"] + piece["beta"] * size
