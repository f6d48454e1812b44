# SPDX-License-Identifier: MPL-2.0
"""Pictures to send: made on the spot, of about the size of a small camera's."""
import subprocess

WIDTH, HEIGHT = 1280, 960  # 3.7 MB each, uncompressed
# A flight over a coast that looks new at every height, with a sensor's noise.
SOURCE = "mandelbrot=size={w}x{h}:rate=1:maxiter=200:start_scale=1.5:" \
    "end_scale=0.01:end_pts={n}"


class ImagesError(Exception):
    """The reason why there are none, as a sentence."""


def make(folder, count, width=WIDTH, height=HEIGHT):
    """Makes pictures with FFmpeg."""
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i",
               SOURCE.format(w=width, h=height, n=count),
               "-vf", "noise=alls=6:allf=t", "-frames:v", str(count),
               str(folder / "image-%03d.ppm")]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, check=False)
    except FileNotFoundError:
        raise ImagesError("ffmpeg makes the pictures, and is not installed; "
                          "install it or name a folder of pictures") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ImagesError(f"ffmpeg cannot make the pictures: {last}")
