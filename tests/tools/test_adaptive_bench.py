# SPDX-License-Identifier: MPL-2.0
"""Computations of ./dev bench adaptive and fanout, on synthetic runs."""
import argparse
import pathlib
import statistics
import subprocess
import sys
import unittest

import toolbox

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools" / "demo")]
import adaptive_cases  # noqa: E402
import adaptive_judge  # noqa: E402
import adaptive_page  # noqa: E402
import adaptive_run  # noqa: E402
import adaptive_traces  # noqa: E402
import fanout  # noqa: E402


def captured(count):
    """Pictures with time stamps from 0, captured from second 100 on."""
    return [(n * 0.04, 100 + n * 0.04) for n in range(count)]


def frame(number, delay, key=False):
    """A frame that refers to the one before it, and how long after its capture
    it arrived; None: never."""
    at = 100 + number * 0.04
    return {"pts": number * 0.04, "bytes": 1000,
            "class": "key" if key else "reference", "depends": 0 if key else 1,
            "arrival": None if delay is None else at + delay}


class Judge(unittest.TestCase):
    def judge(self, delays, keys=(0,)):
        frames = [frame(n, d, n in keys) for n, d in enumerate(delays)]
        pictures = captured(len(delays))
        adaptive_judge.mark_ready(frames, pictures)
        return frames, adaptive_judge.shown(frames, pictures)

    def test_all_in_time_is_shown_as_captured(self):
        frames, numbers = self.judge([0.05] * 10)
        self.assertEqual(numbers, list(range(10)))
        self.assertEqual(adaptive_judge.within(frames, 0.2), 1)
        self.assertAlmostEqual(max(adaptive_judge.freezes(numbers)), 0.04)

    def test_what_refers_to_a_lost_frame_is_never_there(self):
        frames, numbers = self.judge(
            [0.05, 0.05, None, 0.05, 0.05, 0.05], keys=(0, 4))
        self.assertEqual(numbers, [0, 1, 1, 1, 4, 5])
        self.assertAlmostEqual(adaptive_judge.within(frames, 0.4), 4 / 6)
        self.assertAlmostEqual(max(adaptive_judge.freezes(numbers)), 0.12)

    def test_a_late_reference_makes_its_dependents_late(self):
        frames, _ = self.judge([0.05, 0.5, 0.05, 0.05])
        self.assertAlmostEqual(adaptive_judge.within(frames, 0.2), 1 / 4)
        # the third waits for the second: 0.46 s after its own capture
        self.assertAlmostEqual(adaptive_judge.within(frames, 0.4), 1 / 4)
        self.assertAlmostEqual(adaptive_judge.within(frames, 0.45), 2 / 4)
        self.assertEqual(adaptive_judge.within(frames, 0.8), 1)

    def test_a_late_picture_is_shown_while_it_is_the_newest(self):
        _, numbers = self.judge([0.05, 0.43, None, None, None])
        self.assertEqual(numbers, [0, 0, 1, 1, 1])

    def test_nothing_is_shown_before_the_first_frame(self):
        _, numbers = self.judge([None, None, 0.05], keys=(0, 2))
        self.assertEqual(numbers, [None, None, 2])

    def test_a_picture_that_was_not_coded_leaves_the_one_before_it(self):
        frames = [frame(n, 0.05, n == 0) for n in (0, 1, 3)]
        pictures = captured(4)
        adaptive_judge.mark_ready(frames, pictures)
        self.assertEqual(adaptive_judge.shown(frames, pictures), [0, 1, 1, 3])

    def test_an_encoder_may_shift_all_time_stamps(self):
        frames = [frame(n, 0.05, n == 0) for n in range(3)]
        for f in frames:
            f["pts"] += 3600
        adaptive_judge.mark_ready(frames, captured(3))
        self.assertEqual([f["number"] for f in frames], [0, 1, 2])

    def test_psnr_of_no_difference_is_finite(self):
        self.assertEqual(adaptive_judge.psnr_of([0]), 100)
        self.assertAlmostEqual(adaptive_judge.psnr_of([255 ** 2]), 0)


