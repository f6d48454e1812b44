# SPDX-License-Identifier: MPL-2.0
"""The links and transports of ./dev bench adaptive."""
import dataclasses
import pathlib

import adaptive_traces

QUEUE = 60_000
LEAST, MOST = 100e3, 8e6
START = 1e6
MARGIN_MS = 90  # for encoder, multiplexer, and a machine that is not idle
# --- Links -----------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Case:
    """A link, and what is on it."""

    name: str
    text: str
    up: str  # settings of linkem; {trace} stands for the file
    down: str = ""
    rtt_ms: int = 40
    at: tuple = ()
    flows: dict = None
    streams: int = 1
    trace: str = None  # kind of a synthetic one, or a file

    def rate_bps(self):
        """Of a link without a trace, at the beginning."""
        return float(self.up.partition("rate=")[2].partition("mbit")[0]) * 1e6

    def queued_ms(self):
        """What stands in the queue when a stream begins: TCP fills it."""
        return QUEUE * 8e3 / self.rate_bps() if self.flows else 0


def _mbit(rate, *more, queue=QUEUE):
    return ",".join([f"rate={rate}mbit", f"queue={queue}", *more])


def _beside(control, count, rate):
    flow = "one flow" if count == 1 else f"{count} flows"
    name = f"beside-{control}" if count == 1 else f"beside-{count}-{control}"
    return Case(name, f"{rate} Mbit/s beside {flow} of TCP {control}",
                _mbit(rate), flows={"count": count, "control": control})


def _all():
    for kind in adaptive_traces.KINDS:
        for queue in (60_000, 250_000):
            yield Case(f"{kind}-{queue // 1000}", f"synthetic {kind}, queue "
                       f"{queue // 1000} kB", f"trace={{trace}},queue={queue}",
                       trace=kind)
    yield Case("quarter", "4, from 8 s on 1, from 13 s on 4 Mbit/s", _mbit(4),
               at=("8s,up:rate=1mbit", "13s,up:rate=4mbit"))
    yield Case("alone", "4 Mbit/s", _mbit(4))
    yield Case("loss-2", "4 Mbit/s, 2 % random loss", _mbit(4, "loss=2%"))
    yield Case("demo", "5, from 7 s on 2, from 14 s on 5 Mbit/s, beside one "
               "flow of TCP cubic", _mbit(5),
               at=("7s,up:rate=2mbit", "14s,up:rate=5mbit"),
               flows={"count": 1, "control": "cubic"})
    for control in ("cubic", "reno", "bbr"):
        yield _beside(control, 1, 4)
        yield _beside(control, 5, 12)
    yield Case("two", "two adaptive streams on 4 Mbit/s", _mbit(4), streams=2)
    yield Case("codel", "3 Mbit/s, CoDel", _mbit(3, "codel=on"))
    yield Case("codel-ecn", "3 Mbit/s, CoDel that marks",
               _mbit(3, "codel=on", "ecn=on"))
    yield Case("pie", "3 Mbit/s, PIE", _mbit(3, "pie=on"))
    yield Case("fq-cubic", "4 Mbit/s, FQ-CoDel, beside one flow of TCP cubic",
               _mbit(4, "codel=on", "fq=on"),
               flows={"count": 1, "control": "cubic"})
    yield Case("policer", "10 Mbit/s, policed to 2.5", _mbit(
        10, "police=2.5mbit:30kB"))
    yield Case("narrow-return", "4 Mbit/s, 64 kbit/s back", _mbit(4),
               "rate=64kbit,queue=8kB")
    yield Case("ack-loss", "4 Mbit/s, 30 % loss on the way back", _mbit(4),
               "loss=30%")


CASES = {c.name: c for c in _all()}
QUICK = ("lte-60", "quarter", "beside-cubic", "two")
# The page: beside what stands for recordings, if there are none.
SYNTHETIC = ("lte-60", "lte-driving-60", "umts-60")
OTHERS = ("quarter", "beside-cubic", "beside-bbr", "two")
OFTEN = ("tltcp-auto", "gcc", "webrtc")
ONCE = ("srt-rtt",)
FIXED = ("srt", "librist", "udp")  # on some links
TIMES = 3
FURTHER_CLIPS = ("screen", "noise", "pyramid", "hevc")


def on_link(link, number, seed):
    """Transports of the page.  Two calls are too much for two processors."""
    often = [t for t in OFTEN if link != "two" or not TRANSPORTS[t].browser]
    some = link in ("quarter", "beside-cubic") or number == 0
    return [*often, *(ONCE if seed == 1 else ()),
            *(FIXED if seed == 1 and some else ())]


