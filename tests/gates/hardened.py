#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses libraries and programs without what makes mistakes hard to exploit.

usage: hardened.py binary FILE...   position-independent, read-only relocations
                                    resolved at the start, no executable stack
       hardened.py guarded FILE...  the same, with stack protector and FORTIFY
       hardened.py object FILE...   landing pads for indirect jumps (x86)

FORTIFY leaves a mark only where a call could not be proven harmless, so it is
asked of the files together.
"""
import os
import pathlib
import re
import subprocess
import sys

import tree


def readelf(*args):
    done = subprocess.run([os.environ.get("READELF", "readelf"), "-W", *args],
                          check=True, capture_output=True, text=True)
    return done.stdout


def binary(path):
    head = readelf("-h", "-l", "-d", path)
    stack = re.search(r"GNU_STACK.*0x\w+ (R?W?E?) *0x\w+$", head, re.M)
    if not re.search(r"Type:\s+DYN", head):
        yield "is not position-independent"
    if "GNU_RELRO" not in head:
        yield "has no read-only relocations (relro)"
    if not re.search(r"\(FLAGS(_1)?\).*\b(BIND_)?NOW\b", head):
        yield "binds symbols late (no -z now)"
    if stack is None or "E" in stack.group(1):
        yield "has an executable stack"
    if "(TEXTREL)" in head:
        yield "relocates its code"


def guarded(path):
    yield from binary(path)
    if "__stack_chk_" not in readelf("--dyn-syms", path):
        yield "has no stack protector"


def is_fortified(path):
    return re.search(r"__\w+_chk\b(?<!__stack_chk)",
                     readelf("--dyn-syms", path)) is not None


def landing_pads(path):
    if "IBT, SHSTK" not in readelf("-n", path):
        yield "has no landing pads (-fcf-protection)"


def main():
    kind, *paths = sys.argv[1:]
    look = {"binary": binary, "guarded": guarded, "object": landing_pads}[kind]
    bad = [f"{pathlib.Path(path).name} {what}"
           for path in paths for what in look(path)]
    if kind == "guarded" and not any(map(is_fortified, paths)):
        bad.append("no file calls a checked function (_FORTIFY_SOURCE)")
    tree.finish("hardened", bad, f"{len(paths)} files")


if __name__ == "__main__":
    main()
