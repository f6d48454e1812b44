# SPDX-License-Identifier: MPL-2.0
"""WebRTC as a peer in ./dev bench adaptive: a call between two headless
browsers, each in a namespace of its own, at the browser's defaults.

The fake camera plays the same clip with numbers drawn into its pictures.  The
sender's page notes when it saw each, the receiver's page when each came out of
the decoder, and keeps its luma.
"""
import bisect
import json
import os
import subprocess
import time

import adaptive_judge
import adaptive_quality
import case
import devtools
import measure
import tcp_flows
from adaptive_judge import HEIGHT, LUMA, PICTURE, RATE, WIDTH

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "webrtc.html")
CELL, BITS = 16, 14  # as the page has them
HEADER = b"YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C420jpeg\n" % (WIDTH, HEIGHT, RATE)
FRAME = b"FRAME\n"
SETUP = 10  # s of further pictures while a call is made
START, MOST = 1e6, 8e6  # bit/s
OPTIONS = ("--use-fake-device-for-media-stream",
           "--use-fake-ui-for-media-stream",
           "--disable-features=WebRtcHideLocalIpsWithMdns")


# --- The clip --------------------------------------------------------------

def mark(picture, number):
    """A picture whose corner shows its number."""
    out = bytearray(picture)
    for row, bits in enumerate((number, ~number)):
        line = b"".join((b"\xeb" if bits >> (BITS - 1 - i) & 1 else b"\x10")
                        * CELL for i in range(BITS))
        for y in range(row * CELL, (row + 1) * CELL):
            out[y * WIDTH:y * WIDTH + len(line)] = line
    return bytes(out)


def marked(raw, seconds):
    """The clip as the camera wants it, made once.  It goes on from its
    beginning while there are not enough pictures."""
    path = os.path.splitext(raw)[0] + ".y4m"
    if os.path.exists(path):
        return path
    total = os.path.getsize(raw) // PICTURE
    part = f"{path}.{os.getpid()}"
    with open(raw, "rb") as source, open(part, "wb") as out:
        out.write(HEADER)
        for number in range((seconds + SETUP) * RATE):
            source.seek(number % total * PICTURE)
            out.write(FRAME + mark(source.read(PICTURE), number))
    os.replace(part, path)
    return path


# --- Results ---------------------------------------------------------------

def captures(seen, begin, seconds):
    """Time of capture by number, from the first picture at or after begin.  The
    camera is regular, so pictures that the page missed are known, too."""
    times = {number: at for number, at, *_ in reversed(seen) if number >= 0}
    inside = [n for n, at in times.items() if at >= begin]
    if not inside:
        raise adaptive_judge.JudgeError("the camera showed nothing")
    first = min(inside)
    start = min(times[n] - n / RATE for n in inside)
    return {n: times.get(n, start + n / RATE)
            for n in range(first, first + seconds * RATE)}


def value_at(rows, column, at):
    """What a counter among the statistics was."""
    place = bisect.bisect_right([row[0] for row in rows], at)
    return rows[place - 1][column] if place else 0


def arrivals(seen, captured, stats):
    """A frame for each picture that came out of the decoder."""
    frames, known, before = [], set(), captured[min(captured)]
    for place, (number, at, *_) in enumerate(seen):
        if number not in captured or number in known:
            continue
        known.add(number)
        frames.append({
            "number": number - min(captured), "place": place, "ready": at,
            "captured": captured[number],
            "bytes": value_at(stats, 1, at) - value_at(stats, 1, before)})
        before = at
    return frames


def judge(sender, receiver, begin, seconds):
    """Counts of one stream, its frames, and its screen."""
    captured = captures(sender["seen"], begin, seconds)
    frames = arrivals(receiver["seen"], captured, receiver["stats"])
    first, last = min(captured.values()), max(captured.values())
    coded = value_at(sender["stats"], 2, last) - \
        value_at(sender["stats"], 2, first)
    if not frames or not coded:
        raise adaptive_judge.JudgeError("no picture arrived")
    # Pictures that were never coded and pictures that were lost look alike.
    coded = max(coded, len(frames))
    slots = [(n / RATE, captured[n]) for n in sorted(captured)]
    numbers = adaptive_judge.shown(frames, slots)
    delays = [f["ready"] - f["captured"] for f in frames]
    stood = adaptive_judge.freezes(numbers)
    sent = value_at(receiver["stats"], 1, last) - \
        value_at(receiver["stats"], 1, first)
    result = {
        "captured": len(slots), "coded": coded,
        "skipped": max(0, 1 - coded / len(slots)),
        "within": {f"{d * 1e3:.0f}": sum(x <= d for x in delays) / coded
                   for d in adaptive_judge.DEADLINES},
        "delay_p50": measure.percentile(delays, 0.5),
        "delay_p95": measure.percentile(delays, 0.95),
        "freeze": max(stood), "freezes": sum(s > measure.FREEZE for s in stood),
        "media_bps": sent * 8 / (last - first),
        "rates": rates(sender["stats"], first),
        "series": adaptive_judge.series(frames),
        "browser": details(receiver["details"])}
    return result, frames, numbers


