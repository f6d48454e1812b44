#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Installs a build, moves it elsewhere, and builds a program against it in each
way that people do.

usage: test_install.py BUILD-FOLDER [unittest arguments]; CC names the compiler
"""
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
CC = os.environ.get("CC", "cc")
CXX = os.environ.get("CXX") or shutil.which("c++")


def run(*command, check=True, **environment):
    done = subprocess.run([str(c) for c in command], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment})
    if check and done.returncode:
        raise AssertionError(f"{shlex.join(map(str, command))}\n{done.stdout}")
    return done


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # pylint: disable=consider-using-with
        cls.temporary = tempfile.TemporaryDirectory()
        top = pathlib.Path(cls.temporary.name)
        run("cmake", "--install", BUILD, "--prefix", top / "before")
        cls.prefix = top / "moved" / "to here"
        cls.prefix.parent.mkdir()
        (top / "before").rename(cls.prefix)
        cls.lib = next(cls.prefix.rglob("tltcp.pc")).parent.parent
        cls.work = top / "work"
        cls.work.mkdir()

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def config(self, *args):
        """The output of pkg-config, with and in the moved installation."""
        text = run("pkg-config", *args, "tltcp", "congestion",
                   PKG_CONFIG_PATH=str(self.lib / "pkgconfig")).stdout
        return shlex.split(text)

    def starts(self, program, **environment):
        text = run(program, **environment).stdout
        self.assertRegex(text, r"^tltcp \d+\.\d+\.\d+\n$")

    def test_a_debian_package_says_what_it_needs(self):
        if not shutil.which("dpkg-shlibdeps") or not shutil.which("cpack"):
            self.skipTest("needs cpack and dpkg-dev")
        run("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake",
            "-B", self.work / "package")
        package = next((self.work / "package").glob("perigee_*.deb"))
        needs = run("dpkg-deb", "-f", package, "Depends").stdout
        for library in "libc6", "libuv1":
            self.assertRegex(needs, rf"\b{library}")  # libuv1t64, too
        listed = run("dpkg-deb", "-c", package).stdout
        for path in self.prefix.rglob("*"):
            if path.is_file():
                self.assertIn(f"/{path.relative_to(self.prefix)}", listed)

    def test_every_tool_has_a_manual_page(self):
        if "HELP2MAN:FILEPATH=/" not in (BUILD / "CMakeCache.txt").read_text():
            self.skipTest("built without help2man")
        pages = sorted((self.prefix / "share/man/man1").iterdir())
        tools = sorted((self.prefix / "bin").iterdir())
        self.assertEqual([p.name for p in pages],
                         [f"{t.name}.1" for t in tools])
        for tool, page in zip(tools, pages):
            text = run("man", "-l", page, LC_ALL="C", MANWIDTH="1000").stdout
            told = run(tool, "--help-all").stdout
            for word in re.findall(r"^ +(?:-\w, )?(--[\w-]+)", told, re.M):
                self.assertRegex(text, rf"(?m)^ +(-\w, )?{word}\b", page.name)
            for part in ("SYNOPSIS", "DESCRIPTION", "EXAMPLES", "SEE ALSO"):
                self.assertIn(f"\n{part}\n", text, page.name)
            done = subprocess.run(["man", "--warnings", "-l", page],
                                  capture_output=True, text=True, check=True,
                                  env={**os.environ, "LC_ALL": "C"})
            self.assertEqual(done.stderr, "")

    def test_pkg_config_shared(self):
        program = self.work / "shared"
        run(CC, "-std=c11", "-Wall", "-Werror", HERE / "consumer/consumer.c",
            "-o", program, *self.config("--cflags", "--libs"))
        self.starts(program, LD_LIBRARY_PATH=str(self.lib))
        self.assertIn("libtltcp.so.0", run("readelf", "-d", program).stdout)

    def test_pkg_config_shared_needs_none_of_what_the_library_is_made_of(self):
        words = self.config("--libs")
        self.assertNotIn("-luv", words)
        self.assertNotIn("-lperigee_common", words)

    def test_pkg_config_static(self):
        program = self.work / "static"
        # As `-static` does for these libraries, but not for the C library.
        words = [re.sub(r"^-l(tltcp|congestion|perigee_common)$",
                        r"-l:lib\1.a", w)
                 for w in self.config("--static", "--cflags", "--libs")]
        run(CC, "-std=c11", HERE / "consumer/consumer.c", "-o", program, *words)
        self.assertNotIn("libtltcp", run("readelf", "-d", program).stdout)
        self.starts(program)

    def test_pkg_config_of_live_streams_shared_and_static(self):
        for static in [], ["--static"]:
            program = self.work / f"live{len(static)}"
            words = run("pkg-config", *static, "--cflags", "--libs",
                        "tltcp-live",
                        PKG_CONFIG_PATH=str(self.lib / "pkgconfig")).stdout
            words = shlex.split(words)
            if static:
                words = [re.sub(r"^-l(tltcp-live|tltcp|congestion|"
                                r"perigee_common)$", r"-l:lib\1.a", w)
                         for w in words]
            run(CC, "-std=c11", "-D_POSIX_C_SOURCE=200809L",
                ROOT / "examples/live_frames.c", "-o", program, *words)
            needs = run("readelf", "-d", program).stdout
            self.assertEqual("libtltcp-live.so.0" in needs, not static)
            self.assertNotRegex(needs, "libav|libglib")
            done = run(program, check=False, LD_LIBRARY_PATH=str(self.lib))
            self.assertIn("usage", done.stdout)

    def test_cmake_of_live_streams(self):
        for suffix in "", "_static":
            program, _ = self.cmake(f"live-cmake{suffix}",
                                    f"-DEXAMPLE={ROOT}/examples/live_frames.c",
                                    f"-DSUFFIX={suffix}", tree="live")
            self.assertIn("usage", run(program, check=False).stdout)

    def need_avio(self):
        if not (self.lib / "pkgconfig" / "tltcp-avio.pc").exists():
            self.skipTest("built without FFmpeg")

    def test_pkg_config_of_the_context_for_ffmpeg(self):
        self.need_avio()
        program = self.work / "avio"
        words = run("pkg-config", "--cflags", "--libs", "tltcp-avio",
                    "libavformat", "libavcodec", "libavutil",
                    PKG_CONFIG_PATH=str(self.lib / "pkgconfig")).stdout
        run(CC, "-std=c11", "-D_POSIX_C_SOURCE=200809L",
            ROOT / "examples/avio_recv.c", "-o", program, *shlex.split(words))
        done = run(program, check=False, LD_LIBRARY_PATH=str(self.lib))
        self.assertIn("usage", done.stdout)

    def lines(self, page, heading):
        """The commands of a section of a guide."""
        text = (ROOT / "docs/guide" / page).read_text(encoding="utf-8")
        section = re.search(rf"^## {heading}\n.*?(?=^## |\Z)", text,
                            re.M | re.S)[0]
        return re.search(r"^```sh\n(.*?)^```", section,
                         re.M | re.S)[1].splitlines()

    def shell(self, line, check=True):
        """A command of a guide, with the installation: in a path that has no
        blank, which the guides' $(pkg-config) would break at."""
        lib = self.work / "installed"
        if not lib.exists():
            lib.symlink_to(self.lib)
        return run("bash", "-c", f"cd {self.work} && {line}",
                   check=check, LD_LIBRARY_PATH=str(lib),
                   PKG_CONFIG_PATH=str(lib / "pkgconfig"))

    def test_the_guides_compile_their_programs(self):
        page = (ROOT / "docs/guide/c.md").read_text(encoding="utf-8")
        send, receive = re.findall(r"^```c\n(.*?)^```$", page, re.M | re.S)
        for name, text in ("program", send), ("send", send), ("receive", receive):
            (self.work / f"{name}.c").write_text(text, encoding="utf-8")
        for line in (*self.lines("build.md", "Use the libraries"),
                     *self.lines("c.md", "Build and run")):
            self.shell(line)
        for program in "a.out", "send", "receive":
            told = run("ldd", self.work / program,
                       LD_LIBRARY_PATH=str(self.lib)).stdout
            self.assertIn(f"{self.lib}/libtltcp.so", told)

    def test_the_guide_runs_a_controller_of_ones_own(self):
        for name in "own_controller", "live_recv":
            shutil.copy(ROOT / f"examples/{name}.c", self.work)
        make, call = self.lines("own-controller.md", "Using it")
        self.shell(make)
        self.shell(make.replace("own_controller", "live_recv"))
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
            s.bind(("::", 0))
            port = str(s.getsockname()[1])
        # pylint: disable=consider-using-with
        receiver = subprocess.Popen(
            [self.work / "live_recv", port], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "LD_LIBRARY_PATH": str(self.lib)})
        self.addCleanup(receiver.communicate)
        self.addCleanup(receiver.kill)
        call = call.replace("receiver.example 5000", f"127.0.0.1 {port} 1")
        for _ in range(200):  # until it listens
            done = self.shell(call, check=False)
            if done.returncode == 0:
                break
        self.assertRegex(done.stdout, r"^low-delay: srtt \d")
        self.assertIn("100 frames", receiver.communicate(timeout=30)[0])

    def test_c_plus_plus(self):
        if not CXX:
            self.skipTest("no C++ compiler")
        program = self.work / "cxx"
        run(CXX, "-std=c++11", "-Wall", "-Werror", "-x", "c++",
            HERE / "consumer/consumer.c", "-x", "none", "-o", program,
            *self.config("--cflags", "--libs"))
        self.starts(program, LD_LIBRARY_PATH=str(self.lib))

    def cmake(self, name, *options, tree="consumer", check=True):
        out = self.work / name
        done = run("cmake", "-S", HERE / tree, "-B", out, "-G", "Ninja",
                   f"-DCMAKE_C_COMPILER={CC}",
                   f"-DCMAKE_PREFIX_PATH={self.prefix}", *options, check=check)
        if done.returncode == 0:
            run("cmake", "--build", out)
        return out / "consumer", done

    def test_cmake_shared(self):
        self.starts(self.cmake("cmake-shared")[0])

    def test_cmake_static(self):
        program, _ = self.cmake("cmake-static", "-DSUFFIX=_static")
        self.assertNotIn("libtltcp", run("readelf", "-d", program).stdout)
        self.starts(program)

    def test_cmake_with_one_component_brings_what_it_needs(self):
        self.starts(self.cmake("cmake-one", "-DCOMPONENTS=tltcp")[0])

    def test_cmake_of_the_context_for_ffmpeg(self):
        self.need_avio()
        program, _ = self.cmake("avio-cmake",
                                f"-DEXAMPLE={ROOT}/examples/avio_recv.c",
                                tree="avio")
        self.assertIn("usage", run(program, check=False).stdout)

    def test_cmake_refuses_a_component_that_is_not_there(self):
        _, done = self.cmake("cmake-none", "-DCOMPONENTS=tltcp;no_such",
                             check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no_such", done.stdout)

    def test_inside_another_project_it_adds_nothing_but_the_libraries(self):
        launcher = shutil.which("ccache") or ""
        program, _ = self.cmake(
            "embedded", f"-DPERIGEE={ROOT}", "-DBUILD_SHARED_LIBS=OFF",
            f"-DCMAKE_C_COMPILER_LAUNCHER={launcher}", tree="embedded")
        self.starts(program)
        prefix = self.work / "embedded-prefix"
        run("cmake", "--install", program.parent, "--prefix", prefix)
        self.assertEqual([p.name for p in prefix.rglob("*") if p.is_file()],
                         ["consumer"])

    def test_public_headers_are_there_and_no_others(self):
        built = {p.stem for p in (self.lib / "pkgconfig").glob("*.pc")}
        there = {p.relative_to(ROOT / "include").as_posix()
                 for name in built
                 for p in (ROOT / "include" / name).rglob("*.h")}
        self.assertLessEqual({"tltcp", "congestion"}, built)
        installed = {p.relative_to(self.prefix / "include").as_posix()
                     for p in (self.prefix / "include").rglob("*.h")}
        self.assertEqual(installed, there)

    def test_installed_programs_find_their_libraries(self):
        programs = [p for p in (self.prefix / "bin").glob("*")
                    if p.read_bytes()[:4] == b"\x7fELF"]
        for program in programs:
            with self.subTest(program.name):
                text = run(program, "--version").stdout
                self.assertRegex(text, r"\d+\.\d+\.\d+")

    def test_the_plugin_is_found_in_its_folder(self):
        plugin = self.lib / "gstreamer-1.0" / "libgsttltcp.so"
        if not plugin.exists():
            self.skipTest("built without GStreamer")
        text = run("gst-inspect-1.0", "tltcpsink",
                   GST_PLUGIN_PATH=str(plugin.parent),
                   GST_REGISTRY=str(self.work / "registry")).stdout
        self.assertIn("Sink/Network", text)

    def test_nothing_installed_knows_where_it_was_built(self):
        for file in self.prefix.rglob("*"):
            if file.suffix in (".pc", ".cmake"):
                text = file.read_text(encoding="utf-8")
                self.assertNotIn(str(BUILD), text, file.name)
                self.assertNotIn(str(ROOT), text, file.name)


if __name__ == "__main__":
    unittest.main()
