# SPDX-License-Identifier: MPL-2.0
"""saratoga in a network of its own: groups, the well-known port, packets that
are too large."""
import os
import pathlib
import subprocess
import sys
import unittest

import saratogabox
import toolbox


class Networks(saratogabox.Node):
    """Transfers that need a network of their own: groups, fixed ports."""

    # A server, until its port is known; and until it has ended well.
    COMMANDS = """
        serve() {
            "$tool" serve --root "$here" --port-file "$port" "$@" & serve=$!
            until [ -s "$port" ]; do sleep 0.01; done
        }
        stop() {
            kill $serve
            wait $serve
        }
        ip link set lo up
        """
    GROUP = """
        ip link set lo multicast on
        ip route add 224.0.0.0/4 dev lo src 127.0.0.1
        """

    def script(self, text, **names):
        names = {"tool": toolbox.TOOLS / "saratoga", "here": self.here,
                 "port": self.folder / "port", **names}
        done = subprocess.run(
            [*self.namespace(), "sh", "-euc", self.COMMANDS + text],
            check=False, capture_output=True, text=True,
            timeout=toolbox.PATIENCE,
            env={**os.environ, **{k: str(v) for k, v in names.items()}})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_vallona_profile_keeps_to_the_well_known_port(self):
        source = self.put_file("f", 100000)
        self.script("""
            serve -q --profile vallona --bind 127.0.0.1
            "$tool" get --profile vallona --bind 127.0.0.2 \\
                saratoga://127.0.0.1/f "$there/f"
            stop
            """, there=self.there)
        self.same(source, self.there / "f")

    def test_a_put_to_a_group_reaches_a_member_of_it(self):
        source = self.put_file("f", 200000, folder=self.there)
        self.script(self.GROUP + """
            serve -q --write --bind 0.0.0.0
            "$tool" put --multicast --rate 20mbit --set cycles=2 \\
                "$source" saratoga://224.0.0.108/f
            until [ -e "$here/f" ]; do sleep 0.01; done
            stop
            """, source=source)
        self.same(source, self.here / "f")

    def test_a_member_of_a_group_reports_its_losses_to_the_group(self):
        data = saratogabox.content(5000)
        (self.folder / "data").write_bytes(data)
        self.script(self.GROUP + """
            serve -q --write --bind 0.0.0.0
            "$python" "$peer" send "$data"
            until [ -e "$here/f" ]; do sleep 0.01; done
            stop
            """, python=sys.executable, data=self.folder / "data",
                    peer=pathlib.Path(__file__).with_name("group_peer.py"))
        self.assertEqual((self.here / "f").read_bytes(), data)

    def test_a_put_to_a_group_repairs_what_a_member_misses(self):
        source = self.put_file("f", 200000, folder=self.there)
        self.script(self.GROUP + """
            "$python" "$peer" receive "$got" "$port" & member=$!
            until [ -s "$port" ]; do sleep 0.01; done
            "$tool" put --multicast --rate 20mbit --set cycles=1 \\
                "$source" saratoga://224.0.0.108/f
            wait $member
            """, python=sys.executable, source=source, got=self.folder / "got",
                    peer=pathlib.Path(__file__).with_name("group_peer.py"))
        self.same(source, self.folder / "got")

    def test_gets_of_one_file_are_answered_to_a_group(self):
        source = self.put_file("f", 600000)
        self.script(self.GROUP + """
            serve -q --multicast --rate 20mbit --bind 0.0.0.0
            "$tool" get --multicast saratoga://127.0.0.1/f "$there/a" & a=$!
            "$tool" get --multicast saratoga://127.0.0.1/f "$there/b" & b=$!
            wait $a
            wait $b
            stop
            """, there=self.there)
        self.same(source, self.there / "a")
        self.same(source, self.there / "b")

    def test_what_is_answered_to_a_group_is_not_said_to_be_verified(self):
        source = self.put_file("f", 60000)
        log = self.folder / "log"
        self.script(self.GROUP + """
            serve --multicast --rate 20mbit --set linger=500ms --bind 0.0.0.0 \\
                2>"$log"
            "$tool" get --multicast saratoga://127.0.0.1/f "$there/f"
            until grep -q "get f:" "$log"; do sleep 0.01; done
            stop
            """, there=self.there, log=log)
        self.same(source, self.there / "f")
        self.assertRegex(log.read_text(encoding="utf-8"),
                         "get f: 60000 bytes sent to the group .*, not verified")

    def test_a_get_that_joins_another_is_reported_as_such(self):
        self.put_file("f", 600000)
        log = self.folder / "log"
        self.script(self.GROUP + """
            serve --multicast --rate 2mbit --set linger=500ms --bind 0.0.0.0 \\
                2>"$log"
            "$tool" get --multicast saratoga://127.0.0.1/f "$there/a" & a=$!
            until [ -s "$there"/.saratoga-*.part ]; do sleep 0.01; done
            "$tool" get --multicast saratoga://127.0.0.1/f "$there/b" & b=$!
            wait $a
            wait $b
            until grep -q "sent to the group" "$log"; do sleep 0.01; done
            stop
            """, there=self.there, log=log)
        self.assertRegex(log.read_text(encoding="utf-8"),
                         "get f: joined the transmission to the group\n")

    def test_packets_larger_than_the_mtu_are_reported(self):
        source = self.put_file("f", 60000)
        log = self.folder / "log"
        self.script("""
            ip link set lo mtu 1000
            serve --write --bind 127.0.0.1 2>>"$log"
            "$tool" get saratoga://127.0.0.1/f "$there/f" 2>/dev/null & get=$!
            until grep -q "mtu" "$log"; do sleep 0.01; done
            kill $get
            ! wait $get || exit 9
            : >"$log.put"
            "$tool" put "$source" saratoga://127.0.0.1/g 2>>"$log.put" & put=$!
            until grep -q "mtu" "$log.put"; do sleep 0.01; done
            kill $put
            ! wait $put || exit 9
            "$tool" put --mtu 1000 "$source" saratoga://127.0.0.1/h
            stop
            """, there=self.there, log=log, source=source)
        self.assertEqual(log.read_text(encoding="utf-8").count(
            "packets of 1500 bytes are larger than the local link accepts"), 1)
        self.same(source, self.here / "h")

    def test_stations_that_mirror_a_node_share_its_transmission(self):
        for i, name in enumerate(("a", "b", "sub/c")):
            self.put_file(name, 300000, i)
        self.script(self.GROUP + """
            serve -q --multicast --rate 20mbit --bind 0.0.0.0
            mirror() {
                "$tool" mirror -q --multicast --once --bind 127.0.0.1:0 \\
                    saratoga://127.0.0.1/ "$1"
            }
            mirror "$there/1" & one=$!
            mirror "$there/2" & two=$!
            "$tool" get -q -r --multicast saratoga://127.0.0.1/ "$there/3"
            wait $one
            wait $two
            stop
            for i in 1 2 3; do
                diff -r -x .saratoga-ledger "$here" "$there/$i"
            done
            """, there=self.there)

    def test_a_group_is_asked_for_a_file(self):
        source = self.put_file("f", 200000)
        self.script(self.GROUP + """
            serve -q --rate 20mbit --bind 0.0.0.0
            "$tool" get saratoga://224.0.0.108/f "$there/f"
            stop
            """, there=self.there)
        self.same(source, self.there / "f")

    @staticmethod
    def namespace():
        """A command that gives another a network of its own."""
        toolbox.need("unshare", "ip")
        for prefix in (["unshare", "--net"],
                       ["unshare", "--map-root-user", "--net"]):
            done = subprocess.run([*prefix, "ip", "link", "set", "lo", "up"],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return prefix
        raise unittest.SkipTest(f"no network namespace: {done.stderr}")


if __name__ == "__main__":
    unittest.main()
