# SPDX-License-Identifier: MPL-2.0
"""The links, streams and transports of ./dev bench live."""
import collections.abc
import dataclasses

QUEUE = 50_000  # bytes, drop tail
NAMES = {"tltcp": "TLTCP", "paper": "TLTCP, paper",
         "reliable": "TLTCP, reliable", "fixed": "TLTCP, fixed rate",
         "srt": "SRT", "srt-tuned": "SRT, tuned", "ristsink": "ristsink",
         "librist": "librist",
         "tcp-reno": "TCP Reno", "tcp-cubic": "TCP CUBIC",
         "tcp-bbr": "TCP BBR"}

OURS = [t for t in NAMES if not t.startswith(("srt", "rist", "librist", "tcp-"))]


@dataclasses.dataclass
class Case:
    """A link, what is on it, and what is streamed over it."""

    name: str
    text: str
    link: dict
    content: str = "h264"
    latency_ms: int = 200
    flows: dict = None
    steps: tuple = ()  # (second, bit/s) when the rate changes

    def share_bps(self, seconds):
        """The fair share of the link, on average over the run."""
        rate = self.link["rate_bps"]
        if self.steps:
            edges = [(0, rate), *self.steps, (seconds, 0)]
            rate = sum(bps * max(0, min(end, seconds) - at) for (at, bps),
                       (end, _) in zip(edges, edges[1:])) / seconds
        return rate / (1 + (self.flows["count"] if self.flows else 0))


def link(mbit, *more, rtt=40, queue=QUEUE):
    return {"name": "bench", "rate_bps": mbit * 1e6, "rtt_ms": rtt,
            "queue_bytes": queue, "more": list(more)}


def bursts(loss, length=4):
    """Chances to enter and to leave the state in which all is lost."""
    leave = 1 / length
    return f"{loss * leave / (1 - loss):.6%}:{leave:.0%}"


def flows(count, control):
    return {"count": count, "control": control}


def _all():
    yield Case("ample", "20 Mbit/s", link(20))
    yield Case("alone", "4 Mbit/s", link(4))
    yield Case("small", "2 Mbit/s, 70 % of the stream", link(2))
    yield Case("step", "4, from 10 s on 2, from 20 s on 4 Mbit/s",
               link(4, "--at", "10s,rate=2mbit", "--at", "20s,rate=4mbit"),
               steps=((10, 2e6), (20, 4e6)))
    for control in ("cubic", "reno"):
        yield Case(f"beside-{control}", f"4 Mbit/s beside one flow of TCP "
                   f"{control}", link(4), flows=flows(1, control))
    yield Case("beside-5", "12 Mbit/s beside five flows of TCP cubic",
               link(12), flows=flows(5, "cubic"))
    for percent in ("0.1", "1", "2", "10"):
        yield Case(f"loss-{percent}", f"6 Mbit/s, {percent} % random loss, both "
                   "ways", link(6, "--loss", f"{percent}%"))
        yield Case(f"burst-{percent}", f"6 Mbit/s, {percent} % loss in bursts "
                   "of four, both ways",
                   link(6, "--burst", bursts(float(percent) / 100)))
    for rtt in (10, 150, 600):
        yield Case(f"rtt-{rtt}", f"4 Mbit/s, RTT {rtt} ms, latency "
                   f"{max(200, rtt)} ms", link(4, rtt=rtt),
                   latency_ms=max(200, rtt))
    yield Case("geo", "6 Mbit/s, RTT 600 ms, latency 400 ms, 2 % random loss",
               link(6, "--loss", "2%", rtt=600), latency_ms=400)
    for content, text in (("pyramid", "H.264 with a B pyramid"),
                          ("hevc", "H.265, open GOP"), ("mpeg1", "MPEG-1")):
        yield Case(f"small-{content}", f"2 Mbit/s, {text}", link(2), content)


CASES = {c.name: c for c in _all()}
QUICK = ["small", "beside-cubic", "alone", "loss-2", "loss-10", "geo"]
QUICK_TRANSPORTS = ["tltcp", "srt", "ristsink", "librist"]
# What --whole makes: transports, and how many runs of each.
WHOLE = ((QUICK_TRANSPORTS, 5),
         ([t for t in NAMES if t not in QUICK_TRANSPORTS], 1))


@dataclasses.dataclass
class Aim:
    """The median that TLTCP with default settings must reach in a case."""

    case: str
    text: str
    value: collections.abc.Callable  # of a row
    least: float = float("-inf")
    most: float = float("inf")
    form: str = ".1f"
    scale: float = 100

    def met(self, row):
        value = self.value(row)
        return value is not None and self.least <= value <= self.most


def _bound(case, percent):
    return Aim(case, f"at least {percent:g} % of the bound",
               lambda r: r["of_bound"], least=percent / 100)


def _lost_keys(row):
    return row["classes"]["key"]["sent"] - row["classes"]["key"]["decodable"]


AIMS = [
    _bound("small", 90),
    Aim("small", "no key frame lost", _lost_keys, most=0, form=".0f", scale=1),
    Aim("small", "no freeze over 400 ms", lambda r: r["freeze"], most=0.4001,
        form=".0f", scale=1000),
    _bound("beside-cubic", 80),
    Aim("beside-cubic", "F from 0.8 to 1.25", lambda r: r["F"], 0.8, 1.25,
        ".2f", 1),
    _bound("alone", 99.9), _bound("loss-2", 99.9), _bound("loss-10", 95),
    _bound("geo", 97),
    *(Aim(case, f"less than 1 % of the bytes {text}",
          lambda r, key=key: r.get(key), most=0.00999)
      for case in ("small", "beside-cubic", "alone", "loss-2", "loss-10", "geo")
      for key, text in (("waste", "late"),
                        ("useless", "late and of no use"))),
]


def choose(words, latency_ms=None):
    """Cases by name; NAME/CONTENT streams something else over that link."""
    chosen = []
    for word in words:
        name, _, content = word.partition("/")
        which = CASES[name]
        if content:
            which = dataclasses.replace(
                which, name=word, content=content,
                text=f"{which.text}; {content}")
        if latency_ms:
            which = dataclasses.replace(
                which, latency_ms=latency_ms,
                text=f"{which.text}; latency {latency_ms} ms")
        chosen.append(which)
    return chosen
