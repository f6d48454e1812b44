# SPDX-License-Identifier: MPL-2.0
"""The picture of a pass: what came down, and how full the link was."""
import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

INK, GROUND, LINK, FREE, DOWN = \
    "#222222", "#0b3c6f", "#2f7fc1", "#c9c2b8", "#f3e3e0"
UP = "#e4572e"


def shade(axes, spans, label):
    for start, end in spans:
        axes.axvspan(start, end, color=DOWN, linewidth=0, zorder=0)
    if label and spans:
        start, end = max(spans, key=lambda s: s[1] - s[0])
        axes.text((start + end) / 2, 0.03, "no link", ha="center", va="bottom",
                  transform=axes.get_xaxis_transform(), color=UP, fontsize=9)


def tidy(axes):
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="y", color="#e8e8e8", linewidth=0.8)
    axes.set_axisbelow(True)


def draw_data(axes, data):
    """Bytes at the ground station, beside what the link could have carried."""
    mb = [b / 1e6 for b in data["carried"]]
    could = [b / 1e6 for b in data["capacity"]]
    axes.plot(data["time"], could, color=FREE, linewidth=2,
              label="what the link could have carried")
    axes.plot(data["time"], mb, color=LINK, linewidth=1.6,
              label="came down the link, with all headers")
    times = [0, *data["arrived_at"], data["end"]]
    sums = [0]
    for size in data["arrived_bytes"]:
        sums.append(sums[-1] + size / 1e6)
    axes.step(times, [*sums, sums[-1]], where="post", color=GROUND,
              linewidth=1.6, label="images, whole and verified")
    axes.plot(data["arrived_at"], sums[1:], "o", color=GROUND, markersize=3.5)
    axes.set_ylabel("MB")
    axes.set_ylim(0, max(max(could), sums[-1]) * 1.04)
    axes.legend(loc="upper left", frameon=False, fontsize=9)


def draw_use(axes, data):
    axes.fill_between(data["time"], [u * 100 for u in data["down_use"]],
                      step="pre", color=LINK, linewidth=0, alpha=0.85,
                      label=f"down, of {data['down_bps'] / 1e6:g} Mbit/s")
    axes.step(data["time"], [u * 100 for u in data["up_use"]], where="pre",
              color=UP, linewidth=1.2,
              label=f"up, of {data['up_bps'] / 1e3:g} kbit/s")
    axes.set_ylabel("used, %")
    axes.set_ylim(0, 125)
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.set_xlabel("seconds into the pass")
    axes.legend(loc="upper left", frameon=False, fontsize=9, ncol=2)


def draw(path, data, title):
    figure, (top, bottom) = pyplot.subplots(
        2, 1, figsize=(10, 7), sharex=True,
        gridspec_kw={"height_ratios": [2.2, 1], "hspace": 0.1})
    for axes in (top, bottom):
        shade(axes, data["no_link"], axes is top)
        tidy(axes)
    draw_data(top, data)
    draw_use(bottom, data)
    top.set_xlim(0, data["end"])
    top.set_title(title, loc="left", fontsize=12, fontweight="bold",
                  color=INK)
    figure.savefig(path, dpi=120, bbox_inches="tight")
    pyplot.close(figure)
