#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Streams a video over emulated links and shows what arrives.

Started by ./dev demo [FILE]; PERIGEE_BUILD_DIR names the build.  The same video
goes through tltcpsink and tltcpsrc over an ample link and over one that carries
about 70 % of it, and over that small link through SRT and TCP as well.  Every
run has a link of its own, so all go on at the same time.

Then a second part: a link whose rate changes and that a TCP flow shares for its
whole length, with a live encoder: TLTCP, which steers it, beside SRT.
"""
import argparse
import json
import math
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True  # leaves the tree as it is

import case  # noqa: E402
import clip  # noqa: E402
import measure  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
LATENCY_MS = 200
SAMPLE_S = 20
ADAPTIVE_S = 20
RTT_MS = 40
QUEUE_S = 0.2  # of the small link's rate
SMALL, AMPLE = 0.71, 2.5
HELD_UP_S = 0.1  # by a busy machine: more spoils the numbers
NAMES = {"tltcp": "TLTCP", "srt": "SRT", "tcp": "TCP (kernel)",
         "reliable": "TLTCP without deadlines (stands in for TCP)"}


def say(text):
    print(f"demo: {text}", file=sys.stderr, flush=True)


def fail(text):
    say(text)
    sys.exit(1)


def has_element(name, environment):
    return subprocess.run(["gst-inspect-1.0", "--exists", name], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env=dict(os.environ, **environment)).returncode == 0


# --- Namespaces for the kernel's TCP ---------------------------------------

def namespace_prefix():
    """How to get the right to make network namespaces: (), a command to put in
    front, or None."""
    try:
        with open("/dev/net/tun", "rb"):
            pass
    except OSError:
        return None
    inner = ("mount -t tmpfs none /run && ip netns add perigee-probe && "
             "ip netns delete perigee-probe")
    if os.geteuid() == 0:
        probe, prefix = ["ip", "netns", "list"], []
    else:
        probe = ["unshare", "-Urnm", "sh", "-c", inner]
        prefix = ["unshare", "-Urnm", "sh", "-c",
                  'mount -t tmpfs none /run && exec "$@"', "sh"]
    try:
        done = subprocess.run(probe, check=False, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        return None
    return prefix if done.returncode == 0 else None


# --- Runs ------------------------------------------------------------------

def environment_for(build, transports):
    wanted = ["tools/demo/libgstframelog.so"]
    if "tltcp" in transports or "tcp" in transports:
        wanted.append("gst-plugins/libgsttltcp.so")
    for name in wanted:
        if not os.path.exists(os.path.join(build, name)):
            fail(f"{name} is not in {build}; ./dev build makes it")
    folders = [os.path.dirname(os.path.join(build, name)) for name in wanted]
    if os.environ.get("GST_PLUGIN_PATH"):
        folders.append(os.environ["GST_PLUGIN_PATH"])
    return {"GST_PLUGIN_PATH": os.pathsep.join(folders),
            "GST_REGISTRY": os.path.join(build, "demo", "registry.bin")}


def choose_runs(transports, environment, prefix):
    runs = []
    if "tltcp" in transports:
        runs += [("tltcp", "ample"), ("tltcp", "small")]
    if "srt" in transports:
        if has_element("srtsink", environment):
            runs.append(("srt", "small"))
        else:
            say("there is no srtsink here (gstreamer1.0-plugins-bad), so no "
                "SRT")
    if "tcp" in transports:
        if prefix is None:
            say("no right to make network namespaces, so the kernel's TCP "
                "cannot be put on the link; TLTCP without deadlines stands in "
                "for it")
        runs.append(("reliable" if prefix is None else "tcp", "small"))
    return runs


def choose_latency(asked, path, small):
    """No transport can have a frame there sooner than the link carries it."""
    seconds = clip.largest_frame(path) * 8 / small
    if asked is not None or seconds <= LATENCY_MS / 1e3 + measure.GRACE / 2:
        return LATENCY_MS if asked is None else asked
    latency = math.ceil(seconds * 12.5 + 1) * 100
    say(f"the largest frame alone takes {seconds * 1e3:.0f} ms on the small "
        f"link, so the latency is {latency} ms for all")
    return latency


def make_specs(options, build, path, rate):
    small, ample = (round(rate * share, -4) for share in (SMALL, AMPLE))
    queue = int(small * QUEUE_S / 8)
    latency = choose_latency(options.latency, path, small)
    links = {name: {"name": name, "rate_bps": bps, "rtt_ms": RTT_MS,
                    "queue_bytes": queue}
             for name, bps in (("ample", ample), ("small", small))}
    environment = environment_for(build, options.transports)
    prefix = namespace_prefix()
    runs = choose_runs(options.transports, environment, prefix)
    for transport, link in runs:
        yield {"transport": transport, "link": links[link], "clip": path,
               "latency_ms": latency, "environment": environment,
               "seconds": clip.duration(path),
               "linkem": os.path.join(build, "tools", "linkem"),
               "dir": os.path.join(build, "demo", f"{transport}-{link}"),
               "prefix": prefix if transport == "tcp" else []}


def command(spec, script=__file__):
    return [*spec["prefix"], sys.executable, os.path.abspath(script), "--run",
            json.dumps(spec)]


def start(arguments):
    """Each run is a process of its own, so that they do not hold up each
    other's clocks."""
    return subprocess.Popen(arguments, stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE)


