# SPDX-License-Identifier: MPL-2.0
"""--metrics: a page for Prometheus."""
import http.client
import json
import re
import signal
import socket
import time
import unittest

import clips
import toolbox

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"^({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)$")
UNITS = ("_bytes", "_seconds", "_ratio", "_bytes_per_second", "_total",
         "connected")


def parse(text):
    """The samples by name and labels, as strictly as promtool has it."""
    samples, types, current = {}, {}, None
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            current = line.split(" ", 3)[2]
            assert current not in types, f"{current} comes twice"
            assert line.endswith("."), line
        elif line.startswith("# TYPE "):
            name, kind = line.split(" ")[2:]
            assert name == current and kind in ("counter", "gauge"), line
            assert (kind == "counter") == name.endswith("_total"), line
            assert name.endswith(UNITS), name
            types[name] = kind
        else:
            match = SAMPLE.match(line)
            assert match and match[1] == current, line
            key = (match[1], match[2] or "")
            assert key not in samples, f"{key} comes twice"
            samples[key] = float(match[3])
    return samples


def fetch(address, method="GET", path="/metrics", name=None):
    """name: what a client takes the address for."""
    host, port = address.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port),
                                            timeout=toolbox.PATIENCE)
    connection.request(method, path, headers={"Host": name} if name else {})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer, body


