# SPDX-License-Identifier: MPL-2.0
"""The comparison of TCPs over a GEO satellite: Figures 2 to 11."""
from .geo_open import claims_figures, open_part
from .geo_runs import (CHOOSERS, EVERY, JITTER, MODERN, OLD, PACKET, PAPER,
                       RATE, RATES, SWEEPS, TIGHT, WINDOWS, View, loss,
                       phase_of, plan, seeds, shares, swept)
from .numbers import brief, half_width, jain, mean, show
from .page import FAILS, Figure, only

__all__ = ["TITLE", "plan", "report", "seeds"]

TITLE = "TCPs over a GEO satellite"
AUTHORS = "Neglia and others,"
TIGHTLY = only(f"with a small queue ({TIGHT} packets; ns-2's default is 50)")
IN_STEP = only("where flows fall into step with the bottleneck")
JITTERED = only("where jitter keeps flows out of step")

STARVES = ("near 100 % alone; beside terrestrial flows the satellite starves; "
           "with UDP it regains some")
FIGURES = (
    Figure("Figure 2", f"original TCP: {STARVES}", ("fig2",), False,
           "With windows of 20 it starves only with queues with which it does "
           "not fill the link alone; with windows of 10 it does both"),
    Figure("Figure 3", f"Reno: {STARVES}", ("fig3",)),
    Figure("Figure 4", "SACK: near 100 % alone; beside terrestrial flows the "
           "satellite keeps some of it", ("fig4",)),
    Figure("Figure 5", f"NewReno: {STARVES}", ("fig5",)),
    Figure("Figure 6", f"Vegas: {STARVES}", ("fig6",)),
    Figure("Figure 7", "Westwood: maximum alone; a nearly fair split; with UDP "
           "the satellite blocks the terrestrial flows", ("fig7",)),
    Figure("Figure 8", "Tibet: maximum alone; returns to it shortly after "
           "terrestrial flows begin; with UDP it blocks them", ("fig8",)),
    *(Figure(f"Figure {n}", words, ("light",)) for n, words in (
        (9, "satellite Tibet, terrestrial Reno, low load (about 40 % of each "
         "type): Tibet cannot compete"), (10, "cwnd of the same"),
        (11, "throughput of the same"))),
)


def draw_time(run):
    def draw(axis):
        for group, words in (("sat", "satellite"), ("ter", "terrestrial")):
            total = {}
            for flow in range(15):
                for x in run.samples(group, flow):
                    total[x["t"]] = total.get(x["t"], 0) + x["segments"]
            times = sorted(total)
            axis.plot(times[1:], [
                (total[b] - total[a]) * PACKET * 8 / (b - a) / RATE
                for a, b in zip(times, times[1:])], label=words)
        arrived = run.samples("udp")
        axis.plot([x["t"] for x in arrived[1:]], [
            (b["arrived_bytes"] - a["arrived_bytes"]) * 8 / (b["t"] - a["t"])
            / RATE for a, b in zip(arrived, arrived[1:])], ":", label="UDP")
        axis.set_xlabel("s")
        axis.set_ylabel("share of the bottleneck")
        axis.set_ylim(0, 1.3)
        axis.legend(ncols=3, loc="upper center")
    return draw


def draw_windows(run):
    """Figure 10: a flow of each group."""
    def draw(axis):
        for group, words in (("sat", "satellite, Tibet"),
                             ("ter", "terrestrial, Reno")):
            s = run.samples(group)
            axis.plot([x["t"] for x in s], [x["cwnd"] for x in s], lw=1,
                      label=words)
        axis.set_xlabel("s")
        axis.set_ylabel("cwnd, packets")
        axis.set_ylim(bottom=0)
        axis.legend(ncols=2)
    return draw


def listed(values):
    """By protocol."""
    return ", ".join(f"{n} {brief(x)}" for n, x in values.items())


def two(values, loose):
    """By protocol, without and with jitter."""
    return ", ".join(f"{n} {brief(x)} ({brief(loose[n])} with jitter)"
                     for n, x in values.items())


def claims_alone(page, v, names):
    first = {n: v.share(n, period=0) for n in names}
    page.claim("phase1.full", "Figures 2 to 8: alone, satellite flows fill the "
               "bottleneck", all(mean(x) > 0.9 for x in first.values()),
               listed(first))


