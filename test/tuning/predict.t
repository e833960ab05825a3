#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""pipering-predict: properties of what it says, its defaults against ompi_info, bad input."""

import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

DOOR = os.path.join(tap.TUNING, "pipering-predict")
COLLECTIVES = ("allgatherv", "allgather", "bcast", "reduce", "allreduce", "scan", "exscan")
LIMIT = 600  # seconds of a command


def run(*words, stdin=None, **environment):
    """What the door answers: exit status, standard output and error."""
    done = subprocess.run([DOOR, *map(str, words)], input=stdin, capture_output=True, text=True,
                          timeout=LIMIT, env={**os.environ, **environment}, check=False)
    return done.returncode, done.stdout, done.stderr


def predict(*words, **options):
    """The answer as JSON."""
    status, out, error = run(*words, "--json", **options)
    assert status == 0 and not error, (words, status, error)
    return json.loads(out)


def spent():
    """Seconds of processors that commands have taken so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def by_name(answer):
    """Its algorithms by their names."""
    return {one["algorithm"]: one for one in answer["algorithms"]}


def chosen(answer):
    """The chosen algorithm."""
    return next(one for one in answer["algorithms"] if one["chosen"])


# Links that take 20 us for a block and 10 ns for a byte, and nothing else.
BARE = ("net_alpha=20", "net_gap=20", "net_beta=10", "net_beta_most=10", "net_latency=0",
        "net_overlap=false", "net_envelope=0", "net_packet=0", "net_frame=0", "net_handshake=0",
        "net_copy=0", "combine=0")


def test_rounds_of_a_broadcast():
    """a gather of one contribution takes b + p - 2 rounds and the time of as many blocks"""
    size, blocks = 8192, 64
    for p in (2, 3, 8, 64, 1000):
        answer = predict("--ranks", p, "--dist", "broadcast", "--total", size * blocks,
                         "--set", f"coll_pipering_block_size={size}",
                         *(word for cost in BARE for word in ("--cost", cost)),
                         "--set", "coll_pipering_allgatherv_algorithm=ring")
        ring = by_name(answer)["ring"]
        assert ring["rounds"] == blocks + p - 2, ring
        wanted = ring["rounds"] * (20e-6 + size * 10e-9)
        assert abs(ring["model_seconds"] - wanted) < 1e-6 * wanted, (p, ring)


def test_collectives():
    """every collective: parts make the time, one algorithm is chosen"""
    dice = random.Random(14)
    for collective in COLLECTIVES:
        for _ in range(6):
            p, ppn = dice.randrange(2, 40), dice.choice((1, 1, 4))
            words = ["--collective", collective, "--ranks", p, "--ppn", ppn,
                     "--total", 8 * dice.randrange(4096, 1 << 18)]
            if collective in ("bcast", "reduce"):
                words += ["--root", dice.randrange(p)]
            answer = predict(*words)
            assert sum(one["chosen"] for one in answer["algorithms"]) == 1, answer
            for one in answer["algorithms"]:
                parts = sum(one["parts"].values())
                assert abs(parts - one["model_seconds"]) <= 1e-6 * one["model_seconds"], one
                assert min(one["parts"].values()) >= 0, one


def test_choice():
    """more bytes never take less time, and what auto chooses is what a forced one costs"""
    last = 0
    for exponent in range(14, 27):
        answer = predict("--ranks", 16, "--dist", "spike", "--total", 1 << exponent)
        best = chosen(answer)
        assert best["model_seconds"] >= last, (exponent, best)
        last = best["model_seconds"]
        forced = predict("--ranks", 16, "--dist", "spike", "--total", 1 << exponent, "--set",
                         f"coll_pipering_allgatherv_algorithm={best['algorithm']}")
        assert chosen(forced)["model_seconds"] == best["model_seconds"], (best, forced)
        assert forced["served"]


# Links of which the data alone counts, nearly: 154 MB/s, 1 us a hop.
IDEAL = [word for cost in ("net_alpha=0.1", "net_gap=0", "net_latency=1", "net_beta=6.494",
                           "net_overlap=true", "net_envelope=0", "net_packet=0", "net_frame=0",
                           "net_handshake=0", "combine=0") for word in ("--cost", cost)]


def along(answer):
    """Its algorithms that go along the mesh, by their names."""
    return {name: one for name, one in by_name(answer).items() if one["along_mesh"]}


def test_mesh_bounds():
    """long data comes near to the links that trees, paths and cycles fill, and never above them"""
    torus, cube, square, odd = "8tx8tx8t", "2x2x2", "4x4", "3tx3tx3t"
    cases = (("bcast", torus, "64M", {"mesh_trees": 6}),
             ("allgatherv", torus, "64M", {"mesh_cycles": 6}),
             ("allgatherv", odd, "16M", {"mesh_cycles": 6}),
             ("bcast", cube, "16M", {"mesh_trees": 3}),
             ("bcast", square, "16M", {"mesh_trees": 2}),
             ("reduce", square, "16M", {"mesh_path": 2, "mesh_trees": 2}),
             ("reduce", odd, "16M", {"mesh_path": 2, "mesh_trees": 6}),
             ("allreduce", square, "16M", {"mesh_path": 1, "mesh_cycles": 1}),
             ("allreduce", "4tx4t", "16M", {"mesh_path": 1, "mesh_cycles": 2}))
    for collective, mesh, total, links in cases:
        answer = predict("--collective", collective, "--mesh", mesh, "--total", total, *IDEAL)
        n, found = answer["vertices"], along(answer)
        assert found.keys() == links.keys(), (mesh, found)
        for name, most in links.items():
            rate = answer["bytes"] * 6.494e-9 / found[name]["model_seconds"]
            bound = most * (n / (n - 1) if name == "mesh_cycles" else 1)
            assert 0.9 * most <= rate <= bound * 1.0001, (collective, mesh, name, rate)
            assert abs(found[name]["links"] / rate - 1) < 1e-4, found
            assert answer["limit_seconds"] <= found[name]["model_seconds"], (mesh, found)
        if collective in ("bcast", "allgatherv"):
            best = min(one["model_seconds"] for one in found.values())
            assert answer["limit_seconds"] >= 0.85 * best, (mesh, answer)


def test_mesh_short():
    """a short reduction goes along trees of 21 links, or in few rounds, and not along all nodes"""
    for total in ("128K", "1M"):
        words = ["--collective", "reduce", "--type", "double", "--total", total]
        answer = predict(*words, "--mesh", "8tx8tx8t")
        assert answer["served"] and by_name(answer)["mesh_trees"]["chosen"], answer
    flat = predict("--collective", "reduce", "--type", "double", "--total", "128K", "--ranks", 512)
    rounds = by_name(flat)["rounds"]
    assert flat["served"] and rounds["chosen"] and 9 <= rounds["rounds"] < 60, flat


def test_mesh_memory():
    """along a mesh with several ranks at a vertex, too, plans say what memory they take"""
    for mesh, ppn in (("4x3", 1), ("4tx2", 2)):
        answer = predict("--collective", "reduce", "--mesh", mesh, "--ppn", ppn, "--total", "1M",
                         "--type", "int")
        assert answer["mesh_memory"] > 0 and len(along(answer)) == 2
        assert all(one["memory"] > 0 for one in answer["algorithms"]), answer


def test_mesh_alltoall():
    """an exchange of all with all takes what its busiest link carries, and packets their alpha"""
    for mesh, links in (("4x4", 4 / 4), ("8x2", 4 / 8), ("8tx8tx8t", 8 / 8), ("2x2x2", 4 / 2),
                        ("4tx2", 4 / 2), ("3x3", 4 / 3 * 9 / 8), ("5t", 8 / 5 * 25 / 24)):
        answer = predict("--collective", "alltoall", "--mesh", mesh, "--total", "64M", *IDEAL)
        n, found = answer["vertices"], by_name(answer)["permuted"]
        assert answer["served"] and found["chosen"]
        sent = answer["bytes"] * (n - 1) / n * 6.494e-9  # seconds, by one link
        bound = links * (n - 1) / n
        assert abs(sent / answer["limit_seconds"] / bound - 1) < 1e-6, (mesh, answer)
        assert 0.97 * bound < sent / found["model_seconds"] < bound, (mesh, answer)
        assert abs(sum(found["parts"].values()) / found["model_seconds"] - 1) < 1e-6, found
    small = predict("--collective", "alltoall", "--mesh", "4x4", "--total", 64, *IDEAL[2:],
                    "--cost", "net_alpha=10")["algorithms"][0]
    source = os.path.join(tap.ROOT, "ompi/mca/coll/pipering/alltoall",
                          "coll_pipering_alltoall_params.c")
    with open(source, encoding="utf-8") as file:
        packet = int(re.search(r"define PACKET \(\(size_t\) (\d+)\)", file.read()).group(1))
    large = predict("--collective", "alltoall", "--mesh", "4x4", "--total", 16 * (3 * packet + 1))
    assert large["algorithms"][0]["block"] == packet, large
    assert large["algorithms"][0]["rounds"] == 4 * 15, large
    assert small["rounds"] == 15 and small["model_seconds"] >= 150e-6, small
    _, out, _ = run("--collective", "alltoall", "--mesh", "4x2", "--total", "1M", "--explain")
    assert "bytes that the busiest link must carry" in out, out


def test_mesh_barrier():
    """a barrier takes a phase for each dimension, and more on longer lines"""
    last = 0
    for mesh, phases in (("4", 1), ("4x4", 2), ("8x8", 2), ("8tx8tx8t", 3)):
        answer = predict("--collective", "barrier", "--mesh", mesh, "--cost", "net_gap=1")
        lines = by_name(answer)["mesh_lines"]
        assert not answer["served"] and lines["rounds"] == phases, answer
        assert lines["model_seconds"] > max(last, answer["limit_seconds"]), (mesh, answer)
        last = lines["model_seconds"]
    inside = predict("--collective", "barrier", "--mesh", "4x4", "--ppn", 2)
    assert by_name(inside)["mesh_lines"]["rounds"] == 3, inside


def test_mesh_large():
    """65536 vertices are predicted within a minute of a processor"""
    for collective, name, links in (("bcast", "mesh_trees", 6), ("reduce", "mesh_trees", 6),
                                    ("allreduce", "mesh_cycles", 3),
                                    ("allgatherv", "mesh_cycles", 6)):
        began = spent()
        answer = predict("--collective", collective, "--mesh", "32tx32tx64t", "--total", "4G",
                         "--type", "int", *IDEAL)
        assert answer["ranks"] == 65536 and spent() - began < 60
        assert 0.9 * links <= by_name(answer)[name]["links"] <= links * 1.0001, answer


def test_order():
    """the order holds every rank once, those of a node together"""
    answer = predict("--ranks", 24, "--ppn", 4, "--map", "node", "--dist", "half", "--total", "1M")
    order = answer["order"]
    assert sorted(order) == list(range(24))
    nodes = [rank % 6 for rank in order]
    assert all(len(set(nodes[i:i + 4])) == 1 for i in range(0, 24, 4)), order


def test_counts():
    """counts come from a file or from standard input, and are those of a distribution"""
    given = predict("--counts", "-", stdin="100 200\n\n0 5\n")
    assert (given["ranks"], given["bytes"]) == (4, 305), given
    with tempfile.NamedTemporaryFile("w", suffix=".counts") as file:
        file.write("\n".join(["4096"] * 8) + "\n")
        file.flush()
        listed = predict("--counts", file.name)
    dealt = predict("--ranks", 8, "--total", 8 * 4096)
    assert listed["algorithms"] == dealt["algorithms"]


def test_large():
    """65536 ranks are predicted within a minute of a processor"""
    for words in (["--dist", "geometric", "--total", "256M"],
                  ["--collective", "allreduce", "--ppn", 16, "--total", "1G"],
                  ["--collective", "bcast", "--total", "64M"]):
        began = spent()
        assert predict("--ranks", 65536, *words)["algorithms"]
        assert spent() - began < 60


def test_machine():
    """a machine's file decides: slower links take longer"""
    text = "net_alpha = 30\nnet_beta = 80\nnet_latency = 40\nnet_overlap = false\n"
    times = []
    for more in ("", "net_beta = 160\n"):
        with tempfile.NamedTemporaryFile("w", suffix=".machine") as file:
            file.write("# links\n" + text + more)
            file.flush()
            answer = predict("--machine", file.name, "--ranks", 8, "--dist", "broadcast",
                             "--total", "1M", "--set",
                             "coll_pipering_allgatherv_algorithm=ring")
        times.append(by_name(answer)["ring"]["model_seconds"])
    assert times[0] < times[1], times


