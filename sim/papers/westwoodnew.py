# SPDX-License-Identifier: MPL-2.0
"""Mod WestwoodNew over Iridium: Figures 5 to 9."""
from .lab import Job, pacing
from .numbers import brief, mean, show
from .page import AS_FAR, FAILS, HOLDS, IDLE, Figure, above, only, telling

TITLE = "Mod WestwoodNew over LEO satellites"
AUTHORS = "Ayob, Subramaniam, Othman and Zulkarnain (2018),"
WIRE = 8 * 1040  # bits of a packet
MANNER = "dupack-newreno"
# Name, controller, recovery, its parameter.  The algorithms as printed: Westwood
# estimates with every ACK, Mod WestwoodNew adds its estimate with every ACK.
MOD = ("Mod WestwoodNew", "mod-westwoodnew", MANNER, ("literal", 1))
PAPER = (("Westwood", "westwood", MANNER, ("plus", 0)),
         ("WestwoodNew", "westwoodnew", MANNER, ("iw", 1)), MOD)
# Ours: the estimate once per round trip, capped.
REDESIGN = ("Mod WestwoodNew, redesigned", "mod-westwoodnew", MANNER, ("iw", 1))
MODERN = (("CUBIC", "cubic", "packet", ("iw", 1)),
          ("BBR", "bbr", "packet", ("seed", 0)))
EVERY = (*PAPER, REDESIGN, ("Westwood+", "westwood", MANNER, ("iw", 1)),
         ("NewReno", "newreno", MANNER, ("iw", 1)), *MODERN)
SENDERS = (*PAPER, REDESIGN)  # of files
PRINTED = {"Mod WestwoodNew": 1600, "Westwood": 1650, "WestwoodNew": 1780}
LOSSES = (0, 0.001, 0.01, 0.05)
# What the paper does not say, besides the loss; at 1 % loss where not named.
UNSAID = {"as adopted": {}, "queues of 5": {"queue": 5},
          "queues of 10": {"queue": 10}, "queues of 20": {"queue": 20},
          "queues of 75": {"queue": 75}, "queues of 100": {"queue": 100},
          "queues of 150": {"queue": 150}, "queues of 200": {"queue": 200},
          "queues of 100, no loss": {"queue": 100, "loss": 0},
          "queues of 10, no loss": {"queue": 10, "loss": 0},
          "queues of 10, 5 % loss": {"queue": 10, "loss": 0.05},
          "packets of 576 bytes": {"packet": 576},
          "packets of 1500 bytes": {"packet": 1500}}
# The same of the largest file: of queues, which Figure 7 hinges on, and of
# losses, which tell what makes transfers as slow as the paper's.
FILE_QUEUES = {f"queues of {q}": {"queue": q} for q in (20, 100, 200)}
FILE_LOSSES = {f"{100 * x:g} % loss": {"loss": x} for x in (0.1, 0.15, 0.2)}
MIDDLING = ("queues of 75", "queues of 100", "queues of 150",
            "queues of 100, no loss")
MIDDLE = only("with queues of 75 to 150 packets")
ROOMY = only("with queues of 100 packets and more")
LOSSY = only("for some of the losses that the paper leaves open")
ONCE = "; Mod with its estimate added once per round trip "
TURN = 617  # s of the orbit between two trials
LONG = 3000  # s that a transfer may take
STEP = 1    # s between samples


