# SPDX-License-Identifier: MPL-2.0
"""Runs of ./dev bench live that a file has from before: they are not made
again, unless what made them has changed since."""
import functools
import hashlib
import json
import pathlib

import live_cases


@functools.cache
def made_with(build, ours):
    """Names the programs of a run: those of a peer are not of this build, but
    for the link."""
    files = [build / "tools" / "linkem"]
    if ours:
        files += [*build.glob("lib*/lib*.so"), *build.glob("gst-plugins/*.so")]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def key(args, which, transport, seed):
    """Two runs with the same key are the same."""
    ours = transport in live_cases.OURS
    return (f"seed {seed}, {args.seconds} s, latency {which.latency_ms} ms, "
            f"{args.tltcp if ours else ''}, {made_with(args.build, ours)}")


def empty():
    return {"names": live_cases.NAMES, "made": [], "cases": {}}


def read(path: pathlib.Path):
    """The contents of the file, or nothing."""
    if not path.exists():
        return empty()
    return renamed(json.loads(path.read_text(encoding="ascii")))


def renamed(data):
    """Files of before call GStreamer's ristsink by the protocol's name."""
    for case in data["cases"].values():
        for table in (case["rows"], case["runs"]):
            if "rist" in table:
                table["ristsink"] = table.pop("rist")
    for how in data["made"]:
        how["transports"] = ["ristsink" if t == "rist" else t
                             for t in how["transports"]]
    return {**data, "names": live_cases.NAMES}


def write(path, data):
    """The file is whole at any time."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(data, indent=1) + "\n", encoding="ascii")
    new.replace(path)


def find(data, which, transport, wanted):
    """The run with this key, or None."""
    runs = data["cases"].get(which.name, {}).get("runs", {}).get(transport, [])
    return next((run for run in runs
                 if run.get("key") == wanted and "error" not in run), None)


def note(data, how):
    """A continued run is reported as one."""
    same = ("transports", "seeds", "seconds", "cores", "jobs", "absent")
    for before in data["made"]:
        if all(before[k] == how[k] for k in same):
            before["idle"] = min(before["idle"], how["idle"])
            before["held_up"] = max(before["held_up"], how["held_up"])
            before["again"] += how["again"]
            before["took_s"] += how["took_s"]
            return
    data["made"].append(how)
