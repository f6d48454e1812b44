# SPDX-License-Identifier: MPL-2.0
"""What can go wrong, each with the cause in words."""
from __future__ import annotations

import os

from ._native import ffi, lib


class Error(OSError):
    """Something went wrong; the text says what.

    ``code`` is the negative number that the C library gave, ``reason`` the
    peer's own words or the empty string.
    """

    def __init__(self, text: str, code: int = 0, reason: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.reason = reason


class OptionError(Error, ValueError):
    """A URL or an option is wrong."""


class AddressError(Error):
    """The host or port is not known or not usable."""


class AddressInUse(Error):
    """The local port is taken."""


class Refused(Error, ConnectionRefusedError):
    """Nobody listens there, or the listener said no."""


class AuthError(Error, PermissionError):
    """Wrong passphrase or key, or none."""


class TimedOut(Error, TimeoutError):
    """The peer does not answer, or no longer."""


class Closed(Error, ConnectionResetError):
    """The connection is over."""


_KINDS = {
    lib.TLTCP_ERR_INVAL: OptionError,
    lib.TLTCP_ERR_ALGORITHM: OptionError,
    lib.TLTCP_ERR_UNSUPPORTED: OptionError,
    lib.TLTCP_ERR_TOO_BIG: OptionError,
    lib.TLTCP_ERR_ADDRESS: AddressError,
    lib.TLTCP_ERR_IN_USE: AddressInUse,
    lib.TLTCP_ERR_REFUSED: Refused,
    lib.TLTCP_ERR_LIMIT: Refused,
    lib.TLTCP_ERR_VERSION: Refused,
    lib.TLTCP_ERR_AUTH: AuthError,
    lib.TLTCP_ERR_TIMEOUT: TimedOut,
    lib.TLTCP_ERR_CLOSED: Closed,
    lib.TLTCP_ERR_ABORTED: Closed,
    lib.TLTCP_ERR_STATE: Closed,
}


def text_of(pointer) -> str:
    """A C string; undecodable bytes are shown."""
    return ffi.string(pointer).decode("utf-8", "backslashreplace")


def whole(octets: bytes, what: str) -> bytes:
    """Octets for C, which would end them at a zero octet."""
    if b"\0" in octets:
        raise OptionError(f"{what}: contains a zero octet")
    return octets


def name_octets(name: str, what: str) -> bytes:
    """A file's name for C, as the system spells it."""
    try:
        return whole(os.fsencode(name), what)
    except UnicodeEncodeError:
        raise OptionError(
            f"{what}: contains a character that UTF-8 does not have") from None


def utf8(text: str, what: str) -> bytes:
    """Text for C.  ``what`` names it in messages: the text may be secret."""
    try:
        octets = text.encode()
    except UnicodeEncodeError:
        raise OptionError(
            f"{what}: contains a character that UTF-8 does not have") from None
    return whole(octets, what)


def error(code: int, where: str = "", reason: str = "") -> Exception:
    """The exception for an error of libtltcp."""
    if code == lib.TLTCP_ERR_NOMEM:
        return MemoryError()
    text = text_of(lib.tltcp_strerror(code))
    if reason:
        text = f"{text}: {reason}"
    if where:
        text = f"{where}: {text}"
    return _KINDS.get(code, Error)(text, code, reason)
