# SPDX-License-Identifier: MPL-2.0
"""Results of ./dev bench live as text: for a terminal and for a page."""
import live_cases

BEGIN = "<!-- made by ./dev bench live --page; do not edit -->"
END = "<!-- end of what is made -->"


def text(value, form, scale=1):
    return "-" if value is None else format(value * scale, form)


def classes_text(row):
    return " ".join(f"{c['decodable']:.0f}/{c['bound']:.0f}"
                    for c in row["classes"].values() if c["sent"])


def delays(row):
    return "/".join(text(row[f"delay_p{p}"], ".0f", 1e3) for p in (50, 95, 99))


# Heading, width on a terminal, text of a row.
COLUMNS = (
    ("% of bound", 10, lambda r: text(r["of_bound"], ".1f", 100)),
    ("beyond path", 11, lambda r: text(r["beyond_of_bound"], ".1f", 100)),
    ("key ref disp", 22, classes_text),
    ("freeze s", 8, lambda r: text(r["freeze"], ".2f")),
    ("freezes", 7, lambda r: text(r["freezes"], ".0f")),
    ("waste %", 7, lambda r: text(r["waste"], ".1f", 100)),
    ("useless %", 9, lambda r: text(r.get("useless"), ".1f", 100)),
    ("delay ms 50/95/99", 18, delays),
    ("PSNR", 6, lambda r: text(r["psnr"], ".1f")),
    ("SSIM", 6, lambda r: text(r["ssim"], ".3f")),
    ("F", 5, lambda r: text(r["F"], ".2f")),
    ("S", 5, lambda r: text(r["S"], ".2f")),
)


def in_order(rows):
    return [(t, rows[t]) for t in live_cases.NAMES if t in rows]


def print_case(name, case):
    print(f"\n{name}: {case['text']}")
    print(" " * 20 + " ".join(f"{h:>{w}}" for h, w, _ in COLUMNS))
    for transport, row in in_order(case["rows"]):
        cells = " ".join(f"{f(row):>{w}}" for _, w, f in COLUMNS) \
            if "error" not in row else f"no result: {row['error']}"
        print(f"  {live_cases.NAMES[transport]:18}{cells}", flush=True)


def cells(words):
    return "| " + " | ".join(words) + " |"


def aims(results):
    """The goal, the result, and whether it is sufficient."""
    for aim in live_cases.AIMS:
        row = results.get(aim.case, {"rows": {}})["rows"].get("tltcp")
        if row and "error" not in row:
            yield aim, row


def aims_table(results):
    lines = [cells(("case", "aim", "reached", "")),
             cells(("---",) * 4)]
    for aim, row in aims(results):
        value = aim.value(row)
        lines.append(cells((aim.case, aim.text, text(value, aim.form,
                                                     aim.scale),
                            "met" if aim.met(row) else "**short**")))
    return lines


def results_table(results):
    lines = [cells(("case", "", *(h for h, _, _ in COLUMNS))),
             cells(("---",) * (2 + len(COLUMNS)))]
    for name, case in results.items():
        for transport, row in in_order(case["rows"]):
            head = (name, live_cases.NAMES[transport])
            if "error" in row:
                lines.append(cells((*head, "no result: " + row["error"],
                                    *[""] * (len(COLUMNS) - 1))))
                continue
            lines.append(cells((*head, *(f(row) for _, _, f in COLUMNS))))
    return lines


def circumstances(how):
    """Of the runs that one command made."""
    who = "; ".join(live_cases.NAMES[t] for t in how["transports"])
    many = (f"medians of {how['seeds']} runs" if how["seeds"] > 1 else "one run")
    yield (f"- **{who}**: {many} of {how['seconds']} s each; {how['cores']} "
           f"processors, {how['idle']:.1f} of them idle before, {how['jobs']} "
           "runs at a time. In the worst run that counts the machine held "
           f"packets up for {how['held_up'] * 1e3:.0f} ms; {how['again']} runs "
           "were made again.")
    for transport, why in how["absent"].items():
        yield f"- {live_cases.NAMES[transport]} is absent: {why}."


def add_case(data, name, case):
    into = data["cases"].setdefault(name, {"rows": {}, "runs": {}})
    into.update({k: v for k, v in case.items() if k not in ("rows", "runs")})
    into["rows"].update(case["rows"])
    into["runs"].update(case["runs"])


def merge(all_data):
    """Results of several commands as those of one."""
    merged = {"names": live_cases.NAMES, "made": [], "cases": {}}
    for data in all_data:
        merged["made"] += data["made"]
        for name, case in data["cases"].items():
            add_case(merged, name, case)
    return merged


def markdown(data):
    results = data["cases"]
    return "\n".join([
        BEGIN, "", *(line for how in data["made"]
                     for line in circumstances(how)), "",
        *aims_table(results), "",
        *results_table(results), "", "| case | link |", "| --- | --- |",
        *(cells((name, case["text"])) for name, case in results.items()), "",
        END])


def write(path, data):
    """Replaces what was made in a page before."""
    page = path.read_text(encoding="utf-8")
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path} has no place for results, between the lines\n"
                         f"{BEGIN}\n{END}")
    path.write_text(before + markdown(data) + after, encoding="utf-8")
