#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Bad input and failing machines: one clear sentence, an exit status not 0, nothing lost."""

import contextlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from pipering_tuning import (calls, files, journal, knobs, launch, ompi_info,  # noqa: E402
                             preflight, prove, tune)

DOOR = os.path.join(tap.TUNING, "pipering-tune")
HEAD = {"machine": {"library": "Open MPI v5.0.7", "hosts": ["n0", "n1"]},
        "options": {"seed": 1, "budget": 30}}


def refused(function, *words):
    """The sentence by which a function refuses; all words must stand in it."""
    try:
        function()
    except files.Refusal as refusal:
        text = str(refusal)
        assert all(word in text for word in words), text
        assert "\n" not in text and len(text) < 600, text
        return text
    raise AssertionError("was not refused")


def script(directory, name, text):
    """A program of sh."""
    path = os.path.join(directory, name)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


class Place:
    """A directory with a posed installation: ompi_info and an mpirun that does as it is told."""

    def __init__(self, mpirun="exit 1", info=None):
        self.keeper = tempfile.TemporaryDirectory()
        self.path = self.keeper.name
        with open(os.path.join(self.path, "info"), "w", encoding="utf-8") as stream:
            stream.write(posed.ompi_info() if info is None else info)
        script(self.path, "ompi_info", f"cat {self.path}/info\n")
        self.mpirun = script(self.path, "mpirun", mpirun + "\n")

    def tune(self, *arguments, **more):
        """(status, messages) of pipering-tune there, with more in its environment."""
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("SLURM_", "OMPI_"))}
        environment.update(more)
        run = subprocess.run([sys.executable, DOOR, "--mpirun", self.mpirun, *arguments],
                             capture_output=True, text=True, timeout=60, check=False,
                             cwd=self.path, env=environment)
        assert "Traceback" not in run.stderr, run.stderr
        self.output = run.stdout
        return run.returncode, run.stderr.strip()


def tuned(place, *arguments, status=1, words=(), **more):
    """pipering-tune must end so, with one sentence that has these words."""
    code, text = place.tune(*arguments, **more)
    assert code == status, (code, text)
    assert all(word in text for word in words), text
    if 1 == status:
        assert 1 == len(text.splitlines()) and text.startswith("pipering-tune: "), text


def test_options():
    """options that are not legal are refused before anything is run"""
    place = Place()
    for words in (["out", "--budget", "0"], ["out", "-n", "1"], [], ["out", "--against", "x"],
                  ["out", "--nonsense"], ["out", "--launch", "true", "-n", "4"],
                  ["out", "--launch", "true", "--hostfile", "hosts"]):
        tuned(place, *words, status=2, words=["pipering-tune"])
    tuned(place, "out", "--variables", "coll_pipering_gamma", words=["coll_pipering_gamma"])
    tuned(place, "out", "--collectives", "gather", words=["gather", "legal are", "bcast"])


def test_settings():
    """a setting of a variable that is not there, or out of its range, is refused"""
    place = Place()
    tuned(place, "out", "--start", "coll_pipering_alfa=1",
          words=["5.0.7 has no variable coll_pipering_alfa", "coll_pipering_alpha is meant"])
    tuned(place, "out", "--start", "coll_pipering_alpha=-3", words=["-3", "0 to 1000000"])
    tuned(place, "out", "--start", "coll_pipering_alpha=fast", words=["fast", "0 to 1000000"])
    tuned(place, "out", "--start", "coll_pipering_bcast_algorithm=best",
          words=["best", "auto, pipeline, off"])
    tuned(place, "out", "--start", "coll_pipering_alpha", words=["VARIABLE=VALUE"])
    with open(os.path.join(place.path, "start.conf"), "w", encoding="utf-8") as stream:
        stream.write("# mine\ncoll_pipering_alpha = 4\nnothing\n")
    tuned(place, "out", "--start-file", "start.conf", words=["start.conf, line 3"])
    tuned(place, "out", "--start-file", "other.conf", words=["other.conf", "No such file"])


