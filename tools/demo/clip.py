# SPDX-License-Identifier: MPL-2.0
"""The video that the demo sends: FILE, or a sample made on the spot."""
import hashlib
import json
import os
import subprocess

SECONDS = 30
ENCODER = ["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"]
GROUPS = ("keyint=50:min-keyint=50:scenecut=0:bframes=2:b-adapt=0:"
          "b-pyramid=none:open-gop=0")
# Moving content that is hard to predict: a zoom into a fractal, grain, and a
# test picture that wanders over it.  I frames take about 6 % of the bits, P
# frames 43 %, B frames 51 %, much alike from second to second.
SAMPLE = ["-f", "lavfi", "-i",
          "mandelbrot=size=640x360:rate=25:maxiter=300:start_scale=1:"
          "end_scale=0.01",
          "-f", "lavfi", "-i", "testsrc2=size=200x112:rate=25",
          "-filter_complex",
          "[0]noise=alls=14:allf=t[a];[a][1]overlay="
          "x='(W-w)/2+(W-w)/2*sin(t)':y='(H-h)/2+(H-h)/2*cos(t*1.3)'",
          "-b:v", "2700k", "-maxrate", "2800k", "-bufsize", "1400k",
          *ENCODER, "-x264-params", GROUPS +
          ":ipratio=1.35:pbratio=1.05:mbtree=0:vbv-init=0.3"]


class ClipError(Exception):
    """What is wrong with FILE, in a sentence."""


def run(command):
    """Runs a command of FFmpeg; returns its success and what it complained."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=False)
    return done.returncode == 0, done.stdout, done.stderr.strip()


def last_line(text):
    lines = text.splitlines()
    return lines[-1] if lines else "no reason given"


def encode(arguments, target):
    temporary = target + ".part.mp4"
    ok, _, complaints = run(["ffmpeg", "-v", "error", "-y", *arguments, "-an",
                             "-sn", "-dn", "-t", str(SECONDS), temporary])
    if ok:
        os.replace(temporary, target)
    elif os.path.exists(temporary):
        os.unlink(temporary)
    return ok, complaints


def sample(folder):
    """Makes the sample once; returns its path."""
    key = hashlib.sha256(repr((SAMPLE, SECONDS)).encode()).hexdigest()
    path = os.path.join(folder, f"sample-{key[:8]}.mp4")
    if not os.path.exists(path):
        ok, complaints = encode(SAMPLE, path)
        if not ok:
            raise ClipError("cannot make the sample: " + last_line(complaints))
    return path


def probe(path):
    """The first stream of video in a file."""
    ok, out, complaints = run([
        "ffprobe", "-v", "error", "-select_streams", "V:0", "-show_entries",
        "stream=codec_name,width,height,r_frame_rate:format=duration",
        "-of", "json", path])
    if not ok:
        raise ClipError(f"{path} is no video: {last_line(complaints)}")
    found = json.loads(out)
    if not found.get("streams"):
        raise ClipError(f"{path} holds no video")
    return found["streams"][0]


def duration(path):
    ok, out, _ = run(["ffprobe", "-v", "error", "-show_entries",
                      "format=duration", "-of", "json", path])
    try:
        return float(json.loads(out)["format"]["duration"]) if ok else 0.0
    except (KeyError, ValueError):
        return 0.0


def from_file(path, folder, say):
    """The beginning of FILE as H.264; returns the path of the copy."""
    stream = probe(path)
    target = os.path.join(folder, "clip.mp4")
    if stream["codec_name"] == "h264":
        arguments = ["-i", path, "-map", "0:V:0", "-c:v", "copy"]
    else:
        say(f"{stream['codec_name']} is encoded to H.264 first, so that all "
            "three transports can carry it")
        arguments = ["-i", path, "-map", "0:V:0", *ENCODER, "-x264-params",
                     GROUPS, "-crf", "23"]
    ok, complaints = encode(arguments, target)
    got = duration(target) if ok else 0.0
    if got < 2:
        raise ClipError(f"{path} holds no two seconds of video: "
                        f"{last_line(complaints)}")
    wanted = min(duration(path) or SECONDS, SECONDS)
    if got < wanted - 1:
        say(f"{path} ends in the middle, after {got:.1f} of {wanted:.1f} s; "
            "going on with that")
    elif complaints:
        say(f"{path} is damaged ({last_line(complaints)}); going on with the "
            "rest")
    return target
