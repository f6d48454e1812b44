# SPDX-License-Identifier: MPL-2.0
"""Files by Saratoga, over links that are long, lossy or lopsided::

    await perigee.saratoga.get("saratoga://satellite/images/1.png", "1.png")
    for entry in await perigee.saratoga.ls("saratoga://satellite/images"):
        ...
    async with perigee.saratoga.serve("received", write=True) as server:
        ...

Each transfer has a thread, which is gone when the call returns.
"""
from __future__ import annotations

import asyncio
import os
import pathlib
import re
import threading
from dataclasses import dataclass
from typing import Callable, Union
from urllib.parse import unquote_to_bytes, urlsplit

from ._errors import (AuthError, Closed, Error, OptionError, Refused, TimedOut,
                      name_octets, text_of)
from ._native import ffi, lib
from ._thread import in_thread

PathLike = Union[str, "os.PathLike[str]"]
_PORT = "7542"
#: How long the loop runs before it looks whether it should end, milliseconds.
_SLICE = 50
_CHECKSUMS = {"none": lib.SARATOGA_NONE, "crc32c": lib.SARATOGA_CRC32C,
              "md5": lib.SARATOGA_MD5, "sha1": lib.SARATOGA_SHA1,
              "sha256": lib.SARATOGA_SHA256}
_CHECKSUM_NAMES = {number: name for name, number in _CHECKSUMS.items()}


class TransferError(Error):
    """A transfer failed; the text says why."""


class ChecksumError(TransferError):
    """The file came whole and does not match its checksum."""


_KINDS = {lib.SARATOGA_ERR_INVAL: OptionError,
          lib.SARATOGA_ERR_ALGORITHM: OptionError,
          lib.SARATOGA_ERR_TIMEOUT: TimedOut,
          lib.SARATOGA_ERR_REFUSED: Refused,
          lib.SARATOGA_ERR_AUTH: AuthError,
          lib.SARATOGA_ERR_CANCELLED: Closed,
          lib.SARATOGA_ERR_CHECKSUM: ChecksumError}


@dataclass(frozen=True)
class Report:
    """What became of a transfer."""

    path: str  #: at the peer
    bytes: int
    seconds: float
    packets: int
    retransmitted: int
    srtt_ns: int
    resumed_bytes: int
    verified: bool  #: received, and its checksum was right
    checksum: str


@dataclass(frozen=True)
class Progress:
    """How far a transfer is."""

    bytes: int
    size: int | None  #: None: not known yet
    rate_bps: int


@dataclass(frozen=True)
class Entry:
    """A file or folder at the peer."""

    path: str
    size: int
    mtime: int  #: seconds since 1970
    directory: bool
    special: bool


def _error(code: int, where: str, text: str) -> Exception:
    if code == lib.SARATOGA_ERR_NOMEM:
        return MemoryError()
    text = text or text_of(lib.saratoga_strerror(code))
    return _KINDS.get(code, TransferError)(f"{where}: {text}", code)


@dataclass(frozen=True)
class _Place:
    url: str
    host: str
    port: str
    path: str


def _parse(url: str) -> _Place:
    """As the tool does: all that follows the host is the path, '?' and '#'
    too."""
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    if scheme != "saratoga":
        raise OptionError(f"{url}: must begin with saratoga://")
    if "@" in authority:
        raise OptionError(f"{url}: a URL has no user or password")
    if re.search(r"[?#\\\x00-\x20]", authority):
        raise OptionError(f"{url}: the host name has a character that is wrong")
    try:
        parts = urlsplit(f"//{authority}")
        port = parts.port
    except ValueError as wrong:
        raise OptionError(f"{url}: {wrong}") from None
    if not parts.hostname:
        raise OptionError(f"{url}: the host is missing; "
                          "write saratoga://HOST/PATH")
    if port == 0:
        raise OptionError(f"{url}: the port cannot be 0")
    if re.search(r"%(?![0-9A-Fa-f]{2})", path):
        raise OptionError(f"{url}: a percent sign must be followed by two "
                          "hexadecimal digits")
    path = os.fsdecode(unquote_to_bytes(name_octets(path.lstrip("/"), "path")))
    return _Place(url, parts.hostname, str(port or _PORT), path)


