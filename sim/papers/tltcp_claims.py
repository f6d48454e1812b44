# SPDX-License-Identifier: MPL-2.0
"""Time-lined TCP: what the paper claims, judged by the runs."""
from .numbers import brief, half_width, mean, ratio, show
from .page import AS_FAR, FAILS, HOLDS, IDLE, above, only, telling
from .tltcp_runs import (DEADLINES, LOSING, LOSSY, MANNERS, READINGS, SWEEPS,
                         WORKED, calm, fairness, seeds)

# Of a section of 700 000 bytes: the paper's packets of 1500 bytes carry 1500,
# the engine's 1431.
SECTION = 700000 / 1431


def claim_sequence(page, runs):
    run = runs["sequence", "dupack-reno"]
    tcp, tltcp = run.received("tcp")[0], run.received("tltcp")[0]
    page.claim("fig5.equal-slopes", "Figure 5: a TLTCP flow and a TCP flow "
               "deliver alike", telling(abs(tltcp / tcp - 1) < 0.05, calm(run)),
               f"{tltcp:.0f} and {tcp:.0f} packets in 14 s", expect=IDLE,
               seeds=1)
    page.claim("fig5.packets", "Figure 5: about 900 packets each (within 5 %)",
               telling(all(abs(x / 900 - 1) < 0.05 for x in (tcp, tltcp)),
                       calm(run)),
               f"{tltcp:.0f} and {tcp:.0f}; the link carries 875 each in 14 s",
               expect=IDLE, seeds=1)
    section = SECTION
    steps = [x["sequence"] for x in run.samples("tltcp")]
    jumps = [b for a, b in zip(steps, steps[1:]) if b - a > section / 3]
    page.claim("fig5.jumps", "Figure 5: at each deadline TLTCP goes on with "
               "the next section", len(jumps) >= 12,
               f"{len(jumps)} jumps in 14 s; sections of {section:.0f} packets",
               seeds=1)


def claims_flows(page, points):
    few = [points["flows", x, "dupack-reno"] for x in SWEEPS["flows"][0]
           if x <= 40]
    fs = [f for q in few for f in q.f]
    idle = all(q.calm for q in few)
    page.claim("fig7.fair-to-40", "Figure 7: fair up to 40 flows",
               telling(all(abs(f - 1) < 0.05 for f in fs), idle),
               f"F {show(fs)}", expect=IDLE)
    s = [x for q in few for x in (*q.s_base, *q.s_mixed)]
    page.claim("fig8.equal-to-40", "Figure 8: equal shares up to 40 flows",
               telling(max(s) < 1.1, idle), f"S {show(s, 2)}", expect=IDLE)
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
               telling(all(abs(f - 1) < 0.05 for f in fs), all(
                   points["window", x, "dupack-reno"].calm for x in small)),
               f"F {show(fs)}; no loss", expect=IDLE)
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


def claim_pseudo(page, runs, quick):
    def count(manner, seed):
        run = runs["flows", 50, True, manner, seed]
        return sum(x["pseudo"] for x in run.flows("tltcp"))
    old, new = ([count(m, s) for s in seeds(quick)]
                for m in ("dupack-reno", "packet"))
    page.claim("fig4.pseudo", "Figures 2 to 4: a loss among obsolete data "
               "makes the sender repeat current data that was not lost",
               min(old) > 0,
               f"pseudo-retransmissions of 25 TLTCP flows: {show(old, 0)}; "
               f"with packet numbers {show(new, 0)}", seeds=len(old))


def losing_f(runs, quick):
    """F by reading and deadline where packets are lost."""
    return {(m, d): [fairness(runs["losing", d, m, s])
                     for s in seeds(quick)]
            for m in READINGS for d in DEADLINES}


def claims_rest(page, points, losing):
    every = [points["delay", x, "dupack-reno"] for x in SWEEPS["delay"][0]]
    idle = all(q.calm for q in every)
    fs = [f for q in every for f in q.f]
    page.claim("fig11.delay", "Figure 11: fair at every delay",
               telling(all(abs(f - 1) < 0.05 for f in fs), idle),
               f"F {show(fs)}", expect=IDLE)
    s = [x for q in every for x in (*q.s_base, *q.s_mixed)]
    page.claim("fig12.delay", "Figure 12: equal shares at every delay",
               telling(max(s) < 1.1, idle), f"S {show(s, 2)}", expect=IDLE)
    old = points["deadline", 0.5, "dupack-reno"]
    new = points["deadline", 0.5, "packet"]
    page.claim("fig13.short", "Figure 13: with deadlines of 0.5 s TLTCP gets "
               "less", mean(old.f) < 0.97,
               f"F {show(old.f)} with the paper's recovery, {show(new.f)} with "
               "packet numbers; with windows of 10 nothing is lost, so no "
               f"duplicate is ever waited for; with windows of {LOSING}: "
               + ", ".join(f"{brief(losing[m, 0.5], 2)} ({w})"
                           for m, w in READINGS.items()), expect=FAILS)
    longer = [points["deadline", x, "dupack-reno"]
              for x in SWEEPS["deadline"][0] if x > 1]
    long_ = [f for q in longer for f in q.f]
    page.claim("fig13.long", "Figure 13: fair at longer deadlines",
               telling(all(abs(f - 1) < 0.05 for f in long_),
                       all(q.calm for q in longer)), f"F {show(long_)}",
               expect=IDLE)


def per_flow(runs, what, flow):
    """Of each run, the mean over the flows of a kind."""
    return [mean([x[what] for x in r.flows(flow)]) for r in runs]


def claims_text(page, runs, quick):
    """What the paper says in its text, without a figure."""
    old = "dupack-reno"

    def mixed(sweep, value):
        return [runs[sweep, value, True, old, s]
                for s in seeds(quick)]
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
    often = {d: per_flow([runs["losing", d, old, s]
                          for s in seeds(quick)], "cuts", "tltcp")
             for d in DEADLINES[:2]}
    page.claim("text.deadline", "Text: TLTCP retransmits fast less often with "
               "deadlines of 0.5 s than with longer ones (at windows of "
               f"{LOSING})", mean(often[DEADLINES[0]])
               < mean(often[DEADLINES[1]]), "reductions per flow: " + ", ".join(
                   f"{d:g} s: {brief(x, 1)}" for d, x in often.items()),
               seeds=len(often[DEADLINES[0]]))


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
