#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Refuses C sources that clang-tidy 14 complains about.

usage: tidy.py BUILD-FOLDER [FOLDER...]

Reads compile_commands.json of BUILD-FOLDER and looks at the sources below the
FOLDERs of the tree (all: none given).  A source that passed is not looked at
again until it, a header it includes, its flags or the configuration change.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import tree

def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "perigee-tidy"


def arguments(entry):
    """The compiler's command without what names the output."""
    words = shlex.split(entry["command"])
    while words and not re.search(r"(^|/)(gcc|cc|clang)(-\d+)?$", words[0]):
        words.pop(0)  # a launcher such as ccache
    kept, skip = [], False
    for word in words:
        if skip or word in ("-o", "-c"):
            skip = word == "-o"
            continue
        kept.append(word)
    return kept


def fingerprint(entry, config):
    """Changes with everything that the verdict depends on."""
    preprocess = [*arguments(entry), "-E"]
    text = subprocess.run(preprocess, cwd=entry["directory"], check=True,
                          capture_output=True).stdout
    # Comments count as well: they hold the exceptions.
    source = pathlib.Path(entry["file"]).read_bytes()
    flags = " ".join(arguments(entry)).encode()
    return hashlib.sha256(b"\0".join([config, flags, source, text])).hexdigest()


def check(tool, build, entry, config, cache):
    """clang-tidy's messages about one source: "" for nothing."""
    mark = cache / fingerprint(entry, config)
    if mark.exists():
        return ""
    done = subprocess.run(
        ["nice", tool, "--quiet", "-p", str(build), entry["file"]],
        capture_output=True, text=True, check=False)
    if done.returncode == 0:
        mark.touch()
        return ""
    return done.stdout + done.stderr


def wanted(entry, build, folders):
    path = pathlib.Path(entry["file"])
    if not path.is_relative_to(tree.ROOT) or path.suffix != ".c":
        return False  # ns-3's C++ is not in our rules
    if path.is_relative_to(build.resolve()):
        return False  # cffi's C is not written by hand
    return not folders or any(path.is_relative_to(tree.ROOT / f)
                              for f in folders)


def main():
    build, folders = pathlib.Path(sys.argv[1]), sys.argv[2:]
    tool = tree.find_tool("clang-tidy")
    if not tool:
        print(f"tidy: clang-tidy {tree.CLANG} is not here, nothing was checked")
        sys.exit(77)
    commands = json.loads((build / "compile_commands.json").read_text())
    entries = {e["file"]: e for e in commands if wanted(e, build, folders)}.values()
    config = b"".join(file.read_bytes()
                      for file in sorted(tree.ROOT.glob("**/.clang-tidy")))
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    bad = []
    workers = int(os.environ.get("PERIGEE_TIDY_JOBS", "2"))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for text in pool.map(
                lambda e: check(tool, build, e, config, cache), entries):
            if text:
                bad.append(text)
    tree.finish("tidy", bad, f"{len(entries)} sources")


main()
