# SPDX-License-Identifier: MPL-2.0
"""One file by the saratoga tool between two processes, checksum on.

The file lies in memory, so that no disk is measured.  Time is the tool's own,
from the request to the verified file; memory the most that was resident.
"""
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

GIGA = 1e9
MIB = 1 << 20

SYSTEMS = {
    "Saratoga, auto, MD5": ["--congestion", "auto"],
    "Saratoga, auto, no checksum": ["--congestion", "auto",
                                    "--checksum", "none"],
    "Saratoga, open loop 4 Gbit/s, MD5": ["--rate", "4gbit"],
    "Saratoga, open loop 10 Gbit/s, MD5": ["--rate", "10gbit"],
}


# What no transfer can do without, as programs of each side, which run at once as
# in a transfer.  Their arguments are the file and where a copy goes.
DIGEST = """if True:
    import hashlib, sys
    with open(sys.argv[1], "rb", buffering=0) as f:
        md5, block = hashlib.md5(), bytearray(262144)
        while n := f.readinto(block):
            md5.update(memoryview(block)[:n])
    """
COPY = """if True:
    import os, sys
    with open(sys.argv[1], "rb", buffering=0) as f, \
         open(sys.argv[2], "wb", buffering=0) as to:
        block = bytearray(262144)
        n = f.readinto(block)
        for _ in range(os.fstat(f.fileno()).st_size // n):
            to.write(memoryview(block)[:n])
    """
FLOORS = {
    "MD5 alone, both sides": (DIGEST, DIGEST),
    "writing the file alone": (None, COPY),
}


class Failed(Exception):
    """A system could not be measured; the reason is the text."""


def await_file(path, process):
    """The text of a file that a process writes when it is ready."""
    for _ in range(1000):
        if path.exists() and path.read_text().strip():
            return path.read_text().strip()
        if process.poll() is not None:
            raise Failed("saratoga serve ended early")
        time.sleep(0.01)
    raise Failed("saratoga serve does not say where it listens")


def finish(process):
    """Seconds of processor time and bytes of memory of an ended process."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss


def transfer(tool, folder, options, get_options=(),
             via=contextlib.nullcontext):
    """Fetches a file from a server; `via` puts something between them."""
    port_file = folder / "port"
    port_file.unlink(missing_ok=True)
    (folder / "copy").unlink(missing_ok=True)
    server = subprocess.Popen(
        [tool, "serve", "-q", "--root", str(folder / "root"), "--bind",
         "127.0.0.1:0", "--port-file", str(port_file), *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with via(await_file(port_file, server)) as address:
            client = subprocess.Popen(
                [tool, "get", "-q", *get_options, "--json",
                 str(folder / "report"), f"saratoga://{address}/file",
                 str(folder / "copy")],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            cpu_recv, memory_recv = finish(client)
    finally:
        server.send_signal(signal.SIGINT)
        cpu_send, memory_send = finish(server)
    if client.returncode != 0:
        raise Failed("saratoga get failed")
    report = json.loads((folder / "report").read_text())
    gigabytes = report["bytes"] / GIGA
    return {"gbps": report["goodput_bps"] / GIGA,
            "seconds": report["seconds"],
            "cpu_send": cpu_send / gigabytes,
            "cpu_recv": cpu_recv / gigabytes,
            "mib_send": memory_send / MIB, "mib_recv": memory_recv / MIB}


def floor(folder, sender, receiver):
    """The cost of one part of the work that both sides do."""
    (folder / "copy").unlink(missing_ok=True)
    began = time.monotonic()
    files = folder / "root" / "file", folder / "copy"
    running = [program and subprocess.Popen([sys.executable, "-c", program,
                                             *map(str, files)])
               for program in (sender, receiver)]
    cpu_send, cpu_recv = (process and finish(process)[0] or 0
                          for process in running)
    seconds = time.monotonic() - began
    size = files[0].stat().st_size / GIGA
    return {"gbps": 8 * size / seconds, "seconds": seconds,
            "cpu_send": cpu_send / size, "cpu_recv": cpu_recv / size}


def middle(samples, key):
    return statistics.median(s[key] for s in samples)


def bench(args, peers):
    """One file from process to process.  `peers` are other systems, each a
    function that gives a sample without memory."""
    tool = str(args.build / "tools" / "saratoga")
    samples = {name: [] for name in (*SYSTEMS, *FLOORS, *peers)}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = pathlib.Path(name)
        (folder / "root").mkdir()
        with (folder / "root" / "file").open("wb") as f:
            for _ in range(args.megabytes):
                f.write(os.urandom(1000000))
        for _ in range(args.runs):
            for system, options in SYSTEMS.items():
                samples[system].append(transfer(tool, folder, options))
            for name, programs in FLOORS.items():
                samples[name].append(floor(folder, *programs))
    for _ in range(args.runs):
        for system, measure in peers.items():
            samples[system].append(measure())
    return samples


def holes(program):
    """The cost to both sides of a STATUS with very many holes."""
    done = subprocess.run([str(program)], capture_output=True, text=True,
                          check=True)
    cost = json.loads(done.stdout)
    print(f"\nA STATUS with {cost['holes']} holes ({cost['packets']} packets): "
          f"built in {cost['built_ms']:.1f} ms, applied in "
          f"{cost['applied_ms']:.1f} ms (goal: each under 10 ms)")
    return cost


def show(samples, megabytes, runs):
    print(f"A file of {megabytes} MB, median of {runs} runs\n")
    print(f"{'system':<44}{'Gbit/s':>8}{'CPU s/GB (send/recv)':>24}"
          f"{'MiB (send/recv)':>18}")
    for name, s in samples.items():
        send, recv = middle(s, "cpu_send"), middle(s, "cpu_recv")
        cpu = f"{send + recv:.2f} ({send:.2f}/{recv:.2f})"
        memory = (f"{middle(s, 'mib_send'):.0f}/{middle(s, 'mib_recv'):.0f}"
                  if "mib_send" in s[0] else "")
        print(f"{name:<44}{middle(s, 'gbps'):>8.2f}{cpu:>24}{memory:>18}")
    floor_cpu = sum(middle(samples[name], "cpu_send") +
                    middle(samples[name], "cpu_recv") for name in FLOORS)
    cores = len(os.sched_getaffinity(0))
    print(f"\nMD5 and the writing alone take {floor_cpu:.2f} CPU s/GB: before a "
          f"packet moves, {cores} cores\ncannot do more than "
          f"{8 * cores / floor_cpu:.1f} Gbit/s with MD5 into a new file")
