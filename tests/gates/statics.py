#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses a static function whose name another file of its library uses as well:
a stack trace or a profile has to say where it is.

usage: statics.py [TREE]
"""
import collections
import pathlib
import re
import sys

import tree

# A library or program is what stands in one of these folders.
GROUPS = ("internal/common", "internal/credentials", "internal/media",
          "internal/net", "internal/secure", "libcongestion", "libsaratoga",
          "libtltcp", "gst-plugins", "sim", "examples", "bench")
STATIC = re.compile(r"^static (?:inline )?[^;={}()]*?\b(\w+)\([^;{}]*\)\s*\{$",
                    re.M)


def group_of(path):
    for group in GROUPS:
        if path.startswith(group + "/"):
            return group
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("tools", "integrations") else None


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else tree.ROOT
    places = collections.defaultdict(list)
    for file in tree.files(root, ".c"):
        path = file.relative_to(root).as_posix()
        group = group_of(path)
        if group:
            for name in set(STATIC.findall(file.read_text(encoding="utf-8"))):
                places[group, name].append(path)
    bad = [f"{name}() is static in {' and '.join(sorted(paths))}"
           for (_, name), paths in sorted(places.items()) if len(paths) > 1]
    tree.finish("statics", bad, f"{len(places)} static functions")


main()
