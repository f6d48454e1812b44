#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses functions of the C library that cannot be used safely, or that hide
that they failed.  Tests may: nobody feeds them.

usage: unsafe.py [TREE]
"""
import pathlib
import re
import sys

import tree

INSTEAD = {
    "alloca": "allocate", "atof": "strtod", "atoi": "strtol", "atol": "strtol",
    "atoll": "strtoll", "gets": "fgets", "mktemp": "mkstemp",
    "popen": "no shell", "rand": "a generator with a seed of its own",
    "scanf": "a parser", "sprintf": "snprintf", "sscanf": "a parser",
    "strcat": "snprintf", "strcpy": "snprintf or memcpy",
    "strncat": "snprintf", "strtok": "strtok_r", "system": "no shell",
    "tempnam": "mkstemp", "tmpnam": "mkstemp", "vsprintf": "vsnprintf",
}
CALL = re.compile(r"(?<![\w.>])(" + "|".join(INSTEAD) + r")\s*\(")
SILENT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


def blank(match):
    """Comments and strings keep their lines and lose their letters."""
    return re.sub(r"[^\n]", " ", match.group())


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else tree.ROOT
    bad, count = [], 0
    for file in tree.files(root, ".c", ".h"):
        if file.relative_to(root).parts[0] == "tests":
            continue
        count += 1
        text = SILENT.sub(blank, file.read_text(encoding="utf-8"))
        for call in CALL.finditer(text):
            line = text.count("\n", 0, call.start()) + 1
            bad.append(f"{file.relative_to(root).as_posix()}:{line}: "
                       f"{call.group(1)}(); use {INSTEAD[call.group(1)]}")
    tree.finish("unsafe", bad, f"{count} files")


if __name__ == "__main__":
    main()
