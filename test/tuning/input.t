#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Bad input and failing machines: one clear sentence, an exit status not 0, nothing lost."""

import os
import shutil
import subprocess
import sys
import tempfile
from types import SimpleNamespace
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from posed_place import PLAIN, SETTING, Place, refused, script, tuned  # noqa: E402
from pipering_tuning import (command_line, files, launch, ompi_info, preflight,  # noqa: E402
                             prove, tune)


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
    tuned(place, "out", "--start", "coll_pipering_procesors=1",
          words=["5.0.7 has no variable coll_pipering_procesors", "coll_pipering_processors is meant"])
    tuned(place, "out", "--start", "coll_pipering_processors=-3", words=["-3", "0 to 1000000"])
    tuned(place, "out", "--start", "coll_pipering_processors=fast", words=["fast", "0 to 1000000"])
    tuned(place, "out", "--start", "coll_pipering_bcast_algorithm=best",
          words=["best", "auto, pipeline, tree, mesh_trees, off"])
    tuned(place, "out", "--start", "coll_pipering_processors", words=["VARIABLE=VALUE"])
    with open(os.path.join(place.path, "start.conf"), "w", encoding="utf-8") as stream:
        stream.write("# mine\ncoll_pipering_processors = 4\nnothing\n")
    tuned(place, "out", "--start-file", "start.conf", words=["start.conf, line 3"])
    tuned(place, "out", "--start-file", "other.conf", words=["other.conf", "No such file"])


def test_files_of_settings():
    """files to prove, and to prove against, are checked before anything is run"""
    place = Place()
    for name, text in (("good", "coll_pipering_processors=4"), ("bad", "coll_pipering_procesors=4"),
                       ("high", "coll_pipering_processors=1e9")):
        files.write(os.path.join(place.path, name), text + "\n")
    tuned(place, "out", "--prove", "bad", words=["bad: Open MPI 5.0.7 has no variable"])
    tuned(place, "out", "--prove", "good", "--against", "bad", words=["bad: Open MPI 5.0.7 has"])
    tuned(place, "out", "--prove", "good", "--against", "high", words=["high: ", "0 to 1000000"])
    tuned(place, "out", "--prove", "good", "--against", "none", words=["none cannot be read"])


def test_environment():
    """variables that files are to set, but the environment does, are refused at the beginning"""
    place = Place()
    srun = script(place.path, "srun", "exit 1\n")
    files.write(os.path.join(place.path, "conf"), "coll_pipering_processors=4\n")
    files.write(os.path.join(place.path, "other"), "coll_pipering_rounds_packed=4\n")
    word = "OMPI_MCA_coll_pipering_rounds_packed"
    for more in ([], ["--launch", srun], ["--prove", "other"], ["--start", word[9:] + "=4"],
                 ["--prove", "conf", "--against", "other"], ["--variables", "*_packed"]):
        tuned(place, "out", *more, words=[word + " is set", "unset it"], **{word: "8"})
    for more in (["--variables", "coll_pipering_block_size"], ["--prove", "conf"]):
        tuned(place, "out", *more, words=["failed with status 1"], **{word: "8"})
    rules = "OMPI_MCA_coll_tuned_use_dynamic_rules"
    tuned(place, "out", words=[rules + " is set"], **{rules: "1"})


