# SPDX-License-Identifier: MPL-2.0
"""Results of ./dev bench adaptive as text: for a terminal and as a page."""
import os


def number(value, form, scale=1):
    return "-" if value is None else format(value * scale, form)


def shares(row):
    return "/".join(f"{row['within'][d] * 100:.1f}" for d in row["within"])


# Heading, width on a terminal, text of a row.
COLUMNS = (
    ("% within 200/400/800 ms", 23, shares),
    ("worst 400", 9, lambda r: number(r["worst"], ".1f", 100)),
    ("PSNR dB", 7, lambda r: number(r["psnr"], ".1f")),
    ("SSIM", 6, lambda r: number(r["ssim"], ".3f")),
    ("freeze s", 8, lambda r: number(r["freeze"], ".2f")),
    ("freezes", 7, lambda r: number(r["freezes"], ".0f")),
    ("link used %", 11, lambda r: number(r["use"], ".0f", 100)),
    ("F", 5, lambda r: number(r["F"], ".2f")),
    ("share", 5, lambda r: number(r["share"], ".2f")),
    ("skipped %", 9, lambda r: number(r["skipped"], ".1f", 100)),
    ("delay ms 50/95", 14, lambda r: number(r["delay_p50"], ".0f", 1e3) + "/" +
     number(r["delay_p95"], ".0f", 1e3)),
)


def rows(title, data):
    """(transport, row) in the order of the transports."""
    found = data["cases"][title]["rows"]
    return [(name, found[name]) for name in data["names"] if name in found]


def print_case(title, data):
    print(f"\n{title}: {data['cases'][title]['text']}")
    print(" " * 30 + " ".join(f"{h:>{w}}" for h, w, _ in COLUMNS))
    for name, row in rows(title, data):
        cells = " ".join(f"{f(row):>{w}}" for _, w, f in COLUMNS) \
            if "error" not in row else f"no result: {row['error']}"
        print(f"  {data['names'][name]:28}{cells}", flush=True)


def line(words):
    return "| " + " | ".join(words) + " |"


def table(data):
    yield line(("case", "", *(h for h, _, _ in COLUMNS)))
    yield line(("---",) * (2 + len(COLUMNS)))
    for title in data["cases"]:
        for name, row in rows(title, data):
            cells = [f(row) for _, _, f in COLUMNS] if "error" not in row else \
                ["no result: " + row["error"], *[""] * (len(COLUMNS) - 1)]
            yield line((title.partition("/")[0], data["names"][name], *cells))


def every_run(data):
    return [r for case in data["cases"].values()
            for runs in case["runs"].values() for r in runs if "error" not in r]


def span(values):
    return "-" if not values else min(values) if min(values) == max(values) \
        else f"{min(values)} to {max(values)}"


def conditions(data):
    """When, where and how often, and what is missing."""
    runs = every_run(data)
    counts = [row.get("runs", 0) for title in data["cases"]
              for _, row in rows(title, data)]
    commits = ", ".join(sorted({r["commit"] for r in runs}))
    worst = max((r["held_up"] for r in runs), default=0)
    yield (f"Made on {span([r['date'] for r in runs])} of commit {commits}: "
           f"{len(runs)} runs of {data['seconds']} s, {span(counts)} of each "
           f"(medians where there are several; *worst 400* is the worst run's). "
           f"The machine has {data['cores']} processors, virtual ones, and made "
           f"{data.get('jobs', 1)} runs at a time, nothing beside them. In the "
           f"worst run it held packets up for {worst * 1e3:.0f} ms.")
    yield ""
    absent = [f"{title.partition('/')[0]} by {data['names'][name]}"
              for title, case in data["cases"].items()
              for name in data["names"]
              if not case["rows"].get(name, {}).get("runs")]
    yield "Without a result: " + ("; ".join(absent) if absent else "none") + "."
    for text in data.get("absent", []):
        yield f"Not here: {text}."


METHOD = """\
640×360 video at 25 pictures a second is coded in real time by an encoder that
follows the transport, unless the rate is fixed. The link lies between two
network namespaces (`linkem --tun`). TCP is the kernel's and starts three seconds
before the stream. What is fixed is fixed at half the stream's fair share of the
link.

A frame is there when it and all that it refers to arrived byte by byte as sent;
shares are of the coded frames, from their capture. PSNR and SSIM compare the
screen of a player that shows each picture {latency} ms after its capture with
what was captured. *freeze* is the longest time that one picture stood. *link
used* is what the link carried of what it could. *F* is the stream's rate over
the mean of the TCP flows beside it; *share* is the lesser of two streams over
the greater. *skipped* are captured pictures that were not coded.

- **TLTCP, encoder=auto**: `x264enc` (zerolatency) before `tltcpsink
  encoder=auto` at its defaults, latency {latency} ms.
- **SRT, librist**: the same encoder in a transport stream, at a fixed rate, or
  (*rate by RTT*) with the rate steered by `srtsink`'s statistics. They hand
  everything over at the end of their buffer, which is shorter than the latency
  by the way and 130 ms for the encoder and a queue, so nothing of them is there
  within 200 ms.
- **RTP over UDP**: the same encoder at a fixed rate; nothing is repeated.
- **RTP, rtpgccbwe**: the same encoder at the rate of the WebRTC congestion
  control of gst-plugins-rs, with retransmissions and a jitter buffer of 100 ms.
- **WebRTC**: two headless browsers at their defaults (VP8, the browser's own
  rate control and repairs), whose fake camera plays the same clip with a number
  in each picture. A picture is there when the receiver's page gets it from the
  decoder. Shares are of the pictures that the browser says it coded. Its
  pictures are compared as they were shown, whatever was lost of them.
"""


def markdown(data, image):
    yield "# Video that adapts, over links that change or are shared"
    yield ""
    yield f"Made by `{data.get('command', './dev bench adaptive')}`."
    yield ""
    yield from conditions(data)
    yield ""
    yield METHOD.format(latency=data["latency_ms"])
    if image:
        yield f"![Delays and rates]({os.path.basename(image)})"
        yield ""
    yield from table(data)
    yield ""
    yield line(("case", "link and clip"))
    yield line(("---", "---"))
    for title, case in data["cases"].items():
        yield line((title.partition("/")[0], case["text"]))


def write(path, data, image):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(markdown(data, image)) + "\n", encoding="utf-8")
