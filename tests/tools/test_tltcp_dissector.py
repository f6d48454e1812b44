# SPDX-License-Identifier: MPL-2.0
"""The dissector of TLTCP, by tshark: packets written out by hand from the
document, packets that are damaged, and captures of our own streams."""
import struct
import unittest

import dissectbox
import pcap
import toolbox

IDS = "1122334455667788", "0102030405060708"
PROOF = "00112233445566778899aabbccddeeff"
PARAMS = "10000007 01 0004 00010000"


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return struct.pack(">I", crc ^ 0xffffffff)


def sealed(text):
    """A packet with its check."""
    data = bytes.fromhex(text)
    return data + crc32c(data)


def short(text):
    return sealed(f"50 {IDS[0]} 00000007 {text}")


def initial(text, kind="58", version="544c0002"):
    return sealed(f"{kind} {version} {IDS[0]} {IDS[1]} 00000001 00 {text}")


SHOWN = {"tltcp.dcid": "0x" + IDS[0], "tltcp.packet_number": "7"}

# name: octets, {field: what tshark shows}
PACKETS = {
    "initial": (initial(PARAMS + "00" * 1100),
                {"tltcp.type": "0x58", "tltcp.version": "0x544c0002",
                 "tltcp.scid": "0x" + IDS[1], "tltcp.token_length": "0",
                 "tltcp.param.id": "1", "tltcp.param.value": "65536",
                 "tltcp.chunk.type": "0x10"}),
    "initial with a token": (
        sealed(f"58 544c0002 {IDS[0]} {IDS[1]} 00000001 03 aabbcc {PARAMS}"),
        {"tltcp.token": "aabbcc", "tltcp.param.value": "65536"}),
    "initial of a secured one": (
        initial(f"11000014 {PROOF} deadbeef"),
        {"tltcp.noise.proof": PROOF, "tltcp.noise.message": "deadbeef"}),
    "initial that asks for an offer": (
        initial("11000000" + "00" * 1100),
        {"tltcp.chunk.type": "0x11", "tltcp.noise.proof": "",
         "tltcp.noise.message": ""}),
    "answer": (initial(PARAMS, "59"), {"tltcp.type": "0x59"}),
    "answer of a secured one": (
        initial("11000004 deadbeef", "59"),
        {"tltcp.noise.proof": "", "tltcp.noise.message": "deadbeef"}),
    "stream id": (initial("1000000a 05 0004 00000003 08 0000"),
                  {"tltcp.param.id": "5,8", "tltcp.param.value": "3"}),
    "proof of being on the same machine": (
        initial(f"1000000b 0a 0008 {IDS[1]}"),
        {"tltcp.param.id": "10", "tltcp.param.bytes": IDS[1]}),
    "retry": (sealed(f"5a 544c0002 {IDS[0]} {IDS[1]} 02 aabb"),
              {"tltcp.type": "0x5a", "tltcp.token": "aabb"}),
    "retry with an offer": (
        sealed(f"5a 544c0002 {IDS[0]} {IDS[1]} 02 aabb "
               f"12000034 00000007 {PROOF} {PROOF} {PROOF}"),
        {"tltcp.token": "aabb", "tltcp.chunk.type": "0x12",
         "tltcp.offer.packet_number": "7", "tltcp.offer.salt": PROOF,
         "tltcp.offer.public_key": PROOF + PROOF}),
    "versions": (sealed(f"5b 00000000 {IDS[0]} {IDS[1]} 544c0002 544c1a2a"),
                 {"tltcp.type": "0x5b",
                  "tltcp.version": "0x00000000,0x544c0002,0x544c1a2a"}),
    "reject": (sealed(f"5c 544c0002 {IDS[0]} {IDS[1]} 00 00000013"),
               {"tltcp.type": "0x5c", "tltcp.code": "19"}),
    "data": (short("02000008 00001000 00000005 "
                   "01030009 00001000 00000005 41"),
             {**SHOWN, "tltcp.chunk.type": "0x02,0x01",
              "tltcp.offset": "4096,4096", "tltcp.section": "5,5",
              "tltcp.data.first": "1", "tltcp.data.last": "1",
              "tltcp.payload": "41"}),
    "data of which something is said": (
        short("011d0016 00001000 00000005 24 00000003 0000000000000007 41"),
        {"tltcp.class": "4", "tltcp.stream": "2", "tltcp.depends": "3",
         "tltcp.section_tag": "7", "tltcp.payload": "41",
         "tltcp.data.class": "1", "tltcp.data.tag": "1"}),
    "data without a check": (
        bytes.fromhex(f"50 {IDS[0]} 00000007 "
                      "01030009 00001000 00000005 41 00000000"),
        {**SHOWN, "tltcp.payload": "41", "tltcp.check": "0x00000000"}),
    "skip": (short("0300000c 00000010 00000020 00000003"),
             {"tltcp.start": "16", "tltcp.end": "32", "tltcp.section": "3"}),
    "ack": (short("04000020 00000100 00000019 00002000 00010000 00000040 "
                  "00000004 00000000 00000002"),
            {"tltcp.ack.largest": "256", "tltcp.ack.delay": "25",
             "tltcp.ack.cumulative": "8192", "tltcp.offset": "65536",
             "tltcp.section": "64", "tltcp.ack.first": "4",
             "tltcp.ack.missing": "1", "tltcp.ack.present": "3",
             "tltcp.ack.ect0": ""}),
    "ack with counts": (short("04010024 00000100 00000000 00002000 00010000 "
                              "00000040 00000004 00000009 00000000 00000002"),
                        {"tltcp.ack.ect0": "9", "tltcp.ack.ect1": "0",
                         "tltcp.ack.ce": "2", "tltcp.ack.missing": ""}),
    "ack with a time": (short("0402001c 00000100 00000000 00002000 00010000 "
                              "00000040 00000004 0000000c"),
                        {"tltcp.ack.time": "12", "tltcp.ack.ect0": "",
                         "tltcp.ack.missing": ""}),
    "ack with counts and a time": (
        short("04030024 00000100 00000000 00002000 00010000 00000040 00000004 "
              "00000009 00000002 0000000c"),
        {"tltcp.ack.ect0": "9", "tltcp.ack.ect1": "", "tltcp.ack.ce": "2",
         "tltcp.ack.time": "12"}),
    "window": (short("05000008 00000400 00000002"), {"tltcp.offset": "1024"}),
    "ping": (short("06000000"), {"tltcp.chunk.type": "0x06"}),
    "challenge": (short("07000008 0102030405060708"),
                  {"tltcp.nonce": IDS[1]}),
    "response": (short("08000008 0102030405060708"), {"tltcp.nonce": IDS[1]}),
    "fin": (short("09000008 00000400 00000002"),
            {"tltcp.offset": "1024", "tltcp.section": "2"}),
    "close": (short("0a010006 00000000 6869"),
              {"tltcp.code": "0", "tltcp.close.text": "hi",
               "tltcp.close.echo": "1"}),
    "report": (short("0b00000c 40000000 00000000000186a0"),
               {"tltcp.report.loss": str(1 << 30),
                "tltcp.report.rate": "100000"}),
    "rtt": (short("0c000004 00009c40"), {"tltcp.rtt": "40000"}),
    "ack frequency": (short("0f000004 0008 000a"),
                      {"tltcp.frequency.packets": "8",
                       "tltcp.frequency.wait": "10"}),
    "repair": (short("0d01000f 00001000 00000005 00000800 02 4d45"),
               {"tltcp.start": "4096", "tltcp.section": "5",
                "tltcp.length": "2048", "tltcp.index": "2",
                "tltcp.symbol": "4d45", "tltcp.repair.first": "1",
                "tltcp.repair.last": "0"}),
    "repair of which something is said": (
        short("0d050010 00001000 00000005 00000800 02 02 4d45"),
        {"tltcp.class": "2", "tltcp.stream": "0", "tltcp.symbol": "4d45"}),
    "rebuilt": (short("0e000008 00001000 00000400"),
                {"tltcp.start": "4096", "tltcp.length": "1024"}),
    "sealed": (bytes.fromhex(f"51 {IDS[0]} 00000007" + "aa" * 20),
               {"tltcp.type": "0x51", "tltcp.key_phase": "1",
                "tltcp.sealed": "aa" * 4, "tltcp.tag": "aa" * 16}),
}
ODD = "_ws.malformed || tltcp.short || tltcp.excess || tltcp.check_bad || " \
    "tltcp.unknown"


