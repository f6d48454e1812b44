# SPDX-License-Identifier: MPL-2.0
"""saratoga killed at random moments, a hundred times: what is there at the end
is whole, or is not there, and nothing else was touched."""
import concurrent.futures
import pathlib
import random
import signal
import subprocess
import time
import unittest

import saratogabox
import toolbox

LIVES = 25     # of each station, of which there are four
SIZE = 2000000
LIFE = 1.3     # at most, of what an undisturbed transfer takes


class Station:
    """A server and a client that die again and again over one file."""

    def __init__(self, folder, seed, command):
        self.folder, self.seed, self.command = folder, seed, command
        self.rng = random.Random(seed)
        self.orbit, self.ground = folder / "orbit", folder / "ground"
        self.source = (self.orbit if command == "get" else self.ground) / "f"
        self.target = (self.ground if command == "get" else self.orbit) / "f"
        self.bystanders = {}
        self.port = None
        self.life = 0  # seconds at most
        self.resumed = self.completed = self.versions = 0
        for place in (self.orbit, self.ground):
            (place / "sub").mkdir(parents=True)
            for name in ("g", "sub/f", ".hidden"):
                data = saratogabox.content(999, f"{seed} {place} {name}")
                (place / name).write_bytes(data)
                self.bystanders[place / name] = data
        self.new_source()

    def new_source(self):
        self.versions += 1
        self.source.write_bytes(saratogabox.content(
            SIZE, f"{self.seed} {self.versions}"))

    def start(self, *arguments):
        return subprocess.Popen(
            [toolbox.TOOLS / "saratoga", *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)

    def serve(self, inactivity):
        file = self.folder / "port"
        file.unlink(missing_ok=True)
        server = self.start(
            "serve", "-q", "--root", self.orbit, "--bind", "127.0.0.1:0",
            "--port-file", file, "--rate", "30mbit", "--write",
            "--inactivity", str(inactivity))
        text = ""
        while not text.endswith("\n"):
            if server.poll() is not None:
                raise AssertionError(server.communicate()[1])
            time.sleep(0.002)
            text = file.read_text() if file.exists() else ""
        self.port = int(text.strip().rsplit(":", 1)[1])
        return server

    def call(self, inactivity):
        url = f"saratoga://127.0.0.1:{self.port}/f"
        words = (url, self.target) if self.command == "get" else \
            (self.source, url)
        return self.start(self.command, "--resume", "--rate", "30mbit",
                          "--inactivity", str(inactivity), *words)

    def live(self):
        """One life of both; at least one of them is killed in it."""
        had_map = any(self.target.parent.glob(".saratoga-*.map"))
        server = self.serve(2)
        client = self.call(2)
        # The moment is what is random.
        time.sleep(self.rng.uniform(0, self.life))
        first, second = self.rng.sample((server, client), 2)
        first.kill()
        if self.rng.random() < 0.5:
            second.kill()
        else:
            second.send_signal(signal.SIGTERM)
        errors = client.communicate(timeout=toolbox.PATIENCE)[1]
        server.communicate(timeout=toolbox.PATIENCE)
        self.resumed += had_map
        self.look(client.returncode, errors)

    def look(self, status, errors):
        if status > 0 and not errors.startswith("saratoga: "):
            raise AssertionError(f"no clear error: {status} {errors!r}")
        if self.target.exists():
            self.compare()
            # The next file of that name is another one.
            self.completed += 1
            self.target.unlink()
            self.new_source()
        elif status == 0:
            raise AssertionError("it went well, and there is no file")

    def compare(self):
        if self.target.read_bytes() != self.source.read_bytes():
            raise AssertionError("what is there is wrong")

    def check_bystanders(self):
        for path, data in self.bystanders.items():
            if path.read_bytes() != data:
                raise AssertionError(f"{path} was touched")
        names = {p.relative_to(place) for place in (self.orbit, self.ground)
                 for p in place.rglob("*") if p.is_file()}
        wanted = {pathlib.Path(n) for n in ("g", "sub/f", ".hidden", "f")}
        if names != wanted:
            raise AssertionError(f"left over: {names - wanted}")

    def live_in_peace(self):
        server = self.serve(toolbox.PATIENCE)
        began = time.monotonic()
        client = self.call(toolbox.PATIENCE)
        errors = client.communicate(timeout=toolbox.PATIENCE)[1]
        self.life = LIFE * (time.monotonic() - began)
        server.terminate()
        server.communicate(timeout=toolbox.PATIENCE)
        if client.returncode != 0:
            raise AssertionError(errors)
        self.compare()

    def run(self):
        self.live_in_peace()
        self.target.unlink()
        self.new_source()
        for _ in range(LIVES):
            self.live()
        self.live_in_peace()
        self.check_bystanders()
        return self


class Crashes(toolbox.Folder):
    def test_a_hundred_killings_leave_files_whole_or_absent(self):
        stations = [Station(self.folder / f"{command}{i}", i, command)
                    for command in ("get", "put") for i in range(2)]
        with concurrent.futures.ThreadPoolExecutor(len(stations)) as pool:
            for station in pool.map(Station.run, stations):
                # Some lives went on with what one before had left.
                self.assertGreater(station.resumed, 0)


if __name__ == "__main__":
    unittest.main()
