#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses misspellings that codespell knows; skipped where it is not installed.

usage: spelling.py [TREE]
"""
import pathlib
import shutil
import subprocess
import sys

import tree

# Names, and words of the field, that look like misspellings of others.
FINE = "alls,crate,ect,fro,inflight,keep-alives,smal,statics,ue,upto"
SKIPPED = (".svg", ".scn", ".json", ".sqlog")


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else tree.ROOT
    if not shutil.which("codespell"):
        print("spelling: there is no codespell here")
        sys.exit(77)
    files = [f.relative_to(root).as_posix() for f in tree.files(root)]
    files = [f for f in files if not f.endswith(SKIPPED) and
             not f.startswith(("tests/data/", "tests/fuzz/"))]
    done = subprocess.run(
        ["codespell", "--quiet-level", "3", "--ignore-words-list", FINE,
         *files], cwd=root, text=True, check=False, capture_output=True)
    tree.finish("spelling", done.stdout.splitlines() +
                done.stderr.splitlines(), f"{len(files)} files")


main()
