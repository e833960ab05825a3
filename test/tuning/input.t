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
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from posed_place import PLAIN, SETTING, Place, script, tuned  # noqa: E402
from pipering_tuning import command_line, files, launch, ompi_info, prove, tune  # noqa: E402


def test_options():
    """options that are not legal are refused before anything is run"""
    place = Place()
    for words in (["out", "--budget", "0"], [], ["out", "--nonsense"]):
        tuned(place, *words, status=2, words=["pipering-tune"])
    tuned(place, "out", "--variables", "coll_pipering_gamma", words=["coll_pipering_gamma"])
    tuned(place, "out", "--collectives", "gather", words=["gather", "legal are", "bcast"])


def test_settings():
    """a setting of a variable that is not there, or out of its range, is refused, in files of what
    is in force and in those to prove, before anything is run"""
    place = Place()
    path = os.path.join(place.path, "conf")
    for line, words in (
            ("coll_pipering_procesors=1", ["5.0.7 has no variable coll_pipering_procesors",
                                           "coll_pipering_processors is meant"]),
            ("coll_pipering_processors=-3", ["-3", "0 to 1000000"]),
            ("coll_pipering_processors=fast", ["fast", "0 to 1000000"]),
            ("coll_pipering_bcast_algorithm=best", ["auto, pipeline, tree, mesh_trees, off"]),
            ("# mine\ncoll_pipering_processors = 4\nnothing", ["conf, line 3", "VARIABLE=VALUE"])):
        files.write(path, line + "\n")
        for option in ("--start", "--prove"):
            tuned(place, "out", option, "conf", words=["conf", *words])
    tuned(place, "out", "--start", "other", words=["other: No such file", "nothing was measured"])


def test_environment():
    """variables that files are to set, but the environment does, are refused at the beginning"""
    place = Place(PLAIN)
    files.write(os.path.join(place.path, "conf"), "coll_pipering_processors=4\n")
    files.write(os.path.join(place.path, "other"), "coll_pipering_rounds_packed=4\n")
    word = "OMPI_MCA_coll_pipering_rounds_packed"
    for more in ([], ["--prove", "other"], ["--start", "other"],
                 ["--prove", "conf", "--start", "other"], ["--variables", "*_packed"]):
        tuned(place, "out", *more, words=[word[9:] + "=8", f"unset {word}"], **{word: "8"})
    for more in (["--variables", "coll_pipering_block_size"], ["--prove", "conf"]):
        tuned(place, "out", "--dry-run", *more, status=0, **{word: "8"})
    rules = "OMPI_MCA_coll_tuned_use_dynamic_rules"
    tuned(place, "out", words=[rules + ","], **{rules: "1"})


def test_jobs_set_already():
    """variables that the options of mpirun set, but files are to set, are refused at the
    beginning"""
    place = Place(SETTING)
    files.write(os.path.join(place.path, "conf"), "coll_pipering_block_size=4096\n")
    files.write(os.path.join(place.path, "start"), "coll_pipering_block_size=4096\n")
    mca = ["--launch", f"{place.mpirun} --mca coll_pipering_block_size 4k --mca x 'a b'"]
    words = ["begin with coll_pipering_block_size=4k", "file of --start in its place"]
    for more in ([], ["--variables", "coll_pipering_block_size"], ["--start", "start"],
                 ["--dry-run"]):
        tuned(place, "out", *mca, *more, words=words)
    assert os.listdir(os.path.join(place.path, "out")) == []
    tuned(place, "out", "--launch", place.mpirun + " --mca coll_tuned_use_dynamic_rules 1",
          words=["begin with coll_tuned_use_dynamic_rules=1"])
    # What is not tuned may be set, and what a file to prove sets alike.
    for more in (["--variables", "coll_pipering_rounds_packed"], ["--prove", "conf"],
                 ["--start", "start", "--variables", "coll_pipering_rounds_packed"]):
        tuned(place, "out", *mca, *more, "--dry-run", status=0)
    files.write(os.path.join(place.path, "conf"), "coll_pipering_block_size=5000\n")
    tuned(place, "out", *mca, "--prove", "conf", words=words)


def test_files_with_blanks():
    """of files to prove, and of those in force, jobs are given copies in the output directory that
    mpirun can read"""
    with tempfile.TemporaryDirectory() as directory:
        names = [os.path.join(directory, name) for name in ("one, two.conf", "other.conf")]
        for name, text in zip(names, ("# mine\n\n coll_pipering_processors = 4 \n",
                                      "coll_pipering_processors =5")):
            files.write(name, text)
        out = files.make_directory(os.path.join(directory, "out"))
        run = tune.Tuning(command_line.parse([out, "--prove", names[0]]), [])
        run.directory, run.table = out, ompi_info.Table(posed.ompi_info())
        run.proven, run.start = run.checked(names[0]), run.checked(names[1])
        seen, good = [], prove.Proof(True, "The file helps.")
        run.measure_machine = lambda: None
        run.prove = lambda path: seen.append(path) or good
        run.conclude = lambda _, path: seen.append(path)
        assert 0 == run.prove_only()
        path = os.path.join(out, "prove.conf")
        assert seen == [path] * 2 and files.read(path) == "coll_pipering_processors=4\n", seen
        assert files.read(run.start_path()) == "coll_pipering_processors=5\n"


