# SPDX-License-Identifier: MPL-2.0
"""Passphrases and keys of the tools: on the command line, in files, in the
environment; who fits is served, who does not is told."""
import os
import pathlib
import signal
import unittest

import saratogabox
import toolbox

SECRET = "correct horse battery staple"


class Secrets(saratogabox.Node):
    def setUp(self):
        super().setUp()
        self.file = self.secret("passphrase", SECRET + "\n")
        self.key = self.secret("key", os.urandom(32))
        self.old = self.secret("old", os.urandom(32).hex() + "\n")

    def secret(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes)
                         else content.encode())
        path.chmod(0o600)
        return path

    def hears_of_a_caller(self, listener):
        """A listener says who came without the right key, and what to do."""
        for line in listener.stderr:
            if "refused" in line:
                self.assertRegex(line, r"caller at 127\.0\.0\.1:\d+: .*give "
                                 r"both the same; refused so far: [1-9]\d*$")
                return
        self.fail("it said nothing")

    @staticmethod
    def command_line(process):
        """As ps shows it."""
        return pathlib.Path(f"/proc/{process.pid}/cmdline").read_text(
            encoding="utf-8")

    def environment(self, **more):
        return {**os.environ, **more}


class Files(Secrets):
    """saratoga."""

    def get(self, *options, **more):
        (self.there / "f").unlink(missing_ok=True)
        return toolbox.run("saratoga", "get", "-q", *options, self.url("f"),
                           self.there / "f", **more)

    def arrives(self, *options, **more):
        done = self.get(*options, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.same(self.here / "f", self.there / "f")

    def is_told(self, *options, **more):
        done = self.get(*options, **more)
        self.assertEqual(done.returncode, 1)
        self.assertIn("another passphrase or key, or none", done.stderr)
        self.assertFalse((self.there / "f").exists())

    def test_a_passphrase_may_come_from_anywhere(self):
        self.put_file("f", 300000)
        self.serve("--passphrase-file", self.file)
        self.arrives("--passphrase-file", self.file)
        self.arrives("--passphrase", SECRET)
        self.arrives(env=self.environment(PERIGEE_PASSPHRASE=SECRET))
        self.is_told("--passphrase", "another passphrase")
        self.is_told("--key-file", self.key)

    def test_a_passphrase_is_not_shown_in_the_list_of_processes(self):
        line = self.command_line(self.serve("--passphrase", SECRET))
        self.assertIn("--passphrase", line)
        self.assertNotIn(SECRET, line)

    def test_files_are_put_and_listed_as_well(self):
        self.serve("--write", "--key-file", self.key)
        self.put_file("g", 100000, folder=self.there)
        self.run_ok("put", "-q", "--key-file", self.key, self.there / "g",
                    self.url("g"))
        self.same(self.there / "g", self.here / "g")
        done = self.run_ok("ls", "--key-file", self.key, self.url())
        self.assertIn("g", done.stdout)

    def test_keys_are_changed_without_a_pause(self):
        self.put_file("f", 1000)
        self.serve("--key-file", self.key, "--key-file", self.old,
                   "--passphrase-file", self.file)
        self.arrives("--key-file", self.key)
        self.arrives("--key-file", self.old)
        self.arrives("--passphrase-file", self.file)

    def test_neither_side_falls_back_to_plain_text(self):
        self.put_file("f", 1000)
        self.serve()
        self.is_told("--passphrase-file", self.file)
        self.serve("--passphrase-file", self.file)
        done = self.get("--inactivity", "1", "--retry", "200ms")
        self.assertEqual(done.returncode, 1)
        self.assertIn("silent", done.stderr)

    def talking_server(self):
        self.put_file("f", 1000)
        file = self.folder / "where"
        file.unlink(missing_ok=True)
        server = self.start("saratoga", "serve", "--root", self.here, "--bind",
                            "127.0.0.1:0", "--port-file", file,
                            "--passphrase-file", self.file)
        self.port = int(self.address(server, file)[0].rsplit(":", 1)[1])
        return server

    def test_who_is_turned_away_shows_at_the_server(self):
        server = self.talking_server()
        self.is_told("--key-file", self.key)
        self.hears_of_a_caller(server)
        self.assertEqual(self.finish(server, signal.SIGTERM)[0], 0)

    def test_who_has_no_key_shows_at_the_server(self):
        server = self.talking_server()
        self.get("--inactivity", "1", "--retry", "200ms")
        self.hears_of_a_caller(server)

    def test_what_cannot_be_secured_is_refused(self):
        self.run_bad("group", "serve", "--beacon", "5", "--bind",
                     "127.0.0.1:0", "--key-file", self.key)
        self.run_bad("return path", "put", "--one-way", "--key-file", self.key,
                     self.key, "saratoga://127.0.0.1/x")
        self.run_bad("group", "put", "--multicast", "--key-file", self.key,
                     self.key, "saratoga://224.0.0.108/x")
        self.run_bad("beacons", "peers", "--wait", "1", "--key-file", self.key,
                     status=2)


class CommandLines(Secrets):
    def test_files_that_are_no_secrets_are_refused(self):
        short = self.secret("short", "1234567\n")
        odd = self.secret("odd", "0" * 63)
        for tool, words in (("saratoga", ("ls", "saratoga://h/")),
                            ("tltcp-recv", ("tltcp://:0", "x.mp4")),
                            ("tltcp-send", ("x.mp4", "tltcp://h:9"))):
            for option, path in (("--passphrase-file", short),
                                 ("--passphrase-file", "/nonexistent"),
                                 ("--key-file", odd),
                                 ("--key-file", "/nonexistent")):
                done = toolbox.run(tool, option, path, *words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(option, done.stderr)
                self.assertEqual("a file that exists" in done.stderr,
                                 path == "/nonexistent", done.stderr)

    def test_a_secret_that_all_can_read_is_warned_of(self):
        for mode, warned in ((0o600, False), (0o640, False), (0o644, True)):
            self.file.chmod(mode)
            done = toolbox.run("saratoga", "ls", "--passphrase-file",
                               self.file, "--inactivity", "0.1", "--retry",
                               "0.1", "saratoga://127.0.0.1:9/")
            self.assertEqual("warning" in done.stderr, warned, done.stderr)

    def test_tools_of_tltcp_warn_of_it_too(self):
        for path, option in (self.file, "passphrase-file"), (self.key,
                                                             "key-file"):
            for mode, warned in (0o600, False), (0o644, True):
                path.chmod(mode)
                at = f"tltcp://127.0.0.1:9?{option}={path}"
                film = self.put_file("f.mp4", 100)
                for words in (("tltcp-live-transmit", "-a", "no", "--", film,
                               at),
                              ("tltcp-send", film, at),
                              ("tltcp-send", f"--{option}", path, film,
                               "tltcp://127.0.0.1:9")):
                    done = toolbox.run(*words)
                    self.assertEqual(f"warning: {path} can be read by every"
                                     in done.stderr, warned, done.stderr)

    def test_a_key_in_pem_is_no_passphrase(self):
        """Its first line is known to everybody."""
        pem = self.secret("key.pem", "-----BEGIN PRIVATE KEY-----\nMC4CAQ\n")
        for tool, words in (("saratoga", ("ls", "saratoga://h/")),
                            ("tltcp-recv", ("tltcp://:0", "x.mp4"))):
            done = toolbox.run(tool, "--passphrase-file", pem, *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("not a key in PEM format", done.stderr)

    def test_the_environment_is_looked_into(self):
        done = toolbox.run("tltcp-recv", "tltcp://:0", "x.mp4",
                           env=self.environment(PERIGEE_PASSPHRASE="short"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("8 to 512", done.stderr)


    def without_ciphers(self, tool, *words):
        """libcrypto's configuration loads another provider instead."""
        conf = self.folder / "openssl.cnf"
        conf.write_text("openssl_conf = init\n[init]\nproviders = them\n"
                        "[them]\nnull = it\n[it]\nactivate = 1\n")
        return toolbox.run(tool, *words,
                           env=self.environment(OPENSSL_CONF=str(conf)))

    def test_what_openssl_lacks_for_a_key_is_told(self):
        for tool, words in (
                ("saratoga", ("serve", "--root", self.here, "--bind",
                              "127.0.0.1:0", "--key-file", self.key)),
                ("tltcp-live-transmit",
                 (f"tltcp://127.0.0.1:0?mode=listener&key-file={self.key}",
                  self.there / "f"))):
            done = self.without_ciphers(tool, *words)
            self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertIn("OpenSSL is configured without", done.stderr)

    def test_a_node_that_openssl_gives_nothing_ends(self):
        done = self.without_ciphers("saratoga", "serve", "--root", self.here,
                                    "--bind", "127.0.0.1:0")
        self.assertEqual(done.returncode, 1, done.stderr)


class Streams(Secrets):
    """tltcp-live-transmit; the others take the same options."""

    def listen(self, *words):
        file = self.folder / "listener"
        file.unlink(missing_ok=True)
        process = self.start("tltcp-live-transmit", "-a", "no", "--port-file",
                             file, *words)
        self.port = int(self.address(process, file)[0].rsplit(":", 1)[1])
        return process

    def send(self, query, **more):
        return toolbox.run(
            "tltcp-live-transmit", "-q", "-a", "no", "--", self.here / "f",
            f"tltcp://127.0.0.1:{self.port}?{query}", **more)

    def listener(self, *keys):
        query = "&".join(f"key-file={key}" for key in keys)
        return self.listen("--", f"tltcp://127.0.0.1:0?mode=listener&{query}",
                           self.there / "f")

    def test_a_stream_goes_by_a_key_that_is_going_out(self):
        self.put_file("f", 50000)
        receiver = self.listener(self.key, self.old)
        done = self.send(f"key-file={self.old}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.finish(receiver)[0], 0)
        self.same(self.here / "f", self.there / "f")

    def test_a_passphrase_in_a_url_is_hidden(self):
        receiver = self.listen("--", "tltcp://127.0.0.1:0?mode=listener&"
                               "passphrase=" + SECRET, self.there / "f")
        line = self.command_line(receiver)
        self.assertIn("passphrase=***", line)
        self.assertNotIn(SECRET, line)
        film = self.here / "missing.mp4"
        query = f"?passphrase={SECRET}&connect-timeout=200"
        with toolbox.udp_socket() as silent:
            nobody = f"tltcp://127.0.0.1:{silent.getsockname()[1]}{query}"
            for words in (("tltcp-live-transmit", "-a", "no", "--",
                           self.here, nobody),
                          ("tltcp-live-transmit", film, nobody + "&fec=7"),
                          ("tltcp-send", film, nobody + "&fec=7"),
                          ("tltcp-send", "--passphrase", SECRET * 20, film,
                           nobody),
                          ("tltcp-recv", "tltcp://127.0.0.1:70000" + query,
                           self.there / "f.ts"),
                          ("saratoga", "get", "--passphrase", SECRET * 20,
                           "saratoga://127.0.0.1/f")):
                done = toolbox.run(*words)
                self.assertNotEqual(done.returncode, 0, words)
                self.assertNotIn(SECRET, done.stdout + done.stderr)

    def test_a_path_is_no_url(self):
        source = self.put_file("f", 50000)
        taken = self.there / "passphrase=f&g"
        receiver = self.listen("--", "tltcp://127.0.0.1:0?mode=listener", taken)
        self.assertEqual(self.send("latency=200").returncode, 0)
        self.assertEqual(self.finish(receiver)[0], 0)
        self.same(source, taken)

    def test_a_passphrase_in_the_environment_is_for_both_sides(self):
        self.put_file("f", 50000)
        os.environ["PERIGEE_PASSPHRASE"] = SECRET
        self.addCleanup(os.environ.pop, "PERIGEE_PASSPHRASE")
        receiver = self.listen("--", "tltcp://127.0.0.1:0?mode=listener",
                               self.there / "f")
        done = self.send(f"passphrase-file={self.file}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.finish(receiver)[0], 0)

    def test_who_is_turned_away_shows_at_the_listener(self):
        self.put_file("f", 1000)
        receiver = self.listener(self.key)
        done = self.send(f"key-file={self.old}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("passphrase or key", done.stderr)
        self.hears_of_a_caller(receiver)


if __name__ == "__main__":
    unittest.main()
