# SPDX-License-Identifier: MPL-2.0
"""One run: a sender and a receiver of GStreamer with linkem between them."""
import collections.abc
import contextlib
import csv
import dataclasses
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import time

import measure
import tcp_flows

START_TIMEOUT = 15
PARSE = {"h264": ["qtdemux", "!", "h264parse", "!",
                  "video/x-h264,stream-format=byte-stream,alignment=au"],
         "hevc": ["qtdemux", "!", "h265parse", "!",
                  "video/x-h265,stream-format=byte-stream,alignment=au"],
         "mpeg": ["tsdemux", "!", "mpegvideoparse"]}
KEEP = ["!", "framelog", "location={dir}/received.csv", "!", "filesink",
        "location={dir}/received.ts", "buffer-mode=unbuffered"]


# Lets TCP to a host use another congestion control.  The system-wide setting
# takes only what everybody may use, a route any.
CONTROL = ('device=$(ip -o route get "$2" | sed "s/.* dev //; s/ .*//") && '
           'ip route replace "$2" dev "$device" congctl "$1" && shift 2 && '
           'exec "$@"')


class CaseError(Exception):
    """The reason why a run failed, as a sentence."""


def free_port(kind):
    """One of those that systems give to nobody who does not ask for it."""
    for port in random.sample(range(20000, 32768), 100):
        with socket.socket(socket.AF_INET, kind) as s, \
                contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            return port
    raise CaseError("100 ports of 127.0.0.1 are taken")


class Processes:
    """Started processes, which must be ended."""

    def __init__(self, folder, environment):
        self.folder, self.environment, self.running = folder, environment, []

    def start(self, name, command):
        if os.geteuid() == 0:
            # A machine that is busy with other things measures those.
            command = ["nice", "-n", "-10", *command]
        with open(os.path.join(self.folder, name + ".log"), "wb") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=self.environment, start_new_session=True)
        process.name = name
        self.running.append(process)
        return process

    def log(self, process):
        path = os.path.join(self.folder, process.name + ".log")
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def why(self, process):
        """The line of a log that says most."""
        lines = [line for line in self.log(process).splitlines() if line]
        for line in lines:
            if "ERROR" in line or "erroneous" in line:
                return line
        return lines[-1] if lines else f"{process.name} said nothing"

    def check(self):
        for process in self.running:
            if process.poll() not in (None, 0):
                raise CaseError(f"{process.name}: {self.why(process)}")

    @staticmethod
    def end(process, patience=3):
        with contextlib.suppress(ProcessLookupError):
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def end_all(self):
        """A process that is told twice to end still ends its children."""
        before = [(number, signal.signal(number, signal.SIG_IGN))
                  for number in (signal.SIGINT, signal.SIGTERM)]
        for process in reversed(self.running):
            self.end(process)
        for number, handler in before:
            signal.signal(number, handler)


def is_bound(process, port):
    """Whether a process, or one in its namespace, has bound a local port."""
    wanted = f":{port:04X}"
    for kind in ("udp", "udp6", "tcp", "tcp6"):
        with contextlib.suppress(OSError):
            with open(f"/proc/{process.pid}/net/{kind}",
                      encoding="ascii") as file:
                if any(line.split()[1].endswith(wanted)
                       for line in list(file)[1:]):
                    return True
    return False


def wait_for(condition, processes, what):
    end = time.monotonic() + START_TIMEOUT
    while not condition():
        processes.check()
        if time.monotonic() > end:
            raise CaseError(f"{what} did not start")
        time.sleep(0.02)


class Udp:
    """Over a relay for UDP on the loopback interface."""

    prefix_send = prefix_receive = ()

    def __init__(self, spec, processes):
        self.spec, self.processes = spec, processes
        self.receive_port = free_port(socket.SOCK_DGRAM)
        self.receive_host = "127.0.0.1"

    def start_link(self, linkem):
        port_file = os.path.join(self.spec["dir"], "port")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(port_file)
        self.link = self.processes.start("linkem", [
            *linkem, "--port-file", port_file, "127.0.0.1:0",
            f"127.0.0.1:{self.receive_port}"])
        wait_for(lambda: os.path.exists(port_file) and
                 os.path.getsize(port_file), self.processes, "linkem")
        with open(port_file, encoding="ascii") as file:
            host, port = file.read().strip().rsplit(":", 1)
        self.send_host, self.send_port = host, int(port)


