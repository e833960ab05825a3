#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""The floors of coll/pipering: which file includes, calls and names what.

A file includes files of its own floor and of those below, plans and the choice include no header
of Open MPI, and only the floors from that of calls on know the state of the component. A room has
what only some calls need, from the floor of plans to that of calls; from other folders one sees its
door alone. No files call each other in a circle. What components share knows neither of them. One
file knows the release of Open MPI. Plans and the choice use no function of libm whose last bits
differ between processors.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "tuning"))
import tap  # noqa: E402

FLOORS = ["plan", "engine", "decide", "call", "alltoall", "component"]  # from the ground up
ROOMS = ["mesh", "fixed_point", "pulls"]  # doors have their names
PIPERING = "ompi/mca/coll/pipering/"
MLEADER = "ompi/mca/coll/mleader/"
SHARED = "ompi/mca/common/colltools/"
PURE = re.compile(rf"{PIPERING}(?:\w+/coll_pipering_plan"
                  r"|decide/coll_pipering_(?:choice|decide_\w+|draft|make|params|registry)\."
                  r"|mesh/coll_pipering_(?:mesh\.h|mesh_rows\.c|ways\.))"
                  rf"|{MLEADER}coll_mleader_plan")
PURE_HEADERS = re.compile(
    rf"coll_(?:pipering|mleader)_plan|{PIPERING}plan/|(?:.*/)?coll_pipering_(?:choice|draft|fifo"
    r"|mesh|params|registry|ways)\.h$|.*common_colltools_(?:array|exchange|file|variable)\.h$"
    r"|common_colltools_exchange\.h$")
STATE = r"\bmca_coll_pipering(?:_component|_given)?\b"
RELEASE = r"OMPI_(?:MAJOR|MINOR|RELEASE)_VERSION"
LIBM = r"\b(?:pow|exp2?|expm1|log|log1p|log2|log10|cbrt|hypot|fma|sin|cos|tan|tgamma)[fl]?\("


