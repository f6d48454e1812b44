# SPDX-License-Identifier: MPL-2.0
"""Mukherjee and Brecht, Time-lined TCP for the TCP-friendly delivery of
streaming media (2000): Figures 2 to 5 and 7 to 13."""
from .lab import Job, pacing
from .numbers import (brief, every_other, half_width, mean, ratio, show, spread,
                      upper_over_lower)
from .page import AS_FAR, FAILS, HOLDS, Figure, above, only

TITLE = "Time-lined TCP"
MANNERS = {"dupack-reno": "the paper's recovery",
           "packet": "packet numbers"}
HELD = "held"  # what a seq_update skips stays in flight until the timeout
# How Figure 13 may be read, where packets are lost.
READINGS = {"dupack-reno": "what is skipped counts as delivered",
            HELD: "what is skipped stays in flight until the timeout",
            "packet": MANNERS["packet"]}
FLOWS = (10, 20, 30, 40, 50)
WINDOWS = (5, 10, 20, 40, 80)
DELAYS = (5, 20, 100, 200, 500)
DEADLINES = (0.5, 2.5, 12.5, 62.5)
# What is varied: parameter, its values, figures, words.
SWEEPS = {
    "flows": (FLOWS, "7 and 8", "flows"),
    "window": (WINDOWS, "9 and 10", "receive window, packets"),
    "delay": (DELAYS, "11 and 12", "bottleneck delay, ms"),
    "deadline": (DEADLINES, "13", "deadline, s"),
}


# Points of the sweeps at which packets are lost.
LOSSY = (*(("window", x) for x in WINDOWS if x >= 20), ("flows", 50))
# Figure 13 once more with a window at which packets are lost.
LOSING = 20
WORKED = 0.5   # s; deadline of the worked examples
# Modern TCP beside TLTCP, and on what: parameters.
RIVALS = ("cubic", "bbr")
GROUNDS = {"window 10, no loss": {"window": 10},
           "window 20": {"window": 20}, "window 80": {"window": 80},
           "50 flows": {"window": 10, "tltcp": 25, "rival": 25}}
# What the paper does not say of its TCP; at windows of 20.
UNSAID = {"as adopted": {}, "initial window of 1": {"initial": 1},
          "limited transmit": {"limited": "on"},
          "least timeout of 1 s": {"rto_min": 1000},
          "queue one packet longer": {"queue": 401},
          "starts within 10 s": {"stagger": 10}}


# Of a section of 700 000 bytes: the paper's packets of 1500 bytes carry 1500,
# the engine's 1431.
SECTION = 700000 / 1431
VACUOUS = ("Nothing is lost there: windows and queue bound every flow, so any "
           "protocol would pass")
FIGURES = (
    Figure("Figure 5", "one TLTCP and one TCP, 14 s: about 900 packets each, "
           "equal slopes; at each deadline TLTCP goes on with the next "
           "section, a multiple of 467 packets",
           ("fig5.equal-slopes", "fig5.packets", "fig5.jumps"), True,
           "Sections are of 489 packets here, for 1431 of 1500 bytes are data"),
    Figure("Figure 7", "F is near 1 up to 40 flows; at 50 the mix is above "
           "the baseline", ("fig7.fair-to-40", "fig7.above-at-50"), False,
           "Up to 40: " + VACUOUS.lower()),
    Figure("Figure 8", "S is near 1 up to 40 flows, and not at 50, for TCP "
           "alone too", ("fig8.equal-to-40", "fig8.unfair-at-50"), False),
    Figure("Figure 9", "fair at windows of 5 and 10, not at 20; fairness "
           "improves considerably at 40; TLTCP gets more",
           ("fig9.fair-small", "fig9.improves", "fig9.more")),
    Figure("Figure 10", "S of TCP alone is close to 2 at a window of 20; "
           "better at 40 and 80",
           ("fig10.unequal-at-20", "fig10.better-at-40"), False,
           "ns-2's own Reno has 2.4 at 20"),
    Figure("Figure 11", "F is near 1 at every delay of the bottleneck",
           ("fig11.delay",), True, VACUOUS),
    Figure("Figure 12", "S is near 1 at every delay", ("fig12.delay",), True,
           VACUOUS),
    Figure("Figure 13", "fair at deadlines from 2.5 s on; at 0.5 s TLTCP gets "
           "less, for a section has too few packets for three duplicates, so "
           "that timeouts follow", ("fig13.short", "fig13.long"), False,
           "Cause, by experiment: windows of 10 lose no packet at any "
           "deadline, so no duplicate is waited for. Where packets are lost "
           "(windows of 20) the paper's timeouts come only if what seq_update "
           "skips stays in flight until then, and TLTCP still gets no less. So "
           "the paper's sender was not held by a window of 10, or reacted to "
           "more than this"),
)


