# SPDX-License-Identifier: MPL-2.0
"""saratoga by its command line: transfers of files on this machine."""
import json
import os
import pathlib
import re
import unittest

import pcap
import saratogabox
import toolbox

FIELDS = {"file", "bytes", "seconds", "goodput_bps", "packets",
          "retransmitted", "holes_reported", "status_packets", "srtt_ms",
          "rate_bps", "checksum", "verified", "resumed_from"}


class CommandLine(saratogabox.Node):
    def test_it_prints_help_and_version(self):
        done = self.run_ok("--help-all")
        self.assertIn("Usage: saratoga", done.stdout)
        self.assertLess(max(map(len, done.stdout.splitlines())), 80)
        done = self.run_ok("--version")
        self.assertRegex(done.stdout,
                         r"^saratoga \(Perigee\) \d+\.\d+\.\d+\n$")

    def test_wrong_usage_ends_with_2_and_a_sentence(self):
        for word, *arguments in (
                ("command", ), ("fly", "fly"), ("--nonsense", "--nonsense"),
                ("usage", "get"), ("URL", "get", "file"),
                ("sartoga://h/x: must begin with saratoga://", "get",
                 "sartoga://h/x"),
                ("sartoga://h/y: must begin with saratoga://", "get",
                 "saratoga://h/x", "sartoga://h/y"),
                ("usage", "put", "file"), ("saratoga://", "ls", "http://x/"),
                ("saratoga://", "mirror", "file", self.there),
                ("saratoga://", "mirror", "http://x/", self.there),
                ("host", "ls", "saratoga:///x"),
                ("no user or password", "ls", "saratoga://user:word@h/"),
                ("no user or password", "ls", "saratoga://user@h/"),
                ("port", "ls", "saratoga://h:99999/"),
                ("percent", "ls", "saratoga://h/%zz"),
                ("path is missing", "rm", "saratoga://h/"),
                ("--rate", "get", "--rate", "fast", "saratoga://h/x"),
                ("--checksum", "get", "--checksum", "md4", "saratoga://h/x"),
                ("--descriptor", "get", "--descriptor", "8", "saratoga://h/x"),
                ("--profile", "get", "--profile", "x", "saratoga://h/x"),
                ("--mtu", "get", "--mtu", "100", "saratoga://h/x"),
                ("--help-all", "get", "--set", "speed=9", "saratoga://h/x"),
                ("--set", "get", "--set", "retry", "saratoga://h/x"),
                ("--set", "get", "--set", "retry=soon", "saratoga://h/x"),
                ("copies", "get", "--set", "copies=9", "saratoga://h/x"),
                ("--retry 0: must be", "get", "--retry", "0", "saratoga://h/x"),
                ("--inactivity 0: must be", "get", "--inactivity", "0",
                 "saratoga://h/x"),
                ("port", "ls", "saratoga://h:0/"),
                ("works only with put", "get", "--one-way", "saratoga://h/x"),
                ("works only with serve", "get", "--write", "saratoga://h/x"),
                ("works only with serve", "mirror", "--eid", "x", "saratoga://h/x",
                 "."),
                ("works only with serve", "ls", "--rate-file", "x", "saratoga://h/"),
                ("works only with mirror", "peers", "--interval", "3"),
                ("works only with peers", "serve", "--wait", "3"),
                ("server decides", "put", "--overwrite", "f", "saratoga://h/x"),
                ("works only with serve", "get", "--streams", "saratoga://h/x"),
                ("works only with put", "take", "--multicast", "saratoga://h/x"),
                ("the host", "put", "--group", "g", "f", "saratoga://h/x"),
                ("--group", "get", "--group", "[g", "saratoga://h/x"),
                ("works only with get", "ls", "--group", "g", "saratoga://h/x"),
                ("cubic", "get", "--congestion", "none", "saratoga://h/x"),
                ("no congestion controller 'none'", "get", "--congestion",
                 "none", "saratoga://h/x"),
                ("HOST:PORT", "serve", "--port", "7000"),
                ("take", "take", "-r", "saratoga://h/x")):
            self.run_bad(word, *arguments, status=2)

    def test_failures_end_with_1_and_a_sentence(self):
        self.run_bad("no such host", "ls", "saratoga://no.such.host.invalid/")
        self.run_bad("fe80::1%nowhere: there is no such host", "ls",
                     "saratoga://[fe80::1%25nowhere]/")
        self.run_bad("cannot write", "get", "--json", "/nonexistent/x",
                     "saratoga://127.0.0.1/x")
        self.run_bad("no-root", "serve", "--root", self.folder / "no-root")
        with toolbox.udp_socket() as s:
            port = s.getsockname()[1]
            self.run_bad("cannot listen", "serve", "--bind",
                         f"127.0.0.1:{port}")

    def test_what_cannot_be_put_is_named_with_the_cause(self):
        self.serve("--write")
        self.run_bad("/dev/null is not a regular file; put - sends", "put",
                     "/dev/null", self.url("null"))
        self.run_bad("the name is hidden, unprintable or too long", "put",
                     self.put_file("f", 10), self.url("x" * 256))
        self.run_bad("file not found", "get", self.url("x" * 256),
                     self.there / "x")

    def test_a_peer_that_is_not_there_is_a_failure(self):
        with toolbox.udp_socket() as s:
            self.port = s.getsockname()[1]
            done = self.run_bad("silent", "get", "--inactivity", "1", "--retry",
                                "200ms", self.url("x"), self.there / "x")
            self.assertRegex(done.stderr, "in [0-9]+ s: is saratoga serve "
                             "running, without a passphrase or key, and")
            self.assertNotIn("still trying", done.stderr)
            done = self.run_bad("silent", "get", "--inactivity", "7",
                                self.url("x"), self.there / "x")
            self.assertEqual(done.stderr.count("no answer from 127.0.0.1 yet"),
                             1, done.stderr)
        self.assertEqual(list(self.there.iterdir()), [])


