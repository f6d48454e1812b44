# SPDX-License-Identifier: MPL-2.0
"""PSNR and SSIM of what a viewer sees, against what was sent.

A frame that was decodable in time looks as it does in the clip; instead of any
other the viewer goes on seeing the one before it.
"""
import re
import subprocess
import tempfile

WIDTH, HEIGHT = 640, 360
PICTURE = WIDTH * HEIGHT  # luma is enough
PERFECT_DB = 100.0        # stands for no difference at all
FORMAT = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{WIDTH}x{HEIGHT}",
          "-r", "25"]


def decode(path):
    return subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-vsync",
         "passthrough", "-f", "rawvideo", "-pix_fmt", "gray", "-"],
        check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout


def shown(frames):
    """Number of the picture that is seen at the time of each."""
    order = sorted(frames, key=lambda f: f["pts"])
    last, numbers = 0, []
    for number, frame in enumerate(order):
        last = number if frame["decodable"] else last
        numbers.append(last)
    return numbers


def value(pattern, text):
    found = re.search(pattern, text)
    if not found:
        return None
    return PERFECT_DB if found.group(1) == "inf" else float(found.group(1))


def compare(pictures, numbers):
    with tempfile.NamedTemporaryFile() as seen, \
            tempfile.NamedTemporaryFile() as sent:
        for at, number in enumerate(numbers):
            sent.write(pictures[at * PICTURE:(at + 1) * PICTURE])
            seen.write(pictures[number * PICTURE:(number + 1) * PICTURE])
        seen.flush()
        sent.flush()
        done = subprocess.run(
            ["ffmpeg", "-v", "info", *FORMAT, "-i", seen.name, *FORMAT, "-i",
             sent.name, "-lavfi", "[0][1]psnr;[0][1]ssim", "-f", "null", "-"],
            check=True, capture_output=True, text=True,
            stdin=subprocess.DEVNULL).stderr
    return {"psnr": value(r"PSNR.* average:(\S+)", done),
            "ssim": value(r"SSIM.* All:(\S+)", done)}


def after_concealment(path, frames):
    """None for both when the pictures cannot be told apart."""
    try:
        pictures = decode(path)
        numbers = shown(frames)
        numbers = numbers[:len(pictures) // PICTURE]
        return compare(pictures, numbers)
    except (OSError, subprocess.CalledProcessError):
        return {"psnr": None, "ssim": None}