def seeds(quick):
    return range(1, 3 if quick else 6)


def trials(sweep, value, quick):
    """Seeds of a point; more where packets are lost, for there runs differ."""
    lossy = (sweep, value) in LOSSY
    return seeds(quick) if quick or not lossy else range(1, 11)


def few(quick):
    """Seeds of what is only shown."""
    return range(1, 2 if quick else 6)


def job(sweep, value, mix, manner, seed, quick, stagger=1):
    params = {"duration": 200 if quick else 500, "seed": seed,
              "stagger": stagger, "manner": manner,
              "tcp": 15 if mix else 30, "tltcp": 15 if mix else 0}
    if sweep == "flows":
        params["tcp"] = value // 2 if mix else value
        params["tltcp"] = value // 2 if mix else 0
    else:
        params[sweep] = value
    return Job.of("tltcp", **params)


def plan(quick):
    jobs = {}
    for value in DEADLINES:
        for seed in trials(*LOSSY[0], quick):
            jobs["losing", value, HELD, seed] = Job.of(
                "tltcp", window=LOSING, deadline=value, seed=seed, hold="on",
                duration=200 if quick else 500, manner="dupack-reno",
                stagger=1)
    for manner in MANNERS:
        # One flow that loses what becomes obsolete soon.
        jobs["worked", manner] = Job.of(
            "tltcp", tcp=0, tltcp=1, duration=14, warm=0, sample=1,
            deadline=WORKED, queue=20, window=40, manner=manner)
        jobs["sequence", manner] = Job.of(
            "tltcp", tcp=1, tltcp=1, duration=14, warm=0, sample=0.1,
            deadline=1, manner=manner)
        for sweep in SWEEPS:
            for value in SWEEPS[sweep][0]:
                for mix in (True, False):
                    for seed in trials(sweep, value, quick):
                        jobs[sweep, value, mix, manner, seed] = job(
                            sweep, value, mix, manner, seed, quick)
                    # All at once, as the paper may have done.
                    jobs[sweep, value, mix, manner, 0] = job(
                        sweep, value, mix, manner, 1, quick, stagger=0)
        for value in DEADLINES:
            for seed in trials(*LOSSY[0], quick):
                jobs["losing", value, manner, seed] = Job.of(
                    "tltcp", window=LOSING, deadline=value, seed=seed,
                    duration=200 if quick else 500, manner=manner, stagger=1)
        for seed in few(quick):
            common = {"duration": 200 if quick else 500, "seed": seed,
                      "manner": manner, "stagger": 1}
            for words, params in UNSAID.items():
                jobs["unsaid", words, manner, seed] = Job.of(
                    "tltcp", **{**common, "window": LOSING, **params})
            for rival in RIVALS:
                for words, params in GROUNDS.items():
                    jobs["rival", rival, words, manner, seed] = Job.of(
                        "tltcp", **{
                            **common, "tcp": 0, "rival": 15,
                            "rival_congestion": rival,
                            "rival_pacing": pacing(rival), **params})
    return jobs


def fairness(run, other="tcp"):
    """F: what a TLTCP flow gets over what a TCP flow gets."""
    return ratio(mean(run.received("tltcp")), mean(run.received(other)))


def drops(run):
    link = run.link("R1", "R2")
    return link["dropped_queue"] / link["offered"]


