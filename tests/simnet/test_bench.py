#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""The benchmark of controllers gives the same files for the same seeds.
Arguments: the folder of the benchmarks' sources, bench_congestion,
play_matrix."""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

MATRIX = sys.argv.pop()
PROGRAM = sys.argv.pop()
sys.path.insert(0, sys.argv.pop())
sys.dont_write_bytecode = True

import congestion  # pylint: disable=wrong-import-position
import marks  # pylint: disable=wrong-import-position
import recordings  # pylint: disable=wrong-import-position
import shares  # pylint: disable=wrong-import-position

SHORT = ("--rate", "2", "--rtt", "40", "--loss", "0.02", "--seconds", "6",
         "--warmup", "1")


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cases = congestion.CASES
        congestion.CASES = (
            ("short", "short, under loss", SHORT, (), "utilisation"),
            ("delay", "its queue", SHORT, (), "queueing"),
            ("beside", "over Reno", SHORT, ("reno",), "ratio"))

    def tearDown(self):
        congestion.CASES = self.cases

    def bench(self, name, **options):
        congestion.bench(PROGRAM, self.folder / name, False, seeds=2,
                         only=["auto", "reno"], **options)
        return {f.name: f.read_bytes()
                for f in (self.folder / name).iterdir()}

    def test_equal_seeds_give_equal_files(self):
        first, second = self.bench("a"), self.bench("b")
        self.assertLessEqual({"congestion.md", "congestion.json"}, set(first))
        self.assertEqual(first, second)
        results = json.loads(first["congestion.json"])
        self.assertEqual(set(results["medians"]), {"auto", "reno"})
        for figures in results["samples"].values():
            self.assertTrue(all(len(v) == 2 for v in figures.values()))
        self.assertGreater(results["medians"]["auto"]["short"],
                           results["medians"]["reno"]["short"])

    def test_the_table_of_a_page_is_replaced(self):
        page = self.folder / "page.md"
        page.write_text("before\n<!-- bench congestion -->\nold\n<!-- end -->\n"
                        "after\n")
        table = self.bench("c", page=page)["congestion.md"].decode()
        self.assertEqual(page.read_text(),
                         "before\n<!-- bench congestion -->\n" + table
                         + "<!-- end -->\nafter\n")

    def test_names_that_do_not_exist_are_refused_with_those_that_do(self):
        with self.assertRaisesRegex(congestion.Failed, "warp; .*westwood"):
            congestion.bench(PROGRAM, self.folder, False, only=["warp"])
        done = subprocess.run([PROGRAM, "reno:beta=x"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("PARAM=NUMBER", done.stderr)


class Marks(unittest.TestCase):
    def test_a_result_is_below_what_a_person_reads(self):
        program = """print('beside: 94 %'); print('{"seen":0.94}')"""
        self.assertEqual(marks.play(sys.executable, "-c", program),
                         {"seen": 0.94})


class Shares(unittest.TestCase):
    LINKS = [(8.0, 20, 10.0), (8.0, 20, 400.0), (4.0, 90, 80.0)]

    @staticmethod
    def result(ratio):
        return {"F": [ratio] * 3, "seen": [0.5] * 3, "lost": [0.01] * 3}

    def test_options_reach_the_program(self):
        run = {"even": [1.0], "lost": [0.02]}
        with unittest.mock.patch.object(shares.marks, "play",
                                        return_value=run) as play:
            shares.measure_several("play", "greedy", self.LINKS,
                                   ["--param", "hold"])
        for call in play.call_args_list:
            self.assertEqual(call.args[-2:], ("--param", "hold"))

    def test_options_reach_the_program_for_pairs(self):
        run = {"even": [1.0], "least": [0.99]}
        with unittest.mock.patch.object(shares.marks, "play",
                                        return_value=run) as play:
            text = shares.pairs_table("play", shares.draw_pairs(4, 1),
                                      ["--param", "hold"])
        self.assertEqual(play.call_count, 4)
        for call in play.call_args_list:
            self.assertEqual(call.args[-2:], ("--param", "hold"))
        self.assertIn("| all (4 links) | 1.00 | 1.00 | 100 | 99.0 | 100 |",
                      text)

    def test_links_are_those_of_their_seed(self):
        links = shares.draw_links(50, 7)
        self.assertEqual(links, shares.draw_links(50, 7))
        self.assertNotEqual(links, shares.draw_links(50, 8))
        for rate, rtt, queue in links:
            self.assertTrue(2 <= rate <= 20 and 10 <= rtt <= 200)
            self.assertGreaterEqual(queue, shares.LEAST_QUEUE)

    def test_short_and_longer_queues_are_told_apart(self):
        results = {rival: [self.result(f) for f in (2.0, 1.0, 0.5)]
                   for rival in shares.RIVALS}
        text = shares.table("fixed", self.LINKS, results)
        self.assertIn("| CUBIC | less than 35 ms (1 links) | "
                      "2.00 (2.00 to 2.00) | 0 |", text)
        self.assertIn("| Reno | longer (2 links) | 0.75 (0.50 to 1.00) | 1 |",
                      text)
        self.assertIn("of what half the link shows", text)
        self.assertIn("of the pictures",
                      shares.table("adaptive", self.LINKS, results))

    def test_a_row_of_the_table_of_several_streams(self):
        results = {2: [{"even": [1.1], "least": [0.99]},
                       {"even": [3], "least": [0.5]}]}
        self.assertIn("| 2 | longer (2 links) | 2.05 (1.10 to 3.00) | 1 | "
                      "74 (50 to 99) |\n",
                      shares.several_table([(4, 40, 50), (8, 40, 99)], results,
                                           "least", "in time"))
        self.assertIn(f"<!-- {shares.GREEDY_MARK} -->\n",
                      shares.PAGE.read_text(encoding="utf-8"))

    def test_a_row_of_the_table_of_hold(self):
        result = {"F": [0.1, 0.5, 0.9], "on_time": [0.2, 0.8, 1],
                  "lost": [0, 0.06, 0.1]}
        other = {**result, "F": [0.1, 0.7, 0.9]}
        of = {"fixed": [result, other, result], "adaptive": [result]}
        self.assertIn(
            "| **0.5** | 0.50 (0.50 to 0.70) | 80 % | 6 % | "
            "0.50 (0.50 to 0.50) | 80 % | 6 % |\n",
            shares.hold_table({shares.HELD: of}))
        self.assertIn(f"<!-- {shares.HOLD_MARK} -->\n",
                      shares.PAGE.read_text(encoding="utf-8"))

    def test_the_table_of_the_page_is_replaced(self):
        page = "before\n<!-- bench shares -->\nold\n<!-- end -->\nafter\n"
        self.assertEqual(
            shares.marks.replace(page, shares.MARK, "new\n"),
            "before\n<!-- bench shares -->\nnew\n<!-- end -->\nafter\n")
        self.assertIn(f"<!-- {shares.MARK} -->\n",
                      shares.PAGE.read_text(encoding="utf-8"))


class Recordings(unittest.TestCase):
    PAGE = f"before\n<!-- {recordings.MARK} -->\nold\n<!-- end -->\nafter\n"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / "page.md"
        self.chart = self.folder / "chart.svg"
        self.page.write_text(self.PAGE, encoding="utf-8")

    def record(self, name, ms):
        (self.folder / f"{name}.down").write_text(
            "".join(f"{t}\n" for t in range(ms, 60000, ms)))

    @staticmethod
    def row(used, in_200, in_400):
        return {"used": [0, used, 99], "in_200": [0, in_200, 99],
                "in_400": [0, in_400, 99]}

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"),
                         "needs matplotlib")
    def test_a_page_gets_its_table_and_its_chart(self):
        self.record("even", 3)
        self.record("slow", 12)
        made = []
        for _ in range(2):
            recordings.renew(MATRIX, self.folder, 1, self.page, self.chart)
            made.append((self.page.read_text(encoding="utf-8"),
                         self.chart.read_text(encoding="utf-8")))
        self.assertEqual(*made)
        page, chart = made[0]
        self.assertRegex(page, r"(?s)^before\n.*\n\| even \|.*\n\| slow \|.*"
                               r"\n<!-- end -->\nafter\n$")
        for text in ("even", "slow", "both goals are met", "encoder=auto",
                     *recordings.LABELS.values()):
            self.assertIn(f">{text}", chart.replace(">tltcpsink ", ">"))

    def test_a_row_has_the_medians(self):
        results = {share: {"even": self.row(10 + i, 90 + i, 95.25)}
                   for i, share in enumerate((None, *recordings.SHARES))}
        last = len(recordings.SHARES)
        self.assertIn("| even | 91.0/95.2 at 11 | ",
                      recordings.table(results))
        self.assertIn(f" | {90 + last:.1f}/95.2 at {10 + last} | "
                      "90.0/95.2 at 10 |\n", recordings.table(results))

    def test_a_folder_without_recordings_is_refused(self):
        with self.assertRaisesRegex(congestion.Failed, "no recording"):
            recordings.renew(MATRIX, self.folder, 1, self.page, self.chart)
        self.assertEqual(self.page.read_text(encoding="utf-8"), self.PAGE)
        self.assertFalse(self.chart.exists())

    def test_the_page_has_the_place_and_shows_the_chart(self):
        page = recordings.PAGE.read_text(encoding="utf-8")
        self.assertIn(f"<!-- {recordings.MARK} -->\n", page)
        self.assertIn(f"]({recordings.CHART.name})", page)
        self.assertTrue(recordings.CHART.exists())


if __name__ == "__main__":
    unittest.main()
