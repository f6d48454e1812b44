# SPDX-License-Identifier: MPL-2.0
"""Shared by the tests of the tools."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["PERIGEE_BUILD_DIR"])
TOOLS = BUILD / "tools"
PATIENCE = 120  # for what takes moments unless something hangs


def run(tool, *arguments, **options):
    """Runs a tool to its end."""
    return subprocess.run([TOOLS / tool, *map(str, arguments)],
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=PATIENCE, check=False, **options)


def run_on_terminal(tool, *arguments):
    """Runs a tool to its end; returns its status and what a terminal saw."""
    master, slave = os.openpty()
    with subprocess.Popen([TOOLS / tool, *map(str, arguments)], stderr=slave,
                          stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as process:
        os.close(slave)
        seen = b""
        with open(master, "rb", buffering=0) as terminal:
            with contextlib.suppress(OSError):  # the other end is closed
                while piece := terminal.read(4096):
                    seen += piece
        return process.wait(PATIENCE), seen


def need(*commands):
    """Skips a test on a machine without these commands."""
    for command in commands:
        if not shutil.which(command):
            raise unittest.SkipTest(f"there is no {command} here")


def udp_socket():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    s.settimeout(PATIENCE)
    return s


def waiting_in_socket(port):
    """Memory taken by what has come to a UDP port and is not read."""
    for line in pathlib.Path("/proc/net/udp").read_text("ascii").split("\n"):
        words = line.split()
        if len(words) > 4 and words[1].endswith(f":{port:04X}"):
            return int(words[4].split(":")[1], 16)
    raise AssertionError(f"nobody listens on port {port}")


def dscp_of_next(s):
    """How what comes to a UDP socket from now on is marked."""
    s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    while True:
        for _, kind, value in s.recvmsg(2000, 100)[1]:
            if kind == socket.IP_TOS:
                return value[0] >> 2


class Folder(unittest.TestCase):
    """A test with a folder of its own whose processes all end."""

    def setUp(self):
        # pylint: disable=consider-using-with
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def start(self, tool, *arguments, stdout=subprocess.PIPE, **options):
        process = subprocess.Popen(
            [TOOLS / tool, *map(str, arguments)], stdin=subprocess.DEVNULL,
            stdout=stdout, stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(self.end, process)
        return process

    def call_in_vain(self, address, tool, file):
        """A call that a listener has answered and of which no more comes."""
        host, port = address.rsplit(":", 1)
        with udp_socket() as s:
            self.start(tool, file, f"tltcp://127.0.0.1:{s.getsockname()[1]}")
            s.sendto(s.recv(2000), (host, int(port)))
            while s.recvfrom(2000)[1][1] != int(port):
                pass

    def check_one_is_busy(self, receiver, *call):
        """Both are let in before the first is taken, as it is asleep."""
        port = int(call[-1].rsplit(":", 1)[1])
        receiver.send_signal(signal.SIGSTOP)
        callers = []
        for _ in range(2):
            before = waiting_in_socket(port)
            callers.append(self.start(*call))
            while waiting_in_socket(port) == before:
                self.assertIsNone(callers[-1].poll())
                time.sleep(0.01)
        receiver.send_signal(signal.SIGCONT)
        ends = sorted(self.finish(caller) for caller in callers)
        self.assertEqual([status for status, _ in ends], [0, 1], ends)
        self.assertIn("busy with another caller", ends[1][1])

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def finish(self, process, number=None):
        """Waits for the end; returns status and standard error."""
        if number:
            process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
        return process.returncode, errors

    def address(self, process, path):
        """The address that a tool wrote into a file once it listened."""
        end = time.monotonic() + PATIENCE
        running = True
        while time.monotonic() < end and running:
            running = process.poll() is None  # what it wrote last counts, too
            with contextlib.suppress(FileNotFoundError):
                text = path.read_text(encoding="ascii")
                if text.endswith("\n"):
                    return text.split()
            time.sleep(0.01)
        self.fail(f"it does not listen: {self.finish(process)}")
        return []

    def linkem(self, *arguments):
        """Starts linkem; returns it and the ports it listens on."""
        file = self.folder / f"ports{time.monotonic_ns()}"
        process = self.start("linkem", "-q", "--json", self.folder /
                             "link.json", "--port-file", file, *arguments)
        ports = [int(a.rsplit(":", 1)[1]) for a in self.address(process, file)]
        return process, ports

    def link_report(self, process, number=signal.SIGINT):
        status, errors = self.finish(process, number)
        self.assertEqual((status, errors), (0, ""))
        return self.json("link.json")

    def json(self, name):
        with open(self.folder / name, encoding="ascii") as file:
            return json.load(file)
