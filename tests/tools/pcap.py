# SPDX-License-Identifier: MPL-2.0
"""Captures of UDP datagrams for tshark, and a relay that makes them."""
import selectors
import socket
import struct
import threading
import time

IPV4 = 228  # link type: the packet begins with its IPv4 header
HOSTS = {"up": (bytes((192, 0, 2, 1)), bytes((192, 0, 2, 2))),
         "down": (bytes((192, 0, 2, 2)), bytes((192, 0, 2, 1)))}


def packet(payload, way="up", ports=(7542, 7542), protocol=17):
    """An IPv4 packet of UDP, or of UDP-Lite (136)."""
    source, destination = HOSTS[way]
    covered = 0 if protocol == 136 else 8 + len(payload)
    udp = struct.pack(">HHHH", *ports, covered, 0) + payload
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64,
                       protocol, 0, source, destination) + udp


def write(path, packets):
    """packets: (seconds, IPv4 packet)."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535,
                               IPV4))
        for seconds, data in packets:
            file.write(struct.pack("<IIII", int(seconds),
                                   int(seconds % 1 * 1e6), len(data),
                                   len(data)) + data)


class Relay:
    """Passes datagrams between one client and a server, and keeps them.

    `drop(way, payload)` says which are lost, behind the point of capture.
    """

    def __init__(self, server, port=7542, drop=lambda way, payload: False):
        self.server, self.port_shown, self.drop = server, port, drop
        self.packets = []
        self.client = None
        self.front = self.socket()
        self.back = self.socket()
        self.back.connect(("127.0.0.1", server))
        self.port = self.front.getsockname()[1]
        self.wake, self.stop = socket.socketpair()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    @staticmethod
    def socket(host="127.0.0.1"):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind((host, 0))
        s.setblocking(False)
        return s

    def keep(self, way, payload):
        ports = (50000, self.port_shown)
        self.packets.append((time.monotonic() - self.began, packet(
            payload, way, ports if way == "up" else ports[::-1])))
        return not self.drop(way, payload)

    def pass_on(self, ready):
        try:
            if ready is self.front:
                payload, self.client = self.front.recvfrom(65536)
                if self.keep("up", payload):
                    self.back.send(payload)
            else:
                payload = self.back.recv(65536)
                if self.keep("down", payload) and self.client:
                    self.front.sendto(payload, self.client)
        except OSError:
            pass  # an end is gone, or not there yet

    def move(self, host="127.0.0.1"):
        """For `drop`: the server sees another port, or host, from now on."""
        self.selector.unregister(self.back)
        self.back.close()
        self.back = self.socket(host)
        self.back.connect(("127.0.0.1", self.server))
        self.selector.register(self.back, selectors.EVENT_READ)

    def run(self):
        self.began = time.monotonic()
        with selectors.DefaultSelector() as self.selector:
            for s in (self.front, self.back, self.wake):
                self.selector.register(s, selectors.EVENT_READ)
            while True:
                for key, _ in self.selector.select():
                    if key.fileobj is self.wake:
                        return
                    if key.fileobj in (self.front, self.back):
                        self.pass_on(key.fileobj)

    def close(self):
        self.stop.send(b"x")
        self.thread.join()
        for s in (self.front, self.back, self.wake, self.stop):
            s.close()
