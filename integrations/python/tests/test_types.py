# SPDX-License-Identifier: MPL-2.0
"""The package's annotations fit its code, and serve those who use it."""
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("mypy", reason="mypy is missing (Debian: mypy)")
PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "perigee"
USE = """
import perigee
async def right() -> bytes:
    async with perigee.connect("tltcp://host:1", latency=200) as stream:
        await stream.send(b"data", deadline=0.2, klass=perigee.Class.KEY)
        frame = await stream.recv()
        return frame.data if isinstance(frame, perigee.Frame) else b""
async def wrong(stream: perigee.Stream) -> None:
    await stream.send(1)
"""


def checked(tmp_path, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache",
         *arguments], cwd=PACKAGE.parent, capture_output=True, text=True,
        check=False)


def test_the_annotations_fit_the_code(tmp_path):
    done = checked(tmp_path, PACKAGE)
    assert done.returncode == 0, done.stdout


def test_a_wrong_type_is_told_to_the_user(tmp_path):
    program = tmp_path / "use.py"
    program.write_text(USE, encoding="utf-8")
    done = checked(tmp_path, program)
    found = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(found) == 1 and ":9: error: Argument 1 to \"send\"" in found[0], (
        done.stdout)
