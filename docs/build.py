#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Builds the Doxygen site of the public headers; any warning is an error.

Doxygen itself does not notice enumerators without a description, so its XML is
read for those.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parent.parent


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"^\s*VERSION\s+(\S+)", text, re.M).group(1)


def run_doxygen(headers, output):
    """Runs Doxygen over `headers` (None: the tree's); returns its status."""
    config = (ROOT / "docs" / "Doxyfile").read_text(encoding="utf-8")
    config += f'\nPROJECT_NUMBER = {version()}\nOUTPUT_DIRECTORY = "{output}"\n'
    if headers:
        config += f'INPUT = "{headers}"\nUSE_MDFILE_AS_MAINPAGE =\n'
    output.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["doxygen", "-"], input=config, text=True, cwd=ROOT,
                          check=False)
    return done.returncode


def enumerators_without_description(xml):
    for file in sorted(xml.glob("*.xml")):
        for value in ET.parse(file).getroot().iter("enumvalue"):
            texts = (value.find(f"{kind}description")
                     for kind in ("brief", "detailed"))
            if not any(t is not None and "".join(t.itertext()).strip()
                       for t in texts):
                yield value.findtext("name")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--headers", type=pathlib.Path,
                        help="another folder of headers than the tree's")
    args = parser.parse_args()
    output = args.output.resolve()
    headers = args.headers.resolve() if args.headers else None
    status = run_doxygen(headers, output)
    bare = sorted(set(enumerators_without_description(output / "xml")))
    for name in bare:
        print(f"enumerator without a description: {name}", file=sys.stderr)
    return 1 if status or bare else 0


if __name__ == "__main__":
    sys.exit(main())