def test_verbose_line():
    """what a verbose line says of the machine decides as its file does, with all behind it"""
    values = "net_alpha=40 net_beta=2 net_latency=30 net_overlap=true ranks_per_processor=2"
    with tempfile.TemporaryDirectory() as place:
        answers = []
        for name, text in (("file", values.replace(" ", "\n")),
                           ("line", f"{values} # by coll_pipering_machine; Open MPI 5.0.7, modules "
                                    "below: han")):
            path = os.path.join(place, name)
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text + "\n")
            answer = predict("--machine", path, "--ranks", 8, "--total", "1M")
            answers.append([one["model_seconds"] for one in answer["algorithms"]])
    assert answers[0] == answers[1], answers


def test_processors():
    """ranks that share processors handle blocks more slowly, and links stay as they are"""
    words = ("--ranks", 8, "--total", "1M", "--cost", "net_beta=1")
    few, many = (chosen(predict(*words, "--processors", processors))["model_seconds"]
                 for processors in ("0.25", "4"))
    assert few > 1.5 * many, (few, many)
    status, _, error = run("--processors", "0")
    assert 0 != status and "above 0" in error, error


def test_below():
    """the modules below are those that are named"""
    words = ("--collective", "bcast", "--ranks", 8, "--total", "1M")
    times = [chosen(predict(*words, "--below", name))["rival_seconds"]
             for name in ("any", "tuned", "han", "tuned-6.0", "han-6.0")]
    assert times[0] <= min(times[1:3]), times
    status, _, error = run("--below", "xhc")
    assert 0 != status and "expected one of: any tuned han tuned-6.0 han-6.0" in error, error


