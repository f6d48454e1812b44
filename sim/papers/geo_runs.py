# SPDX-License-Identifier: MPL-2.0
"""The comparison of TCPs over a GEO satellite: what is run, and the shares of the
bottleneck in a run."""
import itertools

from .lab import Job, pacing

# Name, figure, controller, recovery: what the paper compares.  Westwood's
# estimate is that of the paper of 2000, with every ACK.
PAPER = (("Tahoe", 2, "tahoe", "dupack-tahoe"),
         ("Reno", 3, "reno", "dupack-reno"),
         ("SACK", 4, "sack", "dupack-sack"),
         ("NewReno", 5, "newreno", "dupack-newreno"),
         ("Vegas", 6, "vegas", "dupack-reno"),
         ("Westwood", 7, "westwood", "dupack-reno"),
         ("Tibet", 8, "tibet", "dupack-reno"))
MODERN = (("CUBIC", None, "cubic", "packet"), ("BBR", None, "bbr", "packet"))
# What is swept: parameter, its values, words.
SWEEPS = {
    "queue": ((20, 100, 200), "queue of the bottleneck, packets (50 above)"),
    "packet": ((576, 1000, 1228, 1500), "size of packets, bytes (1040 above)"),
    "window": ((63,), "window, packets: 64 KB (20 above)"),
}
RATES = (0.448, 2)
GRID = 200       # s of a phase where all are swept
JITTER = 5       # ms; a packet's transmission takes 4.2
RATE = 2e6       # bit/s of the bottleneck
PACKET = 1040    # bytes
UDP_PACKET = 1000
OLD = ("Tahoe", "Reno", "NewReno", "Vegas")  # that starve in the paper
TIGHT = 20  # packets of queue
EVERY = 10  # s from file to file at low load
# What the paper leaves open, together: the queue and the window in packets, and
# UDP, which may share the bottleneck or meet the terrestrial flows behind it.
QUEUES = (10, 24, 28, 50, 100, 600)
WINDOWS = (10, 20, 63)
BEHIND = "19.5 Mbit/s behind it"
UDPS = {"1 Mbit/s through the bottleneck": {},
        BEHIND: {"udp_from": "R2", "udp": 19.5, "exit_queue": 50}}
# Packets of queue up to which the shorter window is tried, too, and from which
# on the longer one is.
MIDDLE = 50
PLACES = [(q, w, u) for q, w, u in itertools.product(QUEUES, WINDOWS, UDPS)
          if w == WINDOWS[1] or (q - MIDDLE) * (w - WINDOWS[1]) >= 0]
# Queue and window with which each figure is judged, by other seeds and in longer
# phases than it was chosen with: where Open.margin() is the largest.
TRIED = {"Vegas": (10, 10), "Westwood": (100, 20), "Tibet": (600, 63)}
SMALL = (24, 10)
JUDGES = range(4, 14)  # seeds
JUDGED = 600           # s of a phase
CHOOSERS = range(1, 4)  # seeds of what is swept


def seeds(quick):
    return range(1, 2 if quick else 11)


def swept(quick):
    """Names for which what the paper leaves open is swept."""
    return ("Reno",) if quick else ("Reno", "Tibet")


def one(controller, manner, phase, **more):
    paced = pacing(controller)
    if controller == "westwood":
        more |= {"sat_param": "plus", "sat_value": 0, "ter_param": "plus",
                 "ter_value": 0}
    return Job.of("geo", sat=controller, sat_manner=manner, ter=controller,
                  ter_manner=manner, sat_pacing=paced, ter_pacing=paced,
                  phase=phase, **more)


def light(phase, seed, **more):
    """Figures 9 to 11: each group offers 40 % of the bottleneck."""
    return Job.of("geo", sat="tibet", phase=phase, seed=seed,
                  section=round(0.4 * RATE / 15 * EVERY / 8
                                * (PACKET - 40) / PACKET), every=EVERY, **more)


