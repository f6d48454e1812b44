# SPDX-License-Identifier: MPL-2.0
"""tltcp-live-transmit with many callers."""
import json
import os
import signal
import subprocess
import time
import unittest

import clips
import noise_peer
import toolbox

RED = "the passphrase of red"
BLUE = "the passphrase of blue"


class Callers(toolbox.Folder):
    def setUp(self):
        super().setUp()
        self.clip = clips.make(self.folder, "h264-aac.ts")
        self.list = self.folder / "callers"
        self.write_list(f"red {RED}", f"blue {BLUE}")

    def write_list(self, *lines):
        self.list.write_text("".join(line + "\n" for line in lines),
                             encoding="ascii")
        self.list.chmod(0o600)

    def listen(self, source, query, *words):
        """A sender that listens; the process and its addresses."""
        file = self.folder / "port"
        process = self.start(
            "tltcp-live-transmit", "--port-file", file, "-s", "50ms", "--pf",
            "json", "--statsout", self.folder / "stats", *words, source,
            f"tltcp://127.0.0.1:0?mode=listener&latency=5000{query}")
        return process, self.address(process, file)

    def camera(self, query="", *words):
        return self.listen("udp://127.0.0.1:0", query, *words)

    def view(self, address, name, passphrase=None, output=None):
        words = [output or self.folder / f"{name}.ts"]
        environment = dict(os.environ)
        if passphrase:
            environment["PERIGEE_PASSPHRASE"] = passphrase
        return self.start("tltcp-live-transmit", "-q", "-a", "no",
                          f"tltcp://{address}{'&' if '?' in address else '?'}"
                          f"streamid={name}", *words,
                          env=environment)

    def statistics(self):
        """The newest line that is whole."""
        file = self.folder / "stats"
        lines = file.read_text().split("\n") if file.exists() else []
        return json.loads(lines[-2]) if len(lines) > 1 else {"callers": []}

    def wait_for(self, *names):
        """Until just these are connected; the newest statistics."""
        end = time.monotonic() + toolbox.PATIENCE
        while time.monotonic() < end:
            now = self.statistics()
            if sorted(c["streamid"] for c in now["callers"]) == sorted(names):
                return now
            time.sleep(0.02)
        self.fail(f"{names}: {self.statistics()}")
        return None

    def hear(self, process, words):
        """Waits until it has said something."""
        for line in process.stderr:
            if words in line:
                return
        self.fail(f"it never said: {words}")

    def film(self, udp):
        """Sends the film, once."""
        subprocess.run(
            ["ffmpeg", "-v", "error", "-re", "-i", self.clip, "-c", "copy",
             "-f", "mpegts", f"udp://{udp}?pkt_size=1316"], check=True,
            stdin=subprocess.DEVNULL, timeout=toolbox.PATIENCE)

    def expect_refusal(self, viewer, words):
        status, errors = self.finish(viewer)
        self.assertEqual(status, 1, errors)
        self.assertIn(words, errors)

    def test_each_stream_has_its_passphrase_and_its_statistics(self):
        camera, (udp, address) = self.camera(f"&callers={self.list}")
        red = self.view(address, "red", RED)
        blue = self.view(address, "blue", BLUE)
        self.wait_for("red", "blue")
        self.film(udp)
        self.expect_refusal(self.view(address, "red", BLUE),
                            "this stream has another passphrase")
        self.expect_refusal(self.view(address, "red", RED),
                            "busy with another caller of this stream")
        self.expect_refusal(self.view(address, "green", BLUE),
                            "no stream of that name")
        self.expect_refusal(self.view(address, "red", "a wrong passphrase"),
                            "passphrase")
        now = self.wait_for("red", "blue")
        self.assertEqual(now["connected"], 2)
        for caller in now["callers"]:
            self.assertGreater(caller["sections_offered"], 50, caller)
            self.assertGreater(caller["rtt_ms"], 0)
            self.assertRegex(caller["address"], r"^127\.0\.0\.1:\d+$")
        self.assertEqual(self.finish(camera, signal.SIGINT)[0], 0)
        for name, viewer in ("red", red), ("blue", blue):
            self.assertEqual(self.finish(viewer), (0, ""))
            self.assertTrue(clips.decodes(self.folder / f"{name}.ts"))

    def test_who_is_taken_from_the_list_is_cut_off_and_hears_it(self):
        camera, (_, address) = self.camera(f"&callers={self.list}")
        red = self.view(address, "red", RED)
        blue = self.view(address, "blue", BLUE)
        self.wait_for("red", "blue")
        self.write_list(f"red {RED}")
        camera.send_signal(signal.SIGHUP)
        self.hear(camera, "cut off: blue")
        status, errors = self.finish(blue)
        self.assertEqual(status, 1)
        self.assertIn("refused", errors)
        self.wait_for("red")
        self.expect_refusal(self.view(address, "blue", BLUE),
                            "no stream of that name")
        self.write_list("red a passphrase that nobody knows")
        camera.send_signal(signal.SIGHUP)
        self.hear(camera, "the list of callers stays as it was")
        self.write_list(f"red {RED}", f"green {BLUE}")
        camera.send_signal(signal.SIGHUP)
        green = self.view(address, "green", BLUE)
        self.wait_for("red", "green")
        self.assertEqual(self.finish(camera, signal.SIGINT)[0], 0)
        for viewer in red, green:
            self.assertEqual(self.finish(viewer)[0], 0)

    def identity(self, number):
        """A static key: the file of the secret, and the public one."""
        secret = bytes([8, number]) * 16
        file = self.folder / f"identity-{number}"
        file.write_bytes(secret)
        file.chmod(0o600)
        return file, noise_peer.public(secret).hex()

    def test_each_stream_has_its_static_key_until_that_is_revoked(self):
        (own, listener), (mine, red), (other, blue) = map(
            self.identity, (1, 2, 3))
        self.write_list(f"red key:{red}", f"blue key:{blue}")
        camera, (_, address) = self.camera(
            f"&callers={self.list}&identity-file={own}")

        def view(name, file, key=listener):
            return self.view(
                f"{address}?identity-file={file}&listener-key={key}", name)

        first = view("red", mine)
        second = view("blue", other)
        self.hear(camera, f'caller is: {red[:16]}, stream "red"')
        self.wait_for("red", "blue")
        self.expect_refusal(view("red", other), "another static key")
        self.expect_refusal(view("red", mine, blue), "has no such")
        self.write_list(f"red key:{blue}", f"blue key:{blue}")
        camera.send_signal(signal.SIGHUP)
        self.hear(camera, "cut off: red")
        self.assertEqual(self.finish(first)[0], 1)
        self.expect_refusal(view("red", mine), "another static key")
        self.wait_for("blue")  # not what was told before
        third = view("red", other)
        self.wait_for("red", "blue")
        self.assertEqual(self.finish(camera, signal.SIGINT)[0], 0)
        for viewer in second, third:
            self.assertEqual(self.finish(viewer)[0], 0)

    def test_a_receiver_says_who_sends(self):
        (own, listener), (mine, camera) = map(self.identity, (1, 2))
        callers, file = self.folder / "keys", self.folder / "port"
        callers.write_text(f"{camera} camera 7\n", encoding="ascii")
        receiver = self.start(
            "tltcp-recv", "--once", "--port-file", file, "--identity-file",
            own, "--caller-keys", callers, "tltcp://127.0.0.1:0",
            self.folder / "out.ts")
        (address,) = self.address(receiver, file)
        done = toolbox.run("tltcp-send", "-q", "--speed", "0",
                           "--identity-file", mine, "--listener-key", listener,
                           self.clip, f"tltcp://{address}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        status, errors = self.finish(receiver)
        self.assertEqual(status, 0, errors)
        self.assertIn("caller is camera 7", errors)

    def test_a_folder_is_not_a_list_without_keys(self):
        own, _ = self.identity(1)
        done = toolbox.run("tltcp-recv", "--identity-file", own,
                           "--caller-keys", self.folder,
                           "tltcp://127.0.0.1:0", self.folder / "x.ts")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("a file whose lines have a public key", done.stderr)

    def test_static_keys_need_those_of_the_other_side(self):
        own, _ = self.identity(1)
        for words, missing in (
                (("tltcp-send", "--identity-file", own, self.clip,
                  "tltcp://127.0.0.1:9"), "listener-key"),
                (("tltcp-recv", "--identity-file", own, "tltcp://127.0.0.1:0",
                  self.folder / "x.ts"), "caller-keys"),
                (("tltcp-live-transmit", "udp://127.0.0.1:0",
                  f"tltcp://:0?identity-file={own}"), "caller-keys"),
                (("tltcp-live-transmit", "udp://127.0.0.1:0",
                  f"tltcp://127.0.0.1:9?identity-file={own}"),
                 "listener-key")):
            done = toolbox.run(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(missing, done.stderr)

    def test_a_slow_caller_disturbs_no_other(self):
        """The film waits for the first caller; the second joins by a link
        that carries a tenth of it."""
        clip = clips.make(self.folder, "h264-aac.ts", seconds=5)
        slow_rate = clip.stat().st_size * 8 // 5 // 10
        sender, (udp, address) = self.camera()
        relay, ports = self.linkem("--rate", slow_rate, "--queue", "20kB",
                                   "127.0.0.1:0", address)
        fast = self.view(address, "fast")
        slow = self.view(f"127.0.0.1:{ports[0]}", "slow")
        self.wait_for("fast", "slow")
        self.clip = clip
        self.film(udp)
        now = {c["streamid"]: c for c in self.wait_for("fast",
                                                       "slow")["callers"]}
        self.assertEqual(self.finish(sender, signal.SIGINT)[0], 0)
        self.assertEqual(self.finish(fast), (0, ""))
        self.end(slow)
        self.link_report(relay)
        self.assertEqual(now["fast"]["sections_lost"], 0)
        self.assertGreater(now["slow"]["sections_offered"],
                           now["slow"]["sections_delivered"])
        for kind in "va":
            self.assertEqual(clips.digests(self.folder / "fast.ts", kind),
                             clips.digests(clip, kind))

    def test_there_are_as_many_callers_as_may_be(self):
        camera, (_, address) = self.camera("&max-callers=2")
        first = self.view(address, "first")
        self.wait_for("first")
        second = self.view(address, "second")
        self.wait_for("first", "second")
        self.expect_refusal(self.view(address, "third"),
                            "it has as many callers as it accepts")
        self.assertEqual(self.finish(first, signal.SIGTERM)[0], 0)
        self.wait_for("second")
        third = self.view(address, "third")
        self.wait_for("second", "third")
        self.assertEqual(self.finish(camera, signal.SIGINT)[0], 0)
        for viewer in second, third:
            self.assertEqual(self.finish(viewer)[0], 0)

    def test_an_input_takes_one_caller_of_its_list_at_a_time(self):
        file = self.folder / "port"
        out = self.folder / "out.ts"
        receiver = self.start(
            "tltcp-live-transmit", "-q", "--port-file", file, "--delivery",
            "immediate",
            f"tltcp://127.0.0.1:0?mode=listener&callers={self.list}", out)
        (address,) = self.address(receiver, file)

        def send(name, passphrase):
            return toolbox.run(
                "tltcp-live-transmit", "-q", "-a", "no", self.clip,
                f"tltcp://{address}?latency=5000&streamid={name}",
                env=dict(os.environ, PERIGEE_PASSPHRASE=passphrase))

        done = send("red", BLUE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("another passphrase", done.stderr)
        done = send("blue", BLUE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.finish(receiver, signal.SIGINT)[0], 0)
        self.assertEqual(clips.digests(out, "v"), clips.digests(self.clip, "v"))

    def test_a_list_that_cannot_be_is_refused_at_once(self):
        self.write_list("red short")
        listener = f"tltcp://127.0.0.1:0?mode=listener&callers={self.list}"
        done = toolbox.run("tltcp-live-transmit", "udp://127.0.0.1:0",
                           listener)
        self.assertEqual(done.returncode, 1)
        self.assertIn("line 1", done.stderr)
        self.assertNotIn("short", done.stderr.replace(str(self.list), ""))
        self.write_list(f"red {RED}")
        done = toolbox.run("tltcp-live-transmit", "udp://127.0.0.1:0",
                           listener,
                           env=dict(os.environ, PERIGEE_PASSPHRASE=BLUE))
        self.assertEqual(done.returncode, 2)
        self.assertIn("give no others", done.stderr)
        for query, word in (("callers=x&streamid=y", "not both"),
                            ("callers=", "file"), ("max-callers=0", "1000")):
            done = toolbox.run(
                "tltcp-live-transmit", "udp://127.0.0.1:0",
                f"tltcp://127.0.0.1:0?mode=listener&{query}")
            self.assertEqual(done.returncode, 2, query)
            self.assertIn(word, done.stderr)
        done = toolbox.run("tltcp-live-transmit", "udp://127.0.0.1:0",
                           "tltcp://127.0.0.1:9?callers=x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("only a listener", done.stderr)


if __name__ == "__main__":
    unittest.main()
