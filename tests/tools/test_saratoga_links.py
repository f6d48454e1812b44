# SPDX-License-Identifier: MPL-2.0
"""saratoga over bad links and through passes."""
import contextlib
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest
import zlib

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
        client = self.start("saratoga", "get", self.url("f"), self.there / "f")
        self.wait_for_part(client)
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
        self.assertIn("rate 100000000 bit/s\n", log)
        rate.write_text("fast\n", encoding="ascii")
        for path in rate, self.folder / "none":
            self.run_bad("--rate-file", "serve", "--rate-file", path, status=2)


class Limits(saratogabox.Node):
    """What a server does for several at once."""

    def busy(self, *limit):
        """A server with that limit, and a get from it that takes long."""
        self.put_file("f", 1000000)
        self.serve("--rate", "500kbit", *limit)
        client = self.start("saratoga", "get", self.url("f"), self.there / "f")
        self.wait_for_part(client)
        return client

    def get(self, name, host="127.0.0.1"):
        return ("get", "--bind", f"{host}:0", self.url("f"),
                self.there / name)

    def check(self, client, refused, allowed=None):
        self.run_bad("refused by the peer", *refused)
        if allowed:
            another = self.start("saratoga", *allowed)
            self.wait_for_part(another, folder=allowed[-1].parent)
            self.assertIsNone(another.poll())
        self.assertIsNone(client.poll())
        self.finish(client, signal.SIGTERM)
        # The server may hear of that and of the next request together.
        self.wait_until(lambda: toolbox.run("saratoga", "ls",
                                            self.url()).returncode == 0)

    def test_of_transfers_in_all(self):
        self.check(self.busy("--max-sessions", "1"),
                   self.get("g", "127.0.0.2"))

    def test_of_transfers_of_one_address(self):
        self.check(self.busy("--max-per-peer", "1"), self.get("g"),
                   self.get("h", "127.0.0.2"))

    def test_of_addresses(self):
        self.check(self.busy("--max-peers", "1"), self.get("g", "127.0.0.2"),
                   self.get("h"))


class Resuming(saratogabox.Node):
    def test_a_resumed_get_fetches_only_what_is_missing(self):
        source = self.put_file("f", 5000000)
        server = self.serve("--rate", "10mbit")
        client = self.start("saratoga", "get", self.url("f"), self.there / "f")
        self.wait_for_part(client, 2000001)
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
        client = self.start("saratoga", "get", self.url("f"), self.there / "f")
        self.wait_for_part(client, 500001)
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


class OtherPeers(saratogabox.Node):
    """What implementations that deviate from the draft send."""

    def blind_put(self, name, data, crc):
        """A put by hand; the status of the first failure, or 0 at the end."""
        number = zlib.crc32(name)
        entry = struct.pack(">HHII", 0x8000, len(data), 1, 1) + name + b"\0"
        with toolbox.udp_socket() as s:
            s.connect(("127.0.0.1", self.port))
            s.send(struct.pack(">III", 0x22000011, number, crc) + entry)
            self.assertEqual(s.recv(100)[3], 0)  # now it is awaited
            s.settimeout(0.05)
            while True:
                s.send(struct.pack(">IIH", 0x23018000, number, 0) + data)
                with contextlib.suppress(TimeoutError):
                    packet = s.recv(100)
                    if packet[3] != 0 or packet[8:10] == packet[10:12] == \
                            struct.pack(">H", len(data)):
                        return packet[3]

    def test_the_crc_of_ieee_passes_where_the_profile_says_so(self):
        data = saratogabox.content(1000)
        crc = zlib.crc32(data)
        server = self.serve("--write")
        self.assertNotEqual(self.blind_put(b"f", data, crc), 0)
        self.assertFalse((self.here / "f").exists())
        self.stop(server)
        self.serve("--write", "--profile", "go")
        self.assertNotEqual(self.blind_put(b"bad", data, crc ^ 1), 0)
        self.assertFalse((self.here / "bad").exists())
        self.assertEqual(self.blind_put(b"f", data, crc), 0)
        self.assertEqual((self.here / "f").read_bytes(), data)