class Dissector(dissectbox.Dissector):
    LUA = "tltcp.lua"
    PROTOCOL = "tltcp"

    def test_every_kind_of_packet_and_chunk_is_read(self):
        # The first is a handshake: what follows belongs to it.
        self.check_packets(PACKETS)
        self.assertEqual(self.fields("frame.number", select=ODD), [])

    def test_a_line_summarises_a_packet(self):
        self.write([PACKETS[n][0] for n in ("initial", "data", "repair",
                                            "reject")])
        for line, text in zip(self.tshark().splitlines(), (
                "INITIAL 1: PARAMS",
                "SHORT 7: UPDATE 4096, DATA 1 at 4096 (section 5)",
                "SHORT 7: REPAIR 2 of 2048 at 4096", "REJECT AUTH")):
            self.assertIn(text, line)

    def test_damaged_packets_are_reported_and_break_nothing(self):
        whole = [p for p, _ in PACKETS.values() if len(p) < 100]
        damaged = [p[:n] for p in whole for n in range(2, len(p))]
        damaged += [p[:n] + crc32c(p[:n]) for p in whole
                    for n in range(2, len(p) - 4)]
        damaged += [p[:at] + bytes([p[at] ^ 1 << bit]) + p[at + 1:]
                    for p in whole for at in range(len(p)) for bit in (0, 7)]
        self.write([PACKETS["initial"][0], *damaged])
        out = self.tshark("-V", "-O", "tltcp")
        self.assertEqual(out.count("\nTLTCP"), 1 + len(damaged))
        self.write([PACKETS["initial"][0],
                    short("01000008 00001000 00000005"),  # no data
                    short("0c000003 00009c"), short("0c000005 00009c4000"),
                    short("7f000000"), short("06000004")])
        self.assertEqual(self.fields("frame.number", select=ODD),
                         [["2"], ["3"], ["4"], ["5"], ["6"]])

    def test_datagrams_that_the_kernel_cuts_are_read_one_by_one(self):
        def one(number, size):
            head = bytes.fromhex(f"50 {IDS[0]}") + struct.pack(">I", number)
            # Payloads have what looks like a beginning, too.
            data = head + b"\x01\x03" + \
                struct.pack(">HII", 8 + size // 9 * 9 + size % 9,
                            number * size & 0xffffffff, number) + \
                head[:9] * (size // 9) + bytes(size % 9)
            return data + crc32c(data)

        handshake = PACKETS["initial"][0]
        numbers = [0xfffffffe, 0xffffffff, 0, 1]
        train = b"".join(one(n, 500) for n in numbers)
        self.write([handshake, train + one(2, 20), one(7, 500)])
        self.assertEqual(
            self.fields("tltcp.packet_number", "tltcp.section", "tltcp.type"),
            [["1", "", "0x58"],
             [",".join(map(str, [*numbers, 2])),
              ",".join(map(str, [*numbers, 2])), ",".join(["0x50"] * 5)],
             ["7", "7", "0x50"]])
        self.assertEqual(self.fields("frame.number", select=ODD), [])
        self.assertIn("and 4 more", self.tshark().splitlines()[1])

    def test_other_traffic_is_left_alone(self):
        self.write([bytes(100), b"\x50" * 100, b"\x58" * 100])
        self.assertEqual(self.fields("frame.number"), [])

    def record(self, data, *options):
        """A capture of a stream; what came of it."""
        source, copy = self.folder / "in", self.folder / "out"
        source.write_bytes(data)
        ports = self.folder / "port"
        receiver = self.start(
            "tltcp-live-transmit", "-q", "-a", "no", "--delivery", "immediate",
            "--port-file", ports,
            "tltcp://127.0.0.1:0?mode=listener" + "".join(options), copy)
        port = int(self.address(receiver, ports)[0].rsplit(":", 1)[1])
        relay = pcap.Relay(port, port=port)
        try:
            done = toolbox.run(
                "tltcp-live-transmit", "-q", "-a", "no", source,
                f"tltcp://127.0.0.1:{relay.port}?mode=caller" +
                "".join(options))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.finish(receiver)
        finally:
            relay.close()
        pcap.write(self.capture, relay.packets)
        return copy.read_bytes()

    def test_a_stream_of_ours_is_read_to_the_last_byte(self):
        data = bytes(i * 7 % 251 for i in range(100000))
        self.assertEqual(self.record(data), data)
        self.assertEqual(self.fields("frame.number", select=ODD), [])
        stream = bytearray(len(data))
        first = None
        for offsets, payloads in self.fields("tltcp.data.offset",
                                            "tltcp.payload",
                                            select="tltcp.payload"):
            for offset, payload in zip(offsets.split(","), payloads.split(",")):
                first = int(offset) if first is None else first
                at = int(offset) - first & 0xffffffff
                piece = bytes.fromhex(payload)
                stream[at:at + len(piece)] = piece
        self.assertIn(data, bytes(stream))  # a record of times is there, too

    def test_a_sealed_stream_is_recognised(self):
        self.record(b"x" * 5000, "&passphrase=correct-horse-battery")
        kinds = {row[0] for row in self.fields("tltcp.type")}
        self.assertTrue({"0x58", "0x59", "0x50"} <= kinds, kinds)
        self.assertEqual(self.fields("frame.number", select=ODD), [])
        self.assertEqual(self.fields("tltcp.payload", select="tltcp.payload"),
                         [])
        self.assertNotEqual(self.fields("tltcp.noise.proof",
                                        select="tltcp.noise.proof"), [])


if __name__ == "__main__":
    unittest.main()
