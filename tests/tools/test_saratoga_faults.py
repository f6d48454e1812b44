# SPDX-License-Identifier: MPL-2.0
"""saratoga with disks that are full, files that may not be touched or change
meanwhile, and peers that lie about who they are."""
import ctypes
import os
import pathlib
import resource
import shutil
import signal
import socket
import struct
import subprocess
import unittest

import pcap
import saratogabox
import toolbox

MB = 1000000
GET, METADATA, DATA, STATUS = 1, 2, 3, 4
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def kind(packet):
    return packet[0] & 0x1f


def beacon(eid):
    return bytes.fromhex("208f0000") + eid


def get(name, number):
    return struct.pack(">II", 0x218f0001, number) + name + b"\0"


def failure(number, code):
    return struct.pack(">IIHH", 0x24010000 | code, number, 0, 0)


def without_override():
    """Root, too, has to keep to the permissions of files from here on."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def namespace():
    """A command to put in front of one that mounts; or why there is none."""
    for prefix in (["unshare", "--mount"],
                   ["unshare", "--map-root-user", "--mount"]):
        try:
            done = subprocess.run(
                [*prefix, "mount", "-t", "tmpfs", "none", "/mnt"],
                capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise unittest.SkipTest("there is no unshare") from error
        if done.returncode == 0:
            return prefix
    raise unittest.SkipTest(f"no file system may be mounted: {done.stderr}")


class Sources(saratogabox.Node):
    """Origins that cannot be deleted."""

    def test_a_take_from_a_folder_that_cannot_be_written_fails(self):
        source = self.put_file("f", 10000)
        script = """
            mount --bind "$root" "$root"
            mount -o remount,ro,bind "$root"
            exec "$tool" serve -q --delete --root "$root" \\
                --bind 127.0.0.1:0 --port-file "$port"
            """
        file = self.folder / "port"
        server = subprocess.Popen(
            [*namespace(), "sh", "-euc", script], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "root": str(self.here), "port": str(file),
                 "tool": str(toolbox.TOOLS / "saratoga")})
        self.addCleanup(self.end, server)
        self.port = int(self.address(server, file)[0].rsplit(":", 1)[1])
        self.run_bad("access denied: its file system is read-only", "take",
                     self.url("f"), self.there / "f")
        self.assertTrue(source.exists())


class Beacons(saratogabox.Node):
    """Anybody can send them."""

    def test_beacons_do_not_make_a_mirror_ask_all_the_time(self):
        beacons, asked = 300, set()
        with toolbox.udp_socket() as s:
            mirror = self.start(
                "saratoga", "mirror", "--bind", "127.0.0.1:0", "--interval",
                "60", f"saratoga://127.0.0.1:{s.getsockname()[1]}/",
                self.there)
            packet, place = s.recvfrom(2000)
            s.settimeout(0.01)
            for _ in range(beacons):
                if packet and kind(packet) == GET:
                    number = struct.unpack(">I", packet[4:8])[0]
                    asked.add(number)
                    s.sendto(failure(number, 5), place)
                s.sendto(beacon(b"stranger"), place)
                try:
                    packet = s.recv(2000)
                except TimeoutError:
                    packet = None
            mirror.terminate()
            mirror.communicate()
        self.assertGreater(len(asked), 0)
        self.assertLess(len(asked), beacons / 10)


class Disks(saratogabox.Node):
    """A disk of its own for one command, in a mount namespace."""

    def script(self, size, text, **names):
        """Runs a shell script whose $disk is a disk of that size."""
        disk = self.folder / "disk"
        disk.mkdir(exist_ok=True)
        # Folders of the tools may lie where the disk is to be mounted over.
        names = {"tool": toolbox.TOOLS / "saratoga", "disk": disk, **names}
        return subprocess.run(
            [*namespace(), "sh", "-euc",
             f'mount -t tmpfs -o size={size} none "$disk"\n' + text],
            check=False, capture_output=True, text=True,
            timeout=2 * toolbox.PATIENCE, stdin=subprocess.DEVNULL,
            env={**os.environ, **{k: str(v) for k, v in names.items()}})

    def test_a_file_larger_than_the_disk_is_refused_before_it_comes(self):
        self.serve()
        self.put_file("f", 3 * MB)
        done = self.script(2 * MB, '''
            ! "$tool" get "$url" "$disk/f" || exit 9
            ls -A "$disk"
            ''', url=self.url("f"))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertIn("no space left on device", done.stderr)

    def test_a_get_goes_on_when_a_full_disk_has_room_again(self):
        self.serve("--rate", "8mbit")
        source = self.put_file("f", 3 * MB)
        done = self.script(4 * MB, '''
            echo keep >"$disk/other"
            "$tool" get "$url" "$disk/f" & get=$!
            until [ -s "$disk"/.saratoga-*.part ]; do sleep 0.01; done
            cat /dev/zero >"$disk/filler" 2>/dev/null || true
            ! wait $get || exit 9
            [ ! -e "$disk/f" ] || exit 8
            [ "$(cat "$disk/other")" = keep ]
            rm "$disk/filler"
            "$tool" get --resume --json - "$url" "$disk/f"
            cmp "$source" "$disk/f"
            ls -A "$disk"
            ''', url=self.url("f"), source=source)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no space left on device", done.stderr)
        self.assertEqual(done.stdout.splitlines()[-2:], ["f", "other"])

    def test_a_put_to_a_full_disk_is_refused_and_may_be_repeated(self):
        source = self.put_file("f", 3 * MB)
        done = self.script(4 * MB, '''
            "$tool" serve -q --write --root "$disk" --bind 127.0.0.1:0 \\
                --port-file "$port" & serve=$!
            until [ -s "$port" ]; do sleep 0.01; done
            url=saratoga://$(cat "$port")/f
            "$tool" put --rate 5mbit "$source" "$url" & put=$!
            until [ -s "$disk"/.saratoga-*.part ]; do sleep 0.01; done
            cat /dev/zero >"$disk/filler" 2>/dev/null || true
            ! wait $put || exit 9
            [ ! -e "$disk/f" ] || exit 8
            rm "$disk/filler"
            "$tool" put --rate 20mbit "$source" "$url"
            cmp "$source" "$disk/f"
            kill $serve
            wait $serve
            ls -A "$disk"
            ''', source=source, port=self.folder / "port")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "f\n")
        self.assertIn("by the peer", done.stderr)


class Permissions(saratogabox.Node):
    def as_plain_user(self, *arguments):
        return toolbox.run("saratoga", *arguments,
                           preexec_fn=without_override)

    def refused(self, word, *arguments):
        done = self.as_plain_user(*arguments)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(word, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_an_unwritable_folder_is_reported(self):
        self.serve()
        self.put_file("f", 1000)
        self.there.chmod(0o555)
        self.addCleanup(self.there.chmod, 0o755)
        self.refused("permission denied", "get", self.url("f"),
                     self.there / "f")
        self.assertEqual(list(self.there.iterdir()), [])

    def test_an_unreadable_file_is_reported(self):
        self.serve("--write")
        source = self.put_file("f", 1000, folder=self.there)
        source.chmod(0)
        self.refused("permission denied", "put", source, self.url("f"))
        self.assertEqual(list(self.here.iterdir()), [])

    def test_a_server_denies_what_it_may_not_touch(self):
        self.put_file("locked", 1000).chmod(0)
        (self.here / "closed").mkdir(mode=0o555)
        mine = self.put_file("f", 1000, folder=self.there)
        file = self.folder / "port"
        # pylint: disable=consider-using-with
        server = subprocess.Popen(
            [toolbox.TOOLS / "saratoga", "serve", "-q", "--write", "--root",
             self.here, "--bind", "127.0.0.1:0", "--port-file", file],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, preexec_fn=without_override)
        self.addCleanup(self.end, server)
        self.port = int(self.address(server, file)[0].rsplit(":", 1)[1])
        self.run_bad("access denied", "get", self.url("locked"),
                     self.there / "got")
        self.run_bad("access denied", "put", mine, self.url("closed/f"))
        self.assertEqual(list((self.here / "closed").iterdir()), [])

    def test_a_file_larger_than_may_be_written_is_a_clear_error(self):
        self.serve()
        self.put_file("f", 3 * MB)

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (MB, MB))

        done = toolbox.run("saratoga", "get", self.url("f"), self.there / "f",
                           preexec_fn=small_files)
        self.assertEqual(done.returncode, 1)
        self.assertIn("large", done.stderr)
        self.assertFalse((self.there / "f").exists())


class Strangers(saratogabox.Node):
    """Others on the network, who know what they should not."""

    def other_host(self, number):
        """A socket of another address of this machine."""
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(s.close)
        s.bind((f"127.0.0.{number}", 0))
        s.settimeout(toolbox.PATIENCE)
        return s

    def get_beside(self, meddle):
        """A get while somebody else sees the first DATA, and meddles."""
        source = self.put_file("f", MB)
        self.serve("--rate", "20mbit")
        seen = []

        def drop(way, packet):
            if way == "down" and kind(packet) == DATA and len(seen) < 50:
                seen.append(packet)
                meddle(relay, packet)
            return False

        relay = pcap.Relay(self.port, drop=drop)
        try:
            self.run_ok("get", self.url("f", relay.port), self.there / "f")
        finally:
            relay.close()
        self.assertGreater(len(seen), 0)
        self.same(source, self.there / "f")

    def test_a_failure_from_another_address_ends_no_transfer(self):
        stranger = self.other_host(9)

        def meddle(_, packet):
            # The stranger sees the Id, and says at once that all is over.
            number, = struct.unpack(">I", packet[4:8])
            stranger.sendto(failure(number, 5), ("127.0.0.1", self.port))

        self.get_beside(meddle)

    def test_data_from_another_address_are_no_part_of_a_file(self):
        stranger = self.other_host(9)

        def meddle(relay, packet):
            # The same place, other bytes, a moment earlier.
            stranger.sendto(packet[:-4] + b"evil", relay.client)

        self.get_beside(meddle)

    def receive(self, s, name, number, size):
        """A get by hand, without repairs, that proves its address at first;
        returns what came."""
        data = bytearray(size)
        missing = size
        s.sendto(get(name, number), ("127.0.0.1", self.port))
        while missing > 0:
            packet = s.recv(65536)
            self.assertEqual(struct.unpack(">I", packet[4:8])[0], number)
            if kind(packet) == STATUS:
                self.assertEqual(packet[3], 0, packet.hex())
            if kind(packet) == DATA and len(packet) == 26:
                s.sendto(struct.pack(">II", 0x240c0000, number) +
                         packet[8:24] + bytes(4), ("127.0.0.1", self.port))
            if kind(packet) == DATA and packet[1] >> 6 == 1:
                head = 12 + (16 if packet[1] & 0x08 else 0)
                at, = struct.unpack(">I", packet[head - 4:head])
                data[at:at + len(packet) - head] = packet[head:]
                missing -= len(packet) - head
        return bytes(data)

    def test_peers_with_the_same_id_get_what_each_asked_for(self):
        size = 70000
        a = self.put_file("a", size, 1)
        b = self.put_file("b", size, 2)
        self.serve("--rate", "5mbit", "--descriptor", "32")
        first, second = self.other_host(2), self.other_host(3)
        first.sendto(get(b"a", 77), ("127.0.0.1", self.port))
        self.assertEqual(self.receive(second, b"b", 77, size),
                         b.read_bytes())
        self.assertEqual(self.receive(first, b"a", 77, size),
                         a.read_bytes())

    def test_names_from_others_are_no_commands_to_a_terminal(self):
        file = self.folder / "port"
        server = self.start("saratoga", "serve", "--root", self.here, "--bind",
                            "127.0.0.1:0", "--port-file", file)
        self.port = int(self.address(server, file)[0].rsplit(":", 1)[1])
        stranger = self.other_host(9)
        name = b"a\x1b[2J\xc2\x9b2J\x9b\xc3\xa9\xe0\x82\x9bb"
        stranger.sendto(get(name, 1), ("127.0.0.1", self.port))
        self.assertEqual(kind(stranger.recv(100)), STATUS)
        _, log = self.finish(server, signal.SIGTERM)
        self.assertIn("get a?[2J??2J?\xe9???b: ", log)
        self.assertNotIn("\x1b", log)
        self.assertNotIn("\x9b", log)

    def serve_loudly(self, *options):
        """A server that tells of what it does."""
        file = self.folder / "port"
        server = self.start("saratoga", "serve", "--root", self.here, "--bind",
                            "127.0.0.1:0", "--port-file", file, *options)
        self.port = int(self.address(server, file)[0].rsplit(":", 1)[1])
        return server

    def test_a_server_logs_the_cause_of_a_refusal(self):
        key = self.put_file("key", 32, 3, self.folder)
        other = self.put_file("other", 32, 4, self.folder)
        file = self.put_file("f", 2000, folder=self.there)
        (self.here / "folder").mkdir()
        server = self.serve_loudly("--write", "--auth-key", key,
                                   "--auth-files", "--quota", "1kB")
        self.run_bad("access denied", "get", "--auth-key", key,
                     self.url("folder"), self.there / "g")
        self.run_bad("resources", "put", "--auth-key", key, "--checksum",
                     "hmac-sha256", file, self.url("g"))
        self.run_bad("not made with its key; send it with --checksum "
                     "hmac-sha256", "put", "--auth-key", key, file,
                     self.url("h"))
        self.run_bad("not signed with its key; give that key with --auth-key",
                     "ls", "--auth-key", other, self.url())
        _, log = self.finish(server, signal.SIGTERM)
        self.assertIn("refused so far: 1\n", log)
        peer = r"127\.0\.0\.1:[0-9]+ "
        for line in ("get folder: that is a folder",
                     "put g: the quota is used up",
                     "put h: the file's checksum was not made with the key"):
            self.assertRegex(log, saratogabox.LOGGED + peer + line)

    def test_a_server_that_is_stopped_says_what_it_cuts(self):
        server = self.serve_loudly("--write", "--rate", "500kbit")
        self.put_file("f", 3 * MB)
        file = self.put_file("g", 3 * MB, folder=self.there)
        get = self.start("saratoga", "get", self.url("f"), self.there / "f")
        put = self.start("saratoga", "put", "--rate", "500kbit", file,
                         self.url("g"))
        self.wait_for_part(get, folder=self.there)
        self.wait_for_part(put, folder=self.here)
        code, log = self.finish(server, signal.SIGTERM)
        self.assertEqual(code, 0)
        for line in ("get f: cancelled by this side, after [0-9]+",
                     "put g: cancelled by this side, after [0-9]+"):
            self.assertRegex(log, r"127\.0\.0\.1:[0-9]+ " + line)
        self.assertEqual(self.finish(get)[0], 1)
        self.assertEqual(self.finish(put)[0], 1)

    def test_a_server_logs_what_a_client_began_again(self):
        server = self.serve_loudly("--write")
        file = self.put_file("g", 3 * MB, folder=self.there)
        put = self.start("saratoga", "put", "--rate", "500kbit", file,
                         self.url("g"))
        self.wait_for_part(put, folder=self.here)
        put.kill()
        self.run_ok("put", "--resume", file, self.url("g"))
        self.same(file, self.here / "g")
        _, log = self.finish(server, signal.SIGTERM)
        self.assertIn("put g: ended: its client has begun it again, after ",
                      log)

    def test_a_server_logs_its_rate_and_its_transfers(self):
        server = self.serve_loudly("--rate", "99.5mbit")
        self.put_file("f", MB)
        self.run_ok("get", self.url("f"), self.there / "f")
        self.run_bad("access denied", "rm", self.url("f"))
        self.run_bad("not found", "get", self.url("g"), self.there / "g")
        self.run_ok("ls", self.url())
        _, log = self.finish(server, signal.SIGTERM)
        peer = r"127\.0\.0\.1:[0-9]+ "
        for line in ("serving ", r"rate 99\.5 Mbit/s", peer + "getdir /: done", peer +
                     r"get f: [0-9.]+ MB in [0-9.]+ s, [0-9.]+ Mbit/s.*, verified",
                     peer + "delete f: refused: access denied",
                     peer + "get g: no such file or directory"):
            self.assertRegex(log, saratogabox.LOGGED + line)

    def test_a_flood_of_beacons_costs_little_and_stops_nothing(self):
        source = self.put_file("f", MB)
        self.serve("--rate", "20mbit")
        shown = self.folder / "shown"
        with open(shown, "wb") as f:
            peers, ground = self.start_peers(stdout=f)
        listing, other = self.start_peers(
            "--json", self.folder / "peers.json")
        mirror = self.start("saratoga", "mirror", "-q", "--interval", "0.2",
                            "--bind", "127.0.0.1:0", self.url(), self.there)
        flood = self.other_host(9)
        before = None
        count = 0
        until = 1000000  # if not as many are known before
        while not (self.there / "f").exists() or count < until:
            self.assertIsNone(mirror.poll())
            for i in range(count, count + 1000):
                text = b"\xff\0\x1b[2J" if i % 100 == 0 else b"sat-%d" % i
                for port in ground, other, self.port:
                    flood.sendto(beacon(text), ("127.0.0.1", port))
            count += 1000
            if before is None and shown.read_bytes().count(b"\n") == 10000:
                before = self.memory(peers)
                until = count + 15000
        self.same(source, self.there / "f")
        self.assertIsNotNone(before)
        self.assertLess(self.memory(peers), before + 4 * MB)
        self.assertEqual(shown.read_bytes().count(b"\n"), 10000)
        self.assertEqual(self.finish(mirror, signal.SIGTERM)[0], 0)
        for process in peers, listing:
            self.assertEqual(self.finish(process, signal.SIGTERM), (0, ""))
        known = self.json("peers.json")["peers"]
        self.assertGreater(len(known), 0)
        self.assertLessEqual(len(known), 10000)

    def start_peers(self, *arguments, **options):
        """The process and its port."""
        with toolbox.udp_socket() as s:
            port = s.getsockname()[1]
        return self.start("saratoga", "peers", "--bind", f"127.0.0.1:{port}",
                          *arguments, **options), port

    @staticmethod
    def memory(process):
        text = pathlib.Path(f"/proc/{process.pid}/statm").read_text(
            encoding="ascii")
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Messages(saratogabox.Node):
    def test_they_name_what_there_and_what_here(self):
        self.put_file("f", 3000)
        self.serve()
        (self.there / "f").write_text("mine", encoding="ascii")
        nowhere = self.folder / "none"
        for target, cause in (
                (f"{self.there}/", f"{self.there}/f: a file of that name is "
                                   "there already"),
                (self.there / "f", f"{self.there}/f: a file of that name is "
                                   "there already"),
                (nowhere / "f", f"{nowhere}: no such file or directory")):
            done = self.run_bad(cause, "get", self.url("f"), target)
            self.assertEqual(done.stderr,
                             f"saratoga: {self.url('f')}: {cause}\n")

    def test_a_stopped_transfer_reports_that_it_can_resume(self):
        source = self.put_file("f", 20 * MB)
        server = self.serve("--rate", "4mbit")
        client = self.begin_get()
        status, errors = self.finish(client, signal.SIGINT)
        self.assertEqual(status, 1)
        self.assertEqual(errors, f"saratoga: {self.url('f')}: stopped; "
                                 "received data is kept for --resume\n")
        self.stop(server)
        self.serve("--rate", "1gbit")
        self.run_ok("get", "--resume", self.url("f"), self.there / "f")
        self.same(source, self.there / "f")


    def test_a_folder_whose_server_is_gone_is_not_waited_for_file_by_file(self):
        for i in range(20):
            self.put_file(f"f{i}", 2 * MB, i)
        server = self.serve("--rate", "20mbit")
        client = self.start("saratoga", "get", "-r", "--inactivity", "1",
                            self.url(), self.there)
        self.wait_for_part(client)
        server.kill()
        self.finish(server)
        status, errors = self.finish(client)
        self.assertEqual(status, 1)
        self.assertLess(errors.count("silent for too long"), 7, errors)
        self.assertRegex(errors, f"saratoga: {self.url()}: still silent, "
                                 "[0-9]+ not started\n")

    def test_a_server_that_is_stopped_says_so(self):
        self.put_file("f", 20 * MB)
        server = self.serve("--rate", "4mbit")
        client = self.begin_get()
        self.stop(server)
        status, errors = self.finish(client)
        self.assertEqual(status, 1)
        self.assertRegex(errors, "ended by the peer: the peer cannot send: "
                                 r"resources, after [0-9.]+ (bytes|MB), "
                                 "kept for --resume\n")


class Changes(saratogabox.Node):
    def fails(self, client):
        """The get ends with an error, and leaves no file."""
        status, errors = self.finish(client)
        self.assertEqual(status, 1)
        self.assertTrue(errors.startswith("saratoga: "), errors)
        self.assertFalse((self.there / "f").exists())

    def test_a_file_that_changes_while_it_is_sent_is_not_delivered(self):
        self.serve("--rate", "5mbit")
        source = self.put_file("f", 4 * MB)
        client = self.begin_get()
        with open(source, "r+b") as file:
            file.write(b"changed")
        self.fails(client)

    def test_a_file_that_shrinks_while_it_is_sent_is_not_delivered(self):
        self.serve("--rate", "5mbit")
        source = self.put_file("f", 3 * MB)
        client = self.begin_get()
        os.truncate(source, MB)
        self.fails(client)

    def test_a_file_that_vanishes_while_it_is_sent_still_arrives(self):
        self.serve("--rate", "20mbit")
        source = self.put_file("f", 2 * MB)
        data = source.read_bytes()
        client = self.begin_get()
        source.unlink()
        self.assertEqual(self.finish(client), (0, ""))
        self.assertEqual((self.there / "f").read_bytes(), data)

    def test_a_target_that_appears_meanwhile_is_not_replaced(self):
        self.serve("--rate", "8mbit")
        self.put_file("f", 2 * MB)
        client = self.begin_get()
        (self.there / "f").write_text("mine", encoding="ascii")
        status, errors = self.finish(client)
        self.assertEqual(status, 1)
        self.assertIn("there already", errors)
        self.assertEqual((self.there / "f").read_text(encoding="ascii"),
                         "mine")

    def test_a_folder_that_vanishes_meanwhile_is_an_error(self):
        self.serve("--rate", "5mbit")
        self.put_file("f", 2 * MB)
        client = self.begin_get()
        while self.there.exists():  # it may be saving its map right now
            shutil.rmtree(self.there, ignore_errors=True)
        self.fails(client)


if __name__ == "__main__":
    unittest.main()
