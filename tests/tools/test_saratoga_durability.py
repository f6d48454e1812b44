# SPDX-License-Identifier: MPL-2.0
"""What saratoga has on a disk that loses what was not synced, and whose calls
fail: what the origin has deleted is safe at the destination."""
import ctypes
import errno
import itertools
import os
import random
import shutil
import signal
import struct
import subprocess
import time
import unittest

import saratogabox
import toolbox

SIZE = 700000
SHIM = toolbox.BUILD / "tests/tools/libdisk_shim.so"
PAGE = 4096
CUTS = 120  # of the power, for each run
VERBS = "get", "put", "take", "give", "mirror"
# A longer run: so many cuts, or as many as fit into so many seconds.
LONG = int(os.environ.get("PERIGEE_CUTS", "0"))
LONGEST = float(os.environ.get("PERIGEE_CUTS_SECONDS", "150"))
# Of a map: before the ranges, and where the size and their count are.
MAP_HEAD = 8 + 8 + 4 + 4 + 1 + 1 + 2 + 32
PATH_MAX = 1024
# Of a record: where its second inode is.
PLACE = {"name": 3, "folder": 3, "rename": 4}


def read_log(path):
    """The records of the shim: words, and what was written."""
    data = path.read_bytes() if path.exists() else b""
    records, at = [], 0
    while at < len(data):
        end = data.index(b"\n", at)
        words = data[at:end].decode().split(" ")
        size = int(words[-1])
        records.append((words[:-1], data[end + 1:end + 1 + size]))
        at = end + 1 + size
    return records


class Disk:
    """What is on a disk after a cut of the power: all that was synced, and of
    the rest what chance leaves."""

    def __init__(self, root, files):
        self.root = root            # inode
        self.files = dict(files)    # inode: bytes, as on the disk
        self.names = {root: {}}     # folder's inode: {name: inode}
        self.folders = {root}
        self.now = {}               # of the system: inode
        self.fresh = itertools.count(1 << 60)
        self.open = {}              # inode: changes that no sync covers

    def take(self, words, data):
        # A number that is used again is another inode.
        if words[0] in ("name", "folder"):
            self.now[int(words[3])] = next(self.fresh)
        words = [str(self.now.get(int(w), int(w))) if w.isdigit() and
                 (i == 1 or i == PLACE.get(words[0])) else w
                 for i, w in enumerate(words)]
        what, inode = words[0], int(words[1])
        if what == "sync":
            for change in self.open.pop(inode, []):
                self.apply(change)
        elif what == "lost":
            self.open.pop(inode, None)
        else:
            if what == "folder":
                self.folders.add(int(words[3]))
                self.names.setdefault(int(words[3]), {})
            self.open.setdefault(inode, []).append((words, data))

    def apply(self, change):
        words, data = change
        what, inode = words[0], int(words[1])
        old = self.files.get(inode, b"")
        names = self.names.setdefault(inode, {})
        if what == "write":
            at = int(words[2])
            old = old.ljust(at, b"\0")
            self.files[inode] = old[:at] + data + old[at + len(data):]
        elif what == "truncate":
            size = int(words[2])
            self.files[inode] = old[:size].ljust(size, b"\0")
        elif what in ("name", "folder"):
            names[words[2]] = int(words[3])
        elif what == "rename":
            names.pop(words[2], None)
            names[words[3]] = int(words[4])
        elif what == "unlink":
            names.pop(words[2], None)

    def cut(self, rng):
        """Some of what was not synced reaches the disk."""
        after = Disk(self.root, self.files)
        after.names = {k: dict(v) for k, v in self.names.items()}
        share = rng.random()
        for changes in self.open.values():
            for words, data in changes:
                if words[0] == "write":
                    for at in range(0, len(data), PAGE):
                        if rng.random() < share:
                            after.apply(((words[0], words[1],
                                          int(words[2]) + at),
                                         data[at:at + PAGE]))
                elif rng.random() < share:
                    after.apply((words, data))
        return after

    def find(self, path):
        inode = self.root
        for name in path.split("/"):
            inode = self.names.get(inode, {}).get(name)
        return self.files.get(inode, b"") if inode else None

    def maps(self):
        """Pairs of a map and its partial file."""
        for names in self.names.values():
            for name, inode in names.items():
                part = names.get(name.replace(".map", ".part"))
                if name.endswith(".map") and part:
                    yield self.files.get(inode, b""), self.files.get(part, b"")


