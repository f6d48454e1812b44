# SPDX-License-Identifier: MPL-2.0
"""Packet events a second that the simulator handles, by scenario of the papers."""
import json
import pathlib
import subprocess

SCENARIOS = pathlib.Path(__file__).resolve().parent.parent / "sim" / "scenarios"
GOAL = 2e6  # events a second on one core
# What is run: the words of the table, the scenario, its parameters.
CASES = (
    ("Time-lined TCP", "tltcp", ("window=20", "duration=500")),
    ("the same, packet numbers", "tltcp",
     ("window=20", "duration=500", "manner=packet")),
    ("TCP Yam", "yam", ("n_a=10", "window=24", "duration=1000")),
    ("TCP Yam, flows that come and go", "yam-dynamic", ()),
    ("TCP Yam at 400 Mbit/s", "yam-fast", ("step=5",)),
    ("Mod WestwoodNew", "iridium", ("bytes=10000000", "duration=600",
                                    "udp_stop=600", "loss=0.01")),
    ("GEO", "geo", ("phase=300",)),
    ("STFRC", "stfrc", ("n=32",)),
    ("STFRC, thin uplink", "stfrc", ("n=64", "place=SAT", "tcp_delay=6",
                                     "uplink=0.0384")),
    ("STFRC, a link that falls", "stfrc-step", ()),
    ("beside ns-2", "calibration", ()),
)


class Failed(Exception):
    """A run that gave nothing."""


def run(program, scenario, params):
    done = subprocess.run([program, str(SCENARIOS / f"{scenario}.scn"), *params],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    return json.loads(done.stdout)


def bench(program, runs, cases=CASES):
    """Of each case the fastest run; the machine may be busy with other things.
    All runs count the same events."""
    results = {}
    for words, scenario, params in cases:
        every = [run(program, scenario, params) for _ in range(runs)]
        if len({r["events"] for r in every}) != 1:
            raise Failed(f"{scenario}: equal seeds gave different events")
        best = min(every, key=lambda r: r["cpu_seconds"])
        results[words] = {
            "scenario": scenario, **best,
            "events_per_second": best["events"] / max(best["cpu_seconds"],
                                                      1e-9)}
    return results


def table(results):
    lines = [f"{'scenario':<34}{'events':>12}{'CPU s':>9}{'M events/s':>12}"]
    lines += [f"{words:<34}{r['events']:>12}{r['cpu_seconds']:>9.3f}"
              f"{r['events_per_second'] / 1e6:>12.2f}"
              + ("" if r["events_per_second"] >= GOAL else "  below the goal")
              for words, r in results.items()]
    return "\n".join(lines)