FIGURES = (
    Figure("Figure 5", "Mod WestwoodNew has the highest throughput, which "
           "rises steeply, falls after 3 s and rises after 55 s",
           ("fig5.highest", "fig5.shape"), False, "The paper says neither "
           "what is lost nor how long queues are. With queues of 100 packets "
           "Figures 5, 6 and 7 are reproduced together"),
    Figure("Figure 6", "cwnd, at most 55: Mod WestwoodNew's is the largest",
           ("fig6.largest",)),
    Figure("Figure 7", "10 MB take about 1600 s with Mod WestwoodNew, 1650 "
           "with Westwood, 1780 with WestwoodNew", ("fig7.order",), False,
           "With shorter queues the losses of the printed algorithm make it "
           "the slowest. The seconds are reproduced with no queue: transfers take "
           "a quarter of them at 1 % loss, four fifths at 15 %, and more at "
           "20 %"),
    Figure("Figure 8", "dropped packets grow with the file; Westwood most, Mod "
           "slightly above WestwoodNew", ("fig8.grows", "fig8.order"), False,
           "Cause, by experiment: the printed algorithm adds its estimate with "
           "every ACK, and so fills the queue. If it adds the estimate once "
           "per round trip, it drops slightly more than WestwoodNew, as "
           "printed, but Westwood does not drop most"),
    Figure("Figure 9", "mean delay: Westwood above Mod above WestwoodNew",
           ("fig9.order",), False, "Cause, by experiment: as in Figure 8. "
           "With queues of 50 and more the largest window (Figure 6) has the "
           "largest delay; with shorter ones most of it is lost, and the delay "
           "is the smallest. So Figures 6 and 9 are not reproduced together with "
           "any queue or loss of the sweep"),
)


def seeds(quick):
    """The paper's trials."""
    return range(1, 4 if quick else 11)


def losses(quick):
    return (0, 0.01) if quick else LOSSES


def sizes(quick):
    """MB of Figure 7, and of Figure 8."""
    return ((1, 10), (1, 3)) if quick else (
        (1, 2, 4, 6, 8, 10), (0.5, 1, 2, 3))


def job(kind, loss, trial, **more):
    _, controller, manner, (param, value) = kind
    return Job.of("iridium", congestion=controller, manner=manner, param=param,
                  value=value, loss=loss, seed=trial, orbit=trial * TURN,
                  pacing=pacing(controller), **more)


def transfer(kind, loss, trial, size, **more):
    return job(kind, loss, trial, bytes=round(size * 1e6), duration=LONG,
               udp_stop=LONG, **more)


def some(quick):
    """Trials of what is only shown."""
    return range(1, 2 if quick else 4)


def plan_files(quick):
    """The largest file with other queues and losses."""
    jobs = {}
    for kind in PAPER:
        for words, params in FILE_QUEUES.items():
            for trial in seeds(quick):
                jobs["file", kind[0], words, trial] = transfer(
                    kind, 0.01, trial, 10, **params)
        for words, params in FILE_LOSSES.items():
            for trial in some(quick):
                jobs["file", kind[0], words, trial] = transfer(
                    kind, params["loss"], trial, 10)
    return jobs


def plan(quick):
    jobs = {} if quick else plan_files(quick)
    files = sorted({s for group in sizes(quick) for s in group})
    for kind in EVERY:
        for trial in seeds(quick):
            for words, params in UNSAID.items() if kind in PAPER else ():
                given = {"loss": 0.01, **params}
                jobs["unsaid", kind[0], words, trial] = job(
                    kind, given.pop("loss"), trial, sample=STEP, **given)
            for loss in losses(quick):
                jobs["minute", kind[0], loss, trial] = job(
                    kind, loss, trial, sample=STEP)
            for size in files if kind in SENDERS else ():
                jobs["file", kind[0], size, trial] = transfer(
                    kind, 0.01, trial, size)
    return jobs


# ---- what the runs say ----

def minute(runs, name, loss, quick):
    return [runs["minute", name, loss, t] for t in seeds(quick)]


def kbps(runs, name, loss, quick):
    """Mean rate of TCP over the 60 s of each trial."""
    return [sum(r.segments("tcp")) * WIRE / 59500
            for r in minute(runs, name, loss, quick)]


def unsaid(runs, name, words, quick):
    """The same for one of UNSAID."""
    wire = UNSAID[words].get("packet", WIRE / 8) * 8
    return [sum(runs["unsaid", name, words, t].segments("tcp")) * wire / 59500
            for t in seeds(quick)]


def course(runs, name, loss, quick, what):
    """Of each trial what(sample before, sample), by time."""
    every = [r.samples("tcp") for r in minute(runs, name, loss, quick)]
    return ([x["t"] for x in every[0][1:]],
            [[what(s[i], s[i + 1]) for s in every]
             for i in range(len(every[0]) - 1)])


