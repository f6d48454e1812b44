# SPDX-License-Identifier: MPL-2.0
"""Shared by the tests of the dissectors: queries to tshark about captures."""
import os
import pathlib
import subprocess
import unittest

import pcap
import toolbox

LUA = pathlib.Path(__file__).resolve().parents[2] / "tools" / "wireshark"


def need_lua():
    toolbox.need("tshark")
    about = subprocess.run(["tshark", "-v"], check=True, text=True,
                           capture_output=True).stdout
    if "with Lua" not in " ".join(about.split()):
        raise unittest.SkipTest("this tshark has no Lua")


class Dissector(toolbox.Folder):
    """A test of a script in tools/wireshark."""

    LUA = PROTOCOL = ""
    OPTIONS = ()

    def setUp(self):
        super().setUp()
        need_lua()
        self.capture = self.folder / "capture.pcap"

    def tshark(self, *arguments):
        # Nothing that the machine has installed may come between.
        empty = str(self.folder / "wireshark")
        done = subprocess.run(
            ["tshark", "-X", f"lua_script:{LUA / self.LUA}", "-n", "-r",
             self.capture, *self.OPTIONS, *arguments], check=False,
            capture_output=True, text=True, timeout=toolbox.PATIENCE,
            stdin=subprocess.DEVNULL,
            env=dict(os.environ, HOME=empty, TZ="UTC",
                     WIRESHARK_CONFIG_DIR=empty, WIRESHARK_PLUGIN_DIR=empty))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("Lua Error", done.stdout + done.stderr)
        return done.stdout

    def fields(self, *names, select=None):
        """Rows of the named fields, a packet each."""
        chosen = [word for name in names for word in ("-e", name)]
        out = self.tshark("-Y", select or self.PROTOCOL, "-T", "fields", "-E",
                          "separator=|", *chosen)
        return [line.split("|") for line in out.splitlines()]

    def write(self, payloads):
        pcap.write(self.capture, [(i, pcap.packet(p))
                                  for i, p in enumerate(payloads)])

    def check_packets(self, packets):
        """packets: name: (octets, {field: what tshark shows})."""
        self.write([octets for octets, _ in packets.values()])
        names = sorted({n for _, want in packets.values() for n in want})
        rows = self.fields("frame.number", *names)
        self.assertEqual(len(rows), len(packets))
        for row, (name, (_, want)) in zip(rows, packets.items()):
            got = dict(zip(names, row[1:]))
            with self.subTest(name):
                self.assertEqual({n: got[n] for n in want}, want)
