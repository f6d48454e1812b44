# SPDX-License-Identifier: MPL-2.0
"""What a player shows of an adaptive stream, frame by frame.

Every captured picture is known by its time stamp, every coded frame by a digest
of its slices.  A frame is there once it and all that it refers to has arrived,
byte by byte as it was sent: then a decoder makes of it what a decoder at the
sender makes, which is done here, and the result is compared with what was
captured.
"""
import measure

DEADLINES = (0.2, 0.4, 0.8)  # s from the capture
PLAYER = 0.4                 # s from the capture to the display
WIDTH, HEIGHT, RATE = 640, 360, 25
LUMA = WIDTH * HEIGHT
PICTURE = LUMA * 3 // 2  # I420
HOUR = 3600.0            # s


class JudgeError(Exception):
    """The reason why there is no result, as a sentence."""


def captures(path):
    """(time stamp, time of capture) of every picture, s."""
    rows = [(int(r["pts_ns"]) * 1e-9, int(r["arrival_ns"]) * 1e-9)
            for r in measure.read_log(path) if r["pts_ns"]]
    if not rows:
        raise JudgeError("no picture was captured")
    return rows


def number_of(captured, pts):
    """Which captured picture has this time stamp: the one next to it, for
    encoders may shift all of them."""
    return min(len(captured) - 1,
               max(0, round((pts - captured[0][0]) * RATE)))


def mark_ready(frames, captured):
    """Gives each frame its capture and when it could be decoded."""
    # Encoders add hours to all time stamps, so that none becomes negative.
    # Their first frame need not be of the first picture.
    first = min(f["pts"] for f in frames) - captured[0][0]
    shift = round(first / HOUR) * HOUR
    ready = []
    for f, needs in zip(frames, measure.parents(frames)):
        arrival = measure.NEVER if f["arrival"] is None else f["arrival"]
        whole = needs or f["class"] == "key"
        ready.append(max([arrival, *(ready[n] for n in needs)])
                     if whole else measure.NEVER)
        f["ready"] = ready[-1]
        f["number"] = number_of(captured, f["pts"] - shift)
        f["captured"] = captured[f["number"]][1]


def within(frames, deadline):
    """Share of the coded frames that could be decoded so soon."""
    return sum(f["ready"] <= f["captured"] + deadline
               for f in frames) / len(frames)


def shown(frames, captured):
    """Number of the picture on the screen when each captured one is due, None
    before the first."""
    order = sorted(frames, key=lambda f: f["number"])
    found, last, upcoming = [], None, 0
    waiting = []  # whose turn has come, but which was not there
    for number, (_, time) in enumerate(captured):
        while upcoming < len(order) and order[upcoming]["number"] <= number:
            waiting.append(order[upcoming])
            upcoming += 1
        there = [f["number"] for f in waiting if f["ready"] <= time + PLAYER]
        last = max(there, default=last) if last is None else \
            max([last, *there])
        waiting = [f for f in waiting if f["number"] > (
            -1 if last is None else last)]
        found.append(last)
    return found


def freezes(numbers):
    """How long each picture stood, s, but those that only stood their time."""
    out, since = [], 0
    for i in range(1, len(numbers) + 1):
        if i == len(numbers) or numbers[i] != numbers[since]:
            out.append((i - since) / RATE)
            since = i
    return out


# --- All of a stream -------------------------------------------------------

def series(frames):
    """For charts: capture, delay (None: never), bytes."""
    begin = min(f["captured"] for f in frames)
    return [(round(f["captured"] - begin, 3),
             None if f["ready"] == measure.NEVER
             else round(f["ready"] - f["captured"], 4), f["bytes"])
            for f in sorted(frames, key=lambda f: f["number"])]


def judge(raw, sent, received):
    """Counts of one stream, and its frames and screen."""
    captured = captures(raw)
    frames, _ = measure.sent_frames(sent)
    if not frames:
        raise JudgeError("no frame was coded")
    measure.match(frames, received)
    mark_ready(frames, captured)
    numbers = shown(frames, captured)
    delays = [f["ready"] - f["captured"] for f in frames
              if f["ready"] != measure.NEVER]
    stood = freezes(numbers)
    result = {
        "captured": len(captured), "coded": len(frames),
        "skipped": 1 - len(frames) / len(captured),
        "within": {f"{d * 1e3:.0f}": within(frames, d) for d in DEADLINES},
        "delay_p50": measure.percentile(delays, 0.5),
        "delay_p95": measure.percentile(delays, 0.95),
        "freeze": max(stood), "freezes": sum(s > measure.FREEZE for s in stood),
        "media_bps": sum(f["bytes"] for f in frames) * 8 * RATE /
                     len(captured),
        "series": series(frames)}
    return result, frames, numbers
