#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Live video over emulated links: TLTCP beside SRT, ristsink of
GStreamer, librist and the kernel's TCP.

Every run streams a sample in real time between two network namespaces with
linkem between them, so it takes as long as the sample is; --jobs makes some at
once, each on a link of its own.  All are measured with the yardstick of ./dev demo: a frame
counts when it, and all that it refers to, was there within the latency
(+ 200 ms) of being sent.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "demo"))
sys.dont_write_bytecode = True

import arguments  # noqa: E402
import case  # noqa: E402
import clip  # noqa: E402
import demo  # noqa: E402
import live_cases  # noqa: E402
import live_fair  # noqa: E402
import live_page  # noqa: E402
import live_runs  # noqa: E402
import live_store  # noqa: E402
import measure  # noqa: E402
import tcp_flows  # noqa: E402


def say(text):
    print(f"bench live: {text}", file=sys.stderr, flush=True)


def clock(seconds):
    return f"{seconds // 3600:.0f} h {seconds % 3600 / 60:.0f} min"


# --- What can be run here --------------------------------------------------

def why_absent(transport, environment):
    """The reason why a transport cannot be measured here, or None."""
    elements = {"srt": "srtsink", "srt-tuned": "srtsink",
                "ristsink": "ristsink"}
    element = elements.get(transport)
    if element and not demo.has_element(element, environment):
        return f"there is no {element} (Debian: gstreamer1.0-plugins-bad)"
    if transport == "librist" and not shutil.which("ristsender"):
        return "there is no ristsender (Debian: rist-tools)"
    control = transport.partition("tcp-")[2]
    if transport.startswith("tcp-") and control not in tcp_flows.controls():
        return f"this kernel has no {control}"
    return None


def choose_transports(wanted, environment):
    chosen, absent = [], {}
    for transport in wanted:
        why = why_absent(transport, environment)
        if why:
            absent[transport] = why
            say(f"no {live_cases.NAMES[transport]}: {why}")
        else:
            chosen.append(transport)
    return chosen, absent


# --- Runs ------------------------------------------------------------------

def make_spec(args, which, transport, seed, environment, prefix):
    link = dict(which.link)
    link["more"] = [*link.get("more", []), "--seed", str(seed)]
    name, _, control = transport.partition("-")
    is_tcp = name == "tcp"
    content = clip.SAMPLES[which.content]
    path = clip.sample(str(args.folder), which.content, args.seconds)
    return {"key": live_store.key(args, which, transport, seed),
            "transport": "tcp" if is_tcp else transport, "way": "tun",
            "control": control if is_tcp else None, "link": link,
            "tltcp": args.tltcp and "&" + args.tltcp, "flows": which.flows,
            "codec": content[0], "clip": path,
            "latency_ms": which.latency_ms, "environment": environment,
            "seconds": args.seconds, "prefix": prefix,
            "linkem": str(args.build / "tools" / "linkem"),
            "dir": str(args.folder / "-".join(
                (*which.name.split("/"), transport, str(seed))))}


def command(spec):
    return demo.command(spec, __file__)


def start(spec):
    return demo.start(command(spec))


# --- Results ---------------------------------------------------------------

def summary(runs):
    """Medians over the seeds."""
    good = [r for r in runs if "error" not in r]
    if not good:
        return {"error": runs[0]["error"]}
    keys = ("of_bound", "beyond_of_bound", "freeze", "freezes", "waste",
            "useless", "delay_p50", "delay_p95",
            "delay_p99", "goodput_bps", "psnr", "ssim", "F", "S", "media_bps",
            "held_up")
    out = {key: measure.median(good, key) for key in keys}
    out["classes"] = {
        kind: {key: statistics.median(r["classes"][kind][key] for r in good)
               for key in ("sent", "bound", "on_time", "decodable")}
        for kind in measure.CLASSES}
    out["runs"] = len(good)
    return out


def collect(which, transports, futures):
    """Waits for the runs of a case, of each transport in turn."""
    runs = {t: [] for t in transports}
    for transport, future in futures:
        runs[transport].append(future.result())
    return {"text": which.text, "latency_ms": which.latency_ms,
            "rows": {t: summary(runs[t]) for t in transports}, "runs": runs}


