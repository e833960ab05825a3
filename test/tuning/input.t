#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Bad input and failing machines: one clear sentence, an exit status not 0, nothing lost."""

import os
import subprocess
import sys
import tempfile
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
from posed_place import Place, script, tuned  # noqa: E402
from pipering_tuning import files, launch  # noqa: E402


def test_options():
    """options that are not legal are refused before anything is run"""
    place = Place()
    for words in ([], ["out", "--nonsense"], ["out", "other"]):
        tuned(place, *words, status=2, words=["pipering-tune"])


def test_quotes():
    """a command whose quotes do not close, or that is not there, is named"""
    tuned(Place(), "out", "--launch", "mpirun --mca x 'y", words=["--launch", "quote closed",
                                                                 "No closing"])
    tuned(Place(), "out", "--launch", "/nowhere/mpirun -n 2", words=["/nowhere/mpirun"])


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
    """variables reach the program by its environment, whatever starts it"""
    launcher = launch.make("env -u X")
    assert launcher.argv(["p", "x"]) == ["env", "-u", "X", "p", "x"] and "env -u X" == str(launcher)
    assert launch.make("env -u X", ["A=b"]).argv(["p"]) == ["env", "-u", "X", "env", "A=b", "p"]


def test_output():
    """a directory that cannot be written is refused before anything is run"""
    place = Place()
    open(os.path.join(place.path, "file"), "w", encoding="utf-8").close()
    tuned(place, "file/out", words=["file/out: Not a directory", "nothing is recommended"])
    tuned(place, "a,b", words=["comma"])


def test_files():
    """a file is written whole or not at all, and a full disk is one sentence"""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "tuned.conf")
        files.write(path, "a=1\n")
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
        with open(path, encoding="utf-8") as stream:
            assert os.listdir(directory) == ["tuned.conf"] and "a=1\n" == stream.read()


def test_bytes():
    """paths that are no text are printed escaped, and written to files as they are"""
    name = os.fsdecode(b"hosts\xff")
    place = Place("exit 1")
    files.write(os.path.join(place.path, name), "n0\n")
    for words in (["out", "--launch", f"{place.mpirun} --hostfile {name}"],
                  [os.path.join(name, "out")]):
        tuned(place, *words, words=["hosts\\udcff"], PYTHONIOENCODING="utf-8:strict")
    path = os.path.join(place.path, "tuned.conf")
    files.write(path, f"# of {name}\n")
    with open(path, "rb") as stream:
        assert stream.read() == b"# of hosts\xff\n"


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
