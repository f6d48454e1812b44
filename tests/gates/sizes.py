#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses functions over 70 lines and files over 600; tells how long the others
are.  Reads sources as clang-format leaves them: a definition starts in the
first column, its body ends with a brace there.

usage: sizes.py [TREE]
"""
import pathlib
import re
import sys

import tree

FUNCTION_MAX = 70
FILE_MAX = 600
HEAD = re.compile(r"^[A-Za-z_][^;={}]*?(\w+)\([^;{}]*\)\s*\{$", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def functions(text):
    """Yields name, line number and lines of the body of every function."""
    # Comments keep their lines and lose their letters.
    text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    text = re.sub(r"[ ]+$", "", text, flags=re.M)
    for head in HEAD.finditer(text):
        end = text.find("\n}", head.end())
        body = text[head.end():end if end >= 0 else len(text)]
        yield (head.group(1), text.count("\n", 0, head.start()) + 1,
               body.count("\n"))


def percentile(values, share):
    return values[min(len(values) - 1, int(len(values) * share))]


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else tree.ROOT
    bad, code, tests = [], [], []
    for file in tree.files(root, ".c", ".h"):
        path = file.relative_to(root).as_posix()
        text = file.read_text(encoding="utf-8")
        lines = text.count("\n")
        if lines > FILE_MAX:
            bad.append(f"{path}: {lines} lines, over {FILE_MAX}")
        for name, number, length in functions(text):
            (tests if path.startswith("tests/") else code).append(length)
            if length > FUNCTION_MAX:
                bad.append(f"{path}:{number}: {name}() has {length} lines, "
                           f"over {FUNCTION_MAX}")
    summary = []
    for what, lengths in ("code", sorted(code)), ("tests", sorted(tests)):
        if lengths:
            summary.append(f"{what}: {len(lengths)} functions, half up to "
                           f"{percentile(lengths, 0.5)} lines, nine in ten up "
                           f"to {percentile(lengths, 0.9)}, "
                           f"longest {lengths[-1]}")
    tree.finish("sizes", bad, "; ".join(summary))


main()
