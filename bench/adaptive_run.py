# SPDX-License-Identifier: MPL-2.0
"""One run of ./dev bench adaptive: streams over a link in real time."""
import csv
import json
import math
import os
import shutil
import subprocess
import time

import adaptive_cases
import adaptive_judge
import adaptive_quality
import adaptive_webrtc
import case
import devtools
import measure
import tcp_flows

SETTLE = 10  # s after which two streams are to share
WARM_UP = 5  # s after which the link is to be used


def source(spec, stream):
    """Captures in real time; an encoder that is held up misses pictures, as a
    camera's would."""
    return (f"filesrc location={spec['clip']} blocksize="
            f"{adaptive_judge.PICTURE} ! rawvideoparse format=i420 "
            f"width={adaptive_judge.WIDTH} height={adaptive_judge.HEIGHT} "
            f"framerate={adaptive_judge.RATE}/1 ! clocksync ! framelog "
            f"location={stream['dir']}/raw.csv ! queue leaky=downstream "
            "max-size-buffers=4 max-size-bytes=0 max-size-time=0 ! "
            f"{spec['encoder']} ! framelog location={stream['dir']}/sent.csv "
            f"record={stream['dir']}/sent.es")


def linkem_command(spec, files):
    up = spec["up"].format(trace=files, part=spec["part"])
    command = [spec["linkem"], "-q", "--delay", f"{spec['rtt_ms'] / 2}ms",
               "--up", up, "--seed", str(spec["seed"])]
    if spec["down"]:
        command += ["--down", spec["down"]]
    for change in spec["at"]:
        command += ["--at", shifted(change, spec)]
    return [*command, "--json", os.path.join(spec["dir"], "link.json"),
            "--log", os.path.join(spec["dir"], "link.csv"),
            "--log-interval", "100ms"]


def shifted(change, spec):
    """Changes count from the stream's start: about so long after linkem's."""
    at, _, rest = change.partition(",")
    head = tcp_flows.HEAD_START if spec["flows"] else 0
    return f"{float(at.rstrip('s')) + 1 + head}s,{rest}"


def stream_of(spec, number):
    folder = os.path.join(spec["dir"], f"stream{number}")
    os.makedirs(folder)
    return {"dir": folder, "host": "10.77.0.2", "port": 5002 + 2 * number,
            "local": 6002 + 2 * number}


def start_link(streams):
    """The link, and the flows that are there first."""
    spec = streams.spec
    streams.began = time.monotonic()  # 0 of linkem's log, nearly
    streams.way.start_link(linkem_command(spec, spec["trace"]))
    tcp_flows.start(spec, streams.way, streams.processes, case.wait_for)


class Streams:
    """All streams of a run."""

    def __init__(self, spec, processes):
        self.spec, self.processes = spec, processes
        self.transport = adaptive_cases.TRANSPORTS[spec["transport"]]
        self.way = case.Tun(spec, processes)
        self.streams = [stream_of(spec, n) for n in range(spec["streams"])]


    def launch(self, number, prefix, text):
        words = adaptive_cases.fill(text, self.spec, self.streams[number])
        return self.processes.start(f"receiver{number}", [
            *prefix, "gst-launch-1.0", *words.split()])

    def helpers(self, number, sending):
        prefix = self.way.prefix_send if sending else self.way.prefix_receive
        for at_sender, *words in self.transport.helpers:
            if at_sender == sending:
                process = self.processes.start(
                    f"{words[0]}{number}",
                    [*prefix, *(adaptive_cases.fill(
                        w, self.spec, self.streams[number]) for w in words)])
                port = self.streams[number]["local" if sending else "port"]
                case.wait_for(lambda p=process, n=port: case.is_bound(p, n),
                              self.processes, words[0])

    def receive(self, number):
        stream = self.streams[number]
        receiver = self.launch(number, self.way.prefix_receive,
                               self.transport.receive)
        port = stream["local" if self.transport.helpers else "port"]
        case.wait_for(lambda: case.is_bound(receiver, port), self.processes,
                      "the receiver")
        self.helpers(number, False)
        return receiver

    def send(self, number):
        spec, stream = self.spec, self.streams[number]
        self.helpers(number, True)
        text = source(spec, stream) + " ! " + adaptive_cases.fill(
            self.transport.send, spec, stream)
        return self.processes.start(f"sender{number}", [
            *self.way.prefix_send, spec["program"], self.transport.follow,
            spec["property"], str(spec["unit"]), str(adaptive_cases.LEAST),
            str(spec["start"]), str(adaptive_cases.MOST),
            str(spec["latency_ms"]), text])

    def run(self):
        start_link(self)
        numbers = range(len(self.streams))
        receivers = [self.receive(n) for n in numbers]
        senders = [self.send(n) for n in numbers]
        end = time.monotonic() + self.spec["seconds"] * 1.5 + 15
        while time.monotonic() < end and any(s.poll() is None
                                             for s in senders):
            time.sleep(0.05)
        self.processes.check()
        time.sleep(1 + (self.spec["latency_ms"] + self.spec["rtt_ms"]) / 1e3)
        for process in (*senders, *receivers, self.way.link):
            self.processes.end(process)

    # --- What came of it ---

    def received(self, number):
        folder = self.streams[number]["dir"]
        log = os.path.join(folder, "received.csv")
        if not os.path.exists(log):
            return []
        if self.transport.ts:
            return list(measure.received_ts(
                log, os.path.join(folder, "received.ts"), self.spec["codec"]))
        return list(measure.received_frames(log))

    def judge(self, number):
        spec, folder = self.spec, self.streams[number]["dir"]
        result, frames, numbers = adaptive_judge.judge(
            os.path.join(folder, "raw.csv"), os.path.join(folder, "sent.csv"),
            self.received(number))
        if spec["quality"]:
            result.update(adaptive_quality.of_stream(
                os.path.join(folder, "sent.es"), spec["codec"], spec["clip"],
                frames, numbers))
        result["rates"] = rates(
            os.path.join(spec["dir"], f"sender{number}.log"),
            min(f["captured"] for f in frames))
        return result, frames

    def samples(self, number):
        """(time, bytes so far) at the receiver."""
        return tcp_flows.media_samples(os.path.join(
            self.streams[number]["dir"], "received.csv"))

    def count(self):
        return len(self.streams)


