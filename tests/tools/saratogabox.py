# SPDX-License-Identifier: MPL-2.0
"""Shared by the tests of saratoga."""
import contextlib
import hashlib
import pathlib
import random
import re
import signal
import time

import toolbox

# What lines of a log begin with, to be followed by a pattern.
LOGGED = r"(?m)^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}Z "


def content(size, seed=1):
    return random.Random(seed).randbytes(size)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() \
            if hasattr(hashlib, "file_digest") \
            else hashlib.sha256(file.read()).hexdigest()


class Node(toolbox.Folder):
    """A test with a folder to serve, `here`, and one to fetch into, `there`."""

    def setUp(self):
        super().setUp()
        self.here = self.folder / "here"
        self.there = self.folder / "there"
        self.here.mkdir()
        self.there.mkdir()
        self.port = None
        self.served = 0

    def put_file(self, name, size, seed=1, folder=None):
        path = (folder or self.here) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(size, seed))
        return path

    def serve(self, *options, port=0, root=None):
        """Starts a server; returns it, its port in self.port."""
        self.served += 1
        file = self.folder / f"port{self.served}"
        server = self.start("saratoga", "serve", "-q", "--root",
                            root or self.here, "--bind", f"127.0.0.1:{port}",
                            "--port-file", file, *options)
        self.port = int(self.address(server, file)[0].rsplit(":", 1)[1])
        return server

    def url(self, path="", port=None):
        return f"saratoga://127.0.0.1:{port or self.port}/{path}"

    def run_ok(self, *arguments):
        done = toolbox.run("saratoga", *arguments)
        said = re.sub("saratoga: no answer from .* yet, still trying\n", "",
                      done.stderr)  # on a busy machine
        self.assertEqual((done.returncode, said), (0, ""), arguments)
        return done

    def run_bad(self, word, *arguments, status=1):
        done = toolbox.run("saratoga", *arguments)
        self.assertEqual(done.returncode, status, (arguments, done.stderr))
        self.assertIn(word, done.stderr)
        self.assertTrue(done.stderr.startswith("saratoga: "), done.stderr)
        return done

    def same(self, a, b):
        self.assertEqual(digest(a), digest(b))

    def stop(self, process):
        status, errors = self.finish(process, signal.SIGTERM)
        self.assertEqual((status, errors), (0, ""))

    def wait_for_part(self, process, size=1, folder=None):
        """Until that much has come of a file, or the process has ended."""
        while process.poll() is None:
            for part in (folder or self.there).glob(".saratoga-*.part"):
                with contextlib.suppress(FileNotFoundError):  # just renamed
                    if part.stat().st_size >= size:
                        return
            time.sleep(0.002)

    def begin_get(self, size=1):
        """A get of "f" of which that much has come."""
        client = self.start("saratoga", "get", self.url("f"), self.there / "f")
        self.wait_for_part(client, size)
        return client

    def wait_until(self, holds, why="it does not come to that"):
        end = time.monotonic() + toolbox.PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), end, why)
            time.sleep(0.01)

    def wait_for(self, path):
        self.wait_until(path.exists, f"{path} does not come")

    def left_over(self, folder):
        """Files of saratoga's own in a folder."""
        return sorted(p.name for p in pathlib.Path(folder).rglob(".saratoga-*"))
