# SPDX-License-Identifier: MPL-2.0
"""What ./dev bench live computes, on runs that were made up."""
import pathlib
import subprocess
import sys
import unittest

import toolbox

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools" / "demo")]
import live_cases  # noqa: E402
import live_quality  # noqa: E402
import measure  # noqa: E402
import tcp_flows  # noqa: E402


def frame(number, decodable=True, kind="reference", size=1000):
    return {"pts": number * 0.04, "dts": number * 0.04, "bytes": size,
            "class": kind, "decodable": decodable}


class Cases(unittest.TestCase):
    def test_the_fair_share_counts_flows_and_steps(self):
        cases = live_cases.CASES
        self.assertEqual(cases["alone"].share_bps(30), 4e6)
        self.assertEqual(cases["beside-cubic"].share_bps(30), 2e6)
        self.assertEqual(cases["beside-5"].share_bps(30), 2e6)
        self.assertAlmostEqual(cases["step"].share_bps(30), 10e6 / 3)
        self.assertAlmostEqual(cases["step"].share_bps(20), 3e6)

    def test_quick_names_what_exists(self):
        self.assertLessEqual(set(live_cases.QUICK), set(live_cases.CASES))
        self.assertLessEqual(set(live_cases.QUICK_TRANSPORTS),
                             set(live_cases.NAMES))


class Yardsticks(unittest.TestCase):
    def test_instead_of_a_lost_picture_the_one_before_is_seen(self):
        frames = [frame(0), frame(2, False), frame(1), frame(3)]
        self.assertEqual(live_quality.shown(frames), [0, 1, 1, 3])

    def test_what_comes_late_is_waste(self):
        frames = [dict(frame(n), arrival=a, on_time=a == 1)
                  for n, a in enumerate((1, 1, 2, None))]
        self.assertAlmostEqual(measure.waste(frames), 1 / 3)

    def test_the_bound_keeps_what_others_need_and_the_smallest_of_the_rest(
            self):
        frames = [frame(0), frame(1, kind="disposable", size=500),
                  frame(2, kind="disposable", size=2000), frame(3)]
        seconds = 0.12 + 0.2
        self.assertEqual(measure.plan_bound(frames, 2500 * 8 / seconds, 0.2),
                         3)
        self.assertIsNone(measure.plan_bound(frames, 8, 0.2))

    def test_rates_are_taken_between_two_times(self):
        samples = [(t / 10, t * 100) for t in range(100)]
        self.assertAlmostEqual(tcp_flows.rate(samples, 2, 5), 8000)
        self.assertEqual(tcp_flows.rate(samples, 50, 60), 0)

    def test_pictures_are_told_from_what_multiplexers_add(self):
        slice_, header = b"\0\0\1\x61abc", b"\0\0\1\x09\xf0"
        self.assertEqual(measure.digest(slice_),
                         measure.digest(header + slice_))
        self.assertIsNone(measure.digest(header))
        self.assertIsNone(measure.digest(b"\0\0\1\x42\1x", "hevc"))
        self.assertIsNotNone(measure.digest(b"\0\0\1\0\1\x4f", "mpeg"))


class Quality(toolbox.Folder):
    def test_nothing_lost_is_perfect_and_less_is_worse(self):
        toolbox.need("ffmpeg")
        clip = self.folder / "clip.mp4"
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
             "testsrc2=size=640x360:rate=25", "-t", "0.4", "-c:v", "libx264",
             "-preset", "ultrafast", clip], check=True,
            stdin=subprocess.DEVNULL, timeout=toolbox.PATIENCE)
        whole = [frame(n) for n in range(10)]
        torn = [frame(n, n % 2 == 0) for n in range(10)]
        perfect = live_quality.after_concealment(str(clip), whole)
        worse = live_quality.after_concealment(str(clip), torn)
        self.assertEqual(perfect["psnr"], live_quality.PERFECT_DB)
        self.assertAlmostEqual(perfect["ssim"], 1)
        self.assertLess(worse["psnr"], 60)
        self.assertLess(worse["ssim"], 1)


class Command(unittest.TestCase):
    def test_it_lists_its_cases_and_refuses_others(self):
        run = [sys.executable, ROOT / "bench" / "live.py"]
        done = subprocess.run([*run, "--list"], check=True, text=True,
                              capture_output=True, timeout=toolbox.PATIENCE)
        for name in live_cases.CASES:
            self.assertIn(name, done.stdout)


if __name__ == "__main__":
    unittest.main()
