#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses sources that clang-format 14 would change.

usage: format.py [TREE]
Another version formats differently; without version 14 nothing is checked, and
the status says so (77: skipped).
"""
import pathlib
import subprocess
import sys

import tree

def main():
    root = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else tree.ROOT
    tool = tree.find_tool("clang-format")
    if not tool:
        print(f"format: clang-format {tree.CLANG} is not here, nothing was checked")
        sys.exit(77)
    sources = tree.files(root, ".c", ".cpp", ".h")
    done = subprocess.run(
        [tool, "--style=file", "--dry-run", "--Werror", *map(str, sources)],
        capture_output=True, text=True, check=False)
    found = {line.split(":")[0] for line in done.stderr.splitlines()
             if "[-Wclang-format-violations]" in line}
    bad = [f"{pathlib.Path(file).relative_to(root)}: run {tool} -i on it"
           for file in sorted(found)]
    if done.returncode and not bad:
        bad = [done.stderr]
    tree.finish("format", bad, f"{len(sources)} files")


main()
