#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""The cost of a live stream to many viewers: server and viewers, by transport.

One process serves all viewers, another one is all of them; both do the same
with each transport, and transports take turns.  Without a round-trip time they
talk over the loopback interface, with one through linkem.  Bare UDP, which only
sends, is the floor.  Then some viewers have bad links: the others must not
notice.
"""
import argparse
import json
import os
import pathlib
import platform
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "demo"))
sys.dont_write_bytecode = True

import arguments  # noqa: E402
import case  # noqa: E402
import commit  # noqa: E402

import fanout_page  # noqa: E402

NAMES = {"tltcp": "TLTCP", "srt": "SRT", "librist": "librist",
         "bare": "bare UDP"}
OURS = "tltcp"
FLOOR = "bare"  # repairs nothing
TRAIN = 10  # packets that may leave at once (RFC 9002, section 7.7)
WHOLE = 44  # that one message with UDP_SEGMENT takes
SERVED = 0.95  # of the stream: less is not served
PATIENCE = 60  # seconds that a run may take beyond its own time
BAD_LINK = "rate=300kbit,queue=20kB,loss=20%"


class Failed(Exception):
    """The reason why there is no result, as a sentence."""


class Run:
    """A server, viewers, and links between them."""

    def __init__(self, args, transport, folder):
        self.args, self.transport, self.folder = args, transport, folder
        self.port = case.free_port(socket.SOCK_DGRAM)
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()

    def start(self, *command):
        process = subprocess.Popen([str(word) for word in command], text=True,
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.processes.append(process)
        return process

    def end_point(self, role, port, viewers, train=TRAIN, threads=1):
        args = self.args
        return self.start(args.program, role, self.transport, "127.0.0.1", port,
                          viewers, args.mbps, args.seconds, args.latency,
                          args.warm, train, threads)

    def serve(self, viewers, train=TRAIN, threads=1):
        server = self.end_point("serve", self.port, viewers, train, threads)
        if server.stdout.readline().strip() != "listening":
            raise Failed(f"{self.transport}: {server.stderr.read().strip()}")
        return server

    def link(self, *settings):
        """A relay to the server; returns its port."""
        file = pathlib.Path(self.folder) / f"port{len(self.processes)}"
        delay = self.args.rtt / 2
        link = self.start(self.args.linkem, "-q", "--delay", f"{delay}ms",
                          *settings, "--max-clients", 2048, "--port-file",
                          file, "127.0.0.1:0", f"127.0.0.1:{self.port}")
        end = time.monotonic() + 10
        while not file.exists() or not file.read_text().endswith("\n"):
            if link.poll() is not None or time.monotonic() > end:
                raise Failed("linkem did not start")
            time.sleep(0.01)
        return int(file.read_text().strip().rsplit(":", 1)[1])

    def result(self, process):
        try:
            out, err = process.communicate(
                timeout=self.args.warm + self.args.seconds + PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{self.transport}: it did not end") from error
        lines = [line for line in out.splitlines() if line.startswith("{")]
        if not lines:
            raise Failed(f"{self.transport}: {err.strip() or 'no result'}")
        return json.loads(lines[-1])


def cost(server, viewers):
    """Of one stream: percent of a core and memory at each end, and what part
    of the stream the viewers got, the least and in the mean."""
    n = server["viewers"]
    shares = [got / server["bytes"] for got in viewers["bytes"]]
    return {"server_cpu": server["cpu_seconds"] / server["seconds"] / n,
            "viewer_cpu": viewers["cpu_seconds"] / viewers["seconds"] / n,
            "server_bytes": server["resident_bytes"] / n,
            "viewer_bytes": viewers["resident_bytes"] / n,
            "least": min(shares), "mean": statistics.fmean(shares)}


def plain(args, transport, viewers, rtt):
    with tempfile.TemporaryDirectory() as folder, \
            Run(args, transport, folder) as run:
        server = run.serve(viewers, TRAIN if rtt else WHOLE)
        port = run.link() if rtt else run.port
        seen = run.end_point("view", port, viewers)
        return cost(run.result(server), run.result(seen))


def thread_times(args, viewers, threads):
    """Of a server without a round-trip time: the parts of a core that its
    busiest I/O thread and all of them take for each of all its viewers."""
    with tempfile.TemporaryDirectory() as folder, \
            Run(args, OURS, folder) as run:
        server = run.serve(viewers, WHOLE, threads)
        seen = run.end_point("view", run.port, viewers)
        served, got = run.result(server), run.result(seen)
        if min(got["bytes"]) < SERVED * served["bytes"]:
            raise Failed("a viewer did not get its stream")
        return [served[key] / served["seconds"] / viewers
                for key in ("busiest_thread_seconds", "threads_seconds")]


def isolation(args, transport, viewers, bad):
    """Results of good viewers beside bad ones, which share a separate link."""
    with tempfile.TemporaryDirectory() as folder, \
            Run(args, transport, folder) as run:
        server = run.serve(viewers + bad)
        good = run.end_point("view", run.link(), viewers)
        if bad:
            poor = run.end_point("view", run.link("--down", BAD_LINK), bad)
        served, seen = run.result(server), run.result(good)
        shares = [got / served["bytes"] for got in seen["bytes"]]
        result = {"least": min(shares), "mean": statistics.fmean(shares)}
        if bad:
            result["bad_mean"] = statistics.fmean(
                got / served["bytes"] for got in run.result(poor)["bytes"])
        return result


def medians(samples):
    good = [s for s in samples if "error" not in s]
    if not good:
        return samples[0]
    return {key: statistics.median(s[key] for s in good) for key in good[0]}


def attempt(measure, *args):
    try:
        return measure(*args)
    except Failed as error:
        return {"error": str(error)}


def turns(args, transports, measure, *rest):
    """Libraries take turns, so that drift of the machine hits all alike."""
    samples = {transport: [] for transport in transports}
    for _ in range(args.runs):
        for transport in transports:
            samples[transport].append(attempt(measure, args, transport, *rest))
    return {transport: medians(s) for transport, s in samples.items()}


def ratio(rows, transport, key):
    """Ours over theirs; None where one is missing."""
    ours, theirs = rows.get(OURS, {}).get(key), rows[transport].get(key)
    return ours / theirs if ours is not None and theirs else None


def text(value, form="8.2f"):
    return f"{'-':>{form.partition('.')[0]}}" if value is None \
        else format(value, form)


def print_costs(title, rows):
    print(f"\n{title}\n{'':10}{'server %':>9}{'ratio':>8}{'viewer %':>10}"
          f"{'ratio':>8}{'server kB':>11}{'viewer kB':>11}{'delivered %':>13}"
          f"{'least %':>9}")
    for transport, row in rows.items():
        if "error" in row:
            print(f"{NAMES[transport]:10}{row['error']}")
            continue
        print(f"{NAMES[transport]:10}{row['server_cpu'] * 100:>9.3f}"
              f"{text(ratio(rows, transport, 'server_cpu'))}"
              f"{row['viewer_cpu'] * 100:>10.3f}"
              f"{text(ratio(rows, transport, 'viewer_cpu'))}"
              f"{row['server_bytes'] / 1e3:>11.0f}"
              f"{row['viewer_bytes'] / 1e3:>11.0f}{row['mean'] * 100:>13.2f}"
              f"{row['least'] * 100:>9.2f}", flush=True)


def print_isolation(args, rows):
    print(f"\n{args.viewers} viewers with good links beside {args.bad} behind "
          f"{BAD_LINK}, and alone: % of the stream that the one who got least "
          f"got\n{'':10}{'alone':>8}{'beside':>8}{'the bad':>9}")
    for transport, (alone, beside) in rows.items():
        if "error" in alone or "error" in beside:
            print(f"{NAMES[transport]:10}"
                  f"{alone.get('error', beside.get('error'))}")
            continue
        print(f"{NAMES[transport]:10}{alone['least'] * 100:>8.2f}"
              f"{beside['least'] * 100:>8.2f}"
              f"{beside.get('bad_mean', 0) * 100:>9.2f}", flush=True)


def bench(args):
    there = subprocess.run([str(args.program), "list"], text=True, check=True,
                           capture_output=True).stdout.split()
    transports = [name for name in args.transports if name in there]
    for name in args.transports:
        if name not in there:
            print(f"bench fanout: no {NAMES[name]}: its headers were not found "
                  "when this was built", file=sys.stderr)
    results = {"machine": platform.platform(), "cores": os.cpu_count(),
               "date": time.strftime("%-d %B %Y", time.gmtime()),
               "commit": commit.short(),
               "load_before": os.getloadavg()[0], "viewers": args.viewers,
               "mbps": args.mbps, "seconds": args.seconds, "warm": args.warm,
               "runs": args.runs,
               "rtt_ms": args.rtt, "costs": {}}
    print(f"Streams of {args.mbps:g} Mbit/s, {args.seconds:g} s "
          f"after {args.warm:g} s, median of {args.runs}; % of a core for each "
          "stream; ratio: TLTCP's over this one's")
    for count, rtt in ((args.crowd, 0), (args.viewers, args.rtt),
                       (1, args.rtt)):
        rows = turns(args, transports, plain, count, rtt)
        title = f"{count} viewer{'s' if count > 1 else ''}, RTT {rtt:g} ms"
        results["costs"][title] = rows
        print_costs(title, rows)
    repairing = [name for name in transports if name != FLOOR]
    alone = turns(args, repairing, isolation, args.viewers, 0)
    beside = turns(args, repairing, isolation, args.viewers, args.bad)
    results["isolation"] = {name: (alone[name], beside[name])
                            for name in repairing}
    print_isolation(args, results["isolation"])
    return results


def names(value):
    found = value.split(",")
    for name in found:
        if name not in NAMES:
            raise argparse.ArgumentTypeError(
                f"there is no {name}; valid names are {', '.join(NAMES)}")
    return found


def parse():
    p = argparse.ArgumentParser(
        prog="dev bench fanout", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--viewers", type=int, default=30)
    p.add_argument("--crowd", type=int, default=100,
                   help="viewers without a round-trip time (100)")
    p.add_argument("--bad", type=int, default=5,
                   help="viewers with bad links (5)")
    p.add_argument("--mbps", type=float, default=4, help="of the stream (4)")
    p.add_argument("--seconds", type=float, default=10, help="of a run (10)")
    p.add_argument("--warm", type=float, default=6,
                   help="seconds before costs count (6)")
    p.add_argument("--rtt", type=float, default=40, help="in ms (40)")
    p.add_argument("--latency", type=int, default=200, help="in ms (200)")
    p.add_argument("--runs", type=int, default=3, help="of each (3)")
    p.add_argument("--transports", type=names, default=list(NAMES),
                   help="which of " + ",".join(NAMES))
    arguments.add_places(p)
    p.add_argument("--page", type=pathlib.Path,
                   help="page to write")
    return p.parse_args()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    args = parse()
    arguments.checked()
    args.program = args.build / "bench" / "bench_fanout"
    args.linkem = args.build / "tools" / "linkem"
    if not args.program.exists():
        sys.exit(f"bench fanout: {args.program} is missing; build first "
                 "(./dev build)")
    results = bench(args)
    path = args.json or args.build / "fanout.json"
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="ascii")
    print(f"\nJSON: {path}")
    if args.page:
        args.page.write_text(fanout_page.text(results, NAMES, ratio),
                             encoding="ascii")
        print(f"Page: {args.page}")


if __name__ == "__main__":
    main()
