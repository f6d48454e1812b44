# SPDX-License-Identifier: MPL-2.0
"""The demo itself, on a short film, and what it says to files that are none."""
import json
import os
import subprocess
import sys
import unittest

import clips
import toolbox

DEMO = toolbox.pathlib.Path(__file__).resolve().parents[2] / "tools" / \
    "demo" / "demo.py"


class Demo(toolbox.Folder):
    def setUp(self):
        super().setUp()
        toolbox.need("gst-launch-1.0", "ffmpeg", "ffprobe")
        # A build of its own, but for the results.
        self.build = self.folder / "build"
        self.build.mkdir()
        for name in ("tools", "gst-plugins"):
            (self.build / name).symlink_to(toolbox.BUILD / name)

    def demo(self, *arguments):
        return subprocess.run(
            [sys.executable, DEMO, *map(str, arguments)], check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env=dict(os.environ, PERIGEE_BUILD_DIR=str(self.build)),
            timeout=300)

    def runs(self):
        """The demo's records of its runs."""
        result = self.build / "demo" / "result.json"
        return json.loads(result.read_text(encoding="ascii"))["runs"]

    def refuse(self, file, word):
        done = self.demo(file)
        self.assertEqual(done.returncode, 1)
        self.assertIn(word, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_files_that_are_no_video_are_named(self):
        noise = self.folder / "noise.bin"
        noise.write_bytes(os.urandom(5000))
        self.refuse(noise, "noise.bin is no video")
        self.refuse(clips.make(self.folder, "sound.m4a"), "holds no video")
        self.refuse(self.folder / "missing.mp4", "missing.mp4")

    def test_a_film_is_streamed_and_counted_to_the_last_frame(self):
        film = clips.make(self.folder, "h264-aac.mp4", seconds=4)
        done = self.demo("--transports", "tltcp,srt", "--shortest", "0", film)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("ample link", done.stdout)
        self.assertIn("small link", done.stdout)
        runs = self.runs()
        for run in runs:
            self.check_counts(run["result"])
        ample = runs[0]["result"]["frames"]["all"]
        self.assertGreater(ample["decodable"], 0)

    def check_counts(self, result):
        for row in result["frames"].values():
            self.assertEqual(row["sent"],
                             row["on_time"] + row["late"] + row["dropped"])
            self.assertLessEqual(row["decodable"], row["on_time"])
        self.assertEqual(result["frames"]["all"]["sent"], 100)
        self.assertEqual(len(result["series"]), 100)

    def test_what_is_not_as_a_live_encoder_makes_it_is_encoded_anew(self):
        film = clips.make(self.folder, "mpeg1.mpg")
        done = self.demo("--transports", "tltcp", "--shortest", "3", film)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("mpeg1.mpg is mpeg1video", done.stderr)
        self.assertIn("is played 2 times", done.stderr)
        result = self.runs()[0]["result"]
        # The two rounds, but for a frame or so at the seam.
        self.assertGreater(result["frames"]["all"]["sent"], 90)
        self.assertGreaterEqual(result["frames"]["I"]["sent"], 2)
        self.assertGreater(result["frames"]["B"]["sent"], 50)

    def test_a_film_that_ends_in_the_middle_is_shown_so_far(self):
        whole = clips.make(self.folder, "h264-aac.ts", seconds=6)
        half = self.folder / "half.mp4"
        subprocess.run(["ffmpeg", "-v", "error", "-i", whole, "-c", "copy",
                        "-movflags", "faststart", half], check=True,
                       stdin=subprocess.DEVNULL)
        os.truncate(half, half.stat().st_size * 6 // 10)
        done = self.demo("--transports", "tltcp", "--shortest", "0", half)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("half.mp4 ends in the middle", done.stderr)


if __name__ == "__main__":
    unittest.main()
