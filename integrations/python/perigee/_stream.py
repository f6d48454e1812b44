# SPDX-License-Identifier: MPL-2.0
"""Connections and listeners for asyncio."""
from __future__ import annotations

import array
import asyncio
import struct
import warnings
from collections import deque
from typing import (Any, AsyncIterator, Awaitable, Callable, Generator,
                    Iterable, Union)

from ._errors import Closed, OptionError, error, text_of, utf8
from ._native import ffi, lib
from ._options import Options, Value
from ._thread import in_thread
from ._types import (NEVER, Class, Fate, Frame, Gap, RateEvent, SectionEvent,
                     Stats, stats_of)

Buffer = Union[bytes, bytearray, memoryview]
_TIME_NEVER = 2**63 - 1
_SECOND = 1_000_000_000
_LINGER_MAX = 2**31 - 1  # ms
_CAUSES = ("", "deadline", "depends", "yielded")
#: Of each class that the wire can name; of others nothing is known.
_CLASSES = tuple(Class) + (Class.OTHER,) * (16 - len(Class))
_FRAME = struct.Struct("QQQIIQ??6x")  # native_frame
#: Frames in a row after which others get a turn.
_TURN = 64


def _wait_of(deadline: float | None) -> int:
    """As native_send() takes it."""
    if deadline is None:
        return -1
    if deadline * _SECOND >= _TIME_NEVER:
        return _TIME_NEVER
    return max(0, int(deadline * _SECOND))


def _linger_of(seconds: float) -> int:
    """As tltcp_close() takes it."""
    return -1 if 1000 * seconds > _LINGER_MAX else int(1000 * seconds)


async def _readable(*fds: int) -> None:
    """Waits until one of the descriptors is readable."""
    loop = asyncio.get_running_loop()
    woken = loop.create_future()

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    for fd in fds:
        loop.add_reader(fd, wake)
    try:
        await woken
    finally:
        for fd in fds:
            loop.remove_reader(fd)


def _address(socket, peer: bool) -> tuple[str, int]:
    host, service = ffi.new("char[1025]"), ffi.new("char[32]")
    code = lib.native_address(socket, peer, host, service)
    if code < 0:
        raise error(code)
    return text_of(host), int(text_of(service))


class _Socket:
    """What connections and listeners share."""

    def __init__(self, socket, where: str) -> None:
        self._socket = socket
        self._where = where
        self._busy: set[str] = set()

    def _open(self):
        if self._socket is None:
            raise Closed(f"{self._where}: closed here")
        return self._socket

    @property
    def local_address(self) -> tuple[str, int]:
        """Host and port on this side."""
        return _address(self._open(), False)

    async def _wait(self, what: str, fd: int) -> None:
        if what in self._busy:
            raise RuntimeError(f"another task waits to {what} here already")
        self._busy.add(what)
        try:
            await _readable(fd)
        finally:
            self._busy.discard(what)

    def _take(self):
        """The socket, which then belongs to the caller."""
        if self._busy:
            raise RuntimeError(
                f"a task still waits to {', '.join(sorted(self._busy))}")
        socket, self._socket = self._socket, None
        return socket

    def __del__(self) -> None:
        socket = self.__dict__.get("_socket")
        if socket is not None:
            self._socket = None
            warnings.warn(f"{self._where} was never closed", ResourceWarning,
                          source=self)
            lib.tltcp_close(socket, 0)


