# SPDX-License-Identifier: MPL-2.0
"""What arrived, and when: the same yardstick for every transport.

A frame counts as sent at its decoding time on the sender's clock, whatever the
transport made of it.  It has arrived when the last byte of its slices has, with
every byte right.  It is on time when that is at most latency + GRACE after it
was sent, and decodable when by then all that it refers to has arrived too.
What a frame refers to is what its headers say, where they can be read.  Else
disposable frames are referred to by none, all others by everything that follows
up to the next key frame.
"""
import collections
import csv
import hashlib
import heapq
import math
import statistics

GRACE = 0.2
USUAL_PATH = 0.02  # s one way; GRACE covers it
TYPES = ("I", "P", "B")
CLASSES = ("key", "reference", "disposable")
FREEZE = 0.2  # s without a new picture that a viewer notices
TS_PACKET = 188
HEADERS = 0.95  # of a link's bits are left to the stream, about


def read_log(path):
    with open(path, newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            # A process that was ended may leave half a line.
            if row["digest"] is not None:
                yield row


def sent_frames(path):
    """The frames in coding order, as the log in front of the sink has them."""
    frames = []
    for row in read_log(path):
        if row["class"] in ("", "header"):
            continue
        dts = row["dts_ns"] or row["pts_ns"]
        frames.append({
            "log": int(row["arrival_ns"]) * 1e-9,
            "dts": int(dts) * 1e-9,
            "pts": int(row["pts_ns"] or dts) * 1e-9,
            "bytes": int(row["bytes"]),
            "class": row["class"],
            "type": row["picture"] if row["picture"] in TYPES else "P",
            "depends": int(row.get("depends") or 0),
            "digest": row["digest"],
        })
    if not frames:
        return frames, 0.0
    # The sink may hold up the frames behind the first; the schedule counts.
    start = min(f["log"] - f["dts"] for f in frames)
    for f in frames:
        f["sent"] = f["dts"] + start
    return frames, frames[0]["sent"]


def received_frames(path):
    """(digest, arrival) from a log of whole frames."""
    for row in read_log(path):
        corrupted = int(row["flags"], 16) & 0x100
        if row["digest"] and not corrupted:
            yield row["digest"], int(row["arrival_ns"]) * 1e-9


# --- MPEG transport stream, as SRT and TCP carry it ------------------------

def nal_units(data):
    """NAL units between start codes, without the zeros behind them."""
    at = data.find(b"\0\0\1")
    while at >= 0:
        end = data.find(b"\0\0\1", at + 3)
        unit = data[at + 3:end if end >= 0 else len(data)].rstrip(b"\0")
        if unit:
            yield unit
        at = end


# Whether what follows a start code belongs to a picture, by its first byte.
IS_PICTURE = {"h264": lambda first: 1 <= first & 0x1f <= 5,
              "hevc": lambda first: first >> 1 & 0x3f < 32,
              "mpeg": lambda first: first <= 0xaf}


def digest(data, codec="h264"):
    md5 = hashlib.md5(usedforsecurity=False)
    pictures = False
    for unit in nal_units(data):
        if IS_PICTURE[codec](unit[0]):
            md5.update(unit)
            pictures = True
    return md5.hexdigest() if pictures else None


def pes_payload(data):
    """The elementary stream in a PES packet of video."""
    if len(data) < 9 or data[:3] != b"\0\0\1" or data[3] & 0xf0 != 0xe0:
        return b""
    return data[9 + data[8]:]


def ts_payload(packet):
    control = packet[3] >> 4 & 3
    if not control & 1:
        return b""
    return packet[5 + packet[4]:] if control & 2 else packet[4:]


def arrival_times(chunks_path):
    """Arrival of every chunk with the number of bytes up to its end."""
    ends, times, total = [], [], 0
    for row in read_log(chunks_path):
        total += int(row["bytes"])
        ends.append(total)
        times.append(int(row["arrival_ns"]) * 1e-9)
    return ends, times


def video_access_units(data):
    """(payload, place behind its last byte) for every access unit of video."""
    pid, parts, last = None, [], 0
    at = 0
    while at + TS_PACKET <= len(data):
        if data[at] != 0x47:
            at += 1  # lost the rhythm: search for the next packet
            continue
        packet = data[at:at + TS_PACKET]
        at += TS_PACKET
        payload = ts_payload(packet)
        this = (packet[1] & 0x1f) << 8 | packet[2]
        starts = packet[1] & 0x40
        if starts and payload[:3] == b"\0\0\1" and payload[3] & 0xf0 == 0xe0:
            pid = this if pid is None else pid
        if this != pid or not payload:
            continue
        if starts and parts:
            yield pes_payload(b"".join(parts)), last
            parts = []
        parts.append(payload)
        last = at
    if parts:
        yield pes_payload(b"".join(parts)), last


def received_ts(chunks_path, data_path, codec="h264"):
    """(digest, arrival) from a transport stream and the log of its chunks."""
    ends, times = arrival_times(chunks_path)
    with open(data_path, "rb") as file:
        data = file.read()
    chunk = 0
    for unit, end in video_access_units(data):
        while chunk < len(ends) and ends[chunk] < end:
            chunk += 1
        name = digest(unit, codec)
        if name and chunk < len(ends):
            yield name, times[chunk]


# --- Sent against received -------------------------------------------------

def match(frames, received):
    """Gives every sent frame its arrival, or None.  Equal frames match in the
    order in which they were sent."""
    open_frames = collections.defaultdict(collections.deque)
    for f in frames:
        f["arrival"] = None
        open_frames[f["digest"]].append(f)
    for name, arrival in received:
        waiting = open_frames.get(name)
        if waiting:
            waiting.popleft()["arrival"] = arrival


def mark_on_time(frames, latency):
    for f in frames:
        f["delay"] = f["arrival"] and f["arrival"] - f["sent"]
        f["on_time"] = (f["arrival"] is not None and
                        f["delay"] <= latency + GRACE)


NEVER = math.inf


def parents(frames):
    """What each frame refers to, by number: what its headers say, or the
    reference before it; what is shown before its key frame refers to that, and
    to the references before that."""
    out = []
    key = newest = before = None
    for i, f in enumerate(frames):
        known = f.get("depends", 0)
        leads = key is not None and f["pts"] < frames[key]["pts"]
        if f["class"] == "key":
            found = []
            before, key, newest = newest, i, i
        elif 0 < known <= i:
            found = [i - known]
        else:
            found = [key, before] if leads else [newest]
        out.append([n for n in found if n is not None])
        if f["class"] == "reference" and leads:
            before = i
        elif f["class"] == "reference":
            newest = i
    return out


def mark_decodable(frames, latency):
    """A reference that comes late spoils the frames that were to be shown
    before it came; one that is lost, all that refer to it."""
    ready = []  # when it and all that it refers to was there
    for f, needs in zip(frames, parents(frames)):
        arrival = NEVER if f["arrival"] is None else f["arrival"]
        needed = [ready[n] for n in needs]
        alone = f["class"] == "key"
        ready.append(max([arrival, *needed]) if needed or alone else NEVER)
        f["decodable"] = ready[-1] <= f["sent"] + latency + GRACE


def decodable_beyond_path(frames, latency, rtt):
    """How many were decodable in time when the path's own delay does not count,
    nor a link's usual one: as players count that add their latency to it."""
    marked = [dict(f) for f in frames]
    mark_decodable(marked, latency + rtt / 2 - USUAL_PATH)
    return sum(f["decodable"] for f in marked)


def median(runs, key):
    """The median of a value over the runs that have it."""
    values = [r[key] for r in runs if r.get(key) is not None]
    return statistics.median(values) if values else None


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values \
        else None


def count(frames, kind):
    these = [f for f in frames if kind in (f["type"], f["class"], "all")]
    arrived = [f for f in these if f["arrival"] is not None]
    on_time = sum(f["on_time"] for f in these)
    return {"sent": len(these), "on_time": on_time,
            "late": len(arrived) - on_time,
            "dropped": len(these) - len(arrived),
            "decodable": sum(f["decodable"] for f in these)}


def freezes(frames):
    """Times without a new picture, s."""
    shown = sorted(f["pts"] for f in frames if f["decodable"])
    every = sorted(f["pts"] for f in frames)
    edges = [every[0], *shown, every[-1]]
    return [b - a for a, b in zip(edges, edges[1:])]


def waste(frames):
    """Share of the bytes of whole frames that came after their time."""
    arrived = [f for f in frames if f["arrival"] is not None]
    late = sum(f["bytes"] for f in arrived if not f["on_time"])
    return late / max(1, sum(f["bytes"] for f in arrived))


def useless(frames):
    """The part of that which no frame shown in time refers to, however far."""
    used = [f["decodable"] for f in frames]
    needs = parents(frames)
    for i in range(len(frames) - 1, -1, -1):
        for n in needs[i] if used[i] else ():
            used[n] = True
    arrived = [(f, use) for f, use in zip(frames, used)
               if f["arrival"] is not None]
    lost = sum(f["bytes"] for f, use in arrived if not use and not f["on_time"])
    return lost / max(1, sum(f["bytes"] for f, _ in arrived))


def evaluate(frames, received, latency):
    """Marks the frames and returns the counts."""
    match(frames, received)
    mark_on_time(frames, latency)
    mark_decodable(frames, latency)
    delays = [f["delay"] for f in frames if f["delay"] is not None]
    seconds = frames[-1]["dts"] - frames[0]["dts"] or 1
    useful = sum(f["bytes"] for f in frames if f["decodable"])
    return {
        "frames": {kind: count(frames, kind) for kind in (*TYPES, "all")},
        "goodput_bps": useful * 8 / seconds,
        "delay_p50": percentile(delays, 0.5),
        "delay_p95": percentile(delays, 0.95),
        "delay_p99": percentile(delays, 0.99),
        "freeze": max(freezes(frames)),
        "freezes": sum(f > FREEZE for f in freezes(frames)),
        "waste": waste(frames),
        "useless": useless(frames),
        "classes": {kind: count(frames, kind) for kind in CLASSES},
        "seconds": seconds,
    }


# --- What could be there at best --------------------------------------------

def trunk(frames, needs):
    """The frames without which all that follows is lost: of every group the
    longest way from frame to frame that refers to it."""
    depth, found = {}, set()  # depth: of the group

    def end_group():
        n = max(depth, key=depth.get, default=None)
        while n is not None:
            found.add(n)
            n = max((p for p in needs[n] if p in depth), default=None)
        depth.clear()

    for i, f in enumerate(frames):
        if f["class"] == "key":
            end_group()
        if f["class"] != "disposable":
            depth[i] = 1 + max((depth.get(p, 0) for p in needs[i]), default=0)
    end_group()
    return sorted(found)


class Schedule:
    """Frames over a link, one after the other; what comes late may still be of
    use for what follows."""

    def __init__(self, frames, rate, latency):
        self.frames, self.rate = frames, rate
        self.patience = latency + GRACE
        self.chosen, self.sent = set(), set()  # seen in time; sent at all

    def send(self, at, i):
        """When a frame is through behind one that was at that time, and
        whether it is in time."""
        f = self.frames[i]
        at = max(at, f["dts"]) + f["bytes"] / self.rate
        return at, at <= f["dts"] + self.patience

    def all_in_time(self, sent, wanted):
        at = -math.inf
        for i in sorted(sent):
            at, in_time = self.send(at, i)
            if i in wanted and not in_time:
                return False
        return True

    def cut_chains(self, groups):
        """Sends of each group of frames that refer to each other as many, from
        the first on, that most of all groups are in time."""
        ways = [(-math.inf, 0, [])]  # the link is free, so many seen, sent
        for group in groups:
            found = list(ways)
            for at, seen, sent in ways:
                for n, i in enumerate(group):
                    at, in_time = self.send(at, i)
                    seen += in_time
                    found.append((at, seen, sent + group[:n + 1]))
            ways = []
            for way in sorted(found, key=lambda w: (w[0], -w[1])):
                if not ways or way[1] > ways[-1][1]:
                    ways.append(way)
        at = -math.inf
        for i in ways[-1][2]:
            at, in_time = self.send(at, i)
            self.sent.add(i)
            if in_time:
                self.chosen.add(i)

    def add(self, i):
        sent, wanted = self.sent | {i}, self.chosen | {i}
        fits = self.all_in_time(sent, wanted)
        if fits:
            self.sent, self.chosen = sent, wanted
        return fits


class Volume:
    """Frames over a link, by their bytes alone, beside some that fit."""

    def __init__(self, frames, room, fit):
        self.frames = frames
        self.room = room - sum(frames[i]["bytes"] for i in fit)
        self.chosen = self.sent = set(fit)

    def add(self, i):
        self.room -= self.frames[i]["bytes"]
        if self.room >= 0:
            self.chosen.add(i)
        return self.room >= 0


def add_others(plan, frames, needs):
    """The smallest of those first that need nothing that is not there."""
    heap = []
    children = collections.defaultdict(list)

    def offer(i):
        if i not in plan.sent and all(p in plan.sent for p in needs[i]):
            heapq.heappush(heap, (frames[i]["bytes"], i))

    for i, wanted in enumerate(needs):
        for parent in wanted:
            children[parent].append(i)
        if wanted:
            offer(i)
    while heap:
        _, i = heapq.heappop(heap)
        if i not in plan.sent and plan.add(i):
            for child in children[i]:
                offer(child)


def groups_of(frames, needed):
    groups = [[]]
    for i in needed:
        if frames[i]["class"] == "key":
            groups.append([])
        groups[-1].append(i)
    return groups


def at_best(frames, link_bps, latency):
    """How many frames of each class could be decodable on time at best, of what
    a link carries, roughly: all without which a group ends, then the smallest of
    the others that fit, by their bytes alone.  Where not even the first can all
    be there in time, as many as one who knows all sizes beforehand can bring
    over one after the other."""
    rate = link_bps * HEADERS / 8
    seconds = frames[-1]["dts"] - frames[0]["dts"] or 1
    needs = parents(frames)
    needed = trunk(frames, needs)
    plan = Schedule(frames, rate, latency)
    if plan.all_in_time(needed, needed):
        plan = Volume(frames, rate * (seconds + latency), needed)
    else:
        plan.cut_chains(groups_of(frames, needed))
    add_others(plan, frames, needs)
    classes = [frames[i]["class"] for i in plan.chosen]
    return {kind: classes.count(kind) for kind in CLASSES}
