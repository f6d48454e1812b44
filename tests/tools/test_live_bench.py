# SPDX-License-Identifier: MPL-2.0
"""Computations of ./dev bench live, on synthetic runs."""
import argparse
import os
import pathlib
import socket
import subprocess
import sys
import time
import unittest

import toolbox

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools" / "demo")]
import case  # noqa: E402
import live_cases  # noqa: E402
import live_page  # noqa: E402
import live_quality  # noqa: E402
import live_runs  # noqa: E402
import live_store  # noqa: E402
import measure  # noqa: E402
import tcp_flows  # noqa: E402


def frame(number, decodable=True, kind="reference", size=1000):
    return {"pts": number * 0.04, "dts": number * 0.04, "bytes": size,
            "class": kind, "decodable": decodable}


class Cases(toolbox.Folder):
    def test_the_fair_share_counts_flows_and_steps(self):
        cases = live_cases.CASES
        self.assertEqual(cases["alone"].share_bps(30), 4e6)
        self.assertEqual(cases["beside-cubic"].share_bps(30), 2e6)
        self.assertEqual(cases["beside-5"].share_bps(30), 2e6)
        self.assertAlmostEqual(cases["step"].share_bps(30), 10e6 / 3)
        self.assertAlmostEqual(cases["step"].share_bps(20), 3e6)

    def test_a_chosen_port_stays_reserved_until_its_use(self):
        given = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
        low, high = map(int, given.read_text(encoding="ascii").split())
        for _ in range(100):
            port = case.free_port(socket.SOCK_DGRAM)
            self.assertFalse(low <= port <= high, port)

    def test_quick_names_what_exists(self):
        self.assertLessEqual(set(live_cases.QUICK), set(live_cases.CASES))
        self.assertLessEqual(set(live_cases.QUICK_TRANSPORTS),
                             set(live_cases.NAMES))


    def test_linkem_takes_every_link(self):
        for which in live_cases.CASES.values():
            with self.subTest(which=which.name):
                command = case.linkem_command(
                    {"linkem": str(toolbox.TOOLS / "linkem"),
                     "link": which.link, "dir": str(self.folder)})
                done = subprocess.run(
                    [*command, "--duration", "1ms", "127.0.0.1:0",
                     "127.0.0.1:9"], capture_output=True, text=True,
                    stdin=subprocess.DEVNULL, check=False,
                    timeout=toolbox.PATIENCE)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_bursts_make_the_loss_that_is_named(self):
        enter, leave = (float(word.rstrip("%")) / 100
                        for word in live_cases.bursts(0.1).split(":"))
        self.assertAlmostEqual(enter / (enter + leave), 0.1, 4)
        self.assertEqual(leave, 0.25)

    def test_any_content_goes_over_any_link(self):
        which, = live_cases.choose(["loss-2/mpeg1"], 500)
        self.assertEqual((which.name, which.content, which.latency_ms),
                         ("loss-2/mpeg1", "mpeg1", 500))
        self.assertEqual(which.link, live_cases.CASES["loss-2"].link)


def row(of_bound, **more):
    counts = {"sent": 10, "bound": 10, "on_time": 10, "decodable": 10}
    return {"of_bound": of_bound, "beyond_of_bound": of_bound, "freeze": 0.2,
            "freezes": 0, "waste": 0.001, "useless": 0.0,
            "delay_p50": 0.07, "delay_p95": 0.1, "delay_p99": None,
            "psnr": 40.0, "ssim": 0.9, "F": None, "S": None,
            "classes": {kind: dict(counts) for kind in measure.CLASSES},
            **more}


def data(transport, rows):
    how = {"transports": [transport], "absent": {"librist": "no ristsender"},
           "seeds": 5, "seconds": 30, "cores": 2, "idle": 1.9, "jobs": 4,
           "held_up": 0.01, "again": 1}
    return {"made": [how], "cases": {
        name: {"text": "a link", "rows": {transport: r}, "runs": {}}
        for name, r in rows.items()}}


