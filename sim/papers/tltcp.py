# SPDX-License-Identifier: MPL-2.0
"""Mukherjee and Brecht, Time-lined TCP for the TCP-friendly delivery of
streaming media (2000): Figures 2 to 5 and 7 to 13."""
from .numbers import brief, half_width, mean, ratio, show, spread
from .page import Figure
from .tltcp_claims import (Worked, claim_pseudo, claim_sequence, claims_beyond,
                           claims_flows, claims_rest, claims_text,
                           claims_window, claims_worked, losing_f, off,
                           per_flow)
from .tltcp_runs import (DEADLINES, GROUNDS, LOSING, LOSSY, MANNERS, READINGS,
                         REOPENED, RIVALS, SHORTER_QUEUES, SKIPPED, SWEEPS,
                         UNSAID, UNTIMED, UNTIMED_GROUNDS, WINDOWS, WORKED,
                         Point, drops, fairness, few, plan, seeds)

__all__ = ["TITLE", "plan", "report", "seeds"]

TITLE = "Time-lined TCP"
AUTHORS = "Mukherjee and Brecht (2000),"
BOUND = "Nothing is lost there: windows and queue bound every flow"
FIGURES = (
    Figure("Figure 5", "one TLTCP and one TCP, 14 s: about 900 packets each, "
           "equal slopes; at each deadline TLTCP goes on with the next "
           "section, a multiple of 467 packets",
           ("fig5.equal-slopes", "fig5.packets", "fig5.jumps"), True,
           "Sections are of 489 packets here, for 1431 of 1500 bytes are data"),
    Figure("Figure 7", "F is near 1 up to 40 flows; at 50 the mix is above "
           "the baseline", ("fig7.fair-to-40", "fig7.above-at-50"), False,
           "Up to 40: " + BOUND.lower()),
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
           ("fig11.delay",), True, BOUND),
    Figure("Figure 12", "S is near 1 at every delay", ("fig12.delay",), True,
           BOUND),
    Figure("Figure 13", "fair at deadlines from 2.5 s on; at 0.5 s TLTCP gets "
           "less: a section has too few packets for three duplicates, so "
           "that timeouts follow", ("fig13.short", "fig13.long"), False,
           "Cause, by experiment: windows of 10 lose no packet at any "
           "deadline, so no duplicate is waited for. With windows of 20 TLTCP "
           "gets clearly less at 0.5 s, with timeouts, if what seq_update "
           "skips stays in flight until the timeout, and what is obsolete when "
           "it is acknowledged gives no RTT (below). The text says neither"),
)


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
    ns2 = runs.get("ns-2")
    page.text("Printed: about 900 packets each, which is more than the link "
              "carries in 14 s (875 each with headers)" + (
                  "; two flows of ns-2's Reno deliver "
                  + ns2.lines[0]["counts"].replace(",", " and ")
                  if ns2 else "") + ".")


def worked_part(page, runs):
    page.heading("Figures 2 to 4: worked examples")
    page.text("One TLTCP flow alone for 14 s, sections of 700 000 bytes with "
              f"deadlines of {WORKED} s, a queue of 20 and a window of 40, so "
              "that packets are lost shortly before they are obsolete:")
    page.table(("recovery", "sent", "dropped", "reductions", "timeouts",
                "pseudo-retransmissions", "place in the stream, packets"), [
        (words, *Worked(runs, m).row()) for m, words in MANNERS.items()])


def readings_part(page, runs, losing, quick):
    page.heading("How Figure 13 may be read")
    page.text("The paper keeps the highest number sent and the last "
              "acknowledgement of every obsolete section, and does not say "
              "what becomes of a section whose losses seq_update has skipped. "
              f"At windows of {LOSING}: F, timeouts per TLTCP flow, and per "
              "TCP flow beside it:")

    def count(reading, deadline, flow):
        return brief([x for s in seeds(quick) for x in per_flow(
            [runs["losing", deadline, reading, s]], "timeouts", flow)], 1)
    page.table(("deadline, s", *READINGS.values()), [
        (f"{d:g}", *(f"{brief(losing[m, d], 2)}; {count(m, d, 'tltcp')}; "
                     f"{count(m, d, 'tcp')}" for m in READINGS))
        for d in DEADLINES])
    if not quick:
        queues_part(page, runs)
        reopened_part(page, runs)
        untimed_part(page, runs)


