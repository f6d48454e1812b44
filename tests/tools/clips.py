# SPDX-License-Identifier: MPL-2.0
"""Short videos for tests, made by FFmpeg."""
import collections
import subprocess

import toolbox

VIDEO = ["-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25"]
SOUND = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000"]
H264 = ["-c:v", "libx264", "-preset", "ultrafast", "-x264-params",
        "keyint=25:bframes=2:b-adapt=0:b-pyramid=none:scenecut=0"]
MAKERS = {
    "h264-aac.mp4": [*VIDEO, *SOUND, *H264, "-c:a", "aac"],
    "h264-aac.ts": [*VIDEO, *SOUND, *H264, "-c:a", "aac"],
    "mpeg2-mp2.ts": [*VIDEO, *SOUND, "-c:v", "mpeg2video", "-bf", "2", "-c:a",
                     "mp2"],
    "mpeg1.mpg": [*VIDEO, "-c:v", "mpeg1video", "-bf", "2"],
    "mpeg1.m1v": [*VIDEO, "-c:v", "mpeg1video", "-bf", "2"],
    "raw.h264": [*VIDEO, *H264],
    **{f"hevc.{form}": [*VIDEO, "-c:v", "libx265", "-preset", "ultrafast",
                        "-x265-params", "keyint=25:bframes=2:log-level=none"]
       for form in ("mkv", "mp4", "ts")},
    "h264.flv": [*VIDEO, *H264],
    "h264.mkv": [*VIDEO, *H264],
    **{f"mpeg4.{form}": [*VIDEO, "-c:v", "mpeg4", "-bf", "2", "-g", "25"]
       for form in ("avi", "mp4")},
    "mpeg2.mxf": [*VIDEO, *SOUND, "-c:v", "mpeg2video", "-bf", "2", "-c:a",
                  "pcm_s16le"],
    "theora.ogv": [*VIDEO, "-c:v", "libtheora"],
    "opus.ogg": [*SOUND, "-c:a", "libopus"],
    "adpcm.wav": [*SOUND, "-c:a", "adpcm_ms"],
    "wma.asf": [*SOUND, "-c:a", "wmav2"],
    "raw.avi": [*VIDEO, "-c:v", "rawvideo", "-pix_fmt", "yuv420p"],
    "subtitles.mkv": [*VIDEO, "-f", "srt", "-i",
                      "data:,1%0A00:00:00,200 --> 00:00:01,000%0AHello%0A",
                      *H264, "-c:s", "srt"],
    "two-programs.ts": [*VIDEO, *SOUND, "-f", "lavfi", "-i",
                        "testsrc=size=160x120:rate=25", "-map", "0", "-map",
                        "1", "-map", "2", *H264, "-c:v:1", "mpeg2video",
                        "-bf:v:1", "2", "-c:a", "mp2", "-program", "st=0:st=1",
                        "-program", "st=2"],
    "vp8.webm": [*VIDEO, "-c:v", "libvpx", "-deadline", "realtime"],
    "vp9.webm": [*VIDEO, "-c:v", "libvpx-vp9", "-deadline", "good",
                 "-cpu-used", "8", "-lag-in-frames", "10"],
    "av1.mkv": [*VIDEO, "-c:v", "libaom-av1", "-cpu-used", "8"],
    "sound.flac": [*SOUND, "-c:a", "flac"],
    "sound.m4a": [*SOUND, "-c:a", "aac"],
}


def make(folder, name, seconds=2):
    """Makes one of MAKERS in a folder; returns its path."""
    toolbox.need("ffmpeg", "ffprobe")
    path = folder / name
    if not path.exists():
        subprocess.run(["ffmpeg", "-v", "error", "-y", *MAKERS[name], "-t",
                        str(seconds), path], check=True,
                       stdin=subprocess.DEVNULL, timeout=toolbox.PATIENCE)
    return path


def types(path):
    """How many pictures of each type a decoder finds."""
    done = subprocess.run(
        ["ffprobe", "-v", "quiet", "-select_streams", "v", "-show_entries",
         "frame=pict_type", "-of", "csv=p=0", path], check=True,
        capture_output=True, text=True, stdin=subprocess.DEVNULL,
        timeout=toolbox.PATIENCE)
    return collections.Counter(line[:1] for line in done.stdout.splitlines())


def digests(path, kind):
    """A digest of every decoded frame of a kind of stream, v or a."""
    done = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-map", f"0:{kind}", "-f",
         "framemd5", "-"], check=True, text=True, capture_output=True,
        stdin=subprocess.DEVNULL, timeout=toolbox.PATIENCE)
    return [line.split(",")[-1].strip() for line in done.stdout.splitlines()
            if not line.startswith("#")]


def decodes(path):
    """Whether a file decodes without a complaint that ends it."""
    return subprocess.run(["ffmpeg", "-v", "quiet", "-i", path, "-f", "null",
                           "-"], check=False, stdin=subprocess.DEVNULL,
                          timeout=toolbox.PATIENCE).returncode == 0
