# SPDX-License-Identifier: MPL-2.0
"""saratoga with several peers at once, with peers of other makes, and by
UDP-Lite."""
import contextlib
import signal
import socket
import struct
import unittest
import zlib

import saratogabox
import toolbox


class Limits(saratogabox.Node):
    """A server with several simultaneous peers."""

    def busy(self, *limit):
        """A server with that limit, and a get from it that takes long."""
        self.put_file("f", 1000000)
        self.serve("--rate", "500kbit", *limit)
        return self.begin_get()

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

    def test_many_small_files_need_no_more_room_than_are_under_way(self):
        for i in range(150):
            self.put_file(f"{i}", 10, i)
        upper = self.folder / "upper"
        upper.mkdir()
        self.serve("--write", "--set", "linger=1min", "--max-sessions", "20",
                   root=upper)
        self.run_ok("put", "-r", self.here, self.url("a"))
        self.serve("--write", "--set", "linger=1min", root=upper)
        self.run_ok("put", "-r", self.here, self.url("b"))
        for copy in "ab":
            for source in self.here.iterdir():
                self.same(source, upper / copy / source.name)

    def test_as_many_at_once_as_a_client_may_ask_for_are_served(self):
        for i in range(800):
            self.put_file(f"{i}", 10, i)
        self.serve()
        _, (port,) = self.linkem("--delay", "10ms", "127.0.0.1:0",
                                 f"127.0.0.1:{self.port}")
        self.run_ok("get", "-r", "--parallel", "64", self.url(port=port),
                    self.there)
        self.assertEqual(len(list(self.there.iterdir())), 800)

    def test_many_small_files_that_are_got_need_no_more_room_either(self):
        for i in range(1200):
            self.put_file(f"{i}", 10, i)
        self.serve()
        self.run_ok("get", "-r", "--set", "linger=1min", self.url(),
                    self.there)
        self.assertEqual(len(list(self.there.iterdir())), 1200)


class OtherPeers(saratogabox.Node):
    """Packets of implementations that deviate from the draft."""

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
            packet = lite.recv(65536)  # empty: its echo proves the address
            self.assertEqual(len(packet), 26)
            udp.sendto(struct.pack(">II", 0x240c0000, self.HEADERS) +
                       packet[8:24] + bytes(4), ("127.0.0.1", self.port))
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


class Profiles(saratogabox.Node):
    def first_metadata(self, profile):
        """Of a large file whose checksum takes a while."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("127.0.0.1", 0))
            s.settimeout(toolbox.PATIENCE)
            client = self.start(
                "saratoga", "put", "--one-way", "--rate", "1mbit", "--profile",
                profile, self.there / "f",
                self.url("f", port=s.getsockname()[1]))
            packet = s.recv(2000)
            while packet[0] != 0x22:
                packet = s.recv(2000)
        self.finish(client, signal.SIGTERM)
        return packet

    def test_other_implementations_get_no_announcement_of_a_checksum(self):
        with (self.there / "f").open("wb") as file:
            file.truncate(40_000_000)
        for profile, kind in (("draft", 0x1e), ("nasa-perl", 0x42),
                              ("go", 0x42)):
            with self.subTest(profile=profile):
                self.assertEqual(self.first_metadata(profile)[3], kind)


if __name__ == "__main__":
    unittest.main()
