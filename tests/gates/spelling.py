#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses misspellings that codespell knows, anywhere, and words of the pages'
prose that neither aspell nor vocabulary.txt knows.  Skipped where one of the two
programs is not installed.

usage: spelling.py [TREE]
"""
import pathlib
import re
import shutil
import subprocess
import sys

import tree

# Names, and words of the field, that look like misspellings of others.
FINE = "alls,crate,ect,fro,inflight,keep-alives,smal,statics,ue,upto"
SKIPPED = (".svg", ".scn", ".json", ".sqlog")
VOCABULARY = pathlib.Path("tests/gates/vocabulary.txt")
NO_PROSE = [
    re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.M | re.S),
    re.compile(r"(`+)[^`].*?\1", re.S),
    re.compile(r"\]\([^)]*\)|<[^>]*>|https?://\S+|^\[[^\]]*\]:.*$", re.M),
]
# Words with capitals or digits inside are names.
WORD = re.compile(r"(?<![\w.@/])[^\W\d_][^\W\d_A-Z]*(?:'[a-z]+)?(?![\w@]|\.\w)")


def misspelled(root, files):
    done = subprocess.run(
        ["codespell", "--quiet-level", "3", "--ignore-words-list", FINE,
         *files], cwd=root, text=True, check=False, capture_output=True)
    return done.stdout.splitlines() + done.stderr.splitlines()


def prose(text):
    """A page's words in their lines; what is no prose leaves empty lines."""
    for pattern in NO_PROSE:
        text = pattern.sub(lambda m: "\n" * m.group().count("\n") or " ", text)
    for number, line in enumerate(text.split("\n"), 1):
        for word in WORD.findall(line):
            yield number, word.removesuffix("'s")


def unknown(root, pages):
    """Words of the pages that no list has, and listed words of no page."""
    found = [(page, *place) for page in pages
             for place in prose((root / page).read_text(encoding="utf-8"))]
    strange = set(subprocess.run(
        ["aspell", "list", "--lang=en", "--encoding=utf-8"], check=True,
        input="\n".join(word for *_, word in found), text=True,
        capture_output=True).stdout.split())
    file = root / VOCABULARY
    known = file.read_text(encoding="utf-8").split() if file.exists() else []
    for page, number, word in found:
        if word in strange and word.lower() not in known:
            yield f"{page}:{number}: {word}: neither in aspell nor {VOCABULARY}"
    if known != sorted(set(known)):
        yield f"{VOCABULARY}: not sorted"
    for word in sorted(set(known) - {word.lower() for word in strange}):
        yield f"{VOCABULARY}: {word}: no page needs it"


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if sys.argv[1:] else tree.ROOT
    for program in "codespell", "aspell":
        if not shutil.which(program):
            print(f"spelling: there is no {program} here")
            sys.exit(77)
    files = [f.relative_to(root).as_posix() for f in tree.files(root)]
    files = [f for f in files if not f.endswith(SKIPPED) and
             not f.startswith(("tests/data/", "tests/fuzz/"))]
    pages = [f for f in files if f.endswith(".md")]
    tree.finish("spelling", [*misspelled(root, files), *unknown(root, pages)],
                f"{len(files)} files, {len(pages)} pages")


main()