def test_files_of_settings():
    """files to prove, and to prove against, are checked before anything is run"""
    place = Place()
    for name, text in (("good", "coll_pipering_alpha=4"), ("bad", "coll_pipering_alfa=4"),
                       ("high", "coll_pipering_alpha=1e9")):
        files.write(os.path.join(place.path, name), text + "\n")
    tuned(place, "out", "--prove", "bad", words=["bad: Open MPI 5.0.7 has no variable"])
    tuned(place, "out", "--prove", "good", "--against", "bad", words=["bad: Open MPI 5.0.7 has"])
    tuned(place, "out", "--prove", "good", "--against", "high", words=["high: ", "0 to 1000000"])
    tuned(place, "out", "--prove", "good", "--against", "none", words=["none cannot be read"])


def test_environment():
    """where the environment wins over a form of files, that form is not used"""
    place = Place()
    srun = script(place.path, "srun", "exit 1\n")
    word = "OMPI_MCA_coll_pipering_window"
    tuned(place, "out", "--launch", srun, words=[word + " is set", "unset it"], **{word: "8"})
    for more in (["--variables", "coll_pipering_alpha,coll_pipering_beta"], ["--prove", "conf"]):
        files.write(os.path.join(place.path, "conf"), "coll_pipering_alpha=4\n")
        tuned(place, "out", "--launch", srun, *more, words=["failed with status 1"], **{word: "8"})
    tuned(place, "out", words=["failed with status 1"], **{word: "8"})
    by_tune = launch.Launcher(["mpirun"])
    with mock.patch.dict(os.environ, {word: "8"}):
        assert preflight.forms(by_tune, ["coll_pipering_window", "x"]) == ["tune"]
        assert preflight.forms(by_tune, ["coll_pipering_alpha"]) == ["tune", "conf"]
        assert preflight.forms(by_tune.through("conf"), ["coll_pipering_alpha"]) == ["conf"]


# An mpirun that starts two ranks of what is no MPI program.
PLAIN = 'while [ /bin/sh != "$1" ]; do shift; done; "$@" && "$@"'


def test_dry_run():
    """a dry run names what would be raced, and nothing else"""
    place = Place(PLAIN)
    for words, names in (([], {"coll_pipering_alltoall_small", "coll_pipering_bcast_algorithm"}),
                         (["--variables", "*_small"], {"coll_pipering_alltoall_small"}),
                         (["--collectives", "bcast"], {"coll_pipering_bcast_algorithm"}),
                         (["--prove", "conf"], set())):
        files.write(os.path.join(place.path, "conf"), "coll_pipering_alpha=4\n")
        tuned(place, "out", "-n", "2", "--dry-run", *words, status=0)
        raced = {line.split()[2].rstrip(":") for line in place.output.splitlines()
                 if line.startswith("would race")}
        assert raced == names if words else raced > names, (words, place.output)
        assert "would prove" in place.output and os.listdir(os.path.join(place.path, "out")) == []


def test_installation():
    """an Open MPI that is not there, or has no coll/pipering, is named"""
    place = Place()
    place.mpirun = "/nowhere/mpirun"
    tuned(place, "out", words=["/nowhere/mpirun"])
    text = "ompi:version:full:5.0.7\npath:prefix:/posed\n"
    tuned(Place(info=text), "out", words=["coll/pipering", "5.0.7"])
    tuned(Place(info=""), "out", words=["ompi_info"])
    tuned(Place(), "out", "--ompi-info", "/nowhere/ompi_info", words=["/nowhere/ompi_info"])


def test_mpirun():
    """an mpirun that fails is quoted by the line that says why"""
    message = ("echo '-----' >&2; echo 'ssh: Could not resolve hostname nope: Name or service not "
               "known' >&2; echo 'daemon died' >&2; exit 213")
    tuned(Place(message), "out", words=["Could not resolve hostname nope", "213"])
    tuned(Place("exit 1"), "out", words=["failed with status 1"])
    tuned(Place("true"), "out", words=["no rank answered"])
    tuned(Place("echo 'prterun has detected an attempt to run as root.' >&2; exit 1"), "out",
          words=["--allow-run-as-root"])


PARSING = """cat >&2 <<'END'
--------------------------------------------------------------------------
PRTE detected a parse error in the hostfile:

   /posed/hosts

It occured on line number 2 on token 5:

   corse
--------------------------------------------------------------------------
END
exit 213"""


