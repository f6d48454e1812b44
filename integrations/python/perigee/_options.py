# SPDX-License-Identifier: MPL-2.0
"""URLs and options, understood by libtltcp-live."""
from __future__ import annotations

from typing import Union

from ._errors import OptionError, text_of, utf8
from ._native import ffi, lib

Value = Union[str, int, float, bool]


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class Options:
    """Options of a connection, from a URL and from keyword arguments."""

    def __init__(self, url: str, options: dict[str, Value],
                 listens: bool | None = None) -> None:
        pointer = lib.tltcp_live_options_new()
        if pointer == ffi.NULL:
            raise MemoryError
        self.pointer = ffi.gc(pointer, lib.tltcp_live_options_free)
        self._why = ffi.new("char[]", lib.TLTCP_LIVE_WHY_MAX)
        self.url = url
        self._check(lib.tltcp_live_options_set_url(
            self.pointer, utf8(url, self.where), self._why), self.where)
        for name, value in options.items():
            key = name.replace("_", "-")
            self._check(lib.tltcp_live_options_set(
                self.pointer, utf8(key, "option"), utf8(_text(value), name),
                self._why), name)
        self._check_side(listens)
        self._check(lib.tltcp_live_options_check(self.pointer, self._why), "")
        self.config.latency_ms = self.settings.latency_ms

    def _check_side(self, listens: bool | None) -> None:
        if listens is None or self.settings.listens == listens:
            return
        raise OptionError(f"{self.where}: " + (
            "perigee.listen() takes tltcp://:PORT, or ?mode=listener to listen "
            "at one address; to call, use perigee.connect()" if listens else
            "perigee.connect() takes tltcp://HOST:PORT; to listen, use "
            "perigee.listen()"))

    def _check(self, code: int, what: str) -> None:
        if code < 0:
            raise OptionError(": ".join(
                filter(None, (what, text_of(self._why)))), code)

    @property
    def settings(self):
        return lib.tltcp_live_options_settings(self.pointer)

    @property
    def config(self):
        return lib.tltcp_live_options_config(self.pointer)

    @property
    def host(self):
        """As C takes it: NULL stands for every address."""
        return self.settings.host

    @property
    def service(self):
        return self.settings.service

    @property
    def where(self) -> str:
        """For messages; without secrets."""
        return self.url.split("?")[0]

    def release(self):
        """Hands the options to who frees them."""
        return ffi.gc(self.pointer, None)
