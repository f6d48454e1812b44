# SPDX-License-Identifier: MPL-2.0
"""Which source was built."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
UNKNOWN = "unknown"


def short():
    """A release that was unpacked has no repository, and its user perhaps no
    git."""
    try:
        git = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short",
                              "HEAD"], text=True, capture_output=True)
    except FileNotFoundError:
        return UNKNOWN
    return git.stdout.strip() or UNKNOWN
