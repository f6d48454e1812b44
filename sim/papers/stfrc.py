# SPDX-License-Identifier: MPL-2.0
"""STFRC, the congestion control of Saratoga, beside TCP SACK: Figures 4 to 12
and what the text says of the symmetry ratio and of STATUS."""
import itertools
import math

from .lab import Job, pacing
from .numbers import brief, half_width, mean, ratio, show, variation
from .page import AS_FAR, FAILS, HOLDS, Figure, only

TITLE = "STFRC beside TCP"
UPLINKS = (3.84, 0.384, 0.0384)
RATIOS = (0.5, 0.6, 0.7)
# Mbit/s of uplink that a sender reckons with: half of it for its STATUS, so
# they come each 0.2, 0.5 s or so; 0: each round trip.
SPARSE = (0, 0.008, 0.003)
ROOM = only("with 4 flows of each kind or more, and 0.25 Mbit/s or more per "
            "pair")
QUEUES = "drop-tail", "RED"  # by whether it is RED
UNTIL = 0.13  # loss up to which Figure 11 has STFRC below TCP
ONE_QUEUE = only("with drop-tail; the paper does not say which queue")
SOME_MANY = only("for some of these flows and bottlenecks")
PACKET = 1040
# Modern TCP instead of SACK, 16 + 16 flows at 16 Mbit/s, RED.
RIVALS = ("reno", "cubic", "bbr")
# What the paper does not say: what is swept on the same path, and the unit of
# the error rate, which only the satellite's downlink has.
UNSAID = {"as adopted": {},
          "destinations all equally far": {"exit_spread": 0},
          "destinations up to 100 ms further": {"exit_spread": 100},
          "starts within 0.1 s": {"stagger": 0.1},
          "packets of 1500 bytes": {"packet": 1500}}
UPLINK_QUEUE = 50  # packets; ns-2's default
ERRORS = {"1e-4 per packet": {}, "1e-4 per bit": {"error": 0,
                                                  "bit_error": 1e-4}}


FIGURES = (
    Figure("Figure 4", "TCP's throughput over its fair share is about 1 with "
           "drop-tail and RED; a little lower for few flows and a small "
           "bottleneck, a little higher for many",
           ("fig4.drop-tail", "fig4.RED", "fig4.drop-tail.many",
            "fig4.RED.many"), False, "ns-2's own Sack1 beside its TFRC lies "
           "between 0.3 and 1.7 over the same grid"),
    Figure("Figure 5", "asymmetric: fair with uplinks of 3.84 and 0.384 "
           "Mbit/s; at 0.0384 TCP dominates for many flows, STFRC is "
           "reasonable up to 16 Mbit/s with few",
           ("fig5.wide-uplinks", "fig5.few", "fig6.thin-uplink")),
    Figure("Figure 6", "64 + 64 flows: at 0.0384 Mbit/s TCP dominates",
           ("fig6.thin-uplink",)),
    Figure("Figure 7", "the delay of the feedback grows at 0.0384 Mbit/s only",
           ("fig7.feedback-delay",)),
    Figure("Figure 8", "the rate of the feedback: at 0.0384 Mbit/s it fills "
           "the uplink", ("fig8.feedback-rate",), True),
    Figure("Figure 9", "each flow's throughput, symmetric: no wild spread",
           ("fig9.spread",)),
    Figure("Figure 10", "the same, asymmetric", ("fig9.spread",)),
    Figure("Figure 11", "coefficient of variation by loss: STFRC below TCP up "
           "to 13 % loss", ("fig11.variation",), False, "With RED, ns-2's own "
           "TFRC is not below its Sack1 at 12 % either"),
    Figure("Figure 12", "rates per 0.1 s: STFRC reduces far less per loss, "
           "and is smoother", ("fig12.smoother",)),
)


class Scope:
    """How much is run."""

    def __init__(self, quick):
        self.time = {"duration": 50, "warm": 20} if quick else {}
        self.span = 30 if quick else 60  # s that are counted
        self.flows = (4, 32) if quick else (1, 4, 32, 64)
        self.rates = (4, 8, 16) if quick else (1, 2, 4, 8, 16)
        self.thin_flows = (4, 32) if quick else (1, 4, 64)
        self.thin_rates = (8,) if quick else (2, 8, 16)
        # Packets of the uplink's queue, besides UPLINK_QUEUE.
        self.queues = (20,) if quick else (20, 1000)
        self.cov_rates = (4, 16) if quick else (1, 2, 4, 8, 16)
        self.seeds = range(1, 4 if quick else 11)
        self.few = range(1, 2 if quick else 4)
        # Of the asymmetric topology, whose claims are about many flows.
        self.top = self.thin_flows[-1]
        self.thin_rate = self.thin_rates[-1]
        # Of the bottleneck in Figures 9 and 10.
        self.per_flow = 8 if quick else 16


