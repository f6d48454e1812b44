#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Video whose encoder follows the transport, over links that change or are
shared: TLTCP beside SRT, librist and bare RTP.

Every run encodes a clip in real time between two network namespaces with linkem
between them.  A frame counts when it and all that it refers to arrived as it was
sent; times are from its capture.  PSNR and SSIM are those of a player that shows
each picture 400 ms after its capture.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "demo"))
sys.dont_write_bytecode = True

import adaptive_cases  # noqa: E402
import adaptive_page  # noqa: E402
import adaptive_run  # noqa: E402
import adaptive_traces  # noqa: E402
import demo  # noqa: E402
import devtools  # noqa: E402
import measure  # noqa: E402

KEYS = ("psnr", "ssim", "freeze", "freezes", "use", "F", "share", "skipped",
        "delay_p50", "delay_p95", "media_bps", "held_up")


OVERHEAD = 10  # s that a run takes beyond its stream


def say(text):
    print(f"bench adaptive: {text}", file=sys.stderr, flush=True)


def inspect(element, environment):
    """GStreamer's description of an element, or nothing.  (Its
    --exists wants plugins as new as GStreamer itself.)"""
    done = subprocess.run(["gst-inspect-1.0", element], check=False, text=True,
                          capture_output=True,
                          env=dict(os.environ, **environment))
    return done.stdout if done.returncode == 0 else ""


def why_absent(transport, environment):
    """The reason why a transport cannot be measured here, or None."""
    if transport.browser:
        return None if devtools.find() else \
            "there is no Chromium (Debian: chromium)"
    for _, program, *_ in transport.helpers:
        if not any(os.access(os.path.join(folder, program), os.X_OK)
                   for folder in os.environ["PATH"].split(":")):
            return f"there is no {program} (Debian: rist-tools)"
    told = inspect(transport.element, environment)
    if not told:
        return f"there is no {transport.element}"
    if transport.property and f"\n  {transport.property} " not in told:
        return f"{transport.element} has no property {transport.property}"
    return None


def choose(args, environment):
    chosen = {}
    for name in args.transports:
        transport = adaptive_cases.TRANSPORTS[name]
        why = why_absent(transport, environment)
        if why:
            say(f"no {transport.name}: {why}")
            args.absent.append(f"{transport.name}: {why}")
        else:
            chosen[name] = transport
    return chosen


def capacity(case, trace):
    """Mean bit/s, for transports that are told a fixed rate."""
    if trace:
        return adaptive_traces.mean_bps(trace)
    rate = float(case.up.partition("rate=")[2].partition("mbit")[0]) * 1e6
    flows = case.flows["count"] if case.flows else 0
    return rate / (flows + case.streams)


def make_spec(args, case, clip, name, transport, seed):
    content = adaptive_cases.CLIPS[clip]
    trace = case.trace and adaptive_cases.trace_of(case, args.folder,
                                                   args.seconds, seed)
    start = transport.start
    return {"transport": name, "up": case.up, "down": case.down,
            "rtt_ms": case.rtt_ms, "at": case.at, "flows": case.flows,
            "streams": case.streams, "seed": seed,
            "trace": str(trace) if trace else "", "codec": content.codec,
            "encoder": content.launch, "property": content.property,
            "unit": content.unit, "latency_ms": args.latency,
            "seconds": args.seconds, "quality": not args.no_quality,
            "extra": args.tltcp and "&" + args.tltcp,
            "start": start * capacity(case, trace) if start
            else adaptive_cases.START,
            "clip": str(adaptive_cases.raw(args.folder, content.content,
                                           args.seconds)),
            "program": str(args.build / "bench" / "bench_adaptive"),
            "linkem": str(args.build / "tools" / "linkem"),
            "environment": args.environment,
            "dir": str(args.folder / f"{case.name}-{clip}-{name}-{seed}")}


def attempt(args, spec):
    """In a process of its own, which has the right to make namespaces."""
    process = demo.start(demo.command({**spec, "prefix": args.prefix},
                                      __file__))
    try:
        return demo.collect(process)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def summary(runs):
    """Medians over the seeds, and the worst share within 400 ms."""
    good = [r for r in runs if "error" not in r]
    if not runs:
        return {"error": "not run"}
    if not good:
        return {"error": runs[0]["error"]}
    return {**{key: measure.median(good, key) for key in KEYS}, "runs": len(good),
            "within": {d: statistics.median(r["within"][d] for r in good)
                       for d in good[0]["within"]},
            "worst": min(r["within"]["400"] for r in good)}


