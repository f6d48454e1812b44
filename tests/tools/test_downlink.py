# SPDX-License-Identifier: MPL-2.0
"""examples/image-downlink: a short pass, and what it says to wrong folders."""
import json
import os
import subprocess
import sys
import unittest

import saratogabox
import toolbox

DOWNLINK = toolbox.pathlib.Path(__file__).resolve().parents[2] / \
    "examples" / "image-downlink" / "downlink.py"


class Downlink(toolbox.Folder):
    def fly(self, *arguments):
        return subprocess.run(
            [sys.executable, DOWNLINK, "--output", self.folder / "out",
             *map(str, arguments)], check=False, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=2 * toolbox.PATIENCE,
            env=dict(os.environ, PERIGEE_BUILD_DIR=str(toolbox.BUILD)))

    def check(self, done, images):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{images} of {images} verified", done.stdout)
        flown = self.json("out/pass.json")
        self.assertEqual((flown["images"], flown["verified"]),
                         (images, images))
        self.assertEqual(len(flown["arrived_at"]), images)
        # The link was gone when it should be, and what came used it.
        self.assertLess(flown["usable"], flown["end"])
        self.assertGreater(flown["down_share"], flown["data_share"])
        self.assertGreater(flown["data_share"], 0)
        return flown

    def test_made_images_come_down_whole_through_a_pass(self):
        toolbox.need("ffmpeg")
        done = self.fly("--count", 6, "--width", 480, "--down", "10mbit")
        flown = self.check(done, 6)
        self.assertGreater(flown["end"], 3.7)  # not before the link came back
        if "picture    none" not in done.stdout:
            with open(self.folder / "out" / "pass.png", "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def test_images_of_a_folder_come_down_with_the_folders_in_it(self):
        orbit = self.folder / "orbit"
        for i, name in enumerate(("a.raw", "b/c.raw", "b/d/e.raw")):
            (orbit / name).parent.mkdir(parents=True, exist_ok=True)
            (orbit / name).write_bytes(saratogabox.content(200000, i))
        self.check(self.fly(orbit), 3)
        self.assertEqual((self.folder / "out/images/b/d/e.raw").read_bytes(),
                         saratogabox.content(200000, 2))

    def test_wrong_folders_are_named(self):
        empty = self.folder / "empty"
        empty.mkdir()
        for folder, word in ((empty, "nothing in"),
                             (self.folder / "none", "no folder")):
            done = self.fly(folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn(word, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
