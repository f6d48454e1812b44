# SPDX-License-Identifier: MPL-2.0
"""saratoga by its command line: who is served, and what is refused."""
import json
import os
import signal
import socket
import unittest

import saratogabox
import toolbox


class Denials(saratogabox.Node):
    def check_denials(self, *cases):
        for why, *command in cases:
            done = toolbox.run("saratoga", *command)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn(f": access denied: {why}\n", done.stderr)

    def test_what_is_denied_is_told_with_the_cause(self):
        server = self.serve()
        new = self.put_file("new", 100, folder=self.there)
        self.put_file("sub/f", 100, seed=2)
        no = "it does not serve such requests; serve it with"
        self.check_denials(
            ("that is a folder; -r fetches folders",
             "get", self.url("sub"), self.there / "x"),
            (no + " --write", "put", new, self.url("new")),
            (no + " --delete", "rm", self.url("sub/f")),
            (no + " --delete, and without --no-read",
             "take", self.url("sub/f"), self.there / "x"),
            ("permissions of files there, or a path out of its root",
             "get", self.url("../f"), self.there / "x"))
        done = self.run_bad("not found", "get", "--json", "-",
                            self.url("sub/x"))
        self.assertEqual(json.loads(done.stdout)["file"], "x")

        self.stop(server)
        self.serve("--write", "--no-read")
        self.check_denials(
            ("a file of that name is there already; serve it with --overwrite",
             "put", new, self.url("sub/f")),
            (no + "out --no-read", "ls", self.url()))

    def test_other_implementations_deny_without_a_cause(self):
        with toolbox.udp_socket() as s:
            client = self.start("saratoga", "get", self.url(
                "f", s.getsockname()[1]), self.there / "f")
            packet, place = s.recvfrom(2000)
            s.sendto(bytes.fromhex("24010005") + packet[4:8] + bytes(4), place)
            status, errors = self.finish(client)
        self.assertEqual(status, 1)
        self.assertIn("access denied; is it a folder (-r), or served with "
                      "--no-read or --auth-key?", errors)


class Keys(saratogabox.Node):
    def setUp(self):
        super().setUp()
        self.key = self.put_file("key", 32, 1, self.folder)
        self.other = self.put_file("other", 32, 2, self.folder)
        self.key.chmod(0o600)
        self.other.chmod(0o600)

    def test_only_those_with_the_key_are_served(self):
        source = self.put_file("f", 50000)
        self.serve("--write", "--delete", "--auth-key", self.key)
        self.run_ok("get", "--auth-key", self.key, self.url("f"),
                    self.there / "f")
        self.same(source, self.there / "f")
        self.run_ok("put", "--auth-key", self.key, source, self.url("g"))
        self.same(source, self.here / "g")
        for key in ((), ("--auth-key", self.other)):
            for command in (("get", self.url("f"), self.there / "x"),
                            ("put", source, self.url("x")),
                            ("rm", self.url("f")), ("ls", self.url())):
                self.run_bad("access denied", command[0], *key, *command[1:])
        self.assertTrue(source.exists())
        self.assertFalse((self.here / "x").exists())
        self.assertFalse((self.there / "x").exists())

    def test_files_may_have_to_be_signed(self):
        source = self.put_file("f", 50000)
        server = self.serve("--auth-key", self.key)
        self.run_bad("checksum was not made with the key", "get", "--auth-key",
                     self.key, "--auth-files", self.url("f"), self.there / "f")
        self.assertFalse((self.there / "f").exists())
        self.stop(server)
        self.serve("--auth-key", self.key, "--checksum", "hmac-sha256")
        done = self.run_ok("get", "--auth-key", self.key, "--auth-files",
                           "--json", "-", self.url("f"), self.there / "f")
        self.same(source, self.there / "f")
        report = json.loads(done.stdout)
        self.assertEqual((report["checksum"], report["verified"]),
                         ("hmac-sha256", True))

    def test_invalid_keys_are_reported(self):
        short = self.put_file("short", 15, 1, self.folder)
        long = self.put_file("long", 257, 1, self.folder)
        for key in short, long, self.folder / "none":
            self.run_bad("--auth-key", "get", "--auth-key", key,
                         "saratoga://h/x", status=2)
        self.run_bad("need --auth-key", "get", "--auth-files",
                     "saratoga://h/x", status=2)


