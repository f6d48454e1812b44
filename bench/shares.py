#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""What a stream gets beside TCP, over links drawn at random.

    ./dev test simnet.shares   # builds play_shares
    ./dev bench shares         # renews docs/design/default-controller.md
    ./dev bench shares --kind adaptive   # encoders that follow the target
    ./dev bench shares --kind several    # several of those and nobody else
    ./dev bench shares --kind pairs --links 300   # two of any clip and start
    ./dev bench shares --kind greedy     # the page's table of greedy streams
    ./dev bench shares --hold  # renews the table of `hold` beside BBR instead
    ./dev bench shares --kind several --options "--param hold --value 0"

All of it happens in virtual time: the same seed gives the same table.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import shlex
import statistics
import sys

import arguments
import marks

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = marks.PAGE
MARK = "bench shares"
RIVALS = {"cubic": "CUBIC", "reno": "Reno", "bbr1": "BBRv1"}
SHORT = 35  # ms of queue
LEAST_QUEUE = 10  # kB
WANTED = 0.7  # of the link
HOLD_MARK = "bench shares: hold"
GREEDY_MARK = "bench shares: greedy"
SECONDS = {"adaptive": 30, "greedy": 60}  # of several streams
HOLDS = (0, 0.4, 0.5, 0.6)  # of the link
STREAMS = (2, 3, 5)
STAGGER = 2  # s between their starts, and a part of a frame's time: streams
# whose frames leave at the same moment share a queue less evenly
FRAME = 0.04  # s
CLIPS = ("ippp", "pyramid", "screen", "refresh", "mixed")
PAIR_STAGGER = 8  # s, at most
PAIR_QUEUE = 6  # kB, at least
PAIR_RTTS = (20, 40, 80, 130, 201)  # ms
EVEN = 1.25  # highest rate over the lowest
HELD = 0.5  # the default
HOLD_WANTED = 0.45  # likewise
HOLD_SEEDS = 5


def draw_links(count, seed):
    """(Mbit/s, RTT in ms, queue in kB)."""
    rng = random.Random(seed)
    links = []
    for _ in range(count):
        rate = rng.uniform(2, 20)
        rtt = 10 * 20 ** rng.random()  # 10 to 200
        queue = rng.uniform(0.3, 4) * rate * rtt / 8
        links.append((round(rate, 1), round(rtt),
                      round(max(queue, LEAST_QUEUE), 1)))
    return links


def is_short(link):
    rate, _, queue = link
    return queue * 8 / rate < SHORT


def play(program, kind, rival, link, *more, wanted=WANTED):
    rate, rtt, queue = link
    stream = (("--bitrate", round(wanted * rate, 2)) if kind == "fixed"
              else ("--kind", kind))
    return marks.play(program, "--rival", rival, "--rate", rate, "--rtt", rtt,
                      "--queue", queue, *stream, "--seconds", 30, *more)