def test_machines():
    """machine files of this tree are read"""
    folder = os.path.join(tap.TUNING, "machines")
    names = sorted(os.listdir(folder))
    assert names
    for name in names:
        answer = predict("--machine", os.path.join(folder, name), "--ranks", 8, "--total", "1M")
        assert answer["machine"].endswith(name)


def measured():
    """Milliseconds of the tables of docs/results.md for 1 MiB on 8 nodes at 100 Mbit/s."""
    total, rate, nodes = 1 << 20, 12.5e3, 8
    rows, section = {}, ""
    with open(os.path.join(tap.ROOT, "docs", "results.md"), encoding="utf-8") as page:
        for line in page:
            section = line.strip("# \n") if line.startswith("## ") else section
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if section == "MPI_Allgatherv" and len(cells) == 6 and "." in cells[2]:
                rows["--dist", cells[0].split()[0]] = float(cells[2])
            if section.startswith("Broadcast, reductions") and cells[0].startswith("`MPI_") \
                    and cells[0].endswith("`") and "." in cells[-1]:
                name = cells[0].strip("`")[4:].lower()
                volume = 2 * (nodes - 1) / nodes if name == "allreduce" else 1
                rows["--collective", name] = total * volume / rate / float(cells[-1])
    return rows


def test_results():
    """published times of the testbed are predicted within 10%, and ranked alike"""
    machine = os.path.join(tap.TUNING, "machines", "testbed-100mbit")
    rows = measured()
    assert len(rows) == 11, rows
    found = {what: 1e3 * chosen(predict("--machine", machine, "--ranks", 8, "--total", "1M",
                                        *what))["model_seconds"] for what in rows}
    for what, time in rows.items():
        assert abs(found[what] / time - 1) <= 0.10, (what, time, found[what])
        for other, longer in rows.items():
            if longer > 1.1 * time:
                assert found[other] > found[what], (what, other)


