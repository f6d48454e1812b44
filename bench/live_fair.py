# SPDX-License-Identifier: MPL-2.0
"""One greedy flow of TLTCP beside flows of the kernel's TCP: F and S."""
import os
import shutil
import time

import case
import demo
import tcp_flows

SETTLE = 3  # seconds after the start that do not count


def command(spec, way):
    tools = os.path.dirname(spec["linkem"])
    at = f"tltcp://{way.receive_host}:{way.receive_port}"
    receive = [*way.prefix_receive, os.path.join(tools, "tltcp-recv"), "-q",
               "--format", "mpegts", "--frames",
               os.path.join(spec["dir"], "frames.csv"), at, "/dev/null"]
    send = [*way.prefix_send, os.path.join(tools, "tltcp-send"), "-q",
            "--speed", "0", "--loop", "10000", "--congestion",
            spec["congestion"], spec["clip"], at]
    return send, receive


def samples(path, zero):
    """(time, bytes so far) by the frames that arrived; their clock begins with
    the first of them."""
    total, found = 0, []
    with open(path, encoding="ascii") as file:
        names = file.readline().strip().split(",")
        for line in file:
            row = dict(zip(names, line.strip().split(",")))
            if row.get("margin_ms") is None:
                continue  # the process was ended in the middle of a line
            total += int(row["bytes"])
            found.append((zero + float(row["arrival_ms"]) / 1e3, total))
    return found


def stream(spec, processes):
    way = case.Tun(spec, processes)
    way.start_link(case.linkem_command(spec))
    send, receive = command(spec, way)
    tcp_flows.start(spec, way, processes, case.wait_for)
    receiver = processes.start("receiver", receive)
    case.wait_for(lambda: case.is_bound(receiver, way.receive_port),
                  processes, "the receiver")
    start = time.monotonic()
    sender = processes.start("sender", send)
    while time.monotonic() < start + spec["seconds"]:
        processes.check()
        time.sleep(0.1)
    end = time.monotonic()
    for process in (sender, receiver, way.link):
        processes.end(process)
    return start, end


def run(spec):
    shutil.rmtree(spec["dir"], ignore_errors=True)
    os.makedirs(spec["dir"])
    processes = case.Processes(spec["dir"], dict(os.environ))
    try:
        start, end = stream(spec, processes)
        own = samples(os.path.join(spec["dir"], "frames.csv"), start)
        return tcp_flows.compare(spec, own, start + SETTLE, end)
    except (case.CaseError, OSError, ValueError) as error:
        return {"error": str(error)}
    finally:
        processes.end_all()


def bench(args, start, make_spec):
    """F and S of each controller beside each control of the kernel's."""
    results = {}
    print(f"{'':10}" + "".join(f"{c:>18}" for c in args.bulk))
    for control in ("cubic", "reno"):
        row = {}
        for congestion in args.bulk:
            spec = make_spec(control, congestion)
            row[congestion] = demo.collect(start(spec))
        results[control] = row
        print(f"{control:10}" + "".join(
            f"{'error':>18}" if "error" in r else
            f"{r['F']:>10.2f} of {(r['media_bps'] + sum(r['tcp_bps'])) / 1e6:.2f}M"
            for r in row.values()), flush=True)
        for congestion, r in row.items():
            if "error" in r:
                print(f"  {congestion}: {r['error']}")
    return results
