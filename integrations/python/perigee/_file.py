# SPDX-License-Identifier: MPL-2.0
"""A transport stream as a file object."""
from __future__ import annotations

import io
import json

from ._errors import error, text_of
from ._native import ffi, lib
from ._options import Options, Value

#: How long a call stays in C, so that Ctrl-C is heard, in milliseconds.
_SLICE = 200
_LINGER_MS = 5000


class LiveFile(io.RawIOBase):
    """A live MPEG transport stream, read or written; made by ``open()``.

    It blocks, and belongs to one thread at a time.
    """

    def __init__(self, url: str, mode: str, options: dict[str, Value]) -> None:
        super().__init__()
        self._live = None
        if mode not in ("rb", "wb"):
            raise ValueError("the mode is 'rb' or 'wb'")
        self.name = url.split("?")[0]
        self.mode = mode
        made = Options(url, options)
        self._why = ffi.new("char[]", lib.TLTCP_LIVE_WHY_MAX)
        out = ffi.new("tltcp_live **")
        direction = (lib.TLTCP_LIVE_RECEIVE if mode == "rb"
                     else lib.TLTCP_LIVE_SEND)
        code = lib.tltcp_live_open(out, direction, made.pointer, self._why)
        if code < 0:
            raise error(code, self.name)
        made.release()
        self._live = out[0]

    def _open(self):
        if self._live is None:
            raise ValueError("the file is closed")
        return self._live

    def readable(self) -> bool:
        return self.mode == "rb"

    def writable(self) -> bool:
        return self.mode == "wb"

    def readinto(self, buffer) -> int:
        """Fills a buffer with what came; 0 at the end of the stream."""
        room = ffi.from_buffer(buffer, require_writable=True)
        if self.mode != "rb":
            raise io.UnsupportedOperation("not readable")
        while len(room):
            got = lib.tltcp_live_read_ts(self._open(), room, len(room), _SLICE)
            if got >= 0:
                return got
            if got == lib.TLTCP_ERR_CLOSED:
                return 0
            if got != lib.TLTCP_ERR_AGAIN:
                raise error(got, self.name)
        return 0

    def write(self, data) -> int:
        """Sends bytes, at the pace of the stream: deadlines count from now.

        What finds no room before its deadline is dropped and counted.
        """
        if self.mode != "wb":
            raise io.UnsupportedOperation("not writable")
        part = ffi.from_buffer(data)
        code = lib.tltcp_live_write_ts(self._open(), part, len(part), -1)
        if code < 0 and code != lib.TLTCP_ERR_AGAIN:
            raise error(code, self.name)
        return len(part)

    def stats(self) -> dict:
        """The statistics, as the tools write them in JSON."""
        size = lib.tltcp_live_stats_json(self._open(), ffi.NULL, 0) + 1024
        text = ffi.new("char[]", size)
        lib.tltcp_live_stats_json(self._open(), text, size)
        return json.loads(text_of(text))

    def close(self) -> None:
        """Waits up to five seconds for what was written, and closes."""
        live, self._live = self.__dict__.get("_live"), None
        if live is not None:
            if self.mode == "wb":
                lib.tltcp_live_finish(live, _LINGER_MS)
            lib.tltcp_live_close(live, _LINGER_MS if self.mode == "wb" else 0)
        super().close()


def open(url: str, mode: str = "rb", **options: Value) -> LiveFile:
    """Opens a transport stream as a file::

        with perigee.open("tltcp://:5000") as file, av.open(file) as container:
            for frame in container.decode(video=0):
                ...

    A URL without a host waits for a caller.  ``options`` are the keys of the
    URL with ``_`` for ``-``.
    """
    return LiveFile(url, mode, options)
