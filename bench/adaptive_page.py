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


def print_case(title, data):
    case = data["cases"][title]
    print(f"\n{title}: {case['text']}")
    print(" " * 30 + " ".join(f"{h:>{w}}" for h, w, _ in COLUMNS))
    for name, row in case["rows"].items():
        cells = " ".join(f"{f(row):>{w}}" for _, w, f in COLUMNS) \
            if "error" not in row else f"no result: {row['error']}"
        print(f"  {data['names'][name]:28}{cells}", flush=True)


def line(words):
    return "| " + " | ".join(words) + " |"


def table(data):
    yield line(("case", "", *(h for h, _, _ in COLUMNS)))
    yield line(("---",) * (2 + len(COLUMNS)))
    for title, case in data["cases"].items():
        for name, row in case["rows"].items():
            cells = [f(row) for _, _, f in COLUMNS] if "error" not in row else \
                ["no result: " + row["error"], *[""] * (len(COLUMNS) - 1)]
            yield line((title, data["names"][name], *cells))


def markdown(data, image):
    yield "# Video that adapts, over links that change or are shared"
    yield ""
    yield "Made by `./dev bench adaptive --page`; do not edit."
    yield ""
    yield (f"{data['seconds']} s of 640×360 video at 25 pictures a second, coded "
           "in real time by an encoder that follows the transport unless the "
           f"rate is fixed (at half the link's mean). Latency "
           f"{data['latency_ms']} ms. "
           f"{'Medians of ' + str(data['seeds']) + ' runs' if data['seeds'] > 1 else 'One run each'}, "
           f"{data['cores']} processors, load {data['load_before']:.1f} before.")
    yield ""
    yield ("A frame is there when it and all that it refers to arrived byte by "
           "byte as sent; shares are of the coded frames, from their capture. "
           "*worst 400* is the worst run's share within 400 ms. PSNR and SSIM "
           "compare the screen of a player that shows each picture 400 ms after "
           "its capture with what was captured. *freeze* is the longest time "
           "that one picture stood. *link used* is what the link carried of what "
           "it could. *F* is the stream's rate over the mean of the TCP flows "
           "beside it; *share* is the lesser of two streams over the greater. "
           "SRT and librist hand everything over at the end of their buffer, "
           "which is shorter than the latency by the way and 130 ms for the "
           "encoder and a queue, so nothing of them is there within 200 ms.")
    yield ""
    if image:
        yield f"![Delays and rates]({os.path.basename(image)})"
        yield ""
    yield from table(data)
    yield ""
    yield line(("case", "link and clip"))
    yield line(("---", "---"))
    for title, case in data["cases"].items():
        yield line((title, case["text"]))


def write(path, data, image):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(markdown(data, image)) + "\n", encoding="utf-8")
