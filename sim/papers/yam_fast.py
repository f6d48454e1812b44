# SPDX-License-Identifier: MPL-2.0
"""TCP Yam at 400 Mbit/s: Figure 25 and Table 1."""
from .lab import Job, Ns2Job
from .numbers import jain, mean, show, variation
from .page import FAILS, HOLDS, Figure, only
from .yam import RENO, WIRE, YAM, alone, rate

TITLE = "TCP Yam at 400 Mbit/s"
AUTHORS = "Tsai, Wang and Wang (2014) on a fast link,"
FAST = ("FAST", "fast", "packet", ("alpha", 200))
PRINTED = {"Yam": (0.95, 0.971, 0.95), "FAST": (0.96, 0.972, 0.96),
           "Reno": (0.68, 0.90, 0.71)}
# What the delays that Table 1 is made with may be, by the part of them that is
# one way.
WAYS = {1: "one-way", 0.5: "round-trip"}
ONE_WAY, ROUND = WAYS
# The text: by the formula equal RTTs shrink the window.
PROSE = ("Yam, equal RTTs change nothing", "yam", "packet", ("eq_hold", 1))
PROSED = only("where equal round-trip times change nothing (the prose; by the "
              "formula they shrink the window)")
SOON = only("in steps of a minute, not in the paper's of 1800 s")
STEP = 1800  # s; the paper's
WINDOW = 3000  # packets
SHORT = 40   # s of a step of the quick set
MINUTE = 60  # s of a step that fill the link
CLEAR = 0.05  # of Jain's index; printed are 0.27 to 0.28
SAMPLE = 10  # s
SPANS = (20, 50)  # s over which the paper has means
FLOWS = {"one": "100 ms", "two": "150 ms", "three": "200 ms"}
FIGURES = (
    Figure("Figure 25", "throughput over 7200 s in steps of 1800 s, per 50 and "
           "per 20 s: the flow that joins gets enough, the mean hardly moves",
           ("fig25.joins", "fig25.mean"), False, "After a loss three "
           "quarters of the window are kept. By the formula, which shrinks it "
           "at equal round-trip times, it never grows back at 400 Mbit/s; by "
           "the prose it does"),
    Figure("Table 1", "Jain index of two flows, three, two again: Yam .95, "
           ".971, .95; FAST .96, .972, .96; Reno .68, .90, .71",
           ("table1.yam", "table1.fast", "table1.reno-row"), True,
           "A row that fails decides on the table. With delays of the round "
           "trip, Yam's row is reproduced, and FAST's but for 0.021 with three "
           "flows, or wholly with a larger target (below). Reno's is not, in "
           "steps of 1800 s or of a minute. By "
           "experiment, two of its flows share nearly evenly at 400 Mbit/s, "
           "whatever the windows and the moment of joining, and as unevenly as "
           "printed on a link twice as fast. What was tried for the row, "
           "ns-2's own Reno too, stands below the table of the runs"),
)
# Trials with a tenth of the rate, the windows, the queue and the step, in which
# Reno's course is the same, for a hundredth of the time.  Their words name the
# values as they would be at 400 Mbit/s.
TENTH = {"rate": 40, "window": WINDOW / 10, "queue": 200, "step": STEP / 10}
ENDLESS = 1000000  # packets of window
TRIALS = {
    "nothing else changed": {},
    "queue of 500": {"queue": 50},
    "queue of 200": {"queue": 20},
    "queue of 100": {"queue": 10},
    "windows of 4000": {"window": 400},
    "windows of 6000": {"window": 600},
    "windows without limit": {"window": ENDLESS},
    "windows of 6000, delays of one way": {"window": 600, "share": ONE_WAY},
    "windows without limit, delays of one way":
        {"window": ENDLESS, "share": ONE_WAY},
    "packets of 552 bytes": {"packet": 552},
    "packets of 1500 bytes": {"packet": 1500},
    "packets of 1500 bytes, queue of 1500": {"packet": 1500, "queue": 150},
    "packets of 1500 bytes, queue of 1000": {"packet": 1500, "queue": 100},
    "packets of 1500 bytes, Tahoe":
        {"packet": 1500, "congestion": "tahoe", "manner": "dupack-tahoe"},
    "packets of 1500 bytes, timeouts of 1 s or more":
        {"packet": 1500, "rto_min": 1000},
    # As often per window as one in a million of the large ones.
    "one packet in a million lost": {"loss": 1e-4},
    "20 ms at the bottleneck": {"delay": 20},
    "50 ms at the bottleneck": {"delay": 50},
}
TARGETS = (50, 100, 200, 300, 400, 500, 600, 800)  # FAST's, packets
LARGE = 400  # at the whole rate, in shorter steps:
LARGE_STEP = 300  # s
TARGETED = only(f"with larger targets than 200 packets, such as {LARGE}; the "
                "paper does not give it")
