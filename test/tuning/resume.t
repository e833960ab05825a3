#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Going on, and ending early: the journal, what --resume wants, interrupts, full disks."""

import contextlib
import io
import json
import os
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
from posed_bench import Run  # noqa: E402
from posed_place import DOOR, Place, refused, tuned  # noqa: E402
from pipering_tuning import (calls, command_line, files, journal, ompi_info, prove,  # noqa: E402
                             rules, stats, tune)


HEAD = {"machine": {"library": "Open MPI v5.0.7", "hosts": ["n0", "n1"]},
        "options": {"seed": 1, "budget": 30}}


def written(directory, cells=3):
    """The path of a journal with so many cells."""
    path = os.path.join(directory, "journal.jsonl")
    book = journal.Journal(path, HEAD)
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
            book = journal.Journal(path, HEAD, True)
            assert len(book.records) == whole[first:cut].count(b"\n"), cut
            book.add({"cell": "new"}, {"status": "ok"}, 0.1)
            book.close()
            book = journal.Journal(path, HEAD, True)
            assert "new" in book.records
            book.close()
        with open(path, "wb") as stream:
            stream.write(whole[:first - 1])
        refused(lambda: journal.Journal(path, HEAD, True), "no whole line")


def test_journal_refused():
    """a journal of another machine, of other options, or damaged is refused and stays as it is"""
    with tempfile.TemporaryDirectory() as directory:
        path = written(directory)
        refused(lambda: journal.Journal(path, HEAD), "--resume")
        for part, key, value, words in (("machine", "library", "Open MPI v5.0.8", "library"),
                                        ("machine", "hosts", ["n0", "n2"], "hosts"),
                                        ("machine", "pml", "ucx", "pml: none, now ucx"),
                                        ("options", "seed", 2, "seed")):
            other = json.loads(json.dumps(HEAD))
            other[part][key] = value
            refused(lambda: journal.Journal(path, other, True), words, str(path))
        with open(path, encoding="utf-8") as stream:
            lines = stream.read().splitlines(keepends=True)
        damaged = "".join(lines[:1] + ["{nonsense\n"] + lines[2:])
        files.write(path, damaged)
        refused(lambda: journal.Journal(path, HEAD, True), "line 2")
        assert files.read(path) == damaged
        files.write(path, '{"format":9}\n')
        refused(lambda: journal.Journal(path, HEAD, True), "no journal")
        for part in journal.PARTS:
            for value in ("x", ["x"], 3, None):
                head = {"format": journal.FORMAT, **HEAD, part: value}
                files.write(path, json.dumps(head) + "\n")
                refused(lambda: journal.Journal(path, HEAD, True), "no journal", str(path))
                refused(lambda: journal.check(path, HEAD), "no journal")
        for part in ("budget", "preflight"):
            files.write(path, json.dumps({"format": journal.FORMAT, **HEAD, part: "30"}) + "\n")
            refused(lambda: journal.check(path, HEAD), "no journal")
        for line in ({"cell": ["c"]}, {"result": "ok"}, {"asked": 1}, {"spent": "1"},
                     {"result": {}}):
            whole = json.loads(lines[1])
            files.write(path, lines[0] + json.dumps({**whole, **line}) + "\n" + lines[2])
            refused(lambda: journal.Journal(path, HEAD, True), "line 2 is no cell")


def test_two_at_once():
    """a journal that another run writes is refused, before anything is run and later"""
    place = Place()
    words = begun(place)
    path = os.path.join(place.path, "out", "journal.jsonl")
    head = json.loads(files.read(path).splitlines()[0])
    book = journal.Journal(path, head, True)
    tuned(place, *words[2:], "--resume", words=["another pipering-tune", "nothing was run"])
    refused(lambda: journal.Journal(path, head, True), "being written by another")
    book.close()
    tuned(place, *words[2:], "--resume", words=["failed with status 1"])
    # Where a file system has no locks, there is one run all the same.
    with mock.patch.object(journal.fcntl, "flock", side_effect=OSError(37, "No locks")):
        journal.Journal(path, head, True).close()