def test_explain():
    """--explain draws chains and trees with all of their ranks, and splits the time"""
    cases = ((["--ranks", 6, "--dist", "spike"], "order: "),
             (["--collective", "bcast", "--ranks", 6], "pipeline 1 of 1, from rank 0"),
             (["--collective", "scan", "--ranks", 6], "to rank 5"),
             (["--collective", "bcast", "--mesh", "2x3"], "pipeline 2 of 2"),
             (["--collective", "reduce", "--mesh", "2x3"], "pipeline 2 of 2, to rank 0"))
    for words, drawn in cases:
        status, out, _ = run(*words, "--total", "1M", "--explain")
        assert status == 0 and drawn in out and "where the time goes" in out, out
        picture = out[out.index(drawn):out.index("where the time goes")]
        for rank in range(6):
            assert str(rank) in picture, picture


def test_defaults():
    """its defaults are those that ompi_info reports, so a file of them changes nothing"""
    info = os.path.join(os.environ.get("OMPI_PREFIX", "/nonexistent"), "bin", "ompi_info")
    if not os.access(info, os.X_OK):
        print("# OMPI_PREFIX has no ompi_info: not compared")
        return
    lines = subprocess.run([info, "--parsable", "--param", "coll", "pipering", "--level", "9"],
                           capture_output=True, text=True, timeout=LIMIT, check=True).stdout
    assert "coll_pipering_rounds_max_total:value:" in lines
    values = [line.split(":param:", 1)[1].split(":value:", 1) for line in lines.splitlines()
              if ":param:" in line and ":value:" in line]
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.writelines(f"{name} = {value}\n" for name, value in values if ":" not in name)
        file.flush()
        for words in (["--ranks", 12, "--dist", "outlier", "--total", "100K"],
                      ["--ranks", 16, "--ppn", 4, "--total", "4M"],
                      ["--collective", "allreduce", "--ranks", 9, "--total", 720720]):
            assert predict("--params", file.name, *words) == predict(*words), words