def seeds(quick):
    return Scope(quick).few


def symmetric(scope, n, bw, red, seed=1, **more):
    return Job.of("stfrc", n=n, bw=bw, red=red, seed=seed,
                  sr=more.pop("sr", 0.65 if red else 0.75), **scope.time,
                  **more)


def asymmetric(scope, n, bw, uplink, seed=1, known=0, **more):
    return Job.of("stfrc", n=n, bw=bw, seed=seed, place="SAT", tcp_delay=6,
                  uplink=uplink, known_uplink=known, **scope.time, **more)


def plan(quick):
    s = Scope(quick)
    jobs = {}
    for red in (0, 1):
        for n in s.flows:
            for bw in s.rates:
                for seed in s.few:
                    jobs["sym", red, n, bw, seed] = symmetric(s, n, bw, red,
                                                              seed)
    for uplink in UPLINKS:
        for n in s.thin_flows:
            for bw in s.thin_rates:
                for seed in s.few:
                    jobs["asym", uplink, n, bw, seed] = asymmetric(
                        s, n, bw, uplink, seed)
    for bw in s.thin_rates:
        for seed in s.few:
            # Each sender knows its part of the uplink.
            jobs["told", bw, seed] = asymmetric(
                s, s.top, bw, UPLINKS[-1], seed, known=2 * UPLINKS[-1] / s.top)
    for queue in s.queues:
        for n in s.thin_flows[0], s.top:
            for seed in s.few:
                jobs["queue", queue, n, seed] = asymmetric(
                    s, n, s.thin_rate, UPLINKS[-1], seed, uplink_queue=queue)
    for red, bw, seed in itertools.product((0, 1), s.cov_rates, s.seeds):
        jobs["cov", red, bw, seed] = symmetric(s, 32, bw, red, seed)
    for sr in RATIOS:
        for seed in s.few:
            jobs["sr", sr, seed] = symmetric(s, 16, 16, 1, seed, sr=sr)
    for known in SPARSE:
        for seed in s.few:
            jobs["sparse", known, seed] = symmetric(s, 16, 16, 1, seed,
                                                    known_uplink=known)
            jobs["step", known, seed] = Job.of("stfrc-step", seed=seed,
                                               known_uplink=known)
    for seed in s.few:
        for rival in RIVALS:
            tcp = {"tcp_congestion": rival, "tcp_manner": "packet",
                   "tcp_pacing": pacing(rival)}
            jobs["rival", 0, rival, seed] = symmetric(s, 16, 16, 1, seed, **tcp)
            for uplink in UPLINKS:
                jobs["rival", uplink, rival, seed] = asymmetric(
                    s, 16, 16, uplink, seed, **tcp)
        for words, params in UNSAID.items():
            jobs["unsaid", words, seed] = symmetric(s, 16, 16, 1, seed,
                                                    **params)
        for words, params in ERRORS.items():
            jobs["error", words, seed] = asymmetric(s, 4, 8, 0.384, seed,
                                                    **params)
        jobs["rate", seed] = Job.of("stfrc", n=32, bw=16, duration=40, warm=10,
                                    seed=seed, sample=0.1)
    return jobs


def normalised(run, job, flow):
    """Throughput of each flow over a flow's fair share."""
    p = dict(job.params)
    bw, n = float(p["bw"]), int(p["n"])
    span = float(p.get("duration", 200)) - float(p.get("warm", 140))
    fair = bw * 1e6 / 2 / n * span / 8
    if flow == "tcp":
        size = float(p.get("packet", PACKET))
        return [x["segments"] * size / fair for x in run.flows("tcp")]
    return [x["arrived_bytes"] / fair for x in run.flows("stfrc")]


def loss(run):
    link = run.link("R1", "R2")
    return (link["dropped_red"] + link["dropped_queue"]) / link["offered"]


def feedback(run, span):
    """STATUS per second of all flows, their rate in kbit/s, their mean way."""
    flows = run.flows("stfrc")
    packets = sum(x["back"] for x in flows)
    way = ratio(sum(x["back"] * x["back_delay"] for x in flows), packets)
    return (packets / span, sum(x["back_bytes"] for x in flows) * 8e-3 / span,
            way)


