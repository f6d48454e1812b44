# SPDX-License-Identifier: MPL-2.0
"""The dissector for Wireshark, by tshark: packets written out by hand, packets
that are damaged, and captures of our own transfers."""
import hashlib
import struct
import unittest

import dissectbox
import pcap
import saratogabox

MD5 = "046b3239eaade30920069f171518d956"
NAME = "696d672f303030312e726177 00"  # img/0001.raw
STAMP = "000000005a35b380 80000000 000000 04"
TIMES = "21c86fea 21c87026"

# name: octets, {field: what tshark shows}
PACKETS = {
    "beacon": (
        "209f5000 00100000 7361742d31",
        {"saratoga.type": "0", "saratoga.eid": "sat-1",
         "saratoga.free_space": "1048576", "saratoga.descriptor.max": "2",
         "saratoga.flag.streams": "1", "saratoga.flag.udplite": "0",
         "saratoga.flag.will_receive": "1"}),
    "beacon without free space": (
        "204f0000 7361742d31",
        {"saratoga.eid": "sat-1", "saratoga.free_space": "",
         "saratoga.descriptor.max": "1"}),
    "get": (
        "218f0001 1a2b3c4d" + NAME,
        {"saratoga.type": "1", "saratoga.request": "1",
         "saratoga.id": "0x1a2b3c4d", "saratoga.path": "img/0001.raw",
         "saratoga.authentication": ""}),
    "get with authentication": (
        "218f0001 1a2b3c4d" + NAME + "0102030405",
        {"saratoga.path": "img/0001.raw",
         "saratoga.authentication": "0102030405"}),
    "blind get": ("218f0001 0000002e 00", {"saratoga.request": "1"}),
    "delete": ("214f0005 0000002c" + NAME, {"saratoga.request": "5"}),
    "metadata": (
        "22000042 1a2b3c4d" + MD5 + "8000 1388" + TIMES + NAME,
        {"saratoga.type": "2", "saratoga.kind": "0",
         "saratoga.checksum": MD5, "saratoga.checksum.type": "2",
         "saratoga.checksum.words": "4", "saratoga.entry.size": "5000",
         "saratoga.entry.path": "img/0001.raw",
         "saratoga.entry.mtime": "Dec 17, 2017 00:00:00.000000000 UTC",
         "saratoga.entry.ctime": "Dec 17, 2017 00:01:00.000000000 UTC"}),
    "metadata whose checksum follows": (
        "2200001e 1a2b3c4d 00000002 8000 1388" + TIMES + NAME,
        {"saratoga.checksum.type": "14", "saratoga.checksum": "00000002"}),
    "metadata of a stream that ended": (
        "22b80000 0000002b 8280 0000000000000000 21c86fea 21c86fea "
        "74656c656d6574727900",
        {"saratoga.kind": "3", "saratoga.flag.ended": "1",
         "saratoga.descriptor": "2", "saratoga.entry.special": "1",
         "saratoga.entry.size": "0"}),
    "data": (
        "23098000 1a2b3c4d" + STAMP + "1386 e5e6",
        {"saratoga.type": "3", "saratoga.flag.eod": "1",
         "saratoga.flag.status_requested": "1", "saratoga.offset": "4998",
         "saratoga.payload": "e5e6", "saratoga.payload.length": "2",
         "saratoga.timestamp.type": "4", "saratoga.timestamp.time":
         "Dec 17, 2017 00:00:00.500000000 UTC"}),
    "poll": ("23018000 1a2b3c4d 1388",
             {"saratoga.offset": "5000", "saratoga.payload.length": "0"}),
    "data of 128 bits": (
        "23c00000 0000002d 00000000000000010000000000000005 6162",
        {"saratoga.descriptor": "3", "saratoga.offset": "5",
         "saratoga.high": "0000000000000001"}),
    "directory record": (
        "23118000 0000002a 0000"
        "8000 0006 21c86fea 21c86fea 612e74787400"
        "8100 0000 21c86fea 21c86fea 73756200"
        "8080 0000000140000000 21c86fea 21c86fea 6269672e72617700",
        {"saratoga.kind": "1", "saratoga.entry.path": "a.txt,sub,big.raw",
         "saratoga.entry.size": "6,0,5368709120",
         "saratoga.entry.directory": "0,1,0"}),
    "status with two holes": (
        "24080000 1a2b3c4d" + STAMP + "03e8 1388 03e807cf 0bb81385",
        {"saratoga.type": "4", "saratoga.status": "0",
         "saratoga.flag.voluntary": "0", "saratoga.progress": "1000",
         "saratoga.in_response_to": "5000", "saratoga.holes": "2",
         "saratoga.hole.start": "1000,3000",
         "saratoga.hole.end": "1999,4997"}),
    "first status of a split list": (
        "24030000 00000031 0004 001e 0004 0007",
        {"saratoga.flag.incomplete": "1", "saratoga.flag.voluntary": "1",
         "saratoga.hole.end": "7"}),
    "completed": ("24010000 1a2b3c4d 1388 1388",
                  {"saratoga.progress": "5000", "saratoga.holes": "0"}),
    "completed, and signed": (
        "24010000 1a2b3c4d 1388 1388 01" + 48 * "5a",
        {"saratoga.progress": "5000", "saratoga.holes": "",
         "saratoga.authentication": "01" + 48 * "5a"}),
    "denied": ("24010005 1a2b3c4d 0000 0000 04",
               {"saratoga.status": "5", "saratoga.denial": "4"}),
    "metadata required": (
        "24050010 1a2b3c4d 0000 0000",
        {"saratoga.status": "16", "saratoga.flag.no_metadata": "1",
         "saratoga.progress": ""}),
}


