# SPDX-License-Identifier: MPL-2.0
"""PSNR, SSIM and VMAF of a player's screen, of what was captured.

Each is the mean over the pictures from the first one shown.  VMAF needs an
FFmpeg with libvmaf.
"""
import functools
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import threading

import live_quality
from adaptive_judge import HEIGHT, LUMA, PICTURE, RATE, WIDTH

BEST_DB = 60.0      # of a picture without any difference
VMAF_EVERY = 5      # pictures
GREY = bytes([128]) * (PICTURE - LUMA)


class QualityError(Exception):
    """The reason why there is no quality, as a sentence."""


# --- Programs --------------------------------------------------------------

def has_vmaf(ffmpeg):
    try:
        told = subprocess.run([ffmpeg, "-hide_banner", "-filters"],
                              check=False, text=True, capture_output=True)
    except OSError:
        return False
    return " libvmaf " in told.stdout


def packaged():
    """The FFmpeg in the Python package imageio-ffmpeg, or None."""
    if importlib.util.find_spec("imageio_ffmpeg"):
        found = importlib.import_module("imageio_ffmpeg")
        try:
            return found.get_ffmpeg_exe()
        except RuntimeError:
            return None
    return None


@functools.cache
def find_vmaf():
    """An FFmpeg that computes VMAF, or None."""
    for ffmpeg in (os.environ.get("PERIGEE_FFMPEG"), "ffmpeg", packaged()):
        if ffmpeg and has_vmaf(ffmpeg):
            return ffmpeg
    return None


# --- Comparison ------------------------------------------------------------

def run_filters(ffmpeg, filters, form, seen, wanted):
    """What FFmpeg says of two rows of pictures."""
    ends = [os.pipe() for _ in range(2)]
    threads = [threading.Thread(target=live_quality.feed,
                                args=(end[1], pictures))
               for end, pictures in zip(ends, (seen, wanted))]
    inputs = []
    for end in ends:
        inputs += ["-f", "rawvideo", "-pix_fmt", form, "-s",
                   f"{WIDTH}x{HEIGHT}", "-r", str(RATE), "-i",
                   f"pipe:{end[0]}"]
    with subprocess.Popen(
            [*live_quality.LATER, ffmpeg, "-v", "info", *inputs, "-lavfi",
             filters, "-f", "null", "-"], text=True,
            pass_fds=[end[0] for end in ends], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for end in ends:
            os.close(end[0])
        for thread in threads:
            thread.start()
        out, told = process.communicate()
    for thread in threads:
        thread.join()
    if process.returncode:
        raise QualityError(f"{ffmpeg}: {told.splitlines()[-1]}")
    return out, told


def psnr_of(lines):
    """The mean over the pictures in the lines of FFmpeg's filter."""
    found = [min(BEST_DB, float(value))
             for value in re.findall(r"psnr_avg:(\S+)", lines)]
    if not found:
        raise QualityError("FFmpeg compared nothing")
    return sum(found) / len(found)


def score(pattern, told):
    found = re.search(pattern, told)
    if not found:
        raise QualityError("FFmpeg compared nothing")
    return float(found.group(1))


def compare(numbers, seen, wanted):
    """Of the pictures on the screen against those captured; `seen` and `wanted`
    give their luma by number."""
    pairs = [(n, at) for at, n in enumerate(numbers) if n is not None]
    if not pairs:  # nothing was ever shown
        return {"psnr": None, "ssim": None, "vmaf": None}
    out, told = run_filters(
        "ffmpeg", "[0][1]psnr=stats_file=-;[0][1]ssim", "gray",
        (seen(n) for n, _ in pairs), (wanted(at) for _, at in pairs))
    return {"psnr": psnr_of(out), "ssim": score(r"SSIM.* All:(\S+)", told),
            "vmaf": vmaf(pairs, seen, wanted)}


def vmaf(pairs, seen, wanted):
    ffmpeg = find_vmaf()
    if not ffmpeg:
        return None
    _, told = run_filters(
        ffmpeg, f"[0][1]libvmaf=n_subsample={VMAF_EVERY}", "yuv420p",
        (seen(n) + GREY for n, _ in pairs),
        (wanted(at) + GREY for _, at in pairs))
    return score(r"VMAF score: (\S+)", told)


# --- Of a stream -----------------------------------------------------------

def decode(stream, codec):
    """Luma of every picture, in the order of display, by a decoder that has
    all that was sent."""
    target = pathlib.Path(str(stream) + ".luma")
    done = subprocess.run(
        [*live_quality.LATER, "ffmpeg", "-v", "error", "-y", "-f", codec, "-i",
         str(stream), "-vsync", "passthrough", *live_quality.PLANE, str(target)],
        check=False, text=True, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise QualityError("FFmpeg cannot decode what was sent: "
                           f"{done.stderr.splitlines()[-1]}")
    return target


def of_stream(stream, codec, clip, frames, numbers):
    """What a decoder makes of a stream, as the player shows it."""
    order = sorted(frames, key=lambda f: f["number"])
    place = {f["number"]: i for i, f in enumerate(order)}
    luma = decode(stream, codec)
    decoded = luma.stat().st_size // LUMA
    if decoded != len(order):
        luma.unlink()
        raise QualityError(f"{len(order)} frames were sent, of which a decoder "
                           f"makes {decoded} pictures")
    with open(luma, "rb") as coded, open(clip, "rb") as source:
        def seen(number):
            coded.seek(place[number] * LUMA)
            return coded.read(LUMA)

        def wanted(number):
            source.seek(number * PICTURE)
            return source.read(LUMA)

        result = compare(numbers, seen, wanted)
    luma.unlink()
    return result