def test_hosts():
    """host files are left to mpirun, but for one without hosts; Slurm's tasks are understood"""
    place = Place(PARSING)
    path = os.path.join(place.path, "hosts")
    for text in ("", "# n0\n\n", "// n0 slots=4\n/* n1\nn2 */\n"):
        files.write(path, text)
        tuned(place, "out", "--hostfile", "hosts", words=["names no host"])
    tuned(place, "out", "--hostfile", "hostsx", words=["No such file"])
    files.write(path, "n0\nn1 slots = 4 max_slots=8 // second\n^n2\n/* all */")
    tuned(place, "out", "--hostfile", "hosts", words=["parse error", "line number 2", "corse"])
    options = SimpleNamespace(hostfile=path, ranks=None, mpirun=place.mpirun, mpirun_args="--x y",
                              launch=None)
    assert launch.make(options, "").words == [place.mpirun, "--hostfile", path, "--x", "y"]
    options.ranks = 6
    assert launch.make(options, "").words[1:5] == ["--hostfile", path, "-n", "6"]
    assert launch.slurm_tasks("16(x3),8") == 56 and launch.slurm_tasks("4") == 4
    refused(lambda: launch.slurm_tasks("many"), "many", "-n")


def test_cores():
    """one machine has a rank for each core, not for each of its hardware threads"""
    options = SimpleNamespace(hostfile=None, ranks=None, mpirun="/bin/true", mpirun_args="",
                              launch=None)
    with tempfile.TemporaryDirectory() as directory:
        for number in range(8):
            files.write(os.path.join(directory, str(number)), f"{number % 4},{number % 4 + 4}\n")
        for allowed, words in (({0, 1, 2, 3, 4, 5, 6, 7}, ["-n", "4"]), ({1, 2, 5}, ["-n", "2"]),
                               ({1, 5}, ["-n", "2", "--oversubscribe"]),
                               ({8, 9, 10}, ["-n", "3"])):
            with mock.patch.object(launch, "SIBLINGS", os.path.join(directory, "{}")), \
                    mock.patch.object(os, "sched_getaffinity", lambda _, found=allowed: found), \
                    mock.patch.dict(os.environ):
                os.environ.pop("SLURM_JOB_ID", None)
                assert launch.make(options, "").words == ["/bin/true"] + words, allowed


def test_launcher():
    """parameter files are handed over in both forms"""
    tune = launch.Launcher(["mpirun", "-n", "2"], "tune", "/a,/b")
    assert tune.argv(["p", "x"], "/f") == ["mpirun", "-n", "2", "--tune", "/f", "p", "x"]
    assert tune.argv(["p"]) == ["mpirun", "-n", "2", "p"]
    assert tune.through("conf").argv(["p"], "/f") == [
        "mpirun", "-n", "2", "env", "OMPI_MCA_mca_base_param_files=/f,/a,/b", "p"]


def test_output():
    """a directory that cannot be written is refused before anything is run"""
    place = Place()
    open(os.path.join(place.path, "file"), "w", encoding="utf-8").close()
    tuned(place, "file/out", words=["file/out", "cannot be written"])
    tuned(place, "a,b", words=["comma"])


def test_files():
    """a file is written whole or not at all, and a full disk is one sentence"""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "tuned.conf")
        files.write(path, files.settings_text({"b": "2", "a": "1"}, ["why", ""]))
        assert files.read(path) == "# why\n#\na=1\nb=2\n"
        assert files.read_settings(path) == {"a": "1", "b": "2"}
        refused(lambda: files.write(os.path.join(directory, "no", "x"), ""), "--resume")
        assert os.listdir(directory) == ["tuned.conf"]


def written(directory, cells=3):
    """The path of a journal with so many cells."""
    path = os.path.join(directory, "journal.jsonl")
    book = journal.Journal.create(path, HEAD)
    for number in range(cells):
        book.add({"cell": f"c{number}", "kind": "call"}, {"status": "ok", "seconds": [1.0]}, 0.5)
    book.close()
    return path