def octets(name):
    return bytes.fromhex(PACKETS[name][0])


class Dissector(dissectbox.Dissector, saratogabox.Node):
    LUA = "saratoga.lua"
    PROTOCOL = "saratoga"

    def test_every_kind_of_packet_is_read(self):
        self.check_packets({name: (octets(name), want)
                            for name, (_, want) in PACKETS.items()})
        self.assertEqual(self.fields("frame.number",
                                     select="_ws.malformed || "
                                     "saratoga.short || saratoga.stray"),
                         [[str(len(PACKETS))]])  # what stands behind a failure

    def test_a_line_summarises_a_packet(self):
        self.write([octets(n) for n in ("get", "data", "metadata required",
                                        "status with two holes")])
        lines = self.tshark().splitlines()
        for line, text in zip(lines, (
                "REQUEST 1a2b3c4d: get img/0001.raw",
                "DATA 1a2b3c4d: 2 bytes at 4998, end of data, asks for STATUS",
                "STATUS 1a2b3c4d: METADATA required",
                "STATUS 1a2b3c4d: progress 1000 of 5000, 2 holes")):
            self.assertIn(text, line)

    def test_damaged_packets_are_reported_and_break_nothing(self):
        whole = [octets(name) for name in PACKETS]
        damaged = [p[:n] for p in whole for n in range(4, len(p))]
        damaged += [(int.from_bytes(p[:4], "big") ^ 1 << bit).to_bytes(
            4, "big") + p[4:] for p in whole for bit in range(32)]
        self.write(damaged)
        out = self.tshark("-V", "-O", "saratoga")
        self.assertEqual(out.count("\nSaratoga"), len(damaged))
        cut = octets("metadata")
        self.write([cut[:n] for n in range(4, len(cut))])
        self.assertEqual(len(self.fields("frame.number", select="saratoga."
                                         "short || saratoga.entry_bad")),
                         len(cut) - 4)

    def test_datagrams_that_the_kernel_cuts_are_read_one_by_one(self):
        def data(offset, payload, stamped=True, flags=0):
            head = 0x23000000 | flags | (0x80000 if stamped else 0)
            return struct.pack(">II", head, 0x1a2b3c4d) + \
                (bytes.fromhex(STAMP) if stamped else b"") + \
                struct.pack(">H", offset) + payload

        # Payloads have what looks like a beginning, too.
        full = [(i * 40, bytes.fromhex("00001a2b3c4d") + bytes([i]) * 34)
                for i in range(9)]
        asks = 0x18000  # the last one asks, and is the end of the data
        for stamped in (True, False):
            train = b"".join(data(*one, stamped) for one in full)
            alone = data(*full[0], stamped)
            self.write([train + data(360, b"end", stamped, asks), train,
                        alone + data(400, b"", stamped, asks), alone])
            rows = self.fields("saratoga.offset", "saratoga.payload.length")
            offsets = ",".join(str(offset) for offset, _ in full)
            self.assertEqual(rows, [
                [offsets + ",360", "40," * 9 + "3"],
                [offsets, "40," * 8 + "40"], ["0,400", "40,0"], ["0", "40"]])
        self.assertIn("40 bytes at 0, and 9 more",
                      self.tshark().splitlines()[0])

    def test_udp_lite_is_read_too(self):
        pcap.write(self.capture, [(0, pcap.packet(octets("data"),
                                                  protocol=136))])
        self.assertEqual(self.fields("saratoga.offset"), [["4998"]])

    def test_other_versions_and_types_are_named(self):
        self.write([bytes.fromhex("010000001a2b3c4d"),
                    bytes.fromhex("2a0000001a2b3c4d")])
        self.assertEqual(self.fields("frame.number",
                                     select="saratoga.version_unknown"),
                         [["1"]])
        self.assertEqual(self.fields("frame.number",
                                     select="saratoga.type_unknown"),
                         [["2"]])

    def record(self, command, path, *target,
               drop=lambda way, payload: False):
        """A capture of what a command says to the server."""
        relay = pcap.Relay(self.port, drop=drop)
        try:
            self.run_ok(command, "--bind", "127.0.0.1:0",
                        self.url(path, relay.port), *target)
        finally:
            relay.close()
        pcap.write(self.capture, relay.packets)

    def test_a_transfer_of_ours_is_read_to_the_last_byte(self):
        size = 200000
        source = self.put_file("f", size)
        self.serve("--rate", "100mbit")
        seen = []

        def drop(way, payload):
            seen.append(way)
            return way == "down" and payload[0] == 0x23 and \
                seen.count("down") == 20

        self.record("get", "f", self.there / "f", drop=drop)
        self.same(source, self.there / "f")
        self.assertEqual(self.fields("saratoga.path", "saratoga.request",
                                     select="saratoga.type == 1")[0],
                         ["f", "1"])
        self.assertEqual(self.fields("saratoga.checksum",
                                     "saratoga.entry.size",
                                     select="saratoga.type == 2")[0],
                         [hashlib.md5(source.read_bytes()).hexdigest(),
                          str(size)])
        data = bytearray(size)
        for offset, payload in self.fields(
                "saratoga.offset", "saratoga.payload",
                select="saratoga.type == 3 && saratoga.payload"):
            at, piece = int(offset), bytes.fromhex(payload)
            data[at:at + len(piece)] = piece
        self.assertEqual(bytes(data), source.read_bytes())
        self.assertNotEqual(self.fields("saratoga.hole.start",
                                        select="saratoga.hole.start"), [])
        self.assertEqual(self.fields("saratoga.progress", "saratoga.holes",
                                     select="saratoga.type == 4")[-1],
                         [str(size), "0"])
        self.assertEqual(self.fields("frame.number",
                                     select="_ws.expert.severity >= 0x600000"),
                         [])

    def test_a_listing_of_ours_is_read(self):
        self.put_file("image.raw", 12345)
        self.put_file("more/x", 1)
        self.serve()
        self.record("ls", "")
        names, sizes, folders = self.fields(
            "saratoga.entry.path", "saratoga.entry.size",
            "saratoga.entry.directory",
            select="saratoga.type == 3 && saratoga.entry.path")[0]
        self.assertEqual((names, sizes, folders),
                         ("image.raw,more", "12345,0", "0,1"))


if __name__ == "__main__":
    unittest.main()