class Point:
    """All runs of one value of one sweep, starts spread."""

    def __init__(self, runs, sweep, value, manner, seed_list):
        def get(mix):
            return [runs[sweep, value, mix, manner, s] for s in seed_list]
        mixed, base = get(True), get(False)
        self.f = [fairness(r) for r in mixed]
        self.worst = [upper_over_lower(r.received()) for r in base]
        self.best = [every_other(r.received()) for r in base]
        self.s_mixed = [spread(r.received()) for r in mixed]
        self.s_base = [spread(r.received()) for r in base]
        self.drops = [drops(r) for r in base]
        self.timeouts = [sum(x["timeouts"] for x in r.flows("tltcp"))
                         for r in mixed]
        together = runs[sweep, value, True, manner, 0]
        self.f0, self.s0 = fairness(together), spread(together.received())
        self.s0_base = spread(runs[sweep, value, False, manner, 0].received())

    def row(self):
        return (show(self.f), f"{self.f0:.3f}", show(self.worst, 2),
                show(self.best, 2), show(self.s_mixed, 2), f"{self.s0:.2f}",
                show(self.s_base, 2), f"{self.s0_base:.2f}",
                f"{100 * mean(self.drops):.2f} %")


HEAD = ("F", "F, together", "F_worst", "F_best", "S of the mix",
        "S, together", "S of TCP alone", "S alone, together", "drops")


def sweep_part(page, points, sweep):
    xs, figures, label = SWEEPS[sweep]
    title = f"Figure{'s' if ' ' in figures else ''} {figures}"
    page.heading(f"{title}: {label}")

    def draw(axes):
        for axis, name in zip(axes, ("f", "s_mixed")):
            for manner, words in MANNERS.items():
                y = [getattr(points[sweep, x, manner], name) for x in xs]
                axis.errorbar(xs, [mean(v) for v in y], fmt="o-", ms=4,
                              yerr=[half_width(v) for v in y], capsize=2,
                              label=words)
            if sweep in ("delay", "deadline", "window"):
                axis.set_xscale("log")
            axis.set_xticks(xs, [f"{x:g}" for x in xs], minor=False)
            axis.minorticks_off()
            axis.set_xlabel(label)
        p = [points[sweep, x, "dupack-reno"] for x in xs]
        axes[0].plot(xs, [mean(q.worst) for q in p], ":", label="F_worst")
        axes[0].plot(xs, [mean(q.best) for q in p], "--", label="F_best")
        axes[1].plot(xs, [mean(q.s_base) for q in p], ":", label="TCP alone")
        for axis, words in zip(axes, "FS"):
            axis.set_ylabel(words)
            axis.set_ylim(0, max(2, axis.get_ylim()[1]))
            axis.legend(fontsize=7)

    page.figure(sweep, f"{title}: fairness of TLTCP towards TCP (F) "
                f"and the largest share over the smallest (S), by {label}; "
                "means over start times, bars are 95 % confidence intervals",
                draw, size=(7.2, 3), columns=2)
    for manner, words in MANNERS.items():
        page.text(f"With {words} (`{manner}`):")
        page.table((label, *HEAD), [
            (f"{x:g}", *points[sweep, x, manner].row()) for x in xs])


def sequence_part(page, runs):
    page.heading("Figure 5: one TLTCP and one TCP")

    def draw(axis):
        for flow, words in ("tcp", "TCP"), ("tltcp", "TLTCP"):
            s = runs["sequence", "dupack-reno"].samples(flow)
            axis.plot([x["t"] for x in s], [x["sequence"] for x in s],
                      label=words)
        axis.set_xlabel("s")
        axis.set_ylabel("packets")
        axis.legend()

    page.figure("5", "Figure 5: place in the stream, in packets; sections of "
                "700 000 bytes, deadlines of 1 s", draw)
    rows = []
    for manner, words in MANNERS.items():
        run = runs["sequence", manner]
        tcp, tltcp = run.received("tcp")[0], run.received("tltcp")[0]
        end = run.samples("tltcp")[-1]["sequence"]
        rows.append((words, f"{tcp:.0f}", f"{tltcp:.0f}", f"{end:.0f}"))
    page.table(("recovery", "TCP, packets", "TLTCP, packets",
                "TLTCP's place at the end"), rows)
    page.text("Printed: about 900 packets each, which is more than the link "
              "carries in 14 s (875 each with headers); ns-2's Reno "
              "delivers 869.")