def test_journal():
    """a journal that was cut anywhere loses its last line at most, and goes on from there"""
    with tempfile.TemporaryDirectory() as directory:
        path = written(directory)
        with open(path, "rb") as stream:
            whole = stream.read()
        first = whole.index(b"\n") + 1
        for cut in range(first, len(whole) + 1):
            with open(path, "wb") as stream:
                stream.write(whole[:cut])
            book = journal.Journal.resume(path, HEAD)
            assert len(book.records) == whole[first:cut].count(b"\n"), cut
            book.add({"cell": "new"}, {"status": "ok"}, 0.1)
            book.close()
            assert "new" in journal.Journal.resume(path, HEAD).records
        with open(path, "wb") as stream:
            stream.write(whole[:first - 1])
        refused(lambda: journal.Journal.resume(path, HEAD), "no whole line")


def test_journal_refused():
    """a journal of another machine, of other options, or damaged is refused and stays as it is"""
    with tempfile.TemporaryDirectory() as directory:
        path = written(directory)
        refused(lambda: journal.Journal.create(path, HEAD), "--resume")
        for part, key, value, words in (("machine", "library", "Open MPI v5.0.8", "library"),
                                        ("machine", "hosts", ["n0", "n2"], "hosts"),
                                        ("machine", "pml", "ucx", "another pml (none; now ucx)"),
                                        ("options", "seed", 2, "seed")):
            other = json.loads(json.dumps(HEAD))
            other[part][key] = value
            refused(lambda: journal.Journal.resume(path, other), words, str(path))
        other = json.loads(json.dumps(HEAD))
        other["options"]["budget"] = 60
        assert len(journal.Journal.resume(path, other, free=("budget",)).records) == 3
        refused(lambda: journal.Journal.resume(path + "x", HEAD), "without --resume")
        with open(path, encoding="utf-8") as stream:
            lines = stream.read().splitlines(keepends=True)
        damaged = "".join(lines[:1] + ["{nonsense\n"] + lines[2:])
        files.write(path, damaged)
        refused(lambda: journal.Journal.resume(path, HEAD), "line 2")
        assert files.read(path) == damaged
        files.write(path, '{"format":9}\n')
        refused(lambda: journal.Journal.resume(path, HEAD), "no journal")


def begun(place, *words):
    """The words of a run, whose journal stands in the directory out."""
    out = os.path.join(place.path, "out")
    words = ["--mpirun", place.mpirun, out, *words]
    run = tune.Tuning(tune.parse(words), words)
    run.directory = files.make_directory(out)
    run.read_installation()
    head = {**run.asked_for(), "machine": {"library": "x", "hosts": ["n0"], "pml": "ob1"}}
    journal.Journal.create(os.path.join(out, "journal.jsonl"), head).close()
    return words


def replace(path, old, new):
    files.write(path, files.read(path).replace(old, new))


def test_resume_refused():
    """a run goes on only where files, settings in force, prefix and components are as they were"""
    for what, name, old, new, words in (
            ("nothing", "start.conf", "4", "4", ["failed with status 1"]),
            ("start", "start.conf", "4", "5", ["other contents of --start-file"]),
            ("proven", "good.conf", "5", "6", ["other contents of --prove", "good.conf"]),
            ("against", "bad.conf", "6", "7", ["other contents of --against", "bad.conf"]),
            ("pipering", "mca_coll_pipering.so", "a", "b", ["another coll/pipering"]),
            ("mleader", "mca_coll_mleader.so", "a", "b", ["another coll/mleader"]),
            ("prefix", "info", "prefix:/posed", "prefix:/other", ["another prefix", "/other"]),
            ("setting", "info", "window:value:0", "window:value:8",
             ["coll_pipering_window 0 in force (now 8)"]),
            ("new setting", "info", "min_total:source:default", "min_total:source:environment",
             ["coll_pipering_min_total the default in force (now 8192)"])):
        place = Place()
        replace(os.path.join(place.path, "info"), "path:prefix",
                f"path:pkglibdir:{place.path}\npath:prefix")
        replace(os.path.join(place.path, "info"), "window:source:default",
                "window:source:file (/etc/conf)")
        for file, text in (("start.conf", "4"), ("good.conf", "5"), ("bad.conf", "6")):
            files.write(os.path.join(place.path, file), f"coll_pipering_alpha={text}\n")
        for file in ("mca_coll_pipering.so", "mca_coll_mleader.so"):
            files.write(os.path.join(place.path, file), "a")
        paths = [os.path.join(place.path, f"{file}.conf") for file in ("start", "good", "bad")]
        more = ["--start-file", paths[0]]
        if what in ("proven", "against"):
            more += ["--prove", paths[1], "--against", paths[2]]
        run = begun(place, *more)
        replace(os.path.join(place.path, name), old, new)
        tuned(place, *run[2:], "--resume", words=words)