SHORTER = range(40, 251, 5)  # s of a step, in which chance decides
# The same where Reno's flows have more to fill, with steps of other lengths, in
# s, which move what the flows are at when others join.
PAPERS_RATE = "400 Mbit/s"
PIPES = {
    "400 Mbit/s, windows of 3000": {},
    "400 Mbit/s, windows without limit": {"window": ENDLESS},
    "800 Mbit/s, windows without limit": {"window": ENDLESS, "rate": 80},
    "800 Mbit/s, windows without limit, packets of 1500 bytes":
        {"window": ENDLESS, "rate": 80, "packet": 1500},
}
RECOVERIES = {"Reno": {}, "SACK": {"manner": "dupack-sack"}}
MOVED = range(1745, 1816, 10)
UNEVEN = 0.8  # Jain's index of two flows, below which they share as printed


def seeds(_):
    """Nothing is left to chance here."""
    return (1,)


def points(quick):
    """A run: a sender, a part of WAYS and a step."""
    if quick:
        return [(kind, ONE_WAY, SHORT) for kind in (YAM, FAST, RENO)]
    return [(kind, ROUND, step) for step in (STEP, MINUTE)
            for kind in (YAM, FAST, RENO, PROSE)]


def job(kind, share, step):
    return Job.of("yam-fast", **alone(kind), share=share, step=step,
                  sample=min(SAMPLE, step / 4))


def plan(quick):
    jobs = {(kind[0], *rest): job(kind, *rest) for kind, *rest in points(quick)}
    return jobs if quick else jobs | plan_trials()


def tenth(**changed):
    return Job.of("yam-fast", **{**alone(RENO), "share": ROUND, **TENTH,
                                 **changed})


def target(packets):
    return alone((*FAST[:3], ("alpha", packets)))


def plan_trials():
    jobs = {("trial", words): tenth(**changed)
            for words, changed in TRIALS.items()}
    jobs |= {("shorter", s): tenth(step=s / 10) for s in SHORTER}
    jobs |= {("moved", pipe, recovery, s): tenth(
        step=s / 10, **PIPES[pipe], **RECOVERIES[recovery])
             for pipe in PIPES for recovery in RECOVERIES for s in MOVED}
    jobs |= {("target", x): tenth(**target(x / 10)) for x in TARGETS}
    jobs["target", None] = Job.of("yam-fast", **target(LARGE), share=ROUND,
                                  step=LARGE_STEP)
    jobs["ns-2"] = Ns2Job.of("yam-fast", agent="Reno", share=ROUND, **TENTH)
    return jobs


def there(run, period):
    """The flows that are there."""
    return [x for x in run.flows(period=period) if x["segments"] > 0]


def fair(run, period):
    return jain([x["segments"] for x in there(run, period)])


def judged(quick):
    """The runs that the claims are about, by sender: the reading of the round
    trip, in the longest steps."""
    return dict.fromkeys(PRINTED, (ONE_WAY, SHORT) if quick else (ROUND, STEP))


def printed(name):
    return "printed " + " / ".join(f"{x:g}" for x in PRINTED[name])


def is_least_fair(reno, j):
    """With two flows."""
    return reno[0] < min(j["Yam"][0], j["FAST"][0]) - CLEAR


