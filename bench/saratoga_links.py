# SPDX-License-Identifier: MPL-2.0
"""Files over emulated links in real time: how near to the wire's own time.

The link counts IP packets; time is the tool's own, from the request to the
verified file.
"""
import contextlib
import dataclasses
import filecmp
import os
import pathlib
import signal
import statistics
import subprocess
import tempfile

import saratoga

IP_PACKET = 1500
PAYLOAD = IP_PACKET - 28 - 8 - 16 - 4  # UDP, DATA with time stamp and offset


@dataclasses.dataclass(frozen=True)
class Link:
    """A link and the round trips allowed beside 1.02 times the wire time."""

    text: str
    mbit: float
    rtt_ms: float
    loss: float
    rtts: int
    uplink: str = None  # rate of the way back

    def wire_seconds(self, size):
        bits = size / PAYLOAD * IP_PACKET * 8
        return bits / (self.mbit * 1e6) * (1 + self.loss)

    def allowed(self, size):
        return 1.02 * self.wire_seconds(size) + self.rtts * self.rtt_ms / 1e3

    def settings(self):
        way = f"delay={self.rtt_ms / 2}ms"
        down = f"{way},rate={self.mbit}mbit,loss={100 * self.loss}%"
        up = f"{way},loss={100 * self.loss if not self.uplink else 0}%"
        if self.uplink:
            up += f",rate={self.uplink}"
        return ["--down", down, "--up", up]


LINKS = (
    Link("100 Mbit/s, 50 ms, loss 1e-4, uplink 384 kbit/s", 100, 50, 1e-4, 4,
         "384kbit"),
    Link("100 Mbit/s, 50 ms, loss 1e-4, uplink 38.4 kbit/s", 100, 50, 1e-4, 4,
         "38.4kbit"),
    Link("20 Mbit/s, 600 ms, no loss", 20, 600, 0, 2),
    Link("20 Mbit/s, 600 ms, loss 1 %", 20, 600, 0.01, 4),
    Link("20 Mbit/s, 600 ms, loss 5 %", 20, 600, 0.05, 6),
)


@contextlib.contextmanager
def emulated(tools, folder, link, seed, target):
    """A relay to the target; gives its address."""
    ports = folder / "ports"
    ports.unlink(missing_ok=True)
    process = subprocess.Popen(
        [tools / "linkem", "-q", *link.settings(), "--seed", str(seed),
         "--port-file", str(ports), "127.0.0.1:0", target])
    try:
        yield saratoga.await_file(ports, process)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def measure(tools, folder, link, seed):
    options = ["--uplink", link.uplink] if link.uplink else []
    sample = saratoga.transfer(
        tools / "saratoga", folder, ["--rate", f"{link.mbit}mbit"], options,
        lambda target: emulated(tools, folder, link, seed, target))
    if not filecmp.cmp(folder / "root" / "file", folder / "copy", False):
        raise saratoga.Failed("what arrived is another file")
    return sample["seconds"]


def bench(tools, size, runs, links=LINKS):
    """Seconds of each run on each link."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "root").mkdir()
        (folder / "root" / "file").write_bytes(os.urandom(size))
        return {link.text: [measure(tools, folder, link, seed)
                            for seed in range(1, runs + 1)]
                for link in links}


def show(seconds, size):
    print(f"A file of {size / 1e6:g} MB over emulated links, time over that of "
          f"the wire, median\n")
    print(f"{'link':<52}{'seconds':>9}{'ratio':>8}{'allowed':>9}")
    for link in LINKS:
        took = statistics.median(seconds[link.text])
        wire = link.wire_seconds(size)
        print(f"{link.text:<52}{took:>9.2f}{took / wire:>8.3f}"
              f"{link.allowed(size) / wire:>9.3f}"
              f"{'' if took <= link.allowed(size) else '  missed'}")
