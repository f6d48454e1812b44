#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses command lines of the pages for users that no test runs.

commands.txt names a test for each of them, or says why there is none.  The test
must read them from the page by their heading or their first words, or contain
all their words.

usage: commands.py [TREE]
"""
import ast
import functools
import pathlib
import re
import subprocess
import sys

import tree

LIST = "tests/gates/commands.txt"
PAGES = re.compile(r"(README|CONTRIBUTING|SECURITY|docs/.*|"
                   r"(examples|integrations)/.*/README)\.md$|docs/man/.*\.7$")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
REASONS = 4  # commands without a test, at most


def whole(text):
    """Whether a shell would wait for no further line."""
    if text.endswith("\\"):
        return False
    return subprocess.run(["bash", "-nc", text], check=False,
                          capture_output=True).returncode == 0


def commands(block):
    """The commands of a block, each on one line."""
    command = ""
    for line in block.splitlines():
        if not command and (not line or line.startswith("#")):
            continue
        command += ("\n" if command else "") + line
        if whole(command):
            yield " ".join(command.replace("\\\n", " ").split())
            command = ""
    if command:
        yield " ".join(command.split())


def blocks(path, text):
    """Headings and what stands in fences below them; None: what is in this
    fence is not said."""
    if path.endswith(".7"):
        for part in re.split(r"^\.SH ", text, flags=re.M)[1:]:
            for block in re.findall(r"^\.nf\n(.*?)^\.fi$", part, re.M | re.S):
                yield part.split("\n", 1)[0], block.replace("\\-", "-")
        return
    for fence in FENCE.finditer(text):
        before = FENCE.sub("", text[:fence.start()])
        heading = re.findall(r"^##? (.*)$", before, re.M)[-1]
        if fence[1] in ("", "sh"):
            yield heading, fence[2] if fence[1] else None


def listed(root):
    """Page and heading, the beginning of a command, and a test or a reason."""
    place = ""
    text = (root / LIST).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("  "):
            command, _, answer = line.strip().partition(" => ")
            yield place, command, answer
        elif line and not line.startswith("#"):
            place = line


@functools.cache
def parts(file):
    """Functions and constants of a file of Python, by name."""
    found = {}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign):
            for name in ast.walk(ast.Tuple(node.targets)):
                if isinstance(name, ast.Name):
                    found.setdefault(name.id, []).append(node.value)
    return found


def strings(file, name):
    """The strings of a function and of what it uses of its file."""
    todo, done, found = {name}, set(), set()
    while todo:
        name = todo.pop()
        done.add(name)
        for part in parts(file).get(name, ()):
            for node in ast.walk(part):
                if isinstance(node, ast.Constant) and isinstance(
                        node.value, str):
                    found.add(node.value)
                todo.add(getattr(node, "id", getattr(node, "attr", name)))
        todo -= done
    return found


def runs(page, heading, command, words):
    """Whether a test with these strings takes a command from its page, or has
    it itself."""
    if any(f"/{page}".endswith("/" + w.removeprefix("../")) for w in words):
        return any(len(w) > 2 and (heading in w or heading.startswith(w) or
                                   command.startswith(w)) for w in words)
    return all(any(part in w for w in words)
               for part in re.findall(r"[\w.-]*\w", command))


def complaint(root, place, command, test):
    """Why a test is not one of a command; None: it is."""
    file, _, name = test.partition("::")
    if not (root / file).is_file() or name not in parts(root / file):
        return "no such test"
    if not runs(*place.split(": ", 1), command, strings(root / file, name)):
        return "this test does not have the command"
    return None


def judge(root, place, command, entries):
    """What is wrong with a command of a page."""
    fitting = [e for e in entries if e[0] == place and command.startswith(e[1])]
    if len(fitting) != 1:
        return f"{len(fitting)} entries in {LIST}", fitting
    answer = fitting[0][2]
    if answer.startswith("none:"):
        return (None if answer[5:].strip() else "no reason"), fitting
    return complaint(root, place, command, answer), fitting


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else tree.ROOT
    entries, used, bad, count = list(listed(root)), [], [], 0
    for file in tree.files(root, ".md", ".7"):
        path = file.relative_to(root).as_posix()
        if not PAGES.match(path):
            continue
        for heading, block in blocks(path, file.read_text(encoding="utf-8")):
            place = f"{path}: {heading}"
            if block is None:
                bad.append(f"{place}: a fence without a language")
                continue
            for command in commands(block):
                count += 1
                why, fitting = judge(root, place, command, entries)
                used += fitting
                if why:
                    bad.append(f"{place}: {command}: {why}")
    bad += [f"{LIST}: {entry[0]}: {entry[1]}: {used.count(entry)} such commands"
            for entry in entries if used.count(entry) != 1]
    reasons = sum(entry[2].startswith("none:") for entry in entries)
    if reasons > REASONS:
        bad.append(f"{LIST}: {reasons} commands without a test")
    tree.finish("commands", bad, f"{count} commands, {reasons} without a test")


main()