class Machine:
    """How many runs it makes at once.  A call between browsers, which code in
    software and draw, counts as two."""

    def __init__(self, jobs):
        self.jobs, self.free = jobs, jobs
        self.changed = threading.Condition()

    def use(self, share, work, *rest):
        share = min(share, self.jobs)
        with self.changed:
            self.changed.wait_for(lambda: self.free >= share)
            self.free -= share
        try:
            return work(*rest)
        finally:
            with self.changed:
                self.free += share
                self.changed.notify_all()


def commit():
    """What is measured."""
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"],
                          check=False, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def wanted(args, transports):
    """Every run; those of one seed come before the next one's, so that a set
    that was interrupted has some of everything."""
    for seed in range(1, args.seeds + 1):
        for case in args.chosen:
            for clip in args.clips:
                for name in transports:
                    yield f"{case.name}/{clip}", case, clip, name, seed


def missing(args, transports, data):
    for title, case, clip, name, seed in wanted(args, transports):
        entry = data["cases"].setdefault(title, {
            "text": f"{case.text}; {adaptive_cases.CLIPS[clip].text}",
            "rows": {}, "runs": {}})
        runs = entry["runs"].setdefault(name, [])
        if not any(r["seed"] == seed and "error" not in r for r in runs):
            yield title, name, seed, make_spec(args, case, clip, name,
                                               transports[name], seed)


def make_run(args, spec, end):
    """None: there was no time left for it."""
    if end and time.monotonic() + spec["seconds"] + OVERHEAD > end:
        return None
    result = attempt(args, spec)
    return {**result, "seed": spec["seed"], "commit": args.commit,
            "date": time.strftime("%Y-%m-%d", time.gmtime())}


def begin(args, transports):
    """Results so far, to which the command adds."""
    data = {"machine": platform.platform(), "cores": os.cpu_count(),
            "load_before": os.getloadavg()[0], "seconds": args.seconds,
            "latency_ms": args.latency, "jobs": args.jobs, "names": {},
            "cases": {}}
    if args.go_on and args.json.exists():
        data = json.loads(args.json.read_text(encoding="ascii"))
        if (data["seconds"], data["latency_ms"]) != (args.seconds,
                                                     args.latency):
            sys.exit(f"bench adaptive: {args.json} is of other runs")
    data["names"].update({n: t.name for n, t in transports.items()})
    return data


def store(args, data, title, name, result):
    entry = data["cases"][title]
    entry["runs"][name] = [r for r in entry["runs"][name]
                           if r["seed"] != result["seed"]] + [result]
    entry["rows"][name] = summary(entry["runs"][name])
    write_json(args.json, data)


def bench(args):
    args.environment = demo.environment_for(str(args.build), ["tltcp"])
    args.prefix = demo.namespace_prefix()
    args.commit, args.absent = commit(), []
    if args.prefix is None:
        sys.exit("bench adaptive: no right to make network namespaces; run it "
                 "as root")
    transports = choose(args, args.environment)
    data, machine = begin(args, transports), Machine(args.jobs)
    data["command"], data["absent"] = args.command, args.absent
    end = args.limit and time.monotonic() + args.limit
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        started = {pool.submit(
            machine.use, 2 if transports[name].browser else 1, make_run, args,
            spec, end): (title, name)
            for title, name, _, spec in list(missing(args, transports, data))}
        for done in concurrent.futures.as_completed(started):
            if done.result():
                store(args, data, *started[done], done.result())
    left = sum(1 for _ in missing(args, transports, data))
    if left:
        say(f"{left} runs are left; --go-on makes them")
    for title in data["cases"]:
        adaptive_page.print_case(title, data)
    return data


def write_json(path, data):
    new = path.with_suffix(".new")
    new.write_text(json.dumps(data) + "\n", encoding="ascii")
    new.replace(path)