class UdpLite(saratogabox.Node):
    PROTOCOL, RECV_COVERAGE = 136, 11
    HEADERS = 8 + 8 + 16 + 2  # UDP-Lite, Saratoga, timestamp, offset

    def setUp(self):
        super().setUp()
        try:
            self.lite_socket().close()
        except OSError as error:
            self.skipTest(f"no UDP-Lite here: {error}")

    def lite_socket(self, port=0):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, self.PROTOCOL)
        s.bind(("127.0.0.1", port))
        s.settimeout(toolbox.PATIENCE)
        return s

    def ask(self, coverage, udp, lite):
        """Asks for a file, takes UDP-Lite with at least that coverage."""
        lite.setsockopt(self.PROTOCOL, self.RECV_COVERAGE, coverage)
        udp.sendto(struct.pack(">II", 0x210f8001, coverage) + b"f\0",
                   ("127.0.0.1", self.port))

    def test_data_that_tolerates_errors_goes_by_udp_lite(self):
        source = self.put_file("f", 1000)
        self.serve("--udp-lite", "--checksum", "none", "--inactivity", "2")
        with toolbox.udp_socket() as udp, \
                self.lite_socket(udp.getsockname()[1]) as lite:
            self.ask(self.HEADERS, udp, lite)
            packet = lite.recv(65536)
            self.assertEqual(packet[0], 0x23)
            self.assertEqual(packet[26:], source.read_bytes())
            metadata = udp.recv(65536)
            self.assertEqual(metadata[0], 0x22)  # all else goes by UDP
            self.assertTrue(metadata[1] & 0x04)  # errors are permitted
            # The checksum ends where the data begin: who wants more of it
            # hears of the file by UDP, and gets polls without data at most.
            self.ask(self.HEADERS + 1, udp, lite)
            wanted = struct.pack(">I", self.HEADERS + 1)
            while udp.recv(65536)[4:8] != wanted:
                pass
            lite.settimeout(1)
            with contextlib.suppress(TimeoutError):
                for _ in range(20):
                    packet = lite.recv(65536)
                    self.assertTrue(packet[4:8] != wanted or
                                    len(packet) <= 26, packet.hex())

    def test_a_get_takes_udp_lite_and_does_without(self):
        source = self.put_file("f", 100000)
        for theirs in (("--udp-lite", ), ()):
            for mine in (("--udp-lite", ), ()):
                with self.subTest(theirs + mine):
                    server = self.serve("--checksum", "none", *theirs)
                    self.run_ok("get", *mine, self.url("f"), self.there / "f")
                    self.same(source, self.there / "f")
                    (self.there / "f").unlink()
                    self.stop(server)


