# SPDX-License-Identifier: MPL-2.0
"""STFRC beside TCP SACK: what the paper claims, judged by the runs."""
import itertools

from .numbers import brief, half_width, mean, ratio, show, variation
from .page import AS_FAR, FAILS, HOLDS, IDLE, only, telling
from .stfrc_runs import (FAR, FEW, MANY, RATIOS, RIVALS, SPARSE, UNTIL, UPLINKS,
                         feedback, loss, use)

ROOM = only("with 4 flows of each kind or more, and 0.25 Mbit/s or more per "
            "pair")
QUEUES = "drop-tail", "RED"  # by whether it is RED
ONE_QUEUE = only("with drop-tail; the paper does not say which queue")
DISTANT = only(f"where the destinations are {FAR} to {FAR + 20} ms from the "
               "bottleneck, not 0 to 20; the paper says that their distances "
               "vary, not how far they are")


def is_fair(shares):
    return 0.7 <= mean(shares) <= 1.4


class Shares:
    """TCP's normalised throughput over Figure 4's points, of some seeds."""

    def __init__(self, v, points, seeds, *key):
        self.cells = {(n, bw): [v.tcp(*key, n, bw, x) for x in seeds]
                      for n, bw in points}
        self.wide = [c for (n, bw), c in self.cells.items()
                     if n >= 4 and bw / n >= 0.25]

    def means(self):
        """By seed."""
        return [mean(x) for x in zip(*self.cells.values())]

    def fair(self):
        return sum(map(is_fair, self.cells.values()))

    def fair_text(self):
        return (f"normalised throughput of TCP {ends(self.cells.values())}, "
                f"fair at {self.fair()} of {len(self.cells)} points")


def ends(some):
    return " to ".join(brief(f(some, key=mean), 2) for f in (min, max))


def clearly(gaps):
    """The verdict on differences being above 0."""
    return mean(gaps) > half_width(gaps) or (
        AS_FAR if mean(gaps) > 0 else FAILS)


def with_far(near, far=FAILS):
    """The verdict of what does not simply hold near, but may hold far away."""
    return DISTANT if near is not True and far is True else near


def claim_small(page, v, s, red, more):
    """Of a small bottleneck: with many flows TCP gets more, with few less."""
    points = s.small_points(MANY) if more else s.small_points(most=FEW)
    seeds = s.few if more else s.judges
    places = [Shares(v, points, seeds, kind, red)
              for kind in (("sym", "far") if s.ways else ("sym",))]
    page.claim(
        f"fig4.{QUEUES[red]}.{'many' if more else 'few'}", "Figure 4: with "
        + ("many flows and a small bottleneck TCP gets more (the paper: a "
           "little)" if more else
           "few flows and a small bottleneck TCP gets a little less"),
        with_far(*(clearly([x - 1 if more else 1 - x for x in c.means()])
                   for c in places)),
        "TCP, mean over " + (f"{MANY} flows and more" if more else
                             f"1 and {FEW} flows")
        + f" of each kind, up to {s.small} Mbit/s: " + "; ".join(
            f"{place}{brief(c.means(), 2)} (" + ", ".join(
                f"{n}, {bw}: {brief(x, 2)}" for (n, bw), x in c.cells.items())
            + ")" for place, c in zip(("", f"{FAR} ms away "), places)),
        expect=DISTANT if red and more and s.ways else HOLDS,
        seeds=len(seeds))


def claims_symmetric(page, v, s, quick):
    points = list(itertools.product(s.flows, s.rates))
    for red, name in enumerate(QUEUES):
        near = Shares(v, points, s.few, "sym", red)
        far = Shares(v, () if quick else points, s.few, "far", red)
        verdict = near.fair() == len(points) or (
            ROOM if all(map(is_fair, near.wide)) else FAILS)
        page.claim(f"fig4.{name}", f"Figure 4: with {name} TCP gets about its "
                   "fair share (0.7 to 1.4)", with_far(
                       verdict, bool(far.cells) and far.fair() == len(points)),
                   f"{near.fair_text()}; with 4 flows or more and 0.25 Mbit/s "
                   f"or more per pair {ends(near.wide)}" + (
                       f"; {FAR} ms away {far.fair_text()}" if far.cells
                       else ""),
                   expect=DISTANT if red and not quick else HOLDS)
        claim_small(page, v, s, red, True)
        if not quick:
            claim_small(page, v, s, red, False)


