#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""What streams get beside streams like themselves, and beside TCP, against
each other: the table and the chart of ./dev bench shares --stand."""
import concurrent.futures
import os
import statistics

import marks
import shares

PAGE = marks.ROOT / "docs" / "measurements" / "adaptive.md"
CHART = PAGE.with_name("adaptive-streams.svg")
MARK = "bench shares: stand"
STANDS = (0, 0.2, 0.4, 0.6, 1)  # s
DEFAULT = 0
PAIRS = 240
LINKS = 48
RIVALS = {"cubic": "CUBIC", "bbr1": "BBRv1"}
FIVE = 5  # streams
GOAL_EVEN = 0.8  # lower rate over the higher
GOAL_TIMELY = 0.98  # of the pictures


def measure_one(pool, program, value, links, pairs):
    """{what: a number} with one value of `stand`."""
    more = ("--param", "stand", "--value", value)
    numbered = list(enumerate(links, 1))
    two = pool.map(lambda p: shares.play_pair(program, p, *more), pairs)
    five = pool.map(lambda n: shares.play_several(
        program, "adaptive", FIVE, n[1], n[0], more), numbered)
    beside = {rival: pool.map(lambda n, rival=rival: shares.play(
        program, "adaptive", rival, n[1], "--seeds", 1, "--first", n[0],
        *more), numbered) for rival in RIVALS}
    two = list(two)
    return {"even": sum(1 / r["even"][0] >= GOAL_EVEN for r in two) / len(two),
            "timely": sum(r["least"][0] >= GOAL_TIMELY for r in two) / len(two),
            "five": statistics.median(r["even"][0] for r in five),
            **{rival: statistics.median(r["F"][0] for r in of)
               for rival, of in beside.items()}}


def measure(program, links, pairs):
    """{value of `stand`: {what: a number}}."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return {value: measure_one(pool, program, value, links, pairs)
                for value in STANDS}


def table(results):
    text = ("| `stand`, s | two streams within 0.8, % of the pairs | 98 % in "
            "time, % of the pairs | of five, highest rate over the lowest | F "
            "beside CUBIC | beside BBRv1 |\n" + "| --- " * 6 + "|\n")
    for value, r in results.items():
        text += marks.row(value, DEFAULT,
                          [f"{100 * r['even']:.0f}", f"{100 * r['timely']:.0f}",
                           f"{r['five']:.1f}", f"{r['cubic']:.2f}",
                           f"{r['bbr1']:.2f}"])
    return text


def line(axes, points, label, colour):
    """Points by value of `stand`; the default is marked."""
    axes.plot([x for x, _ in points.values()],
              [y for _, y in points.values()], "o-", color=colour, label=label)
    for value, point in points.items():
        axes.annotate(f"{value} s", point, xytext=(5, 5), fontsize=8,
                      textcoords="offset points")
        if value == DEFAULT:
            axes.plot(*point, "D", color=colour, markersize=10)


def finish(axes, xlabel, ylabel):
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.margins(0.12)
    axes.legend(frameon=False, fontsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw(results, path):
    pyplot = marks.plain_pyplot()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.5, 4),
                                            layout="constrained")
    for rival, colour in (("cubic", marks.BLUE), ("bbr1", marks.RED)):
        line(left, {v: (r[rival], 100 * r["even"]) for v, r in results.items()},
             f"F beside {RIVALS[rival]}", colour)
    finish(left, "F of one stream, median of the links",
           "two streams within 0.8, % of the pairs")
    line(right, {v: (r["five"], 100 * r["timely"]) for v, r in results.items()},
         "value of stand", marks.BLUE)
    finish(right, "highest rate of five over the lowest, median",
           "two streams with 98 % in time, % of the pairs")
    figure.suptitle("stand; the diamonds are the default", fontsize=10)
    marks.save(figure, path)


def renew(program, seed, page=PAGE, chart=CHART):
    """Replaces the table of a page and the chart beside it."""
    results = measure(program, shares.draw_links(LINKS, seed),
                      shares.draw_pairs(PAIRS, seed))
    text = page.read_text(encoding="utf-8")
    page.write_text(marks.replace(text, MARK, table(results)),
                    encoding="utf-8")
    draw(results, chart)
