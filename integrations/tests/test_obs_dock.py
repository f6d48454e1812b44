#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""The dock in stock OBS Studio, with mouse and keyboard."""
import json
import os
import signal
import subprocess
import time
import unittest

import obs_stage
import stage


class Dock(obs_stage.Obs):
    def setUp(self):
        super().setUp()
        self.name = ""

    def display(self):
        self.name = super().display()
        return self.name

    def tool(self, *command):
        done = subprocess.run(
            [str(word) for word in command], check=False, capture_output=True,
            text=True, env={**os.environ, "DISPLAY": self.name},
            timeout=stage.toolbox.PATIENCE)
        return done.returncode, done.stdout.strip()

    def await_true(self, wanted, what):
        end = time.monotonic() + stage.toolbox.PATIENCE
        while not wanted():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.2)

    def dock(self):
        """The window of the dock, once OBS shows it."""
        found = []

        def there():
            found[:] = self.tool("xdotool", "search", "--onlyvisible",
                                 "--name", "^TLTCP$")[1].split()
            return found
        self.await_true(there, "no dock is shown")
        return found[0]

    def write(self, window, *fields):
        """Writes into the fields of the dock, from the first, and then Enter."""
        self.tool("xdotool", "mousemove", "--window", window, 250, 62,
                  "click", "--repeat", 3, 1, "windowfocus", window)
        for field in fields:
            self.tool("xdotool", "key", "ctrl+a", "type", "--delay", 20, field)
            if field is not fields[-1]:
                self.tool("xdotool", "key", "Tab")
        self.tool("xdotool", "key", "Return")

    def picture(self, window):
        """What the lower half of the dock shows, below the fields, in which a
        cursor blinks."""
        data = subprocess.run(
            ["xwd", "-silent", "-id", window], check=True, capture_output=True,
            env={**os.environ, "DISPLAY": self.name}).stdout
        return data[len(data) // 2:]

    def kept(self):
        """Where OBS streams, as it keeps it; asking it beside the dock's work
        is a race in OBS."""
        if not self.service.exists():
            return None
        return json.loads(self.service.read_text(encoding="utf-8"))

    def set_server(self, url):
        """Has OBS stream there.  Keys get lost where a machine is busy."""
        wanted = {"type": "tltcp_service", "settings": {
            "server": url, "passphrase": "wet paint", "low_delay": True}}
        self.await_true(lambda: self.write(self.dock(), url, "wet paint") or
                        self.kept() == wanted,
                        "the dock sets no service")

    def test_a_server_written_into_the_dock_is_where_obs_streams(self):
        port = stage.free_port()
        here = f"tltcp://127.0.0.1:{port}"
        path = self.folder / "got.ts"
        recorder = self.record(f"{here}?mode=listener&passphrase=wet%20paint",
                               path)
        self.await_port(recorder, port)
        process, control = self.obs(None)
        dock = self.dock()
        self.await_true(lambda: self.write(dock, f"{here}?latncy=400", "") or
                        "latncy=400: no such key" in self.said(process),
                        "the dock does not tell what is wrong")
        self.assertIsNone(self.kept())
        self.set_server(f"{here}?latency=400")
        idle = self.picture(dock)
        self.stream(control)
        self.await_status(control, lambda s: s["outputTotalFrames"] > 30)
        self.await_true(lambda: self.picture(dock) != idle,
                        "the dock shows nothing of the stream")
        self.assertTrue(control.ask("StopStream")[0])
        self.assertEqual(self.done(recorder)[0], 0)
        self.assertGreater(len(stage.frames(path)), 30)

    def test_the_dock_is_shown_once_and_keeps_the_server(self):
        process, control = self.obs(None)
        self.set_server("tltcp://127.0.0.1:1")
        kept = self.kept()
        self.tool("xdotool", "windowquit", self.dock())
        control.close()
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.done(process)[0], 0)
        _, control = self.obs(None)
        self.assertEqual(
            control.ask("GetStreamServiceSettings")[1],
            {"streamServiceType": kept["type"],
             "streamServiceSettings": kept["settings"]})
        self.assertEqual(self.tool("xdotool", "search", "--onlyvisible",
                                   "--name", "^TLTCP$")[1], "")


if __name__ == "__main__":
    stage.missing("obs", "Xvfb", "ffmpeg", "xdotool", "xwd")
    unittest.main(verbosity=2)