def draw(args, image, *how):
    """The chart's path, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, ROOT / "bench" / "adaptive_chart.py",
                           args.json, image, *how], check=False,
                          capture_output=True).returncode == 0:
            print(f"chart: {image}")
            return image
    say("no chart: there is no matplotlib (Debian: python3-matplotlib)")
    return None


def finish(args, data):
    write_json(args.json, data)
    print(f"\nJSON: {args.json}")
    if args.page:
        image = draw(args, args.page.with_suffix(".svg"), "summary")
        adaptive_page.write(args.page, data, image)
        print(f"page: {args.page}")
    else:
        draw(args, args.json.with_suffix(".svg"))


# --- The command -----------------------------------------------------------

def names_of(table):
    def check(text):
        names = text.split(",")
        for name in names:
            if name not in table:
                raise argparse.ArgumentTypeError(
                    f"there is no {name}; there are {', '.join(table)}")
        return names
    return check


def parse():
    p = argparse.ArgumentParser(
        prog="dev bench adaptive", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("cases", nargs="*", metavar="CASE",
                   help="which to run (all); --list names them")
    p.add_argument("--list", action="store_true", help="names the cases")
    p.add_argument("--quick", action="store_true",
                   help="key cases, one clip, 20 s each")
    p.add_argument("--whole", action="store_true",
                   help="what docs/measurements/adaptive.md shows; continues "
                        "where it was interrupted")
    p.add_argument("--clips", type=names_of(adaptive_cases.CLIPS),
                   help="which of " + ",".join(adaptive_cases.CLIPS))
    p.add_argument("--transports", type=names_of(adaptive_cases.TRANSPORTS),
                   help="which of " + ",".join(adaptive_cases.TRANSPORTS))
    p.add_argument("--traces", type=pathlib.Path, metavar="DIR",
                   help="also over the recordings in DIR, in mahimahi's format "
                        "(*.down, *.up, *.trace)")
    p.add_argument("--seeds", type=int, default=1, help="runs of each")
    p.add_argument("--seconds", type=int, help="of each run (60)")
    p.add_argument("--latency", type=int, default=400, help="in ms (400)")
    p.add_argument("--jobs", type=int, default=1,
                   help="runs at a time (1); a call of browsers counts as two")
    p.add_argument("--go-on", action="store_true",
                   help="adds what earlier results lack")
    p.add_argument("--limit", type=int, metavar="SECONDS",
                   help="starts no run that would end after this time")
    p.add_argument("--no-quality", action="store_true",
                   help="leaves out PSNR and SSIM")
    p.add_argument("--tltcp", default="", metavar="KEY=VALUE[&...]",
                   help="further properties of tltcpsink")
    p.add_argument("--build", type=pathlib.Path, default=pathlib.Path(
        os.environ.get("PERIGEE_BUILD_DIR", ROOT / "build")))
    p.add_argument("--json", type=pathlib.Path, help="where the results go")
    p.add_argument("--page", type=pathlib.Path,
                   help="page to be made, such as docs/measurements/"
                        "adaptive.md")
    p.add_argument("--from", dest="source", type=pathlib.Path, metavar="JSON",
                   help="shows results of before instead of running")
    p.add_argument("--run", help=argparse.SUPPRESS)
    return p.parse_args()


def choose_cases(args):
    every = dict(adaptive_cases.CASES)
    if args.traces:
        every.update((c.name, c) for c in adaptive_cases.recorded(args.traces))
    whole = [*(name for name in every if name.endswith(".down-60")),
             *adaptive_cases.WHOLE]
    wanted = args.cases or (whole if args.whole else
                            adaptive_cases.QUICK if args.quick else every)
    for name in wanted:
        if name not in every:
            sys.exit(f"bench adaptive: there is no case {name}; --list names "
                     "them")
    return [every[name] for name in wanted]


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    args = parse()
    if args.run:
        print(json.dumps(adaptive_run.run(json.loads(args.run))))
        return
    if args.list:
        for case in choose_cases(args):
            print(f"{case.name:18}{case.text}")
        return
    short = args.quick or args.whole
    args.seconds = args.seconds or (20 if short else 60)
    args.clips = args.clips or (["ippp"] if short else
                                ["ippp", "pyramid", "screen", "hevc"])
    args.transports = args.transports or (
        adaptive_cases.WHOLE_TRANSPORTS if args.whole
        else list(adaptive_cases.TRANSPORTS))
    args.go_on = args.go_on or args.whole
    args.command = "./dev bench adaptive " + " ".join(
        ["--whole"] * args.whole + ["--traces DIR"] * bool(args.traces) +
        [f"--jobs {args.jobs}", "--page PAGE"])
    args.build = args.build.resolve()
    args.folder = args.build / "bench-adaptive"
    args.folder.mkdir(parents=True, exist_ok=True)
    args.json = args.json or args.folder / (
        "whole.json" if args.whole else "adaptive.json")
    args.chosen = choose_cases(args)
    if args.source:
        data = json.loads(args.source.read_text(encoding="ascii"))
        for title in data["cases"]:
            adaptive_page.print_case(title, data)
    else:
        data = bench(args)
    finish(args, data)


if __name__ == "__main__":
    main()
