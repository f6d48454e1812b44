# SPDX-License-Identifier: MPL-2.0
"""The video that the demo sends: FILE, or a sample made on the spot.

FILE goes as it is when it is H.264 with key frames often enough and B frames,
as a live encoder would make it.  Anything else is encoded like that first, at
its own bit rate: a film that has its only key frame at the beginning cannot
recover from a loss on any transport.
"""
import hashlib
import json
import math
import os
import subprocess

SECONDS = 30
KEY_INTERVAL_MAX = 4  # seconds
HEIGHT_MAX = 720      # of what is encoded here; more takes too long
RATE_MAX = 6e6        # likewise, bit/s
ENCODER = ["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"]
GROUPS = ("keyint=50:min-keyint=50:scenecut=0:bframes=2:b-adapt=0:"
          "b-pyramid=none:open-gop=0")
# Moving content that is hard to predict: a zoom into a fractal, grain, and a
# test picture that wanders over it.
PICTURES = ["-f", "lavfi", "-i",
            "mandelbrot=size=640x360:rate=25:maxiter=300:start_scale=1:"
            "end_scale=0.01",
            "-f", "lavfi", "-i", "testsrc2=size=200x112:rate=25",
            "-filter_complex",
            "[0]noise=alls=14:allf=t[a];[a][1]overlay="
            "x='(W-w)/2+(W-w)/2*sin(t)':y='(H-h)/2+(H-h)/2*cos(t*1.3)'",
            "-b:v", "2700k", "-maxrate", "2800k", "-bufsize", "1400k"]
EVEN = ":ipratio=1.35:pbratio=1.05:mbtree=0:vbv-init=0.3"
# I frames take about 6 % of the bits, P frames 43 %, B frames 51 %, much alike
# from second to second.
SAMPLE = [*PICTURES, *ENCODER, "-x264-params", GROUPS + EVEN]
# What else the samples can be made of: codec for the parser, ending, options.
SAMPLES = {
    "h264": ("h264", ".mp4", SAMPLE),
    "pyramid": ("h264", ".mp4", [
        *PICTURES, *ENCODER, "-x264-params",
        GROUPS.replace("bframes=2", "bframes=3").replace(
            "b-pyramid=none", "b-pyramid=normal") + EVEN]),
    "hevc": ("hevc", ".mp4", [
        *PICTURES, "-c:v", "libx265", "-preset", "superfast", "-pix_fmt",
        "yuv420p", "-x265-params", "keyint=50:min-keyint=50:scenecut=0:"
        "bframes=3:b-adapt=0:open-gop=1:log-level=none"]),
    "mpeg1": ("mpeg", ".ts", [
        *PICTURES, "-c:v", "mpeg1video", "-pix_fmt", "yuv420p", "-bf", "2",
        "-g", "15", "-sc_threshold", "1000000000"]),
}


class ClipError(Exception):
    """A description of the error in FILE, as a sentence."""


