# SPDX-License-Identifier: MPL-2.0
"""Command lines of tltcp-send and tltcp-recv, above all the wrong ones."""
import os
import re
import unittest

import clips
import toolbox


class Refusals(toolbox.Folder):
    tool = ""

    def refuse(self, word, *arguments, status=2):
        done = toolbox.run(self.tool, *arguments)
        self.assertEqual(done.returncode, status,
                         f"{arguments}: {done.stdout}{done.stderr}")
        self.assertIn(word, done.stderr)
        lines = done.stderr.splitlines()
        self.assertTrue(lines[0].startswith(self.tool + ": "), lines)
        self.assertEqual(len(lines), 2 if status == 2 else 1, lines)
        self.assertEqual(done.stdout, "")

    def tell_help_and_version(self):
        done = toolbox.run(self.tool, "--help-all")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Usage: " + self.tool, done.stdout)
        self.assertLess(max(map(len, done.stdout.splitlines())), 80)
        for line in done.stdout.splitlines():  # what is told of them stands
            if re.search(r"^  +[^ $].*  |^ {5}", line):  # in one column
                self.assertRegex(line, r"^.{24} [^ ]")
        for flag in ("--version", "-V"):
            done = toolbox.run(self.tool, flag)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stdout,
                             rf"^{self.tool} \(Perigee\) \d+\.\d+\.\d+\n$")