def collect(process):
    out, _ = process.communicate()
    try:
        return json.loads(out)
    except ValueError:
        return {"error": "the run ended without a result"}


def run_all(specs):
    processes = []
    try:
        processes = [start(command(spec)) for spec in specs]
        return [collect(p) for p in processes]
    finally:
        for p in processes:
            if p.poll() is None:
                p.send_signal(signal.SIGINT)
                p.wait()


# --- The table -------------------------------------------------------------

def describe_link(link, rate):
    return (f"{link['name']} link: {link['rate_bps'] / 1e6:.2f} Mbit/s "
            f"({link['rate_bps'] / rate * 100:.0f} % of the stream), RTT "
            f"{link['rtt_ms']} ms, drop-tail queue of "
            f"{link['queue_bytes'] / 1000:.0f} kB")


def milliseconds(seconds):
    return "-" if seconds is None else f"{seconds * 1e3:.0f} ms"


def print_result(spec, result):
    print(f"  {NAMES[spec['transport']]}")
    if "error" in result:
        print(f"    no result: {result['error']}")
        return
    print("    frames    sent  on time     late  dropped  decodable")
    for kind, row in result["frames"].items():
        if row["sent"]:
            print(f"    {kind:6} {row['sent']:7} {row['on_time']:8} "
                  f"{row['late']:8} {row['dropped']:8} {row['decodable']:10}")
    all_frames = result["frames"]["all"]
    rtt = ["-" if r is None else f"{r:.0f} ms"
           for r in (result["rtt_p50"], result["rtt_p95"])]
    best = result["at_best"]
    print(f"    {all_frames['decodable'] / all_frames['sent'] * 100:.1f} % of "
          f"the pictures shown"
          + (f", {best / all_frames['sent'] * 100:.1f} % could be at best"
             if best else "") + f"; longest freeze {result['freeze']:.1f} s; "
          f"goodput {result['goodput_bps'] / 1e6:.2f} Mbit/s; "
          f"RTT {rtt[0]} (95 %: {rtt[1]}); "
          f"delay of frames {milliseconds(result['delay_p50'])} "
          f"(95 %: {milliseconds(result['delay_p95'])})")


def warn_if_busy(results):
    worst = max((r["held_up"] for r in results if "held_up" in r), default=0)
    if worst > HELD_UP_S:
        say(f"this machine was too busy to measure well: packets were held up "
            f"by as much as {worst * 1e3:.0f} ms beyond what the links did; "
            "try again when it is idle")


def add_bound(spec, result):
    """What any transport could show at best."""
    if "error" not in result:
        best = measure.at_best(result.pop("sent"), spec["link"]["rate_bps"],
                               spec["latency_ms"] / 1e3)
        result["at_best"] = sum(best.values())


def print_table(specs, results, rate):
    link = None
    for spec, result in zip(specs, results):
        if spec["link"]["name"] != link:
            link = spec["link"]["name"]
            print("\n" + describe_link(spec["link"], rate))
        print_result(spec, result)
    late = specs[0]["latency_ms"] + measure.GRACE * 1e3
    print(f"""
on time: every byte arrived at most {late:.0f} ms after it was sent, {specs[0]['latency_ms']} ms of
which are the latency; late: every byte, but later; dropped: the rest; decodable:
on time, as is everything that the frame refers to.
goodput: bits of decodable frames; RTT: of the link with its queue.""")