class Tun:
    """Between two network namespaces, where the kernel's TCP can be used."""

    def __init__(self, spec, processes):
        self.spec, self.processes = spec, processes
        names = [f"perigee-{os.getpid()}-{end}" for end in "ab"]
        self.netns = ",".join(names)
        self.prefix_send = ("ip", "netns", "exec", names[0])
        self.prefix_receive = ("ip", "netns", "exec", names[1])
        self.send_host = self.receive_host = "10.77.0.2"
        self.send_port = self.receive_port = 5002

    def start_link(self, linkem):
        port_file = os.path.join(self.spec["dir"], "port")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(port_file)
        self.link = self.processes.start("linkem", [
            *linkem, "--port-file", port_file, "--tun", self.netns])
        wait_for(lambda: os.path.exists(port_file) and
                 os.path.getsize(port_file), self.processes, "linkem")


def codec(spec):
    return spec.get("codec", "h264")


def read(spec):
    """The clip at its own speed, written down as it goes."""
    return ["filesrc", "location={clip}", "!", *PARSE[codec(spec)], "!",
            "clocksync", "!", "framelog", "location={dir}/sent.csv"]


def multiplexed(spec):
    """As a transport stream.  srtsink and ristsink close at its end
    without waiting for what is under way, so the end waits."""
    linger = 2 * spec["latency_ms"] + spec["link"]["rtt_ms"]
    return ["!", "mpegtsmux", "alignment=7", "!", "framelog",
            "location={dir}/chunks.csv", f"linger={linger}", "!"]


def tltcp(spec, way, extra=""):
    latency = spec["latency_ms"]
    send = [*read(spec), "watch=net", "!", "tltcpsink", "name=net",
            f"uri=tltcp://{way.send_host}:{way.send_port}?latency={latency}"
            f"{extra}{spec.get('tltcp', '')}"]
    receive = ["tltcpsrc",
               f"uri=tltcp://{way.receive_host}:{way.receive_port}"
               f"?mode=listener&latency={latency}", "!", "framelog",
               "location={dir}/received.csv", "!", "fakesink", "sync=false"]
    return send, receive


def tltcp_paper(spec, way):
    """Sections of a GOP share a deadline, nothing is chosen."""
    return tltcp(spec, way, "&deadline-mode=gop&drop-policy=section"
                 "&congestion-control=reno")


def tltcp_reliable(spec, way):
    return tltcp(spec, way, "&deadline-mode=none&drop-policy=section")


def tltcp_fixed(spec, way):
    """By one who knows the link and whose it is: its fair share less what
    headers and lower layers take, whatever is lost."""
    flows = spec["flows"]["count"] if spec.get("flows") else 0
    rate = spec["link"]["rate_bps"] * 0.95 / (1 + flows)
    return tltcp(spec, way, "&congestion-control=fixed"
                 f"&max-send-bitrate={rate:.0f}")


def srt(spec, way, extra=""):
    latency = spec["latency_ms"]
    send = [*read(spec), "watch=net", *multiplexed(spec), "srtsink", "name=net", "sync=false",
            f"uri=srt://{way.send_host}:{way.send_port}?mode=caller{extra}",
            f"latency={latency}"]
    receive = ["srtsrc",
               f"uri=srt://{way.receive_host}:{way.receive_port}?mode=listener",
               f"latency={latency}", *KEEP]
    return send, receive


def srt_tuned(spec, way):
    """By one who knows the link: never more than it carries, and no drops by
    the sender before the latency is over."""
    bytes_a_second = spec["link"]["rate_bps"] * 0.97 / 8
    return srt(spec, way, f"&maxbw={bytes_a_second:.0f}")


def ristsink(spec, way):
    latency = spec["latency_ms"]
    send = [*read(spec), *multiplexed(spec), "rtpmp2tpay", "!", "ristsink",
            f"address={way.send_host}", f"port={way.send_port}"]
    receive = ["ristsrc", f"address={way.receive_host}",
               f"port={way.receive_port}", f"receiver-buffer={latency}", "!",
               "rtpmp2tdepay", *KEEP]
    return send, receive