def use(run, period):
    """Of the bottleneck of stfrc-step.scn, by its defaults."""
    rate, seconds = ((16, 10), (4, 20))[period]
    return run.link("R1", "R2", period)["wire_bytes"] * 8e-6 / rate / seconds


class View:
    """Results by key, with the jobs that tell their parameters."""

    def __init__(self, runs, quick):
        self.runs = runs
        self.jobs = plan(quick)

    def shares(self, flow, *key):
        """Of each flow, normalised."""
        return normalised(self.runs[key], self.jobs[key], flow)

    def tcp(self, *key):
        return mean(self.shares("tcp", *key))

    def stfrc(self, *key):
        return mean(self.shares("stfrc", *key))

    def cov(self, flow, *key):
        return variation(self.shares(flow, *key))

    def feedback(self, span, *key):
        return feedback(self.runs[key], span)


def is_fair(shares):
    return 0.7 <= mean(shares) <= 1.4


def claims_symmetric(page, v, s, quick):
    for red, name in enumerate(QUEUES):
        cells = {(n, bw): [v.tcp("sym", red, n, bw, x) for x in s.few]
                 for n in s.flows for bw in s.rates}
        wide = [c for (n, bw), c in cells.items() if n >= 4 and bw / n >= 0.25]
        fair = sum(map(is_fair, cells.values()))

        def ends(some):
            return " to ".join(brief(f(some, key=mean), 2) for f in (min, max))
        page.claim(f"fig4.{name}", f"Figure 4: with {name} TCP gets about its "
                   "fair share (0.7 to 1.4)", fair == len(cells)
                   or (ROOM if all(map(is_fair, wide)) else FAILS),
                   f"normalised throughput of TCP {ends(cells.values())}, fair "
                   f"at {fair} of {len(cells)} points; with 4 flows or more and "
                   f"0.25 Mbit/s or more per pair {ends(wide)}",
                   expect=ROOM if red and not quick else HOLDS)
        crowds = {(n, bw): c for (n, bw), c in cells.items()
                  if n >= 32 and bw <= 4}
        few, many = ([mean(x) for x in zip(*some)] for some in (  # by seed
            [c for (n, bw), c in cells.items() if n <= 2 and bw <= 8],
            crowds.values()))
        page.claim(f"fig4.{name}.many", "Figure 4: with many flows and a small "
                   "bottleneck TCP gets more (the paper: a little)",
                   mean(many) > 1 + half_width(many)
                   or (SOME_MANY if any(mean(c) > 1 + half_width(c)
                                        for c in crowds.values()) else FAILS),
                   "TCP, mean over 32 flows and more, up to 4 Mbit/s: "
                   + brief(many, 2) + "; by flows and Mbit/s: " + ", ".join(
                       f"{n}, {bw}: {brief(c, 2)}"
                       for (n, bw), c in crowds.items()),
                   expect=SOME_MANY if red and not quick else HOLDS)
        if few:
            page.claim(f"fig4.{name}.few", "Figure 4: with few flows and a "
                       "small bottleneck TCP gets a little less",
                       mean(few) < 1 - half_width(few)
                       or (AS_FAR if mean(few) < 1 else FAILS),
                       "TCP, mean over 1 and 2 flows, up to 8 Mbit/s: "
                       + brief(few, 2), expect=AS_FAR)


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
    page.claim("fig7.feedback-delay", "Figure 7: the way of the feedback "
               "grows only with the uplink of 0.0384 Mbit/s",
               way[0.0384] > 3 * way[3.84] and way[0.384] < 2 * way[3.84],
               ", ".join(f"{u}: {brief([1000 * x for x in w[2]], 0)} ms"
                         for u, w in ways.items()))
    page.claim("fig8.feedback-rate", "Figure 8: there the feedback fills the "
               "uplink", mean(ways[0.0384][1]) > 0.85 * 38.4,
               ", ".join(f"{u}: {brief(w[1], 1)} kbit/s, {brief(w[0], 0)} "
                         "STATUS/s" for u, w in ways.items()))