def queues_part(page, runs):
    page.text("With the paper's windows of 10 and queues shorter than its 400, "
              "so that packets are lost: F, and timeouts per TLTCP flow:")

    def cell(hold, queue, deadline):
        every = [runs["queue", hold, queue, deadline, s] for s in few(False)]
        return (f"{show([fairness(r) for r in every], 2)}; "
                f"{brief(per_flow(every, 'timeouts', 'tltcp'), 1)}")
    page.table(("queue", "deadline, s", *SKIPPED.values()), [
        (q, f"{d:g}", *(cell(h, q, d) for h in SKIPPED))
        for q in SHORTER_QUEUES for d in DEADLINES[:2]])


def has_trial(page, runs, name):
    """Whether a trial has been run; if not, the page says so."""
    there = any(k[0] == name for k in runs)
    if not there:
        page.text("It was not there when this page was made.")
    return there


def table_by_deadline(page, heads, columns, cell):
    page.table(("deadline, s", *heads), [
        (f"{d:g}", *(cell(c, d) for c in columns)) for d in DEADLINES])


def reopened_part(page, runs):
    page.text("A fourth reading: what is obsolete leaves the flight at its "
              "deadline, so that the window opens again. It needs an engine "
              f"that [a patch](../../sim/trials/{REOPENED}.patch) changes; "
              "`./dev reproduce --with-trials tltcp` builds and runs it. At "
              "windows of 10, F and the share of packets that is lost:")
    if not has_trial(page, runs, "reopened"):
        return

    def cell(hold, deadline):
        every = [runs["reopened", hold, deadline, s] for s in few(False)]
        return (f"{show([fairness(r) for r in every], 2)}; "
                f"{100 * mean([drops(r) for r in every]):.1f} %")
    table_by_deadline(page, SKIPPED.values(), SKIPPED, cell)


def untimed_part(page, runs):
    page.text("A fifth reading: what is obsolete when it is acknowledged gives "
              "no RTT, as what was sent twice gives none, and what is skipped "
              "stays in flight until the timeout. It needs "
              f"[another patch](../../sim/trials/{UNTIMED}.patch). At "
              "deadlines of 0.5 s no packet gives an RTT, because round trips "
              "are longer, so nothing ends the backoff of a timeout. F, and "
              "timeouts per TLTCP flow:")
    if not has_trial(page, runs, "untimed"):
        return

    def cell(words, deadline):
        every = [runs["untimed", words, deadline, s] for s in seeds(False)]
        return (f"{show([fairness(r) for r in every], 2)}; "
                f"{brief(per_flow(every, 'timeouts', 'tltcp'), 1)}")
    table_by_deadline(page, UNTIMED_GROUNDS, UNTIMED_GROUNDS, cell)


def losing_part(page, points, losing):
    page.heading("What packet numbers change")
    page.text("F wherever packets are lost, and how far it is from 1 with "
              "packet numbers, as a share of how far it is with the paper's "
              f"recovery. Figure 13 with windows of {LOSING}, because "
              "nothing is lost with the paper's 10:")
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
    page.heading("Values that the paper leaves open")
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
                                        seeds(quick))
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
        f"{len(seeds(quick))} seeds (mean ± 95 % confidence [least, most]), "
        f"{len(few(quick))} of what is not about a claim, and \"together\" is "
        "one run in which all start at 0 s.")
    worked_part(page, runs)
    sequence_part(page, runs)
    for sweep in SWEEPS:
        sweep_part(page, points, sweep)
    losing_part(page, points, losing)
    readings_part(page, runs, losing, quick)
    rival_part(page, runs, quick)
    unsaid_part(page, runs, quick)
