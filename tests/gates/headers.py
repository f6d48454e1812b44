#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses public headers that do not compile alone, and twice, as strict C11
and as C++11.

usage: headers.py CC [INCLUDE-FOLDER]   (the C++ compiler is in CXX)
"""
import os
import pathlib
import shutil
import subprocess
import sys

import tree

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Werror",
            "-pedantic-errors", "-fsyntax-only"]
C_WARNINGS = ["-Wstrict-prototypes"]


def compile_alone(command, language, include, name):
    source = f"#include <{name}>\n#include <{name}>\nint main(void);\n"
    done = subprocess.run(
        [*command, *WARNINGS, "-I", str(include), "-x", language, "-"],
        input=source, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def main():
    cc = sys.argv[1]
    include = pathlib.Path(sys.argv[2]) if sys.argv[2:] else tree.ROOT / "include"
    cxx = os.environ.get("CXX") or shutil.which("c++")
    bad, count = [], 0
    for file in sorted(include.resolve().rglob("*.h")):
        name = file.relative_to(include.resolve()).as_posix()
        count += 1
        error = compile_alone([cc, "-std=c11", *C_WARNINGS], "c", include, name)
        if error:
            bad.append(f"{name} as C11:\n{error}")
        if cxx:
            error = compile_alone([cxx, "-std=c++11"], "c++", include, name)
            if error:
                bad.append(f"{name} as C++11:\n{error}")
    if not cxx:
        print("headers: no C++ compiler, C alone was tried")
    tree.finish("headers", bad, f"{count} headers")


main()
