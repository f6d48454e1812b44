# SPDX-License-Identifier: MPL-2.0
"""STFRC, the congestion control of Saratoga, beside TCP SACK: Figures 4 to 12
and what the text says of the symmetry ratio and of STATUS."""
import itertools
import math

from .numbers import brief, half_width, mean, show
from .page import Figure
from .stfrc_claims import (QUEUES, Shares, claim_few, claim_smooth,
                           claims_asymmetric, claims_flows, claims_symmetric,
                           claims_text, claims_variation, smoothness)
from .stfrc_runs import (CHOOSERS, ERRORS, FAR, MANY, RIVALS, UNSAID, UNTIL,
                         UPLINK_QUEUE, UPLINKS, Scope, View, plan, seeds)

__all__ = ["TITLE", "plan", "report", "seeds"]

TITLE = "STFRC beside TCP"
AUTHORS = "Shahriar, Atiquzzaman, Ivancic and Wood (2011),"
FIGURES = (
    Figure("Figure 4", "TCP's throughput over its fair share is about 1 with "
           "drop-tail and RED; a little lower for few flows and a small "
           "bottleneck, a little higher for many",
           ("fig4.drop-tail", "fig4.RED", "fig4.drop-tail.many",
            "fig4.RED.many", "fig4.drop-tail.few", "fig4.RED.few"), False,
           "With many flows at a small bottleneck, ns-2's own Sack1 gets less "
           "than its share beside ns-2's TFRC (below)"),
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
           "TFRC is not clearly below its Sack1 up to 12 % either (below)"),
    Figure("Figure 12", "rates per 0.1 s: STFRC reduces far less per loss, "
           "and is smoother", ("fig12.smoother",)),
)


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
    for kind, place in (("sym", "destinations 0 to 20 ms away"),
                        *((("far", f"{FAR} to {FAR + 20} ms away"),)
                          if s.ways else ())):
        for red, name in ((0, "Drop-tail"), (1, "RED")):
            page.text(f"{name}, {place}; rows: Mbit/s, columns: TCP flows and "
                      "as many STFRC flows:")
            page.table(("", *s.flows), [(bw, *(
                brief([v.tcp(kind, red, n, bw, x) for x in s.few], 2)
                for n in s.flows)) for bw in s.rates])
    if s.ways:
        ways_part(page, v, s)
        small_part(page, v, s)
    shown = list(itertools.product(("sym", "far") if s.ways else ("sym",),
                                   (0, 1)))
    page.figure("4", "Figure 4: throughput of TCP over its fair share",
                grids(v, s, shown), (9 if s.ways else 7.2, 2.8), len(shown))


def ways_part(page, v, s):
    """How the distance was chosen."""
    page.text("With many flows and RED, the distance of the destinations decides "
              f"who gets more. The table has TCP's share with {MANY} flows and "
              f"more of each kind, up to {s.small} Mbit/s, by the least distance. "
              f"Its {len(CHOOSERS)} seeds are not those that judge. {FAR} ms "
              "were chosen, because it is the least distance at which TCP's "
              "share is clearly above 1 with RED:")
    page.table(("ms", *QUEUES), [
        (way, *(brief(Shares(v, s.small_points(MANY), CHOOSERS, "way", way,
                             red).means(), 2) for red in (0, 1)))
        for way in s.ways])


def small_part(page, v, s):
    """The same with ns-2's agents, where they are there."""
    points = s.small_points(MANY)
    rows = []
    for red, words in enumerate(QUEUES):
        for away in (0, FAR):
            runs = [v.ns2(red, n, bw, s.few, away) for n, bw in points]
            if None in runs:
                return
            cells = [[x.tcp for x in some] for some in runs]
            rows.append((words, f"{away} to {away + 20}",
                         *(brief(c, 2) for c in cells),
                         brief([mean(x) for x in zip(*cells)], 2)))
    page.text("The share of ns-2's own Sack1 beside its TFRC there, by flows "
              "of each kind and Mbit/s. It is below 1 on average at both "
              "distances, and grows with the distance as the engine's does:")
    page.table(("queue", "destinations, ms away",
                *(f"{n}, {bw}" for n, bw in points), "mean"), rows)


def grids(v, s, shown):
    def draw(axes):
        for axis, (kind, red) in zip(axes, shown):
            for bw in s.rates:
                axis.plot(s.flows, [
                    mean([v.tcp(kind, red, n, bw, x) for x in s.few])
                    for n in s.flows], "o-", ms=3, label=f"{bw} Mbit/s")
            powers(axis, s.flows)
            axis.set_ylim(0, 2)
            axis.set_xlabel("flows of each kind")
            axis.set_title(("RED" if red else "drop-tail")
                           + (f", {FAR} ms away" if kind == "far" else ""))
        axes[0].set_ylabel("TCP, normalised")
        axes[-1].legend(fontsize=7)
    return draw


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
                "STATUS/s", "feedback, kbit/s", "its delay, ms"), rows)
    size = {"size": (8, 2.6), "columns": 3}
    page.figure("5", "Figure 5: throughput of TCP over its fair share",
                over_flows(v, s, View.tcp, "TCP, normalised"), **size)
    page.figure("6", f"Figure 6: {s.top} + {s.top} flows", by_uplink(v, s),
                (7.2, 2.6), 2)
    page.figure("7", "Figure 7: delay of the feedback", over_flows(
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
    rows = [(red, bw, f"{100 * lost:.1f} %", show(tcp, 2), show(stfrc, 2))
            for red, one in enumerate(by_queue)
            for lost, bw, tcp, stfrc in one.rows]
    peers = [v.ns2(red, 32, bw, s.few) for red, bw, *_ in rows]
    head = ("queue", "Mbit/s", "loss", "CoV of TCP", "CoV of STFRC")
    if None not in peers:
        head += ("loss in ns-2", "CoV of its Sack1", "CoV of its TFRC")
        rows = [(*row, f"{100 * mean([x.loss for x in some]):.1f} %",
                 *(show([x.cov(flow) for x in some], 2)
                   for flow in ("tcp", "tfrc")))
                for row, some in zip(rows, peers)]
    page.table(head, [(QUEUES[red], *rest) for red, *rest in rows])


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
    page.heading("Values that the paper leaves open")
    page.text("The same path:")
    page.table(("reading", "TCP", "STFRC"),
               [(w, *cells("unsaid", w)) for w in UNSAID])
    page.text("The queue of the uplink of 0.0384 Mbit/s, as many flows of "
              f"each kind as named, {s.thin_rate} Mbit/s; the delay of the "
              "feedback in ms:")
    page.table(("packets", *(f"{n}: {w}" for n in (s.thin_flows[0], s.top)
                             for w in ("TCP", "STFRC", "its delay"))), [
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
        + ". STFRC is the engine of libsaratoga sending an endless file. TCP "
        "SACK is the TLTCP engine with RFC 6675's recovery and Reno's window. "
        "The paper does not give the following values, which are ours: starts "
        "are spread over 5 s, destinations are 0 to 20 ms from the bottleneck, "
        "the error rate is per packet, and a queue of "
        f"{UPLINK_QUEUE} packets (ns-2's default) is in front of the uplink.")
    grid_part(page, v, s)
    thin_part(page, v, s)
    variation_part(page, by_queue, v, s)
    swept_part(page, v, s)
    page.heading("Figure 12: rate over time")
    rate_part(page, v, s)