class Send(Refusals):
    tool = "tltcp-send"
    url = "tltcp://127.0.0.1:9"

    def test_it_prints_help_and_version(self):
        self.tell_help_and_version()

    def test_wrong_usage_ends_with_2_and_a_sentence(self):
        self.refuse("INPUT and URL")
        self.refuse("INPUT and URL", "film.mp4")
        self.refuse("INPUT and URL", "film.mp4", self.url, "more")
        self.refuse("--nonsense", "--nonsense", "film.mp4", self.url)
        self.refuse("--latency needs a value", "film.mp4", self.url,
                    "--latency")
        self.refuse("milliseconds", "--latency", "soon", "film.mp4", self.url)
        self.refuse("1 to 86400000", "--latency", "0", "film.mp4", self.url)
        self.refuse("1 to 86400000", "film.mp4", self.url + "?latency=0")
        self.refuse("pts or gop", "--deadline-mode", "x", "film.mp4", self.url)
        self.refuse("dependents", "--drop-policy", "x", "film.mp4", self.url)
        self.refuse("number", "--speed", "-1", "film.mp4", self.url)
        self.refuse("from 0.001", "--speed", "1e-300", "film.mp4", self.url)
        self.refuse("to 1000", "--speed", "1001", "film.mp4", self.url)
        self.refuse("from 1 to 1000000", "--loop", "0", "film.mp4", self.url)
        self.refuse("auto, on or off", "--fec", "x", "film.mp4", self.url)
        self.refuse("rate", "--max-rate", "4mbps", "film.mp4", self.url)
        self.refuse("whole number", "--initial-window", "-1", "film.mp4",
                    self.url)
        self.refuse("tltcp://", "film.mp4", "srt://127.0.0.1:9")
        self.refuse("port", "film.mp4", "tltcp://127.0.0.1")
        self.refuse("port", "film.mp4", "tltcp://127.0.0.1:70000")
        self.refuse("cannot be 0", "film.mp4", "tltcp://127.0.0.1:0")
        self.refuse("host", "film.mp4", "tltcp://:9")
        self.refuse("no such key", "film.mp4", self.url + "?speed=1")

    def test_a_misspelt_option_is_explained_without_its_value(self):
        done = toolbox.run(self.tool, "--passfrase=a secret", "film.mp4",
                           self.url)
        self.assertEqual(done.stderr.splitlines()[0],
                         "tltcp-send: option --passfrase is unknown")
        self.refuse("option -x is unknown", "-qx", "film.mp4", self.url)
        self.refuse("option --quiet takes no value", "--quiet=yes", "film.mp4",
                    self.url)
        self.refuse("option --pass is ambiguous: --passphrase, "
                    "--passphrase-file", "--pass=x", "film.mp4", self.url)

    def test_a_url_may_say_all_that_the_call_depends_on(self):
        secret = self.folder / "secret"
        secret.write_text("a long enough secret\n", encoding="ascii")
        secret.chmod(0o600)
        for key, good, complaint in (
                ("mode", "caller", "only calls"),
                ("latency", "300", "milliseconds"),
                ("streamid", "cam1", None),
                ("congestion-control", "reno", "reno"),
                ("max-rate", "4mbit", "rate"),
                ("initial-window", "60", "whole number"),
                ("fec", "off", "auto, on or off"),
                ("drop-policy", "section", "dependents"),
                ("reference-grace", "500", "milliseconds"),
                ("deadline-mode", "gop", "pts or gop"),
                ("connect-timeout", "900", "milliseconds"),
                ("idle-timeout", "2s", "milliseconds"),
                ("dscp", "34", "from 0 to 63"),
                ("threads", "2", "1 to 64"),
                ("passphrase-file", secret, "a file that exists")):
            self.refuse("missing.mp4", self.folder / "missing.mp4",
                        f"{self.url}?{key}={good}", status=1)
            if complaint:
                self.refuse(complaint, "film.mp4", f"{self.url}?{key}=bad")

    def test_a_controller_that_does_not_exist_lists_those_that_do(self):
        self.refuse("cubic", "--congestion", "warp", "film.mp4", self.url)
        self.refuse("no congestion controller 'warp'", "--congestion", "warp",
                    "film.mp4", self.url)
        self.refuse("reno", "film.mp4", self.url + "?congestion-control=warp")
        self.refuse("dupack", "--recovery", "warp", "film.mp4", self.url)

    def test_security_that_is_not_there_is_refused_not_left_out(self):
        done = toolbox.run(self.tool, "--passphrase", "a long enough secret",
                           "film.mp4", self.url)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("a long enough secret", done.stderr)

    def test_an_input_that_is_no_video_is_named(self):
        self.refuse("missing.mp4", self.folder / "missing.mp4", self.url,
                    status=1)
        noise = self.folder / "noise.mp4"
        noise.write_bytes(os.urandom(20000))
        self.refuse("noise.mp4", noise, self.url, status=1)
        text = self.folder / "notes.txt"
        text.write_text("These are notes.\n" * 50, encoding="ascii")
        self.refuse("notes.txt", text, self.url, status=1)
        empty = self.folder / "empty.mkv"
        empty.touch()
        self.refuse("empty.mkv", empty, self.url, status=1)
        self.refuse(str(self.folder), self.folder, self.url, status=1)

    def test_a_film_without_its_index_is_named(self):
        film = clips.make(self.folder, "h264-aac.mp4")
        # FFmpeg writes the index behind everything else.
        os.truncate(film, film.stat().st_size // 2)
        self.refuse("h264-aac.mp4", film, self.url, status=1)

    def test_an_absent_peer_differs_from_an_absent_host(self):
        film = clips.make(self.folder, "raw.h264")
        with toolbox.udp_socket() as silent:
            self.refuse("cannot connect", "--connect-timeout", "200", film,
                        f"tltcp://127.0.0.1:{silent.getsockname()[1]}",
                        status=1)
        self.refuse("no.such.host.invalid", film,
                    "tltcp://no.such.host.invalid:9", status=1)

    def test_files_that_cannot_be_written_are_refused_at_once(self):
        for option in ("--json", "--frames", "--qlog"):
            self.refuse("/nonexistent/x", option, "/nonexistent/x",
                        "film.mp4", self.url, status=1)


class Recv(Refusals):
    tool = "tltcp-recv"
    url = "tltcp://127.0.0.1:0"

    def test_it_prints_help_and_version(self):
        self.tell_help_and_version()

    def test_wrong_usage_ends_with_2_and_a_sentence(self):
        out = self.folder / "out.mp4"
        self.refuse("URL and OUTPUT")
        self.refuse("URL and OUTPUT", self.url)
        self.refuse("--nonsense", "--nonsense", self.url, out)
        self.refuse("milliseconds", "--latency", "soon", self.url, out)
        self.refuse("port", "tltcp://127.0.0.1", out)
        self.refuse("tltcp://", "udp://127.0.0.1:0", out)
        self.refuse("no such key", self.url + "?speed=1", out)
        self.refuse("only listens", self.url + "?mode=caller", out)
        self.refuse("/nonexistent/x", self.url + "?mode=listener",
                    "/nonexistent/x.ts", status=1)
        self.refuse("--format", self.url, "-")
        self.refuse("standard output", "--json", "-", "--format", "mpegts",
                    self.url, "-")
        self.assertFalse(out.exists())

    def test_a_container_that_is_not_known_is_refused_at_once(self):
        self.refuse("container", self.url, self.folder / "out.xyz")
        self.refuse("container", self.url, self.folder / "out")
        self.refuse("unknown container 'warp'", "--format", "warp", self.url,
                    self.folder / "out.mp4")

    def test_files_that_cannot_be_written_are_refused_at_once(self):
        self.refuse("/nonexistent/out.ts", self.url, "/nonexistent/out.ts",
                    status=1)
        for option in ("--json", "--frames", "--port-file", "--qlog"):
            self.refuse("/nonexistent/x", option, "/nonexistent/x", self.url,
                        self.folder / "out.ts", status=1)

    def test_a_port_is_not_taken_for_the_name_of_a_file(self):
        self.refuse("HOST:PORT", "--port", "7000", self.url,
                    self.folder / "out.ts")

    def test_a_port_in_use_is_named(self):
        with toolbox.udp_socket() as s:
            self.refuse("cannot listen",
                        f"tltcp://127.0.0.1:{s.getsockname()[1]}",
                        self.folder / "out.ts", status=1)

    def test_an_address_of_another_machine_is_explained(self):
        self.refuse("leave the host out", "tltcp://192.0.2.1:9",
                    self.folder / "out.ts", status=1)


if __name__ == "__main__":
    unittest.main()