def claims_table(page, j, soon, large):
    """Jain indices by sender, those in steps of a minute, and FAST's with a
    larger target; the last two are not in the quick set."""
    quick = soon is None
    def numbers(*names):
        return "; ".join(f"{n} " + " / ".join(f"{x:.3f}" for x in j[n])
                         + f", {printed(n)}" for n in names)

    def near(name, most, indices=None):
        return all(abs(a - b) < most
                   for a, b in zip(indices or j[name], PRINTED[name]))
    page.claim("table1.yam", "Table 1: Yam's row is as printed (within 0.05)",
               near("Yam", 0.05), numbers("Yam"),
               expect=FAILS if quick else HOLDS)
    page.claim("table1.alike", "Table 1: Yam is about as fair as FAST (within "
               "0.1)", all(abs(a - b) < 0.1 for a, b in zip(
                   j["Yam"], j["FAST"])), numbers("Yam", "FAST"))
    page.claim("table1.fast", "Table 1: FAST's row is as printed (within 0.02)",
               near("FAST", 0.02) or (
                   TARGETED if large and near("FAST", 0.02, large) else FAILS),
               numbers("FAST") + (f"; with a target of {LARGE} packets "
                                  + " / ".join(f"{x:.3f}" for x in large)
                                  if large else ""),
               expect=FAILS if quick else TARGETED)
    reno = numbers("Reno") + "; in steps of a minute " + " / ".join(
        f"{x:.3f}" for x in soon["Reno"]) if soon else numbers("Reno")
    page.claim("table1.reno-row", "Table 1: Reno's row is as printed (within "
               "0.05)", near("Reno", 0.05), reno, expect=FAILS)
    page.claim("table1.reno", "Table 1: with two flows Reno is the least fair "
               f"of the three, by {CLEAR} or more",
               is_least_fair(j["Reno"], j) or
               (SOON if soon and is_least_fair(soon["Reno"], soon)
                else FAILS),
               reno, expect=FAILS if quick else SOON)


def rates(run, step):
    """Mbit/s of the flows that are there, by period."""
    return [[rate([x], step) / 1000 for x in there(run, p)] for p in range(4)]


def rates_text(r):
    return "; ".join(" / ".join(f"{x:.0f}" for x in some) for some in r)


def is_steady(r):
    whole = [sum(some) for some in r[1:]]
    return max(whole) < 1.25 * min(whole)


def claims_rates(page, runs, quick):
    share, step = judged(quick)["Yam"]
    run = runs["Yam", share, step]
    r = rates(run, step)
    page.claim("fig25.joins", "Figure 25: a flow of Yam that joins gets at "
               "least half of an equal share", all(
                   r[p][-1] >= 0.5 * mean(r[p]) for p in (1, 2)),
               f"Mbit/s: {rates_text(r)}")
    prose = [] if quick else rates(runs[PROSE[0], ROUND, STEP], STEP)
    page.claim("fig25.mean", "Figure 25: the total hardly moves when a flow "
               "joins or leaves (within a quarter)",
               is_steady(r) or (PROSED if prose and is_steady(prose)
                                else FAILS),
               f"Mbit/s: {rates_text(r)}" + (
                   "; where equal round-trip times change nothing: "
                   f"{rates_text(prose)}" if prose else ""),
               expect=FAILS if quick else PROSED)
    if not quick:
        moves = {s: unrest(run, step, s) for s in SPANS}
        page.claim("fig25.settles", "Text: means over 20 and over 50 s hardly "
                   "move (coefficient of variation below 0.05, in the second "
                   "half of the step with three flows)",
                   all(x < 0.05 for x in moves.values()), ", ".join(
                       f"{s} s: {x:.3f}" for s, x in moves.items()))


def claims(page, runs, quick):
    def indices(name, *way):
        return [fair(runs[(name, *way)], p) for p in (1, 2, 3)]
    claims_table(page, {k: indices(k, *way)
                        for k, way in judged(quick).items()},
                 None if quick else {k: indices(k, ROUND, MINUTE)
                                     for k in PRINTED},
                 None if quick else fairness(runs["target", None]))
    claims_rates(page, runs, quick)


