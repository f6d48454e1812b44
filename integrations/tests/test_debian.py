#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Builds the Debian packages, has lintian look at them, installs them into an
overlay of this system and runs debian/tests there.  Status 77: something that
this needs is missing."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]

sys.dont_write_bytecode = True
sys.path.insert(0, str(TREE / "tests" / "gates"))

import tree  # noqa: E402  pylint: disable=wrong-import-position

TESTS = ("tools", "python", "compile", "elements")
# In namespaces of its own: mounts, and a network with a loopback alone.
INSIDE = """set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"
mount --bind /proc "$1/root/proc"
mount --bind /dev "$1/root/dev"
mkdir "$1/root/packages"
cp "$2"/*.deb "$1/root/packages"
cp -r "$2/tests" "$1/root/packages"
ip link set lo up
exec chroot "$1/root" sh -ec '
    rm -f /packages/*-dbgsym_*
    dpkg -i /packages/*.deb
    shift 2
    for test in "$@"; do
        echo "== $test"
        timeout 120 "/packages/tests/$test"
    done' - "$@"
"""


def missing(*programs):
    absent = [p for p in programs if not shutil.which(p)]
    if os.geteuid() != 0:
        absent.append("root")
    if shutil.which("dpkg-checkbuilddeps") and not absent:
        done = subprocess.run(["dpkg-checkbuilddeps"], cwd=TREE, check=False,
                              capture_output=True, text=True)
        if done.returncode:
            absent.append(done.stderr.strip())
    if absent:
        print(f"skipped: missing: {' '.join(absent)}")
        sys.exit(77)


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout[-8000:]}")
    return done.stdout


def main():
    missing("dpkg-buildpackage", "dh", "lintian", "unshare", "ip")
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith(("PERIGEE_", "PYTHON", "GST_", "CC"))}
    environment["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    if pathlib.Path("/usr/lib/ccache/cc").exists():
        environment["PATH"] = f"/usr/lib/ccache:{environment['PATH']}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tree.copy(TREE, folder / "perigee")
        page = (TREE / "docs/guide/packages.md").read_text(encoding="utf-8")
        build, install = re.search(r"^(dpkg-buildpackage .*) && (.*)$", page,
                                   re.M).groups()
        run("bash", "-c", build, cwd=folder / "perigee", env=environment)
        pattern = install.split()[-1].removeprefix("../")
        if not list(folder.glob(pattern)):
            sys.exit(f"no package is called {pattern}, as the guide has it")
        print(run("lintian", "--fail-on=error,warning", "--allow-root",
                  *folder.glob("*.changes"), env=environment))
        shutil.copytree(folder / "perigee" / "debian" / "tests",
                        folder / "tests")
        (folder / "overlay").mkdir()
        print(run("unshare", "--mount", "--net", "sh", "-c", INSIDE, "sh",
                  folder / "overlay", folder, *TESTS, env=environment))


main()