def test_jobs_set_already():
    """variables that the options of mpirun set, but files are to set, are refused at the
    beginning"""
    place = Place(SETTING)
    files.write(os.path.join(place.path, "conf"), "coll_pipering_block_size=4096\n")
    mca = ["--mpirun-args", "--mca pml ob1 --mca coll_pipering_block_size 4k --mca x 'a b'"]
    words = ["begin with coll_pipering_block_size=4k", "--start coll_pipering_block_size=4k in its place"]
    for more in ([], ["--variables", "coll_pipering_block_size"],
                 ["--start", "coll_pipering_block_size=4096"], ["--dry-run"]):
        tuned(place, "out", *mca, *more, words=words)
    launch_by = ["--launch", f"{place.mpirun} --mca coll_pipering_block_size 4k"]
    tuned(place, "out", *launch_by, words=words)
    assert os.listdir(os.path.join(place.path, "out")) == []
    tuned(place, "out", "--mpirun-args", "--mca coll_tuned_use_dynamic_rules 1",
          words=["begin with coll_tuned_use_dynamic_rules=1"])
    # What is not tuned may be set, and what a file to prove sets alike.
    for more in (["--variables", "coll_pipering_rounds_packed"], ["--prove", "conf"],
                 ["--start", "coll_pipering_block_size=4096", "--variables", "coll_pipering_rounds_packed"]):
        tuned(place, "out", *mca, *more, "--dry-run", status=0)
    files.write(os.path.join(place.path, "conf"), "coll_pipering_block_size=5000\n")
    tuned(place, "out", *mca, "--prove", "conf", words=words)


def given(*words):
    """What pipering-tune hands to a proof of files that it is given with these words, and what it
    says behind it."""
    seen, said, good = [], [], prove.Proof(True, "The file helps.", [], None, 3)
    run = tune.Tuning(command_line.parse(list(words)), list(words))
    run.directory, run.table = files.make_directory(words[0]), ompi_info.Table(posed.ompi_info())
    run.start = {}
    run.proven = tune.checked(run.options.prove, run.table)
    run.against = tune.checked(run.options.against, run.table)
    run.launcher, run.say = SimpleNamespace(forms=["tune"]), said.append
    run.measure_machine = run.try_calls = lambda: None
    run.measurer = SimpleNamespace(records=lambda: [])
    run.prove = lambda *paths: seen.extend(paths) or good
    run.write_results = lambda _, path: seen.append(path)
    run.prove_only()
    return seen, said


def test_files_with_blanks():
    """of files to prove, jobs are given copies in the output directory that mpirun can read"""
    with tempfile.TemporaryDirectory() as directory:
        names = [os.path.join(directory, name) for name in ("one, two.conf", "other.conf")]
        for name, text in zip(names, ("# mine\n\n coll_pipering_processors = 4 \n",
                                      "coll_pipering_processors =5")):
            files.write(name, text)
        out = os.path.join(directory, "out")
        seen, said = given(out, "--prove", names[0])
        path = os.path.join(out, "prove.conf")
        assert seen == [path, None, path] and files.read(path) == "coll_pipering_processors=4\n", seen
        assert any(f"use: mpirun --tune {path}" in line for line in said), said
        seen, said = given(out, "--prove", names[0], "--against", names[1])
        other = os.path.join(out, "against.conf")
        assert seen == [path, other, path], seen
        assert files.read(other) == "coll_pipering_processors=5\n"
        assert not any("use:" in line for line in said), said


def test_quotes():
    """an option whose quotes do not close is named"""
    for option in ("--mpirun-args", "--launch"):
        tuned(Place(), "out", option, "--mca x 'y", words=[option, "quote closed", "No closing"])


def test_silent_node():
    """a node without getconf, or whose load cannot be read, is told and measured on"""
    programs = ["uname", "sed", "head", "env"]
    for there, said in ((programs, True), ([*programs, "grep"], False)):
        place = Place(PLAIN.replace('"$@"', 'PATH=$PWD/bin "$@"'))
        os.mkdir(os.path.join(place.path, "bin"))
        for name in there:
            os.symlink(shutil.which(name), os.path.join(place.path, "bin", name))
        tuned(place, "out", "-n", "2", "--dry-run", status=0)
        words = f"{os.uname().nodename} cannot say how many processors they have"
        assert said == (words in place.output), (there, place.output)


