# SPDX-License-Identifier: MPL-2.0
"""STFRC, the congestion control of Saratoga, beside TCP SACK: Figures 4 to 12
and what the text says of the symmetry ratio and of STATUS."""
from .lab import Job
from .numbers import mean, ratio, show, variation
from .page import FAILS, only

TITLE = "STFRC beside TCP"
UPLINKS = (3.84, 0.384, 0.0384)
RATIOS = (0.5, 0.6, 0.7)
# Mbit/s of uplink that a sender reckons with: half of it for its STATUS, so
# they come each 0.1, 0.5 s or so; 0: each round trip.
SPARSE = (0, 0.016, 0.003)
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
ERRORS = {"1e-4 per packet": {}, "1e-4 per bit": {"error": 0,
                                                  "bit_error": 1e-4}}


class Scope:
    """How much is run."""

    def __init__(self, quick):
        self.time = {"duration": 50, "warm": 20} if quick else {}
        self.span = 30 if quick else 60  # s that are counted
        self.flows = (4, 32) if quick else (1, 2, 4, 8, 16, 32, 64)
        self.rates = (4, 16) if quick else (1, 2, 4, 8, 16, 32, 64)
        self.thin_flows = (4, 32) if quick else (1, 4, 16, 64)
        self.thin_rates = (8,) if quick else (1, 2, 4, 8, 16, 32)
        self.cov_rates = (4, 16) if quick else (1, 2, 4, 8, 16, 32)
        self.seeds = range(1, 4 if quick else 11)
        self.few = range(1, 2 if quick else 4)


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
                jobs["asym", uplink, n, bw] = asymmetric(s, n, bw, uplink)
    top = s.thin_flows[-1]
    for bw in s.thin_rates:
        # Each sender knows its part of the uplink.
        jobs["told", bw] = asymmetric(s, top, bw, UPLINKS[-1],
                                      known=2 * UPLINKS[-1] / top)
    for bw in s.cov_rates:
        for seed in s.seeds:
            jobs["cov", bw, seed] = symmetric(s, 32, bw, 1, seed)
    for sr in RATIOS:
        for seed in s.few:
            jobs["sr", sr, seed] = symmetric(s, 16, 16, 1, seed, sr=sr)
    for known in SPARSE:
        for seed in s.few:
            jobs["sparse", known, seed] = symmetric(s, 16, 16, 1, seed,
                                                    known_uplink=known)
    for seed in s.few:
        for rival in RIVALS:
            jobs["rival", rival, seed] = symmetric(
                s, 16, 16, 1, seed, tcp_congestion=rival,
                tcp_pacing="on" if rival == "bbr" else "off")
        for words, params in UNSAID.items():
            jobs["unsaid", words, seed] = symmetric(s, 16, 16, 1, seed,
                                                    **params)
        for words, params in ERRORS.items():
            jobs["error", words, seed] = asymmetric(s, 4, 8, 0.384, seed,
                                                    **params)
    jobs["rate"] = Job.of("stfrc", n=32, bw=16, duration=40, warm=10,
                          sample=0.1)
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


class View:
    """Results by key, with the jobs that tell their parameters."""

    def __init__(self, runs, quick):
        self.runs = runs
        self.jobs = plan(quick)

    def tcp(self, *key):
        return mean(normalised(self.runs[key], self.jobs[key], "tcp"))

    def stfrc(self, *key):
        return mean(normalised(self.runs[key], self.jobs[key], "stfrc"))

    def cov(self, flow, *key):
        return variation(normalised(self.runs[key], self.jobs[key], flow))


def claims_symmetric(page, v, s):
    for red, name in ((0, "drop-tail"), (1, "RED")):
        cells = {(n, bw): mean([v.tcp("sym", red, n, bw, x) for x in s.few])
                 for n in s.flows for bw in s.rates if bw / n >= 0.25}
        fair = [c for c in cells.values() if 0.7 <= c <= 1.4]
        page.claim(f"fig4.{name}", f"Figure 4: with {name} TCP gets about its "
                   "fair share", True if len(fair) == len(cells)
                   else only("for most of the grid")
                   if len(fair) > 0.8 * len(cells) else FAILS,
                   f"normalised throughput of TCP {min(cells.values()):.2f} to "
                   f"{max(cells.values()):.2f}; {len(fair)} of {len(cells)} "
                   "points with at least 0.25 Mbit/s per pair lie from 0.7 to "
                   "1.4")


