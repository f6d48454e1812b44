# SPDX-License-Identifier: MPL-2.0
"""A minimal Saratoga version 1 peer, written from the draft alone.

It gets and puts files with 32-bit descriptors, one at a time, and drops what it
is told to drop.  It shares no code with the library that it checks.
"""
import hashlib
import socket
import struct
import time

BEACON, REQUEST, METADATA, DATA, STATUS = range(5)
GET, PUT, DELETE, GETDIR = 1, 2, 5, 6
WIDTH = {0: 2, 1: 4, 2: 8, 3: 16}
PAYLOAD = 1000
EPOCH = 946684822


def word(kind, flags):
    return struct.pack(">I", 1 << 29 | kind << 24 | flags)


def number(data, at, width):
    return int.from_bytes(data[at:at + width], "big"), at + width


def parse(data):
    """A packet as a dictionary, or None."""
    if len(data) < 8:
        return None
    (first,) = struct.unpack_from(">I", data)
    if first >> 29 != 1:
        return None
    p = {"kind": first >> 24 & 31, "flags": first & 0xFFFFFF,
         "id": struct.unpack_from(">I", data, 4)[0], "at": 8, "raw": data}
    p["width"] = WIDTH[first >> 22 & 3]
    reader = {REQUEST: parse_request, METADATA: parse_metadata,
              DATA: parse_data, STATUS: parse_status}.get(p["kind"])
    if reader:
        reader(p, data)
    return p


def parse_request(p, data):
    p["type"] = p["flags"] & 0xFF
    p["path"] = data[8:data.index(0, 8)].decode()


def parse_entry(data, at):
    (props,) = struct.unpack_from(">H", data, at)
    assert props & 0x8000, "no entry begins here"
    size, at = number(data, at + 2, WIDTH[props >> 6 & 3])
    mtime, ctime = struct.unpack_from(">II", data, at)
    end = data.index(0, at + 8)
    return {"props": props, "size": size, "mtime": mtime, "ctime": ctime,
            "path": data[at + 8:end].decode()}, end + 1


def parse_metadata(p, data):
    length = 4 * (p["flags"] >> 4 & 15)
    p["sum_type"] = p["flags"] & 15
    p["sum"] = data[8:8 + length]
    p["entry"], _ = parse_entry(data, 8 + length)


def parse_stamp(p, data):
    p["stamp"] = b""
    if p["flags"] & 0x080000:
        p["stamp"] = data[8:24]
        p["at"] = 24


def parse_data(p, data):
    parse_stamp(p, data)
    p["offset"], at = number(data, p["at"], p["width"])
    p["bytes"] = data[at:]
    p["asks"] = bool(p["flags"] & 0x010000)
    p["eod"] = bool(p["flags"] & 0x8000)


def parse_status(p, data):
    p["code"] = p["flags"] & 0xFF
    p["voluntary"] = bool(p["flags"] & 0x010000)
    p["incomplete"] = bool(p["flags"] & 0x020000)
    p["no_metadata"] = bool(p["flags"] & 0x040000)
    if p["code"]:
        return
    parse_stamp(p, data)
    p["progress"], at = number(data, p["at"], p["width"])
    p["irt"], at = number(data, at, p["width"])
    p["holes"] = []
    while at + 2 * p["width"] <= len(data):
        start, at = number(data, at, p["width"])
        end, at = number(data, at, p["width"])
        p["holes"].append((start, end))


