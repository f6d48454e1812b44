#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses calls that cross the layers, and files that call each other in a circle.

Reads the global symbols that each object needs and defines, so it sees what a
forward declaration hides from the gate on includes.

usage: calls.py SOURCE_TREE OBJECT...
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

import layers
import tree

# An object's path ends in its source's path below the folder of its target.
OBJECT = re.compile(r"^(?:.*/)?CMakeFiles/[^/]+\.dir/(.+)\.(?:o|obj)$")


def source_of(root, path):
    """The source of an object as a path in the tree, or None."""
    match = OBJECT.match(path)
    if not match:
        return None
    parts = pathlib.PurePosixPath(path).parts
    parts = parts[:parts.index("CMakeFiles")]
    for start in range(len(parts) + 1):
        source = root.joinpath(*parts[start:], match.group(1))
        if source.is_file():
            return source.relative_to(root).as_posix()
    return None


def symbols(objects):
    """Symbols that each object defines and needs, asked for all at once."""
    out = subprocess.run([os.environ.get("NM", "nm"), "-g", "-A", *objects],
                         check=True, capture_output=True, text=True).stdout
    defines = collections.defaultdict(set)
    needs = collections.defaultdict(set)
    for line in out.splitlines():
        path, rest = line.split(":", 1)
        fields = rest.split()
        kind, name = fields[-2], fields[-1]
        (needs if kind in "Uwv" else defines)[path].add(name)
    return defines, needs


def edges_of(root, objects):
    """For each source the sources that it calls, with a symbol of each call."""
    defines, needs = symbols(objects)
    sources = {path: source_of(root, path) for path in objects}
    owner = {name: sources[path] for path, names in defines.items()
             for name in names}
    edges = collections.defaultdict(dict)
    for path, names in needs.items():
        for name in sorted(names):
            other = owner.get(name)
            if sources[path] and other and other != sources[path]:
                edges[sources[path]].setdefault(other, name)
    return edges


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    edges = edges_of(root, sys.argv[2:])
    bad = []
    for source, others in sorted(edges.items()):
        for other, name in sorted(others.items()):
            if not layers.may_call(source, other):
                bad.append(f"{source} may not call {name}() of {other}")
    bad += layers.circles(edges)
    tree.finish("calls", bad, f"{sum(map(len, edges.values()))} edges")


main()
