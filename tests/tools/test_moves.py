# SPDX-License-Identifier: MPL-2.0
"""A caller whose address goes away, in a network of its own: what an observer
of both addresses sees."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
import unittest

import toolbox

LISTENER, BEFORE, AFTER = "10.9.0.1", "10.9.0.2", "10.9.0.3"
URL = f"tltcp://{LISTENER}:7000?passphrase=correct horse battery staple"
ENOUGH = 20  # packets in each direction
INCOMING = 0  # of the loopback, which shows each packet twice


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def prefer(source):
    ip("route", "replace", "table", "local", "local", LISTENER, "dev", "lo",
       "src", source)


class Observer:
    """Connection ids on the loopback, by direction and address of the
    caller."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                                    socket.ntohs(0x0800))
        self.ids = {}
        self.count = {}

    def look(self):
        packet, (_, _, kind, *_) = self.socket.recvfrom(2000)
        start = (packet[0] & 15) * 4
        source, to = (socket.inet_ntoa(packet[at:at + 4]) for at in (12, 16))
        payload = packet[start + 8:]
        if kind != INCOMING or packet[9] != socket.IPPROTO_UDP or \
                LISTENER not in (source, to) or payload[0] & ~1 != 0x50:
            return
        place = ("to", source) if to == LISTENER else ("from", to)
        self.ids.setdefault(place, set()).add(payload[1:9].hex())
        self.count[place] = self.count.get(place, 0) + 1

    def look_until_enough(self, address):
        end = time.monotonic() + toolbox.PATIENCE
        while any(self.count.get((way, address), 0) < ENOUGH
                  for way in ("to", "from")):
            assert time.monotonic() < end, self.count
            self.look()


def feed(stream):
    with stream:
        while True:
            try:
                stream.write(bytes(1000))
                stream.flush()
            except (OSError, ValueError):
                return
            time.sleep(0.02)


def play(tool):
    """In the network of its own."""
    ip("link", "set", "lo", "up")
    for address in (LISTENER, BEFORE, AFTER):
        ip("address", "add", f"{address}/32", "dev", "lo")
    prefer(BEFORE)
    observer = Observer()
    with subprocess.Popen([tool, "-q", URL + "&mode=listener", "-"],
                          stdout=subprocess.DEVNULL) as listener, \
            subprocess.Popen([tool, "-q", "-", URL],
                             stdin=subprocess.PIPE) as caller:
        threading.Thread(target=feed, args=(caller.stdin,),
                         daemon=True).start()
        observer.look_until_enough(BEFORE)
        prefer(AFTER)
        ip("address", "delete", f"{BEFORE}/32", "dev", "lo")
        observer.look_until_enough(AFTER)
        caller.kill()
        listener.kill()
    print(json.dumps([[*place, sorted(ids)]
                      for place, ids in observer.ids.items()]))


class Moves(unittest.TestCase):
    def test_no_id_is_seen_under_two_addresses(self):
        toolbox.need("unshare", "ip")
        for prefix in (["unshare", "--net"],
                       ["unshare", "--map-root-user", "--net"]):
            if subprocess.run([*prefix, "ip", "link", "set", "lo", "up"],
                              capture_output=True, check=False).returncode == 0:
                break
        else:
            self.skipTest("no network namespaces here")
        done = subprocess.run(
            [*prefix, sys.executable, __file__, "play",
             toolbox.TOOLS / "tltcp-live-transmit"], text=True,
            capture_output=True, timeout=3 * toolbox.PATIENCE, check=False,
            env={**os.environ, "PYTHONPATH": str(
                pathlib.Path(__file__).parent)})
        self.assertEqual(done.returncode, 0, done.stderr)
        places = {}
        for way, address, ids in json.loads(done.stdout):
            places.setdefault(way, {})[address] = set(ids)
        self.assertEqual(set(places), {"to", "from"})
        for seen in places.values():
            self.assertEqual(set(seen), {BEFORE, AFTER})
            self.assertFalse(seen[BEFORE] & seen[AFTER], places)


if __name__ == "__main__":
    if sys.argv[1:2] == ["play"]:
        play(sys.argv[2])
    else:
        unittest.main()
