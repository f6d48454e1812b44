# SPDX-License-Identifier: MPL-2.0
"""sim/reproduce: results whole or not at all, clear words, equal bytes."""
import contextlib
import io
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sim"))

from papers import PAGES, lab, numbers, page  # noqa: E402

BUILD = pathlib.Path(os.environ["PERIGEE_BUILD_DIR"])


def reproduce(*arguments):
    return subprocess.run(
        [sys.executable, ROOT / "sim" / "reproduce", *map(str, arguments)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        check=False)


class InFolder(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Commands(InFolder):

    def test_an_unknown_page_lists_those_there_are(self):
        done = reproduce("tltpc")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no page tltpc", done.stderr)
        self.assertIn("tltcp", done.stderr)

    def test_a_folder_that_cannot_be_is_named(self):
        (self.folder / "file").write_text("", encoding="utf-8")
        done = reproduce("--quick", "--results", self.folder / "file", "yam")
        self.assertEqual(done.returncode, 1)
        self.assertIn("reproduce: ", done.stderr)
        self.assertIn(str(self.folder / "file"), done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_jobs_are_commands_that_run_one_each(self):
        done = reproduce("--quick", "--print-jobs", "--results", self.folder,
                         "tltcp")
        lines = done.stdout.splitlines()
        self.assertGreater(len(lines), 10)
        self.assertEqual(len(lines), len(set(lines)))
        short = next(line for line in lines if "reproduce" in line)
        again = subprocess.run(short, shell=True, check=True, timeout=120)
        self.assertEqual(again.returncode, 0)
        self.assertEqual(len(list(self.folder.glob("*.jsonl"))), 1)
        left = reproduce("--quick", "--print-jobs", "--results", self.folder,
                         "tltcp").stdout.splitlines()
        self.assertEqual(len(left), len(lines) - 1)
        self.assertNotIn(shlex.split(short)[-1], " ".join(left))

    def test_collecting_without_results_says_so_and_writes_nothing(self):
        done = reproduce("--quick", "--collect", "--results", self.folder,
                         "--output", self.folder / "pages", "tltcp")
        self.assertEqual(done.returncode, 1)
        self.assertIn("results are missing", done.stderr)
        self.assertIn(f"there is nothing to collect in {self.folder}",
                      done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    @unittest.skipIf((BUILD / "sim/ns3/simulate-ns3").is_file(), "ns-3 is here")
    def test_without_ns3_its_page_is_left_alone_and_the_others_go_on(self):
        alone = reproduce("--quick", "--print-jobs", "ns3")
        self.assertEqual((alone.returncode, alone.stdout), (1, ""))
        self.assertIn("ns3: no ns-3, so the page is left as it was",
                      alone.stderr)
        others = reproduce("--quick", "--print-jobs", "--results", self.folder,
                           "ns3", "yam")
        self.assertEqual(others.returncode, 0)
        self.assertIn("ns3: no ns-3", others.stderr)
        self.assertNotEqual(others.stdout, "")

    def test_an_interrupted_run_leaves_whole_results_and_goes_on(self):
        done = subprocess.Popen(  # pylint: disable=consider-using-with
            [sys.executable, ROOT / "sim" / "reproduce", "--quick", "--jobs",
             "1", "--results", self.folder, "--output", self.folder / "pages",
             "yam"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        self.addCleanup(done.wait)
        self.addCleanup(done.kill)
        while not list(self.folder.glob("*.jsonl")):
            self.assertIsNone(done.poll())
        done.send_signal(signal.SIGINT)
        said = done.communicate(timeout=60)[1]
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the same command goes on from here", said)
        for result in self.folder.glob("*.jsonl"):
            last = result.read_text(encoding="utf-8").splitlines()[-1]
            self.assertEqual(json.loads(last)["kind"], "end")
        self.assertEqual(list(self.folder.glob("*.part")), [])
        self.assertFalse((self.folder / "pages").exists())


class Results(InFolder):
    def setUp(self):
        super().setUp()
        self.lab = lab.Lab(ROOT, BUILD, self.folder)

    def test_a_failed_run_leaves_nothing_behind(self):
        job = lab.Job.of("tltcp", tcp=9999)
        why = self.lab.run(self.lab.key(job), job)
        self.assertIn("tcp=9999: it must be 0..500", why)
        self.assertEqual(list(self.lab.results.iterdir()), [])

    def test_a_full_disk_ends_it_at_once(self):
        jobs = {str(i): lab.Job.of("tltcp", seed=i) for i in range(50)}
        ended = threading.Event()
        tried = []

        def run(key, _):
            tried.append(key)
            if len(tried) > 1:
                ended.wait(10)
            raise OSError("no space left")
        with unittest.mock.patch.object(self.lab, "run", run), \
                contextlib.redirect_stderr(io.StringIO()), \
                unittest.mock.patch.object(
                    lab.concurrent.futures.ThreadPoolExecutor, "__exit__",
                    lambda pool, *_: (ended.set(), pool.shutdown())[2:]), \
                self.assertRaisesRegex(OSError, "no space left"):
            self.lab.run_all(jobs, 1)
        self.assertLess(len(tried), len(jobs))

    def test_what_a_killed_run_left_is_no_result(self):
        job = lab.Job.of("tltcp")
        key = self.lab.key(job)
        self.lab.results.mkdir(exist_ok=True)
        (self.lab.results / f"{key}x.part").write_text("{", encoding="utf-8")
        self.assertEqual(self.lab.missing({key: job}), {key: job})

    def test_a_result_cut_short_is_refused(self):
        job = lab.Job.of("tltcp")
        self.lab.results.mkdir(exist_ok=True)
        path = self.lab.path(self.lab.key(job))
        for text in ("", '{"kind":"flow"', '{"kind":"flow","period":0}\n'):
            path.write_text(text, encoding="utf-8")
            with self.assertRaises(SystemExit) as refused:
                self.lab.load(job)
            self.assertIn(f"{path} is not a complete result",
                          str(refused.exception))

    def test_a_simulator_that_is_not_there_is_named_and_left_out(self):
        self.lab.ns2 = None
        self.lab.ns3 = self.lab.results / "none"
        jobs = {"a": lab.Ns2Job.of("dumbbell"), "b": lab.Ns3Job.of("tltcp"),
                "c": lab.Job.of("tltcp")}
        self.assertEqual(list(self.lab.distinct([jobs]).values()), [jobs["c"]])
        self.assertEqual(self.lab.absent(jobs.values()),
                         "no ns-2 and no ns-3")
        self.assertEqual(self.lab.absent([jobs["c"]]), "")

    def test_without_a_plotter_a_page_says_what_is_left_out(self):
        p = page.Page("x", "X", None, None)
        p.figure("f", "Figure 1", lambda axis: axis.plot([1]))
        self.assertIn("Figure 1* (not drawn: no matplotlib)", p.markdown())

    def test_without_plotter_and_ns2_the_page_is_made_of_the_rest(self):
        class Module:  # a page of one run here and one in ns-2
            TITLE = "X"
            AUTHORS = "A (2000),"

            @staticmethod
            def seeds(_):
                return [1]

            @staticmethod
            def report(p, runs, _):
                p.figure("f", "Figure 1", lambda axis: axis.plot([1]))
                p.claim("c", "C", sorted(runs) == ["here"], "n")

        self.lab.ns2 = None
        self.lab.ns3 = self.lab.results / "none"
        plan = {"here": lab.Job.of("tltcp", tcp=1, tltcp=0, duration=1, warm=0),
                "there": lab.Ns2Job.of("dumbbell")}
        self.assertIsNone(self.lab.run(self.lab.key(plan["here"]),
                                       plan["here"]))
        folder = self.lab.results / "pages"
        said = io.StringIO()
        with unittest.mock.patch.dict(sys.modules, {"matplotlib": None}), \
                contextlib.redirect_stderr(said), \
                contextlib.redirect_stdout(io.StringIO()):
            code = page.write_all({"x": Module}, {"x": Module}, {"x": plan},
                                  self.lab, folder, True, True)
        self.assertEqual(code, 0)
        self.assertIn("no matplotlib (Debian: python3-matplotlib)",
                      said.getvalue())
        self.assertIn("x: no ns-2, so what they give is left out",
                      said.getvalue())
        text = (folder / "x.md").read_text(encoding="utf-8")
        self.assertIn("Figure 1* (not drawn: no matplotlib)", text)
        self.assertIn("**holds**", text)

    def test_every_patch_of_a_trial_applies_and_is_of_a_page(self):
        patches = sorted((ROOT / "sim" / "trials").glob("*.patch"))
        for patch in patches:
            with patch.open("rb") as text:
                done = subprocess.run(
                    ["git", "apply", "--check", "--unsafe-paths",
                     f"--directory={ROOT}", "-"], stdin=text, cwd=self.folder,
                    capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, f"{patch}: {done.stderr}")
        of_pages = {j.trial for m in PAGES.values()
                    for j in m.plan(False).values()
                    if isinstance(j, lab.TrialJob)}
        self.assertEqual({p.stem for p in patches}, of_pages)

    def test_a_trial_runs_its_own_engine_or_is_left_out(self):
        job = lab.TrialJob.of("tltcp", trial="halved-window", seed=3)
        self.lab.trials = self.folder / "trials"
        self.assertFalse(self.lab.can_run(job))
        self.assertEqual(self.lab.absent([job]),
                         "no engines changed for trials")
        engine = self.lab.trials / "halved-window" / "sim" / "simulate"
        engine.parent.mkdir(parents=True)
        engine.write_text("#!/bin/sh\necho \"$@\"\n", encoding="utf-8")
        engine.chmod(0o755)
        self.assertTrue(self.lab.can_run(job))
        self.assertIsNone(self.lab.run("key", job))
        self.assertIn("seed=3", self.lab.path("key").read_text("utf-8"))

    def test_a_parameter_changes_the_key(self):
        keys = {self.lab.key(lab.Job.of("tltcp", **p)) for p in (
            {}, {"seed": 1}, {"seed": 2}, {"window": 2})}
        self.assertEqual(len(keys), 4)

    def test_pages_and_figures_of_equal_results_are_equal(self):
        job = lab.Job.of("tltcp", tcp=1, tltcp=1, duration=14, warm=0,
                         sample=0.1, deadline=1)
        texts = []
        for turn in ("one", "two"):
            folder = self.lab.results / turn
            folder.mkdir(parents=True)
            key = self.lab.key(job)
            self.assertIsNone(self.lab.run(key, job))
            run = self.lab.load(job)
            p = page.Page("x", "X", folder, page.find_plotter())
            p.figure("f", "F", lambda axis, r=run: axis.plot(
                [s["sequence"] for s in r.samples("tltcp")]))
            p.claim("c", "C", run.received("tcp")[0] > 0, "n")
            texts.append([p.markdown()] + [
                f.read_bytes() for f in sorted(folder.iterdir())])
        self.assertEqual(*texts)

    def test_an_unexpected_verdict_is_counted(self):
        p = page.Page("x", "X", None, None)
        p.claim("a", "A", True, "1")
        p.claim("b", "B", False, "2")
        p.claim("c", "C", page.only("when d"), "3", expect=page.only("when d"))
        self.assertEqual(page.check(p.claims), 1)


class Figures(InFolder):
    def grades(self, **verdicts):
        p = page.Page("x", "X", None, None)
        for name, verdict in verdicts.items():
            p.claim(name, name, verdict, "1")
        return [p.grade(page.Figure("F", "w", claims, in_number))[0]
                for claims, in_number in ((("a",), True), (("a",), False),
                                          (("a", "b"), True))]

    def test_a_figure_agrees_only_if_all_its_claims_hold(self):
        self.assertEqual(self.grades(a=True, b=True),
                         [page.NUMBER, page.SHAPE, page.NUMBER])
        self.assertEqual(self.grades(a=True, b=False),
                         [page.NUMBER, page.SHAPE, page.NOT])
        self.assertEqual(self.grades(a=page.only("at times"), b=True),
                         [page.SOME] * 3)
        self.assertEqual(self.grades(a=True),
                         [page.NUMBER, page.SHAPE, page.UNRUN])

    def test_a_figure_agrees_with_any_protocol_if_all_its_claims_do(self):
        self.assertEqual(self.grades(a=page.IDLE, b=page.IDLE),
                         [page.ANY] * 3)
        self.assertEqual(self.grades(a=page.IDLE, b=True),
                         [page.ANY, page.ANY, page.SHAPE])
        self.assertEqual(self.grades(a=page.IDLE, b=False),
                         [page.ANY, page.ANY, page.NOT])
        self.assertEqual(self.grades(a=page.IDLE, b=page.only("at times")),
                         [page.ANY, page.ANY, page.SOME])

    def test_only_what_holds_can_hold_with_any_protocol(self):
        for verdict, idle, expected in (
                (True, True, page.IDLE), (page.HOLDS, True, page.IDLE),
                (True, False, True), (False, True, False),
                (page.FAILS, True, page.FAILS),
                (page.only("at times"), True, page.only("at times"))):
            self.assertEqual(page.telling(verdict, idle), expected)

    def test_figures_that_share_their_claims_are_judged_once(self):
        module = unittest.mock.Mock(
            FIGURES=tuple(page.Figure(n, "w", c) for n, c in (
                ("1", ("a",)), ("2", ("a",)), ("3", ("a", "b")))), DYNAMIC=())
        self.assertEqual(page.judgements({"x": module, "y": module}), 4)

    def test_an_order_that_the_means_reverse_does_not_hold(self):
        self.assertIs(page.above({"a": [3, 4], "b": [1, 2]}, ("a", "b")), True)
        for low in ([1, 1, 1], [1, 9, 1]):
            self.assertEqual(page.above({"a": low, "b": [4, 4, 4]},
                                        ("a", "b")), page.FAILS)
        self.assertEqual(page.above({"a": [1, 9, 3], "b": [4, 4, 4]},
                                    ("a", "b")), page.AS_FAR)

    def test_the_index_counts_figures_of_papers_alone(self):
        module = unittest.mock.Mock(TITLE="T")
        paper = page.Page("x", "X", None, None)
        paper.claim("a", "A", True, "1")
        paper.claim("ours", "ours", True, "2")
        paper.papers_figures("tltcp", page.Figure("1", "w", ("a",), True),
                             page.Figure("2", "w", ("none",)))
        other = page.Page("y", "Y", None, None)
        other.claim("b", "B", True, "1")
        for p in (paper, other):
            (self.folder / f"{p.name}.md").write_text(p.markdown(),
                                                      encoding="utf-8")
        page.write_index(self.folder, {"x": module, "y": module})
        text = (self.folder / "index.md").read_text(encoding="utf-8")
        self.assertIn("| [T](x.md) | full | 2 | 1 | 0 | 0 | 0 | 0 | 1 |", text)
        self.assertIn("- [T](y.md)", text)


class Report(unittest.TestCase):
    def test_the_report_counts_as_the_index_does(self):
        folder = ROOT / "docs" / "papers"
        index = (folder / "index.md").read_text(encoding="utf-8")
        whole = next(line for line in index.splitlines()
                     if line.startswith("| all |"))
        every, *counts = map(int, re.findall(r"\d+", whole))
        count = dict(zip(page.GRADES, counts))
        self.assertEqual(sum(counts), every)
        report = (folder / "report.md").read_text(encoding="utf-8")
        for words, expected in (
                ("agree as they stand", count[page.NUMBER]
                 + count[page.SHAPE]),
                ("agree under a condition", count[page.SOME]),
                ("agree with any protocol", count[page.ANY]),
                ("do not agree", count[page.NOT] + count[page.UNRUN])):
            self.assertRegex(report, rf"(?m)^\| {words}.*\| {expected} \|$")
        self.assertIn(f"| of {every} figures and tables |", report)
        self.assertIn(f"{page.judgements(PAGES)} sets of claims",
                      " ".join(report.split()))


class Metrics(unittest.TestCase):
    def test_jain(self):
        for values, expected in (((500, 500), 1), ((700, 300), 0.862069),
                                 ((1, 0, 0), 1 / 3),
                                 ((301, 333, 366), 0.993702)):
            self.assertAlmostEqual(numbers.jain(values), expected, places=6)

    def test_metrics_of_the_tltcp_paper(self):
        tcp = [200, 240, 250, 260, 270, 280]
        self.assertAlmostEqual(numbers.upper_over_lower(tcp), 1.17391, places=5)
        self.assertAlmostEqual(numbers.every_other(tcp), 1.08333, places=5)
        self.assertAlmostEqual(numbers.spread(tcp), 1.4, places=9)

    def test_confidence_of_a_mean(self):
        self.assertEqual(numbers.half_width([3]), 0)
        # Student's t for 4 degrees of freedom, s = 1.5811, n = 5.
        self.assertAlmostEqual(numbers.half_width([1, 2, 3, 4, 5]),
                               2.776 * 1.5811 / 5 ** 0.5, places=3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
