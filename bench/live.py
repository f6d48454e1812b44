#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Live video over emulated links: TLTCP beside SRT, RIST and the kernel's TCP.

Every run streams a sample in real time between two network namespaces with
linkem between them, so it takes as long as the sample is; a round takes each
transport in turn.  All are measured with the yardstick of ./dev demo: a frame
counts when it, and all that it refers to, was there within the latency
(+ 200 ms) of being sent.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "demo"))
sys.dont_write_bytecode = True

import case  # noqa: E402
import clip  # noqa: E402
import demo  # noqa: E402
import live_cases  # noqa: E402
import live_fair  # noqa: E402
import live_quality  # noqa: E402
import measure  # noqa: E402
import tcp_flows  # noqa: E402

HEADERS = 0.95  # of the link's bits are left to the stream, about


def say(text):
    print(f"bench live: {text}", file=sys.stderr, flush=True)


# --- What can be run here --------------------------------------------------

def why_absent(transport, environment):
    """Why a transport cannot be measured here, or None."""
    elements = {"srt": "srtsink", "srt-tuned": "srtsink", "rist": "ristsink"}
    element = elements.get(transport)
    if element and not demo.has_element(element, environment):
        return f"there is no {element} (Debian: gstreamer1.0-plugins-bad)"
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
    return {"transport": "tcp" if is_tcp else transport, "way": "tun",
            "control": control if is_tcp else None, "link": link,
            "tltcp": args.tltcp and "&" + args.tltcp, "flows": which.flows, "codec": content[0], "clip": path,
            "latency_ms": which.latency_ms, "environment": environment,
            "seconds": args.seconds, "prefix": prefix,
            "linkem": str(args.build / "tools" / "linkem"),
            "dir": str(args.folder / f"{which.name}-{transport}-{seed}")}


def start(spec):
    return subprocess.Popen(
        [*spec["prefix"], sys.executable, os.path.abspath(__file__), "--run",
         json.dumps(spec)],
        stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE)


def run_batch(specs, jobs):
    """Runs some at once, each on a link of its own."""
    results = []
    for at in range(0, len(specs), jobs):
        processes = [start(spec) for spec in specs[at:at + jobs]]
        try:
            results += [demo.collect(p) for p in processes]
        finally:
            for p in processes:
                if p.poll() is None:
                    p.terminate()
                    p.wait()
    return results


def finish(which, spec, result):
    """Adds what needs the pictures, and the bound; drops what is bulky."""
    if "error" in result:
        return result
    frames = result.pop("sent")
    bound = measure.plan_bound(frames, which.share_bps(len(frames) and
                               spec["seconds"]) * HEADERS,
                               spec["latency_ms"] / 1e3)
    whole = result["frames"]["all"]["sent"]
    result["bound"] = min(whole, bound or whole)
    result["of_bound"] = result["frames"]["all"]["decodable"] / result["bound"]
    result.update(live_quality.after_concealment(spec["clip"], frames))
    del result["series"]
    return result


# --- Results ---------------------------------------------------------------

def middle(runs, key):
    values = [r[key] for r in runs if r.get(key) is not None]
    return statistics.median(values) if values else None


def summary(runs):
    """Medians over the seeds."""
    good = [r for r in runs if "error" not in r]
    if not good:
        return {"error": runs[0]["error"]}
    keys = ("of_bound", "freeze", "freezes", "waste", "delay_p50", "delay_p95",
            "delay_p99", "goodput_bps", "psnr", "ssim", "F", "S", "media_bps",
            "held_up")
    out = {key: middle(good, key) for key in keys}
    out["classes"] = {
        kind: {key: statistics.median(r["classes"][kind][key] for r in good)
               for key in ("sent", "on_time", "decodable")}
        for kind in measure.CLASSES}
    out["runs"] = len(good)
    return out


def text(value, form, scale=1):
    return "-" if value is None else format(value * scale, form)


def class_text(row):
    return " ".join(f"{c['decodable']:.0f}/{c['sent']:.0f}"
                    for c in row["classes"].values() if c["sent"])


def print_case(which, rows):
    print(f"\n{which.name}: {which.text}")
    print(f"  {'':16}{'% of bound':>10} {'key ref disp':>22} {'freeze s':>9} "
          f"{'waste %':>7} {'delay ms 50/95/99':>18} {'PSNR':>6} {'SSIM':>6} "
          f"{'F':>5} {'S':>5}")
    for transport, row in rows.items():
        name = live_cases.NAMES[transport]
        if "error" in row:
            print(f"  {name:16}no result: {row['error']}")
            continue
        delays = "/".join(text(row[f"delay_p{p}"], ".0f", 1e3)
                          for p in (50, 95, 99))
        print(f"  {name:16}{text(row['of_bound'], '.1f', 100):>10} "
              f"{class_text(row):>22} {text(row['freeze'], '.2f'):>9} "
              f"{text(row['waste'], '.1f', 100):>7} {delays:>18} "
              f"{text(row['psnr'], '.1f'):>6} {text(row['ssim'], '.3f'):>6} "
              f"{text(row['F'], '.2f'):>5} {text(row['S'], '.2f'):>5}",
              flush=True)