def test_dry_run():
    """a dry run names what would be raced, and nothing else"""
    place = Place(PLAIN)
    for words, names in (([], {"coll_pipering_alltoall_small", "coll_pipering_reduce_algorithm"}),
                         (["--variables", "*_small"], {"coll_pipering_alltoall_small"}),
                         (["--collectives", "exscan"], {"coll_pipering_machine",
                                                        "coll_pipering_exscan_algorithm"}),
                         (["--prove", "conf"], set())):
        files.write(os.path.join(place.path, "conf"), "coll_pipering_processors=4\n")
        tuned(place, "out", "-n", "2", "--dry-run", *words, status=0)
        raced = {name for line in place.output.splitlines() if line.startswith("would race")
                 for name in line[len("would race "):].split(", ")}
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


def test_blind_nodes():
    """nodes that do not see the output directory are named, and the directory too"""
    with tempfile.TemporaryDirectory() as directory:
        kernel = script(directory, "kernel-1", "exit 0\n")
        for words, blind in (('"$@"', False), ('"$@"; rm -f kernel-1; "$@"', True),
                             ('"$@"; touch kernel-1; "$@"', True)):
            runs = script(directory, "runs", f"cd {directory}\n{words}\n")
            launcher = launch.Launcher([runs])
            if blind:
                text = refused(lambda: preflight.check_program(launcher, kernel), kernel,
                               f"directory {directory} must", "nothing was measured")
                assert text.startswith(os.uname().nodename + " cannot run"), text
            else:
                preflight.check_program(launcher, kernel)


def test_files():
    """a file is written whole or not at all, and a full disk is one sentence"""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "tuned.conf")
        files.write(path, files.settings_text({"b": "2", "a": "1"}, ["why", ""]))
        assert files.read(path) == "# why\n#\na=1\nb=2\n"
        assert files.read_settings(path) == {"a": "1", "b": "2"}
        refused(lambda: files.write(os.path.join(directory, "no", "x"), ""), "no/x cannot be")
        assert os.listdir(directory) == ["tuned.conf"]
        with mock.patch.object(os, "fsync", side_effect=KeyboardInterrupt):
            try:
                files.write(path, "another")
            except KeyboardInterrupt:
                pass
        assert os.listdir(directory) == ["tuned.conf"] and "why" in files.read(path)


def test_bytes():
    """paths that are no text are printed escaped, and written to files as they are"""
    name = os.fsdecode(b"hosts\xff")
    place = Place(PLAIN)
    files.write(os.path.join(place.path, name), "n0\n")
    tuned(place, "out", "-n", "2", "--dry-run", "--hostfile", name, status=0,
          PYTHONIOENCODING="utf-8:strict")
    assert "hosts\\udcff" in place.output, place.output
    tuned(place, os.path.join(name, "out"), words=["hosts\\udcff", "cannot be written"],
          PYTHONIOENCODING="utf-8:strict")
    path = os.path.join(place.path, "tuned.conf")
    files.write(path, files.settings_text({"a": "/x/" + name}, ["of " + name]))
    with open(path, "rb") as stream:
        assert stream.read() == b"# of hosts\xff\na=/x/hosts\xff\n"
    assert files.read_settings(path) == {"a": "/x/" + name}


def test_old_python():
    """an older Python is told at once which one is needed"""
    for door in ("contrib/tuning/pipering-tune", "contrib/tuning/pipering-why",
                 "test/bench/figures/figures"):
        program = ("import runpy, sys; sys.version_info = (3, 6, 8, 'final', 0); "
                   "sys.modules['dataclasses'] = None; sys.argv = sys.argv[1:]; "
                   "runpy.run_path(sys.argv[0], run_name='__main__')")
        run = subprocess.run([sys.executable, "-c", program, os.path.join(tap.ROOT, door),
                              "--help"], capture_output=True, text=True, timeout=300, check=False)
        assert (run.returncode, run.stdout) == (1, ""), run
        assert run.stderr == (f"{os.path.basename(door)} needs Python 3.9 or later, and this is "
                              "Python 3.6; nothing was done\n"), run


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
