# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Tables of predict, from TSV files of agv and fold, and of predict itself."""

from tables import main, verdict


def words(rows):
    """What is to be predicted of rows that were measured."""
    for row in rows:
        print(f"{row['what']} {row['total']:.0f} {row['p']:.0f} {row['arm']} {row['block']:.0f} "
              f"{row['min_s']:.9f}")


def compare(rows):
    print(f"{'':12} {'bytes':>9} {'algorithm':10} {'measured ms':>12} {'predicted':>12} "
          f"{'ratio':>8}")
    near = 0
    for row in rows:
        ratio = row["predicted_s"] / row["measured_s"]
        near += abs(ratio - 1) <= 0.1
        print(f"{row['what']:12} {row['total']:9.0f} {row['arm']:10} "
              f"{1e3 * row['measured_s']:12.2f} {1e3 * row['predicted_s']:12.2f} {ratio:8.2f}")
    # Pairs whose measured times differ by more than 10%, and those predicted in this order.
    pairs = [a["predicted_s"] > b["predicted_s"] for a in rows for b in rows
             if a["total"] == b["total"] and a["measured_s"] > 1.1 * b["measured_s"]]
    print(f"within 10%: {near} of {len(rows)}: {verdict(near == len(rows))}")
    print(f"ranked alike: {sum(pairs)} of {len(pairs)} pairs: {verdict(all(pairs))}")


main({"words": words, "compare": compare})