def ranges_of(map_, size):
    """The contents of a map of a partial file."""
    if len(map_) < MAP_HEAD + 4 + PATH_MAX + 4 or map_[:6] != b"SarMap":
        return
    count, = struct.unpack_from(">I", map_, MAP_HEAD)
    at = MAP_HEAD + 4 + PATH_MAX
    if len(map_) != at + 16 * count + 4:
        return
    for i in range(count):
        start, end = struct.unpack_from(">QQ", map_, at + 16 * i)
        yield start, min(end, size)


class Disks(saratogabox.Node):
    """One file that goes from `origin` to `disk`, both ways of asking."""

    def setUp(self):
        super().setUp()
        self.runs = 0
        self.cuts = 0

    def transfer(self, command, fault=""):
        """Runs a transfer to a disk; returns what is known of it."""
        self.runs += 1
        folder = self.folder / f"run{self.runs}"
        origin, disk = folder / "origin", folder / "disk"
        origin.mkdir(parents=True)
        disk.mkdir()
        data = saratogabox.content(SIZE, self.runs)
        (origin / "f").write_bytes(data)
        self.again(command, origin, disk, fault)
        return origin, disk, data

    def again(self, command, origin, disk, fault="", *options):
        pulls = command in ("get", "take", "mirror")
        # Both write one log, so that it tells what came first.
        shim = {**os.environ, "LD_PRELOAD": str(SHIM), "DISK_FAULT": "",
                "DISK_LOG": str(disk.parent / "log"),
                "DISK_ROOT": str(disk.parent)}
        failing = {**shim, "DISK_FAULT": fault}
        file = self.folder / "port"
        server = self.start("saratoga", "serve", "-q", "--write", "--delete",
                            "--root", origin if pulls else disk,
                            "--bind", "127.0.0.1:0", "--port-file", file,
                            "--inactivity", "2", "--rate", "12mbit",
                            env=shim if pulls else failing)
        self.port = int(self.address(server, file)[0].rsplit(":", 1)[1])
        if command == "mirror":
            words = ("--bind", "127.0.0.1:0", "--once", "--interval",
                     "0.2", self.url(), disk)
        elif pulls:
            words = ("--resume", self.url("f"), disk / "f")
        else:
            words = ("--resume", "--rate", "12mbit", origin / "f",
                     self.url("a/b/f"))
        done = toolbox.run("saratoga", command, *options, "--inactivity", "2",
                           *words, env=failing if pulls else shim)
        self.status, self.errors = done.returncode, done.stderr
        self.finish(server, signal.SIGTERM)
        file.unlink()

    def judge(self, origin, disk, data, seed, note):
        """Cuts the power after each record, or a sample of them."""
        rng = random.Random(seed)
        records = read_log(disk.parent / "log")
        goal = "f" if "a" not in os.listdir(disk) else "a/b/f"
        home = origin.stat().st_ino
        state = Disk(disk.stat().st_ino, {})
        chosen = set(rng.sample(range(len(records)),
                                min(CUTS, len(records)))) | \
            {len(records) - 1}
        deleted = False
        for i, (words, payload) in enumerate(records):
            if int(words[1]) == home:
                deleted = deleted or words[:3] == ["unlink", str(home), "f"]
                if deleted:
                    chosen.add(i)
            else:
                state.take(words, payload)
            if i in chosen:
                self.cuts += 1
                self.check(state.cut(rng), goal, data, deleted,
                           f"{note}, cut after {i} of {len(records)}")
        return deleted

    def check(self, after, goal, data, deleted, note):
        found = after.find(goal)
        if found is not None:
            self.assertTrue(found == data, f"wrong under its name: {note}")
        if deleted:
            self.assertIsNotNone(found, f"gone at both ends: {note}")
        for map_, part in after.maps():
            for start, end in ranges_of(map_, len(part)):
                self.assertTrue(part[start:end] == data[start:end],
                                f"a map claims {start}-{end}: {note}")

    def faults(self):
        for call, most in (("fdatasync", 3), ("fsync", 2), ("fsync_folder", 4),
                           ("pwrite", 2), ("write", 2), ("rename", 3),
                           ("ftruncate", 2), ("create", 3), ("unlinkat", 2)):
            for n in range(1, most + 1):
                error = errno.EIO if n % 2 else errno.ENOSPC
                yield f"{call}:{n}:{error}"

    def fail_once(self, command, fault, seed=1):
        moves = command in ("take", "give")
        run = self.transfer(command, fault)
        origin, disk, data = run
        goal = disk / ("f" if command not in ("put", "give") else "a/b/f")
        deleted = self.judge(*run, seed, f"{command} {fault}")
        there = (origin / "f").exists()
        self.assertNotEqual(deleted, there, fault)
        self.assertTrue(there or moves, fault)
        if self.status == 0:
            self.assertEqual(deleted, moves, fault)
            self.assertTrue(goal.read_bytes() == data, fault)
        if there and self.status != 0:  # and then it goes well
            self.again(command, *run[:2])
            self.assertEqual(self.status, 0, (fault, self.errors))
            self.assertEqual(self.judge(*run, seed + 1,
                                        f"{command} after {fault}"), moves)
            self.assertTrue(goal.read_bytes() == data, fault)


