#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Does what README.md and the guide to C tell people to do: builds the programs
and runs them against each other, runs pipelines and commands, looks for what
they name.

usage: test_readme.py BUILD-FOLDER [unittest arguments]; CC names the compiler
"""
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = ROOT / "docs" / "guide"
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
CC = os.environ.get("CC", "cc")
WAIT = 40  # seconds after which something hangs; nothing here takes two


def blocks(language, text=README):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def commands(first_word, text=README):
    """The shell lines that start with a word."""
    return [line for block in blocks("sh", text) for line in block.splitlines()
            if line.split()[:1] == [first_word]]


def cells(first):
    """The commands or calls in a row of README's table of ways to use it."""
    row, = re.findall(rf"^\| \[?{first}[^|]* \| (.*) \|$", README, re.M)
    return re.findall(r"`([^`]+)`", row)


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def library_folder(name):
    return next(BUILD.rglob(f"lib{name}.so")).parent


class Readme(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.work = pathlib.Path(self.temporary.name)
        self.port = free_port()
        self.environment = {
            **os.environ,
            "PATH": f"{BUILD / 'tools'}:{os.environ['PATH']}",
            "GST_PLUGIN_PATH": str(BUILD / "gst-plugins"),
            "GST_REGISTRY": str(self.work / "registry"),
        }

    def start(self, command):
        process = subprocess.Popen(
            command, cwd=self.work, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def listens(self):
        """Waits until somebody has the port."""
        number = f":{int(self.port):04X} "
        tables = [pathlib.Path(f"/proc/net/{t}") for t in ("udp", "udp6")]
        end = time.monotonic() + WAIT
        while not any(number in t.read_text() for t in tables if t.exists()):
            self.assertLess(time.monotonic(), end, "nobody listens")
            time.sleep(0.01)

    def ends_well(self, process):
        text, _ = process.communicate(timeout=WAIT)
        self.assertEqual(process.returncode, 0, f"{process.args}\n{text}")
        return text

    def local(self, text):
        """The same on a port of ours."""
        self.assertIn("5000", text)
        return text.replace("5000", self.port)

    def patient(self, text, *times):
        """The same with a minute for what README gives a moment: a machine that
        does other things as well is no reason to fail."""
        for time_given in times:
            self.assertIn(time_given, text)
            text = text.replace(time_given,
                                re.sub(r"\d+", "60000", time_given))
        return text

    def program(self, name, text):
        source = self.work / f"{name}.c"
        source.write_text(self.local(text), encoding="utf-8")
        folders = [library_folder(n) for n in ("tltcp", "congestion")]
        subprocess.run(
            [CC, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
             "-I", ROOT / "include", source, "-o", self.work / name,
             *(f"-L{f}" for f in folders), *(f"-Wl,-rpath,{f}" for f in folders),
             "-ltltcp"], check=True)
        return [str(self.work / name)]

    def test_the_programs_send_and_receive(self):
        guide = (GUIDE / "c.md").read_text(encoding="utf-8")
        send, receive = blocks("c", guide)
        receiver = self.start(self.program("receive", receive))
        self.listens()
        sender = self.start(self.program("send", self.patient(
            send, "latency_ms = 200", "tltcp_close(s, 1000)")))
        self.ends_well(sender)
        self.assertEqual(self.ends_well(receiver), "8 bytes\n")

    def test_the_calls_of_the_table_send(self):
        guide = (GUIDE / "c.md").read_text(encoding="utf-8")
        send, receive = blocks("c", guide)
        connect, write = cells("C")
        frame = send[send.index("    static char"):send.index("    tltcp_config")]
        receiver = self.start(self.program("receive", receive))
        self.listens()
        self.ends_well(self.start(self.program("send", (
            "#include <tltcp/socket.h>\n\nint main(void) {\n" + frame +
            "    tltcp_socket *s;\n"
            f"    if ({connect.replace('HOST', 'localhost')} != 0) {{\n"
            "        return 1;\n    }\n"
            f"    ssize_t sent = {write};\n"
            "    return tltcp_close(s, 60000) != 0 || sent < 0;\n}\n"))))
        self.assertEqual(self.ends_well(receiver), "8 bytes\n")

    def test_the_examples_of_the_manual_compile(self):
        for page, before in (("socket", ""),
                             ("live", "static char data[1500];\nssize_t n;\n")):
            text = (ROOT / "docs" / "man" / f"tltcp_{page}.3").read_text(
                encoding="utf-8")
            example = re.search(r"^\.SH EXAMPLES\n\.nf\n(.*?)^\.fi", text,
                                re.M | re.S)[1]
            for mark, plain in (("\\-", "-"), ("\\e", "\\")):
                example = example.replace(mark, plain)
            subprocess.run(
                [CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-xc",
                 "-fsyntax-only", "-I", ROOT / "include", "-"], check=True,
                text=True, input="#include <stdio.h>\n#include <tltcp/"
                f"{page}.h>\nint main(void) {{\n{before}{example}"
                "return 0;\n}\n")

    def test_the_lines_of_the_table_are_those_of_the_guides(self):
        guides = "".join(page.read_text(encoding="utf-8")
                         for page in sorted(GUIDE.glob("*.md")))
        for row in "OBS", "VLC", "mpv", "FFmpeg", "UDP", "Rust", "Go":
            with self.subTest(row):
                line = r"[^\n]*?".join(
                    re.escape(word).replace("HOST", r"[\w.]+")
                    for word in cells(row)[0].split())
                self.assertRegex(guides, line)

    def test_the_sender_says_that_nobody_listens(self):
        guide = (GUIDE / "c.md").read_text(encoding="utf-8")
        sender = self.start(self.program("send", blocks("c", guide)[0]))
        text, _ = sender.communicate(timeout=WAIT)
        self.assertEqual(sender.returncode, 1)
        self.assertRegex(text, "^cannot connect: .+\n$")

    def test_the_pipelines_play(self):
        if not shutil.which("gst-launch-1.0"):
            self.skipTest("no gst-launch-1.0")
        if not (BUILD / "gst-plugins" / "libgsttltcp.so").exists():
            self.skipTest("built without GStreamer")
        show, send = commands("gst-launch-1.0")
        keep = commands("gst-launch-1.0", (GUIDE / "start.md").read_text(
            encoding="utf-8"))[-1]
        self.assertIn("autovideosink", show)
        # Nobody looks here: no window.
        show = show.replace("autovideosink", "fakesink name=screen").replace(
            "gst-launch-1.0", "gst-launch-1.0 -v")
        self.assertRegex(self.play(show, send), r"screen.*video/x-raw")
        self.play(self.patient(keep, "latency=200"),
                  self.patient(send, "latency=200"))
        self.assertEqual(self.pictures("received.mkv"), 60)

    def play(self, receive, send):
        """What the receiver says of a stream that ends after two seconds."""
        receiver = self.start(shlex.split(self.local(receive)))
        self.listens()
        self.assertIn("videotestsrc", send)
        self.ends_well(self.start(shlex.split(self.local(send).replace(
            "videotestsrc", "videotestsrc num-buffers=60"))))
        return self.ends_well(receiver)

    def pictures(self, name):
        return int(subprocess.run(
            ["ffprobe", "-loglevel", "error", "-count_frames", "-show_entries",
             "stream=nb_read_frames", "-of", "csv=p=0", self.work / name],
            check=True, text=True, capture_output=True).stdout)

    def test_the_tools_carry_a_file(self):
        if not (BUILD / "tools" / "tltcp-send").exists():
            self.skipTest("built without the tools")
        subprocess.run(
            ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i",
             "testsrc2=size=320x180:rate=25:duration=2", "-c:v", "libx264",
             self.work / "film.mp4"], check=True, stdin=subprocess.DEVNULL)
        receive, = commands("tltcp-recv")
        send, = commands("tltcp-send")
        receiver = self.start(shlex.split(self.local(receive)))
        self.listens()
        sender = self.start(shlex.split(self.patient(
            self.local(send), "--latency 200")))
        self.ends_well(sender)
        # It would wait for the next caller.
        if "--once" not in receive:
            receiver.send_signal(signal.SIGINT)
        self.ends_well(receiver)
        self.assertEqual(self.pictures("received.mp4"), 50)

    def test_the_verbs_exist(self):
        text = subprocess.run([ROOT / "dev", "help"], text=True, check=True,
                              capture_output=True).stdout
        verbs = set(re.findall(r"\./dev (\w+)", README)) - {"help"}
        self.assertTrue(verbs)
        for verb in verbs:
            self.assertRegex(text, rf"(?m)^  {verb}\b")

    def test_the_files_exist(self):
        names = re.findall(r"`((?:docs|examples|include|integrations)/"
                           r"[\w./-]*)`", README)
        self.assertTrue(names)
        for name in names:
            self.assertTrue((ROOT / name).exists(), name)

    def test_the_options_exist(self):
        text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        features = re.search(r"foreach\(feature ([A-Z_\s]+)\)", text).group(1)
        guide = (GUIDE / "build.md").read_text(encoding="utf-8")
        self.assertEqual(sorted(re.findall(r"`PERIGEE_WITH_([A-Z_]+)`", guide)),
                         sorted(features.split()))
        for option in re.findall(r"`(PERIGEE_BUILD_\w+)`", guide):
            self.assertIn(option, text)

    def test_the_site_begins_with_the_same_program(self):
        guide = (GUIDE / "c.md").read_text(encoding="utf-8")
        site = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
        self.assertEqual(blocks("c", guide)[0], blocks("c", site)[0])


if __name__ == "__main__":
    unittest.main()
