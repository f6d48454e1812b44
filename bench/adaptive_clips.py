# SPDX-License-Identifier: MPL-2.0
"""What ./dev bench adaptive captures, and how it is coded."""
import dataclasses
import hashlib
import pathlib
import subprocess

from adaptive_judge import HEIGHT, RATE, WIDTH

# A camera that nears something soft, with little grain, and a thing that moves
# across it.
MOTION = ["-f", "lavfi", "-i",
          f"mandelbrot=size={WIDTH}x{HEIGHT}:rate={RATE}:maxiter=300:"
          "start_scale=1:end_scale=0.01", "-f", "lavfi", "-i",
          f"testsrc2=size=200x112:rate={RATE}", "-filter_complex",
          "[0]%s[a];[a][1]overlay="
          "x='(W-w)/2+(W-w)/2*sin(t)':y='(H-h)/2+(H-h)/2*cos(t*1.3)'"]


def motion(filters):
    return [word.replace("%s", filters) for word in MOTION]


# Pages full of small shapes that stand for three seconds, and a pointer.
SCREEN = ["-f", "lavfi", "-i",
          "cellauto=size=160x90:rate=1/3:rule=110:scroll=0:random_seed=7:"
          "random_fill_ratio=0.4", "-f", "lavfi", "-i",
          f"testsrc2=size=24x16:rate={RATE}", "-filter_complex",
          f"[0]fps={RATE},scale={WIDTH}:{HEIGHT}:flags=neighbor[a];"
          "[a][1]overlay=x='mod(t*90,W-w)':y='(H-h)/2+(H-h)/3*sin(t)'"]
CONTENTS = {"motion": motion("gblur=sigma=1.5,noise=alls=3:allf=t"),
            # No encoder can show this well: most of it is noise.
            "noise": motion("noise=alls=14:allf=t"),
            "screen": SCREEN}
FILM = "film"  # a file of the user's


@dataclasses.dataclass(frozen=True)
class Clip:
    """The captured content and its coding."""

    text: str
    content: str
    element: str
    launch: str
    codec: str = "h264"
    property: str = "bitrate"
    unit: int = 1000


X264 = "x264enc name=enc speed-preset=ultrafast {} ! h264parse " \
       "config-interval=-1 ! video/x-h264,stream-format=byte-stream," \
       "alignment=au"
X265 = "x265enc name=enc speed-preset=ultrafast {} ! h265parse " \
       "config-interval=-1 ! video/x-h265,stream-format=byte-stream," \
       "alignment=au"
OPENH264 = "openh264enc name=enc rate-control=bitrate {} ! h264parse " \
           "config-interval=-1 ! video/x-h264,stream-format=byte-stream," \
           "alignment=au"
CLIPS = {
    "film": Clip("H.264, IPPP, zerolatency, of the film", FILM, "x264enc",
                 X264.format("tune=zerolatency key-int-max=50 "
                             "vbv-buf-capacity=200")),
    "ippp": Clip("H.264, IPPP, zerolatency", "motion", "x264enc", X264.format(
        "tune=zerolatency key-int-max=50 vbv-buf-capacity=200")),
    "noise": Clip("H.264, IPPP, zerolatency, of noise", "noise", "x264enc",
                  X264.format("tune=zerolatency key-int-max=50 "
                              "vbv-buf-capacity=200")),
    "pyramid": Clip("H.264, a pyramid of three B frames", "motion", "x264enc",
                    X264.format("key-int-max=50 bframes=3 b-adapt=false "
                                "b-pyramid=true rc-lookahead=0 sync-lookahead=0 "
                                "mb-tree=false threads=1 "
                                "vbv-buf-capacity=300")),
    "screen": Clip("H.264, a screen with huge key frames", "screen", "x264enc",
                   X264.format("tune=zerolatency key-int-max=50 "
                               "vbv-buf-capacity=1000")),
    "hevc": Clip("H.265, zerolatency", "motion", "x265enc", X265.format(
        "tune=zerolatency key-int-max=50"), "hevc"),
    "openh264": Clip("H.264 of OpenH264", "motion", "openh264enc",
                     OPENH264.format("gop-size=50"), unit=1),
}


class ClipError(Exception):
    """The reason why there is no clip, as a sentence."""


def source_of(content, film):
    """FFmpeg's input, and a name for what it makes."""
    if content != FILM:
        words = CONTENTS[content]
        mark = " ".join(words)
    else:
        words = ["-stream_loop", "-1", "-i", str(film), "-map", "0:V:0", "-vf",
                 f"fps={RATE},scale={WIDTH}:{HEIGHT}:"
                 "force_original_aspect_ratio=increase,"
                 f"crop={WIDTH}:{HEIGHT}"]
        mark = f"{film} {film.stat().st_size} {film.stat().st_mtime_ns}"
    digest = hashlib.sha256(mark.encode()).hexdigest()[:8]
    return words, f"{content}-{digest}"


def raw(folder: pathlib.Path, content, seconds, film=None):
    """The captured pictures as I420, made once.  A film is repeated."""
    words, name = source_of(content, film)
    path = folder / f"{name}-{seconds}.yuv"
    if path.exists():
        return path
    part = path.with_suffix(".part")
    done = subprocess.run(
        ["ffmpeg", "-v", "error", "-y", *words, "-t", str(seconds), "-f",
         "rawvideo", "-pix_fmt", "yuv420p", str(part)], check=False, text=True,
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode or not part.stat().st_size:
        lines = done.stderr.strip().splitlines() or ["it holds no video"]
        raise ClipError(f"no clip {content}: {lines[-1]}")
    part.replace(path)
    return path