class Traces(toolbox.Folder):
    def test_a_seed_makes_the_same_trace_and_another_seed_another(self):
        kind = adaptive_traces.KINDS["lte"]
        first = adaptive_traces.times(kind, 20, 1)
        self.assertEqual(first, adaptive_traces.times(kind, 20, 1))
        self.assertNotEqual(first, adaptive_traces.times(kind, 20, 2))
        self.assertEqual(first, sorted(first))
        self.assertEqual(first[-1], 20_000)

    def test_traces_have_the_means_and_outages_that_they_should(self):
        for name, kind in adaptive_traces.KINDS.items():
            with self.subTest(kind=name):
                all_times = [adaptive_traces.times(kind, 120, seed)
                             for seed in range(20)]
                rate = statistics.fmean(len(t) for t in all_times) * \
                    adaptive_traces.BITS / 120
                self.assertGreater(rate, 0.6 * kind.mean_bps)
                self.assertLess(rate, 1.3 * kind.mean_bps)
                gaps = [b - a for t in all_times for a, b in zip(t, t[1:])]
                self.assertGreater(sum(g > 150 for g in gaps),
                                   120 * 20 * kind.outages * 0.3)

    def test_linkem_takes_every_link(self):
        for case_ in adaptive_cases.CASES.values():
            trace = case_.trace and adaptive_cases.trace_of(case_, self.folder,
                                                            2, 1)
            spec = {"linkem": str(toolbox.TOOLS / "linkem"), "up": case_.up,
                    "down": case_.down, "rtt_ms": case_.rtt_ms,
                    "at": case_.at, "flows": case_.flows, "seed": 1,
                    "dir": str(self.folder)}
            with self.subTest(case=case_.name):
                done = subprocess.run(
                    [*adaptive_run.linkem_command(spec, trace), "--duration",
                     "1ms", "127.0.0.1:0", "127.0.0.1:1"],
                    capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_recordings_in_a_folder_become_cases(self):
        (self.folder / "some.down").write_text("1\n")
        (self.folder / "README.md").write_text("not one")
        cases = list(adaptive_cases.recorded(self.folder))
        self.assertEqual([c.name for c in cases],
                         ["some.down-60", "some.down-250"])

    def test_what_the_link_carried_is_told_over_what_it_could(self):
        log = self.folder / "link.csv"
        lines = ["seconds,direction,rate_bps,offered_bytes,delivered_bytes,"
                 "dropped_packets,marked_packets,queue_packets,transit_ms"]
        for n, carried in enumerate((0, 0, 1000, 2000, 2000, 3000, 3000)):
            lines.append(f"{n / 10},up,160000,0,{carried},0,0,0,0.0")
            lines.append(f"{n / 10},down,1,0,{n},0,0,0,0.0")
        log.write_text("\n".join(lines) + "\n")
        use = adaptive_run.link_use(log)
        self.assertEqual(use["carried_bytes"], 3000)
        self.assertAlmostEqual(use["capacity_bytes"], 8000)


class Shares(unittest.TestCase):
    def test_two_streams_share_by_what_arrived_late_in_the_run(self):
        even = {"series": [(t, 0.05, 1000) for t in range(20)]}
        half = {"series": [(t, 0.05, 1000) if t % 2 else (t, None, 1000)
                           for t in range(20)]}
        self.assertEqual(adaptive_run.share([even, even]), 1)
        self.assertEqual(adaptive_run.share([even, half]), 0.5)


class Page(toolbox.Folder):
    def test_a_page_has_a_row_for_each_result(self):
        row = {"within": {"200": 0.5, "400": 0.9, "800": 1}, "worst": 0.9,
               "psnr": 40, "ssim": 0.9, "freeze": 0.1, "freezes": 0, "use": 0.7,
               "F": None, "share": None, "skipped": 0, "delay_p50": 0.05,
               "delay_p95": 0.1}
        data = {"seconds": 60, "seeds": 1, "latency_ms": 400, "cores": 2,
                "load_before": 0.1, "names": {"tltcp": "TLTCP", "srt": "SRT"},
                "cases": {"alone/ippp": {"text": "words", "rows": {
                    "tltcp": row, "srt": {"error": "broken"}}}}}
        path = self.folder / "new" / "page.md"
        adaptive_page.write(path, data, None)
        text = path.read_text(encoding="utf-8")
        self.assertIn("| alone/ippp | TLTCP | 50.0/90.0/100.0 |", text)
        self.assertIn("no result: broken", text)
        lines = [line.count("|") for line in text.splitlines()
                 if line.startswith("| alone/ippp |") and "words" not in line]
        self.assertEqual(len(set(lines)), 1)


class Transports(unittest.TestCase):
    def test_every_name_in_a_pipeline_is_filled_in(self):
        spec = {"codec": "hevc", "latency_ms": 400, "rtt_ms": 40, "extra": ""}
        stream = {"dir": "/d", "host": "10.0.0.2", "port": 5002, "local": 6002}
        for name, transport in adaptive_cases.TRANSPORTS.items():
            texts = [transport.send, transport.receive]
            for _, *words in transport.helpers:
                texts += words
            with self.subTest(transport=name):
                filled = " ".join(adaptive_cases.fill(t, spec, stream)
                                  for t in texts)
                self.assertNotRegex(filled, "[{}]")

    def test_what_waits_behind_the_way_waits_less(self):
        self.assertEqual(adaptive_cases.buffer_ms(
            {"latency_ms": 400, "rtt_ms": 40}), 250)
        self.assertEqual(adaptive_cases.buffer_ms(
            {"latency_ms": 50, "rtt_ms": 600}), 20)


class Fanout(unittest.TestCase):
    def test_costs_are_of_one_stream(self):
        end = {"viewers": 4, "seconds": 10, "cpu_seconds": 2,
               "resident_bytes": 4000}
        row = fanout.cost({**end, "bytes": 100},
                          {**end, "bytes": [100, 100, 100, 50]})
        self.assertAlmostEqual(row["server_cpu"], 0.05)
        self.assertEqual(row["viewer_bytes"], 1000)
        self.assertEqual((row["least"], row["mean"]), (0.5, 0.875))

    def test_a_ratio_is_ours_over_theirs(self):
        rows = {"tltcp": {"server_cpu": 1}, "srt": {"server_cpu": 2},
                "librist": {"error": "no"}}
        self.assertEqual(fanout.ratio(rows, "srt", "server_cpu"), 0.5)
        self.assertIsNone(fanout.ratio(rows, "librist", "server_cpu"))

    def test_a_failed_run_does_not_hide_the_others(self):
        self.assertEqual(fanout.medians([{"error": "x"}, {"a": 1}, {"a": 3}]),
                         {"a": 2})
        self.assertEqual(fanout.medians([{"error": "x"}]), {"error": "x"})

    @unittest.skipUnless((toolbox.TOOLS.parent / "bench" /
                          "bench_fanout").exists(), "not built")
    def test_viewers_with_good_links_get_all_beside_a_bad_one(self):
        tools = toolbox.TOOLS
        args = argparse.Namespace(
            program=tools.parent / "bench" / "bench_fanout",
            linkem=tools / "linkem", mbps=1, seconds=1, latency=2000, rtt=10,
            runs=1)
        result = fanout.isolation(args, "tltcp", 2, 1)
        self.assertGreater(result["least"], 0.9)
        self.assertLess(result["bad_mean"], 1)


if __name__ == "__main__":
    unittest.main()