class Stream(_Socket):
    """A connection: sends and receives sections, each whole.

    One task at a time may send and one receive.  ``async for frame in stream``
    gives the frames that came whole; ``recv()`` also tells what is missing.
    """

    def __init__(self, socket, where: str, linger: float) -> None:
        super().__init__(socket, where)
        self._linger = linger
        self._end: int | None = None  # why nothing more comes
        self._ready: deque[Frame | Gap] = deque()
        self._one = ffi.new("uint64_t[1]")
        receiver = lib.tltcp_live_receiver_new(socket)
        batch = ffi.NULL if receiver == ffi.NULL else \
            lib.native_batch_new(receiver)
        if batch == ffi.NULL:
            lib.tltcp_live_receiver_free(receiver)
            raise MemoryError
        self._batch = ffi.gc(batch, lib.native_batch_free)

    @property
    def peer_address(self) -> tuple[str, int]:
        """Host and port of the peer as of now."""
        return _address(self._open(), True)

    @property
    def stream_id(self) -> str:
        """What the caller asked for; empty: nothing."""
        return text_of(lib.tltcp_stream_id(self._open()))

    def stats(self) -> Stats:
        """A snapshot of the statistics."""
        return stats_of(self._open())

    def _failure(self, code: int) -> Exception:
        reason = ffi.new("char[]", lib.TLTCP_REASON_MAX + 1)
        cause = lib.tltcp_socket_error(self._open(), reason)
        return error(cause or code, self._where, text_of(reason))

    # ---- Sending ----

    async def send(self, data: Buffer, *, deadline: float | None = None,
                   klass: Class = Class.OTHER, stream: int = 0,
                   depends: int = 0, tag: int = 0) -> None:
        """Sends a section, waiting for room if there is none.

        ``deadline`` is how many seconds from now it is of use: None stands for
        the latency of the URL, ``perigee.NEVER`` for ever.  ``klass`` and
        ``depends`` (how many sections of ``stream`` back lies what it needs)
        decide what is dropped first when the path cannot carry all.  ``tag``
        goes to the receiver and comes back in ``events()``.
        """
        part = ffi.from_buffer(data)
        lens = self._one
        lens[0] = len(part)
        wait = _wait_of(deadline)
        while True:
            sent = lib.native_send(self._open(), part, lens, 1, wait, klass,
                                   stream, depends, tag)
            if sent > 0:
                return
            await self._room(sent)

    async def send_many(self, frames: Iterable[Buffer], *,
                        deadline: float | None = None,
                        klass: Class = Class.OTHER, stream: int = 0,
                        depends: int = 0, tag: int = 0) -> None:
        """Sends sections in a row, each as by ``send()`` with the same options.

        Of many small ones this costs less than a call for each.
        """
        frames = list(frames)
        sizes = array.array("Q", [memoryview(f).nbytes for f in frames])
        if 0 in sizes:
            raise ValueError("a section has at least a byte")
        data = ffi.from_buffer(b"".join(frames))
        lens = ffi.from_buffer("uint64_t[]", sizes) if sizes else ffi.NULL
        wait, done, at = _wait_of(deadline), 0, 0
        while done < len(sizes):
            sent = lib.native_send(self._open(), data + at, lens + done,
                                   len(sizes) - done, wait, klass, stream,
                                   depends, tag)
            if sent > 0:
                at += sum(sizes[done:done + sent])
                done += sent
            else:
                await self._room(sent)

    async def _room(self, code: int) -> None:
        """Waits until more can be sent, if that is why nothing was."""
        if code != lib.TLTCP_ERR_AGAIN:
            raise self._failure(code)
        await self._wait("send", lib.tltcp_writable_fd(self._open()))

    def finish(self) -> None:
        """Says that nothing more will be sent; receiving goes on."""
        lib.tltcp_shutdown(self._open())

    # ---- Receiving ----

    def _fill(self) -> bool:
        """Takes what is there; False: nothing, and more may come."""
        batch = self._batch
        lib.native_receive(batch)
        count, at = batch.count, 0
        if count:
            data = ffi.buffer(batch.data, batch.frames[count - 1].end)
            for (number, missing, tag, klass, stream, end, complete,
                 gap) in _FRAME.iter_unpack(
                     ffi.buffer(batch.frames)[:count * _FRAME.size]):
                self._ready.append(
                    Gap(number, missing) if gap else
                    Frame(data[at:end], number, complete, missing,
                          _CLASSES[klass], stream, tag))
                at = end
        if batch.code not in (1, lib.TLTCP_ERR_AGAIN):
            self._end = batch.code
        return count > 0 or batch.code != lib.TLTCP_ERR_AGAIN

    async def recv(self) -> Frame | Gap | None:
        """What comes next: a frame, whole or cut, or a gap; None at the end."""
        while True:
            socket = self._open()
            if self._ready:
                return self._ready.popleft()
            if self._end is not None:
                if self._end < 0:
                    raise self._failure(self._end)
                return None
            if not self._fill():
                await self._wait("receive", lib.tltcp_fd(socket))

    async def _frames(self) -> AsyncIterator[Frame]:
        ready, turn = self._ready, 0
        while True:
            frame = ready.popleft() if ready else await self.recv()
            if frame is None:
                return
            if isinstance(frame, Frame) and frame.complete:
                yield frame
            turn = (turn + 1) % _TURN
            if turn == 0:
                await asyncio.sleep(0)

    def __aiter__(self) -> AsyncIterator[Frame]:
        return self._frames()

    # ---- Events ----

    async def events(self) -> AsyncIterator[SectionEvent | RateEvent]:
        """What becomes of the sections sent, and what the path carries.

        Fates come where the connection was made with ``fates=True``.
        """
        raw = ffi.new("tltcp_event *")
        while True:
            code = lib.tltcp_next_event(self._open(), raw, 0)
            if code == lib.TLTCP_ERR_AGAIN:
                await self._wait("take events",
                                 lib.tltcp_event_fd(self._open()))
            elif code < 0 or raw.type == lib.TLTCP_EVENT_CLOSED:
                return
            elif raw.type == lib.TLTCP_EVENT_FATE:
                yield SectionEvent(
                    raw.section, raw.tag, Fate(raw.fate), _CAUSES[raw.cause],
                    raw.bytes, raw.acked, Class(raw.section_class), raw.stream)
            elif raw.type == lib.TLTCP_EVENT_RATE:
                yield RateEvent(raw.estimated_bps, raw.target_bps)

    # ---- The end ----

    async def close(self, linger: float | None = None) -> None:
        """Closes; waits up to ``linger`` seconds for what was sent.

        With ``perigee.NEVER`` it waits until the peer has it or is silent.
        """
        ms = _linger_of(self._linger if linger is None else linger)
        socket = self._take()
        if socket is None:
            return
        self._drop()
        await in_thread(lambda: lib.tltcp_close(socket, ms))

    def _drop(self) -> None:
        """What was received is gone."""
        ffi.release(self._batch)
        self._ready.clear()

    def reject(self, reason: str) -> None:
        """Closes at once and tells the caller why."""
        words = utf8(reason, "reason")
        socket = self._take()
        if socket is not None:
            self._drop()
            lib.tltcp_reject(socket, words)

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(self, kind, *_) -> None:
        await self.close(None if kind is None else 0)

    def __del__(self) -> None:
        batch = self.__dict__.get("_batch")
        if batch is not None and self._socket is not None:
            ffi.release(batch)
        super().__del__()


