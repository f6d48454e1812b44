#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Real video from one gst-launch-1.0 to another, both ways of calling.

usage: two_processes.py [VIDEO]

Without VIDEO only a made picture is sent.  The link is ample and the latency
long, so every byte must arrive.
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

SKIPPED = 77
LIMIT = 120  # seconds, for a run that takes a few
H264 = "video/x-h264,stream-format=byte-stream,alignment=au"


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def have(element):
    return subprocess.run(["gst-inspect-1.0", "--exists", element],
                          check=False).returncode == 0


def launch(description, log):
    return subprocess.Popen(["gst-launch-1.0", "-e", "-m"]
                            + description.split(),
                            stdout=log, stderr=subprocess.STDOUT)


def run(video, src_uri, sink_uri, folder):
    """Sends; says what went wrong, or nothing."""
    sent, got = folder / "sent.h264", folder / "got.h264"
    with open(folder / "src.log", "wb") as src_log, \
            open(folder / "sink.log", "wb") as sink_log:
        src = launch(f"tltcpsrc uri={src_uri} latency=20000 "
                     f"! filesink location={got} sync=false", src_log)
        sink = launch(f"{video} ! h264parse ! {H264} ! tee name=t "
                      f"t. ! queue ! filesink location={sent} async=false "
                      f"t. ! queue ! tltcpsink uri={sink_uri} latency=20000",
                      sink_log)
        try:
            codes = sink.wait(LIMIT), src.wait(LIMIT)
        except subprocess.TimeoutExpired:
            codes = "no end"
        finally:
            for process in sink, src:
                if process.poll() is None:
                    process.kill()
                    process.wait()
    if codes != (0, 0):
        logs = [(folder / f"{end}.log").read_text(errors="replace")[-3000:]
                for end in ("sink", "src")]
        return f"ended with {codes}\n" + "\n---\n".join(logs)
    if not sent.stat().st_size:
        return "nothing was sent"
    if sent.read_bytes() != got.read_bytes():
        return (f"{sent.stat().st_size} bytes were sent, "
                f"{got.stat().st_size} came, and they differ")
    return None


def videos():
    if have("x264enc"):
        yield "made", ("videotestsrc num-buffers=60 pattern=ball "
                       "! video/x-raw,width=320,height=180,framerate=30/1 "
                       "! x264enc key-int-max=15 bframes=2 "
                       "speed-preset=ultrafast bitrate=1000")
    if len(sys.argv) > 1 and pathlib.Path(sys.argv[1]).is_file() \
            and have("qtdemux"):
        yield "file", f"filesrc location={sys.argv[1]} ! qtdemux"


def main():
    if not shutil.which("gst-launch-1.0") or not have("h264parse"):
        print("skipped: gst-launch-1.0 or h264parse is missing")
        return SKIPPED
    done = bad = 0
    for name, video in videos():
        for caller in "sink", "src":
            port = free_port()
            here = f"tltcp://127.0.0.1:{port}"
            there = f"{here}?mode=listener"
            uris = (there, here) if caller == "sink" else (here, there)
            with tempfile.TemporaryDirectory() as folder:
                fault = run(video, *uris, pathlib.Path(folder))
            done += 1
            bad += fault is not None
            print(f"{name}, the {caller} calls: {fault or 'ok'}", flush=True)
    if not done:
        print("skipped: neither x264enc nor a file")
        return SKIPPED
    return 1 if bad else 0


if __name__ == "__main__":
    os.environ.setdefault("GST_REGISTRY_FORK", "no")
    sys.exit(main())