def whole(recordings, clip):
    """What the page shows: (case, clip, transport, seed), those of one seed
    before the next one's, so that a set that was interrupted has some of
    everything."""
    for seed in range(1, TIMES + 1):
        for number, link in enumerate((*recordings, *OTHERS)):
            for name in on_link(link, number, seed):
                yield link, clip, name, seed
    for further in FURTHER_CLIPS:
        for name in ("tltcp-auto", "gcc"):
            yield recordings[-1], further, name, 1


def is_trace(path):
    """Whether a file is in mahimahi's format: times in ms, never less than the
    one before, the last above 0."""
    try:
        times = [int(word) for word in
                 path.read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return False
    return bool(times) and times[0] >= 0 and times[-1] > 0 and \
        times == sorted(times)


def recorded(path):
    """A case for each recording, at both queues; of a folder those that are
    called so."""
    path = pathlib.Path(path)
    files = [path] if path.is_file() else sorted(
        p for p in path.iterdir() if p.suffix in (".down", ".up", ".trace"))
    for file in files:
        if not is_trace(file):
            raise ValueError(f"{file} is not in mahimahi's format: a line for "
                             "each packet, with a time in ms")
        for queue in (60_000, 250_000):
            yield Case(f"{file.stem if file.suffix == '.down' else file.name}"
                       f"-{queue // 1000}",
                       f"{file.name}, queue {queue // 1000} kB",
                       f"trace={{trace}}:{{part}}s,queue={queue}",
                       trace=str(file))


def trace_of(case, folder, seconds, seed):
    """The file of a case's trace."""
    if case.trace in adaptive_traces.KINDS:
        path = folder / f"{case.trace}-{seconds}-{seed}.trace"
        adaptive_traces.write(path, case.trace, seconds + 30, seed)
        return path
    return pathlib.Path(case.trace).resolve()


def part_of(trace, seconds, seed):
    """Where a seed begins in a recording, s: each one has a part of its own, as
    far as there are so many."""
    length = adaptive_traces.length_s(trace)
    return seconds * (seed - 1) % max(1, int(length))


# --- Transports ------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Transport:
    """How a stream gets from the encoder to the other end."""

    name: str
    follow: str       # as bench_adaptive knows it
    element: str      # that must be there
    send: str         # behind the encoder
    receive: str
    ts: bool = False  # what arrives is a transport stream
    start: float = None  # bit/s; None: START
    helpers: tuple = ()  # (at the sender?, command...) that run beside it
    property: str = None  # of the element that must be there
    browser: bool = False  # a call between two browsers instead


MUX = "mpegtsmux alignment=7 ! "
KEEP = " ! framelog location={dir}/received.csv ! filesink " \
       "location={dir}/received.ts buffer-mode=unbuffered"
SEEN = " ! framelog location={dir}/received.csv ! fakesink sync=false"
# The latency comes behind the URI, which sets it back.
SRT_SEND = MUX + "srtsink name=net sync=false " \
    "uri=srt://{host}:{port}?mode=caller latency={buffer}"
SRT_RECEIVE = "srtsrc uri=srt://{host}:{port}?mode=listener " \
    "latency={buffer}" + KEEP
TLTCP_SEND = "tltcpsink name=net uri=tltcp://{host}:{port}?latency={latency}" \
    "{extra}"
TLTCP_RECEIVE = "tltcpsrc uri=tltcp://{host}:{port}?mode=listener&latency=" \
    "{latency}&delivery=immediate" + SEEN
# RTP with the congestion control of gst-plugins-rs: every packet has a number,
# and the fate of each is reported (transport-wide congestion control).
TWCC = "extmap-3=(string)http://www.ietf.org/id/" \
    "draft-holmer-rmcat-transport-wide-cc-extensions-01"
RTX = "payload-type-map=application/x-rtp-pt-map,96=(uint)97"
RTCP = " s.send_rtcp_src ! udpsink host={there} port={to} sync=false " \
    "async=false udpsrc address={here} port={at} caps=application/x-rtcp ! " \
    "s.recv_rtcp_sink"
GCC_SEND = "{pay} pt=96 ssrc=7 ! application/x-rtp," + TWCC + \
    f" ! rtpgccbwe name=net estimated-bitrate={START:.0f} " \
    f"min-bitrate={LEAST:.0f} max-bitrate={MOST:.0f} ! rtprtxsend {RTX} " \
    "max-size-packets=0 max-size-time=1000 ! " \
    "s.send_rtp_sink rtpsession name=s rtp-profile=avpf s.send_rtp_src ! " \
    "udpsink host={host} port={port} sync=false async=false" + \
    RTCP.format(there="{host}", to="{local}", here="{sender}", at="{local}")
# As in rtpbin; the elements between tell which stream a request is about.  What
# comes in order is not held, so a long buffer only saves what is late.
GCC_RECEIVE = "udpsrc address={host} port={port} buffer-size=2000000 " \
    "caps={caps},payload=96,ssrc=(uint)7,rtcp-fb-nack=(boolean)true," \
    "rtcp-fb-nack-pli=(boolean)true," + TWCC + " ! s.recv_rtp_sink " \
    "rtpsession name=s rtp-profile=avpf s.recv_rtp_src ! rtprtxreceive " + \
    RTX + " ! rtpssrcdemux name=d d. ! rtpjitterbuffer latency=800 " \
    "do-retransmission=true do-lost=true ! rtpptdemux name=p p. ! {asking}" + \
    SEEN + \
    RTCP.format(there="{sender}", to="{local}", here="{host}", at="{local}")
TRANSPORTS = {
    "tltcp": Transport("TLTCP", "target", "tltcpsink", TLTCP_SEND,
                       TLTCP_RECEIVE),
    "tltcp-auto": Transport(
        "TLTCP, encoder=auto", "none", "tltcpsink",
        TLTCP_SEND + f" encoder=auto encoder-max-bitrate={MOST:.0f}",
        TLTCP_RECEIVE, property="encoder"),
    "tltcp-estimate": Transport("TLTCP, 85 % of the estimate", "estimate",
                                "tltcpsink", TLTCP_SEND, TLTCP_RECEIVE),
    "srt": Transport("SRT, fixed rate", "none", "srtsink", SRT_SEND,
                     SRT_RECEIVE, ts=True, start=0.5),
    "srt-rtt": Transport("SRT, rate by RTT", "rtt", "srtsink", SRT_SEND,
                         SRT_RECEIVE, ts=True),
    "librist": Transport(
        "librist, fixed rate", "none", "udpsink",
        MUX + "udpsink name=net host=127.0.0.1 port={local} sync=false",
        "udpsrc address=127.0.0.1 port={local} buffer-size=2000000" + KEEP,
        ts=True, start=0.5, helpers=(
            (False, "ristreceiver", "-v", "3", "-S", "0", "-i",
             "rist://@{host}:{port}?buffer={buffer}", "-o",
             "udp://127.0.0.1:{local}"),
            (True, "ristsender", "-v", "3", "-S", "0", "-i",
             "udp://@127.0.0.1:{local}", "-o",
             "rist://{host}:{port}?buffer={buffer}"))),
    "udp": Transport(
        "RTP over UDP, fixed rate", "none", "udpsink",
        "{pay} ! udpsink name=net host={host} port={port} sync=false",
        "udpsrc address={host} port={port} buffer-size=2000000 caps={caps} ! "
        "{depay}" + SEEN, start=0.5),
    "gcc": Transport("RTP, rtpgccbwe", "whole", "rtpgccbwe", GCC_SEND,
                     GCC_RECEIVE),
    "webrtc": Transport("WebRTC, Chromium", "", "", "", "", browser=True),
}
RTP = {"h264": ("rtph264pay mtu=1200",
                "application/x-rtp,media=video,clock-rate=90000,"
                "encoding-name=H264",
                "rtph264depay ! h264parse ! video/x-h264,"
                "stream-format=byte-stream,alignment=au"),
       "hevc": ("rtph265pay mtu=1200",
                "application/x-rtp,media=video,clock-rate=90000,"
                "encoding-name=H265",
                "rtph265depay ! h265parse ! video/x-h265,"
                "stream-format=byte-stream,alignment=au")}


def buffer_ms(spec):
    """SRT, librist and jitter buffers hand over so long after a packet has come,
    not after its picture was captured: less the way, the encoder, and the queue
    that stood when they began."""
    return max(20, round(spec["latency_ms"] - spec["rtt_ms"] / 2 - MARGIN_MS -
                         spec["queued_ms"]))


def fill(text, spec, stream):
    """Names of a run in a pipeline or a command."""
    pay, caps, depay = RTP[spec["codec"]]
    return text.format(dir=stream["dir"], host=stream["host"],
                       port=stream["port"], local=stream["local"],
                       sender="10.77.0.1",
                       latency=spec["latency_ms"],
                       buffer=buffer_ms(spec), extra=spec["extra"],
                       pay=pay, caps=caps, depay=depay,
                       # that of H.265 cannot
                       asking=depay.replace("rtph264depay", "rtph264depay "
                                            "request-keyframe=true"))
