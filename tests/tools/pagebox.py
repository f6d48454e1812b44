# SPDX-License-Identifier: MPL-2.0
"""What the tests of pages share: commands as they stand there, run here."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import clips
import toolbox

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def blocks(text):
    return re.findall(r"^```sh\n(.*?)\n```$", text, re.M | re.S)


def commands(page, heading=None):
    """The commands of a section of a page, or of all of it."""
    text = (DOCS / page).read_text(encoding="utf-8")
    if heading is None:
        return blocks(text)
    section = re.search(rf"^##? {heading}.*?(?=^## |\Z)", text, re.M | re.S)
    return blocks(section.group())


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


class Page(toolbox.Folder):
    def setUp(self):
        super().setUp()
        toolbox.need("ffmpeg", "ffprobe", "gst-launch-1.0")
        clip = clips.make(self.folder, "h264-aac.mp4")
        clip.rename(self.folder / "film.mp4")
        clips.make(self.folder, "h264-aac.ts").rename(self.folder / "film.ts")
        (self.folder / "live").mkdir()
        self.ports = {p: free_port(socket.SOCK_DGRAM)
                      for p in ("5000", "5001", "1234", "1235", "6000",
                                "6001", "7001", "7542")}
        for p in ("1935", "8080", "8554", "9464"):
            self.ports[p] = free_port(socket.SOCK_STREAM)
        self.started = []
        direct = {k: v for k, v in os.environ.items()
                  if not k.lower().endswith("_proxy")}
        self.environment = dict(
            direct, PATH=f"{toolbox.TOOLS}:{os.environ['PATH']}",
            GST_PLUGIN_PATH=str(toolbox.BUILD / "gst-plugins"),
            GST_REGISTRY=str(self.folder / "registry.bin"))

    def start_line(self, line, patient=False):
        """A command of the page, on ports and an address of this machine."""
        line = re.sub(r":(\d+)", lambda m: f":{self.ports.get(m[1], m[1])}",
                      line)
        line = line.replace("192.0.2.7", "127.0.0.1")
        if patient:  # a busy machine is to cost no picture
            line = line.replace("latency=300", "latency=3000")
        process = subprocess.Popen(
            ["bash", "-c", line], cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.end_group, process)
        self.started.append((line, process))
        return process

    def ended(self):
        """What has ended so far, for a message."""
        return "".join(f"\n{line}\n  ended with {p.returncode}: "
                       f"{p.stderr.read()}"
                       for line, p in self.started if p.poll() is not None)

    @staticmethod
    def end_group(process):
        """A pipeline of the shell ends as a whole."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()

    def await_port(self, port, kinds=("udp", "udp6")):
        number = f":{int(self.ports[port]):04X} "
        tables = [pathlib.Path(f"/proc/net/{k}") for k in kinds]
        end = time.monotonic() + toolbox.PATIENCE
        while not any(number in t.read_text() for t in tables):
            if time.monotonic() > end:
                self.fail(f"nobody listens on {port}{self.ended()}")
            time.sleep(0.01)

    def udp_player(self):
        """What stands for a player on port 1235 of the pages."""
        player = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(player.close)
        player.bind(("127.0.0.1", int(self.ports["1235"])))
        player.settimeout(toolbox.PATIENCE)
        return player

    def ends_well(self, process):
        _, errors = process.communicate(timeout=toolbox.PATIENCE)
        self.assertEqual(process.returncode, 0, errors)

    def pictures(self, path):
        return len(clips.digests(path, "v"))

    def pictures_so_far(self, path):
        try:
            return self.pictures(path)
        except subprocess.CalledProcessError:
            return 0  # nothing yet, or a part of a picture
