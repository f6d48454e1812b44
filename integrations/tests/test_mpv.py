#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Stock mpv with the plugin for tltcp."""
import unittest

import stage
from stage import SECRET


class Mpv(stage.Stage):
    def mpv(self, url, *arguments):
        return self.launch([
            "mpv", "--no-config", f"--script={stage.PLUGINS}/mpv/tltcp.so",
            "--vo=null", "--ao=null", *arguments, url])

    def test_mpv_plays_to_the_end_and_misses_nothing(self):
        port = stage.free_port()
        shots = self.folder / "shots"
        mpv = self.mpv(f"tltcp://127.0.0.1:{port}?mode=listener"
                       "&auto-reconnect=no", "--framedrop=no", "--vo=image",
                       "--vo-image-format=jpg", f"--vo-image-outdir={shots}")
        self.await_port(mpv, port)
        self.done(self.play(f"tltcp://127.0.0.1:{port}?latency=5000"))
        status, said = self.done(mpv)
        self.assertEqual(status, 0, said)
        self.assertIn("End of file", said)
        self.assertEqual(len(list(shots.iterdir())),
                         len(stage.frames(self.film)))

    def test_mpv_gets_what_was_sent_with_a_passphrase(self):
        port = stage.free_port()
        path = self.folder / "dump.ts"
        secret = f"passphrase={SECRET.replace(' ', '%20')}"
        mpv = self.mpv(f"tltcp://127.0.0.1:{port}?mode=listener&{secret}"
                       "&auto-reconnect=no", f"--stream-dump={path}")
        self.await_port(mpv, port)
        self.done(self.play(f"tltcp://127.0.0.1:{port}?latency=5000&{secret}"))
        self.assertEqual(self.done(mpv)[0], 0)
        for kind in "va":
            self.assertEqual(stage.frames(path, kind),
                             stage.frames(self.film, kind))

    def check_cause(self, url, cause):
        status, said = self.done(self.mpv(url))
        self.assertEqual(status, 2, said)
        self.assertIn(cause, said)

    def test_a_wrong_url_is_reported(self):
        self.check_cause("tltcp://127.0.0.1:1?latncy=1", "latncy=1: no such key")

    def test_a_closed_port_is_reported(self):
        self.check_cause(
            f"tltcp://127.0.0.1:{stage.free_port()}?auto-reconnect=no",
            "no connection: refused: nobody listens")

    def test_a_wrong_passphrase_is_reported(self):
        self.check_cause(self.url_with_a_wrong_passphrase(), "wrong passphrase")

    def test_a_lost_sender_is_reported(self):
        self.check_a_lost_sender(self.mpv, "AV: ")

    def test_mpv_can_be_stopped_while_it_waits(self):
        port = stage.free_port()
        mpv = self.mpv(f"tltcp://127.0.0.1:{port}?mode=listener")
        self.await_port(mpv, port)
        mpv.terminate()
        self.done(mpv)


if __name__ == "__main__":
    stage.missing("mpv", "ffmpeg")
    unittest.main(verbosity=2)