def claim_sequence(page, runs):
    run = runs["sequence", "dupack-reno"]
    tcp, tltcp = run.received("tcp")[0], run.received("tltcp")[0]
    page.claim("fig5.equal-slopes", "Figure 5: a TLTCP flow and a TCP flow "
               "deliver alike", abs(tltcp / tcp - 1) < 0.05,
               f"{tltcp:.0f} and {tcp:.0f} packets in 14 s", seeds=1)
    page.claim("fig5.packets", "Figure 5: about 900 packets each (within 5 %)",
               all(abs(x / 900 - 1) < 0.05 for x in (tcp, tltcp)),
               f"{tltcp:.0f} and {tcp:.0f}; the link carries 875 each in 14 s",
               seeds=1)
    section = SECTION
    steps = [x["sequence"] for x in run.samples("tltcp")]
    jumps = [b for a, b in zip(steps, steps[1:]) if b - a > section / 3]
    page.claim("fig5.jumps", "Figure 5: at each deadline TLTCP goes on with "
               "the next section", len(jumps) >= 12,
               f"{len(jumps)} jumps in 14 s; sections of {section:.0f} packets",
               seeds=1)


def claims_flows(page, points):
    calm = [x for x in SWEEPS["flows"][0] if x <= 40]
    fs = [f for x in calm for f in points["flows", x, "dupack-reno"].f]
    page.claim("fig7.fair-to-40", "Figure 7: fair up to 40 flows",
               all(abs(f - 1) < 0.05 for f in fs),
               f"F {show(fs)}; but nothing is ever lost there: window and "
               "queue bound every flow, so any protocol would pass")
    s = [x for n in calm for q in (points["flows", n, "dupack-reno"],)
         for x in (*q.s_base, *q.s_mixed)]
    page.claim("fig8.equal-to-40", "Figure 8: equal shares up to 40 flows",
               max(s) < 1.1, f"S {show(s, 2)}")
    p = points["flows", 50, "dupack-reno"]
    page.claim("fig7.above-at-50", "Figure 7: at 50 flows TLTCP gets more than "
               "its share, above F_best of TCP alone",
               mean(p.f) > mean(p.best), f"F {show(p.f, 2)}, F_best "
               f"{show(p.best, 2)}, F_worst {show(p.worst, 2)}",
               seeds=len(p.f))
    page.claim("fig8.unfair-at-50", "Figure 8: at 50 flows shares are unequal, "
               "among TCP alone too",
               min(p.s_base) > 1.5 and min(p.s_mixed) > 1.5,
               f"S alone {show(p.s_base, 2)}, mix {show(p.s_mixed, 2)}; "
               f"drops {100 * mean(p.drops):.2f} %", seeds=len(p.s_base))


