# SPDX-License-Identifier: MPL-2.0
"""Shared by the gates: the files of the tree, and the end of a gate."""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def files(root, *suffixes):
    """The files of the tree, as Git knows them, or all where Git does not.

    New files count before they are committed, ignored ones never.  In a folder
    that Git ignores as a whole, such as a release unpacked in build/, all count.
    """
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "--cached", "--others",
         "--exclude-standard", "-z"],
        capture_output=True, text=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        paths = (root / name for name in listing.stdout.split("\0") if name)
    else:
        paths = (p for p in root.rglob("*") if not any(
            part.startswith("build")
            for part in p.relative_to(root).parent.parts))
    return sorted(p for p in paths if p.is_file() and
                  (not suffixes or p.suffix in suffixes))


def copy(root, folder):
    """Copies these files into a folder."""
    for file in files(root):
        to = folder / file.relative_to(root)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)


CLANG = "14"  # other versions format and complain differently


def find_tool(tool):
    """The path of a tool of that version of clang; None: it is not here."""
    for name in (f"{tool}-{CLANG}", tool):
        path = shutil.which(name)
        if path:
            text = subprocess.run([path, "--version"], capture_output=True,
                                  text=True, check=True).stdout
            if re.search(rf"version {CLANG}\.", text):
                return path
    return None


def finish(gate, complaints, summary=""):
    """Prints the complaints and leaves with the gate's verdict."""
    for line in complaints:
        print(line)
    if complaints:
        print(f"{gate}: {len(complaints)} refused")
        sys.exit(1)
    print(f"{gate}: ok{': ' + summary if summary else ''}")
    sys.exit(0)