def run(command):
    """Runs a command of FFmpeg; returns its success and what it complained."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=False)
    return done.returncode == 0, done.stdout, done.stderr.strip()


def last_line(text):
    lines = text.splitlines()
    return lines[-1] if lines else "no reason given"


def encode(arguments, target, seconds=SECONDS):
    temporary = target + ".part" + os.path.splitext(target)[1]
    ok, _, complaints = run(["ffmpeg", "-v", "error", "-y", *arguments, "-an",
                             "-sn", "-dn", "-t", str(seconds), temporary])
    if ok:
        os.replace(temporary, target)
    elif os.path.exists(temporary):
        os.unlink(temporary)
    return ok, complaints


def sample(folder, content="h264", seconds=SECONDS):
    """Makes a sample once; returns its path."""
    _, ending, options = SAMPLES[content]
    key = hashlib.sha256(repr((options, seconds)).encode()).hexdigest()
    path = os.path.join(folder, f"sample-{key[:8]}{ending}")
    if not os.path.exists(path):
        ok, complaints = encode(options, path, seconds)
        if not ok:
            raise ClipError("cannot make the sample: " + last_line(complaints))
    return path


def probe(path):
    """The first stream of video in a file."""
    ok, out, complaints = run([
        "ffprobe", "-v", "error", "-select_streams", "V:0", "-show_entries",
        "stream=codec_name,width,height,has_b_frames", "-of", "json", path])
    if not ok:
        raise ClipError(f"{path} is no video: {last_line(complaints)}")
    found = json.loads(out)
    if not found.get("streams"):
        raise ClipError(f"{path} holds no video")
    return found["streams"][0]


def packets(path):
    """(time, bytes, is key frame) of the video up to SECONDS."""
    _, out, _ = run(["ffprobe", "-v", "error", "-select_streams", "V:0",
                     "-read_intervals", f"%+{SECONDS}", "-show_entries",
                     "packet=dts_time,pts_time,size,flags", "-of", "json",
                     path])
    found = []
    for p in json.loads(out or "{}").get("packets", []):
        time = p.get("dts_time", p.get("pts_time"))
        if time is not None:
            found.append((float(time), int(p["size"]), "K" in p["flags"]))
    return found


def why_not_as_it_is(stream, found):
    """The reason why a film cannot be sent unchanged, or None."""
    if stream["codec_name"] != "h264":
        return f"is {stream['codec_name']}, which not all transports carry"
    keys = [time for time, _, key in found if key] + [found[-1][0]]
    gap = max((b - a for a, b in zip(keys, keys[1:])), default=0)
    if gap > KEY_INTERVAL_MAX:
        return f"has {gap:.0f} s between two key frames"
    if not stream.get("has_b_frames"):
        return "has no B frames, none that could be left out"
    return None


def largest_frame(path):
    return max(size for _, size, _ in packets(path))


def duration(path):
    ok, out, _ = run(["ffprobe", "-v", "error", "-show_entries",
                      "format=duration", "-of", "json", path])
    try:
        return float(json.loads(out)["format"]["duration"]) if ok else 0.0
    except (KeyError, ValueError):
        return 0.0


def encoder_like_live(stream, found):
    """Options to encode as a live encoder would, at the film's own rate."""
    seconds = found[-1][0] - found[0][0] or 1
    rate = min(RATE_MAX, sum(size for _, size, _ in found) * 8 / seconds)
    options = [*ENCODER, "-b:v", f"{rate:.0f}", "-maxrate",
               f"{rate * 1.05:.0f}", "-bufsize", f"{rate / 4:.0f}",
               "-force_key_frames", "expr:gte(t,n_forced*2)", "-x264-params",
               GROUPS.replace("keyint=50:min-keyint=50", "keyint=250") +
               # little lookahead, as when the next pictures are not there yet
               ":mbtree=0:rc-lookahead=5:ipratio=1.2:pbratio=1.1"]
    if stream["height"] > HEIGHT_MAX:
        options += ["-vf", f"scale=-2:{HEIGHT_MAX}"]
    return options


def from_file(path, folder, shortest, say):
    """The beginning of FILE as H.264, repeated up to `shortest` seconds; returns
    the path of the copy."""
    stream = probe(path)
    found = packets(path)
    if len(found) < 2:
        raise ClipError(f"{path} holds no two pictures of video")
    target = os.path.join(folder, "clip.mp4")
    reason = why_not_as_it_is(stream, found)
    how = ["-c:v", "copy"]
    if reason:
        say(f"{path} {reason}; it is encoded as a live encoder would: H.264, a "
            "key frame every 2 s, two B frames in a row, at its own bit rate")
        how = encoder_like_live(stream, found)
    wanted = min(duration(path) or SECONDS, SECONDS)
    repeat = []
    if wanted < shortest:
        times = math.ceil(shortest / wanted)
        say(f"{path} is short; it is played {times} times")
        repeat = ["-stream_loop", str(times - 1)]
        wanted *= times
    ok, complaints = encode([*repeat, "-i", path, "-map", "0:V:0", *how],
                            target)
    got = duration(target) if ok else 0.0
    if got < 2:
        raise ClipError(f"{path} holds no two seconds of video: "
                        f"{last_line(complaints)}")
    if got < wanted - 1:
        say(f"{path} ends in the middle, after {got:.1f} of {wanted:.1f} s; "
            "going on with that")
    elif complaints:
        say(f"{path} is damaged ({last_line(complaints)}); going on with the "
            "rest")
    return target
