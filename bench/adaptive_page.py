# SPDX-License-Identifier: MPL-2.0
"""Results of ./dev bench adaptive as text: for a terminal and as a page."""
import os

import adaptive_cases

BEGIN = "<!-- made by ./dev bench adaptive --page; do not edit -->"
END = "<!-- end of what is made -->"


def number(value, form, scale=1):
    return "-" if value is None else format(value * scale, form)


def shares(row):
    return "/".join(number(share, ".1f", 100) for share in row["within"].values())


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


def comparable(name, row):
    """What hands over at the end of a buffer of 400 ms says nothing of 200."""
    transport = adaptive_cases.TRANSPORTS.get(name)
    if transport and transport.ts and "error" not in row:
        return {**row, "within": {**row["within"], "200": None}}
    return row


def rows(title, data):
    """(transport, row) in the order of the transports."""
    found = data["cases"][title]["rows"]
    return [(name, comparable(name, found[name]))
            for name in adaptive_cases.TRANSPORTS if name in found]


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
    yield line(("case", "clip", "", "runs", *(h for h, _, _ in COLUMNS)))
    yield line(("---",) * (4 + len(COLUMNS)))
    for title in data["cases"]:
        for name, row in rows(title, data):
            cells = [f(row) for _, _, f in COLUMNS] if "error" not in row else \
                ["no result: " + row["error"], *[""] * (len(COLUMNS) - 1)]
            case, _, clip = title.partition("/")
            yield line((case, clip, data["names"][name],
                        str(row.get("runs", 0)), *cells))


def every_run(data):
    return [r for case in data["cases"].values()
            for runs in case["runs"].values() for r in runs if "error" not in r]


def span(values):
    return "-" if not values else min(values) if min(values) == max(values) \
        else f"{min(values)} to {max(values)}"


def commits(runs):
    return ", ".join(sorted({r["commit"] for r in runs})) or "none"


def conditions(data):
    """When, where and how often, and what is missing."""
    runs = every_run(data)
    ours = [r for r in runs if r["made"]]
    held = sorted(r["held_up"] * 1e3 for r in runs) or [0]
    again = sum(r.get("tries", 1) > 1 for r in runs)
    yield (f"Made on {span([r['date'] for r in runs])}: {len(runs)} runs of "
           f"{data['seconds']} s; where there are several of a kind, medians, "
           f"and *worst 400* of the worst one. TLTCP is of commit "
           f"{commits(ours)}. The machine has {data['cores']} processors, "
           f"virtual ones, and made {data.get('jobs', 1)} runs at a time. It "
           f"held packets up for {held[len(held) // 2]:.0f} ms in the median run, "
           f"{held[-1]:.0f} ms in the worst; {again} runs were made again for "
           "that.")
    yield ""
    absent = [f"{title} by {data['names'][name]}"
              for title, case in data["cases"].items()
              for name in case["runs"]
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
    yield line(("case", "link"))
    yield line(("---", "---"))
    texts = {title.partition("/")[0]: case["text"].rpartition("; ")[0]
             for title, case in data["cases"].items()}
    for case, text in texts.items():
        yield line((case, text))


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
