# SPDX-License-Identifier: MPL-2.0
"""A second opinion: the same engines with ns-3 as the network, beside ns-3's own
TCPs, the virtual network and ns-2."""
from .calibration import ns2_counts
from .lab import Job, Ns2Job, Ns3Job, pacing
from .numbers import brief, mean, ratio, show, spread

TITLE = "A second opinion: ns-3"
PURPOSE = ("Whether the same engines give the same results with ns-3 as the "
           "network, and how they share links with ns-3's own TCPs.")
NS3_ONLY = True
HERE, NS2, NS3 = "here", "ns-2", "ns-3"
# Who plays TCP: words, controller of the engine or ns-3's TCP.
ENGINES = (("engine, Reno", "reno"), ("engine, CUBIC", "cubic"),
           ("engine, BBR", "bbr"))
NATIVES = (("LinuxReno", "LinuxReno"), ("CUBIC", "Cubic"), ("BBR", "Bbr"))
WINDOWS = (10, 20)
# The engine's datagrams are no smaller; here their true sizes count.
PACKET = 1228
UDP_PACKET = 1000
RATE = 2e6         # bit/s of the bottleneck of the GEO scenario
BW, N = 16, 8      # Mbit/s and flows of each kind of the STFRC scenario


class Scope:
    """How much is run."""

    def __init__(self, quick):
        self.seeds = range(1, 2 if quick else 4)
        self.tltcp = {"duration": 100 if quick else 200, "warm": 50}
        self.phase = 50 if quick else 200
        self.stfrc = {"duration": 30 if quick else 50, "warm": 20}
        self.span = self.stfrc["duration"] - self.stfrc["warm"]


def seeds(quick):
    return Scope(quick).seeds


def plan_tltcp(s):
    jobs = {}
    for window in WINDOWS:
        for seed in s.seeds:
            same = {"window": window, "seed": seed, "stagger": 1, "tcp": 0,
                    "rival": 15, "manner": "packet", **s.tltcp}
            for words, controller in ENGINES:
                for net, kind in ((HERE, Job), (NS3, Ns3Job)):
                    jobs["tltcp", net, words, window, seed] = kind.of(
                        "tltcp", rival_congestion=controller,
                        rival_pacing=pacing(controller), **same)
            for words, tcp in NATIVES:
                jobs["tltcp", NS3, words, window, seed] = Ns3Job.of(
                    "tltcp", native_rival=tcp, **same)
            # ns-2 hosts no engine: TCP alone.
            jobs["tltcp", NS2, "Sack1 alone", window, seed] = Ns2Job.of(
                "dumbbell", agent="Sack1", n=30, window=window, stagger=1,
                seed=seed, **s.tltcp)
    return jobs


def plan_geo(s):
    jobs = {}
    same = {"packet": PACKET, "phase": s.phase}
    for words, controller in ENGINES:
        how = {"sat": controller, "ter": controller, "sat_manner": "packet",
               "ter_manner": "packet", "sat_pacing": pacing(controller),
               "ter_pacing": pacing(controller)}
        for net, kind in ((HERE, Job), (NS3, Ns3Job)):
            jobs["geo", net, words] = kind.of("geo", **how, **same)
    for words, tcp in NATIVES:
        jobs["geo", NS3, words] = Ns3Job.of("geo", native_sat=tcp,
                                            native_ter=tcp, **same)
    jobs["geo", NS2, "Sack1"] = Ns2Job.of("geo", agent="Sack1", **same)
    return jobs


def plan_stfrc(s):
    jobs = {}
    for seed in s.seeds:
        same = {"n": N, "bw": BW, "packet": PACKET, "seed": seed, **s.stfrc}
        for words, controller in ENGINES:
            for net, kind in ((HERE, Job), (NS3, Ns3Job)):
                jobs["stfrc", net, words, seed] = kind.of(
                    "stfrc", tcp_congestion=controller, tcp_manner="packet",
                    tcp_pacing=pacing(controller), **same)
        for words, tcp in NATIVES:
            jobs["stfrc", NS3, words, seed] = Ns3Job.of(
                "stfrc", native_tcp=tcp, **same)
    return jobs


def plan(quick):
    s = Scope(quick)
    return plan_tltcp(s) | plan_geo(s) | plan_stfrc(s)


# ---- what the runs say ----

def fairness(run):
    return ratio(mean(run.received("tltcp")), mean(run.received("rival")))


def drops(run, period=0):
    link = run.link("R1", "R2", period)
    return (link["dropped_queue"] + link["dropped_red"]) / link["offered"]


def shares(run, phase, period):
    """Of the bottleneck: satellite, terrestrial, UDP."""
    return tuple(sum(run.received(name, period)) * size * 8 / RATE / phase
                 for name, size in (("sat", PACKET), ("ter", PACKET),
                                    ("udp", UDP_PACKET)))


def ns2_shares(run, phase, period):
    line = run.lines[0]
    return tuple(line[f"{name}{period + 1}"] * PACKET * 8 / RATE / phase
                 for name in ("sat", "ter"))


def normalised(run, flow, span):
    """Arrived bytes over the fair share, mean of the flows."""
    fair = BW * 1e6 / 2 / N * span / 8
    return mean([x["arrived_full"] * PACKET / fair for x in run.flows(flow)])


