# SPDX-License-Identifier: MPL-2.0
"""Time-lined TCP: what is run, and what a run says of shares."""
from .lab import Job, Ns2Job, TrialJob, pacing
from .numbers import (every_other, mean, ratio, show, spread, upper_over_lower)

MANNERS = {"dupack-reno": "the paper's recovery",
           "packet": "packet numbers"}
HELD = "held"  # what a seq_update skips stays in flight until the timeout
# How Figure 13 may be read, where packets are lost.
READINGS = {"dupack-reno": "what is skipped counts as delivered",
            HELD: "what is skipped stays in flight until the timeout",
            "packet": MANNERS["packet"]}
# Two more readings, by engines changed for them: what is obsolete leaves the
# flight at its deadline, and gives no RTT.
REOPENED = "reopened-window"
UNTIMED = "untimed-obsolete"
# Figure 13 with the paper's windows of 10 and queues that lose packets.
SHORTER_QUEUES = (280, 200, 100)
SKIPPED = {"off": READINGS["dupack-reno"], "on": READINGS[HELD]}
# Where the last reading is tried: parameters.
UNTIMED_GROUNDS = {
    "windows of 10": {}, "windows of 10, queue of 280": {"queue": 280},
    "windows of 20": {"window": 20},
    "windows of 20, queue of 280": {"window": 20, "queue": 280}}
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


def seeds(quick):
    return range(1, 3 if quick else 11)


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


def plan_reopened():
    return {("reopened", hold, deadline, seed): TrialJob.of(
        "tltcp", trial=REOPENED, deadline=deadline, seed=seed, hold=hold,
        duration=500, manner="dupack-reno", stagger=1)
            for hold in SKIPPED for deadline in DEADLINES
            for seed in few(False)}


def plan_untimed():
    return {("untimed", words, deadline, seed): TrialJob.of(
        "tltcp", trial=UNTIMED, deadline=deadline, seed=seed, hold="on",
        duration=500, manner="dupack-reno", stagger=1, **params)
            for words, params in UNTIMED_GROUNDS.items()
            for deadline in DEADLINES for seed in seeds(False)}


def plan_queues():
    return {("queue", hold, queue, deadline, seed): Job.of(
        "tltcp", queue=queue, deadline=deadline, seed=seed, hold=hold,
        duration=500, manner="dupack-reno", stagger=1)
            for hold in SKIPPED for queue in SHORTER_QUEUES
            for deadline in DEADLINES[:2] for seed in few(False)}


def plan(quick):
    jobs = {} if quick else plan_reopened() | plan_untimed() | plan_queues()
    jobs["ns-2"] = Ns2Job.of("dumbbell", agent="Reno", n=2, window=10,
                             duration=14, warm=0)
    for value in DEADLINES:
        for seed in seeds(quick):
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
                    for seed in seeds(quick):
                        jobs[sweep, value, mix, manner, seed] = job(
                            sweep, value, mix, manner, seed, quick)
                    # All at once, as the paper may have done.
                    jobs[sweep, value, mix, manner, 0] = job(
                        sweep, value, mix, manner, 1, quick, stagger=0)
        for value in DEADLINES:
            for seed in seeds(quick):
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


def calm(*runs):
    """Nothing is lost, so that no sender reacts to anything."""
    return all(drops(r) == 0 for r in runs)


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
        self.calm = calm(*mixed, *base)
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