LIBRIST_PORT = 6002  # of the tools, on the loopback interface of either end
LIBRIST_CONNECTS = 1  # s; no message says when it has, and what comes before
# is lost: the first group of pictures


def librist(spec, way):
    """The tools of librist take a transport stream and give it by UDP."""
    send = [*read(spec), *multiplexed(spec), "udpsink", "host=127.0.0.1",
            f"port={LIBRIST_PORT}", "sync=false"]
    receive = ["udpsrc", "address=127.0.0.1", f"port={LIBRIST_PORT}",
               "buffer-size=2000000", *KEEP]
    return send, receive


def librist_tools(spec, way):
    """Programs beside the pipelines: (at the receiver?, command, port)."""
    peer = f"{way.receive_host}:{way.receive_port}"
    buffer = f"?buffer={spec['latency_ms']}"
    local = f"127.0.0.1:{LIBRIST_PORT}"
    quiet = ["-v", "3", "-S", "0"]
    yield True, ["ristreceiver", *quiet, "-i", f"rist://@{peer}{buffer}", "-o",
                 f"udp://{local}"], way.receive_port
    yield False, ["ristsender", *quiet, "-i", f"udp://@{local}", "-o",
                  f"rist://{peer}{buffer}"], LIBRIST_PORT


def tcp(spec, way):
    send = [*read(spec), *multiplexed(spec), "tcpclientsink", f"host={way.send_host}",
            f"port={way.send_port}", "sync=false"]
    receive = ["tcpserversrc", f"host={way.receive_host}",
               f"port={way.receive_port}", *KEEP]
    return send, receive


@dataclasses.dataclass
class Transport:
    """Pipelines of both ends, and how they are to be treated."""

    make: collections.abc.Callable
    ways: tuple = (Udp, Tun)  # the first is used unless the run says another
    ts: bool = False          # it carries a transport stream
    reliable: bool = False    # it goes on delivering what is late
    tools: collections.abc.Callable = lambda spec, way: ()
    connects: float = 0       # s that they need before the stream


TRANSPORTS = {
    "tltcp": Transport(tltcp),
    "paper": Transport(tltcp_paper),
    "reliable": Transport(tltcp_reliable, reliable=True),
    "fixed": Transport(tltcp_fixed),
    "srt": Transport(srt, ts=True),
    "srt-tuned": Transport(srt_tuned, ts=True),
    "ristsink": Transport(ristsink, (Tun,), ts=True),
    "librist": Transport(librist, (Tun,), ts=True, tools=librist_tools,
                         connects=LIBRIST_CONNECTS),
    "tcp": Transport(tcp, (Tun,), ts=True, reliable=True),
}


def pipeline(spec, prefix, elements):
    words = [e.format(clip=spec["clip"], dir=spec["dir"]) for e in elements]
    return [*prefix, "gst-launch-1.0", *words]


def linkem_command(spec):
    link = spec["link"]
    return [spec["linkem"], "-q", "--rate", f"{link['rate_bps']:.0f}",
            "--delay", f"{link['rtt_ms'] / 2}ms", "--queue",
            f"{link['queue_bytes']}", *link.get("more", []), "--json",
            os.path.join(spec["dir"], "link.json"), "--log",
            os.path.join(spec["dir"], "link.csv")]


def start_tools(spec, way, processes):
    """The programs of a transport that is not an element."""
    for far, command, port in TRANSPORTS[spec["transport"]].tools(spec, way):
        prefix = way.prefix_receive if far else way.prefix_send
        process = processes.start(command[0], [*prefix, *command])
        wait_for(lambda p=process, n=port: is_bound(p, n), processes,
                 command[0])
    time.sleep(TRANSPORTS[spec["transport"]].connects)