class Peer:
    """One socket, one session at a time."""

    def __init__(self, port=0, drop=lambda n, p: False):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind(("127.0.0.1", port))
        self.port = self.sock.getsockname()[1]
        self.drop = drop
        self.received = 0
        self.statuses = []

    def close(self):
        self.sock.close()

    def next(self, deadline, wanted=None):
        """The next packet that was not dropped; raises TimeoutError."""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("the other side is silent")
            self.sock.settimeout(left)
            try:
                data, where = self.sock.recvfrom(65536)
            except socket.timeout:
                continue
            p = parse(data)
            if p is None or (wanted is not None and p["id"] != wanted):
                continue
            self.received += 1
            if not self.drop(self.received, p):
                p["from"] = where
                return p

    def ask(self, to, ident, kind, path):
        self.sock.sendto(word(REQUEST, 0x4F0000 | kind) +
                         struct.pack(">I", ident) + path.encode() + b"\0", to)

    def status(self, to, ident, width, progress, irt, holes, voluntary,
               stamp=b"", no_metadata=False):
        """32-bit fields at least; the width of the session."""
        code = {2: 0, 4: 1, 8: 2, 16: 3}[width] << 22
        flags = code | voluntary << 16 | bool(stamp) << 19 | no_metadata << 18
        body = struct.pack(">I", ident) + stamp
        for x in [progress, irt] + [x for hole in holes for x in hole]:
            body += x.to_bytes(width, "big")
        self.sock.sendto(word(STATUS, flags) + body, to)

    def get(self, to, ident, path, kind=GET, seconds=20):
        """Returns the content and METADATA; raises OSError when refused."""
        deadline = time.monotonic() + seconds
        have, meta, end = {}, None, None
        self.ask(to, ident, kind, path)
        while True:
            p = self.next(deadline, ident)
            if p["kind"] == STATUS:
                if p["code"]:
                    raise OSError(p["code"], "refused")
                continue
            if p["kind"] == METADATA:
                meta, end = p, p["entry"]["size"]
                assert p["flags"] & 0x3FF00 == 0, "undefined bits"
            elif p["kind"] == DATA:
                for i, octet in enumerate(p["bytes"]):
                    have.setdefault(p["offset"] + i, octet)
            if end is not None and len(have) == end:
                return self.finish(p, ident, have, meta)
            if p["kind"] == DATA and p["asks"]:
                self.answer(p, ident, have, meta)

    def answer(self, p, ident, have, meta):
        irt = p["offset"] + len(p["bytes"])
        holes, start = [], None
        for i in range(irt + 1):
            missing = i < irt and i not in have
            if missing and start is None:
                start = i
            elif not missing and start is not None:
                holes.append((start, i - 1))
                start = None
        progress = holes[0][0] if holes else irt
        self.status(p["from"], ident, p["width"], progress, irt, holes[:100],
                    False, p["stamp"], meta is None)

    def finish(self, p, ident, have, meta):
        data = bytes(have[i] for i in range(len(have)))
        if meta["sum_type"] == 2:
            assert hashlib.md5(data).digest() == meta["sum"], "wrong checksum"
        self.status(p["from"], ident, meta["width"], len(data), len(data), [],
                    True)
        return data, meta

    def put(self, to, ident, path, data, seconds=20, blind=False):
        """Returns the STATUS that says completed."""
        deadline = time.monotonic() + seconds
        if not blind:
            self.ask(to, ident, PUT, path)
            p = self.next(deadline, ident)
            if p["kind"] != STATUS or p["code"]:
                raise OSError(p.get("code", 0), "refused")
        self.metadata(to, ident, path, data)
        self.pieces(to, ident, data, [(0, len(data) - 1)])
        while True:
            try:
                p = self.next(min(deadline, time.monotonic() + 0.5), ident)
            except TimeoutError:
                if time.monotonic() >= deadline:
                    raise
                self.data(to, ident, len(data), b"", len(data))  # a poll
                continue
            if p["kind"] != STATUS:
                continue
            if p["code"]:
                raise OSError(p["code"], "ended")
            self.statuses.append(p)
            if p["no_metadata"]:
                self.metadata(to, ident, path, data)
            if p["voluntary"] and not p["incomplete"] and not p["holes"] and \
                    p["progress"] == p["irt"] == len(data) and len(data) > 0:
                return p
            self.pieces(to, ident, data, p["holes"])

    def metadata(self, to, ident, path, data):
        when = int(time.time()) - EPOCH
        entry = struct.pack(">HIII", 0x8040, len(data), when, when)
        self.sock.sendto(word(METADATA, 0x400042) + struct.pack(">I", ident) +
                         hashlib.md5(data).digest() + entry + path.encode() +
                         b"\0", to)

    def pieces(self, to, ident, data, ranges):
        for start, last in ranges:
            for at in range(start, last + 1, PAYLOAD):
                piece = data[at:min(at + PAYLOAD, last + 1)]
                self.data(to, ident, at, piece, len(data))
        self.data(to, ident, len(data), b"", len(data))

    def data(self, to, ident, at, piece, size):
        flags = 0x400000
        if at + len(piece) == size:
            flags |= 0x018000
        self.sock.sendto(word(DATA, flags) + struct.pack(">II", ident, at) +
                         piece, to)

    def delete(self, to, ident, path, seconds=10):
        self.ask(to, ident, DELETE, path)
        p = self.next(time.monotonic() + seconds, ident)
        assert len(p["raw"]) == 12 and p["raw"][8:] == bytes(4)
        return p["code"]

    def serve(self, files, seconds=20, name=None):
        """Answers one get from a dictionary of contents; says that its file
        has that name, if any."""
        deadline = time.monotonic() + seconds
        p = self.next(deadline)
        while p["kind"] != REQUEST:
            p = self.next(deadline)
        if p["path"] not in files:
            self.sock.sendto(word(STATUS, 0x010004) +
                             struct.pack(">I", p["id"]) + bytes(4), p["from"])
            return None
        return self.put(p["from"], p["id"], name or p["path"],
                        files[p["path"]], seconds, blind=True)
