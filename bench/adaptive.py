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
import adaptive_clips  # noqa: E402
import adaptive_page  # noqa: E402
import adaptive_peers  # noqa: E402
import adaptive_quality  # noqa: E402
import adaptive_run  # noqa: E402
import adaptive_traces  # noqa: E402
import arguments  # noqa: E402
import commit  # noqa: E402
import demo  # noqa: E402
import live_store  # noqa: E402
import measure  # noqa: E402

KEYS = ("psnr", "ssim", "vmaf", "freeze", "freezes", "use", "F", "share", "skipped",
        "delay_p50", "delay_p95", "media_bps", "held_up")


OVERHEAD = 10  # s that a run takes beyond its stream
HELD_UP_S = 0.15  # by a busy machine: more spoils a run
RUNNING = set()  # processes
STREAMED = "streamed\n"  # what a run prints before it compares pictures


def say(text):
    print(f"bench adaptive: {text}", file=sys.stderr, flush=True)


def capacity(case, trace):
    """Mean bit/s, for transports that are told a fixed rate."""
    if trace:
        return adaptive_traces.mean_bps(trace)
    flows = case.flows["count"] if case.flows else 0
    return case.rate_bps() / (flows + case.streams)


def make_spec(args, case, clip, name, transport, seed):
    content = adaptive_clips.CLIPS[clip]
    trace = case.trace and adaptive_cases.trace_of(case, args.folder,
                                                   args.seconds, seed)
    start = transport.start
    return {"transport": name, "up": case.up, "down": case.down,
            "rtt_ms": case.rtt_ms, "queued_ms": case.queued_ms(), "at": case.at, "flows": case.flows,
            "streams": case.streams, "seed": seed,
            "trace": str(trace) if trace else "",
            "part": adaptive_cases.part_of(trace, args.seconds, seed)
            if trace else 0,
            "codec": content.codec,
            "encoder": content.launch, "property": content.property,
            "unit": content.unit, "latency_ms": args.latency,
            "seconds": args.seconds, "quality": not args.no_quality,
            "extra": args.tltcp and "&" + args.tltcp,
            "start": start * capacity(case, trace) if start
            else adaptive_cases.START,
            "clip": str(adaptive_clips.raw(args.folder, content.content,
                                           args.seconds, args.film)),
            "program": str(args.build / "bench" / "bench_adaptive"),
            "linkem": str(args.build / "tools" / "linkem"),
            "environment": args.environment,
            "dir": str(args.folder / f"{case.name}-{clip}-{name}-{seed}")}


def attempt(args, spec, streamed):
    """In a process of its own, which has the right to make namespaces; calls
    `streamed` when the link is free, before the pictures are compared."""
    process = demo.start(demo.command({**spec, "prefix": args.prefix},
                                      __file__))
    RUNNING.add(process)
    try:
        first = process.stdout.readline()
        streamed()
        if first == STREAMED:
            return demo.collect(process)
        process.communicate()
        return json.loads(first)
    except ValueError:
        return {"error": "the run ended without a result"}
    finally:
        RUNNING.discard(process)
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
    """How many streams it carries at once.  A call between browsers, which code
    in software and draw, counts as two."""

    def __init__(self, jobs):
        self.jobs, self.free = jobs, jobs
        self.ending = False
        self.changed = threading.Condition()

    def use(self, share, work, *rest):
        """Calls work(*rest, free); it calls free() when others may begin."""
        share = min(share, self.jobs)
        with self.changed:
            self.changed.wait_for(lambda: self.free >= share)
            if self.ending:
                return None
            self.free -= share
        held = [share]

        def free():
            with self.changed:
                self.free += held[0]
                held[0] = 0
                self.changed.notify_all()

        try:
            return work(*rest, free)
        finally:
            free()


def wanted(args):
    """Every run; those of one seed come before the next one's, so that a set
    that was interrupted has some of everything."""
    if args.whole:
        for name, clip, transport, seed in adaptive_cases.whole(
                args.recordings or adaptive_cases.SYNTHETIC, args.clips[0]):
            if name in args.chosen and transport in args.transports:
                yield args.chosen[name], clip, transport, seed
        return
    for seed in range(1, args.seeds + 1):
        for case in args.chosen.values():
            for clip in args.clips:
                for name in args.transports:
                    yield case, clip, name, seed


def is_good(run):
    """A run that the machine disturbed is made again, once."""
    return "error" not in run and (run["held_up"] <= HELD_UP_S or
                                   run.get("tries", 1) > 1)


def made_with(args, name):
    """Names the programs of a run.  What peers did stays as it is when the
    libraries change."""
    return live_store.made_with(args.build, True) + args.tltcp \
        if name.startswith("tltcp") else ""


def missing(args, transports, data):
    for case, clip, name, seed in wanted(args):
        if name not in transports:
            continue
        entry = data["cases"].setdefault(f"{case.name}/{clip}", {
            "text": f"{case.text}; {adaptive_clips.CLIPS[clip].text}",
            "rows": {}, "runs": {}})
        runs = entry["runs"].setdefault(name, [])
        made = made_with(args, name)
        if not any(r["seed"] == seed and r.get("made") == made and is_good(r)
                   for r in runs):
            yield f"{case.name}/{clip}", name, seed, make_spec(
                args, case, clip, name, transports[name], seed)