def test_params():
    """a parameter file is read as Open MPI reads it; variables of others do not matter"""
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write("# tuned\nbtl = tcp,self\ncoll_pipering_block_size=1000\n"
                   "coll_pipering_verbose = 1\n")
        file.flush()
        answer = predict("--params", file.name, "--ranks", 8, "--dist", "spike", "--total", "1M")
        assert by_name(answer)["ring"]["block"] == 1000
        file.write("coll_pipering_window=5000\n")
        file.flush()
        status, out, error = run("--params", file.name, "--ranks", 8, "--total", "1M")
        assert status == 2 and not out and error.count("\n") == 1, (status, out, error)
        assert "line 5" in error and "coll_pipering_window" in error, error


def test_units():
    """whole numbers are read as Open MPI reads them"""
    for text, block in (("4k", 4096), ("4KiB", 4096), ("0x1000", 4096), ("010000", 4096),
                        ("1mb", 1 << 20)):
        answer = predict("--ranks", 8, "--dist", "broadcast", "--total", "8M",
                         "--set", f"coll_pipering_block_size={text}")
        assert by_name(answer)["ring"]["block"] == block, (text, by_name(answer)["ring"])


def test_bad_input():
    """bad input: one sentence that names it, exit status 2, nothing on standard output"""
    with tempfile.NamedTemporaryFile("w", suffix=".bad") as file:
        file.write("net_alpha = 3\nnonsense\n")
        file.flush()
        bad = file.name
        cases = ((["--ranks", "0"], "--ranks 0"),
                 (["--ranks", "65537"], "65536"),
                 (["--ranks", "8"], "--total"),
                 (["--total", "1M"], "--ranks is missing"),
                 (["--ranks", "8", "--total", "1X"], "1X"),
                 (["--ranks", "8", "--total", "1M", "--dist", "bell"], "bell"),
                 (["--collective", "gather"], "gather"),
                 (["--collective", "barrier", "--ranks", 4], "--mesh"),
                 (["--collective", "barrier", "--mesh", "4", "--total", 8], "--total"),
                 (["--collective", "alltoall", "--mesh", "4"], "--total"),
                 (["--collective", "alltoall", "--mesh", "4", "--dist", "spike"], "counts"),
                 (["--collective", "alltoall", "--mesh", "4", "--total", "9G"], "2147483647"),
                 (["--collective", "bcast", "--ranks", 8, "--total", 8, "--root", 8], "--root 8"),
                 (["--collective", "bcast", "--ranks", 8, "--dist", "spike"], "counts"),
                 (["--collective", "reduce", "--ranks", 8, "--total", "7"], "multiple"),
                 (["--ranks", 8, "--counts", "/nonexistent"], "/nonexistent"),
                 (["--machine", bad], "line 2"),
                 (["--machine", "/nonexistent"], "/nonexistent"),
                 (["--cost", "net_alpha=-1"], "net_alpha"),
                 (["--cost", "speed=1"], "speed"),
                 (["--set", "coll_pipering_speed=1"], "coll_pipering_speed"),
                 (["--set", "coll_pipering_window=5000"], "4096"),
                 (["--set", "coll_pipering_window=5k"], "4096"),
                 (["--set", "coll_pipering_block_size=4ki"], "4ki"),
                 (["--set", "coll_pipering_block_size=k"], "whole"),
                 (["--collective", "bcast", "--ranks", 8, "--total", "2G"], "2147483647"),
                 (["--collective", "reduce", "--ranks", 8, "--total", "16G"], "2147483647"),
                 (["--set", "coll_pipering_bcast_algorithm=ring"], "pipeline"),
                 (["--mesh", "4x0", "--total", "1M"], "4x0"),
                 (["--mesh", "1", "--total", "1M"], "expected 2 to 65536"),
                 (["--mesh", "300x300", "--total", "1M"], "90000"),
                 (["--mesh", "4x4", "--ppn", 5000, "--total", "1M"], "65536 ranks"),
                 (["--mesh", "4x4", "--ranks", 7, "--total", "1M"], "16 vertices"),
                 (["--mesh", "4x4", "--counts", "-", "--total", "1M"], "empty"),
                 (["--frobnicate", "1"], "--frobnicate"),
                 (["--total"], "--total"))
        for words, named in cases:
            status, out, error = run(*words, stdin="")
            assert status == 2 and not out, (words, status, out)
            assert error.count("\n") == 1 and named in error, (words, error)
            assert error.endswith("; nothing was predicted\n"), error
    for text, named in (("1 2 x", "count 3"), ("-1", "count 1"), ("", "empty"),
                        ("\n", "empty"), ("1 \0 2", "count 2"), ("1\0", "count 2")):
        status, out, error = run("--counts", "-", stdin=text)
        assert status == 2 and not out and named in error, (text, error)


