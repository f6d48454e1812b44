# SPDX-License-Identifier: MPL-2.0
"""Results of ./dev bench fanout as a page."""

INTRODUCTION = """\
# The cost of a stream

What one stream to each of many viewers costs a server and the viewers, beside SRT and
librist. One process serves all viewers, and one process is all of them; transports take
turns. With a round-trip time, packets go through `linkem`, which takes the packets of one send
call in one piece, as a network card with segmentation offload does. `./dev bench fanout
--page PAGE` makes this page.

Bare UDP is the floor: the server only sends the same packets at the same times, and nobody
acknowledges or repairs anything (`bench/fanout_bare.c`). With a round-trip time it sends a
frame in trains of ten packets every 5 ms, which is the most that TLTCP sends at once, and
otherwise in one. One `sendmmsg()` with `UDP_SEGMENT` takes a train to every viewer. What a
transport costs beyond that is its own.

Streams of {mbps:g} Mbit/s, {seconds:g} s after the first {warm:g} s; runs of each: {runs},
of which the median counts. CPU is that of a process with its part of the kernel, in % of a
core for each stream. The ratio is TLTCP's CPU over that of the transport, from the same
run: compare ratios, since absolute figures differ between machines.

Made on {date} at commit {commit}, {cores} cores, load {load_before:.1f} before the run,
{machine}.
A load above 1 is the work of others, which moves each figure by tens of percent.
"""


def number(value, form="{:.2f}"):
    return "-" if value is None else form.format(value)


def line(words):
    return "| " + " | ".join(words) + " |"


def cost_row(name, row, ratios):
    if "error" in row:
        return line([name, row["error"]] + [""] * 7)
    return line([name, number(row["server_cpu"] * 100, "{:.3f}"),
                 number(ratios[0]),
                 number(row["viewer_cpu"] * 100, "{:.3f}"), number(ratios[1]),
                 number(row["server_bytes"] / 1e3, "{:.0f}"),
                 number(row["viewer_bytes"] / 1e3, "{:.0f}"),
                 number(row["mean"] * 100), number(row["least"] * 100)])


def costs(title, rows, names, ratio):
    heads = ["", "server, %", "ratio", "viewers, %", "ratio", "server, kB",
             "viewers, kB", "delivered, %", "least, %"]
    yield from ("", f"## {title}", "", line(heads), line(["---"] * len(heads)))
    for transport, row in rows.items():
        yield cost_row(names[transport], row,
                       [ratio(rows, transport, key)
                        for key in ("server_cpu", "viewer_cpu")])


def isolation(rows, names):
    heads = ["", "alone, %", "beside bad links, %", "the bad, %"]
    yield from ("", "## Bad links beside good ones", "",
                "Part of the stream that the viewer with a good link got who "
                "got least.", "", line(heads), line(["---"] * len(heads)))
    for transport, (alone, beside) in rows.items():
        error = alone.get("error", beside.get("error"))
        shares = [error, "", ""] if error else [
            number(alone["least"] * 100), number(beside["least"] * 100),
            number(beside.get("bad_mean", 0) * 100)]
        yield line([names[transport], *shares])


def text(results, names, ratio):
    """The whole page. names: of transports; ratio: of two of their rows."""
    lines = [INTRODUCTION.format(**results).rstrip()]
    for title, rows in results["costs"].items():
        lines += costs(title, rows, names, ratio)
    lines += isolation(results["isolation"], names)
    return "\n".join(lines) + "\n"
