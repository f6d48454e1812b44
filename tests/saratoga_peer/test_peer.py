#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""The saratoga tool against a peer that shares no code with it.

usage: test_peer.py SARATOGA
"""
import contextlib
import os
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import peer

TOOL = None
DATA = bytes(i * 31 % 253 for i in range(60000))


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def every(nth, kind):
    """Drops every nth packet of that kind, but nothing twice in a row."""
    return lambda n, p: p["kind"] == kind and n % nth == 0


class Against(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.dir.name)
        self.server = None
        self.peers = []

    def tearDown(self):
        if self.server:
            self.server.terminate()
            self.server.wait(10)
            self.server.stderr.close()
        for p in self.peers:
            p.close()
        self.dir.cleanup()

    def peer(self, *args, **kwargs):
        self.peers.append(peer.Peer(*args, **kwargs))
        return self.peers[-1]

    def serve(self):
        port = free_port()
        self.server = subprocess.Popen(
            [TOOL, "serve", "--root", str(self.root), "--write", "--delete",
             "--bind", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE)
        where = ("127.0.0.1", port)
        probe = self.peer()
        for i in range(100):  # until it answers at all
            probe.ask(where, 77 + i, peer.GET, "no such file")
            try:
                probe.next(time.monotonic() + 0.2)
                return where
            except TimeoutError:
                continue
        raise AssertionError("the server does not answer")

    def test_a_get(self):
        (self.root / "f").write_bytes(DATA)
        data, meta = self.peer().get(self.serve(), 5, "f")
        self.assertEqual(data, DATA)
        self.assertEqual(meta["sum_type"], 2)
        self.assertEqual(meta["entry"]["size"], len(DATA))

    def test_a_get_with_loss(self):
        (self.root / "f").write_bytes(DATA)
        data, _ = self.peer(drop=every(5, peer.DATA)).get(self.serve(), 5, "f")
        self.assertEqual(data, DATA)

    def test_a_get_of_what_is_not_there(self):
        with self.assertRaises(OSError) as caught:
            self.peer().get(self.serve(), 5, "nothing")
        self.assertEqual(caught.exception.errno, 4)

    def test_a_path_out_of_the_root(self):
        with self.assertRaises(OSError):
            self.peer().get(self.serve(), 5, "../etc/passwd")

    def test_a_directory(self):
        (self.root / "a").write_bytes(b"1234")
        data, _ = self.peer().get(self.serve(), 5, "", peer.GETDIR)
        names, at = {}, 0
        while at < len(data):
            entry, at = peer.parse_entry(data, at)
            names[entry["path"]] = entry["size"]
        self.assertEqual(names.get("a"), 4)

    def test_a_put(self):
        self.peer().put(self.serve(), 6, "new", DATA)
        self.assertEqual((self.root / "new").read_bytes(), DATA)

    def test_a_put_whose_answers_get_lost(self):
        p = self.peer(drop=lambda n, p: p["kind"] == peer.STATUS and
                      n in (2, 3))
        p.put(self.serve(), 6, "new", DATA)
        self.assertEqual((self.root / "new").read_bytes(), DATA)

    def test_a_deletion(self):
        (self.root / "f").write_bytes(DATA)
        where = self.serve()
        self.assertEqual(self.peer().delete(where, 8, "f"), 0)
        self.assertFalse((self.root / "f").exists())
        self.assertEqual(self.peer().delete(where, 9, "f"), 0)

    def test_the_tool_gets_from_the_peer(self):
        p = self.peer()
        thread = threading.Thread(target=p.serve, args=({"f": DATA},))
        thread.start()
        out = self.root / "out"
        done = subprocess.run(
            [TOOL, "get", "-q", f"saratoga://127.0.0.1:{p.port}/f", str(out)],
            timeout=40, check=False)
        thread.join()
        self.assertEqual(done.returncode, 0)
        self.assertEqual(out.read_bytes(), DATA)

    def get_blindly(self, name, *options):
        """A get without a path: the peer chooses the file and its name."""
        def answer():
            with contextlib.suppress(OSError):
                p.serve({"": DATA}, 5, name)

        p = self.peer()
        thread = threading.Thread(target=answer)
        thread.start()
        (self.root / "in").mkdir(exist_ok=True)
        done = subprocess.run(
            [TOOL, "get", "-q", *options, f"saratoga://127.0.0.1:{p.port}/"],
            timeout=40, check=False, cwd=self.root / "in",
            capture_output=True, text=True)
        thread.join()
        return done.returncode, done.stderr

    def files(self):
        return sorted(str(f.relative_to(self.root))
                      for f in self.root.rglob("*") if f.is_file())

    def test_a_get_without_a_path_stays_in_the_folder(self):
        for name in "pass", "a/b/pass", "../../pass", "/etc/pass":
            self.assertEqual(self.get_blindly(name, "--overwrite"), (0, ""))
            self.assertEqual(self.files(), ["in/pass"], name)
            self.assertEqual((self.root / "in/pass").read_bytes(), DATA)

    def test_a_get_without_a_path_hides_and_replaces_nothing(self):
        (self.root / "in").mkdir()
        (self.root / "in/pass").write_bytes(b"mine")
        for name in (".profile", "a/.profile", ".saratoga-1.part", "..", "a/",
                     "a\nb", "\x1b[31m", "pass"):
            status, errors = self.get_blindly(name)
            self.assertEqual(status, 1, name)
            self.assertNotIn("\x1b", errors)
            self.assertEqual(self.files(), ["in/pass"], name)
        self.assertEqual((self.root / "in/pass").read_bytes(), b"mine")

    def test_the_peer_refuses_the_tool(self):
        p = self.peer()
        thread = threading.Thread(target=p.serve, args=({},))
        thread.start()
        done = subprocess.run(
            [TOOL, "get", "-q", f"saratoga://127.0.0.1:{p.port}/f",
             str(self.root / "out")], timeout=40, check=False,
            stderr=subprocess.DEVNULL)
        thread.join()
        self.assertEqual(done.returncode, 1)
        self.assertFalse((self.root / "out").exists())


if __name__ == "__main__":
    TOOL = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