def claim_few(page, v, s):
    """Of the thin uplink; short runs are still under slow start's spell."""
    cells = {(n, bw): [v.stfrc("asym", UPLINKS[2], n, bw, x) for x in s.few]
             for n in s.thin_flows if n <= 4 for bw in s.thin_rates if bw <= 16}
    page.claim("fig5.few", "Figure 5: at 0.0384 Mbit/s STFRC is reasonable "
               "(half its fair share) with few flows up to 16 Mbit/s",
               all(mean(c) >= 0.5 for c in cells.values()),
               "STFRC by flows and Mbit/s: " + ", ".join(
                   f"{n}, {bw}: {brief(c, 2)}" for (n, bw), c in cells.items()))


def claims_asymmetric(page, v, s):
    top, bw = s.top, s.thin_rate
    wide = [[v.tcp("asym", u, n, b, x) for x in s.few] for u in UPLINKS[:2]
            for n in s.thin_flows for b in s.thin_rates if b / n >= 0.25]
    page.claim("fig5.wide-uplinks", "Figure 5: fair with uplinks of 3.84 and "
               "0.384 Mbit/s, with at least 0.25 Mbit/s per pair of flows",
               all(map(is_fair, wide)), "TCP "
               + " to ".join(brief(f(wide, key=mean), 2) for f in (min, max)))
    thin = ("asym", UPLINKS[2], top, bw)
    tcp, told_tcp = ([v.tcp(*k, x) for x in s.few]
                     for k in (thin, ("told", bw)))
    stfrc, told = ([v.stfrc(*k, x) for x in s.few]
                   for k in (thin, ("told", bw)))
    page.claim("fig6.thin-uplink", "Figures 5 and 6: at 0.0384 Mbit/s TCP "
               "dominates for many flows", mean(tcp) > 1.3,
               f"{top} + {top} flows, {bw} Mbit/s: TCP {brief(tcp, 2)}, STFRC "
               f"{brief(stfrc, 2)}")
    page.claim("uplink-known", "Told of its part of the uplink, STFRC asks "
               "less often and gets more (ours)",
               mean(told) > 1.2 * mean(stfrc),
               f"STFRC {brief(stfrc, 2)} → {brief(told, 2)}, TCP "
               f"{brief(tcp, 2)} → {brief(told_tcp, 2)}")
    ways = {u: list(zip(*(v.feedback(s.span, "asym", u, top, bw, x)
                          for x in s.few))) for u in UPLINKS}
    way = {u: mean(w[2]) for u, w in ways.items()}
    page.claim("fig7.feedback-delay", "Figure 7: the delay of the "
               "feedback grows only with the uplink of 0.0384 Mbit/s",
               way[0.0384] > 3 * way[3.84] and way[0.384] < 2 * way[3.84],
               ", ".join(f"{u}: {brief([1000 * x for x in w[2]], 0)} ms"
                         for u, w in ways.items()))
    page.claim("fig8.feedback-rate", "Figure 8: the feedback fills the "
               "uplink of 0.0384 Mbit/s", mean(ways[0.0384][1]) > 0.85 * 38.4,
               ", ".join(f"{u}: {brief(w[1], 1)} kbit/s, {brief(w[0], 0)} "
                         "STATUS/s" for u, w in ways.items()))


def claims_flows(page, v, s):
    keys = [("sym", 1, n, s.per_flow) for n in s.flows if n > 1]
    keys += [("asym", 0.384, n, s.per_flow) for n in s.thin_flows if n > 1]
    cov = [[v.cov(flow, *k, x) for x in s.few] for k in keys
           for flow in ("tcp", "stfrc")]
    rest = [[v.cov("tcp", "rival", u, r, x) for x in s.few]
            for r in RIVALS for u in (0, UPLINKS[1])]
    page.claim("fig9.spread", "Figures 9 and 10: flows of a kind do not differ "
               "wildly (coefficient of variation below 0.5)",
               telling(all(mean(c) < 0.5 for c in cov),
                       all(mean(c) < 0.5 for c in rest)),
               f"{s.per_flow} Mbit/s, RED: "
               + " to ".join(brief(f(cov, key=mean), 2) for f in (min, max))
               + " by number of flows, kind and topology; flows of Reno, CUBIC "
               "and BBR " + " to ".join(
                   brief(f(rest, key=mean), 2) for f in (min, max)),
               expect=IDLE)


