# SPDX-License-Identifier: MPL-2.0
"""What the tests with stock programs share."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" /
                       "tools"))
import clips  # pylint: disable=wrong-import-position
import toolbox  # pylint: disable=wrong-import-position

BUILD = toolbox.BUILD
PLUGINS = BUILD / "integrations"
SECRET = "correct horse"


def free_port():
    with toolbox.udp_socket() as s:
        return s.getsockname()[1]


def nobody(*command):
    """The command line for programs that refuse to run for root."""
    if os.geteuid() != 0:
        return list(command)
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
            *command]


def frames(path, kind="v"):
    """Digests of the coded frames of a file, in coding order."""
    done = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-map", f"0:{kind}", "-c", "copy",
         "-f", "framemd5", "-"], capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, timeout=toolbox.PATIENCE)
    return [line.rsplit(",", 1)[1].strip() for line in done.stdout.splitlines()
            if line and not line.startswith("#")]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Stage(toolbox.Folder):
    """A test with a folder, a film and programs that end with it."""

    def setUp(self):
        super().setUp()
        self.folder.chmod(0o777)
        toolbox.need("ffmpeg")
        self.film = clips.make(self.folder, "h264-aac.ts", 4)

    def launch(self, command, **options):
        """Starts a program, whose output goes to a file."""
        log = self.folder / f"log{time.monotonic_ns()}"
        with open(log, "wb") as out:
            process = subprocess.Popen(
                [str(word) for word in command], cwd=self.folder, stdout=out,
                stderr=subprocess.STDOUT,
                stdin=options.pop("stdin", subprocess.DEVNULL),
                env={**os.environ, "HOME": str(self.folder),
                     "LD_LIBRARY_PATH": "", **options.pop("env", {})})
        process.log = log
        self.addCleanup(self.end, process)
        return process

    def done(self, process):
        """Waits for the end; returns status and what it wrote."""
        try:
            process.wait(timeout=toolbox.PATIENCE)
        except subprocess.TimeoutExpired:
            self.fail(f"it hangs: {self.said(process)}")
        return process.returncode, self.said(process)

    @staticmethod
    def said(process):
        return process.log.read_text(encoding="utf-8", errors="replace")

    def await_said(self, process, pattern):
        """Waits until a program wrote something."""
        end = time.monotonic() + toolbox.PATIENCE
        while time.monotonic() < end:
            if re.search(pattern, self.said(process)):
                return
            if process.poll() is not None:
                break
            time.sleep(0.02)
        self.fail(f"{pattern} is not in: {self.said(process)}")

    def await_port(self, process, port):
        """Waits until somebody listens there."""
        mark = f":{port:04X} "
        end = time.monotonic() + toolbox.PATIENCE
        tables = [pathlib.Path("/proc/net/udp"), pathlib.Path("/proc/net/udp6")]
        while not any(mark in t.read_text("ascii") for t in tables
                      if t.exists()):
            if process.poll() is not None or time.monotonic() > end:
                self.fail(f"nobody listens: {self.said(process)}")
            time.sleep(0.02)

    def play(self, url, film=None):
        """Sends a film at its own pace by tltcp-live-transmit."""
        return self.launch([toolbox.TOOLS / "tltcp-live-transmit",
                            film or self.film, url])

    def record(self, url, path):
        """Writes what comes into a file."""
        return self.launch([toolbox.TOOLS / "tltcp-live-transmit", "-a", "no",
                            url, path])

    def url_with_a_wrong_passphrase(self):
        """Starts a listener; returns a URL that it must refuse."""
        port = free_port()
        listener = self.record(f"tltcp://127.0.0.1:{port}?mode=listener"
                               f"&passphrase={SECRET.replace(' ', '%20')}",
                               self.folder / "none.ts")
        self.await_port(listener, port)
        return f"tltcp://127.0.0.1:{port}?passphrase=wrong%20horse"

    def check_a_lost_sender(self, receive, playing):
        """A receiver, made by receive(url), says that its sender is gone."""
        port = free_port()
        receiver = receive(f"tltcp://127.0.0.1:{port}?mode=listener"
                           "&auto-reconnect=no&idle-timeout=1000")
        self.await_port(receiver, port)
        sender = self.play(f"tltcp://127.0.0.1:{port}")
        self.await_said(receiver, playing)
        sender.kill()
        self.await_said(receiver, "connection lost")
        self.done(receiver)


def missing(*programs):
    """Says what is missing and ends with the status of a skipped test."""
    absent = [p for p in programs if not shutil.which(p)]
    if absent:
        print(f"skipped: missing: {' '.join(absent)}")
        sys.exit(77)