def claims_window(page, points, quick):
    small = [x for x in SWEEPS["window"][0] if x <= 10]
    fs = [f for x in small for f in points["window", x, "dupack-reno"].f]
    page.claim("fig9.fair-small", "Figure 9: fair at windows of 5 and 10",
               all(abs(f - 1) < 0.05 for f in fs), f"F {show(fs)}; no loss")
    p = points["window", 20, "dupack-reno"]
    page.claim("fig10.unequal-at-20", "Figure 10: at a window of 20 TCP alone "
               "has S of about 2", 1.5 < p.s0_base < 3.5,
               f"S {p.s0_base:.2f} when all start at once, "
               f"{show(p.s_base, 2)} when starts are spread",
               seeds=len(p.s_base))
    big = [points["window", x, "dupack-reno"] for x in (40, 80)]
    better = [q.s0_base < p.s0_base for q in big]
    apart = above({20: p.s_base, 40: big[0].s_base, 80: big[1].s_base},
                  (20, 40), (20, 80))
    once = only("when all flows start at once; with starts spread it holds "
                "only on average, if at all")
    page.claim(
        "fig10.better-at-40", "Figure 10: shares are more equal again at "
        "40 and 80",
        apart is True or (once if all(better) else FAILS),
        "S of TCP alone at 20, 40, 80: together "
        + ", ".join(f"{q.s0_base:.2f}" for q in [p, *big])
        + "; spread " + ", ".join(show(q.s_base, 2) for q in [p, *big]),
        expect=once, seeds=len(p.s_base))
    base = points["window", 20, "dupack-reno"]
    when = only("when all flows start at once")
    page.claim("fig9.improves", "Figure 9: unfair at 20, fairness improves "
               "at 40 and 80",
               above({0: [abs(x - 1) for x in base.f],
                      1: [abs(x - 1) for x in big[0].f],
                      2: [abs(x - 1) for x in big[1].f]}, (0, 1), (0, 2))
               is True or (when if abs(base.f0 - 1) > 1.2 * max(
                   abs(q.f0 - 1) for q in big) else FAILS),
               "F at 20, 40, 80: together " + ", ".join(
                   f"{q.f0:.2f}" for q in (base, *big)) + "; spread "
               + ", ".join(show(q.f, 2) for q in (base, *big)), expect=when,
               seeds=len(base.f))
    losing = [x for x in SWEEPS["window"][0] if x >= 20]
    f = [points["window", x, "dupack-reno"].f for x in losing]
    page.claim("fig9.more", "Figure 9: where packets are lost TLTCP gets more "
               "than TCP", all(mean(x) > 1 for x in f)
               and mean(sum(f, [])) > 1 + half_width(sum(f, [])),
               "; ".join(f"window {x}: F {show(y)}" for x, y in zip(losing, f)),
               seeds=len(f[0]))


class Worked:
    """The results of the flow of the worked examples."""

    def __init__(self, runs, manner):
        run = runs["worked", manner]
        self.flow = run.flows("tltcp")[0]
        self.drops = run.link("R1", "R2")["dropped_queue"]
        self.place = run.samples("tltcp")[-1]["sequence"]
        self.sections = 14 / WORKED - 1  # deadlines that passed

    def row(self):
        f = self.flow
        return (f"{f['sent']:.0f}", self.drops, f"{f['cuts']:.0f}",
                f"{f['timeouts']:.0f}", f"{f['pseudo']:.0f}",
                f"{self.place:.0f}")


def claims_worked(page, runs):
    section = SECTION
    w = {m: Worked(runs, m) for m in MANNERS}
    old = w["dupack-reno"]
    page.claim("fig2.window", "Figure 2: at a deadline the window goes on with "
               "the next section; what was not sent is never sent",
               all(x.place > (x.sections - 1) * section > 5 * x.flow["sent"]
                   for x in w.values()),
               f"{old.sections:.0f} deadlines of sections of {section:.0f} "
               f"packets bring the stream to packet {old.place:.0f}, with "
               f"{old.flow['sent']:.0f} sent", seeds=1)
    page.claim("fig3.update", "Figure 3: what is missing of an obsolete "
               "section holds up neither end",
               all(x.drops > 0 and x.flow["timeouts"] == 0
                   for x in w.values()),
               f"{old.drops} packets dropped, {old.flow['timeouts']:.0f} "
               "timeouts", seeds=1)
    page.claim("fig4.slot", "Figure 4: the slot of a retransmission of obsolete "
               "data goes to current data",
               old.flow["pseudo"] > 0 == w["packet"].flow["pseudo"],
               f"{old.flow['pseudo']:.0f} pseudo-retransmissions for "
               f"{old.flow['cuts']:.0f} reductions; with packet numbers none "
               "is needed", seeds=1)


