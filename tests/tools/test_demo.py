# SPDX-License-Identifier: MPL-2.0
"""The demo itself, on a short film, and what it says to files that are none."""
import contextlib
import io
import json
import os
import subprocess
import sys
import unittest

import clips
import toolbox

DEMO = toolbox.pathlib.Path(__file__).resolve().parents[2] / "tools" / \
    "demo" / "demo.py"


sys.path.insert(0, str(DEMO.parent))
import demo  # noqa: E402


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


class Adaptive(toolbox.Folder):
    """What the second part shows of results that were made up."""

    def data(self):
        run = {"within": {"400": 0.945}, "freeze": 0.3, "psnr": 35.2, "F": 0.6,
               "media_bps": 1.1e6, "tcp_bps": [2.4e6], "held_up": 0,
               "series": [(0, 0.1, 4000), (0.04, 0.5, 500), (0.08, None, 500)],
               "link": [(-3, 5e6, 1e6), (1, 2e6, 1e6)],
               "tcp": [(-3, 4e6), (0, 3e6), (0.5, 2e6)]}
        return {"names": {"tltcp-auto": "TLTCP", "srt": "SRT"},
                "seconds": 1, "latency_ms": 400, "cases": {"demo/ippp": {
                    "text": "5 Mbit/s; H.264",
                    "rows": {"srt": {"error": "broken"}, "tltcp-auto": run},
                    "runs": {"tltcp-auto": [run],
                             "srt": [{"error": "broken"}]}}}}

    def test_the_table_has_a_line_for_each_transport(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            good = demo.print_adaptive(self.data())
        self.assertFalse(good)
        lines = out.getvalue().splitlines()
        self.assertEqual(lines[1], "A live encoder on a link of 5 Mbit/s")
        self.assertEqual(lines[3].split(), [
            "TLTCP", "94.5", "%", "0.3", "s", "35.2", "dB", "1.10", "Mbit/s",
            "2.40", "Mbit/s"])
        self.assertEqual(lines[4].split(), ["SRT", "no", "result:", "broken"])

    def test_the_picture_is_drawn(self):
        result, image = (self.folder / name for name in ("r.json", "p.svg"))
        result.write_text(json.dumps(self.data()))
        out = io.StringIO()
        with contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(out):
            demo.paint("adaptive_picture.py", str(result), str(image))
        if "no matplotlib" in out.getvalue():
            self.skipTest("no matplotlib")
        text = image.read_text(encoding="utf-8")
        for word in ("94 % of the pictures in time", "no result: broken",
                     "a TCP flow beside it"):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