def write(args, results, absent):
    path = args.json or args.folder / "live.json"
    data = {"seconds": args.seconds, "seeds": args.seeds,
            "cores": os.cpu_count(), "load": os.getloadavg()[0],
            "absent": absent, "names": live_cases.NAMES, "cases": results}
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="ascii")
    print(f"\nJSON: {path}")
    image = path.with_suffix(".png")
    for python in (sys.executable, "/usr/bin/python3"):
        done = subprocess.run(
            [python, ROOT / "bench" / "live_chart.py", path, image],
            check=False, capture_output=True)
        if done.returncode == 0:
            print(f"chart: {image}")
            return
    say("no chart: there is no matplotlib (Debian: python3-matplotlib)")


# --- The command -----------------------------------------------------------

def parse():
    p = argparse.ArgumentParser(
        prog="dev bench live", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("cases", nargs="*", metavar="CASE",
                   help="which to run (all); --list names them")
    p.add_argument("--list", action="store_true", help="names the cases")
    p.add_argument("--quick", action="store_true",
                   help="key cases, key transports, 12 s each")
    p.add_argument("--transports", type=lambda t: t.split(","),
                   help="which of " + ",".join(live_cases.NAMES))
    p.add_argument("--seeds", type=int, default=1, help="runs of each")
    p.add_argument("--first-seed", type=int, default=1)
    p.add_argument("--seconds", type=int, help="of each run (30)")
    p.add_argument("--jobs", type=int, default=1,
                   help="runs at once, for machines with many cores")
    p.add_argument("--bulk", type=lambda t: t.split(","), metavar="NAMES",
                   help="only F and S of a greedy flow of TLTCP with these "
                        "controllers, such as auto,cubic,reno")
    p.add_argument("--tltcp", default="", metavar="KEY=VALUE[&...]",
                   help="further properties of tltcpsink")
    p.add_argument("--build", type=pathlib.Path, default=pathlib.Path(
        os.environ.get("PERIGEE_BUILD_DIR", ROOT / "build")))
    p.add_argument("--json", type=pathlib.Path, help="where the results go")
    p.add_argument("--run", help=argparse.SUPPRESS)
    return p.parse_args()


def choose_cases(args):
    wanted = args.cases or (live_cases.QUICK if args.quick else
                            list(live_cases.CASES))
    for name in wanted:
        if name not in live_cases.CASES:
            sys.exit(f"bench live: there is no case {name}; --list names them")
    return [live_cases.CASES[name] for name in wanted]


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


def bench(args):
    environment = demo.environment_for(str(args.build), ["tltcp"])
    prefix = demo.namespace_prefix()
    if prefix is None:
        sys.exit("bench live: no right to make network namespaces; run it as "
                 "root")
    transports, absent = choose_transports(
        args.transports or (live_cases.QUICK_TRANSPORTS if args.quick else
                            list(live_cases.NAMES)), environment)
    results = {}
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    for which in choose_cases(args):
        which.seconds = args.seconds
        specs = [make_spec(args, which, t, seed, environment, prefix)
                 for seed in seeds for t in transports]
        done = [finish(which, s, r) for s, r in
                zip(specs, run_batch(specs, args.jobs))]
        rows = {t: [r for s, r in zip(specs, done)
                    if s["dir"].rsplit("-", 1)[0].endswith(
                        f"{which.name}-{t}")] for t in transports}
        medians = {t: summary(runs) for t, runs in rows.items()}
        print_case(which, medians)
        results[which.name] = {"text": which.text, "latency_ms":
                               which.latency_ms, "rows": medians, "runs": rows}
    write(args, results, absent)


def main():
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
    args.seconds = args.seconds or (12 if args.quick else 30)
    args.folder = args.build / "bench-live"
    args.folder.mkdir(parents=True, exist_ok=True)
    if os.getloadavg()[0] > 1:
        say(f"the machine is busy (load {os.getloadavg()[0]:.1f}); delays may "
            "be longer than they are")
    if args.bulk:
        bench_bulk(args)
    else:
        bench(args)


if __name__ == "__main__":
    main()
