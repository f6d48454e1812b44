# SPDX-License-Identifier: MPL-2.0
"""The small types of the package."""
from __future__ import annotations

import enum
from dataclasses import dataclass, fields
from typing import NamedTuple

from ._errors import text_of
from ._native import ffi, lib

#: As a deadline: the section is sent until it has arrived.
NEVER = float("inf")


class Class(enum.IntEnum):
    """What a section is to its stream."""

    OTHER = 0  #: not known
    HEADER = 1  #: parameters that all decoding needs
    KEY = 2  #: decoding can begin here
    REFERENCE = 3  #: depends on others, and others depend on it
    DISPOSABLE = 4  #: nobody depends on it
    AUDIO = 5  #: sound


class Fate(enum.IntEnum):
    """What became of a section that was sent."""

    DELIVERED = 1
    PARTIAL = 2
    EXPIRED = 3
    UNSENT = 4
    ABANDONED = 5


class Frame(NamedTuple):  # made faster than a dataclass
    """A section as it arrived.

    Bytes of ``data`` that are missing are zero.
    """

    data: bytes
    number: int  #: of the section on its connection, from 0
    complete: bool = True
    missing: int = 0  #: bytes that never came
    klass: Class = Class.OTHER
    stream: int = 0
    tag: int = 0


@dataclass(frozen=True)
class Gap:
    """Bytes of the stream of which nothing came."""

    number: int  #: of the first section in it
    missing: int


@dataclass(frozen=True)
class SectionEvent:
    """The fate of a section; see ``Stream.events()``."""

    section: int
    tag: int
    fate: Fate
    cause: str  #: "", "deadline", "depends" or "yielded"
    bytes: int
    acked: int
    klass: Class
    stream: int


@dataclass(frozen=True)
class RateEvent:
    """What the path carries and what an encoder should make, in bit/s.

    0 stands for: not known yet.
    """

    estimated_bps: int
    target_bps: int


@dataclass(frozen=True)
class Stats:
    """A snapshot of a connection; see ``<tltcp/stats.h>`` for every field."""

    sections_offered: int
    sections_delivered: int
    sections_partial: int
    sections_expired: int
    bytes_offered: int
    bytes_delivered: int
    bytes_expired: int
    bytes_sent: int
    bytes_retransmitted: int
    bytes_queued: int
    packets_sent: int
    packets_received: int
    packets_lost: int
    bytes_received: int
    bytes_read: int
    gaps: int
    gap_bytes: int
    sections_complete: int
    sections_cut: int
    cwnd_bytes: int
    bytes_in_flight: int
    estimated_bps: int
    target_bps: int
    delivery_delay_ns: int
    srtt_ns: int
    min_rtt_ns: int
    latest_rtt_ns: int
    loss_rate: float
    congestion: str


def stats_of(socket) -> Stats:
    """Reads the statistics of an open socket."""
    raw = ffi.new("tltcp_stats *")
    lib.native_stats(socket, raw)
    values = {f.name: getattr(raw, f.name) for f in fields(Stats)}
    values["congestion"] = text_of(raw.congestion)
    return Stats(**values)