def measure(program, kind, links):
    """{rival: a result for each link}."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = {rival: [pool.submit(play, program, kind, rival, link,
                                       "--seeds", 1, "--first", i + 1)
                           for i, link in enumerate(links)]
                   for rival in RIVALS}
        return {rival: [f.result() for f in of]
                for rival, of in futures.items()}


def spread(values, form):
    median = form.format(statistics.median(values))
    return f"{median} ({form.format(min(values))} to {form.format(max(values))})"


def row(name, queue, results):
    # One seed: the lowest, the median and the highest are the same.
    ratios = [r["F"][0] for r in results]
    fair = sum(0.8 <= f <= 1.25 for f in ratios)
    seen = [100 * r["seen"][0] for r in results]
    lost = [100 * r["lost"][0] for r in results]
    return (f"| {name} | {queue} ({len(results)} links) | "
            f"{spread(ratios, '{:.2f}')} | {fair} | "
            f"{spread(seen, '{:.0f}')} | {statistics.median(lost):.1f} |\n")


def table(kind, links, results):
    seen = ("of what half the link shows" if kind == "fixed"
            else "of the pictures")
    text = (f"| beside | queue | F | within 0.8 to 1.25 | seen, % {seen} | "
            "own packets lost, % |\n" + "| --- " * 6 + "|\n")
    for rival, name in RIVALS.items():
        for queue, short in ((f"less than {SHORT} ms", True), ("longer", False)):
            chosen = [r for link, r in zip(links, results[rival])
                      if is_short(link) == short]
            if chosen:
                text += row(name, queue, chosen)
    return text


def stagger(seed):
    return STAGGER + FRAME * (seed * 0.618 % 1)


def play_several(program, kind, streams, link, seed, options):
    rate, rtt, queue = link
    return marks.play(program, "--rate", rate, "--rtt", rtt, "--queue", queue,
                      "--kind", kind, "--streams", streams, "--stagger",
                      f"{stagger(seed):.4f}", "--seconds", SECONDS[kind],
                      "--seeds", 1, "--first", seed, *options)


def measure_several(program, kind, links, options):
    """{number of streams: a result for each link}."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = {n: [pool.submit(play_several, program, kind, n, link, i + 1,
                                   options)
                       for i, link in enumerate(links)] for n in STREAMS}
        return {n: [f.result() for f in of] for n, of in futures.items()}


def several_table(links, results, column, name):
    text = ("| streams | queue | highest rate over the lowest | within "
            f"{EVEN} | {name}, % |\n" + "| --- " * 5 + "|\n")
    for n, of in results.items():
        for queue, short in ((f"less than {SHORT} ms", True), ("longer", False)):
            chosen = [r for link, r in zip(links, of) if is_short(link) == short]
            if chosen:
                even = [r["even"][0] for r in chosen]
                part = [100 * r[column][0] for r in chosen]
                text += (f"| {n} | {queue} ({len(chosen)} links) | "
                         f"{spread(even, '{:.2f}')} | "
                         f"{sum(e <= EVEN for e in even)} | "
                         f"{spread(part, '{:.0f}')} |\n")
    return text


