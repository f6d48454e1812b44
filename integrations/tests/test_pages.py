#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""What docs/guide/programs.md tells people to type, as it stands there, with an
installation in a folder of the test."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import stage

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/guide/programs.md"


def lines(heading):
    """The commands of a section."""
    text = PAGE.read_text(encoding="utf-8")
    section = re.search(rf"^## {heading}\n.*?(?=^## |\Z)", text, re.M | re.S)
    blocks = re.findall(r"^```sh\n(.*?)^```", section[0], re.M | re.S)
    return "".join(blocks).splitlines()


class Pages(stage.Stage):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "prefix"
        subprocess.run(["cmake", "--install", stage.BUILD, "--prefix",
                        self.prefix], check=True, stdout=subprocess.DEVNULL)
        self.pkg = next(self.prefix.rglob("tltcp-live.pc")).parent
        self.film.rename(self.folder / "film.ts")
        self.film = self.folder / "film.ts"
        self.port = stage.free_port()

    def shell(self, *commands, nobody=False, **env):
        """Starts commands of the page: one caller, on a port of this test."""
        text = "\n".join(commands).replace("/usr/local", str(self.prefix))
        text = re.sub(r"tltcp://:5000", "'tltcp://:5000?auto-reconnect=no'",
                      text).replace(":5000", f":{self.port}")
        # ./dev install says so; in /usr/local the libraries are found anyway.
        text = f"export LD_LIBRARY_PATH={self.pkg.parent}\n{text}"
        words = ["bash", "-euc", text]
        return self.launch(stage.nobody(*words) if nobody else words, env=env)

    def receive(self, receiver, path):
        """What a receiver writes of a film that is sent to it."""
        self.await_port(receiver, self.port)
        self.done(self.play(f"tltcp://127.0.0.1:{self.port}?latency=5000"))
        status, said = self.done(receiver)
        self.assertEqual(status, 0, said)
        self.assertEqual(stage.frames(path), stage.frames(self.film))

    def test_vlc(self):
        stage.toolbox.need("vlc", "cvlc", "setpriv")
        export, play, send = lines("VLC")
        got = self.folder / "got.ts"
        receiver = self.shell(
            export, play + " -I dummy --no-plugins-cache --demux=dump "
            f"--demuxdump-file={got} vlc://quit", nobody=True)
        self.await_port(receiver, self.port)
        status, said = self.done(self.shell(
            export, send.replace("latency=500", "latency=5000") +
            " --no-plugins-cache", nobody=True))
        self.assertEqual(status, 0, said)
        status, said = self.done(receiver)
        self.assertEqual(status, 0, said)
        # VLC's multiplexer loses some pictures at the end.
        self.assertGreater(len(stage.frames(got)), 50)

    def test_mpv(self):
        stage.toolbox.need("mpv")
        folder, link, play = lines("mpv")
        dump = self.folder / "dump.ts"
        self.receive(self.shell(
            folder, link, f"{play} --vo=null --ao=null --stream-dump={dump}"),
            dump)

    def bind(self, language, command, **env):
        shutil.copytree(ROOT / "integrations" / language,
                        self.folder / "integrations" / language)
        receiver = self.shell(command, PKG_CONFIG_PATH=str(self.pkg), **env)
        self.receive(receiver, self.folder / "integrations" / language / "live.ts")

    def test_rust(self):
        stage.toolbox.need("cargo")
        rust, _ = lines("Rust and Go")
        self.bind("rust", rust, CARGO_NET_OFFLINE="true", **{
            name: os.environ.get(name, os.path.expanduser(f"~/.{folder}"))
            for name, folder in (("CARGO_HOME", "cargo"),
                                 ("RUSTUP_HOME", "rustup"))})

    def test_go(self):
        stage.toolbox.need("go")
        _, go = lines("Rust and Go")
        self.bind("go", go, GOFLAGS="-mod=mod")

    def test_obs_finds_its_module(self):
        if not (stage.PLUGINS / "obs").exists():
            self.skipTest("built without OBS")
        self.assertEqual(self.done(self.shell(*lines("OBS Studio")))[0], 0)
        module, = self.folder.glob(".config/obs-studio/plugins/*/bin/64bit/*")
        self.assertEqual(module.read_bytes()[:4], b"\x7fELF")


if __name__ == "__main__":
    stage.missing("ffmpeg", "cmake")
    unittest.main(verbosity=2)
