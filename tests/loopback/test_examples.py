#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""The examples do what their first lines say.  Argument: their folder."""
import pathlib
import re
import socket
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(sys.argv.pop())
PATIENCE = 30
ATTEMPTS = 200


def free_port():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
        s.bind(("::", 0))
        return str(s.getsockname()[1])


def program(name, *args):
    return subprocess.Popen([FOLDER / name, *args], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Examples(unittest.TestCase):
    def start(self, name, *args):
        p = program(name, *args)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        return p

    def send(self, port):
        """Sends a second of video, as soon as somebody listens."""
        for _ in range(ATTEMPTS):
            p = program("live_send", "127.0.0.1", port, "1")
            out, err = p.communicate(timeout=PATIENCE)
            if "nobody listens" not in err:
                break
        self.assertEqual((p.returncode, err), (0, ""))
        return out

    def test_what_live_send_sends_live_recv_receives(self):
        port = free_port()
        receiver = self.start("live_recv", port)
        self.assertIn("30 frames, ", self.send(port))
        out, err = receiver.communicate(timeout=PATIENCE)
        self.assertEqual((receiver.returncode, err), (0, ""))
        numbers = [int(n) for n in re.findall(r"\d+", out)]
        self.assertEqual(len(numbers), 4, out)
        self.assertEqual(numbers[1] + numbers[3], 185000, out)

    def test_poll_loop_serves_one_caller_after_another(self):
        port = free_port()
        server = self.start("poll_loop", port)
        for _ in range(2):
            self.assertIn("30 frames, ", self.send(port))
        self.assertIsNone(server.poll())

    def test_a_controller_of_ones_own_carries_a_stream(self):
        port = free_port()
        receiver = self.start("live_recv", port)
        for _ in range(ATTEMPTS):
            p = program("own_controller", "127.0.0.1", port, "1")
            out, err = p.communicate(timeout=PATIENCE)
            if p.returncode == 0:
                break
        self.assertEqual((p.returncode, err), (0, ""))
        self.assertRegex(out, r"^low-delay: srtt \d")
        out, err = receiver.communicate(timeout=PATIENCE)
        self.assertEqual((receiver.returncode, err), (0, ""))
        self.assertEqual(out, "100 frames, 1000000 bytes; 0 gaps of 0 bytes\n")

    def test_what_is_missing_is_said(self):
        for name in ("live_send", "live_recv", "poll_loop", "own_controller"):
            p = program(name)
            _, err = p.communicate(timeout=PATIENCE)
            self.assertEqual(p.returncode, 2)
            self.assertTrue(err.startswith("usage: "))


if __name__ == "__main__":
    unittest.main()
