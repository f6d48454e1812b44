#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses names that the code has and the reference lacks, and the other way
round: properties and statistics of the elements, keys of URLs, and settings of
saratoga.

usage: reference.py [TREE]
"""
import pathlib
import re
import sys

import tree

NAME = "[a-z][a-z-]*"
SPECS = {"both": "settings", "sink": "sinkprops", "source": "srcprops"}
STATS = ("stats", "peer", "receiver", "sendercalls")


class Reference:
    """What a tree has and what it says."""

    def __init__(self, root):
        self.root = root
        self.bad = []
        self.count = 0

    def read(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def section(self, page, heading):
        """The text below a heading, up to the next one of its kind."""
        text = self.read(page).split(f"\n## {heading}\n", 1)[1]
        return re.split(r"^## ", text, flags=re.M)[0]

    def compare(self, what, code, page, said):
        self.count += len(code)
        self.bad += [f"{page} lacks the {what} {name}"
                     for name in sorted(code - said)]
        self.bad += [f"{page} has the {what} {name}, the code does not"
                     for name in sorted(said - code)]
        if not code:
            self.bad.append(f"found no {what}")


def rows(text):
    """The cells of each row of the tables."""
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("| ---"):
            yield [cell.strip() for cell in line.split(" | ")]


def names(text):
    return set(re.findall(f"`({NAME})`", text))


def properties(r):
    page, where = "docs/reference/elements.md", ""
    said = {where: set() for where in SPECS}
    for place, name, *_ in rows(r.section(page, "Properties")):
        where = place.strip("| ") or where
        if where in said:
            said[where] |= names(name)
    for where, file in SPECS.items():
        code = re.findall(rf'g_param_spec_\w+\(\s*"({NAME})"',
                          r.read(f"gst-plugins/gsttltcp{file}.c"))
        r.compare(f"property ({where})", set(code), page, said[where])


def statistics(r):
    page, code = "docs/reference/statistics.md", set()
    for file in STATS:
        text = r.read(f"gst-plugins/gsttltcp{file}.c")
        code |= set(re.findall(rf'FIELD(?:_US)?\("({NAME})"', text))
        code |= set(re.findall(rf'"({NAME})",\s*(?:G_TYPE_\w+|g_value_array)',
                               text))
        code |= {f"frames-{kind}" for kind in re.findall(
            rf'add_(?:counts|classes)\(s, "({NAME})"', text)}
    said = set()
    for name, *_ in rows(r.section(page, "`stats` of the elements")):
        said |= names(name)
    r.compare("statistic", code, page, said)


def settings(r):
    page = "tools/saratoga/help.c"
    code = re.findall(rf'FIELD\("({NAME})"', r.read("tools/saratoga/settings.c"))
    told = "".join(re.findall(r'"(.*)"', r.read(page))).replace("\\n", " ")
    told = told.split("--set NAME=VALUE", 1)[1].split(" --", 1)[0]
    told = re.sub(r"\w+:|\(.*?\)", "", told)  # kinds, and remarks
    r.compare("setting", set(code), page, set(re.findall(NAME, told)))


def keys(r):
    page = "docs/man/tltcp.7"
    code = set()
    for key, _, meaning, *_ in rows(
            r.read("docs/reference/configuration.md")):
        other = re.search(rf"outside GStreamer also `({NAME})`", meaning)
        code |= {other[1]} if other and "dscp" in other[1] else names(key)
    text = r.read(page).replace("\\-", "-")
    text = text.split(".SH URLS", 1)[1].split(".SH ", 1)[0]
    said = set()
    for line in re.findall(r"^\.TP\n\.BR? (.*)$", text, re.M):
        said |= set(re.findall(NAME, line))
    r.compare("key", code, page, said)


def main():
    r = Reference(pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:]
                  else tree.ROOT)
    for check in properties, statistics, settings, keys:
        check(r)
    tree.finish("reference", r.bad, f"{r.count} names")


main()
