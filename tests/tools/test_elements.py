# SPDX-License-Identifier: MPL-2.0
"""The tools against the GStreamer elements, both ways."""
import os
import re
import subprocess
import time
import unittest

import clips
import toolbox

PLUGINS = toolbox.BUILD / "gst-plugins"


class Elements(toolbox.Folder):
    def setUp(self):
        super().setUp()
        toolbox.need("gst-launch-1.0", "ffmpeg", "ffprobe")
        self.environment = dict(
            os.environ, GST_PLUGIN_PATH=str(PLUGINS),
            GST_REGISTRY=str(self.folder / "registry.bin"))

    def pipeline(self, *words):
        process = subprocess.Popen(
            ["gst-launch-1.0", "-q", *map(str, words)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(self.end, process)
        return process

    def receive(self, output, *pipeline):
        """Runs a pipeline that sends into tltcp-recv."""
        file = self.folder / "port"
        file.unlink(missing_ok=True)
        receiver = self.start("tltcp-recv", "-q", "--once", "--json",
                              self.folder / "recv.json", "--port-file", file,
                              "tltcp://127.0.0.1:0", self.folder / output)
        address = self.address(receiver, file)[0]
        sender = self.pipeline(*pipeline, "!", "tltcpsink",
                               f"uri=tltcp://{address}?latency=10000")
        self.assertEqual(self.finish(sender)[0], 0)
        self.assertEqual(self.finish(receiver), (0, ""))
        return self.json("recv.json")["frames"]

    def test_a_pipeline_is_received_into_any_container(self):
        clip = clips.make(self.folder, "h264-aac.ts")
        for form in ("byte-stream", "avc"):
            for output in ("out.mp4", "out.ts", "out.mkv"):
                with self.subTest(form=form, output=output):
                    frames = self.receive(
                        output, "filesrc", f"location={clip}", "!", "tsdemux",
                        "!", "h264parse", "!", "video/x-h264,alignment=au,"
                        f"stream-format={form}")
                    self.assertEqual(sum(frames[t]["received"]
                                         for t in "IPB"), 50)
                    self.assertEqual(clips.digests(self.folder / output, "v"),
                                     clips.digests(clip, "v"))

    def test_scripts_can_check_that_the_elements_are_there(self):
        for name, found in (("tltcpsink", 0), ("tltcpsrc", 0),
                            ("tltcpnothing", 1)):
            done = subprocess.run(
                ["gst-inspect-1.0", "--exists", "--atleast-version=0.1", name],
                env=self.environment, timeout=60, check=False)
            self.assertEqual(done.returncode, found, name)

    def test_packets_are_marked_as_asked_for(self):
        for name, words in (("tltcpsink", ("videotestsrc", "!")),
                            ("tltcpsrc", ())):
            with toolbox.udp_socket() as s:
                uri = f"tltcp://127.0.0.1:{s.getsockname()[1]}?qos-dscp=34"
                self.pipeline(*words, name, f"uri={uri}",
                              *(() if words else ("!", "fakesink")))
                self.assertEqual(toolbox.dscp_of_next(s), 34)

    def test_mpeg_and_sound_are_received_too(self):
        clip = clips.make(self.folder, "mpeg2-mp2.ts")
        frames = self.receive("out.ts", "filesrc", f"location={clip}", "!",
                              "tsdemux", "!", "mpegvideoparse")
        self.assertGreater(frames["B"]["received"], 10)
        self.assertTrue(clips.decodes(self.folder / "out.ts"))
        clip = clips.make(self.folder, "h264-aac.ts")
        frames = self.receive("out.mkv", "filesrc", f"location={clip}", "!",
                              "tsdemux", "!", "aacparse")
        self.assertGreater(frames["audio"]["received"], 90)
        self.assertTrue(clips.decodes(self.folder / "out.mkv"))

    def test_a_file_is_sent_into_a_pipeline(self):
        for name, demuxed in (("raw.h264", "h264parse"),
                              ("mpeg1.m1v", "mpegvideoparse")):
            with self.subTest(name=name):
                clip = clips.make(self.folder, name)
                with toolbox.udp_socket() as s:
                    port = s.getsockname()[1]
                out = self.folder / ("out-" + name)
                receiver = self.pipeline(
                    "tltcpsrc", f"uri=tltcp://127.0.0.1:{port}?mode=listener"
                    "&latency=10000", "delivery=immediate", "!", demuxed, "!",
                    "filesink", f"location={out}")
                self.send_until_heard(clip, port)
                self.assertEqual(self.finish(receiver)[0], 0)
                self.assertEqual(clips.digests(out, "v"),
                                 clips.digests(clip, "v"))

    def listening_port(self, log):
        """The port that a pipeline with -v says it was given."""
        end = time.monotonic() + toolbox.PATIENCE
        while time.monotonic() < end:
            found = re.search(r"localport = (\d+)", log.read_text())
            if found:
                return found.group(1)
            time.sleep(0.01)
        self.fail("the pipeline never listened")
        return ""

    def test_each_caller_loses_what_its_own_link_does_not_carry(self):
        clip = clips.make(self.folder, "h264-aac.ts", seconds=5)
        video = clips.make(self.folder, "raw.h264", seconds=5)
        rate = video.stat().st_size * 8 // 5 * 3 // 4
        log = self.folder / "log"
        with open(log, "w", encoding="ascii") as out:
            sender = subprocess.Popen(
                ["gst-launch-1.0", "-v", "filesrc", f"location={clip}", "!",
                 "tsdemux", "!", "h264parse", "!",
                 "video/x-h264,stream-format=byte-stream", "!", "tltcpsink",
                 "uri=tltcp://127.0.0.1:0?mode=listener&latency=600"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env=self.environment)
        self.addCleanup(self.end, sender)
        port = self.listening_port(log)
        relay, ports = self.linkem("--delay", "10ms", "--rate", rate,
                                   "--queue", "10kB", "127.0.0.1:0",
                                   f"127.0.0.1:{port}")
        # The first one to call makes the film begin.
        viewers = [self.pipeline(
            "tltcpsrc", f"uri=tltcp://127.0.0.1:{at}?latency=600", "!",
            "filesink", f"location={self.folder / name}")
            for at, name in ((ports[0], "narrow.h264"), (port, "wide.h264"))]
        for process in (sender, *viewers):
            self.assertEqual(self.finish(process)[0], 0)
        self.link_report(relay)
        narrow, wide = (clips.types(self.folder / n)
                        for n in ("narrow.h264", "wide.h264"))
        # Of 25 pictures 8 are P and 16 are B; either may miss the first few,
        # and a busy machine may cost some.
        self.assertGreaterEqual(wide["I"], 2)
        self.assertGreaterEqual(wide["P"], 7 * wide["I"])
        self.assertGreaterEqual(wide["B"], 14 * wide["I"])
        self.assertGreaterEqual(narrow["I"], 2)
        self.assertLess(narrow["B"], 14 * narrow["I"])
        self.assertGreater(2 * narrow["P"], narrow["B"])
        self.assertGreaterEqual(narrow["P"], 5 * narrow["I"])

    def send_until_heard(self, clip, port):
        """The pipeline does not say when it listens."""
        for _ in range(100):
            done = toolbox.run("tltcp-send", "-q", "--speed", "0", clip,
                               f"tltcp://127.0.0.1:{port}")
            if done.returncode == 0:
                return
            self.assertIn("cannot connect", done.stderr)
        self.fail("the pipeline never listened")


if __name__ == "__main__":
    unittest.main()