def make_run(args, spec, end, streamed=lambda: None):
    """None: there was no time left for it."""
    if end and time.monotonic() + spec["seconds"] + OVERHEAD > end:
        return None
    result = attempt(args, spec, streamed)
    return {**result, "seed": spec["seed"], "commit": args.commit,
            "made": made_with(args, spec["transport"]),
            "date": time.strftime("%Y-%m-%d", time.gmtime())}


def begin(args, transports):
    """Results so far, to which the command adds."""
    data = {"machine": platform.platform(), "cores": os.cpu_count(),
            "load_before": os.getloadavg()[0], "seconds": args.seconds,
            "latency_ms": args.latency, "jobs": args.jobs, "names": {},
            "cases": {}}
    if args.go_on and args.json.exists():
        data = read_results(args.json)
        if (data["seconds"], data["latency_ms"]) != (args.seconds,
                                                     args.latency):
            sys.exit(f"bench adaptive: {args.json} holds other runs")
    data["names"].update({n: t.name for n, t in transports.items()})
    return data


def store(args, data, title, name, result):
    """Of two runs the one that the machine disturbed less counts."""
    entry = data["cases"][title]
    same = [r for r in entry["runs"][name] if r["seed"] == result["seed"] and
            r.get("made") == result.get("made")]
    tries = 1 + max((r.get("tries", 1) for r in same), default=0)
    best = min([*same, result], key=lambda r: r.get("held_up", 1e9))
    entry["runs"][name] = [r for r in entry["runs"][name]
                           if r["seed"] != result["seed"]] + [
                               {**best, "tries": tries}]
    entry["rows"][name] = summary(entry["runs"][name])
    write_json(args.json, data)


def tell_how_long(args, specs):
    """Beforehand, about."""
    streams = sum(2 if adaptive_cases.TRANSPORTS[name].browser and args.jobs > 1
                  else 1 for _, name, _, _ in specs)
    minutes = streams * (args.seconds + OVERHEAD / 2) / args.jobs / 60
    say(f"{len(specs)} runs, {args.jobs} at a time, about {minutes:.0f} minutes")


def prepare(args):
    """Ends the program where nothing can be measured."""
    absent = adaptive_peers.missing_programs()
    if absent:
        sys.exit(f"bench adaptive: there is no {', no '.join(absent)} (Debian: "
                 "ffmpeg, gstreamer1.0-tools, iproute2)")
    if not (args.build / "bench" / "bench_adaptive").exists():
        sys.exit(f"bench adaptive: {args.build} has no bench_adaptive; "
                 "./dev build makes it, where GStreamer is found")
    args.prefix = demo.namespace_prefix()
    if args.prefix is None:
        sys.exit("bench adaptive: no right to make network namespaces; run it "
                 "as root")
    args.environment = demo.environment_for(str(args.build), ["tltcp"])
    if "gcc" in args.transports:
        args.environment = adaptive_peers.build_gcc(
            args.folder / "rtpgccbwe", args.environment, say)
    args.commit = commit.short()


def make_runs(args, transports, data, machine, end):
    with concurrent.futures.ThreadPoolExecutor(args.jobs + 1) as pool:
        try:
            started = {pool.submit(
                machine.use, 2 if transports[name].browser else 1, make_run,
                args, spec, end): (title, name) for title, name, _, spec in
                list(missing(args, transports, data))}
            for done in concurrent.futures.as_completed(started):
                if done.result():
                    store(args, data, *started[done], done.result())
        except BaseException:  # an interrupt, too: what has not begun does not
            machine.ending = True
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(RUNNING):
                process.terminate()
            raise


def bench(args):
    prepare(args)
    transports, absent = adaptive_peers.choose(args.transports,
                                               args.environment, say)
    if not args.no_quality and not adaptive_quality.find_vmaf():
        say("no VMAF: there is no FFmpeg with libvmaf (pip install "
            "imageio-ffmpeg, or name one in PERIGEE_FFMPEG)")
    data, machine = begin(args, transports), Machine(args.jobs)
    data["command"], data["absent"] = args.command, absent
    end = args.limit and time.monotonic() + args.limit
    tell_how_long(args, list(missing(args, transports, data)))
    for _ in range(2):  # those that were disturbed again
        make_runs(args, transports, data, machine, end)
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
    elif not args.no_chart:
        draw(args, args.json.with_suffix(".svg"))


# --- The command -----------------------------------------------------------

