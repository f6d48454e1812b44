# SPDX-License-Identifier: MPL-2.0
"""TCP Yam on slow links: Figures 7 to 22."""
from .lab import Job, pacing
from .numbers import brief, half_width, jain, mean, ratio, show
from .page import FAILS, HOLDS, IDLE, Figure, above, only, telling

TITLE = "TCP Yam"
AUTHORS = "Tsai, Wang and Wang (2014) on slow links,"
PACKET = 1040      # bytes
WIRE = 8 * PACKET  # bits
# Name, controller, recovery, its parameter.  Yam repairs all that is missing at
# once, so it needs a sender that knows what is missing; FAST's target is 5
# packets, for ns-2's default of 100 would not fit into a queue of 18.
YAM = ("Yam", "yam", "packet", ("iw", 1))
RENO = ("Reno", "reno", "dupack-reno", ("iw", 1))
VEGAS = ("Vegas", "vegas", "dupack-reno", ("iw", 1))
FAST = ("FAST", "fast", "packet", ("alpha", 5))
GREEDY = ("FAST, target 100, Reno's recovery", "fast", "dupack-reno",
          ("alpha", 100))
PEACH = ("Peach", "peach", "packet", ("iw", 1))
MODERN = (("CUBIC", "cubic", "packet", ("iw", 1)),
          ("BBR", "bbr", "packet", ("seed", 0)))
KINDS = (YAM, RENO, FAST, PEACH)
READINGS = (("as adopted", "iw", 1), ("equal RTTs change nothing", "eq_hold", 1),
            ("RTTs of rounds", "per_round", 1),
            ("timeouts as losses", "rto_as_dupack", 1))
CHIS = (0.3, 0.5, 0.75, 1)  # parts that a loss leaves of the window
CROWD = 8  # flows with which chi and RED are tried
SPREADS = (0.01, 0.05, 0.2, 1)  # s within which the flows of a pair start
LOSSES = (0.3, 0.7)  # s between which both lose first in the paper
# In place of a seed: flows start at the moments named, all of a pair at 0 s, as
# the losses of both at 0.3 to 0.7 s in the paper suggest.
TOGETHER = 0
SMOOTH = 0.5  # s
PERIODS = (5, 6, 4, 5)  # s of yam-dynamic.scn
WAVER = 0.2  # s that the starts of the flows that come and go waver, by seed


FIGURES = (
    Figure("Figure 7", "cwnd of one flow falls once, between 0 and 1 s, and is "
           "stable from then on", ("fig7.one-loss",)),
    Figure("Figure 8", "its throughput is high and flat", ("fig8.full",)),
    Figure("Figure 10", "cwnd of two flows: fair", ("fig11.fair",)),
    Figure("Figure 11", "throughput of two flows: fair", ("fig11.fair",)),
    Figure("Figure 12", "cwnd: losses at 0.3 to 0.7 s; Yam recovers quicker "
           "than Reno", ("fig13.more",), False, "Losses at that time "
           "need starts within 0.2 s. If starts are within 10 ms, Yam takes "
           "more in every run; within 50 ms chance decides (below)"),
    Figure("Figure 13", "throughput: Yam takes clearly more than Reno",
           ("fig13.more",)),
    Figure("Figure 14", "cwnd: Yam above Vegas", ("fig15.more",)),
    Figure("Figure 15", "throughput: Yam much higher than Vegas",
           ("fig15.more",), False, "Reno, Peach, CUBIC and BBR are higher than Vegas, too"),
    Figure("Figure 17", "total throughput by number of flows: Yam about "
           "Reno's, both above FAST", ("fig17.reno", "fig17.fast")),
    Figure("Figure 18", "fairness of Yam lower for 3 to 5 flows, similar "
           "beyond", ("fig18.few", "fig18.many")),
)
DYNAMIC = (
    Figure("Figure 21", "cwnd: green starts slowly beside red",
           ("fig22.slow",)),
    Figure("Figure 22", "throughput: green starts slowly and does not fill "
           "the link alone", ("fig22.slow", "fig22.alone"), False,
           "Tenths of a second between the starts decide"),
)


def seeds(quick):
    return range(1, 4 if quick else 11)


def kinds(quick):
    return KINDS if quick else (*KINDS, VEGAS, *MODERN)


def counts(quick):
    return (1, 3, 4, 5, 8, 10) if quick else range(1, 11)


