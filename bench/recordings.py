#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""What being in time and using a recorded link cost each other: the table and
the chart of ./dev bench marks --traces."""
import subprocess

import congestion
import marks

PAGE = marks.ROOT / "docs" / "measurements" / "adaptive.md"
CHART = PAGE.with_name("adaptive-recordings.svg")
MARK = "bench marks: recordings"
SHARES = (0.35, 0.5, 0.65, 0.8, 0.95)  # that an informed encoder asks for
QUEUE = 60  # kB
GOALS = {"in_200": 92, "in_400": 97}  # % of the coded pictures
GOAL_USED = 60  # % of the link
LABELS = {"in_200": "% within 200 ms", "in_400": "% within 400 ms"}
MEDIAN = 1  # place in a column, after the lowest


def play(program, traces, *words):
    """{recording: its columns}."""
    done = subprocess.run(
        [program, "--traces", traces, "--only", f"-{QUEUE}", "--json",
         *map(str, words)], check=True, capture_output=True, text=True)
    rows = marks.json_lines(done.stdout)
    return {row["case"].removesuffix(f"-{QUEUE}"): row for row in rows}


def measure(program, traces, seeds):
    """{share asked for; None: the encoder follows the target: recordings}."""
    results = {None: play(program, traces, "--seeds", seeds)}
    for share in SHARES:
        results[share] = play(program, traces, "--seeds", seeds, "--informed",
                              share)
    if not results[None]:
        raise congestion.Failed(f"{traces} has no recording: no NAME.down")
    return results


def median(row, column):
    return row[column][MEDIAN]


def cell(row):
    return (f"{median(row, 'in_200'):.1f}/{median(row, 'in_400'):.1f} "
            f"at {median(row, 'used'):.0f}")


def table(results):
    text = ("| recording | " + " | ".join(
        ("asks for " if i == 0 else "") + f"{100 * share:.0f} %"
        for i, share in enumerate(SHARES))
        + " | `tltcpsink encoder=auto` |\n" + "| --- " * (len(SHARES) + 2)
        + "|\n")
    for name in results[None]:
        cells = [cell(results[share][name]) for share in (*SHARES, None)]
        text += f"| {name} | " + " | ".join(cells) + " |\n"
    return text


def draw_recording(axes, results, name, column):
    axes.fill_between((GOAL_USED, 100), GOALS[column], 100, color="#dddddd",
                      linewidth=0, label="both goals are met")
    points = [(median(results[share][name], "used"),
               median(results[share][name], column)) for share in SHARES]
    axes.plot([x for x, _ in points], [y for _, y in points], "o-",
              color=marks.BLUE, markersize=5,
              label="an encoder that knows what the link carried, and asks "
              f"for {100 * SHARES[0]:.0f} to {100 * SHARES[-1]:.0f} % of it")
    row = results[None][name]
    axes.plot(median(row, "used"), median(row, column), "D", color=marks.RED,
              markersize=8, label="tltcpsink encoder=auto")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw(results, path):
    pyplot = marks.plain_pyplot()
    names = list(results[None])
    figure, axes = pyplot.subplots(
        len(LABELS), len(names), figsize=(2.5 * len(names) + 0.6, 5.4),
        sharex=True, sharey=True, squeeze=False)
    for line, column in zip(axes, LABELS):
        for one, name in zip(line, names):
            draw_recording(one, results, name, column)
        line[0].set_ylabel(LABELS[column])
    for one, name in zip(axes[0], names):
        one.set_title(name, loc="left", fontsize=10)
        one.set_xlim(20, 100)
        one.set_ylim(None, 100)
    figure.supxlabel("% of the link used", fontsize=10)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="upper center",
                  ncol=3, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0, 1, 0.94))
    marks.save(figure, path)


def renew(program, traces, seeds, page=PAGE, chart=CHART):
    """Replaces the table of a page and the chart beside it."""
    results = measure(program, traces, seeds)
    text = page.read_text(encoding="utf-8")
    page.write_text(marks.replace(text, MARK, table(results)),
                    encoding="utf-8")
    draw(results, chart)