def throughput(a, b):
    return (b["segments"] - a["segments"]) * WIRE / 1000 / STEP


def window(_, b):
    return b["cwnd"]


def delay(a, b):
    """Mean way of the packets that arrived in between, ms."""
    n = b["arrived"] - a["arrived"]
    return 1000 * (b["delay_sum"] - a["delay_sum"]) / n if n else 0


def seconds(runs, name, size, quick, trials=None):
    """Transfer times; a file that did not arrive counts with all the time."""
    found = [runs["file", name, size, t].flows("tcp")[0]["done"]
             for t in trials or seeds(quick)]
    return [(d or LONG) - 0.5 for d in found]


def dropped(runs, name, size, quick):
    """Per cent of TCP's packets declared lost."""
    flows = [runs["file", name, size, t].flows("tcp")[0]
             for t in seeds(quick)]
    return [100 * f["lost"] / f["sent"] for f in flows]


def between(runs, name, loss, quick, what, start, end):
    """Of each trial the mean of a course from start to end, s."""
    times, values = course(runs, name, loss, quick, what)
    inside = [v for t, v in zip(times, values) if start < t <= end]
    return [mean(trial) for trial in zip(*inside)]


# ---- the page ----

def order(values, *names):
    return above(values, *zip(names, names[1:]))


def largest(values, name):
    return above(values, *((name, other) for other in values if other != name))


def line(values, digits=0):
    return ", ".join(f"{k} {brief(v, digits)}" for k, v in values.items())


def means(values):
    return {k: mean(v) for k, v in values.items()}


def claim_highest(page, runs, quick):
    """Losses and queues are not in the paper: with which it holds."""
    rates = {x: {k[0]: kbps(runs, k[0], x, quick) for k in PAPER}
             for x in losses(quick)}
    sure = [x for x, r in rates.items() if largest(r, MOD[0]) is True]
    roomy = {w: {k[0]: unsaid(runs, k[0], w, quick) for k in PAPER}
             for w in MIDDLING}
    page.claim("fig5.highest", "Figure 5: Mod WestwoodNew has the highest "
               "throughput, for some loss between the satellites or some queue",
               True if len(sure) == len(rates) else LOSSY if sure else MIDDLE
               if all(largest(r, MOD[0]) is True for r in roomy.values())
               else FAILS,
               "; ".join(f"{100 * x:g} % loss: {line(r)}"
                         for x, r in rates.items())
               + "; at 1 % loss unless stated, " + "; ".join(
                   f"{w}: {line(r)}" for w, r in roomy.items()) + " kbit/s",
               expect=MIDDLE)


def phases(runs, names, quick):
    """Mean throughput of controllers before, beside and after UDP."""
    return [mean([v for n in names for v in between(
        runs, n, 0, quick, throughput, *span)])
            for span in ((1, 2), (5, 55), (57, 60))]


def yields(before, beside, after):
    return before > 2 * beside < after


