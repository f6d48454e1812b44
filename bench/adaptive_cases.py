# SPDX-License-Identifier: MPL-2.0
"""The links, clips and transports of ./dev bench adaptive."""
import dataclasses
import pathlib
import subprocess

import adaptive_traces
from adaptive_judge import HEIGHT, RATE, WIDTH

QUEUE = 60_000
LEAST, MOST = 100e3, 8e6
START = 1e6
MARGIN_MS = 130
MOTION = ["-f", "lavfi", "-i",
          f"mandelbrot=size={WIDTH}x{HEIGHT}:rate={RATE}:maxiter=300:"
          "start_scale=1:end_scale=0.01", "-f", "lavfi", "-i",
          f"testsrc2=size=200x112:rate={RATE}", "-filter_complex",
          "[0]noise=alls=14:allf=t[a];[a][1]overlay="
          "x='(W-w)/2+(W-w)/2*sin(t)':y='(H-h)/2+(H-h)/2*cos(t*1.3)'"]
# Pages full of small shapes that stand for three seconds, and a pointer.
SCREEN = ["-f", "lavfi", "-i",
          f"cellauto=size={WIDTH}x{HEIGHT}:rate=1/3:rule=110:scroll=0:"
          "random_seed=7:random_fill_ratio=0.4", "-f", "lavfi", "-i",
          f"testsrc2=size=24x16:rate={RATE}", "-filter_complex",
          f"[0]fps={RATE}[a];[a][1]overlay=x='mod(t*90,W-w)':"
          "y='(H-h)/2+(H-h)/3*sin(t)'"]
CONTENTS = {"motion": MOTION, "screen": SCREEN}


@dataclasses.dataclass(frozen=True)
class Clip:
    """The captured content and its coding."""

    text: str
    content: str
    element: str
    launch: str
    codec: str = "h264"
    property: str = "bitrate"
    unit: int = 1000


X264 = "x264enc name=enc speed-preset=ultrafast {} ! h264parse " \
       "config-interval=-1 ! video/x-h264,stream-format=byte-stream," \
       "alignment=au"
X265 = "x265enc name=enc speed-preset=ultrafast {} ! h265parse " \
       "config-interval=-1 ! video/x-h265,stream-format=byte-stream," \
       "alignment=au"
OPENH264 = "openh264enc name=enc rate-control=bitrate {} ! h264parse " \
           "config-interval=-1 ! video/x-h264,stream-format=byte-stream," \
           "alignment=au"
CLIPS = {
    "ippp": Clip("H.264, IPPP, zerolatency", "motion", "x264enc", X264.format(
        "tune=zerolatency key-int-max=50 vbv-buf-capacity=200")),
    "pyramid": Clip("H.264, a pyramid of three B frames", "motion", "x264enc",
                    X264.format("key-int-max=50 bframes=3 b-adapt=false "
                                "b-pyramid=true rc-lookahead=0 sync-lookahead=0 "
                                "mb-tree=false threads=1 "
                                "vbv-buf-capacity=300")),
    "screen": Clip("H.264, a screen with huge key frames", "screen", "x264enc",
                   X264.format("tune=zerolatency key-int-max=50 "
                               "vbv-buf-capacity=1000")),
    "hevc": Clip("H.265, zerolatency", "motion", "x265enc", X265.format(
        "tune=zerolatency key-int-max=50"), "hevc"),
    "openh264": Clip("H.264 of OpenH264", "motion", "openh264enc",
                     OPENH264.format("gop-size=50"), unit=1),
}


def raw(folder: pathlib.Path, content, seconds):
    """The captured pictures as I420, made once."""
    path = folder / f"{content}-{seconds}.yuv"
    if not path.exists():
        part = path.with_suffix(".part")
        subprocess.run(
            ["ffmpeg", "-v", "error", "-y", *CONTENTS[content], "-t",
             str(seconds), "-f", "rawvideo", "-pix_fmt", "yuv420p", str(part)],
            check=True, stdin=subprocess.DEVNULL)
        part.replace(path)
    return path


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
# Of the page, beside the recordings.
WHOLE = ("quarter", "beside-cubic", "beside-reno", "beside-bbr",
         "beside-5-cubic", "beside-5-reno", "beside-5-bbr", "two")
WHOLE_TRANSPORTS = ["tltcp-auto", "srt-rtt", "srt", "librist", "udp", "gcc",
                    "webrtc"]


def recorded(folder):
    """A case for each recording in a folder, at both queues."""
    for path in sorted(pathlib.Path(folder).iterdir()):
        if path.suffix not in (".down", ".up", ".trace"):
            continue
        for queue in (60_000, 250_000):
            name = f"{path.name}-{queue // 1000}"
            yield Case(name, f"{path.name}, queue {queue // 1000} kB",
                       f"trace={{trace}},queue={queue}", trace=str(path))


def trace_of(case, folder, seconds, seed):
    """The file of a case's trace."""
    if case.trace in adaptive_traces.KINDS:
        path = folder / f"{case.trace}-{seconds}-{seed}.trace"
        adaptive_traces.write(path, case.trace, seconds + 30, seed)
        return path
    return pathlib.Path(case.trace).resolve()


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
GCC_SEND = "rtph264pay mtu=1200 pt=96 ! application/x-rtp," + TWCC + \
    f" ! rtpgccbwe name=net estimated-bitrate={START:.0f} " \
    f"min-bitrate={LEAST:.0f} max-bitrate={MOST:.0f} ! rtprtxsend {RTX} ! " \
    "s.send_rtp_sink rtpsession name=s rtp-profile=avpf s.send_rtp_src ! " \
    "udpsink host={host} port={port} sync=false async=false" + \
    RTCP.format(there="{host}", to="{local}", here="{sender}", at="{local}")
GCC_RECEIVE = "udpsrc address={host} port={port} buffer-size=2000000 " \
    "caps=application/x-rtp,media=video,clock-rate=90000,encoding-name=H264," \
    "payload=96," + TWCC + " ! s.recv_rtp_sink rtpsession name=s " \
    "rtp-profile=avpf s.recv_rtp_src ! rtprtxreceive " + RTX + \
    " ! rtpjitterbuffer latency=100 do-retransmission=true ! rtph264depay ! " \
    "h264parse ! video/x-h264,stream-format=byte-stream,alignment=au" + SEEN + \
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
RTP = {"h264": ("rtph264pay mtu=1400",
                "application/x-rtp,media=video,clock-rate=90000,"
                "encoding-name=H264",
                "rtph264depay ! h264parse ! video/x-h264,"
                "stream-format=byte-stream,alignment=au"),
       "hevc": ("rtph265pay mtu=1400",
                "application/x-rtp,media=video,clock-rate=90000,"
                "encoding-name=H265",
                "rtph265depay ! h265parse ! video/x-h265,"
                "stream-format=byte-stream,alignment=au")}


def buffer_ms(spec):
    """SRT and librist hand over so long after a packet has come, not after its
    picture was captured: less the way, what an encoder takes, and the queue that
    stood when they began."""
    return max(20, spec["latency_ms"] - spec["rtt_ms"] // 2 - MARGIN_MS)


def fill(text, spec, stream):
    """Names of a run in a pipeline or a command."""
    pay, caps, depay = RTP[spec["codec"]]
    return text.format(dir=stream["dir"], host=stream["host"],
                       port=stream["port"], local=stream["local"],
                       sender="10.77.0.1",
                       latency=spec["latency_ms"],
                       buffer=buffer_ms(spec), extra=spec["extra"],
                       pay=pay, caps=caps, depay=depay)
