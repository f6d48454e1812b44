#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""The examples in Rust and Go, built against an installation."""
import os
import pathlib
import shutil
import subprocess
import unittest

import stage

HERE = pathlib.Path(__file__).resolve().parents[1]


class Bindings(stage.Stage):
    def setUp(self):
        super().setUp()
        prefix = self.folder / "prefix"
        subprocess.run(["cmake", "--install", stage.BUILD, "--prefix", prefix],
                       check=True, stdout=subprocess.DEVNULL)
        pkg = next(prefix.rglob("tltcp-live.pc")).parent
        self.environment = {
            **os.environ, "PKG_CONFIG_PATH": str(pkg),
            "CARGO_TARGET_DIR": str(self.folder / "cargo"),
            "GOFLAGS": "-mod=mod", "GOCACHE": str(self.folder / "gocache"),
            "CGO_LDFLAGS": f"-Wl,-rpath,{pkg.parent}"}

    def build(self, language, *command):
        source = self.folder / language
        shutil.copytree(HERE / language, source)
        done = subprocess.run(command, cwd=source, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def check(self, program):
        port = stage.free_port()
        log = self.launch([program, f"tltcp://127.0.0.1:{port}?mode=listener"
                           "&auto-reconnect=no"])
        self.await_port(log, port)
        self.done(self.play(f"tltcp://127.0.0.1:{port}?latency=5000"))
        self.assertEqual(log.wait(timeout=stage.toolbox.PATIENCE), 0)
        path = self.folder / "got.ts"
        path.write_bytes(log.log.read_bytes())
        self.assertEqual(stage.frames(path), stage.frames(self.film))
        status, said = self.done(self.launch(
            [program, "tltcp://127.0.0.1:1?latncy=1"]))
        self.assertEqual((status, said), (1, "livecat: latncy=1: no such key\n"))

    def test_rust(self):
        stage.toolbox.need("cargo")
        self.build("rust", "cargo", "build", "--offline", "--quiet",
                   "--example", "livecat")
        self.check(self.folder / "cargo" / "debug" / "examples" / "livecat")

    def test_go(self):
        stage.toolbox.need("go")
        program = self.folder / "golivecat"
        self.build("go", "go", "build", "-o", program, "./livecat")
        self.check(program)


if __name__ == "__main__":
    if not shutil.which("cargo") and not shutil.which("go"):
        stage.missing("cargo", "go")
    stage.missing("ffmpeg", "pkg-config")
    unittest.main(verbosity=2)
