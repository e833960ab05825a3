# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""What is measured for the papers' figures: sections of the benchmarks, and the files they leave.

A section whose files are all there is not measured again. Minutes are of two processors.
"""

import os
from dataclasses import dataclass
from typing import Tuple

POWERS = tuple(range(2, 9))


@dataclass(frozen=True)
class Section:
    """A section of a benchmark. leaves: names of TSV files in build/bench. needs: what it cannot run
    without, "" or "testbed"."""

    name: str
    script: str
    words: str
    minutes: float
    leaves: Tuple[str, ...]
    shows: str
    needs: str = "testbed"

    def command(self):
        return f"test/bench/{self.script} {self.words}"

    def files(self):
        return [name + ".tsv" for name in self.leaves]

    def missing(self, bench):
        """Files that it has not left."""
        return [name for name in self.files() if not bench.has(name)]

    def measured_at(self, bench):
        """When the oldest file of a section that has left all was written."""
        return min(os.path.getmtime(bench.path(name)) for name in self.files())


def _worringer(call):
    return tuple(f"worringer-{call}-{p}" for p in POWERS)


def _places(name, ranks=(2, 4, 8, 16, 32)):
    return tuple(f"applications-{name}-{p}" for p in ranks)


def _wirings(name, *wirings):
    """Tables of calls on each wiring, and of all sizes."""
    return tuple(f"almasi-{name}-{wiring}{sizes}" for wiring in wirings
                 for sizes in ("", "-sizes"))


TRAFF, FOLDS, LEADERS = "traff/traff", "worringer/worringer", "kandalla/leaders"
ALMASI = "almasi/almasi"

SECTIONS = [
    Section("traff-predicted", TRAFF, "predicted", 0.1, ("traff-predicted",),
            "Träff Figs. 9, 10", ""),
    Section("worringer-model", "worringer/fig5", "model", 0.1,
            ("fig5-model",), "Worringer Fig. 5", ""),
    Section("traff-counts", TRAFF, "counts", 4, ("traff-counts",), "Träff Figs. 4, 6"),
    Section("traff-nodes32", TRAFF, "nodes32", 4, ("traff-nodes32",), "Träff Fig. 4"),
    Section("traff-ppn8", TRAFF, "ppn8", 2, ("traff-ppn8",), "Träff Fig. 4"),
    Section("traff-blocks", TRAFF, "blocks", 4, ("traff-blocks",), "Träff Fig. 5"),
    Section("traff-ranks", TRAFF, "ranks", 2,
            tuple(f"traff-ranks-{n}" for n in (2, 4, 8, 16, 24, 32)), "Träff Fig. 7 left"),
    Section("traff-idle", TRAFF, "idle", 0.5, ("traff-idle", "traff-idle-links"),
            "Träff Figs. 7 right, 8"),
    Section("traff-permuted", TRAFF, "permuted", 1, ("traff-world", "traff-permuted"),
            "Träff sec. 3.1"),
    Section("traff-list", TRAFF, "list", 3, ("traff-list",), "Träff Fig. 10, small"),
    Section("traff-ontop", TRAFF, "ontop", 1, ("traff-ontop",), "Träff sec. 3.4"),
    Section("rings", "run", "rings", 2, ("rings",), "Träff sec. 3.1"),
    Section("worringer-bcast", FOLDS, "bcast", 3, _worringer("bcast"), "Worringer Fig. 3"),
    Section("worringer-reduce", FOLDS, "reduce", 4, _worringer("reduce"), "Worringer Fig. 3"),
    Section("worringer-scan", FOLDS, "scan", 4, _worringer("scan"), "Worringer Fig. 3"),
    Section("worringer-allreduce", FOLDS, "allreduce", 4, _worringer("allreduce"),
            "Worringer Fig. 4"),
    Section("worringer-identity", FOLDS, "identity", 2,
            tuple(f"worringer-{kind}-{p}" for p in POWERS for kind in ("parts", "serial")),
            "Worringer sec. 5.1"),
    Section("leaders-small", LEADERS, "small", 1, ("leaders-small", "leaders-small-single"),
            "Kandalla Fig. 8"),
    Section("leaders-single", LEADERS, "single", 1, ("leaders-single",), "Kandalla Figs. 3, 4"),
    Section("leaders-leaders", LEADERS, "leaders", 1, ("leaders-leaders",),
            "Kandalla Figs. 5, 6, 7"),
    Section("leaders-sixteen", LEADERS, "sixteen", 2, ("leaders-sixteen",), "Kandalla Figs. 5, 6"),
    Section("leaders-messages", LEADERS, "messages", 2, ("leaders-messages",),
            "Kandalla Figs. 3 c, 5 c"),
    Section("balaji-outliers", "balaji/balaji", "outliers", 3,
            tuple(f"balaji-{kind}-{place}" for place in ("8x8", "16x4")
                  for kind in ("doubles", "sizes")), "Balaji Fig. 14 a"),
    Section("balaji-ranks", "balaji/balaji", "ranks", 2,
            tuple(f"balaji-ranks-{place}" for place in
                  ("2x1", "4x1", "6x1", "8x1", "4x3", "8x2", "8x3", "8x4", "8x6", "8x8")),
            "Balaji Fig. 14 b"),
    Section("alltoallw-ring", "balaji/alltoallw", "ring", 1,
            tuple(f"alltoallw-ring-{ppn}" for ppn in (1, 2, 4)), "Balaji Fig. 15"),
    Section("alltoallw-ring128", "balaji/alltoallw", "ring128", 5, ("alltoallw-ring-16",),
            "Balaji Fig. 15, 128 ranks"),
    Section("applications-scatter", "balaji/applications", "scatter", 2, _places("scatter"),
            "Balaji Fig. 16"),
    Section("applications-laplacian", "balaji/applications", "laplacian", 3,
            _places("laplacian"), "Balaji Fig. 17"),
    Section("applications-scatter128", "balaji/applications", "scatter128", 4,
            _places("scatter", (128,)), "Balaji Fig. 16, 128 ranks"),
    Section("applications-laplacian128", "balaji/applications", "laplacian128", 6,
            _places("laplacian", (128,)), "Balaji Fig. 17, 128 ranks"),
    Section("datatypes-transpose", "datatypes/datatypes", "transpose", 2, ("datatypes-transpose",),
            "Balaji Fig. 12"),
    Section("datatypes-search", "datatypes/datatypes", "search", 1,
            ("datatypes-search", "datatypes-search-net"),
            "Balaji Fig. 13"),
    Section("almasi-predicted", ALMASI, "predicted", 0.2, ("almasi-predicted",),
            "Almási Figs. 5, 6, 7", ""),
    Section("almasi-bcast", ALMASI, "bcast", 26,
            _wirings("bcast-sum", "mesh4x4", "torus4x4", "mesh2x2x2"), "Almási Fig. 5"),
    Section("almasi-allreduce", ALMASI, "allreduce", 27,
            _wirings("allreduce-isum", "mesh4x4")
            + _wirings("allreduce-sum", "mesh4x4", "torus4x4"), "Almási Figs. 6, 7"),
    Section("almasi-alltoall", ALMASI, "alltoall", 9,
            tuple(f"almasi-alltoall-{wiring}" for wiring in
                  ("mesh4x4", "torus4x4", "mesh2x2x2", "mesh4x2x2", "mesh4x4x2")),
            "Almási Fig. 8, Table 2"),
    Section("almasi-visits", ALMASI, "visits", 1, ("almasi-visits",), "Almási sec. 3.1"),
    Section("almasi-small", ALMASI, "small", 1,
            ("almasi-small", "almasi-small-allreduce", "almasi-barriers"), "Almási Figs. 9, 10"),
    Section("almasi-decision", ALMASI, "decision", 1, ("almasi-decision",), "Almási Fig. 5 (b)"),
]

BY_NAME = {section.name: section for section in SECTIONS}
