# SPDX-License-Identifier: MPL-2.0
"""The picture of the demo's second part: rates and delays over time, for each
transport.

usage: adaptive_picture.py RESULT.json PICTURE.png|PICTURE.svg
"""
import json
import sys

import matplotlib
matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "perigee", "svg.fonttype": "none"})
from matplotlib import patches, pyplot  # noqa: E402

STREAM, TCP, LINK = "#2f7fc1", "#bdb5aa", "#222222"
SHOWN, LATE, LOST = "#2f7fc1", "#f2b134", "#e4572e"
STEP = 0.5       # s
MOST_MS = 1000   # what comes later, or never, is drawn there
INK = "#222222"


def strip(axes):
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def arrived(series):
    """(s, bit/s) of the stream at the receiver."""
    bits = {}
    for captured, delay, size in series:
        if delay is not None:
            place = int((captured + delay) / STEP)
            bits[place] = bits.get(place, 0) + size * 8
    return [(n * STEP, bits.get(n, 0) / STEP)
            for n in range(max(bits, default=0) + 1)]


def draw_rates(axes, run, seconds):
    """The link's rate as a line, below it who has how much of it."""
    stream = dict(arrived(run["series"]))
    tcp = {round(at / STEP) * STEP: bps for at, bps in run["tcp"]}
    times = [n * STEP for n in range(int(seconds / STEP))]
    own = [stream.get(t, 0) / 1e6 for t in times]
    both = [o + tcp.get(t, 0) / 1e6 for o, t in zip(own, times)]
    axes.fill_between(times, own, step="post", color=STREAM, linewidth=0)
    axes.fill_between(times, own, both, step="post", color=TCP, linewidth=0)
    axes.step([at for at, _, _ in run["link"]],
              [rate / 1e6 for _, rate, _ in run["link"]], where="pre",
              color=LINK, linewidth=1.4)
    axes.set_ylabel("Mbit/s")
    axes.set_ylim(0, max(rate for _, rate, _ in run["link"]) * 1.1e-6)


def draw_delays(axes, run, latency_ms):
    for colour, wanted in (
            (SHOWN, lambda d: d is not None and d * 1e3 <= latency_ms),
            (LATE, lambda d: d is not None and d * 1e3 > latency_ms),
            (LOST, lambda d: d is None)):
        points = [(at, d) for at, d, _ in run["series"] if wanted(d)]
        axes.plot([at for at, _ in points],
                  [MOST_MS if d is None else min(MOST_MS, d * 1e3)
                   for _, d in points], ".", markersize=3, color=colour)
    axes.axhline(latency_ms, color="#999999", linewidth=0.8)
    axes.set_ylabel("delay, ms")
    axes.set_ylim(0, MOST_MS * 1.08)
    axes.set_yticks([0, latency_ms, MOST_MS])


def caption(run):
    quality = "" if run["psnr"] is None else f"{run['psnr']:.0f} dB, "
    fair = "" if run["F"] is None else f", {run['F']:.1f} of TCP's rate"
    return (f"{run['within']['400'] * 100:.0f} % of the pictures in time, "
            f"longest freeze {run['freeze']:.1f} s, {quality}"
            f"{run['media_bps'] / 1e6:.1f} Mbit/s{fair}")


def draw_run(pair, name, runs, data):
    rates, delays = pair
    run = runs[0]
    rates.set_title(name, loc="left", fontsize=11, fontweight="bold", color=INK)
    for axes in pair:
        strip(axes)
        axes.set_xlim(0, data["seconds"])
        axes.tick_params(labelbottom=False)
    if "error" in run:
        rates.text(0.5, 0.5, "no result: " + run["error"][:120], ha="center",
                   va="center", transform=rates.transAxes)
        return
    rates.set_title(caption(run), loc="right", fontsize=10.5, color=INK)
    draw_rates(rates, run, data["seconds"])
    draw_delays(delays, run, data["latency_ms"])


def legend(figure, top):
    handles = [pyplot.Line2D([], [], color=LINK, label="the link"),
               patches.Patch(color=STREAM, label="the stream"),
               patches.Patch(color=TCP, label="a TCP flow beside it")]
    handles += [pyplot.Line2D([], [], color=colour, marker="o", linewidth=0,
                              label=label)
                for colour, label in ((SHOWN, "picture in time"),
                                      (LATE, "late"), (LOST, "never"))]
    figure.legend(handles=handles, loc="upper center", ncol=6, frameon=False,
                  bbox_to_anchor=(0.5, top), fontsize=9)


def fit(title, figure):
    """A title that is too wide gets a smaller font."""
    room = 0.97 * figure.bbox.width / title.get_window_extent().width
    title.set_fontsize(title.get_fontsize() * min(room, 1))


def draw(path, data):
    case = next(iter(data["cases"].values()))
    runs = [(data["names"][name], runs) for name, runs in case["runs"].items()
            if runs]
    height = 2.9 * len(runs) + 1.4
    figure, axes = pyplot.subplots(
        3 * len(runs), 1, figsize=(13, height),
        gridspec_kw={"height_ratios": [1.5, 1, 0.5] * len(runs),
                     "hspace": 0.14})
    for i, (name, those) in enumerate(runs):
        draw_run(axes[3 * i:3 * i + 2], name, those, data)
        axes[3 * i + 2].set_axis_off()
    last = axes[3 * len(runs) - 2]
    last.tick_params(labelbottom=True)
    last.set_xlabel("s")
    title = figure.suptitle(
        f"A live encoder on a link of {case['text'].partition(';')[0]}   "
        f"({data['latency_ms']} ms from camera to screen)",
        fontsize=13, fontweight="bold", y=1 - 0.15 / height, va="top", color=INK)
    fit(title, figure)
    legend(figure, 1 - 0.5 / height)
    figure.subplots_adjust(left=0.055, right=0.985, bottom=0.1 / height,
                           top=1 - 1.15 / height)
    figure.savefig(path, dpi=130, metadata={"Date": None}
                   if path.endswith(".svg") else None)
    pyplot.close(figure)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="ascii") as result_file:
        draw(sys.argv[2], json.load(result_file))
