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
PLOTTED = 36  # points of a step, as the paper has them of 50 s
STEP = 60  # s; the paper has 1800


def seeds(_):
    """Nothing is left to chance here."""
    return (1,)


def step(quick):
    return 20 if quick else STEP


def kinds(quick):
    return (YAM, FAST, RENO) if quick else (YAM, FAST, RENO, *MODERN)


def plan(quick):
    return {kind[0]: Job.of("yam-fast", **alone(kind), share=1,
                            step=step(quick), sample=step(quick) / PLOTTED)
            for kind in kinds(quick)}


def there(run, period):
    """The flows that are there."""
    return [x for x in run.flows(period=period) if x["segments"] > 0]


def fair(run, period):
    return jain([x["segments"] for x in there(run, period)])


def claims(page, runs):
    j = {k: [fair(runs[k], p) for p in (1, 2, 3)] for k in PRINTED}
    page.claim("table1.two", "Table 1: two of Yam, then three, then two share "
               "as fairly as FAST (within 0.05)",
               all(abs(a - b) < 0.05 for a, b in zip(j["Yam"], j["FAST"])),
               "Yam " + ", ".join(f"{x:.3f}" for x in j["Yam"]) + "; FAST "
               + ", ".join(f"{x:.3f}" for x in j["FAST"]))
    page.claim("table1.reno", "Table 1: Reno is the least fair of the three "
               "with two flows", j["Reno"][0] < min(j["Yam"][0], j["FAST"][0]),
               "Reno " + ", ".join(f"{x:.3f}" for x in j["Reno"]),
               expect=FAILS)


def row(run, name, quick):
    cells = [f"{fair(run, p):.3f} ("
             + " / ".join(f"{rate([x], step(quick)) / 1000:.0f}"
                          for x in there(run, p)) + ")" for p in (1, 2, 3)]
    if name in PRINTED:
        cells = [f"{c}; printed {p}" for c, p in zip(cells, PRINTED[name])]
    return (name, *cells)


def report(page, runs, quick):
    if not quick:  # in short steps windows do not settle
        claims(page, runs)
    page.text(
        "Three flows of 100, 150 and 200 ms on 400 Mbit/s, queue 2000, windows "
        "of 3000; the second comes after one step, the third is there in the "
        f"third of four only. Steps of {step(quick)} s, where the paper has "
        "1800 (`step=1800` of the scenario). FAST's target is 200 packets. The "
        "paper does not say whether its delays are of one way or of the round "
        "trip: here of one way (`share=0.5`: of the round trip). Nothing is "
        "left to chance: one run each.")
    page.heading("Table 1")
    page.text("Jain index of the flows that are there, and their Mbit/s:")
    page.table(("sender", "two flows", "three", "two again"),
               [row(runs[k[0]], k[0], quick) for k in kinds(quick)])
    page.heading("Figure 25")
    page.figure("25", "Figure 25: rates over time", lambda axes: [
        curves(runs[name], (("one", "100 ms"), ("two", "150 ms"),
                            ("three", "200 ms")), "rate", name)(axis)
        for name, axis in zip(PRINTED, axes)], size=(8, 2.4), columns=3)