@unittest.skipUnless(SHIM.exists(), "the shim is not built")
class Durability(Disks):
    def test_a_cut_of_the_power_leaves_no_wrong_file_and_no_false_map(self):
        for command in VERBS:
            for seed in range(3):
                run = self.transfer(command)
                self.assertEqual(self.status, 0, self.errors)
                deleted = self.judge(*run, seed, command)
                self.assertEqual(deleted, command in ("take", "give"))

    def test_a_call_that_fails_costs_no_file(self):
        for fault in self.faults():
            for command in ("take", "give"):
                with self.subTest(command=command, fault=fault):
                    self.fail_once(command, fault)

    def test_a_failed_sync_fails_the_transfer(self):
        for command in VERBS:
            for fault in ("fdatasync:1:5", "fsync_folder:1:5"):
                with self.subTest(command=command, fault=fault):
                    origin, disk, data = self.transfer(command, fault)
                    self.assertTrue((origin / "f").exists())
                    if command == "mirror":  # says so, and tries again
                        self.assertIn("i/o error", self.errors)
                        self.assertEqual((disk / "f").read_bytes(), data)
                    else:
                        self.assertNotEqual(self.status, 0, self.errors)


@unittest.skipUnless(LONG and SHIM.exists(),
                     "PERIGEE_CUTS says how many cuts, if any")
class LongRun(Disks):
    def test_many_cuts_at_all_verbs_with_faults(self):
        seed = int(os.environ.get("PERIGEE_SEED", time.time_ns() % 1000000))
        rng = random.Random(seed)
        calls = list(self.faults())
        end = time.monotonic() + LONGEST
        while self.cuts < LONG and time.monotonic() < end:
            command = rng.choice(VERBS)
            fault = rng.choice(["", *calls])
            with self.subTest(command=command, fault=fault, seed=seed,
                              run=self.runs):
                self.fail_once(command, fault, rng.randrange(1 << 30))
            shutil.rmtree(self.folder / f"run{self.runs}",
                          ignore_errors=True)
        print(f"seed {seed}: {self.cuts} cuts in {self.runs} transfers")


def leave_mounts():
    """What this process mounts from here on, no other sees or holds."""
    CLONE_NEWNS = 0x20000
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        raise unittest.SkipTest("this user may not mount")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


class Volume:
    """A file system of its own in a file, by a loop device."""

    def __init__(self, test, image, folder, size, *options):
        self.folder = folder
        image.write_bytes(bytes(size))
        mkfs = shutil.which("mkfs.ext4", path=os.environ["PATH"] + ":/sbin")
        if not mkfs:
            raise unittest.SkipTest("there is no mkfs.ext4")
        subprocess.run([mkfs, "-q", *options, image], check=True)
        folder.mkdir()
        done = subprocess.run(["losetup", "--find", "--show", image],
                              capture_output=True, text=True, check=False)
        self.device = done.stdout.strip()
        if done.returncode != 0 or not self.mount():
            raise unittest.SkipTest("this machine mounts no loop device")
        test.addCleanup(self.end)

    def mount(self):
        return subprocess.run(["mount", self.device, self.folder],
                              check=False).returncode == 0

    def unmount(self):
        subprocess.run(["umount", self.folder], check=True)

    def remount(self):
        """Forgets what is in memory."""
        self.unmount()
        if not self.mount():
            raise AssertionError("the file system cannot be mounted again")

    def end(self):
        self.unmount()
        subprocess.run(["losetup", "--detach", self.device], check=True)


