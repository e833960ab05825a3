# Copyright (c) 2026 The pipering authors. All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
"""Records of collective calls: one file for each process of a job, written by the library of
contrib/tuning/why. Their form is declared in why_table.h there.

A file may be read while the program runs, and is there however it ended.
"""

import os
import struct
from collections import namedtuple

from .files import Refusal

MAGIC = b"pipering-why 4"
BYTE_ORDER = 0x01020304
HEADER = "16s6Id3Q64s64s"
CLASS = "24s64sI5B31s"
RECORD = CLASS + "8Q"

Table = namedtuple("Table", "path job rank world ended began elapsed calls_without time_without "
                            "host release records")
Record = namedtuple("Record", "call server reason ranks bytes_octave largest_octave "
                              "contributors_octave contiguous order_matters type calls bytes "
                              "largest contributors least most time longest")


def text(field):
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")


def byte_order(data, path):
    """The sign of the byte order for struct, if `data` begins a file of records."""
    if text(data[:16]).encode() != MAGIC:
        raise Refusal(f"{path} is no record of calls by this release of pipering-why "
                      f"(it does not begin with '{MAGIC.decode()}')")
    for order in "<>":
        if len(data) >= 20 and struct.unpack_from(order + "I", data, 16)[0] == BYTE_ORDER:
            return order
    raise Refusal(f"{path} is cut off in its first {len(data)} bytes")


def server_of(reason):
    """Who served a call: "pipering", the module "below" it, or "other"; "": it was not there."""
    name, colon, _ = reason.partition(": ")
    if not colon:
        return "pipering" if reason else ""
    return {"absent": "", "empty": "", "unasked": "other"}.get(name, "below")


def record_of(fields):
    reason = text(fields[1])
    return Record(text(fields[0]), server_of(reason), reason, *fields[2:6], bool(fields[6]),
                  bool(fields[7]), text(fields[8]), *fields[9:])


def parse(data, path):
    """The table in the bytes of a file."""
    order = byte_order(data, path)
    header, form = struct.Struct(order + HEADER), struct.Struct(order + RECORD)
    if len(data) < header.size:
        raise Refusal(f"{path} is cut off: it has {len(data)} of {header.size} bytes of its header")
    (_, _, job, rank, world, ended, places, began, elapsed, calls_without, time_without, host,
     release) = header.unpack_from(data)
    size = header.size + places * form.size
    if len(data) < size:
        raise Refusal(f"{path} is cut off: it has {len(data)} of {size} bytes")
    found = (form.unpack_from(data, place) for place in range(header.size, size, form.size))
    records = [record for record in map(record_of, found) if record.calls]
    return Table(path, job, rank, world, bool(ended), began, elapsed * 1e-9, calls_without,
                 time_without * 1e-9, text(host), text(release), records)


def read_file(path):
    try:
        with open(path, "rb") as stream:
            return parse(stream.read(), path)
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror}") from error


def paths_in(directory):
    """The files of records in a directory."""
    try:
        names = sorted(os.listdir(directory))
    except OSError as error:
        raise Refusal(f"{directory} cannot be read: {error.strerror}; expected the directory that "
                      "PIPERING_WHY named when the program ran") from error
    paths = [os.path.join(directory, name) for name in names if name.startswith("why-")]
    if not paths:
        raise Refusal(f"{directory} has no records of calls (files why-JOB-RANK); was the program "
                      "run with LD_PRELOAD=.../libpipering_why.so (make why), and was this the "
                      "directory of PIPERING_WHY?")
    return paths


def read_directory(directory):
    """(tables, complaints): those files that can be read, and what is wrong with the others."""
    tables, complaints = [], []
    for path in paths_in(directory):
        try:
            tables.append(read_file(path))
        except Refusal as error:
            complaints.append(str(error))
    if not tables:
        raise Refusal(complaints[0])
    return tables, complaints
