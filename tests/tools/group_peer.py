# SPDX-License-Identifier: MPL-2.0
"""A member of a Saratoga group that loses a packet, or one that sends to it.

Written from the document alone; for tests, in a network of their own.
"""
import pathlib
import socket
import struct
import sys
import time

GROUP, PORT = "224.0.0.108", 7542
PATIENCE = 120
ID = 0x1234
METADATA, DATA, STATUS = 2, 3, 4
COMPLETE_AND_VOLUNTARY = 0x00010000


def member():
    """A socket that hears the group."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    s.bind((GROUP, PORT))
    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                 socket.inet_aton(GROUP) + bytes(4))
    s.settimeout(PATIENCE)
    return s


def packets(s, *types):
    """Packets of those types that the group receives until the time limit."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        packet = s.recv(65536)
        if packet[0] & 0x1f in types:
            yield packet
    sys.exit("the group is silent")


def word(packet):
    return struct.unpack(">I", packet[:4])[0]


def data_of(packet):
    """Offset and octets; the timestamp is there or not."""
    width = (2, 4, 8)[word(packet) >> 22 & 3]
    at = 24 if word(packet) & 0x00080000 else 8
    return int.from_bytes(packet[at:at + width], "big"), packet[at + width:]


def send(path):
    """Sends a file to the group and leaves a part out until it is asked for,
    by a STATUS to the group."""
    data = pathlib.Path(path).read_bytes()
    ear = member()
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    to = (GROUP, PORT)
    entry = struct.pack(">HHII", 0x8000, len(data), 1, 1) + b"f\0"
    out.sendto(struct.pack(">II", 0x22000000, ID) + entry, to)
    step = 1000
    for at in range(0, len(data), step):
        if at != step:
            end = 0x8000 if at + step >= len(data) else 0
            out.sendto(struct.pack(">IIH", 0x23000000 | end, ID, at) +
                       data[at:at + step], to)
    for packet in packets(ear, STATUS):
        holes = packet[12 if not word(packet) & 0x00080000 else 28:]
        if holes == struct.pack(">HH", step, 2 * step - 1):
            break
    out.sendto(struct.pack(">IIH", 0x23000000, ID, step) +
               data[step:2 * step], to)


def receive(path, ready):
    """Hears a file, loses a packet of it, and tells the group so."""
    ear = member()
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    pathlib.Path(ready).write_text("ready", encoding="ascii")
    size, number, got, lost = None, None, {}, None
    for packet in packets(ear, METADATA, DATA):
        if packet[0] & 0x1f == METADATA:
            number = packet[4:8]
            at = 8 + 4 * (packet[3] >> 4)
            width = (2, 4, 8)[packet[at + 1] >> 6]
            size = int.from_bytes(packet[at + 2:at + 2 + width], "big")
            continue
        at, octets = data_of(packet)
        if octets and at >= 50000 and lost is None:
            lost = (at, at + len(octets))
            continue
        got[at] = octets
        held = sum(map(len, got.values()))
        if size is not None and held == size:
            break
        if lost and size is not None and held == size - (lost[1] - lost[0]):
            out.sendto(struct.pack(">I4sIIII", 0x24400000 |
                                   COMPLETE_AND_VOLUNTARY, number, lost[0],
                                   size, lost[0], lost[1] - 1), (GROUP, PORT))
    with open(path, "wb") as file:
        for at in sorted(got):
            file.write(got[at])


if __name__ == "__main__":
    {"send": send, "receive": receive}[sys.argv[1]](*sys.argv[2:])