class Transfers(saratogabox.Node):
    def test_get_fetches_files_of_all_sizes(self):
        self.serve()
        for size in 0, 1, 1400, 65535, 65536, 1000000:
            source = self.put_file(f"f{size}", size, size)
            self.run_ok("get", self.url(f"f{size}"), self.there / "got")
            self.same(source, self.there / "got")
            (self.there / "got").unlink()
        self.assertEqual(self.left_over(self.folder), [])

    def test_get_keeps_the_time_of_the_file(self):
        self.serve()
        source = self.put_file("f", 10)
        os.utime(source, (1513468800, 1513468800))
        self.run_ok("get", self.url("f"), self.there / "f")
        self.assertEqual((self.there / "f").stat().st_mtime, 1513468800)

    def test_the_report_has_all_fields(self):
        self.serve()
        self.put_file("f", 300000)
        done = self.run_ok("get", "--json", "-", self.url("f"),
                           self.there / "f")
        report = json.loads(done.stdout)
        self.assertEqual(set(report), FIELDS)
        self.assertEqual(report["bytes"], 300000)
        self.assertEqual(report["file"], str(self.there / "f"))
        self.assertEqual(report["checksum"], "md5")
        self.assertEqual(report["resumed_from"], 0)
        self.assertIs(report["verified"], True)
        self.assertGreaterEqual(report["packets"], 300000 // 1500)

    def test_put_stores_a_file_where_writing_is_allowed(self):
        self.serve("--write")
        source = self.put_file("f", 200000, folder=self.there)
        done = self.run_ok("put", "--json", "-", source,
                           self.url("new/folder/f"))
        self.same(source, self.here / "new/folder/f")
        report = json.loads(done.stdout)
        self.assertEqual(set(report), FIELDS)
        self.assertIs(report["verified"], True)
        self.run_ok("put", source, source, self.url("two/"))
        self.same(source, self.here / "two/f")

    def test_take_and_give_delete_at_their_origin(self):
        self.serve("--write", "--delete")
        data = self.put_file("f", 5000).read_bytes()
        self.run_ok("take", self.url("f"), self.there / "f")
        self.assertEqual((self.there / "f").read_bytes(), data)
        self.assertFalse((self.here / "f").exists())
        self.run_ok("give", self.there / "f", self.url("back"))
        self.assertEqual((self.here / "back").read_bytes(), data)
        self.assertFalse((self.there / "f").exists())

    def test_all_but_reading_is_off_unless_allowed(self):
        self.serve()
        source = self.put_file("f", 100)
        new = self.put_file("new", 100, folder=self.there)
        denied = "access denied"
        self.run_bad(denied, "put", new, self.url("new"))
        self.run_bad(denied, "give", new, self.url("new"))
        self.run_bad(denied, "take", self.url("f"), self.there / "f")
        self.run_bad(denied, "rm", self.url("f"))
        self.assertTrue(source.exists() and new.exists())
        self.assertEqual([p.name for p in self.here.iterdir()], ["f"])
        self.assertEqual([p.name for p in self.there.iterdir()], ["new"])

    def test_a_port_in_use_is_reported_with_advice(self):
        self.serve()
        self.run_bad("already in use; another saratoga may be running; --bind ",
                     "serve", "--bind", f"127.0.0.1:{self.port}")

    def test_options_of_the_end_that_sends_are_not_passed_over_in_silence(self):
        self.serve()
        self.put_file("f", 100)
        for option, value in ("--rate", "1mbit"), ("--congestion", "cubic"):
            command = ["get", option, value, "--overwrite", self.url("f"),
                       self.there / "f"]
            done = toolbox.run("saratoga", *command)
            self.assertEqual((done.returncode, done.stderr), (
                0, f"saratoga: {option} has no effect with get: the sending "
                f"end decides; use serve {option} there\n"))
            self.run_ok(*command, "-q")

    def test_links_in_a_folder_are_passed_over_with_a_word(self):
        self.serve("--write")
        self.put_file("f", 100)
        (self.here / "link").symlink_to("f")
        word = "skipped: a link or special file\n"
        done = toolbox.run("saratoga", "get", "-r", self.url(), self.there)
        self.assertEqual((done.returncode, done.stderr),
                         (0, f"saratoga: {self.url('link')}: {word}"))
        done = toolbox.run("saratoga", "put", "-r", self.here,
                           self.url("copy"))
        self.assertEqual((done.returncode, done.stderr),
                         (0, f"saratoga: {self.here}/link: {word}"))

    def test_reading_can_be_forbidden(self):
        self.serve("--no-read", "--write")
        self.put_file("f", 100)
        self.run_bad("access denied", "get", self.url("f"), self.there / "f")
        self.run_bad("access denied", "ls", self.url())

    def test_rm_deletes_and_what_is_gone_is_gone(self):
        self.serve("--delete")
        self.put_file("f", 100)
        self.run_ok("rm", self.url("f"))
        self.assertFalse((self.here / "f").exists())
        self.run_ok("rm", self.url("f"))

    def test_a_file_that_is_on_its_way_is_not_deleted(self):
        source = self.put_file("f", 400000)
        self.serve("--delete", "--rate", "2mbit")
        get = self.start("saratoga", "get", "-q", self.url("f"),
                         self.there / "f")
        self.wait_for_part(get)
        self.run_bad("file in use", "rm", self.url("f"))
        self.assertEqual(self.finish(get), (0, ""))
        self.same(source, self.there / "f")
        self.run_ok("rm", self.url("f"))
        self.assertFalse(source.exists())

    def test_ls_lists_a_folder_and_a_file(self):
        self.serve()
        self.put_file("b", 7)
        self.put_file("sub/c", 8)
        done = self.run_ok("ls", "--json", "-", self.url())
        entries = {e["path"]: e for e in json.loads(done.stdout)["entries"]}
        self.assertEqual(set(entries), {"b", "sub"})
        self.assertEqual(entries["b"]["size"], 7)
        self.assertEqual(entries["sub"]["type"], "directory")
        done = self.run_ok("ls", self.url("sub/c"))
        self.assertIn(" c\n", done.stdout)
        self.run_bad("not found", "ls", self.url("none"))

    def test_names_that_are_no_utf_8_can_be_listed_and_fetched(self):
        self.serve()
        name = b"caf\xe9\x1b[2J"
        with open(os.path.join(os.fsencode(self.here), name), "wb") as file:
            file.write(b"menu")
        done = self.run_ok("ls", "--json", "-", self.url())
        self.assertEqual([e["path"] for e in
                          json.loads(done.stdout)["entries"]],
                         ["caf?\x1b[2J"])
        self.assertNotIn("\x1b", toolbox.run(
            "saratoga", "ls", self.url(), errors="replace").stdout)
        done = self.run_ok("get", "-r", "--json", "-", self.url(), self.there)
        self.assertIs(json.loads(done.stdout)["verified"], True)
        with open(os.path.join(os.fsencode(self.there), name), "rb") as file:
            self.assertEqual(file.read(), b"menu")

    def test_folders_go_both_ways(self):
        self.serve("--write")
        names = "a", "x/b", "x/y/c"
        for i, name in enumerate(names):
            self.put_file(name, 1000 + i, i)
        self.run_ok("get", "-r", self.url(), self.there)
        for name in names:
            self.same(self.here / name, self.there / name)
        self.run_ok("put", "-r", self.there, self.url("copy"))
        for name in names:
            self.same(self.here / name, self.here / "copy" / name)

    def test_a_folder_too_deep_is_not_left_out_silently(self):
        self.serve("--write")
        self.put_file("f", 10)
        deep = self.here.joinpath(*"d" * 70)
        deep.mkdir(parents=True)
        (deep / "lost").touch()
        self.run_bad("folders are nested too deeply", "put", "-r", self.here,
                     self.url("copy"))

    def test_a_folder_that_is_resumed_is_not_fetched_whole_again(self):
        for name, size in ("a", 30000), ("b", 20000), ("sub/c", 10000):
            self.put_file(name, size)
        self.serve()
        again = ("get", "-r", "--resume", "--json", "-", self.url(),
                 self.there)
        self.run_ok("get", "-r", self.url(), self.there)
        self.run_ok(*again)
        (self.there / "b").unlink()
        report = json.loads(self.run_ok(*again).stdout)
        self.assertEqual(report["bytes"], 20000)
        for name in "a", "b", "sub/c":
            self.same(self.here / name, self.there / name)

    def test_a_file_is_a_tree_of_one(self):
        self.serve()
        for name in "a", "x/b", "c/c":  # c looks like a file that lists itself
            self.put_file(name, 1000)
        self.run_ok("get", "-r", self.url("a"), self.url("x/b"), self.url("c"),
                    self.there)
        for name in "a", "b", "c":
            self.same(self.here / "a", self.there / name)
        self.run_ok("mirror", "--once", "--bind", "127.0.0.1:0",
                    self.url("x/b"), self.there / "m")
        self.same(self.here / "a", self.there / "m" / "b")

    def test_several_files_go_into_a_folder(self):
        self.serve()
        self.put_file("a", 10)
        self.put_file("b", 20)
        done = self.run_ok("get", "--json", "-", self.url("a"), self.url("b"),
                           self.there)
        self.assertEqual(json.loads(done.stdout)["bytes"], 30)
        self.assertEqual(len(json.loads(done.stdout)["files"]), 2)
        self.same(self.here / "b", self.there / "b")

    def test_a_get_of_anything_takes_the_oldest_file(self):
        self.serve()
        new, old = self.put_file("new", 10), self.put_file("old", 20)
        os.utime(new, (2000000000, 2000000000))
        os.utime(old, (1000000000, 1000000000))
        (self.here / "folder").mkdir()
        os.mkfifo(self.here / "pipe")
        for other in "folder", "pipe":
            os.utime(self.here / other, (500000000, 500000000))
        self.run_ok("get", self.url(), self.there)
        self.same(old, self.there / "old")

    def test_checksums_descriptors_and_controllers(self):
        for options in (("--checksum", "none"), ("--checksum", "crc32c"),
                        ("--checksum", "sha1"), ("--checksum", "sha256"),
                        ("--checksum", "md5"), ("--descriptor", "32"),
                        ("--descriptor", "64"), ("--descriptor", "128"),
                        ("--timestamps=off",), ("--rate", "50mbit"),
                        ("--congestion", "stfrc"), ("--congestion", "tfrc"),
                        ("--congestion", "cubic"), ("--congestion", "auto"),
                        ("--profile", "draft")):
            with self.subTest(options):
                server = self.serve(*options)
                source = self.put_file("f", 100000)
                done = self.run_ok("get", "-q", *options, "--json", "-",
                                   self.url("f"), self.there / "f")
                self.same(source, self.there / "f")
                (self.there / "f").unlink()
                if options[0] == "--checksum":
                    self.assertEqual(json.loads(done.stdout)["checksum"],
                                     options[1])
                self.stop(server)

    def test_16_bits_hold_small_files_alone(self):
        self.serve()
        source = self.put_file("small", 65535)
        self.put_file("large", 65536)
        self.run_ok("get", "--descriptor", "16", self.url("small"),
                    self.there / "small")
        self.same(source, self.there / "small")
        self.run_bad("longer", "get", "--descriptor", "16", self.url("large"),
                     self.there / "large")
        self.assertFalse((self.there / "large").exists())

    def test_a_terminal_sees_progress_unless_it_shall_be_quiet(self):
        self.serve("--rate", "8mbit")
        self.put_file("f", 700000)
        for quiet in ((), ("-q", )):
            status, seen = toolbox.run_on_terminal(
                "saratoga", "get", *quiet, "--overwrite", self.url("f"),
                self.there / "f")
            self.assertEqual(status, 0)
            if quiet:
                self.assertEqual(seen, b"")
            else:
                self.assertRegex(seen, rb"\[#*\.*\] [0-9.]+ of 0.7 MB, "
                                 rb"[0-9.]+ Mbit/s, .* left, f")
                self.assertIn(b"verified", seen)

    def test_every_setting_and_profile_still_transfers(self):
        settings = ("retry=2,tries=3", "status-spacing=200ms",
                    "first-spacing=50ms,spacing-packets=8",
                    "quiet-status=1,metadata-wait=3", "inactivity=2h",
                    "linger=1,poll=100ms,poll-max=2", "rtt=40ms,symmetry=0.65",
                    "copies=1,cycles=2", "max-holes=64,payload=700",
                    "unconfirmed=1MB", "block=16KiB,blocks=2,window=64KiB")
        source = self.put_file("f", 60000)
        for options in [("--set", s) for s in settings] + \
                [("--profile", p) for p in ("nasa-perl", "go")] + \
                [(f"--timestamps={t}", ) for t in (
                    "local", "posix32", "posix64", "posix32f", "y2k")]:
            with self.subTest(options):
                server = self.serve("--rate", "100mbit", *options)
                self.run_ok("get", *options, self.url("f"), self.there / "f")
                self.same(source, self.there / "f")
                (self.there / "f").unlink()
                self.stop(server)

    def test_a_copy_that_is_up_to_date_is_not_fetched_again(self):
        source = self.put_file("f", 70000)
        copy = self.there / "f"
        self.serve("--update", "--rate", "100mbit")

        def get():
            done = self.run_ok("get", "--update", "--json", "-",
                               self.url("f"), copy)
            self.same(source, copy)
            self.assertEqual(self.left_over(self.there), [])
            return json.loads(done.stdout)["packets"]

        self.assertGreater(get(), 10)  # there is none
        self.assertLess(get(), 10)
        self.put_file("f", 70001, seed=2)  # another size
        self.assertGreater(get(), 10)
        self.put_file("f", 70001, seed=3)  # another time
        os.utime(source, (1, 1500000000))
        self.assertGreater(get(), 10)
        self.assertLess(get(), 10)

    def test_the_payload_of_packets_can_be_set(self):
        self.put_file("f", 70000)
        self.serve("--set", "payload=700")
        done = self.run_ok("get", "--json", "-", self.url("f"),
                           self.there / "f")
        self.assertGreaterEqual(json.loads(done.stdout)["packets"], 100)

    def test_a_one_way_put_arrives_and_claims_nothing(self):
        source = self.put_file("f", 50000, folder=self.there)
        self.serve("--write")
        # The way back does not exist: what comes back is lost.
        relay = pcap.Relay(self.port, drop=lambda way, packet: way == "down")
        try:
            done = self.run_ok("put", "--one-way", "--rate", "20mbit", "--set",
                               "cycles=1", "--json", "-", source,
                               self.url("f", relay.port))
            self.wait_for(self.here / "f")
        finally:
            relay.close()
        report = json.loads(done.stdout)
        self.assertIs(report["verified"], False)
        self.assertEqual(report["status_packets"], 0)
        self.same(source, self.here / "f")

    def test_a_refused_one_way_put_says_what_would_allow_it(self):
        source = self.put_file("f", 50000, folder=self.there)
        self.serve()
        self.run_bad("serve it with --write", "put", "--one-way", "--rate",
                     "1mbit", source, self.url("f"))

    def test_many_clients_are_served_at_once(self):
        self.serve("--write")
        source = self.put_file("f", 300000)
        running = []
        for i in range(8):
            running.append(self.start("saratoga", "get", self.url("f"),
                                      self.there / f"get{i}"))
            running.append(self.start("saratoga", "put", source,
                                      self.url(f"put{i}")))
        for process in running:
            self.assertEqual(self.finish(process), (0, ""))
        for i in range(8):
            self.same(source, self.there / f"get{i}")
            self.same(source, self.here / f"put{i}")


class Page(unittest.TestCase):
    def test_each_demand_of_the_draft_has_the_test_that_the_page_names(self):
        root = pathlib.Path(__file__).parents[2]
        page = (root / "docs/protocols/saratoga.md").read_text(encoding="utf-8")
        table = page.split("## Each requirement of the draft")[1].split("\n## ")[0]
        rows = [row for row in table.splitlines() if row.startswith("| ")][2:]
        folders = ("unit/saratoga", "simnet/saratoga", "loopback", "tools")
        source = "".join(p.read_text(encoding="utf-8")
                         for folder in folders
                         for p in (root / "tests" / folder).iterdir()
                         if p.suffix in (".c", ".py"))
        called = set(re.findall(
            r"(?:\bT\(|\bcmocka_unit_test\w*\(|\bdef )\s*(\w+)", source))
        self.assertGreaterEqual(len(rows), 34)
        for row in rows:
            names = re.findall(r"`(\w+)`", row)
            self.assertNotEqual(names, [], row)
            self.assertEqual([n for n in names if n not in called], [], row)


if __name__ == "__main__":
    unittest.main()