def begun(place, *words):
    """The words of a run, whose journal stands in the directory out."""
    out = os.path.join(place.path, "out")
    words = ["--launch", place.mpirun, out, *words]
    run = tune.Tuning(command_line.parse(words), words)
    run.directory = files.make_directory(out)
    run.read_installation()
    head = {**run.asked_for(), "machine": {"library": "x", "hosts": ["n0"], "pml": "ob1",
                                       "kernel": "kernel-1"}, "preflight": 100.0}
    journal.Journal(os.path.join(out, "journal.jsonl"), head).close()
    return words


def test_proof_anew():
    """a resumed run measures calls of the proof anew that had failed"""
    place = Place()
    words = begun(place)
    path = os.path.join(place.path, "out", "journal.jsonl")
    run = tune.Tuning(command_line.parse(words + ["--resume"]), words)
    run.directory, run.machine = os.path.dirname(path), {"library": "x", "pml": "ob1"}
    run.read_installation()
    for name, status in (("proof/0/before/a", "ok"), ("proof/0/after/a", "timeout"),
                         ("proof/0/after/b", "ok"), ("proof/0/before/c", "refused"),
                         ("race/x/0/a/again", "wrong")):
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps({"cell": name, "asked": {"cell": name}, "spent": 1.0,
                                     "result": {"status": status}}) + "\n")
    run.program = os.path.join(place.path, "kernel-2")
    refused(lambda: run.open_journal({"hosts": ["n0"]}), "kernel: kernel-1, now kernel-2")
    run.program = os.path.join(place.path, "kernel-1")
    run.open_journal({"hosts": ["n0"]})
    assert run.until(0.5) == 0.5 * (30 * 60 - 100), run.until(0.5)
    assert list(run.journal.records) == ["proof/0/after/b", "proof/0/before/c",
                                         "race/x/0/a/again"], run.journal.records


def replace(path, old, new):
    files.write(path, files.read(path).replace(old, new))


LIBRARIES = ["mca_coll_pipering.so", "mca_coll_mleader.so", "mca_coll_tuned.so", "mca_coll_han.so",
             "../libmpi.so", "../libopen-pal.so"]


def test_resume_refused():
    """a run goes on only where files, settings in force, prefix and components are as they were"""
    for what, name, old, new, words in (
            ("nothing", "start.conf", "4", "4", ["failed with status 1"]),
            ("start", "start.conf", "4", "5", ["another contents: --start"]),
            ("proven", "good.conf", "5", "6", ["another contents: --prove", "good.conf"]),
            ("pipering", "mca_coll_pipering.so", "a", "b", ["version of mca_coll_pipering.so"]),
            ("mleader", "mca_coll_mleader.so", "a", "b", ["version of mca_coll_mleader.so"]),
            ("tuned", "mca_coll_tuned.so", "a", "b", ["version of mca_coll_tuned.so"]),
            ("han", "mca_coll_han.so", "a", "b", ["version of mca_coll_han.so"]),
            ("libmpi", "../libmpi.so", "a", "b", ["version of libmpi.so"]),
            ("libopen-pal", "../libopen-pal.so", "a", "b", ["version of libopen-pal.so"]),
            ("prefix", "info", "prefix:/posed", "prefix:/other", ["version of prefix", "/other"]),
            ("setting", "info", "window:value:0", "window:value:8",
             ["setting in force of coll_pipering_window: 0, now 8"]),
            ("new setting", "info", "rounds_packed:source:default",
             "rounds_packed:source:environment",
             ["coll_pipering_rounds_packed: none, now 8192"])):
        place = Place()
        components = files.make_directory(os.path.join(place.path, "lib", "openmpi"))
        replace(os.path.join(place.path, "info"), "path:prefix",
                f"path:pkglibdir:{components}\npath:prefix")
        replace(os.path.join(place.path, "info"), "window:source:default",
                "window:source:file (/etc/conf)")
        for file, text in (("start.conf", "4"), ("good.conf", "5")):
            files.write(os.path.join(place.path, file), f"coll_pipering_processors={text}\n")
        for file in LIBRARIES:
            files.write(os.path.join(components, file), "a")
        more = ["--start", os.path.join(place.path, "start.conf")]
        if what == "proven":
            more += ["--prove", os.path.join(place.path, "good.conf")]
        run = begun(place, *more)
        replace(os.path.join(components if name in LIBRARIES else place.path, name), old, new)
        tuned(place, *run[2:], "--resume", words=words)


def test_other_budget():
    """a run goes on with another budget"""
    place = Place()
    tuned(place, *begun(place)[2:], "--resume", "--budget", "90", words=["failed with status 1"])