def claims_flows(page, v, s):
    keys = [("sym", 1, n, s.per_flow) for n in s.flows if n > 1]
    keys += [("asym", 0.384, n, s.per_flow) for n in s.thin_flows if n > 1]
    cov = [[v.cov(flow, *k, x) for x in s.few] for k in keys
           for flow in ("tcp", "stfrc")]
    page.claim("fig9.spread", "Figures 9 and 10: flows of a kind do not differ "
               "wildly (coefficient of variation below 0.5)",
               all(mean(c) < 0.5 for c in cov), f"{s.per_flow} Mbit/s, RED: "
               + " to ".join(brief(f(cov, key=mean), 2) for f in (min, max))
               + " by number of flows, kind and topology")


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
               + ". More than one per round trip the engine never asks for, so "
               "that they would make STFRC unfair cannot be tried")


def smoothness(run, flow):
    """Coefficient of variation of a flow's arrivals per sample, each flow."""
    out = []
    for i in range(32):
        s = [x for x in run.samples(flow, i) if x["t"] >= 10]
        out.append(variation([b["arrived_bytes"] - a["arrived_bytes"]
                              for a, b in zip(s, s[1:])]))
    return out


def rate_part(page, v, s):
    tcp, stfrc = ([mean(smoothness(v.runs["rate", x], flow)) for x in s.few]
                  for flow in ("tcp", "stfrc"))
    page.claim("fig12.smooth", "Figure 12: the rate of STFRC is smoother than "
               "TCP's", mean(stfrc) < 0.8 * mean(tcp),
               "coefficient of variation over 0.1 s: STFRC "
               f"{brief(stfrc, 2)}, TCP {brief(tcp, 2)}, means of 32 flows")
    run = v.runs["rate", 1]

    def draw(axes):
        for axis, flow, words in zip(axes, ("tcp", "stfrc"), ("TCP", "STFRC")):
            s = [x for x in run.samples(flow) if x["t"] >= 10]
            axis.plot([x["t"] for x in s[1:]], [
                (b["arrived_bytes"] - a["arrived_bytes"]) * 8e-6 / 0.1
                for a, b in zip(s, s[1:])], lw=0.8, label=words)
            marks = [b["t"] for a, b in zip(s, s[1:]) if b["cuts"] > a["cuts"]]
            axis.plot(marks, [0] * len(marks), "|", color="k",
                      label="reduction")
            axis.set_xlabel("s")
            axis.set_ylabel("Mbit/s")
            axis.set_ylim(-0.05, 1)
            axis.legend()

    page.figure("12", "Figure 12: rate of one TCP and one STFRC flow, per "
                "0.1 s; 32 + 32 flows, 16 Mbit/s, RED", draw, (7.2, 2.6), 2)


def grid_part(page, v, s):
    page.heading("Figure 4: normalised throughput of TCP, symmetric")
    for red, name in ((0, "Drop-tail"), (1, "RED")):
        page.text(f"{name}; rows: Mbit/s, columns: TCP flows and as many STFRC "
                  "flows:")
        page.table(("", *s.flows), [(bw, *(
            brief([v.tcp("sym", red, n, bw, x) for x in s.few], 2)
            for n in s.flows)) for bw in s.rates])

    def draw(axes):
        for axis, red in zip(axes, (0, 1)):
            for bw in s.rates:
                axis.plot(s.flows, [
                    mean([v.tcp("sym", red, n, bw, x) for x in s.few])
                    for n in s.flows], "o-", ms=3, label=f"{bw} Mbit/s")
            powers(axis, s.flows)
            axis.set_ylim(0, 2)
            axis.set_xlabel("flows of each kind")
            axis.set_title("RED" if red else "drop-tail")
        axes[0].set_ylabel("TCP, normalised")
        axes[1].legend(fontsize=7)

    page.figure("4", "Figure 4: throughput of TCP over its fair share", draw,
                (7.2, 2.8), 2)


def powers(axis, values):
    """A logarithmic axis of x with plain numbers."""
    axis.set_xscale("log", base=2)
    axis.set_xticks(values, [f"{x:g}" for x in values])
    axis.minorticks_off()


def finite(values):
    """Without those of runs in which nothing came back."""
    return [x for x in values if math.isfinite(x)]


def over_flows(v, s, what, words, scale="linear"):
    """A picture with a panel for each uplink: by flows and bottleneck."""
    def draw(axes):
        top = 0
        for axis, uplink in zip(axes, UPLINKS):
            for bw in s.thin_rates:
                y = [mean(finite(what(v, "asym", uplink, n, bw, x)
                                 for x in s.few)) for n in s.thin_flows]
                top = max(top, *y)
                axis.plot(s.thin_flows, y, "o-", ms=3, label=f"{bw} Mbit/s")
            powers(axis, s.thin_flows)
            axis.set_xlabel("flows of each kind")
            axis.set_title(f"uplink {uplink} Mbit/s")
        for axis in axes:
            axis.set_yscale(scale)
            axis.set_ylim(*((0, 1.05 * top) if scale == "linear"
                            else (10, 1.5 * top)))
        axes[0].set_ylabel(words)
        axes[0].legend(fontsize=6)
    return draw


