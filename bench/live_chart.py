#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""The chart of ./dev bench live.

usage: live_chart.py RESULT.json PICTURE.png
"""
import json
import sys

import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

COLOURS = {"tltcp": "#0b3c6f", "paper": "#2f7fc1", "reliable": "#9ecae9",
           "fixed": "#174f35",
           "srt": "#e4572e", "srt-tuned": "#f29e7f", "ristsink": "#f2b134",
           "librist": "#b8860b",
           "tcp-reno": "#777777", "tcp-cubic": "#9a9a9a", "tcp-bbr": "#c2c2c2"}
PANELS = (("of_bound", "pictures decodable in time, % of the bound", 100, 105),
          ("psnr", "PSNR after concealment, dB", 1, 60),
          ("freeze", "longest freeze, s", 1, None),
          ("F", "rate over that of a TCP flow", 1, None))


def draw_panel(axes, data, key, title, scale, top):
    names = [n for n, c in data["cases"].items()
             if any(r.get(key) is not None for r in c["rows"].values())]
    transports = [t for t in data["names"]
                  if any(t in data["cases"][n]["rows"] for n in names)]
    width = 0.8 / max(1, len(transports))
    for i, transport in enumerate(transports):
        values = [(data["cases"][n]["rows"].get(transport, {}).get(key) or 0)
                  * scale for n in names]
        places = [x - 0.4 + (i + 0.5) * width for x in range(len(names))]
        axes.bar(places, values, width * 0.92, color=COLOURS[transport],
                 label=data["names"][transport])
    axes.set_xticks(range(len(names)), names, rotation=20, ha="right")
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    if top:
        axes.set_ylim(0, top)
    if key == "F":
        axes.axhspan(0.8, 1.25, color="#dddddd", zorder=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        data = json.load(file)
    wide = max(9, 1.1 * len(data["cases"]) + 4)
    figure, axes = pyplot.subplots(len(PANELS), 1, figsize=(wide, 13))
    for place, panel in zip(axes, PANELS):
        draw_panel(place, data, *panel)
    axes[0].legend(ncol=5, frameon=False, fontsize=9, loc="lower left",
                   bbox_to_anchor=(0, 1.12))
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=110)


if __name__ == "__main__":
    main()