def test_old_directory():
    """a directory with a journal is refused before anything in it is touched"""
    place = Place()
    begun(place)
    start = os.path.join(place.path, "out", "start.conf")
    files.write(start, "coll_pipering_processors=3\n")
    before = sorted(os.listdir(os.path.dirname(start)))
    tuned(place, "out", "--start", start, words=["is there already: --resume"])
    tuned(place, "out", "--start", start, "--resume", words=["another option start"])
    assert files.read(start) == "coll_pipering_processors=3\n"
    assert before == sorted(os.listdir(os.path.dirname(start)))


def test_another_budget():
    """a resumed run has the sizes and costs of the budget that it was begun with"""
    found = []
    for begun_with, now in ((0.3, 0.3), (0.3, 4), (4, 4)):
        run = Run(now, "--variables", "coll_pipering_alltoall_small", begun=begun_with)
        cells = [name for name in run.bench.measurer.used if name.startswith("task-")]
        found.append((run.tuning.largest, run.tuning.costs, cells))
    assert found[0] == found[1] and found[0][0] < found[2][0], found
    assert len(found[0][2]) < len(found[2][2]), found


def not_written(function, path, words):
    """A function must end by an OSError, of which main makes a sentence."""
    try:
        function()
        assert False, "was written"
    except OSError as error:
        assert error.filename in (path, os.path.basename(path)) and words in str(error), error


def test_full_disk():
    """a full disk ends the run with a sentence, and what was measured stands"""
    with tempfile.TemporaryDirectory() as directory:
        path = written(directory)
        book = journal.Journal(path, HEAD, True)
        book.stream = open("/dev/full", "wb", buffering=0)
        not_written(lambda: book.add({"cell": "c9"}, {}, 0.1), path, "No space left")
        assert len(journal.Journal(path, HEAD, True).records) == 3


def test_verdict_first():
    """what was found is said before it is written, so that a full disk does not hide it"""
    place = Place()
    said = []
    run = tune.Tuning(command_line.parse(["out", "--prove", "x"]), [])
    run.say, run.start, run.machine = said.append, {}, {}
    run.measurer = SimpleNamespace(records=lambda: [])
    run.directory = os.path.join(place.path, "no")
    try:
        run.conclude(prove.Proof(True, "The file helps."), "x")
        assert False, "was written"
    except OSError as error:
        assert error.filename.endswith("results.json") and "The file helps." in said, (error, said)


GOOD, BAD = (prove.Proof(good, "It is proven.") for good in (True, False))


def stopped(directory, proof, results=None):
    """What was left of a run that chose something: {name: settings}, and what it said. proof: a
    Proof, or what ends the proof; results: what ends the writing of results, None if nothing
    does."""
    def end(what):
        if isinstance(what, BaseException):
            raise what
        return what

    words = [directory, "--variables", "coll_pipering_processors"]
    run, said = tune.Tuning(command_line.parse(words), words), []
    run.say, run.start, run.directory = said.append, {}, directory
    run.table, run.largest = posed_table(), 1 << 20
    run.machine, run.chosen = posed.MACHINE, {"coll_pipering_processors": "4"}
    run.rules = [rules.Rule(calls.Call("bcast", "regular", 400, "auto"), 1, "linear",
                            stats.Interval(0.5, 0.4, 0.6))]
    run.measure_machine = run.choose = run.choose_rules = lambda: None
    run.prove = lambda *_: end(proof)
    run.measurer, write = SimpleNamespace(records=lambda: []), run.write
    run.write = lambda name, text: end(results) if name == "results.json" else write(name, text)
    try:
        run.tune()
    except (KeyboardInterrupt, files.Refusal):
        pass
    return {name: files.read_settings(os.path.join(directory, name))
            for name in os.listdir(directory) if name.endswith(".conf")}, said


