#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses text that means nothing outside the machine it was written on, marks
of unfinished work, and sources without their licence line.

usage: words.py [TREE]
"""
import pathlib
import re
import sys

import tree

LICENCE = "SPDX-License-Identifier: MPL-2.0"
# Kind of file: what its first lines must hold.
LICENSED = {".c", ".cpp", ".h", ".py", ".sh", ".cmake", ".in", ".scn", ".tcl"}
LICENSED_NAMES = {"CMakeLists.txt", "dev", "reproduce", "run"}
# A template becomes a file of another kind.
UNLICENSED_NAMES = {"component.pc.in"}
REFUSED = [
    (re.compile(r"(?<![\w.])/(home|root|Users|work)/\w"), "a path of a machine"),
    (re.compile(r"/tmp/(build|brief)\b"), "a path of a machine"),
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "a mark of unfinished work"),
    (re.compile(r"\bissues? #?\d", re.I), "a reference nobody can follow"),
    (re.compile(r"^(<<<<<<<|>>>>>>>) "), "a mark of a conflict"),
    (re.compile(r"\r"), "a carriage return"),
    (re.compile(r"[ \t]+$"), "blanks at the end of the line"),
]
PICTURE_MAX = 40000  # bytes
SELF = {"tests/gates/words.py", "tests/gates/test_text_gates.py"}


def complaints(path, text):
    lines = text.split("\n")
    name = pathlib.PurePath(path).name
    licensed = (pathlib.PurePath(path).suffix in LICENSED or
                name in LICENSED_NAMES) and name not in UNLICENSED_NAMES
    if licensed and not any(LICENCE in line for line in lines[:2]):
        yield f"{path}: no line '{LICENCE}' at the top"
    if text and not text.endswith("\n"):
        yield f"{path}: no end of line at the end"
    for number, line in enumerate(lines, 1):
        for pattern, what in REFUSED:
            if pattern.search(line):
                yield f"{path}:{number}: {what}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else tree.ROOT
    bad, count = [], 0
    for file in tree.files(root):
        path = file.relative_to(root).as_posix()
        if path in SELF or path == "LICENSE" or path.startswith("tests/data/"):
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            # Corpora of the fuzz targets and screenshots are the only binary
            # files.
            if file.suffix == ".png" and path.startswith("docs/"):
                if file.stat().st_size > PICTURE_MAX:
                    bad.append(f"{path}: over {PICTURE_MAX} bytes")
            elif not path.startswith("tests/fuzz/"):
                bad.append(f"{path}: not text")
            continue
        bad += complaints(path, text)
        count += 1
    tree.finish("words", bad, f"{count} files")


main()