class Store(toolbox.Folder):
    def test_ristsink_is_found_under_the_name_that_it_had(self):
        path = self.folder / "live.json"
        before = data("tltcp", {"alone": row(0.9)})
        before["cases"]["alone"].update(rows={"rist": row(0.8)},
                                        runs={"rist": [{"key": "k"}]})
        before["made"][0]["transports"] = ["tltcp", "rist"]
        live_store.write(path, before)
        now = live_store.read(path)
        self.assertEqual(set(now["cases"]["alone"]["rows"]), {"ristsink"})
        self.assertEqual(now["made"][0]["transports"], ["tltcp", "ristsink"])
        found = live_store.find(now, live_cases.CASES["alone"], "ristsink", "k")
        self.assertEqual(found, {"key": "k"})

    def test_librist_is_its_own_tools_and_not_an_element(self):
        way = argparse.Namespace(receive_host="10.0.0.2", receive_port=5002)
        found = list(case.librist_tools({"latency_ms": 150}, way))
        self.assertEqual([c[0] for _, c, _ in found],
                         ["ristreceiver", "ristsender"])
        for _, command, _ in found:
            self.assertTrue(any("10.0.0.2:5002?buffer=150" in w
                                for w in command))


class Page(toolbox.Folder):
    def test_results_take_the_place_of_older_ones(self):
        page = self.folder / "page.md"
        page.write_text(f"Before.\n{live_page.BEGIN}\nold\n{live_page.END}\n"
                        "After.\n", encoding="utf-8")
        both = live_page.merge([
            data("tltcp", {"alone": row(0.98), "small": row(0.95)}),
            data("srt", {"alone": {"error": "no peer"}})])
        for _ in range(2):
            live_page.write(page, both)
        text = page.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("Before.\n"))
        self.assertTrue(text.endswith("\nAfter.\n"))
        self.assertNotIn("old", text)
        self.assertEqual(text.count("| alone | TLTCP | 98.0 | 98.0 | 10/10 10/10 "
                                    "10/10 | 0.20 "), 1)
        self.assertIn("| alone | SRT | no result: no peer |", text)
        self.assertIn("librist is absent: no ristsender.", text)
        self.assertIn("| alone | at least 99.9 % of the bound | 98.0 | "
                      "**short** |", text)
        self.assertIn("| small | at least 90 % of the bound | 95.0 | met |",
                      text)
        self.assertEqual(len({line.count("|") for line in text.splitlines()
                              if line.startswith(("| alone | T",
                                                  "| alone | S"))}), 1)

    def test_a_page_without_a_place_for_them_is_left_alone(self):
        page = self.folder / "page.md"
        page.write_text("Text.\n", encoding="utf-8")
        with self.assertRaises(ValueError):
            live_page.write(page, data("tltcp", {"alone": row(1)}))
        self.assertEqual(page.read_text(encoding="utf-8"), "Text.\n")

    def test_every_aim_is_for_a_case_that_exists(self):
        for aim in live_cases.AIMS:
            self.assertIn(aim.case, live_cases.CASES)
            self.assertIsInstance(aim.met(row(1, F=1.0)), bool)
        self.assertFalse(all(aim.met(row(0.5, F=3.0, freeze=1, waste=0.5,
                                         useless=0.5))
                             for aim in live_cases.AIMS))


class Runs(toolbox.Folder):
    """The pool, with a program that gives results instead of streaming."""

    RESULTS = ('import json, pathlib, sys; '
               'n = len(list(pathlib.Path(sys.argv[1]).glob("ran*"))); '
               'pathlib.Path(sys.argv[1], f"ran{n}").touch(); '
               'print(json.dumps({"error": "x", "held_up": [%s][n]}))')

    def make(self, held_up):
        command = [sys.executable, "-c", self.RESULTS % held_up, self.folder]
        with live_runs.Pool(2, lambda _: command, keep=True) as pool:
            result = pool.submit(None, {"dir": str(self.folder),
                                        "key": "k"}).result()
        return result["held_up"], pool.again

    def test_a_run_that_was_held_up_is_made_again(self):
        self.assertEqual(self.make("0.01"), (0.01, 0))

    def test_the_better_of_two_counts(self):
        self.assertEqual(self.make("0.4, 0.2"), (0.2, 1))