def test_name_is_earned():
    """a file has the recommended name from when it is proven on, not before, whatever ends the
    run, and it names its rules file"""
    for proof, results, name in ((KeyboardInterrupt(), None, "candidate.conf"),
                                 (files.Refusal("full"), None, "candidate.conf"),
                                 (BAD, KeyboardInterrupt(), "refused.conf"),
                                 (BAD, None, "refused.conf"),
                                 (GOOD, KeyboardInterrupt(), "tuned.conf"),
                                 (GOOD, None, "tuned.conf")):
        with tempfile.TemporaryDirectory() as directory:
            # Of a run before this one, which began with less time.
            files.write(os.path.join(directory, "tuned.conf"), "coll_pipering_processors=9\n")
            left, said = stopped(directory, proof, results)
            path = os.path.join(directory, "tuned-rules.txt")
            assert left == {name: {"coll_pipering_processors": "4",
                                   "coll_tuned_use_dynamic_rules": "true",
                                   "coll_tuned_dynamic_rules_filename": path}}, (name, left)
            assert os.path.exists(path)
            text = files.read(os.path.join(directory, name))
            assert "of communicators of 8 ranks, 1 on each of 8 nodes, some of them of 4 ranks, " \
                "1 on each of 4 nodes: nothing is" in text, text
            assert "rules for communicators of 8 ranks;" in text, text
            assert ("candidate.conf" == name) != any(name in text for text in said), said


def test_nothing_was_tried():
    """where nothing could be tried, that is no verdict, and the status is that of a failure; calls
    that fail with what is in force are told"""
    for status, words in (("wrong", "nothing could be tried, since no call can be measured"),
                          (None, "nothing that was tried gains more than noise")):
        run = Run(5, "--variables", "coll_pipering_alltoall_window",
                  bad=lambda cell, path, how=status: how if "call" == cell["kind"] else None)
        assert run.status == (None if status else 0), run.said
        assert any(words in text for text in run.said), run.said
        told = [text for text in run.said if "wrong result with the settings in force" in text]
        assert bool(status) == bool(told), run.said


def posed_table():
    return ompi_info.Table(posed.ompi_info())


def test_unwritable():
    """files that cannot be cut or opened are one sentence, and nothing is lost"""
    denied = OSError(30, "Read-only file system", "journal.jsonl")
    with tempfile.TemporaryDirectory() as directory:
        path = written(directory)
        with mock.patch.object(os, "truncate", side_effect=denied):
            not_written(lambda: journal.Journal(path, HEAD, True), path, "Read-only")
        assert len(journal.Journal(path, HEAD, True).records) == 3
        said = io.StringIO()
        handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        try:
            with mock.patch.object(tune.Tuning, "run", side_effect=denied), \
                    contextlib.redirect_stderr(said):
                assert tune.main([directory]) == 1
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        assert "Read-only" in said.getvalue() and "--resume" in said.getvalue(), said.getvalue()


def hung_up(ignored):
    """The exit status of pipering-tune whose terminal ends while a job starts; None: it goes on.
    ignored: as nohup has it."""
    place = Place(f"echo >started; exec sleep {60 if not ignored else 2}")
    hangs_up = signal.SIG_IGN if ignored else signal.SIG_DFL
    run = subprocess.Popen(
        [sys.executable, DOOR, "--launch", place.mpirun, "out"], cwd=place.path,
        stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, hangs_up))
    try:
        while not os.path.exists(os.path.join(place.path, "started")):
            assert run.poll() is None, run.stderr.read()
            time.sleep(0.01)
        run.send_signal(signal.SIGHUP)
        return run.wait(150), run.stderr.read()
    finally:
        run.kill()
        run.wait()


def test_nothing_to_go_on_from():
    """only where there is a journal is it said that --resume goes on from there"""
    place = Place()
    words = ["--launch", place.mpirun, os.path.join(place.path, "out")]
    for journal_is_there in (False, True):
        if journal_is_there:
            begun(place)
        for error, status in ((KeyboardInterrupt(), 130), (OSError(28, "No space left"), 1),
                              (files.Refusal("unknown host; nothing was measured"), 1)):
            said = io.StringIO()
            with mock.patch.object(tune.Tuning, "run", side_effect=error), \
                    mock.patch.object(signal, "signal"), contextlib.redirect_stderr(said):
                assert tune.main(words) == status
            text = said.getvalue()
            late = journal_is_there and "unknown host" not in text
            assert late == ("--resume goes on from there" in text), text
            assert late != ("nothing was measured" in text), text
            assert 1 == len(text.strip().splitlines()), text


def test_hung_up():
    """the end of the terminal is an interrupt, unless nohup says otherwise"""
    status, said = hung_up(False)
    assert status == 130 and "nothing was measured" in said, (status, said)
    status, said = hung_up(True)
    assert status == 1 and "no rank answered" in said, (status, said)


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