def claims(page, runs, quick):
    names = [k[0] for k in PAPER]
    claim_highest(page, runs, quick)
    for loss in (0, 0.01):
        rate = {n: kbps(runs, n, loss, quick) for n in names}
        page.claim(f"fig5.highest.{100 * loss:g}", "Figure 5: Mod WestwoodNew "
                   f"has the highest throughput, at {100 * loss:g} % loss",
                   largest(rate, MOD[0]), "kbit/s: " + line(rate),
                   expect=FAILS if quick or loss else AS_FAR)
    course = phases(runs, names, quick)
    page.claim("fig5.shape", "Figure 5: throughput rises at first, falls when "
               "UDP begins at 3 s and rises after 55 s",
               telling(yields(*course), all(
                   yields(*phases(runs, [k[0]], quick)) for k in EVERY)),
               "mean of the three, kbit/s: {:.0f} before, {:.0f} beside, "
               "{:.0f} after UDP".format(*course)
               + "; so it does with each of the other controllers",
               expect=IDLE)
    cwnd = {n: between(runs, n, 0.01, quick, window, 0, 60) for n in names}
    page.claim("fig6.largest", "Figure 6: its window is the largest (1 % loss)",
               largest(cwnd, MOD[0]), "packets: " + line(cwnd, 1),
               expect=HOLDS)
    times = {n: seconds(runs, n, 10, quick) for n in names}
    time = means(times)
    falling = ("WestwoodNew", "Westwood", MOD[0])
    roomy = {} if quick else {w: {n: seconds(runs, n, w, quick) for n in names}
                              for w in FILE_QUEUES}
    longer = [order(t, *falling) for t in list(roomy.values())[1:]]
    page.claim("fig7.order", "Figure 7: 10 MB arrive soonest with Mod "
               "WestwoodNew, latest with WestwoodNew",
               order(times, *falling) is True or (
                   ROOMY if True in longer and FAILS not in longer else FAILS),
               "s at 1 % loss: " + line(times, 1) + "".join(
                   f"; with {w}: {line(t, 1)}" for w, t in roomy.items()),
               expect=FAILS if quick else ROOMY)
    lossy = {} if quick else {w: {n: seconds(runs, n, w, quick, some(quick))
                                  for n in names} for w in FILE_LOSSES}
    page.claim("fig7.seconds", "Figure 7: they take about 1600, 1650 and "
               "1780 s", all(abs(time[n] / PRINTED[n] - 1) < 0.1
                             for n in names),
               "s: " + line(times) + "".join(
                   f"; at {w}: {line(t)}" for w, t in lossy.items())
               + "; 10 MB in 1600 s are 50 kbit/s, while UDP leaves 180 of "
               "the 1000, so something that the paper does not name was in "
               "the way there",
               expect=FAILS)
    small, large = sizes(quick)[1][0], sizes(quick)[1][-1]
    share = {n: dropped(runs, n, large, quick) for n in names}
    lost = means(share)
    page.claim("fig8.order", "Figure 8: Westwood drops most, Mod slightly more "
               "than WestwoodNew",
               order(share, "Westwood", MOD[0], "WestwoodNew"),
               f"% of {large:g} MB: " + line(share, 2) + ONCE + brief(
                   dropped(runs, REDESIGN[0], large, quick), 2), expect=FAILS)
    shares = {n: dropped(runs, n, small, quick) for n in names}
    first = means(shares)
    page.claim("fig8.grows", "Figure 8: the share of dropped packets grows "
               "with the file", all(lost[n] > first[n] for n in names),
               f"{small:g} MB: {line(shares, 2)}; {large:g} MB: {line(share, 2)}",
               expect=HOLDS if quick else FAILS)
    waits = {n: between(runs, n, 0.01, quick, delay, 0, 60) for n in names}
    page.claim("fig9.order", "Figure 9: delay of Westwood above Mod's, above "
               "WestwoodNew's", order(waits, "Westwood", MOD[0], "WestwoodNew"),
               "ms at 1 % loss: " + line(waits, 1) + ONCE + brief(between(
                   runs, REDESIGN[0], 0.01, quick, delay, 0, 60), 1),
               expect=FAILS)


def tables(page, runs, quick):
    page.heading("By loss between the satellites")
    page.text("kbit/s of TCP over 60 s, of which UDP takes 820 from 3 to 55 s:")
    page.table(("controller", *(f"{100 * l:g} %" for l in losses(quick))), [
        (k[0], *(show(kbps(runs, k[0], l, quick), 0) for l in losses(quick)))
        for k in EVERY])
    page.heading("Values that the paper leaves open")
    page.text("kbit/s of TCP over 60 s at 1 % loss:")
    page.table(("reading", *(k[0] for k in PAPER)), [
        (words, *(show(unsaid(runs, k[0], words, quick), 0) for k in PAPER))
        for words in UNSAID])
    open_values(page, runs, quick)
    page.heading("Files at 1 % loss")
    files, drops = sizes(quick)
    page.table(("controller", *(f"{s:g} MB, s" for s in files)), [
        (k[0], *(brief(seconds(runs, k[0], s, quick), 1) for s in files))
        for k in SENDERS])
    page.text("Packets dropped, %:")
    page.table(("controller", *(f"{s:g} MB" for s in drops)), [
        (k[0], *(show(dropped(runs, k[0], s, quick), 2) for s in drops))
        for k in SENDERS])


