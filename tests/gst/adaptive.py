#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""The example adaptive_encoder over a link that is too narrow and grows wide.

usage: adaptive.py LINKEM ADAPTIVE_ENCODER ENCODER...

The encoder's bit rate must come to fit the narrow link, and then grow beyond
it.  The link is narrow and wide in turn, for longer each time, so that a busy
machine that begins late, or follows slowly, meets both as well.
"""
import concurrent.futures
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time

SKIPPED = 77
LIMIT = 120  # seconds, for what takes a few
NARROW = 500_000  # half of what the example begins with
WIDE = 4_000_000
TURNS = (4, 8, 16, 28, 44, 64, 88)  # seconds; the first makes it wide


def have(element):
    return subprocess.run(["gst-inspect-1.0", "--exists", element],
                          check=False).returncode == 0


class Lines:
    """Standard output of a process, read by a thread."""

    def __init__(self, process):
        self.queue = queue.Queue()
        self.thread = threading.Thread(target=self._read, args=[process])
        self.thread.start()

    def _read(self, process):
        for line in process.stdout:
            self.queue.put(line.decode())
        self.queue.put(None)

    def wait(self, what, wanted):
        """The first rate for which wanted() holds."""
        end = time.monotonic() + LIMIT
        seen = []
        while True:
            try:
                line = self.queue.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise RuntimeError(f"{what}: never; rates were {seen[-20:]}")
            seen.append(int(line.split()[0]))
            if wanted(seen[-1]):
                return seen[-1]


def port_of(path):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        text = path.read_text() if path.exists() else ""
        if text.endswith("\n"):
            return int(text.rsplit(":", 1)[1])
        time.sleep(0.02)
    raise RuntimeError("linkem does not say where it listens")


def changes():
    """Options of linkem."""
    for i, second in enumerate(TURNS):
        yield "--at"
        yield f"{second}s,rate={NARROW if i % 2 else WIDE}"


def run(linkem, example, encoder):
    """Returns the rates at the two stages."""
    with tempfile.TemporaryDirectory() as folder:
        return run_in(pathlib.Path(folder), linkem, example, encoder)


def run_in(folder, linkem, example, encoder):
    ports = folder / "ports"
    processes = []

    def start(*argv, **more):
        processes.append(subprocess.Popen(argv, **more))
        return processes[-1]

    try:
        source = start("gst-launch-1.0", "-v", "tltcpsrc", "latency=200",
                       "uri=tltcp://127.0.0.1:0?mode=listener",
                       "!", "fakesink", "sync=false", stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
        for line in source.stdout:
            if b"localport = " in line:
                port = int(line.rsplit(b"=", 1)[1])
                break
        else:
            raise RuntimeError("tltcpsrc does not listen")
        drain = Lines(source)
        start(linkem, "-q", "--both", f"rate={NARROW},delay=20ms,queue=100ms",
              *changes(),
              "--port-file", ports, "127.0.0.1:0", f"127.0.0.1:{port}")
        sender = start(example, encoder,
                       f"tltcp://127.0.0.1:{port_of(ports)}?latency=200",
                       str(LIMIT), stdout=subprocess.PIPE)
        lines = Lines(sender)
        rates = (lines.wait("fits the narrow link", lambda r: r < NARROW),
                 lines.wait("grows", lambda r: r > 1.1 * NARROW))
    finally:
        for process in reversed(processes):
            if process.poll() is None:
                process.kill()
            process.wait()
    lines.thread.join()
    drain.thread.join()
    return rates


def main():
    linkem, example, *encoders = sys.argv[1:]
    if not shutil.which("gst-launch-1.0"):
        print("skipped: gst-launch-1.0 is missing")
        return SKIPPED
    for absent in (e for e in encoders if not have(e)):
        print(f"{absent}: absent")
    encoders = list(filter(have, encoders))
    if not encoders:
        print("skipped: none of the encoders is there")
        return SKIPPED
    with concurrent.futures.ThreadPoolExecutor() as pool:
        jobs = {e: pool.submit(run, linkem, example, e) for e in encoders}
    for encoder, job in jobs.items():
        print(f"{encoder}: {job.exception() or job.result()}", flush=True)
    return 1 if any(job.exception() for job in jobs.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