def measure_hold(program, links):
    """{value of hold: {kind: a result for each link}}, beside BBR."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = {hold: {kind: [pool.submit(play, program, kind, "bbr1", link,
                                             "--seeds", HOLD_SEEDS, "--param",
                                             "hold", "--value", hold,
                                             wanted=HOLD_WANTED)
                                 for link in links]
                          for kind in ("fixed", "adaptive")}
                   for hold in HOLDS}
        return {hold: {kind: [f.result() for f in of]
                       for kind, of in kinds.items()}
                for hold, kinds in futures.items()}


def hold_cells(results):
    def of_links(column):
        return [r[column][1] for r in results]  # medians of the seeds
    return (f"{spread(of_links('F'), '{:.2f}')} | "
            f"{100 * statistics.median(of_links('on_time')):.0f} % | "
            f"{100 * statistics.median(of_links('lost')):.0f} % |")


def hold_table(results):
    text = (f"| `hold` | a stream of {100 * HOLD_WANTED:.0f} % of the link: F | "
            "on time | lost | an encoder that follows the target: F | on time "
            "| lost |\n" + "| --- " * 7 + "|\n")
    for hold, of in results.items():
        name = f"**{hold}**" if hold == HELD else f"{hold}"
        text += (f"| {name} | {hold_cells(of['fixed'])} "
                 f"{hold_cells(of['adaptive'])}\n")
    return text


def draw_pairs(count, seed):
    """Options of play_shares: two encoders that follow the target, with any
    distance between their starts."""
    rng = random.Random(seed)
    pairs = []
    for number in range(count):
        rate = rng.uniform(1, 10)
        rtt = 20 * 10 ** rng.random()  # 20 to 200
        queue = 35 * (400 / 35) ** rng.random()  # ms
        pairs.append({"rate": round(rate, 2), "rtt": round(rtt),
                      "queue": round(max(rate * queue / 8, PAIR_QUEUE), 1),
                      "clip": rng.choice(CLIPS),
                      "stagger": round(rng.uniform(0, PAIR_STAGGER), 4),
                      "first": number + 1})
    return pairs


def play_pair(program, pair, *more):
    options = [word for name, value in pair.items()
               for word in (f"--{name}", value)]
    return marks.play(program, "--kind", "adaptive", "--streams", 2,
                      "--seeds", 1, "--seconds", SECONDS["adaptive"], *options,
                      *more)


def pairs_row(name, results):
    shares = sorted(1 / r["even"][0] for r in results)
    times = sorted(r["least"][0] for r in results)
    n = len(results)
    return (f"| {name} ({n} links) | {shares[n // 2]:.2f} | "
            f"{shares[n // 10]:.2f} | "
            f"{100 * sum(s >= 0.8 for s in shares) / n:.0f} | "
            f"{100 * times[n // 10]:.1f} | "
            f"{100 * sum(t >= 0.98 for t in times) / n:.0f} |\n")


def pairs_table(program, pairs, options=()):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda p: play_pair(program, p, *options),
                                pairs))
    text = ("| RTT, ms | lower rate over the higher | of the lowest tenth | "
            "at least 0.8, % of the links | of the lowest tenth in time, % | "
            "98 % in time, % of the links |\n" + "| --- " * 6 + "|\n")
    for low, high in zip(PAIR_RTTS, PAIR_RTTS[1:]):
        chosen = [r for p, r in zip(pairs, results) if low <= p["rtt"] < high]
        if chosen:
            text += pairs_row(f"{low} to {high}", chosen)
    return text + pairs_row("all", results)


# What goes into the page, by kind.
MARKED = {"fixed": MARK, "greedy": GREEDY_MARK}


def make_table(args, links):
    if args.hold:
        return hold_table(measure_hold(args.program, links))
    if args.kind == "pairs":
        return pairs_table(args.program, draw_pairs(args.links, args.seed),
                           args.options)
    if args.kind == "greedy":
        return several_table(
            links, measure_several(args.program, "greedy", links, args.options),
            "lost", "packets lost")
    if args.kind == "several":
        return several_table(
            links, measure_several(args.program, "adaptive", links,
                                   args.options), "least",
            "of the worst stream in time")
    return table(args.kind, links, measure(args.program, args.kind, links))


def main():
    p = argparse.ArgumentParser(
        prog="dev bench shares", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", default=ROOT / "build-test" / "tests" /
                   "simnet" / "play_shares", type=pathlib.Path)
    p.add_argument("--links", type=int, default=24, help="how many (24)")
    p.add_argument("--seed", type=int, default=1, help="of the links (1)")
    p.add_argument("--kind", default="fixed",
                   choices=("fixed", "adaptive", "several", "pairs", "greedy"),
                   help="of encoder: one that wants 70 %% of the link, or one "
                   "that follows the target, or several of those, or two of "
                   "any clip and start, whose tables are printed; or several "
                   "streams that send all they may (fixed)")
    p.add_argument("--hold", action="store_true",
                   help="the table of `hold` beside BBR")
    p.add_argument("--options", type=shlex.split, default=[],
                   help="more options of play_shares for several streams or pairs, "
                   "whose table is printed")
    p.add_argument("--page", type=pathlib.Path, default=PAGE,
                   help="page whose table is replaced; -: print it")
    args = p.parse_args()
    if args.links < 1:
        p.error("--links must be at least 1")
    if args.options and args.kind not in ("several", "pairs", "greedy"):
        p.error("--options needs --kind several, pairs or greedy")
    if not args.program.exists():
        sys.exit(f"bench shares: there is no {args.program}; "
                 "./dev test simnet.shares builds it")
    arguments.checked()
    links = draw_links(args.links, args.seed)
    text = make_table(args, links)
    mark = HOLD_MARK if args.hold else MARKED.get(args.kind)
    if str(args.page) == "-" or mark is None or args.options:
        print(text, end="")
    else:
        page = args.page.read_text(encoding="utf-8")
        args.page.write_text(marks.replace(page, mark, text), encoding="utf-8")


if __name__ == "__main__":
    main()