class BadInput(saratogabox.Node):
    def test_nothing_outside_the_root_can_be_named(self):
        (self.folder / "secret").write_text("secret")
        (self.here / "out").symlink_to(self.folder / "secret")
        (self.here / "up").symlink_to("..")
        os.mkfifo(self.here / "pipe")
        self.serve("--write", "--delete")
        new = self.put_file("new", 10, folder=self.there)
        for path in ("../secret", "%2e%2e/secret", "out", "up/secret", "pipe",
                     "x/../../secret"):
            with self.subTest(path):
                self.run_bad("access denied", "get", self.url(path),
                             self.there / "got")
                self.run_bad("access denied", "put", new, self.url(path))
                self.run_bad("", "rm", self.url(path))
        self.assertEqual((self.folder / "secret").read_text(), "secret")
        self.assertFalse((self.there / "got").exists())

    def test_a_file_that_is_there_is_not_replaced_unasked(self):
        self.serve("--write")
        source = self.put_file("f", 1000)
        mine = self.there / "f"
        mine.write_text("mine")
        self.run_bad("there already", "get", self.url("f"), mine)
        self.run_bad("access denied", "put", mine, self.url("f"))
        self.assertEqual(mine.read_text(), "mine")
        self.same(source, self.here / "f")
        self.assertEqual(source.stat().st_size, 1000)
        self.run_ok("get", "--overwrite", self.url("f"), mine)
        self.same(source, mine)

    def test_a_put_of_what_is_there_already_goes_well(self):
        self.serve("--write")
        source = self.put_file("f", 100000, folder=self.there)
        self.run_ok("put", source, self.url("f"))
        self.run_ok("put", source, self.url("f"))
        self.same(source, self.here / "f")

    def test_a_missing_file_and_a_folder_cannot_be_fetched(self):
        self.serve()
        (self.here / "sub").mkdir()
        self.run_bad("not found", "get", self.url("none"), self.there / "x")
        self.run_bad("access denied", "get", self.url("sub"), self.there / "x")
        self.assertEqual(list(self.there.iterdir()), [])

    def test_the_quota_holds(self):
        self.serve("--write", "--quota", "150kB")
        a = self.put_file("a", 100000, folder=self.there)
        b = self.put_file("b", 100000, 2, folder=self.there)
        self.run_ok("put", a, self.url("a"))
        self.run_bad("by the peer", "put", b, self.url("b"))
        self.wait_until(lambda: [p.name for p in self.here.iterdir()] == ["a"],
                        "the part of what was refused stays")

    def test_a_put_of_what_is_there_already_needs_no_quota(self):
        self.serve("--write", "--quota", "150kB")
        a = self.put_file("a", 100000, folder=self.there)
        for _ in range(3):
            self.run_ok("put", a, self.url("a"))

    def test_a_put_that_ends_early_uses_up_what_came(self):
        self.serve("--write", "--quota", "1MB")
        a = self.put_file("a", 900000, folder=self.there)
        for _ in range(2):
            put = self.start("saratoga", "put", "--rate", "1mbit", a,
                             self.url("a"))
            self.wait_for_part(put, folder=self.here)
            self.finish(put, signal.SIGINT)
            self.wait_until(lambda: self.left_over(self.here),
                            "nothing is kept")
        self.run_ok("put", a, self.url("a"))
        self.same(a, self.here / "a")

    def test_datagrams_of_all_sorts_do_no_harm(self):
        self.serve("--write", "--delete")
        source = self.put_file("f", 50000)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("127.0.0.2", 0))  # another host
            for i in range(3000):
                head = bytes([0x20 | i % 32, i * 7 % 256, i * 13 % 256,
                              i * 31 % 256])
                s.sendto(head + saratogabox.content(i % 60, i),
                         ("127.0.0.1", self.port))
        self.run_ok("get", self.url("f"), self.there / "f")
        self.same(source, self.there / "f")
        self.assertEqual([p.name for p in self.here.iterdir()
                          if p.name == "f"], ["f"])


if __name__ == "__main__":
    unittest.main()
