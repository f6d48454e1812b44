# SPDX-License-Identifier: MPL-2.0
"""saratoga as a station: beacons, and mirrors through passes."""
import json
import signal
import socket
import unittest

import saratogabox
import toolbox


class Stations(saratogabox.Node):
    def test_that_nobody_was_heard_is_told(self):
        for words, said in ((), "saratoga: no beacon was heard; "
                            "serve --beacon sends them\n"), (("-q",), ""):
            done = toolbox.run("saratoga", "peers", "--bind", "127.0.0.1:0",
                               "--wait", "0.1", *words)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (0, "", said))

    def test_beacons_are_heard(self):
        with toolbox.udp_socket() as s:
            port = s.getsockname()[1]
        self.serve("--beacon", "0.1", "--eid", "sat-1", "--beacon-to",
                   f"127.0.0.1:{port}")
        done = self.run_ok("peers", "--bind", f"127.0.0.1:{port}", "--wait",
                           "3", "--json", "-")
        peers = json.loads(done.stdout)["peers"]
        self.assertEqual([p["eid"] for p in peers], ["sat-1"])
        self.assertEqual(peers[0]["address"], f"127.0.0.1:{self.port}")

    def test_a_mirror_fetches_what_is_new_through_passes(self):
        a = self.put_file("a", 300000)
        b = self.put_file("img/b", 3000000, 2)
        server = self.serve("--rate", "20mbit")
        port = self.port
        mirror = self.start("saratoga", "mirror", "-q", "--bind",
                            "127.0.0.1:0", "--interval", "0.2",
                            "--inactivity", "1", self.url(), self.there)
        self.wait_for(self.there / "a")
        server.kill()  # in the middle of b: the pass is over
        self.finish(server)
        c = self.put_file("c", 1000, 3)
        self.serve("--rate", "20mbit", port=port)
        self.wait_for(self.there / "img/b")
        self.wait_for(self.there / "c")
        for source, name in (a, "a"), (b, "img/b"), (c, "c"):
            self.same(source, self.there / name)
        self.assertEqual(self.finish(mirror, signal.SIGTERM)[0], 0)

    def test_a_mirror_finds_a_pass_soon_and_complains_once(self):
        with toolbox.udp_socket() as s:
            self.port = s.getsockname()[1]
        mirror = self.start("saratoga", "mirror", "--bind", "127.0.0.1:0",
                            "--retry", "50ms", "--interval", "1h",
                            self.url(), self.there)
        # Two looks without an answer, each with three requests.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("127.0.0.1", self.port))
            s.settimeout(toolbox.PATIENCE)
            for _ in range(6):
                self.assertEqual(s.recv(100)[3], 6)
        self.put_file("f", 1000)
        self.serve(port=self.port)
        self.wait_for(self.there / "f")
        _, errors = self.finish(mirror, signal.SIGTERM)
        self.assertEqual(errors.count("silent"), 1, errors)
        self.assertRegex(errors, saratogabox.LOGGED + self.url() + ": answers again\n")
        self.assertRegex(errors, saratogabox.LOGGED + self.url("f") +
                         r": 1000 bytes in [0-9.]+ s, .* Mbit/s, verified\n")

    def test_a_mirror_asked_for_one_pass_ends_when_all_is_there(self):
        self.put_file("a", 3000)
        self.put_file("x/b", 3000, 2)
        self.serve()
        self.run_ok("mirror", "--once", "--bind", "127.0.0.1:0", self.url(),
                    self.there)
        self.same(self.here / "x/b", self.there / "x/b")
        self.run_ok("mirror", "--once", "--bind", "127.0.0.1:0", self.url(),
                    self.there)


if __name__ == "__main__":
    unittest.main()
