#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Stock OBS Studio with the module for tltcp, on a display without a screen."""
import base64
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

import obs_stage
import stage
from obs_stage import FPS


CYCLES = int(os.environ.get("PERIGEE_CYCLES", "10"))
WARM = 5  # by which OBS has what it keeps
SLACK = 8192  # KiB by which OBS itself comes and goes, ...
GROWTH = 64  # ... and for each cycle


def resident(pid):
    """KiB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Obs(obs_stage.Obs):
    def test_every_picture_arrives_and_can_be_decoded(self):
        port = stage.free_port()
        path = self.folder / "got.ts"
        recorder = self.record(f"tltcp://127.0.0.1:{port}?mode=listener", path)
        self.await_port(recorder, port)
        _, control = self.obs(f"tltcp://127.0.0.1:{port}?latency=5000")
        self.stream(control)
        status = self.await_status(
            control, lambda s: s["outputTotalFrames"] > 3 * FPS)
        self.assertEqual(status["outputSkippedFrames"], 0)
        self.assertTrue(control.ask("StopStream")[0])
        self.assertEqual(self.done(recorder)[0], 0)
        self.assertGreaterEqual(len(stage.frames(path)), 3 * FPS)
        self.assertGreater(len(stage.frames(path, "a")), FPS)
        decoded = subprocess.run(
            ["ffmpeg", "-v", "error", "-i", path, "-f", "null", "-"],
            capture_output=True, text=True, check=False)
        self.assertEqual(decoded.stderr, "")

    def test_the_encoder_follows_a_link_that_is_too_small(self):
        port = stage.free_port()
        recorder = self.record(f"tltcp://127.0.0.1:{port}?mode=listener",
                               self.folder / "got.ts")
        self.await_port(recorder, port)
        _, (inlet,) = self.linkem("--rate", "500kbit", "--delay", "20ms",
                                  "127.0.0.1:0", f"127.0.0.1:{port}")
        process, control = self.obs(f"tltcp://127.0.0.1:{inlet}?latency=1000")
        self.add_noise(control)
        self.stream(control)
        self.await_said(process, r"the encoder makes [1-9]\d\d kbit/s")

    def check_encoder(self, tune, keyint, buffer):
        """What OBS says of its encoder once it has begun."""
        port = stage.free_port()
        path = self.folder / "got.ts"
        recorder = self.record(f"tltcp://127.0.0.1:{port}?mode=listener", path)
        self.await_port(recorder, port)
        process, control = self.obs(f"tltcp://127.0.0.1:{port}?latency=400")
        self.stream(control)
        self.await_status(control, lambda s: s["outputTotalFrames"] > FPS)
        said = self.said(process)
        self.assertEqual([re.findall(rf"\s{name}: +(\S+)", said)[-1:] for name
                          in ("tune", "keyint", "buffer size")],
                         [tune, [keyint], [buffer]])

    def test_the_encoder_looks_not_ahead_and_makes_small_key_frames(self):
        # 1,500 kbit/s take half the latency for 300 kbit.
        self.check_encoder(["zerolatency"], "60", "300")

    def test_what_the_user_set_for_the_encoder_stays(self):
        self.write_profile("keyint=90 tune=fastdecode vbv-bufsize=700")
        self.check_encoder(["fastdecode"], "90", "700")

    def test_low_delay_can_be_declined(self):
        self.low_delay = False
        self.check_encoder([], "250", "1500")

    def test_obs_connects_again_and_tells_why_it_had_to(self):
        port = stage.free_port()
        url = f"tltcp://127.0.0.1:{port}?mode=listener"
        first = self.record(url, self.folder / "first.ts")
        self.await_port(first, port)
        process, control = self.obs(
            f"tltcp://127.0.0.1:{port}?idle-timeout=1000")
        self.stream(control)
        self.await_status(control, lambda s: s["outputTotalFrames"] > FPS)
        first.send_signal(signal.SIGKILL)
        self.await_status(control, lambda s: s["outputReconnecting"])
        self.assertRegex(self.said(process), r"\[tltcp\] connection lost: ")
        second = self.record(url, self.folder / "second.ts")
        self.await_port(second, port)
        self.await_status(control, lambda s: s["outputActive"] and
                          not s["outputReconnecting"])
        self.await_said(process, r"(?s)connected to .*connected to ")

    def test_programs_that_steer_obs_hear_how_the_stream_goes(self):
        port = stage.free_port()
        recorder = self.record(f"tltcp://127.0.0.1:{port}?mode=listener",
                               self.folder / "got.ts")
        self.await_port(recorder, port)
        _, control = self.obs(f"tltcp://127.0.0.1:{port}?latency=5000")
        self.assertFalse(self.vendor(control)["streaming"])
        self.stream(control)
        self.await_status(control, lambda s: s["outputTotalFrames"] > FPS)
        state = self.vendor(control)
        self.assertTrue(state["streaming"])
        self.assertEqual(state["connected"], 1)
        self.assertGreater(state["delivered_P"] + state["delivered_B"], 0)
        self.assertGreater(state["rtt_ms"], 0)
        self.assertEqual(state["encoder_kbps"], 1500)
        self.assertEqual(state["dropped_I"], 0)

    def test_starting_and_stopping_again_and_again_leaves_nothing_behind(self):
        port = stage.free_port()
        listener = self.launch(
            [stage.toolbox.TOOLS / "tltcp-live-transmit",
             f"tltcp://127.0.0.1:{port}?mode=listener", "/dev/null"])
        self.await_port(listener, port)
        process, control = self.obs(f"tltcp://127.0.0.1:{port}?latency=400")
        least = min(self.cycle(control, process) for _ in range(WARM))
        before = resident(process.pid)
        for _ in range(CYCLES):
            self.cycle(control, process)
        after = resident(process.pid)
        print(f"{CYCLES} cycles: {before} -> {after} KiB", file=sys.stderr)
        self.await_descriptors(process.pid, least)
        self.assertLess(after, before + SLACK + CYCLES * GROWTH)

    def await_descriptors(self, pid, most):
        """The last connection takes a moment to end, and has ten."""
        end = time.monotonic() + stage.toolbox.PATIENCE
        while descriptors(pid) > most:
            self.assertLess(time.monotonic(), end,
                            f"more than {most} stay open")
            time.sleep(0.1)

    def cycle(self, control, process):
        """Returns how many descriptors are open then."""
        self.stream(control)
        end = time.monotonic() + stage.toolbox.PATIENCE
        while self.vendor(control).get("connected") != 1:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.assertTrue(control.ask("StopStream")[0])
        self.await_status(control, lambda s: not s["outputActive"])
        return descriptors(process.pid)

    def shot(self, control, name):
        """The brightness of each of 16 x 12 parts of a source."""
        done, answer = control.ask(
            "GetSourceScreenshot", sourceName=name, imageFormat="png",
            imageWidth=16, imageHeight=12)
        if not done:
            return b""
        picture = base64.b64decode(answer["imageData"].split(",", 1)[1])
        return subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "png_pipe", "-i", "-", "-f",
             "rawvideo", "-pix_fmt", "gray", "-"], input=picture,
            capture_output=True, check=True).stdout

    def await_shot(self, control, wanted):
        end = time.monotonic() + stage.toolbox.PATIENCE
        while not wanted(shot := self.shot(control, "camera")):
            self.assertLess(time.monotonic(), end, shot)
            time.sleep(0.1)

    def test_a_source_shows_what_comes_again_and_again(self):
        port = stage.free_port()
        process, control = self.obs("tltcp://127.0.0.1:1")
        scene = control.ask("GetCurrentProgramScene")[1]
        done, answer = control.ask(
            "CreateInput", sceneName=scene["currentProgramSceneName"],
            inputName="camera", inputKind="tltcp_source",
            inputSettings={"url": f"tltcp://127.0.0.1:{port}?mode=listener"})
        self.assertTrue(done, answer)
        self.await_port(process, port)
        for _ in range(2):
            sender = self.launch(
                [stage.toolbox.TOOLS / "tltcp-live-transmit", "-a", "no",
                 self.film, f"tltcp://127.0.0.1:{port}?latency=1000"])
            self.await_shot(control, lambda shot: len(set(shot)) > 5)
            self.assertEqual(self.done(sender)[0], 0)
            self.await_shot(control, lambda shot: len(set(shot)) < 2)
        for url, cause in (("tltcp://127.0.0.1:1?latncy=1", "latncy=1: no such"),
                           ("srt://127.0.0.1:1", "tltcp://")):
            self.assertTrue(control.ask(
                "SetInputSettings", inputName="camera",
                inputSettings={"url": url})[0])
            self.await_said(process, re.escape(cause))

    def check_cause(self, url, cause):
        process, control = self.obs(url)
        control.ask("StartStream")
        self.await_said(process, re.escape(f"[tltcp] {cause}"))
        self.assertFalse(control.ask("GetStreamStatus")[1]["outputActive"])

    def test_a_wrong_url_is_reported(self):
        self.check_cause("tltcp://127.0.0.1:1?latncy=1", "latncy=1: no such key")

    def test_a_closed_port_is_reported(self):
        self.check_cause(f"tltcp://127.0.0.1:{stage.free_port()}",
                         "no connection: refused: nobody listens")

    def test_a_wrong_passphrase_is_reported(self):
        self.check_cause(self.url_with_a_wrong_passphrase(),
                         "no connection: wrong passphrase or key")


if __name__ == "__main__":
    stage.missing("obs", "Xvfb", "ffmpeg")
    unittest.main(verbosity=2)