class Metrics(toolbox.Folder):
    @classmethod
    def setUpClass(cls):
        done = toolbox.run("tltcp-live-transmit", "-q", "-t", "0.1",
                           "--metrics", "127.0.0.1:0", "udp://127.0.0.1:0",
                           "tltcp://127.0.0.1:0?mode=listener")
        if "libmicrohttpd" in done.stderr:
            raise unittest.SkipTest("there is no libmicrohttpd here")

    def samples(self, address):
        answer, body = fetch(address)
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.getheader("Content-Type"),
                         "text/plain; version=0.0.4; charset=utf-8")
        return parse(body)

    def wait_for(self, address, name, least):
        """Until a sample has reached a value; all samples then."""
        end = time.monotonic() + toolbox.PATIENCE
        while time.monotonic() < end:
            answer, body = fetch(address)
            found = parse(body) if body else {}
            if any(key[0] == name and value >= least
                   for key, value in found.items()):
                return found
            time.sleep(0.05)
        self.fail(f"{name}: {body}")
        return None

    def listen(self, tool, *words):
        file = self.folder / f"port-{tool}"
        process = self.start(tool, "--metrics", "127.0.0.1:0", "--port-file",
                             file, *words)
        return process, self.address(process, file)

    def test_both_ends_tell_what_they_write_at_the_end(self):
        clip = clips.make(self.folder, "h264-aac.ts")
        receiver, (address, page) = self.listen(
            "tltcp-recv", "-q", "--json", self.folder / "received.json",
            "tltcp://127.0.0.1:0", self.folder / "out.ts")
        self.assertEqual(self.samples(page)["tltcp_callers_total", ""], 0)
        sender = self.start("tltcp-send", "--metrics", "127.0.0.1:0", "--json",
                            self.folder / "sent.json", clip,
                            f"tltcp://{address}?latency=5000")
        line = sender.stderr.readline()
        self.assertRegex(line, r"http://127\.0\.0\.1:\d+/metrics")
        own = self.wait_for(re.search(r"//(.*)/", line)[1],
                            "tltcp_sections_delivered_total", 5)
        self.assertGreater(own["tltcp_sent_bytes_total", ""], 1000)
        self.assertIn(("tltcp_frames_dropped_total", 'cause="late"'), own)
        self.assertEqual(self.finish(sender)[0], 0)
        sent = self.json("sent.json")
        got = self.wait_for(page, "tltcp_sections_received_total",
                            sent["sections"]["delivered"])
        self.assertEqual(self.finish(receiver, signal.SIGINT)[0], 0)
        received = self.json("received.json")
        self.assertEqual(got["tltcp_received_bytes_total", ""],
                         received["bytes"])
        for kind, frames in received["frames"].items():
            for what, count in frames.items():
                self.assertEqual(
                    got[f"tltcp_frames_{what}_total", f'kind="{kind}"'], count)

    def test_each_caller_has_its_stream_id_as_label(self):
        camera, (_, address, page) = self.listen(
            "tltcp-live-transmit", "-q", "udp://127.0.0.1:0",
            "tltcp://127.0.0.1:0?mode=listener")
        for name in ("red", 'bl"ue'):
            self.start("tltcp-live-transmit", "-q",
                       f"tltcp://{address}?streamid={name}",
                       self.folder / "out.ts")
        found = self.wait_for(page, "tltcp_connected", 2)
        labels = [key[1] for key in found
                  if key[0] == "tltcp_caller_rtt_seconds"]
        self.assertEqual(len(labels), 2)
        labels = " ".join(labels)
        self.assertIn('streamid="red",address="127.0.0.1:', labels)
        self.assertIn(r'streamid="bl\"ue"', labels)
        self.assertEqual(self.finish(camera, signal.SIGINT), (0, ""))

    def test_every_figure_of_the_json_is_on_the_page(self):
        tool, (_, _, page) = self.listen(
            "tltcp-live-transmit", "-q", "-s", "20ms", "--pf", "json",
            "--statsout", self.folder / "stats", "udp://127.0.0.1:0",
            "tltcp://127.0.0.1:0?mode=listener")
        while not self.samples(page):
            time.sleep(0.05)
        count = len(self.samples(page))
        self.assertEqual(self.finish(tool, signal.SIGINT), (0, ""))
        line = (self.folder / "stats").read_text().split("\n")[0]
        numbers = [v for v in json.loads(line).values()
                   if isinstance(v, (int, float))]
        self.assertEqual(count, len(numbers))

    def test_nothing_else_is_answered_and_nobody_else(self):
        tool, (_, _, page) = self.listen(
            "tltcp-live-transmit", "-q", "udp://127.0.0.1:0",
            "tltcp://127.0.0.1:0?mode=listener")
        self.assertEqual(fetch(page, path="/")[0].status, 404)
        answer, body = fetch(page, method="HEAD")
        self.assertEqual((answer.status, body), (200, ""))
        answer, _ = fetch(page, method="POST")
        self.assertEqual(answer.status, 405)
        self.assertEqual(answer.getheader("Allow"), "GET, HEAD")
        with self.assertRaises(ConnectionRefusedError):
            fetch("127.0.0.2:" + page.rsplit(":", 1)[1])
        self.assertEqual(self.finish(tool, signal.SIGINT), (0, ""))

    def test_a_page_of_the_web_does_not_read_it_under_its_own_name(self):
        """Its name may lead a browser to this machine (DNS rebinding)."""
        tool, (_, _, page) = self.listen(
            "tltcp-live-transmit", "-q", "udp://127.0.0.1:0",
            "tltcp://127.0.0.1:0?mode=listener")
        for name in ("evil.example", "evil.example:80", "127.0.0.1.example",
                     "localhost.example:9464", "[::1", "::1.example", ":80"):
            answer, body = fetch(page, name=name)
            self.assertEqual((answer.status, body),
                             (403, "the host in the URL must be an address, "
                              "localhost or that of --metrics\n"), name)
        for name in ("localhost", "LocalHost:9464", "127.0.0.1", "[::1]:9464",
                     "[::1]", page):
            self.assertEqual(fetch(page, name=name)[0].status, 200, name)
        self.assertEqual(self.finish(tool, signal.SIGINT), (0, ""))

    def test_other_machines_may_use_any_name(self):
        tool = self.start("tltcp-live-transmit", "-q", "--metrics", "0.0.0.0:0",
                          "--port-file", self.folder / "port",
                          "udp://127.0.0.1:0",
                          "tltcp://127.0.0.1:0?mode=listener")
        _, _, page = self.address(tool, self.folder / "port")
        page = page.replace("0.0.0.0", "127.0.0.1")
        self.assertEqual(fetch(page, name="studio.example")[0].status, 200)
        self.assertEqual(self.finish(tool, signal.SIGINT), (0, ""))

    def test_silent_connections_keep_no_others_out_for_long(self):
        tool, (_, _, page) = self.listen(
            "tltcp-live-transmit", "-q", "udp://127.0.0.1:0",
            "tltcp://127.0.0.1:0?mode=listener")
        host, port = page.rsplit(":", 1)
        silent = [socket.create_connection((host, int(port)))
                  for _ in range(40)]
        end = time.monotonic() + toolbox.PATIENCE
        answered = False
        while not answered and time.monotonic() < end:
            try:
                answered = fetch(page)[0].status == 200
            except OSError:
                time.sleep(0.2)
        self.assertTrue(answered)
        for s in silent:
            s.close()
        self.assertEqual(self.finish(tool, signal.SIGINT), (0, ""))

    def test_an_address_that_cannot_be_is_refused(self):
        for tool, words in (("tltcp-send", ("x.ts", "tltcp://127.0.0.1:9")),
                            ("tltcp-recv", ("tltcp://:0", "x.ts")),
                            ("tltcp-live-transmit",
                             ("-", "tltcp://127.0.0.1:9"))):
            for at in ("9464", ":9464", "localhost", "127.0.0.1:x"):
                done = toolbox.run(tool, "--metrics", at, *words)
                self.assertEqual(done.returncode, 2, at)
                self.assertIn("HOST:PORT", done.stderr)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            done = toolbox.run(
                "tltcp-live-transmit", "-q", "--metrics",
                f"127.0.0.1:{taken.getsockname()[1]}", "udp://127.0.0.1:0",
                "tltcp://127.0.0.1:0?mode=listener")
            self.assertEqual(done.returncode, 1)
            self.assertIn("cannot listen there", done.stderr)


if __name__ == "__main__":
    unittest.main()
