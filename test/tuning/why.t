#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""pipering-why: what it makes of records that are written here, and of files that are none."""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from types import SimpleNamespace

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
from pipering_tuning import files, why, why_classes, why_model, why_records  # noqa: E402

DOOR = os.path.join(tap.TUNING, "pipering-why")
PLACES = 8
DEFAULTS = {"call": "allgatherv", "reason": "small: too few bytes",
            "ranks": 4, "contiguous": 1, "order_matters": 0, "type": "MPI_DOUBLE", "calls": 10,
            "bytes": 10000, "largest": 5000, "contributors": 20, "least": 900, "most": 1100,
            "time": 10 ** 9, "longest": 10 ** 9}


def record(order="<", **values):
    """The bytes of a record."""
    of = {**DEFAULTS, **values}
    return struct.pack(order + why_records.RECORD, of["call"].encode(), of["reason"].encode(), of["ranks"], 10, 9, 3, of["contiguous"],
                       of["order_matters"], of["type"].encode(), of["calls"], of["bytes"],
                       of["largest"], of["contributors"], of["least"], of["most"], of["time"],
                       of["longest"])


def table(records, rank=0, job=1, world=1, order="<", ended=1, began=1e9, without=0):
    """The bytes of a file."""
    form = order + why_records.HEADER
    empty = bytes(struct.calcsize(order + why_records.RECORD))
    header = struct.pack(form, why_records.MAGIC, why_records.BYTE_ORDER, job, rank, world, ended,
                         PLACES, began, 20 * 10 ** 9, without,
                         without * 10 ** 9, f"node{rank // 2}".encode(), b"5.0")
    return header + b"".join(records) + empty * (PLACES - len(records))


