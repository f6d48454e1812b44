# SPDX-License-Identifier: MPL-2.0
"""Every controller of libcongestion on every kind of path."""
import math

from .lab import Job
from .numbers import brief, jain, mean, ratio, show
from .page import FAILS, only

TITLE = "Every controller on every path"
# Peach as it was meant: on links where its dummies give way to all others.
GIVING_WAY = "peach, dummies give way"
# Saratoga's, whose sender keeps the history of losses.
STFRC = "stfrc (Saratoga)"
# A rate that is set: these parts of the fair share of the link.
FIXED = {"fixed at 95 %": 0.95}
CONTROLLERS = ("auto", "reno", "newreno", "sack", "tahoe", "cubic", "bbr",
               "vegas", "fast", "yam", "westwood", "westwoodnew",
               "mod-westwoodnew", "tibet", "tfrc", STFRC, "peach", GIVING_WAY,
               *FIXED)
BESIDE = "beside Reno"
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
    "fast": ("2 flows, 400 Mbit/s, RTT 100 ms, queue of 2000 (Yam's fast path)",
             {"n": 2, "rate": 400, "delay": 50, "queue": 2000, "duration": 40}),
    BESIDE: ("2 flows beside 2 of Reno, 10 Mbit/s, RTT 50 ms, queue of one BDP",
             {"n": 2, "rival": 2, "duration": 120}),
}
# What must fill a path in steady state; the others are only shown.
FULL = ("reno", "newreno", "sack", "cubic", "westwood", "tibet", "vegas",
        "fast", "tfrc")


def seeds(quick):
    return range(1, 2 if quick else 6)


def paths(quick):
    """Names; the fast one takes long."""
    return [p for p in PATHS if not quick or p != "fast"]


def runs_of(path, quick):
    """Seeds of a path; beside Reno runs differ most."""
    return range(1, 11) if path == BESIDE and not quick else seeds(
        quick or path == "fast")


def settings(controller, path):
    if controller == GIVING_WAY:
        return {"congestion": "peach", "lower_effort": "on"}
    if controller == STFRC:
        return {"congestion": "stfrc", "kind": "saratoga"}
    if controller in FIXED:
        flows = path.get("n", 1) + path.get("rival", 0)
        return {"congestion": "fixed", "own_rate":
                FIXED[controller] * path.get("rate", 10) / flows}
    return {"congestion": controller}


def plan(quick):
    return {(path, c, seed): Job.of("path", seed=seed,
                                    **settings(c, PATHS[path][1]),
                                    **PATHS[path][1])
            for path in paths(quick) for c in CONTROLLERS
            for seed in runs_of(path, quick)}


class Cell:
    """One controller on one path."""

    def __init__(self, runs, path, controller, seed_list):
        params = PATHS[path][1]
        rate = params.get("rate", 10) * 1e6 / 8
        span = params.get("duration", 60) - params.get("warm", 20)
        self.use, self.jain, self.drops, self.wait, self.f = [], [], [], [], []
        self.goodput = []
        for seed in seed_list:
            run = runs[path, controller, seed]
            mine, rival = run.segments("flow"), run.segments("rival")
            link = run.link("A", "B")
            packet = ratio(link["wire_bytes"], max(link["delivered"]
                                                   + link["dropped_loss"], 1))
            self.use.append(link["wire_bytes"] / span / rate)
            self.jain.append(jain(mine + rival))
            self.drops.append((link["dropped_queue"] + link["dropped_red"])
                              / max(link["offered"], 1))
            self.wait.append(link["queue"] * packet / rate * 1000)
            self.f.append(ratio(mean(mine), mean(rival)))
            self.goodput.append(sum(mine) / span)

    def show(self):
        text = (f"{mean(self.use):.2f} / {mean(self.jain):.2f} / "
                f"{100 * mean(self.drops):.1f} / {mean(self.wait):.0f}")
        return text if math.isinf(self.f[0]) else (
            f"{text}; {show(self.f, 2)}")


def claims(page, cells):
    steady = {c: cells["one flow", c].use for c in FULL}
    page.claim("steady", "A single flow fills 10 Mbit/s with a queue of one "
               "BDP to 90 % (" + ", ".join(FULL) + ")",
               all(mean(u) >= 0.9 for u in steady.values()),
               ", ".join(f"{c} {brief(u)}" for c, u in steady.items()))
    lossy = {c: [ratio(a, b) for a, b in zip(cells["loss", c].goodput,
                                             cells["loss", "reno"].goodput)]
             for c in ("westwood", "tibet", "mod-westwoodnew", "bbr", "auto",
                       "cubic")}
    page.claim("loss", "With 1 % random loss Westwood's family and BBR get "
               "more than Reno", all(mean(lossy[c]) > 1.05 for c in (
                   "westwood", "tibet", "mod-westwoodnew", "bbr")),
               "times Reno's: " + ", ".join(f"{c} {brief(x, 2)}"
                                            for c, x in lossy.items()))
    beside = {c: cells[BESIDE, c].f for c in CONTROLLERS}
    kin = ("newreno", "sack", "tahoe", "westwood", "tibet", "tfrc", STFRC)
    good = [c for c in kin if 0.5 < mean(beside[c]) < 2]
    page.claim("friendly", ", ".join(kin[:-1]) + f" and {kin[-1]} share with "
               "Reno within a factor of two", True if len(good) == len(kin)
               else only("for " + ", ".join(good)) if good else FAILS,
               ", ".join(f"{c} {brief(x, 2)}" for c, x in beside.items()),
               seeds=len(beside["reno"]))


def waits(cells):
    """A bar for each controller, on two paths."""
    def draw(axes):
        for axis, path in zip(axes, ("deep", "GEO")):
            for i, c in enumerate(CONTROLLERS):
                x = cells[path, c]
                axis.barh(i, mean(x.wait), color="#1b6ca8")
                axis.annotate(f"{mean(x.use):.2f}", (mean(x.wait), i),
                              fontsize=7, va="center", xytext=(3, 0),
                              textcoords="offset points")
            axis.set_yticks(range(len(CONTROLLERS)),
                            CONTROLLERS if axis is axes[0] else [], fontsize=7)
            axis.invert_yaxis()
            axis.margins(x=0.12, y=0.02)
            axis.grid(axis="y", visible=False)
            axis.set_xlabel("wait in the queue, ms")
            axis.set_title(path)
    return draw


def report(page, runs, quick):
    cells = {(p, c): Cell(runs, p, c, runs_of(p, quick)) for p in paths(quick)
             for c in CONTROLLERS}
    claims(page, cells)
    page.text(
        "Every controller of libcongestion (`auto` is the default) on the paths "
        "of all the papers. TLTCP without deadlines as an application gets it: "
        "packet numbers, pacing, an acknowledgement per two packets, true packet "
        "sizes; stfrc as Saratoga sends with it. Per cell: use of the link / "
        "Jain's index of the flows / drops of the queue in % / mean wait in the "
        "queue in ms; beside Reno also the share of a flow over that of a Reno "
        f"flow. {len(seeds(quick))} seed(s), one on the fast path, "
        f"{len(runs_of(BESIDE, quick))} beside Reno. The rows of reno, newreno "
        "and sack are equal, for they differ in the recovery only, which is by "
        "packet numbers for all here.")
    for path in paths(quick):
        page.text(f"- **{path}**: {PATHS[path][0]}")
    page.table(("controller", *paths(quick)), [
        (c, *(cells[p, c].show() for p in paths(quick))) for c in CONTROLLERS])

    page.figure("delay", "Wait in the queue, and beside it the use of the link "
                "that it buys", waits(cells), (7.2, 4), 2)
