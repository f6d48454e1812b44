# SPDX-License-Identifier: MPL-2.0
"""What pages tell operators of Saratoga to type, above all their guide: each
command as it stands there, between a satellite and a ground station in a network
of their own."""
import os
import re
import shutil
import subprocess
import unittest

import dissectbox
import pagebox
import saratogabox
import toolbox

PAGE = "guide/saratoga-operator.md"
# A network of its own; whatever it starts ends with it.
ALONE = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child",
         "--mount-proc")
# The names of the page, its folders, and the programs that it leaves open.  The
# satellite is a machine of its own.
WORLD = """
    if [ ! -e /etc/hosts ]; then # a minimal system
        cp -a /etc "$hosts.etc"
        touch "$hosts.etc/hosts"
        mount --bind "$hosts.etc" /etc
    fi
    mount --bind "$hosts" /etc/hosts
    trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
    station() {
        ip link set lo up
        until ip link set "$1" up 2>/dev/null; do sleep 0.01; done
        ip address add "$2/24" dev "$1"
        ip route add 224.0.0.0/4 dev "$1"
    }
    until_listens() {
        until grep -q ":$1 " /proc/$2/net/udp /proc/$2/net/udp6; do
            sleep 0.01
        done
    }
    until_exists() { until [ -e "$1" ]; do sleep 0.01; done; }
    satellite() {
        export -f station
        ip link add ground type veth peer name satellite
        unshare --net bash -euc 'station satellite 10.1.0.1
            cd "$here"
            eval "exec $0 -q"' "$1" &
        while [ /proc/$!/ns/net -ef /proc/self/ns/net ]; do sleep 0.01; done
        ip link set satellite netns $!
        station ground 10.1.0.2
        until_listens 1D76 $!
        until ip link show ground | grep -q "state UP"; do sleep 0.01; done
    }
    telemetry() { seq 20000; }
    decode() { cat >decoded; }
    cd "$there"
    """


def lines(heading, page=PAGE):
    """The single commands of a section."""
    blocks = "\n".join(pagebox.commands(page, heading))
    return blocks.replace("\\\n", " ").split("\n")


