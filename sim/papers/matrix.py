# SPDX-License-Identifier: MPL-2.0
"""Every controller of libcongestion on every kind of path."""
from .lab import Job
from .numbers import jain, mean, ratio, show
from .page import FAILS, only

TITLE = "Every controller on every path"
# tfrc and stfrc are fed by Saratoga: see the page of STFRC.  fixed and auto
# have no law of their own.
# Peach as it was meant: on links where its dummies give way to all others.
GIVING_WAY = "peach, dummies give way"
CONTROLLERS = ("reno", "newreno", "sack", "tahoe", "cubic", "bbr", "vegas",
               "fast", "yam", "westwood", "westwoodnew", "mod-westwoodnew",
               "tibet", "peach", GIVING_WAY)
PAYLOAD = 1500 * 8e-6  # Mbit of a full packet, about
# Name: what it stands for, parameters.
PATHS = {
    "one flow": ("10 Mbit/s, RTT 50 ms, queue of one BDP", {}),
    "loss": ("the same with 1 % random loss", {"loss": 0.01}),
    "crowd": ("16 flows, 16 Mbit/s, RTT 44 ms, RED (STFRC's path)",
              {"n": 16, "rate": 16, "delay": 22, "queue": 400, "red": 1}),
    "slow": ("4 flows, 1 Mbit/s, RTT 10 ms, queue of 18 (Yam's path)",
             {"n": 4, "rate": 1, "delay": 5, "queue": 18}),
    "deep": ("20 flows, 1.5 Mbit/s, RTT 44 ms, queue of 400 (TLTCP's path)",
             {"n": 20, "rate": 1.5, "delay": 22, "queue": 400, "duration": 200,
              "warm": 50}),
    "GEO": ("4 flows, 2 Mbit/s, RTT 580 ms, queue of 50 (the satellite's)",
            {"n": 4, "rate": 2, "delay": 290, "queue": 50, "duration": 200,
             "warm": 50}),
    "Iridium": ("1 flow, 1 Mbit/s, RTT 45 ms, queue of 50, 0.1 % loss (Mod "
                "WestwoodNew's path)",
                {"rate": 1, "delay": 22.5, "queue": 50, "loss": 0.001,
                 "duration": 100}),
    "beside Reno": ("2 flows beside 2 of Reno, 10 Mbit/s, RTT 50 ms, queue of "
                    "one BDP", {"n": 2, "rival": 2, "duration": 120}),
}
# What must fill a path in steady state; the others are only shown.
FULL = ("reno", "newreno", "sack", "cubic", "westwood", "tibet", "vegas",
        "fast")


def seeds(quick):
    return range(1, 2 if quick else 6)


def settings(controller):
    if controller == GIVING_WAY:
        return {"congestion": "peach", "lower_effort": "on"}
    return {"congestion": controller}


def plan(quick):
    return {(path, c, seed): Job.of("path", seed=seed, **settings(c), **params)
            for path, (_, params) in PATHS.items() for c in CONTROLLERS
            for seed in seeds(quick)}


class Cell:
    """One controller on one path."""

    def __init__(self, runs, path, controller, seed_list):
        params = PATHS[path][1]
        rate = params.get("rate", 10)
        span = params.get("duration", 60) - params.get("warm", 20)
        self.use, self.jain, self.drops, self.wait, self.f = [], [], [], [], []
        for seed in seed_list:
            run = runs[path, controller, seed]
            mine = run.segments("flow")
            link = run.link("A", "B")
            self.use.append(link["wire_bytes"] * 8e-6 / span / rate)
            self.jain.append(jain(mine))
            self.drops.append((link["dropped_queue"] + link["dropped_red"])
                              / max(link["offered"], 1))
            self.wait.append(link["queue"] * PAYLOAD / rate * 1000)
            self.f.append(ratio(mean(mine), mean(run.segments("rival")) or 0))
            self.goodput = sum(mine) / span


def report(page, runs, quick):
    every = list(seeds(quick))
    cells = {(p, c): Cell(runs, p, c, every) for p in PATHS
             for c in CONTROLLERS}
    steady = {c: mean(cells["one flow", c].use) for c in FULL}
    page.claim("steady", "A single flow fills 10 Mbit/s with a queue of one "
               "BDP to 90 % (" + ", ".join(FULL) + ")",
               all(u >= 0.9 for u in steady.values()),
               ", ".join(f"{c} {u:.3f}" for c, u in steady.items()))
    lossy = {c: ratio(cells["loss", c].goodput, cells["loss", "reno"].goodput)
             for c in ("westwood", "tibet", "mod-westwoodnew", "bbr", "cubic")}
    page.claim("loss", "With 1 % random loss Westwood's family and BBR get "
               "more than Reno", all(lossy[c] > 1.05 for c in (
                   "westwood", "tibet", "mod-westwoodnew", "bbr")),
               "times Reno's: " + ", ".join(f"{c} {x:.2f}"
                                            for c, x in lossy.items()))
    beside = {c: mean(cells["beside Reno", c].f) for c in CONTROLLERS}
    mild = [c for c in ("newreno", "sack", "tahoe", "westwood", "tibet")
            if not 0.5 < beside[c] < 2]
    page.claim("friendly", "newreno, sack, tahoe, westwood and tibet share "
               "with Reno within a factor of two", True if not mild else
               only("for " + ", ".join(c for c in beside if c in (
                   "newreno", "sack", "tahoe", "westwood", "tibet")
                   and c not in mild)) if len(mild) < 5 else FAILS,
               ", ".join(f"{c} {x:.2f}" for c, x in beside.items()))
    page.text(
        "TLTCP without deadlines as an application gets it: packet numbers, "
        "pacing, an acknowledgement per two packets, true packet sizes. Per "
        "cell: use of the link / Jain's index of the flows / drops of the "
        "queue in % / mean wait in the queue in ms; beside Reno: share of a "
        f"flow over that of a Reno flow. {len(every)} seed(s).")
    for path, (words, _) in PATHS.items():
        page.text(f"- **{path}**: {words}")
    head = [p for p in PATHS if p != "beside Reno"]
    page.table(("controller", *head, "beside Reno"), [
        (c, *(f"{mean(x.use):.2f} / {mean(x.jain):.2f} / "
              f"{100 * mean(x.drops):.1f} / {mean(x.wait):.0f}"
              for x in (cells[p, c] for p in head)),
         show(cells["beside Reno", c].f, 2)) for c in CONTROLLERS])

    def draw(axes):
        for axis, path in zip(axes, ("deep", "GEO")):
            for c in CONTROLLERS:
                x = cells[path, c]
                axis.plot(mean(x.wait), mean(x.use), "o", ms=3, color="#1b6ca8")
                axis.annotate(c, (mean(x.wait), mean(x.use)), fontsize=6,
                              xytext=(3, 2), textcoords="offset points")
            axis.set_xlabel("wait in the queue, ms")
            axis.set_title(path)
        axes[0].set_ylabel("use of the link")

    page.figure("delay", "Use of the link against the wait that it costs", draw,
                (7.2, 3.2), 2)
