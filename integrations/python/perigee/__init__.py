# SPDX-License-Identifier: MPL-2.0
"""Live media with deadlines over TLTCP, and files by Saratoga.

- ``connect()`` and ``listen()``: sections with deadlines, for asyncio.
- ``open()``: a transport stream as a file object, for PyAV and others.
- ``perigee.saratoga``: files over links that are long, lossy or lopsided.
"""
from ._errors import (AddressError, AddressInUse, AuthError, Closed, Error,
                      OptionError, Refused, TimedOut, text_of)
from ._file import LiveFile, open
from ._native import lib as _lib
from ._stream import Listener, Stream, connect, listen
from ._types import (NEVER, Class, Fate, Frame, Gap, RateEvent, SectionEvent,
                     Stats)

__version__ = text_of(_lib.tltcp_version())
__all__ = ["NEVER", "AddressError", "AddressInUse", "AuthError", "Class",
           "Closed", "Error", "Fate", "Frame", "Gap", "Listener", "LiveFile",
           "OptionError", "RateEvent", "Refused", "SectionEvent", "Stats",
           "Stream", "TimedOut", "connect", "listen", "open"]
