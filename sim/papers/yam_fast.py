# SPDX-License-Identifier: MPL-2.0
"""TCP Yam at 400 Mbit/s: Figure 25 and Table 1."""
from .lab import Job
from .numbers import jain
from .page import FAILS
from .yam import MODERN, RENO, YAM, alone, curves, rate

TITLE = "TCP Yam at 400 Mbit/s"
FAST = ("FAST", "fast", "packet", ("alpha", 200))
PRINTED = {"Yam": (0.95, 0.971, 0.95), "FAST": (0.96, 0.972, 0.96),
           "Reno": (0.68, 0.90, 0.71)}
# What the delays that Table 1 is made with may be, by the part of them that is
# one way.
WAYS = {0.5: "round trip", 1: "one way"}
NEAREST = 1   # of WAYS, the one whose shares are most like the paper's
STEP = 1800   # s; the paper's
SHORT = 180   # s; all but Yam's own run
PLOTTED = 36  # a step; points of 50 s in the paper


def seeds(_):
    """Nothing is left to chance here."""
    return (1,)


def points(quick):
    """What is run: a sender, a share of WAYS and a step."""
    paper = (YAM, FAST, RENO)
    if quick:
        return [(kind, NEAREST, 20) for kind in paper]
    return [(YAM, NEAREST, STEP)] + [
        (kind, share, SHORT) for share in WAYS for kind in (*paper, *MODERN)]


def plan(quick):
    return {(kind[0], share, step): Job.of(
        "yam-fast", **alone(kind), share=share, step=step,
        sample=step / PLOTTED) for kind, share, step in points(quick)}


def there(run, period):
    """The flows that are there."""
    return [x for x in run.flows(period=period) if x["segments"] > 0]


def fair(run, period):
    return jain([x["segments"] for x in there(run, period)])


def claims(page, runs):
    j = {k: [fair(runs[k, NEAREST, SHORT], p) for p in (1, 2, 3)]
         for k in PRINTED}
    page.claim("table1.two", "Table 1: two of Yam, then three, then two share "
               "as fairly as FAST (within 0.05)",
               all(abs(a - b) < 0.05 for a, b in zip(j["Yam"], j["FAST"])),
               "Yam " + ", ".join(f"{x:.3f}" for x in j["Yam"]) + "; FAST "
               + ", ".join(f"{x:.3f}" for x in j["FAST"]), expect=FAILS)
    page.claim("table1.reno", "Table 1: Reno is the least fair of the three "
               "with two flows", j["Reno"][0] < min(j["Yam"][0], j["FAST"][0]),
               "Reno " + ", ".join(f"{x:.3f}" for x in j["Reno"]),
               expect=FAILS)


def row(runs, name, share, step):
    run = runs[name, share, step]
    cells = [f"{fair(run, p):.3f} ("
             + " / ".join(f"{rate([x], step) / 1000:.0f}"
                          for x in there(run, p)) + ")" for p in (1, 2, 3)]
    if name in PRINTED:
        cells = [f"{c}; printed {p}" for c, p in zip(cells, PRINTED[name])]
    return (name, WAYS[share], f"{step} s", *cells)


def panels(runs, names, share, step):
    """Rates over time, a panel for each sender."""
    def draw(axes):
        for name, axis in zip(names, axes if len(names) > 1 else [axes]):
            curves(runs[name, share, step], (
                ("one", "100 ms"), ("two", "150 ms"), ("three", "200 ms")),
                "rate", name)(axis)
    return draw


def report(page, runs, quick):
    if not quick:  # in short steps windows do not settle
        claims(page, runs)
    page.text(
        "Three flows of 100, 150 and 200 ms on 400 Mbit/s, queue 2000, windows "
        "of 3000; the second comes after one step, the third is there in the "
        f"third of four only. The paper's steps are of {STEP} s: in those Yam "
        "is run too, all in shorter ones. FAST's target is 200 packets. The "
        "paper does not say whether its delays are of one way or of the round "
        "trip. Nothing is left to chance: one run each.")
    page.heading("Table 1")
    page.text("Jain index of the flows that are there, and their Mbit/s:")
    page.table(("sender", "delays are", "steps of", "two flows", "three",
                "two again"),
               [row(runs, kind[0], *rest) for kind, *rest in points(quick)])
    page.heading("Figure 25")
    for share, step in dict.fromkeys(x[1:] for x in points(quick)):
        names = [n for n in PRINTED if (n, share, step) in runs]
        page.figure(f"25-{WAYS[share].replace(' ', '-')}-{step}",
                    f"Figure 25: the printed delays are of the {WAYS[share]}, "
                    f"steps of {step} s", panels(runs, names, share, step),
                    size=(8, 2.4), columns=len(names))
