# SPDX-License-Identifier: MPL-2.0
"""TCP Yam at 400 Mbit/s: Figure 25 and Table 1."""
from .lab import Job
from .numbers import jain
from .page import FAILS, HOLDS, only
from .yam import MODERN, RENO, YAM, alone, curves, rate

TITLE = "TCP Yam at 400 Mbit/s"
FAST = ("FAST", "fast", "packet", ("alpha", 200))
PRINTED = {"Yam": (0.95, 0.971, 0.95), "FAST": (0.96, 0.972, 0.96),
           "Reno": (0.68, 0.90, 0.71)}
# What the delays that Table 1 is made with may be, by the part of them that is
# one way.
WAYS = {1: "one-way", 0.5: "round-trip"}
ONE_WAY = 1
TAKEN = {share: only(f"when the printed delays are taken as {words}")
         for share, words in WAYS.items()}
STEP = 1800  # s; the paper's, in which Yam alone is run
PLOTTED = 36  # points of a step, as the paper has them of 50 s


def seeds(_):
    """Nothing is left to chance here."""
    return (1,)


def short(quick):
    """s of a step that the windows need to settle."""
    return 40 if quick else 60


def points(quick):
    """A run: a sender, a part of WAYS and a step."""
    kinds = (YAM, FAST, RENO) if quick else (YAM, FAST, RENO, *MODERN)
    every = [(kind, share, short(quick))
             for share in ((ONE_WAY,) if quick else WAYS) for kind in kinds]
    return every if quick else [(YAM, ONE_WAY, STEP), *every]


def job(kind, share, step):
    return Job.of("yam-fast", **alone(kind), share=share, step=step,
                  **({} if step == STEP else {"sample": step / PLOTTED}))


def plan(quick):
    return {(kind[0], *rest): job(kind, *rest) for kind, *rest in points(quick)}


def there(run, period):
    """The flows that are there."""
    return [x for x in run.flows(period=period) if x["segments"] > 0]


def fair(run, period):
    return jain([x["segments"] for x in there(run, period)])


def by_reading(holds):
    """The verdict on a claim, told for each part of WAYS that was run."""
    good = [share for share, h in holds.items() if h]
    return True if len(good) == len(holds) else TAKEN[good[0]] if good \
        else FAILS


def claims(page, runs, quick):
    ways = list(dict.fromkeys(x[1] for x in points(quick)))
    j = {w: {k: [fair(runs[k, w, short(quick)], p) for p in (1, 2, 3)]
             for k in PRINTED} for w in ways}

    def numbers(*names):
        return "; ".join(
            f"{WAYS[w]}: " + ", ".join(
                f"{n} " + " / ".join(f"{x:.3f}" for x in j[w][n])
                for n in names) for w in ways)
    page.claim("table1.two", "Table 1: two of Yam, then three, then two share "
               "as fairly as FAST (within 0.05)",
               by_reading({w: all(abs(a - b) < 0.05 for a, b in zip(
                   x["Yam"], x["FAST"])) for w, x in j.items()}),
               numbers("Yam", "FAST"), expect=HOLDS if quick else TAKEN[1])
    page.claim("table1.fast", "Table 1: FAST's row is as printed (within 0.02)",
               by_reading({w: all(abs(a - b) < 0.02 for a, b in zip(
                   x["FAST"], PRINTED["FAST"])) for w, x in j.items()}),
               numbers("FAST"), expect=FAILS if quick else TAKEN[0.5])
    page.claim("table1.reno", "Table 1: Reno is the least fair of the three "
               "with two flows",
               by_reading({w: x["Reno"][0] < min(x["Yam"][0], x["FAST"][0])
                           for w, x in j.items()}),
               numbers("Reno"), expect=FAILS if quick else TAKEN[0.5])


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
    page.text(
        "Three flows of 100, 150 and 200 ms on 400 Mbit/s, queue 2000, windows "
        "of 3000; the second comes after one step, the third is there in the "
        f"third of four only. The paper's steps are of {STEP} s"
        + ("; here they are shorter" if quick else
           ": in those Yam is run too, all in shorter ones")
        + ". FAST's target is 200 packets. The paper does not say whether its "
        "delays are of one way or of the round trip. Of one way, the windows "
        "fill a half of the link and set all shares; of the round trip, three "
        "fill it. Nothing is left to chance: one run each.")
    page.heading("Table 1")
    page.text("Jain index of the flows that are there, and their Mbit/s:")
    page.table(("sender", "delays taken as", "steps of", "two flows", "three",
                "two again"),
               [row(runs, kind[0], *rest) for kind, *rest in points(quick)])
    page.heading("Figure 25")
    for share in dict.fromkeys(x[1] for x in points(quick)):
        page.figure(f"25-{WAYS[share]}",
                    "Figure 25: rates over time; the printed delays taken as "
                    + WAYS[share], panels(runs, share, short(quick)),
                    size=(8, 2.4), columns=3)
