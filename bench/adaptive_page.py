# SPDX-License-Identifier: MPL-2.0
"""Results of ./dev bench adaptive as text: for a terminal and as a page."""
import os

BEGIN = "<!-- made by ./dev bench adaptive --page; do not edit -->"
END = "<!-- end of what is made -->"


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
    ("VMAF", 5, lambda r: number(r["vmaf"], ".0f")),
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
           f"{data.get('jobs', 1)} runs at a time. In the "
           f"worst run it held packets up for {worst * 1e3:.0f} ms.")
    yield ""
    absent = [f"{title.partition('/')[0]} by {data['names'][name]}"
              for title, case in data["cases"].items()
              for name in data["names"]
              if not case["rows"].get(name, {}).get("runs")]
    yield "Without a result: " + ("; ".join(absent) if absent else "none") + "."
    for text in data.get("absent", []):
        yield f"Not here: {text}."


def markdown(data, image):
    yield f"Made by `{data.get('command', './dev bench adaptive')}`."
    yield ""
    yield from conditions(data)
    yield ""
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
    """Replaces what was made in a page before."""
    page = path.read_text(encoding="utf-8") if path.exists() else \
        f"{BEGIN}\n{END}\n"
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path} has no place for results, between the lines\n"
                         f"{BEGIN}\n{END}")
    made = "\n".join(markdown(data, image))
    path.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}",
                    encoding="utf-8")