def worked_part(page, runs):
    page.heading("Figures 2 to 4: worked examples")
    page.text("One TLTCP flow alone for 14 s, sections of 700 000 bytes with "
              f"deadlines of {WORKED} s, a queue of 20 and a window of 40, so "
              "that packets are lost shortly before they are obsolete:")
    page.table(("recovery", "sent", "dropped", "reductions", "timeouts",
                "pseudo-retransmissions", "place in the stream, packets"), [
        (words, *Worked(runs, m).row()) for m, words in MANNERS.items()])


def claim_pseudo(page, runs, quick):
    def count(manner, seed):
        run = runs["flows", 50, True, manner, seed]
        return sum(x["pseudo"] for x in run.flows("tltcp"))
    old, new = ([count(m, s) for s in trials("flows", 50, quick)]
                for m in ("dupack-reno", "packet"))
    page.claim("fig4.pseudo", "Figures 2 to 4: a loss among obsolete data "
               "makes the sender repeat current data that was not lost",
               min(old) > 0,
               f"pseudo-retransmissions of 25 TLTCP flows: {show(old, 0)}; "
               f"with packet numbers {show(new, 0)}", seeds=len(old))


def losing_f(runs, quick):
    """F by reading and deadline where packets are lost."""
    return {(m, d): [fairness(runs["losing", d, m, s])
                     for s in trials(*LOSSY[0], quick)]
            for m in READINGS for d in DEADLINES}


def readings_part(page, runs, losing, quick):
    page.heading("How Figure 13 may be read")
    page.text("The paper keeps the highest number sent and the last "
              "acknowledgement of every obsolete section, and does not say "
              "what becomes of a section whose losses seq_update has skipped. "
              f"At windows of {LOSING}: F, timeouts per TLTCP flow, and per "
              "TCP flow beside it:")

    def count(reading, deadline, flow):
        return brief([x for s in trials(*LOSSY[0], quick) for x in per_flow(
            [runs["losing", deadline, reading, s]], "timeouts", flow)], 1)
    page.table(("deadline, s", *READINGS.values()), [
        (f"{d:g}", *(f"{brief(losing[m, d], 2)}; {count(m, d, 'tltcp')}; "
                     f"{count(m, d, 'tcp')}" for m in READINGS))
        for d in DEADLINES])


def claims_rest(page, points, losing):
    fs = [f for x in SWEEPS["delay"][0]
          for f in points["delay", x, "dupack-reno"].f]
    page.claim("fig11.delay", "Figure 11: fair at every delay",
               all(abs(f - 1) < 0.05 for f in fs),
               f"F {show(fs)}; again nothing is lost at any delay")
    s = [x for d in SWEEPS["delay"][0]
         for q in (points["delay", d, "dupack-reno"],)
         for x in (*q.s_base, *q.s_mixed)]
    page.claim("fig12.delay", "Figure 12: equal shares at every delay",
               max(s) < 1.1, f"S {show(s, 2)}; likewise")
    old = points["deadline", 0.5, "dupack-reno"]
    new = points["deadline", 0.5, "packet"]
    page.claim("fig13.short", "Figure 13: with deadlines of 0.5 s TLTCP gets "
               "less", mean(old.f) < 0.97,
               f"F {show(old.f)} with the paper's recovery, {show(new.f)} with "
               "packet numbers; with windows of 10 nothing is lost, so no "
               f"duplicate is ever waited for; with windows of {LOSING}: "
               + ", ".join(f"{brief(losing[m, 0.5], 2)} ({w})"
                           for m, w in READINGS.items()), expect=FAILS)
    long_ = [f for x in SWEEPS["deadline"][0] if x > 1
             for f in points["deadline", x, "dupack-reno"].f]
    page.claim("fig13.long", "Figure 13: fair at longer deadlines",
               all(abs(f - 1) < 0.05 for f in long_), f"F {show(long_)}")


def per_flow(runs, what, flow):
    """Of each run, the mean over the flows of a kind."""
    return [mean([x[what] for x in r.flows(flow)]) for r in runs]


