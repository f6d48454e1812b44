#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Gains and costs of the default: charts and tables of trade-offs.

    ./dev test simnet.marks      # builds play_marks
    ./dev bench marks            # renews docs/design/default-controller.{md,svg}
    ./dev test simnet.adaptive   # builds play_matrix
    ./dev bench marks --traces DIR   # renews docs/measurements/adaptive.md and
                                     # its chart of recorded links

All of it happens in virtual time: the same program gives the same bytes.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

import arguments
import congestion

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "design" / "default-controller.md"
PROGRAMS = ROOT / "build-test" / "tests" / "simnet"
DEFAULTS = {"beta_guest": 0.7, "claim": 9, "window": 60}
VALUES = {"beta_guest": (0.7, 0.75, 0.8, 0.85, 0.9),
          "claim": (1, 2, 3, 4, 6, 9, 12),
          "window": (30, 60, 120, 200, 300, 375, 500, 750)}
BLUE, RED, GREY = "#0b3c6f", "#e4572e", "#777777"


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def play(program, *words):
    done = subprocess.run([program, *map(str, words)], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])  # below what a person reads


def measure(program, seeds):
    """{what is varied: {value: results}}; the default window is the
    controller's own, without the repair of who knows the losses."""
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    futures = {"window": {
        w: pool.submit(play, program, "satellite",
                       0 if w == DEFAULTS["window"] else w, min(seeds, 11))
        for w in VALUES["window"]}}
    for param in ("beta_guest", "claim"):
        futures[param] = {
            v: {rival: pool.submit(play, program, "beside", rival, param, v,
                                   seeds) for rival in ("cubic", "reno")}
            for v in VALUES[param]}
    with pool:
        return {what: {v: ({k: f.result() for k, f in r.items()}
                           if isinstance(r, dict) else r.result())
                       for v, r in points.items()}
                for what, points in futures.items()}


def percent(share, digits=0):
    return f"{100 * share:.{digits}f} %"


def row(value, default, cells):
    name = f"**{value}**" if value == default else f"{value}"
    return f"| {name} | " + " | ".join(cells) + " |\n"


def beside_table(param, points):
    text = (f"| `{param}` | seen beside CUBIC | F | late | useless | seen "
            "beside Reno | F | late | useless |\n" + "| --- " * 9 + "|\n")
    for value, of in points.items():
        text += row(value, DEFAULTS[param],
                    [cell for r in (of["cubic"], of["reno"]) for cell in
                     (percent(r["seen"]), f"{r['F']:.2f}",
                      percent(r["late"], 1), percent(r["useless"], 1))])
    return text


def window_table(points):
    text = ("| packets | seen | late | useless | what a CUBIC flow on 1 Mbit/s "
            "keeps | packets lost in its queue |\n" + "| --- " * 6 + "|\n")
    for value, r in points.items():
        text += row(value, DEFAULTS["window"],
                    [percent(r["seen"], 1), percent(r["late"], 1),
                     percent(r["useless"], 1), percent(r["kept"]), f"{r['overflow']:+.0f}"])
    return text


def line(axes, points, get, label, colour):
    axes.plot(list(points), [get(r) for r in points.values()], marker="o",
              color=colour, label=label)


def finish(axes, title, label, default):
    axes.axvline(default, color=GREY, linestyle=":", zorder=0)
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(label)
    axes.legend(frameon=False, fontsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def plain_pyplot():
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    matplotlib.rcParams.update({"svg.hashsalt": "perigee",
                                "svg.fonttype": "none"})
    return pyplot


def save(figure, path):
    figure.savefig(path, metadata={"Date": None})
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("".join(line.rstrip() + "\n" for line in lines),
                    encoding="utf-8")


def draw(results, path):
    pyplot = plain_pyplot()
    figure, axes = pyplot.subplots(2, 3, figsize=(12, 6.5),
                                   layout="constrained")
    for column, param in enumerate(("beta_guest", "claim")):
        points = results[param]
        top, low = axes[0][column], axes[1][column]
        line(top, points, lambda r: 100 * r["cubic"]["seen"],
             "seen, % of the bound", BLUE)
        line(top, points, lambda r: 100 * r["cubic"]["late"],
             "late, % of the bytes", RED)
        top.axhline(80, color=GREY, linewidth=0.8)
        top.set_ylim(0)
        finish(top, "beside CUBIC on 4 Mbit/s", param, DEFAULTS[param])
        line(low, points, lambda r: r["cubic"]["F"], "F beside CUBIC", BLUE)
        line(low, points, lambda r: r["reno"]["F"], "F beside Reno", RED)
        low.axhspan(0.8, 1.25, color="#dddddd", zorder=0)
        finish(low, "rate over that of the other flow", param,
               DEFAULTS[param])
    points = results["window"]
    top, low = axes[0][2], axes[1][2]
    line(top, points, lambda r: 100 * r["seen"], "seen, % of the bound", BLUE)
    top.axhline(97, color=GREY, linewidth=0.8)
    label = "initial window, packets"
    finish(top, "6 Mbit/s, 600 ms, 2 % loss, from the first picture", label,
           DEFAULTS["window"])
    line(low, points, lambda r: 100 * r["kept"],
         "another flow keeps, % of its rate", RED)
    low.set_ylim(0, 100)
    finish(low, "the same start on 1 Mbit/s: its first 10 s", label,
           DEFAULTS["window"])
    save(figure, path)


def replace(page, mark, text):
    """Puts a table between its two marks."""
    begin, end = f"<!-- {mark} -->\n", "<!-- end -->\n"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise congestion.Failed(f"{PAGE} has no {begin.strip()}")
    return before + begin + text + end + after


def parse():
    p = argparse.ArgumentParser(
        prog="dev bench marks", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", type=pathlib.Path,
                   help="play_marks, or play_matrix with --traces, elsewhere "
                   "than in build-test")
    p.add_argument("--seeds", type=int, help="101; 7 windows of recordings")
    p.add_argument("--traces", type=pathlib.Path, metavar="DIR",
                   help="recorded links, NAME.down in mahimahi's format")
    args = p.parse_args()
    name, test, seeds = (("play_matrix", "adaptive", 7) if args.traces else
                         ("play_marks", "marks", 101))
    args.program = args.program or PROGRAMS / name
    args.seeds = args.seeds or seeds
    if not args.program.exists():
        sys.exit(f"bench marks: there is no {args.program}; "
                 f"./dev test simnet.{test} builds it")
    return args


def main():
    args = parse()
    arguments.checked()
    if args.traces:
        import recordings  # which imports this file
        try:
            recordings.renew(args.program, args.traces, args.seeds)
        except congestion.Failed as e:
            sys.exit(f"bench marks: {e}")
        return
    results = measure(args.program, args.seeds)
    page = PAGE.read_text(encoding="utf-8")
    for param in ("beta_guest", "claim"):
        page = replace(page, f"bench marks: {param}",
                       beside_table(param, results[param]))
    page = replace(page, "bench marks: window", window_table(results["window"]))
    PAGE.write_text(page, encoding="utf-8")
    draw(results, PAGE.with_suffix(".svg"))


if __name__ == "__main__":
    main()
