# SPDX-License-Identifier: MPL-2.0
"""What docs/guide/python.md shows works."""
import ast
import pathlib
import re
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "guide" / "python.md"
README = (ROOT / "README.md").read_text(encoding="utf-8")
OWN = ROOT / "integrations" / "python" / "README.md"
BLOCKS = [block for page in (PAGE, OWN) for block in re.findall(
    r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)]


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


def test_the_line_of_the_readme_sends(tmp_path):
    line = re.search(r"^\| \[Python\]\(\S+\) \| `(.*?)` \|$", README, re.M)[1]
    assert '"tltcp://HOST:5000"' in line
    line = line.replace('"tltcp://HOST:5000"', 'f"tltcp://127.0.0.1:{port}"')
    program = f"""
import asyncio
import perigee


async def send(port, frame):
    {line}


async def main():
    async with perigee.listen("tltcp://:0") as listener:
        sending = asyncio.create_task(send(listener.port, b"a frame"))
        async with await listener.accept() as stream:
            print(bytes((await stream.recv()).data).decode())
        await sending


asyncio.run(main())
"""
    out = subprocess.run([sys.executable, "-c", program], check=True,
                         capture_output=True, text=True, timeout=60,
                         cwd=tmp_path).stdout
    assert out == "a frame\n"


def test_every_program_is_python():
    for block in BLOCKS:
        compile(block, "a page", "exec",
                flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