def rates(path, begin):
    """(s after the first capture, bit/s) that the encoder was set to."""
    found = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if len(words) == 2 and words[0].isdigit():
                found.append((round(int(words[0]) * 1e-9 - begin, 3),
                              float(words[1])))
    return found


def link_rows(path):
    """(s, capacity in bit/s, bytes carried so far) of the way there, from when
    anything came until nothing came any more."""
    rows = []
    with open(path, newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            if row["direction"] == "up" and row["transit_ms"]:
                rows.append((float(row["seconds"]), float(row["rate_bps"]),
                             int(row["delivered_bytes"])))
    busy = [i for i in range(1, len(rows)) if rows[i][2] > rows[i - 1][2]]
    if not busy:
        raise case.CaseError("the link carried nothing")
    return rows[busy[0] - 1:busy[-1] + 1]


def link_steps(rows, begin=0):
    """For charts: s after `begin`, capacity, what was carried, bit/s."""
    return [(round(b[0] - begin, 3), b[1],
             (b[2] - a[2]) * 8 / max(1e-9, b[0] - a[0]))
            for a, b in zip(rows, rows[1:])]


def link_use(rows, ceiling=math.inf, warm_up=0):
    """Share of what the link could carry, in each second at most `ceiling`
    bit/s, that it did carry, from `warm_up` s on."""
    begin = rows[0][0] + warm_up
    could, did = {}, 0
    for a, b in zip(rows, rows[1:]):
        if a[0] >= begin:
            second = int(b[0] - begin)
            bits, length = could.get(second, (0, 0))
            could[second] = (bits + (b[0] - a[0]) * b[1], length + b[0] - a[0])
            did += (b[2] - a[2]) * 8
    most = sum(min(bits, ceiling * length) for bits, length in could.values())
    return did / most if most else None


def share(results):
    """Of two streams: the lesser over the greater, from SETTLE on."""
    totals = [sum(size for at, delay, size in r["series"]
                  if at >= min(SETTLE, r["series"][-1][0] / 2)
                  and delay is not None) for r in results]
    return min(totals) / max(totals) if max(totals) else None


def evaluate(streams):
    spec = streams.spec
    judged = [streams.judge(n) for n in range(streams.count())]
    results = [r for r, _ in judged]
    worst = min(results, key=lambda r: r["within"]["400"])
    rows = link_rows(os.path.join(spec["dir"], "link.csv"))
    ceiling = math.inf if spec["flows"] else \
        adaptive_cases.MOST * spec["streams"]
    captured = min(f["captured"] for f in judged[0][1])
    out = {**worst, "link": link_steps(rows, captured - streams.began),
           "use": link_use(rows, ceiling, WARM_UP),
           "share": share(results) if len(results) > 1 else None,
           "F": None}
    if spec["flows"]:
        out.update(tcp_flows.compare(
            spec, streams.samples(0), captured + tcp_flows.HEAD_START,
            judged[0][1][-1]["captured"]))
        out["tcp"] = tcp_flows.rates_over_time(spec, captured)
    with open(os.path.join(spec["dir"], "link.json"), encoding="ascii") as f:
        link = json.load(f)
    out["held_up"] = max(link[d]["lateness"]["max_us"]
                         for d in ("up", "down")) / 1e6
    return out


def run(spec, streamed):
    """Makes one run; returns its results, or {"error": sentence}.  Calls
    `streamed` when the link is free."""
    shutil.rmtree(spec["dir"], ignore_errors=True)
    os.makedirs(spec["dir"])
    processes = case.Processes(spec["dir"],
                               dict(os.environ, **spec["environment"]))
    try:
        browser = adaptive_cases.TRANSPORTS[spec["transport"]].browser
        streams = adaptive_webrtc.Streams(spec, processes, start_link) \
            if browser else Streams(spec, processes)
        streams.run()
        streamed()
        return evaluate(streams)
    except (case.CaseError, adaptive_judge.JudgeError, adaptive_quality.QualityError,
            devtools.BrowserError,
            OSError, ValueError, KeyError,
            subprocess.CalledProcessError) as error:
        return {"error": str(error)}
    finally:
        processes.end_all()