def read(*folders):
    """The sources below folders: {path: text}."""
    tree = {}
    for folder in folders:
        for root, _, names in os.walk(os.path.join(tap.ROOT, folder)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    path = os.path.join(root, name)
                    with open(path, encoding="utf-8") as source:
                        tree[os.path.relpath(path, tap.ROOT)] = source.read()
    return tree


def included(text):
    return re.findall(r'^ *# *include +"([^"]*)"', text, re.M)


def named(tree, places, pattern, beside="$^"):
    """Lines of files in places that have a pattern."""
    return [f"{path}: {line.strip()}" for path, text in tree.items()
            if re.match(places, path) and not re.search(beside, path)
            for line in text.splitlines() if re.search(pattern, line)]


def level(folder):
    """The number of a floor, that of calls for a room; no floor is above all."""
    return FLOORS.index("call" if folder in ROOMS else folder) if folder in FLOORS + ROOMS else 99


def entered(folder, header):
    """The floor that a header is of for files of a folder: that of the choice for the door of a
    room, none for what is behind it."""
    other, name = header[len(PIPERING):].split("/")
    if other not in ROOMS or other == folder:
        return level(other)
    return level("decide" if f"coll_pipering_{other}.h" == name else None)


def points_up(path, header, tree):
    """Whether an include of coll/pipering points up, or out of its folder by a bare name."""
    if header.startswith(PIPERING):
        folder = path.split("/")[-2]
        return entered(folder, header) > level(folder)
    if header.startswith("coll_pipering"):
        return os.path.join(os.path.dirname(path), header) not in tree
    return header.startswith(MLEADER)


def look_up(tree):
    found = []
    for path, text in tree.items():
        if path.startswith(PIPERING):
            if level(path.split("/")[-2]) == 99:
                found.append(f"{path} stands on no floor")
            else:
                found += [f"{path} includes {header}" for header in included(text)
                          if points_up(path, header, tree)]
    return found


def look_out(tree):
    return [f"{path} includes {header}" for path, text in tree.items() if PURE.match(path)
            for header in included(text) if not PURE_HEADERS.match(header)]


def look_round(tree):
    return named(tree, rf"{PIPERING}(?:plan|mesh|engine|decide)/", STATE,
                 r"coll_pipering_(?:params|barrier)\.")


def look_aside(tree):
    return (named(tree, SHARED, r"coll/(?:pipering|mleader)/|coll_(?:pipering|mleader)")
            + named(tree, MLEADER, r"coll/pipering/|coll_pipering"))


def look_at_release(tree):
    return named(tree, "ompi/|opal/", RELEASE, r"common_colltools_compat\.h")


def look_at_libm(tree):
    return named(tree, rf"{PIPERING}(?:plan|mesh|fixed_point|decide)/", LIBM)


# ---- circles ----

NAME = r"(?:mca|predict|why)_\w+"
FUNCTION = re.compile(r"^(?!\s|#|typedef|extern)[^\n;{}=]*?\b(" + NAME
                      + r")\s*\([^;{}]*\)\s*\n\{", re.M)
VARIABLE = re.compile(r"^(?!\s|typedef|extern)(?:[\w ]+\*?\s)\s*(" + NAME
                      + r")(?:\[[^\]]*\])*\s*[=;]", re.M)
INLINE = re.compile(r"^static inline[^;]*?\n\{.*?^\}", re.M | re.S)
NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


def calls(tree):
    """The files that a file calls, a .c and its .h together. A call is a name with a prefix of the
    project that another file defines: in a .h, within the body of an inline function."""
    files = [(os.path.basename(path)[:-2], path.endswith(".h"), NO_CODE.sub("", text))
             for path, text in tree.items()]
    home = {}
    for stem, header, code in files:
        for name in FUNCTION.findall(code) + ([] if header else VARIABLE.findall(code)):
            home.setdefault(name, stem)
    found = {stem: set() for stem, _, _ in files}
    for stem, header, code in files:
        body = "\n".join(INLINE.findall(code)) if header else code
        found[stem] |= {home[name] for name in set(re.findall(r"\b" + NAME, body))
                        if name in home} - {stem}
    return found


def reached(found, start):
    """All files that calls of a file lead to."""
    seen, open_ends = set(), [start]
    while open_ends:
        for other in found[open_ends.pop()] - seen:
            seen.add(other)
            open_ends.append(other)
    return seen


def circles(tree):
    found = calls(tree)
    ways = {stem: reached(found, stem) for stem in found}
    return {tuple(sorted(other for other in ways[stem] if stem in ways[other]))
            for stem in found if stem in ways[stem]}


# ---- tests ----

TREE = read("ompi", "opal")
LOOKS = {look_up: "no file of coll/pipering includes one of a floor above its own",
         look_out: "plans and the choice are pure C",
         look_round: "only calls know the state of the component",
         look_aside: "what components share knows neither, and mleader does not know pipering",
         look_at_release: "one file knows the release of Open MPI",
         look_at_libm: "plans and the choice use no pow, exp, log or the like"}
DEFECTS = [
    (look_up, PIPERING + "engine/coll_pipering_engine.h", f'#include "{PIPERING}decide/x.h"'),
    (look_up, PIPERING + "decide/coll_pipering_decide.h", '#include "coll_pipering.h"'),
    (look_up, PIPERING + "call/coll_pipering.h", f'#include "{MLEADER}coll_mleader.h"'),
    (look_up, PIPERING + "plan/coll_pipering_plan.h",
     f'#include "{PIPERING}mesh/coll_pipering_mesh.h"'),
    (look_up, PIPERING + "call/coll_pipering.h", f'#include "{PIPERING}mesh/x.h"'),
    (look_up, PIPERING + "mesh/coll_pipering_mesh.h", f'#include "{PIPERING}alltoall/x.h"'),
    (look_out, PIPERING + "mesh/coll_pipering_mesh.h", '#include "ompi/op/op.h"'),
    (look_up, PIPERING + "call/coll_pipering.h", f'#include "{PIPERING}alltoall/x.h"'),
    (look_up, PIPERING + "why/coll_pipering_why.h", ""),
    (look_out, PIPERING + "plan/coll_pipering_plan.h", '#include "ompi/op/op.h"'),
    (look_out, PIPERING + "decide/coll_pipering_choice.h", '#include "coll_pipering_context.h"'),
    (look_out, MLEADER + "coll_mleader_plan.h", '#include "opal/util/output.h"'),
    (look_round, PIPERING + "decide/coll_pipering_decide.h", "&mca_coll_pipering_component;"),
    (look_round, PIPERING + "engine/coll_pipering_engine.h", "mca_coll_pipering.priority"),
    (look_round, PIPERING + "decide/coll_pipering_choice.h", "mca_coll_pipering_given.window"),
    (look_aside, SHARED + "common_colltools_copy.h", "/* coll_mleader */"),
    (look_aside, MLEADER + "coll_mleader_plan.h", f'#include "{PIPERING}plan/x.h"'),
    (look_at_release, SHARED + "common_colltools_copy.h", "#if 5 <= OMPI_MAJOR_VERSION"),
    (look_at_release, PIPERING + "call/coll_pipering.h", "#if 0 == OMPI_MINOR_VERSION"),
    (look_at_libm, PIPERING + "plan/coll_pipering_plan.h", "x = ceil(log2(n));"),
    (look_at_libm, PIPERING + "decide/coll_pipering_choice.h", "x = powf(n, 2);")]


def test_floors():
    """files include, call and name only what their floor may"""
    assert len(TREE) > 100
    faults = {title: look(TREE) for look, title in LOOKS.items() if look(TREE)}
    assert not faults, faults


def test_defects():
    """each look finds a defect, and only this one"""
    for look, path, line in DEFECTS:
        found = look({**TREE, path: TREE.get(path, "") + line + "\n"})
        assert len(found) == 1, (path, line, found)


def test_circles():
    """no circles of files that call each other"""
    tree = read("ompi/mca", "contrib/tuning/predict", "contrib/tuning/why")
    assert not circles(tree), circles(tree)


def test_a_circle():
    """a circle by a function, a variable and an inline function is found"""
    tree = {"a.c": "int mca_a(void)\n{\n    return mca_b;\n}\n",
            "b.c": "int mca_b = 1;\nint mca_d(void)\n{\n    return mca_c();\n}\n",
            "c.h": "static inline int mca_c(void)\n{\n    return mca_a();\n}\n"}
    assert circles(tree) == {("a", "b", "c")}
    del tree["c.h"]
    assert not circles(tree)


if __name__ == "__main__":
    sys.exit(tap.run(dict(globals())))
