# SPDX-License-Identifier: MPL-2.0
"""What docs/guide/python.md shows works."""
import ast
import pathlib
import re
import socket
import subprocess
import sys

PAGE = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "guide" /
        "python.md")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"),
                    re.M | re.S)


def test_the_first_program_runs(tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    program = BLOCKS[0].replace(":5000", f":{port}")
    out = subprocess.run([sys.executable, "-c", program], check=True,
                         capture_output=True, text=True, timeout=60,
                         cwd=tmp_path).stdout
    assert out.split() == ["0", "KEY", "20000", "1", "REFERENCE", "5000",
                           "2", "OTHER", "7"]


def test_every_program_is_python():
    for block in BLOCKS:
        compile(block, "docs/guide/python.md", "exec",
                flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