def rates(stats, begin):
    """(s after the first capture, bit/s) that the browser set its encoder to."""
    out = []
    for at, _, _, rate in stats:
        if rate and (not out or rate != out[-1][1]):
            out.append((round(at - begin, 3), rate))
    return out


def details(reports):
    """What the browser itself counts."""
    wanted = ("freezeCount", "totalFreezesDuration", "framesDecoded",
              "framesDropped", "jitterBufferDelay", "nackCount", "pliCount",
              "mimeType", "decoderImplementation")
    return {key: report[key] for report in reports for key in wanted
            if key in report}


def quality(luma, clip, frames, numbers, first):
    """PSNR and SSIM of the player's screen against what was captured."""
    place = {f["number"]: f["place"] for f in frames}
    with open(luma, "rb") as seen, open(clip, "rb") as source:
        def picture(number):
            seen.seek(place[number] * LUMA)
            return seen.read(LUMA)

        def wanted(number):
            source.seek(len(HEADER) + (first + number) * (PICTURE + len(FRAME))
                        + len(FRAME))
            return source.read(LUMA)

        return adaptive_quality.compare(numbers, picture, wanted)


# --- A run -----------------------------------------------------------------

def on_clock(results, offset):
    """The same with times of CLOCK_MONOTONIC, s."""
    results["seen"] = [[n, at / 1e3 + offset, *rest]
                       for n, at, *rest in results["seen"]]
    results["stats"] = [[at / 1e3 + offset, *rest]
                        for at, *rest in results["stats"]]
    return results


class Call:
    """Two browsers, and what they saw."""

    def __init__(self, spec, folder, way, clip):
        self.spec, self.folder, self.clip = spec, folder, clip
        self.browsers = []
        os.makedirs(folder)
        for name, prefix in (("sender", way.prefix_send),
                             ("receiver", way.prefix_receive)):
            nice = ["nice", "-n", "-10"] if os.geteuid() == 0 else []
            self.browsers.append(devtools.Browser(
                devtools.find(),
                [*OPTIONS, f"--use-file-for-fake-video-capture={clip}"],
                os.path.join(folder, name), os.path.join(folder, name + ".log"),
                [*nice, *prefix]))

    def open(self):
        for browser in self.browsers:
            browser.open("file://" + PAGE)

    def connect(self):
        sender, receiver = self.browsers
        offer = sender.evaluate(f"offer({MOST:.0f})")
        keep = json.dumps(self.spec["quality"])
        answer = receiver.evaluate(f"answer({json.dumps(offer)}, {keep})")
        self.offset = time.monotonic() - time.time()
        self.begin = sender.evaluate(
            f"accept({json.dumps(answer)}, {START / 1e3:.0f})") / 1e3 + \
            self.offset

    def finish(self):
        sender, receiver = self.browsers
        self.sender, self.receiver = (
            on_clock(json.loads(b.evaluate("results()")), self.offset)
            for b in (sender, receiver))
        if self.spec["quality"]:
            receiver.call("Browser.setDownloadBehavior", behavior="allow",
                          downloadPath=self.folder, eventsEnabled=True)
            receiver.evaluate("save('seen.luma')")
            receiver.wait_event("Browser.downloadProgress",
                                lambda p: p["state"] != "inProgress")

    def judge(self):
        result, frames, numbers = judge(self.sender, self.receiver, self.begin,
                                        self.spec["seconds"])
        luma = os.path.join(self.folder, "seen.luma")
        if self.spec["quality"]:
            first = min(captures(self.sender["seen"], self.begin, 1))
            result.update(quality(luma, self.clip, frames, numbers, first))
            os.unlink(luma)
        return result, frames

    def samples(self):
        """(time, bytes so far) at the receiver."""
        return [(at, total) for at, total, *_ in self.receiver["stats"]]

    def close(self):
        for browser in self.browsers:
            browser.close()


class Streams:
    """All calls of a run; as adaptive_run.Streams."""

    def __init__(self, spec, processes, start_link):
        self.spec, self.processes = spec, processes
        self.way = case.Tun(spec, processes)
        self.begin_link = start_link
        self.calls = []

    def netns(self, verb):
        """The browsers start before the link is there, so that the link's
        changes come at the same time for every transport."""
        for name in self.way.netns.split(","):
            subprocess.run(["ip", "netns", verb, name], check=verb == "add",
                           capture_output=True)

    def run(self):
        self.netns("add")
        try:
            clip = marked(self.spec["clip"], self.spec["seconds"])
            for number in range(self.spec["streams"]):
                self.calls.append(Call(self.spec, os.path.join(
                    self.spec["dir"], f"stream{number}"), self.way, clip))
            for call in self.calls:
                call.open()
            self.begin_link(self)
            for call in self.calls:
                call.connect()
            time.sleep(self.spec["seconds"] + 1)
            self.processes.check()
            for call in self.calls:
                call.finish()
            self.processes.end(self.way.link)
        finally:
            for call in self.calls:
                call.close()
            self.netns("delete")

    def judge(self, number):
        return self.calls[number].judge()

    def samples(self, number):
        return self.calls[number].samples()

    def count(self):
        return len(self.calls)