def claims_beside(page, v, names, quick):
    second = {n: v.share(n) for n in names}
    loose = {n: v.out_of_step(n) for n in names}
    old = {n: second[n] for n in OLD}
    tight = {n: v.share(n, "queue", TIGHT) for n in OLD}
    starving = [all(mean(x) < 0.2 for x in y.values()) for y in (old, tight)]
    page.claim("phase2.starve", "Figures 2, 3, 5, 6: beside terrestrial flows "
               "the satellite ones starve (less than 0.2, where 0.5 is fair) "
               "with Tahoe, Reno, NewReno, Vegas",
               starving[0] or (TIGHTLY if starving[1] else FAILS),
               f"satellite share {two(old, loose)}; with a queue of {TIGHT} "
               + listed(tight), expect=FAILS if quick else TIGHTLY)
    page.claim("phase2.less", "The weaker form: they get less than the "
               "terrestrial ones", all(mean(x) < 0.5 for x in old.values()),
               listed(old))
    page.claim("phase2.sack", "Figure 4: SACK keeps more of its share than "
               "Reno", mean(second["SACK"]) > mean(second["Reno"])
               or (JITTERED if mean(loose["SACK"]) > mean(loose["Reno"])
                   else FAILS),
               two({n: second[n] for n in ("SACK", "Reno")}, loose),
               expect=JITTERED)
    alike = [0.4 < mean(x["Westwood"]) < 0.6 for x in (second, loose)]
    page.claim("phase2.westwood", "Figure 7: with Westwood the two groups "
               "share nearly alike",
               True if all(alike) else IN_STEP if alike[0] else FAILS,
               "satellite share "
               + two({"Westwood": second["Westwood"]}, loose), expect=FAILS)
    page.claim("phase2.tibet", "Figure 8: with Tibet the satellite flows "
               "return to their maximum", mean(second["Tibet"]) > 0.8,
               "satellite share " + two({"Tibet": second["Tibet"]}, loose),
               expect=FAILS)
    span = [max(map(mean, x.values())) - min(map(mean, x.values()))
            for x in (second, loose)]
    page.claim("step", "Without jitter it is packets in step with the "
               "bottleneck, not only the controllers, that set the shares "
               "(ours)", span[1] < 0.7 * span[0],
               "satellite shares of the seven lie "
               f"{span[0]:.3f} apart, with a jitter of {JITTER} ms, which is "
               f"more than a packet's transmission, {span[1]:.3f}: "
               + listed(loose))


def claims_udp(page, v, names):
    def course(some):
        return "; ".join(f"{n} {brief(v.share(n))} → "
                         f"{brief(v.share(n, period=2))}, with jitter "
                         f"{brief(v.out_of_step(n))} → "
                         f"{brief(v.out_of_step(n, 2))}" for n in some)

    def regains(get):
        return all(mean(get(n, 2)) > mean(get(n, 1)) for n in names[:5])
    page.claim("phase3.regain", "Figures 2 to 6: when UDP pushes the "
               "terrestrial flows down, satellite ones regain some",
               regains(lambda n, p: v.share(n, period=p))
               or (JITTERED if regains(v.out_of_step) else FAILS),
               course(names[:5]), expect=FAILS)
    new = ("Westwood", "Tibet")
    page.claim("phase3.block", "Figures 7, 8: in the third phase satellite "
               "flows of Westwood and of Tibet block the terrestrial ones",
               all(mean(v.share(n, period=2))
                   > mean(v.share(n, period=2, group=1)) for n in new),
               "satellite beside terrestrial share: " + ", ".join(
                   f"{n} {brief(v.share(n, period=2))} beside "
                   f"{brief(v.share(n, period=2, group=1))}" for n in new),
               expect=FAILS)


def claim_mixed(page, v, quick):
    mixed, free = v.share("mixed"), v.out_of_step("mixed")
    page.claim("mixed", "At full load, Tibet on the satellite cannot "
               "compete with terrestrial Reno (less than 0.4)",
               FAILS if mean(free) >= 0.4 else mean(mixed) < 0.4 or JITTERED,
               "satellite share " + two({"Tibet": mixed}, {"Tibet": free}),
               expect=JITTERED)


def claim_light(page, v):
    parts = [[v.share("light", period=p, group=g) for g in (0, 1)]
             for p in (1, 2)]
    less = [mean(a) + half_width(a) < 0.9 * (mean(b) - half_width(b))
            for a, b in parts]
    udp = only("once UDP makes the load high")
    page.claim("light", "Figures 9 to 11: at low load, 40 % of the bottleneck "
               "offered by each group, Tibet on the satellite gets less than "
               "terrestrial Reno by a tenth and more",
               all(less) or (udp if less[1] else FAILS),
               "satellite / terrestrial share " + ", ".join(
                   f"{words} {brief(a)} / {brief(b)}" for words, (a, b) in zip(
                       ("without UDP", "with UDP"), parts)), expect=udp)


def claim_bound(page, v):
    run = v.runs["bound"]
    rate = shares(run, 0)[0] * RATE / 1000
    page.claim("text.window", "Text: a window of 64 KB bounds a flow over the "
               "satellite to 900 kbit/s (within 5 %)",
               abs(rate / 900 - 1) < 0.05, f"one flow with a window of "
               f"{WINDOWS[-1]} packets: {rate:.0f} kbit/s", seeds=1)