def claims_text(page, runs, quick):
    """What the paper says in its text, without a figure."""
    old = "dupack-reno"

    def mixed(sweep, value):
        return [runs[sweep, value, True, old, s]
                for s in trials(sweep, value, quick)]
    crowd = mixed("flows", 50)
    cuts = {f: per_flow(crowd, "cuts", f) for f in ("tltcp", "tcp")}
    page.claim("text.cuts", "Text: at 50 flows TLTCP retransmits less than TCP",
               mean(cuts["tltcp"]) < mean(cuts["tcp"]), "reductions per flow: "
               f"TLTCP {brief(cuts['tltcp'], 1)}, TCP {brief(cuts['tcp'], 1)}",
               seeds=len(crowd))
    calm = mixed("flows", 30)
    srtt = {f: per_flow(calm, "srtt", f) for f in ("tltcp", "tcp")}
    page.claim("text.rtt", "Text: RTT estimates of both are alike",
               abs(ratio(mean(srtt["tltcp"]), mean(srtt["tcp"])) - 1) < 0.02,
               f"s: TLTCP {brief(srtt['tltcp'])}, TCP {brief(srtt['tcp'])}")
    cwnd = {w: [mean([*per_flow([r], "cwnd", "tltcp"),
                      *per_flow([r], "cwnd", "tcp")])
                for r in mixed("window", w)] for w in (20, 40, 80)}
    means = [mean(x) for x in cwnd.values()]
    page.claim("text.windows", "Text: mean windows are alike at receive "
               "windows of 20, 40, 80 (within a quarter)",
               max(means) < 1.25 * min(means), "packets at the end: "
               + ", ".join(f"{w}: {brief(x, 1)}" for w, x in cwnd.items()),
               seeds=len(cwnd[20]))


def off(values):
    """How far the mean of F is from 1."""
    return abs(mean(values) - 1)


def nearer(pairs):
    """Where F is nearer to 1 with packet numbers beyond doubt, of pairs of
    what the recoveries gave by point."""
    return [name for name, (old, new) in pairs.items() if above(
        {0: [abs(f - 1) for f in old], 1: [abs(f - 1) for f in new]},
        (0, 1)) is True]


def claim_nearer(page, name, text, pairs, expect):
    sure = nearer(pairs)
    better = [off(new) < off(old) for old, new in pairs.values()]
    page.claim(name, text, len(sure) == len(pairs)
               or (AS_FAR if all(better) else only("on average")
                   if sum(off(new) for _, new in pairs.values())
                   < sum(off(old) for old, _ in pairs.values()) else FAILS),
               "F: " + "; ".join(f"{n}: {brief(old, 2)} → {brief(new, 2)}"
                                 for n, (old, new) in pairs.items())
               + ". Beyond doubt: " + (", ".join(sure) or "none"),
               expect=expect, seeds=len(next(iter(pairs.values()))[0]))


def claims_beyond(page, points, losing, quick):
    old, new = MANNERS
    claim_nearer(page, "beyond.fig13", "With packet numbers Figure 13 is nearer "
                 "to fair where packets are lost, at windows of "
                 f"{LOSING} (ours)",
                 {f"deadline {d:g} s": (losing[old, d], losing[new, d])
                  for d in DEADLINES if d < 5}, AS_FAR if quick else HOLDS)
    claim_nearer(page, "beyond.packet-numbers", "Packet numbers bring F nearer "
                 "to 1 where packets are lost (ours, not the paper's)",
                 {f"{s} {x}": (points[s, x, old].f, points[s, x, new].f)
                  for s, x in LOSSY}, AS_FAR if quick else HOLDS)