def side(kind, letter):
    """The parameters of yam.scn that choose a controller."""
    _, controller, manner, (param, value) = kind
    return {letter: controller, f"{letter}_manner": manner,
            f"{letter}_param": param, f"{letter}_value": value,
            f"{letter}_pacing": pacing(controller)}


def alone(kind):
    _, controller, manner, (param, value) = kind
    return {"congestion": controller, "manner": manner, "param": param,
            "value": value, "pacing": pacing(controller)}


def dumbbell(kind, **more):
    return Job.of("yam", **side(kind, "a"), **more,
                  **({"lower_effort": "on"} if kind is PEACH else {}))


def plan(quick):
    jobs = {}
    for n in counts(quick):
        for seed in seeds(quick):
            jobs["many", GREEDY[0], n, seed] = dumbbell(
                GREEDY, n_a=n, window=24, stagger=1, seed=seed)
    for kind in kinds(quick):
        jobs["one", kind[0]] = dumbbell(kind, window=20, duration=10,
                                        sample=0.05)
        for n in counts(quick):
            for seed in seeds(quick):
                jobs["many", kind[0], n, seed] = dumbbell(
                    kind, n_a=n, window=24, stagger=1, seed=seed)
        jobs["dynamic", kind[0], TOGETHER] = Job.of(
            "yam-dynamic", **alone(kind), sample=0.25)
        for seed in seeds(quick):
            jobs["dynamic", kind[0], seed] = Job.of(
                "yam-dynamic", **alone(kind), stagger=WAVER, seed=seed)
    for other in (YAM, RENO, VEGAS) + MODERN:
        for seconds in (10, 100):
            same = {**side(other, "b"), "n_b": 1, "window": 24,
                    "duration": seconds}
            jobs["pair", other[0], seconds, TOGETHER] = dumbbell(
                YAM, **same, **({"sample": 0.1} if seconds == 10 else {}))
            for seed in seeds(quick):
                jobs["pair", other[0], seconds, seed] = dumbbell(
                    YAM, **same, stagger=1, seed=seed)
    for kind in kinds(quick):  # in Yam's place beside Vegas
        for seed in (TOGETHER, *seeds(quick)):
            jobs["vegas", kind[0], seed] = dumbbell(
                kind, **side(VEGAS, "b"), n_b=1, window=24, duration=10,
                **({"stagger": 1, "seed": seed} if seed else {}))
    for seed in () if quick else seeds(quick):
        for other in (YAM, RENO):
            for spread in SPREADS:
                jobs["start", other[0], spread, seed] = dumbbell(
                    YAM, **side(other, "b"), n_b=1, window=24, duration=10,
                    sample=0.02, stagger=spread, seed=seed)
        for chi in CHIS:
            jobs["chi", chi, seed] = dumbbell(
                ("Yam", "yam", "packet", ("chi", chi)), n_a=CROWD, window=24,
                stagger=1, seed=seed)
        for kind in (YAM, RENO, VEGAS):
            jobs["red", kind[0], seed] = dumbbell(
                kind, n_a=CROWD, window=24, stagger=1, seed=seed, red=1)
    for words, param, value in READINGS[1:]:
        kind = ("Yam", "yam", "packet", (param, value))
        for other in (YAM, RENO):
            mine = kind if other is YAM else other
            for seed in seeds(quick):
                jobs["reading", words, other[0], seed] = dumbbell(
                    kind, **side(mine, "b"), n_b=1, window=24, stagger=1,
                    seed=seed)
    return jobs


# ---- what the runs say ----

def rate(flows, seconds):
    """Of all the flows, kbit/s with headers."""
    return sum(x["segments"] for x in flows) * WIRE / seconds / 1000


def pair(runs, other, seconds, quick):
    """Per seed, kbit/s of Yam and of the other."""
    return [tuple(rate(runs["pair", other, seconds, s].flows(f), seconds)
                  for f in "ab") for s in seeds(quick)]


def together(runs, other, seconds):
    """The same when both start at once."""
    run = runs["pair", other, seconds, TOGETHER]
    return tuple(rate(run.flows(f), seconds) for f in "ab")


def dynamic(runs, kind, period, flow, quick):
    """Per seed, kbit/s of a flow that comes and goes."""
    return [rate(runs["dynamic", kind, s].flows(flow, period), PERIODS[period])
            for s in seeds(quick)]