class Variation:
    """How much flows differ, by loss, with drop-tail or RED."""

    def __init__(self, v, s, red):
        def each(bw, what):
            return [what("cov", red, bw, x) for x in s.seeds]
        self.rows = sorted((
            mean(each(bw, lambda *k: loss(v.runs[k]))), bw,
            *(each(bw, lambda *k, f=f: v.cov(f, *k)) for f in (
                "tcp", "stfrc"))) for bw in s.cov_rates)

    def holds(self):
        return all(mean(stfrc) < mean(tcp) for lost, _, tcp, stfrc in self.rows
                   if lost < UNTIL)

    def numbers(self):
        lower = [mean(stfrc) < mean(tcp) for _, _, tcp, stfrc in self.rows]
        return f"at {sum(lower)} of {len(lower)} losses (" + "; ".join(
            f"{100 * lost:.1f} %: TCP {brief(tcp, 2)}, STFRC {brief(stfrc, 2)}"
            for lost, _, tcp, stfrc in self.rows) + ")"


def claims_variation(page, v, s, quick):
    tail, red = (Variation(v, s, x) for x in (0, 1))
    page.claim("fig11.variation", "Figure 11: up to 13 % loss STFRC flows "
               "differ less from each other than TCP flows",
               tail.holds() and red.holds()
               or (ONE_QUEUE if tail.holds() else FAILS),
               "STFRC's coefficient of variation is lower with drop-tail "
               f"{tail.numbers()}, with RED {red.numbers()}",
               expect=HOLDS if quick else ONE_QUEUE, seeds=len(s.seeds))
    return tail, red


def unrest(run, flow):
    """Mean of how much the rates of a flow's neighbouring samples differ, over
    their mean."""
    s = run.samples(flow)
    rates = [b["arrived_bytes"] - a["arrived_bytes"] for a, b in zip(s, s[1:])
             if b["t"] > 10]
    steps = [abs(b - a) for a, b in zip(rates, rates[1:])]
    return ratio(mean(steps), mean(rates))


def claim_smooth(page, v, s):
    tcp, stfrc = ([unrest(v.runs["rate", x], f) for x in s.few]
                  for f in ("tcp", "stfrc"))
    page.claim("fig12.smoother", "Figure 12: the rate of an STFRC flow changes "
               "less from 0.1 s to 0.1 s than that of a TCP flow",
               mean(stfrc) < mean(tcp), "mean change over the mean rate: TCP "
               f"{brief(tcp, 2)}, STFRC {brief(stfrc, 2)}")


def claims_text(page, v, s):
    values = {sr: [v.tcp("sr", sr, x) for x in s.few] for sr in RATIOS}
    page.claim("text.symmetry-ratio", "Symmetry ratios of 0.5, 0.6, 0.7 give "
               "the same", max(map(mean, values.values())) - min(
                   map(mean, values.values())) < 0.15,
               ", ".join(f"{sr}: TCP {show(x, 2)}" for sr, x in
                         values.items()))
    claim_status(page, v, s)


def claim_status(page, v, s):
    rows = []
    for known in SPARSE:
        beside = [("sparse", known, x) for x in s.few]
        alone = [v.runs["step", known, x] for x in s.few]
        rows.append((mean([feedback(v.runs[k], s.span)[0] / 16
                           for k in beside]),
                     *([use(r, period) for r in alone] for period in (0, 1)),
                     [v.stfrc(*k) for k in beside]))
    before, after = ([mean(r[i]) for r in rows] for i in (1, 2))
    page.claim("text.fewer-status", "With fewer STATUS than one per round trip "
               "STFRC is slow to react",
               all(x[0] > x[2] + 0.1 for x in (before, after)),
               "use of the link by 8 flows alone before it falls to a quarter, "
               "in the 20 s after it, and a flow's share beside TCP: "
               + "; ".join(f"{r[0]:.1f} STATUS per s: {brief(r[1], 2)}, "
                           f"{brief(r[2], 2)}, {brief(r[3], 2)}"
                           for r in rows)
               + ". The engine never asks for more than one per round trip, so "
               "the paper's statement that more would be unfair cannot be "
               "tried")


def smoothness(run, flow):
    """Coefficient of variation of a flow's arrivals per sample, each flow."""
    out = []
    for i in range(32):
        s = [x for x in run.samples(flow, i) if x["t"] >= 10]
        out.append(variation([b["arrived_bytes"] - a["arrived_bytes"]
                              for a, b in zip(s, s[1:])]))
    return out