def test_old_directory():
    """a directory with a journal is refused before anything in it is touched"""
    place = Place()
    begun(place)
    start = os.path.join(place.path, "out", "start.conf")
    files.write(start, "coll_pipering_alpha=3\n")
    before = sorted(os.listdir(os.path.dirname(start)))
    tuned(place, "out", "--start", "coll_pipering_alpha=4", words=["is there already: --resume"])
    tuned(place, "out", "--start", "coll_pipering_alpha=4", "--resume", words=["begun with start"])
    assert files.read(start) == "coll_pipering_alpha=3\n"
    assert before == sorted(os.listdir(os.path.dirname(start)))


def test_another_budget():
    """a resumed run has the sizes and costs of the budget that it was begun with"""
    def measure(cells, text, seed, until):
        limits.append(until)
        return {cell["cell"]: {"status": "ok", "seconds": [1e-5 + 8e-8 * cell["bytes"]] * 3}
                for cell in cells}

    limits, found = [], []
    for begun_with, now in ((30, 30), (30, 90), (90, 90)):
        run = tune.Tuning(tune.parse(["out", "--budget", str(now)]), [])
        run.say, run.machine = lambda _: None, {"nodes": 2, "ranks": 2}
        run.journal = SimpleNamespace(head={"budget": begun_with})
        run.measurer = SimpleNamespace(measure=measure)
        run.measure_tasks()
        found.append((run.largest, run.costs))
    assert found[0] == found[1] != found[2] and limits[0] == limits[1] < limits[2], found


def test_sizes_of_exchanges():
    """what a rank sends in an exchange of all with all does not grow with the number of ranks"""
    for largest in (1 << 20, 64 << 20):
        for text in calls.HELD_OUT + tuple(t for group in knobs.GROUPS for t in group.calls):
            few = calls.call(text, largest, 2)
            assert few == calls.call(text, largest, 8)
            for ranks in (9, 64, 1000, 100000):
                many = calls.call(text, largest, ranks)
                if few.dist not in ("dense", "mixed"):
                    assert many == few, (text, ranks)
                    continue
                assert many.total % 8 == 0 and 64 <= many.total <= few.total, (text, ranks)
                assert many.total * ranks <= 8 * few.total or many.total == 64, (text, ranks)
                assert (many.total + 8) * ranks > 8 * few.total, (text, ranks)


def test_full_disk():
    """a full disk ends the run with a sentence, and what was measured stands"""
    with tempfile.TemporaryDirectory() as directory:
        path = written(directory)
        book = journal.Journal.resume(path, HEAD)
        book.stream = open("/dev/full", "wb", buffering=0)
        refused(lambda: book.add({"cell": "c9"}, {}, 0.1), "No space left", "--resume")
        assert len(journal.Journal.resume(path, HEAD).records) == 3


def test_verdict_first():
    """what was found is said before it is written, so that a full disk does not hide it"""
    def full(*_):
        raise files.Refusal("results.json cannot be written")

    proof = prove.Proof(True, "The file helps.", [], None, 3)
    for words, step in ((["out"], "tune"), (["out", "--prove", "x"], "prove_only")):
        said = []
        run = tune.Tuning(tune.parse(words), words)
        run.say, run.start, run.against, run.prove = said.append, {}, None, lambda *_: proof
        run.measure_tasks = run.choose = run.choose_rules = run.measure_regret = lambda: None
        run.write_files, run.write_results = lambda: "out/tuned.conf", full
        refused(getattr(run, step), "cannot be written")
        assert "The file helps." in said, said


def test_unwritable():
    """files that cannot be cut, removed or opened are one sentence, and nothing is lost"""
    denied = OSError(30, "Read-only file system")
    with tempfile.TemporaryDirectory() as directory:
        path = written(directory)
        with mock.patch.object(os, "truncate", side_effect=denied):
            refused(lambda: journal.Journal.resume(path, HEAD), "journal.jsonl", "Read-only")
        with mock.patch.object(os, "unlink", side_effect=denied):
            refused(lambda: files.remove(path), "journal.jsonl", "Read-only")
        assert len(journal.Journal.resume(path, HEAD).records) == 3
        said = io.StringIO()
        handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        try:
            with mock.patch.object(tune.Tuning, "run", side_effect=denied), \
                    contextlib.redirect_stderr(said):
                assert tune.main([os.path.join(directory, "out")]) == 1
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        assert "Read-only" in said.getvalue() and "--resume" in said.getvalue(), said.getvalue()