def reading(runs, words, other, quick):
    """The same by another reading of Yam, over 100 s."""
    return [tuple(rate(runs["reading", words, other, s].flows(f), 100)
                  for f in "ab") for s in seeds(quick)]


def many(runs, kind, n, quick):
    return [runs["many", kind, n, s].flows("a") for s in seeds(quick)]


def totals(runs, kind, n, quick):
    """Per seed."""
    return [rate(f, 100) for f in many(runs, kind, n, quick)]


def jains(runs, kind, n, quick):
    """Per seed."""
    return [jain([x["segments"] for x in f])
            for f in many(runs, kind, n, quick)]


def over(runs, what, kind, numbers, quick):
    """Per seed, the mean of what over these numbers of flows."""
    return [mean(x) for x in zip(*(what(runs, kind, n, quick)
                                   for n in numbers))]


def at(samples, t):
    """The last sample not after t."""
    return [x for x in samples if x["t"] <= t + 1e-9][-1]


# ---- figures ----

def curves(run, names, field, title=""):
    """Window, or throughput over the last SMOOTH s, over time, as long as the
    flow runs."""
    def draw(axis):
        axis.set_title(title)
        for name, words in names:
            x = run.samples(name)
            step = x[1]["t"] - x[0]["t"]
            back = max(1, round(SMOOTH / step))
            gone = next(s["t"] for s in x
                        if s["segments"] == x[-1]["segments"]) + step
            if field == "cwnd":
                points = [(s["t"], s["cwnd"]) for s in x]
            else:
                points = [(b["t"], (b["segments"] - a["segments"]) * WIRE
                           / (b["t"] - a["t"]) / 1e6)
                          for a, b in zip(x, x[back:])]
            axis.plot(*zip(*(p for p in points if p[0] <= gone)), label=words)
        axis.set_xlabel("s")
        axis.set_ylabel("cwnd, packets" if field == "cwnd" else "Mbit/s")
        axis.set_ylim(bottom=0)
        axis.legend(fontsize=7)
    return draw


def over_flows(runs, quick, what, words):
    def draw(axis):
        for kind in (*KINDS, GREEDY):
            n = list(counts(quick))
            y = [what(runs, kind[0], i, quick) for i in n]
            axis.errorbar(n, [mean(x) for x in y], fmt="o-", ms=3, capsize=2,
                          yerr=[half_width(x) for x in y], label=kind[0])
        axis.set_xlabel("flows")
        axis.set_ylabel(words)
        axis.legend(fontsize=7)
    return draw


def figures(page, runs, quick):
    page.heading("Figures")
    for number, key, names, title in (
            ("7 and 8", ("one", "Yam"), (("a", "Yam"),), "Yam alone"),
            ("10 and 11", ("pair", "Yam", 10, TOGETHER),
             (("a", "Yam"), ("b", "another")), "two of Yam, from 0 s on"),
            ("12 and 13", ("pair", "Reno", 10, TOGETHER),
             (("a", "Yam"), ("b", "Reno")), "Yam beside Reno, from 0 s on"),
            ("14 and 15", ("pair", "Vegas", 10, TOGETHER),
             (("a", "Yam"), ("b", "Vegas")), "Yam beside Vegas, from 0 s on"),
            ("21 and 22", ("dynamic", "Yam", TOGETHER),
             (("red", "0 to 11 s"), ("green", "5 to 15 s"),
              ("blue", "from 15 s")), "flows that come and go")):
        run = runs[key]
        page.figure(number.replace(" and ", "-"), f"Figures {number}: {title}",
                    lambda axes, run=run, names=names: [
                        curves(run, names, field)(axis)
                        for field, axis in zip(("cwnd", "rate"), axes)],
                    size=(8, 2.4), columns=2)
    page.figure("17-18", "Figures 17 and 18: flows of one kind; bars are 95 % "
                "confidence intervals",
                lambda axes: (
                    over_flows(runs, quick, totals, "kbit/s together")(axes[0]),
                    over_flows(runs, quick, jains, "Jain index")(axes[1])),
                size=(8, 2.8), columns=2)


# ---- claims ----

def others(quick):
    """Those that are tried in Yam's place."""
    return [k[0] for k in kinds(quick) if k is not YAM]


def cuts_of_one(runs, kind):
    """Of a flow alone, in its first second and in all."""
    samples = runs["one", kind].samples("a")
    return at(samples, 1)["cuts"], samples[-1]["cuts"]


