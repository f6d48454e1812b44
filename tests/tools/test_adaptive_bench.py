# SPDX-License-Identifier: MPL-2.0
"""Computations of ./dev bench adaptive and fanout, on synthetic runs."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import unittest
import unittest.mock

import toolbox

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools" / "demo")]
import adaptive  # noqa: E402
import adaptive_cases  # noqa: E402
import adaptive_clips  # noqa: E402
import adaptive_judge  # noqa: E402
import adaptive_page  # noqa: E402
import adaptive_quality  # noqa: E402
import adaptive_run  # noqa: E402
import adaptive_traces  # noqa: E402
import adaptive_webrtc  # noqa: E402
import commit  # noqa: E402
import devtools  # noqa: E402
import fanout  # noqa: E402
import fanout_page  # noqa: E402


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

    def test_an_encoder_may_begin_behind_the_first_picture(self):
        frames = [frame(n, 0.05, n == 3) for n in range(3, 6)]
        for f in frames:
            f["pts"] += 3600000
        adaptive_judge.mark_ready(frames, captured(6))
        self.assertEqual([f["number"] for f in frames], [3, 4, 5])


class Quality(toolbox.Folder):
    """Of a clip that FFmpeg makes, coded without loss or coarsely."""

    PICTURES = 20

    def setUp(self):
        super().setUp()
        self.clip = self.folder / "clip.yuv"
        self.ffmpeg("-f", "lavfi", "-i", f"testsrc2=size={adaptive_judge.WIDTH}x"
                    f"{adaptive_judge.HEIGHT}:rate=25", "-frames:v",
                    str(self.PICTURES), "-pix_fmt", "yuv420p", "-f", "rawvideo",
                    self.clip)
        self.frames = [{"number": n} for n in range(self.PICTURES)]

    @staticmethod
    def ffmpeg(*words):
        subprocess.run(["ffmpeg", "-v", "error", "-y", *words], check=True,
                       stdin=subprocess.DEVNULL)

    def quality(self, quantizer, numbers):
        stream = self.folder / "sent.es"
        self.ffmpeg("-f", "rawvideo", "-pix_fmt", "yuv420p", "-s",
                    f"{adaptive_judge.WIDTH}x{adaptive_judge.HEIGHT}", "-r", "25",
                    "-i", self.clip, "-c:v", "libx264", "-preset", "ultrafast",
                    "-tune", "zerolatency", "-qp", str(quantizer), "-f", "h264",
                    stream)
        return adaptive_quality.of_stream(stream, "h264", self.clip,
                                          self.frames, numbers)

    def test_what_is_sent_without_loss_is_as_good_as_can_be(self):
        result = self.quality(0, list(range(self.PICTURES)))
        self.assertEqual(result["psnr"], adaptive_quality.BEST_DB)
        self.assertEqual(result["ssim"], 1)
        self.assertTrue(result["vmaf"] is None or result["vmaf"] > 95)

    def test_a_high_rate_is_better_than_a_low_one(self):
        numbers = list(range(self.PICTURES))
        fine, coarse = (self.quality(q, numbers) for q in (8, 48))
        self.assertGreater(fine["psnr"], 45)
        self.assertLess(coarse["psnr"], 35)
        self.assertGreater(fine["ssim"], coarse["ssim"])

    def test_a_screen_that_stands_is_compared_with_what_was_captured(self):
        stood = self.quality(0, [0] * self.PICTURES)
        self.assertLess(stood["psnr"], 30)

    def test_what_is_before_the_first_picture_does_not_count(self):
        numbers = [None, None, *range(2, self.PICTURES)]
        self.assertEqual(self.quality(0, numbers)["psnr"],
                         adaptive_quality.BEST_DB)
        self.assertIsNone(adaptive_quality.compare([None], None, None)["psnr"])

    def test_frames_that_a_decoder_leaves_out_are_an_error(self):
        self.frames.append({"number": self.PICTURES})
        with self.assertRaisesRegex(adaptive_quality.QualityError,
                                    "21 frames were sent.* 20 pictures"):
            self.quality(20, [0])

    def test_every_clip_can_be_made(self):
        for name in {c.content for c in adaptive_clips.CLIPS.values()}:
            with self.subTest(content=name):
                path = adaptive_clips.raw(self.folder, name, 1, self.film())
                self.assertEqual(path.stat().st_size,
                                 25 * adaptive_judge.PICTURE)

    def film(self):
        """A short one of another shape."""
        path = self.folder / "film.mp4"
        self.ffmpeg("-f", "lavfi", "-i", "testsrc=size=320x240:rate=30", "-t",
                    "0.4", path)
        return path

    def test_what_is_no_film_is_no_clip(self):
        path = self.folder / "film.mp4"
        path.write_text("no film")
        with self.assertRaisesRegex(adaptive_clips.ClipError, "Invalid data"):
            adaptive_clips.raw(self.folder, "film", 1, path)


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
                    "at": case_.at, "flows": case_.flows, "seed": 1, "part": 0,
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
        self.assertEqual([c.name for c in cases], ["some-60", "some-250"])

    def test_any_file_can_be_a_recording(self):
        path = self.folder / "link"
        path.write_text("0\n7\n7\n")
        self.assertEqual([c.name for c in adaptive_cases.recorded(path)],
                         ["link-60", "link-250"])

    def test_what_is_no_recording_is_refused(self):
        path = self.folder / "some.down"
        for text in ("", "0\n", "5\n3\n", "x\n", "-1\n2\n"):
            path.write_text(text)
            with self.subTest(text=text), self.assertRaisesRegex(
                    ValueError, "some.down is not in mahimahi's format"):
                list(adaptive_cases.recorded(self.folder))

    def test_each_seed_has_a_part_of_a_recording(self):
        path = self.folder / "link"
        path.write_text("0\n45000\n")
        parts = [adaptive_cases.part_of(path, 20, seed) for seed in range(1, 5)]
        self.assertEqual(parts, [0, 20, 40, 15])

    def rows(self, capacities, carried):
        """Of a log with a line for each tenth of a second."""
        log = self.folder / "link.csv"
        lines = ["seconds,direction,rate_bps,offered_bytes,delivered_bytes,"
                 "dropped_packets,marked_packets,queue_packets,transit_ms"]
        for n, (capacity, total) in enumerate(zip(capacities, carried)):
            lines.append(f"{n / 10},up,{capacity},0,{total},0,0,0,0.0")
            lines.append(f"{n / 10},down,1,0,{n},0,0,0,0.0")
        log.write_text("\n".join(lines) + "\n")
        return adaptive_run.link_rows(log)

    def test_what_the_link_carried_is_told_over_what_it_could(self):
        rows = self.rows([160000] * 7, (0, 0, 1000, 2000, 2000, 3000, 3000))
        self.assertAlmostEqual(adaptive_run.link_use(rows), 3000 / 8000)
        self.assertEqual(adaptive_run.link_steps(rows, 0.1)[0],
                         (0.1, 160000, 80000))

    def test_what_no_encoder_would_fill_does_not_count(self):
        rows = self.rows([160000] * 10 + [320000] * 11,
                         [n * 1000 for n in range(21)])
        # 2000 a tenth of a second in the first, 4000 in the other
        self.assertAlmostEqual(adaptive_run.link_use(rows), 20 / (20 + 40), 1)
        self.assertAlmostEqual(adaptive_run.link_use(rows, 160000), 0.5)
        self.assertAlmostEqual(adaptive_run.link_use(rows, warm_up=1), 1 / 4)


class Shares(unittest.TestCase):
    def test_two_streams_share_by_what_arrived_late_in_the_run(self):
        even = {"series": [(t, 0.05, 1000) for t in range(20)]}
        half = {"series": [(t, 0.05, 1000) if t % 2 else (t, None, 1000)
                           for t in range(20)]}
        self.assertEqual(adaptive_run.share([even, even]), 1)
        self.assertEqual(adaptive_run.share([even, half]), 0.5)


ROW = {"within": {"200": 0.5, "400": 0.9, "800": 1}, "worst": 0.9, "psnr": 40,
       "ssim": 0.9, "vmaf": None, "freeze": 0.1, "freezes": 0, "use": 0.7, "F": None,
       "share": None, "skipped": 0, "delay_p50": 0.05, "delay_p95": 0.1}


class Page(toolbox.Folder):
    def data(self):
        run = {**ROW, "seed": 1, "commit": "0123456", "date": "2026-01-02",
               "held_up": 0.012, "made": "x"}
        return {"seconds": 60, "latency_ms": 400, "cores": 2, "jobs": 1,
                "load_before": 0.1, "names": {"tltcp": "TLTCP", "srt": "SRT",
                                              "udp": "RTP"},
                "cases": {"alone/ippp": {
                    "text": "words",
                    "rows": {"srt": {"error": "broken"},
                             "tltcp": {**ROW, "runs": 1}},
                    "runs": {"tltcp": [run], "srt": [{"error": "broken"}]}}}}

    def page(self):
        path = self.folder / "page.md"
        adaptive_page.write(path, self.data(), None)
        return path

    def test_a_page_has_a_row_for_each_result(self):
        text = self.page().read_text(encoding="utf-8")
        self.assertIn("| alone | ippp | TLTCP | 1 | 50.0/90.0/100.0 |", text)
        self.assertIn("no result: broken", text)
        lines = [line.count("|") for line in text.splitlines()
                 if line.startswith("| alone | ippp |")]
        self.assertEqual(len(lines), 2)
        self.assertEqual(len(set(lines)), 1)

    def test_a_page_says_when_it_was_made_and_what_is_missing(self):
        text = self.page().read_text(encoding="utf-8")
        self.assertIn("2026-01-02", text)
        self.assertIn("0123456", text)
        self.assertIn("12 ms", text)
        self.assertIn("Without a result: alone/ippp by SRT", text)

    def test_what_waits_in_a_buffer_is_not_compared_within_200_ms(self):
        data = self.data()
        data["cases"]["alone/ippp"]["rows"]["srt"] = {**ROW, "runs": 1}
        rows = dict(adaptive_page.rows("alone/ippp", data))
        self.assertEqual(adaptive_page.shares(rows["srt"]), "-/90.0/100.0")
        self.assertEqual(adaptive_page.shares(rows["tltcp"]), "50.0/90.0/100.0")

    def test_what_was_written_by_hand_stays(self):
        path = self.page()
        path.write_text("before\n" + path.read_text() + "after\n")
        adaptive_page.write(path, self.data(), None)
        text = path.read_text()
        self.assertTrue(text.startswith("before\n"))
        self.assertTrue(text.endswith("after\n"))
        self.assertEqual(text.count("| alone | ippp | TLTCP |"), 1)


class GoOn(toolbox.Folder):
    def args(self):
        case = adaptive_cases.CASES["quarter"]
        return argparse.Namespace(
            chosen={"quarter": case}, clips=["ippp"], seeds=2,
            folder=self.folder, whole=False, transports=["udp", "srt"], film=None,
            seconds=1, latency=400, no_quality=True, tltcp="",
            build=self.folder, environment={}, json=self.folder / "j.json",
            go_on=True, jobs=1)

    def left(self, args, data):
        names = {n: adaptive_cases.TRANSPORTS[n] for n in args.transports}
        return [(name, seed)
                for _, name, seed, _ in adaptive.missing(args, names, data)]

    def setUp(self):
        super().setUp()
        _, name = adaptive_clips.source_of("motion", None)
        (self.folder / f"{name}-1.yuv").write_bytes(b"")

    def test_runs_that_are_there_are_not_made_again(self):
        args, data = self.args(), {"cases": {}}
        self.assertEqual(self.left(args, data), [
            ("udp", 1), ("srt", 1), ("udp", 2), ("srt", 2)])
        adaptive.store(args, data, "quarter/ippp", "udp",
                       {**ROW, "seed": 1, "media_bps": 1, "held_up": 0,
                        "made": ""})
        adaptive.store(args, data, "quarter/ippp", "srt",
                       {"error": "broken", "seed": 1})
        self.assertEqual(self.left(args, data),
                         [("srt", 1), ("udp", 2), ("srt", 2)])
        self.assertEqual(json.loads(args.json.read_text()), data)

    def test_only_tltcp_is_measured_again_when_it_has_changed(self):
        args, data = self.args(), {"cases": {}}
        args.seeds, args.transports = 1, ["udp", "tltcp"]
        (self.folder / "tools").mkdir()
        (self.folder / "tools" / "linkem").write_bytes(b"")
        names = {n: adaptive_cases.TRANSPORTS[n] for n in args.transports}
        for name in names:
            list(adaptive.missing(args, names, data))
            adaptive.store(args, data, "quarter/ippp", name, {
                **ROW, "seed": 1, "media_bps": 1, "held_up": 0,
                "made": adaptive.made_with(args, name)})
        self.assertEqual(list(adaptive.missing(args, names, data)), [])
        args.tltcp = "congestion-control=reno"
        self.assertEqual([name for _, name, *_ in
                          adaptive.missing(args, names, data)], ["tltcp"])

    def test_the_whole_set_is_made_in_forty_minutes(self):
        runs = list(adaptive_cases.whole(["a", "b", "c", "d"], "film"))
        self.assertEqual(len(runs), len(set(runs)))
        self.assertLessEqual(len(runs) * (20 + 5) / 60, 40)
        for case, _, transport, _ in runs:
            self.assertIn(transport, adaptive_cases.TRANSPORTS)
            self.assertTrue(case in "abcd" or case in adaptive_cases.CASES)

    def test_a_disturbed_run_is_made_again_once(self):
        args, data = self.args(), {"cases": {}}
        args.seeds, args.transports = 1, ["udp"]
        for held_up, left in ((0.5, [("udp", 1)]), (0.3, [])):
            self.left(args, data)
            adaptive.store(args, data, "quarter/ippp", "udp", {
                **ROW, "seed": 1, "media_bps": 1, "held_up": held_up,
                "made": ""})
            self.assertEqual(self.left(args, data), left)
        self.assertEqual(data["cases"]["quarter/ippp"]["rows"]["udp"]["held_up"],
                         0.3)

    def test_a_failed_run_is_replaced(self):
        args, data = self.args(), {"cases": {}}
        self.left(args, data)
        adaptive.store(args, data, "quarter/ippp", "udp",
                       {"error": "broken", "seed": 1})
        adaptive.store(args, data, "quarter/ippp", "udp",
                       {**ROW, "seed": 1, "media_bps": 1, "held_up": 0,
                        "made": ""})
        entry = data["cases"]["quarter/ippp"]
        self.assertEqual(len(entry["runs"]["udp"]), 1)
        self.assertEqual(entry["rows"]["udp"]["runs"], 1)

    def test_nothing_begins_when_the_command_ends(self):
        machine = adaptive.Machine(1)
        self.assertEqual(machine.use(2, lambda free: 7), 7)
        machine.ending = True
        self.assertIsNone(machine.use(1, lambda free: 7))

    def test_nothing_begins_that_would_not_be_over_in_time(self):
        self.assertIsNone(adaptive.make_run(self.args(), {"seconds": 20},
                                            0.001))


def seen(numbers, delay=0.0):
    return [[n, 100 + n * 0.04 + delay, 640, 360] for n in numbers]


class WebRtc(toolbox.Folder):
    def judge(self, received, coded=25):
        stats = [[100 + n * 0.04, n * 1000, n, 1e6] for n in range(60)]
        sender = {"seen": seen(range(60)),
                  "stats": [[at, total, min(n, coded + 1), rate]
                            for at, total, n, rate in stats]}
        receiver = {"seen": received, "stats": stats, "details": []}
        return adaptive_webrtc.judge(sender, receiver, 100.02, 1)

    def test_pictures_are_found_again_by_their_numbers(self):
        result, frames, numbers = self.judge(seen(range(60), 0.1))
        self.assertEqual(result["captured"], 25)
        self.assertEqual(len(frames), 25)
        self.assertAlmostEqual(result["delay_p50"], 0.1)
        self.assertEqual(result["within"]["200"], 25 / result["coded"])
        self.assertEqual(numbers, list(range(25)))

    def test_a_picture_that_never_came_leaves_the_one_before_it(self):
        here = [n for n in range(60) if n not in (5, 6)]
        result, _, numbers = self.judge(seen(here, 0.1))
        # the first that counts was captured as number 1
        self.assertEqual(numbers[3:7], [3, 3, 3, 6])
        self.assertAlmostEqual(result["freeze"], 0.12)
        self.assertLess(result["within"]["800"], 1)

    def test_pictures_that_the_senders_page_missed_are_known_by_the_others(self):
        at = adaptive_webrtc.captures(seen([1, 2, 4, 30]), 100.02, 1)
        self.assertAlmostEqual(at[3], 100.12)
        self.assertEqual((min(at), max(at)), (1, 25))

    def test_no_picture_is_no_result(self):
        with self.assertRaises(adaptive_judge.JudgeError):
            self.judge([])

    def test_a_mark_holds_the_number_and_its_complement(self):
        picture = adaptive_webrtc.mark(bytes(adaptive_judge.PICTURE), 5)
        width, cell = adaptive_judge.WIDTH, adaptive_webrtc.CELL
        first = picture[0:adaptive_webrtc.BITS * cell:cell]
        below = picture[cell * width:cell * width +
                        adaptive_webrtc.BITS * cell:cell]
        self.assertEqual([x > 128 for x in first],
                         [False] * 11 + [True, False, True])
        self.assertEqual([x > 128 for x in below],
                         [x <= 128 for x in first])
        self.assertEqual(len(picture), adaptive_judge.PICTURE)

    @unittest.skipUnless(devtools.find(), "there is no Chromium")
    def test_a_call_between_two_browsers_shows_the_pictures(self):
        raw = self.folder / "clip.yuv"
        raw.write_bytes(bytes(adaptive_judge.PICTURE) * 5)
        clip = adaptive_webrtc.marked(str(raw), 2)
        way = argparse.Namespace(prefix_send=(), prefix_receive=())
        call = adaptive_webrtc.Call({"quality": False, "seconds": 2},
                                    str(self.folder / "call"), way, clip)
        try:
            call.open()
            call.connect()
            call.browsers[1].evaluate(
                "new Promise(d => setInterval(() => seen.length > 5 && d(), 20))")
            call.finish()
        finally:
            call.close()
        shown = [n for n, *_ in call.receiver["seen"] if n >= 0]
        self.assertGreater(len(shown), 3)
        self.assertLessEqual(set(shown), set(range(12 * adaptive_judge.RATE)))


class Transports(unittest.TestCase):
    def test_every_name_in_a_pipeline_is_filled_in(self):
        spec = {"codec": "hevc", "latency_ms": 400, "rtt_ms": 40, "extra": "",
                "queued_ms": 0}
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
            {"latency_ms": 400, "rtt_ms": 40, "queued_ms": 0}), 290)
        self.assertEqual(adaptive_cases.buffer_ms(
            {"latency_ms": 400, "rtt_ms": 40, "queued_ms": 120}), 170)
        self.assertEqual(adaptive_cases.buffer_ms(
            {"latency_ms": 50, "rtt_ms": 600, "queued_ms": 0}), 20)


class Commit(unittest.TestCase):
    @unittest.mock.patch.dict(os.environ, {"PATH": "/nonexistent"})
    def test_is_unknown_without_git(self):
        self.assertEqual(commit.short(), commit.UNKNOWN)


class Fanout(unittest.TestCase):
    @staticmethod
    def args():
        tools = toolbox.TOOLS
        return argparse.Namespace(
            program=tools.parent / "bench" / "bench_fanout",
            linkem=tools / "linkem", mbps=1, seconds=1, warm=0.2,
            latency=2000, rtt=10, runs=1)

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

    def test_a_page_has_a_row_for_each_transport(self):
        end = {"server_cpu": 0.002, "viewer_cpu": 0.001, "server_bytes": 1e5,
               "viewer_bytes": 2e5, "least": 0.99, "mean": 1}
        good = {"least": 1, "mean": 1, "bad_mean": 0.1}
        page = fanout_page.text(
            {"machine": "m", "cores": 2, "date": "1 May 2026", "commit": "c1",
             "load_before": 0, "viewers": 3, "mbps": 4, "seconds": 5,
             "warm": 1, "runs": 1, "costs": {"3 viewers": {
                 "tltcp": end, "srt": {**end, "server_cpu": 0.004},
                 "librist": {"error": "no result"}}},
             "isolation": {"tltcp": (good, good),
                           "srt": ({"error": "died"}, good)}},
            fanout.NAMES, fanout.ratio)
        self.assertIn("at commit c1", page)
        self.assertIn("| SRT | 0.400 | 0.50 | 0.100 | 1.00 | 100 | 200 | "
                      "100.00 | 99.00 |", page)
        self.assertIn("| librist | no result |", page)
        self.assertIn("| TLTCP | 100.00 | 100.00 | 10.00 |", page)
        self.assertIn("| SRT | died |", page)

    @unittest.skipUnless((toolbox.TOOLS.parent / "bench" /
                          "bench_fanout").exists(), "not built")
    def test_viewers_with_good_links_get_all_beside_a_bad_one(self):
        result = fanout.isolation(self.args(), "tltcp", 2, 1)
        self.assertGreater(result["least"], 0.9)
        self.assertLess(result["bad_mean"], 1)

    @unittest.skipUnless((toolbox.TOOLS.parent / "bench" /
                          "bench_fanout").exists(), "not built")
    def test_bare_udp_delivers_every_train(self):
        args = self.args()
        args.mbps = 8  # 28 packets a frame: three trains
        for rtt in (0, 10):
            with self.subTest(rtt=rtt):
                result = fanout.plain(args, "bare", 2, rtt)
                self.assertGreater(result["least"], 0.9)
                self.assertLessEqual(result["mean"], 1)


if __name__ == "__main__":
    unittest.main()
