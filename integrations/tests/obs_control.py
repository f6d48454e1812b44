# SPDX-License-Identifier: MPL-2.0
"""Steers OBS Studio by its websocket (obs-websocket 5)."""
import base64
import json
import os
import socket
import struct


class Control:
    """A connection to OBS on this machine; raises OSError when it is not there
    yet."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.waiting = b""
        key = base64.b64encode(os.urandom(16)).decode("ascii")
        self.socket.sendall(
            (f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket"
             f"\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
             "Sec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Protocol: obswebsocket.json\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.waiting:
            self.receive()
        self.waiting = self.waiting.split(b"\r\n\r\n", 1)[1]
        self.message()
        self.send({"op": 1, "d": {"rpcVersion": 1, "eventSubscriptions": 0}})
        self.message()

    def receive(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionResetError("OBS has gone")
        self.waiting += data

    def take(self, count):
        while len(self.waiting) < count:
            self.receive()
        data, self.waiting = self.waiting[:count], self.waiting[count:]
        return data

    def message(self):
        size = self.take(2)[1] & 127
        if size == 126:
            size = struct.unpack(">H", self.take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.take(8))[0]
        return json.loads(self.take(size))

    def send(self, message):
        data = json.dumps(message).encode()
        mask = os.urandom(4)
        size = (bytes([0x80 | len(data)]) if len(data) < 126 else
                b"\xfe" + struct.pack(">H", len(data)))
        self.socket.sendall(b"\x81" + size + mask + bytes(
            byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def ask(self, request, **data):
        """Whether OBS did it, and what it answered."""
        self.send({"op": 6, "d": {"requestType": request, "requestId": "1",
                                  "requestData": data}})
        answer = self.message()["d"]
        return answer["requestStatus"]["result"], answer.get("responseData")

    def close(self):
        self.socket.close()