def claim_one(page, runs, quick):
    run = runs["one", "Yam"]
    early, end = cuts_of_one(runs, "Yam")
    page.claim("fig7.one-loss", "Figures 7, 8: one flow loses once in its "
               "first second and never again", telling(early == end == 1, all(
                   cuts_of_one(runs, k) == (1, 1) for k in others(quick))),
               f"{early:g} reduction(s) in 1 s, {end:g} in 10 s", seeds=1)
    got = rate(run.flows("a"), 10)
    rest = {k: rate(runs["one", k].flows("a"), 10) for k in others(quick)}
    page.claim("fig8.full", "Figure 8: its throughput is high and flat",
               telling(got > 950, min(rest.values()) > 950),
               f"{got:.0f} of 1000 kbit/s; the others in its place "
               f"{min(rest.values()):.0f} to {max(rest.values()):.0f}",
               expect=IDLE, seeds=1)


def claim_pairs(page, runs, quick):
    j = [jain(p) for p in pair(runs, "Yam", 100, quick)]
    once = jain(together(runs, "Yam", 10))
    at_once = only("when both start at once")
    page.claim("fig11.fair", "Figures 10, 11: two of Yam share fairly "
               "(Jain 0.95 and more)", mean(j) >= 0.95
               or (at_once if once >= 0.95 else FAILS),
               f"Jain {once:.3f} in 10 s when both start at 0 s; over 100 s "
               f"with starts within 1 s {show(j)}", expect=at_once)
    reno = [ratio(*p) for p in pair(runs, "Reno", 100, quick)]
    hold = [ratio(*p) for p in reading(runs, READINGS[1][0], "Reno", quick)]
    once = ratio(*together(runs, "Reno", 10))
    when = only("when both start at once, or when equal RTTs change nothing "
                "(the prose; the formula says that they shrink the window)")
    page.claim("fig13.more", "Figures 12, 13: Yam takes clearly more than "
               "Reno", mean(reno) > 1.2 + half_width(reno)
               or (when if min(once, mean(hold)) > 1.2 else FAILS),
               f"Yam over Reno {once:.2f} in 10 s when both start at 0 s; over "
               f"100 s with starts within 1 s {show(reno)}, and when equal "
               f"RTTs change nothing {show(hold)}", expect=when)
    claim_vegas(page, runs, quick)


def over_vegas(runs, kind, quick):
    """What one flow takes over Vegas' in 10 s: both at once, and by seed."""
    once, *spread = (ratio(*(rate(runs["vegas", kind, s].flows(f), 10)
                             for f in "ab")) for s in (TOGETHER, *seeds(quick)))
    return once, spread


def claim_vegas(page, runs, quick):
    once, spread = over_vegas(runs, "Yam", quick)
    rest = {k: over_vegas(runs, k, quick) for k in others(quick)}
    page.claim("fig15.more", "Figures 14, 15: Yam takes much more than Vegas",
               telling(min(once, mean(spread)) > 1.5, all(
                   min(a, mean(b)) > 1.5 for a, b in rest.values())),
               f"Yam over Vegas in 10 s {once:.2f} when both start at 0 s, with "
               f"starts within 1 s {show(spread)}; in its place " + ", ".join(
                   f"{k} {a:.2f} and {mean(b):.2f}"
                   for k, (a, b) in rest.items()),
               expect=IDLE if quick else HOLDS)