class Networks(saratogabox.Node):
    """Transfers that need a network of their own: groups, fixed ports."""

    def script(self, text, **names):
        names = {"tool": toolbox.TOOLS / "saratoga", "here": self.here,
                 "port": self.folder / "port", **names}
        done = subprocess.run(
            [*self.namespace(), "sh", "-euc", "ip link set lo up\n" + text],
            check=False, capture_output=True, text=True,
            timeout=toolbox.PATIENCE,
            env={**os.environ, **{k: str(v) for k, v in names.items()}})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_vallona_profile_keeps_to_the_well_known_port(self):
        source = self.put_file("f", 100000)
        self.script("""
            "$tool" serve -q --profile vallona --root "$here" \\
                --bind 127.0.0.1 --port-file "$port" & serve=$!
            until [ -s "$port" ]; do sleep 0.01; done
            "$tool" get --profile vallona --bind 127.0.0.2 \\
                saratoga://127.0.0.1/f "$there/f"
            kill $serve
            wait $serve
            """, there=self.there)
        self.same(source, self.there / "f")

    def test_a_put_to_a_group_reaches_a_member_of_it(self):
        source = self.put_file("f", 200000, folder=self.there)
        self.script(self.GROUP + """
            "$tool" serve -q --write --root "$here" --bind 0.0.0.0 \\
                --port-file "$port" & serve=$!
            until [ -s "$port" ]; do sleep 0.01; done
            "$tool" put --multicast --rate 20mbit --set cycles=2 \\
                "$source" saratoga://224.0.0.108/f
            until [ -e "$here/f" ]; do sleep 0.01; done
            kill $serve
            wait $serve
            """, source=source)
        self.same(source, self.here / "f")

    GROUP = """
        ip link set lo multicast on
        ip route add 224.0.0.0/4 dev lo src 127.0.0.1
        """

    def test_a_member_of_a_group_tells_the_group_what_it_misses(self):
        data = saratogabox.content(5000)
        (self.folder / "data").write_bytes(data)
        self.script(self.GROUP + """
            "$tool" serve -q --write --root "$here" --bind 0.0.0.0 \\
                --port-file "$port" & serve=$!
            until [ -s "$port" ]; do sleep 0.01; done
            "$python" "$peer" send "$data"
            until [ -e "$here/f" ]; do sleep 0.01; done
            kill $serve
            wait $serve
            """, python=sys.executable, data=self.folder / "data",
                    peer=pathlib.Path(__file__).with_name("group_peer.py"))
        self.assertEqual((self.here / "f").read_bytes(), data)

    def test_a_put_to_a_group_repairs_what_a_member_misses(self):
        source = self.put_file("f", 200000, folder=self.there)
        self.script(self.GROUP + """
            "$python" "$peer" receive "$got" "$port" & member=$!
            until [ -s "$port" ]; do sleep 0.01; done
            "$tool" put --multicast --rate 20mbit --set cycles=1 \\
                "$source" saratoga://224.0.0.108/f
            wait $member
            """, python=sys.executable, source=source, got=self.folder / "got",
                    peer=pathlib.Path(__file__).with_name("group_peer.py"))
        self.same(source, self.folder / "got")

    def test_gets_of_one_file_are_answered_to_a_group(self):
        source = self.put_file("f", 600000)
        self.script(self.GROUP + """
            "$tool" serve -q --multicast --rate 20mbit --root "$here" \\
                --bind 0.0.0.0 --port-file "$port" & serve=$!
            until [ -s "$port" ]; do sleep 0.01; done
            "$tool" get --multicast saratoga://127.0.0.1/f "$there/a" & a=$!
            "$tool" get --multicast saratoga://127.0.0.1/f "$there/b" & b=$!
            wait $a
            wait $b
            kill $serve
            wait $serve
            """, there=self.there)
        self.same(source, self.there / "a")
        self.same(source, self.there / "b")

    def test_what_is_answered_to_a_group_is_not_said_to_be_verified(self):
        source = self.put_file("f", 60000)
        log = self.folder / "log"
        self.script(self.GROUP + """
            "$tool" serve --multicast --rate 20mbit --root "$here" \\
                --set linger=500ms --bind 0.0.0.0 --port-file "$port" \\
                2>"$log" & serve=$!
            until [ -s "$port" ]; do sleep 0.01; done
            "$tool" get --multicast saratoga://127.0.0.1/f "$there/f"
            until grep -q "get f:" "$log"; do sleep 0.01; done
            kill $serve
            wait $serve
            """, there=self.there, log=log)
        self.same(source, self.there / "f")
        self.assertRegex(log.read_text(encoding="utf-8"),
                         "get f: 60000 bytes sent to the group .*, not verified")

    def test_packets_larger_than_the_link_takes_are_told(self):
        source = self.put_file("f", 60000)
        log = self.folder / "log"
        self.script("""
            ip link set lo mtu 1000
            "$tool" serve --write --root "$here" --bind 127.0.0.1 \\
                --port-file "$port" 2>>"$log" & serve=$!
            until [ -s "$port" ]; do sleep 0.01; done
            ! "$tool" get --inactivity 1 saratoga://127.0.0.1/f "$there/f" \\
                2>/dev/null || exit 9
            until grep -q "mtu" "$log"; do sleep 0.01; done
            : >"$log.put"
            "$tool" put "$source" saratoga://127.0.0.1/g 2>>"$log.put" & put=$!
            until grep -q "mtu" "$log.put"; do sleep 0.01; done
            kill $put
            ! wait $put || exit 9
            "$tool" put --mtu 1000 "$source" saratoga://127.0.0.1/h
            kill $serve
            wait $serve
            """, there=self.there, log=log, source=source)
        self.assertEqual(log.read_text(encoding="utf-8").count(
            "packets of 1500 bytes are larger than the link here takes"), 1)
        self.same(source, self.here / "h")

    def test_stations_that_mirror_a_node_share_what_it_sends(self):
        for i, name in enumerate(("a", "b", "sub/c")):
            self.put_file(name, 300000, i)
        self.script(self.GROUP + """
            "$tool" serve -q --multicast --rate 20mbit --root "$here" \\
                --bind 0.0.0.0 --port-file "$port" & serve=$!
            until [ -s "$port" ]; do sleep 0.01; done
            mirror() {
                "$tool" mirror -q --multicast --once --bind 127.0.0.1:0 \\
                    saratoga://127.0.0.1/ "$1"
            }
            mirror "$there/1" & one=$!
            mirror "$there/2" & two=$!
            "$tool" get -q -r --multicast saratoga://127.0.0.1/ "$there/3"
            wait $one
            wait $two
            kill $serve
            wait $serve
            for i in 1 2 3; do diff -r "$here" "$there/$i"; done
            """, there=self.there)

    def test_a_group_is_asked_for_a_file(self):
        source = self.put_file("f", 200000)
        self.script(self.GROUP + """
            "$tool" serve -q --rate 20mbit --root "$here" --bind 0.0.0.0 \\
                --port-file "$port" & serve=$!
            until [ -s "$port" ]; do sleep 0.01; done
            "$tool" get saratoga://224.0.0.108/f "$there/f"
            kill $serve
            wait $serve
            """, there=self.there)
        self.same(source, self.there / "f")

    @staticmethod
    def namespace():
        """A command that gives another a network of its own."""
        toolbox.need("unshare", "ip")
        for prefix in (["unshare", "--net"],
                       ["unshare", "--map-root-user", "--net"]):
            done = subprocess.run([*prefix, "ip", "link", "set", "lo", "up"],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return prefix
        raise unittest.SkipTest(f"no network namespace: {done.stderr}")


def is_sanitized():
    cache = (toolbox.BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    return any(line.startswith("PERIGEE_SANITIZE:") and
               not line.endswith("=") for line in cache.splitlines())


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
