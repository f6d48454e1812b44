# SPDX-License-Identifier: MPL-2.0
"""simulate says what is wrong with what it is asked for, and then runs nothing."""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIMULATE = pathlib.Path(os.environ["PERIGEE_BUILD_DIR"]) / "sim" / "simulate"
SCENARIOS = ROOT / "sim" / "scenarios"


def simulate(*arguments, text="", folder=None):
    return subprocess.run([SIMULATE, *map(str, arguments)], input=text,
                          capture_output=True, text=True, timeout=120,
                          check=False, cwd=folder)


class Refusals(unittest.TestCase):
    def refused(self, words, *arguments, **how):
        done = simulate(*arguments, **how)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_an_unknown_scenario_lists_those_there_are(self):
        self.refused(["tlctp.scn: No such file", "there are:",
                      *(p.name for p in SCENARIOS.glob("*.scn"))],
                     SCENARIOS / "tlctp.scn")

    def test_a_bare_unknown_name_lists_them_from_any_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            self.refused(["tltcp: No such file", "there are:",
                          *map(str, SCENARIOS.glob("*.scn"))],
                         "tltcp", folder=folder)

    def test_a_folder_is_no_scenario(self):
        self.refused(["Is a directory"], SCENARIOS)

    def test_a_text_without_end_is_refused(self):
        self.refused(["it is too long"], "-", text="# \n" * 500000)

    def test_a_parameter_beyond_its_range_is_named_with_it(self):
        self.refused(["window=0: it must be 1..100000"],
                     SCENARIOS / "tltcp.scn", "window=0")
        self.refused(["manner=tcp: it must be dupack|dupack-tahoe"],
                     SCENARIOS / "tltcp.scn", "manner=tcp")

    def test_an_unknown_parameter_lists_those_there_are(self):
        self.refused(["'windows=3' sets nothing", "window", "queue"],
                     SCENARIOS / "tltcp.scn", "windows=3")

    def test_an_unknown_controller_lists_those_there_are(self):
        self.refused(["no congestion controller 'renno'", "westwood"],
                     SCENARIOS / "tltcp.scn", "congestion=renno")

    def test_a_parameter_that_the_controller_refuses_is_named(self):
        for param, value in (("chi", 7), ("alpha", 1)):
            self.refused([f"cc.{param}={value}: yam",
                          "docs/design/controllers.md"],
                         SCENARIOS / "yam-dynamic.scn", f"param={param}",
                         f"value={value}")
        self.refused(["cc.rwnd=0: peach"], SCENARIOS / "yam-dynamic.scn",
                     "congestion=peach", "param=rwnd", "value=0")


class Use(unittest.TestCase):
    def test_help_is_asked_for_or_not(self):
        self.assertEqual(simulate("--help").returncode, 0)
        self.assertEqual(simulate().returncode, 2)

    def test_a_parameter_of_a_text_file_takes_effect(self):
        text = (SCENARIOS / "yam-dynamic.scn").read_text(encoding="utf-8")
        one = simulate("-", text=text)
        other = simulate("-", text=text.replace("set queue 18", "set queue 9"))
        self.assertEqual((one.returncode, other.returncode), (0, 0))
        self.assertNotEqual(one.stdout, other.stdout)
        self.assertEqual(other.stdout,
                         simulate("-", "queue=9", text=text).stdout)


def lines_of(page, heading):
    """The commands of a page below a heading."""
    text = (ROOT / page).read_text(encoding="utf-8")
    below = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return "".join(re.findall(r"^```sh\n(.*?)^```$", below,
                              re.M | re.S)).splitlines()


class Pages(unittest.TestCase):
    def done(self, line, *more):
        """What a line of a page prints, with the programs of this build."""
        program, *words = shlex.split(line, comments=True)
        program = SIMULATE.parents[1] / program.split("/", 1)[1]
        if not program.exists():
            self.skipTest(f"no {program.name} in this build")
        return subprocess.run([program, *words, *more], cwd=ROOT, check=True,
                              text=True, capture_output=True, timeout=120).stdout

    def test_a_scenario_runs_by_hand(self):
        line, = lines_of("docs/papers/experiments.md", "Scenarios")
        self.assertIn('"kind":"end"', self.done(line))

    def test_a_scenario_runs_in_ns3_by_hand(self):
        line, = lines_of("docs/papers/experiments.md", "The same in ns-3")
        self.assertIn('"kind":"end"', self.done(line, "duration=20", "warm=5"))

    def test_adaptive_streams_run_over_recordings_by_hand(self):
        every, informed = lines_of("docs/measurements/adaptive.md",
                                   "What a recording allows")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "even.down").write_text(
                "".join(f"{t}\n" for t in range(3, 60000, 3)))
            for line in (every, informed):
                said = self.done(line.replace("DIR", folder), "--seeds", "1",
                                 "--only", "even")
                self.assertRegex(said, r"(?m)^even-60 ")


if __name__ == "__main__":
    unittest.main(verbosity=2)
