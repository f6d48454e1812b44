# SPDX-License-Identifier: MPL-2.0
"""libtltcp-avio by its examples: libavformat at one end or at both."""
import subprocess
import unittest

import clips
import toolbox

EXAMPLES = toolbox.BUILD / "examples"


class Avio(toolbox.Folder):
    def example(self, name, *arguments):
        process = subprocess.Popen(
            [EXAMPLES / name, *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    def packets(self, clip):
        done = subprocess.run(
            ["ffprobe", "-v", "error", "-select_streams", "v",
             "-show_entries", "packet=pts", "-of", "csv=p=0", clip],
            check=True, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=toolbox.PATIENCE)
        return len(done.stdout.split())

    def send(self, clip, host, port):
        sender = self.example("avio_send", clip, host, port)
        self.assertEqual(self.finish(sender), (0, ""))

    def test_what_one_writes_the_other_reads(self):
        clip = clips.make(self.folder, "h264-aac.mp4")
        receiver = self.example("avio_recv", 0)
        _, _, host, port = receiver.stdout.readline().split()
        self.send(clip, host, port)
        out, errors = receiver.communicate(timeout=toolbox.PATIENCE)
        self.assertEqual((receiver.returncode, errors), (0, ""))
        lines = out.splitlines()
        video = [line for line in lines if line.startswith("h264")]
        self.assertEqual(len(video), self.packets(clip))
        self.assertEqual(sum(line.endswith(" key") for line in video), 2)
        self.assertGreater(sum(line.startswith("aac") for line in lines), 90)

    def test_the_writer_speaks_what_live_transmit_does(self):
        clip = clips.make(self.folder, "mpeg2-mp2.ts")
        file = self.folder / "port"
        receiver = self.start(
            "tltcp-live-transmit", "-q", "-a", "no", "--port-file", file,
            "tltcp://127.0.0.1:0?mode=listener", self.folder / "out.ts")
        host, port = self.address(receiver, file)[0].split(":")
        self.send(clip, host, port)
        self.assertEqual(self.finish(receiver), (0, ""))
        self.assertEqual(clips.digests(self.folder / "out.ts", "v"),
                         clips.digests(clip, "v"))

    def test_a_peer_that_sends_single_streams_is_an_error(self):
        clip = clips.make(self.folder, "raw.h264")
        receiver = self.example("avio_recv", 0)
        _, _, _, port = receiver.stdout.readline().split()
        toolbox.run("tltcp-send", "-q", "--speed", "0", clip,
                    f"tltcp://[::1]:{port}")
        status, errors = self.finish(receiver)
        self.assertEqual(status, 1)
        self.assertIn("no media", errors)

    def test_an_absent_peer_is_an_error(self):
        clip = clips.make(self.folder, "raw.h264")
        with toolbox.udp_socket() as s:
            port = s.getsockname()[1]
        sender = self.example("avio_send", clip, "127.0.0.1", port)
        status, errors = self.finish(sender)
        self.assertEqual(status, 1)
        self.assertIn("cannot connect", errors)


if __name__ == "__main__":
    unittest.main()