class Ends(toolbox.Folder):
    """A process that has started another, and is told to end."""

    PROGRAM = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import case
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
processes = case.Processes(sys.argv[2], dict(os.environ))
try:
    process = processes.start(
        "slow", ["sh", "-c", "trap '' INT; exec sleep 600"])
    print(process.pid, flush=True)
    signal.pause()
finally:
    processes.end_all()
"""

    def test_told_to_end_many_times_it_ends_what_it_has_started(self):
        process = subprocess.Popen(
            [sys.executable, "-c", self.PROGRAM, str(ROOT / "tools" / "demo"),
             self.folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            text=True)
        self.addCleanup(self.end, process)
        started = int(process.stdout.readline())
        while process.poll() is None:
            process.terminate()
            time.sleep(0.05)
        with self.assertRaises(ProcessLookupError):
            os.kill(started, 0)


class Store(toolbox.Folder):
    """Existing runs are not made again."""

    def setUp(self):
        super().setUp()
        for name in ("tools/linkem", "libtltcp/libtltcp.so"):
            path = self.folder / name
            path.parent.mkdir()
            path.write_text(name, encoding="ascii")
        self.arguments = argparse.Namespace(seconds=30, tltcp="",
                                            build=self.folder)

    def key(self, transport, seed=1):
        live_store.made_with.cache_clear()
        return live_store.key(self.arguments, live_cases.CASES["alone"],
                              transport, seed)

    def test_a_run_is_identified_by_its_dependencies(self):
        ours, peer = self.key("tltcp"), self.key("srt")
        self.assertNotEqual(self.key("tltcp", 2), ours)
        self.arguments.tltcp = "fec=off"
        self.assertNotEqual(self.key("tltcp"), ours)
        self.assertEqual(self.key("srt"), peer)
        self.arguments.tltcp = ""
        (self.folder / "libtltcp/libtltcp.so").write_text("new")
        self.assertNotEqual(self.key("tltcp"), ours)
        self.assertEqual(self.key("srt"), peer)
        (self.folder / "tools/linkem").write_text("new")
        self.assertNotEqual(self.key("srt"), peer)

    def test_what_a_file_has_is_found_in_it(self):
        path = self.folder / "live.json"
        self.assertEqual(live_store.read(path), live_store.empty())
        runs = {"tltcp": [{"key": "a", "freeze": 1},
                          {"key": "b", "error": "x"}]}
        data = live_store.empty()
        live_page.add_case(data, "alone", {"text": "", "rows": {},
                                           "runs": runs})
        live_store.write(path, data)
        data = live_store.read(path)
        which = live_cases.CASES["alone"]
        found = [live_store.find(data, which, t, key) for t, key in
                 (("tltcp", "a"), ("tltcp", "b"), ("tltcp", "c"),
                  ("srt", "a"))]
        self.assertEqual(found, [{"key": "a", "freeze": 1}, None, None, None])

    def test_what_is_gone_on_with_is_told_as_one(self):
        made = data("tltcp", {})
        how = dict(made["made"][0], took_s=1, again=1, held_up=0.04, idle=1.5)
        made["made"] = []
        for other in ({}, {"again": 2, "idle": 1.9}, {"seeds": 1}):
            live_store.note(made, {**how, **other})
        self.assertEqual([(m["seeds"], m["again"], m["took_s"], m["idle"])
                          for m in made["made"]],
                         [(5, 3, 2, 1.5), (1, 1, 1, 1.5)])

    def test_the_whole_has_every_transport(self):
        self.assertEqual(sorted(t for group, _ in live_cases.WHOLE
                                for t in group), sorted(live_cases.NAMES))


class Yardsticks(unittest.TestCase):
    def test_instead_of_a_lost_picture_the_one_before_is_seen(self):
        frames = [frame(0), frame(2, False), frame(1), frame(3)]
        self.assertEqual(live_quality.shown(frames), [0, 1, 1, 3])

    def test_what_comes_late_is_waste(self):
        frames = [dict(frame(n), arrival=a, on_time=a == 1)
                  for n, a in enumerate((1, 1, 2, None))]
        self.assertAlmostEqual(measure.waste(frames), 1 / 3)

    def test_what_comes_late_is_of_use_when_something_is_shown_with_it(self):
        for last, useless in ((1.5, 0), (1.7, 3 / 4)):
            frames = [dict(frame(n), sent=n * 0.4, arrival=a)
                      for n, a in enumerate((0.3, 0.9, 1.3, last))]
            frames[0]["class"] = "key"
            measure.mark_on_time(frames, 0.2)
            measure.mark_decodable(frames, 0.2)
            with self.subTest(last=last):
                self.assertAlmostEqual(measure.useless(frames), useless)

    def test_what_the_path_takes_may_be_left_out(self):
        frames = [dict(frame(n), sent=0.0, arrival=a)
                  for n, a in enumerate((0.5, 0.65, 0.9))]
        frames[0]["class"] = "key"
        for rtt, shown in ((0.04, 1), (0.6, 2), (2, 3)):
            self.assertEqual(
                measure.decodable_beyond_path(frames, 0.4, rtt), shown)
        self.assertTrue(frames[2]["decodable"])  # as it was

    def test_the_bound_keeps_what_others_need_and_the_smallest_of_the_rest(
            self):
        frames = [frame(0), frame(1, kind="disposable", size=500),
                  frame(2, kind="disposable", size=2000), frame(3)]
        seconds = 0.12 + 0.2
        for rate, others in ((2500 * 8 / seconds / measure.HEADERS, 1),
                             (1e9, 2)):
            self.assertEqual(measure.at_best(frames, rate, 0.2),
                             {"key": 0, "reference": 2, "disposable": others})
        self.assertEqual(sum(measure.at_best(frames, 8, 0.2).values()), 0)

    def test_rates_are_taken_between_two_times(self):
        samples = [(t / 10, t * 100) for t in range(100)]
        self.assertAlmostEqual(tcp_flows.rate(samples, 2, 5), 8000)
        self.assertEqual(tcp_flows.rate(samples, 50, 60), 0)

    def test_pictures_are_distinguished_from_multiplexer_data(self):
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
        half = [frame(n, n < 5) for n in range(10)]
        perfect = live_quality.after_concealment(str(clip), whole)
        worse = live_quality.after_concealment(str(clip), torn)
        self.assertEqual(perfect["psnr"], live_quality.PERFECT_DB)
        self.assertAlmostEqual(perfect["ssim"], 1)
        self.assertLess(worse["psnr"], 60)
        self.assertNotEqual(live_quality.after_concealment(str(clip), half),
                            worse)
        self.assertLess(worse["ssim"], 1)


class Command(unittest.TestCase):
    def run_bench(self, *words):
        return subprocess.run(
            [sys.executable, ROOT / "bench" / "run", *words], check=False,
            text=True, capture_output=True, timeout=toolbox.PATIENCE)

    def test_it_lists_its_cases(self):
        done = self.run_bench("live", "--list")
        self.assertEqual(done.returncode, 0)
        for name in live_cases.CASES:
            self.assertIn(name, done.stdout)

    def test_what_there_is_not_is_named(self):
        for words, wanted in (
                (("live", "smal"), "there is no case smal; --list names them"),
                (("live", "small/mjpeg"), "there is no case small/mjpeg"),
                (("live", "small", "--transports", "tltcp,rst"),
                 "there is no rst; valid names are tltcp, "),
                (("marks", "--program", "nowhere"), "there is no nowhere; ")):
            done = self.run_bench(*words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(wanted, done.stderr)


if __name__ == "__main__":
    unittest.main()
