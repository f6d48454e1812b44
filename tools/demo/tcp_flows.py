#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Flows of the kernel's TCP beside the stream, and what each of them got.

usage: tcp_flows.py serve HOST PORT LOG
       tcp_flows.py send HOST PORT CONTROL COUNT
"""
import os
import selectors
import socket
import sys
import time

import measure

PORT = 5900
HEAD_START = 3  # seconds that the flows have for themselves
BLOCK = b"\0" * 65536


def serve(host, port, log):
    """Counts what arrives, flow by flow, ten times a second."""
    poll = selectors.DefaultSelector()
    listener = socket.create_server((host, port))
    poll.register(listener, selectors.EVENT_READ)
    flows = {}
    due = 0
    with open(log, "w", encoding="ascii") as file:
        file.write("time_ns,flow,bytes\n")
        while True:
            for key, _ in poll.select(0.1):
                if key.fileobj is listener:
                    flow, _ = listener.accept()
                    poll.register(flow, selectors.EVENT_READ)
                    flows[flow] = [len(flows), 0]
                    continue
                data = key.fileobj.recv(1 << 20)
                flows[key.fileobj][1] += len(data)
                if not data:
                    poll.unregister(key.fileobj)
            now = time.monotonic_ns()
            if now >= due:
                due = now + 100_000_000
                for number, total in flows.values():
                    file.write(f"{now},{number},{total}\n")
                file.flush()


def send(host, port, control, count):
    """Keeps flows busy until somebody ends the process."""
    poll = selectors.DefaultSelector()
    for _ in range(count):
        flow = socket.socket()
        flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION,
                        control.encode())
        flow.connect((host, port))
        flow.setblocking(False)
        poll.register(flow, selectors.EVENT_WRITE)
    while True:
        for key, _ in poll.select():
            key.fileobj.send(BLOCK)


def controls():
    """The congestion controls that this kernel lets flows choose."""
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control",
              encoding="ascii") as file:
        return file.read().split()


def start(spec, way, processes, wait_for):
    """Starts the flows of a run and gives them their head start."""
    flows = spec.get("flows")
    if not flows:
        return
    this = [sys.executable, os.path.abspath(__file__)]
    log = log_of(spec)
    host = way.receive_host
    processes.start("tcp-server", [*way.prefix_receive, *this, "serve", host,
                                   str(PORT), log])
    wait_for(lambda: os.path.exists(log), processes, "the TCP server")
    processes.start("tcp-client", [*way.prefix_send, *this, "send", host,
                                   str(PORT), flows["control"],
                                   str(flows["count"])])
    time.sleep(HEAD_START)


def log_of(spec):
    return os.path.join(spec["dir"], "tcp.csv")


def rate(samples, start, end):
    """Bit/s between two times, from (time, bytes so far)."""
    inside = [s for s in samples if start <= s[0] <= end]
    if len(inside) < 2 or inside[-1][0] == inside[0][0]:
        return 0.0
    return (inside[-1][1] - inside[0][1]) * 8 / (inside[-1][0] - inside[0][0])


def media_samples(received):
    total, samples = 0, []
    for row in measure.read_log(received):
        total += int(row["bytes"])
        samples.append((int(row["arrival_ns"]) * 1e-9, total))
    return samples


def evaluate(spec, frames, received):
    """Rates of the flows and of the stream while both were there, and F and S:
    the stream's rate over the mean of the others, the largest over the least."""
    if not spec.get("flows"):
        return {}
    return compare(spec, media_samples(received),
                   frames[0]["sent"] + HEAD_START, frames[-1]["sent"])


def read_flows(spec):
    """(time, bytes so far) of each flow."""
    flows = {}
    with open(log_of(spec), encoding="ascii") as file:
        for line in list(file)[1:]:
            now, number, total = line.split(",")
            flows.setdefault(number, []).append((int(now) * 1e-9, int(total)))
    return flows


def rates_over_time(spec, begin, step=0.5):
    """(s after `begin`, bit/s) of all flows together, for charts."""
    flows = read_flows(spec).values()
    first = min(samples[0][0] for samples in flows)
    last = max(samples[-1][0] for samples in flows)
    return [(round(first + n * step - begin, 3),
             sum(rate(samples, first + n * step, first + (n + 1) * step + 0.01)
                 for samples in flows))
            for n in range(int((last - first) / step))]


def compare(spec, samples, start, end):
    flows = read_flows(spec)
    rates = [rate(flow, start, end) for flow in flows.values()]
    own = rate(samples, start, end)
    mean = sum(rates) / max(1, len(rates))
    least = min([own, *rates])
    return {"media_bps": own, "tcp_bps": rates,
            "F": own / mean if mean else None,
            "S": max([own, *rates]) / least if least else None}


def main():
    verb, host, port, *rest = sys.argv[1:]
    if verb == "serve":
        serve(host, int(port), rest[0])
    else:
        send(host, int(port), rest[0], int(rest[1]))


if __name__ == "__main__":
    main()