class FileSystem(saratogabox.Node):
    """A small file system of its own."""

    setUpClass = staticmethod(leave_mounts)

    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.volume = Volume(self, self.folder / "image", self.disk, 16 << 20)

    def test_what_was_given_is_there_after_a_remount(self):
        source = self.put_file("f", 3000000, folder=self.there)
        data = source.read_bytes()
        server = self.serve("--write", root=self.disk)
        self.run_ok("give", source, self.url("a/f"))
        self.stop(server)
        self.assertFalse(source.exists())
        self.volume.remount()
        self.assertEqual((self.disk / "a/f").read_bytes(), data)

    def test_a_full_disk_loses_nothing_and_is_tried_again(self):
        source = self.put_file("f", 9000000, folder=self.there)
        data = source.read_bytes()
        filler = self.disk / "filler"
        filler.write_bytes(bytes(8 << 20))
        server = self.serve("--write", root=self.disk)
        self.assertNotEqual(toolbox.run("saratoga", "give", source,
                                        self.url("f")).returncode, 0)
        self.assertEqual(source.read_bytes(), data)
        filler.unlink()
        self.run_ok("give", "--resume", source, self.url("f"))
        self.stop(server)
        self.volume.remount()
        self.assertEqual((self.disk / "f").read_bytes(), data)


class ThinVolume(saratogabox.Node):
    """A file system on a volume that has less room than it says: the kernel
    takes what is written, and fails to put it on the disk."""

    setUpClass = staticmethod(leave_mounts)

    def setUp(self):
        super().setUp()
        self.pool, self.disk = self.folder / "pool", self.folder / "disk"
        Volume(self, self.folder / "image", self.pool, 128 << 20, "-m", "0")
        self.volume = Volume(self, self.pool / "image", self.disk, 96 << 20,
                             "-E", "nodiscard")
        self.trim()
        self.filler = self.pool / "filler"
        self.fill()

    def fill(self):
        """Leaves 6 MB."""
        stat = os.statvfs(self.pool)
        room = stat.f_bavail * stat.f_frsize - 6 * (1 << 20)
        self.filler.write_bytes(bytes(max(0, room)))
        os.sync()

    def trim(self):
        """Room of files that are gone goes back to the pool."""
        os.sync()
        subprocess.run(["fstrim", self.disk], check=True)
        os.sync()

    def move(self, command, source, target, *options):
        """Runs a take or give to the disk; returns its exit status."""
        gives = command == "give"
        server = self.serve("--write", "--delete",
                            root=self.disk if gives else source.parent)
        words = (source, self.url(target.name)) if gives else \
            (self.url(source.name), target)
        done = toolbox.run("saratoga", command, *options, *words)
        self.stop(server)
        return done.returncode

    def test_what_a_thin_volume_has_not_taken_stays_at_its_origin(self):
        for seed, command in enumerate(("give", "take", "give", "take")):
            with self.subTest(command=command, seed=seed):
                source = self.put_file(f"f{seed}", 12000000, seed, self.there)
                data = source.read_bytes()
                target = self.disk / source.name
                self.assertNotEqual(self.move(command, source, target), 0)
                self.assertEqual(source.read_bytes(), data)
                if seed < 2:  # or what was not taken is still in memory
                    self.volume.remount()
                self.assertFalse(target.exists())
                self.filler.unlink()
                os.sync()
                self.assertEqual(
                    self.move(command, source, target, "--resume"), 0)
                self.assertFalse(source.exists())
                self.volume.remount()
                self.assertTrue(target.read_bytes() == data)
                target.unlink()
                self.trim()
                self.fill()


if __name__ == "__main__":
    unittest.main()