class Job:
    """A directory of files, and what pipering-why says of it."""

    def __init__(self, *files):
        self.directory = tempfile.TemporaryDirectory()
        for i, data in enumerate(files):
            with open(os.path.join(self.directory.name, f"why-{i}"), "wb") as stream:
                stream.write(data)

    def run(self, *options):
        return subprocess.run([sys.executable, DOOR, self.directory.name, *options], timeout=150,
                              capture_output=True, text=True, check=False)

    def json(self, *options):
        done = self.run("--json", *options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def only_class(self, model=None):
        classes = why_classes.classes_of(why_records.read_directory(self.directory.name)[0], model)
        assert len(classes) == 1, classes
        return classes[0]._asdict()

    def text(self, model):
        """The report by a model."""
        tables = why_records.read_directory(self.directory.name)[0]
        options = SimpleNamespace(machine="FILE", top=15)
        return "\n".join(why.report(tables, [], options, model))


class Posed:
    """A model that says the same of all calls, and keeps what it was asked."""

    def __init__(self, served=True, seconds=0.02, algorithm="ring", rival=0.05):
        self.answer = why_model.Answer(served, seconds, algorithm, rival)
        self.asked = []

    def ask(self, *question):
        self.asked.append(question)
        return self.answer


def refused(done, *words):
    """One sentence, no report, and a status that is not 0."""
    assert done.returncode == 2 and not done.stdout, done
    assert len(done.stderr.splitlines()) == 1, done.stderr
    for word in words:
        assert word in done.stderr, (word, done.stderr)


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def test_merging():
    """records of several processes become calls of the job"""
    times = [4, 3, 2, 3]
    one = Job(*(table([record(time=time * 10 ** 9)], rank) for rank, time in enumerate(times)))
    found = one.only_class()
    assert found["calls"] == 10 and found["ranks"] == 4
    assert found["bytes"] == 1000 and found["largest"] == 500 and found["contributors"] == 2
    assert found["least"] == 900 and found["most"] == 1100
    assert near(found["time"], 3) and near(found["each"], 0.3) and near(found["own"], 0.2)
    assert near(one.json()["waiting"], 1) and near(one.json()["elapsed"], 20)


def test_classes_apart():
    """whatever tells classes apart keeps them apart"""
    ways = [{"call": "allgather"}, {"reason": "off: switched off"},
            {"ranks": 8}, {"contiguous": 0}, {"order_matters": 1}, {"type": "MPI_INT"}]
    for way in ways:
        assert len(Job(table([record(), record(**way)])).json()["classes"]) == 2, way


def test_types():
    """types are called by what is known of them, and calls are counted by these names"""
    records = [record(calls=30), record(calls=20, type="derived", contiguous=0),
               record(calls=10, type="derived"), record(calls=10, type="several types"),
               record(calls=20, type="MPI_DOUBLE_INT", contiguous=0),
               record(calls=40, call="allreduce", order_matters=1),
               record(calls=40, call="barrier", type="", bytes=0, largest=0, contributors=0)]
    job = Job(table(records))
    text = job.run().stdout
    lines = [line.split("  ") for line in text.splitlines()]
    for name in ("MPI_DOUBLE", "derived, with gaps", "derived", "several types",
                 "MPI_DOUBLE_INT, with gaps", "MPI_DOUBLE, order matters"):
        assert any(name in [cell.strip() for cell in line] for line in lines), (name, text)
    assert histogram(text, "Calls by types") == [
        ("MPI_DOUBLE", "7.5"), ("MPI_DOUBLE, order matters", "10"),
        ("MPI_DOUBLE_INT, with gaps", "5"), ("derived", "2.5"), ("derived, with gaps", "5"),
        ("no data", "10"), ("several types", "2.5")], text
    found = {(one["type"], one["contiguous"], one["order_matters"])
             for one in job.json()["classes"]}
    assert ("derived", False, False) in found and ("MPI_DOUBLE", True, True) in found, found


def histogram(text, title):
    """The (label, calls) of a histogram in a report."""
    lines = text.split(f"\n{title} ", 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    assert lines and all(line.endswith("#") for line in lines), lines
    return [tuple(re.split("  +", line.strip())[:2]) for line in lines]


def test_histograms():
    """calls are counted by bytes, ranks, skew and time, by their time too"""
    records = [record(calls=8, bytes=8 * 2000, largest=8 * 500, time=8 * 2 * 10 ** 6),
               record(calls=4, call="allgather", bytes=4 * 3000, largest=4 * 1500,
                      time=4 * 10 ** 4),
               record(calls=2, ranks=2, bytes=2 * 60, largest=2 * 60, time=2 * 5 * 10 ** 6),
               record(calls=8, ranks=16, bytes=8 * 2000, largest=8 * 2000, time=8 * 3 * 10 ** 6),
               record(calls=4, call="bcast", bytes=4 * 500, largest=4 * 500, time=4 * 10 ** 4),
               record(calls=4, call="neighbor_alltoallw", bytes=4 * 800, contributors=4 * 2,
                      largest=4 * 400, time=4 * 10 ** 4)]
    text = Job(table(records)).run("--top", "1").stdout
    for title, wanted in (
            ("Calls by bytes in all", [("32 B and more", "1"), ("256 B and more", "1"),
                                       ("512 B and more", "1"), ("1 KiB and more", "2.5"),
                                       ("2 KiB and more", "1")]),
            ("Calls by ranks", [("2", "1"), ("4", "5"), ("16", "0.5")]),
            ("Calls by the largest contribution over the average",
             [("equal", "3"), ("2 to 4 times", "2"), ("8 times and more", "0.5")]),
            ("Calls by the average time of one", [("10 µs and more", "3"),
                                                  ("1 ms and more", "3.5")])):
        assert histogram(text, title) == wanted, (histogram(text, title), text)
    assert re.search(r"\n  4  +5  +16.1 ms  #{40}\n", text), text


def test_ranking():
    """classes stand by time"""
    names = ["bcast", "reduce", "scan"]
    times = [2, 3, 1]
    found = Job(table([record(call=name, time=time * 10 ** 9)
                       for name, time in zip(names, times)])).json()
    assert [one["call"] for one in found["classes"]] == ["reduce", "bcast", "scan"]


def test_gain():
    """what could be gained is the own time of calls over that of the model"""
    one = Job(*(table([record(time=time * 10 ** 9, least=70000)], rank)
                for rank, time in enumerate([1, 2])))
    model = Posed()
    found = one.only_class(model)
    # 0.1 s each on the faster rank, 0.02 s by the model, 10 calls
    assert near(found["gain"], 0.8) and near(found["forecast"], 0.02), found
    assert found["variable"] == "coll_pipering_allgatherv_algorithm=ring (for all sizes)", found
    assert model.asked == [("allgatherv", 4, 1, (1000, 500, 2), False, [])], model.asked
    text = one.text(Posed())
    assert "1. 800 ms (4%)" in text and "coll_pipering_allgatherv_algorithm=ring" in text, text
    assert text.startswith("By other variables of coll/pipering this program would gain 800 ms of "
                           "1.5 s in these calls, 4% of its time, by the model of FILE\n"), text


def test_without():
    """before coll/pipering is there, the first line says what it would gain"""
    one = Job(*(table([record(time=time * 10 ** 9, reason="")], rank)
                for rank, time in enumerate([1, 2])))
    text = one.text(Posed())
    assert text.startswith("With coll/pipering this program would gain 800 ms of 1.5 s"), text
    assert "1. 800 ms (4%)" in text and text.count(": coll/pipering\n") == 1, text
    assert one.only_class(Posed(served=False))["gain"] == 0
    assert "would gain 0 of 1.5 s" in one.text(Posed(served=False))
    assert one.run().stdout.startswith("What coll/pipering would gain is not known: give")


def test_early_ranks():
    """where a rank may return before the others have come, its time is not the call's own"""
    ways = [{"call": name} for name in ("bcast", "reduce", "scan", "exscan")]
    ways += [{"call": "allgatherv", "contributors": 10}]
    for way in ways:
        one = Job(*(table([record(time=time, least=70000, **way)], rank)
                    for rank, time in enumerate([10 ** 6, 2 * 10 ** 9])))
        found = one.only_class(Posed())
        assert found["own"] is None and near(found["slowest"], 0.2), found
        # 0.2 s each at most, 0.02 s by the model, 10 calls
        assert near(found["gain"], 1.8) and one.json()["waiting"] == 0, found
        text = one.text(Posed())
        assert "1. at most 1.8 s (9%)" in text and "at most 200 ms each" in text, text
        assert " <= 200 ms" in text and "waiting" not in text, text
    for way in ({"call": "neighbor_alltoallw"}, {"call": "alltoallv", "contributors": 19}):
        assert Job(table([record(**way)])).only_class()["own"] is None, way


def test_alike():
    """where all ranks end alike, the rank that waits least has the call's own time"""
    for way in ({"call": "allreduce", "contributors": 10}, {"call": "barrier", "contributors": 0},
                {"call": "alltoall"}, {"call": "allgather"}):
        one = Job(*(table([record(time=time * 10 ** 9, **way)], rank)
                    for rank, time in enumerate([1, 2])))
        assert near(one.only_class()["own"], 0.1) and near(one.json()["waiting"], 0.5), way
        assert "at least 500 ms of it waiting for other ranks" in one.run().stdout


def test_no_gain():
    """nothing is promised that the model does not back"""
    for answer, values in (
            ({"seconds": 0.099}, {}), ({}, {"reason": "ring"}),
            ({"served": False}, {}), ({"served": False}, {"reason": "local: so"}),
            ({}, {"reason": "unasked: so"}), ({}, {"reason": "unlike: so"}),
            ({}, {"call": "iallgatherv"})):
        found = Job(table([record(**values)])).only_class(Posed(**answer))
        assert found["gain"] == 0, (answer, values)


def test_remedies():
    """the variable follows from the reason, the collective, and the sizes"""
    cases = [("small", "allgather", "coll_pipering_allgather_algorithm=ring (for all sizes)"),
             ("short", "iallreduce", "coll_pipering_allreduce_algorithm=ring (for all sizes)"),
             ("off", "iallgatherv", "coll_pipering_allgatherv_algorithm=auto"),
             ("off", "neighbor_alltoallw", "coll_pipering_neighbor_alltoallw_algorithm=auto"),
             ("off", "ialltoall", "coll_pipering_alltoall_algorithm=auto"),
             ("off", "ibarrier", "coll_pipering_barrier_algorithm=auto"),
             ("model", "bcast_init", "coll_pipering_bcast_algorithm=ring (for all sizes)"),
             ("unchosen", "ibarrier", "coll_pipering_barrier_algorithm=mesh_lines"),
             ("meshless", "alltoall", "coll_pipering_mesh, if the network has no switches"),
             ("unasked", "barrier", "coll_pipering_mesh, if the network has no switches"),
             ("unasked", "bcast", ""), ("local", "bcast", "")]
    for reason, call, wanted in cases:
        data = table([record(reason=f"{reason}: because", call=call)])
        given = why_classes.remedy(why_records.parse(data, "x").records[0], Posed().answer)
        assert given == wanted, (reason, call, given)
    unserved = Posed(served=False).answer
    for reason in ("small", "short", "off"):
        data = table([record(reason=f"{reason}: because")])
        assert why_classes.remedy(why_records.parse(data, "x").records[0], unserved) == "", reason


def test_without_machine():
    """without the machine's file the report names what may be tried"""
    text = Job(table([record(reason="off: switched off")])).run().stdout
    assert "not known of 1 s: there is no --machine FILE" in text, text
    assert "to be tried: coll_pipering_allgatherv_algorithm=auto" in text, text


MACHINE = os.path.join(tap.TUNING, "machines", "testbed-100mbit")


def test_model():
    """the model is that of pipering-predict: twice the bytes take twice the time of a full wire"""
    model = why_model.Model(MACHINE)
    for collective in why_model.VECTORS + ("allgather", "allgatherv"):
        times = []
        for mebi in (8, 16):
            sizes = (mebi << 20, mebi << 19, 4)
            answer = model.ask(collective, 8, 8, sizes, collective == "reduce")
            assert answer.served and answer.seconds < answer.rival, (collective, answer)
            times.append(answer.seconds)
        assert 1.8 < times[1] / times[0] < 2.1, (collective, times)
    small = (1000, 1000, 1)
    assert not model.ask("reduce", 8, 8, small, False).served
    assert model.ask("reduce", 8, 8, small, False,
                     ["coll_pipering_reduce_algorithm=pipeline"]).served
    assert model.ask("barrier", 8, 8, (0, 0, 0), False) is None
    assert not model.ask("allgatherv", 8, 1, (4 << 10, 512, 8), False).served


def test_counts():
    """contributions that are made up have the sums that were recorded"""
    for ranks, total, largest, contributors in ((4, 1000, 500, 2), (4, 1000, 1000, 1),
                                                (8, 1001, 300, 7), (3, 10, 4, 3)):
        made = why_model.counts(ranks, total, largest, contributors)
        assert len(made) == ranks and sum(made) == total and max(made) == largest, made
        assert sum(count > 0 for count in made) == contributors, made


def test_bad_machine():
    """a machine file that cannot be used gets one sentence"""
    refused(Job(table([record()])).run("--machine", "/no/such"), "/no/such: No such file")


def test_unmodelled():
    """exchanges and barriers, of which there is no model, are named as such"""
    for call, reason, setting in (("barrier", "unchosen", "coll_pipering_barrier_algorithm=mesh_"),
                                  ("alltoall", "meshless", "coll_pipering_mesh, if the network"),
                                  ("alltoallv", "off", "coll_pipering_alltoallv_algorithm=auto")):
        text = Job(table([record(call=call, reason=f"{reason}: so")])).run(
            "--machine", MACHINE).stdout
        assert "not known of 1 s: the model has no barriers and no exchanges" in text, text
        assert f"to be tried: {setting}" in text, text
    text = Job(table([record(call="alltoallv", reason="bins")])).run(
        "--machine", MACHINE).stdout
    assert "not known" not in text, text


def test_byte_orders():
    """files of machines of the other byte order are read"""
    little, big = (Job(table([record(order)], order=order)).json() for order in "<>")
    assert little == big


def test_jobs():
    """of several jobs the last is shown, unless another is asked for"""
    jobs = Job(table([record(call="scan")], job=0xab, began=2e9), table([record()], job=5))
    assert [one["call"] for one in jobs.json()["classes"]] == ["scan"]
    assert "00000005" in " ".join(jobs.json()["notes"])
    assert jobs.json("--job", "00000005")["classes"][0]["call"] == "allgatherv"
    refused(jobs.run("--job", "77"), "--job 77", "00000005", "000000ab")


def test_notes():
    """a report says what is missing from it"""
    notes = " ".join(Job(table([record()], world=3, ended=0, without=2)).json()["notes"])
    for words in ("2 of 3 ranks have no", "1 of 1 processes have not reached MPI_Finalize",
                  "2 calls of processes, 2 s"):
        assert words in notes, notes


def test_broken_file():
    """a broken file among others is named, and the others are read"""
    data = table([record()])
    one = Job(data, data[:-1], b"", b"nonsense that is long enough")
    assert one.only_class()["calls"] == 2.5
    notes = one.json()["notes"]
    for name, words in (("why-1", "cut off"), ("why-2", "is no record"), ("why-3", "is no record")):
        assert any(name in note and words in note for note in notes), notes


def test_every_cut():
    """a file that is cut off anywhere is refused"""
    data = table([record()])
    for length in list(range(0, 300)) + [len(data) - 1]:
        refused(Job(data[:length]).run() if length % 37 == 0 else refusal(data[:length]), "why")


def refusal(data):
    """As refused() wants it, without a process of its own."""
    try:
        why_records.parse(data, "why-0")
    except files.Refusal as error:
        return subprocess.CompletedProcess([], 2, "", str(error))
    raise AssertionError(f"{len(data)} bytes are taken for a file")


def test_servers():
    """who served a call follows from the reason"""
    for reason, server in (("ring", "pipering"), ("", ""), ("small: so", "below"),
                           ("unasked: so", "other"), ("absent: so", ""), ("empty: so", "")):
        assert Job(table([record(reason=reason)])).only_class()["server"] == server, reason


def test_bad_input():
    """bad input gets one sentence"""
    refused(Job().run(), "has no records of calls", "PIPERING_WHY")
    none = subprocess.run([sys.executable, DOOR, "/no/such"], timeout=150, capture_output=True,
                          text=True, check=False)
    refused(none, "/no/such cannot be read: No such file")
    done = Job(table([record()])).run("--top", "-1")
    assert done.returncode == 2 and "expected 0 or more" in done.stderr


def test_empty():
    """a program without such calls has a report"""
    assert "No collective calls" in Job(table([])).run().stdout


def test_no_data():
    """calls without any data, as barriers are, have a report, and what is recorded is said"""
    text = Job(table([record(call="barrier", bytes=0, largest=0, contributors=0, least=0,
                             most=0)])).run().stdout
    for words in (" barrier ", " 0 B ", "MPI_Reduce_scatter and others are not"):
        assert words in text, (words, text)


def test_report():
    """the report shows what a class is, and how much is left out"""
    records = [record(), record(call="bcast", time=10 ** 8, type="derived", contiguous=0)]
    text = Job(table(records)).run().stdout
    for words in ("allgatherv", "bcast", "derived, with gaps", "module below (small)", "50%", "1000 B",
                  "1 s", "Not served by coll/pipering", "too few bytes",
                  "512 B and more"):
        assert words in text, (words, text)
    assert "and 1 classes more, 100 ms together" in Job(table(records)).run("--top", "1").stdout


def test_sessions():
    """records of several sessions of a rank are of one rank, and their times add up"""
    once = Job(*(table([record()], rank=rank, world=3) for rank in range(2))).json()
    twice = Job(*(table([record()], rank=rank, world=3) for rank in range(2) for _ in range(2)))
    found = twice.json()
    assert found["ranks"] == once["ranks"] == 2
    assert found["time"] == 2 * once["time"] and found["elapsed"] == 2 * once["elapsed"], found
    assert "2 ranks on 1 node" in twice.run().stdout, twice.run().stdout
    assert any("1 of 3 ranks have no readable record" in note for note in found["notes"]), found


sys.exit(tap.run(globals()))
