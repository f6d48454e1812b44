# SPDX-License-Identifier: MPL-2.0
"""saratoga over bad links, with rates and addresses that change, and going on
from where a transfer broke off."""
import json
import pathlib
import signal
import sys
import time
import unittest

import pcap
import saratogabox
import toolbox

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import saratoga_links  # noqa: E402  pylint: disable=wrong-import-position

MIB = 1024 * 1024


def peak_memory(process):
    """Bytes of memory that a process has held at most."""
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text(
        encoding="ascii")
    for line in text.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def is_sanitized():
    cache = (toolbox.BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    return any(line.startswith("PERIGEE_SANITIZE:") and
               not line.endswith("=") for line in cache.splitlines())


class Links(saratogabox.Node):
    def link(self, *options):
        """A link to the server; its end is the port to call from now on."""
        process, ports = self.linkem(*options, "127.0.0.1:0",
                                     f"127.0.0.1:{self.port}")
        self.port = ports[0]
        return process

    def test_a_lossy_lopsided_link_is_used_with_little_uplink(self):
        source = self.put_file("f", 3000000)
        self.serve("--rate", "20mbit")
        link = self.link("--down", "rate=20mbit,delay=25ms,loss=2%,queue=1MB",
                         "--up", "rate=38.4kbit,delay=25ms,queue=10kB",
                         "--seed", "7")
        done = self.run_ok("get", "--json", "-", "--uplink", "38.4kbit",
                           self.url("f"), self.there / "f")
        self.same(source, self.there / "f")
        report = json.loads(done.stdout)
        self.assertGreater(report["holes_reported"], 0)
        self.assertIs(report["verified"], True)
        self.link_report(link)

    def test_a_link_with_congestion_control_delivers(self):
        source = self.put_file("f", 400000)
        self.serve()
        self.link("--both", "rate=5mbit,delay=10ms,loss=1%,queue=50kB",
                  "--seed", "3")
        self.run_ok("get", self.url("f"), self.there / "f")
        self.same(source, self.there / "f")

    def test_transfers_at_once_share_the_rate(self):
        names = [f"f{i}" for i in range(4)]
        for i, name in enumerate(names):
            self.put_file(name, 500000, i)
        self.serve("--rate", "20mbit")
        link = self.link("--both", "delay=10ms", "--down",
                         "rate=21mbit,queue=100ms")
        done = self.run_ok("get", "--parallel", "4", "--json", "-",
                           *(self.url(n) for n in names), self.there)
        for name in names:
            self.same(self.here / name, self.there / name)
        self.assertEqual(len(json.loads(done.stdout)["files"]), 4)
        # At 20 Mbit/s each, three packets of four would be lost.
        down = self.link_report(link)["down"]
        self.assertLess(down["dropped"]["queue"],
                        down["offered_packets"] / 4)

    def test_a_client_that_is_gone_holds_little_of_the_rate(self):
        self.serve("--rate", "8mbit")
        self.put_file("big", 20 * MIB)
        self.put_file("f", MIB)
        relay = pcap.Relay(self.port)
        self.addCleanup(relay.close)
        client = self.start("saratoga", "get", "--bind", "127.0.0.1:0",
                            self.url("big", relay.port), self.there / "big")
        self.wait_for_part(client, 200000)
        client.kill()
        client.communicate()
        before = len(relay.packets)
        self.run_ok("get", self.url("f"), self.there / "f")
        wasted = sum(len(packet) for _, packet in relay.packets[before:])
        self.assertLess(wasted, MIB)

    def test_what_a_take_has_brought_does_not_stay_at_the_peer(self):
        self.serve("--delete", "--rate", "20mbit")
        self.link("--down", "rate=20mbit,delay=20ms,loss=5%",
                  "--up", "rate=20mbit,delay=20ms,loss=30%", "--seed", "3")
        for i in range(12):
            source = self.put_file(f"f{i}", 20000, i)
            data = source.read_bytes()
            self.run_ok("take", self.url(f"f{i}"), self.there / f"f{i}")
            self.assertFalse(source.exists(), i)
            self.assertEqual((self.there / f"f{i}").read_bytes(), data)

    def test_a_put_that_was_killed_can_be_resumed_at_once(self):
        self.serve("--write")
        source = self.put_file("f", 3000000, folder=self.there)
        put = self.start("saratoga", "put", "--rate", "4mbit", source,
                         self.url("f"))
        self.wait_for_part(put, 200000, folder=self.here)
        put.kill()
        put.communicate()
        self.run_ok("put", "--resume", "--rate", "20mbit", source,
                    self.url("f"))
        self.same(source, self.here / "f")

    def test_puts_arrive_over_a_lossy_link(self):
        source = self.put_file("f", 400000, folder=self.there)
        self.serve("--write")
        self.link("--both", "rate=20mbit,delay=10ms,loss=5%,queue=100kB",
                  "--seed", "5")
        self.run_ok("put", "--rate", "10mbit", source, self.url("f"))
        self.same(source, self.here / "f")


class Bench(unittest.TestCase):
    def test_a_row_of_the_bench_is_a_verified_file(self):
        link = saratoga_links.Link("thin", 20, 40, 0.01, 4, "384kbit")
        self.assertAlmostEqual(link.wire_seconds(1444e6), 606, delta=1)
        seconds = saratoga_links.bench(toolbox.TOOLS, 300000, 1, [link])
        # Nothing arrives sooner than the link can carry it.
        self.assertGreater(seconds["thin"][0],
                           link.wire_seconds(300000) / (1 + link.loss))


class Rates(saratogabox.Node):
    def test_a_server_follows_the_rate_in_a_file(self):
        source = self.put_file("f", 4000000)
        rate = self.folder / "rate"
        rate.write_text("100kbit\n", encoding="ascii")
        file = self.folder / "port"
        server = self.start("saratoga", "serve", "--root", self.here, "--bind",
                            "127.0.0.1:0", "--port-file", file, "--rate-file",
                            rate)
        self.port = int(self.address(server, file)[0].rsplit(":", 1)[1])
        client = self.begin_get()
        for text in ("nonsense\n", "50mbit"):  # the second half written
            rate.write_text(text, encoding="ascii")
            while "; the rate stays" not in server.stderr.readline():
                self.assertIsNone(server.poll())
        rate.write_text("100mbit\n", encoding="ascii")
        # At the first rate it would take five minutes.
        self.assertEqual(self.finish(client), (0, ""))
        self.same(source, self.there / "f")
        status, log = self.finish(server, signal.SIGTERM)
        self.assertEqual(status, 0)
        self.assertIn("rate 100 Mbit/s\n", log)
        rate.write_text("fast\n", encoding="ascii")
        for path in rate, self.folder / "none":
            self.run_bad("--rate-file", "serve", "--rate-file", path, status=2)


class Resuming(saratogabox.Node):
    def test_a_resumed_get_fetches_only_what_is_missing(self):
        source = self.put_file("f", 5000000)
        server = self.serve("--rate", "10mbit")
        client = self.begin_get(2000001)
        status, _ = self.finish(client, signal.SIGTERM)
        self.assertEqual(status, 1)
        self.assertEqual(len(self.left_over(self.there)), 2)
        self.stop(server)
        self.serve("--rate", "100mbit")
        done = self.run_ok("get", "--resume", "--json", "-", self.url("f"),
                           self.there / "f")
        self.same(source, self.there / "f")
        self.assertGreater(json.loads(done.stdout)["resumed_from"], 1000000)

    def test_a_changed_file_is_not_resumed(self):
        source = self.put_file("f", 3000000)
        server = self.serve("--rate", "5mbit")
        client = self.begin_get(500001)
        self.assertEqual(self.finish(client, signal.SIGTERM)[0], 1)
        self.stop(server)
        self.serve("--rate", "100mbit")
        self.put_file("f", 3000000, seed=2)
        self.run_ok("get", "--resume", self.url("f"), self.there / "f")
        self.same(source, self.there / "f")


class Moving(saratogabox.Node):
    """An end that is seen under another address in the middle."""

    def relay(self, host):
        """A way to the server that moves to that host in the middle."""
        data = []

        def drop(_, packet):
            if packet[0] == 0x23:  # either way
                data.append(packet)
                if len(data) == 300:
                    relay.move(host)
            return False

        relay = pcap.Relay(self.port, drop=drop)
        self.addCleanup(relay.close)
        return relay

    def test_a_port_that_changes_is_followed(self):
        source = self.put_file("f", MIB)
        self.serve("--write", "--rate", "20mbit")
        self.run_ok("get", self.url("f", self.relay("127.0.0.1").port),
                    self.there / "f")
        self.same(source, self.there / "f")
        self.run_ok("put", "--rate", "20mbit", source,
                    self.url("g", self.relay("127.0.0.1").port))
        self.same(source, self.here / "g")

    def test_a_get_goes_on_from_another_address_where_it_was(self):
        source = self.put_file("f", MIB)
        self.serve("--rate", "20mbit")
        relay = self.relay("127.0.0.2")
        self.run_bad("silent", "get", "--inactivity", "3",
                     self.url("f", relay.port), self.there / "f")
        done = self.run_ok("get", "--resume", "--json", "-",
                           self.url("f", relay.port), self.there / "f")
        self.same(source, self.there / "f")
        self.assertGreater(json.loads(done.stdout)["resumed_from"], 100000)


class Memory(saratogabox.Node):
    @unittest.skipIf(is_sanitized(), "sanitizers need memory of their own")
    def test_a_file_of_a_gigabyte_needs_little_memory(self):
        size = 1 << 30
        with open(self.here / "f", "wb") as file:
            file.truncate(size)
        server = self.serve("--rate", "2gbit")
        client = self.start("saratoga", "get", self.url("f"), self.there / "f")
        peak = 0
        while client.poll() is None:
            peak = max(peak, peak_memory(client))
            time.sleep(0.02)
        self.assertEqual(self.finish(client), (0, ""))
        self.assertEqual((self.there / "f").stat().st_size, size)
        self.assertLess(peak, 32 * MIB)
        self.assertLess(peak_memory(server), 32 * MIB)


if __name__ == "__main__":
    unittest.main()
