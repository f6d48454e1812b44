# SPDX-License-Identifier: MPL-2.0
"""saratoga as a station: beacons, and mirrors through passes."""
import json
import os
import signal
import socket
import unittest

import saratogabox
import toolbox


class Stations(saratogabox.Node):
    def test_the_absence_of_beacons_is_reported(self):
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

    def test_a_mirror_fetches_new_files_through_passes(self):
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

    def mirror(self, *options):
        done = toolbox.run("saratoga", "mirror", "--once", "--bind",
                           "127.0.0.1:0", *options, self.url(), self.there)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_a_mirror_leaves_files_that_it_has_not_fetched(self):
        self.put_file("c", 3000)
        local = self.put_file("c", 100, 2, self.there)
        mine = local.read_bytes()
        self.serve()
        self.assertIn(f"{local} is not the fetched file", self.mirror())
        self.assertEqual(local.read_bytes(), mine)
        self.mirror("--overwrite")
        self.same(self.here / "c", local)

    def test_a_mirror_does_not_fetch_moved_files_again(self):
        for name in "a", "sub/b c%":
            self.put_file(name, 3000)
        self.serve()
        self.assertEqual(self.mirror(), "")
        for name in "a", "sub/b c%":
            (self.there / name).unlink()
        self.assertEqual(self.mirror(), "")
        self.assertEqual([p.name for p in self.there.rglob("*")
                          if p.is_file()], [".saratoga-ledger"])

    def test_a_mirror_replaces_its_own_copy_by_a_new_file(self):
        self.put_file("a", 3000)
        self.serve()
        self.mirror()
        self.put_file("a", 4000, 2)
        self.assertEqual(self.mirror(), "")
        self.same(self.here / "a", self.there / "a")

    def test_a_copy_that_was_changed_stays(self):
        self.put_file("a", 3000)
        self.serve()
        self.mirror()
        (self.there / "a").write_bytes(b"notes")
        self.put_file("a", 4000, 2)
        self.assertIn("is not the fetched file", self.mirror())
        self.assertEqual((self.there / "a").read_bytes(), b"notes")

    def test_half_a_line_of_the_ledger_does_no_harm(self):
        self.put_file("a", 3000)
        self.serve()
        self.mirror()
        ledger = self.there / ".saratoga-ledger"
        with ledger.open("a") as file:
            file.write("12 34 hal")
        self.put_file("b", 3000, 2)
        self.mirror()
        (self.there / "b").unlink()
        self.mirror()
        self.assertFalse((self.there / "b").exists())

    def test_files_may_have_to_be_of_an_age(self):
        old = self.put_file("old", 3000)
        os.utime(old, (1e9, 1e9))
        self.put_file("new", 3000, 2)
        self.serve()
        self.mirror("--min-age", "1h")
        self.assertTrue((self.there / "old").exists())
        self.assertFalse((self.there / "new").exists())

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

    def test_a_long_list_takes_little_memory(self):
        """A hostile server could list a million names in 16 MB."""
        first = self.put_file("0", 1)
        for i in range(1, 30000):
            os.link(first, self.here / str(i))
        self.serve()
        get = self.start("saratoga", "get", "-r", self.url(), self.there)
        self.wait_until(lambda: any(self.there.iterdir()), "nothing comes")
        get.send_signal(signal.SIGINT)
        end = (0, 0, None)

        def has_ended():
            nonlocal end
            end = os.wait4(get.pid, os.WNOHANG)
            return end[0] == get.pid

        self.wait_until(has_ended, "it does not end")
        _, status, used = end
        get.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(get.returncode, 1)
        self.assertLess(used.ru_maxrss, 80000)  # KiB

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
