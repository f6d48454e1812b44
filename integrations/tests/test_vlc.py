#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Stock VLC with the module for tltcp, both ways."""
import re
import unittest

import stage
from stage import SECRET


class Vlc(stage.Stage):
    def vlc(self, *arguments):
        return self.launch(
            stage.nobody("cvlc", "-vv", "-I", "dummy", "--no-plugins-cache",
                         *arguments, "vlc://quit"),
            env={"VLC_PLUGIN_PATH": str(stage.PLUGINS / "vlc")})

    def dump(self, url, path):
        """VLC writes what it reads."""
        return self.vlc(url, "--demux=dump", f"--demuxdump-file={path}")

    def send(self, access, where):
        return self.vlc(self.film, "--sout",
                        f"#std{{access={access},mux=ts,dst={where}}}")

    def check_sent(self, path):
        """VLC's multiplexer loses some pictures at the end, now more, now
        less, also when it writes a file."""
        converted = self.folder / "converted.ts"
        self.done(self.send("file", converted))
        sent, wanted = stage.frames(path), stage.frames(converted)
        count = min(len(sent), len(wanted)) - 5
        self.assertGreater(count, 50)
        self.assertEqual(sent[:count], wanted[:count])

    def test_vlc_gets_every_picture_that_was_sent(self):
        port = stage.free_port()
        path = self.folder / "got.ts"
        vlc = self.dump(f"tltcp://127.0.0.1:{port}?mode=listener"
                        "&auto-reconnect=no", path)
        self.await_port(vlc, port)
        self.done(self.play(f"tltcp://127.0.0.1:{port}?latency=5000"))
        status, said = self.done(vlc)
        self.assertEqual(status, 0, said)
        for kind in "va":
            self.assertEqual(stage.frames(path, kind),
                             stage.frames(self.film, kind))

    def check_caching(self, least, most, *arguments):
        """How much of the stream VLC gathers before it plays."""
        port = stage.free_port()
        vlc = self.vlc("--vout=dummy", "--aout=dummy", *arguments,
                       f"tltcp://127.0.0.1:{port}?mode=listener&latency=300"
                       "&auto-reconnect=no")
        self.await_port(vlc, port)
        self.play(f"tltcp://127.0.0.1:{port}?latency=300")
        done = r"Stream buffering done \((\d+) ms"
        self.await_said(vlc, done)
        gathered = int(re.search(done, self.said(vlc))[1])
        self.assertTrue(least <= gathered < most, gathered)

    def test_vlc_waits_for_the_latency_and_no_longer(self):
        self.check_caching(300, 800)

    def test_vlc_waits_less_when_told_so(self):
        self.check_caching(50, 300, "--network-caching=50")

    def test_vlc_sends_every_picture(self):
        port = stage.free_port()
        path = self.folder / "sent.ts"
        recorder = self.record(f"tltcp://127.0.0.1:{port}?mode=listener", path)
        self.await_port(recorder, port)
        status, said = self.done(
            self.send("tltcp", f"127.0.0.1:{port}?latency=5000"))
        self.assertEqual(status, 0, said)
        self.assertEqual(self.done(recorder)[0], 0)
        self.check_sent(path)

    def test_from_vlc_to_vlc_with_a_passphrase_and_a_stream_id(self):
        port = stage.free_port()
        path = self.folder / "both.ts"
        options = f"passphrase={SECRET.replace(' ', '%20')}&streamid=studio"
        viewer = self.dump(f"tltcp://127.0.0.1:{port}?mode=listener&{options}",
                           path)
        self.await_port(viewer, port)
        sender = self.send("tltcp",
                           f"127.0.0.1:{port}?latency=5000&{options}")
        self.assertEqual(self.done(sender)[0], 0)
        self.assertEqual(self.done(viewer)[0], 0)
        self.check_sent(path)

    def check_cause(self, url, cause):
        for process in (self.vlc(url),
                        self.send("tltcp", url)):
            self.await_said(process, cause)
            self.done(process)

    def test_a_wrong_url_is_reported(self):
        self.check_cause("tltcp://127.0.0.1:1?latncy=1", "latncy=1: no such key")

    def test_a_closed_port_is_reported(self):
        self.check_cause(
            f"tltcp://127.0.0.1:{stage.free_port()}?auto-reconnect=no",
            "no connection: refused: nobody listens")

    def test_a_wrong_passphrase_is_reported(self):
        self.check_cause(self.url_with_a_wrong_passphrase(), "wrong passphrase")

    def test_a_lost_sender_is_reported(self):
        self.check_a_lost_sender(self.vlc, "connected to 127.0.0.1")


if __name__ == "__main__":
    stage.missing("cvlc", "ffmpeg", "setpriv")
    unittest.main(verbosity=2)