def losing_part(page, points, losing):
    page.heading("What packet numbers change")
    page.text("F wherever packets are lost, and how far it is from 1 with "
              "packet numbers, as a part of how far it is with the paper's "
              f"recovery. Figure 13 with windows of {LOSING}, for with the "
              "paper's 10 nothing is lost:")
    names = {"window": "Figure 9: windows of {}", "flows": "Figure 7: {} flows"}
    rows = [(names[s].format(x), *(points[s, x, m].f for m in MANNERS))
            for s, x in LOSSY]
    rows += [(f"Figure 13: deadlines of {d:g} s",
              *(losing[m, d] for m in MANNERS)) for d in DEADLINES]
    page.table(("point", *(f"F with {w}" for w in MANNERS.values()), "left"), [
        (words, show(old), show(new), f"{100 * ratio(off(new), off(old)):.0f} %")
        for words, old, new in rows])

    def draw(axes):
        for axis, xs, get, label in (
                (axes[0], WINDOWS, lambda m, x: points["window", x, m].f,
                 "Figure 9: window"),
                (axes[1], DEADLINES, lambda m, x: losing[m, x],
                 f"Figure 13 at windows of {LOSING}: deadline, s")):
            for m, words in MANNERS.items():
                axis.errorbar(xs, [mean(get(m, x)) for x in xs], fmt="o-",
                              yerr=[half_width(get(m, x)) for x in xs], ms=3,
                              capsize=2, label=words)
            axis.axhline(1, lw=0.8, color="k")
            axis.set_xscale("log")
            axis.set_xticks(xs, [f"{x:g}" for x in xs], minor=False)
            axis.minorticks_off()
            axis.set_ylim(0, 3)
            axis.set_xlabel(label)
        axes[0].set_ylabel("F")
        axes[0].legend()

    page.figure("recovery", "Fairness towards TCP by recovery; bars are 95 % "
                "confidence intervals", draw, size=(7.2, 3), columns=2)


def rival_part(page, runs, quick):
    page.heading("Beside modern TCP")
    page.text("15 flows of TLTCP over Reno's window, 15 of CUBIC or BBR; F:")
    page.table(("path", *(f"{r.upper()}, TLTCP with {w}" for r in RIVALS
                          for w in MANNERS.values())), [
        (words, *(show([fairness(runs["rival", r, words, m, s], "rival")
                        for s in few(quick)], 2)
                  for r in RIVALS for m in MANNERS)) for words in GROUNDS])


def unsaid_part(page, runs, quick):
    page.heading("What the paper does not say, swept")
    page.text(f"F, and S of the mix, at windows of {LOSING}:")
    rows = []
    for words in UNSAID:
        cells = []
        for m in MANNERS:
            every = [runs["unsaid", words, m, s] for s in few(quick)]
            cells += [show([fairness(r) for r in every], 2),
                      show([spread(r.received()) for r in every], 2)]
        rows.append((words, *cells))
    page.table(("reading", *(f"{x} with {w}" for w in MANNERS.values()
                             for x in "FS")), rows)


def report(page, runs, quick):
    points = {(sweep, x, manner): Point(runs, sweep, x, manner,
                                        trials(sweep, x, quick))
              for sweep in SWEEPS for x in SWEEPS[sweep][0]
              for manner in MANNERS}
    claims_worked(page, runs)
    claim_sequence(page, runs)
    claims_flows(page, points)
    claims_window(page, points, quick)
    claim_pseudo(page, runs, quick)
    page.papers_figures("tltcp", *FIGURES)
    claims_text(page, runs, quick)
    losing = losing_f(runs, quick)
    claims_rest(page, points, losing)
    claims_beyond(page, points, losing, quick)
    page.text(
        f"Unless said otherwise: 15 TLTCP and 15 TCP flows, 1.5 Mbit/s, 20 ms, "
        "400 packets of ns-2's drop-tail, windows of 10, packets of 1500 "
        f"bytes, 50 to {200 if quick else 500} s; throughput is what reaches "
        "the receiver, in time or late. TCP is the same engine without deadlines. The "
        "paper does not say when flows start: starts are spread over 1 s with "
        f"{len(seeds(quick))} seeds, {len(trials(*LOSSY[0], quick))} where "
        "packets are lost (mean ± 95 % confidence [least, most]), and "
        "\"together\" is one run in which all start at 0 s.")
    worked_part(page, runs)
    sequence_part(page, runs)
    for sweep in SWEEPS:
        sweep_part(page, points, sweep)
    losing_part(page, points, losing)
    readings_part(page, runs, losing, quick)
    rival_part(page, runs, quick)
    unsaid_part(page, runs, quick)