def claims(page, v, quick):
    names = [p[0] for p in PAPER]
    claim_bound(page, v)
    if not quick:
        claims_figures(page, v)
        claim_light(page, v)
    claims_alone(page, v, names)
    claims_beside(page, v, names, quick)
    claims_udp(page, v, names)
    claim_mixed(page, v, quick)


def table(page, v):
    rows = []

    def average(what):
        return mean([what(v.runs[name, s]) for s in v.seeds_of(name)])
    for name, figure, *_ in PAPER + MODERN + (("mixed", "9 to 11"),):
        rows.append((name, figure or "-", *(
            " / ".join(show(v.share(name, period=period, group=group))
                       for group in range(groups))
            for period, groups in ((0, 1), (1, 2), (2, 3))),
            ", ".join("{:.1f}".format(100 * average(lambda r, p=p: loss(r, p)))
                      for p in range(3)),
            ", ".join("{:.3f}".format(average(
                lambda r, g=g: jain(r.segments(g, 1)))) for g in ("sat", "ter"))
        ))
    page.heading("Shares of the bottleneck")
    page.table(("protocol", "figure", "first phase: satellite",
                "second: satellite / terrestrial",
                "third: satellite / terrestrial / UDP", "drops, %",
                "Jain in the second phase"), rows)


def sensitivity(page, v, quick):
    names = swept(quick)
    queues = SWEEPS["queue"][0]
    length = phase_of(v.runs["Reno", "queue", queues[0], 1])
    page.heading("Values that the paper leaves open")
    page.text(f"Satellite share in the second phase, phases of {length:g} s.")
    for what, (values, words) in SWEEPS.items():
        page.text(f"By {words}:")
        page.table(("protocol", *values), [
            (n, *(brief(v.share(n, what, x)) for x in values)) for n in names])
    page.text(f"With a jitter of {JITTER} ms on the way to the bottleneck:")
    everyone = [p[0] for p in PAPER + MODERN] + ["mixed"]
    page.table(everyone, [[brief(v.out_of_step(n)) for n in everyone]])
    page.text("A modern TCP over the satellite beside terrestrial Reno:")
    page.table(("protocol", "no jitter", f"{JITTER} ms"), [
        (n, *(brief(v.share("guest", n, j)) for j in (0, JITTER)))
        for n, *_ in MODERN])
    page.text("Satellite / terrestrial share in the third phase by rate of "
              "UDP, Mbit/s (1 above):")
    page.table(("protocol", *RATES), [
        (n, *(" / ".join(brief(v.share(n, "udp", u, period=2, group=g))
                         for g in (0, 1)) for u in RATES)) for n in names])
    reno = [v.share("Reno", "queue", q) for q in queues]
    small = only("with queues that are small for the paths")
    page.claim("queue-decides", "The size of the queue decides who starves "
               "(ours)", small if mean(reno[0]) < 0.5 < mean(reno[-1])
               else FAILS, "Reno's satellite share at a queue of "
               + ", ".join(f"{q}: {brief(r)}" for q, r in zip(queues, reno)),
               expect=small, seeds=None if quick else "3 to 10")


def report(page, runs, quick):
    v = View(runs, quick)
    claims(page, v, quick)
    page.papers_figures("geo", *FIGURES)
    page.text(
        "15 flows from A over the GEO satellite (263.7 ms one way) and 15 from "
        "B to a terrestrial host share 2 Mbit/s, 10 ms. Satellite flows from "
        "the start, terrestrial ones from the second phase on, UDP in the "
        f"third; phases of {phase_of(runs['Reno', 1]):g} s. The paper does not "
        "give the following values, which are ours: packets of 1040 bytes, "
        "windows of 20, a queue of 50, UDP at 1 Mbit/s, and starts spread over "
        f"1 s. There are {len(seeds(quick))} seed(s)"
        + ("" if quick else f", and {len(CHOOSERS)} of CUBIC and BBR and of what "
           "is swept") + ". \"Original TCP\" is taken as Tahoe, SACK as RFC "
        "6675's.")
    table(page, v)
    sensitivity(page, v, quick)
    if not quick:
        open_part(page, v)
    page.heading("Shares over time")
    for name, figure, *_ in PAPER:
        page.figure(str(figure), f"Figure {figure}: {name}",
                    draw_time(runs[name, 1]), size=(6.4, 2.2))
    page.figure("9-11", "Figures 9 and 11: satellite Tibet, terrestrial Reno, "
                "each group offering 40 % of the bottleneck as files every "
                f"{EVERY} s", draw_time(runs["light", 1]), size=(6.4, 2.2))
    page.figure("10", "Figure 10: windows of the first flow of each group",
                draw_windows(runs["light", 1]), size=(6.4, 2.2))
