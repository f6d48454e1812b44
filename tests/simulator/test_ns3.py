# SPDX-License-Identifier: MPL-2.0
"""Scenarios with ns-3 as the network: the engines do there what they do in the
virtual one."""
import json
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIM = pathlib.Path(os.environ["PERIGEE_BUILD_DIR"]) / "sim"
HERE, NS3 = SIM / "simulate", SIM / "ns3" / "simulate-ns3"


def run(program, scenario, *params, code=0):
    done = subprocess.run(
        [program, ROOT / "sim" / "scenarios" / f"{scenario}.scn", *params],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=120)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def arrived(text, flow):
    return sum(x["arrived_full"] for x in map(json.loads, text.splitlines())
               if x["kind"] == "flow" and x["flow"] == flow)


class Ns3(unittest.TestCase):
    def same(self, flows, within, scenario, *params):
        here, there = (run(p, scenario, *params) for p in (HERE, NS3))
        for flow in flows:
            a, b = arrived(here, flow), arrived(there, flow)
            self.assertGreater(b, 100)
            self.assertLess(abs(a / b - 1), within, (flow, a, b))

    def test_tltcp_is_the_same_in_both_networks(self):
        self.same(("tcp", "tltcp"), 0.02, "tltcp", "tcp=2", "tltcp=2",
                  "duration=30", "warm=5", "manner=packet")

    def test_stfrc_is_the_same_in_both_networks(self):
        self.same(("stfrc",), 0.25, "stfrc", "n=1", "bw=2", "packet=1228",
                  "red=0", "duration=40", "warm=20")

    def test_a_queue_overflows(self):
        text = run(NS3, "tltcp", "tcp=0", "tltcp=2", "window=40", "queue=20",
                   "duration=30", "warm=0")
        link = next(x for x in map(json.loads, text.splitlines())
                    if x["kind"] == "link" and x["from"] == "R1")
        self.assertGreater(link["dropped_queue"], 0)

    def test_a_tcp_of_ns3_plays_a_group(self):
        text = run(NS3, "tltcp", "tcp=1", "tltcp=1", "duration=30", "warm=5",
                   "native.tcp=LinuxReno")
        shares = [arrived(text, f) for f in ("tcp", "tltcp")]
        self.assertLess(abs(shares[0] / shares[1] - 1), 0.05)

    def test_two_runs_give_equal_bytes(self):
        runs = [run(NS3, "geo", "n=2", "phase=10", "packet=1228")
                for _ in range(2)]
        self.assertEqual(*runs)

    def test_what_it_cannot_do_it_says(self):
        for scenario, params, words in (
                ("tltcp", ["native.tcp=Nonsense"], "ns-3 has no ns3::TcpNonse"),
                ("tltcp", ["native.udp=Cubic"], "there is no such flow"),
                ("geo", [], "packet must be 1228 or more"),
                ("iridium", ["packet=1228"], "links that change"),
                ("stfrc", ["bit_error=1e-5", "packet=1228"],
                 "no impairment but loss"),
                ("tltcp", ["tcp=9999"], "tcp=9999: it must be 0..500")):
            self.assertIn(words, run(NS3, scenario, *params, code=1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