def claims_asymmetric(page, v, s):
    top, bw = s.thin_flows[-1], s.thin_rates[-1]
    wide = [v.tcp("asym", u, n, b) for u in UPLINKS[:2] for n in s.thin_flows
            for b in s.thin_rates if b / n >= 0.2]
    page.claim("fig5.wide-uplinks", "Figure 5: fair with uplinks of 3.84 and "
               "0.384 Mbit/s", all(0.7 < x < 1.4 for x in wide),
               f"TCP {min(wide):.2f} to {max(wide):.2f}")
    thin = v.tcp("asym", UPLINKS[2], top, bw)
    page.claim("fig6.thin-uplink", "Figures 5 and 6: at 0.0384 Mbit/s TCP "
               "dominates for many flows", thin > 1.3,
               f"{top} + {top} flows, {bw} Mbit/s: TCP {thin:.2f}, STFRC "
               f"{v.stfrc('asym', UPLINKS[2], top, bw):.2f}")
    told = v.stfrc("told", bw)
    page.claim("uplink-known", "Told of its part of the uplink, STFRC asks "
               "less often and gets more (ours)",
               told > 1.2 * v.stfrc("asym", UPLINKS[2], top, bw),
               f"STFRC {v.stfrc('asym', UPLINKS[2], top, bw):.2f} → "
               f"{told:.2f}, TCP {thin:.2f} → {v.tcp('told', bw):.2f}")
    span = s.span
    ways = {u: feedback(v.runs["asym", u, top, bw], span) for u in UPLINKS}
    page.claim("fig7.feedback-delay", "Figure 7: the way of the feedback "
               "grows only with the uplink of 0.0384 Mbit/s",
               ways[0.0384][2] > 3 * ways[3.84][2] and
               ways[0.384][2] < 2 * ways[3.84][2],
               ", ".join(f"{u}: {1000 * w[2]:.0f} ms"
                         for u, w in ways.items()))
    page.claim("fig8.feedback-rate", "Figure 8: there the feedback fills the "
               "uplink", ways[0.0384][1] > 0.85 * 38.4,
               ", ".join(f"{u}: {w[1]:.1f} kbit/s, {w[0]:.0f} STATUS/s"
                         for u, w in ways.items()))


def claims_variation(page, v, s):
    rows = []
    for bw in s.cov_rates:
        rows.append((bw, mean([loss(v.runs["cov", bw, x]) for x in s.seeds]),
                     [v.cov("tcp", "cov", bw, x) for x in s.seeds],
                     [v.cov("stfrc", "cov", bw, x) for x in s.seeds]))
    low = [r for r in rows if r[1] < 0.13]
    lower = [mean(r[3]) < mean(r[2]) for r in low]
    page.claim("fig11.variation", "Figure 11: up to 13 % loss STFRC flows "
               "differ less from each other than TCP flows", all(lower),
               "; ".join(f"{100 * r[1]:.1f} % loss: TCP {show(r[2], 2)}, STFRC "
                         f"{show(r[3], 2)}" for r in low), expect=FAILS)
    return rows


def claims_text(page, v, s):
    values = {sr: [v.tcp("sr", sr, x) for x in s.few] for sr in RATIOS}
    page.claim("text.symmetry-ratio", "Symmetry ratios of 0.5, 0.6, 0.7 give "
               "the same", max(map(mean, values.values())) - min(
                   map(mean, values.values())) < 0.15,
               ", ".join(f"{sr}: TCP {show(x, 2)}" for sr, x in
                         values.items()))
    rates, values = [], []
    for known in SPARSE:
        keys = [("sparse", known, x) for x in s.few]
        values.append([v.stfrc(*k) for k in keys])
        rates.append(mean([feedback(v.runs[k], s.span)[0] for k in keys]) / 16)
    page.claim("text.fewer-status", "Fewer STATUS than one per round trip "
               "make STFRC slower to react, not unfair",
               all(abs(mean(x) - mean(values[0])) < 0.2 for x in values),
               ", ".join(f"{r:.1f} per s: STFRC {show(x, 2)}"
                         for r, x in zip(rates, values))
               + "; more than one per round trip the engine never asks for, "
               "so that statement cannot be tried")


def smoothness(run, flow):
    """Coefficient of variation of a flow's arrivals per sample, each flow."""
    out = []
    for i in range(32):
        s = [x for x in run.samples(flow, i) if x["t"] >= 10]
        out.append(variation([b["arrived_bytes"] - a["arrived_bytes"]
                              for a, b in zip(s, s[1:])]))
    return out


def rate_part(page, v):
    run = v.runs["rate"]
    tcp, stfrc = smoothness(run, "tcp"), smoothness(run, "stfrc")
    page.claim("fig12.smooth", "Figure 12: the rate of STFRC is smoother than "
               "TCP's", mean(stfrc) < 0.8 * mean(tcp),
               "coefficient of variation over 0.1 s: STFRC "
               f"{mean(stfrc):.2f}, TCP {mean(tcp):.2f}, means of 32 flows")

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
            f"{mean([v.tcp('sym', red, n, bw, x) for x in s.few]):.2f}"
            for n in s.flows)) for bw in s.rates])

    def draw(axes):
        for axis, red in zip(axes, (0, 1)):
            for bw in s.rates:
                axis.plot(s.flows, [
                    mean([v.tcp("sym", red, n, bw, x) for x in s.few])
                    for n in s.flows], "o-", ms=3, label=f"{bw} Mbit/s")
            axis.set_xscale("log", base=2)
            axis.set_ylim(0, 2)
            axis.set_xlabel("flows of each kind")
            axis.set_title("RED" if red else "drop-tail")
        axes[0].set_ylabel("TCP, normalised")
        axes[1].legend(fontsize=7)

    page.figure("4", "Figure 4: throughput of TCP over its fair share", draw,
                (7.2, 2.8), 2)