class View:
    """The results that are there, by scenario, network, player."""

    def __init__(self, runs, quick):
        self.runs = runs
        self.scope = Scope(quick)

    def players(self, scenario):
        """Networks and players of a scenario, each once, in order."""
        return list(dict.fromkeys(k[1:3] for k in self.runs
                                  if k[0] == scenario))

    def seeds(self, *key):
        return [self.runs[(*key, s)] for s in self.scope.seeds]

    def f(self, net, words, window):
        return [fairness(r) for r in self.seeds("tltcp", net, words, window)]

    def sat(self, net, words, period=1):
        return shares(self.runs["geo", net, words], self.scope.phase, period)[0]

    def tcp(self, net, words, flow="tcp"):
        return [normalised(r, flow, self.scope.span)
                for r in self.seeds("stfrc", net, words)]


# ---- the page ----

def both(values, digits=3):
    """The results here and in ns-3, by player."""
    return "here and in ns-3: " + "; ".join(
        f"{w}: {brief(a, digits)} and {brief(b, digits)}"
        for w, (a, b) in values.items())


def near(values, within):
    return all(abs(mean(a) - mean(b)) < within for a, b in values.values())


def claims(page, v):
    calm, sat, tcp = ({w: (get(HERE, w), get(NS3, w)) for w, _ in ENGINES}
                      for get in (lambda n, w: v.f(n, w, 10),
                                  lambda n, w: [v.sat(n, w)], v.tcp))
    page.claim("same.tltcp", "The TLTCP dumbbell without loss is the same in "
               "both networks (F within 0.05)", near(calm, 0.05), both(calm))
    page.claim("same.geo", "The satellite flows' share beside terrestrial ones "
               "is the same in both networks (within 0.1)", near(sat, 0.1),
               both(sat), seeds=1)
    page.claim("same.stfrc", "So is TCP's share beside STFRC (within 0.2 of the "
               "fair share)", near(tcp, 0.2), both(tcp, 2))
    window = [v.f(NS3, w, 20) for w, _ in NATIVES]
    page.claim("native.tltcp", "With losses (window 20) TLTCP with packet "
               "numbers and ns-3's own TCPs share within a factor of two",
               all(0.5 < mean(x) < 2 for x in window),
               "F: " + ", ".join(f"{w} {show(x, 2)}"
                                 for (w, _), x in zip(NATIVES, window)))
    beside = {w: v.tcp(NS3, w) for w, _ in NATIVES}
    page.claim("native.stfrc", "STFRC and ns-3's LinuxReno with SACK share "
               "within a factor of two",
               0.5 < mean(beside["LinuxReno"]) < 2
               and mean(v.tcp(NS3, "LinuxReno", "stfrc")) > 0.5,
               "TCP, normalised: " + ", ".join(f"{w} {show(x, 2)}"
                                               for w, x in beside.items()))


def tltcp_part(page, v):
    page.heading("The dumbbell of the TLTCP paper")
    page.text("15 TLTCP flows with packet numbers and 15 of TCP; F is what a "
              "TLTCP flow gets over what a TCP flow gets, S the largest share "
              "over the smallest:")
    rows = []
    for window in WINDOWS:
        for net, words in v.players("tltcp"):
            every = v.seeds("tltcp", net, words, window)
            if net == NS2:
                f = "-"
                s = [spread(ns2_counts(r)) for r in every]
                lost = [r.lines[0]["drops"] for r in every]
            else:
                f = show(v.f(net, words, window))
                s = [spread(r.received()) for r in every]
                lost = [r.link("R1", "R2")["dropped_queue"] for r in every]
            rows.append((window, net, words, f, show(s, 2), show(lost, 0)))
    page.table(("window", "network", "TCP played by", "F", "S", "drops"), rows)


def geo_part(page, v):
    page.heading("The GEO scenario")
    page.text(f"Shares of the bottleneck, one run each, phases of "
              f"{v.scope.phase} s, packets of {PACKET} bytes:")
    rows = []
    for net, words in v.players("geo"):
        run = v.runs["geo", net, words]
        get = ns2_shares if net == NS2 else shares
        cells = [get(run, v.scope.phase, p) for p in range(3)]
        rows.append((net, words, f"{cells[0][0]:.3f}",
                     " / ".join(f"{x:.3f}" for x in cells[1][:2]),
                     " / ".join(f"{x:.3f}" for x in cells[2])))
    page.table(("network", "both groups played by", "satellite alone",
                "satellite / terrestrial", "and UDP"), rows)


def stfrc_part(page, v):
    page.heading("STFRC beside TCP")
    page.text(f"{N} + {N} flows, {BW} Mbit/s, RED, packets of {PACKET} bytes, "
              f"{v.scope.span} s counted; throughput over the fair share:")
    page.table(("network", "TCP played by", "TCP", "STFRC", "drops, %"), [
        (net, words, show(v.tcp(net, words), 2),
         show(v.tcp(net, words, "stfrc"), 2),
         show([100 * drops(r) for r in v.seeds("stfrc", net, words)], 1))
        for net, words in v.players("stfrc")])


def report(page, runs, quick):
    v = View(runs, quick)
    claims(page, v)
    page.text(
        "The same objects of libtltcp and libsaratoga run the same scenario "
        "files in two networks. One is the virtual network (here). In the other "
        "they are applications of ns-3.37, over its UDP, IPv4, queues, RED and "
        "links, beside its own LinuxReno, CUBIC and BBR with SACK. Those have "
        "timestamps off, an acknowledgement per packet, a least timeout of "
        "0.2 s, and a window set by the send buffer. "
        "Queue limits mean what they mean in ns-2. Every packet "
        "counts with its true size: acknowledgements of the engines are larger "
        "than 40 bytes, PPP adds two. "
        f"{len(v.scope.seeds)} seed(s) (mean ± 95 % confidence [least, most]).")
    tltcp_part(page, v)
    geo_part(page, v)
    stfrc_part(page, v)