def paint(script, result, image):
    """By the first Python here that has matplotlib: Debian's package belongs
    to Debian's Python, whichever comes first in PATH."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import matplotlib"], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0:
            if subprocess.run([python, os.path.join(HERE, script), result,
                               image], check=False).returncode == 0:
                print(f"picture: {image}")
            return
    say("no picture: there is no matplotlib (Debian: python3-matplotlib)")


def draw(folder, data):
    result = os.path.join(folder, "result.json")
    with open(result, "w", encoding="ascii") as file:
        json.dump(data, file, indent=1)
    print(f"\nnumbers: {result}")
    if not all("error" in run["result"] for run in data["runs"]):
        paint("picture.py", result, os.path.join(folder, "demo.png"))


# --- The second part -------------------------------------------------------

def show_adaptive(build, film):
    """By the benchmark of adaptive streams, for which it is a case like others;
    returns whether all went well."""
    bench = os.path.join(HERE, "..", "..", "bench", "adaptive.py")
    result = os.path.join(build, "demo", "adaptive.json")
    if not os.path.exists(os.path.join(build, "bench", "bench_adaptive")):
        say("no second part: bench_adaptive is not built")
        return True
    if namespace_prefix() is None:
        say("no second part: no right to make network namespaces")
        return True
    say(f"{ADAPTIVE_S} s of a live encoder over a link that changes and is "
        "shared, three times at once")
    done = subprocess.run(
        [sys.executable, bench, "demo", *(["--film", film] if film else []),
         "--transports", "tltcp-auto,srt-rtt,srt", "--seconds",
         str(ADAPTIVE_S), "--jobs", "3", "--no-chart", "--json", result,
         "--build", build],
        check=False, text=True, capture_output=True)
    if done.returncode:
        say(f"no second part: {(done.stderr.splitlines() or ['?'])[-1]}")
        return False
    with open(result, encoding="ascii") as file:
        data = json.load(file)
    good = print_adaptive(data)
    print(f"\nnumbers: {result}")
    paint("adaptive_picture.py", result,
          os.path.join(build, "demo", "adaptive.png"))
    return good


def print_adaptive(data):
    """One case; returns whether every transport has a result."""
    case_ = next(iter(data["cases"].values()))
    print(f"\nA live encoder on a link of {case_['text'].partition(';')[0]}")
    print("                        in time  freeze  PSNR     stream       TCP")
    rows = [(name, case_["rows"][name]) for name in data["names"]]
    for name, row in rows:
        if "error" in row:
            print(f"  {data['names'][name]:22}no result: {row['error']}")
            continue
        run = case_["runs"][name][0]
        print(f"  {data['names'][name]:22}{row['within']['400'] * 100:5.1f} %"
              f"{row['freeze']:6.1f} s{run['psnr'] or 0:6.1f} dB"
              f"{run['media_bps'] / 1e6:5.2f} Mbit/s"
              f"{sum(run['tcp_bps']) / 1e6:5.2f} Mbit/s")
    warn_if_busy([run for runs in case_["runs"].values() for run in runs])
    print(f"""
in time: of the coded pictures, those that could be decoded within \
{data['latency_ms']} ms of their
capture; freeze: the longest time that one picture stood on the screen; PSNR: of the
screen, compared with what was captured.""")
    return all("error" not in row for _, row in rows)


def bit_rate(path):
    """Of the video as the links will carry it, without any header."""
    seconds = clip.duration(path)
    return os.path.getsize(path) * 8 / seconds if seconds else 0


def parse():
    parser = argparse.ArgumentParser(prog="dev demo", description=__doc__)
    parser.add_argument("file", nargs="?", help="any video")
    parser.add_argument("--latency", type=int,
                        help=f"milliseconds ({LATENCY_MS}, more for large "
                        "frames)")
    parser.add_argument("--shortest", type=float, default=15,
                        help="seconds; shorter films are repeated "
                        "(%(default)s)")
    parser.add_argument("--transports", type=lambda text: text.split(","),
                        default=["tltcp", "srt", "tcp"],
                        help="which of tltcp,srt,tcp (all)")
    parser.add_argument("--part", choices=("1", "2"),
                        help="only the fixed stream (1), or the encoder that "
                        "follows (2)")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    return parser.parse_args()


def prepare(options, folder):
    try:
        if options.file:
            return clip.from_file(options.file, folder, options.shortest,
                                  say)
        return clip.sample(folder, seconds=SAMPLE_S)
    except clip.ClipError as error:
        return fail(str(error))


def main():
    options = parse()
    if options.run:
        print(json.dumps(case.run(json.loads(options.run))))
        return
    build = os.environ.get("PERIGEE_BUILD_DIR")
    if not build:
        fail("PERIGEE_BUILD_DIR is not set; start this by ./dev demo")
    folder = os.path.join(build, "demo")
    os.makedirs(folder, exist_ok=True)
    good = options.part == "2" or show_fixed(options, build, folder)
    if options.part != "1":
        sys.stdout.flush()
        good &= show_adaptive(build, options.file)
    sys.exit(not good)


def show_fixed(options, build, folder):
    """The first part; returns whether all went well."""
    path = prepare(options, folder)
    rate = bit_rate(path)
    specs = list(make_specs(options, build, path, rate))
    say(f"streaming {clip.duration(path):.0f} s of video at "
        f"{rate / 1e6:.2f} Mbit/s, {len(specs)} times at once")
    results = run_all(specs)
    for spec, result in zip(specs, results):
        add_bound(spec, result)
    print_table(specs, results, rate)
    warn_if_busy(results)
    data = {"names": NAMES, "rate_bps": rate, "latency_ms": specs[0]["latency_ms"],
            "runs": [{"spec": s, "result": r}
                     for s, r in zip(specs, results)]}
    draw(folder, data)
    return not any("error" in r for r in results)


if __name__ == "__main__":
    main()
