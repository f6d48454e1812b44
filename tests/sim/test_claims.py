# SPDX-License-Identifier: MPL-2.0
"""Claims of the TLTCP paper and of the matrix that a run or two decide; the
pages decide them on many."""
import concurrent.futures
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sim"))

from papers import lab, matrix, numbers, page, tltcp  # noqa: E402

BUILD = pathlib.Path(os.environ["PERIGEE_BUILD_DIR"])


class Claims(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.lab = lab.Lab(ROOT, BUILD, pathlib.Path(folder.name))

    def runs(self, jobs):
        """What jobs give, by the same names."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for wrong in pool.map(lambda j: self.lab.run(self.lab.key(j), j),
                                  set(jobs.values())):
                self.assertIsNone(wrong)
        return {name: self.lab.load(j) for name, j in jobs.items()}

    def check(self, claim, jobs):
        """Every verdict of claim(page, runs) is the one expected."""
        p = page.Page("x", "X", None, None)
        claim(p, self.runs(jobs))
        self.assertGreater(len(p.claims), 0)
        self.assertEqual(page.check(p.claims), 0)

    @staticmethod
    def of_plan(module, wanted):
        return {k: j for k, j in module.plan(True).items() if wanted(k)}


class Tltcp(Claims):
    def point(self, manner="dupack-reno", **params):
        """One mix of 15 and 15, and F."""
        job = lab.Job.of("tltcp", **{"duration": 200, "seed": 1, "stagger": 1,
                                     "manner": manner, **params})
        run = self.runs({"run": job})["run"]
        return run, tltcp.fairness(run)

    def test_worked_examples_of_figures_2_to_4(self):
        self.check(tltcp.claims_worked,
                   self.of_plan(tltcp, lambda k: k[0] == "worked"))

    def test_figure_5_equal_slopes_and_jumps(self):
        self.check(tltcp.claim_sequence,
                   self.of_plan(tltcp, lambda k: k[0] == "sequence"))

    def test_figure_7_fair_while_windows_fit_the_queue(self):
        run, f = self.point(tcp=20, tltcp=20)
        self.assertEqual(tltcp.drops(run), 0)
        self.assertLess(abs(f - 1), 0.05)

    def test_figure_8_unequal_at_50_flows_among_tcp_alone_too(self):
        run, _ = self.point(tcp=50, tltcp=0)
        self.assertGreater(tltcp.drops(run), 0)
        self.assertGreater(numbers.spread(run.received()), 1.5)

    def test_figure_9_more_than_tcp_and_packet_numbers_mend_it(self):
        f = {m: self.point(m, window=20)[1] for m in tltcp.MANNERS}
        self.assertGreater(f["dupack-reno"], 1.1)
        self.assertLess(abs(f["packet"] - 1), abs(f["dupack-reno"] - 1))

    def test_figure_10_unequal_at_20_less_so_at_40(self):
        s = [numbers.spread(self.point(tcp=30, tltcp=0, window=w, stagger=0)[0]
                            .received()) for w in (20, 40)]
        self.assertTrue(1.5 < s[0] < 3.5, s)
        self.assertLess(s[1], s[0])

    def test_figure_11_fair_at_a_long_delay(self):
        self.assertLess(abs(self.point(delay=500)[1] - 1), 0.05)

    def test_figure_13_packet_numbers_are_fairer_at_short_deadlines(self):
        f = {m: self.point(m, window=20, deadline=0.5)[1]
             for m in tltcp.MANNERS}
        self.assertGreater(f["dupack-reno"], 1.3)
        self.assertLess(abs(f["packet"] - 1), 0.4)


class Matrix(Claims):
    def use(self, path, controllers):
        runs = self.runs(self.of_plan(
            matrix, lambda k: k[0] == path and k[1] in controllers))
        return {c: matrix.Cell(runs, path, c, [1]) for c in controllers}

    def test_one_flow_fills_a_link(self):
        for name, cell in self.use("one flow", matrix.FULL).items():
            self.assertGreaterEqual(cell.use[0], 0.9, name)

    def test_under_random_loss_who_estimates_the_path_outdoes_reno(self):
        cells = self.use("loss", ("reno", "westwood", "tibet",
                                  "mod-westwoodnew", "bbr"))
        for name, cell in cells.items():
            if name != "reno":
                self.assertGreater(cell.goodput[0],
                                   1.05 * cells["reno"].goodput[0], name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