def hung_up(ignored):
    """The exit status of pipering-tune whose terminal ends while a job starts; None: it goes on.
    ignored: as nohup has it."""
    place = Place(f"echo >started; exec sleep {60 if not ignored else 2}")
    words = [sys.executable, DOOR, "--mpirun", place.mpirun, "out"]
    run = subprocess.Popen(
        ["sh", "-c", 'trap "" HUP; exec "$@"', "sh"][:4 if ignored else 0] + words,
        cwd=place.path, stderr=subprocess.PIPE, text=True)
    try:
        while not os.path.exists(os.path.join(place.path, "started")):
            assert run.poll() is None, run.stderr.read()
            time.sleep(0.01)
        run.send_signal(signal.SIGHUP)
        return run.wait(30), run.stderr.read()
    finally:
        run.kill()
        run.wait()


def test_hung_up():
    """the end of the terminal is an interrupt, unless nohup says otherwise"""
    status, said = hung_up(False)
    assert status == 130 and "--resume" in said, (status, said)
    status, said = hung_up(True)
    assert status == 1 and "no rank answered" in said, (status, said)


def test_table():
    """ompi_info's answer is read: values, ranges, units, meanings of 0, enumerations"""
    table = ompi_info.Table(posed.ompi_info())
    alpha = table.get("coll_pipering_alpha")
    assert (alpha.low, alpha.high, alpha.unit, alpha.zero) == (0, 1e6, "microseconds",
                                                               "learnt from calls")
    assert alpha.is_number and alpha.same("0", "0.000000") and alpha.complaint("2e6")
    rule = table.get("coll_tuned_bcast_algorithm")
    assert rule.values == ["ignore", "linear", "quick", "two_proc"] and not rule.writable
    assert rule.numbers["quick"] == 2 and not rule.is_number
    switch = table.get("coll_tuned_use_dynamic_rules")
    assert switch.same("1", "true") and switch.complaint("maybe") and not switch.complaint("0")
    assert table.version == "5.0.7" and table.prefix == "/posed"


def test_numbers():
    """numbers are those that Open MPI reads, and compared as ompi_info prints them"""
    table = ompi_info.Table(
        posed.parameter("x_double", "0.000000", "double") + posed.parameter("x_int", -1, "int")
        + posed.parameter("x_size", 0, "size_t") + posed.parameter("x_unsigned", 0, "unsigned_int")
        + posed.size("x_limited", 8)
        + posed.parameter("x_word", "linear", "int", values=("ignore", "linear"))
        + posed.parameter("x_switch", "false", "bool", values=("false", "true")))
    legal = {"x_double": ("-4", "1e300", "0.5", "inf"), "x_limited": ("1G", "0"),
             "x_int": ("-1", "64k", "0x10", "2147483647"), "x_unsigned": ("4294967295",),
             "x_size": ("-1", "4G", "64KiB", "18446744073709551615"),
             "x_word": ("1", "Linear", "ignore"), "x_switch": ("yes", "0", "t", "disabled")}
    wrong = {"x_double": ("fast", "64k", "1_0", "nan", ""), "x_limited": ("2G", "-1"),
             "x_int": ("2147483648", "1e5", "4.5", "09"), "x_unsigned": ("-1", "4g"),
             "x_size": ("big", "4T"), "x_word": ("2", "lin"), "x_switch": ("maybe",)}
    for name, values in legal.items():
        assert not any(table.get(name).complaint(value) for value in values), (name, values)
        table.check({name: values[0]}, "here")
    for name, values in wrong.items():
        for value in values:
            assert "legal are" in (table.get(name).complaint(value) or ""), (name, value)
            refused(lambda: table.check({name: value}, "here"), f"here: {name}", value)
    for name, text, plain in (("x_size", "64k", "65536"), ("x_size", "0x10", "16"),
                              ("x_int", "010", "8"), ("x_double", "0.5000", "0.5"),
                              ("x_word", "1", "linear"), ("x_switch", "n", "false"),
                              ("x_double", "inf", "inf"), ("x_int", "", "")):
        assert table.get(name).plain(text) == plain and table.get(name).same(
            text, plain) == bool(text), (name, text)


