#!/usr/bin/python3
# The Python that Debian's package of matplotlib is for.
#
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""make figures, from the benchmarks as they are to the last figure and claim. Only the testbed and
Open MPI are posed (posing_testbed), so it takes seconds and measures nothing."""

import contextlib
import datetime
import functools
import importlib.machinery
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from unittest import mock
from xml.etree import ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
FIGURES = os.path.join(HERE, "figures")
sys.path[:0] = [FIGURES, os.path.join(HERE, "common"),
                os.path.join(os.path.dirname(HERE), "tuning")]
# pylint: disable=wrong-import-position
import tap

try:
    import matplotlib
except ImportError:
    print("1..0 # SKIP python3-matplotlib is missing")
    sys.exit(0)
import claims as claims_of
import drawings
import gains
import keeping
import outputs
import plot
from measured import Bench, Missing, read
from sections import BY_NAME, SECTIONS

CLAIMS = os.path.join(FIGURES, "claims.tsv")
OURS = "test/bench/figures/ours.tsv"
INFO = """#!/bin/sh
case "$*" in
*--version*) echo "Open MPI v5.0.7" ;;
*) echo "mca:coll:pipering:version:x"; echo "mca:coll:mleader:version:x"
   echo "mca:pml:ob1:version:x"; echo "mca:opal:base:param:opal_datatype_lookahead:value:dual" ;;