def draw(path):
    image = path.with_suffix(".png")
    for python in (sys.executable, "/usr/bin/python3"):
        done = subprocess.run(
            [python, ROOT / "bench" / "live_chart.py", path, image],
            check=False, capture_output=True)
        if done.returncode == 0:
            print(f"chart: {image}")
            return
    say("no chart: there is no matplotlib (Debian: python3-matplotlib)")


def write(args, data):
    live_store.write(args.json, data)
    print(f"\nJSON: {args.json}")
    if args.page:
        live_page.write(args.page, data)
        print(f"page: {args.page}")
    draw(args.json)


# --- The command -----------------------------------------------------------

def jobs(word):
    return word if word == "auto" else int(word)


def transports(text):
    names = text.split(",")
    for name in names:
        if name not in live_cases.NAMES:
            raise argparse.ArgumentTypeError(
                f"there is no {name}; valid names are "
                f"{', '.join(live_cases.NAMES)}")
    return names


def parse():
    p = argparse.ArgumentParser(
        prog="dev bench live", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("cases", nargs="*", metavar="CASE[/CONTENT]",
                   help="which to run (all); --list names them; CONTENT: "
                        + ", ".join(clip.SAMPLES))
    p.add_argument("--list", action="store_true", help="names the cases")
    p.add_argument("--quick", action="store_true",
                   help="key cases, key transports, 12 s each")
    p.add_argument("--whole", action="store_true",
                   help="all cases: TLTCP, SRT, ristsink and librist five times, "
                        "the other transports once.  Begun again after it was "
                        "interrupted, it goes on where it was")
    p.add_argument("--go-on", action="store_true",
                   help="makes only the runs that the file of --json has not "
                        "yet, or that another build has made")
    p.add_argument("--transports", type=transports,
                   help="which of " + ",".join(live_cases.NAMES))
    p.add_argument("--seeds", type=int, default=1, help="runs of each")
    p.add_argument("--first-seed", type=int, default=1)
    p.add_argument("--seconds", type=int, help="of each run (30)")
    p.add_argument("--jobs", type=jobs, default=1,
                   help="runs at once, or auto: as many as the idle processors "
                        f"carry, {live_runs.PER_CORE} each (1)")
    p.add_argument("--latency", type=int, metavar="MS",
                   help="of all cases, instead of their own")
    p.add_argument("--bulk", type=lambda t: t.split(","), metavar="NAMES",
                   help="only F and S of a greedy flow of TLTCP with these "
                        "controllers, such as auto,cubic,reno")
    p.add_argument("--tltcp", default="", metavar="KEY=VALUE[&...]",
                   help="further properties of tltcpsink")
    arguments.add_places(p)
    p.add_argument("--page", type=pathlib.Path,
                   help="page whose results are to be replaced, such as "
                        "docs/measurements/live.md")
    p.add_argument("--from", dest="source", type=pathlib.Path, metavar="JSON",
                   nargs="+", help="shows results of before, together, instead "
                   "of running")
    p.add_argument("--keep", action="store_true",
                   help="keeps the logs of every run")
    p.add_argument("--run", help=argparse.SUPPRESS)
    return p.parse_args()


def choose_cases(args):
    wanted = args.cases or (live_cases.QUICK if args.quick else
                            list(live_cases.CASES))
    for word in wanted:
        name, _, content = word.partition("/")
        if name not in live_cases.CASES or (content and
                                            content not in clip.SAMPLES):
            sys.exit(f"bench live: there is no case {word}; --list names them")
    return live_cases.choose(wanted, args.latency)


def bench_bulk(args):
    """Fairness alone, without the limits of a stream."""
    path = clip.sample(str(args.folder), "h264", 30)

    def make(control, congestion):
        which = live_cases.CASES["beside-" + control]
        return {"link": {**which.link, "more": []}, "flows": which.flows,
                "clip": path, "seconds": args.seconds, "bulk": True,
                "congestion": congestion,
                "prefix": demo.namespace_prefix() or [],
                "linkem": str(args.build / "tools" / "linkem"),
                "dir": str(args.folder / f"bulk-{control}-{congestion}")}

    print(f"A greedy flow of TLTCP with each controller beside one flow of the "
          f"kernel's TCP on 4 Mbit/s, {args.seconds} s: F, and what both got")
    live_fair.bench(args, start, make)


def make_samples(args, cases):
    """Before the first run, so that none is disturbed by it."""
    for content in sorted({which.content for which in cases}):
        clip.sample(str(args.folder), content, args.seconds)


def submit(pool, data, which, transport, spec):
    before = live_store.find(data, which, transport, spec["key"])
    return pool.done(before) if before else pool.submit(which, spec)


def run_all(args, data, group, how):
    """Case by case, but the next one's runs fill up what is free."""
    with live_runs.Pool(args.jobs, command, args.keep) as pool:
        futures = [(which, [(t, submit(pool, data, which, t, spec))
                            for t, spec in specs]) for which, specs in group]
        begin, again = time.monotonic(), 0
        for which, of_case in futures:
            case_ = collect(which, how["transports"], of_case)
            live_page.add_case(data, which.name, case_)
            live_page.print_case(which.name, case_)
            live_store.note(data, {
                **how, "held_up": worst_delay(case_),
                "again": pool.again - again,
                "took_s": time.monotonic() - begin})
            begin, again = time.monotonic(), pool.again
            live_store.write(args.json, data)


def worst_delay(case_):
    return max((r["held_up"] for runs in case_["runs"].values() for r in runs
                if "held_up" in r), default=0)


def groups_of(args):
    """Transports, and how many runs of each."""
    if args.whole:
        return live_cases.WHOLE
    return ((args.transports or (live_cases.QUICK_TRANSPORTS if args.quick else
                                 list(live_cases.NAMES)), args.seeds),)


def plan(args, environment, prefix, idle):
    """The runs to make: ((case, ((transport, spec)...))...), and how."""
    cases = choose_cases(args)
    make_samples(args, cases)
    for wanted, count in groups_of(args):
        transports, absent = choose_transports(wanted, environment)
        seeds = range(args.first_seed, args.first_seed + count)
        group = [(which, [(t, make_spec(args, which, t, seed, environment,
                                        prefix))
                          for seed in seeds for t in transports])
                 for which in cases]
        yield group, {"transports": transports, "absent": absent,
                      "seeds": count, "seconds": args.seconds,
                      "cores": os.cpu_count(), "idle": idle,
                      "jobs": args.jobs}


def tell_how_long(args, data, groups):
    runs = [live_store.find(data, which, t, spec["key"])
            for group, _ in groups for which, specs in group
            for t, spec in specs]
    left = runs.count(None)
    there = f", {len(runs) - left} more are there already" \
        if left < len(runs) else ""
    say(f"{left} runs{there}, {args.jobs} at a time, about "
        + clock(left * (args.seconds + live_runs.OVERHEAD_S) / args.jobs))


def bench(args):
    environment = demo.environment_for(str(args.build), ["tltcp"])
    prefix = demo.namespace_prefix()
    if prefix is None:
        sys.exit("bench live: no right to make network namespaces; run it as "
                 "root")
    idle = live_runs.idle_processors()
    if args.jobs == "auto":
        args.jobs = max(1, round(idle * live_runs.PER_CORE))
    if idle < os.cpu_count() * 0.8:
        say(f"the machine is busy ({idle:.1f} of {os.cpu_count()} processors "
            "are idle); delays may be longer than they are")
    data = live_store.read(args.json) if args.go_on else live_store.empty()
    groups = list(plan(args, environment, prefix, idle))
    tell_how_long(args, data, groups)
    begin = time.monotonic()
    for group, how in groups:
        run_all(args, data, group, how)
    write(args, data)
    print(f"took {clock(time.monotonic() - begin)}")


def show(args):
    data = live_page.merge([json.loads(path.read_text(encoding="ascii"))
                            for path in args.source])
    for name, case_ in data["cases"].items():
        live_page.print_case(name, case_)
    write(args, data)


def main():
    # So that what was started ends too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    args = parse()
    if args.run:
        spec = json.loads(args.run)
        run = live_fair.run if spec.get("bulk") else case.run
        print(json.dumps(run(spec)))
        return
    if args.list:
        for which in live_cases.CASES.values():
            print(f"{which.name:14}{which.text}")
        return
    if not args.source:
        choose_cases(args)
    arguments.checked()
    args.seconds = args.seconds or (12 if args.quick else 30)
    args.folder = args.build / "bench-live"
    args.folder.mkdir(parents=True, exist_ok=True)
    args.go_on = args.go_on or args.whole
    args.json = args.json or args.folder / (
        "whole.json" if args.whole else "live.json")
    if args.source:
        show(args)
        return
    if args.bulk:
        bench_bulk(args)
    else:
        bench(args)


if __name__ == "__main__":
    main()