def row(runs, name, share, step):
    run = runs[name, share, step]
    cells = [f"{fair(run, p):.3f} ("
             + " / ".join(f"{rate([x], step) / 1000:.0f}"
                          for x in there(run, p)) + ")" for p in (1, 2, 3)]
    if name in PRINTED:
        cells = [f"{c}; printed {p}" for c, p in zip(cells, PRINTED[name])]
    return (name, WAYS[share], f"{step} s", *cells)


def fairness(run):
    """Jain's index of two flows, three, two again."""
    if run.lines[0]["kind"] != "ns2":
        return [fair(run, p) for p in (1, 2, 3)]
    steps = [[float(x) for x in run.lines[0][f"step{i}"].split(",")]
             for i in (2, 3, 4)]
    return [jain(steps[0][:2]), jain(steps[1]), jain(steps[2][:2])]


def near_printed(row):
    return all(abs(a - b) < 0.1 for a, b in zip(row, PRINTED["Reno"]))


def below_full(run):
    """The longest time, s, for which the second flow's window is below its
    limit while two flows are there."""
    longest, since = 0, STEP
    for x in run.samples("two"):
        if STEP < x["t"] <= 2 * STEP:
            longest = max(longest, x["t"] - since)
            if x["cwnd"] >= 0.99 * WINDOW:
                since = x["t"]
    return longest


def bounds(values):
    return f"{min(values):.2f} to {max(values):.2f}"


def trials(page, runs):
    page.text(
        "What was tried for Reno's row: Jain's index of Reno with a tenth of "
        "the rate, the windows, the queue and the step, where its course is "
        "the same; the values are named as they would be at 400 Mbit/s, one "
        "run each:")
    rows = {w: fairness(runs["trial", w]) for w in TRIALS}
    if "ns-2" in runs:
        rows["ns-2's Reno"] = fairness(runs["ns-2"])
    page.table(("changed", "two flows", "three", "two again"),
               [(words, *(f"{x:.3f}" for x in some))
                for words, some in rows.items()])
    uneven = [r for r in rows.values() if r[0] < UNEVEN]
    short = [fairness(runs["shorter", s]) for s in SHORTER]
    page.text(
        f"{count_near(rows.values())} of these {len(rows)} rows is within 0.1 "
        "of the printed one. With two flows, in steps of "
        f"{STEP} s, the second one's window is below {WINDOW} packets for "
        f"{below_full(runs['Reno', ROUND, STEP]):.0f} s at a time at most. "
        + (f"Where two flows have less than {UNEVEN}, three have "
           f"{max(r[1] for r in uneven):.2f} or less; printed is "
           f"{PRINTED['Reno'][1]:.2f}. " if uneven else "")
        + f"In shorter steps chance decides. In {len(short)} runs with steps of "
        f"{SHORTER[0]} to {SHORTER[-1]} s, two flows have "
        f"{bounds([r[0] for r in short])}, three {bounds([r[1] for r in short])}, "
        f"and two again {bounds([r[2] for r in short])}. "
        f"{count_near(short)} of the rows is within 0.1 of the printed one.")


def targets(page, runs):
    page.text(
        "FAST's target is not in the paper either. Jain's index of FAST with a "
        "tenth of the rate, the windows, the queue and the step, by its target "
        "as it would be at 400 Mbit/s; printed is "
        + " / ".join(f"{x:g}" for x in PRINTED["FAST"]) + ":")
    page.table(("target, packets", "two flows", "three", "two again"),
               [(x, *(f"{y:.3f}" for y in fairness(runs["target", x])))
                for x in TARGETS])
    page.text(
        f"At the whole rate, in steps of {LARGE_STEP} s, a target of {LARGE} "
        "gives " + " / ".join(f"{x:.3f}" for x in
                              fairness(runs["target", None]))
        + ". With two flows, windows set the shares.")


