# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Tables and verdicts of datatypes, from TSV files of ddt, and of counted instructions.

arms: all, in their order; the first one is the base of all ratios."""

import re

from measured import values
from tables import at_least, at_most, main, mean, size

BASE, LOOK_AHEAD = "off", "dual"


class Messages:
    """Least seconds of all jobs, by net, side and layout. The loop by hand and contiguous data are
    the same in all arms, so these are of all jobs, too."""

    def __init__(self, rows):
        self.times, self.rows = {}, {}
        for row in rows:
            key = row["net"], row["side"], row["layout"]
            self.rows.setdefault(key, row)
            for engine in {row["engine"], "any"}:
                place = (*key, engine, row["arm"])
                self.times[place] = min(self.times.get(place, row["min_s"]), row["min_s"])

    def typed(self, key, arm):
        """0: it was not measured."""
        return self.times.get((*key, arm, "typed"), 0)

    def any(self, key, method):
        return self.times[(*key, "any", method)]

    def ratio(self, key, arm):
        base = self.typed(key, BASE)
        return self.typed(key, arm) / base if base else 0

    def ratios(self, arm):
        return [self.ratio(key, arm) for key in self.rows if self.ratio(key, arm)]


def judge_wrongs(rows):
    """What Open MPI's own engine does wrong is told, but is not ours."""
    wrong = [row["engine"] for row in rows if row["verified"] == "no"]
    for row in rows:
        row["verified"] = "-"
    for arm in dict.fromkeys(wrong):
        own = re.match("stock|off|research", arm)
        print(f"{arm}: {wrong.count(arm)} results were wrong"
              + (" (Open MPI's own engine)" if own else "  MISS"))


def table(rows, arms):
    """All rows: the base in microseconds, others over it, hand over it."""
    found, others = Messages(rows), arms.split()[1:]
    print(f"{'net':5} {'side':4} {'layout':16} {'bytes':>6} {BASE + ' us':>10}"
          + "".join(f" {arm:>8}" for arm in others) + f" {'hand':>8} {'floor':>8}")
    for key, row in found.rows.items():
        net, side, layout = key
        took, total = found.typed(key, BASE), row["total"]
        print(f"{net:5} {side:4} {layout:16} "
              f"{f'{total // 1024:.0f}K' if total % 1024 else size(total):>6} {1e6 * took:10.1f}"
              + "".join(f" {found.ratio(key, arm):8.2f}" if found.ratio(key, arm) else f" {'-':>8}"
                        for arm in others)
              + (f" {found.any(key, 'hand') / took:8.2f} {found.any(key, 'floor') / took:8.2f}"
                 if took else f" {'-':>8} {'-':>8}"))
    print(f"{'geometric means':44}"
          + "".join(f" {mean(found.ratios(arm)):8.2f}" for arm in others))
    judge_wrongs(rows)
    again = mean(found.ratios(BASE + "2"))
    at_most(f"dual over {BASE}, geometric mean ({BASE} again: {again:.2f})",
            mean(found.ratios(LOOK_AHEAD)), 1.05)
    return found


def transpose(rows, arms):
    found = table(rows, arms)
    for net in ("rail1", "rail2"):  # shared memory is packed into and does not look ahead
        key = net, "send", "indexed:24M"
        at_least(f"{net}, irregular type, 24M: % of time that dual saves over research",
                 100 * (1 - found.typed(key, LOOK_AHEAD) / found.typed(key, "research")), 85)