def stream(spec, processes):
    """Runs the pipelines to their end, or until nothing of use can come."""
    transport = TRANSPORTS[spec["transport"]]
    ways = {w.__name__.lower(): w for w in transport.ways}
    way = ways.get(spec.get("way"), transport.ways[0])(spec, processes)
    way.start_link(linkem_command(spec))
    send, receive = transport.make(spec, way)
    if spec.get("control"):
        way.prefix_send = (*way.prefix_send, "sh", "-c", CONTROL, "sh",
                           spec["control"], way.send_host)
    tcp_flows.start(spec, way, processes, wait_for)
    receiver = processes.start(
        "receiver", pipeline(spec, way.prefix_receive, receive))
    port = LIBRIST_PORT if transport.make is librist else way.receive_port
    wait_for(lambda: is_bound(receiver, port), processes, "the receiver")
    start_tools(spec, way, processes)
    sender = processes.start("sender", pipeline(spec, way.prefix_send, send))
    end = time.monotonic() + spec["seconds"] * 1.6 + START_TIMEOUT
    while sender.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
        if receiver.poll() not in (None, 0):
            break
    processes.check()
    settle(spec, receiver, end)
    for process in (sender, receiver, way.link):
        processes.end(process)


def settle(spec, receiver, end):
    """Lets the receiver come to its end; TCP may have much to deliver still,
    the others only what can be of use."""
    if not TRANSPORTS[spec["transport"]].reliable:
        end = time.monotonic() + 1 + measure.GRACE + (
            spec["link"]["rtt_ms"] + spec["latency_ms"]) / 1e3
    while receiver.poll() is None and time.monotonic() < end:
        time.sleep(0.05)


def link_series(path):
    """Round-trip time over time, as packets through the link had it."""
    rows = {"up": [], "down": []}
    with open(path, newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            if row["transit_ms"]:
                rows[row["direction"]].append(float(row["transit_ms"]))
    return [a + b for a, b in zip(rows["up"], rows["down"]) if a and b]


def last_stats(path):
    """Numbers out of the newest statistics of the sink."""
    with contextlib.suppress(FileNotFoundError):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        if lines:
            found = re.findall(r"([\w-]+)=\((?:u?int(?:64)?|double)\)"
                               r"(-?[\d.e+]+)", lines[-1])
            return {name: float(value) for name, value in found}
    return {}


def evaluate(spec):
    folder = spec["dir"]
    frames, _ = measure.sent_frames(os.path.join(folder, "sent.csv"))
    if not frames:
        raise CaseError("the sender sent no frame")
    received = os.path.join(folder, "received.csv")
    if TRANSPORTS[spec["transport"]].ts:
        arrived = measure.received_ts(
            received, os.path.join(folder, "received.ts"), codec(spec))
    else:
        arrived = measure.received_frames(received)
    result = measure.evaluate(frames, list(arrived),
                              spec["latency_ms"] / 1e3)
    result["beyond_path"] = measure.decodable_beyond_path(
        frames, spec["latency_ms"] / 1e3, spec["link"]["rtt_ms"] / 1e3)
    with open(os.path.join(folder, "link.json"), encoding="ascii") as file:
        result["link"] = json.load(file)
    result["held_up"] = max(result["link"][direction]["lateness"]["max_us"]
                            for direction in ("up", "down")) / 1e6
    rtts = link_series(os.path.join(folder, "link.csv"))
    result["rtt_p50"] = measure.percentile(rtts, 0.5)
    result["rtt_p95"] = measure.percentile(rtts, 0.95)
    result.update(tcp_flows.evaluate(spec, frames, received))
    result["stats"] = last_stats(os.path.join(folder, "sent.csv.stats"))
    start = frames[0]["pts"]
    result["sent"] = [{key: f[key] for key in (
        "pts", "dts", "bytes", "class", "depends", "decodable")} for f in frames]
    result["series"] = [
        {"time": f["pts"] - start, "type": f["type"], "bytes": f["bytes"],
         "state": state_of(f)} for f in sorted(frames, key=lambda f: f["pts"])]
    return result


def state_of(frame):
    if frame["decodable"]:
        return "shown"
    if frame["arrival"] is None:
        return "dropped"
    return "useless" if frame["on_time"] else "late"


def run(spec):
    """Makes one run; returns its results, or {"error": sentence}."""
    shutil.rmtree(spec["dir"], ignore_errors=True)
    os.makedirs(spec["dir"])
    processes = Processes(spec["dir"], dict(os.environ, **spec["environment"]))
    try:
        stream(spec, processes)
        result = evaluate(spec)
    except (CaseError, OSError, ValueError, KeyError) as error:
        result = {"error": str(error)}
    finally:
        processes.end_all()
    return result
