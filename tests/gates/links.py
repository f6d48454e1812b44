#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses links of pages that lead nowhere, and paths under docs/ that any text
names but the tree lacks.

usage: links.py [TREE]
"""
import pathlib
import re
import sys

import tree

FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.M | re.S)
CODE = re.compile(r"(`+)[^`].*?\1", re.S)
LINK = re.compile(r"\]\(<?([^)<>\s]+)>?(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)[ \t#]*$", re.M)
ANCHOR = re.compile(r"<a (?:id|name)=\"([^\"]+)\"|\{#([\w-]+)\}")
PAGE = re.compile(r"(?<![\w/.-])docs/(?:[\w-]+/)*[\w.-]*\w(?:\.(?:md|svg|pv))")
SELF = {"tests/gates/test_text_gates.py"}


def slug(heading):
    """The anchor that the usual viewers of Markdown give a heading."""
    text = re.sub(r"\{#[\w-]+\}", "", heading)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    text = FENCE.sub("", text)
    found = set()
    for heading in HEADING.findall(text):
        name, n = slug(heading), 0
        while (name if not n else f"{name}-{n}") in found:
            n += 1
        found.add(name if not n else f"{name}-{n}")
    for pair in ANCHOR.findall(text):
        found.update(filter(None, pair))
    return found


def broken_links(file, text):
    text = CODE.sub("", FENCE.sub("", text))
    for link in LINK.findall(text):
        if re.match(r"[a-z][a-z+.-]*:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (file.parent / name) if name else file
        if not target.exists():
            yield link, "no such file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(
                target.read_text(encoding="utf-8")):
            yield link, "no such heading"


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else tree.ROOT
    bad, count = [], 0
    for file in tree.files(root):
        path = file.relative_to(root).as_posix()
        if path in SELF or path.startswith(("tests/data/", "tests/fuzz/")):
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if file.suffix == ".md":
            count += 1
            bad += [f"{path}: {link}: {why}"
                    for link, why in broken_links(file, text)]
        bad += [f"{path}: {page}: no such page"
                for page in sorted(set(PAGE.findall(text)))
                if not (root / page).exists()]
    tree.finish("links", bad, f"{count} pages")


main()
