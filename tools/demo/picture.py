# SPDX-License-Identifier: MPL-2.0
"""The picture of the demo: what became of every frame, over time.

usage: picture.py RESULT.json PICTURE.png|PICTURE.svg
"""
import json
import math
import sys

import matplotlib
matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "perigee", "svg.fonttype": "none"})
from matplotlib import patches, pyplot  # noqa: E402

TYPES = ("I", "P", "B")
# What a viewer gets, by type; and what he does not.
SHOWN = {"I": "#0b3c6f", "P": "#2f7fc1", "B": "#9ecae9"}
LOST = {"late": "#f2b134", "useless": "#c9c2b8", "dropped": "#e4572e"}
LOST_NAMES = {"late": "arrived too late",
              "useless": "arrived, but what it refers to is missing",
              "dropped": "dropped"}
INK = "#222222"


def bins_of(series):
    return int(math.ceil(max(f["time"] for f in series) + 1e-9)) or 1


def counts(series, select):
    values = [0] * bins_of(series)
    for frame in series:
        if select(frame):
            place = min(len(values) - 1, max(0, int(frame["time"])))
            values[place] += 1
    return values


def draw_bars(axes, series):
    """Frames of every second: shown ones from below, lost ones on top."""
    seconds = [s + 0.5 for s in range(bins_of(series))]
    base = [0] * len(seconds)

    def layer(values, colour):
        nonlocal base
        axes.bar(seconds, values, bottom=base, width=0.92, color=colour,
                 linewidth=0)
        base = [a + b for a, b in zip(base, values)]

    for kind in TYPES:
        layer(counts(series, lambda f, k=kind: f["state"] == "shown" and
                     f["type"] == k), SHOWN[kind])
    for state, colour in LOST.items():
        layer(counts(series, lambda f, s=state: f["state"] == s), colour)
    return max(base)


def draw_lanes(axes, series):
    """Every frame as a stroke, in the lane of its type."""
    colours = {"shown": None, **LOST}
    for lane, kind in enumerate(reversed(TYPES)):
        for state, colour in colours.items():
            times = [f["time"] for f in series
                     if f["type"] == kind and f["state"] == state]
            if times:  # one line with breaks: an SVG stays small
                axes.plot([x for t in times for x in (t, t, math.nan)],
                          [lane + 0.1, lane + 0.9, math.nan] * len(times),
                          linewidth=1.5, solid_capstyle="butt",
                          color=colour or SHOWN[kind])
    axes.set_ylim(0, len(TYPES))
    axes.set_yticks([0.5, 1.5, 2.5], list(reversed(TYPES)))
    axes.tick_params(length=0)


def caption(names, spec, result):
    frames = result["frames"]
    kept = ", ".join(f"{kind} {frames[kind]['decodable']} of "
                     f"{frames[kind]['sent']}" for kind in TYPES
                     if frames[kind]["sent"])
    whole = frames["all"]
    share = whole["decodable"] / whole["sent"] * 100
    best = result["at_best"]
    if best and best < whole["sent"]:
        kept = f"at best {best / whole['sent'] * 100:.0f} %; " + kept
    return (f"{names[spec['transport']]}, {spec['link']['name']} link "
            f"({spec['link']['rate_bps'] / 1e6:.2f} Mbit/s)",
            f"{share:.0f} % of the pictures shown   ({kept})")


def strip(axes):
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.grid(False)


def draw_run(axes_pair, names, spec, result, most_seconds):
    bars, lanes = axes_pair
    left, right = names[spec["transport"]], ""
    if "error" in result:
        bars.text(0.5, 0.5, "no result: " + result["error"][:120],
                  ha="center", va="center", transform=bars.transAxes)
        bars.set_axis_off()
        lanes.set_axis_off()
    else:
        left, right = caption(names, spec, result)
        top = draw_bars(bars, result["series"])
        draw_lanes(lanes, result["series"])
        bars.set_ylim(0, top * 1.02)
        bars.set_yticks([0, top])
        bars.set_ylabel("frames/s")
    bars.set_title(left, loc="left", fontsize=11, fontweight="bold",
                   color=INK)
    bars.set_title(right, loc="right", fontsize=10.5, color=INK)
    for axes in axes_pair:
        axes.set_xlim(0, most_seconds)
        strip(axes)
        axes.tick_params(labelbottom=False, bottom=False)


def legend(figure, top):
    handles = [patches.Patch(color=SHOWN[k], label=f"{k} on time, decodable")
               for k in TYPES]
    handles += [patches.Patch(color=LOST[s], label=LOST_NAMES[s])
                for s in LOST]
    figure.legend(handles=handles, loc="upper center", ncol=6, frameon=False,
                  bbox_to_anchor=(0.5, top), fontsize=9,
                  handlelength=1.2, columnspacing=1.4)


def draw(path, data):
    names, rate = data["names"], data["rate_bps"]
    specs = [run["spec"] for run in data["runs"]]
    results = [run["result"] for run in data["runs"]]
    series = [r["series"] for r in results if "series" in r]
    if not series:
        sys.exit("picture.py: no run has a result")
    seconds = max(bins_of(s) for s in series)
    ratios = [2.4, 1, 0.75] * len(specs)
    height = 2.35 * len(specs) + 1.4
    figure, axes = pyplot.subplots(
        len(ratios), 1, figsize=(13, height),
        gridspec_kw={"height_ratios": ratios, "hspace": 0.06})
    for i, (spec, result) in enumerate(zip(specs, results)):
        draw_run(axes[3 * i:3 * i + 2], names, spec, result, seconds)
        axes[3 * i + 2].set_axis_off()
    last = axes[3 * len(specs) - 2]
    last.tick_params(labelbottom=True, bottom=True)
    last.set_xlabel("display time, s")
    link = specs[0]["link"]
    figure.suptitle(
        f"A {rate / 1e6:.1f} Mbit/s stream, frame by frame   "
        f"(RTT {link['rtt_ms']} ms, queue {link['queue_bytes'] / 1000:.0f} kB, "
        f"latency {data['latency_ms']} ms)", fontsize=14, fontweight="bold",
        y=1 - 0.15 / height, va="top", color=INK)
    legend(figure, 1 - 0.5 / height)
    figure.subplots_adjust(left=0.055, right=0.985,
                           bottom=0.25 / height, top=1 - 1.15 / height)
    metadata = {"Date": None} if path.endswith(".svg") else None
    figure.savefig(path, dpi=130, metadata=metadata)
    pyplot.close(figure)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="ascii") as result_file:
        draw(sys.argv[2], json.load(result_file))