def test_output():
    """an answer that cannot be written is an error"""
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([DOOR, "--ranks", "8", "--total", "1M"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
        assert done.returncode == 2 and "cannot be written" in done.stderr, done.stderr


def copy_tree(root):
    """What the program is made of, in another tree."""
    for folder in ("contrib/tuning/predict", "ompi/mca/coll/pipering", "ompi/mca/common/colltools",
                   "test/bench/traff"):
        shutil.copytree(os.path.join(tap.ROOT, folder), os.path.join(root, folder))
    return shutil.copy(DOOR, os.path.join(root, "contrib", "tuning"))


def test_trees():
    """trees that share a directory have a program each, and blanks in their paths do not matter"""
    with tempfile.TemporaryDirectory(suffix=" a tree") as root:
        quick = os.path.join(root, "cc")
        with open(quick, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nexec cc "$@" -O0\n')
        os.chmod(quick, 0o755)
        door = copy_tree(root)
        source = os.path.join(root, "contrib", "tuning", "predict", "predict_options.c")
        environment = {**os.environ, "BUILD_DIR": os.path.join(root, "build"), "CC": quick}
        for name in ("pipering-predict", "another-predict"):
            with open(source, encoding="utf-8") as file:
                text = file.read()
            with open(source, "w", encoding="utf-8") as file:
                file.write(text.replace("usage: pipering-predict", f"usage: {name}"))
            os.utime(source, (1, 1))  # older than any program
            done = subprocess.run([door, "--help"], capture_output=True, text=True, timeout=LIMIT,
                                  env=environment, check=False)
            assert (done.returncode, done.stderr) == (0, ""), done
            assert done.stdout.startswith(f"usage: {name}"), done.stdout


def test_compiler():
    """without a compiler, or a directory to write, there is one sentence"""
    with tempfile.TemporaryDirectory() as empty:
        status, out, error = run("--help", BUILD_DIR=empty, CC="no-such-compiler")
        assert status == 2 and not out and "no-such-compiler" in error, error
        status, out, error = run("--help", BUILD_DIR="/proc/x", XDG_CACHE_HOME="/proc/y")
        assert status == 2 and not out and "BUILD_DIR" in error, error


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