def plan_open(every):
    jobs = {}
    for (name, _, controller, manner), seed in itertools.product(PAPER, every):
        for queue, window, udp in PLACES:
            jobs["open", name, queue, window, udp, seed] = one(
                controller, manner, GRID, queue=queue, window=window, seed=seed,
                **UDPS[udp])
    for (name, _, controller, manner), seed in itertools.product(PAPER, JUDGES):
        queue, window = TRIED.get(name, SMALL)
        jobs["tried", name, seed] = one(
            controller, manner, JUDGED, queue=queue, window=window, seed=seed,
            **UDPS[BEHIND])
    return jobs


def plan(quick):
    phase = 100 if quick else 2000
    short = 100 if quick else 300
    jobs = {}
    few = [x for x in seeds(quick) if x in CHOOSERS]
    for name, figure, controller, manner in PAPER + MODERN:
        every = few if figure is None else seeds(quick)
        for seed in every:
            jobs[name, seed] = one(controller, manner, phase, seed=seed,
                                   **({"sample": phase / 40} if seed == 1
                                      else {}))
        readings = [("jitter", JITTER, every)]
        if name in OLD:
            readings.append(("queue", TIGHT, every))
        if name in swept(quick):
            readings += [(what, x, few) for what, (values, _) in SWEEPS.items()
                         for x in values if (what, x) != ("queue", TIGHT)]
            readings += [("udp", x, few) for x in RATES]
            if name not in OLD:
                readings.append(("queue", TIGHT, few))
        for what, value, some in readings:
            for seed in some:
                jobs[name, what, value, seed] = one(
                    controller, manner, short, seed=seed, **{what: value})
    if not quick:
        jobs |= plan_open(CHOOSERS)
    jobs["bound"] = Job.of("geo", n=1, window=WINDOWS[-1], queue=100, phase=100)
    for seed in seeds(quick):
        jobs["mixed", seed] = Job.of(
            "geo", sat="tibet", sat_manner="dupack-reno", phase=phase,
            seed=seed, **({"sample": phase / 100} if seed == 1 else {}))
        jobs["mixed", "jitter", JITTER, seed] = Job.of(
            "geo", sat="tibet", phase=short, jitter=JITTER, seed=seed)
        jobs["light", seed] = light(phase, seed, **(
            {"sample": phase / 100} if seed == 1 else {}))
        jobs["light", "jitter", JITTER, seed] = light(short, seed,
                                                      jitter=JITTER)
    for (name, _, controller, manner), jitter, seed in itertools.product(
            MODERN, (0, JITTER), few):  # beside Reno
        jobs["guest", name, jitter, seed] = Job.of(
            "geo", sat=controller, sat_manner=manner, phase=short,
            sat_pacing=pacing(controller), jitter=jitter, seed=seed)
    return jobs


def phase_of(run):
    return run.lines[-1]["t"] / 3


def shares(run, period, packet=PACKET):
    """Of the bottleneck: satellite, terrestrial, UDP; with headers."""
    whole = RATE * phase_of(run)
    return tuple(sum(run.segments(name, period)) * size * 8 / whole
                 for name, size in (("sat", packet), ("ter", packet),
                                    ("udp", UDP_PACKET)))


class View:
    """Shares of the bottleneck, seed by seed."""

    def __init__(self, runs, quick):
        self.runs = runs
        self.seeds = list(seeds(quick))

    def seeds_of(self, *key):
        """What is swept, and what is not the paper's, has fewer."""
        return [s for s in self.seeds if (*key, s) in self.runs]

    def share(self, *key, period=1, group=0):
        size = key[2] if key[1:2] == ("packet",) else PACKET
        return [shares(self.runs[(*key, s)], period, size)[group]
                for s in self.seeds_of(*key)]

    def out_of_step(self, name, period=1):
        """The satellite's share when packets come with some jitter, so that no
        flow falls into step with the bottleneck."""
        return self.share(name, "jitter", JITTER, period=period)


def loss(run, period):
    link = run.link("R1", "R2", period)
    return link["dropped_queue"] / link["offered"]
