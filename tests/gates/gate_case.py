# SPDX-License-Identifier: MPL-2.0
"""A folder with files in it, and what a gate says about them."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

GATES = pathlib.Path(__file__).resolve().parent
LICENCE = "/* SPDX-License-Identifier: MPL-2.0 */\n"


def gate(name, *args, **environment):
    done = subprocess.run(
        [sys.executable, str(GATES / f"{name}.py"), *map(str, args)],
        capture_output=True, text=True, check=False,
        env={**os.environ, **environment})
    return done.returncode, done.stdout + done.stderr


class Tree(unittest.TestCase):
    """A folder with files in it, and what a gate says about them."""

    def setUp(self):
        # pylint: disable=consider-using-with
        self.temporary = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.temporary.name).resolve() / "t"
        self.addCleanup(self.temporary.cleanup)

    def put(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def passes(self, name, *args, **environment):
        status, text = gate(name, *args, **environment)
        self.assertEqual(status, 0, text)

    def refuses(self, words, name, *args, **environment):
        status, text = gate(name, *args, **environment)
        self.assertEqual(status, 1, text)
        self.assertIn(words, text)