def names_of(table):
    def check(text):
        names = text.split(",")
        for name in names:
            if name not in table:
                raise argparse.ArgumentTypeError(
                    f"there is no {name}; valid names are {', '.join(table)}")
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
                        "where it was interrupted, and repeats only TLTCP when "
                        "the libraries have changed")
    p.add_argument("--clips", type=names_of(adaptive_clips.CLIPS),
                   help="which of " + ",".join(adaptive_clips.CLIPS))
    p.add_argument("--transports", type=names_of(adaptive_cases.TRANSPORTS),
                   help="which of " + ",".join(adaptive_cases.TRANSPORTS))
    p.add_argument("--traces", type=existing, metavar="PATH",
                   help="also over a recording in mahimahi's format, or those "
                        "in a folder (*.down, *.up, *.trace)")
    p.add_argument("--film", type=existing, metavar="FILE",
                   help="a video of yours as further clip, film")
    p.add_argument("--seeds", type=count, default=1,
                   help="runs of each; each has a part of a recording of its "
                        "own")
    p.add_argument("--seconds", type=count, help="of each run (60)")
    p.add_argument("--latency", type=count, default=400, help="in ms (400)")
    p.add_argument("--jobs", type=count, default=1,
                   help="runs at a time (1); a call of browsers counts as two")
    p.add_argument("--go-on", action="store_true",
                   help="adds what earlier results lack")
    p.add_argument("--limit", type=count, metavar="SECONDS",
                   help="starts no run that would end after this time")
    p.add_argument("--no-quality", action="store_true",
                   help="leaves out PSNR, SSIM and VMAF")
    p.add_argument("--no-chart", action="store_true", help="draws nothing")
    p.add_argument("--tltcp", default="", metavar="KEY=VALUE[&...]",
                   help="further properties of tltcpsink")
    arguments.add_places(p)
    p.add_argument("--page", type=in_folder,
                   help="page to be made, such as docs/measurements/"
                        "adaptive.md")
    p.add_argument("--from", dest="source", type=existing, metavar="JSON",
                   help="shows results of before instead of running")
    p.add_argument("--run", help=argparse.SUPPRESS)
    return p.parse_args()


def count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def existing(text):
    path = pathlib.Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"there is no {text}")
    return path.resolve()


def in_folder(text):
    """So that hours of runs do not end in an error."""
    path = pathlib.Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


def read_results(path):
    """Results of before."""
    try:
        data = json.loads(path.read_text(encoding="ascii"))
        if "cases" in data and "names" in data:
            return data
    except ValueError:
        pass
    return sys.exit(f"bench adaptive: {path} holds no results of this command")


def choose_cases(args):
    """The cases by name; notes which are recordings."""
    every, args.recordings = dict(adaptive_cases.CASES), []
    if args.traces:
        try:
            cases = list(adaptive_cases.recorded(args.traces))
        except ValueError as error:
            sys.exit(f"bench adaptive: {error}")
        if not cases:
            sys.exit(f"bench adaptive: {args.traces} holds no *.down, *.up or "
                     "*.trace")
        every.update((c.name, c) for c in cases)
        args.recordings = [c.name for c in cases if c.name.endswith("-60")]
    whole = [*(args.recordings or adaptive_cases.SYNTHETIC),
             *adaptive_cases.OTHERS]
    names = args.cases or (whole if args.whole else
                           adaptive_cases.QUICK if args.quick else every)
    for name in names:
        if name not in every:
            sys.exit(f"bench adaptive: there is no case {name}; --list names "
                     "them")
    return {name: every[name] for name in names}


def choose_clips(args):
    if "film" in (args.clips or ()) and not args.film:
        sys.exit("bench adaptive: the clip film needs --film FILE")
    main_clip = "film" if args.film else "ippp"
    return args.clips or ([main_clip] if args.quick or args.whole else
                          [main_clip, "pyramid", "screen", "hevc"])


def settle(args):
    """What the options leave open."""
    args.seconds = args.seconds or (20 if args.quick or args.whole else 60)
    args.clips = choose_clips(args)
    args.transports = args.transports or (
        [*adaptive_cases.OFTEN, *adaptive_cases.ONCE,
         *adaptive_cases.FIXED] if args.whole
        else list(adaptive_cases.TRANSPORTS))
    args.go_on = args.go_on or args.whole
    args.command = "./dev bench adaptive " + " ".join(
        ["--whole"] * args.whole + ["--traces DIR"] * bool(args.traces) +
        ["--film FILE"] * bool(args.film) +
        [f"--jobs {args.jobs}", "--page PAGE"])
    args.build = args.build.resolve()
    args.folder = args.build / "bench-adaptive"
    args.folder.mkdir(parents=True, exist_ok=True)
    args.json = args.json or args.folder / (
        "whole.json" if args.whole else "adaptive.json")
    args.chosen = choose_cases(args)


def one_run(spec):
    """For the process of a run."""
    def streamed():
        print(STREAMED, end="", flush=True)

    print(json.dumps(adaptive_run.run(spec, streamed)))


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    args = parse()
    if args.run:
        one_run(json.loads(args.run))
        return
    if args.list:
        for case in choose_cases(args).values():
            print(f"{case.name:30}{case.text}")
        return
    if not args.source:
        choose_cases(args)
        choose_clips(args)
    arguments.checked()
    settle(args)
    try:
        if args.source:
            data = read_results(args.source)
            for title in data["cases"]:
                adaptive_page.print_case(title, data)
        else:
            data = bench(args)
        finish(args, data)
    except (adaptive_clips.ClipError, OSError, ValueError) as error:
        sys.exit(f"bench adaptive: {error}")


if __name__ == "__main__":
    main()