def figures(page, runs, quick):
    def over_time(what, words):
        def draw(axes):
            for axis, loss in zip(axes, (0, 0.01)):
                for kind in PAPER:
                    times, values = course(runs, kind[0], loss, quick, what)
                    axis.plot(times, [mean(v) for v in values], lw=1,
                              label=kind[0])
                axis.set_title(f"{100 * loss:g} % loss")
                axis.set_xlabel("s")
                axis.set_ylabel(words)
                axis.set_ylim(bottom=0)
            axes[0].legend()
        return draw

    def by_size(what, group, words):
        def draw(axis):
            files = sizes(quick)[group]
            for kind in PAPER:
                axis.plot(files, [mean(what(runs, kind[0], s, quick))
                                  for s in files], "o-", ms=3, label=kind[0])
            axis.set_xlabel("MB")
            axis.set_ylabel(words)
            axis.legend()
        return draw

    page.heading("Figures")
    for number, what, words in ((5, throughput, "kbit/s"),
                                (6, window, "cwnd, packets"),
                                (9, delay, "mean delay, ms")):
        page.figure(str(number), f"Figure {number}: {words} over time",
                    over_time(what, words), size=(8, 2.6), columns=2)
    page.figure("7", "Figure 7: transfer time", by_size(seconds, 0, "s"))
    page.figure("8", "Figure 8: dropped packets",
                by_size(dropped, 1, "% of TCP's packets"))


def open_values(page, runs, quick):
    """For which of the values left open each figure's order is reproduced."""
    names = [k[0] for k in PAPER]
    rows = []

    def trials(name, words):
        return [runs["unsaid", name, words, t] for t in seeds(quick)]

    def of(words, what):
        return {n: [what(r) for r in trials(n, words)] for n in names}

    def course_mean(what):
        def each(run):
            s = run.samples("tcp")
            return mean([what(a, b) for a, b in zip(s, s[1:])])
        return each

    def part_lost(run):
        flow = run.flows("tcp")[0]
        return 100 * flow["lost"] / flow["sent"]
    for words in UNSAID:
        rate = of(words, lambda r: sum(r.segments("tcp")))
        cwnd = of(words, course_mean(window))
        lost = of(words, part_lost)
        wait = of(words, course_mean(delay))
        falling = ("Westwood", MOD[0], "WestwoodNew")
        rows.append((words, *(
            "yes" if v is True else "no" if v == FAILS else "undecided"
            for v in (largest(rate, MOD[0]), largest(cwnd, MOD[0]),
                      order(lost, *falling), order(wait, *falling))),
            line(lost, 1), line(wait, 0)))
    page.text("This table says whether the order of a figure is reproduced in 60 s "
              "with the algorithms as printed. Beside it stand the packets "
              "lost, in per cent, and the mean delay, in ms:")
    page.table(("reading", "Figure 5", "6", "8", "9", "lost, %", "delay, ms"),
               rows)


def report(page, runs, quick):
    claims(page, runs, quick)
    page.papers_figures("iridium", *FIGURES)
    page.text(
        "TCP runs from Serdang to Tsetserleg through 66 satellites like "
        "Iridium's. Uplink and downlink carry 1.5 Mbit/s, links between "
        "satellites 1 Mbit/s; delays follow the orbit and the handovers. One "
        "TCP flow with a window of 55 starts at 0.5 s. Two UDP flows of 410 "
        "kbit/s start at 2 and 3 s and end at 55 s; for files they run all the "
        "time. The paper does not give the following values, which are ours: "
        "packets of 1040 bytes, queues of 50, NewReno's recovery, and the loss "
        f"between the satellites, which is named. There are "
        f"{len(seeds(quick))} trials, each {TURN} s further in the orbit.")
    tables(page, runs, quick)
    figures(page, runs, quick)
