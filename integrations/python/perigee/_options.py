# SPDX-License-Identifier: MPL-2.0
"""URLs and options, understood by libtltcp-live."""
from __future__ import annotations

from typing import Union

from ._errors import OptionError, text_of
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
            self.pointer, url.encode(), self._why), url.split("?")[0])
        for name, value in options.items():
            key = name.replace("_", "-")
            self._check(lib.tltcp_live_options_set(
                self.pointer, key.encode(), _text(value).encode(), self._why),
                name)
        if listens is not None and self.settings.listens != listens:
            raise OptionError(
                f"{url.split('?')[0]}: this URL is for "
                f"{'perigee.connect()' if listens else 'perigee.listen()'}")
        self._check(lib.tltcp_live_options_check(self.pointer, self._why), "")
        self.config.latency_ms = self.settings.latency_ms

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