def by_uplink(v, s):
    """Figure 6: as many flows as there are, by rate of the bottleneck."""
    def draw(axes):
        for axis, get, words in ((axes[0], v.tcp, "TCP"),
                                 (axes[1], v.stfrc, "STFRC")):
            for uplink in UPLINKS:
                axis.plot(s.thin_rates, [
                    mean([get("asym", uplink, s.top, bw, x) for x in s.few])
                    for bw in s.thin_rates],
                    "o-", ms=3, label=f"uplink {uplink} Mbit/s")
            powers(axis, s.thin_rates)
            axis.set_ylim(0, 2)
            axis.set_xlabel("Mbit/s")
            axis.set_ylabel(f"{words}, normalised")
        axes[0].legend(fontsize=7)
    return draw


def thin_part(page, v, s):
    page.heading("Figures 5 to 8: asymmetric")
    rows = []
    for words, key, flows in (
            *((u, ("asym", u, n), n) for u in UPLINKS for n in s.thin_flows),
            ("0.0384, told", ("told",), s.top)):
        for bw in s.thin_rates:
            every = [(*key, bw, x) for x in s.few]
            f = list(zip(*(v.feedback(s.span, *k) for k in every)))
            rows.append((words, flows, bw, brief([v.tcp(*k) for k in every], 2),
                         brief([v.stfrc(*k) for k in every], 2),
                         brief(f[0], 0), brief(f[1], 1),
                         brief([1000 * x for x in finite(f[2])], 0)))
    page.table(("uplink, Mbit/s", "flows", "Mbit/s", "TCP", "STFRC",
                "STATUS/s", "feedback, kbit/s", "its way, ms"), rows)
    size = {"size": (8, 2.6), "columns": 3}
    page.figure("5", "Figure 5: throughput of TCP over its fair share",
                over_flows(v, s, View.tcp, "TCP, normalised"), **size)
    page.figure("6", f"Figure 6: {s.top} + {s.top} flows", by_uplink(v, s),
                (7.2, 2.6), 2)
    page.figure("7", "Figure 7: way of the feedback", over_flows(
        v, s, lambda v, *k: 1000 * v.feedback(s.span, *k)[2],
        "ms", "log"), **size)
    page.figure("8", "Figure 8: rate of the feedback", over_flows(
        v, s, lambda v, *k: v.feedback(s.span, *k)[1], "kbit/s"), **size)


def each_flow(v, keys):
    """Every flow, and the mean, by number of flows."""
    def draw(axes):
        for axis, flow, words in zip(axes, ("tcp", "stfrc"), ("TCP", "STFRC")):
            for n, key in keys.items():
                shares = v.shares(flow, *key)
                axis.plot([n] * len(shares), shares, "+", color="#1b6ca8",
                          ms=4, alpha=0.6)
            axis.plot(list(keys), [mean(v.shares(flow, *k))
                                   for k in keys.values()],
                      "o-", color="#d1495b", ms=3, label="mean")
            powers(axis, list(keys))
            axis.set_ylim(bottom=0)
            axis.set_xlabel("flows of each kind")
            axis.set_ylabel(f"{words}, normalised")
            axis.legend()
    return draw


def against_loss(by_queue):
    def draw(axes):
        for axis, one, words in zip(axes, by_queue, QUEUES):
            for flow, i in (("TCP", 2), ("STFRC", 3)):
                axis.errorbar([100 * r[0] for r in one.rows],
                              [mean(r[i]) for r in one.rows],
                              yerr=[half_width(r[i]) for r in one.rows],
                              fmt="o-", ms=3, capsize=2, label=flow)
            axis.axvline(100 * UNTIL, lw=0.8, color="k")
            axis.set_ylim(bottom=0)
            axis.set_xlabel("loss, %")
            axis.set_title(words)
        axes[0].set_ylabel("coefficient of variation")
        axes[0].legend()
    return draw


