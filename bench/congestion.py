# SPDX-License-Identifier: MPL-2.0
"""./dev bench congestion: every controller on every kind of link.

All of it happens in virtual time (bench_congestion), so the same seeds give the
same bytes on any machine; seeds vary losses and the moments at which flows
start.  Figures are medians over the seeds.
"""
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess

SEEDS = 5
QUICK = ("auto", "bbr", "cubic", "reno", "tfrc", "vegas", "westwood")
LONG = ("--seconds", "120", "--warmup", "40")

# What is measured: name, heading, path, flows beside the one that is judged,
# and which figure counts.
CASES = (
    ("wired", "wired, 20 Mbit/s, 40 ms",
     ("--rate", "20", "--rtt", "40"), (), "utilisation"),
    ("delay", "delay in its queue",
     ("--rate", "20", "--rtt", "40"), (), "queueing"),
    ("leo", "LEO, 10 Mbit/s, 50 ms, handovers, 0.1 % loss",
     ("--rtt", "50", "--loss", "0.001", "--handover", "15",
      "--handover-rtt", "15", "--handover-gap", "50"), (), "utilisation"),
    ("geo", "GEO, 10 Mbit/s, 600 ms",
     ("--rtt", "600", *LONG), (), "utilisation"),
    ("radio", "lossy radio, 6 Mbit/s, 40 ms, 2 % loss",
     ("--rate", "6", "--rtt", "40", "--loss", "0.02"), (), "utilisation"),
    ("private", "private, 20 Mbit/s, 20 ms, four of its kind",
     ("--rate", "20", "--rtt", "20"), ("self",) * 3, "utilisation"),
    ("jain", "fairness index among the four",
     ("--rate", "20", "--rtt", "20"), ("self",) * 3, "jain"),
    ("loss0.1", "0.1 % loss, 10 Mbit/s, 100 ms",
     ("--loss", "0.001"), (), "utilisation"),
    ("loss1", "1 % loss", ("--loss", "0.01"), (), "utilisation"),
    ("loss5", "5 % loss", ("--loss", "0.05"), (), "utilisation"),
    ("reno", "goodput over that of one Reno beside it",
     ("--rtt", "40", *LONG), ("reno",), "ratio"),
    ("cubic", "over that of one CUBIC",
     ("--rtt", "40", *LONG), ("cubic",), "ratio"),
)


class Failed(Exception):
    """The benchmark cannot go on; the reason is the text."""


def run(program, path, seed, flows):
    """One run, as a dictionary."""
    done = subprocess.run(
        [program, "--seed", str(seed), *path, *flows],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    return json.loads(done.stdout)


def figure(kind, result):
    """The results of one run for its first flow."""
    first = result["flows"][0]
    if kind == "queueing":
        return first["queueing_ms"]
    if kind == "ratio":
        return first["goodput_mbps"] / max(
            result["flows"][1]["goodput_mbps"], 1e-3)
    return result[kind]


def measure(program, names, seeds):
    """{controller: {case: [a figure per seed]}}; one run serves all the cases
    that share it."""
    runs = {(path, beside): None for _, _, path, beside, _ in CASES}
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in names:
            for path, beside in runs:
                flows = [name, *(name if b == "self" else b for b in beside)]
                for seed in seeds:
                    jobs[name, path, beside, seed] = pool.submit(
                        run, program, path, seed, flows)
        return {name: {case: [figure(kind, jobs[name, path, beside,
                                                seed].result())
                              for seed in seeds]
                       for case, _, path, beside, kind in CASES}
                for name in names}


def shown(kind, value):
    """A figure as the table has it."""
    if kind == "utilisation":
        return f"{100 * value:.0f} %"
    if kind == "queueing":
        return f"{value:.0f} ms"
    return f"{value:.2f}" if kind == "jain" else f"{value:.1f}"


def table(medians):
    """The medians in Markdown."""
    rows = ["| | " + " | ".join(case[1] for case in CASES) + " |",
            "| --- " * (len(CASES) + 1) + "|"]
    for name, figures in medians.items():
        cells = (shown(case[4], figures[case[0]]) for case in CASES)
        rows.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def panel(axes, medians, kinds, colours):
    """The columns of some kinds as a coloured table."""
    cases = [case for case in CASES if case[4] in kinds]
    cells = [[figures[case[0]] for case in cases]
             for figures in medians.values()]
    axes.imshow(cells, aspect="auto", **colours)
    for y, row in enumerate(cells):
        for x, value in enumerate(row):
            axes.text(x, y, shown(cases[x][4], value), ha="center",
                      va="center", fontsize=8)
    axes.set_xticks(range(len(cases)), [case[0] for case in cases],
                    rotation=45, ha="right")
    axes.set_yticks(range(len(medians)), medians)


def chart(medians, path):
    """Draws both panels; returns why not, or None."""
    try:
        import matplotlib
        matplotlib.use("svg")
        from matplotlib import colors, pyplot
    except ImportError as e:
        return str(e)
    matplotlib.rcParams.update({"svg.hashsalt": "perigee",
                                "svg.fonttype": "none"})
    shape, (left, right) = pyplot.subplots(
        1, 2, figsize=(10, 1.5 + 0.3 * len(medians)), layout="constrained",
        gridspec_kw={"width_ratios": [4, 1]})
    panel(left, medians, ("utilisation",),
          {"cmap": "RdYlGn", "vmin": 0, "vmax": 1})
    left.set_title("part of the link that carries user data")
    panel(right, medians, ("ratio",),
          {"cmap": "PuOr_r", "norm": colors.LogNorm(0.1, 10)})
    right.set_title("goodput over\nanother's beside it")
    shape.savefig(path, metadata={"Date": None})
    pyplot.close(shape)
    return None


def replace_table(page, text):
    """Puts the table between its two marks in a page."""
    marks = ("<!-- bench congestion -->\n", "<!-- end -->\n")
    before, begin, rest = page.read_text().partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise Failed(f"{page} has no lines {marks[0].strip()} and "
                     f"{marks[1].strip()}")
    page.write_text(before + begin + text + end + after)


def bench(program, output, quick, seeds=None, page=None, only=None):
    """Runs everything, prints the table, writes the files."""
    listed = subprocess.run([program, "--list"], capture_output=True,
                            text=True, check=True).stdout.split()
    names = [n for n in listed if not quick or n in QUICK]
    if only:
        unknown = sorted(set(only) - set(listed))
        if unknown:
            raise Failed(f"no controller {', '.join(unknown)}; valid names are "
                         + ", ".join(listed))
        names = [n for n in listed if n in only]
    seeds = list(range(1, (seeds or (1 if quick else SEEDS)) + 1))
    samples = measure(program, names, seeds)
    medians = {name: {case: statistics.median(values)
                      for case, values in figures.items()}
               for name, figures in samples.items()}
    results = {"seeds": seeds, "medians": medians, "samples": samples,
               "cases": {case: {"what": what, "path": path, "beside": beside,
                                "figure": kind}
                         for case, what, path, beside, kind in CASES}}
    text = table(medians)
    print(f"Controllers on links of the virtual network, medians of "
          f"{len(seeds)} seeds\n\n{text}")
    output = pathlib.Path(output)
    output.mkdir(parents=True, exist_ok=True)
    (output / "congestion.md").write_text(text)
    (output / "congestion.json").write_text(
        json.dumps(results, indent=1) + "\n")
    why = chart(medians, output / "congestion.svg")
    print(f"No chart: {why}" if why else f"Chart: {output}/congestion.svg")
    if page:
        replace_table(pathlib.Path(page), text)
    return results
