#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Builds and installs the libraries as docs/guide/build.md says, optimized at link
time: the tests' own build is not.

usage: test_release.py BUILD-FOLDER [unittest arguments]; CC names the compiler
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
CC = os.environ.get("CC", "cc")


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    if done.returncode:
        raise AssertionError(f"{command}\n{done.stdout}")
    return done.stdout


def exported(library):
    return {line.split()[-1] for line in run("nm", "-D", "--defined-only",
                                             library).splitlines()}


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # pylint: disable=consider-using-with
        cls.temporary = tempfile.TemporaryDirectory()
        cls.top = pathlib.Path(cls.temporary.name)
        page = (ROOT / "docs/guide/build.md").read_text(encoding="utf-8")
        block = re.search(r"^## Without ./dev\n.*?^```sh\n(.*?)^```", page,
                          re.M | re.S)[1]
        configure, build, install = block.splitlines()
        here = shlex.join([  # less than all of it
            "-S", str(ROOT), f"-DCMAKE_C_COMPILER={CC}",
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_C_COMPILER_LAUNCHER={shutil.which('ccache') or ''}",
            "-DPERIGEE_BUILD_TESTS=OFF", "-DPERIGEE_BUILD_TOOLS=OFF",
            "-DPERIGEE_WITH_GSTREAMER=OFF", "-DPERIGEE_WITH_FFMPEG=OFF",
            "-DPERIGEE_WERROR=ON"])
        for line in f"{configure} {here}", build, install:
            run("bash", "-c", line, cwd=cls.top,
                env={**os.environ, "HOME": str(cls.top)})
        cls.prefix = cls.top / "perigee"

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_archives_hold_no_bytecode(self):
        archives = list(self.prefix.rglob("*.a"))
        self.assertGreater(len(archives), 3)
        for archive in archives:
            with self.subTest(archive.name):
                self.assertNotIn(".gnu.lto_", run("readelf", "-SW", archive))

    def test_another_compiler_links_the_archives(self):
        other = shutil.which("clang") or shutil.which("clang-14")
        if not other:
            self.skipTest("no clang")
        out = self.top / "consumer"
        run("cmake", "-S", HERE / "consumer", "-B", out, "-G", "Ninja",
            f"-DCMAKE_C_COMPILER={other}", "-DSUFFIX=_static",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", out)
        self.assertRegex(run(out / "consumer"), r"^tltcp \d+\.\d+\.\d+\n$")

    def test_exports_are_those_of_any_build(self):
        for name in "libtltcp", "libcongestion", "libsaratoga":
            with self.subTest(name):
                built = next(BUILD.rglob(f"{name}.so"))
                installed = next(self.prefix.rglob(f"{name}.so"))
                self.assertEqual(exported(built), exported(installed))


if __name__ == "__main__":
    unittest.main(verbosity=2)