def test_quotes():
    """a command whose quotes do not close, or that is not there, is named"""
    tuned(Place(), "out", "--launch", "mpirun --mca x 'y", words=["--launch", "quote closed",
                                                                 "No closing"])
    tuned(Place(), "out", "--launch", "/nowhere/mpirun -n 2", words=["/nowhere/mpirun"])


def test_silent_node():
    """a node without getconf, or whose load cannot be read, is told and measured on"""
    programs = ["uname", "sed", "head", "env"]
    for there, said in ((programs, True), ([*programs, "grep"], False)):
        place = Place(PLAIN.replace('"$@"', 'PATH=$PWD/bin "$@"'))
        os.mkdir(os.path.join(place.path, "bin"))
        for name in there:
            os.symlink(shutil.which(name), os.path.join(place.path, "bin", name))
        tuned(place, "out", "--dry-run", status=0)
        words = f"{os.uname().nodename} cannot say how many processors or what load they"
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
        tuned(place, "out", "--dry-run", *words, status=0)
        raced = {name for line in place.output.splitlines() if line.startswith("would race")
                 for name in line[len("would race "):].split(", ")}
        assert raced == names if words else raced > names, (words, place.output)
        assert "would prove" in place.output and os.listdir(os.path.join(place.path, "out")) == []


def test_installation():
    """an Open MPI that is not there, or has no coll/pipering, is named"""
    text = "ompi:version:full:5.0.7\npath:prefix:/posed\n"
    tuned(Place(info=text), "out", words=["coll/pipering", "5.0.7"])
    tuned(Place(info=""), "out", words=["ompi_info"])
    place = Place()
    os.unlink(os.path.join(place.path, "ompi_info"))
    tuned(place, "out", words=["ompi_info cannot be run", "PATH has its"], PATH=place.path)


def test_beside_srun():
    """Open MPI's variables are those of its own mpirun; beside srun there may be another one's"""
    place, other = Place(), Place(info="")
    there = {"PATH": f"{place.path}:{other.path}:{os.environ['PATH']}", "OMPI_PREFIX": ""}
    place.mpirun = script(other.path, "srun", "true\n")
    tuned(place, "out", words=["no rank answered"], **there)
    place.mpirun = other.mpirun
    tuned(place, "out", words=["ompi_info"], **there)


def test_mpirun():
    """an mpirun that fails is quoted by the line that says why"""
    message = ("echo '-----' >&2; echo 'ssh: Could not resolve hostname nope: Name or service not "
               "known' >&2; echo 'daemon died' >&2; exit 213")
    tuned(Place(message), "out", words=["Could not resolve hostname nope", "213"])
    tuned(Place("exit 1"), "out", words=["failed with status 1"])
    tuned(Place("true"), "out", words=["no rank answered"])
    tuned(Place(PARSING), "out", words=["parse error", "line number 2", "corse"])


PARSING = """cat >&2 <<'END'
--------------------------------------------------------------------------
PRTE detected a parse error in the hostfile:

   /posed/hosts

It occured on line number 2 on token 5:

   corse
--------------------------------------------------------------------------
END
exit 213"""


def test_launcher():
    """parameter files reach the program by its environment, whatever starts it"""
    launcher = launch.make("env -u X")
    assert launcher.argv(["p", "x"]) == ["env", "-u", "X", "p", "x"] and "env -u X" == str(launcher)
    launcher.conf_files = "/a,/b"
    assert launcher.argv(["p"], "/f") == [
        "env", "-u", "X", "env", "OMPI_MCA_mca_base_param_files=/f,/a,/b", "p"]


def test_output():
    """a directory that cannot be written is refused before anything is run"""
    place = Place()
    open(os.path.join(place.path, "file"), "w", encoding="utf-8").close()
    tuned(place, "file/out", words=["file/out: Not a directory", "nothing was measured"])
    tuned(place, "a,b", words=["comma"])


def test_files():
    """a file is written whole or not at all, and a full disk is one sentence"""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "tuned.conf")
        files.write(path, files.settings_text({"b": "2", "a": "1"}, ["why", ""]))
        assert files.read(path) == "# why\n#\na=1\nb=2\n"
        assert files.read_settings(path) == {"a": "1", "b": "2"}
        for name in ("no/x", "tuned.conf/x"):
            try:
                files.write(os.path.join(directory, name), "")
                assert False, "was not refused"
            except OSError as error:
                assert error.filename.endswith(name), error
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
    tuned(place, "out", "--dry-run", "--launch", f"{place.mpirun} --hostfile {name}", status=0,
          PYTHONIOENCODING="utf-8:strict")
    assert "hosts\\udcff" in place.output, place.output
    tuned(place, os.path.join(name, "out"), words=["hosts\\udcff", "Not a directory"],
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
