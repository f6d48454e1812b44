# SPDX-License-Identifier: MPL-2.0
"""STFRC beside TCP SACK: what is run, and what a run says of shares, losses and
feedback."""
import itertools
import math

from .lab import Job, Ns2Job, pacing
from .numbers import mean, ratio, variation

UPLINKS = (3.84, 0.384, 0.0384)
RATIOS = (0.5, 0.6, 0.7)
# Mbit/s of uplink that a sender reckons with: half of it for its STATUS, so
# they come each 0.2, 0.5 s or so; 0: each round trip.
SPARSE = (0, 0.008, 0.003)
UNTIL = 0.13  # loss up to which Figure 11 has STFRC below TCP
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
UPLINK_QUEUE = 50  # packets; ns-2's default
# Figure 4: so many flows of each kind and less are few, and more are many.
FEW, MANY = 2, 32
# Least way to the destinations, ms, which the paper calls variable.  Figure 4
# is judged at FAR, too, by other seeds than those that chose it: the least at
# which many flows of TCP clearly get more with RED.
WAYS = (0, 50, 100, 200, 300)
FAR = 50
CHOOSERS = range(101, 106)  # seeds
JUDGES = range(1, 101)      # of few flows, which differ much from run to run
ERRORS = {"1e-4 per packet": {}, "1e-4 per bit": {"error": 0,
                                                  "bit_error": 1e-4}}


class Scope:
    """How much is run."""

    def __init__(self, quick):
        self.time = {"duration": 50, "warm": 20} if quick else {}
        self.span = 30 if quick else 60  # s that are counted
        self.flows = (4, 32) if quick else (1, 2, 4, 32, 64)
        self.rates = (4, 8, 16) if quick else (1, 2, 4, 8, 16)
        # Figure 4: a small bottleneck, Mbit/s; least ways to the destinations.
        self.small = 4 if quick else 2
        self.ways = () if quick else WAYS
        self.thin_flows = (4, 32) if quick else (1, 4, 64)
        self.thin_rates = (8,) if quick else (2, 8, 16)
        # Packets of the uplink's queue, besides UPLINK_QUEUE.
        self.queues = (20,) if quick else (20, 1000)
        self.cov_rates = (4, 16) if quick else (1, 2, 4, 8, 16)
        self.seeds = range(1, 4 if quick else 11)
        self.few = range(1, 2 if quick else 11)
        self.judges = self.few if quick else JUDGES
        # Of the asymmetric topology, whose claims are about many flows.
        self.top = self.thin_flows[-1]
        self.thin_rate = self.thin_rates[-1]
        # Of the bottleneck in Figures 9 and 10.
        self.per_flow = 8 if quick else 16

    def small_points(self, least=1, most=math.inf):
        """Figure 4's points of a small bottleneck, by number of flows."""
        return [(n, bw) for n in self.flows if least <= n <= most
                for bw in self.rates if bw <= self.small]


def seeds(quick):
    return Scope(quick).few


def symmetric(scope, n, bw, red, seed=1, **more):
    return Job.of("stfrc", n=n, bw=bw, red=red, seed=seed,
                  sr=more.pop("sr", 0.65 if red else 0.75), **scope.time,
                  **more)


def asymmetric(scope, n, bw, uplink, seed=1, known=0, **more):
    return Job.of("stfrc", n=n, bw=bw, seed=seed, place="SAT", tcp_delay=6,
                  uplink=uplink, known_uplink=known, **scope.time, **more)


def plan_ns2(s):
    """ns-2's own TCP SACK and TFRC, where many flows share."""
    places = [(32, bw, 0) for bw in s.cov_rates]
    places += [(n, bw, away) for n, bw in s.small_points(MANY)
               for away in (0, FAR)]
    return {("ns-2", red, n, bw, away, seed): Ns2Job.of(
        "stfrc", n=n, bw=bw, red=red, exit_delay=away, seed=seed)
            for red in (0, 1) for n, bw, away in dict.fromkeys(places)
            for seed in s.few}


