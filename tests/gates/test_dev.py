#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""./dev on machines of all sorts, played by stubs of the system's commands."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import tree

STUBS = {
    # Everything is installed but what the file `absent` names.
    "dpkg-query": """shift 3
for p; do grep -qx "$p" "$STUBS/absent" || echo "ii |$p"; done""",
    "apt-get": """echo "apt-get $*" >>"$STUBS/calls"
[ ! -e "$STUBS/apt-fails" ] || { echo "no network"; exit 100; }""",
    "cmake": """echo "cmake $*" >>"$STUBS/calls"
[ ! -e "$STUBS/cmake-fails" ] || { echo "a.c: error"; exit 1; }""",
    "ctest": """echo "ctest $*" >>"$STUBS/calls"
case "$*" in *-N*nothing) echo; echo "Total Tests: 0" ;; esac""",
    "id": 'cat "$STUBS/uid"',
    "pkg-config": """for p; do :; done
! grep -qx "$p" "$STUBS/absent" """,
    "ninja": "",
    "cc": "",
    "gcc": "echo 12.2.0",
}


class Dev(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.root = pathlib.Path(self.temporary.name)
        self.stubs = self.root / "stubs"
        self.stubs.mkdir()
        for name, body in STUBS.items():
            file = self.stubs / name
            file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
            file.chmod(0o755)
        shutil.copy(tree.ROOT / "dev", self.root / "dev")
        self.note("absent", "")
        self.note("uid", "0\n")
        self.system("debian", "12")

    def note(self, name, text):
        (self.stubs / name).write_text(text, encoding="utf-8")

    def system(self, name, version):
        self.note("os-release", f'ID={name}\nVERSION_ID="{version}"\n')

    def dev(self, *args):
        done = subprocess.run(
            [self.root / "dev", *args], capture_output=True, text=True,
            check=False, stdin=subprocess.DEVNULL,
            env={"PATH": f"{self.stubs}:{os.environ['PATH']}",
                 "STUBS": str(self.stubs), "TMPDIR": str(self.root),
                 "PERIGEE_OS_RELEASE": str(self.stubs / "os-release")})
        return done.returncode, done.stdout + done.stderr

    def calls(self, name):
        file = self.stubs / "calls"
        lines = file.read_text(encoding="utf-8").split("\n") \
            if file.exists() else []
        return [line for line in lines if line.startswith(name)]

    def test_without_a_verb_it_says_what_it_can_do(self):
        status, text = self.dev()
        self.assertEqual(status, 0)
        for verb in "demo", "test", "build", "bench", "docs", "install":
            self.assertIn(f"  {verb}", text)

    def test_an_unknown_verb_is_wrong_usage(self):
        status, text = self.dev("biuld")
        self.assertEqual(status, 2)
        self.assertEqual(
            text, "dev: there is no verb biuld; ./dev help lists them\n")

    def test_with_everything_there_nothing_is_installed(self):
        status, text = self.dev("build")
        self.assertEqual(status, 0, text)
        self.assertEqual(self.calls("apt-get"), [])
        self.assertTrue(self.calls("cmake --build"))

    def test_root_on_debian_installs_just_what_is_missing(self):
        self.note("absent", "cmake\nlibuv1-dev\n")
        status, text = self.dev("build")
        self.assertEqual(status, 0, text)
        update, install = self.calls("apt-get")
        self.assertIn(" update", update)
        self.assertTrue(install.endswith(" install cmake libuv1-dev"), install)
        self.assertTrue(self.calls("cmake --build"))

    def test_what_the_readme_starts_is_installed_too(self):
        (self.root / "build").mkdir()
        (self.root / "build" / "CMakeCache.txt").write_text(
            "CMAKE_INSTALL_LIBDIR:PATH=lib\n", encoding="utf-8")
        self.note("absent", "gstreamer1.0-tools\nffmpeg\ngstreamer1.0-x\n")
        status, text = self.dev("install", str(self.root / "there"))
        self.assertEqual(status, 0, text)
        self.assertTrue(self.calls("apt-get")[-1].endswith(
            " install ffmpeg gstreamer1.0-tools gstreamer1.0-x"))
        self.note("uid", "1000\n")  # the libraries do without
        status, text = self.dev("install", str(self.root / "there"))
        self.assertEqual(status, 0, text)
        self.assertIn("ffmpeg gstreamer1.0-tools gstreamer1.0-x", text)
        self.assertIn("continuing without these programs", text)

    def test_lines_of_pages_reach_their_programs(self):
        programs = "tools/demo/demo.py", "examples/image-downlink/downlink.py"
        for program in programs:
            file = self.root / program
            file.parent.mkdir(parents=True)
            file.write_text("#!/usr/bin/env python3\nprint(__file__)\n")
            file.chmod(0o755)
        reached = {"./dev demo": programs[0], "./dev downlink": programs[1],
                   "./dev build": "cmake --build",
                   "./dev test": "ctest -j",
                   "./dev test unit": " -R unit"}
        seen = set()
        for page in ("README.md", "CONTRIBUTING.md", "docs/guide/start.md",
                     "examples/image-downlink/README.md"):
            text = (tree.ROOT / page).read_text(encoding="utf-8")
            for line in re.findall(r"^(\./dev (?!install).*)$", text, re.M):
                with self.subTest(line):
                    seen.add(line)
                    self.note("calls", "")
                    status, text = self.dev(*line.split()[1:])
                    self.assertEqual(status, 0, text)
                    calls = (self.stubs / "calls").read_text(encoding="utf-8")
                    self.assertIn(reached[line], text + calls)
        self.assertEqual(seen, set(reached))

    def test_it_installs_and_says_what_the_guide_exports(self):
        (self.root / "build").mkdir()
        (self.root / "build" / "CMakeCache.txt").write_text(
            "CMAKE_INSTALL_LIBDIR:PATH=lib\n", encoding="utf-8")
        page = (tree.ROOT / "docs/guide/start.md").read_text(encoding="utf-8")
        install, export = re.search(
            r"^## Your first stream\n.*?^```sh\n(.*?)\n```", page,
            re.M | re.S)[1].split("\n")
        there = self.root / "there"
        status, text = self.dev(*install.split()[1:], str(there))
        self.assertEqual(status, 0, text)
        self.assertIn(export.replace("/usr/local", str(there)), text)

    def test_a_shell_takes_what_it_exports_from_a_folder_with_a_blank(self):
        (self.root / "build").mkdir()
        (self.root / "build" / "CMakeCache.txt").write_text(
            "CMAKE_INSTALL_LIBDIR:PATH=lib\n", encoding="utf-8")
        there = self.root / "a folder"
        status, text = self.dev("install", str(there))
        self.assertEqual(status, 0, text)
        lines = "".join(
            line + "\n" for line in text.splitlines() if "export" in line)
        run = subprocess.run(
            ["bash", "-ec", lines + 'printf "%s\n" "${PATH%%:*}" '
             '"$PKG_CONFIG_PATH" "$CMAKE_PREFIX_PATH" "$GST_PLUGIN_PATH" '
             '"$LD_LIBRARY_PATH"'],
            stdout=subprocess.PIPE, encoding="utf-8", check=True)
        self.assertEqual(run.stdout.splitlines(), [
            f"{there}/bin", f"{there}/lib/pkgconfig", f"{there}",
            f"{there}/lib/gstreamer-1.0", f"{there}/lib"])

    def test_a_pattern_that_matches_no_test_is_refused_before_the_build(self):
        status, text = self.dev("test", "nothing")
        self.assertEqual((status, text), (
            2, "dev: no test has a name that matches 'nothing'; "
            "ctest --test-dir build-test -N lists them\n"))
        self.assertEqual(self.calls("cmake --build"), [])

    def test_debian_without_a_number_is_newer(self):
        self.note("os-release", "ID=debian\n")
        self.note("absent", "cmake\n")
        self.dev("build")
        self.assertEqual(len(self.calls("apt-get")), 2)

    def test_without_root_the_missing_packages_are_named(self):
        self.note("uid", "1000\n")
        self.note("absent", "cmake\nlibuv1-dev\n")
        status, text = self.dev("build")
        self.assertEqual(status, 1)
        self.assertIn("cmake libuv1-dev", text)
        self.assertEqual(self.calls("apt-get") + self.calls("cmake"), [])

    def test_another_system_gets_a_list_of_missing_packages(self):
        for name, version in ("fedora", "39"), ("debian", "11"):
            with self.subTest(name):
                self.system(name, version)
                self.note("absent", "libuv\n")
                status, text = self.dev("build")
                self.assertEqual(status, 1)
                self.assertIn("library libuv", text)
                self.assertNotIn("jansson", text)
                self.assertEqual(self.calls("apt-get"), [])

    def test_another_system_with_everything_builds(self):
        self.system("fedora", "39")
        status, text = self.dev("build")
        self.assertEqual(status, 0, text)
        self.assertTrue(self.calls("cmake --build"))

    def test_a_failing_installation_is_explained(self):
        self.note("absent", "cmake\n")
        self.note("apt-fails", "")
        status, text = self.dev("build")
        self.assertEqual(status, 1)
        self.assertIn("no network", text)
        self.assertEqual(self.calls("cmake"), [])

    def test_a_failing_build_shows_the_compiler_and_stops(self):
        self.note("cmake-fails", "")
        status, text = self.dev("build")
        self.assertEqual(status, 1)
        self.assertIn("a.c: error", text)

    def test_a_file_that_cannot_be_read_is_named(self):
        status, text = self.dev("demo", "no-such.mp4")
        self.assertEqual(status, 1)
        self.assertIn("cannot read no-such.mp4", text)
        status, text = self.dev("downlink", "no-such-folder")
        self.assertEqual(status, 1)
        self.assertIn("no-such-folder is not a folder", text)
        self.assertEqual(self.calls("cmake"), [])

    def test_too_many_arguments_are_refused(self):
        for verb in ("build", "x"), ("test", "a", "b"), \
                ("memory", "a", "b"), ("install", "a", "b"):
            status, text = self.dev(*verb)
            self.assertEqual(status, 2, text)
            self.assertIn("argument", text)

    def test_all_tests_are_those_of_three_builds(self):
        status, text = self.dev("test", "--all")
        self.assertEqual(status, 0, text)
        self.assertEqual(len(self.calls("cmake --build")), 3)
        self.assertNotIn("-LE", self.calls("ctest")[-1])
        status, text = self.dev("test")
        self.assertEqual(status, 0, text)
        self.assertIn("-LE soak", self.calls("ctest")[-1])
        status, text = self.dev("test", "--all", "unit")
        self.assertEqual(status, 2, text)
        self.assertIn("test --all takes no pattern", text)

    def test_every_verb_answers_the_question_for_help(self):
        for verb in "demo", "downlink", "test", "build", "fuzz", "soak", \
                "coverage", "memory", "portable", "docs", "install", \
                "abi", "release":
            status, text = self.dev(verb, "--help")
            self.assertEqual(status, 0, verb)
            self.assertIn(f"  {verb}", text)
            status, text = self.dev(verb, "--hepl")
            self.assertEqual(status, 2, verb)
            self.assertIn(f"{verb} has no option --hepl", text)
        self.assertEqual(self.calls("cmake"), [])

    def test_help_fits_a_terminal(self):
        lines = self.dev("help")[1].splitlines()
        self.assertLessEqual(len(lines), 40)
        self.assertLessEqual(max(map(len, lines)), 80)

    def git(self, *args):
        subprocess.run(["git", "-C", str(self.root), "-c", "user.name=a", "-c",
                        "user.email=a@example.org", "-c",
                        "commit.gpgsign=false", *args], check=True,
                       capture_output=True)

    def test_a_release_is_made_of_a_commit_that_says_when(self):
        (self.root / ".gitignore").write_text("/build/\n/stubs/\n")
        (self.root / "CMakeLists.txt").write_text("    VERSION 0.1.0\n")
        changes = self.root / "CHANGES.md"
        changes.write_text("# Changes\n\n## 0.1.0, not yet released\n")
        status, text = self.dev("release")
        self.assertEqual(status, 1)
        self.assertIn("release needs a clone", text)
        self.git("init", "-q")
        for path, text in (("docs/build.py", ""), ("build/CMakeCache.txt", "")):
            (self.root / path).parent.mkdir(exist_ok=True)
            (self.root / path).write_text(text)
            self.git("add", "-f", path)
        self.assertIn("in no commit", self.dev("release")[1])
        self.git("add", ".")
        self.git("commit", "-q", "-m", "a")
        self.assertIn("say when it is released", self.dev("release")[1])
        changes.write_text("# Changes\n\n## 0.1.0, 2026-12-01\n")
        self.git("commit", "-q", "-a", "-m", "b")
        self.git("tag", "v0.1.0")
        self.assertIn("there is a tag v0.1.0", self.dev("release")[1])
        self.git("tag", "-d", "v0.1.0")
        self.assertEqual(self.calls("ctest"), [])
        status, text = self.dev("release")
        self.assertEqual(status, 0, text)
        self.assertIn("tag, sign and publish it yourself", text)
        dist = self.root / "build" / "dist"
        self.assertEqual(len(self.calls("ctest")), 1)
        self.assertIn(f"{dist}/perigee-0.1.0/", self.calls("ctest")[0])
        subprocess.run(["sha256sum", "--quiet", "-c",
                        "perigee-0.1.0.tar.gz.sha256"], check=True, cwd=dist)

    def test_fuzz_and_soak_ask_how_long(self):
        for verb in "fuzz", "soak":
            status, text = self.dev(verb)
            self.assertEqual(status, 2)
            self.assertIn(f"{verb} takes one argument, how many minutes", text)
            for wrong in "soon", "-3", "":
                status, text = self.dev(verb, wrong)
                self.assertEqual(status, 2)
                self.assertIn(f"{verb} takes a number of minutes, not "
                              f"'{wrong}'", text)
        self.assertEqual(self.calls("cmake"), [])
        status, text = self.dev("coverage", "x")
        self.assertEqual(status, 2)
        self.assertIn("coverage takes no argument", text)

    def test_a_part_that_is_not_there_is_said_to_be_missing(self):
        status, text = self.dev("reproduce")
        self.assertEqual(status, 1)
        self.assertIn("not part of this version", text)

    def stub_part(self, path):
        """A part of the project that says what it is given."""
        part = self.root / path
        part.parent.mkdir()
        part.write_text('#!/bin/sh\necho "$PERIGEE_BUILD_DIR" "$@"\n',
                        encoding="utf-8")
        part.chmod(0o755)

    def test_papers_are_reproduced_without_pictures_where_none_can_be(self):
        self.stub_part("sim/reproduce")
        self.note("absent", "python3-matplotlib\n")
        for name, text in ("uid", "1000\n"), ("apt-fails", ""):
            self.note("uid", "0\n")
            self.note(name, text)
            status, text = self.dev("reproduce", "tltcp")
            self.assertEqual(status, 0, text)
            self.assertIn("python3-matplotlib", text)
            self.assertIn("continuing without pictures", text)
            self.assertIn(f"{self.root}/build tltcp", text)

    def test_an_engine_is_built_for_each_patch_of_a_trial(self):
        self.stub_part("sim/reproduce")
        (self.root / "sim" / "trials").mkdir()
        (self.root / "engine.c").write_text("old\n", encoding="utf-8")
        patch = self.root / "sim" / "trials" / "new-engine.patch"
        patch.write_text("What it is for.\n\n--- a/engine.c\n+++ b/engine.c\n"
                         "@@ -1 +1 @@\n-old\n+new\n", encoding="utf-8")
        status, text = self.dev("reproduce", "--with-trials")
        self.assertEqual(status, 0, text)
        trial = self.root / "build" / "trials" / "new-engine"
        self.assertEqual((trial / "tree" / "engine.c").read_text("utf-8"),
                         "new\n")
        self.assertEqual((self.root / "engine.c").read_text("utf-8"), "old\n")
        self.assertIn(f"cmake -S {trial}/tree -B {trial} ",
                      " ".join(self.calls("cmake")))
        patch.write_text(patch.read_text("utf-8").replace("-old", "-older"),
                         encoding="utf-8")
        status, text = self.dev("reproduce", "--with-trials")
        self.assertEqual(status, 1)
        self.assertIn(str(patch), text)

    def test_wrong_names_are_refused_before_anything_is_built(self):
        for part in "bench", "sim":
            (self.root / part).symlink_to(tree.ROOT / part)
        for words in ("bench", "nonesuch"), ("bench", "live", "nonesuch"), \
                ("bench", "adaptive", "nonesuch"), \
                ("bench", "fanout", "--nonesuch"), ("reproduce", "nonesuch"), \
                ("reproduce", "--with-ns2", "nonesuch"), \
                ("reproduce", "--with-trials", "nonesuch"):
            status, text = self.dev(*words)
            self.assertIn(status, (1, 2), words)
            self.assertIn("nonesuch", text)
            self.assertEqual(self.calls("cmake"), [], words)
        for words in ("bench", "--help"), ("bench", "live", "--list"), \
                ("reproduce", "--help"):
            self.assertEqual(self.dev(*words)[0], 0, words)
            self.assertEqual(self.calls("cmake"), [], words)
        self.dev("reproduce", "tltcp", "--print-jobs")
        self.assertTrue(self.calls("cmake"))

    def test_abi_refuses_an_unknown_revision_before_it_installs(self):
        self.note("absent", "abigail-tools\n")
        status, text = self.dev("abi", "nonesuch")
        self.assertEqual(status, 2, text)
        self.assertIn("nonesuch", text)
        self.assertEqual(self.calls("apt-get"), [])

    def test_the_help_of_bench_fits_a_terminal(self):
        (self.root / "bench").symlink_to(tree.ROOT / "bench")
        lines = self.dev("bench", "--help")[1].splitlines()
        self.assertLessEqual(len(lines), 40)
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_a_part_gets_the_build_and_the_arguments(self):
        self.stub_part("bench/run")
        status, text = self.dev("bench", "loopback", "two words")
        self.assertEqual(status, 0, text)
        self.assertIn(f"{self.root}/build loopback two words", text)


if __name__ == "__main__":
    unittest.main()