def claim_many(page, runs, quick):
    every = {k: over(runs, totals, k, counts(quick), quick)
             for k in ("Yam", "Reno", "FAST", GREEDY[0])}
    sums = {k: mean(v) for k, v in every.items()}
    page.claim("fig17.reno", "Figure 17: Yam's total is about Reno's",
               abs(sums["Yam"] / sums["Reno"] - 1) < 0.05,
               "mean over the numbers of flows: Yam "
               f"{brief(every['Yam'], 0)}, Reno {brief(every['Reno'], 0)} "
               "kbit/s")
    ours = min(sums["Yam"], sums["Reno"])
    greedy = only("with a target of 100 packets, ns-2's default, and Reno's "
                  "recovery")
    page.claim("fig17.fast", "Figure 17: both are above FAST",
               ours > sums["FAST"] or (greedy if ours > 1.02 * sums[GREEDY[0]]
                                       else FAILS),
               f"FAST {brief(every['FAST'], 0)} kbit/s with a target of 5, and "
               f"{brief(every[GREEDY[0]], 0)} with one of 100, which is more "
               "than the queue holds", expect=greedy)
    few, rest = ({k: over(runs, jains, k, numbers, quick)
                  for k in ("Yam", "Reno")} for numbers in ((3, 4, 5), (8, 10)))
    page.claim("fig18.few", "Figure 18: of 3 to 5 flows, those of Yam are less "
               "fair", mean(few["Yam"]) < mean(few["Reno"]) - 0.02,
               f"Jain: Yam {brief(few['Yam'])}, Reno {brief(few['Reno'])}")
    page.claim("fig18.many", "Figure 18: beyond, fairness is similar",
               abs(mean(rest["Yam"]) - mean(rest["Reno"])) < 0.02,
               f"Jain of 8 and 10: Yam {brief(rest['Yam'])}, Reno "
               f"{brief(rest['Reno'])}")


def claims_text(page, runs, quick):
    """What the paper says in its text, without a figure."""
    def total(*key):
        return [rate(runs[(*key, s)].flows("a"), 100) for s in seeds(quick)]
    every = {k: over(runs, totals, k, counts(quick), quick)
             for k in ("Yam", "Reno", "Vegas")}
    page.claim("text.higher", "Conclusion: Yam's throughput is higher than "
               "Vegas' and Reno's", above(every, ("Yam", "Vegas"),
                                          ("Yam", "Reno")),
               "kbit/s together, mean over the numbers of flows: " + ", ".join(
                   f"{k} {brief(v, 0)}" for k, v in every.items()),
               expect=FAILS)
    by_chi = {chi: total("chi", chi) for chi in CHIS}
    page.claim("text.chi", "Section 3.2: chi above 1/2 gives a higher "
               "throughput", above(by_chi, (0.75, 0.5), (1, 0.5)),
               f"{CROWD} flows, kbit/s: " + ", ".join(
                   f"{c:g}: {brief(v, 0)}" for c, v in by_chi.items()),
               expect=FAILS)
    red = {k: total("red", k) for k in ("Yam", "Reno", "Vegas")}
    fair = {k: [jain([x["segments"] for x in runs["red", k, s].flows("a")])
                for s in seeds(quick)] for k in red}
    page.claim("text.red", "Section 4.1 has RED as the second queue, without "
               "results: Yam fills the link with it, too (to 0.9)",
               mean(red["Yam"]) > 900, f"{CROWD} flows, kbit/s and Jain: "
               + ", ".join(f"{k} {brief(red[k], 0)}, {brief(fair[k], 2)}"
                           for k in red))


def claim_dynamic(page, runs, quick):
    red, green = (dynamic(runs, "Yam", 1, f, quick) for f in ("red", "green"))
    page.claim("fig22.slow", "Figures 21, 22: the second flow starts slowly "
               "beside the first", telling(mean(green) < mean(red), all(
                   mean(dynamic(runs, k, 1, "green", quick))
                   < mean(dynamic(runs, k, 1, "red", quick))
                   for k in others(quick))),
               f"{brief(green, 0)} beside {brief(red, 0)} kbit/s")
    left = dynamic(runs, "Yam", 2, "green", quick)
    some = only("for some starts: tenths of a second decide")
    page.claim("fig22.alone", "Figure 22: alone, it does not fill the link "
               "(to 0.9)", max(left) < 900 or (some if min(left) < 900
                                               else FAILS),
               f"{show(left, 0)} of 1000 kbit/s once the first has left",
               expect=FAILS if quick else some)


# ---- tables ----

def table_many(page, runs, quick):
    page.heading("Flows of one kind")
    page.text("kbit/s together and Jain index over 100 s by number of flows, "
              "window 24, starts spread over 1 s:")
    numbers = list(counts(quick))
    page.table(("kind", *numbers), [
        (k[0], *(f"{mean(totals(runs, k[0], n, quick)):.0f}, "
                 f"{brief(jains(runs, k[0], n, quick), 2)}" for n in numbers))
        for k in kinds(quick)])