def test_doubles():
    """what ompi_info shows of a double is the same as what was set, other values are not"""
    number = ompi_info.Table(posed.parameter("x", "0.000000", "double")).get("x")
    dice = random.Random(5)
    for _ in range(500):
        value = 10 ** dice.uniform(-4, 6)
        text = ompi_info.tidy(value)
        assert number.same(text, f"{float(text):f}"), text
        assert not number.same(text, f"{float(text) + 0.00001:f}"), text
    integer = ompi_info.Table(posed.parameter("x", "0", "size_t")).get("x")
    assert not integer.same("9007199254740993", "9007199254740992")


# As Open MPI 5.0: of several --param only the first one's component is shown, with all that it
# has, and nothing of "base". Values are those of the parameter file, changed by SET.
SHOWING = r"""
while [ $# -gt 1 ] && [ --param != "$1" ]; do shift; done
echo "mca:$2:$3:version:5.0"
for number in 1 2 3 4 5 6 7 8 9; do
    echo "mca:$2:$3:param:$2_$3_other_$number:value:1"
done
case $3 in all) names=$2_ ;; base) names=none ;; *) names=$2_$3_ ;; esac
for file in $(echo "$OMPI_MCA_mca_base_param_files" | tr , ' '); do
    sed -n "/^$names/s/^\([^=]*\)=\(.*\)/mca:$2:$3:param:\1:value:\2/p" "$file"
done | sed "$SET"
"""

TWO_RANKS = '"$@" && "$@"'


class Taking:
    """A posed installation whose ompi_info shows what jobs of two ranks take from a file."""

    def __init__(self, change=""):
        self.place = Place()
        os.mkdir(os.path.join(self.place.path, "bin"))
        script(self.place.path, "bin/ompi_info", SHOWING)
        lines = [f"path:prefix:{self.place.path}"]
        for name, kind in (("coll_pipering_alpha", "double"), ("coll_mleader_large", "size_t"),
                           ("coll_tuned_use_dynamic_rules", "string"),
                           ("mpi_yield_when_idle", "string")):
            owner = "mpi:base" if name.startswith("mpi") else ":".join(name.split("_")[:2])
            lines += [f"mca:{owner}:param:{name}:value:0", f"mca:{owner}:param:{name}:type:{kind}"]
        self.table = ompi_info.Table("\n".join(lines))
        self.settings = {"coll_pipering_alpha": "0.0123457", "coll_mleader_large": "64k",
                         "coll_tuned_use_dynamic_rules": "true", "mpi_yield_when_idle": "1"}
        self.file = os.path.join(self.place.path, "tuned.conf")
        files.write(self.file, files.settings_text(self.settings))
        self.launcher = launch.Launcher(["env", f"SET={change}", "sh", "-c", TWO_RANKS, "job"],
                                        "conf")

    def check(self):
        preflight.check_files(self.launcher, self.table, self.file, self.settings)


def test_taking():
    """a file with variables of several components is taken, and only its variables are printed"""
    taking = Taking("s/0.0123457/0.012346/;s/64k/65536/")
    printed = []

    def counting(*arguments):
        text = plainly(*arguments)
        printed.extend(text.splitlines())
        return text

    plainly, preflight.run_plainly = preflight.run_plainly, counting
    try:
        taking.check()
    finally:
        preflight.run_plainly = plainly
    assert len(printed) == 2 * len(taking.settings), printed


def test_not_taken():
    """a file that a job does not take is refused, and what was measured is said to be kept"""
    for change, words in (("s/64k/9/", ["coll_mleader_large 9, not 64k"]),
                          ("/mleader/d", ["coll_mleader_large nowhere"])):
        text = refused(Taking(change).check, *words, "tuned.conf", "what was measured is kept")
        assert "nothing was measured" not in text, text
    broken = Taking()
    os.unlink(os.path.join(broken.place.path, "bin", "ompi_info"))
    refused(broken.check, "failed with status 127", "what was measured is kept")


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
