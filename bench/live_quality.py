# SPDX-License-Identifier: MPL-2.0
"""PSNR and SSIM of what a viewer sees, against what was sent.

A frame that was decodable in time looks as it does in the clip; instead of any
other the viewer goes on seeing the one before it.
"""
import math
import mmap
import os
import re
import subprocess
import threading

WIDTH, HEIGHT = 640, 360
PICTURE = WIDTH * HEIGHT  # luma is enough
PERFECT_DB = 100.0        # stands for no difference at all
FORMAT = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{WIDTH}x{HEIGHT}",
          "-r", "25"]
# The plane as it is: a conversion to grey would stretch its range of values.
PLANE = ["-vf", "extractplanes=y", "-f", "rawvideo", "-pix_fmt", "gray"]
LATER = ["nice", "-n", "19"]  # streams run at the same time
DECODING = threading.Lock()


def decoded(path):
    """The luma of a clip, kept beside it."""
    target = path + ".luma"
    with DECODING:
        if not os.path.exists(target):
            subprocess.run(
                [*LATER, "ffmpeg", "-v", "error", "-y", "-i", path, "-map",
                 "0:v", "-vsync", "passthrough", *PLANE, target + ".part"],
                check=True, capture_output=True, stdin=subprocess.DEVNULL)
            os.replace(target + ".part", target)
    with open(target, "rb") as file:
        return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)


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
        raise ValueError("ffmpeg compared nothing")
    return PERFECT_DB if found.group(1) == "inf" else float(found.group(1))


def feed(pipe, pictures):
    with os.fdopen(pipe, "wb") as file:
        for picture in pictures:
            file.write(picture)


def differences(pictures, pairs):
    """The same of pictures by their numbers."""
    def luma(numbers):
        return (pictures[n * PICTURE:(n + 1) * PICTURE] for n in numbers)

    seen, sent = zip(*pairs)
    return compare_streams(luma(seen), luma(sent))


def compare_streams(seen, sent):
    """Mean square error and SSIM of two rows of pictures, by FFmpeg's
    filters."""
    ends = [os.pipe() for _ in range(2)]
    threads = [threading.Thread(target=feed, args=(end[1], pictures))
               for end, pictures in zip(ends, (seen, sent))]
    inputs = [word for end in ends
              for word in (*FORMAT, "-i", f"pipe:{end[0]}")]
    with subprocess.Popen(
            [*LATER, "ffmpeg", "-v", "info", *inputs, "-lavfi",
             "[0][1]psnr;[0][1]ssim", "-f", "null", "-"], text=True,
            pass_fds=[end[0] for end in ends], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as ffmpeg:
        for end in ends:
            os.close(end[0])
        for thread in threads:
            thread.start()
        text = ffmpeg.stderr.read()
    for thread in threads:
        thread.join()
    psnr = value(r"PSNR.* average:(\S+)", text)
    return 255 ** 2 / 10 ** (psnr / 10), value(r"SSIM.* All:(\S+)", text)


def compare(pictures, numbers):
    """Only where another picture is seen is there anything to compare."""
    pairs = [(number, at) for at, number in enumerate(numbers) if number != at]
    if not pairs:
        return {"psnr": PERFECT_DB, "ssim": 1.0}
    error, ssim = differences(pictures, pairs)
    share = len(pairs) / len(numbers)
    psnr = -10 * math.log10(max(error * share, 1e-10) / 255 ** 2)
    return {"psnr": min(psnr, PERFECT_DB), "ssim": 1 - (1 - ssim) * share}


def after_concealment(path, frames):
    """None for both when the pictures cannot be told apart."""
    try:
        pictures = decoded(path)
        numbers = shown(frames)
        return compare(pictures, numbers[:len(pictures) // PICTURE])
    except (OSError, ValueError, subprocess.CalledProcessError):
        return {"psnr": None, "ssim": None}