def plan(quick):
    s = Scope(quick)
    jobs = {} if quick else plan_ns2(s)
    for red, n, bw in itertools.product((0, 1), s.flows, s.rates):
        lone = n <= FEW and bw <= s.small
        for seed in s.judges if lone else s.few:
            jobs["sym", red, n, bw, seed] = symmetric(s, n, bw, red, seed)
            if s.ways:
                jobs["far", red, n, bw, seed] = symmetric(
                    s, n, bw, red, seed, exit_delay=FAR)
    for way, red, (n, bw), seed in itertools.product(
            s.ways, (0, 1), s.small_points(MANY), CHOOSERS):
        jobs["way", way, red, n, bw, seed] = symmetric(s, n, bw, red, seed,
                                                       exit_delay=way)
    for uplink in UPLINKS:
        for n in s.thin_flows:
            for bw in s.thin_rates:
                for seed in s.few:
                    jobs["asym", uplink, n, bw, seed] = asymmetric(
                        s, n, bw, uplink, seed)
    for bw in s.thin_rates:
        for seed in s.few:
            # Each sender knows its part of the uplink.
            jobs["told", bw, seed] = asymmetric(
                s, s.top, bw, UPLINKS[-1], seed, known=2 * UPLINKS[-1] / s.top)
    for queue in s.queues:
        for n in s.thin_flows[0], s.top:
            for seed in s.few:
                jobs["queue", queue, n, seed] = asymmetric(
                    s, n, s.thin_rate, UPLINKS[-1], seed, uplink_queue=queue)
    for red, bw, seed in itertools.product((0, 1), s.cov_rates, s.seeds):
        jobs["cov", red, bw, seed] = symmetric(s, 32, bw, red, seed)
    for sr in RATIOS:
        for seed in s.few:
            jobs["sr", sr, seed] = symmetric(s, 16, 16, 1, seed, sr=sr)
    for known in SPARSE:
        for seed in s.few:
            jobs["sparse", known, seed] = symmetric(s, 16, 16, 1, seed,
                                                    known_uplink=known)
            jobs["step", known, seed] = Job.of("stfrc-step", seed=seed,
                                               known_uplink=known)
    for seed in s.few:
        for rival in RIVALS:
            tcp = {"tcp_congestion": rival, "tcp_manner": "packet",
                   "tcp_pacing": pacing(rival)}
            jobs["rival", 0, rival, seed] = symmetric(s, 16, 16, 1, seed, **tcp)
            for uplink in UPLINKS:
                jobs["rival", uplink, rival, seed] = asymmetric(
                    s, 16, 16, uplink, seed, **tcp)
        for words, params in UNSAID.items():
            jobs["unsaid", words, seed] = symmetric(s, 16, 16, 1, seed,
                                                    **params)
        for words, params in ERRORS.items():
            jobs["error", words, seed] = asymmetric(s, 4, 8, 0.384, seed,
                                                    **params)
        jobs["rate", seed] = Job.of("stfrc", n=32, bw=16, duration=40, warm=10,
                                    seed=seed, sample=0.1)
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


class Ns2:
    """What a run of ns-2 says of its flows."""

    def __init__(self, run, n, bw):
        line = run.lines[0]
        self.counts = {flow: [float(x) for x in line[flow].split(",")]
                       for flow in ("tcp", "tfrc")}
        self.tcp = mean(self.counts["tcp"]) * PACKET * 8 / (
            bw * 1e6 / 2 / n * Scope(False).span)  # normalised
        self.loss = line["drops"] / line["offered"]

    def cov(self, flow):
        return variation(self.counts[flow])


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


def use(run, period):
    """Of the bottleneck of stfrc-step.scn, by its defaults."""
    rate, seconds = ((16, 10), (4, 20))[period]
    return run.link("R1", "R2", period)["wire_bytes"] * 8e-6 / rate / seconds


class View:
    """Results by key, with the jobs that tell their parameters."""

    def __init__(self, runs, quick):
        self.runs = runs
        self.jobs = plan(quick)

    def shares(self, flow, *key):
        """Of each flow, normalised."""
        return normalised(self.runs[key], self.jobs[key], flow)

    def tcp(self, *key):
        return mean(self.shares("tcp", *key))

    def stfrc(self, *key):
        return mean(self.shares("stfrc", *key))

    def cov(self, flow, *key):
        return variation(self.shares(flow, *key))

    def ns2(self, red, n, bw, seeds, away=0):
        """None where ns-2 is not there."""
        runs = [self.runs.get(("ns-2", red, n, bw, away, x)) for x in seeds]
        return None if None in runs else [Ns2(r, n, bw) for r in runs]

    def feedback(self, span, *key):
        return feedback(self.runs[key], span)
