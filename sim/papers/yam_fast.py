# SPDX-License-Identifier: MPL-2.0
"""TCP Yam at 400 Mbit/s: Figure 25 and Table 1."""
from .lab import Job
from .numbers import jain, mean
from .page import FAILS, HOLDS, Figure, only
from .yam import RENO, YAM, alone, curves, rate

TITLE = "TCP Yam at 400 Mbit/s"
FAST = ("FAST", "fast", "packet", ("alpha", 200))
PRINTED = {"Yam": (0.95, 0.971, 0.95), "FAST": (0.96, 0.972, 0.96),
           "Reno": (0.68, 0.90, 0.71)}
# What the delays that Table 1 is made with may be, by the part of them that is
# one way.
WAYS = {1: "one-way", 0.5: "round-trip"}
ONE_WAY, ROUND = WAYS
SOON = only("in steps of a minute, in which alone Reno is run")
STEP = 1800  # s; the paper's
LONG = 600   # s of a step that settle the windows, in a third of the time
SHORT = 40   # s of a step of the quick set
MINUTE = 60  # s of a step that fill the link
SAMPLE = 10  # s; the paper plots means of 20 and of 50 s
FIGURES = (
    Figure("Figure 25", "throughput over 7200 s in steps of 1800 s, per 50 and "
           "per 20 s: the flow that joins gets enough, the mean hardly moves",
           ("fig25.joins", "fig25.mean")),
    Figure("Table 1", "Jain index of two flows, three, two again: Yam .95, "
           ".971, .95; FAST .96, .972, .96; Reno .68, .90, .71",
           ("table1.alike", "table1.fast", "table1.reno"), False,
           "The one reading, delays of the round trip, serves all three rows; "
           "Reno's number does not come out, nor does it in ns-2 (0.945 to "
           "0.985)"),
)


def seeds(_):
    """Nothing is left to chance here."""
    return (1,)


def points(quick):
    """A run: a sender, a part of WAYS and a step."""
    if quick:
        return [(kind, ONE_WAY, SHORT) for kind in (YAM, FAST, RENO)]
    return [(YAM, ROUND, LONG), (FAST, ROUND, LONG), (RENO, ROUND, MINUTE),
            *((kind, ONE_WAY, MINUTE) for kind in (YAM, FAST, RENO))]


def job(kind, share, step):
    return Job.of("yam-fast", **alone(kind), share=share, step=step,
                  sample=min(SAMPLE, step / 4))


def plan(quick):
    return {(kind[0], *rest): job(kind, *rest) for kind, *rest in points(quick)}


def there(run, period):
    """The flows that are there."""
    return [x for x in run.flows(period=period) if x["segments"] > 0]


def fair(run, period):
    return jain([x["segments"] for x in there(run, period)])


def judged(quick):
    """The runs that the claims are about, by sender: the reading of the round
    trip, in the longest steps."""
    return {name: (ONE_WAY, SHORT) if quick else
            (ROUND, MINUTE if name == "Reno" else LONG) for name in PRINTED}


def printed(name):
    return "printed " + " / ".join(f"{x:g}" for x in PRINTED[name])


def claims_table(page, j, quick):
    def numbers(*names):
        return "; ".join(f"{n} " + " / ".join(f"{x:.3f}" for x in j[n])
                         + f", {printed(n)}" for n in names)

    def near(name, most):
        return all(abs(a - b) < most for a, b in zip(j[name], PRINTED[name]))
    page.claim("table1.yam", "Table 1: Yam's row is as printed (within 0.05)",
               near("Yam", 0.05), numbers("Yam"), expect=FAILS)
    page.claim("table1.alike", "Table 1: Yam is about as fair as FAST (within "
               "0.1)", all(abs(a - b) < 0.1 for a, b in zip(
                   j["Yam"], j["FAST"])), numbers("Yam", "FAST"))
    page.claim("table1.fast", "Table 1: FAST's row is as printed (within 0.02)",
               near("FAST", 0.02), numbers("FAST"),
               expect=FAILS if quick else HOLDS)
    page.claim("table1.reno", "Table 1: with two flows Reno is the least fair "
               "of the three", FAILS if j["Reno"][0] >= min(
                   j["Yam"][0], j["FAST"][0]) else True if quick else SOON,
               numbers("Reno"), expect=FAILS if quick else SOON)


def claims(page, runs, quick):
    claims_table(page, {k: [fair(runs[(k, *way)], p) for p in (1, 2, 3)]
                        for k, way in judged(quick).items()}, quick)
    share, step = judged(quick)["Yam"]
    run = runs["Yam", share, step]
    rates = [[rate([x], step) / 1000 for x in there(run, p)] for p in range(4)]
    page.claim("fig25.joins", "Figure 25: a flow of Yam that joins gets at "
               "least half of an equal share", all(
                   rates[p][-1] >= 0.5 * mean(rates[p]) for p in (1, 2)),
               "Mbit/s: " + "; ".join(" / ".join(f"{x:.0f}" for x in r)
                                      for r in rates))
    whole = [sum(r) for r in rates[1:]]
    page.claim("fig25.mean", "Figure 25: the total hardly moves when a flow "
               "joins or leaves (within a quarter)",
               max(whole) < 1.25 * min(whole),
               "Mbit/s together: " + " / ".join(f"{x:.0f}" for x in whole),
               expect=FAILS if quick else HOLDS)


def row(runs, name, share, step):
    run = runs[name, share, step]
    cells = [f"{fair(run, p):.3f} ("
             + " / ".join(f"{rate([x], step) / 1000:.0f}"
                          for x in there(run, p)) + ")" for p in (1, 2, 3)]
    if name in PRINTED:
        cells = [f"{c}; printed {p}" for c, p in zip(cells, PRINTED[name])]
    return (name, WAYS[share], f"{step} s", *cells)


def panels(runs, share, step):
    """Rates over time, a panel for each sender of the paper."""
    def draw(axes):
        for name, axis in zip(PRINTED, axes):
            curves(runs[name, share, step], (
                ("one", "100 ms"), ("two", "150 ms"), ("three", "200 ms")),
                "rate", name)(axis)
    return draw


def report(page, runs, quick):
    claims(page, runs, quick)
    page.papers_figures("yam-fast", *FIGURES)
    page.text(
        "Three flows of 100, 150 and 200 ms on 400 Mbit/s, queue 2000, windows "
        "of 3000; the second comes after one step, the third is there in the "
        f"third of four only. The paper's steps are of {STEP} s; here they are "
        + ("shorter" if quick else f"of {LONG} s for Yam and FAST in the reading "
           "that the claims are about, and of a minute otherwise")
        + ". FAST's target is 200 packets. The paper does not say whether its "
        "delays are of one way or of the round trip. Of one way, the windows "
        "fill a half of the link and set all shares; of the round trip, three "
        "fill it. In steps of a minute the windows have not settled. Nothing is left to chance: one run each.")
    page.heading("Table 1")
    page.text("Jain index of the flows that are there, and their Mbit/s:")
    page.table(("sender", "delays taken as", "steps of", "two flows", "three",
                "two again"),
               [row(runs, kind[0], *rest) for kind, *rest in points(quick)])
    page.heading("Figure 25")
    for share, step in dict.fromkeys(tuple(x[1:]) for x in points(quick)):
        page.figure(f"25-{WAYS[share]}" + ("-long" if step == LONG else ""),
                    "Figure 25: rates over time; the printed delays taken as "
                    f"{WAYS[share]}, steps of {step} s",
                    panels(runs, share, step), size=(8, 2.4), columns=3)