def thin_part(page, v, s):
    page.heading("Figures 5 to 8: asymmetric")
    span = s.span
    rows = []
    for u in UPLINKS:
        for n in s.thin_flows:
            for bw in s.thin_rates:
                key = ("asym", u, n, bw)
                f = feedback(v.runs[key], span)
                rows.append((u, n, bw, f"{v.tcp(*key):.2f}",
                             f"{v.stfrc(*key):.2f}", f"{f[0]:.0f}",
                             f"{f[1]:.1f}", f"{1000 * f[2]:.0f}"))
    for bw in s.thin_rates:
        f = feedback(v.runs["told", bw], span)
        rows.append(("0.0384, told", s.thin_flows[-1], bw,
                     f"{v.tcp('told', bw):.2f}", f"{v.stfrc('told', bw):.2f}",
                     f"{f[0]:.0f}", f"{f[1]:.1f}", f"{1000 * f[2]:.0f}"))
    page.table(("uplink, Mbit/s", "flows", "Mbit/s", "TCP", "STFRC",
                "STATUS/s", "feedback, kbit/s", "its way, ms"), rows)


def variation_part(page, rows, v, s):
    page.heading("Figures 9 to 11: flow by flow")
    page.text("32 + 32 flows under RED, by rate of the bottleneck; the paper "
              "has STFRC's variation below TCP's up to 13 % loss:")
    page.table(("Mbit/s", "loss", "CoV of TCP", "CoV of STFRC"), [
        (bw, f"{100 * l:.1f} %", show(t, 2), show(f, 2))
        for bw, l, t, f in rows])
    bw = 16
    n = 32

    def draw(axis):
        for flow, words, mark in (("tcp", "TCP", "x"), ("stfrc", "STFRC", "+")):
            key = ("cov", bw, 1)
            axis.plot(range(1, n + 1),
                      normalised(v.runs[key], v.jobs[key], flow), mark,
                      label=words)
        axis.axhline(1, lw=0.8, color="k")
        axis.set_ylim(bottom=0)
        axis.set_xlabel("flow")
        axis.set_ylabel("normalised throughput")
        axis.legend()

    page.figure("9", f"Figure 9: each of {n} + {n} flows at {bw} Mbit/s, RED",
                draw, (6.4, 2.6))


def swept_part(page, v, s):
    def cells(*key):
        return [show([get(*key, x) for x in s.few], 2)
                for get in (v.tcp, v.stfrc)]
    page.heading("Beside modern TCP")
    page.text("16 + 16 flows, 16 Mbit/s, RED; throughput over the fair share:")
    page.table(("TCP's window", "TCP", "STFRC"), [
        (r.upper() if r != "reno" else "Reno's (SACK)", *cells("rival", r))
        for r in RIVALS])
    page.heading("What the paper does not say, swept")
    page.text("The same path:")
    page.table(("reading", "TCP", "STFRC"),
               [(w, *cells("unsaid", w)) for w in UNSAID])
    page.text("The error rate of the downlink, 4 + 4 flows, 8 Mbit/s, uplink "
              "0.384 Mbit/s:")
    page.table(("reading", "TCP", "STFRC"),
               [(w, *cells("error", w)) for w in ERRORS])


def report(page, runs, quick):
    s = Scope(quick)
    v = View(runs, quick)
    claims_symmetric(page, v, s)
    claims_asymmetric(page, v, s)
    rows = claims_variation(page, v, s)
    claims_text(page, v, s)
    page.text(
        "As many STFRC as TCP SACK flows over one bottleneck of 20 ms, queue "
        "25 packets per Mbit/s, RED thresholds 3 + 1.5 and 10 + 5 per Mbit/s "
        "in packets, packets of 1040 bytes, counted over "
        + ("30 of 50 s" if quick else "the last 60 of 200 s")
        + ". STFRC is the engine of libsaratoga sending an endless file; TCP "
        "SACK is the TLTCP engine with packet numbers and Reno's window. Ours, "
        "for the paper does not say: starts spread over 5 s, ways to the "
        "destinations 0 to 20 ms, the error rate per packet.")
    grid_part(page, v, s)
    thin_part(page, v, s)
    variation_part(page, rows, v, s)
    swept_part(page, v, s)
    page.heading("Figure 12: rate over time")
    rate_part(page, v)
