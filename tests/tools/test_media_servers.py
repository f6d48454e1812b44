# SPDX-License-Identifier: MPL-2.0
"""What docs/guide/media-servers.md tells people to do, as it stands there."""
import pathlib
import re
import subprocess
import sys
import time
import unittest

import clips
import pagebox
import toolbox

PAGE = pagebox.DOCS / "guide" / "media-servers.md"


def commands(heading):
    return pagebox.commands("guide/media-servers.md", heading)


class Page(pagebox.Page):
    def test_ffmpeg_through_pipes(self):
        receive, send = commands("FFmpeg")
        receiver = self.start_line(receive)
        self.await_port("5000")
        self.ends_well(self.start_line(send, patient=True))
        self.ends_well(receiver)
        self.assertEqual(self.pictures(self.folder / "received.ts"), 50)

    def test_programs_that_speak_udp(self):
        receive, send, encoder = commands("Any program")
        player = self.udp_player()
        self.start_line(receive)
        self.await_port("5000")
        self.start_line(send)
        self.await_port("1234")
        film = self.start_line(encoder)
        got = b""
        while len(got) < 20000:
            got += player.recv(65536)
        self.ends_well(film)
        self.assertEqual(set(got[::188]), {0x47})

    def view(self, line, name):
        """Starts what the page has viewers do, into a file."""
        return self.start_line(line.replace("udp://127.0.0.1:1235", name))

    def serves(self, server, viewer):
        """A viewer gets pictures of an encoder that sends UDP to the server."""
        encoder = commands("Any program")[2]
        self.start_line(server)
        self.await_port("1234")
        self.view(viewer, "a.ts")
        while not self.pictures_so_far(self.folder / "a.ts"):
            self.ends_well(self.start_line(encoder))

    def test_a_relay_serves_many_whose_camera_comes_again(self):
        relay, camera, viewer, _ = commands("A relay")
        self.start_line(relay)
        self.await_port("5000")
        for name in "a.ts", "b.ts":
            self.view(viewer, name)
        self.start_line(camera).communicate(timeout=toolbox.PATIENCE)
        while not all(self.pictures_so_far(self.folder / name) > 60
                      for name in ("a.ts", "b.ts")):
            self.start_line(camera).communicate(timeout=toolbox.PATIENCE)

    def test_the_tool_serves_callers(self):
        server, _, _ = commands("Many viewers")
        _, _, viewer, _ = commands("A relay")
        self.serves(server, viewer)

    def test_the_tool_serves_callers_each_with_a_passphrase(self):
        _, server, caller = commands("Many viewers")
        (self.folder / "callers.txt").write_text(
            "studio correct horse battery staple\n", encoding="ascii")
        self.serves(server, caller)

    def test_an_encoders_udp_is_given_to_callers(self):
        _, _, viewer, server = commands("A relay")
        self.serves(server, viewer)

    def test_between_peers_that_speak_srt(self):
        self.need_element("srtsink")
        first, second = commands("SRT on one side")
        player = self.start_line(
            "gst-launch-1.0 srtsrc uri='srt://:6001?mode=listener' "
            "! filesink location=received.ts")
        self.await_port("6001")
        self.start_line(second)
        self.await_port("5000")
        self.start_line(first)
        self.await_port("6000")
        self.ends_well(self.start_line(
            "gst-launch-1.0 filesrc location=film.ts "
            "! tsparse set-timestamps=true ! identity sync=true "
            "! srtsink uri='srt://127.0.0.1:6000'"))
        self.ends_well(player)
        self.assertGreater(self.pictures(self.folder / "received.ts"), 10)

    def test_hls(self):
        receive, send, _ = commands("HLS")
        receiver = self.start_line(receive)
        self.await_port("5000")
        self.ends_well(self.start_line(send))
        self.ends_well(receiver)
        playlist = (self.folder / "live" / "live.m3u8").read_text()
        self.assertIn("segment00000.ts", playlist)
        self.assertTrue(clips.decodes(self.folder / "live" / "live.m3u8"))

    def test_rtmp(self):
        send, serve, _, _ = commands("RTMP")
        film = commands("HLS")[1]
        server = self.start_line(serve)
        self.await_port("1935", ("tcp", "tcp6"))
        gateway = self.start_line(send)
        self.await_port("5000")
        self.ends_well(self.start_line(film))
        self.ends_well(gateway)
        self.ends_well(server)
        self.assertGreater(self.pictures(self.folder / "received.flv"), 40)

    def receive_frames(self):
        """Starts what the page names to receive single frames."""
        receiver = self.start_line(commands("RTSP")[1])
        self.await_port("5000")
        return receiver

    def test_from_an_hls_server(self):
        film = self.folder / "film.mp4"
        web = self.folder / "live"
        subprocess.run(["ffmpeg", "-v", "error", "-i", film, "-c", "copy",
                        "-hls_time", "1", "-hls_list_size", "0",
                        web / "live.m3u8"], check=True,
                       stdin=subprocess.DEVNULL, timeout=toolbox.PATIENCE)
        server = subprocess.Popen(
            [sys.executable, "-m", "http.server", "--bind", "127.0.0.1",
             self.ports["8080"]], cwd=web, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, server)
        self.await_port("8080", ("tcp",))
        receiver = self.receive_frames()
        self.ends_well(self.start_line(commands("HLS")[2], patient=True))
        self.ends_well(receiver)
        self.assertGreater(self.pictures(self.folder / "received.mkv"), 40)

    def test_from_an_rtmp_server(self):
        _, _, send, serve = commands("RTMP")
        server = self.start_line(serve)
        self.await_port("1935", ("tcp", "tcp6"))
        receiver = self.receive_frames()
        # Server and player end by hanging up, which the one takes amiss.
        self.start_line(send, patient=True).communicate(
            timeout=toolbox.PATIENCE)
        server.communicate(timeout=toolbox.PATIENCE)
        receiver.communicate(timeout=toolbox.PATIENCE)
        self.assertGreater(self.pictures(self.folder / "received.mkv"), 40)

    def need_element(self, name):
        done = subprocess.run(["gst-inspect-1.0", "--exists", name],
                              check=False, env=self.environment)
        if done.returncode != 0:
            self.skipTest(f"there is no {name} here")

    def start_rtsp_server(self):
        script = pathlib.Path(__file__).with_name("rtsp_server.py")
        server = subprocess.Popen(
            [sys.executable, script, self.ports["8554"],
             self.folder / "served.h264"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        self.addCleanup(self.end_group, server)
        if not server.stdout.readline():
            self.skipTest(server.stderr.read())

    def test_from_an_rtsp_camera(self):
        send, _, _ = commands("RTSP")
        self.start_rtsp_server()
        receiver = self.receive_frames()
        self.ends_well(self.start_line(send, patient=True))
        self.ends_well(receiver)
        # live from end to end: a busy machine may cost some
        self.assertGreater(self.pictures(self.folder / "received.mkv"), 40)

    def test_to_an_rtsp_server(self):
        _, _, send = commands("RTSP")
        film = commands("HLS")[1]
        self.need_element("rtspclientsink")
        self.start_rtsp_server()
        self.start_line(send)
        self.await_port("5000")
        self.ends_well(self.start_line(film))
        # At the end of a stream rtspclientsink hangs or fails now and then,
        # whatever feeds it: what counts is what the server got.
        end = time.monotonic() + toolbox.PATIENCE
        while self.pictures_so_far(self.folder / "served.h264") <= 40:
            self.assertLess(time.monotonic(), end, "pictures are missing")
            time.sleep(0.1)

    def test_elements_of_the_other_lines_exist(self):
        text = PAGE.read_text(encoding="utf-8")
        for line in re.findall(r"^gst-launch-1.0 .*$", text, re.M):
            elements = re.findall(r"(?:^gst-launch-1.0|!) ([a-z0-9]+)", line)
            for element in set(elements) - {"rtspclientsink"}:
                done = subprocess.run(
                    ["gst-inspect-1.0", element], check=False,
                    env=self.environment, stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, timeout=toolbox.PATIENCE)
                self.assertEqual(done.returncode, 0, element)


if __name__ == "__main__":
    unittest.main()