def table_pairs(page, runs, quick):
    page.heading("Yam beside another")
    page.text("kbit/s of one flow of Yam / of one of another kind, window 24; "
              "both from 0 s on, and with starts spread over 1 s:")
    rows = []
    for other in (YAM, RENO, VEGAS) + MODERN:
        cells = []
        for seconds in (10, 100):
            cells.append("{:.0f} / {:.0f}".format(
                *together(runs, other[0], seconds)))
            both = pair(runs, other[0], seconds, quick)
            cells.append(" / ".join(show([x[i] for x in both], 0)
                                    for i in (0, 1)))
        rows.append((other[0], *cells))
    page.table(("other", "10 s, at once", "10 s, spread", "100 s, at once",
                "100 s, spread"), rows)


def lost_as_printed(run):
    """Whether both flows lose first when they do in the paper."""
    first = [next((x["t"] for x in run.samples(f) if x["cuts"] > 0), 0)
             for f in "ab"]
    return LOSSES[0] <= min(first) and max(first) <= LOSSES[1]


def table_starts(page, runs, quick):
    page.text(
        "In the paper both flows of Figure 12 lose first at "
        f"{LOSSES[0]} to {LOSSES[1]} s. The table has rates over 10 s, Yam's "
        "over Reno's, and Jain's index of two flows of Yam, by how far the "
        "starts are spread, and in how many of the runs beside Reno both lose "
        "first at that time:")

    def every(other, spread):
        return [runs["start", other[0], spread, s] for s in seeds(quick)]

    def rates(run):
        return [rate(run.flows(f), 10) for f in "ab"]
    page.table(("starts within, s", "Yam over Reno", "Jain's index of two",
                "losses as printed"), [
        (x, show([ratio(*rates(r)) for r in every(RENO, x)], 2),
         show([jain(rates(r)) for r in every(YAM, x)], 2),
         f"{sum(map(lost_as_printed, every(RENO, x)))} of {len(seeds(quick))}")
        for x in SPREADS])


def table_readings(page, runs, quick):
    page.heading("Values that the paper leaves open")
    page.text("Shares over 100 s (kbit/s) by the reading of Yam's rules. "
              "Figures 7 and 8 are reproduced with every reading:")
    rows = []
    for words, *_ in READINGS:
        cells = []
        for other in (YAM, RENO):
            both = pair(runs, other[0], 100, quick) if words == "as adopted" \
                else reading(runs, words, other[0], quick)
            cells += [show([a for a, _ in both], 0),
                      show([b for _, b in both], 0)]
        rows.append((words, *cells))
    page.table(("reading", "Yam", "the other Yam", "Yam", "Reno beside it"),
               rows)


def table_dynamic(page, runs, quick):
    page.heading("Three flows that come and go")
    page.text(f"kbit/s; starts vary by up to {WAVER} s:")

    def cell(kind, period, *flows):
        return " / ".join(brief(dynamic(runs, kind[0], period, f, quick), 0)
                          for f in flows)
    page.table(("kind", "0-5 s: first", "5-11 s: first / second",
                "11-15 s: second", "15-20 s: third"), [
        (k[0], cell(k, 0, "red"), cell(k, 1, "red", "green"),
         cell(k, 2, "green"), cell(k, 3, "blue")) for k in kinds(quick)])


def report(page, runs, quick):
    claim_one(page, runs, quick)
    claim_pairs(page, runs, quick)
    claim_many(page, runs, quick)
    claim_dynamic(page, runs, quick)
    if not quick:
        claims_text(page, runs, quick)
    page.papers_figures("yam", *FIGURES)
    page.papers_figures("yam-dynamic", *DYNAMIC)
    page.text(
        "Figure 25 and Table 1 have [a page of their own](yam-fast.md). "
        "A dumbbell of 1 Mbit/s, 4 ms, queue 18, with access links of "
        "10 Mbit/s, 1 ms, and windows of 20 (one flow) and 24. The paper does "
        "not give the following, which is ours: packets have 1040 bytes; Yam "
        "repairs by packet numbers, because it needs to know all that is "
        "missing within one round trip; FAST's target is 5 packets; routers "
        f"drop Peach's dummies first. Rates count headers. {len(seeds(quick))} "
        "seeds move the starts by up to a second. One flow alone, and flows "
        "that start at the moments named, leave nothing to chance and are run "
        "once.")
    table_many(page, runs, quick)
    table_pairs(page, runs, quick)
    if not quick:
        table_starts(page, runs, quick)
    table_dynamic(page, runs, quick)
    table_readings(page, runs, quick)
    figures(page, runs, quick)