class _Node:
    """A node with its options; all calls but ``stop`` in one thread."""

    def __init__(self, where: str, *, rate: int = 0,
                 congestion: str | None = None, checksum: str = "md5",
                 uplink: int = 0, passphrase: str | None = None) -> None:
        self._where = where
        self._kept: list = []  # what C points to
        self.stop = threading.Event()
        self.options = ffi.new("saratoga_options *")
        lib.native_init_options(self.options)
        if checksum not in _CHECKSUMS:
            raise OptionError(f"checksum: must be one of {', '.join(_CHECKSUMS)}")
        self.options.checksum = _CHECKSUMS[checksum]
        self.options.rate_bps = rate
        self.options.uplink_bps = uplink
        self.options.congestion = self.text(congestion, "congestion")
        why = ffi.new("char[]", lib.SARATOGA_WHY_MAX)
        if lib.saratoga_options_check(self.options, why) < 0:
            raise OptionError(text_of(why))
        self.engine = ffi.new("saratoga_config *")
        lib.native_init_config(self.engine)
        self.engine.transfer = self.options
        self.config = ffi.new("saratoga_node_config *")
        lib.native_init_node(self.config)
        self.config.engine = self.engine
        self.config.passphrase = self.text(passphrase, "passphrase")
        self.node = ffi.NULL

    def text(self, value: str | None, what: str):
        """A C string that lives as long as the node."""
        if value is None:
            return ffi.NULL
        octets = name_octets(value, what)
        self._kept.append(ffi.new("char[]", octets))
        return self._kept[-1]

    def open(self) -> None:
        out = ffi.new("saratoga_node **")
        why = ffi.new("char[]", lib.SARATOGA_NODE_TEXT)
        code = lib.saratoga_node_open(out, self.config, why)
        if code < 0:
            raise _error(code, self._where, text_of(why))
        self.node = out[0]

    def close(self) -> None:
        lib.saratoga_node_close(self.node)
        self.node = ffi.NULL

    def run(self, transfer, tell: Callable[[Progress], object] | None):
        """Runs one transfer to its end; gives the event."""
        number = ffi.new("uint64_t *")
        self.open()
        try:
            code = lib.saratoga_node_start(self.node, transfer, number)
            if code < 0:
                raise _error(code, self._where, "")
            return self._wait(number[0], tell)
        finally:
            self.close()

    def _wait(self, number: int, tell):
        event = ffi.new("saratoga_node_event *")
        cancelled = False
        while True:
            lib.saratoga_node_run(self.node, _SLICE)
            while lib.saratoga_node_next_event(self.node, event) == 1:
                if event.type == lib.SARATOGA_NODE_DONE and event.id == number:
                    if event.error < 0:
                        raise _error(event.error, self._where,
                                     text_of(event.text))
                    return event, ffi.buffer(event.record,
                                             event.record_len)[:]
            if self.stop.is_set() and not cancelled:
                cancelled = True
                lib.saratoga_node_cancel(self.node, number)
            elif tell:
                self._tell(number, tell)

    def _tell(self, number: int, tell: Callable[[Progress], object]) -> None:
        raw = ffi.new("saratoga_stats *")
        lib.native_init_transfer_stats(raw)
        if lib.saratoga_node_get_stats(self.node, number, raw) == 0:
            size = raw.size_bytes
            tell(Progress(raw.bytes, None if size == lib.SARATOGA_SIZE_UNKNOWN
                          else size, raw.rate_bps))


async def _transfer(kind: int, url: str, file: PathLike | None, resume: bool,
                    overwrite: bool, progress, options):
    place = _parse(url)
    node = _Node(url, **options)
    raw = ffi.new("saratoga_node_transfer *")
    lib.native_init_transfer(raw)
    raw.type, raw.resume, raw.overwrite = kind, resume, overwrite
    raw.host = node.text(place.host, url)
    raw.service = node.text(place.port, url)
    raw.path = node.text(place.path, url)
    if file is not None:
        local = pathlib.Path(file)
        raw.folder = node.text(str(local.parent), str(file))
        raw.file = node.text(local.name, str(file))
    loop = asyncio.get_running_loop()
    tell = progress and (
        lambda p: loop.call_soon_threadsafe(progress, p))
    return await in_thread(lambda: node.run(raw, tell), node.stop.set)


