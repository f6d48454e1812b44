#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""The charts of ./dev bench adaptive.

usage: adaptive_chart.py RESULT.json PICTURE [summary]

For each case the link's rate and the encoders' over time, and the delay of every
frame; as a summary one point for each case and transport, of the medians.
"""
import io
import json
import sys

import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

COLOURS = {"tltcp": "#0b3c6f", "tltcp-auto": "#2f7fc1",
           "tltcp-estimate": "#9ecae9", "srt": "#f29e7f", "srt-rtt": "#e4572e",
           "librist": "#f2b134", "udp": "#777777",
           "gcc": "#8e6bb8", "webrtc": "#3a9d5d"}
LATE_MS = 1000  # what comes later, or never, is drawn there


def first_good(runs):
    return next((r for r in runs if "error" not in r), None)


def draw_rates(axes, case):
    link = next((r["link"] for r in map(first_good, case["runs"].values())
                 if r), [])
    axes.fill_between([at for at, _, _ in link],
                      [rate / 1e6 for _, rate, _ in link], color="#dddddd",
                      step="pre", linewidth=0)
    for name, runs in case["runs"].items():
        run = first_good(runs)
        if run and len(run["rates"]) > 1:
            axes.step([at for at, _ in run["rates"]],
                      [rate / 1e6 for _, rate in run["rates"]], where="post",
                      color=COLOURS[name], linewidth=1)
    axes.set_ylabel("Mbit/s (grey: the link)")
    axes.set_ylim(0, None)


def draw_delays(axes, case, names):
    for name, runs in case["runs"].items():
        run = first_good(runs)
        if run:
            axes.plot([at for at, _, _ in run["series"]],
                      [min(LATE_MS, LATE_MS if d is None else d * 1e3)
                       for _, d, _ in run["series"]], ".", markersize=2,
                      color=COLOURS[name], label=names[name])
    axes.axhline(400, color="#999999", linewidth=0.6)
    axes.set_ylabel("delay, ms")
    axes.set_ylim(0, LATE_MS * 1.05)


def results(data, name):
    """(place of the case, row) of a transport."""
    for place, case in enumerate(data["cases"].values()):
        row = case["rows"].get(name, {"error": "not run"})
        if "error" not in row:
            yield place, row


def draw_points(axes, data, value, label):
    for name in data["names"]:
        points = [(value(row), -place) for place, row in results(data, name)
                  if value(row) is not None]
        axes.plot([x for x, _ in points], [y for _, y in points], "o",
                  markersize=10 if name.startswith("tltcp") else 6,
                  zorder=3 if name.startswith("tltcp") else 2,
                  color=COLOURS[name], label=data["names"][name])
    axes.set_yticks([-place for place in range(len(data["cases"]))],
                    [title.replace("/", ", ") for title in data["cases"]])
    axes.set_xlabel(label)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)


PANELS = ((lambda r: r["within"]["400"] * 100,
           "% of the pictures within 400 ms of capture"),
          (lambda r: min(10, r["freeze"]), "longest freeze, s (10: or more)"),
          (lambda r: r["psnr"], "PSNR, dB"))


def draw_summary(data):
    pyplot.rcParams["svg.fonttype"] = "none"
    pyplot.rcParams["svg.hashsalt"] = "perigee"
    height = 1.6 + 0.36 * len(data["cases"])
    figure, axes = pyplot.subplots(1, len(PANELS), figsize=(13, height),
                                   sharey=True)
    for one, (value, label) in zip(axes, PANELS):
        draw_points(one, data, value, label)
        for side in ("top", "right", "left"):
            one.spines[side].set_visible(False)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper center",
                  ncol=4, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.6 / height))
    return figure


def draw_all(data):
    cases = data["cases"]
    figure, axes = pyplot.subplots(
        2 * len(cases), 1, figsize=(11, 4.2 * len(cases)), squeeze=False)
    for i, (title, case) in enumerate(cases.items()):
        rates, delays = axes[2 * i][0], axes[2 * i + 1][0]
        draw_rates(rates, case)
        draw_delays(delays, case, data["names"])
        rates.set_title(f"{title}: {case['text']}", loc="left", fontsize=10,
                        fontweight="bold")
        delays.legend(ncol=4, frameon=False, fontsize=8, markerscale=4)
        for one in (rates, delays):
            one.set_xlim(0, data["seconds"])
            for side in ("top", "right"):
                one.spines[side].set_visible(False)
    axes[-1][0].set_xlabel("s")
    figure.tight_layout()
    return figure


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        data = json.load(file)
    figure = draw_summary(data) if sys.argv[3:] == ["summary"] else \
        draw_all(data)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.writelines(line.rstrip() + "\n"
                        for line in text.getvalue().splitlines())


if __name__ == "__main__":
    main()