def pipes(page, runs):
    """Whether chance, or more to fill, lets Reno be as unfair as printed."""
    moved = {(pipe, recovery): [fairness(runs["moved", pipe, recovery, s])
                                for s in MOVED]
             for pipe in PIPES for recovery in RECOVERIES}
    two = [x for (pipe, _), rows in moved.items()
           if pipe.startswith(PAPERS_RATE) for row in rows for x in row[::2]]
    page.text(
        "The same with other moments of joining, with windows that do not "
        "bound the flows, and on a faster link. The table has Jain's index, "
        f"mean ± 95 % confidence [least, most], of {len(MOVED)} runs with "
        f"steps of {MOVED[0]} to {MOVED[-1]} s, and how many of them are "
        "within 0.1 of the printed row. SACK is Reno's window with RFC 6675's "
        "recovery:")
    page.table(("link", "recovery", "two flows", "three", "two again",
                "as printed"), [
        (*key, *(show(x, 2) for x in zip(*rows)),
         f"{sum(map(near_printed, rows))} of {len(rows)}")
        for key, rows in moved.items()])
    page.text(
        f"So at {PAPERS_RATE} two flows share nearly evenly whenever they "
        "join, with the paper's windows or without a limit: they have "
        f"{bounds(two)}. They share as unevenly as printed only at 800 Mbit/s, "
        "with packets of 1500 bytes and windows without limit, and chance "
        "decides there. So the row fits a link twice as fast better than the "
        "paper's.")


def count_near(rows):
    near = sum(map(near_printed, rows))
    return str(near) if near else "None"


def means(run, flow, span):
    """When, and Mbit/s since the time before, each span s."""
    x = run.samples(flow)
    y = x[::max(1, round(span / (x[1]["t"] - x[0]["t"])))]
    return [(b["t"], (b["segments"] - a["segments"]) * WIRE
             / (b["t"] - a["t"]) / 1e6) for a, b in zip(y, y[1:])]


def panels(runs, steps, share):
    """Rates over time, a panel for each sender of the paper."""
    def draw(axes):
        for axis, (name, step) in zip(axes, steps.items()):
            for flow, words in FLOWS.items():
                points = means(runs[name, share, step], flow,
                               min(SPANS[-1], step / 6))
                axis.plot(*zip(*(p for p in points if p[1] > 0)), label=words)
            axis.set_title(f"{name}, steps of {step} s")
            axis.set_xlabel("s")
            axis.set_ylim(bottom=0)
        axes[0].set_ylabel("Mbit/s")
        axes[0].legend(fontsize=7)
    return draw


def unrest(run, step, span):
    """How much the rates of the three flows vary, one span after the other, in
    the second half of the step in which all are there."""
    return mean([variation([r for t, r in means(run, flow, span)
                            if 2.5 * step < t - span and t <= 3 * step])
                 for flow in FLOWS])


def report(page, runs, quick):
    claims(page, runs, quick)
    page.papers_figures("yam-fast", *FIGURES)
    page.text(
        "Three flows of 100, 150 and 200 ms share 400 Mbit/s, with a queue of "
        f"2000 and windows of {WINDOW}. A run has four steps. The second flow "
        "joins in the second step, the third is there in the third step only. "
        f"The paper's steps are of {STEP} s; here they are "
        + ("shorter" if quick else "the same, and of a minute for comparison")
        + ". FAST's target is 200 packets. The paper does not say whether its "
        "delays are one-way or round-trip. If they are one-way, windows of "
        f"{WINDOW} bound the flows to 125, 83 and 62 Mbit/s, so that windows, "
        "not senders, set all shares. If they are round-trip, the flows fill "
        "the link, so they are taken as round-trip here"
        + (", but for the quick set" if quick else "") + ". Nothing is left to "
        "chance, so there is one run each.")
    page.heading("Table 1")
    page.text("Jain index of the flows that are there, and their Mbit/s:")
    page.table(("sender", "delays taken as", "steps of", "two flows", "three",
                "two again"),
               [row(runs, kind[0], *rest) for kind, *rest in points(quick)])
    if not quick:
        trials(page, runs)
        pipes(page, runs)
        targets(page, runs)
    page.heading("Figure 25")
    for share in dict.fromkeys(x[1] for x in points(quick)):
        steps = {}
        for kind, way, step in points(quick):
            if way == share:
                steps.setdefault(kind[0], step)
        page.figure(f"25-{WAYS[share]}", "Figure 25: rates over time; the "
                    f"printed delays taken as {WAYS[share]}",
                    panels(runs, steps, share), size=(8, 2.4), columns=3)
