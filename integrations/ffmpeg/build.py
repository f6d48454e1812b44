#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Builds a small FFmpeg with the protocol tltcp from Debian's sources, by the
commands of docs/guide/programs.md: what the tests need and no more.  What is there
already is kept.

usage: build.py BUILD-FOLDER; the program is BUILD-FOLDER/ffmpeg/ffmpeg
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
PARTS = ["--enable-protocol=file,pipe,tltcp",
         "--enable-muxer=mpegts,matroska,framemd5,null,data",
         "--enable-demuxer=mpegts,matroska,data",
         "--enable-parser=h264,aac",
         "--enable-bsf=h264_mp4toannexb,aac_adtstoasc,extract_extradata",
         "--enable-decoder=h264,aac"]


class Missing(Exception):
    """What is needed and not here."""


def quietly(*command, **options):
    done = subprocess.run([str(word) for word in command], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise Missing(f"{' '.join(map(str, command))}: {done.stdout[-2000:]}")
    return done.stdout


def download(folder):
    """Debian's sources, from where the system's packages come."""
    if not shutil.which("apt-get") or not os.path.exists(KEYRING):
        raise Missing("apt-get and debian-archive-keyring, for FFmpeg's sources")
    apt = folder / "apt"
    for name in "lists/partial", "archives/partial":
        (apt / name).mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()
    lines = quietly("apt-get", "indextargets", "--format",
                    "deb-src $(REPO_URI) $(CODENAME) main",
                    "Created-By: Packages", "Component: main", "Origin: Debian")
    (apt / "sources.list").write_text("".join(sorted({
        line.replace("deb-src", f"deb-src [signed-by={KEYRING}]") + "\n"
        for line in lines.splitlines()})), encoding="ascii")
    options = ["-q", "-y", "-o", f"Dir::State={apt}", "-o",
               f"Dir::Cache={apt}", "-o", f"Dir::State::status={apt}/status",
               "-o", f"Dir::Etc::sourcelist={apt}/sources.list", "-o",
               "Dir::Etc::sourceparts=/dev/null"]
    quietly("apt-get", *options, "update")
    quietly("apt-get", *options, "source", "--download-only", "ffmpeg",
            cwd=folder)


def unpack(folder):
    source = folder / "source"
    if not source.exists():
        if not list(folder.glob("ffmpeg_*.orig.tar.*z")):
            download(folder)
        fresh = folder / "unpacked"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        archive = sorted(folder.glob("ffmpeg_*.orig.tar.*z"))[-1]
        quietly("tar", "-C", fresh, "--strip-components=1", "-xf", archive)
        fresh.rename(source)
    return source


def page():
    """What the guide tells people to do with FFmpeg's sources."""
    text = (HERE.parents[1] / "docs/guide/programs.md").read_text("utf-8")
    return re.search(r"^## FFmpeg\n.*?^```sh\n(.*?)^```", text,
                     re.M | re.S)[1].splitlines()


def build(tree):
    """Returns the program."""
    folder = tree / "ffmpeg"
    folder.mkdir(exist_ok=True)
    source, prefix = unpack(folder), folder / "prefix"
    shutil.rmtree(prefix, ignore_errors=True)
    quietly("cmake", "--install", tree, "--prefix", prefix)
    pkg = next(prefix.rglob("tltcp-live.pc")).parent
    compiler = "ccache cc" if shutil.which("ccache") else "cc"
    apply, enter, configure, make = page()
    if (source / "ffbuild" / "config.mak").exists():
        configure = "true"
    options = [f"--cc={compiler}", "--disable-everything",
               "--disable-autodetect", "--disable-doc", "--disable-x86asm",
               "--disable-avdevice", "--disable-swresample",
               "--disable-swscale", "--disable-ffplay", "--disable-debug",
               "--enable-network", f"--extra-ldflags=-Wl,-rpath,{pkg.parent}",
               *PARTS]
    script = "\n".join((apply.replace("/usr/local", shlex.quote(str(prefix))),
                        enter, f"{configure} {shlex.join(options)}",
                        f"{make} -j{os.cpu_count()} ffmpeg ffprobe"))
    quietly("bash", "-euc", re.sub(r"ffmpeg-[\d.]+", source.name, script),
            cwd=folder, env={**os.environ, "PKG_CONFIG_PATH": str(pkg)})
    for name in "ffmpeg", "ffprobe":
        shutil.copy(source / name, folder / name)
    return folder / "ffmpeg"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(build(pathlib.Path(sys.argv[1]).resolve()))