def _report(event) -> Report:
    stats = event.stats
    return Report(text_of(event.path), stats.bytes,
                  (stats.now - stats.since) / 1e9, stats.data_packets,
                  stats.retransmitted_packets, stats.srtt_ns,
                  stats.resumed_bytes, bool(event.verified),
                  _CHECKSUM_NAMES.get(event.checksum, str(event.checksum)))


async def get(url: str, file: PathLike | None = None, *, resume: bool = False,
              overwrite: bool = False, delete: bool = False,
              progress: Callable[[Progress], None] | None = None,
              **options) -> Report:
    """Fetches a file; ``delete`` has the peer remove its copy afterwards.

    ``file`` is where it goes, by default its own name in the working folder; it
    appears there once it is whole and verified.  ``resume`` goes on where an
    earlier transfer ended.  Options: ``rate`` and ``uplink`` (bit/s),
    ``congestion``, ``checksum``, ``passphrase``.
    """
    kind = lib.SARATOGA_TAKE if delete else lib.SARATOGA_GET
    if file is None:
        file = pathlib.PurePosixPath(_parse(url).path).name or None
    event, _ = await _transfer(kind, url, file, resume, overwrite, progress,
                               options)
    return _report(event)


async def put(file: PathLike, url: str, *, resume: bool = False,
              delete: bool = False,
              progress: Callable[[Progress], None] | None = None,
              **options) -> Report:
    """Sends a file; ``delete`` removes it here once the peer has it.

    The options are those of ``get()``; ``checksum`` is the one sent with it.
    """
    kind = lib.SARATOGA_GIVE if delete else lib.SARATOGA_PUT
    event, _ = await _transfer(kind, url, file, resume, False, progress,
                               options)
    return _report(event)


async def ls(url: str, **options) -> list[Entry]:
    """The files and folders below a folder of the peer."""
    _, record = await _transfer(lib.SARATOGA_GETDIR, url, None, False, False,
                                None, options)
    entry = ffi.new("saratoga_entry *")
    found = []
    while record:
        used = lib.saratoga_entry_read(record, len(record), entry)
        if used == 0:
            raise TransferError(f"{url}: the list is damaged")
        record = record[used:]
        found.append(Entry(os.fsdecode(ffi.string(entry.path)), entry.size,
                           lib.saratoga_time_to_posix(entry.mtime, False),
                           entry.directory, entry.special))
    return found


async def rm(url: str, **options) -> None:
    """Deletes a file of the peer."""
    await _transfer(lib.SARATOGA_DELETE, url, None, False, False, None, options)


class Server:
    """Serves a folder; made by ``serve()``."""

    def __init__(self, node: _Node) -> None:
        self._node = node
        self._running: asyncio.Task | None = None
        self.address = ""  #: HOST:PORT

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def _serve(self, ready: Callable[[], object]) -> None:
        event = ffi.new("saratoga_node_event *")
        self._node.open()
        try:
            text = ffi.new("char[]", lib.SARATOGA_NODE_ADDRESS)
            lib.saratoga_node_local_address(self._node.node, text)
            self.address = text_of(text)
            ready()
            while not self._node.stop.is_set():
                lib.saratoga_node_run(self._node.node, _SLICE)
                while lib.saratoga_node_next_event(self._node.node, event) == 1:
                    pass  # each transfer's own end has told its peer
        finally:
            self._node.close()

    async def __aenter__(self) -> Server:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        self._running = loop.create_task(in_thread(
            lambda: self._serve(lambda: loop.call_soon_threadsafe(ready.set)),
            self._node.stop.set))
        waiter = loop.create_task(ready.wait())
        try:
            await asyncio.wait({waiter, self._running},
                               return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiter.cancel()
        if self._running.done():
            self._running.result()  # why it could not open
        return self

    async def __aexit__(self, *_) -> None:
        self._node.stop.set()
        if self._running:
            await self._running


def serve(root: PathLike, *, host: str | None = None, port: int = 7542,
          write: bool = False, delete: bool = False, overwrite: bool = False,
          **options) -> Server:
    """Serves the files below ``root`` while inside ``async with``.

    ``port`` 0 takes a free one.  The options are those of ``get()``.
    """
    node = _Node(os.fspath(root), **options)
    node.config.host = node.text(host, "host")
    node.config.service = node.text(str(port), "port") if port else ffi.NULL
    node.config.root = node.text(os.fspath(root), "root")
    node.config.may_write = write
    node.config.may_delete = delete
    node.config.overwrite = overwrite
    return Server(node)
