#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""./dev accepts what the pages say to it, in fences and between words.  What
takes minutes is asked for its arguments only, as ./dev does before it builds."""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import tree

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
ASKED = {"./dev bench": "bench/run", "./dev reproduce": "sim/reproduce"}
PAGES = {"docs/measurements/adaptive.md", "docs/measurements/live.md"}
ACCEPTED = 10


def lines():
    """Each line that some page has, with one of the pages."""
    found = {}
    for page in tree.files(tree.ROOT, ".md"):
        text = page.read_text(encoding="utf-8")
        fences = "".join(f[1] for f in FENCE.findall(text) if f[0] == "sh")
        told = re.findall(r"^\./dev .*", fences, re.M) + re.findall(
            r"`(?:\w+=\S+ )?(\./dev [^`]+)`", FENCE.sub("", text))
        for line in told:
            line = re.sub(r" \[.*\]$", "", " ".join(line.split()))
            found[tuple(shlex.split(line, comments=True)[1:])] = page
    return found


class Lines(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        there = pathlib.Path(self.temporary.name)
        (there / "some.trace").write_text("1\n", encoding="utf-8")
        film = there / "film.mp4"
        film.write_bytes(b"")
        self.names = {"DIR": there, "recordings/": there, "FILE": film,
                      "film.mp4": film, "PAGE": there / "page.md"}

    def test_verbs_are_known_and_arguments_accepted(self):
        told = subprocess.run([tree.ROOT / "dev", "help"], text=True,
                              check=True, capture_output=True).stdout
        verbs = re.findall(r"^  (\w+)\b", told, re.M)
        pages = {p.relative_to(tree.ROOT).as_posix() for p in lines().values()}
        self.assertLessEqual(PAGES, pages)
        for (verb, *words), page in lines().items():
            with self.subTest(page=page.name, verb=verb, words=words):
                self.assertIn(verb, verbs)
                if f"./dev {verb}" in ASKED:
                    self.ask(ASKED[f"./dev {verb}"], words)

    def ask(self, program, words):
        words = [self.names.get(w, w) for w in words
                 if not w.startswith("--with-")]  # ./dev takes these itself
        done = subprocess.run(
            [sys.executable, tree.ROOT / program, *words], check=False,
            text=True, capture_output=True, cwd=tree.ROOT,
            env={**os.environ, "PERIGEE_ARGUMENTS_ONLY": "1"})
        self.assertEqual(done.returncode, ACCEPTED, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
