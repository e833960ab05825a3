#!/usr/bin/env python3
# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Variables of Open MPI as ompi_info shows them, and whether jobs take a parameter file."""

import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402
import posed  # noqa: E402
from posed_place import Place, refused, script  # noqa: E402
from pipering_tuning import files, launch, ompi_info, preflight  # noqa: E402


def test_table():
    """ompi_info's answer is read: values, ranges, units, meanings of 0, enumerations"""
    table = ompi_info.Table(posed.ompi_info())
    number = table.get("coll_pipering_processors")
    assert (number.low, number.high, number.zero) == (0, 1e6, "those that processes may use")
    assert number.same("0", "0.000000") and number.complaint("2e6")
    rule = table.get("coll_tuned_bcast_algorithm")
    assert rule.values == ["ignore", "linear", "quick", "two_proc"] and not rule.writable
    assert rule.numbers["quick"] == 2
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
        + posed.parameter("x_switch", "false", "bool", values=("false", "true"))
        + posed.parameter("x_flags", "send", "int")
        + "".join(f"mca:coll:posed:param:x_flags:enumerator:value:{bit}:{name}\n"
                  for bit, name in ((1, "send"), (2, "put"), (4, "get"))))
    legal = {"x_double": ("-4", "1e300", "0.5", "inf"), "x_limited": ("1G", "0"),
             "x_int": ("-1", "64k", "0x10", "2147483647"), "x_unsigned": ("4294967295",),
             "x_size": ("-1", "4G", "64KiB", "18446744073709551615"),
             "x_word": ("1", "Linear", "ignore"), "x_switch": ("yes", "0", "t", "disabled"),
             "x_flags": ("put", "send,get", "2,Send")}
    wrong = {"x_double": ("fast", "64k", "1_0", "nan", ""), "x_limited": ("2G", "-1"),
             "x_int": ("2147483648", "1e5", "4.5", "09"), "x_unsigned": ("-1", "4g"),
             "x_size": ("big", "4T"), "x_word": ("2", "lin", "ignore,linear"),
             "x_switch": ("maybe",), "x_flags": ("send,fly", "")}
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


# Values are those of the parameter file, changed by SET, among those of other variables.
SHOWING = r"""
case "$*" in '--parsable --all --level 9') ;; *) exit 9 ;; esac
for number in 1 2 3 4 5 6 7 8 9; do
    echo "mca:coll:tuned:param:coll_tuned_other_$number:value:1"
done
for file in $(echo "$OMPI_MCA_mca_base_param_files" | tr , ' '); do
    sed -n 's/^\([a-z_]*\)=\(.*\)/mca:some:one:param:\1:value:\2/p' "$file"
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
        for name, kind in (("coll_pipering_processors", "double"), ("coll_mleader_segment_size", "size_t"),
                           ("coll_tuned_use_dynamic_rules", "string"),
                           ("mpi_yield_when_idle", "string")):
            lines += [f"mca:some:one:param:{name}:{field}" for field in ("value:0", f"type:{kind}")]
        self.table = ompi_info.Table("\n".join(lines))
        self.settings = {"coll_pipering_processors": "0.0123457", "coll_mleader_segment_size": "64k",
                         "coll_tuned_use_dynamic_rules": "true", "mpi_yield_when_idle": "1"}
        self.file = os.path.join(self.place.path, "tuned.conf")
        files.write(self.file, files.settings_text(self.settings))
        self.launcher = launch.Launcher(["env", f"SET={change}", "sh", "-c", TWO_RANKS, "job"])

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


def test_short_job():
    """a rank outlives its start, at which PRRTE can lose the end of a process"""
    begun = time.monotonic()
    said = preflight.run_plainly(launch.Launcher(["env"]), "echo here")
    assert "here\n" == said and 0.2 <= preflight.WAIT <= time.monotonic() - begun, said


def test_not_taken():
    """a file that a job does not take is refused, and what was measured is said to be kept"""
    for change, words in (("s/64k/9/", ["coll_mleader_segment_size 9, not 64k"]),
                          ("/mleader/d", ["coll_mleader_segment_size nowhere"])):
        text = refused(Taking(change).check, *words, "tuned.conf", "what was measured is kept")
        assert "nothing was measured" not in text, text
    broken = Taking()
    os.unlink(os.path.join(broken.place.path, "bin", "ompi_info"))
    refused(broken.check, "failed with status 127", "what was measured is kept")


if __name__ == "__main__":
    sys.exit(tap.run(globals()))
