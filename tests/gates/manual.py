#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses calls of the public headers that no manual page names.

usage: manual.py [TREE]
"""
import pathlib
import re
import sys

import tree

PAGES = {"tltcp_socket.3": ("tltcp/socket.h",), "tltcp_live.3": ("tltcp/live.h",)}
CALL = re.compile(r"^TLTCP_(?:LIVE_)?API [^;]*?\b(tltcp_\w+)\(", re.M)
# Behind a macro, or on every page of errors.
SKIPPED = re.compile(r"_init_sized$|^tltcp_(strerror|now|version)$")


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else tree.ROOT
    bad, count = [], 0
    for page, headers in PAGES.items():
        text = (root / "docs" / "man" / page).read_text(encoding="utf-8")
        for header in headers:
            names = CALL.findall((root / "include" / header).read_text("utf-8"))
            count += len(names)
            bad += [f"docs/man/{page} lacks {name}" for name in names
                    if not SKIPPED.search(name) and name not in text]
    tree.finish("manual", bad, f"{count} calls")


main()