def instructions(rows, arms):
    """Against Open MPI without the patches, if it is there."""
    counts = {(row["label"], row["counted"]): row["instructions"] for row in rows}
    labels, others = list(dict.fromkeys(row["label"] for row in rows)), arms.split()[1:]
    to = "stock" if "stock" in others else BASE
    print(f"{'layout, side':26} {BASE:>12}" + "".join(f" {arm:>9}" for arm in others))
    for label in labels:
        print(f"{label:26} {counts[label, BASE]:12.0f}" + "".join(
            f" {counts[label, arm] / counts[label, BASE]:9.4f}" for arm in others))

    def most_more(which):
        """What dual has more. Of a contiguous message as short as a few calls of the convertor, all
        of it is looked at and not these calls alone."""
        return max((100 * (counts[label, LOOK_AHEAD] / counts[label, to] - 1) for label in labels
                    if re.search(which, label) and not label.endswith(":64 recv")), default=0)
    at_most(f"contiguous data and receivers: % of instructions more than {to}",
            most_more(" recv$|^contiguous.* self$"), 1)
    at_most(f"senders, which look ahead: % of instructions more than {to}",
            most_more("^[^c].* (send|self)$"), 1)


def search(rows, arms):
    """Where the time of sending goes: search, packing, and what contiguous data takes."""
    found = Messages([row for row in rows if row["arm"] != "convertor"])
    print(f"{'layout':16} {'bytes':>8} {'arm':9} {'us':>9} {'search':>8} {'packing':>8} "
          f"{'network':>8}")
    sought = [row for row in rows if row["arm"] == "convertor"]
    layouts, order = values(sought, "layout"), arms.split()
    for row in sorted(sought, key=lambda row: (layouts.index(row["layout"]),
                                               order.index(row["engine"]))):
        parts = row["search_s"], row["move_s"], \
            found.any(("rail1", "send", row["layout"]), "floor")
        shares = [100 * part / sum(parts) for part in parts]
        print(f"{row['layout']:16} {size(row['total']):>8} {row['engine']:9} "
              f"{1e6 * sum(parts):9.1f}" + "".join(f" {share:7.1f}%" for share in shares))
        if row["engine"] == LOOK_AHEAD and row["layout"].startswith("indexed"):
            at_most(f"{row['layout']}, dual: % of search", shares[0], 5)
    judge_wrongs(rows)


def rails(rows, arms):
    """One link and two, whose fragments overtake each other."""
    found = Messages(rows)
    middle = {(row["net"], row["side"], row["layout"], row["engine"]): row["median_s"]
              for row in rows if row["arm"] == "typed"}
    pairs = [(key, ("rail2", *key[1:])) for key in found.rows if key[0] == "rail1"]
    for arm in (arm for arm in arms.split() if found.typed(pairs[0][0], arm)):
        print(f"{arm:10} {'bytes':>6} {'one rail':>9} {'median':>9} {'two rails':>9} {'median':>9} "
              f"{'two/one':>8} {'hand, two':>10} {'two/hand':>8} {'one/hand':>8}")
        for one, two in pairs:
            if found.typed(one, arm) and found.typed(two, arm):
                times = found.typed(one, arm), found.typed(two, arm)
                hand = found.any(two, "hand")
                print(f"{'':10} {size(found.rows[one]['total']):>6} {1e3 * times[0]:9.1f} "
                      f"{1e3 * middle[(*one, arm)]:9.1f} {1e3 * times[1]:9.1f} "
                      f"{1e3 * middle[(*two, arm)]:9.1f} {times[1] / times[0]:8.2f} "
                      f"{1e3 * hand:10.1f} {times[1] / hand:8.2f} "
                      f"{times[0] / found.any(one, 'hand'):8.2f}")
    slower, by_hand, per_byte = [], [], []
    for one, two in pairs:
        took = found.typed(two, LOOK_AHEAD)
        slower.append(took / found.typed(one, LOOK_AHEAD))
        by_hand.append(took / found.any(two, "hand"))
        per_byte.append(took / found.rows[two]["total"])
    at_most("two rails over one, largest (not slower but for noise)", max(slower), 1.05)
    at_most("two rails over the loop by hand, largest", max(by_hand), 1.2)
    first, last = (size(found.rows[pair[0]]["total"]) for pair in (pairs[0], pairs[-1]))
    at_most(f"two rails, time a byte of {last} over that of {first}",
            per_byte[-1] / per_byte[0], 1.2)
    judge_wrongs(rows)


main({made.__name__: made for made in (table, transpose, instructions, search, rails)})