class Operator(saratogabox.Node):
    def setUp(self):
        super().setUp()
        toolbox.need("unshare", "ip", "openssl")
        (self.folder / "hosts").write_text(
            "127.0.0.1 localhost\n"
            "10.1.0.1 sat-1 satellite ground station.example\n")
        self.images = self.here / "images"
        for name in "0001.raw", "2026-11-20/0002.raw", "orbits.tle":
            self.put_file(name, 200000, seed=len(name), folder=self.images)
        for name in "schedule.txt", "orbits.tle":
            self.put_file(name, 3000, folder=self.there)

    def play(self, *script):
        """Runs a script in the world of the page."""
        text = re.sub(r"(?<![\w/.-])/(images|data)\b", rf"{self.here}/\1",
                      "\n".join(script))
        # Nothing that the machine has for tshark may come between.
        empty = str(self.folder / "wireshark")
        env = {**os.environ, "hosts": str(self.folder / "hosts"),
               "here": str(self.here), "there": str(self.there),
               "HOME": empty, "WIRESHARK_CONFIG_DIR": empty,
               "WIRESHARK_PLUGIN_DIR": empty,
               "PATH": f"{toolbox.TOOLS}:{os.environ['PATH']}"}
        if subprocess.run([*ALONE, "true"], check=False,
                          capture_output=True).returncode:
            self.skipTest("no right to make namespaces")
        done = subprocess.run([*ALONE, "bash", "-euc", WORLD + text], env=env,
                              capture_output=True, text=True, check=False,
                              timeout=toolbox.PATIENCE)
        self.assertEqual(done.returncode, 0, text + done.stderr)
        return done.stdout

    @staticmethod
    def satellite(command):
        return f"satellite '{command}'"

    def test_a_pass(self):
        serve, mirror = lines("One pass, step by step")
        self.play(self.satellite(serve), f"{mirror} -q &",
                  "until_exists images/2026-11-20/0002.raw",
                  "until_exists images/0001.raw")
        self.same(self.images / "0001.raw", self.there / "images/0001.raw")

    def test_a_pass_is_checked(self):
        serve, _ = lines("One pass, step by step")
        check, = lines("Plan a pass, and check what arrived")
        said = self.play(self.satellite(serve), check)
        self.assertEqual(said, "complete\n")
        ledger = (self.there / "images/.saratoga-ledger").read_text("ascii")
        self.assertRegex(ledger, r"(?m)^200000 \d+ 2026-11-20/0002\.raw$")

    def test_single_files(self):
        serve = "saratoga serve --root /images --rate 100mbit --write --delete"
        commands = lines("A single file")
        self.assertEqual(len(commands), 6)
        wanted = self.folder / "wanted"
        wanted.write_bytes((self.images / "0001.raw").read_bytes())
        for command in commands:
            with self.subTest(command):
                for copy in self.there.glob("0001.raw*"):
                    copy.unlink()
                (self.images / "0001.raw").write_bytes(wanted.read_bytes())
                self.play(self.satellite(serve), command)
                if " get --" in command or " take " in command:
                    self.same(wanted, self.there / "0001.raw")
                gone = " take " in command or " rm " in command
                self.assertEqual((self.images / "0001.raw").exists(),
                                 not gone)
        self.same(self.images / "2026-11-20/0002.raw",
                  self.there / "here/0002.raw")
        self.same(self.there / "schedule.txt",
                  self.images / "up/schedule.txt")

    def test_pipes_groups_and_links_without_a_way_back(self):
        (put, tar, group_put, one_way, streams, read_stream, group_serve,
         group_get, group_mirror, ask_group) = lines("Pipes, groups")
        serve = "saratoga serve --root /images --write"
        subprocess.run(["tar", "cf", "images.tar", "0001.raw"],
                       cwd=self.images, check=True)
        (self.images / "orbits.tle").unlink()
        self.play(self.satellite(serve), put, tar, one_way,
                  "until_exists /images/telemetry.log",
                  "until_exists /images/orbits.tle",
                  '[ "$(cat /images/telemetry.log)" = "$(telemetry)" ]')
        self.same(self.images / "0001.raw", self.there / "0001.raw")
        (self.images / "orbits.tle").unlink()
        self.play(self.satellite(serve), group_put,
                  "until_exists /images/orbits.tle")
        self.same(self.there / "orbits.tle", self.images / "orbits.tle")
        fifo, stream_serve = streams.split(" && ")
        self.play("mkdir -p /data", fifo, self.satellite(stream_serve),
                  "telemetry >/data/telemetry &", read_stream,
                  '[ "$(cat decoded)" = "$(telemetry)" ]')
        for command, copy in ((group_get, "0001.raw"),
                              (f"{group_mirror} -q & until_exists "
                               "images/0001.raw", "images/0001.raw")):
            (self.there / copy).unlink(missing_ok=True)
            self.play(self.satellite(group_serve), command)
            self.same(self.images / "0001.raw", self.there / copy)
        (self.there / "0001.raw").unlink()
        self.play(self.satellite(serve), ask_group)
        self.same(self.images / "0001.raw", self.there / "0001.raw")

    def test_a_key_signs(self):
        make, serve, get = lines("Permissions are the server's")
        self.play(make, f"cp key {self.here}", self.satellite(serve), get)
        self.same(self.images / "0001.raw", self.there / "0001.raw")

    def test_a_passphrase_seals(self):
        make, serve, get = lines("Over the public Internet")
        self.play(make, f"cp secret {self.here}", self.satellite(serve), get)
        self.same(self.images / "0001.raw", self.there / "0001.raw")

    def test_a_link_without_a_satellite(self):
        serve, link, get, mirror = lines("Trying it without a satellite")
        self.play("ip link set lo up",
                  f"{serve} until_listens 1D76 self",
                  f"{link} until_listens 1D77 self",
                  get, f"{mirror} -q & until_exists images/0001.raw")
        self.same(self.images / "0001.raw", self.there / "0001.raw")
        self.same(self.images / "0001.raw", self.there / "images/0001.raw")

    def test_packets_are_looked_at(self):
        dissectbox.need_lua()
        live, saved = lines("Looking at the packets")
        for command in live, saved:
            self.assertIn("lua_script:saratoga.lua", command)
        shutil.copy(dissectbox.LUA / "saratoga.lua", self.there)
        shown = self.play(
            "ip link set lo up",
            f"saratoga serve -q --root {self.here}/images --bind 127.0.0.1 &",
            "until_listens 1D76 self",
            f"{live} -c 3 >packets 2>errors &",
            "until grep -q Capturing errors; do sleep 0.01; done",
            "tshark -q -i lo -w pass.pcap 2>saving & saver=$!",
            "until grep -q Capturing saving; do sleep 0.01; done",
            "linkem -q --loss 20% --delay 5ms --seed 1 "
            "127.0.0.1:7543 127.0.0.1:7542 &",
            "until_listens 1D77 self",
            "saratoga get -q --rate 10mbit saratoga://127.0.0.1:7543/0001.raw",
            "kill -INT $saver; wait $saver",
            "until [ $(wc -l <packets) -ge 3 ]; do sleep 0.01; done",
            "cat packets", "echo", saved)
        packets, holes = shown.split("\n\n")
        self.assertEqual(packets.count("Saratoga"), 3, shown)
        self.assertRegex(holes, r"(?m)^\d+\.\d+\t\d+\t\d+$")

    def check_mirror(self, serve, mirror):
        if "--root orbit" in serve:
            shutil.copytree(self.images, self.here / "orbit")
        to = mirror.split()[-1]
        self.play(self.satellite(serve), f"{mirror} -q &",
                  f"until_exists {to}/0001.raw")
        self.same(self.images / "0001.raw", self.there / to / "0001.raw")

    def test_the_readme(self):
        *_, serve, mirror = lines("Use it", "../README.md")
        self.check_mirror(serve, mirror)

    def test_the_downlink(self):
        _, serve, mirror = lines("Images from a satellite",
                                 "../examples/image-downlink/README.md")
        self.check_mirror(serve, mirror)

    def test_the_manual_page(self):
        page = (pagebox.DOCS / "man/saratoga.7").read_text(encoding="utf-8")
        block = re.search(r"^\.SH EXAMPLES\n\.nf\n(.*?)\n\.fi", page,
                          re.M | re.S)[1].replace("\\-", "-")
        serve, mirror, get = block.split("\n")
        self.check_mirror(serve, mirror)
        self.put_file("1.png", 3000, folder=self.images / "images")
        self.play(self.satellite(serve), get)
        self.same(self.images / "images/1.png", self.there / "1.png")


if __name__ == "__main__":
    unittest.main()