def variation_part(page, by_queue, v, s):
    page.heading("Figures 9 to 11: flow by flow")
    bw = s.per_flow
    page.figure("9", f"Figure 9: each flow at {bw} Mbit/s, RED, symmetric",
                each_flow(v, {n: ("sym", 1, n, bw, 1) for n in s.flows}),
                (7.2, 2.6), 2)
    page.figure("10", f"Figure 10: each flow at {bw} Mbit/s, RED, asymmetric "
                "with an uplink of 0.384 Mbit/s",
                each_flow(v, {n: ("asym", 0.384, n, bw, 1)
                              for n in s.thin_flows}), (7.2, 2.6), 2)
    page.figure("11", "Figure 11: how much flows differ, by loss; 32 + 32 "
                "flows; the line is at the 13 % up to which the paper has "
                "STFRC below TCP; bars are 95 % confidence intervals",
                against_loss(by_queue), (7.2, 2.8), 2)
    page.table(("queue", "Mbit/s", "loss", "CoV of TCP", "CoV of STFRC"), [
        (words, bw, f"{100 * lost:.1f} %", show(tcp, 2), show(stfrc, 2))
        for words, one in zip(QUEUES, by_queue)
        for lost, bw, tcp, stfrc in one.rows])


def swept_part(page, v, s):
    def cells(*key):
        return [show([get(*key, x) for x in s.few], 2)
                for get in (v.tcp, v.stfrc)]

    def queued(queue, n):
        key = ("asym", UPLINKS[-1], n, s.thin_rate) \
            if queue == UPLINK_QUEUE else ("queue", queue, n)
        ways = finite(v.feedback(s.span, *key, x)[2] for x in s.few)
        return *cells(*key), brief([1000 * x for x in ways], 0)
    page.heading("Beside modern TCP")
    page.text("16 + 16 flows, 16 Mbit/s, RED; throughput over the fair share:")
    page.table(("TCP's window", "topology", "TCP", "STFRC"), [
        (r.upper() if r != "reno" else "Reno's (SACK)",
         f"uplink {u} Mbit/s" if u else "symmetric", *cells("rival", u, r))
        for u in (0, *UPLINKS) for r in RIVALS])
    page.heading("What the paper does not say, swept")
    page.text("The same path:")
    page.table(("reading", "TCP", "STFRC"),
               [(w, *cells("unsaid", w)) for w in UNSAID])
    page.text("The queue of the uplink of 0.0384 Mbit/s, as many flows of "
              f"each kind as named, {s.thin_rate} Mbit/s; the way of the "
              "feedback in ms:")
    page.table(("packets", *(f"{n}: {w}" for n in (s.thin_flows[0], s.top)
                             for w in ("TCP", "STFRC", "its way"))), [
        (queue, *(x for n in (s.thin_flows[0], s.top)
                  for x in queued(queue, n)))
        for queue in sorted((UPLINK_QUEUE, *s.queues))])
    page.text("The error rate of the downlink, 4 + 4 flows, 8 Mbit/s, uplink "
              "0.384 Mbit/s:")
    page.table(("reading", "TCP", "STFRC"),
               [(w, *cells("error", w)) for w in ERRORS])


def report(page, runs, quick):
    s = Scope(quick)
    v = View(runs, quick)
    claims_symmetric(page, v, s, quick)
    claims_asymmetric(page, v, s)
    if not quick:
        claim_few(page, v, s)
    claims_flows(page, v, s)
    by_queue = claims_variation(page, v, s, quick)
    claim_smooth(page, v, s)
    claims_text(page, v, s)
    page.papers_figures("stfrc", *FIGURES)
    page.text(
        "As many STFRC as TCP SACK flows over one bottleneck of 20 ms, queue "
        "25 packets per Mbit/s, RED thresholds 3 + 1.5 and 10 + 5 per Mbit/s "
        "in packets, packets of 1040 bytes, counted over "
        + ("30 of 50 s" if quick else "the last 60 of 200 s")
        + ". STFRC is the engine of libsaratoga sending an endless file; TCP "
        "SACK is the TLTCP engine with RFC 6675's recovery and Reno's window. Ours, "
        "for the paper does not say: starts spread over 5 s, ways to the "
        "destinations 0 to 20 ms, the error rate per packet, a queue of "
        f"{UPLINK_QUEUE} packets (ns-2's default) in front of the uplink.")
    grid_part(page, v, s)
    thin_part(page, v, s)
    variation_part(page, by_queue, v, s)
    swept_part(page, v, s)
    page.heading("Figure 12: rate over time")
    rate_part(page, v, s)