class Listener(_Socket):
    """Takes callers: ``async for stream in listener``."""

    def __init__(self, options: Options, linger: float) -> None:
        out = ffi.new("tltcp_socket **")
        code = lib.tltcp_listen(out, options.host, options.service,
                                options.config)
        if code < 0:
            self._socket = None
            raise error(code, options.where)
        super().__init__(out[0], options.where)
        self._linger = linger

    @property
    def port(self) -> int:
        """The port, also where the URL said 0."""
        return self.local_address[1]

    async def accept(self) -> Stream:
        """The next caller."""
        out = ffi.new("tltcp_socket **")
        while True:
            code = lib.tltcp_accept(self._open(), out, 0)
            if code == 0:
                return Stream(out[0], self._where, self._linger)
            if code != lib.TLTCP_ERR_AGAIN:
                raise error(code, self._where)
            await self._wait("accept", lib.tltcp_fd(self._open()))

    async def __aiter__(self) -> AsyncIterator[Stream]:
        while True:
            yield await self.accept()

    async def close(self) -> None:
        """Takes no further callers; streams that it gave live on."""
        socket = self._take()
        if socket is not None:
            await in_thread(lambda: lib.tltcp_close(socket, 0))

    async def __aenter__(self) -> Listener:
        return self

    async def __aexit__(self, *_) -> None:
        await self.close()


class _Opening:
    """To be awaited, or used by ``async with``."""

    def __init__(self, make: Callable[[], Awaitable]) -> None:
        self._make = make
        self._made: Any = None

    def __await__(self) -> Generator:
        return self._make().__await__()

    async def __aenter__(self):
        self._made = await self._make()
        return await self._made.__aenter__()

    async def __aexit__(self, *args) -> None:
        await self._made.__aexit__(*args)


async def _decided(socket, options: Options) -> None:
    """Waits until a call was answered."""
    while True:
        code = lib.tltcp_wait_connected(socket, 0)
        if code == 0:
            return
        if code != lib.TLTCP_ERR_AGAIN:
            reason = ffi.new("char[]", lib.TLTCP_REASON_MAX + 1)
            lib.tltcp_socket_error(socket, reason)
            raise error(code, options.where, text_of(reason))
        await _readable(lib.tltcp_fd(socket), lib.tltcp_writable_fd(socket))


async def _connect(options: Options, linger: float) -> Stream:
    out = ffi.new("tltcp_socket **")

    def call() -> int:  # looking up a name blocks
        return lib.tltcp_connect(out, options.host, options.service,
                                 options.config, 0)

    try:
        code = await in_thread(call)
        if code < 0:
            raise error(code, options.where)
        await _decided(out[0], options)
        stream = Stream(out[0], options.where, linger)
        out[0] = ffi.NULL
        return stream
    finally:
        if out[0] != ffi.NULL:
            lib.tltcp_close(out[0], 0)


def connect(url: str, *, fates: bool = False, linger: float = 5.0,
            **options: Value) -> _Opening:
    """Calls a listener::

        async with perigee.connect("tltcp://host:5000?latency=200") as stream:
            await stream.send(frame, klass=perigee.Class.KEY)

    ``options`` are the keys of the URL with ``_`` for ``-``: ``passphrase``,
    ``latency`` (ms), ``streamid``, ``congestion_control`` and so on.  ``fates``
    has ``events()`` tell what becomes of every section.  ``linger`` is how many
    seconds closing waits for what was sent.  Raises a ``perigee.Error``.
    """
    made = Options(url, options, listens=False)
    made.config.report_fates = fates
    return _Opening(lambda: _connect(made, linger))


def listen(url: str, *, fates: bool = False, linger: float = 5.0,
           **options: Value) -> _Opening:
    """Listens for callers::

        async with perigee.listen("tltcp://:5000") as listener:
            async for stream in listener:
                ...

    The options are those of ``connect()``; ``streamid`` has no meaning here,
    ask ``Stream.stream_id`` and ``Stream.reject()``.
    """
    if "streamid" in options:
        raise OptionError("streamid: a listener asks Stream.stream_id")
    made = Options(url, options, listens=True)
    made.config.report_fates = fates

    async def make() -> Listener:
        return Listener(made, linger)

    return _Opening(make)
