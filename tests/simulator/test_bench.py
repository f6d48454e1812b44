# SPDX-License-Identifier: MPL-2.0
"""The benchmark of the simulator knows all scenarios and counts what they do."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["PERIGEE_BUILD_DIR"])
PROGRAM = str(BUILD / "bench" / "bench_simulator")
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True

import simulator  # pylint: disable=wrong-import-position

SHORT = (("short", "tltcp", ("tcp=1", "tltcp=0", "duration=60")),
         ("long", "tltcp", ("tcp=1", "tltcp=0", "duration=120")))


class Bench(unittest.TestCase):
    def test_every_scenario_is_there(self):
        self.assertEqual({c[1] for c in simulator.CASES},
                         {p.stem for p in simulator.SCENARIOS.glob("*.scn")})

    def test_events_are_packets_that_enter_and_leave_links(self):
        done = subprocess.run(
            [BUILD / "sim" / "simulate", simulator.SCENARIOS / "tltcp.scn",
             "tcp=1", "tltcp=0", "duration=60", "warm=0"],
            capture_output=True, text=True, check=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        ways = [x for x in lines if x["kind"] == "link"]
        # Each packet also passes the links of both hosts.
        passed = 3 * sum(x["offered"] + x["delivered"] for x in ways)
        events = simulator.bench(PROGRAM, 1, SHORT[:1])["short"]["events"]
        self.assertAlmostEqual(events / passed, 1, delta=0.01)

    def test_equal_runs_count_the_same_and_longer_ones_more(self):
        first, second = (simulator.bench(PROGRAM, 2, SHORT) for _ in range(2))
        for name, r in first.items():
            self.assertEqual(r["events"], second[name]["events"])
            self.assertEqual(r["fired"], second[name]["fired"])
        self.assertAlmostEqual(
            first["long"]["events"] / first["short"]["events"], 2, delta=0.1)

    def test_the_table_names_who_is_below_the_goal(self):
        results = {name: {"events": 10, "cpu_seconds": 1,
                          "events_per_second": rate}
                   for name, rate in (("slow", simulator.GOAL / 2),
                                      ("fast", simulator.GOAL))}
        head, slow, fast = simulator.table(results).splitlines()
        self.assertIn("M events/s", head)
        self.assertIn("below the goal", slow)
        self.assertNotIn("below", fast)

    def test_a_wrong_parameter_is_a_failure_that_says_so(self):
        with self.assertRaisesRegex(simulator.Failed, "sets nothing"):
            simulator.bench(PROGRAM, 1, (("x", "tltcp", ("windows=1",)),))


if __name__ == "__main__":
    unittest.main()
