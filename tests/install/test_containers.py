# SPDX-License-Identifier: MPL-2.0
"""What packaging/Containerfile relies on: options and targets of the build, and
packages that hold the libraries of the two programs."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["PERIGEE_BUILD_DIR"])
TEXT = (ROOT / "packaging/Containerfile").read_text("utf-8").replace("\\\n", " ")
PROGRAMS = "tltcp-live-transmit", "saratoga"
# Left out of the images, or not part of them.
OTHERS = "libIPSec_MB", "libasan", "libubsan", "libtsan"


def libraries(program):
    """Paths of the shared libraries that are not of this build."""
    out = subprocess.run(["ldd", BUILD / "tools" / program], check=True,
                         capture_output=True, text=True).stdout
    for path in re.findall(r"=> (/\S+)", out):
        if BUILD not in pathlib.Path(path).parents and \
                not pathlib.Path(path).name.startswith(OTHERS):
            yield os.path.realpath(path)


def query(*words):
    return subprocess.run(["dpkg-query", *words], check=False,
                          capture_output=True, text=True).stdout


def packages_of(path):
    path = path.removeprefix("/usr")  # where packages put it before the merge
    return {line.split(":")[0]
            for line in query("--search", f"*{path}").splitlines()}


def with_dependencies(packages):
    """Them and all that they need."""
    needs = {}
    for line in query("--show", "--showformat",
                      "${Package} ${Depends}\\n").splitlines():
        name, _, depends = line.partition(" ")
        needs[name] = {word.split()[0].split(":")[0]
                       for word in re.split("[,|]", depends) if word.strip()}
    found, todo = set(), set(packages)
    while todo:
        found |= todo
        todo = set().union(*(needs.get(name, ()) for name in todo)) - found
    return found


class Containers(unittest.TestCase):
    def test_the_options_and_targets_of_the_build_exist(self):
        cache = (BUILD / "CMakeCache.txt").read_text("utf-8")
        options = re.findall(r"-D(PERIGEE_[A-Z_]+)=", TEXT)
        self.assertGreater(len(options), 3)
        for option in options:
            self.assertRegex(cache, rf"(?m)^{option}:", "no such option")
        targets = re.search(r"--build /build --target (.*)", TEXT)[1].split()
        lists = (ROOT / "tools/CMakeLists.txt").read_text("utf-8")
        for target in targets:
            self.assertRegex(lists, rf"\b{target}\b", "no such target")

    def test_the_programs_take_what_the_guide_gives_to_the_containers(self):
        page = (ROOT / "docs/guide/packages.md").read_text("utf-8")
        runs = re.findall(r"^podman run .*?(\S*)((?: \S+://\S*)*)$", re.search(
            r"^## Containers\n.*", page, re.M | re.S)[0], re.M)
        self.assertEqual([image for image, _ in runs],
                         ["tltcp-live-transmit", "saratoga"])
        with tempfile.TemporaryDirectory() as folder:
            for image, words in runs:
                stage = re.search(rf"AS {image.removeprefix('tltcp-')}$.*?\Z",
                                  TEXT, re.M | re.S)[0].split("\nFROM")[0]
                entry, *rest = (json.loads(m) for m in re.findall(
                    r"^(?:ENTRYPOINT|CMD) (.*)$", stage, re.M))
                arguments = words.split() or rest[0]
                self.listens(folder, entry + [
                    {"/files": folder, "tltcp://:5000": "tltcp://:0"}.get(w, w)
                    for w in arguments])

    def listens(self, folder, command):
        """Starts a program of an image on a free port, until it listens."""
        file = pathlib.Path(folder, f"port-{command[0]}")
        at = ["--bind", "127.0.0.1:0"] if command[0] == "saratoga" else []
        with subprocess.Popen(
                [BUILD / "tools" / command[0], *command[1:], *at, "--port-file",
                 file], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True) as program:
            while not file.exists() and program.poll() is None:
                time.sleep(0.01)
            program.kill()
            self.assertTrue(file.exists(), program.stderr.read())

    def test_every_library_of_the_programs_is_installed(self):
        if not shutil.which("dpkg-query"):
            self.skipTest("not Debian")
        named = set(re.findall(r"\blib[a-z0-9.+-]+", re.search(
            r"AS runtime\s+RUN (.*)", TEXT)[1]))
        there = with_dependencies(named | {"libc6"})
        for path in {path for p in PROGRAMS for path in libraries(p)}:
            owners = packages_of(path)
            self.assertTrue(owners & there, f"{path}: {owners}")


if __name__ == "__main__":
    unittest.main()
