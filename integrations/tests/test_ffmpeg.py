#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""FFmpeg from Debian's sources with the protocol tltcp, built here."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

import stage
from stage import SECRET

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ffmpeg"))
import build  # pylint: disable=wrong-import-position

FFMPEG = stage.BUILD / "ffmpeg" / "ffmpeg"


class Ffmpeg(stage.Stage):
    def ffmpeg(self, *arguments, program=FFMPEG):
        return self.launch([program, "-hide_banner", "-nostdin", "-v",
                            "warning", *arguments])

    def carry(self, film, options, receiver, *copy):
        """From one ffmpeg to another; returns what the receiver wrote."""
        port = stage.free_port()
        path = self.folder / f"carried{film.suffix}"
        listener = self.ffmpeg("-f", receiver, "-i",
                               f"tltcp://127.0.0.1:{port}?mode=listener",
                               *copy, path)
        self.await_port(listener, port)
        sender = self.ffmpeg("-re", "-i", film, "-map", "0", "-c", "copy", "-f",
                             receiver, f"tltcp://127.0.0.1:{port}?{options}")
        self.assertEqual(self.done(sender), (0, ""))
        self.assertEqual(self.done(listener)[0], 0)
        return path

    def test_every_frame_arrives_as_it_was(self):
        path = self.carry(self.film, "latency=5000", "mpegts", "-map", "0",
                          "-c", "copy")
        for kind in "va":
            self.assertEqual(stage.frames(path, kind),
                             stage.frames(self.film, kind))

    def test_a_file_of_another_kind_arrives_byte_for_byte(self):
        port = stage.free_port()
        source = self.folder / "source.bin"
        source.write_bytes(os.urandom(30_000_000))
        path = self.folder / "copy.bin"
        listener = self.ffmpeg("-f", "data", "-i",
                               f"tltcp://127.0.0.1:{port}?mode=listener",
                               "-map", "0", "-c", "copy", "-f", "data", path)
        self.await_port(listener, port)
        sender = self.ffmpeg("-f", "data", "-i", source, "-map", "0", "-c",
                             "copy", "-f", "data", "-deadline-mode", "none",
                             f"tltcp://127.0.0.1:{port}")
        self.assertEqual(self.done(sender), (0, ""))
        self.assertEqual(self.done(listener)[0], 0)
        self.assertEqual(path.stat().st_size, source.stat().st_size)
        self.assertEqual(stage.digest(path), stage.digest(source))

    def test_options_by_name_do_the_same_as_in_the_url(self):
        port = stage.free_port()
        path = self.folder / "carried.ts"
        listener = self.ffmpeg("-mode", "listener", "-passphrase", SECRET,
                               "-i", f"tltcp://127.0.0.1:{port}", "-c", "copy",
                               path)
        self.await_port(listener, port)
        sender = self.ffmpeg("-re", "-i", self.film, "-c", "copy", "-f",
                             "mpegts", "-passphrase", SECRET, "-latency",
                             "5000", "-tltcp-streamid", "studio",
                             f"tltcp://127.0.0.1:{port}")
        self.assertEqual(self.done(sender), (0, ""))
        self.assertEqual(self.done(listener)[0], 0)
        self.assertEqual(stage.frames(path), stage.frames(self.film))

    def test_tltcpsrc_plays_what_ffmpeg_sends(self):
        plugins = stage.BUILD / "gst-plugins"
        stage.toolbox.need("gst-launch-1.0")
        if not (plugins / "libgsttltcp.so").exists():
            self.skipTest("the GStreamer plugin is not built")
        port = stage.free_port()
        path = self.folder / "gst.ts"
        listener = self.launch(
            ["gst-launch-1.0", "-q", "tltcpsrc", "keep-listening=false",
             f"uri=tltcp://127.0.0.1:{port}?mode=listener", "!", "filesink",
             f"location={path}"],
            env={"GST_PLUGIN_PATH": str(plugins),
                 "GST_REGISTRY": str(self.folder / "registry")})
        self.await_port(listener, port)
        sender = self.ffmpeg("-re", "-i", self.film, "-map", "0", "-c", "copy",
                             "-f", "mpegts",
                             f"tltcp://127.0.0.1:{port}?latency=5000")
        self.assertEqual(self.done(sender), (0, ""))
        self.assertEqual(self.done(listener)[0], 0)
        self.assertEqual(stage.frames(path), stage.frames(self.film))

    def check_cause(self, url, cause, status):
        receiver = self.ffmpeg("-i", url, "-f", "null", "-")
        sender = self.ffmpeg("-i", self.film, "-c", "copy", "-f", "mpegts", url)
        for process in receiver, sender:
            code, said = self.done(process)
            self.assertNotEqual(code, 0)
            self.assertIn(cause, said)
            self.assertIn(status, said)

    def test_a_wrong_url_is_reported(self):
        self.check_cause("tltcp://127.0.0.1:1?latncy=1", "latncy=1: no such key",
                         "Invalid argument")

    def test_a_closed_port_is_reported(self):
        self.check_cause(f"tltcp://127.0.0.1:{stage.free_port()}",
                         "nobody listens", "Connection refused")

    def test_a_wrong_passphrase_is_reported(self):
        self.check_cause(self.url_with_a_wrong_passphrase(), "wrong passphrase",
                         "Permission denied")

    def test_a_lost_sender_is_reported(self):
        port = stage.free_port()
        listener = self.ffmpeg("-i", f"tltcp://127.0.0.1:{port}?mode=listener"
                               "&idle-timeout=1000", "-c", "copy",
                               self.folder / "cut.ts")
        self.await_port(listener, port)
        sender = self.play(f"tltcp://127.0.0.1:{port}")
        self.await_said(sender, "connected")
        sender.kill()
        self.await_said(listener, "silent for too long")
        self.done(listener)

    def test_waiting_for_a_caller_can_be_interrupted(self):
        port = stage.free_port()
        sender = self.ffmpeg("-i", self.film, "-c", "copy", "-f", "mpegts",
                             f"tltcp://127.0.0.1:{port}?mode=listener")
        self.await_port(sender, port)
        sender.terminate()
        self.done(sender)

    def test_the_lines_of_the_guide(self):
        text = (pathlib.Path(__file__).resolve().parents[2] /
                "docs/guide/programs.md").read_text(encoding="utf-8")
        block = re.findall(r"^```sh\n(.*?)^```", text[text.index(
            "## FFmpeg\n"):], re.M | re.S)[1]
        port = stage.free_port()
        self.film.rename(self.folder / "film.ts")
        listener, sender = (
            ["bash", "-c", line.replace("latency=500", "latency=5000")
             .replace(":5000", f":{port}")] for line in block.splitlines())
        env = {"PATH": f"{FFMPEG.parent}:{os.environ['PATH']}"}
        listener = self.launch(listener, env=env)
        self.await_port(listener, port)
        status, said = self.done(self.launch(sender, env=env))
        self.assertEqual(status, 0, said)
        self.assertEqual(self.done(listener)[0], 0)
        self.assertEqual(stage.frames(self.folder / "received.ts"),
                         stage.frames(self.folder / "film.ts"))

    def test_help_lists_the_options(self):
        told = subprocess.run([FFMPEG, "-hide_banner", "-h", "protocol=tltcp"],
                              capture_output=True, text=True, check=True).stdout
        for option in "latency", "passphrase", "tltcp-streamid", "deadline-mode":
            self.assertIn(f"-{option}", told)


if __name__ == "__main__":
    stage.missing("ffmpeg", "make", "pkg-config")
    try:
        build.build(stage.BUILD)
    except build.Missing as why:
        print(f"skipped: missing: {why}")
        sys.exit(77)
    unittest.main(verbosity=2)
