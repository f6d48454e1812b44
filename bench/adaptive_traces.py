# SPDX-License-Identifier: MPL-2.0
"""Traces like those of cellular links, made from a seed, in mahimahi's format.

The logarithm of the rate wanders as an Ornstein-Uhlenbeck process; now and then
nothing passes for a while.  What is offered comes in batches, as schedulers of
cells grant it.  The parameters give means, spreads, memories and outages like
those of drives through networks of each kind that were recorded and published.
"""
import dataclasses
import math
import random

BIN_MS = 5
BITS = 1500 * 8
LEAST_BPS = 30e3


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of link."""

    mean_bps: float
    spread: float    # standard deviation of the rate's logarithm
    memory_s: float  # in which it forgets
    outages: float   # a second
    outage_s: float  # their mean length, s; never above ten times that
    batch: int       # opportunities at once


KINDS = {
    "lte": Kind(5e6, 0.7, 2.2, 5 / 140, 0.4, 3),
    "lte-driving": Kind(4.5e6, 0.9, 1.0, 22 / 120, 0.3, 3),
    "umts": Kind(1.3e6, 0.9, 3.0, 0.2, 0.4, 2),
}


def outage_ms(kind, rng):
    """Long-tailed, as measured ones are."""
    return min(10, 0.5 * rng.paretovariate(2)) * kind.outage_s * 1e3


def times(kind, seconds, seed):
    """Times of opportunities in ms."""
    rng = random.Random(f"{seed}")
    level, credit, dark_until, out = rng.gauss(0, kind.spread), 0.0, -1.0, []
    forget = math.exp(-BIN_MS / 1e3 / kind.memory_s)
    for at in range(0, int(seconds * 1e3), BIN_MS):
        level = level * forget + kind.spread * math.sqrt(
            1 - forget ** 2) * rng.gauss(0, 1)
        if rng.random() < kind.outages * BIN_MS / 1e3:
            dark_until = max(dark_until, at + outage_ms(kind, rng))
        if at < dark_until:
            continue
        # The mean of a log-normal variable is exp(spread ** 2 / 2).
        rate = max(LEAST_BPS, kind.mean_bps * math.exp(
            level - kind.spread ** 2 / 2))
        credit += rate * BIN_MS / 1e3 / BITS
        while credit >= kind.batch:
            credit -= kind.batch
            out += [at + rng.randrange(BIN_MS)] * kind.batch
    out.sort()
    out.append(max(int(seconds * 1e3), 1))
    return out


def write(path, kind, seconds, seed):
    path.write_text("".join(f"{t}\n" for t in times(KINDS[kind], seconds,
                                                    seed)), encoding="ascii")


def mean_bps(path):
    """Of a trace in a file."""
    lines = path.read_text(encoding="ascii").split()
    return len(lines) * BITS / (int(lines[-1]) / 1e3)


def length_s(path):
    """When a trace begins again."""
    return int(path.read_text(encoding="ascii").split()[-1]) / 1e3