esac
"""
MPICC = """#!/bin/sh
case "$*" in
*--showme*) echo "$(dirname "$0")/../include/openmpi"; exit ;;
esac
while [ "$1" != -o ]; do shift; done
echo '#!/bin/sh' >"$2"
chmod +x "$2"
"""


def read_doc(name):
    with open(os.path.join(tap.ROOT, "docs", name), encoding="utf-8") as file:
        return file.read()


class Tree:
    """A copy of the benchmarks and of figures, with a posing testbed and Open MPI."""

    def __init__(self, directory):
        self.root = directory
        for part in ("test/bench", "contrib/tuning"):
            shutil.copytree(os.path.join(tap.ROOT, part), os.path.join(directory, part))
        os.symlink(os.path.join(tap.ROOT, "ompi"), os.path.join(directory, "ompi"))
        with open(os.path.join(tap.ROOT, "test/testbed/mesh.awk"), encoding="utf-8") as file:
            self.put("test/testbed/mesh.awk", file.read())
        self.put(OURS, keeping.HEAD)
        self.put("docs/claims.md", "as it was\n")
        self.put("docs/results.md", read_doc("results.md"))
        self.put("test/testbed/testbed", open(os.path.join(HERE, "posing_testbed"),
                                              encoding="utf-8").read())
        self.put("ompi-prefix/bin/ompi_info", INFO)
        self.put("ompi-prefix/bin/mpicc", MPICC)
        self.put("ompi-prefix/include/openmpi/opal/datatype/opal_convertor.h", "")
        self.calls = os.path.join(directory, "calls")
        # pipering-predict is compiled once for all copies, which have the same sources.
        shared = os.path.join(os.environ.get("BUILD_DIR") or os.path.join(tap.ROOT, "build"),
                              "tuning")
        os.makedirs(shared, exist_ok=True)
        os.mkdir(os.path.join(directory, "build"))
        os.symlink(os.path.abspath(shared), os.path.join(directory, "build", "tuning"))

    def put(self, name, content):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        os.chmod(path, 0o755)

    def run(self, *words, fails="-", pml=""):
        """(exit status, what figures said) of a call with these words."""
        environment = {**os.environ, "OMPI_PREFIX": os.path.join(self.root, "ompi-prefix"),
                       "BUILD_DIR": os.path.join(self.root, "build"), "POSING_CALLS": self.calls,
                       "POSING_FAILS": fails, "PYTHONDONTWRITEBYTECODE": "1", "PML": pml}
        environment.pop("STOCK_PREFIX", None)
        done = subprocess.run(
            [sys.executable, os.path.join(self.root, "test/bench/figures/figures"), *words],
            cwd=self.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=1200, check=False)
        return done.returncode, done.stdout

    def jobs(self):
        """How many jobs the testbed was asked for."""
        with contextlib.suppress(OSError), open(self.calls, encoding="utf-8") as file:
            return len(file.readlines())
        return 0

    def get(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return file.read()

    def made(self, name):
        return self.get(os.path.join("build/figures", name))

    def drawn(self):
        """{name: content} of the SVG files of build/figures."""
        return {name: self.made(name) for name in os.listdir(
            os.path.join(self.root, "build/figures")) if name.endswith(".svg")}

    def keeps(self, *rows):
        """Has these rows in ours.tsv."""
        self.put(OURS, keeping.HEAD + "".join("\t".join(row) + "\n" for row in rows))

    def ours(self):
        """{claim: our value} of build/figures/claims.tsv."""
        rows = [line.split("\t") for line in self.made("claims.tsv").splitlines()[1:]]
        return {row[0]: row[5] for row in rows}

    def dated(self, section, date):
        """Has a section measured at noon of a day."""
        noon = datetime.datetime.fromisoformat(f"{date} 12:00").timestamp()
        for name in BY_NAME[section].files():
            os.utime(os.path.join(self.root, "build/bench", name), (noon, noon))


    def computed(self):
        """Puts what the sections leave that do not measure."""
        for name, content in computations().items():
            self.put(os.path.join("build/bench", name), content)


@functools.lru_cache(maxsize=None)
def computations():
    """{file: content} of the sections that do not measure."""
    sections = [section for section in SECTIONS if not section.needs]
    with tree() as made:
        status, said = made.run(*(section.name for section in sections))
        assert status == 0, said
        return {name: made.get(os.path.join("build/bench", name))
                for section in sections for name in section.files()}


@contextlib.contextmanager
def tree():
    with tempfile.TemporaryDirectory() as directory:
        yield Tree(directory)


def claims():
    return claims_of.load(CLAIMS)


@tap.long
def test_all():
    """all sections are measured, figures drawn, claims filled; the next call does nothing"""
    with tree() as made:
        status, said = made.run()
        assert status == 0, said
        assert "not drawn" not in said and "has not left" not in said, said
        rows = [line.split("\t") for line in made.made("claims.tsv").splitlines()[1:]]
        assert len(rows) == len(claims())
        for row in rows:
            assert row[5] != outputs.UNMEASURED and (row[5] == "-") == (row[6] == "-"), row
        drawn = made.drawn()
        assert {figure.name for figure in drawings.FIGURES} <= {
            name.rsplit("-", 1)[0] for name in drawn}
        for name, content in drawn.items():
            assert len(list(ElementTree.fromstring(content).iter())) > 20, name
        for section in SECTIONS:
            log = made.made(f"logs/{section.name}.log")
            assert "failed" not in log and re.search(r"=== \d+ PASS, \d+ MISS", log), log
        page = made.made("index.html")
        assert f"{len(drawings.FIGURES)} of {len(drawings.FIGURES)} figures" in page
        assert not re.search(r"(src|href)=\"(https?:)?//", page)
        resumed(made)


def resumed(made):
    """A second call measures nothing, and draws the same; without one file, that section alone."""
    before, drawn = made.jobs(), made.drawn()
    status, said = made.run()
    assert status == 0 and made.jobs() == before and made.drawn() == drawn, said
    os.remove(os.path.join(made.root, "build/bench/traff-ontop.tsv"))
    status, said = made.run()
    assert status == 0 and "to measure: traff-ontop;" in said and made.jobs() == before + 1, said
    status, said = made.run("traff-ontop", "--again")
    assert status == 0 and made.jobs() == before + 2, said
    status, said = made.run("--list")
    assert "0 to be measured" in said and "measured 20" in said, said


def test_a_job_that_dies():
    """a section that fails is named, what others have measured stays, and the status says so"""
    with tree() as made:
        status, said = made.run("leaders-small", "traff-predicted", fails="allgather")
        assert status == 1, said
        assert "leaders-small has not left leaders-small.tsv" in said
        assert "traff-9-10-1.svg" in os.listdir(os.path.join(made.root, "build/figures"))
        assert outputs.UNMEASURED in made.made("claims.md")


def program():
    """figures as a module."""
    path = os.path.join(FIGURES, "figures")
    loader = importlib.machinery.SourceFileLoader("figures_program", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_again():
    """--again keeps what was measured until it is measured anew as a whole, however that ends"""
    with tree() as made:
        names = ["leaders-small", "leaders-small-single"]
        bench = os.path.join(made.root, "build/bench")

        def left():
            return {name: open(os.path.join(bench, name + ".tsv"), encoding="utf-8").read()
                    for name in names}

        assert made.run("leaders-small")[0] == 0
        for name in names:
            with open(os.path.join(bench, name + ".tsv"), "a", encoding="utf-8") as file:
                file.write("# of the first run\n")
        old = left()
        status, said = made.run("leaders-small", "--again", fails="allgather")
        assert status == 1 and "leaders-small: what was measured before stays" in said, said
        assert left() == old
        # Of a run that was killed.
        os.makedirs(os.path.join(bench, "before/leaders-small"))
        for name in names:
            os.rename(os.path.join(bench, name + ".tsv"),
                      os.path.join(bench, "before/leaders-small", name + ".tsv"))
        jobs = made.jobs()
        assert made.run("leaders-small")[0] == 0 and left() == old and made.jobs() == jobs
        assert made.run("leaders-small", "--again")[0] == 0
        assert left() != old and not os.listdir(os.path.join(bench, "before"))


def test_again_interrupted():
    """an interrupt leaves what was measured of the section that it meets, and of those behind"""
    with tempfile.TemporaryDirectory() as directory:
        bench, figures = Bench(directory), program()
        wanted = [section for section in SECTIONS if not section.needs][:2]
        for section in wanted:
            for name in section.files():
                with open(bench.path(name), "w", encoding="utf-8") as file:
                    file.write("#a\n1\n")

        def interrupted(section, *_):
            assert section.missing(bench) == section.files()
            with open(bench.path(section.files()[0]), "w", encoding="utf-8") as file:
                file.write("#a\n2\n")
            raise KeyboardInterrupt

        assert figures.to_measure(wanted, bench, True) == wanted
        with mock.patch.object(figures, "measure", interrupted), \
                contextlib.redirect_stdout(io.StringIO()):
            try:
                figures.measure_all(wanted, bench, directory)
                raise AssertionError("was not interrupted")
            except KeyboardInterrupt:
                pass
        for name in (name for section in wanted for name in section.files()):
            with open(bench.path(name), encoding="utf-8") as file:
                assert file.read() == "#a\n1\n", name


def test_bad_words():
    """a section that is not there gets one sentence, and nothing is measured"""
    with tree() as made:
        status, said = made.run("traff-nothing")
        assert status == 1 and said.count("\n") == 1 and "traff-nothing" in said, said
        assert made.jobs() == 0


def test_nothing_measured():
    """without any measurement every claim says so, and none fails"""
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(directory)
        for claim in claims():
            assert outputs.our_words(claim, bench, {}) == (
                outputs.UNMEASURED if claim.possible() else "-")


def test_draw_alone():
    """--draw says by its status that there is nothing to draw, or not what was asked for"""
    with tree() as made:
        status, said = made.run("--draw")
        assert status == 1 and f"0 of {len(drawings.FIGURES)} figures" in said, said
        status, said = made.run("traff-predicted")
        assert status == 0, said
        assert made.run("--draw")[0] == 0 and made.run("--draw", "traff-predicted")[0] == 0
        status, said = made.run("--draw", "traff-predicted", "traff-ontop")
        assert status == 1 and "traff-ontop has not been measured" in said, said


def test_old():
    """what was measured before the present build is marked in the claims"""
    with tree() as made:
        status, said = made.run("leaders-small")
        assert status == 0, said
        assert outputs.OLD not in made.made("claims.tsv")
        made.put("ompi-prefix/lib/openmpi/mca_coll_pipering.so", "newer")
        os.utime(os.path.join(made.root, "build/bench/leaders-small.tsv"), (1, 1))
        status, said = made.run("--draw")
        assert status == 0 and "measured before the present build: leaders-small" in said, said
        rows = [line.split("\t") for line in made.made("claims.tsv").splitlines()[1:]]
        for row in rows:
            marked = "test/bench/kandalla/leaders small" in row[6].split("; ") \
                and outputs.UNMEASURED != row[5]
            assert row[5].endswith(f" ({outputs.OLD})") == marked, row
        assert any(outputs.OLD in row[5] for row in rows)


def test_keep():
    """--keep records what is measured, with its date, and leaves the other values; docs/claims.md
    has both, and what is computed"""
    with tree() as made:
        other = ["traff-spike", "1.98", "2025-03-04", "abcdef0"]
        made.keeps(other)
        made.computed()
        assert made.run("leaders-small")[0] == 0
        made.dated("leaders-small", "2026-01-02")
        value, jobs = made.ours()["kandalla-4k"], made.jobs()
        status, said = made.run("--keep")
        assert status == 0 and made.jobs() == jobs and "2 of 3 kept values are new" in said, said
        rows = [line.split("\t") for line in made.get(OURS)[len(keeping.HEAD):].splitlines()]
        assert [row[0] for row in rows] == ["kandalla-4k", "kandalla-small", "traff-spike"]
        assert rows[0] == ["kandalla-4k", value, "2026-01-02", "-"] and rows[2] == other
        page = made.get("docs/claims.md")
        for words in (f"{value} (measured 2026-01-02)<br>", "1.98 (measured 2025-03-04)<br>"):
            assert words in page, words
        assert page.count("(measured 20") == 3 and made.ours()["kandalla-4k"] == value
        left = [claim.name for claim in claims() if claim.measured()]
        assert page.count(f"| {outputs.UNMEASURED}<br>") == len(left) - 3


def test_keep_commit():
    """the commit of a kept value is the last of its own tree before the measurement"""
    if not shutil.which("git"):
        return "no git"
    words = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    date = {**os.environ, "GIT_COMMITTER_DATE": "1000000000 +0000"}
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["git", "init", "-q", place], check=True)
        subprocess.run([*words, "commit", "-q", "--allow-empty", "-m", "a"], cwd=place, env=date,
                       check=True)
        found = [keeping.commit(when, place) for when in (999999999, 1000000001)]
        assert found[0] == "-" and re.fullmatch("[0-9a-f]{4,40}", found[1]), found
        inner = os.path.join(place, "inner")
        os.mkdir(inner)
        assert keeping.commit(1000000001, inner) == "-"
    return None


def test_keep_sections():
    """--keep with a section measures that first; an older measurement replaces no later value"""
    with tree() as made:
        later = ["kandalla-4k", "70%", "2999-01-02", "-"]
        made.keeps(later)
        made.computed()
        status, said = made.run("--keep", "leaders-small")
        assert status == 0 and made.jobs() > 0 and "1 of 2 kept values are new" in said, said
        assert "\t".join(later) in made.get(OURS)
        assert made.ours()["kandalla-4k"] != "70%"
        assert "70% (measured 2999-01-02)" in made.get("docs/claims.md")


def test_keep_nothing():
    """--keep changes no kept value if nothing is measured, and no page if nothing is computed"""
    with tree() as made:
        made.put(OURS, "# edited\ntraff-spike\t1.98\t2025-03-04\t-\n")
        before = made.get(OURS)
        status, said = made.run("--keep", "--draw")
        assert status == 1 and "docs/claims.md stays as it is: traff-predicted" in said, said
        assert made.get(OURS) == before and made.get("docs/claims.md") == "as it was\n"
        made.computed()
        status, said = made.run("--keep")
        assert status == 0 and made.jobs() == 0 and made.get(OURS) == before, said
        assert made.get("docs/claims.md").count("(measured 20") == 1


def test_keep_transport():
    """--keep refuses another transport than that of the kept values"""
    with tree() as made:
        before = made.get(OURS)
        status, said = made.run("--keep", pml="ucx")
        assert status == 1 and said.startswith("figures: PML=ucx: "), said
        assert made.get(OURS) == before and made.get("docs/claims.md") == "as it was\n"


def test_kept():
    """a kept value is shown with its date, and counted, until its sections are measured whole"""
    with tree() as made:
        made.keeps(["kandalla-4k", "1 in 3", "2025-03-04", "-"],
                   ["worringer-identity", "0.1%", "2025-03-05", "-"])
        made.computed()
        assert made.run("--draw")[0] == 0
        ours = made.ours()
        assert ours["kandalla-4k"] == "1 in 3 (measured 2025-03-04)"
        assert ours["kandalla-small"] == outputs.UNMEASURED
        known = sum(words not in ("-", outputs.UNMEASURED) for words in ours.values())
        possible = sum(claim.possible() for claim in claims())
        page = re.sub("<.*?>", "", made.made("index.html"), flags=re.S)
        assert f"{known} of the {possible} claims" in page
        assert "1 in 3 (measured 2025-03-04)" in made.made("claims.md")
        status, said = made.run("--list")
        assert re.search(r"worringer-identity .*values of 2025-03-05 kept", said), said
        assert not re.search(r"leaders-small .*kept", said) and status == 0, said
        assert made.run("leaders-small")[0] == 0 and "measured" not in made.ours()["kandalla-4k"]
        os.remove(os.path.join(made.root, "build/bench/leaders-small-single.tsv"))
        made.run("--draw")
        assert made.ours()["kandalla-4k"] == "1 in 3 (measured 2025-03-04)"


def test_bad_kept_lines():
    """a line of ours.tsv that is none gets one sentence with file and line; nothing is done"""
    good = "traff-spike\t1.98\t2025-03-04\t-\n"
    with tree() as made:
        for line, words in (("traff-spike 1.98\n", "columns: 1 in place of 4"),
                            ("<<<<<<< HEAD\n", "columns: 1 in place of 4"),
                            ("traff-gone\t1\t2025-03-04\t-\n", "traff-gone is no claim"),
                            ("traff-bluegene\t1\t2025-03-04\t-\n", "traff-bluegene is no claim"),
                            ("traff-list\t1\tMarch 4\t-\n", "March 4 is no date"),
                            ("traff-list\t1\t20250304\t-\n", "20250304 is no date"),
                            ("traff-list\t\t2025-03-04\t-\n", "traff-list has an empty column"),
                            (good, "traff-spike is kept twice")):
            made.put(OURS, "# head\n" + good + line)
            before = made.get(OURS)
            status, said = made.run("--keep")
            assert status == 1 and said.count("\n") == 1, said
            assert f"{OURS}, line 3: {words}" in said, said
            assert made.get(OURS) == before
            assert os.listdir(os.path.join(made.root, "build")) == ["tuning"]


def test_minutes():
    """--minutes measures what is not known, the shortest first, then the oldest, while they fit"""
    figures, bench = program(), Bench("/nowhere")
    clock, measured = [1000.0], []

    def measure_one(section, *_):
        clock[0] += 60 * section.minutes
        measured.append(section)
        return True

    kept = {claim.name: keeping.Kept(claim.name, "1", date, "-") for claim in claims()
            for section, date in (("traff-idle", "2026-02-01"), ("almasi-visits", "2026-01-01"))
            if section in claim.sections}
    wanted = figures.in_turn(SECTIONS, bench, claims(), kept)
    assert [section.name for section in wanted[-2:]] == ["almasi-visits", "traff-idle"]
    assert [section.minutes for section in wanted[:-2]] == sorted(
        section.minutes for section in wanted[:-2])
    with mock.patch.object(figures, "measure_one", measure_one), \
            mock.patch.object(figures.time, "monotonic", lambda: clock[0]), \
            contextlib.redirect_stdout(io.StringIO()) as said:
        assert figures.measure_all(wanted, bench, "", 40) == 0
    spent = sum(section.minutes for section in measured)
    assert 39 < spent <= 44 and measured[0].minutes < 1, spent
    assert f"40 minutes: {len(wanted) - len(measured)}; the shortest" in said.getvalue()


def test_minutes_spent():
    """what does not fit into the minutes is left; the status says if nothing fitted"""
    with tree() as made:
        status, said = made.run("--minutes", "1", "almasi-bcast", "leaders-small")
        assert status == 0 and "1 minutes: 1; the shortest, almasi-bcast, takes about 26" in said
        assert made.jobs() > 0 and "kandalla-4k" in made.ours()
        jobs = made.jobs()
        status, said = made.run("--minutes", "5", "almasi-bcast")
        assert status == 1 and made.jobs() == jobs, said
        for words in (("--minutes", "0"), ("--minutes", "nan"), ("--minutes", "5", "--draw")):
            status, said = made.run(*words)
            assert status == 1 and said.count("\n") == 1 and "nothing was changed" in said, said


def test_errors():
    """a claim whose function fails is an error, not a claim that is not measured"""
    def fails(_):
        raise ValueError("a defect")
    claim = claims()[0]
    assert claim.possible()
    with mock.patch.dict(claims_of.VALUES, {claim.name.replace("-", "_"): fails}):
        try:
            said = outputs.our_words(claim, Bench("/nowhere"), {})
        except ValueError:
            said = "an error"
    assert said == "an error", said


def test_claims_have_values():
    """a claim has a function if it has sections; names and sections are known, each once"""
    names = [claim.name for claim in claims()]
    assert len(names) == len(set(names))
    functions = {name.replace("-", "_") for name in names if name.replace("-", "_")
                 in claims_of.VALUES}
    assert functions == set(claims_of.VALUES)
    known = {section.name for section in SECTIONS}
    for claim in claims():
        assert claim.paper in outputs.PAPERS, claim.name
        assert set(claim.sections) <= known, claim.name
        assert claim.possible() == (claim.name.replace("-", "_") in claims_of.VALUES), claim.name
        assert claim.possible() or claim.why, claim.name


def test_claims_use_their_sections():
    """a claim reads no other files than those of its sections"""
    class Asked(Bench):
        """Says that nothing is there, and remembers what was asked for."""

        def __init__(self):
            super().__init__("/nowhere")
            self.names = []

        def path(self, name):
            self.names.append(name)
            return super().path(name)

    left = {section.name: section.files() for section in SECTIONS}
    for claim in claims():
        if claim.possible():
            asked = Asked()
            with contextlib.suppress(Missing):
                claim.ours(asked)
            mine = {name for section in claim.sections for name in left[section]}
            assert set(asked.names) <= mine, (claim.name, asked.names)


def table(directory, name, columns, *rows):
    """A TSV file as summary.py leaves it."""
    with open(os.path.join(directory, name + ".tsv"), "w", encoding="utf-8") as file:
        file.write("# Open MPI\n#" + "\t".join(columns.split()) + "\n")
        for row in rows:
            file.write("\t".join(str(word) for word in row) + "\n")
    return Bench(directory)


def value(name, bench):
    return claims_of.VALUES[name.replace("-", "_")](bench)


def test_values():
    """values are what one finds by hand"""
    with tempfile.TemporaryDirectory() as place:
        bench = table(place, "traff-nodes32", "dist total p arm block min_s",
                      ("broadcast", 1048576, 32, "linear", 0, 12.0),
                      ("broadcast", 1048576, 32, "pipering", 32768, 1.0),
                      ("broadcast", 65536, 32, "linear", 0, 0.8),
                      ("broadcast", 65536, 32, "pipering", 4096, 0.1),
                      *((dist, 65536, 32, arm, 0, time) for dist in
                        ("spike", "decreasing", "geometric")
                        for arm, time in (("linear", 0.6), ("pipering", 0.2))))
        assert value("traff-others", bench) == "spike 3, decreasing 3, geometric 3 times"
        assert value("traff-broadcast", bench) == "8 to 12 times"
        # 32 blocks of 31 hops each, against 30 + 32 rounds
        assert value("traff-bound", bench).startswith("16 times")
        columns = "coll total p arm min_s"
        bench = None
        for p, pipelined, binomial in ((2, 1.0, 1.0), (3, 1.25, 2.0), (8, 1.5, 3.0)):
            bench = table(place, f"worringer-bcast-{p}", columns,
                          ("bcast", 4194304, p, "pipering", pipelined),
                          ("bcast", 4194304, p, "tuned:6", binomial))
        for p in (4, 5, 6, 7):
            table(place, f"worringer-bcast-{p}", columns, ("bcast", 4194304, p, "tuned:6", 2.0))
        assert value("worringer-step", bench) == "20%"
        assert value("worringer-generic-step", bench) == "2"
        assert value("worringer-bcast", bench) == "2 times"
        assert value("worringer-two", bench) == "1 times"
        assert value("worringer-bcast-gain", bench) == "1.6 to 2 times"
        bench = table(place, "alltoallw-ring-4", "pattern arm min_s median_s",
                      ("ring", "auto", 1, 2.0), ("ring", "round_robin", 1, 8.0))
        assert value("balaji-ring", bench) == "75%"
        columns = "what size fields arm median_s"
        for ranks, ours, old in ((32, 4.0, 1.0), (128, 2.0, 3.0)):
            bench = table(place, f"applications-laplacian-{ranks}", columns,
                          ("star", 100, 1, "ours", ours), ("star", 100, 1, "baseline", old),
                          ("star", 100, 1, "handall", 1.0))
        assert value("balaji-laplacian-scaling", bench) == "0.5 times; 3 times"
        assert value("balaji-laplacian-hand", bench) == "2 times"
        columns = "mesh coll total arm chosen seconds links memory rounds"
        bench = table(place, "almasi-predicted", columns,
                      ("8tx8tx8t", "bcast", 4096, "mesh_trees", "yes", 1, 2.4, 9, 5),
                      ("8tx8tx8t", "bcast", 65536, "mesh_trees", "yes", 1, 2.5, 9, 5),
                      ("8tx8tx8t", "bcast", 4194304, "mesh_trees", "yes", 1, 5.0, 9, 5))
        assert value("almasi-bcast", bench) == "modelled: 770 MB/s (5 links)"
        assert value("almasi-bcast-half", bench) == "modelled: 64 KiB"
        # 16 nodes send 15 times 1 MB in 12 s: 1.25 MB/s of the 15/16 of 2.5 MB/s, or of 2 x 1.25
        for name in drawings.ALMASI_WIRINGS:
            bench = table(place, f"almasi-alltoall-{name}", "coll total p arm min_s",
                          ("alltoall", 1000000, 16, "auto", 12.0))
        said = dict(part.split(": ") for part in value("almasi-alltoall", bench).split("; "))
        assert said["4x4 mesh"] == said["4x4 torus"] == "53%", said
        assert said["2x2x2 mesh"] == "27%", said


def test_reading():
    """a line that is cut off is left out, a file without rows has not been measured"""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "a.tsv")
        for content, rows in (("#a\tb\n1\tx\n2", 1), ("#a\tb\n", 0), ("", 0)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            try:
                assert read(path) == [{"a": 1.0, "b": "x"}] and rows
            except Missing:
                assert not rows


def test_manual():
    """docs/claims.md has each claim, with both values, ours as it is kept, and the reason"""
    kept = keeping.load(os.path.join(tap.ROOT, OURS), claims())
    page = read_doc("claims.md")
    for claim in claims():
        line = [line for line in page.splitlines() if f"| {claim.place} | {claim.claim} |" in line]
        assert len(line) == 1, claim.name
        assert f"| {claim.value} |" in line[0] and line[0].endswith(f"| {claim.why} |"), claim.name
        if claim.measured():
            assert f"| {outputs.kept_words(claim, kept)}<br>" in line[0], claim.name


def test_gains():
    """the picture of README is that of the values in docs/results.md, which it draws as they are"""
    results, picture = read_doc("results.md"), read_doc("gains.svg")
    assert "prefers-color-scheme:dark" in picture
    parts = gains.parts(results.replace("| spike      | 204.0 |", "| spike      | 155.8 |"))
    spike = next(part for part in parts if part[0] == "Allgatherv, spike")
    assert [round(value, 3) for value in spike[1:]] == [0.5, 0.92], spike
    assert len(parts) == 11 and all(0 < stock < 1 > ours > 0 for _, stock, ours in parts)
    if f"Matplotlib v{matplotlib.__version__}," not in picture:
        return "docs/gains.svg was drawn by another matplotlib"
    assert gains.draw(results) == picture, "make figures FIGURES=--keep draws it"
    return None


def test_scales():
    """axes have scales, names and units; a point has the bar of its interval"""
    rows = [{"total": total, "min_s": 0.001 * total, "median_s": 0.002 * total} for total in
            (1024.0, 4096.0, 0.0)]
    axes = plot.chart("a", drawings.TOTAL, drawings.SECONDS, {"b": rows}).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_ylabel() == "time of the slowest rank, least"
    assert axes.xaxis.get_major_formatter()(4096.0) == "4 KiB"
    assert axes.yaxis.get_major_formatter()(0.02) == "20 ms"
    line, _, (bar,) = axes.containers[0]
    assert sorted(line.get_ydata())[1:] == [1.024, 4.096]
    assert [tuple(end) for end in bar.get_segments()[2]] == [(4096.0, 4.096), (4096.0, 8.192)]


def test_no_matplotlib():
    """without matplotlib one sentence names the package, and nothing is done"""
    with tree() as made:
        made.put("without/matplotlib.py", "raise ImportError('none')\n")
        with mock.patch.dict(os.environ, PYTHONPATH=os.path.join(made.root, "without")):
            status, said = made.run("leaders-small")
        assert status == 2 and said.count("\n") == 1 and "python3-matplotlib" in said, said
        assert made.jobs() == 0 and not os.path.exists(os.path.join(made.root, "build", "figures"))


sys.exit(tap.run(dict(globals())))
