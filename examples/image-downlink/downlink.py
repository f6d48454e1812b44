#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""A satellite pass: images come down a fast, lossy link with a thin way back.

A node in orbit offers images, `linkem` plays the link, a ground station fetches
them with `saratoga mirror`.  The link appears, dies in the middle, comes back.
At the end every image is compared with the one in orbit.
"""
import argparse
import contextlib
import csv
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # leaves the tree as it is

import images  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 60  # seconds beyond what the pass should take
LOG_S = 0.05
ONE_WAY = "25ms"
LOSS = "0.01%"
DOWN, UP = "100mbit", "38.4kbit"
APPEARS, DIES, RETURNS = 0.4, 2.5, 3.7  # seconds into the pass


class PassError(Exception):
    """A description of the error, as a sentence."""


def tool(name):
    """A program of the build, or an installed one."""
    build = os.environ.get("PERIGEE_BUILD_DIR", HERE.parents[1] / "build")
    path = pathlib.Path(build) / "tools" / name
    found = str(path) if path.exists() else shutil.which(name)
    if not found:
        raise PassError(f"there is no {name}; run ./dev build first")
    return found


def bits(text):
    for unit, factor in (("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3)):
        if text.endswith(unit):
            return float(text[:-len(unit)]) * factor
    return float(text)


class Pass:
    """The processes of a pass; `with` ends them."""

    def __init__(self, orbit, ground, work, options):
        self.orbit, self.ground, self.work = orbit, ground, work
        self.options = options
        self.running = []
        self.arrived = {}  # name: seconds into the pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for process in reversed(self.running):
            self.end(process)

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
        if process.poll() is None:
            process.kill()
            process.wait()

    def start(self, name, *arguments):
        log = open(self.work / f"{name}{len(self.running)}.log", "w+",
                   encoding="utf-8")
        process = subprocess.Popen(
            [tool(name), *map(str, arguments)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=log)
        process.log = log
        self.running.append(process)
        return process

    def complain(self, process, what):
        process.log.seek(0)
        said = process.log.read().strip().splitlines()
        raise PassError(f"{what}: {said[-1] if said else 'no reason given'}")

    def port(self, process, file):
        """The port that a program wrote to a file once it listened."""
        end = time.monotonic() + PATIENCE
        while not file.exists() or not file.read_text().endswith("\n"):
            if process.poll() is not None or time.monotonic() > end:
                self.complain(process, "a program does not start")
            time.sleep(0.005)
        return int(file.read_text().split()[0].rsplit(":", 1)[1])

    def start_satellite(self):
        file = self.work / "satellite"
        process = self.start(
            "saratoga", "serve", "--root", self.orbit, "--rate",
            self.options.down, "--bind", "127.0.0.1:0", "--port-file", file)
        return self.port(process, file)

    def start_link(self, target):
        file = self.work / "link"
        common = f"delay={ONE_WAY},loss={LOSS},carrier=off"
        self.link = self.start(
            "linkem", "--down", f"rate={self.options.down},{common}",
            "--up", f"rate={self.options.up},{common}",
            "--at", f"{APPEARS}s,carrier=on", "--at", f"{DIES}s,carrier=off",
            "--at", f"{RETURNS}s,carrier=on", "--seed", "1",
            "--log", self.work / "link.csv",
            "--log-interval", f"{LOG_S * 1000:.0f}ms",
            "--port-file", file, "127.0.0.1:0", f"127.0.0.1:{target}")
        port = self.port(self.link, file)
        # The link's clock began when it listened, not when that was seen.
        self.began = time.monotonic() - (time.time() - file.stat().st_mtime)
        return port

    def now(self):
        return time.monotonic() - self.began

    def watch(self, station, expected):
        """Notes when images get their names, until the station is done."""
        limit = RETURNS + PATIENCE + expected * 8 / bits(self.options.down)
        while station.poll() is None:
            self.look()
            if self.now() > limit:
                raise PassError("the pass takes too long")
            time.sleep(0.01)
        self.look()
        if station.returncode != 0:
            self.complain(station, "the ground station failed")

    def look(self):
        for path in self.ground.rglob("*"):
            if path.is_file() and not path.name.startswith(".") and \
                    path not in self.arrived:
                self.arrived[path] = self.now()

    def run(self, expected):
        port = self.start_link(self.start_satellite())
        report = self.work / "station.json"
        station = self.start(
            "saratoga", "mirror", "--once", "--uplink", self.options.up,
            "--interval", "0.2", "--set", "retry=200ms,tries=5", "--bind",
            "127.0.0.1:0",
            "--json", report, f"saratoga://127.0.0.1:{port}/", self.ground)
        self.watch(station, expected)
        self.end(self.link)  # writes the rest of its log
        return json.loads(report.read_text(encoding="utf-8"))


# --- What became of it ------------------------------------------------------

def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def verified(orbit, ground):
    """How many images there are, and how many of them came as they are."""
    names = [p.relative_to(orbit) for p in orbit.rglob("*") if p.is_file()]
    same = [n for n in names if (ground / n).is_file() and
            digest(orbit / n) == digest(ground / n)]
    return len(names), len(same)


def overlap(start, end, spans):
    return sum(max(0.0, min(end, b) - max(start, a)) for a, b in spans)


def read_log(path, direction):
    """(time, bytes carried so far) of the link."""
    with open(path, encoding="ascii") as file:
        return [(float(row["seconds"]), int(row["delivered_bytes"]))
                for row in csv.DictReader(file)
                if row["direction"] == direction]


def rates(log, bps):
    """Use of the link between two lines of its log, as a share of its rate."""
    return [0.0] + [(b[1] - a[1]) * 8 / ((b[0] - a[0]) * bps)
                    for a, b in zip(log, log[1:])]


def measure(flight):
    """The numbers and series of a pass, up to its last image."""
    end = max(flight.arrived.values())
    down_bps, up_bps = bits(flight.options.down), bits(flight.options.up)
    no_link = [(0, APPEARS), (DIES, RETURNS)]
    no_link = [(a, min(b, end)) for a, b in no_link if a < end]
    down, up = ([e for e in read_log(flight.work / "link.csv", d)
                 if e[0] <= end + LOG_S] for d in ("down", "up"))
    order = sorted(flight.arrived, key=flight.arrived.get)
    usable = end - overlap(0, end, no_link)
    size = sum(p.stat().st_size for p in order)
    return {
        "end": end, "usable": usable, "bytes": size, "no_link": no_link,
        "down_bps": down_bps, "up_bps": up_bps,
        "time": [t for t, _ in down],
        "carried": [b for _, b in down],
        "capacity": [(t - overlap(0, t, no_link)) * down_bps / 8
                     for t, _ in down],
        "down_use": rates(down, down_bps), "up_use": rates(up, up_bps),
        "down_share": down[-1][1] * 8 / (usable * down_bps),
        "up_share": up[-1][1] * 8 / (usable * up_bps),
        "data_share": size * 8 / (usable * down_bps),
        "arrived_at": [flight.arrived[p] for p in order],
        "arrived_bytes": [p.stat().st_size for p in order]}


def tell(data, report, count, same):
    files = report.get("files", [report])
    packets = sum(f["packets"] for f in files)
    print(f"images     {same} of {count} verified, {data['bytes'] / 1e6:.1f} "
          f"MB, {packets} packets, {sum(f['holes_reported'] for f in files)} "
          "holes reported")
    print(f"pass       {data['end']:.2f} s up to the last image, with a link "
          f"for {data['usable']:.2f} s")
    print(f"downlink   {data['down_share'] * 100:.1f} % of "
          f"{data['down_bps'] / 1e6:g} Mbit/s used while there was a link; "
          f"{data['data_share'] * 100:.1f} % by what is in the images")
    print(f"uplink     {data['up_share'] * 100:.1f} % of "
          f"{data['up_bps'] / 1e3:g} kbit/s used")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path,
                        help="images to send; else some are made")
    parser.add_argument("--count", type=int, default=16,
                        help="of images to make (%(default)s, 3.7 MB each)")
    parser.add_argument("--width", type=int, default=images.WIDTH,
                        help="of images to make, pixels (%(default)s)")
    parser.add_argument("--down", default=DOWN,
                        help="rate of the downlink (%(default)s)")
    parser.add_argument("--up", default=UP,
                        help="rate of the uplink (%(default)s)")
    parser.add_argument("--output", type=pathlib.Path,
                        help="where images and picture go (build/downlink)")
    return parser.parse_args()


def prepare(options, work):
    """The folder of the satellite, and how much is in it."""
    orbit = options.folder
    if orbit is None:
        orbit = work / "orbit"
        orbit.mkdir()
        print("downlink: making the images", file=sys.stderr)
        images.make(orbit, options.count, options.width,
                    options.width * images.HEIGHT // images.WIDTH)
    elif not orbit.is_dir():
        raise PassError(f"{orbit} is no folder")
    size = sum(p.stat().st_size for p in orbit.rglob("*") if p.is_file())
    if size == 0:
        raise PassError(f"there is nothing in {orbit}")
    return orbit, size


def fly(options, work):
    output = options.output or pathlib.Path(os.environ.get(
        "PERIGEE_BUILD_DIR", HERE.parents[1] / "build")) / "downlink"
    ground = output / "images"
    shutil.rmtree(ground, ignore_errors=True)
    ground.mkdir(parents=True)
    orbit, size = prepare(options, work)
    print(f"downlink: a pass with {size / 1e6:.0f} MB to fetch; the link "
          f"appears after {APPEARS} s and is gone from {DIES} to {RETURNS} s",
          file=sys.stderr)
    with Pass(orbit, ground, work, options) as flight:
        report = flight.run(size)
        data = measure(flight)
    count, same = verified(orbit, ground)
    tell(data, report, count, same)
    with open(output / "pass.json", "w", encoding="ascii") as file:
        json.dump({"images": count, "verified": same, **data}, file, indent=1)
    try:
        import picture  # pylint: disable=import-outside-toplevel
        picture.draw(output / "pass.png", data, f"{count} images over a "
                     f"{options.down} link with {options.up} back")
        print(f"picture    {output / 'pass.png'}")
    except ImportError:
        print("picture    none: there is no matplotlib for Python here")
    if same != count:
        raise PassError(f"{count - same} images are missing or wrong")


def main():
    options = arguments()
    try:
        with tempfile.TemporaryDirectory() as work:
            fly(options, pathlib.Path(work))
    except (PassError, images.ImagesError) as error:
        sys.exit(f"downlink: {error}")


if __name__ == "__main__":
    main()
